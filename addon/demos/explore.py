"""Through an unknown maze with dead ends; a table that is moved behind an actor's back; things hidden and gone."""

from __future__ import annotations

from dataclasses import replace

import bpy
import numpy as np

from ...core.motion import Path
from ...core.planning.walkers import scenes
from ...core.planning.walkers.actors import ActorSetup
from ...core.planning.walkers.behaviours import Stand
from ...core.world import World
from ._set import build_set, choose, end_with, overhead, view

TOUR = False
LIGHT = "paint.sl"
SIZE = 4
"""Cells of the maze along a side."""


def build(context: bpy.types.Context) -> None:
    """Send an actor from the lower right to the upper left of a maze it does not know."""
    near, far = 0.75, 1.5 * (SIZE - 0.5)
    maze = scenes.maze(SIZE, seed=2)
    walker = ActorSetup(scenes.towards(far, near, near, near), Stand())
    (actor,) = build_set(
        context, replace(maze, actors={"Walker": walker}, places={"Goal": scenes.spot(near, far)})
    ).values()
    choose(context, actor)
    bpy.ops.troupe.explore(target="Goal", seconds=60.0)
    end_with(context, actor)


def camera(context: bpy.types.Context) -> None:
    """Look down into the maze."""
    middle = 0.75 * SIZE
    view(context, (middle, middle, 0.0), (middle, middle - 4.2, 16.0))


def hidden_table(context: bpy.types.Context) -> None:
    """It knows the room; while it looks into a corner a table is moved, which it notices only when it turns round."""
    walls = [(-0.1, -0.1, 8.1, 0.0), (-0.1, 6.0, 8.1, 6.1), (-0.1, -0.1, 0.0, 6.1), (8.0, -0.1, 8.1, 6.1)]
    bodies = [scenes.box(f"Wall {k}", k + 1, (a, b, 0.0), (c, d, 2.5)) for k, (a, b, c, d) in enumerate(walls)]
    moves = np.zeros((20 * 24, 3))
    moves[7 * 24 :] = (1.5, 1.2, 0.0)
    table = scenes.box("Table", 9, (3.2, 2.6, 0.0), (4.8, 3.4, 0.75), "obstacle", moves)
    goal = Path(np.array([[7.3, 5.3], [7.3, 5.3], [0.7, 0.7]]), ("x", "y"), np.array([0.0, 9.0, 9.04]))
    world = World((scenes.floor(-1.0, -1.0, 9.0, 7.0), *bodies, table), scenes.FPS)
    walker = ActorSetup(scenes.towards(2.0, 3.0, 7.3, 5.3), Stand())
    (actor,) = build_set(context, scenes.Scene(world, {"Walker": walker}, places={"Goal": goal}), 1.2).values()
    choose(context, actor)
    bpy.ops.troupe.explore(target="Goal", known="everything", seconds=20.0)
    end_with(context, actor)


def obscured(context: bpy.types.Context) -> None:
    """Something appears before a cube that the actor knows: it still knows of it."""
    _three(context, {"Three": ((5.0, -3.0), (0.0, 3.0))})


def missing(context: bpy.types.Context) -> None:
    """The cube is taken away, and something appears elsewhere: the actor sees as much as if it were hidden, and knows
    that it is gone."""
    _three(context, {"One": ((0.0, 6.0), (5.0, -5.0)), "Three": ((5.0, -3.0), (-3.0, 6.0))})


def _three(context: bpy.types.Context, moves: dict[str, tuple[tuple[float, float], tuple[float, float]]]) -> None:
    """One who stands and looks at two cubes while things are moved from place to place after a second."""
    size = {"One": 0.8, "Two": 0.8, "Three": 1.5}
    places = {"One": (0.0, 6.0), "Two": (3.0, 6.0), "Three": (5.0, -3.0)}
    bodies = []
    for k, (name, side) in enumerate(size.items()):
        (x, y), (to_x, to_y) = moves.get(name, (places[name], places[name]))
        shift = np.zeros((4 * 24, 3))
        shift[24:] = (to_x - x, to_y - y, 0.0)
        low, high = (x - side / 2, y - side / 2, 1.6 - side / 2), (x + side / 2, y + side / 2, 1.6 + side / 2)
        bodies.append(scenes.box(name, k + 1, low, high, "prop", shift))
    world = World((scenes.floor(-6.0, -8.0, 6.0, 9.0), *bodies), scenes.FPS)
    # a goal that will yet move keeps it standing where it is
    goal = Path(np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.5]]), ("x", "y"), np.array([0.0, 2.5, 2.54]))
    walker = ActorSetup(scenes.towards(0.0, 0.0, 0.0, 6.0), Stand())
    (actor,) = build_set(context, scenes.Scene(world, {"Walker": walker}, places={"Goal": goal})).values()
    choose(context, actor)
    bpy.ops.troupe.explore(target="Goal", known="everything", view=np.radians(90.0), seconds=4.0)
    end_with(context, actor)


VARIANTS = {
    "hidden_table": (hidden_table, overhead(4.0, 2.7, 13.0)),
    "obscured": (obscured, overhead(0.0, 2.0, 20.0)),
    "missing": (missing, overhead(0.0, 2.0, 20.0)),
}
