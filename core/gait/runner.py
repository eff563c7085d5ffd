"""How speed, step length, cadence, time of flight and height of flight of a runner depend on each other.

Bruderlin, Calvert, "Knowledge-driven, interactive animation of human running" (Graphics Interface 1996): equations 1 to
6 and the rules by which a change of one parameter moves the others. The regressions are in metres and steps a minute
for a body of 1.8 m; everything here is in metres, seconds and steps a second.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from ..errors import InvalidParam
from ..skeleton import Array
from .physique import GRAVITY

MINUTE = 60.0
STATURE = 1.8
"""Height of the body whose running was measured [m]."""
TOP_SPEED = 400.0 / MINUTE
"""Above this speed a runner of that height takes no longer steps, only more of them [m/s]."""
LEAST_STANCE = 0.04
"""[s]"""
PARAMETERS = ("speed", "step_length", "cadence")

FLIGHT_MODELS: Mapping[str, str] = MappingProxyType(
    {
        "continuous": "Measured flight times; the two regressions meet, by a digit more in the cubic one",
        "digit": "Measured flight times; the two regressions nearly meet, by one other digit in the quadratic one",
        "printed": "Measured flight times as printed: they jump by 31 ms at 180 steps a minute",
        "literature": "Contact times of joggers: longer on the ground at low speed",
    }
)
_LINEAR = {"continuous": 0.13082558, "digit": 0.131, "printed": 0.131}
_SQUARE = {"continuous": 0.542e-5, "digit": 0.642e-5, "printed": 0.542e-5}


@dataclass(frozen=True)
class Relations:
    """What the parameters of a runner have to do with each other.

    Attributes:
        height: Of the body [m].
        level: Skill, from -1 (poor) to 1 (skilled): longer steps and flights.
        flight: One of FLIGHT_MODELS.
        strict: Whether bodies of all sizes move alike, times going by the square root of their height; else only the
            slope of the step length goes by it, as published.
    """

    height: float = STATURE
    level: float = 0.0
    flight: str = "continuous"
    strict: bool = False

    def __post_init__(self) -> None:
        if self.flight not in FLIGHT_MODELS:
            raise InvalidParam("flight_model", self.flight, f"must be one of {', '.join(FLIGHT_MODELS)}")
        if not self.height > 0:
            raise InvalidParam("height", self.height, "must be positive")

    @property
    def size(self) -> float:
        """Height of the body as a multiple of the measured one."""
        return self.height / STATURE

    @property
    def intercept(self) -> float:
        """Step length at which the regression begins [m]."""
        return 0.1394 * (self.size if self.strict else 1.0)

    @property
    def slope(self) -> float:
        """Growth of the step length with speed [s]."""
        return (0.00465 + 0.001 * self.level) * MINUTE * math.sqrt(self.size)

    @property
    def top_speed(self) -> float:
        """Speed above which the step length stays [m/s], at the same Froude number for all bodies."""
        return TOP_SPEED * math.sqrt(self.size)

    @property
    def top_step(self) -> float:
        """The longest natural step [m]."""
        return self.intercept + self.slope * self.top_speed

    def step_length(self, speed: float) -> float:
        """Natural step length [m] at a speed [m/s]: equation 2."""
        return self.intercept + self.slope * min(speed, self.top_speed)

    def step_lengths(self, speeds: Array) -> Array:
        """Natural step lengths (...) [m] at speeds (...) [m/s]."""
        return np.asarray(self.intercept + self.slope * np.minimum(speeds, self.top_speed))

    def flight_time(self, cadence: float, speed: float) -> float:
        """Natural time of flight [s] at a cadence [steps/s]: equations 4 and 5, never negative.

        `speed` [m/s] matters to the literature model only.
        """
        scale = math.sqrt(self.size) if self.strict else 1.0
        step_time = 1.0 / cadence if cadence > 0.0 else math.inf
        n = min(cadence * scale * MINUTE, 230.0)
        if self.flight == "literature":
            # our fit to published contact times
            flight = step_time / scale - 0.245 * (max(speed, 1e-3) / (scale * 3.33)) ** -0.73
        elif n < 180.0:
            flight = -0.675e-3 + n * (-0.15e-3 + n * _SQUARE[self.flight])
        else:
            flight = -8.925 + n * (_LINEAR[self.flight] + n * (-0.623e-3 + n * 0.979e-6))
        flight = scale * (flight + 0.0001 * self.level * n)
        return float(max(min(flight, step_time - LEAST_STANCE), 0.0))


@dataclass(frozen=True)
class Stride:
    """The parameters of a steady run.

    Attributes:
        speed: [m/s].
        step_length: [m].
        cadence: [steps/s].
        flight_time: From a foot's toe-off to the other's strike [s].
        natural: Whether the step is one that the measured runners take.
    """

    speed: float
    step_length: float
    cadence: float
    flight_time: float
    natural: bool = True

    @property
    def step_time(self) -> float:
        """From one foot's strike to the other's [s]."""
        return 1.0 / self.cadence

    @property
    def stance_time(self) -> float:
        """From a foot's strike to its toe-off [s]."""
        return self.step_time - self.flight_time

    @property
    def swing_time(self) -> float:
        """From a foot's toe-off to its next strike [s]."""
        return self.step_time + self.flight_time

    @property
    def duty(self) -> float:
        """Part of the stride that a foot is on the ground."""
        return self.stance_time / (2.0 * self.step_time)


def settle(
    relations: Relations, moved: str, value: float, locked: Mapping[str, float] = MappingProxyType({})
) -> Stride:
    """The stride after one parameter has been moved, the others following.

    Args:
        relations: Of the body.
        moved: One of PARAMETERS.
        value: Where it was moved [m/s, m, steps/s].
        locked: Values of parameters that must stay. One makes an unnatural stride; two leave nothing to move.

    Raises:
        InvalidParam: Nothing can be moved, or no natural stride has this value.
    """
    for name in (moved, *locked):
        if name not in PARAMETERS:
            raise InvalidParam("parameter", name, f"must be one of {', '.join(PARAMETERS)}")
    held = {name: fixed for name, fixed in locked.items() if name != moved}
    if len(held) > 1:
        raise InvalidParam(
            moved, value, f"is fixed by {' and '.join(held)}, which are locked; unlock one of them (set it to 0)"
        )
    for name, given in ((moved, value), *held.items()):
        if not (math.isfinite(given) and given > 0):
            raise InvalidParam(name, given, "must be positive")
    natural = True
    if held:
        known = {moved: value, **held}
        speed = known["speed"] if "speed" in known else known["step_length"] * known["cadence"]
        step = known["step_length"] if "step_length" in known else speed / known["cadence"]
    elif moved == "speed":
        speed, step = value, relations.step_length(value)
    elif moved == "step_length":
        speed, natural = _speed_of_step(relations, value)
        step = value
    else:
        speed = _speed_of_cadence(relations, value)
        step = speed / value
    cadence = value if moved == "cadence" else held.get("cadence", speed / step)
    return Stride(speed, step, cadence, relations.flight_time(cadence, speed), natural)


def _speed_of_step(relations: Relations, step: float) -> tuple[float, bool]:
    """Speed at which a step is natural, and whether there is one: longer steps are taken at the top speed."""
    if step > relations.top_step * (1 + 1e-12):
        return relations.top_speed, False
    if not step > relations.intercept:
        raise InvalidParam(
            "step_length",
            step,
            f"no run has steps this short: more than {relations.intercept:.3f} m, or lock the speed",
        )
    return (step - relations.intercept) / relations.slope, True


def _speed_of_cadence(relations: Relations, cadence: float) -> float:
    """Speed at which a cadence [steps/s] is natural [m/s]."""
    if cadence * relations.top_step <= relations.top_speed:
        return relations.intercept * cadence / (1.0 - relations.slope * cadence)
    return relations.top_step * cadence


def flight_height(flight_time: float, take_off: float, landing: float, gravity: float = GRAVITY) -> tuple[float, float]:
    """How high the pelvis rises after toe-off [m], and its upward speed there [m/s]: equation 3.

    The speed is negative where so long a way down in so short a time needs a push downward.

    Args:
        flight_time: [s].
        take_off: Height of the pelvis at toe-off [m].
        landing: Its height at the following strike [m].
        gravity: [m/s^2].
    """
    span = flight_time - 2.0 * (take_off - landing) / (gravity * max(flight_time, 1e-9))
    return span * span * gravity / 8.0, 0.5 * gravity * span
