"""Actors who are in the scene without being of the cast: they move as they do, and everybody minds them."""

from __future__ import annotations

import numpy as np

from ...maths.spline import arc_length, at_length
from ...skeleton import Array
from ...world import World
from .actors import Cast, Plan
from .sensors import place_at

SEEN = 6.0
"""How far ahead on its way one minds others when it plans [m]."""
STANDS = 0.2
"""Slower than this somebody stands [m/s]."""

NOBODY: tuple[Array, Array] = (np.zeros((0, 2)), np.zeros((0, 2)))


def guests(cast: Cast, world: World, time: float) -> tuple[Array, Array]:
    """(n, 2) places [m] and (n, 2) velocities [m/s] of the guests at a time [s], in the order of their names."""
    names = sorted(n for n in world.actors if cast.index(n) < 0)
    if not names:
        return NOBODY
    motions = [world.actors[n] for n in names]
    tracks = [place_at(m.roots if m.base is None else m.base, m.times, time) for m in motions]
    return np.array([t[0] for t in tracks]), np.array([t[1] for t in tracks])


def stands_in(plan: Plan, along: float, found: tuple[Array, Array], room: float) -> bool:
    """Whether a guest, of those `guests` found, stands nearer than `room` [m] to a way, ahead of `along` [m].

    Whoever stands at the goal is what one goes to.
    """
    place, velocity = found
    still = place[(np.hypot(*velocity.T) < STANDS) & (np.hypot(*(place - plan.target).T) > room)]
    if not len(still):
        return False
    lengths = arc_length(plan.points)
    ahead = at_length(plan.points, np.linspace(along, min(lengths[-1], along + SEEN), 25), lengths)
    return bool(np.hypot(*(ahead[:, None] - still).transpose(2, 0, 1)).min() < room)
