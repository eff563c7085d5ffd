"""Obstacles grown by the size of a body: afterwards the body is a point (a Minkowski sum on the grid)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ...needs import needs_scipy
from ...skeleton import Array

Bools = npt.NDArray[np.bool_]
Box = tuple[int, int, int, int]
"""First row, first column, last row, last column."""

STAMPED = 16
"""Up to so many times as many cells as there are it is faster to draw a disc on each blocked cell, one by one."""


def distances(blocked: Bools) -> Array:
    """From the centre of every cell (rows, columns) to the nearest blocked one's [cells]; inf when there is none."""
    with needs_scipy():
        from scipy.ndimage import distance_transform_edt
    if not blocked.any():
        return np.full(blocked.shape, np.inf)
    distance: Array = distance_transform_edt(~blocked)
    return distance


def grown(blocked: Bools, reach: float) -> Bools:
    """Cells (rows, columns) whose centres lie within `reach` [cells] of that of a blocked one, itself included."""
    disc, wide = _disc(reach)
    row, column = blocked.nonzero()
    if len(row) * len(disc) > STAMPED * blocked.size:
        near: Bools = distances(blocked) <= reach
        return near
    rows, columns = blocked.shape
    padded = np.zeros((rows + 2 * wide, columns + 2 * wide), bool)
    across = padded.shape[1]
    stamps = disc[:, 0] * across + disc[:, 1] + (wide * across + wide)
    padded.reshape(-1)[(row * across + column)[:, None] + stamps] = True
    return padded[wide : wide + rows, wide : wide + columns]


@lru_cache(maxsize=32)
def _disc(reach: float) -> tuple[npt.NDArray[np.int64], int]:
    """Cells (n, 2) within `reach` of one, as rows and columns from it, and the farthest row [cells]."""
    wide = int(reach)
    span = np.arange(-wide, wide + 1)
    row, column = np.nonzero(np.sqrt(span[:, None] ** 2 + span**2) <= reach)
    return np.stack([row - wide, column - wide], axis=-1), wide


def regrown(blocked: Bools, reach: float, old: Bools, box: Box) -> tuple[Bools, Box]:
    """As `grown`, where `old` was right before cells within `box` changed; only their neighbourhood is worked on.

    Returns:
        The grown cells, and the box outside which they are as in `old`.
    """
    wide = int(reach)
    rows, columns = blocked.shape
    near = _widened(box, wide, rows, columns)
    far = _widened(box, 2 * wide, rows, columns)
    part = grown(blocked[far[0] : far[2] + 1, far[1] : far[3] + 1], reach)
    cells = old.copy()
    cells[near[0] : near[2] + 1, near[1] : near[3] + 1] = part[
        near[0] - far[0] : near[2] - far[0] + 1, near[1] - far[1] : near[3] - far[1] + 1
    ]
    return cells, near


def _widened(box: Box, by: int, rows: int, columns: int) -> Box:
    return max(box[0] - by, 0), max(box[1] - by, 0), min(box[2] + by, rows - 1), min(box[3] + by, columns - 1)
