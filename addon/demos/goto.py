"""Through a maze to its far corner; an office where a door closes and the goal moves; a wall that opens in turn."""

from __future__ import annotations

import bpy

from ...core.planning.walkers import scenes
from ._set import build_set, choose, end_with, view

SIZE = 5
"""Cells of the maze along a side."""


def build(context: bpy.types.Context) -> None:
    """Build the maze and send an actor through it."""
    (walker,) = build_set(context, scenes.maze(SIZE), 1.2).values()
    choose(context, walker)
    bpy.ops.troupe.goto(target="Goal")
    end_with(context, walker)


def camera(context: bpy.types.Context) -> None:
    """Look down into the maze."""
    middle = 0.75 * SIZE
    view(context, (middle, middle, 0.0), (middle - 3.0, middle - 9.0, 17.0))


def office(context: bpy.types.Context) -> None:
    """On the way a door closes, a crate falls, and at last the goal is somewhere else."""
    (walker,) = build_set(context, scenes.office(), 1.2).values()
    choose(context, walker)
    bpy.ops.troupe.goto(target="Goal")
    end_with(context, walker)


def trap(context: bpy.types.Context) -> None:
    """Whoever always takes the open end never gets round this wall; one who keeps to a way does."""
    (walker,) = build_set(context, scenes.trap(), 1.2).values()
    choose(context, walker)
    bpy.ops.troupe.goto(target="Goal", seconds=40.0)
    end_with(context, walker)
