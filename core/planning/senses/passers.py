"""Others who walk about where an actor explores: it dodges those whom it sees, and those who are at its elbow."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from ...skeleton import Array
from ...world import Body, World
from ..walkers import avoid
from ..ways.chart import DIRECTIONS, rooms
from ..ways.footprint import placement
from ..ways.walkable import Walkable
from .scenery import actor_body

if TYPE_CHECKING:
    from .explore import Outing

FAR = 4.0
"""How far off others are minded [m]."""
FELT = 0.9
"""Nearer than this others are noticed without being seen [m]."""
ROOM = 0.1
"""Distance kept from others beside the radii [m]."""
STANDS = 0.2
"""Slower than this somebody stands, and is walked around like a thing [m/s]."""


TALL = 1.7
"""Height at which those who explore see each other [m]."""


class Passers:
    """The other actors: bodies of the world tagged `actor:NAME`, and those who explore it at the same time."""

    def __init__(self, world: World, exclude: Collection[str] = ()) -> None:
        """Those in `world` but for some names."""
        self.fps = world.fps
        self.bodies = [b for b in world.bodies if is_actor(b) and b.name not in exclude]
        self.fellows: dict[str, Outing] = {}
        self._free = 1 + max((b.id for b in world.bodies), default=-1)

    @property
    def names(self) -> dict[int, str]:
        """Everybody's name by the id of its body."""
        return {b.id: b.name for b in self.bodies} | {self._free + k: name for k, name in enumerate(self.fellows)}

    def shown(self) -> list[Body]:
        """The fellows as others see them: where they have been, and where they will be in a frame."""
        return [
            actor_body(name, self._free + k, fellow.foreseen(), fellow.params.radius, TALL, fellow.level)
            for k, (name, fellow) in enumerate(self.fellows.items())
        ]

    def around(self, place: Array, time: float, seen: Collection[str]) -> tuple[Array, Array, Array]:
        """Places (n, 2) [m], velocities (n, 2) [m/s] and radii (n,) [m] of those whom one at a place minds now."""
        found = []
        for body in self.bodies:
            now, then = (placement(body, self.fps, t)[:2, 3] for t in (time, time + 1.0 / self.fps))
            far = float(np.hypot(*(now - place)))
            if far < FELT or (far < FAR and body.name in seen):
                found.append((now, (then - now) * self.fps, float(np.abs(body.vertices[:, 0]).max())))
        for name, fellow in self.fellows.items():
            far = float(np.hypot(*(fellow.walker.place - place)))
            if far < FELT or (far < FAR and name in seen):
                found.append((fellow.walker.place, fellow.walker.velocity, fellow.params.radius))
        if not found:
            return np.zeros((0, 2)), np.zeros((0, 2)), np.zeros(0)
        places, velocities, radii = zip(*found, strict=True)
        return np.array(places), np.array(velocities), np.array(radii)


def is_actor(body: Body) -> bool:
    """Whether a body stands for an actor."""
    return any(tag.startswith("actor:") for tag in body.tags)


def evaded(
    place: Array,
    velocity: Array,
    wanted: Array,
    radius: float,
    others: tuple[Array, Array, Array],
    ways: Walkable | None,
    dt: float,
) -> Array:
    """(2,) velocity nearest to the wanted one with which nobody is hit, as far as one's legs allow [m/s].

    Args:
        place: (2,) [m].
        velocity: (2,) as it is [m/s].
        wanted: (2,) as the way asks for [m/s].
        radius: Of the body [m].
        others: Of `Passers.around`; they do not give way.
        ways: What it believes to be free; None for everything.
        dt: Time until it can change its mind [s].
    """
    places, velocities, radii = others
    room = np.full((1, len(DIRECTIONS)), np.inf)
    if ways is not None:
        room = rooms(ways, place[None], np.array([radius]))
    crowd = avoid.Crowd(
        np.concatenate([place[None], places]),
        np.concatenate([velocity[None], velocities]),
        np.concatenate([velocity[None], velocities]),
        np.concatenate([[radius], radii]) + ROOM / 2,
        np.concatenate([[1.0], np.zeros(len(places))]),
    )
    fastest = np.array([max(1.15 * float(np.hypot(*wanted)), 0.7)])
    free = avoid.steer(crowd, wanted[None], fastest, (DIRECTIONS, room))
    still = np.concatenate([[1.0], np.zeros(len(places))])
    both = np.concatenate([free, velocities])
    safe = avoid.unhit(crowd.place, both, np.concatenate([[radius], radii]), still)[0]
    change = safe - velocity
    size = float(np.hypot(*change))
    out: Array = velocity + change * min(1.0, avoid.HARDEST * dt / max(size, 1e-9))
    return out
