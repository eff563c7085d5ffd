"""Four play tag in a hall with columns."""

from __future__ import annotations

import bpy

from ...core.planning.walkers import scenes
from ._set import build_set, choose, end_with, view

TOUR = False
LIGHT = "paint.sl"


def build(context: bpy.types.Context) -> None:
    """Build the hall and let them play."""
    actors = build_set(context, scenes.tag_game(), 1.2)
    choose(context, *actors.values())
    bpy.ops.troupe.tag(first="Player 1", seconds=10.0)
    end_with(context, *actors.values())


def camera(context: bpy.types.Context) -> None:
    """Look into the hall from above."""
    view(context, (-0.4, 0.2, 0.0), (-1.5, -11.0, 14.5), 43.0)
