"""Through a maze to its far corner; and offices, traps and grids in which the way must be found again."""

from __future__ import annotations

from dataclasses import replace
from time import process_time

import bpy
import numpy as np

from ...core.motion import Path
from ...core.planning.walkers import scenes
from ...core.planning.walkers.actors import ActorSetup
from ...core.planning.walkers.behaviours import Stand
from ...core.planning.ways.map import MapParams, project
from ...core.planning.ways.search import search
from ...core.planning.ways.walkable import WalkableParams
from ...core.world import Body, World
from ._set import build_set, choose, end_with, overhead, paint, sheet, view, words

LIGHT = "paint.sl"
SIZE = 5
"""Cells of the maze along a side."""
DRAGGED = ((14.9, 1.0), (13.0, 9.8), (8.0, 8.0), (2.0, 3.8))
"""Where the goal is drawn through the office [m]."""


def build(context: bpy.types.Context) -> None:
    """Build the maze and send an actor through it."""
    _sent(context, scenes.maze(SIZE), 1.2)


def camera(context: bpy.types.Context) -> None:
    """Look down into the maze."""
    middle = 0.75 * SIZE
    view(context, (middle, middle, 0.0), (middle, middle - 6.0, 17.5), 29.0)


def large(context: bpy.types.Context) -> None:
    """A maze of 14 x 14 cells; on the way a wall is moved, so that another way must be found, and then the goal."""
    maze = scenes.maze(14)
    # a part of a wall that shuts a short cut off steps aside after five seconds
    opened = np.zeros((round(90 * scenes.FPS), 3))
    opened[round(5 * scenes.FPS) :] = (0.0, 0.0, -3.0)
    bodies = [b if b.name != "Wall 40" else replace(b, matrices=_shifted(b, opened)) for b in maze.world.bodies]
    goal = Path(np.array([[20.25, 20.25], [20.25, 20.25], [20.25, 11.25]]), ("x", "y"), np.array([0.0, 12.0, 12.1]))
    _sent(context, replace(maze, world=World(tuple(bodies), scenes.FPS), places={"Goal": goal}), 1.2, 90.0)


def _shifted(body: Body, moves: np.ndarray) -> np.ndarray:
    out = np.tile(body.matrices[0], (len(moves), 1, 1))
    out[:, :3, 3] += moves
    return out


def office(context: bpy.types.Context) -> None:
    """On the way a door closes, a crate falls, and at last the goal is somewhere else."""
    _sent(context, scenes.office(), 1.2)


def drag(context: bpy.types.Context) -> None:
    """The goal is drawn through an office of 15 000 triangles, and the way is found again and again."""
    times = np.array([0.0, 5.0, 9.0, 13.0])
    goal = Path(np.array(DRAGGED), ("x", "y"), times)
    _sent(context, replace(scenes.office(), places={"Goal": goal}), 1.2)


def trap(context: bpy.types.Context) -> None:
    """Whoever always takes the open end never gets round this wall; one who keeps to a way does."""
    _sent(context, scenes.trap(), 1.2, 40.0)


def _sent(context: bpy.types.Context, scene: scenes.Scene, height: float, seconds: float = 60.0) -> None:
    (walker,) = build_set(context, scene, height).values()
    choose(context, walker)
    bpy.ops.troupe.goto(target="Goal", seconds=seconds)
    end_with(context, walker)


def pruning(context: bpy.types.Context) -> None:
    """A grid at random: the cells that the exact search looks at, and what trying five of eight directions saves."""
    rng, count, side = np.random.default_rng(23), 22, 0.85
    free = rng.random((count, count)) > 0.25
    free[:2, :2] = free[-2:, -2:] = True
    found = [search(free, [0], [free.size - 1], astar=False, prune=prune) for prune in (False, True)]
    boxes = [
        scenes.box(f"Block {k}", k + 1, (c * side, r * side, 0.0), ((c + 1) * side, (r + 1) * side, 0.5))
        for k, (r, c) in enumerate(np.argwhere(~free).tolist())
    ]
    world = World((scenes.floor(0.0, 0.0, count * side, count * side), *boxes), scenes.FPS)
    near, far = 0.5 * side, (count - 0.5) * side
    walker = ActorSetup(scenes.towards(near, near, far, far), Stand())
    _sent(context, scenes.Scene(world, {"Walker": walker}, places={"Goal": scenes.spot(far, far)}), 0.5)
    corners = np.argwhere(found[1].closed.reshape(free.shape))[:, ::-1] * side
    square = side * np.array([[0.08, 0.08], [0.92, 0.08], [0.92, 0.92], [0.08, 0.92]])
    places = (corners[:, None] + square).reshape(-1, 2)
    faces = np.arange(len(places)).reshape(-1, 4).tolist()
    sheet(
        context, "Looked at", np.column_stack([places, np.full(len(places), 0.008)]).tolist(), faces, paint("looked at")
    )
    said = f"eight directions: {found[0].relaxations} steps    five: {found[1].relaxations}    same length"
    words(context, said, (0.0, -1.3, 0.02), 0.62)


def timing(context: bpy.types.Context) -> None:
    """How long maps and ways of the maze and the office take on this machine, as a table to be read."""
    lines = ["scene    triangles   cells   map [ms]   way [ms]   exact search [ms]"]
    for name, scene, sizes in (("maze", scenes.maze(14), (50, 100, 150)), ("office", scenes.office(), (45, 90, 135))):
        triangles = sum(len(b.triangles) for b in scene.world.bodies)
        extent = float(np.ptp(scene.world.bodies[0].vertices[:, 0]))
        for size in sizes:
            cell = extent / size
            begun = process_time()
            chart = project(scene.world, MapParams(radius=0.25, cell=cell))
            made = process_time() - begun
            fast, exact = (
                chart.walkable(0.25),
                chart.walkable(0.25, WalkableParams(method="dijkstra", straighten=False)),
            )
            rng = np.random.default_rng(size)
            parts = np.array(fast.labels)
            most = np.flatnonzero(parts == np.bincount(parts[parts > 0]).argmax())
            pairs = fast.centre(rng.choice(most, (100, 2)))
            took = [process_time()]
            for ways, some in ((fast, pairs), (exact, pairs[:5])):
                for start, goal in some:
                    ways.route(start, goal)
                took.append(process_time())
            row = (1e3 * made, 1e3 * (took[1] - took[0]) / 100, 1e3 * (took[2] - took[1]) / 5)
            lines.append(f"{name:<8} {triangles:>8}   {size:>4}\u00b2 {row[0]:>9.1f} {row[1]:>10.2f} {row[2]:>13.1f}")
    bpy.data.texts.new("Timing").from_string("\n".join(lines) + "\n")
    _sent(context, scenes.maze(3), 1.2)
    for k, line in enumerate(lines):
        words(context, line, (-2.5, -1.2 - 0.55 * k, 0.02), 0.42)


VARIANTS = {
    "large": (large, overhead(10.5, 10.2, 37.0)),
    "office": (office, overhead(8.0, 5.6, 24.0)),
    "drag": (drag, overhead(8.0, 5.6, 24.0)),
    "trap": (trap, overhead(0.0, 0.0, 18.5)),
    "pruning": (pruning, overhead(9.3, 8.0, 31.0)),
    "timing": (timing, overhead(2.3, -0.9, 17.0)),
}
