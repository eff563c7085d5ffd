"""Triangles onto square cells: every cell a triangle touches, and the heights it has over each of them.

The fill is conservative, not sampled: all that a triangle touches is found, walls without thickness and slivers too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...skeleton import Array

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.floating] | npt.NDArray[np.int64]

HAIR = 1e-9
"""What lies this near to the border of two cells touches one of them only [cells]."""
NEAR = 1e-7
"""How far a triangle may miss the centre of a cell and still lie over it, so that meshes have no seams [cells]."""
_NO_AREA = 1e-12
_ACROSS, _ALONG = np.array([[0], [1], [0], [1]]), np.array([[0], [0], [1], [1]])
"""Corners of a cell."""
AT_ONCE = 1 << 18
"""Pairs of triangle and cell that are worked on together, a bound on memory."""


def touched(
    corners: Array, origin: Array, cell: float, shape: tuple[int, int]
) -> Iterator[tuple[Ints, Ints, Array, Array]]:
    """Cells that triangles touch, seen from above, in batches.

    Args:
        corners: (F, 3, 3) corners of the triangles [m]; degenerate ones are taken as the segments or points they are.
        origin: (2,) corner of cell (0, 0) with the least x and y [m].
        cell: Side of a cell [m].
        shape: Rows (along y) and columns (along x).

    Yields:
        triangle (n,), cell (n,) as row * columns + column, and the least and greatest height (n,) [m] that the
        triangle has over that cell. A pair comes once.
    """
    rows, columns = shape
    sides = _sides(corners, origin, cell)
    first, count = _span(sides.low[1], sides.high[1], rows)
    beside = (sides.high[0] < -HAIR) | (sides.low[0] > columns + HAIR)
    if beside.any():
        count[beside] = 0
    for triangle, row in _expand(first, count):
        start, many = _span(*_strip(sides, triangle, row + 0.5, 0.5 + HAIR), columns)
        for pair, column in _expand(start, many):
            which, line = triangle[pair], row[pair]
            low, high = _heights(sides, which, column, line)
            yield which, line * columns + column, low, high


def centres(corners: Array, origin: Array, cell: float, shape: tuple[int, int]) -> Iterator[tuple[Ints, Ints, Array]]:
    """Triangles above or below the centres of cells, in batches.

    Args:
        corners: (F, 3, 3) corners of the triangles [m]; vertical ones lie over no centre.
        origin: (2,) corner of cell (0, 0) with the least x and y [m].
        cell: Side of a cell [m].
        shape: Rows (along y) and columns (along x).

    Yields:
        triangle (n,), cell (n,) as row * columns + column, and the triangle's height over the centre (n,) [m].
    """
    rows, columns = shape
    # shifted by half a cell, so that centres are whole numbers
    sides = _sides(corners, origin + 0.5 * cell, cell)
    for triangle, row in _expand(*_whole(sides.low[1], sides.high[1], rows)):
        for pair, column in _expand(*_whole(*_strip(sides, triangle, row, NEAR), columns)):
            which, line = triangle[pair], row[pair]
            kept = np.flatnonzero(np.abs(sides.area[which]) > _NO_AREA)
            which, column, line = which[kept], column[kept], line[kept]
            yield which, line * columns + column, _barycentric(sides, which, column, line)[2]


@dataclass(frozen=True, eq=False)
class _Sides:
    """F triangles by their sides, each with its first corner; x and y are counted in cells.

    A numpy call costs more than the few numbers that most bodies have, so all are kept as one array from which one call
    takes what is worked on.

    Attributes:
        table: (7, 3, F) by _RUN_X ... below, for every side of every triangle.
        low: (3, F) least x, y, z of a triangle, and high (3, F) the greatest.
        area: (F,) twice the area seen from above, with its sign [cells^2].
    """

    table: Array
    low: Array
    high: Array
    area: Array


_RUN_X, _X, _Y, _SLANT_X, _SLANT_Y, _Z, _RUN_Z = range(7)
"""Rows of the table: where a side begins, how far it runs, and by how much one goes along it for each cell across."""


def _sides(corners: Array, origin: Array, cell: float) -> _Sides:
    points, run = np.empty((2, 3, 3, len(corners)))
    points[:] = corners.T
    flat = points[:2]
    flat -= origin[:, None, None]
    flat /= cell
    np.subtract(points[:, 1:], points[:, :2], out=run[:, :2])
    np.subtract(points[:, 0], points[:, 2], out=run[:, 2])
    area = run[0, 2] * run[1, 0] - run[0, 0] * run[1, 2]
    across = run[:2]
    # a line that stays where it is takes forever to leave, or to come
    across[across == 0.0] = 1e-30
    table = np.empty((7, 3, len(corners)))
    table[_RUN_X], table[_X], table[_Y], table[_Z], table[_RUN_Z] = run[0], *points, run[2]
    np.reciprocal(across, out=table[_SLANT_X:_Z])
    return _Sides(table, np.minimum.reduce(points, axis=1), np.maximum.reduce(points, axis=1), area)


def _span(low: Array, high: Array, count: int) -> tuple[Ints, Ints]:
    """First of `count` unit intervals that [low, high] touches, and how many; not above 0 where none."""
    first = np.floor(low + HAIR)
    last = np.minimum(np.maximum(np.ceil(high - HAIR) - 1.0, first), count - 1.0)
    first = np.minimum(np.maximum(first, 0.0), count)
    return first.astype(np.int64), (last - first).astype(np.int64) + 1


def _whole(low: Array, high: Array, count: int) -> tuple[Ints, Ints]:
    """First whole number below `count` in [low, high], and how many; not above 0 where none."""
    first, last = np.ceil(np.maximum(low - NEAR, 0.0)), np.floor(np.minimum(high + NEAR, count - 1.0))
    first = np.minimum(first, count)
    return first.astype(np.int64), (np.maximum(last, -1.0) - first).astype(np.int64) + 1


def _expand(first: Ints, count: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Item number and first, first + 1, ... of every item that counts more than none, in batches."""
    items = (count > 0).nonzero()[0]
    many = count[items]
    total = many.cumsum()
    begin = 0
    while begin < len(items):
        done = int(total[begin - 1]) if begin else 0
        end = len(items)
        if total[-1] - done > AT_ONCE:
            end = max(int(np.searchsorted(total, done + AT_ONCE, side="right")), begin + 1)
        part = slice(begin, end)
        shift = first[items[part]] - (total[part] - many[part] - done)
        yield items[part].repeat(many[part]), shift.repeat(many[part]) + np.arange(int(total[end - 1]) - done)
        begin = end


def _strip(sides: _Sides, triangle: Ints, middle: Floats, half: float) -> tuple[Array, Array]:
    """Least and greatest x (n,) of triangles (n,) where y is within `half` of `middle` (n,); inf, -inf for nowhere."""
    part = sides.table[:_Z].take(triangle, axis=2)
    x, run, slant = part[_X], part[_RUN_X], part[_SLANT_Y]
    enter, leave = _clip(middle - part[_Y], slant, half)
    np.maximum(enter, 0.0, out=enter)
    np.minimum(leave, 1.0, out=leave)
    return _extremes(x, run, enter, leave)


def _clip(off: Array, slant: Array, half: float) -> tuple[Array, Array]:
    """Where sides enter and leave a band about `off` from their first corners, `half` wide to either side [sides]."""
    there, wide = off * slant, np.abs(slant)
    wide *= half
    return there - wide, there + wide


def _extremes(value: Array, run: Array, enter: Array, leave: Array) -> tuple[Array, Array]:
    """Least and greatest (n,) of what runs along three sides (3, n) between `enter` and `leave`; inf, -inf for none."""
    missed = enter > leave
    a, b = value + enter * run, value + leave * run
    low, high = np.minimum(a, b), np.maximum(a, b)
    low[missed], high[missed] = np.inf, -np.inf
    return np.minimum.reduce(low), np.maximum.reduce(high)


def _heights(sides: _Sides, which: Ints, column: Ints, row: Ints) -> tuple[Array, Array]:
    """Least and greatest height (n,) of triangles (n,) over their cells.

    The part of a triangle over a cell is convex; its corners lie on the triangle's edges or are corners of the cell.
    """
    low, high = sides.low[2, which], sides.high[2, which]
    tilted = (low < high).nonzero()[0]
    if not len(tilted):
        return low, high
    which, column, row = which[tilted], column[tilted], row[tilted]
    part = sides.table[_X:].take(which, axis=2)
    off = np.empty((2, 3, len(which)))
    np.subtract(column + 0.5, part[0], out=off[0])
    np.subtract(row + 0.5, part[1], out=off[1])
    enters, leaves = _clip(off, part[2:4], 0.5 + NEAR)
    enter = np.maximum(np.maximum(enters[0], enters[1]), 0.0)
    leave = np.minimum(np.minimum(leaves[0], leaves[1]), 1.0)
    least, most = _extremes(part[4], part[5], enter, leave)
    wide = (np.abs(sides.area[which]) > _NO_AREA).nonzero()[0]
    if len(wide):
        u, v, above = _barycentric(sides, which[wide], column[wide] + _ACROSS, row[wide] + _ALONG)
        inside = (u >= 0) & (v >= 0) & (u + v <= 1)
        least[wide] = np.minimum(least[wide], np.where(inside, above, np.inf).min(axis=0))
        most[wide] = np.maximum(most[wide], np.where(inside, above, -np.inf).max(axis=0))
    # rounding may leave a sliver without any corner: then the whole triangle's heights stand
    found = least <= most
    if not found.all():
        tilted, least, most = tilted[found], least[found], most[found]
    low[tilted] = np.maximum(least, low[tilted])
    high[tilted] = np.minimum(most, high[tilted])
    return low, high


def _barycentric(sides: _Sides, which: Ints, column: Ints, row: Ints) -> tuple[Array, Array, Array]:
    """Coordinates u, v (..., n) of places in triangles (n,), and the heights there."""
    x, y, z = sides.table[[_X, _Y, _Z]][:, :, which]
    across, along, area = column - x[0], row - y[0], sides.area[which]
    u = (across * (y[2] - y[0]) - along * (x[2] - x[0])) / area
    v = ((x[1] - x[0]) * along - (y[1] - y[0]) * across) / area
    return u, v, z[0] + u * (z[1] - z[0]) + v * (z[2] - z[0])
