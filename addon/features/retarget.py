"""Retarget: any action, armature or BVH file onto the selected actors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bpy

from ...core.errors import InvalidParam
from ...core.figure import stroll
from ...core.figure.mannequin import mannequin
from ...core.filters.retarget import RetargetParams, retarget
from ...core.kinematics import base
from ...core.kinematics.cast import Cast, read_joints
from ...core.kinematics.learn import learn_from
from ...core.motion import Motion
from .. import bake, rig
from ..rig.clip import read_bvh
from ..steps import Steps
from .motions import MotionOperator, Titled

ICON = "ARMATURE_DATA"


class Operator(MotionOperator):
    """Put the animation of another rig, an action or a BVH file onto the selected actors, feet planted"""

    bl_idname = "troupe.retarget"
    bl_label = "Retarget"
    params = RetargetParams

    @classmethod
    def motion_steps(
        cls, context: bpy.types.Context, actor: Any, cast: Cast, params: RetargetParams, start: bake.Start
    ) -> Steps[Titled]:
        clip, title = yield from clip_steps(context, actor, params)
        yield 1.0  # Esc is heard between the stages of a long clip
        motion = retarget(clip, cast.skeleton, params)
        yield 1.0
        motion = base.based(motion)
        motion = replace(motion, roots=motion.roots + (0.0, 0.0, start.ground))
        if params.place == "actor":
            motion = base.move(motion, *base.derive(start.here)[0])
        return motion, title


def clip_steps(context: bpy.types.Context, actor: Any, params: RetargetParams) -> Steps[Titled]:
    """Steps to the motion to take over and a title for it."""
    if params.clip == "walk":
        return stroll.walk(mannequin()), "walk"
    if params.file:
        return read_bvh(params.file), bpy.path.display_name_from_filepath(params.file)
    action = None
    if params.action:
        action = bpy.data.actions.get(params.action)
        if action is None:
            raise InvalidParam("action", params.action, "no action of that name in this file")
    source = _source(actor, params, action)
    if rig.is_cast(source):
        cast = rig.read(source, context)
    else:
        cast = rig.read(source, context, rig.detect(rig.bones_of(source)).roles)
    times, fps = bake.sample_times(source, context.scene, action)
    matrices = yield from bake.joint_matrices_steps(source, cast, context, times, action)
    if not rig.is_cast(source):
        cast = learn_from(cast, matrices)
    return Motion(cast.skeleton, fps, *read_joints(cast, matrices)), (action or source).name


def _source(actor: Any, params: Any, action: Any) -> Any:
    """The armature whose rest pose the motion is measured from."""
    if params.source:
        source = bpy.data.objects.get(params.source)
        if source is None or source.type != "ARMATURE":
            raise InvalidParam("source", params.source, "no armature of that name in this file")
        if source == actor and action is None:
            raise InvalidParam("source", params.source, "is the actor itself; choose an action or another armature")
        return source
    if action is None:
        raise InvalidParam("source", "", "choose a clip, a source armature, an action or a BVH file")
    armatures = [ob for ob in bpy.data.objects if ob.type == "ARMATURE"]
    best = max(armatures, key=lambda ob: bake.shared_bones(ob, action))
    if bake.shared_bones(best, action) == 0:
        raise InvalidParam("action", action.name, "moves no armature in this file; add its rig or name a source")
    return best
