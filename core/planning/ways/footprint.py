"""Where bodies stand on a map: the cells under each one and the heights of what it has over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...needs import needs_scipy
from ...skeleton import Array
from ...world import Body
from . import cells as grid
from .cells import Ints


@dataclass(frozen=True, eq=False)
class Frame:
    """The cells of a map: cell (row, column) begins at `origin` + cell * (column, row).

    Attributes:
        origin: (2,) corner with the least x and y [m].
        cell: Side of a cell [m].
        shape: Rows (along y) and columns (along x).
    """

    origin: Array
    cell: float
    shape: tuple[int, int]


@dataclass(frozen=True, eq=False)
class Footprint:
    """Cells that one body takes.

    Attributes:
        cells: (n,) row * columns + column, in order.
        low: (n,) and high (n,): least and greatest height of the body over each of them, within the slab [m].
        box: First row, first column, last row, last column; last < first for no cell at all.
    """

    cells: Ints
    low: Array
    high: Array
    box: tuple[int, int, int, int]


def placement(body: Body, fps: float, time: float) -> Array:
    """Matrix (4, 4) of a body at a time [s]: between samples linear, beyond the ends at rest."""
    last = len(body.matrices) - 1
    if not last:
        still: Array = body.matrices[0]
        return still
    sample = min(max(time * fps, 0.0), float(last))
    k = min(int(sample), last - 1)
    moved: Array = body.matrices[k] + (sample - k) * (body.matrices[k + 1] - body.matrices[k])
    return moved


def corners_of(body: Body, matrix: Array) -> Array:
    """Corners (F, 3, 3) of a body's triangles in world space [m]; a body without triangles gives its points."""
    placed = body.vertices @ matrix[:3, :3].T + matrix[:3, 3]
    if not len(body.triangles):
        return np.repeat(placed[:, None], 3, axis=1)
    corners: Array = placed[body.triangles]
    return corners


def footprints(
    corners: Sequence[Array],
    frame: Frame,
    ground: Array,
    bottom: float,
    top: float,
    solid: Sequence[bool] = (),
) -> list[Footprint]:
    """Cells that bodies take between two heights over the ground.

    Args:
        corners: (F, 3, 3) of every body [m].
        frame: The cells.
        ground: (rows, columns) height of the ground [m].
        bottom: Heights over the ground between which a body counts [m]: from here,
        top: to here.
        solid: For every body whether the inside of its outline is filled; empty for none.

    Returns:
        One for every body.
    """
    size = frame.shape[0] * frame.shape[1]
    counts = [len(c) for c in corners]
    owner = np.arange(len(corners)).repeat(counts)
    stacked = np.concatenate(corners) if len(corners) else np.zeros((0, 3, 3))
    level = ground.ravel()
    if len(owner) > 100:
        # much of a rich scene is overhead and costs nothing more
        near = stacked[..., 2].min(axis=1) <= level.max() + top
        owner, stacked = owner[near], stacked[near]
    batches = []
    for triangle, cell, low, high in grid.touched(stacked, frame.origin, frame.cell, frame.shape):
        here = level[cell]
        floor, roof = here + bottom, here + top
        # what stands on the ground begins there, though its underside lies below the slab
        within = (high >= floor) & (low <= roof)
        batches.append((owner[triangle] * size + cell, np.maximum(low, floor), np.minimum(high, roof), within))
    if not batches:
        return [_footprint(np.zeros(0, np.int64), np.zeros(0), np.zeros(0), frame) for _ in corners]
    key, low, high, within = batches[0] if len(batches) == 1 else map(np.concatenate, zip(*batches, strict=True))
    order = key.argsort(kind="stable")
    key = key[order]
    new = np.empty(len(key), bool)
    new[:1] = True
    np.not_equal(key[1:], key[:-1], out=new[1:])
    first = new.nonzero()[0]
    if len(first):
        high[~within] = -np.inf
        high = np.maximum.reduceat(high[order], first)
        # where nothing of a body is within the slab it has no cell
        kept = (high > -np.inf).nonzero()[0]
        high, low, key = high[kept], np.minimum.reduceat(low[order], first)[kept], key[first[kept]]
    ends = key.searchsorted(np.arange(len(corners) + 1) * size).tolist()
    found = []
    for body in range(len(corners)):
        part = slice(ends[body], ends[body + 1])
        one = _footprint(key[part] - body * size, low[part], high[part], frame)
        found.append(filled(one, frame) if len(solid) and solid[body] else one)
    return found


def capsules(starts: Array, ends: Array, radii: Array, frame: Frame) -> Ints:
    """Cells (n,) whose centres lie within `radii` (k,) of the segments from `starts` (k, 2) to `ends` (k, 2) [m]."""
    cells = []
    for a, b, radius in zip(starts, ends, radii, strict=True):
        low, high = np.minimum(a, b) - radius, np.maximum(a, b) + radius
        first = np.maximum(np.floor((low - frame.origin) / frame.cell).astype(np.int64), 0)
        last = np.minimum(
            np.floor((high - frame.origin) / frame.cell).astype(np.int64), np.array(frame.shape[::-1]) - 1
        )
        if (last < first).any():
            continue
        x = frame.origin[0] + (np.arange(first[0], last[0] + 1) + 0.5) * frame.cell - a[0]
        y = frame.origin[1] + (np.arange(first[1], last[1] + 1) + 0.5) * frame.cell - a[1]
        run = b - a
        along = (x * run[0] + y[:, None] * run[1]) / max(float(run @ run), 1e-18)
        along = np.clip(along, 0.0, 1.0)
        near = np.hypot(x - along * run[0], y[:, None] - along * run[1]) <= radius + 0.5 * frame.cell
        row, column = np.nonzero(near)
        cells.append((row + first[1]) * frame.shape[1] + column + first[0])
    return np.unique(np.concatenate(cells)) if cells else np.zeros(0, np.int64)


def _footprint(cells: Ints, low: Array, high: Array, frame: Frame) -> Footprint:
    if not len(cells):
        return Footprint(cells, low, high, (0, 0, -1, -1))
    columns = frame.shape[1]
    column = cells % columns
    top, bottom = int(cells[0]) // columns, int(cells[-1]) // columns
    return Footprint(cells, low, high, (top, int(column.min()), bottom, int(column.max())))


def filled(one: Footprint, frame: Frame) -> Footprint:
    """With the inside of its outline, at the heights that the outline spans."""
    if not len(one.cells):
        return one
    with needs_scipy():
        from scipy.ndimage import binary_fill_holes
    top, left, bottom, right = one.box
    outline = np.zeros((bottom - top + 1, right - left + 1), bool)
    row, column = np.divmod(one.cells, frame.shape[1])
    outline[row - top, column - left] = True
    row, column = np.nonzero(binary_fill_holes(outline) & ~outline)
    inner = (row + top) * frame.shape[1] + column + left
    cells = np.concatenate([one.cells, inner])
    order = np.argsort(cells)
    low = np.concatenate([one.low, np.full(len(inner), one.low.min())])
    high = np.concatenate([one.high, np.full(len(inner), one.high.max())])
    return Footprint(cells[order], low[order], high[order], one.box)
