"""Going straight ahead: from a stand to a stand over a distance, or one stride on the spot that repeats for ever."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..errors import InvalidParam
from ..motion import Event, Motion, Path
from ..params import Params, param
from ..skeleton import Array, Pose, Skeleton
from ..world import World
from .cycle import Gait
from .route import RouteParams, ahead, follow
from .track import AXES
from .travel import TravelParams, travel

ORIGIN = np.zeros(3)
"""The middle of the world, facing -Y."""


@dataclass(frozen=True)
class GoingParams(Params):
    """How far a walk or run goes, and where to."""

    distance: float = param(5.0, lo=0.1, hi=10000.0, unit="m", help="How far it goes")
    in_place: bool = param(False, help="One stride on the spot that loops, instead of a way from stand to stand")
    direction: float = param(
        0.0,
        lo=-3.2,
        hi=3.2,
        unit="rad",
        basic=False,
        help="Where it goes: 0 ahead, a quarter turn to the left, half a turn backward",
    )
    stop: bool = param(True, basic=False, help="Come to a stand at the end; else the last stride is cut")
    pause: float = param(1.2, lo=0.0, hi=60.0, unit="s", basic=False, help="Time it stands at the end")
    acceleration: float = param(1.2, lo=0.1, hi=10.0, unit="m/s^2", basic=False, help="How fast speed is won and lost")


def go(
    skeleton: Skeleton,
    params: TravelParams,
    going: GoingParams,
    gait: Gait,
    speed: float,
    fps: float,
    place: Array,
    start: Pose | None,
    world: World | None,
) -> Motion:
    """Go straight from `place` (3,), x, y [m] and heading [rad], at a speed [m/s], or one stride in place."""
    if going.in_place:
        return loop(skeleton, params, gait, speed, fps, going.direction, place)
    x, y, heading = place
    route = RouteParams(
        acceleration=going.acceleration, corners=0.0, facing=-going.direction, stop=going.stop, pause=going.pause
    )
    way = ahead(x, y, heading + going.direction, going.distance)
    base = follow(way, speed, fps, route)
    return travel(skeleton, base, params, world, start)


def loop(
    skeleton: Skeleton, params: TravelParams, gait: Gait, speed: float, fps: float, direction: float, place: Array
) -> Motion:
    """One stride at a steady speed [m/s] from `place` (3,): a motion that loops.

    Its period is made a whole number of samples, by which the speed changes a little.
    """
    if not speed > 0:
        raise InvalidParam("speed", speed, "must be positive for a stride that loops")
    x, y, heading = place
    period = 2.0 / float(gait.cadence(np.array([speed]))[0])
    count = max(4, round(period * fps))
    rate = count / period
    way = heading + direction
    times = np.arange(8 * count + 1) / rate
    gone = speed * times
    base = np.column_stack([x + gone * np.sin(way), y - gone * np.cos(way), np.full(len(times), heading)])
    steady = travel(skeleton, Path(base, AXES, times), params)
    strike = next(e.time for e in steady.events if e.name == "heel_strike_L" and e.time > 2 * period)
    first = round(strike * rate)
    span = slice(first, first + count)
    assert steady.base is not None
    shift = steady.base[first, :2] - steady.base[0, :2]
    begin, stretch = first / rate, rate / fps
    events = tuple(
        Event((e.time - begin) * stretch, e.name, e.data)
        for e in steady.events
        if begin <= e.time < begin + period - 1e-9
    )
    roots = steady.roots[span] - np.append(shift, 0.0)
    return replace(
        steady,
        fps=fps,
        roots=roots,
        rotations=steady.rotations[span],
        base=steady.base[span] - np.append(shift, 0.0),
        curves={name: values[span] for name, values in steady.curves.items()},
        events=events,
        loop=True,
    )
