"""Footfalls and the intervals between them: what a walk is planned as."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..maths.ramp import smoothstep
from ..skeleton import Array
from .cycle import Cycle

FOREVER = 1e9
"""The time of what never ends [s]."""
TOES_BACKWARD = 0.45
"""How far the foot is pitched in a walk backward, of what it is forward."""
STEPPED = 0.07, 0.15
"""A foot that comes down higher or lower than the other by the first begins to do so on its ball, by the second does so
wholly [leg lengths]."""
BALL_UP, BALL_DOWN = np.radians(4.0), np.radians(24.0)
"""How far its heel is up then [rad]."""


@dataclass(frozen=True, eq=False)
class Footfall:
    """A foot on the ground.

    Attributes:
        side: 0 left, 1 right.
        place: (3,) the ground under the ankle of the flat foot [m].
        turn: (4,) of the sole against a level sole that points to heading 0.
        wanted: (2,) where it would be if the ground and the animator had no say [m].
        strike, off: When it comes down and leaves [s]; -FOREVER and FOREVER for feet that stand.
        cycle: The stride it belongs to.
        gait: Name of its gait.
        number: Counted from the first strike that was planned; -1 for feet that stand or came from before.
        leaving: The stride by which it leaves when that is another one: that of the first step after a stand, or of
            a longer step.
        leaves: When it begins to go over to that stride [s]; -FOREVER to do so all along.
        rise: By how much it is on a step higher than the footfall before it [m]; not on a slope.
    """

    side: int
    place: Array
    turn: Array
    wanted: Array
    strike: float
    off: float
    cycle: Cycle
    gait: str
    number: int = -1
    leaving: Cycle | None = None
    leaves: float = -FOREVER
    rise: float = 0.0


@dataclass(frozen=True)
class Interval:
    """From one strike to the next, or a time of standing: the body goes over from one stride's curves to another's."""

    start: float
    end: float
    side: int
    before: Cycle
    after: Cycle


@dataclass(frozen=True, eq=False)
class Plan:
    """Footfalls in the order of their strikes and the intervals between them, which cover all of the track."""

    falls: tuple[Footfall, ...]
    intervals: tuple[Interval, ...]


@dataclass(frozen=True, eq=False)
class Wishes:
    """What the animator asks of the steps.

    Attributes:
        choose: The gait for a speed [m/s], given the one in use.
        prints: Number of a footfall, counted from the first strike, to its x, y [m] and heading [rad].
        first: Side that steps first, 0 left, 1 right; None for the one that suits.
        final: The two footfalls in which the body comes to stand at the end of the track, left first.
    """

    choose: Callable[[float, str], str]
    prints: Mapping[int, Sequence[float]] = field(default_factory=dict)
    first: int | None = None
    final: Sequence[Footfall] | None = None


def reverse(cycle: Cycle) -> Cycle:
    """The stride walked backward: the same one in reversed time."""
    d = cycle.stance_time / (2 * cycle.step_time)
    return replace(
        cycle,
        step_length=-cycle.step_length,
        lead=1.0 - cycle.lead,
        stance=TOES_BACKWARD * cycle.stance[::-1],
        swing=cycle.swing[::-1] * np.array([1.0, 1.0, TOES_BACKWARD]),
        body=_reversed(cycle.body, d),
        arm=_reversed(cycle.arm, d),
    )


def quickened(cycle: Cycle, rate: float) -> Cycle:
    """The stride in less time, by a rate above 1."""
    if rate == 1.0:
        return cycle
    return replace(cycle, step_time=cycle.step_time / rate, stance_time=cycle.stance_time / rate)


def landing(cycle: Cycle, rise: float) -> Cycle:
    """The stride with a foot that comes down on a step higher or lower by `rise` [leg lengths]: on its ball."""
    part = smoothstep((abs(rise) - STEPPED[0]) / (STEPPED[1] - STEPPED[0]))
    if part == 0.0:
        return cycle
    u = np.linspace(0.0, 1.0, len(cycle.stance))[:, None]
    early = part * smoothstep((0.5 - u) / 0.5)
    first = smoothstep((0.3 - u) / 0.3)
    ball = BALL_UP if rise > 0 else BALL_DOWN
    return replace(cycle, stance=(1.0 - early) * cycle.stance - part * ball * first)


def _reversed(curves: Array, strike: float) -> Array:
    """Periodic curves (M, C) in reversed time, from the moment that becomes the strike."""
    n = len(curves)
    at = (strike * n - np.arange(n)) % n
    k = at.astype(np.int64)
    part = (at - k)[:, None]
    out: Array = (1 - part) * curves[k % n] + part * curves[(k + 1) % n]
    return out
