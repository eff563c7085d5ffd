"""Where the pelvis of a runner is at strike and toe-off, and how high it flies between them.

Bruderlin, Calvert, "Knowledge-driven, interactive animation of human running" (1996), section 3.2. The pelvis at the
strike follows from the landing leg, that at toe-off from the length of the leg that pushes off and from the flight:
its time is given and its height follows, or the other way round. Where no such stride exists the nearest is taken, and
a warning says so. Places are forward of the heel of the flat foot and above the ground.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .physique import GRAVITY
from .runner import LEAST_STANCE, Relations, Stride, flight_height, settle
from .runner_body import Lower, hip_offset
from .runner_style import Attributes, Laws

FARTHEST = 0.85
"""How far forward or back a leg may reach, as a part of its length."""
TRIES = 60
"""Bound of every search for a stride that can be run."""
LEAST_RISE = 1e-4
"""Least flight height that a recovery is content with, for a body of 1.8 m [m]."""
FASTEST_RISE = 1.5
"""Fastest that a natural flight begins, for a body of 1.8 m [m/s]."""
LOWEST_LEAVE = 0.06
"""How far below the height of its landing a held flight may begin, for a body of 1.8 m [m]."""


def _hip(half: float, tilt: float, list_: float, yaw: float) -> tuple[float, float, float]:
    forward, left, up = hip_offset(half, tilt, list_, yaw)
    return float(forward), float(left), float(up)


@dataclass(frozen=True)
class State:
    """The frame of a step that begins with the strike of the left foot.

    Attributes:
        stride: With the time of flight that came out.
        attributes: With what a recovery changed.
        tilt: Of the pelvis [rad].
        strike_pitch: Of the foot at the strike [rad].
        reach: Heel ahead of the pelvis at the strike [m].
        landing: Height of the pelvis at the strike [m].
        leaving: Pelvis ahead of the heel at toe-off [m].
        take_off: Height of the pelvis at toe-off [m].
        rise: Height of flight above it [m].
        rising: Upward speed at toe-off [m/s].
        warnings: What could not be had.
    """

    stride: Stride
    attributes: Attributes
    tilt: float
    strike_pitch: float
    reach: float
    landing: float
    leaving: float
    take_off: float
    rise: float
    rising: float
    warnings: tuple[str, ...] = ()


def pose(
    lower: Lower, relations: Relations, laws: Laws, stride: Stride, attributes: Attributes, jump: float = 0.0
) -> State:
    """The state of a stride; with `jump` [m] the height of flight is given and the time of flight follows."""
    return _Poser(lower, relations, laws, stride, attributes).solve(jump)


class _Poser:
    def __init__(self, lower: Lower, relations: Relations, laws: Laws, stride: Stride, attributes: Attributes) -> None:
        self.lower, self.relations, self.laws = lower, relations, laws
        self.stride, self.attributes = stride, attributes
        self.tilt = laws.pelvis_share * attributes.tilt
        self.pitch = attributes.strike_pitch[attributes.toe_strike]
        self.warnings: list[str] = []
        natural = settle(relations, "speed", stride.speed)
        self.reach = attributes.overstride * stride.speed * natural.stance_time
        self._aim()

    def _aim(self) -> None:
        """Offsets of the landing and of the leaving hip and the length from toe to hip at toe-off."""
        a, lower = self.attributes, self.lower
        self.land_hip = _hip(lower.half, self.tilt, -0.8 * a.pelvis_list, -0.2 * a.pelvis_rotation)
        self.leave_hip = _hip(lower.half, self.tilt, 0.0, a.pelvis_rotation)
        over = 0.8 * a.sway - a.width / 2.0
        self.land_aside = over + self.land_hip[1]
        self.leave_aside = over + self.leave_hip[1] - math.sin(a.toe_out) * (lower.ball + lower.toe)
        # a leg on its toes: from the end of the toes to the hip
        sine, cosine = math.sin(a.metatarsal), math.cos(a.metatarsal)
        shin = a.metatarsal - a.plantar
        thigh = shin - a.toe_off_knee
        up = lower.ankle - lower.ball_height
        x = -lower.toe - lower.ball * cosine + up * sine + lower.shin * math.sin(shin) + lower.thigh * math.sin(thigh)
        y = (
            lower.ball_height
            + lower.ball * sine
            + up * cosine
            + lower.shin * math.cos(shin)
            + lower.thigh * math.cos(thigh)
        )
        self.length = math.hypot(x, y)
        turned = math.cos(a.toe_out)
        self.toe = lower.heel + turned * (lower.ball + lower.toe)
        foot_x, foot_y = lower.raised(self.pitch)
        self.ankle = lower.heel + turned * (float(foot_x) - lower.heel), float(foot_y)

    def solve(self, jump: float) -> State:
        self._within_reach()
        flight, landing = self.stride.flight_time, self._landing()
        jumped = self._jump(jump, flight, landing) if jump > 0.0 else None
        if jumped is not None:
            flight, rise = jumped
            self.stride = replace(self.stride, flight_time=flight)
            take_off, rising = self._take_off(flight), math.sqrt(2.0 * GRAVITY * rise)
        else:
            take_off = self._take_off(flight)
            rise, rising = flight_height(flight, take_off, landing)
            least, most = LEAST_RISE * self.relations.size, FASTEST_RISE * math.sqrt(self.relations.size)
            if rising < 0.0 or rise < least:
                take_off, rise, rising = self._soften(flight, landing, least)
            elif rising > most:
                landing = take_off + (most - 0.5 * GRAVITY * flight) * flight
                rise, rising = flight_height(flight, take_off, landing)
                self.warnings.append("the knee bends more at the strike: so short a flight cannot rise to its height")
        return State(
            stride=self.stride,
            attributes=self.attributes,
            tilt=self.tilt,
            strike_pitch=self.pitch,
            reach=self.reach,
            landing=landing,
            leaving=self._leaving(flight),
            take_off=take_off,
            rise=rise,
            rising=rising,
            warnings=tuple(self.warnings),
        )

    def _landing(self) -> float:
        """Height of the pelvis at the strike, from the landing leg up."""
        ahead = self.ankle[0] + self.reach - self.land_hip[0]
        square = self.lower.leg(self.attributes.landing_knee) ** 2
        return self.ankle[1] + math.sqrt(max(square - ahead**2 - self.land_aside**2, 0.1 * square)) - self.land_hip[2]

    def _leaving(self, flight: float) -> float:
        """Pelvis ahead of the heel at toe-off: equation 7."""
        return self.stride.step_length - self.reach - self.stride.speed * flight

    def _take_off(self, flight: float) -> float:
        """Height of the pelvis at toe-off: equation 8, in space."""
        x = self._leaving(flight) + self.leave_hip[0] - self.toe
        square = self.length**2
        return math.sqrt(max(square - x**2 - self.leave_aside**2, 0.1 * square)) - self.leave_hip[2]

    def _within_reach(self) -> None:
        """Bring the foot down nearer or farther, and shorten the step, until both legs reach their footfalls."""
        near = FARTHEST * self.lower.leg(self.attributes.landing_knee) - self.ankle[0] + self.land_hip[0]
        if self.reach > near:
            self.reach = near
            self.warnings.append("the foot comes down nearer to the body: the leg does not reach so far ahead")
        back = FARTHEST * self.length + self.toe - self.leave_hip[0]
        over = self._leaving(self.stride.flight_time) - back
        if over <= 0.0:
            return
        moved = min(over, max(near - self.reach, 0.0))
        self.reach += moved
        if moved > 0.0:
            self.warnings.append(f"the foot comes down {100 * moved:.1f} cm farther ahead: the hind leg is too short")
        if over - moved <= 1e-9:
            return
        wanted = self.stride.step_length
        for _ in range(TRIES):
            over = self._leaving(self.stride.flight_time) - back
            if over <= 1e-6:
                break
            step = self.stride.step_length - 0.7 * over
            cadence = self.stride.speed / step
            flight = self.relations.flight_time(cadence, self.stride.speed)
            self.stride = Stride(self.stride.speed, step, cadence, flight, natural=False)
        self.warnings.append(
            f"the step is {self.stride.step_length:.2f} m instead of {wanted:.2f} m: the legs are too short"
        )

    def _soften(self, flight: float, landing: float, least: float) -> tuple[float, float, float]:
        """Take-off height, rise and speed of a leg that bends until the pelvis need not be pushed down."""
        knee = self.attributes.toe_off_knee
        for tries in range(1, TRIES + 1):
            self.attributes = replace(self.attributes, toe_off_knee=knee + math.radians(0.5 * tries))
            self._aim()
            take_off = self._take_off(flight)
            rise, rising = flight_height(flight, take_off, landing)
            if rising > 0.0 and rise >= least:
                self.warnings.append(
                    f"the knee bends {0.5 * tries:.1f} degrees more at toe-off: so short a flight needs it"
                )
                return take_off, rise, rising
        self.attributes = replace(self.attributes, toe_off_knee=knee)
        self._aim()
        self.warnings.append("the flight begins level: it is too short for the way down to the next strike")
        return landing + 0.5 * GRAVITY * flight**2, 0.0, 0.0

    def _jump(self, jump: float, natural: float, landing: float) -> tuple[float, float] | None:
        """Time of flight [s] whose height is `jump`, the one nearest to the natural time, and the height reached.

        None where every flight would have to be pushed down.
        """

        def excess(time: float) -> float:
            rise, rising = flight_height(time, self._take_off(time), landing)
            return rise - jump if rising > 0.0 else -jump - rising**2

        if abs(excess(natural)) <= 1e-12:
            return natural, jump
        longest = max(self.stride.step_time - LEAST_STANCE, 2e-3)
        times = np.sort(np.append(np.linspace(1e-3, longest, 64), min(max(natural, 1e-3), longest)))
        values = np.array([excess(t) for t in times.tolist()])
        # with the hind leg stretched far back a flight could be of any height, from a pelvis near the ground
        lowest = landing - LOWEST_LEAVE * self.relations.size
        sound = np.array([self._take_off(t) > lowest for t in times.tolist()])
        legal = sound & (values > -jump)
        if not legal.any():
            return None
        crossed = ((values[:-1] < 0.0) != (values[1:] < 0.0)) & sound[:-1] & sound[1:]
        roots = [_root(excess, float(times[k]), float(times[k + 1])) for k in np.flatnonzero(crossed).tolist()]
        if roots:
            return min(roots, key=lambda t: abs(t - natural)), jump
        # between two samples the curve may dip below and come back: the nearest it comes decides
        k = int(np.argmin(np.where(legal, np.abs(values), np.inf)))
        low, high = float(times[max(k - 1, 0)]), float(times[min(k + 1, len(times) - 1)])
        best = _least(lambda t: abs(excess(t)), low, high)
        reached = max(excess(best) + jump, 0.0)
        if abs(reached - jump) > 1e-9:
            made, wanted = 1000 * reached, 1000 * jump
            self.warnings.append(f"the flight is {made:.1f} mm high instead of {wanted:.1f} mm, the nearest there is")
        return best, reached


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """A zero between two places where the function has different signs, by bisection."""
    below = function(low)
    for _ in range(TRIES):
        middle = 0.5 * (low + high)
        value = function(middle)
        if (value > 0.0) == (below > 0.0):
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def _least(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function with one valley between two places is least, by golden section."""
    part = 0.5 * (3.0 - 5.0**0.5)
    for _ in range(TRIES):
        a, b = low + part * (high - low), high - part * (high - low)
        if function(a) < function(b):
            high = b
        else:
            low = a
    return 0.5 * (low + high)
