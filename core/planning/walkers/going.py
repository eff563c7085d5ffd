"""Going somewhere as features have it: a record of parameters for every behaviour, and the cast made of them.

setup = actor_setup(params, base, skeleton)                  # one actor, told what to do by its parameters
state = begin(world, {"Anna": setup}, common(params, ...), places)
while not over(state, ...): state = step(state, world)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...errors import NoPath
from ...gait.travel import TravelParams
from ...gait.walking import WalkStyle
from ...maths import trig
from ...motion import Path
from ...params import Params, param
from ...skeleton import Array, Pose, Skeleton
from ...world import World
from ..ways.map import MapParams
from .actors import ActorSetup, Behaviour, Mind, NavigateParams, Order, State, Style
from .behaviours import Evade, Follow, Go, Patrol, Pursue, Wander
from .mingle import Hide, Mingle, Queue, Search, Tag
from .sensors import Senses

REST = 0.4
"""Everybody must have stood for this long when a run ends before its time [s]."""
NOTICE = 1.0
"""Time within which everybody has noticed that what it goes by has moved [s]."""
STANDS = 0.05
"""Slower than this is standing [m/s]."""
STILL = 1e-3
"""What moves by less than this stands still [m]."""


@dataclass(frozen=True)
class Going(Behaviour):
    """How an actor goes, whatever for, and how it sees the scene."""

    speed: float = param(1.4, lo=0.1, hi=8.0, unit="m/s", help="Speed when nothing hinders")
    style: str = param("", ref="preset", help="Preset of Walk that says how it walks; empty for Neutral")
    seconds: float = param(10.0, lo=0.1, hi=3600.0, unit="s", help="How long it goes on at most")
    gait: str = param(
        "auto",
        choices=(
            ("auto", "Walk when slow, run when fast"),
            ("walk", "Walk at every speed"),
            ("run", "Run at every speed"),
        ),
        basic=False,
        help="Which gait is used",
    )
    radius: float = param(0.25, lo=0.05, hi=3.0, unit="m", basic=False, help="Radius of the body, for walls and others")
    room: float = param(0.1, lo=0.0, hi=1.0, unit="m", basic=False, help="Distance kept from others beside the radius")
    priority: int = param(0, lo=0, hi=9, basic=False, help="Those with less give way to those with more")
    others: str = param(
        "predict",
        choices=(
            ("predict", "Plan around where others will be"),
            ("current", "Plan around where others are"),
            ("none", "Plan as if alone and dodge when near"),
        ),
        basic=False,
        help="How the ways of others are minded when a way is planned",
    )
    guard: bool = param(True, basic=False, help="Keep to a way instead of going to and fro between two")
    replan: float = param(2.0, lo=0.1, hi=60.0, unit="s", basic=False, help="Time after which a way is looked at again")
    scene: str = param(
        "", ref="collection", basic=False, help="What is walked on and around; empty for all that is shown"
    )
    cell: float = param(
        0.08, lo=0.0, hi=100.0, unit="m", basic=False, help="Side of a cell of the map; 0 is half the radius"
    )
    climb: float = param(0.35, lo=0.0, hi=10.0, unit="m", basic=False, help="Highest step that is taken")
    slope: float = param(0.7, lo=0.01, hi=1.5, unit="rad", basic=False, help="Steepest ground that is walked on")
    headroom: float = param(
        1.9, lo=0.1, hi=100.0, unit="m", basic=False, help="What hangs higher than this is passed under"
    )
    seed: int = param(0, lo=0, hi=2**31 - 1, basic=False, help="Number from which everything random follows")

    needs_target: ClassVar[bool] = False
    """Whether it goes by somebody or something."""
    ends: ClassVar[bool] = False
    """Whether there is an end to it."""

    def done(self, mind: Mind) -> bool:
        """Whether an actor so told has nothing left to do."""
        return False

    def targets(self) -> tuple[str, ...]:
        """Names of the things it goes by."""
        return tuple(n for n in (getattr(self, "target", ""),) if n)


def _seconds(default: float) -> float:
    out: float = param(default, lo=0.1, hi=3600.0, unit="s", help="How long it goes on at most")
    return out


@dataclass(frozen=True)
class GotoParams(Going, Go):
    """Go to a place, a thing or an actor."""

    ends: ClassVar[bool] = True
    place: tuple[float, ...] = param((0.0, 0.0, 0.0), unit="m", basic=False, help="Where to go when no target is named")
    keep: bool = param(True, basic=False, help="Go on when the target moves after one has arrived")
    turn: bool = param(False, basic=False, help="Take a heading at the end")
    facing: float = param(
        0.0, lo=-10.0, hi=10.0, unit="rad", basic=False, help="Heading at the end; 0 faces the front view"
    )
    offset: tuple[float, ...] = param(
        (0.0, 0.0), unit="m", basic=False, help="Where to stand beside the target, as x and y"
    )
    seconds: float = _seconds(60.0)

    def think(self, memory: Any, senses: Senses) -> tuple[Any, Order]:
        """Go there, or to one's own place beside it where that is free."""
        memory, order = super().think(memory, senses)
        if not order.going or not any(self.offset):
            return memory, order
        spot = order.goals[0] + np.array(self.offset)
        free = bool(senses.walkable.clear(order.goals[0], spot))
        return memory, replace(order, goals=spot[None]) if free else order

    def done(self, mind: Mind) -> bool:
        """At the goal."""
        return mind.arrived or bool(mind.memory)


@dataclass(frozen=True)
class FollowParams(Going, Follow):
    """Follow an actor or a thing that moves."""

    needs_target: ClassVar[bool] = True


@dataclass(frozen=True)
class PursueParams(Going, Pursue):
    """Catch an actor or a thing that moves."""

    needs_target: ClassVar[bool] = True
    ends: ClassVar[bool] = True
    rest: bool = param(True, basic=False, help="Stand once it is caught, until it gets away")
    speed: float = param(2.0, lo=0.1, hi=8.0, unit="m/s", help="Speed when nothing hinders")

    def done(self, mind: Mind) -> bool:
        """With the target."""
        return self.rest and mind.memory[0] == "caught"


@dataclass(frozen=True)
class EvadeParams(Going, Evade):
    """Keep away from an actor or a thing that moves."""

    needs_target: ClassVar[bool] = True
    pace: float = param(1.0, lo=0.1, hi=3.0, basic=False, help="Share of its speed while it flees")


@dataclass(frozen=True)
class WanderParams(Going, Wander):
    """Go about without an aim."""

    pause: float = param(0.5, lo=0.0, hi=60.0, unit="s", basic=False, help="Time to stand at each")
    whom: str = param(
        "", help="Names of those who are followed when they pass near, with commas between; empty for nobody"
    )
    near: float = param(2.5, lo=0.3, hi=20.0, unit="m", basic=False, help="How near one must pass to be followed")
    bored: float = param(12.0, lo=0.5, hi=600.0, unit="s", basic=False, help="Time after which one wanders on")

    def begin(self) -> Any:
        """Memory of whichever machine it is."""
        return self._mingling().begin() if self.whom else super().begin()

    def think(self, memory: Any, senses: Senses) -> tuple[Any, Order]:
        """Stroll, and go along with some who pass."""
        return self._mingling().think(memory, senses) if self.whom else super().think(memory, senses)

    def _mingling(self) -> Mingle:
        return Mingle(whom=self.whom, near=self.near, bored=self.bored)


@dataclass(frozen=True)
class PatrolParams(Going, Patrol):
    """Go from waypoint to waypoint."""

    points: str = param("", ref="collection", help="Collection of empties to go through, in the order of their names")
    waypoints: tuple[tuple[float, ...], ...] = param(
        (), columns=("x", "y"), basic=False, help="Places to go through when no collection is named [m]"
    )
    seconds: float = _seconds(20.0)

    def done(self, mind: Mind) -> bool:
        """Past the last waypoint."""
        return bool(mind.memory[0] >= len(self.waypoints))


@dataclass(frozen=True)
class TagParams(Going, Tag):
    """Play tag."""

    alarm: float = param(5.0, lo=0.5, hi=50.0, unit="m", basic=False, help="Distance at which the others flee")
    haste: float = param(1.35, lo=0.5, hi=3.0, basic=False, help="Share of its speed at which whoever is it runs")
    speed: float = param(1.8, lo=0.1, hi=8.0, unit="m/s", help="Speed when nothing hinders")

    def targets(self) -> tuple[str, ...]:
        """Who is it at the beginning takes part, or is nobody."""
        return ()


@dataclass(frozen=True)
class HideParams(Going, Hide):
    """Stay out of the sight of an actor or a thing."""

    needs_target: ClassVar[bool] = True


@dataclass(frozen=True)
class SearchParams(Going, Search):
    """Look everywhere until somebody or something is seen."""

    needs_target: ClassVar[bool] = True
    ends: ClassVar[bool] = True
    approach: float = param(
        1.2, lo=0.1, hi=50.0, unit="m", basic=False, help="Distance at which one stops when it is found"
    )
    seconds: float = _seconds(60.0)

    def done(self, mind: Mind) -> bool:
        """With what was found, or all was seen."""
        return mind.memory[0] == "over" or (mind.memory[0] == "found" and mind.arrived)


@dataclass(frozen=True)
class QueueParams(Going, Queue):
    """Wait in line, be served and leave."""

    needs_target: ClassVar[bool] = True
    ends: ClassVar[bool] = True
    exit: str = param("", ref="object", help="Where to go afterwards; empty for the place")
    leave: tuple[float, ...] = param((0.0, 0.0, 0.0), unit="m", basic=False, help="Where to go when no exit is named")
    spacing: float = param(0.9, lo=0.5, hi=5.0, unit="m", basic=False, help="Distance between two in line")
    style: str = param("", ref="preset", basic=False, help="Preset of Walk that says how it walks; empty for Neutral")
    seconds: float = _seconds(60.0)

    def done(self, mind: Mind) -> bool:
        """Served, and gone."""
        return mind.memory[0] == "leave" and mind.arrived


@dataclass(frozen=True)
class TogetherParams(Params):
    """Let actors do at the same time what each was told."""

    told: str = param("", help='Who does what, as in "Fox pursue, Hare evade"; empty for what each was told last')
    seconds: float = _seconds(10.0)
    seed: int = param(0, lo=0, hi=2**31 - 1, help="Number from which everything random follows")


def gathered(told: Mapping[str, Going], bases: Mapping[str, Array], centres: Mapping[str, Array]) -> dict[str, Going]:
    """The same orders, with a place of its own for each of those who are sent to one and the same.

    Args:
        told: What each is told, by name.
        bases: (3,) where each stands [m].
        centres: (2,) where each is sent, by name; those who are sent nowhere are left out [m].
    """
    out = dict(told)
    groups: dict[tuple[float, float], list[str]] = {}
    for name, centre in centres.items():
        own = told[name]
        if isinstance(own, QueueParams) or (isinstance(own, GotoParams) and not any(own.offset) and own.stop == 0.0):
            groups.setdefault((float(centre[0]), float(centre[1])), []).append(name)
    for middle, names in groups.items():
        if len(names) < 2:
            continue
        # everybody comes to stand on the side it comes from
        off = np.array([bases[n][:2] for n in names]) - middle
        order = [names[k] for k in np.argsort(trig.arctan2(off[:, 1], off[:, 0]), kind="stable")]
        room = 2.0 * max(told[n].radius for n in names) + 0.3
        ring = max(room / 2.0, room * len(names) / (2.0 * np.pi))
        first = float(np.arctan2(*(np.array(bases[order[0]][:2]) - middle)[::-1]))
        for k, name in enumerate(order):
            angle = first + 2.0 * np.pi * k / len(order)
            aside = (ring * float(np.cos(angle)), ring * float(np.sin(angle)))
            own = told[name]
            if isinstance(own, QueueParams):
                out[name] = replace(own, leave=(middle[0] + aside[0], middle[1] + aside[1], 0.0))
            elif isinstance(own, GotoParams):
                out[name] = replace(own, offset=aside)
    return out


def common(told: Sequence[Going], lead: Going, floor: float = 0.0, ceiling: float = 1e5) -> NavigateParams:
    """What holds for a whole cast: speed and radius are the greatest, everything else is as its lead has it.

    Args:
        told: Parameters of everybody.
        lead: Parameters of the one who decides.
        floor: Height of the floor where nothing is ground [m].
        ceiling: Ground above this is another storey's [m].
    """
    return NavigateParams(
        speed=max(t.speed for t in told),
        radius=max(t.radius for t in told),
        seconds=lead.seconds,
        seed=lead.seed,
        others=lead.others,
        room=lead.room,
        replan=lead.replan,
        guard=lead.guard,
        map=MapParams(
            cell=lead.cell,
            step=lead.climb,
            slope=lead.slope,
            z_high=lead.headroom,
            floor=floor,
            ceiling=ceiling,
        ),
    )


def actor_setup(
    params: Going,
    base: Array,
    skeleton: Skeleton,
    everybody: NavigateParams,
    start: Pose | None = None,
    walk: WalkStyle | None = None,
) -> ActorSetup:
    """One actor of a cast.

    Args:
        params: What it is told and how it goes.
        base: (3,) where it stands: x, y [m], heading [rad].
        skeleton: Of the actor.
        everybody: What holds for the whole cast.
        start: Pose at the start; None for the stand of its gait.
        walk: How it walks; None for the preset that its parameters name.
    """
    gait = TravelParams(gait=params.gait, style=params.style)
    if walk is not None:
        gait = replace(gait, walk=walk)
    style = Style(
        pace=max(0.1, params.speed / everybody.speed),
        gait=params.gait,
        manner=params.style,
        priority=params.priority,
        radius=params.radius,
        travel=gait,
    )
    return ActorSetup(base, params, skeleton, style, start)


def over(state: State, told: Mapping[str, Going], still_from: float) -> bool:
    """Whether a run may end: everybody is done and stands, and nothing they go by moves any more.

    Args:
        state: Now.
        told: What each was told, by name.
        still_from: Time from which on the things they go by stand still [s].
    """
    names, movers = state.cast.names, state.movers
    heard = still_from + NOTICE if still_from > 0.0 else 0.0
    if state.clock < heard or not all(
        told[n].done(m) or m.behaviour is not told[n] for n, m in zip(names, state.minds, strict=True)
    ):
        return False
    back = round(REST * state.tick / max(state.clock, 1e-9)) if state.tick else 0
    if state.tick < back or not back:
        return False
    moved = np.abs(state.track[-1][:, :2] - state.track[-1 - back][:, :2]).max()
    return bool(moved < STANDS * REST and np.hypot(movers.speed, movers.side).max() < STANDS)


def still_from(names: Collection[str], world: World, places: Mapping[str, Path]) -> float:
    """Time from which on some named places, actors and bodies stand still [s]."""
    last = 0.0
    for name in names:
        points, times = np.zeros((1, 2)), np.zeros(1)
        if name in places and places[name].times is not None:
            points, times = places[name].points[:, :2], np.asarray(places[name].times)
        elif name in world.actors:
            motion = world.actors[name]
            points, times = (motion.roots if motion.base is None else motion.base)[:, :2], motion.times
        away = np.flatnonzero(np.abs(points - points[-1]).max(axis=1) > STILL)
        if len(away):
            last = max(last, float(times[min(away[-1] + 1, len(times) - 1)]))
    return last


def demand_ways(state: State, still: bool) -> None:
    """Raise NoPath for somebody who has no way to where it was told to go, where nothing moves that might open one.

    Args:
        state: After the first steps.
        still: Whether neither bodies nor goals move.
    """
    if not still or state.chart.movers or len(state.cast.names) > 1:
        return
    for name, mind in zip(state.cast.names, state.minds, strict=True):
        if isinstance(mind.behaviour, Go) and mind.blocked:
            said = [line["why"] for line in state.transcript if line["actor"] == name and line["what"] == "waits"]
            raise NoPath(f"{name} cannot get there: {said[-1] if said else 'there is no way'}")
