"""Grasps of props, and how hands and props found their ways, in the viewport."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ...core.skeleton import Array
from .. import scene

PALM = 0.035
"""Half the size of the palm that is drawn [m]."""


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
    """Lines of the grasps of the selected props [world units]."""
    from ..features import objects

    parts: dict[str, list[Array]] = {}
    for ob in context.selected_objects:
        try:
            found = objects.grasps_of(ob)
        except Exception:  # a damaged property is the panel's to report, not the viewport's
            continue
        if not found:
            continue
        rows = grasp_lines(
            objects.matrix_of(ob, context),
            np.stack([g.frame for g in found]),
            np.stack([g.approach for g in found]),
            np.array([g.distance for g in found]),
        )
        for name, points in rows.items():
            parts.setdefault(name, []).append(points / scene.metre(context.scene))
    return {name: np.concatenate(rows) for name, rows in parts.items()}


def search(context: bpy.types.Context) -> dict[str, Array]:
    """Lines of the last search of the selected objects: tree, path and shapes [world units]."""
    from ..features import sought

    own: Any = context.scene
    wanted = [name for name in ("tree", "path", "shapes") if getattr(own.troupe, f"show_{name}")]
    parts: dict[str, list[Array]] = {}
    for ob in context.selected_objects if wanted else ():
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
