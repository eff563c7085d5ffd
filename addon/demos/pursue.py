"""Six pursue one who goes round a hall."""

from __future__ import annotations

import bpy

from ...core.planning.walkers import scenes
from ._set import build_set, choose, end_with, view
from .patrol import guided

TOUR = False
LIGHT = "paint.sl"


def build(context: bpy.types.Context) -> None:
    """Let the guide walk, and the others run after it."""
    actors = build_set(context, scenes.pursuit(), 1.2)
    guide, *others = actors.values()
    guided(context, guide, seconds=7.0)
    choose(context, *others)
    bpy.ops.troupe.pursue(target=guide.name, catch=1.1, speed=1.8, seconds=7.0)
    end_with(context, *actors.values())


def camera(context: bpy.types.Context) -> None:
    """Look into the hall from above."""
    view(context, (0.0, -0.6, 0.0), (-1.5, -12.0, 14.5), 47.0)
