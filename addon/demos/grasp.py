"""A mug is taken by its handle to drink and around its body to give it away: two grasps saved with it."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ...core.planning.spaces.set_pieces import box, lathe, placed
from ...core.world import Body
from ._set import at_ease, body, choose, end_with, paint_of, view

RED, WOOD = (0.75, 0.3, 0.25), (0.72, 0.55, 0.38)
TOP = 0.98
"""Height of the table [m]."""


def build(context: bpy.types.Context) -> None:
    """Let the form of a mug say how it is taken, and take it so."""
    context.scene.frame_set(1)
    body(context, box("Table", (0.5, 0.25, 0.02), (0.0, -0.5, TOP - 0.02)), paint_of("Set wood", WOOD))
    mug = _mug(context)
    bpy.ops.troupe.mannequin()
    actor = context.object
    at_ease(context, actor)
    choose(context, actor, mug)
    bpy.ops.troupe.grasp(prop="Mug", source="form", hand="R", purpose="give")
    choose(context, actor)
    bpy.ops.troupe.reach(task="pick_up", target="Mug", purpose="give")
    end_with(context, actor)
    context.scene.frame_set(1)
    choose(context, actor, mug)


def camera(context: bpy.types.Context) -> None:
    """Look at hand and face from across the table."""
    view(context, (-0.15, -0.25, 1.3), (0.3, -1.9, 1.62), 29.0)


def _mug(context: bpy.types.Context) -> Any:
    vertices, faces = lathe([(0, 0), (0.038, 0), (0.04, 0.1), (0.036, 0.1), (0.034, 0.006), (0, 0.006)], 48)
    mug = Body("Mug", 0, vertices, faces, np.array(placed((-0.2, -0.4, TOP)))[None], "prop")
    return body(context, mug, paint_of("Set mug", RED))
