"""Organic forms as implicit surfaces: primitives that melt into one another, and the quad mesh of the result.

A field gives each point a signed distance, or something close to one near the surface; negative is inside. Fields are
joined by a polynomial smooth minimum and meshed by naive surface nets (Gibson, Constrained elastic surface nets, 1998), whose
vertices are then pulled onto the surface.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..skeleton import Array
from .faces import edges_of

Index = npt.NDArray[np.int64]
Field = Callable[[Array], Array]
Map = Callable[[Array], Array]

_FAR = 1e3
_COARSE = 4
"""The grid is first sampled at every such point, to find where the surface can be."""


@dataclass(frozen=True, eq=False)
class Blob:
    """One primitive of a form.

    Attributes:
        field: (N, 3) to (N,) signed distance.
        lo, hi: (3,) corners of the box outside of which the primitive cannot matter.
        blend: Width over which it melts into what came before it.
        carve: It is taken away instead of added.
    """

    field: Field
    lo: Array
    hi: Array
    blend: float
    carve: bool = False


def evaluate(blobs: Sequence[Blob], points: Array) -> Array:
    """(N,) signed distance of points (N, 3) to the blobs joined in order."""
    d = np.full(len(points), _FAR)
    columns = np.ascontiguousarray(points.T)
    for blob in blobs:
        near = np.ones(len(points), dtype=bool)
        for x, lo, hi in zip(columns, blob.lo - 2 * blob.blend, blob.hi + 2 * blob.blend, strict=True):
            near &= (x > lo) & (x < hi)
        these = np.flatnonzero(near)
        sign = -1.0 if blob.carve else 1.0
        d[these] = sign * _smooth_min(sign * d[these], blob.field(points[these]), blob.blend)
    return d


def mirrored(blobs: Sequence[Blob]) -> Field:
    """The field of a form that is given by its left half."""
    return lambda p: evaluate(blobs, left_half(p))


def left_half(points: Array) -> Array:
    """Points (N, 3), those on the right mirrored to the left."""
    return np.column_stack([np.abs(points[:, 0]), points[:, 1], points[:, 2]])


def _smooth_min(a: Array, b: Array, k: float) -> Array:
    h = np.maximum(k - np.abs(a - b), 0.0)
    return np.minimum(a, b) - h * h / (4.0 * max(k, 1e-9))


def ellipsoid(
    centre: Sequence[float], radii: Sequence[float], blend: float, turn: Array | None = None, carve: bool = False
) -> Blob:
    """An ellipsoid with its axes along the columns of `turn` (3, 3)."""
    c, r = np.array(centre, dtype=float), np.array(radii, dtype=float)
    axes = np.eye(3) if turn is None else turn

    def field(p: Array) -> Array:
        q = (p - c) @ axes
        k = np.sqrt(np.sum((q / r) ** 2, axis=1))
        return k * (k - 1.0) / np.maximum(np.sqrt(np.sum((q / r**2) ** 2, axis=1)), 1e-9)

    reach = np.sqrt(np.sum((axes * r) ** 2, axis=1))
    return Blob(field, c - reach, c + reach, blend, carve)


def cone(a: Sequence[float], b: Sequence[float], ra: float, rb: float, blend: float, carve: bool = False) -> Blob:
    """A cone with round ends: the hull of two balls, its radius changing linearly from end to end."""
    start, end = np.array(a, dtype=float), np.array(b, dtype=float)
    axis = end - start
    square = float(axis @ axis)

    def field(p: Array) -> Array:
        q = p - start
        t = np.clip(q @ axis / square, 0.0, 1.0)
        return np.sqrt(np.sum((q - t[:, None] * axis) ** 2, axis=1)) - (ra + (rb - ra) * t)

    r = max(ra, rb)
    return Blob(field, np.minimum(start, end) - r, np.maximum(start, end) + r, blend, carve)


def sweep(
    rows: npt.ArrayLike, to_straight: Map, lo: Array, hi: Array, blend: float, power: float = 2.0, cap: float = 2.0
) -> Blob:
    """A limb or trunk given by its outlines: a superellipse whose four half axes change along a straight axis.

    Args:
        rows: (n, 5 or 7) place along the axis (rising), half axes to +x, -x, +y, -y, and optionally the centre's x, y.
        to_straight: (N, 3) points to coordinates (x, y, place along the axis) in which the limb is straight.
        lo, hi: (3,) box around the limb.
        blend: As in Blob.
        power: Exponent of the superellipse; 2 is an ellipse, more is boxier.
        cap: Rounding of the two ends.
    """
    table = np.array(rows, dtype=float)
    if table.shape[1] == 5:
        table = np.column_stack([table, np.zeros((len(table), 2))])
    first, last = table[0, 0], table[-1, 0]

    def field(p: Array) -> Array:
        q = to_straight(p)
        left, right, back, front, cx, cy = smooth_rows(table, q[:, 2]).T
        x, y = q[:, 0] - cx, q[:, 1] - cy
        rx, ry = np.where(x > 0, left, right), np.where(y > 0, back, front)
        u, v = np.abs(x) / rx, np.abs(y) / ry
        k = (u**power + v**power) ** (1.0 / power)
        slope = np.hypot(u ** (power - 1) / rx, v ** (power - 1) / ry) / np.maximum(k, 1e-6) ** (power - 1)
        d = (k - 1.0) / np.maximum(slope, 1.0 / np.maximum(rx, ry))
        return -_smooth_min(-d, np.minimum(q[:, 2] - first, last - q[:, 2]), cap)

    return Blob(field, lo, hi, blend)


def smooth_rows(table: Array, s: Array) -> Array:
    """(N, m-1) the columns of `table` (n, m) at places s (N,) of its first column: cubic, without overshoot between rows."""
    x, y = table[:, 0], table[:, 1:]
    h = np.diff(x)[:, None]
    slope = np.diff(y, axis=0) / h
    inner = 0.5 * (slope[1:] + slope[:-1])
    limit = 3.0 * np.minimum(np.abs(slope[1:]), np.abs(slope[:-1]))
    inner = np.where(slope[1:] * slope[:-1] > 0, np.clip(inner, -limit, limit), 0.0)
    m = np.concatenate([slope[:1], inner, slope[-1:]])
    s = np.clip(s, x[0], x[-1])
    i = np.clip(np.searchsorted(x, s, side="right") - 1, 0, len(x) - 2)
    w = h[i]
    t = (s[:, None] - x[i][:, None]) / w
    a, b = y[i], y[i + 1]
    return a + t * (w * m[i] + t * (3 * (b - a) - w * (2 * m[i] + m[i + 1]) + t * (2 * (a - b) + w * (m[i] + m[i + 1]))))


def steps(*knots: float) -> Array:
    """A row of grid coordinates: from, spacing, to, spacing, to, ... in stretches of even spacing."""
    row = [knots[0]]
    for spacing, end in zip(knots[1::2], knots[2::2], strict=True):
        n = max(1, round((end - row[-1]) / spacing))
        row += list(row[-1] + (end - row[-1]) / n * np.arange(1, n + 1))
    return np.array(row)


def both_sides(row: Array) -> Array:
    """A row of positive coordinates with its mirror image before it."""
    return np.concatenate([-row[::-1], row])


def net(field: Field, axes: Sequence[Array], relax: int = 3) -> tuple[Array, Index]:
    """Quad mesh of the surface field = 0.

    Args:
        field: Signed distance; must be positive on the border of the grid.
        axes: Three rising coordinate rows of the grid; they need not be evenly spaced.
        relax: Rounds of smoothing, each followed by a projection back onto the surface.

    Returns:
        vertices (V, 3) and quads (Q, 4), counter-clockwise seen from outside.
    """
    vertices, quads = _surface_net(_near_surface(field, axes), axes)
    ring = neighbour_mean(quads, len(vertices))
    for _ in range(relax):
        vertices = project(field, 0.5 * (vertices + ring(vertices)), rounds=1)
    return project(field, vertices), quads


def _near_surface(field: Field, axes: Sequence[Array]) -> Array:
    """Field values on the grid; where a coarse sampling is far from the surface, only their sign is right."""
    picks = [np.unique(np.append(np.arange(0, len(a), _COARSE), len(a) - 1)) for a in axes]
    coarse = _on_grid(field, [a[i] for a, i in zip(axes, picks, strict=True)])
    reach = np.linalg.norm([np.diff(a[i]).max() for a, i in zip(axes, picks, strict=True)])
    block = tuple(np.clip(np.searchsorted(i, np.arange(len(a)), side="right") - 1, 0, len(i) - 2) for a, i in
                  zip(axes, picks, strict=True))
    low = np.minimum.reduce([np.abs(c) for c in _corners(coarse)])[np.ix_(*block)]
    value = np.sign(coarse[:-1, :-1, :-1])[np.ix_(*block)] * _FAR
    index = np.nonzero(low < reach)
    value[index] = field(np.column_stack([a[i] for a, i in zip(axes, index, strict=True)]))
    return value


def _on_grid(field: Field, axes: Sequence[Array]) -> Array:
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    return field(grid.reshape(-1, 3)).reshape(grid.shape[:3])


def _corners(values: npt.NDArray[np.generic]) -> list[npt.NDArray[np.generic]]:
    """The eight corners of every cell, each a view of `values` one smaller along every axis."""
    ends = (slice(None, -1), slice(1, None))
    return [values[i, j, k] for i in ends for j in ends for k in ends]


def _surface_net(value: Array, axes: Sequence[Array]) -> tuple[Array, Index]:
    inside = value < 0
    count = np.add.reduce([c.astype(np.int8) for c in _corners(inside)])
    cells = np.argwhere((count > 0) & (count < 8))
    number = np.full(count.shape, -1)
    number[tuple(cells.T)] = np.arange(len(cells))
    unit = np.eye(3, dtype=np.int64)
    place = np.zeros((len(cells), 3))
    hits = np.zeros((len(cells), 1))
    quads = []
    for axis in range(3):
        u, v = unit[(axis + 1) % 3], unit[(axis + 2) % 3]
        for start in (0 * u, u, v, u + v):
            p = cells + start
            q = p + unit[axis]
            a, b = value[tuple(p.T)], value[tuple(q.T)]
            crosses = (a < 0) != (b < 0)
            t = np.where(crosses, a / np.where(crosses, a - b, 1.0), 0.0)[:, None]
            here, there = (np.column_stack([row[i] for row, i in zip(axes, end.T, strict=True)]) for end in (p, q))
            place += crosses[:, None] * (here + t * (there - here))
            hits += crosses[:, None]
        # an edge of the grid that crosses the surface is ringed by four cells: their vertices make a quad
        edge = np.argwhere(np.diff(inside.astype(np.int8), axis=axis))
        quad = np.stack([number[tuple((edge - back).T)] for back in (u + v, v, 0 * u, u)], axis=1)
        quads.append(np.where(inside[tuple(edge.T)][:, None], quad, quad[:, ::-1]))
    return place / hits, np.concatenate(quads)


def project(field: Field, points: Array, rounds: int = 2) -> Array:
    """Points (N, 3) moved onto field = 0 by Newton steps along its gradient."""
    step = 1e-3
    for _ in range(rounds):
        d = field(points)
        gradient = np.stack([(field(points + e) - d) / step for e in step * np.eye(3)], axis=1)
        points = points - (d / np.maximum(np.sum(gradient**2, axis=1), 0.05))[:, None] * gradient
    return points


def neighbour_mean(faces: Index, n: int) -> Map:
    """A function that averages (n, m) values over the edge neighbours of each of n vertices."""
    edges = edges_of(faces)
    edges = np.concatenate([edges, edges[:, ::-1]])
    edges = edges[np.lexsort((edges[:, 1], edges[:, 0]))]
    starts = np.searchsorted(edges[:, 0], np.arange(n))
    counts = np.diff(np.append(starts, len(edges)))[:, None]

    def mean(values: Array) -> Array:
        return np.asarray(np.add.reduceat(values[edges[:, 1]], starts, axis=0) / counts)

    return mean
