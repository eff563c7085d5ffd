"""A walk, a second one from where it ended, a wave of the arms over both, and the first one made again, longer."""

from __future__ import annotations

import os
import tempfile

import bpy

from ...core.figure import stroll
from ...core.figure.mannequin import mannequin
from ...core.formats import bvh

TOUR = False
"""Not in the default tour, which has to be short."""


def build(context: bpy.types.Context) -> None:
    """Chain three results on one actor and regenerate the last of them."""
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "walk.bvh")
    scene = context.scene
    try:
        bvh.write(path, bvh.from_motion(stroll.walk(mannequin(1.75), cycles=2)))
        bpy.ops.troupe.mannequin(theme="clay")
        scene.frame_set(1)
        bpy.ops.troupe.retarget(file=path)
        scene.frame_set(60)
        bpy.ops.troupe.retarget(file=path)
        actor = context.object
        actor.troupe.retarget.travel = 1.3
        bpy.ops.troupe.regenerate()
    finally:
        os.remove(path)
        os.rmdir(folder)
    scene.frame_start, scene.frame_end = 1, 112
