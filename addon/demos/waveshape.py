"""A drink three times: as it is, with its reach cut short, and with waves on its way."""

from __future__ import annotations

import json

import bpy

from ...core.figure import acts
from ...core.figure.mannequin import mannequin
from ...core.filters.waveshape import WaveshapeParams
from ...core.presets import shipped
from .emotion import camera, perform

__all__ = ["build", "camera"]

TOUR = False
"""Not in the default tour, which has to be short."""
ACTORS = ((-0.8, "", "studio"), (0.0, "Capped", "clay"), (0.8, "Undulating", "clay"))


def build(context: bpy.types.Context) -> None:
    """Let three actors drink the same way and shape the arms of two of them."""
    curves = {preset.name: preset.values for preset in shipped("waveshape", WaveshapeParams)}
    for x, name, theme in ACTORS:
        perform(context, acts.drink(mannequin()), x, theme)
        if name:
            values = {key: json.dumps(value) if key == "points" else value for key, value in curves[name].items()}
            bpy.ops.troupe.waveshape(scope="arms", **values)
    context.scene.cursor.location = (0.0, 0.0, 0.0)
    context.scene.frame_start, context.scene.frame_end = 1, 107
