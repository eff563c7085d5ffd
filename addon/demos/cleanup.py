"""A walk as a poor recording gave it, and beside it the same walk cleaned: frozen frames, spikes, floor and feet."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace

import bpy
import numpy as np

from ...core.figure.mannequin import mannequin
from ...core.figure.stroll import walk
from ...core.filters.resample import resample
from ...core.formats import bvh
from ...core.maths import quat
from ...core.motion import Motion

TOUR = False
"""Not in the default tour, which has to be short."""
APART = 1.0
"""Between the two actors [m]."""
TASKS = ("gaps", "despike", "floor", "plant")
SPIKES = (
    ("head", 15, 0.9),
    ("upper_arm_L", 16, -1.2),
    ("spine", 31, 0.7),
    ("forearm_R", 46, 1.4),
    ("thigh_R", 60, 0.8),
)
"""Role, sample, and turn about an axis across [rad]."""


def build(context: bpy.types.Context) -> None:
    """Let two actors do what was badly recorded, and clean one of them, task by task."""
    scene = context.scene
    bad = spoilt(resample(walk(mannequin(), cycles=3), 24.0))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording.bvh")
        bvh.write(path, bvh.from_motion(bad))
        for x, theme in ((-APART / 2, "studio"), (APART / 2, "clay")):
            scene.frame_set(1)
            scene.cursor.location = (x, 0.0, 0.0)
            bpy.ops.troupe.mannequin(theme=theme)
            bpy.ops.troupe.retarget(clip="none", file=path, plant=False, ground=False)
            context.object.troupe.retarget.file = ""
    for task in TASKS:
        bpy.ops.troupe.cleanup(task=task)
    scene.cursor.location = (0.0, 0.0, 0.0)
    scene.frame_start, scene.frame_end = 1, len(bad)


def spoilt(motion: Motion) -> Motion:
    """The motion as a poor recording would have it: thrown joints, a frozen moment, sliding feet, a floor askew."""
    roots, rotations = motion.roots.copy(), motion.rotations.copy()
    for role, sample, turn in SPIKES:
        joint = motion.skeleton.joint(role)
        away = quat.about(np.array([0.6, 0.0, 0.8]), turn)
        rotations[sample, joint] = quat.multiply(rotations[sample, joint], away)
    roots[:, 0] += 0.1 * np.sin(3.0 * motion.times)
    roots[38:42], rotations[38:42] = roots[37], rotations[37]
    askew = quat.about(np.array([1.0, 0.0, 0.0]), np.radians(-5.0))
    rotations[:, 0] = quat.multiply(askew, rotations[:, 0])
    return replace(motion, roots=quat.rotate(askew, roots), rotations=quat.continuous(rotations), base=None, curves={})
