"""Rate of the timeline and size of the world unit."""

from __future__ import annotations

import bpy


def fps(scene: bpy.types.Scene) -> float:
    """Frames a second of the timeline."""
    return scene.render.fps / scene.render.fps_base


def metre(scene: bpy.types.Scene) -> float:
    """Metres of one world unit."""
    return scene.unit_settings.scale_length or 1.0
