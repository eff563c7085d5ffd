"""What a mesh consists of: balls, boxes and flat rectangles, without loss, and distance fields for the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from ...maths.quat import cross, dot
from ...needs import needs_scipy
from ...skeleton import Array
from .distance_field import DistanceField, closed, distance_field
from .space import Ints

BAND = 0.08
"""Distances to pieces with a field are known up to here [m]."""
_EXACT = 1e-3
"""How much a piece may differ from a ball or box, of its size, to count as one."""


@dataclass(frozen=True, eq=False)
class Piece:
    """A part of a mesh: a ball, a box or, where it is neither, a box around a distance field; in the mesh's own axes.

    Attributes:
        kind: "ball", "box" or "field".
        centre: (3,) [m].
        axes: (3, 3) of the box, in columns.
        half: (3,) half of its size along them; the radius for a ball [m].
        field: In the axes of the mesh; only of a "field".
    """

    kind: str
    centre: Array
    axes: Array
    half: Array
    field: DistanceField | None = None


Island = tuple[Array, Ints]
"""Vertices (P, 3) and triangles (F, 3) of a part of a mesh that hangs together."""


def islands(vertices: Array, triangles: Ints) -> tuple[Island, ...]:
    """The parts of a mesh that hang together, vertices at the same place made one.

    Args:
        vertices: (V, 3) with its scale applied [m].
        triangles: (F, 3); those that are none are left out.
    """
    if not len(triangles):
        return ()
    merged, triangles = _merged(vertices, triangles)
    out = []
    for faces in _hanging_together(len(merged), triangles):
        used, local = np.unique(triangles[faces], return_inverse=True)
        out.append((merged[used], local.reshape(-1, 3)))
    return tuple(out)


def parted_pieces(
    parts: Sequence[Island], region: tuple[Array, Array] | None = None, hollow: bool = False
) -> tuple[tuple[Piece, ...], tuple[Island, ...]]:
    """The balls and boxes among the parts of a mesh, and the parts that are neither.

    Args:
        parts: Its islands.
        region: Lowest and highest corner (3,) of what matters; parts outside of it are left out.
        hollow: Whether closed ones are but their walls.
    """
    out: list[Piece] = []
    rest: list[Island] = []
    for points, island in parts:
        if region is not None and ((points.max(axis=0) < region[0]) | (points.min(axis=0) > region[1])).any():
            continue
        found = _box(points, island) if hollow else _ball(points, island) or _box(points, island)
        if found is None:
            rest.append((points, island))
        else:
            out += _walls(found) if hollow else [found]
    return tuple(out), tuple(rest)


def pieces(
    parts: Sequence[Island], region: tuple[Array, Array] | None = None, hollow: bool = False
) -> tuple[Piece, ...]:
    """What a mesh consists of; arguments are those of `parted_pieces`."""
    plain, rest = parted_pieces(parts, region, hollow)
    out = list(plain)
    # what has no inside of its own may lie in one field; closed ones would take each other for outside
    for points, island in rest:
        low, high = points.min(axis=0), points.max(axis=0)
        field = distance_field(points, island, BAND, region, hollow=hollow)
        if region is not None:
            low, high = np.maximum(low, field.bounds[0]), np.minimum(high, field.bounds[1])
        out.append(Piece("field", 0.5 * (low + high), np.eye(3), 0.5 * (high - low), field))
    return tuple(out)


def _walls(box: Piece) -> list[Piece]:
    """The six sides of a box, or itself where it is but one."""
    if not box.half.all():
        return [box]
    out = []
    for k, end in product(range(3), (-1.0, 1.0)):
        flat = box.half.copy()
        flat[k] = 0.0
        out.append(Piece("box", box.centre + end * box.half[k] * box.axes[:, k], box.axes, flat))
    return out


def _merged(vertices: Array, triangles: Ints) -> tuple[Array, Ints]:
    """The mesh with vertices at the same place made one, and without triangles that are none."""
    size = max(float(np.ptp(vertices, axis=0).max()), 1e-9)
    _, first, same = np.unique(np.round(vertices / (1e-6 * size)), axis=0, return_index=True, return_inverse=True)
    triangles = same.reshape(-1)[triangles]
    whole = (triangles != np.roll(triangles, 1, axis=1)).all(axis=1)
    return vertices[first], triangles[whole]


def _hanging_together(count: int, triangles: Ints) -> list[Ints]:
    """Triangles (numbers) of each part that hangs together by its vertices."""
    with needs_scipy():
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components
    ones = np.ones(2 * len(triangles))
    ends = (np.concatenate([triangles[:, 0], triangles[:, 1]]), np.concatenate([triangles[:, 1], triangles[:, 2]]))
    _, of = connected_components(coo_matrix((ones, ends), shape=(count, count)), directed=False)
    owner = of[triangles[:, 0]]
    order = np.argsort(owner, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(owner[order])) + 1)


def _ball(points: Array, triangles: Ints) -> Piece | None:
    if len(points) < 20:
        return None
    rows = np.column_stack([2.0 * points, np.ones(len(points))])
    found = np.linalg.lstsq(rows, dot(points, points), rcond=None)[0]
    centre = np.asarray(found[:3], dtype=np.float64)
    radii = np.linalg.norm(points - centre, axis=1)
    radius = float(radii.max())
    if radii.min() < (1.0 - _EXACT) * radius or not closed(triangles):
        return None
    return Piece("ball", centre, np.eye(3), np.full(3, radius))


def _box(vertices: Array, triangles: Ints) -> Piece | None:
    """The box whose faces the triangles are, or the rectangle; None when they are anything else."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    area = cross(b - a, c - a)
    size = np.sqrt(dot(area, area))
    normals = area / np.maximum(size, 1e-300)[:, None]
    first = normals[size.argmax()]
    along = np.abs(normals @ first)
    across = along < _EXACT
    if not (across | (along > 1.0 - _EXACT)).all():
        return None
    if across.any():
        second = normals[np.flatnonzero(across)[0]]
    else:
        edges = np.concatenate([b - a, c - b, a - c])
        second = edges[np.argmax(dot(edges, edges))]
        # of a rectangle some edge is a side and some may be diagonals: the side is square to another edge
        for edge in edges:
            if np.abs(edges @ edge).min() < _EXACT * dot(edge, edge):
                second = edge
                break
    second = second - (second @ first) * first
    second = second / max(float(np.linalg.norm(second)), 1e-300)
    axes = np.column_stack([first, second, cross(first, second)])
    cosines = np.abs(normals @ axes)
    if cosines.max(axis=1).min() < 1.0 - _EXACT:
        return None
    used = vertices[np.unique(triangles)] @ axes
    low, high = used.min(axis=0), used.max(axis=0)
    half = 0.5 * (high - low)
    x, y, z = 2.0 * half
    whole = 2.0 * (x * y + y * z + z * x) if across.any() else y * z
    if abs(0.5 * size.sum() - whole) > 2 * _EXACT * whole:
        return None
    return Piece("box", axes @ (0.5 * (low + high)), axes, half)
