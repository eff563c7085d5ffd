"""Three queue at a counter, are served one by one, and leave."""

from __future__ import annotations

import bpy

from ...core.planning.walkers import scenes
from ...core.planning.walkers.actors import ActorSetup
from ...core.planning.walkers.behaviours import Stand
from ...core.world import World
from ._set import build_set, choose, end_with, view

TOUR = False
LIGHT = "paint.sl"


def build(context: bpy.types.Context) -> None:
    """Put up a counter and let them come."""
    counter = scenes.box("Counter", 1, (-1.5, 0.7, 0.0), (1.5, 1.2, 1.0))
    world = World((scenes.floor(-7.0, -7.0, 7.0, 3.0), counter), scenes.FPS)
    starts = {"Anna": (-1.5, -2.0), "Ben": (1.8, -3.5), "Cleo": (-2.5, -4.5)}
    setups = {name: ActorSetup(scenes.towards(x, y, 0.0, 0.0), Stand()) for name, (x, y) in starts.items()}
    places = {"Till": scenes.spot(0.0, 0.0), "Exit": scenes.spot(4.5, -1.0)}
    actors = build_set(context, scenes.Scene(world, setups, places=places))
    choose(context, *actors.values())
    bpy.ops.troupe.queue(target="Till", exit="Exit", service=1.0)
    end_with(context, *actors.values())


def camera(context: bpy.types.Context) -> None:
    """Look at the counter from the side."""
    view(context, (0.9, -1.2, 0.5), (-6.5, -9.0, 6.0), 34.0)
