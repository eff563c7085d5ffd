"""A stroll, a brisk walk, and between them the stroll at the pace of the brisk walk."""

from __future__ import annotations

import bpy

from ...core.figure import stroll
from ...core.figure.mannequin import mannequin
from .emotion import perform

BRISK, LEISURELY = 0.85, 1.3
"""Time of two steps [s]."""

TOUR = False
"""Not in the default tour, which has to be short."""


def build(context: bpy.types.Context) -> None:
    """Let three actors walk in two ways and give one of them the pace of another."""
    perform(context, stroll.walk(mannequin(), 5, BRISK), -0.9, "studio")
    pace = context.object
    for x, theme in ((0.9, "studio"), (0.0, "clay")):
        perform(context, stroll.walk(mannequin(), 5, LEISURELY), x, theme)
    actor = context.object
    actor.troupe.timewarp.source = pace.name
    bpy.ops.troupe.find_moments()
    bpy.ops.troupe.timewarp(source=pace.name, curve=actor.troupe.timewarp.curve)
    context.scene.cursor.location = (0.0, 0.0, 0.0)
    context.scene.frame_start, context.scene.frame_end = 1, round(5 * BRISK * 24)
