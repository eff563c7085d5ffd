"""The same walk four times, one after the other: as it is, exaggerated, toned down, and as a cartoon."""

from __future__ import annotations

import math

import bpy

from ...core.filters.bands import BandParams
from ...core.presets import shipped

WALKERS = (("", "studio"), ("Exaggerate", "clay"), ("Tone down", "studio"), ("Cartoon", "clay"))
HEADING, APART = math.radians(-55.0), 1.3
"""Where they go, so that they are seen from the side, and how far behind each other [m]."""


def build(context: bpy.types.Context) -> None:
    """Let four actors walk in a row and filter three of them."""
    scene, presets = context.scene, shipped("bands", BandParams)
    scene.frame_set(1)
    for k, (name, theme) in enumerate(WALKERS):
        scene.cursor.location = (-k * APART * math.sin(HEADING), k * APART * math.cos(HEADING), 0.0)
        bpy.ops.troupe.mannequin(theme=theme)
        context.object.rotation_euler.z = HEADING
        context.view_layer.update()
        bpy.ops.troupe.retarget(clip="walk")
        if name:
            bpy.ops.troupe.bands(**next(p.values for p in presets if p.name.startswith(name)))
    scene.cursor.location = (0.0, 0.0, 0.0)
    scene.frame_start, scene.frame_end = 1, 106
