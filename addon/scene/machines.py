"""Armatures that are no characters, read as chains of hinges: robots, cranes, lamps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...core.errors import InvalidParam, TroupeError
from ...core.skeleton import Array
from ...core.world import Body
from ..bake import curves, pose
from ..bake.evaluation import evaluate
from ..steps import Steps, aside
from .rates import metre

if TYPE_CHECKING:
    from ...core.planning.spaces.chain import Chain

THICK = 0.06
"""Radius of a bone without a mesh, of its length."""
WIDE = np.pi
"""How far an axis without limits turns either way [rad]."""


def chain_bones(ob: Any, tip: str) -> list[str]:
    """The bones from the root of a machine to its tip.

    Raises:
        InvalidParam: There is no such bone.
    """
    bones = ob.data.bones
    if tip and tip not in bones:
        raise InvalidParam("tip", tip, f"{ob.name} has no such bone; it has {', '.join(b.name for b in bones[:12])}")
    last = bones[tip] if tip else max(bones, key=lambda b: len(b.parent_recursive), default=None)
    if last is None:
        raise TroupeError(f"{ob.name} has no bones")
    return [b.name for b in reversed(last.parent_recursive)] + [last.name]


def limits(bone: Any) -> dict[int, tuple[float, float]]:
    """Axes of a pose bone that may turn, each with its limits [rad].

    Locked axes and those locked for inverse kinematics do not turn. Limits are those of a Limit Rotation constraint in
    local space, else those for inverse kinematics.
    """
    found: dict[int, tuple[float, float]] = {}
    own = next((c for c in bone.constraints if c.type == "LIMIT_ROTATION" and not c.mute), None)
    for k, axis in enumerate("xyz"):
        if bone.lock_rotation[k] or getattr(bone, f"lock_ik_{axis}"):
            continue
        low, high = -WIDE, WIDE
        if own is not None and getattr(own, f"use_limit_{axis}"):
            low, high = getattr(own, f"min_{axis}"), getattr(own, f"max_{axis}")
        elif getattr(bone, f"use_ik_limit_{axis}"):
            low, high = getattr(bone, f"ik_min_{axis}"), getattr(bone, f"ik_max_{axis}")
        if high - low > 1e-4:
            found[k] = (low, high)
    return found


def meshes(ob: Any, names: list[str], context: bpy.types.Context) -> list[tuple[Body, int]]:
    """What hangs on the bones, in their axes [m]: meshes parented to them, and what a modifier deforms by them.

    A bone without either counts as a thin box.
    """
    unit, depsgraph = metre(context.scene), context.evaluated_depsgraph_get()
    shown = ob.evaluated_get(depsgraph)
    parts: list[tuple[Body, int]] = []
    frames = {name: np.array(shown.matrix_world @ shown.pose.bones[name].matrix, dtype=np.float64) for name in names}
    sizes = {name: np.linalg.norm(frame[:3, :3], axis=0) for name, frame in frames.items()}
    for other in context.scene.objects:
        if other.type != "MESH" or not other.visible_get(view_layer=context.view_layer):
            continue
        seen = other.evaluated_get(depsgraph)
        mesh = seen.to_mesh()
        mesh.calc_loop_triangles()
        corners = np.array([v.co for v in mesh.vertices], dtype=np.float64).reshape(-1, 3)
        faces = np.array([t.vertices for t in mesh.loop_triangles], dtype=np.int64).reshape(-1, 3)
        seen.to_mesh_clear()
        if not len(faces):
            continue
        world = np.array(seen.matrix_world, dtype=np.float64)
        corners = corners @ world[:3, :3].T + world[:3, 3]
        owners: Any = None
        if other.parent == ob and other.parent_type == "BONE" and other.parent_bone in names:
            owners = np.full(len(faces), names.index(other.parent_bone))
        elif any(m.type == "ARMATURE" and m.object == ob for m in other.modifiers):
            owners = _owners(other, names)[faces].max(axis=1) if len(other.data.vertices) == len(corners) else None
        else:
            continue
        if owners is None:
            raise TroupeError(f"{other.name} has modifiers that change its mesh: apply them, or parent it to bones")
        for link in np.unique(owners[owners >= 0]):
            own = faces[owners == link]
            used, number = np.unique(own, return_inverse=True)
            back = np.linalg.inv(frames[names[link]])
            local = (corners[used] @ back[:3, :3].T + back[:3, 3]) * sizes[names[link]] * unit
            parts.append((Body(other.name, 0, local, number.reshape(-1, 3), np.eye(4)[None]), int(link)))
    bare = set(range(len(names))) - {link for _, link in parts}
    from ...core.planning.spaces.set_pieces import box

    for link in sorted(bare):
        length = ob.data.bones[names[link]].length * float(sizes[names[link]][1]) * unit
        parts.append((box(names[link], (THICK * length, 0.45 * length, THICK * length), (0, 0.5 * length, 0)), link))
    return parts


def _owners(other: Any, names: list[str]) -> Array:
    """(V,) number of the bone with the greatest weight on each vertex, -1 for none of these."""
    groups = {g.index: names.index(g.name) for g in other.vertex_groups if g.name in names}
    out = np.full(len(other.data.vertices), -1)
    for k, vertex in enumerate(other.data.vertices):
        best = max(vertex.groups, key=lambda g: g.weight, default=None)
        if best is not None and best.group in groups:
            out[k] = groups[best.group]
    return out


def read_chain_steps(ob: Any, tip: str, context: bpy.types.Context) -> Steps[Chain]:
    """Steps to an armature as it is, from its root to its tip.

    Raises:
        TroupeError: It has no bone that may turn.
    """
    from ...core.planning.spaces.chain import Chain, Hinge
    from ...core.planning.spaces.cover import covered

    names = chain_bones(ob, tip)
    unit = metre(context.scene)
    world = np.array(ob.matrix_world, dtype=np.float64)
    size = np.cbrt(abs(np.linalg.det(world[:3, :3])))
    base = world.copy()
    base[:3, :3] /= size
    base[:3, 3] *= unit
    scale = size * unit
    locals_, turns, hinges = [], [], []
    for k, name in enumerate(names):
        bone, rest = ob.pose.bones[name], ob.data.bones[name]
        matrix = np.array(rest.matrix_local, dtype=np.float64)
        if rest.parent is not None:
            matrix = np.linalg.inv(np.array(rest.parent.matrix_local, dtype=np.float64)) @ matrix
        matrix = matrix @ np.array(bone.matrix_basis.Translation(bone.location), dtype=np.float64)
        matrix[:3, 3] *= scale
        locals_.append(matrix)
        turns.append(angles_of(bone))
        for axis, (low, high) in limits(bone).items():
            now = float(turns[-1][axis])
            hinges.append(Hinge(k, axis, min(low, now), max(high, now), f"{name} {'xyz'[axis]}"))
    if not hinges:
        raise TroupeError(f"no bone of {ob.name} may turn: unlock the axes of its joints")
    end = np.eye(4)
    end[1, 3] = ob.data.bones[names[-1]].length * scale
    parts = tuple(meshes(ob, names, context))
    parents = tuple(range(-1, len(names) - 1))
    cover = yield from aside(lambda _stop: covered(parts))
    return Chain(cover, parts, base, np.array(locals_), parents, np.array(turns), tuple(hinges), end)


def angles_of(bone: Any) -> Array:
    """(3,) present angles of a pose bone about X, then Y, then Z [rad]."""
    return np.array(bone.matrix_basis.to_euler("XYZ"), dtype=np.float64)


def angles_in(ob: Any, names: list[str], action: bpy.types.Action, frame: float) -> Array:
    """(L, 3) angles of bones in an action at a frame [rad]; those it says nothing of are as they are."""
    from mathutils import Euler, Quaternion

    bag = curves.bag(ob, action, create=False)
    found = curves.read(bag) if bag is not None else {}
    out = []
    for name in names:
        bone = ob.pose.bones[name]
        channel = pose.ROTATION_CHANNEL.get(bone.rotation_mode, "rotation_euler")
        now = np.array(getattr(bone, channel), dtype=np.float64)
        path = curves.bone_path(name, channel)
        for k in range(len(now)):
            if (path, k) in found:
                now[k] = evaluate([found[path, k]], np.array([frame]))[0, 0]
        if channel == "rotation_quaternion":
            turned = Quaternion(now).normalized().to_euler("XYZ")
        elif channel == "rotation_axis_angle":
            turned = Quaternion(now[1:], now[0]).to_euler("XYZ")
        else:
            turned = Euler(now, bone.rotation_mode).to_quaternion().to_euler("XYZ")
            if bone.rotation_mode == "XYZ":
                turned = Euler(now)
        out.append(np.array(turned, dtype=np.float64))
    if not any(curves.bone_path(name, "") in path for name in names for path, _ in found):
        raise InvalidParam("action", action.name, f"has no keys for the bones of {ob.name}")
    return np.array(out)
