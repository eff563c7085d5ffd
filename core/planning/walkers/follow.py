"""Follow a way with the gait of a person: steer at a point ahead, slow down for turns and for the goal.

The controller of Kuffner, "Autonomous Agents for Real-Time Animation" (1999), section 3.6, for many actors at once:
speed and turning rate are driven by proportional and derivative terms, so both stay continuous whatever happens to the
way. Beside the speed ahead there is a small one to the side, zero unless others must be dodged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from ...maths import trig
from ...maths.ramp import smoothstep, wrap
from ...params import Params, param
from ...skeleton import Array
from .polylines import Ways, at, nearest

BACKWARD = 0.5
"""Fastest step back when dodging [m/s]."""
SIDEWAYS = 0.8
"""Fastest step to the side when dodging [m/s]."""
HASTE = 2.0
"""Acceleration added to what is usual when dodging in earnest [m/s^2]."""
CORNERING = 0.65
"""Speed in a corner of a right angle [m/s]."""
LAST = 3.0
"""Speed per metre from the goal over the last of the way, where one who brakes evenly would stop with a jolt [1/s]."""
LEAST = 0.4
"""Part of the distance from the goal that counts however fast one is."""
TURNING = 1.7
"""Fastest turn of one who stands [rad/s]."""
_SETTLING = 4.74
"""Natural frequency times the 5 % settling time of a critically damped loop."""


@dataclass(frozen=True)
class Steering(Params):
    """How closely and how gently an actor follows its way."""

    settling: float = param(
        0.0,
        lo=0.0,
        hi=10.0,
        unit="s",
        basic=False,
        help="Time in which a turn settles, from which heading and turn gain follow; 0 for the gains themselves",
    )
    heading_gain: float = param(
        5.0, lo=0.1, hi=50.0, unit="1/s", basic=False, help="Turning rate per radian off course"
    )
    turn_gain: float = param(
        20.0, lo=0.1, hi=200.0, unit="1/s", basic=False, help="Acceleration per turning rate that is missing"
    )
    speed_gain: float = param(
        5.0, lo=0.1, hi=50.0, unit="1/s", basic=False, help="Acceleration per speed that is missing"
    )
    goal_gain: float = param(
        1.0, lo=0.1, hi=10.0, unit="1/s", basic=False, help="Speed per metre from the goal, where braking is 0"
    )
    braking: float = param(
        1.0, lo=0.0, hi=20.0, unit="m/s^2", basic=False, help="How hard it brakes before the goal; 0 to use goal gain"
    )
    look_ahead: float = param(0.3, lo=0.05, hi=2.0, unit="s", basic=False, help="How far ahead the way is looked at")
    turn_from: float = param(
        1.0471976, lo=0.1, hi=3.1415, unit="rad", basic=False, help="Further off course than this it turns first"
    )
    creep: float = param(0.1, lo=0.001, hi=1.0, unit="m/s", basic=False, help="Speed while it turns first")
    arrive: float = param(0.05, lo=0.005, hi=1.0, unit="m", basic=False, help="Distance at which it has arrived")


@dataclass(frozen=True)
class FollowParams(Steering):
    """Steering with the limits of a body and of the method."""

    window: float = param(1.5, lo=0.2, hi=10.0, unit="m", basic=False, help="How far ahead the nearest point is sought")
    acceleration: float = param(2.0, lo=0.0, hi=50.0, unit="m/s^2", basic=False, help="Highest acceleration; 0 for any")
    turn_rate: float = param(2.5, lo=0.0, hi=20.0, unit="rad/s", basic=False, help="Fastest turn; 0 for any")
    swing: float = param(15.0, lo=0.0, hi=200.0, unit="rad/s^2", basic=False, help="Fastest change of turn; 0 for any")
    foresight: float = param(
        1.0, lo=0.0, hi=20.0, unit="m/s^2", basic=False, help="How hard it brakes before corners; 0 for not at all"
    )
    step: float = param(1 / 240, lo=1e-4, hi=0.1, unit="s", basic=False, help="Longest step of integration")


FAITHFUL = FollowParams(
    turn_gain=10.0, acceleration=0.0, turn_rate=0.0, swing=0.0, braking=0.0, foresight=0.0, step=1 / 30
)
"""Gains and step of the thesis: its heading loop is slightly under-damped."""


def settled(params: FollowParams) -> FollowParams:
    """The same with the gains that turn without overshoot, to 5 % within the settling time, where there is one."""
    if not params.settling:
        return params
    rate = _SETTLING / params.settling
    return replace(
        params,
        heading_gain=rate / 2.0,
        turn_gain=2.0 * rate,
        speed_gain=max(params.speed_gain, 4.0 * params.goal_gain),
        step=min(params.step, 0.7 / (2.0 * rate)),
    )


@dataclass(frozen=True, eq=False)
class Gains:
    """The numbers of FollowParams for A actors, each (A,), with `speed` [m/s] and `reach`, the look-ahead [m]."""

    speed: Array
    reach: Array
    goal_gain: Array
    heading_gain: Array
    speed_gain: Array
    turn_gain: Array
    turn_from: Array
    creep: Array
    arrive: Array
    window: Array
    acceleration: Array
    turn_rate: Array
    swing: Array
    braking: Array
    foresight: Array


def gains(params: Sequence[FollowParams], speeds: npt.ArrayLike, reach: npt.ArrayLike | None = None) -> Gains:
    """Gains of A actors.

    Args:
        params: One an actor.
        speeds: (A,) cruising speed [m/s].
        reach: (A,) look-ahead [m]; None for what the params say at that speed.
    """
    speed = np.asarray(speeds, dtype=np.float64)
    named = {
        f.name: np.array([getattr(p, f.name) for p in params]) for f in fields(Gains) if hasattr(FollowParams, f.name)
    }
    for limit in ("acceleration", "turn_rate", "swing"):
        named[limit] = np.where(named[limit] > 0, named[limit], np.inf)
    ahead = np.array([p.look_ahead for p in params]) * speed
    return Gains(speed=speed, reach=np.asarray(ahead if reach is None else reach, dtype=np.float64), **named)


@dataclass(frozen=True, eq=False)
class Movers:
    """Where A actors are and how they move.

    Attributes:
        place: (A, 2) [m].
        heading: (A,) [rad], never wrapped.
        speed, side: (A,) speed ahead and to the left [m/s].
        turning: (A,) turning rate to the left [rad/s].
        along: (A,) way already gone on the current way [m].
    """

    place: Array
    heading: Array
    speed: Array
    side: Array
    turning: Array
    along: Array

    @property
    def velocity(self) -> Array:
        """(A, 2) [m/s]."""
        s, c = np.sin(self.heading), np.cos(self.heading)
        return np.stack([self.speed * s + self.side * c, self.side * s - self.speed * c], axis=-1)


def standing(bases: npt.ArrayLike) -> Movers:
    """Actors at rest at bases (A, 3): x, y [m], heading [rad]."""
    base = np.array(bases, dtype=np.float64).reshape(-1, 3)
    still = np.zeros(len(base))
    return Movers(base[:, :2].copy(), base[:, 2].copy(), still, still, still, still)


@dataclass(frozen=True, eq=False)
class Wish:
    """What the way asks of each actor: `bearing` (A,) [rad], `speed` (A,) [m/s], `arrived` (A,), `along` (A,) [m]."""

    bearing: Array
    speed: Array
    arrived: npt.NDArray[np.bool_]
    along: Array
    free_speed: Array
    """(A,) speed without the rule for turning first [m/s]."""


def wish(movers: Movers, way: Ways, gain: Gains, go: Array | float = 1.0, there: Array | float = 0.0) -> Wish:
    """Look along the ways; `go` (A,) scales the cruising speed, 0 to stand; `there` (A,) is that at the goal [m/s].

    Rules of speed in order of precedence: arrived, turning first, near the goal, cruising.
    """
    along = nearest(way, movers.place, movers.along, gain.window)
    aim = at(way, np.minimum(along + gain.reach, way.total))
    off = aim - movers.place
    left = np.hypot(*(way.goal - movers.place).T)
    arrived = left <= gain.arrive
    far = (off * off).sum(axis=-1) > 1e-12
    bearing = np.where(far, trig.arctan2(off[:, 0], -off[:, 1]), movers.heading)
    cruise = gain.speed * np.asarray(go, dtype=np.float64)
    if gain.foresight.any():
        cruise = np.minimum(cruise, _corner_speed(way, along, gain))
    near = way.total - along < _stopping(cruise - there, gain)
    free = np.where(near, np.minimum(cruise, there + _slowed(left, movers.speed, gain)), cruise)
    free = np.where(arrived, 0.0, free)
    turning = ~arrived & (np.abs(wrap(bearing - movers.heading)) > gain.turn_from)
    return Wish(bearing, np.where(turning, np.minimum(gain.creep, cruise), free), arrived, along, free)


def _stopping(speed: Array, gain: Gains) -> Array:
    """(A,) way over which `speed` (A,) [m/s] is lost before a goal [m]."""
    brakes = gain.braking > 0
    hard = np.maximum(speed * speed / np.where(brakes, 2.0 * gain.braking, 1.0), speed / LAST)
    out: Array = np.where(brakes, hard, speed / gain.goal_gain)
    return out


def _slowed(left: Array, speed: Array, gain: Gains) -> Array:
    """(A,) speed to have now at a distance `left` (A,) [m] from a goal to stand at, going at `speed` (A,) [m/s]."""
    # the speed lags behind what is asked for, and meanwhile one comes nearer
    soon = np.maximum(left - np.maximum(speed, 0.0) / gain.speed_gain, LEAST * left)
    hard = np.minimum(np.sqrt(2.0 * gain.braking * soon), LAST * soon)
    out: Array = np.where(gain.braking > 0, hard, gain.goal_gain * left)
    return out


def _corner_speed(way: Ways, along: Array, gain: Gains) -> Array:
    """(A,) speed from which one can still slow down for the corners ahead [m/s]."""
    corner = CORNERING + (gain.speed[:, None] - CORNERING) * (1.0 - way.bends) ** 2
    slow = (way.bends > 0.05) & (gain.foresight[:, None] > 0) & (corner < gain.speed[:, None])
    off = way.lengths - along[:, None]
    room = np.maximum(off - 0.5 * gain.reach[:, None], 0.0)
    square = corner * corner + 2.0 * gain.foresight[:, None] * room
    out: Array = np.sqrt(np.where(slow & (off > -0.3), square, np.inf).min(axis=1))
    return out


def advance(
    movers: Movers,
    way: Ways,
    gain: Gains,
    dt: float,
    longest: float = 1 / 240,
    go: Array | float = 1.0,
    dodge: Array | None = None,
    final: Array | None = None,
    there: Array | float = 0.0,
) -> Movers:
    """Move all actors along their ways for a time.

    Args:
        movers: As they are now.
        way: Their ways.
        gain: Their gains.
        dt: Time to pass [s]; cut into equal steps of at most `longest`, integrated by Euler's rule.
        longest: [s]
        go: (A,) share of the cruising speed; 0 comes to a stand.
        dodge: (A, 2) velocity to add to what the way asks [m/s].
        final: (A,) heading to take when arrived or standing [rad]; NaN for any.
        there: (A,) speed at the goal [m/s], for those whose goal moves away.

    Returns:
        The movers after `dt`. Without `dodge` they move straight ahead only.
    """
    count = max(1, int(np.ceil(dt / longest - 1e-9)))
    h = dt / count
    place, heading = movers.place, movers.heading
    speed, side, turning, along = movers.speed, movers.side, movers.turning, movers.along
    still = np.zeros(len(heading))
    weight, dodges = still, bool(side.any())
    if dodge is not None:
        effort = np.hypot(dodge[:, 0], dodge[:, 1])
        weight = smoothstep(np.minimum(effort / 0.15, 1.0))
        dodges = dodges or bool(effort.any())
    limit = gain.acceleration + HASTE * weight
    halted = np.asarray(go) <= 0.0
    turns = still if final is None else np.where(np.isnan(final), 0.0, gain.heading_gain)
    target = still if final is None else np.where(np.isnan(final), 0.0, final)
    calm = np.minimum(gain.turn_rate, TURNING)
    for _ in range(count):
        want = wish(Movers(place, heading, speed, side, turning, along), way, gain, go, there)
        bearing, ahead, across = want.bearing, want.speed, still
        sin, cos = np.sin(heading), np.cos(heading)
        if dodge is not None and dodges:
            bearing, ahead, across = _dodged(want, sin, cos, dodge, weight, gain)
        idle = want.arrived | halted
        rate = _within(gain.heading_gain * wrap(bearing - heading), gain.turn_rate)
        if idle.any():
            rate = np.where(idle, _within(turns * wrap(target - heading), calm), rate)
        push = _within(gain.speed_gain * (ahead - speed), limit)
        swing = _within(gain.turn_gain * (rate - turning), gain.swing)
        place = place + h * np.stack([speed * sin + side * cos, side * sin - speed * cos], axis=-1)
        if dodges:
            side = side + h * _within(gain.speed_gain * (across - side), limit)
        heading = heading + h * turning
        speed, turning, along = speed + h * push, turning + h * swing, want.along
    # what is left of a dodge fades without end; below a tenth of a millimetre a second it is none
    side = np.where(np.abs(side) < 1e-4, 0.0, side)
    return Movers(place, heading, speed, side, turning, along)


def _within(x: Array, limit: Array) -> Array:
    """`x` no greater than a limit on either side."""
    out: Array = np.minimum(np.maximum(x, -limit), limit)
    return out


def _dodged(want: Wish, sin: Array, cos: Array, dodge: Array, weight: Array, gain: Gains) -> tuple[Array, Array, Array]:
    """Bearing (A,), speed ahead (A,) and to the left (A,) when what the way asks is changed by `dodge` (A, 2)."""
    x = want.free_speed * np.sin(want.bearing) + dodge[:, 0]
    y = -want.free_speed * np.cos(want.bearing) + dodge[:, 1]
    pace = np.hypot(x, y)
    course = np.arctan2(x, -y)
    # who barely moves, or steps back, keeps facing where it is going
    turn = 0.6 * weight * smoothstep(np.minimum(np.maximum((pace - 0.25) / 0.4, 0.0), 1.0))
    off = wrap(course - want.bearing)
    bearing = want.bearing + np.where(np.abs(off) > 1.9, 0.0, turn) * off
    ahead = np.minimum(np.maximum(x * sin - y * cos, -BACKWARD), 1.25 * gain.speed)
    across = np.minimum(np.maximum(x * cos + y * sin, -SIDEWAYS), SIDEWAYS)
    return bearing, want.speed + weight * (ahead - want.speed), weight * across
