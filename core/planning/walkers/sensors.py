"""What one actor can sense: itself, the others, named places and the map; all that behaviours know of the world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import InvalidParam
from ...maths.ramp import wrap
from ...skeleton import Array
from ...world import World
from ..senses.vision import Sight
from ..ways.chart import Bools, sees
from ..ways.footprint import placement
from ..ways.walkable import Walkable
from .actors import State
from .looking import looked

ELBOW = 0.5
"""Nearer than this one notices others without looking [m]."""
WIDE = 1.0
"""How far a thing may reach from its middle [m]."""


@dataclass
class Senses:
    """The senses of one actor at one moment; `notes` and `facts` collect what it says and tells all.

    Attributes:
        state: Of everybody, as it was at the end of the last step.
        world: Around them.
        me: Number of the actor.
        seed: Of the run.
        view: Angle that it overlooks [rad].
        range: How far it sees [m].
    """

    state: State
    world: World
    me: int
    seed: int
    view: float = np.radians(120.0)
    range: float = 30.0
    notes: list[Mapping[str, Any]] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    freezes: dict[str, float] = field(default_factory=dict)
    drawn: int = 0
    _sight: Sight | None = None

    @property
    def name(self) -> str:
        """Its own name."""
        return self.state.cast.names[self.me]

    @property
    def time(self) -> float:
        """[s]"""
        return self.state.clock

    @property
    def here(self) -> Array:
        """(2,) its place [m]."""
        here: Array = self.state.movers.place[self.me]
        return here

    @property
    def heading(self) -> float:
        """[rad]"""
        return float(self.state.movers.heading[self.me])

    @property
    def speed(self) -> float:
        """Speed it goes at when nothing hinders [m/s]."""
        return float(self.state.cast.speed[self.me])

    @property
    def others(self) -> tuple[str, ...]:
        """Everybody else."""
        return tuple(n for n in self.state.cast.names if n != self.name)

    @property
    def walkable(self) -> Walkable:
        """Where it may tread."""
        return self.state.chart.walkable(float(self.state.cast.radius[self.me]))

    def place_of(self, name: str) -> Array:
        """(2,) where an actor, a named place or a body is now [m]."""
        return self._track(name)[0]

    def velocity_of(self, name: str) -> Array:
        """(2,) how an actor or a place moves [m/s]."""
        return self._track(name)[1]

    def distance(self, name: str) -> float:
        """From its own centre to that of another [m]."""
        return float(np.hypot(*(self.place_of(name) - self.here)))

    def near_character(self, name: str, distance: float) -> bool:
        """Whether another is within a distance [m]."""
        return self.distance(name) <= distance

    def visible(self, name: str) -> bool:
        """Whether it sees somebody or something with its own eyes, or has it at its elbow."""
        off = self.place_of(name) - self.here
        far = float(np.hypot(*off))
        if far <= ELBOW:
            return True
        turn = abs(float(wrap(np.arctan2(off[0], -off[1]) - self.heading)))
        # a large thing may reach into the view while its middle is outside
        if far > self.range + WIDE or turn > self.view / 2 + np.arctan2(WIDE, far):
            return False
        if name in self.sight.visible:
            return True
        return name in self.state.cast.places and bool(self.reveals(self.place_of(name)))

    @property
    def sight(self) -> Sight:
        """What it sees now, straight ahead."""
        if self._sight is None or self._sight.lens.range != self.range:
            self._sight = looked(self.state, self.world, self.name, self.view, self.range)
        return self._sight

    def reveals(self, places: Array, above: float = 0.3) -> Bools:
        """(...,) whether it sees what is a little over the ground at places (..., 2) [m]."""
        flat = np.asarray(places, dtype=np.float64).reshape(-1, 2)
        height = self.state.chart.height(flat) + above
        seen: Bools = self.sight.reveals(np.column_stack([flat, height])).reshape(np.shape(places)[:-1])
        return seen

    def seen_by(self, name: str) -> bool:
        """Whether another actor sees it now; a thing or a place that has no eyes looks everywhere."""
        if self.state.cast.index(name) < 0 and name not in self.world.actors:
            return bool(self.exposed_to(name))
        return self.name in looked(self.state, self.world, name, self.view, self.range).visible

    def exposed_to(self, name: str, places: Array | None = None) -> Any:
        """Whether another could see one here, or at each of places (n, 2), whichever way it looks."""
        return sees(self.state.chart.map, self.place_of(name), self.here if places is None else places)

    def visible_ids(self) -> tuple[str, ...]:
        """Everybody it sees."""
        return tuple(n for n in self.others if self.visible(n))

    def at_goal(self) -> bool:
        """Whether it stands where it was told to go."""
        return self.state.minds[self.me].arrived

    def no_path(self) -> bool:
        """Whether there is no way to where it was told to go."""
        return self.state.minds[self.me].blocked

    def fact(self, key: str) -> Any:
        """Something that the cast shares; None when nobody has told it."""
        return self.facts.get(key, self.state.blackboard.get(key))

    def tell(self, key: str, value: Any) -> None:
        """Share something with the cast."""
        self.facts[key] = value

    def heard(self, event: str, distance: float) -> bool:
        """Whether an event that was told to the cast during the last second happened within a distance [m]."""
        told = self.fact(f"sound/{event}")
        return told is not None and self.time - told[2] <= 1.0 and float(np.hypot(*(told[:2] - self.here))) <= distance

    def freeze(self, name: str, seconds: float) -> None:
        """Make somebody stand still for a while."""
        self.freezes[name] = seconds

    def say(self, what: str, why: str) -> None:
        """Note a decision in the transcript."""
        self.notes.append({"time": round(self.time, 6), "actor": self.name, "what": what, "why": why})

    def random(self, count: int = 1) -> Array:
        """(count,) numbers from 0 to 1: the same for the same seed, actor and draw."""
        draw = self.state.minds[self.me].draws + self.drawn
        self.drawn += 1
        out: Array = np.random.default_rng([self.seed, self.me, draw]).random(count)
        return out

    def _track(self, name: str) -> tuple[Array, Array]:
        cast, movers = self.state.cast, self.state.movers
        k = cast.index(name)
        if k >= 0:
            return movers.place[k], movers.velocity[k]
        if name in cast.places:
            path = cast.places[name]
            return place_at(path.points, path.times, self.time)
        if name in self.world.actors:
            motion = self.world.actors[name]
            base = motion.base if motion.base is not None else motion.roots
            return place_at(base, motion.times, self.time)
        for body in self.world.bodies:
            if body.name == name:
                now, then = (placement(body, self.world.fps, t) for t in (self.time, self.time + 1 / self.world.fps))
                middle = np.append(body.vertices.mean(axis=0), 1.0)
                place = (now @ middle)[:2]
                return place, ((then @ middle)[:2] - place) * self.world.fps
        known = (*cast.names, *cast.places, *self.world.actors, *(b.name for b in self.world.bodies))
        raise InvalidParam("target", name, f"no such actor, place or body; there are {', '.join(known)}")


def place_at(points: Array, times: Array | None, time: float) -> tuple[Array, Array]:
    """(2,) place and (2,) velocity on a timed path of x, y at a time [s]; it rests beyond its ends."""
    if times is None or len(points) == 1:
        return points[0, :2], np.zeros(2)
    place = np.array([np.interp(time, times, points[:, k]) for k in (0, 1)])
    soon = np.array([np.interp(time + 0.05, times, points[:, k]) for k in (0, 1)])
    return place, (soon - place) / 0.05
