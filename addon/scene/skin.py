"""The skin of the arms of actors as Blender shows it, and how deep it and moving things are in others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...core.kinematics.cast import Cast
from ...core.maths import geometry
from ...core.skeleton import SIDES, Array
from .. import rig
from ..steps import Steps, at_once
from .rates import metre
from .world import read_world_steps

if TYPE_CHECKING:
    from ...core.planning.spaces.penetration import Penetration

_PARTS = {"upper_arm": "upper_arm", "forearm": "forearm", "hand": "palm", "thumb": "thumb"}
_PARTS |= dict.fromkeys(("index", "middle", "ring", "pinky"), "fingers")
"""What joints of an arm are called among parts of the body, by role."""


def deepest_steps(
    context: bpy.types.Context, actors: Sequence[Any], frames: Array, touching: Collection[tuple[str, str]] = ()
) -> Steps[list[Penetration]]:
    """Steps to where arms of actors, and whatever else moves, are in something, as the scene is shown.

    Args:
        context: Of the scene; its frame is left as it was.
        actors: Cast rigs.
        frames: (T,) evenly spaced.
        touching: What may be in each other: an actor's part, as "Anna forearm_L", or a thing, and a thing.

    Returns:
        The deepest at each frame, with its number in the timeline.
    """
    from ...core.planning.spaces.rooms import with_rooms
    from ...core.planning.spaces.surfaces import moving_in, skin_in

    world = yield from read_world_steps(context, None, (), frames)
    skins = yield from arms_steps(context, actors, frames)
    for points, _ in skins:
        world = with_rooms(world, points[0])
    found = moving_in(world, touching)
    for actor, (points, parts) in zip(actors, skins, strict=True):
        found += skin_in(points, [f"{actor.name} {part}" for part in parts], world, touching)
    step = float(frames[1] - frames[0]) if len(frames) > 1 else 0.0
    return [replace(row, frame=float(frames[0]) + step * row.frame) for row in found]


deepest = at_once(deepest_steps)


def arms_steps(
    context: bpy.types.Context, actors: Sequence[Any], frames: Array
) -> Steps[list[tuple[Array, list[str]]]]:
    """Steps to the skin of the arms of each actor: points (T, K, 3) [m], and the part of the body of each."""
    stage, unit = context.scene, metre(context.scene)
    frame, subframe = stage.frame_current, stage.frame_subframe
    chosen = [_skinned(actor, rig.read(actor, context)) for actor in actors]
    rows: list[list[Array]] = [[] for _ in actors]
    try:
        for i, time in enumerate(frames):
            yield i / len(frames)
            stage.frame_set(int(np.floor(time)), subframe=float(time % 1.0))
            depsgraph = context.evaluated_depsgraph_get()
            for own, meshes in zip(rows, chosen, strict=True):
                points = [unit * _shown(mesh, depsgraph)[at] for mesh, at, _ in meshes]
                own.append(np.concatenate([np.empty((0, 3)), *points]))
    finally:
        stage.frame_set(frame, subframe=subframe)
    return [
        (np.stack(own), [part for _, _, parts in meshes for part in parts])
        for own, meshes in zip(rows, chosen, strict=True)
    ]


def _skinned(actor: Any, cast: Cast) -> list[tuple[Any, Array, list[str]]]:
    """Meshes that an actor deforms, the vertices (K,) of each that belong to an arm, and to which part of it."""
    part_of = _bones(actor, cast)
    out = []
    for ob in bpy.data.objects:
        if ob.type != "MESH" or not any(m.type == "ARMATURE" and m.object == actor for m in ob.modifiers):
            continue
        groups = {g.index: part_of[g.name] for g in ob.vertex_groups if g.name in part_of}
        best = [max(v.groups, key=lambda g: g.weight, default=None) for v in ob.data.vertices]
        own = {k: groups[g.group] for k, g in enumerate(best) if g is not None and g.group in groups}
        if own:
            out.append((ob, np.array(list(own)), list(own.values())))
    return out


def _bones(actor: Any, cast: Cast) -> dict[str, str]:
    """The part of an arm that each bone moves, by name: that of the joint along whose bone it lies.

    Joints of a control rig are not measured on the bones that deform, and a limb may have several of these.
    """
    skeleton, bones = cast.skeleton, actor.data.bones
    owner = {j: f"{part}_{s}" for r, part in _PARTS.items() for s in SIDES for j in skeleton.roles.get(f"{r}_{s}", ())}
    joints = np.array(sorted({j for chain in skeleton.roles.values() for j in chain}))
    rest = cast.rest[cast.joints[joints]]
    tips = np.einsum("jab,jcb,jc->ja", rest[:, :3, :3], cast.neutral[joints], skeleton.tips[joints]) / cast.unit
    starts = rest[:, :3, 3]
    heads, tails = (np.array([getattr(bone, end) for bone in bones]) for end in ("head_local", "tail_local"))
    # at its head a bone is as near to the one that ends there; tails of glTF bones are anywhere
    points = heads + 0.3 * (tails - heads)
    nearest, _ = geometry.point_segment(points[:, None], starts, starts + tips)
    along = joints[np.linalg.norm(points[:, None] - nearest, axis=-1).argmin(axis=1)]
    lies = dict(zip(bones.keys(), along.tolist(), strict=True)) | {skeleton.names[j]: j for j in joints.tolist()}
    return {name: owner[joint] for name, joint in lies.items() if joint in owner}


def _shown(ob: Any, depsgraph: Any) -> Array:
    """(V, 3) vertices of a mesh in the world, as it is evaluated [units]."""
    seen = ob.evaluated_get(depsgraph)
    flat = np.empty(3 * len(seen.data.vertices), dtype=np.float32)
    seen.data.vertices.foreach_get("co", flat)
    matrix = np.array(seen.matrix_world, dtype=np.float64)
    return np.asarray(flat.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3])
