"""Quad meshes of implicit surfaces by surface nets (Gibson, Constrained Elastic SurfaceNets, MICCAI 1998).

Their vertices are evened out and pulled onto the surface.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..skeleton import Array
from .faces import Index, edges_of
from .implicit import FAR, Field, Map

_COARSE = 4
"""The grid is first sampled at every such point, to find where the surface can be."""
_TINY, _STEP = 1e-6, 1e-3
_LOW, _HIGH = slice(None, -1), slice(1, None)


def steps(*knots: float) -> Array:
    """A row of grid coordinates: from, spacing, to, spacing, to, ... in stretches of even spacing."""
    row = [knots[0]]
    for spacing, end in zip(knots[1::2], knots[2::2], strict=True):
        n = max(1, round((end - row[-1]) / spacing))
        row += list(row[-1] + (end - row[-1]) / n * np.arange(1, n + 1))
    return np.array(row)


def net(field: Field, axes: Sequence[Array], relax: int = 3, mirror: bool = False) -> tuple[Array, Index]:
    """Quad mesh of the surface field = 0.

    Args:
        field: Signed distance; must be positive on the border of the grid.
        axes: Three rising coordinate rows of the grid; they need not be evenly spaced.
        relax: Rounds of smoothing, each followed by a projection back onto the surface.
        mirror: The field is its own mirror image in x and the first row, all positive, is that of the left half.

    Returns:
        vertices (V, 3) and quads (Q, 4), counter-clockwise seen from outside.
    """
    value = _near_surface(field, axes)
    if mirror:
        value = np.concatenate([value[::-1], value])
        axes = (np.concatenate([-axes[0][::-1], axes[0]]), *axes[1:])
    vertices, quads, cells = _surface_net(value, axes)
    ring = neighbour_mean(quads, len(vertices))
    left, twins = _twins(cells, len(axes[0]) - 2) if mirror else (np.arange(len(vertices)), None)
    for k in range(relax + 1):
        even = vertices if k == relax else 0.5 * (vertices + ring(vertices))
        vertices = np.empty_like(even)
        vertices[left] = project(field, even[left], rounds=2 if k == relax else 1)
        if twins is not None:
            vertices[left[left == twins], 0] = 0.0
            vertices[twins] = vertices[left] * (-1.0, 1.0, 1.0)
    return vertices, quads


def _twins(cells: Index, last: int) -> tuple[Index, Index]:
    """The cells (rows of indices) on the left or in the middle, and the number of each one's mirror image."""
    left = np.flatnonzero(2 * cells[:, 0] >= last)
    number = np.full(cells.max(axis=0) + 1, -1)
    number[tuple(cells.T)] = np.arange(len(cells))
    i, j, k = cells[left].T
    return left, number[last - i, j, k]


def _near_surface(field: Field, axes: Sequence[Array]) -> Array:
    """Field values on the grid; where a coarse sampling is far from the surface, only their sign is right."""
    picks = [np.unique(np.append(np.arange(0, len(a), _COARSE), len(a) - 1)) for a in axes]
    coarse = _on_grid(field, [a[i] for a, i in zip(axes, picks, strict=True)])
    reach = np.linalg.norm([np.diff(a[i]).max() for a, i in zip(axes, picks, strict=True)])
    block = tuple(
        np.clip(np.searchsorted(i, np.arange(len(a)), side="right") - 1, 0, len(i) - 2)
        for a, i in zip(axes, picks, strict=True)
    )
    low = np.minimum.reduce([np.abs(c) for c in _corners(coarse)])[np.ix_(*block)]
    value = np.sign(coarse[:-1, :-1, :-1])[np.ix_(*block)] * FAR
    index = np.nonzero(low < reach)
    value[index] = field(np.column_stack([a[i] for a, i in zip(axes, index, strict=True)]))
    return np.asarray(value)


def _on_grid(field: Field, axes: Sequence[Array]) -> Array:
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    return field(grid.reshape(-1, 3)).reshape(grid.shape[:3])


def _corners(values: npt.NDArray[np.generic]) -> list[npt.NDArray[np.generic]]:
    """The eight corners of every cell, each a view of `values` one smaller along every axis."""
    ends = (_LOW, _HIGH)
    return [values[i, j, k] for i in ends for j in ends for k in ends]


def _fill_pinches(value: Array) -> Array:
    """Values in which no side of a cell has just two opposite corners inside: its edge would belong to four quads."""
    value = value.copy()
    filled = True
    while filled:
        filled = False
        for axis in range(3):
            sheets = np.moveaxis(value, axis, 0)
            a, b, c, d = (sheets[:, i, j] for i in (_LOW, _HIGH) for j in (_LOW, _HIGH))
            pinched = ((a < 0) == (d < 0)) & ((b < 0) == (c < 0)) & ((a < 0) != (b < 0))
            if pinched.any():
                filled = True
                for corner in (a, b, c, d):
                    corner[pinched & (corner >= 0)] = -_TINY
    return value


def _surface_net(value: Array, axes: Sequence[Array]) -> tuple[Array, Index, Index]:
    """Vertices (V, 3), quads (Q, 4), and the cell (V, 3) that each vertex lies in."""
    value = _fill_pinches(value)
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
    return place / hits, np.concatenate(quads), cells


def project(field: Field, points: Array, rounds: int = 2) -> Array:
    """Points (N, 3) moved onto field = 0 by Newton steps along its gradient."""
    x, y, z = _STEP * np.eye(3)
    for _ in range(rounds):
        d = field(points)
        # the difference in x is central so that what a mirrored form makes of a point and of its mirror image agree
        slopes = (0.5 * (field(points + x) - field(points - x)), field(points + y) - d, field(points + z) - d)
        gradient = np.stack(slopes, axis=1) / _STEP
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
