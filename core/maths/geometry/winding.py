"""Whether points are within a closed mesh, by the solid angle under which it is seen; what is far away is seen as one.

Van Oosterom and Strackee, "The solid angle of a plane triangle" (1983); Barill, Dickson, Schmidt, Levin and Jacobson,
"Fast winding numbers for soups and clouds" (2018).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..quat import Array, cross, dot
from .boxtree import Ints, sorted_near

Bools = npt.NDArray[np.bool_]

_FEW = 1024
"""Triangles that are looked at one by one."""
_BLOCK = 50_000
"""Points times triangles at a time: what stays in the cache."""
_FAN = 8
_FAR = 2.0
"""How many times its radius a group of triangles is away when it counts as one."""


@dataclass(frozen=True, eq=False)
class Seen:
    """A mesh made ready for `inside`; by `seen`.

    Attributes:
        corners: (F, 3, 3), sorted so that neighbours lie together.
        levels: From the top (N, 7): the middle, the radius and the area vector of groups of triangles; eight groups to
            one above, and eight triangles to one of the last. Empty for few triangles.
    """

    corners: Array
    levels: tuple[Array, ...]


def seen(corners: Array) -> Seen:
    """A closed mesh of triangles (F, 3, 3), made ready for many questions."""
    if len(corners) <= _FEW:
        return Seen(corners, ())
    corners = corners[sorted_near(corners.mean(axis=1))]
    area = 0.5 * cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    weight = np.sqrt(dot(area, area)) + 1e-300
    middle = corners.mean(axis=1)
    radius = np.sqrt(((corners - middle[:, None]) ** 2).sum(axis=2).max(axis=1))
    levels: list[Array] = []
    while len(middle) > 2 * _FAN:
        starts = np.arange(0, len(middle), _FAN)
        heavy = np.add.reduceat(weight, starts)
        of = np.arange(len(middle)) // _FAN
        centre = np.add.reduceat(middle * weight[:, None], starts) / heavy[:, None]
        away = middle - centre[of]
        radius = np.maximum.reduceat(np.sqrt(dot(away, away)) + radius, starts)
        area, middle, weight = np.add.reduceat(area, starts), centre, heavy
        levels.insert(0, np.column_stack([middle, radius, area]))
    return Seen(corners, tuple(levels))


def inside(mesh: Seen, points: Array) -> Bools:
    """Which points (N, 3) are within a closed mesh."""
    out = np.zeros(len(points), dtype=bool)
    low, high = mesh.corners.min(axis=(0, 1)), mesh.corners.max(axis=(0, 1))
    at: Ints = np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))
    turns = _turns if mesh.levels else _all_turns
    block = _BLOCK // (64 if mesh.levels else max(1, len(mesh.corners)))
    for some in np.array_split(at, max(1, -(-len(at) // max(1, block)))):
        out[some] = np.abs(turns(mesh, points[some])) > 0.5
    return out


def _all_turns(mesh: Seen, points: Array) -> Array:
    """(N,) how often a mesh goes around points (N, 3), of every triangle."""
    middle = 0.5 * (mesh.corners.min(axis=(0, 1)) + mesh.corners.max(axis=(0, 1)))
    a, b, c = (mesh.corners[:, k] - middle for k in range(3))
    ab, bc, ca = (dot(v, v) for v in (a - b, b - c, c - a))
    apex, normals = dot(a, cross(b, c)), cross(a, b) + cross(b, c) + cross(c, a)
    p = points - middle
    # the triple and scalar products of the three edges to a point, of products of matrices
    above = apex - p @ normals.T
    own = dot(p, p)[:, None]
    sa, sb, sc = (np.maximum(own + dot(v, v) - 2.0 * (p @ v.T), 0.0) for v in (a, b, c))
    la, lb, lc = np.sqrt(sa), np.sqrt(sb), np.sqrt(sc)
    below = la * lb * lc + 0.5 * ((sa + sb - ab) * lc + (sb + sc - bc) * la + (sc + sa - ca) * lb)
    return np.asarray(np.arctan2(above, below).sum(axis=1) / (2.0 * np.pi))


def _turns(mesh: Seen, points: Array) -> Array:
    """(N,) how often a mesh goes around points (N, 3), of groups where they are far."""
    total = np.zeros(len(points))
    query, group = (v.ravel() for v in np.indices((len(points), len(mesh.levels[0]))))
    counts = [len(level) for level in mesh.levels[1:]] + [len(mesh.corners)]
    for level, count in zip(mesh.levels, counts, strict=True):
        row = level[group]
        away = row[:, :3] - points[query]
        square = dot(away, away)
        far = square > (_FAR * row[:, 3]) ** 2
        angle = dot(away[far], row[far, 4:]) / (square[far] * np.sqrt(square[far]))
        total += np.bincount(query[far], angle, len(points))
        query, group = np.repeat(query[~far], _FAN), (group[~far, None] * _FAN + np.arange(_FAN)).ravel()
        query, group = query[group < count], group[group < count]
    a, b, c = (mesh.corners[group, k] - points[query] for k in range(3))
    la, lb, lc = (np.sqrt(dot(v, v)) for v in (a, b, c))
    below = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb
    total += np.bincount(query, 2.0 * np.arctan2(dot(a, cross(b, c)), below), len(points))
    return total / (4.0 * np.pi)
