"""Room to put something down: the free places on top of a thing."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...maths import geometry
from ...skeleton import Array
from ...world import Body, World
from ..spaces.collision import clearance
from ..spaces.solids import Shapes, matrix_at, solids

GAP = 0.0005
"""Between a thing that is put down and what it stands on [m]."""
RIM, ROOM = 0.02, 0.05
"""Distance kept from an edge, and from other things, which hands come between [m]."""
LEVEL = 0.004
"""How uneven what a thing stands on may be [m]."""
_FINE, _MOST = 0.04, 1500
"""Between places that are looked at [m], and how many are at most."""
_AROUND = np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False)


@dataclass(frozen=True, eq=False)
class Footprint:
    """What a thing takes up as it is turned.

    Attributes:
        foot: (3,) from its origin to the middle of what it stands on [m].
        wide: Radius around that [m].
        tall: [m]
    """

    foot: Array
    wide: float
    tall: float


def footprint(thing: Body, turn: Array) -> Footprint:
    """The footprint of a thing under a rotation (3, 3)."""
    corners = thing.vertices @ turn.T
    low, high = corners.min(axis=0), corners.max(axis=0)
    middle = 0.5 * (low + high)[:2]
    wide = float(np.hypot(*(corners[:, :2] - middle).T).max())
    return Footprint(np.append(middle, low[2]), wide, float(high[2] - low[2]))


def free_spots(world: World, onto: Body, thing: Body, turn: Array, shapes: Shapes | None = None) -> Array:
    """(N, 3) where a thing may stand on another: away from its edges and from what is on it already [m].

    Args:
        world: What is around, at its first moment.
        onto: What it is stood on.
        thing: What is put down.
        turn: (3, 3) how it is turned.
        shapes: What is known of meshes.
    """
    taken = footprint(thing, turn)
    around = taken.wide + RIM
    places = _grid(onto, matrix_at(world, onto, 0.0), around)
    if not len(places):
        return np.zeros((0, 3))
    surface = geometry.index(World((replace(onto, kind="ground"),), world.fps))
    ring = around * np.stack([np.cos(_AROUND), np.sin(_AROUND)], axis=1)
    under = np.concatenate([places[:, None], places[:, None] + ring], axis=1)
    z, _, hit = geometry.height(surface, under.reshape(-1, 2))
    z, hit = z.reshape(under.shape[:2]), hit.reshape(under.shape[:2])
    level = hit.all(axis=1) & (np.abs(z - z[:, :1]).max(axis=1) < LEVEL)
    places, tops = places[level], z[level, 0]
    if not len(places):
        return np.zeros((0, 3))
    still = solids(world, 0.0, None, (onto.name, thing.name), shapes)
    radius = taken.wide + ROOM
    feet = np.column_stack([places, tops + radius])
    gap, _ = clearance(still, feet, feet + (0.0, 0.0, taken.tall), np.full(len(places), radius))
    free = gap > 0.0
    return np.column_stack([places[free], tops[free] + GAP])


def _grid(onto: Body, matrix: Array, inset: float) -> Array:
    """(n, 2) places over a thing, not too near to its sides [m]."""
    corners = onto.vertices @ matrix[:3, :3].T + matrix[:3, 3]
    low, high = corners[:, :2].min(axis=0) + inset, corners[:, :2].max(axis=0) - inset
    if (low > high).any():
        return np.zeros((0, 2))
    step = max(_FINE, float(np.sqrt(np.prod(high - low + _FINE) / _MOST)))
    axes = [np.linspace(a, b, max(1, int((b - a) / step) + 1)) for a, b in zip(low, high, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
