"""One runs after another who flees: both are computed at once, so that they react to each other."""

from __future__ import annotations

import bpy

from ._set import build_set, choose, end_with, view
from .hide import screens

TOUR = False
LIGHT = "paint.sl"


def build(context: bpy.types.Context) -> None:
    """Tell each what to do, then let them do it together."""
    actors = build_set(context, screens(Fox=(-4.0, -3.0, 0.0, -3.0), Hare=(0.0, -3.0, 4.0, -3.0)))
    fox, hare = actors.values()
    fox.troupe.pursue.target, fox.troupe.pursue.speed = "Hare", 2.4
    hare.troupe.evade.target, hare.troupe.evade.speed, hare.troupe.evade.safe = "Fox", 2.2, 8.0
    choose(context, fox, hare)
    bpy.ops.troupe.together(told="Fox pursue, Hare evade", seconds=10.0)
    end_with(context, fox, hare)


def camera(context: bpy.types.Context) -> None:
    """Look down on the chase."""
    view(context, (1.4, -3.0, 0.0), (0.4, -12.0, 14.5), 44.0)
