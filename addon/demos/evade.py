"""One keeps away from another who goes round a hall."""

from __future__ import annotations

import bpy

from ...core.planning.walkers import scenes
from ._set import build_set, choose, end_with, view
from .patrol import guided

TOUR = False
LIGHT = "paint.sl"


def build(context: bpy.types.Context) -> None:
    """Let the guide walk, and a shy guest stay out of its way."""
    actors = build_set(context, scenes.tour(followers=1), 1.2)
    guide, guest = actors.values()
    guest.name = "Shy"
    guest.location = (0.0, -4.0, 0.0)
    context.view_layer.update()
    guided(context, guide)
    choose(context, guest)
    bpy.ops.troupe.evade(target=guide.name, alarm=3.0, safe=5.0)
    end_with(context, guide, guest)


def camera(context: bpy.types.Context) -> None:
    """Look into the hall from the side."""
    view(context, (1.4, -4.8, 0.3), (0.4, -17.5, 11.5), 50.0)
