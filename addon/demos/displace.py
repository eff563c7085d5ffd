"""A walk, and the same walk with one hand raised and a duck half-way: two poses, feet still planted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import bpy
import numpy as np

from ...core.maths import quat

POSES: tuple[tuple[int, Mapping[str, tuple[float, float, float]], float], ...] = (
    (40, {"upper_arm.R": (0.0, 0.0, -80.0), "forearm.R": (-60.0, 0.0, 0.0)}, 0.0),
    (66, {"spine_01": (18.0, 0.0, 0.0), "spine_02": (14.0, 0.0, 0.0), "neck": (-16.0, 0.0, 0.0)}, -0.1),
)
"""Frame, turns of bones about their own axes [deg], and shift of the hips upwards [m]."""

TOUR = False
"""Not in the default tour, which has to be short."""


def build(context: bpy.types.Context) -> None:
    """Let two actors walk and re-pose one of them at two frames."""
    scene = context.scene
    scene.frame_set(1)
    for x, theme in ((-0.6, "studio"), (0.6, "clay")):
        scene.cursor.location = (x, 0.0, 0.0)
        bpy.ops.troupe.mannequin(theme=theme)
        bpy.ops.troupe.retarget(clip="walk")
    for frame, turns, lift in POSES:
        scene.frame_set(frame)
        pose(context.object, turns, lift)
        context.view_layer.update()
        bpy.ops.troupe.displace()
    scene.cursor.location = (0.0, 0.0, 0.0)
    scene.frame_start, scene.frame_end = 1, 106


def pose(ob: Any, turns: Mapping[str, tuple[float, float, float]], lift: float) -> None:
    """Turn bones and shift the hips as a hand would, without keys."""
    for name, angles in turns.items():
        bone = ob.pose.bones[name]
        turn = quat.exp(np.radians(angles))
        bone.rotation_quaternion = quat.multiply(np.array(bone.rotation_quaternion, dtype=np.float64), turn)
    if lift:
        hips = ob.pose.bones["hips"]
        up = np.array(hips.bone.matrix_local.to_3x3(), dtype=np.float64)[2]
        hips.location = np.array(hips.location, dtype=np.float64) + lift * up
