"""Questions to a `World`: the height of the ground, what a ray meets, the nearest surface.

    surface = index(world)                       # once
    z, normal, hit = height(surface, xy, t)      # as often as wanted; a World is taken too and indexed on the spot

Exact to 1e-9 of the size of the body. A thousand heights on a ground of 100,000 triangles take a few milliseconds.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParam, TroupeError
from ...world import KINDS, Body, World
from .. import quat
from ..quat import Array, dot
from . import boxtree
from .boxtree import Ints

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class _Part:
    """Triangles that move together.

    Attributes:
        kind: Kind of their bodies.
        owner: (F,) number of the body of each triangle.
        tree: Over the triangles, in world space if they stand, else in that of their body with its scale applied.
        places: (T, 3) and turns (T, 4) of the body, at the rate of the world; None if they stand.
        top: The greatest height they reach at any time [m].
    """

    kind: str
    owner: Ints
    tree: boxtree.Tree
    places: Array | None
    turns: Array | None
    top: float


@dataclass(frozen=True, eq=False)
class Surface:
    """The triangles of a world, ready for questions; made by `index`."""

    parts: tuple[_Part, ...]
    fps: float


def index(world: World) -> Surface:
    """Prepare a world for many questions; about 0.3 s for 100,000 triangles, 2 s for 500,000.

    Bodies that stand still are merged by kind, so their number costs nothing. Moving bodies must be rigid.
    """
    parts = []
    for kind in KINDS:
        bodies = [(n, body) for n, body in enumerate(world.bodies) if body.kind == kind and len(body.triangles)]
        still = [(n, body) for n, body in bodies if len(body.matrices) == 1]
        if still:
            corners = [(b.vertices @ b.matrices[0, :3, :3].T + b.matrices[0, :3, 3])[b.triangles] for _, b in still]
            owner = np.repeat([n for n, _ in still], [len(c) for c in corners])
            parts.append(_part(kind, np.concatenate(corners), owner, None, None))
        for n, body in bodies:
            if len(body.matrices) > 1:
                corners_of, places, turns = _rigid(body)
                parts.append(_part(kind, corners_of, np.full(len(corners_of), n), places, turns))
    return Surface(tuple(parts), world.fps)


def height(
    world: World | Surface,
    xy: Array,
    t: npt.ArrayLike = 0.0,
    below: npt.ArrayLike | None = None,
    kinds: Collection[str] = ("ground",),
) -> tuple[Array, Array, Bools]:
    """Height of the topmost surface at places on the ground.

    Args:
        world: Or what `index` made of it.
        xy: (N, 2) [m].
        t: Time, one or (N,) [s]; between frames bodies are interpolated, beyond the ends they rest.
        below: Ignore what is higher than this, one or (N,) [m]: the floor above, a lamp.
        kinds: Kinds of bodies to stand on.

    Returns:
        z (N,) [m] and upward unit normal (N, 3); 0 and straight up where hit (N,) is false.
    """
    xy = _points(xy, 2, "xy")
    surface = _chosen(world, kinds)
    if below is None:
        below = max((part.top for part in surface.parts), default=0.0)
    # a hair above, or rounding might put the start of the ray under a surface at that very height
    start = np.broadcast_to(np.asarray(below, dtype=np.float64) + 1e-9, len(xy))
    origins = np.column_stack([xy, start])
    down = np.broadcast_to([0.0, 0.0, -1.0], origins.shape)
    distance, normal, _, hit = ray(surface, origins, down, t)
    z = origins[:, 2] - np.where(hit, distance, origins[:, 2])
    normal = np.where(hit[:, None], normal, [0.0, 0.0, 1.0])
    return z, normal, hit


def ray(
    world: World | Surface,
    origins: Array,
    directions: Array,
    t: npt.ArrayLike = 0.0,
    reach: float = np.inf,
    kinds: Collection[str] = KINDS,
) -> tuple[Array, Array, Ints, Bools]:
    """First surface that each ray meets, from either side.

    Args:
        world: Or what `index` made of it.
        origins: (N, 3) [m].
        directions: (N, 3) of any length but zero.
        t: Time, one or (N,) [s].
        reach: Look no further than this [m].
        kinds: Kinds of bodies that stop it.

    Returns:
        distance (N,) [m], unit normal against the ray (N, 3), number of the body in `world.bodies` (N,), hit (N,).
        Where nothing is hit: infinity, zeros, -1.
    """
    origins, directions = _points(origins, 3, "origins"), quat.unit(_points(directions, 3, "directions"))
    surface = _chosen(world, kinds)
    distance, normal, body = _nothing(len(origins), reach)
    for part in surface.parts:
        place, turn = _placed(part, surface.fps, t)
        seen = _back(origins - place, turn), _back(directions, turn)
        length, face, side = boxtree.first(part.tree, *seen, distance)
        at = np.flatnonzero(face >= 0)
        distance[at], body[at] = length[at], part.owner[face[at]]
        normal[at] = _out(side, turn)[at]
    normal *= -np.copysign(1.0, dot(normal, directions))[:, None]
    hit = body >= 0
    return np.where(hit, distance, np.inf), normal, body, hit


def nearest(
    world: World | Surface,
    points: Array,
    t: npt.ArrayLike = 0.0,
    reach: float = np.inf,
    kinds: Collection[str] = KINDS,
) -> tuple[Array, Array, Ints, Array]:
    """Nearest place on any surface.

    Args:
        world: Or what `index` made of it.
        points: (N, 3) [m].
        t: Time, one or (N,) [s].
        reach: Look no further than this [m]; a small one is faster.
        kinds: Kinds of bodies that count.

    Returns:
        point (N, 3) [m], distance (N,) [m], number of the body in `world.bodies` (N,), unit normal of its triangle on
        the side of the query (N, 3). Where nothing is in reach: the query itself, infinity, -1, zeros.
    """
    points = _points(points, 3, "points")
    surface = _chosen(world, kinds)
    distance, normal, body = _nothing(len(points), reach)
    point = points.copy()
    for part in surface.parts:
        place, turn = _placed(part, surface.fps, t)
        length, face, side, found = boxtree.closest(part.tree, _back(points - place, turn), distance)
        at = np.flatnonzero(face >= 0)
        distance[at], body[at] = length[at], part.owner[face[at]]
        normal[at], point[at] = _out(side, turn)[at], (_out(found, turn) + place)[at]
    normal *= np.copysign(1.0, dot(normal, points - point))[:, None]
    return point, np.where(body >= 0, distance, np.inf), body, normal


def _part(kind: str, corners: Array, owner: Ints, places: Array | None, turns: Array | None) -> _Part:
    top = corners[..., 2].max() if places is None else places[:, 2].max() + np.sqrt(dot(corners, corners).max())
    return _Part(kind, owner, boxtree.build(corners), places, turns, float(top))


def _rigid(body: Body) -> tuple[Array, Array, Array]:
    """Triangles (F, 3, 3) of a moving body with its constant scale applied, places (T, 3) and turns (T, 4)."""
    linear = body.matrices[:, :3, :3]
    scale = np.linalg.norm(linear, axis=1)
    scale[:, 0] *= np.sign(np.linalg.det(linear))
    if np.ptp(scale, axis=0).max() > 1e-3 * np.abs(scale).max() or not np.abs(scale).min() > 0:
        raise TroupeError(f"{body.name} changes its size or has none while it moves: give it a constant scale")
    turns = quat.continuous(quat.from_matrix(linear / scale[:, None, :]))
    return (body.vertices * scale[0])[body.triangles], body.matrices[:, :3, 3], turns


def _placed(part: _Part, fps: float, t: npt.ArrayLike) -> tuple[Array, Array | None]:
    """Place (..., 3) and turn (..., 4) of a part at times t (...); no turn at all for what stands."""
    if part.places is None or part.turns is None:
        return np.zeros(3), None
    last = len(part.places) - 1
    frame = np.clip(np.asarray(t, dtype=np.float64) * fps, 0.0, last)
    a = np.minimum(frame.astype(np.int64), last - 1)
    u = np.asarray(frame - a)
    place = part.places[a] + u[..., None] * (part.places[a + 1] - part.places[a])
    return place, quat.slerp(part.turns[a], part.turns[a + 1], u)


def _back(vectors: Array, turn: Array | None) -> Array:
    """World vectors in the axes of a part."""
    return vectors if turn is None else quat.rotate(quat.conjugate(turn), vectors)


def _out(vectors: Array, turn: Array | None) -> Array:
    """Vectors of a part in world axes."""
    return vectors if turn is None else quat.rotate(turn, vectors)


def _nothing(count: int, reach: float) -> tuple[Array, Array, Ints]:
    """Distance, normal and body before anything has been found."""
    return np.full(count, float(reach)), np.zeros((count, 3)), np.full(count, -1)


def _chosen(world: World | Surface, kinds: Collection[str]) -> Surface:
    """The parts of these kinds."""
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise InvalidParam("kinds", unknown, f"must be among {', '.join(KINDS)}")
    surface = world if isinstance(world, Surface) else index(world)
    return Surface(tuple(part for part in surface.parts if part.kind in kinds), surface.fps)


def _points(values: Array, columns: int, what: str) -> Array:
    """Finite (N, columns)."""
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != columns or not np.isfinite(values).all():
        raise InvalidParam(what, values.shape, f"must be finite numbers of shape (N, {columns})")
    return values
