"""Meshes made ready for questions: what they consist of, how deep something is in them, and how deep in each other two
are on their ways.

A mesh is asked in its own axes, with its scale applied, so that it is prepared once however it moves. Of two meshes the
points of one are asked in groups, as balls that hold them: only what may touch is looked at point by point.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...maths.geometry import boxtree, winding
from ...skeleton import Array
from .distance_field import closed, surface_points
from .pieces import Island, Piece, islands, parted_pieces, pieces
from .space import Bools, Ints

REACH = 0.03
"""Depths are told apart up to here [m]."""
SPACING = 1.0 / 24.0
"""Between two points of a surface, of the size of its mesh."""
_FAN = 8
_BATCH = 1 << 16
"""Balls that are placed at a time."""


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points (K, 3), sorted so that neighbours lie together, and from the top balls (N, 4) around eight of the next."""

    points: Array
    levels: tuple[Array, ...]


def cloud(points: Array) -> Cloud:
    """Points (K, 3), at least one, in groups."""
    points = points[boxtree.sorted_near(points)]
    low = high = points
    levels: list[Array] = []
    count = len(points)
    while count > _FAN or not levels:
        starts = np.arange(0, len(low), _FAN)
        low, high = np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)
        middle = 0.5 * (low + high)
        size = _FAN ** (len(levels) + 1)
        away = np.linalg.norm(points - np.repeat(middle, size, axis=0)[: len(points)], axis=1)
        radius = np.maximum.reduceat(away, np.arange(0, len(points), size)) * (1.0 + 1e-9) + 1e-12
        levels.insert(0, np.column_stack([middle, radius]))
        count = len(low)
    return Cloud(points, tuple(levels))


class Mesh:
    """Triangles in axes of their own; what is asked of them is prepared when it is asked first.

    Args:
        vertices: (V, 3) with its scale applied [m].
        triangles: (F, 3).
        hollow: Whether it has no inside, closed or not.
    """

    def __init__(self, vertices: Array, triangles: Ints, hollow: bool = False) -> None:
        self.vertices, self.triangles, self.hollow = vertices, triangles, hollow

    @cached_property
    def corners(self) -> Array:
        """(F, 3, 3)."""
        return np.asarray(self.vertices[self.triangles])

    @cached_property
    def low(self) -> Array:
        """(3,) least corner of the box around it."""
        return np.asarray(self.vertices.min(axis=0))

    @cached_property
    def high(self) -> Array:
        """(3,) greatest corner of the box around it."""
        return np.asarray(self.vertices.max(axis=0))

    @cached_property
    def closed(self) -> bool:
        """Whether it has an inside."""
        return not self.hollow and closed(self.triangles)

    @cached_property
    def surface(self) -> Cloud:
        """Points of its surface, its vertices among them."""
        spacing = max(SPACING * float((self.high - self.low).max()), 1e-4)
        return cloud(surface_points(self.vertices, self.triangles, spacing))

    @cached_property
    def islands(self) -> tuple[Island, ...]:
        """The parts of it that hang together."""
        return islands(self.vertices, self.triangles)

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """What it consists of."""
        return pieces(self.islands, None, self.hollow)

    @cached_property
    def _parted(self) -> tuple[tuple[Piece, ...], tuple[Island, ...]]:
        return parted_pieces(self.islands, None, self.hollow)

    @property
    def plain(self) -> tuple[Piece, ...]:
        """The balls and boxes that it has."""
        return self._parted[0]

    @cached_property
    def rough(self) -> tuple[Mesh, ...]:
        """What is neither ball nor box: one mesh of all that has an inside, and one of all that has none."""
        out: list[Mesh] = []
        for shut in (True, False):
            some = [part for part in self._parted[1] if closed(part[1]) == shut]
            firsts = np.cumsum([0, *(len(points) for points, _ in some)])
            if some:
                triangles = [faces + first for (_, faces), first in zip(some, firsts, strict=False)]
                out.append(Mesh(np.concatenate([p for p, _ in some]), np.concatenate(triangles), self.hollow))
        return tuple(out)

    @cached_property
    def _tree(self) -> boxtree.Tree:
        return boxtree.build(self.corners)

    @cached_property
    def _seen(self) -> winding.Seen:
        return winding.seen(self.corners)

    def inside(self, points: Array) -> Bools:
        """Which points (N, 3) are within it, if it is closed."""
        if not self.closed:
            return np.zeros(len(points), dtype=bool)
        near = self.near(points, np.zeros(len(points)))
        out = np.zeros(len(points), dtype=bool)
        if len(near):
            out[near] = winding.inside(self._seen, points[near])
        return out

    def touched(self, points: Array, radii: Array) -> Bools:
        """Which balls (N, 3) with radii (N,) [m] its surface goes through."""
        near = self.near(points, radii)
        out = np.zeros(len(points), dtype=bool)
        if len(near):
            out[near] = boxtree.closest(self._tree, points[near], radii[near])[1] >= 0
        return out

    def depths(self, points: Array, radii: Array) -> Array:
        """(N,) by how much balls (N, 3) with radii (N,) are in it [m], negative infinity where they are not.

        Of points this is known up to `REACH`, of balls that and their radius.
        """
        out = np.full(len(points), -np.inf)
        near = self.near(points, radii)
        if len(near):
            points, radii = points[near], radii[near]
            reach = max(float(radii.max()), REACH)
            away, face, _, _ = boxtree.closest(self._tree, points, np.full(len(points), reach))
            depth = np.where(self.inside(points), radii + away, np.where(face >= 0, radii - away, -np.inf))
            out[near] = np.where(depth > 0.0, depth, -np.inf)
        return out

    def near(self, points: Array, radii: Array) -> Ints:
        """Which balls (N, 3) with radii (N,) meet the box around it."""
        beyond = np.maximum(self.low - points, 0.0) + np.maximum(points - self.high, 0.0)
        return np.flatnonzero((beyond * beyond).sum(axis=1) <= radii * radii)


def deepest(one: Mesh, other: Mesh, matrices: Array) -> Array:
    """(N,) by how much the deepest point of two meshes is in the other one [m], negative infinity where none is.

    Points of the surface of the one are looked at in the other, and vertices of the other in the one.

    Args:
        one: What moves.
        other: What it may be in.
        matrices: (N, 4, 4) of the one in the axes of the other, which turn and shift it alone.
    """
    out = np.full(len(matrices), -np.inf)
    middle = 0.5 * (one.low + one.high)
    radius = 0.5 * float(np.linalg.norm(one.high - one.low))
    there = matrices[:, :3, :3] @ middle + matrices[:, :3, 3]
    at = other.near(there, np.full(len(there), radius))
    if not len(at):
        return out
    some = matrices[at]
    out[at] = deepest_point(one.surface, other, some)
    back = np.asarray(np.linalg.inv(some), dtype=np.float64)
    near = other.vertices[np.unique(other.triangles)]
    low, high = there[at].min(axis=0) - radius, there[at].max(axis=0) + radius
    near = near[((near >= low) & (near <= high)).all(axis=1)]
    if len(near) and one.closed:
        out[at] = np.maximum(out[at], deepest_point(cloud(near), one, back))
    return out


def deepest_point(points: Cloud, mesh: Mesh, matrices: Array) -> Array:
    """(N,) by how much the deepest of points at matrices (N, 4, 4) is in a mesh [m]; negative infinity for none."""
    out = np.full(len(matrices), -np.inf)
    if not mesh.closed:
        return out
    at, group = (v.ravel() for v in np.indices((len(matrices), len(points.levels[0]))))
    counts = [len(level) for level in points.levels[1:]] + [len(points.points)]
    for level, count in zip(points.levels, counts, strict=True):
        kept_at, kept = [], []
        for some in np.array_split(np.arange(len(at)), max(1, -(-len(at) // _BATCH))):
            row = level[group[some]]
            place = _placed(matrices, at[some], row[:, :3])
            opened = mesh.touched(place, row[:, 3])
            # a group that is wholly within, and deeper than is told apart, needs no closer look
            rest = np.flatnonzero(~opened)
            rest = rest[mesh.inside(place[rest])]
            rest_open = mesh.touched(place[rest], row[rest, 3] + REACH)
            np.maximum.at(out, at[some][rest[~rest_open]], REACH)
            opened[rest[rest_open]] = True
            kept_at.append(at[some][opened])
            kept.append(group[some][opened])
        at, group = np.concatenate(kept_at), np.concatenate(kept)
        at, group = np.repeat(at, _FAN), (group[:, None] * _FAN + np.arange(_FAN)).ravel()
        at, group = at[group < count], group[group < count]
    for some in np.array_split(np.arange(len(at)), max(1, -(-len(at) // _BATCH))):
        place = _placed(matrices, at[some], points.points[group[some]])
        within = np.flatnonzero(mesh.inside(place))
        np.maximum.at(out, at[some][within], mesh.depths(place[within], np.zeros(len(within))))
    return out


def _placed(matrices: Array, at: Ints, points: Array) -> Array:
    """(M, 3) points (M, 3) at matrices (N, 4, 4) of these numbers (M,)."""
    chosen = matrices[at]
    return np.asarray((chosen[:, :3, :3] @ points[:, :, None])[:, :, 0] + chosen[:, :3, 3])
