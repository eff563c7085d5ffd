"""How far any place is from a mesh, as a grid that is read in nanoseconds.

Distances are those to the triangles themselves, up to a band, and beyond it no more than they are; between the points
of the grid they are interpolated. Inside of a closed mesh they are negative.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...maths.quat import cross, dot
from ...needs import needs_scipy
from ...skeleton import Array

if TYPE_CHECKING:
    from .space import Bools, Ints

FINEST = 0.004
"""Least distance between two points of the grid [m]."""
CELLS = 60_000
"""Points of a grid, about, unless it can be that small with the finest spacing."""
_ROUNDS = 4
"""How often cells ask their neighbours for a nearer triangle."""
_SHARING = 16
"""Triangles of one cell that are looked at."""
_CELL = 1.25
"""From a place on the surface to the middle of the cell that it is taken for to run through, at most, in cells."""
_FARTHEST = 0.5
"""Distances are told apart up to here, at most [m]."""


@dataclass(frozen=True, eq=False)
class DistanceField:
    """Distances `values` (X, Y, Z) [m] at `origin` + `spacing` * (i, j, k), from `band` on rather too small."""

    origin: Array
    spacing: float
    values: npt.NDArray[np.float32]
    band: float

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Lowest and highest corner of the grid (3,) [m]."""
        return self.origin, self.origin + self.spacing * (np.array(self.values.shape) - 1)

    def slack(self, radius: npt.ArrayLike) -> Array:
        """By how much interpolation may say too much where the distance is about a radius [m]: what to add to it.

        The distance bends with one over itself, so trilinear interpolation is off by at most spacing^2 / (4 distance);
        and never by more than half the diagonal of a cell.
        """
        near = np.maximum(np.asarray(radius, dtype=np.float64) - self.spacing, 1e-6)
        return np.asarray(np.minimum(np.sqrt(0.75) * self.spacing, self.spacing**2 / (4.0 * near)))

    def at(self, points: Array) -> Array:
        """Distances (...) at points (..., 3) [m]; `band` outside of the grid."""
        shape = np.array(self.values.shape)
        place = (points - self.origin) / self.spacing
        inside = ((place >= 0) & (place <= shape - 1)).all(axis=-1)
        out = np.full(points.shape[:-1], self.band)
        out[inside] = interpolated(self.values.ravel(), shape, np.zeros(1, dtype=np.int64), place[inside])
        return out


def interpolated(flat: npt.NDArray[np.float32], shape: Ints, first: Ints, place: Array) -> Array:
    """Trilinear values (N,) of grids that lie one after the other in `flat`.

    Args:
        flat: All values.
        shape: (3,) or (N, 3) points of the grid of each.
        first: (N,) or (1,) where in `flat` its grid begins.
        place: (N, 3) in units of the grid, within it.
    """
    cell = np.minimum(place.astype(np.int64), shape - 2)
    u = place - cell
    ny, nz = shape[..., 1], shape[..., 2]
    at = first + (cell[:, 0] * ny + cell[:, 1]) * nz + cell[:, 2]
    step = ny * nz
    x, y, z = u.T
    near = [
        (flat[at + a + b] * (1.0 - z) + flat[at + a + b + 1] * z) for a, b in ((0, 0), (0, nz), (step, 0), (step, nz))
    ]
    out: Array = (near[0] * (1.0 - y) + near[1] * y) * (1.0 - x) + (near[2] * (1.0 - y) + near[3] * y) * x
    return out


def closed(triangles: Ints) -> bool:
    """Whether every edge of a mesh (F, 3) belongs to two triangles, so that it has an inside."""
    edges = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    _, counts = np.unique(edges[:, 0] * (int(edges.max(initial=0)) + 1) + edges[:, 1], return_counts=True)
    return bool((counts == 2).all())


def distance_field(
    vertices: Array,
    triangles: Ints,
    band: float,
    region: tuple[Array, Array] | None = None,
    cells: int = CELLS,
    hollow: bool = False,
) -> DistanceField:
    """The distance field of a mesh.

    Args:
        vertices: (V, 3) [m].
        triangles: (F, 3).
        band: Distances beyond it are not told apart but by cells [m].
        region: Lowest and highest corner (3,) of what matters; None for the mesh and a band around it.
        cells: Points of the grid, about.
        hollow: Whether a closed one has no inside all the same.
    """
    low, high = vertices.min(axis=0) - band, vertices.max(axis=0) + band
    if region is not None:
        low, high = np.maximum(low, region[0]), np.minimum(high, region[1])
        high = np.maximum(high, low + 2 * FINEST)
    spacing = max(FINEST, float(np.prod(high - low) / cells) ** (1.0 / 3.0))
    shape = np.maximum(np.ceil((high - low) / spacing).astype(np.int64) + 1, 2)
    axes = [low[k] + spacing * np.arange(shape[k]) for k in range(3)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    corners = vertices[triangles]
    values, above, least = _nearest(points.reshape(*shape, 3), low, spacing, band, corners)
    outside = np.ones(shape)
    if not hollow and closed(triangles):
        volume = dot(corners[:, 0], cross(corners[:, 1], corners[:, 2])).sum()
        outside = np.where(above * volume < 0, -1.0, 1.0)
        outside = _filled(values, outside, spacing)
    known = np.where(values < band, values, np.clip(least, band, _FARTHEST))
    return DistanceField(low, spacing, (known * outside).astype(np.float32), band)


def _nearest(grid: Array, low: Array, spacing: float, band: float, corners: Array) -> tuple[Array, Array, Array]:
    """Distances (X, Y, Z) of the points of a grid (X, Y, Z, 3) to triangles (F, 3, 3), infinite far beyond a band, how
    high above the plane of the nearest they are, and what they are at least wherever that is.

    Cells that the surface runs through are seeds. Every cell looks at the triangle of the seed nearest to it and at
    those its neighbours look at, of which one is the nearest but for rounding of cells.
    """
    with needs_scipy():
        from scipy.ndimage import distance_transform_edt
    shape = grid.shape[:3]
    reached = ((corners.max(axis=1) >= low - spacing) & (corners.min(axis=1) <= grid[-1, -1, -1] + spacing)).all(axis=1)
    corners = corners[reached]
    nowhere = np.full(shape, np.inf), np.zeros(shape), np.full(shape, np.inf)
    if not len(corners):
        return nowhere
    samples, owner = surface_samples(corners, 0.5 * spacing)
    cell = np.round((samples - low) / spacing).astype(np.int64)
    inside = ((cell >= 0) & (cell < shape)).all(axis=1)
    seeds = np.full(shape, -1)
    if not inside.any():
        return nowhere
    both = np.unique(np.ravel_multi_index(tuple(cell[inside].T), shape) * len(corners) + owner[inside])
    pairs = np.column_stack(np.divmod(both, len(corners)))
    first = np.flatnonzero(np.diff(pairs[:, 0], prepend=-1))
    seeds.ravel()[pairs[first, 0]] = first
    far, index = distance_transform_edt(seeds < 0, return_indices=True)
    listed = seeds[tuple(index)]
    counts = np.diff(np.append(first, len(pairs)))
    many = np.zeros(len(pairs), dtype=np.int64)
    many[first] = counts
    face = pairs[listed, 1]
    table = _table(corners)
    near = np.flatnonzero((far <= band / spacing + 2).ravel())
    points = np.ascontiguousarray(grid.reshape(-1, 3).T)
    values, facing, height = np.full(points.shape[1], np.inf), np.zeros(points.shape[1]), np.zeros(points.shape[1])
    best = np.full(len(values), -1)
    asked = near
    own = listed.ravel()[near]
    for turn in range(_ROUNDS):
        looks = [(asked, _shifted(face, axis, step).ravel()[asked]) for axis in range(3) for step in (1, -1)]
        if not turn:
            for k in range(min(counts.max(), _SHARING)):
                more = many[own] > k
                looks.append((near[more], pairs[own[more] + k, 1]))
        for at, which in looks:
            fresh = which != best[at]
            at, which = at[fresh], which[fresh]
            length, above = _distances(points[:, at], table[:, which])
            square = np.abs(above) / np.maximum(length, 1e-12)
            # where an edge is nearest, the face that is seen most squarely tells the side
            had = values[at]
            better = (length < had - 1e-9) | ((length < had + 1e-9) & (square > facing[at]))
            at = at[better]
            values[at], facing[at], best[at], height[at] = length[better], square[better], which[better], above[better]
        was = face
        face = np.where(best.reshape(shape) >= 0, best.reshape(shape), face)
        new = was != face
        for axis in range(3):
            new = new | _shifted(new, axis, 1) | _shifted(new, axis, -1)
        asked = near[new.ravel()[near]]
    return values.reshape(shape), height.reshape(shape), (far - _CELL) * spacing


def _table(corners: Array) -> Array:
    """(15, F) what is constant about triangles (F, 3, 3): a corner, two edges, the normal, products of the edges."""
    a, ab, ac = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    up = cross(ab, ac)
    up = up / np.maximum(np.sqrt(dot(up, up)), 1e-300)[:, None]
    return np.ascontiguousarray(np.column_stack([a, ab, ac, up, dot(ab, ab), dot(ab, ac), dot(ac, ac)]).T)


def _distances(points: Array, table: Array) -> tuple[Array, Array]:
    """Distances (N,) of points (3, N) to triangles by their table (15, N), and heights above their planes (N,)."""
    ax, ay, az, bx, by, bz, cx, cy, cz, nx, ny, nz, bb, bc, cc = table
    x, y, z = points[0] - ax, points[1] - ay, points[2] - az
    pb, pc, above = bx * x + by * y + bz * z, cx * x + cy * y + cz * z, nx * x + ny * y + nz * z
    area, v, w = bb * cc - bc * bc, cc * pb - bc * pc, bb * pc - bc * pb
    within = (v >= 0) & (w >= 0) & (v + w <= area) & (area > 1e-14 * bb * cc)
    # to the three edges, from scalar products alone
    pp = x * x + y * y + z * z
    side, across = bb + cc - 2.0 * bc, pc - pb - bc + bb
    squares = [
        square - 2.0 * t * along + t * t * long
        for square, along, long in ((pp, pb, bb), (pp, pc, cc), (pp - 2.0 * pb + bb, across, side))
        for t in [np.clip(along / np.maximum(long, 1e-300), 0.0, 1.0)]
    ]
    edge = np.minimum(np.minimum(squares[0], squares[1]), squares[2])
    return np.sqrt(np.maximum(np.where(within, above * above, edge), 0.0)), above


def _shifted(cells: npt.NDArray[Any], axis: int, step: int) -> npt.NDArray[Any]:
    """Of every cell (X, Y, Z) what its neighbour has; at the border its own."""
    edge = np.take(cells, [0 if step > 0 else -1], axis=axis)
    part = np.take(cells, range(1, cells.shape[axis]) if step < 0 else range(cells.shape[axis] - 1), axis=axis)
    return np.concatenate([edge, part] if step > 0 else [part, edge], axis=axis)


def surface_samples(corners: Array, spacing: float) -> tuple[Array, Ints]:
    """Places (M, 3) on triangles (F, 3, 3), about this far apart [m], and the triangle of each."""
    parts = np.clip(np.ceil(_longest(corners) / spacing).astype(np.int64), 1, 160)
    points, owner = [], []
    for n in np.unique(parts):
        which = np.flatnonzero(parts == n)
        i, j = np.nonzero(np.add.outer(np.arange(n + 1), np.arange(n + 1)) <= n)
        weights = np.column_stack([i, j, n - i - j]) / n
        points.append(np.einsum("wk,fkc->fwc", weights, corners[which]).reshape(-1, 3))
        owner.append(np.repeat(which, len(weights)))
    return np.concatenate(points), np.concatenate(owner)


def surface_points(vertices: Array, triangles: Ints, spacing: float) -> Array:
    """Places (M, 3) on a mesh: about this far apart on larger triangles [m], and corners of the others."""
    corners = vertices[triangles]
    large = _longest(corners) > spacing
    fine = vertices[np.unique(triangles[~large])]
    return np.concatenate([fine, surface_samples(corners[large], spacing)[0]]) if large.any() else fine


def _longest(corners: Array) -> Array:
    """(F,) longest sides of triangles (F, 3, 3) [m]."""
    return np.asarray(np.sqrt(((corners - np.roll(corners, 1, axis=1)) ** 2).sum(axis=2).max(axis=1)))


def _filled(distance: Array, outside: Array, spacing: float) -> Array:
    """Signs (X, Y, Z): of each room away from the surface one, by the vote of its cells that know theirs."""
    with needs_scipy():
        from scipy.ndimage import label
    away: Bools = distance > 0.87 * spacing
    rooms, count = label(away)
    if count == 0:
        return outside
    near = away & np.isfinite(distance)
    votes = np.bincount(rooms[near], outside[near], count + 1)
    sign = np.where(votes < 0, -1.0, 1.0)
    return np.where(away, sign[rooms], outside)
