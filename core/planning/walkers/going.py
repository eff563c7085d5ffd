"""Going somewhere as features have it: a record of parameters for every behaviour."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...params import Params, param
from ..on_foot import OnFoot, seconds_of, speed_of
from .actors import AmongOthers, Behaviour, Mind, Order
from .behaviours import Follow, Go, Patrol, Pursue, Wander
from .fleeing import Evade
from .follow import Steering
from .mingle import Hide, Mingle, Queue, Search, Tag
from .sensors import Senses


@dataclass(frozen=True)
class Going(OnFoot, AmongOthers, Steering, Behaviour):
    """How an actor goes among others, whatever for."""

    priority: int = param(0, lo=0, hi=9, basic=False, help="Those with less give way to those with more")

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
    seconds: float = seconds_of(60.0)

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
    speed: float = speed_of(2.0)

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
    seconds: float = seconds_of(20.0)

    def done(self, mind: Mind) -> bool:
        """Past the last waypoint."""
        return bool(mind.memory[0] >= len(self.waypoints))


@dataclass(frozen=True)
class TagParams(Going, Tag):
    """Play tag."""

    alarm: float = param(5.0, lo=0.5, hi=50.0, unit="m", basic=False, help="Distance at which the others flee")
    haste: float = param(1.35, lo=0.5, hi=3.0, basic=False, help="Share of its speed at which whoever is it runs")
    speed: float = speed_of(1.8)

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
    seconds: float = seconds_of(60.0)

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
    seconds: float = seconds_of(60.0)

    def done(self, mind: Mind) -> bool:
        """Served, and gone."""
        return mind.memory[0] == "leave" and mind.arrived


@dataclass(frozen=True)
class TogetherParams(Params):
    """Let actors do at the same time what each was told."""

    told: str = param("", help='Who does what, as in "Fox pursue, Hare evade"; empty for what each was told last')
    seconds: float = seconds_of(10.0)
    seed: int = param(0, lo=0, hi=2**31 - 1, help="Number from which everything random follows")
