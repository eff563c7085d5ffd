"""Three people tour a hall; four others wander about and follow whoever passes near for a while."""

from __future__ import annotations

import bpy

from ...core.planning.walkers import scenes
from ._set import build_set, choose, end_with, view
from .patrol import guided

TOUR = False
LIGHT = "paint.sl"


def build(context: bpy.types.Context) -> None:
    """Let the guide walk and two follow, then the others wander."""
    actors = build_set(context, scenes.company(), 1.2)
    guide, *people = (actors[name] for name in ("Guide", "Guest 1", "Guest 2"))
    guided(context, guide, seconds=6.0)
    choose(context, *people)
    bpy.ops.troupe.follow(target=guide.name, seconds=6.0)
    robots = [ob for name, ob in actors.items() if name.startswith("Robot")]
    choose(context, *robots)
    bpy.ops.troupe.wander(whom="Guide, Guest 1, Guest 2", speed=1.1, seconds=6.0)
    end_with(context, *actors.values())


def camera(context: bpy.types.Context) -> None:
    """Look into the hall from above."""
    view(context, (-0.3, -0.6, 0.0), (-1.5, -12.5, 15.0), 48.0)
