"""After the guests have gone: a can among the cups and a ball on the floor are carried to the sideboard."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ...core.planning.hands.workplaces import dining_room
from ...core.planning.spaces.set_pieces import lathe, placed
from ...core.world import Body
from ._set import body, choose, end_with, paint_of, posed, view

COLOURS = {
    "floor": (1.0, 0.98, 0.93),
    "cup": (0.95, 0.93, 0.85),
    "can": (0.95, 0.5, 0.15),
    "ball": (0.9, 0.25, 0.2),
}
WOOD = (0.72, 0.55, 0.38)


def build(context: bpy.types.Context) -> None:
    """Let somebody put away what lies about."""
    actor = room(context, ball())
    bpy.ops.troupe.tidy(litter="Litter", away="sideboard")
    end_with(context, actor)


def camera(context: bpy.types.Context) -> None:
    """Look at both tables and the sideboard."""
    view(context, (-0.05, -0.9, 0.75), (0.5, -6.2, 2.5), 42.0)


def ball() -> Body:
    """A ball on the floor."""
    turn = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 13)
    vertices, faces = lathe(0.045 * np.column_stack([np.cos(turn), np.sin(turn)]), 24)
    return Body("ball", 20, vertices, faces, placed((-0.75, 0.5, 0.045))[None], "prop")


def room(context: bpy.types.Context, *more: Body) -> Any:
    """A dining room with somebody in it, and a collection of what does not belong where it is."""
    context.scene.frame_set(1)
    skeleton, pose, world, litter, _ = dining_room()
    there = bpy.data.collections.new("Litter")
    context.scene.collection.children.link(there)
    for thing in (*world.bodies, *more):
        word = thing.name.split()[0]
        made = body(context, thing, paint_of(f"Set {word}", COLOURS.get(word, WOOD)))
        if thing.name in litter or thing in more:
            there.objects.link(made)
    bpy.ops.troupe.mannequin()
    actor = context.object
    posed(context, actor, skeleton, pose)
    choose(context, actor)
    return actor
