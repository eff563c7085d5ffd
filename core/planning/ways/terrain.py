"""The ground under a map: its height in every cell, and where it is too steep or breaks off too high to walk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...needs import needs_scipy
from ...skeleton import Array
from . import cells as grid
from .footprint import Frame

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Terrain:
    """What there is to tread on.

    Attributes:
        height: (rows, columns) of the ground at the centres of the cells [m].
        steep: (rows, columns) the surface there is steeper than allowed.
        body: (rows, columns) number of the ground body there, -1 for none.
    """

    height: Array
    steep: Bools
    body: npt.NDArray[np.int64]


def sample(corners: Sequence[Array], frame: Frame, slope: float, ceiling: float, floor: float) -> Terrain:
    """The topmost ground under a ceiling.

    Args:
        corners: (F, 3, 3) triangles of every ground body [m]; without any the ground is level at `floor`.
        frame: The cells.
        slope: Steepest angle of a walkable surface [rad].
        ceiling: Ground higher than this is another storey's [m].
        floor: Height given to cells without ground [m].
    """
    size = frame.shape[0] * frame.shape[1]
    height, steep, body = np.full(size, -np.inf), np.zeros(size, bool), np.full(size, -1)
    if len(corners):
        owner = np.repeat(np.arange(len(corners)), [len(c) for c in corners])
        stacked = np.concatenate(corners)
        too_steep = slopes(stacked) > slope + 1e-9
        for triangle, cell, z in grid.centres(stacked, frame.origin, frame.cell, frame.shape):
            kept = z <= ceiling
            triangle, cell, z = triangle[kept], cell[kept], z[kept]
            order = np.lexsort((triangle, z, cell))
            last = order[np.flatnonzero(np.diff(cell[order], append=-1))]
            last = last[z[last] > height[cell[last]]]
            height[cell[last]] = z[last]
            steep[cell[last]] = too_steep[triangle[last]]
            body[cell[last]] = owner[triangle[last]]
    height[body < 0] = floor
    return Terrain(height.reshape(frame.shape), steep.reshape(frame.shape), body.reshape(frame.shape))


def slopes(corners: Array) -> Array:
    """Angle (F,) between triangles (F, 3, 3) and the horizontal [rad]; degenerate ones count as vertical."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    flat = np.hypot(normal[:, 0], normal[:, 1])
    return np.where(np.linalg.norm(normal, axis=1) > 1e-15, np.arctan2(flat, np.abs(normal[:, 2])), np.pi / 2)


def impassable(terrain: Terrain, cell: float, slope: float, step: float, bounded: bool) -> Bools:
    """Cells (rows, columns) that cannot be trodden because of the ground itself.

    A cell is out where there is no ground although the scene has some, beside a break higher than `step`, and where a
    surface steeper than `slope` rises by more than `step`. So stairs, kerbs and ramps are walkable, cliffs are not.

    Args:
        terrain: The ground.
        cell: Side of a cell [m].
        slope: Steepest angle of a walkable surface [rad].
        step: Highest break [m].
        bounded: Cells without ground are holes; else they are level ground.
    """
    height = terrain.height
    hole = terrain.body < 0 if bounded else np.zeros(height.shape, bool)
    out = hole.copy()
    # on a ramp as steep as allowed neighbours differ by this much
    limit = max(step, cell * np.tan(slope)) + 1e-6
    for axis in (0, 1):
        near, far = _halves(axis)
        breaks = (np.abs(np.diff(height, axis=axis)) > limit) & ~hole[near] & ~hole[far]
        out[near] |= breaks
        out[far] |= breaks
    if terrain.steep.any():
        with needs_scipy():
            from scipy.ndimage import maximum_filter, minimum_filter
        # over this distance the steepest walkable surface rises by one step
        reach = 2 * int(np.ceil(step / np.tan(slope) / cell)) + 1
        window = min(reach, 2 * max(height.shape) + 1)
        top = maximum_filter(np.where(terrain.steep, height, -np.inf), window, mode="constant", cval=-np.inf)
        bottom = minimum_filter(np.where(terrain.steep, height, np.inf), window, mode="constant", cval=np.inf)
        with np.errstate(invalid="ignore"):
            out |= terrain.steep & (top - bottom > step)
    return out


def _halves(axis: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    near, far = [slice(None)] * 2, [slice(None)] * 2
    near[axis], far[axis] = slice(None, -1), slice(1, None)
    return tuple(near), tuple(far)
