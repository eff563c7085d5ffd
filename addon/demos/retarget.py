"""A walk from a BVH file onto two actors of different size, feet planted."""

from __future__ import annotations

import os
import tempfile

import bpy

from ...core.figure import stroll
from ...core.figure.mannequin import mannequin
from ...core.formats import bvh


def build(context: bpy.types.Context) -> None:
    """Write a walk as BVH, add two actors and retarget the file onto both at once."""
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "walk.bvh")
    try:
        bvh.write(path, bvh.from_motion(stroll.walk(mannequin(1.75), cycles=3)))
        for x, height, shape in ((-0.5, 1.85, 0.1), (0.5, 1.45, 0.9)):
            context.scene.cursor.location = (x, 0.0, 0.0)
            bpy.ops.troupe.mannequin(height=height, shape=shape)
        for ob in context.scene.objects:
            ob.select_set(ob.type == "ARMATURE")
        context.scene.frame_set(1)
        bpy.ops.troupe.retarget(file=path)
    finally:
        os.remove(path)
        os.rmdir(folder)
    context.scene.frame_start, context.scene.frame_end = 1, int(3 * 1.1 * 24) + 1
