"""Grasps of props, and how hands and props found their ways, in the viewport."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...core.skeleton import SIDES, Array
from .. import scene

if TYPE_CHECKING:
    from ...core.planning.hands.grasp import Grasp

PALM = 0.035
"""Half the size of the palm that is drawn [m]."""
SHOWN = 8
"""Grasps of a prop that are drawn at once."""


def grasp_lines(matrix: Array, frames: Array, approaches: Array, distances: Array) -> dict[str, Array]:
    """Palms, thumbs and approaches of grasps as lines (2 n, 3) by colour.

    Args:
        matrix: (4, 4) of the prop, without scale.
        frames: (G, 4, 4) in its axes.
        approaches: (G, 3) which way the hand travels.
        distances: (G,) how far [m].
    """
    world = matrix @ frames
    place, out, thumb, along = world[:, :3, 3], world[:, :3, 0], world[:, :3, 1], world[:, :3, 2]
    corners = [place + PALM * (a * thumb + b * along) for a, b in ((1, 1), (1, -1), (-1, -1), (-1, 1))]
    palm = np.stack([corners[k % 4] for j in range(4) for k in (j, j + 1)], axis=1)
    way = (matrix[:3, :3] @ approaches.T).T
    start = place - distances[:, None] * way
    return {
        "spine": palm.reshape(-1, 3),
        "left": np.stack([place, place + 2.0 * PALM * thumb], axis=1).reshape(-1, 3),
        "right": np.stack([start, place], axis=1).reshape(-1, 3),
        "head": np.stack([place, place + PALM * out], axis=1).reshape(-1, 3),
    }


def grasps(context: bpy.types.Context) -> dict[str, Array]:
    """Lines of the grasps of the selected props, and of the one that the panel lists [world units]."""
    from ..features import grasp, objects

    parts: dict[str, list[Array]] = {}
    actor = next(iter(scene.selected_armatures(context)), None)
    for ob in dict.fromkeys((*context.selected_objects, grasp.shown_prop(context, actor))):
        try:
            found = objects.grasps_of(ob) if ob is not None else ()
        except Exception:  # a damaged property is the panel's to report, not the viewport's
            continue
        if not found or not ob.visible_get():
            continue
        rows = grasp_lines(objects.matrix_of(ob, context), *_few(found))
        for name, points in rows.items():
            parts.setdefault(name, []).append(points / scene.metre(context.scene))
    return {name: np.concatenate(rows) for name, rows in parts.items()}


@lru_cache(maxsize=32)
def _few(known: tuple[Grasp, ...]) -> tuple[Array, Array, Array]:
    """Frames (G, 4, 4), approaches (G, 3) and distances (G,) [m] of grasps: the best, and those least like it.

    Hundreds that differ by some degrees are a ball of lines in which nothing can be told from anything.
    """
    frames = np.stack([g.frame for g in known])
    quality = np.array([g.quality for g in known])
    sides = np.array([SIDES.index(g.side) if g.side in SIDES else 2 for g in known])
    # a quarter turn counts as much as the size of a palm
    apart = np.concatenate([frames[:, :3, 3], PALM * frames[:, :3, 0], PALM * frames[:, :3, 1]], axis=1)
    chosen = [int(quality.argmax())]
    near = np.full(len(known), np.inf)
    while len(chosen) < min(SHOWN, len(known)):
        away = np.linalg.norm(apart - apart[chosen[-1]], axis=1) + PALM * (sides != sides[chosen[-1]])
        near = np.minimum(near, away)
        # of two that are as far from all others the better one
        chosen.append(int((near * (0.5 + quality)).argmax()))
    return frames[chosen], np.stack([known[k].approach for k in chosen]), np.array([known[k].distance for k in chosen])


def search(context: bpy.types.Context) -> dict[str, Array]:
    """Lines of the last search of the selected objects, and of what Plan moves: tree, path and shapes [world units]."""
    from ..features import plan, sought

    own: Any = context.scene
    wanted = [name for name in ("tree", "path", "shapes") if getattr(own.troupe, f"show_{name}")]
    parts: dict[str, list[Array]] = {}
    for ob in dict.fromkeys((*context.selected_objects, plan.shown_mover(context))) if wanted else ():
        kept = sought.last(ob)
        if kept is None:
            continue
        for name in wanted:
            points = np.array(kept.get(name) or [], dtype=np.float64)
            if not len(points):
                continue
            if name == "path":
                points = np.stack([points[:-1], points[1:]], axis=1).reshape(-1, 3)
            elif name == "shapes":
                points = sought.capsule_lines(points)
            parts.setdefault({"tree": "old way", "path": "way", "shapes": "view"}[name], []).append(points)
    return {name: np.concatenate(rows) / scene.metre(own) for name, rows in parts.items()}


def shown(context: bpy.types.Context) -> bool:
    """Whether grasps are to be drawn."""
    own: Any = context.scene
    return bool(own.troupe.show_grasps)
