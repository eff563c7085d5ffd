"""Treadmill: the walk or run of any action, armature or BVH file, steered along a curve."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ...core.errors import InvalidParam
from ...core.filters.retarget import RetargetParams, retarget
from ...core.gait.posetable import Treadmill
from ...core.gait.route import ahead, follow
from ...core.gait.treadmill import TreadmillParams, decompose, steer
from ...core.kinematics import base
from ...core.kinematics.cast import Cast
from ...core.maths.spline import arc_length
from ...core.skeleton import Array, Pose
from .. import bake, scene
from ..steps import Steps
from .motions import MotionOperator, Titled
from .retarget import clip_steps

ICON = "CON_FOLLOWPATH"
NEAR = 0.3
"""An actor this near to the beginning of a path joins it so far along instead of going back [m]."""


class Operator(MotionOperator):
    """Take the walk or run of another rig, an action or a BVH file along a curve, at any speed, feet planted"""

    bl_idname = "troupe.treadmill"
    bl_label = "Treadmill"
    params = TreadmillParams

    @classmethod
    def motion_steps(
        cls, context: bpy.types.Context, actor: Any, cast: Cast, params: TreadmillParams, start: bake.Start
    ) -> Steps[Titled]:
        here = base.derive(start.here)[0]
        route = _route(context, params, here)
        given = params.source or params.action or params.file
        own = RetargetParams("none" if given else "walk", params.source, params.action, params.file)
        first, title = yield from _gait_steps(context, actor, cast, params, own)
        gaits = [first]
        if params.faster:
            other = RetargetParams(source=params.source, action=params.faster)
            gaits.append((yield from _gait_steps(context, actor, cast, params, other))[0])
        speed, fps = params.speed or first.cycle.speed, scene.fps(context.scene)
        way = follow(route, speed, fps, heading=float(here[2]))
        pose, ground = start.here.pose(0), np.array([0.0, 0.0, start.ground])
        motion = steer(gaits, way, params, Pose(pose.rotations, pose.root - ground))
        return replace(motion, roots=motion.roots + ground), title


def _gait_steps(
    context: bpy.types.Context, actor: Any, cast: Cast, params: TreadmillParams, source: RetargetParams
) -> Steps[tuple[Treadmill, str]]:
    """Steps to a clip on the actor's skeleton, taken apart, and its title."""
    clip, title = yield from clip_steps(context, actor, source)
    yield 1.0
    # contacts and floor are found when the clip is taken apart, for it may walk on the spot
    clip = retarget(clip, cast.skeleton, RetargetParams(plant=False, ground=False))
    yield 1.0
    return decompose(clip, params), title


def _route(context: bpy.types.Context, params: TreadmillParams, here: Array) -> Array:
    """(N, 2) way from where the actor stands [m]."""
    if not params.path:
        return ahead(float(here[0]), float(here[1]), float(here[2]), params.distance)
    ob = bpy.data.objects.get(params.path)
    if ob is None or ob.type != "CURVE":
        raise InvalidParam("path", params.path, "no curve of that name in this file")
    points = scene.read_route(ob, context).points[:, :2]
    if np.hypot(*(points[0] - here[:2])) < NEAR:
        points = points[min(int(np.searchsorted(arc_length(points), NEAR)), len(points) - 1) :]
    return np.concatenate([here[None, :2], points])
