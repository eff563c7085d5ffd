"""One hides behind screens from another who goes round them."""

from __future__ import annotations

import bpy

from ...core.planning.walkers import scenes
from ...core.planning.walkers.actors import ActorSetup
from ...core.planning.walkers.behaviours import Stand
from ...core.world import World
from ._set import build_set, choose, end_with, view
from .patrol import guided

TOUR = False
LIGHT = "paint.sl"
SCREENS = ((-2.2, -1.0, -0.6, -0.8), (0.8, -1.0, 2.4, -0.8), (-0.9, 1.4, 0.9, 1.6))
"""Walls to hide behind [m]."""


def screens(**actors: tuple[float, float, float, float]) -> scenes.Scene:
    """A room with three screens; actors by name: place, and place they face."""
    bodies = [scenes.box(f"Screen {k}", k + 1, (a, b, 0.0), (c, d, 2.0)) for k, (a, b, c, d) in enumerate(SCREENS)]
    world = World((scenes.floor(-7.0, -7.0, 7.0, 7.0), *bodies), scenes.FPS)
    return scenes.Scene(world, {name: ActorSetup(scenes.towards(*at), Stand()) for name, at in actors.items()})


def build(context: bpy.types.Context) -> None:
    """Let one walk round, and the other keep out of its sight."""
    actors = build_set(context, screens(Seeker=(-5.0, -4.0, 0.0, -4.0), Hider=(-0.5, -3.0, -5.0, -4.0)))
    guided(context, actors["Seeker"], seconds=12.0)
    choose(context, actors["Hider"])
    bpy.ops.troupe.hide(target="Seeker", seconds=12.0, flee=2.0)
    end_with(context, *actors.values())


def camera(context: bpy.types.Context) -> None:
    """Look down on the screens."""
    view(context, (-0.4, -1.4, 0.0), (-1.5, -9.0, 14.0), 44.0)
