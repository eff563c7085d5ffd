"""Where minds meet bodies: what a behaviour engine asks of the bodies, and a stage that moves them as points.

`BodyPort` is the whole border. The engine gives orders with exact times and asks where everyone is; it never asks for
anything that a body draws at random, so one mind may play in several bodies.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

Point = tuple[float, ...]
"""A place: x, y and, where it matters, z [m]."""

TURN_RATE = math.radians(180.0)
CHARACTERS_PER_SECOND = 14.0
NEAR = 0.1
"""Distance at which someone is at a place [m]."""
FACING = math.radians(10.0)
RADIUS = 0.25
"""Of somebody who is in the way of others [m]."""
TAKE, LIFT = 0.5, 0.6
"""Time in which hands go to something or put it down, and in which they lift it or come back without it [s]."""


class BodyPort(Protocol):
    """Orders to bodies and questions about them. Times are seconds of the play; headings radians, 0 faces -Y.

    An order that returns a time says when it will be done, or None when that shows only later: the engine then asks
    `is_done` at every step.
    """

    def start_action(
        self,
        actor: str,
        group: str,
        action: str,
        time: float,
        transition: float | None,
        target: str | Point | None,
    ) -> None:
        """Select an action in its group; to select the group's default action is to stop another."""

    def walk_to(self, actor: str, place: Point, speed: float, time: float, within: float = 0.0) -> float | None:
        """Go to a place, or until it is within a distance [m], at a speed [m/s], from wherever the actor is."""

    def stop(self, actor: str, time: float) -> None:
        """End a walk where the actor is."""

    def turn_to(self, actor: str, place: Point, time: float) -> float | None:
        """Turn the whole body to a place."""

    def look_at(self, actor: str, target: str | Point | None, time: float) -> None:
        """Turn the gaze to someone or a place, or back ahead."""

    def say(self, actor: str, text: str, time: float) -> float | None:
        """Speak."""

    def attach(self, prop: str, actor: str, time: float) -> None:
        """Put a prop into the actor's hand."""

    def release(self, prop: str, actor: str, time: float) -> None:
        """Let a prop go."""

    def contact(self, first: str, second: str, kind: str, start: float, end: float) -> None:
        """Let two bodies touch (a handshake) from `start` to `end`."""

    def position(self, name: str, time: float) -> Point | None:
        """Where an actor or prop is, None if it is not on stage."""

    def place(self, name: str, time: float) -> Point | None:
        """Where someone counts as being: its position, or where it was sent when there was no room just there."""

    def heading(self, name: str, time: float) -> float:
        """Where an actor faces."""

    def phase(self, actor: str, time: float) -> float:
        """The actor's master clock [rad]."""

    def is_done(self, actor: str, channel: str, time: float) -> bool:
        """Whether the last order of a channel (travel, facing, voice) has been carried out."""


def distance(port: BodyPort, first: str, second: str, time: float) -> float:
    """How far apart two are on the ground [m]; infinite when one is not on stage."""
    a, b = port.position(first, time), port.position(second, time)
    return math.inf if a is None or b is None else math.hypot(a[0] - b[0], a[1] - b[1])


def is_facing(port: BodyPort, actor: str, other: str, time: float) -> bool:
    """Whether an actor faces someone within ten degrees."""
    a, b = port.position(actor, time), port.position(other, time)
    if a is None or b is None:
        return False
    turn = heading_to(a, b, port.heading(actor, time)) - port.heading(actor, time)
    return abs(math.remainder(turn, math.tau)) <= FACING


def heading_to(start: Point, end: Point, otherwise: float = 0.0) -> float:
    """The heading from one place to another [rad]."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    return math.atan2(dx, -dy) if math.hypot(dx, dy) > 1e-9 else otherwise


class Leg(NamedTuple):
    """Straight motion from `a` at `start` to `b` at `end`."""

    start: float
    end: float
    a: Point
    b: Point


class KinematicStage:
    """A stage without bodies: actors go straight to their goals at even speed and turn at an even rate.

    Attributes:
        journeys: Per actor, the legs that it walked.
        turns: Per actor, legs of its heading (one coordinate).
        carried: Per prop, from when it was in whose hand; an empty name where it was let go.
        curves: Who is wherever a curve of time says.
        solid: Who is in the way of others, with a radius [m].
    """

    def __init__(self, places: Mapping[str, tuple[float, float, float]]) -> None:
        self.journeys: dict[str, list[Leg]] = {}
        self.turns: dict[str, list[Leg]] = {}
        self.carried: dict[str, list[tuple[float, str]]] = {}
        self.curves: dict[str, Callable[[float], object]] = {}
        self.speech: dict[str, float] = {}
        self.solid: dict[str, float] = {}
        for name, (x, y, heading) in places.items():
            self.put(name, (x, y), heading)

    def put(self, name: str, place: Point, heading: float = 0.0, time: float = 0.0) -> None:
        """Set someone down somewhere."""
        self.journeys.setdefault(name, []).append(Leg(time, time, place, place))
        self.turns.setdefault(name, []).append(Leg(time, time, (heading,), (heading,)))

    def follow(self, name: str, curve: Callable[[float], object]) -> None:
        """Let someone be wherever a curve of time says."""
        self.curves[name] = curve

    def start_action(
        self,
        actor: str,
        group: str,
        action: str,
        time: float,
        transition: float | None,
        target: str | Point | None,
    ) -> None:
        """Nothing to do: there is no body."""

    def walk_to(self, actor: str, place: Point, speed: float, time: float, within: float = 0.0) -> float | None:
        """Straight to the place."""
        start = self.position(actor, time)
        if start is None or speed <= 0.0:
            return time
        apart = math.hypot(place[0] - start[0], place[1] - start[1])
        if within > 0.0:
            u = max(apart - within, 0.0) / apart if apart > 0.0 else 0.0
            place = (start[0] + u * (place[0] - start[0]), start[1] + u * (place[1] - start[1]))
        end = time + math.hypot(place[0] - start[0], place[1] - start[1]) / speed
        _add(self.journeys[actor], Leg(time, end, start, (*place[:2], *start[2:])))
        self._turn(actor, heading_to(start, place, self.heading(actor, time)), time)
        return end

    def stop(self, actor: str, time: float) -> None:
        """Stand where one is."""
        place = self.position(actor, time)
        if place is not None:
            _add(self.journeys[actor], Leg(time, time, place, place))

    def turn_to(self, actor: str, place: Point, time: float) -> float | None:
        """The shorter way round."""
        start = self.position(actor, time)
        return time if start is None else self._turn(actor, heading_to(start, place, self.heading(actor, time)), time)

    def _turn(self, actor: str, heading: float, time: float) -> float:
        now = self.heading(actor, time)
        change = math.remainder(heading - now, math.tau)
        end = time + abs(change) / TURN_RATE
        _add(self.turns[actor], Leg(time, end, (now,), (now + change,)))
        return end

    def look_at(self, actor: str, target: str | Point | None, time: float) -> None:
        """Nothing to do: there are no eyes."""

    def say(self, actor: str, text: str, time: float) -> float | None:
        """As long as the text takes to read aloud."""
        self.speech[actor] = time + max(0.5, len(text) / CHARACTERS_PER_SECOND)
        return self.speech[actor]

    def attach(self, prop: str, actor: str, time: float) -> None:
        """The prop goes where its holder goes."""
        self.carried.setdefault(prop, []).append((time, actor))

    def release(self, prop: str, actor: str, time: float) -> None:
        """The prop stays where its holder let it go."""
        place = self.position(prop, time)
        self.carried.setdefault(prop, []).append((time, ""))
        if place is not None:
            self.put(prop, place, 0.0, time)

    def contact(self, first: str, second: str, kind: str, start: float, end: float) -> None:
        """Nothing to do: there are no hands."""

    def position(self, name: str, time: float) -> Point | None:
        """Along the leg of that time, with its holder, or on its curve."""
        if name in self.curves:
            value = self.curves[name](time)
            return value if isinstance(value, tuple) else None
        holds = self.carried.get(name)
        if holds:
            k = bisect_right(holds, time, key=lambda hold: hold[0])
            if k and holds[k - 1][1]:
                return self.position(holds[k - 1][1], time)
        return _along(self.journeys.get(name), time)

    def place(self, name: str, time: float) -> Point | None:
        """Nobody is ever pushed aside."""
        return self.position(name, time)

    def heading(self, name: str, time: float) -> float:
        """Along the turn of that time."""
        found = _along(self.turns.get(name), time)
        return found[0] if found else 0.0

    def phase(self, actor: str, time: float) -> float:
        """Nobody steps: the clock stands."""
        return 0.0

    def is_done(self, actor: str, channel: str, time: float) -> bool:
        """Whether the last leg, turn or speech is over."""
        legs = {"travel": self.journeys, "facing": self.turns}.get(channel, {}).get(actor)
        return time >= (legs[-1].end if legs else self.speech.get(actor, 0.0))


def _add(legs: list[Leg], leg: Leg) -> None:
    """Begin a leg; the one under way ends where it is."""
    while len(legs) > 1 and legs[-1].start >= leg.start:
        legs.pop()
    legs.append(leg)


def _along(legs: list[Leg] | None, time: float) -> Point | None:
    if not legs:
        return None
    leg = legs[-1]
    if time < leg.start:
        leg = legs[max(bisect_right(legs, time, key=lambda each: each.start) - 1, 0)]
    if time >= leg.end:
        return leg.b
    u = max(time - leg.start, 0.0) / (leg.end - leg.start)
    return tuple(p + u * (q - p) for p, q in zip(leg.a, leg.b, strict=True))
