"""A walk and the same walk with its middle bands up, and a picture of what has changed in a knee."""

from __future__ import annotations

import bpy

TOUR = False
"""Not in the default tour, which has to be short."""


def build(context: bpy.types.Context) -> None:
    """Let an actor walk, exaggerate it, plot a knee, and hang the picture up beside it."""
    scene = context.scene
    scene.frame_set(1)
    bpy.ops.troupe.mannequin()
    actor = context.object
    bpy.ops.troupe.retarget(clip="walk")
    bpy.ops.troupe.bands(gains=(1.0, 1.0, 1.7, 1.7, 1.7, 1.0, 1.0, 1.0))
    bpy.ops.troupe.spectrum(joint="shin_L")
    picture = bpy.data.objects.new("Plot", None)
    picture.empty_display_type, picture.data = "IMAGE", bpy.data.images[f"{actor.name} plot"]
    picture.empty_display_size, picture.location, picture.rotation_euler = 2.0, (1.8, 0.0, 1.0), (1.5708, 0.0, 0.0)
    scene.collection.objects.link(picture)
    scene.frame_start, scene.frame_end = 1, 106
