"""From an armature object to a `Cast`, by the role map stored on it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import bpy
import numpy as np

from ...core.errors import InvalidRig
from ...core.formats.rolemap import RoleMap
from ...core.kinematics import stance
from ...core.kinematics.cast import Cast, joint_tree, orthonormal
from ...core.kinematics.measure import cast_rig
from ...core.maths import quat
from ...core.skeleton import CHAINS, ROLES, Array
from .. import scene as scenes
from .. import settings
from ..bake import controls, pose
from .detection import Bones
from .detection import Mapping as Detected

FIGURE = "troupe_figure"
"""Custom property of armatures whose hands are those after which the customary ones are measured."""
BODY_POINTS = 3_000
"""Vertices that are looked at to see how wide the body is; the outermost ones are always among them."""


FARTHEST = 1e9
"""Coordinate from which on there is nothing: to single precision one is 64 from the next there [world units]."""


def check_usable(ob: bpy.types.Object | None) -> str | None:
    """Why an object cannot be cast, or None."""
    if ob is None:
        return "Select an armature first"
    if ob.type != "ARMATURE":
        return f"{ob.name} is no armature and none deforms it: select the rig of a character"
    if not ob.data.bones:
        return f"{ob.name} has no bones"
    if ob.library is not None and ob.override_library is None:
        return f"{ob.name} is linked from another file: make a library override of it first (Make Override)"
    if ob.mode == "EDIT":
        return f"{ob.name} is in Edit Mode: leave it first"
    world = ob.matrix_world
    if not (world.translation.length < FARTHEST and abs(world.determinant()) > 0.0):  # nor what is no number
        return f"{ob.name} has no place or no size: clear its location, rotation and scale (Alt G, Alt R, Alt S)"
    return None


def bones_of(ob: bpy.types.Object) -> Bones:
    """What role detection sees of an armature."""
    bones = ob.data.bones
    heads = np.empty(len(bones) * 3, np.float32)
    tails = np.empty_like(heads)
    bones.foreach_get("head_local", heads)
    bones.foreach_get("tail_local", tails)
    deform = np.empty(len(bones), bool)
    bones.foreach_get("use_deform", deform)
    return Bones(
        names=tuple(b.name for b in bones),
        parents=_parents(ob),
        heads=heads.reshape(-1, 3).astype(np.float64),
        tails=tails.reshape(-1, 3).astype(np.float64),
        deform=deform,
    )


def is_cast(ob: bpy.types.Object | None) -> bool:
    """Whether an object is an armature with a role map."""
    return ob is not None and ob.type == "ARMATURE" and ob.troupe.is_cast


def roles_of(ob: bpy.types.Object) -> dict[str, tuple[str, ...]]:
    """Role to bones, as stored in the object's role table."""
    table = ob.troupe.roles
    found = {role: tuple(b for s in settings.slots(role) if (b := getattr(table, s))) for role in ROLES}
    return {role: bones for role, bones in found.items() if bones}


def role_map(ob: bpy.types.Object) -> RoleMap:
    """The stored role map with its known neutral orientations."""
    neutral = json.loads(ob.troupe.neutral) if ob.troupe.neutral else {}
    return RoleMap(roles_of(ob), {bone: np.array(q, np.float64) for bone, q in neutral.items()})


def store(ob: bpy.types.Object, role_map: RoleMap, detected: Detected | None = None) -> None:
    """Write a role map onto the object."""
    roles = role_map.roles
    table = ob.troupe.roles
    for role in ROLES:
        bones = list(roles.get(role, ()))
        names = settings.slots(role)
        if len(bones) > len(names):
            raise InvalidRig(f"{role} has {len(bones)} bones; at most {len(names)} fit, leave some out")
        for slot, bone in zip(names, bones + [""] * (len(names) - len(bones)), strict=True):
            setattr(table, slot, bone)
    ob.troupe.neutral = json.dumps({b: q.tolist() for b, q in role_map.neutral.items()}) if role_map.neutral else ""
    ob.troupe.is_cast = True
    ob.troupe.score = detected.score if detected else 1.0
    ob.troupe.convention = detected.convention if detected else "by hand"
    ob.troupe.warnings = "\n".join(detected.warnings) if detected else ""


def read(
    ob: bpy.types.Object,
    context: bpy.types.Context,
    roles: Mapping[str, Sequence[str]] | None = None,
    neutral: Mapping[str, Array] | None = None,
) -> Cast:
    """The rig as a character; InvalidRig tells what is missing and how to mend it.

    Args:
        ob: The armature object.
        context: For the scene's units.
        roles: Role to bones; None takes the stored role map, with its neutral orientations.
        neutral: Bone to known neutral orientation (4,).
    """
    problem = check_usable(ob)
    if problem is None and roles is None and not is_cast(ob):
        problem = f"{ob.name} is not cast yet: press Cast"
    if problem is not None:
        raise InvalidRig(problem)
    if roles is None:
        stored = role_map(ob)
        roles, neutral = stored.roles, stored.neutral
    bones = bones_of(ob)
    known = set(bones.names)
    lost = [b for chain in roles.values() for b in chain if b not in known]
    if lost:
        raise InvalidRig(f"{ob.name} has no bones {', '.join(lost[:5])} any more: press Cast again")
    deform: Any = bones.deform
    skinned = roles
    rig = controls.find(ob)
    if rig is not None:
        # joints of a control rig are measured where the whole limb's rotation is, and only its controls are keyed
        roles = {
            role: tuple(rig.anatomy.get(b, b) for b in chain)
            for role, chain in roles.items()
            if all(rig.drives(b) for b in chain)
        }
        neutral = {rig.anatomy.get(b, b): q for b, q in (neutral or {}).items()}
        deform = None
    return cast_rig(
        bones.names,
        bones.parents,
        pose.matrices(ob.data.bones, "matrix_local"),
        roles,
        tails=bones.tails,
        deform=deform,
        world=np.array(ob.matrix_world) * scenes.metre(context.scene),
        body=_body(ob, skinned),
        skin=None if ob.data.get(FIGURE) else _skin(ob),
        neutral={b: quat.to_matrix(q) for b, q in (neutral or {}).items()},
    )


def neutral_of_pose(ob: bpy.types.Object, roles: Mapping[str, Sequence[str]]) -> dict[str, Array]:
    """Orientation (4,) of every mapped bone in the present pose, in the character axes of that pose."""
    posed = pose.matrices(ob.pose.bones, "matrix")
    index = {b.name: i for i, b in enumerate(ob.pose.bones)}
    tree, _ = joint_tree(roles)
    world = np.array(ob.matrix_world)
    frame = stance.character_frame({j: posed[index[b], :3, 3] for j, b in tree.items()}, quat.unit(world[2, :3]))
    return {b: quat.from_matrix(frame.T @ orthonormal(posed[index[b]])) for b in tree.values()}


def _parents(ob: bpy.types.Object) -> Any:
    index = {b.name: i for i, b in enumerate(ob.data.bones)}
    return np.array([index[b.parent.name] if b.parent else -1 for b in ob.data.bones])


def _body(ob: bpy.types.Object, roles: Mapping[str, Sequence[str]]) -> Array | None:
    """Rest vertices of trunk and legs of the skinned meshes in armature space: what the arms must clear."""
    arms = {b for role, chain in roles.items() for b in chain if role.split("_")[0] in _ARM_WORDS}
    for bone in ob.data.bones:  # parents come first
        if bone.parent is not None and bone.parent.name in arms:
            arms.add(bone.name)
    clouds = []
    for child, points, to_rig in _skins(ob):
        is_arm = {g.index for g in child.vertex_groups if g.name in arms}
        keep, vertices = [], child.data.vertices
        for i in {*range(0, len(points), max(1, len(points) // BODY_POINTS)), *_outermost(points)}:
            groups = [(g.weight, -g.group) for g in vertices[i].groups]
            if groups and -max(groups)[1] not in is_arm:
                keep.append(i)
        clouds.append(points[keep] @ to_rig[:3, :3].T + to_rig[:3, 3])
    return np.concatenate(clouds) if clouds else None


def _skin(ob: bpy.types.Object) -> Array | None:
    """All rest vertices of the skinned meshes in armature space."""
    clouds = [points @ to_rig[:3, :3].T + to_rig[:3, 3] for _, points, to_rig in _skins(ob)]
    return np.concatenate(clouds) if clouds else None


def _skins(ob: bpy.types.Object) -> Iterator[tuple[bpy.types.Object, Array, Array]]:
    """The meshes that an armature deforms, their rest vertices (V, 3), and (4, 4) from these to armature space."""
    inverse = np.linalg.inv(np.array(ob.matrix_world))
    for child in bpy.data.objects:
        if child.type != "MESH" or child.find_armature() != ob or not child.vertex_groups:
            continue
        flat = np.empty(len(child.data.vertices) * 3, np.float32)
        child.data.vertices.foreach_get("co", flat)
        yield child, flat.reshape(-1, 3).astype(np.float64), inverse @ np.array(child.matrix_world)


def _outermost(points: Array, count: int = 8) -> list[int]:
    """The points that lie farthest along each axis, both ways."""
    if len(points) <= 2 * count:
        return list(range(len(points)))
    order = np.argpartition(points, (count, -count), axis=0)
    return [*order[:count].ravel().tolist(), *order[-count:].ravel().tolist()]


_ARM_WORDS = {"clavicle", "upper", "forearm", "hand", *(role.split("_")[0] for role in CHAINS if "_" in role)}
