"""A guide goes round a hall, and two guests follow."""

from __future__ import annotations

import bpy

from ...core.planning.walkers import scenes
from ._set import build_set, choose, end_with, view
from .patrol import guided

TOUR = False
LIGHT = "paint.sl"


def build(context: bpy.types.Context) -> None:
    """Let the guide patrol, then the guests follow it."""
    actors = build_set(context, scenes.tour(), 1.2)
    guide, *guests = actors.values()
    guided(context, guide)
    choose(context, *guests)
    bpy.ops.troupe.follow(target=guide.name, seconds=10.0)
    end_with(context, *actors.values())


def camera(context: bpy.types.Context) -> None:
    """Look at the side of the hall they go along."""
    view(context, (-1.6, -4.4, 0.4), (-3.2, -15.5, 8.5), 46.0)
