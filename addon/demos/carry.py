"""A bottle is taken from one table, carried to another on a walk, and put down there."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ...core.maths import quat
from ...core.planning.spaces.set_pieces import bottle, box, placed
from ...core.skeleton import Array
from ._set import at_ease, body, choose, end_with, paint_of, spot, view

WOOD, GREEN, BLUE = (0.72, 0.55, 0.38), (0.2, 0.5, 0.3), (0.35, 0.5, 0.75)
TOP = 0.93
"""Height of the tables [m]."""
AWAY = (2.1, 1.0, 2.01)
"""Where somebody stands who is at the other table: x, y [m] and heading [rad]."""
PLANKS = (
    ((0.45, 0.25, 0.02), (0.0, -0.55, TOP - 0.02)),
    *(((0.02, 0.02, 0.445), (x, y, 0.445)) for x in (-0.4, 0.4) for y in (-0.75, -0.35)),
)
"""Half sizes and places of what a table is made of, before somebody at the origin [m]."""


def build(context: bpy.types.Context) -> None:
    """Take it, walk, carry it over the walk, and put it down."""
    actor = tables(context)
    bpy.ops.troupe.reach(task="pick_up", target="Bottle", hand="R")
    _later(context, actor)
    bpy.ops.troupe.goto(target="Before", turn=True, facing=AWAY[2])
    bpy.ops.troupe.carry(posture="front")
    _later(context, actor)
    bpy.ops.troupe.reach(task="put_back", destination="There")
    end_with(context, actor)
    context.scene.frame_set(1)


def camera(context: bpy.types.Context) -> None:
    """Look across the way from one table to the other, into the face that comes along it."""
    view(context, (1.3, 0.46, 0.8), (5.3, -2.3, 2.0), 36.0)


def tables(context: bpy.types.Context) -> Any:
    """An actor before a table with a bottle on it, and another table some steps away."""
    context.scene.frame_set(1)
    wood = paint_of("Set wood", WOOD)
    for name, base in (("Table", (0.0, 0.0, 0.0)), ("Desk", AWAY)):
        turn = _turn(base[2])
        for k, (half, place) in enumerate(PLANKS):
            at = turn @ np.array(place) + (base[0], base[1], 0.0)
            body(context, box(name if k == 0 else f"{name} leg {k}", half, at, turn), wood)
    body(context, bottle("Bottle", (-0.18, -0.42, TOP), sides=48), paint_of("Set bottle", GREEN))
    body(context, box("Book", (0.09, 0.12, 0.015), (0.05, -0.5, TOP + 0.015)), paint_of("Set book", BLUE))
    turn = _turn(AWAY[2])
    spot(context, "There", placed(turn @ np.array((-0.14, -0.4, TOP)) + (AWAY[0], AWAY[1], 0.0), turn))
    spot(context, "Before", placed((AWAY[0], AWAY[1], 0.0)))
    bpy.ops.troupe.mannequin()
    actor = context.object
    at_ease(context, actor)
    choose(context, actor)
    return actor


def _turn(heading: float) -> Array:
    """(3, 3) about the vertical."""
    out: Array = quat.to_matrix(quat.about(np.array([0.0, 0.0, 1.0]), heading))
    return out


def _later(context: bpy.types.Context, actor: Any) -> None:
    end_with(context, actor)
    context.scene.frame_set(context.scene.frame_end)
