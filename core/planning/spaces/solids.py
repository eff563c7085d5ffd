"""What is in the way of an arm, made from the meshes of a world: spheres, boxes, and distance fields for the rest.

A mesh is taken apart into the pieces that hang together. A piece that is a ball, a box or a flat rectangle becomes just
that, without loss; any other gets a distance field in its own axes, so that it can be carried about.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...maths.quat import cross, dot
from ...needs import needs_scipy
from ...skeleton import Array
from ...world import Body, World
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


def pieces(
    vertices: Array, triangles: Ints, region: tuple[Array, Array] | None = None, band: float = BAND
) -> tuple[Piece, ...]:
    """What a mesh consists of.

    Args:
        vertices: (V, 3) with its scale applied [m].
        triangles: (F, 3).
        region: Lowest and highest corner (3,) of what matters; pieces outside of it are left out.
        band: How far distances to a field are known [m].
    """
    if not len(triangles):
        return ()
    merged, triangles = _merged(vertices, triangles)
    out: list[Piece] = []
    rest: list[Ints] = []
    for faces in _islands(len(merged), triangles):
        island = triangles[faces]
        used = np.unique(island)
        points = merged[used]
        if region is not None and ((points.max(axis=0) < region[0]) | (points.min(axis=0) > region[1])).any():
            continue
        found = _ball(points, island) or _box(merged, island)
        if found is None:
            rest.append(island)
        else:
            out.append(found)
    # what has no inside of its own may lie in one field; closed ones would take each other for outside
    for island in rest:
        used, local = np.unique(island, return_inverse=True)
        points, local = merged[used], local.reshape(island.shape)
        low, high = points.min(axis=0), points.max(axis=0)
        field = distance_field(points, local, band, region)
        if region is not None:
            low, high = np.maximum(low, field.bounds[0]), np.minimum(high, field.bounds[1])
        out.append(Piece("field", 0.5 * (low + high), np.eye(3), 0.5 * (high - low), field))
    return tuple(out)


def _merged(vertices: Array, triangles: Ints) -> tuple[Array, Ints]:
    """The mesh with vertices at the same place made one, and without triangles that are none."""
    size = max(float(np.ptp(vertices, axis=0).max()), 1e-9)
    _, first, same = np.unique(np.round(vertices / (1e-6 * size)), axis=0, return_index=True, return_inverse=True)
    triangles = same.reshape(-1)[triangles]
    whole = (triangles != np.roll(triangles, 1, axis=1)).all(axis=1)
    return vertices[first], triangles[whole]


def _islands(count: int, triangles: Ints) -> list[Ints]:
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


@dataclass(frozen=True, eq=False)
class Solids:
    """Everything that may be touched, placed in the world.

    Attributes:
        names: Of the bodies.
        centres, radii, ball_of: (O, 3), (O,) of the balls [m] and the body (O,) of each.
        middles, axes, halves, box_of: (B, 3), (B, 3, 3), (B, 3) of boxes and fields, and the body (B,) of each.
        fields: Of each box its field, or None.
        origins: (B, 3) where the field's axes have their zero from the middle of the box, in the box's axes.
    """

    names: tuple[str, ...]
    centres: Array
    radii: Array
    ball_of: Ints
    middles: Array
    axes: Array
    halves: Array
    box_of: Ints
    fields: tuple[DistanceField | None, ...]
    origins: Array

    def without(self, *names: str) -> Solids:
        """The same without these bodies."""
        gone = [k for k, name in enumerate(self.names) if name in names]
        ball, box = ~np.isin(self.ball_of, gone), ~np.isin(self.box_of, gone)
        return Solids(
            self.names,
            self.centres[ball],
            self.radii[ball],
            self.ball_of[ball],
            self.middles[box],
            self.axes[box],
            self.halves[box],
            self.box_of[box],
            tuple(field for field, keep in zip(self.fields, box, strict=True) if keep),
            self.origins[box],
        )


class Shapes:
    """Remembers the pieces of meshes, which are the same however they are moved."""

    def __init__(self) -> None:
        self._known: list[tuple[Array, Ints, Array, tuple[Piece, ...]]] = []

    def of(self, body: Body, scale: Array, region: tuple[Array, Array] | None) -> tuple[Piece, ...]:
        """Pieces of a body with its scale (3,) applied; a region, in its own axes, is for large ones alone."""
        vertices = body.vertices * scale
        if region is not None and (np.ptp(vertices, axis=0) < 0.5 * (region[1] - region[0])).all():
            region = None
        if region is not None:
            return pieces(vertices, body.triangles, region)
        for known, triangles, size, found in self._known:
            same = known is body.vertices or np.array_equal(known, body.vertices)
            if same and np.allclose(size, scale) and np.array_equal(triangles, body.triangles):
                return found
        found = pieces(vertices, body.triangles)
        self._known.append((body.vertices, body.triangles, scale, found))
        return found


def solids(
    world: World,
    time: float = 0.0,
    region: tuple[Array, float] | None = None,
    ignore: Collection[str] = (),
    shapes: Shapes | None = None,
    moved: dict[str, Array] | None = None,
) -> Solids:
    """The solids of a world at one moment.

    Args:
        world: Its bodies.
        time: [s]
        region: Centre (3,) and radius of what matters [m]; bodies out of it are left out.
        ignore: Names of bodies that are not in the way.
        shapes: What is known of meshes already.
        moved: Matrices (4, 4) of bodies that are elsewhere than the world says.
    """
    shapes = shapes or Shapes()
    balls: list[tuple[Array, float, int]] = []
    boxes: list[tuple[Array, Array, Array, int, DistanceField | None, Array]] = []
    for k, body in enumerate(world.bodies):
        if body.name in ignore or not len(body.triangles):
            continue
        matrix = matrix_at(world, body, time) if moved is None or body.name not in moved else moved[body.name]
        turn, scale = parted(matrix)
        place = matrix[:3, 3]
        own = None
        if region is not None:
            corners = body.vertices @ matrix[:3, :3].T + place
            if np.linalg.norm(np.clip(region[0], corners.min(axis=0), corners.max(axis=0)) - region[0]) > region[1]:
                continue
            middle = turn.T @ (region[0] - place)
            own = middle - region[1], middle + region[1]
        for piece in shapes.of(body, scale, own):
            centre = place + turn @ piece.centre
            if piece.kind == "ball":
                balls.append((centre, float(piece.half[0]), k))
            else:
                boxes.append((centre, turn @ piece.axes, piece.half, k, piece.field, -piece.centre))
    return Solids(
        tuple(body.name for body in world.bodies),
        np.array([b[0] for b in balls]).reshape(-1, 3),
        np.array([b[1] for b in balls]),
        np.array([b[2] for b in balls], dtype=np.int64),
        np.array([b[0] for b in boxes]).reshape(-1, 3),
        np.array([b[1] for b in boxes]).reshape(-1, 3, 3),
        np.array([b[2] for b in boxes]).reshape(-1, 3),
        np.array([b[3] for b in boxes], dtype=np.int64),
        tuple(b[4] for b in boxes),
        np.array([b[5] for b in boxes]).reshape(-1, 3),
    )


def matrix_at(world: World, body: Body, time: float) -> npt.NDArray[np.float64]:
    """(4, 4) where a body is at a moment [s]: at the nearest sample."""
    at = int(np.clip(round(time * world.fps), 0, len(body.matrices) - 1))
    return np.asarray(body.matrices[at])


def parted(matrix: Array) -> tuple[Array, Array]:
    """Rotation (3, 3) and scale (3,) of a matrix (4, 4); a mirror is in the scale."""
    scale = np.linalg.norm(matrix[:3, :3], axis=0)
    if np.linalg.det(matrix[:3, :3]) < 0:
        scale[0] = -scale[0]
    return matrix[:3, :3] / np.where(scale == 0, 1.0, scale), scale
