"""At a laid table a bottle is taken through the glasses to another place; hands touch, point, take and put back."""

from __future__ import annotations

from typing import Any

import bpy

from ...core.planning.spaces.problems import bottle_scene
from ._set import body, choose, end_with, paint_of, posed, spot, view

GLASS, WOOD, GREEN = (0.75, 0.85, 0.9), (0.72, 0.55, 0.38), (0.2, 0.5, 0.3)


def build(context: bpy.types.Context) -> None:
    """Seat an actor at a table with a bottle among glasses, and let it move the bottle."""
    actor = seated(context)
    bpy.ops.troupe.reach(task="move", target="bottle", destination="There")
    end_with(context, actor)


def camera(context: bpy.types.Context) -> None:
    """Look across the table from the side of the hand."""
    view(context, (-0.05, -0.3, 0.85), (-1.5, -1.7, 1.55))


def seated(context: bpy.types.Context) -> Any:
    """Somebody at a laid table, with an empty where the bottle may go."""
    context.scene.frame_set(1)
    skeleton, pose, world, there = bottle_scene()
    for thing in world.bodies:
        colour = {"bottle": GREEN, "table": WOOD, "seat": WOOD}.get(thing.name, GLASS)
        body(context, thing, paint_of(f"Set {thing.name.split()[0]}", colour))
    spot(context, "There", there)
    bpy.ops.troupe.mannequin()
    actor = context.object
    posed(context, actor, skeleton, pose)
    choose(context, actor)
    return actor


def still(context: bpy.types.Context) -> None:
    """Point at the bottle, touch a glass, take the bottle and put it back."""
    actor = seated(context)
    for step in (
        {"task": "point", "target": "bottle"},
        {"task": "touch", "target": "glass"},
        {"task": "pick_up", "target": "bottle"},
        {"task": "put_back"},
    ):
        bpy.ops.troupe.reach(**step)
        end_with(context, actor)
        context.scene.frame_set(context.scene.frame_end + 6)
    context.scene.frame_set(1)
