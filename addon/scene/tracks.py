"""Where things and other actors are over time, for those who go by them."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import bpy
import numpy as np

from ...core.errors import InvalidRig
from ...core.kinematics import base
from ...core.kinematics.cast import Cast, read_joints
from ...core.motion import Motion, Path
from ...core.skeleton import Array
from .. import bake, rig
from ..bake import nla, pose
from ..steps import Steps
from .placement import by_curves, may_move
from .rates import fps, metre


def read_tracks_steps(context: bpy.types.Context, objects: Sequence[Any], frames: Array) -> Steps[dict[str, Path]]:
    """Steps to where objects are at `frames` (T,), time 0 being the first: x, y, z [m] by name of the object.

    Those that nothing can move have a single point.
    """
    unit, rate = metre(context.scene), fps(context.scene)
    found: dict[str, Array] = {}
    for ob in objects:
        if not may_move(ob):
            found[ob.name] = np.array(ob.matrix_world, dtype=np.float64)[None, :3, 3] * unit
        elif (track := by_curves(ob, frames)) is not None:
            found[ob.name] = track[:, :3, 3] * unit
    rest = [ob for ob in objects if ob.name not in found]
    if rest:
        found |= yield from _played_steps(context, rest, frames)
    times = (frames - frames[0]) / rate
    return {name: Path(points, ("x", "y", "z"), times[: len(points)]) for name, points in found.items()}


def _played_steps(context: bpy.types.Context, objects: Sequence[Any], frames: Array) -> Steps[dict[str, Array]]:
    """Steps to where objects are (T, 3) [m] while the scene plays."""
    stage = context.scene
    frame, subframe = stage.frame_current, stage.frame_subframe
    out = {ob.name: np.empty((len(frames), 3)) for ob in objects}
    try:
        for i, time in enumerate(frames):
            yield i / len(frames)
            stage.frame_set(int(time), subframe=float(time % 1.0))
            depsgraph = context.evaluated_depsgraph_get()
            for ob in objects:
                place = ob.evaluated_get(depsgraph).matrix_world.translation
                out[ob.name][i] = np.array(place) * metre(stage)
    finally:
        stage.frame_set(frame, subframe=subframe)
    return out


def read_guests_steps(
    context: bpy.types.Context, besides: Collection[bpy.types.Object], frames: Array
) -> Steps[dict[str, Motion]]:
    """Steps to what the other visible actors of the scene do at `frames` (T,), by name; who rests has one sample."""
    rate, casts, motions = fps(context.scene), {}, {}
    for ob in sorted(context.scene.objects, key=lambda ob: ob.name):
        if ob in besides or not rig.is_cast(ob) or not ob.visible_get(view_layer=context.view_layer):
            continue
        with contextlib.suppress(InvalidRig):
            casts[ob] = rig.read(ob, context)
    to_play = {}
    for ob, cast in casts.items():
        if not may_move(ob):
            motions[ob] = bake.pose_here(ob, cast, context)
        elif nla.plain_source(ob) is not None:
            matrices = yield from bake.joint_matrices_steps(ob, cast, context, frames)
            motions[ob] = Motion(cast.skeleton, rate, *read_joints(cast, matrices))
        else:
            to_play[ob] = cast
    if to_play:
        for ob, matrices in (yield from _posed_steps(context, to_play, frames)).items():
            motions[ob] = Motion(casts[ob].skeleton, rate, *read_joints(casts[ob], matrices))
    return {ob.name: base.based(motions[ob]) for ob in casts}


def _posed_steps(
    context: bpy.types.Context, casts: Mapping[bpy.types.Object, Cast], frames: Array
) -> Steps[dict[bpy.types.Object, Array]]:
    """Steps to the world matrices (T, J, 4, 4) [m] of the joints of several actors; the scene is played once."""
    stage = context.scene
    frame, subframe = stage.frame_current, stage.frame_subframe
    out = {ob: np.empty((len(frames), len(cast.joints), 4, 4)) for ob, cast in casts.items()}
    try:
        for i, time in enumerate(frames):
            yield i / len(frames)
            stage.frame_set(int(time), subframe=float(time % 1.0))
            depsgraph = context.evaluated_depsgraph_get()
            for ob, cast in casts.items():
                shown = ob.evaluated_get(depsgraph)
                out[ob][i] = np.array(shown.matrix_world) @ pose.matrices(shown.pose.bones)[cast.joints]
                out[ob][i, :, :3] *= metre(stage)
    finally:
        stage.frame_set(frame, subframe=subframe)
    return out
