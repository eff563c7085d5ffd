"""Triangles onto square cells: every cell a triangle touches, and the heights it has over each of them.

The fill is conservative, not sampled: all that a triangle touches is found, walls without thickness and slivers too.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ...skeleton import Array

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.floating]

HAIR = 1e-9
"""What lies this near to the border of two cells touches one of them only [cells]."""
NEAR = 1e-7
"""How far a triangle may miss the centre of a cell and still lie over it, so that meshes have no seams [cells]."""
_NO_AREA = 1e-12
_NEXT = [1, 2, 0]
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
    points = _scaled(corners, origin, cell)
    first, last = _span(points[..., 1].min(axis=1), points[..., 1].max(axis=1), rows)
    beside = (points[..., 0].max(axis=1) < -HAIR) | (points[..., 0].min(axis=1) > columns + HAIR)
    for triangle, row in _expand(first, np.where(beside, 0, last - first + 1)):
        left, right = _strip(points[triangle], row - HAIR, row + 1.0 + HAIR)
        start, stop = _span(left, right, columns)
        for pair, column in _expand(start, stop - start + 1):
            which, line = triangle[pair], row[pair]
            low, high = _heights(points[which], column, line)
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
    points = _scaled(corners, origin + 0.5 * cell, cell)
    first, last = _whole(points[..., 1].min(axis=1), points[..., 1].max(axis=1), rows)
    for triangle, row in _expand(first, last - first + 1):
        left, right = _strip(points[triangle], row - NEAR, row + NEAR)
        start, stop = _whole(left, right, columns)
        for pair, column in _expand(start, stop - start + 1):
            which, line = triangle[pair], row[pair]
            kept = np.flatnonzero(np.abs(_area(points[which])) > _NO_AREA)
            which, cell_of = which[kept], (line * columns + column)[kept]
            yield which, cell_of, _barycentric(points[which], column[kept], line[kept])[2]


def _scaled(corners: Array, origin: Array, cell: float) -> Array:
    """With x and y counted in cells."""
    points = np.array(corners, dtype=np.float64)
    points[..., :2] = (points[..., :2] - origin) / cell
    return points


def _span(low: Array, high: Array, count: int) -> tuple[Ints, Ints]:
    """First and last of `count` unit intervals that [low, high] touches; last < first where none."""
    first = np.floor(low + HAIR)
    last = np.minimum(np.maximum(np.ceil(high - HAIR) - 1.0, first), count - 1.0)
    return np.minimum(np.maximum(first, 0.0), count).astype(np.int64), np.maximum(last, -1.0).astype(np.int64)


def _whole(low: Array, high: Array, count: int) -> tuple[Ints, Ints]:
    """First and last whole number below `count` in [low, high]; last < first where none."""
    first, last = np.ceil(np.maximum(low - NEAR, 0.0)), np.floor(np.minimum(high + NEAR, count - 1.0))
    return np.minimum(first, count).astype(np.int64), np.maximum(last, -1.0).astype(np.int64)


def _expand(first: Ints, count: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Item number and first, first + 1, ... of every item that counts more than none, in batches."""
    items = np.flatnonzero(count > 0)
    many = count[items]
    total = np.cumsum(many)
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


def _strip(points: Array, bottom: Floats, top: Floats) -> tuple[Array, Array]:
    """Least and greatest x (n,) of triangles (n, 3, 3) where bottom <= y <= top; greatest < least where nowhere."""
    x, y = points[..., 0], points[..., 1]
    enter, leave = _clip(y, y[:, _NEXT], bottom[:, None], top[:, None])
    missed = enter > leave
    run = x[:, _NEXT] - x
    enter, leave = x + enter * run, x + leave * run
    left, right = np.minimum(enter, leave), np.maximum(enter, leave)
    left[missed], right[missed] = np.inf, -np.inf
    left, right = left.min(axis=1), right.max(axis=1)
    nowhere = left > right
    left[nowhere], right[nowhere] = 0.0, -1e9
    return left, right


def _clip(a: Array, b: Array, low: Floats, high: Floats) -> tuple[Array, Array]:
    """Where a + t (b - a) enters and leaves [low, high], within 0 <= t <= 1; enter > leave where it misses."""
    run = b - a
    # a line that stays where it is takes forever to leave, or to come
    run[run == 0.0] = 1e-30
    s, t = (low - a) / run, (high - a) / run
    return np.maximum(np.minimum(s, t), 0.0), np.minimum(np.maximum(s, t), 1.0)


def _heights(points: Array, column: Ints, row: Ints) -> tuple[Array, Array]:
    """Least and greatest height (n,) of triangles (n, 3, 3) over their cells.

    The part of a triangle over a cell is convex; its corners lie on the triangle's edges or are corners of the cell.
    """
    z = points[..., 2]
    low, high = z.min(axis=1), z.max(axis=1)
    tilted = np.flatnonzero(low < high)
    if not len(tilted):
        return low, high
    points, column, row = points[tilted], column[tilted], row[tilted]
    x, y, z = points[..., 0], points[..., 1], points[..., 2]
    left, bottom = column[:, None] - NEAR, row[:, None] - NEAR
    x0, x1 = _clip(x, x[:, _NEXT], left, left + (1.0 + 2 * NEAR))
    y0, y1 = _clip(y, y[:, _NEXT], bottom, bottom + (1.0 + 2 * NEAR))
    enter, leave = np.maximum(x0, y0), np.minimum(x1, y1)
    missed = enter > leave
    run = z[:, _NEXT] - z
    enter, leave = z + enter * run, z + leave * run
    least, most = np.minimum(enter, leave), np.maximum(enter, leave)
    least[missed], most[missed] = np.inf, -np.inf
    least, most = least.min(axis=1), most.max(axis=1)
    wide = np.flatnonzero(np.abs(_area(points)) > _NO_AREA)
    if len(wide):
        u, v, above = _barycentric(points[wide], column[wide] + _ACROSS, row[wide] + _ALONG)
        inside = (u >= 0) & (v >= 0) & (u + v <= 1)
        least[wide] = np.minimum(least[wide], np.where(inside, above, np.inf).min(axis=0))
        most[wide] = np.maximum(most[wide], np.where(inside, above, -np.inf).max(axis=0))
    # rounding may leave a sliver without any corner: then the whole triangle's heights stand
    found = least <= most
    low[tilted] = np.where(found, np.maximum(least, low[tilted]), low[tilted])
    high[tilted] = np.where(found, np.minimum(most, high[tilted]), high[tilted])
    return low, high


def _area(points: Array) -> Array:
    """Twice the area (n,) of triangles (n, 3, 3) seen from above, with its sign [cells^2]."""
    x, y = points[..., 0], points[..., 1]
    area: Array = (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (y[:, 1] - y[:, 0]) * (x[:, 2] - x[:, 0])
    return area


def _barycentric(points: Array, column: Ints, row: Ints) -> tuple[Array, Array, Array]:
    """Coordinates u, v (..., n) of places in triangles (n, 3, 3), and the heights there."""
    a, ab, ac = points[:, 0], points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]
    x, y, area = column - a[:, 0], row - a[:, 1], _area(points)
    u, v = (x * ac[:, 1] - y * ac[:, 0]) / area, (ab[:, 0] * y - ab[:, 1] * x) / area
    return u, v, a[:, 2] + u * ab[:, 2] + v * ac[:, 2]
