"""A waiter attends to the cup on each table, and breaks off where a can is seen to carry it to the sideboard."""

from __future__ import annotations

import bpy

from ._set import end_with
from .tidy import camera, room

__all__ = ["build", "camera"]


def build(context: bpy.types.Context) -> None:
    """Let somebody wait at both tables."""
    actor = room(context)
    cups = bpy.data.collections.new("Cups")
    context.scene.collection.children.link(cups)
    for name in ("cup one", "cup two"):
        cups.objects.link(bpy.data.objects[name])
    bpy.ops.troupe.serve(tables="Cups", litter="Litter", away="sideboard")
    end_with(context, actor)
