"""One looks behind screens for another who hides there."""

from __future__ import annotations

import bpy

from ._set import build_set, choose, end_with, view
from .hide import screens

TOUR = False
LIGHT = "paint.sl"


def build(context: bpy.types.Context) -> None:
    """Let one look for the other."""
    actors = build_set(context, screens(Seeker=(-1.4, -3.0, -4.0, -4.0), Hider=(0.0, 2.4, 0.0, 5.0)))
    # who is sent to where it is stands there at ease
    choose(context, actors["Hider"])
    bpy.ops.troupe.goto(place=actors["Hider"].location, seconds=1.0)
    choose(context, actors["Seeker"])
    bpy.ops.troupe.search(target="Hider", reach=6.0, range=6.0, seconds=40.0)
    end_with(context, *actors.values())


def camera(context: bpy.types.Context) -> None:
    """Look down on the screens."""
    view(context, (-0.2, -0.4, 0.0), (-1.2, -7.0, 13.0), 36.0)
