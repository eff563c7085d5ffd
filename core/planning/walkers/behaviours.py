"""What actors do, one small machine each: go somewhere, follow, pursue, wander, patrol.

Follow and its distances are Kuffner's ("Autonomous Agents for Real-Time Animation", 1999, section 6.2); chasing
follows the locomotion states of Badler's LocoNet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...params import param
from ...skeleton import Array
from .actors import STAND, Behaviour, Order, go
from .sensors import Senses

PASSED = 0.5
"""Who does not stop at a waypoint has passed it within this [m]."""


@dataclass(frozen=True)
class Stand(Behaviour):
    """Stay where one is."""

    def think(self, memory: Any, senses: Senses) -> tuple[Any, Order]:
        """Nothing to decide."""
        return None, STAND


@dataclass(frozen=True)
class Go(Behaviour):
    """Go to a place, a body or an actor."""

    target: str = param("", ref="object", help="Where to go; empty for the place")
    place: tuple[float, ...] = param((0.0, 0.0, 0.0), unit="m", help="Where to go when no target is named")
    stop: float = param(0.0, lo=0.0, hi=100.0, unit="m", help="Distance from it at which to stop")
    keep: bool = param(True, help="Go on when the target moves after one has arrived")
    turn: bool = param(False, help="Take a heading at the end")
    facing: float = param(0.0, lo=-10.0, hi=10.0, unit="rad", help="Heading at the end; 0 faces the front view")

    def begin(self) -> Any:
        """Whether it has arrived."""
        return False

    def think(self, memory: Any, senses: Senses) -> tuple[Any, Order]:
        """Keep the goal where the target is."""
        if senses.at_goal() and not self.keep:
            memory = True
        if memory:
            return memory, STAND
        place = senses.place_of(self.target) if self.target else np.array(self.place[:2])
        facing = self.facing if self.turn else float("nan")
        there = receding(senses, self.target) if self.target else 0.0
        return memory, go(place, self.target or "a place", stop=self.stop, facing=facing, there=there)


@dataclass(frozen=True)
class Follow(Behaviour):
    """Follow an actor, leaving it some room."""

    target: str = param("", ref="object", help="Whom to follow")
    near: float = param(1.7, lo=0.1, hi=50.0, unit="m", help="Further away than this one goes after it")
    stop: float = param(1.5, lo=0.1, hi=50.0, unit="m", help="Distance at which one stops")

    def begin(self) -> Any:
        """Whether it is going after the target."""
        return False

    def think(self, memory: Any, senses: Senses) -> tuple[Any, Order]:
        """Go when far, stand when near."""
        far = not senses.near_character(self.target, self.near)
        place = senses.place_of(self.target)
        if far and not memory:
            senses.say("follows", f"{self.target} is more than {self.near:g} m away")
        elif memory and not far:
            senses.say("stops", f"{self.target} is within {self.near:g} m")
        return (True, go(place, self.target, stop=self.stop, seek=self.target)) if far else (False, Order(face=place))


@dataclass(frozen=True)
class Pursue(Behaviour):
    """Catch an actor by going to where it will be."""

    target: str = param("", ref="object", help="Whom to catch")
    catch: float = param(0.7, lo=0.1, hi=10.0, unit="m", help="Distance at which it is caught")
    see: bool = param(False, help="Know where it is only while it is in sight; search where it was last seen")
    rest: bool = param(True, help="Stand once it is caught, until it gets away")

    def begin(self) -> Any:
        """State, place last seen (x, y), time of that."""
        return ("chase", None, 0.0)

    def think(self, memory: Any, senses: Senses) -> tuple[Any, Order]:
        """Chase, go where it was last seen, or stand with it."""
        state, last, when = memory
        known = not self.see or senses.visible(self.target)
        if known:
            place = senses.place_of(self.target)
            if senses.distance(self.target) <= self.catch:
                if state != "caught":
                    senses.say("catches", f"{self.target} is within {self.catch:g} m")
                return ("caught", tuple(place), senses.time), Order(face=place) if self.rest else go(place, self.target)
            if state == "caught" and senses.distance(self.target) <= 1.2 * self.catch:
                return memory, Order(face=place)
            if state != "chase":
                senses.say("chases", f"{self.target} is {'in sight' if self.see else 'away'}")
            aim, there = ahead_of(senses, self.target), receding(senses, self.target)
            order = go(aim, self.target, stop=0.8 * self.catch, seek=self.target, there=there)
            return ("chase", tuple(place), senses.time), order
        if state == "chase":
            senses.say("goes to where it was", f"{self.target} is out of sight")
        if last is None or (state == "lost" and senses.at_goal() and senses.time - when > 1.0):
            return ("lost", None, senses.time), look_round(senses)
        return ("lost", last, senses.time if not senses.at_goal() else when), go(
            np.array(last), f"where {self.target} was"
        )


def intercept(place: Array, speed: float, target: Array, velocity: Array) -> Array | None:
    """(2,) where one who moves at `speed` meets a target that keeps its velocity; None when never.

    Solves (v.v - s^2) t^2 + 2 (r.v) t + r.r = 0 for the least positive t.
    """
    r = target - place
    a, b, c = float(velocity @ velocity) - speed * speed, 2.0 * float(r @ velocity), float(r @ r)
    if abs(a) < 1e-9:
        times = [-c / b] if b < -1e-12 else []
    else:
        inside = b * b - 4 * a * c
        if inside < 0:
            return None
        times = [(-b - np.sqrt(inside)) / (2 * a), (-b + np.sqrt(inside)) / (2 * a)]
    soon = [t for t in times if t > 0]
    return target + velocity * min(soon) if soon else None


def receding(senses: Senses, name: str) -> float:
    """Speed at which somebody gets away from one, 0 when it does not [m/s]."""
    off = senses.place_of(name) - senses.here
    return max(0.0, float(senses.velocity_of(name) @ off) / max(float(np.hypot(*off)), 0.1))


def ahead_of(senses: Senses, name: str, most: float = 2.0) -> Array:
    """(2,) free place to head for in order to meet somebody who moves [m]."""
    place, velocity = senses.place_of(name), senses.velocity_of(name)
    aim = intercept(senses.here, senses.speed, place, velocity)
    if aim is None:
        return place
    off = aim - place
    reach = most * float(np.hypot(*velocity))
    far = float(np.hypot(*off))
    aim = place + off * min(1.0, reach / far) if far > 1e-9 else place
    # whoever is followed into a wall will turn before it
    return aim if bool(senses.walkable.clear(place, aim)) else place


def look_round(senses: Senses) -> Order:
    """Stand and look about."""
    angle = senses.heading + 1.2
    return Order(face=senses.here + np.array([np.sin(angle), -np.cos(angle)]))


@dataclass(frozen=True)
class Wander(Behaviour):
    """Go about without an aim."""

    nearest: float = param(3.0, lo=0.5, hi=100.0, unit="m", help="Least distance of the next goal")
    furthest: float = param(8.0, lo=0.5, hi=100.0, unit="m", help="Greatest distance of the next goal")
    pause: float = param(0.5, lo=0.0, hi=60.0, unit="s", help="Time to stand at each")

    def begin(self) -> Any:
        """Goal, and until when it rests."""
        return (None, 0.0)

    def think(self, memory: Any, senses: Senses) -> tuple[Any, Order]:
        """Pick a free place ahead, go there, rest, repeat."""
        goal, rest = memory
        if goal is not None and (senses.at_goal() or senses.no_path()):
            return (None, senses.time + self.pause), STAND
        if goal is None:
            if senses.time < rest:
                return memory, STAND
            goal = tuple(stroll(senses, self.nearest, self.furthest))
            senses.say("wanders", f"to ({goal[0]:.1f}, {goal[1]:.1f})")
        return (goal, rest), go(np.array(goal), "a stroll")


def stroll(senses: Senses, nearest: float, furthest: float) -> Array:
    """(2,) a free place ahead of the actor at a random distance [m]; behind it when there is none ahead."""
    walk = senses.walkable
    far = max(nearest, furthest)
    for spread in (1.0, 2.0, np.pi):
        u = senses.random(16).reshape(2, 8)
        angle = senses.heading + spread * (2 * u[0] - 1)
        reach = nearest + (far - nearest) * u[1]
        spots = senses.here + reach[:, None] * np.stack([np.sin(angle), -np.cos(angle)], axis=-1)
        free = walk.clear(spots, spots)
        if free.any():
            return np.array(spots[int(np.argmax(free))])
    return senses.here


@dataclass(frozen=True)
class Patrol(Behaviour):
    """Go from waypoint to waypoint."""

    waypoints: tuple[tuple[float, ...], ...] = param((), columns=("x", "y"), help="Places to go through [m]")
    loop: bool = param(True, help="Begin again after the last; else stand there")
    pause: float = param(0.0, lo=0.0, hi=600.0, unit="s", help="Time to stand at each")

    def begin(self) -> Any:
        """Number of the waypoint, and when it was reached (negative when not)."""
        return (0, -1.0)

    def think(self, memory: Any, senses: Senses) -> tuple[Any, Order]:
        """Go on when the waypoint is reached and the pause is over."""
        k, since = memory
        if not self.waypoints or k >= len(self.waypoints):
            return memory, STAND
        left = float(np.hypot(*(senses.here - np.array(self.waypoints[k]))))
        through = self.pause <= 0.0 and (self.loop or k + 1 < len(self.waypoints))
        if since < 0 and (left < PASSED if through else senses.at_goal() and left < 1.0):
            senses.say("passes", f"waypoint {k + 1}")
            since = senses.time
        if since >= 0:
            if senses.time - since < self.pause:
                return (k, since), STAND
            k, since = k + 1, -1.0
            if k >= len(self.waypoints) and self.loop:
                k = 0
            if k >= len(self.waypoints):
                return (k, since), STAND
        on = self.pause <= 0.0 and (self.loop or k + 1 < len(self.waypoints))
        return (k, since), go(self.waypoints[k], f"waypoint {k + 1}", there=senses.speed if on else 0.0)
