"""Three mannequins of different height and build."""

from __future__ import annotations

import bpy


def build(context: bpy.types.Context) -> None:
    """Add a tall, a middle and a small actor side by side."""
    for x, height, frame, shape in ((-0.95, 1.90, 0.4, 0.0), (0.0, 1.72, -0.2, 1.0), (0.85, 1.25, -0.4, 0.5)):
        context.scene.cursor.location = (x, 0.0, 0.0)
        bpy.ops.troupe.mannequin(height=height, build=frame, shape=shape)
    context.scene.cursor.location = (0.0, 0.0, 0.0)
    context.scene.frame_end = 1
