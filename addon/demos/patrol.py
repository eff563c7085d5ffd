"""A guide goes round the columns of a hall, from waypoint to waypoint."""

from __future__ import annotations

from typing import Any

import bpy

from ...core.planning.walkers import scenes
from ._set import build_set, choose, empty, end_with, view

TOUR = False
LIGHT = "paint.sl"


def build(context: bpy.types.Context) -> None:
    """Put waypoints around the columns and send the guide round."""
    (guide,) = build_set(context, scenes.tour(followers=0), 1.2).values()
    guided(context, guide, seconds=20.0)
    end_with(context, guide)


def guided(context: bpy.types.Context, guide: Any, seconds: float = 10.0) -> None:
    """Let somebody go round the hall by waypoints in a collection."""
    points = bpy.data.collections.new("Waypoints")
    context.scene.collection.children.link(points)
    for k, (x, y) in enumerate(scenes.LEADERS_WAY):
        ob = empty(context, f"Waypoint {k + 1}", scenes.spot(x, y))
        points.objects.link(ob)
    context.view_layer.update()
    choose(context, guide)
    bpy.ops.troupe.patrol(points=points.name, seconds=seconds, speed=1.05)


def camera(context: bpy.types.Context) -> None:
    """Look into the hall from above."""
    view(context, (-0.4, -0.4, 0.0), (-1.5, -11.5, 14.0), 42.0)
