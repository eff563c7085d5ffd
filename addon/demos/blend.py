"""A stroll, an exaggerated brisk walk, and between them a walk half-way from one to the other, step for step."""

from __future__ import annotations

import bpy

from ...core.figure import stroll
from ...core.figure.mannequin import mannequin
from ...core.filters.bands import BandParams
from ...core.presets import shipped
from .emotion import perform

BRISK, LEISURELY = 0.9, 1.3
"""Time of two steps [s]."""

TOUR = False
"""Not in the default tour, which has to be short."""


def build(context: bpy.types.Context) -> None:
    """Let two actors walk in two ways and a third one in both at once."""
    exaggerate = next(p.values for p in shipped("bands", BandParams) if p.name.startswith("Exaggerate"))
    perform(context, stroll.walk(mannequin(), 4, BRISK), -0.9, "studio")
    bpy.ops.troupe.bands(**exaggerate)
    brisk = context.object
    for x, theme in ((0.9, "studio"), (0.0, "clay")):
        perform(context, stroll.walk(mannequin(), 4, LEISURELY), x, theme)
    bpy.ops.troupe.blend(source=brisk.name, amount=0.5)
    context.scene.cursor.location = (0.0, 0.0, 0.0)
    context.scene.frame_start, context.scene.frame_end = 1, round(4 * BRISK * 24)
