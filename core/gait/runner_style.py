"""The nineteen attributes that make a run personal, their natural values at any stride, and what follows from them.

Bruderlin, Calvert, "Knowledge-driven, interactive animation of human running" (1996), section 3.1.2: a change of the
parameters moves some attributes by linear laws, attributes never move parameters. The numbers of the laws were not
published. PUBLISHED has those that give the flight heights of the paper's example; RECORDED has those that bring the
angles of the legs nearest to recorded runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from ..errors import InvalidParam
from .runner import MINUTE, Relations, Stride

KMH = 3.6
"""Kilometres an hour of one metre a second."""
USUAL_SPEED, USUAL_STEP, USUAL_CADENCE, USUAL_RISE = 12.0, 1.0694, 187.0, 0.004
"""The stride around which the laws are written [km/h, m, steps/min, m]."""

Law = tuple[float, float]
"""Value at the usual stride and its change by one unit of what it depends on."""


@dataclass(frozen=True)
class Attributes:
    """How a run is done [rad, m].

    Attributes:
        arm_swing: Swing of an arm by that of the opposite leg.
        elbow_min, elbow_max: Flexion of the elbow at the ends of its backward and forward swing.
        counter_rotation: Turn of the shoulders against the pelvis by the pelvis's own.
        arms_out: Abduction of the arms.
        tilt: Of the trunk, forward.
        torso_sway: Amplitude of the tilt: forward at mid-support, backward at toe-off.
        pelvis_rotation, pelvis_list: Largest turn and largest drop of the swinging side.
        sway: Largest shift of the body over the standing foot.
        toe_strike: Whether the ball touches first.
        bounciness: Bend of the knee under the load, 0 to 1.
        overstride: How far ahead of the body the heel comes down, as a part of the natural way over the foot.
        width: Between the feet.
        landing_knee, toe_off_knee: Flexion of the knee at strike and toe-off.
        swing_knee: Largest flexion of the knee in the swing.
        thigh_lift: Highest pitch of the thigh, at the other foot's toe-off.
        toe_out: Turn of the feet.
        metatarsal, plantar: Pitch of the foot, heel up, and extension of the ankle in the pose that gives the leg's
            length at toe-off; hidden.
        heel_off: How far the hip is ahead of the ankle when the heel begins to rise, in leg lengths; hidden.
        strike_pitch: Pitch of the foot when heel or ball touch; hidden.
        pointing: Extension of the ankle that is added all through the swing; hidden.
    """

    arm_swing: float
    elbow_min: float
    elbow_max: float
    counter_rotation: float
    arms_out: float
    tilt: float
    torso_sway: float
    pelvis_rotation: float
    pelvis_list: float
    sway: float
    toe_strike: bool
    bounciness: float
    overstride: float
    width: float
    landing_knee: float
    toe_off_knee: float
    swing_knee: float
    thigh_lift: float
    toe_out: float
    metatarsal: float
    plantar: float
    heel_off: float
    strike_pitch: tuple[float, float]
    pointing: float


RANGES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "arm_swing": (0.0, 3.0),
        "elbow_min": (0.0, math.radians(140)),
        "elbow_max": (0.0, math.radians(150)),
        "counter_rotation": (0.0, 2.0),
        "arms_out": (0.0, math.radians(60)),
        "tilt": (math.radians(-20), math.radians(40)),
        "torso_sway": (0.0, math.radians(20)),
        "pelvis_rotation": (0.0, math.radians(40)),
        "pelvis_list": (0.0, math.radians(20)),
        "sway": (0.0, 0.12),
        "bounciness": (0.0, 1.0),
        "overstride": (0.1, 0.6),
        "width": (-0.1, 0.5),
        "landing_knee": (0.0, math.radians(60)),
        "toe_off_knee": (0.0, math.radians(70)),
        "swing_knee": (math.radians(20), math.radians(150)),
        "thigh_lift": (math.radians(5), math.radians(100)),
        "toe_out": (math.radians(-20), math.radians(40)),
    }
)
"""Lowest and highest value of each attribute; lengths are those of a body of 1.8 m."""
FACTORS = ("arm_swing", "counter_rotation")
"""Attributes whose offsets are factors."""
_LENGTHS = ("sway", "width")


@dataclass(frozen=True)
class Laws:
    """Natural attributes and hidden ones [degrees, m]; a Law depends on what its comment says.

    Attributes:
        hind: Part of the way from toe-off to mid-support that the hind thigh and knee have done when the other foot
            strikes.
        mid_thigh: Pitch of the swinging thigh at mid-support.
        lag: Way of the pelvis until mid-support by half of the way of the stance.
        dip: Drop of the pelvis at mid-support below its lower end of the stance, at no bounciness [m].
        flat: Part of the stance after which the foot is flat.
        ankles: Flexion of the ankle in the swing when the other foot strikes, at its mid-support and at its toe-off.
        pelvis_share: Part of the trunk's tilt that the pelvis has.
        arm_rest: Flexion about which the arms swing.
        arm_turn: Inward turn of the arms, and how much more of it in front and less behind.
    """

    arm_swing: float = 1.0
    elbow_min: float = 70.0
    elbow_max: Law = (100.0, 1.0)  # speed, only faster than usual
    counter_rotation: float = 1.0
    arms_out: float = 12.0
    tilt: Law = (5.0, 0.25)  # speed
    torso_sway: float = 3.0
    pelvis_rotation: Law = (10.4164, 6.0)  # step
    pelvis_list: float = 5.0
    sway: Law = (0.2, -0.0004)  # cadence, by the width
    bounciness: Law = (0.5, 5.0)  # flight height
    overstride: Law = (0.3855, -0.006)  # speed
    width: Law = (0.10, -0.0005)  # cadence
    landing_knee: Law = (14.9, 0.0)  # speed
    toe_off_knee: Law = (20.0, -30.0)  # step
    swing_knee: Law = (95.0, 2.5)  # speed
    thigh_lift: Law = (38.0, 1.5)  # speed
    toe_out: float = 5.0
    metatarsal: Law = (30.0, 14.0)  # step
    plantar: Law = (15.0, 12.0)  # step
    strike_pitch: tuple[Law, Law] = ((15.0, 0.0), (-10.0, 0.0))  # speed
    pointing: Law = (0.0, 0.0)  # speed
    hind: tuple[float, float] = (0.75, 0.75)
    mid_thigh: float = 0.0
    lag: float = 0.8
    dip: float = 0.02
    flat: float = 0.35
    heel_off: Law = (0.0, 0.0)  # speed
    ankles: tuple[float, float, float] = (-15.0, 0.0, 5.0)
    pelvis_share: float = 0.3
    arm_rest: float = 0.0
    arm_turn: tuple[float, float] = (0.0, 0.0)


PUBLISHED = Laws()
RECORDED = Laws(
    arm_swing=0.8,
    elbow_min=80.0,
    elbow_max=(108.0, 1.0),
    counter_rotation=1.2,
    arms_out=6.0,
    tilt=(7.0, 0.3),
    pelvis_rotation=(7.0, 4.0),
    pelvis_list=4.0,
    overstride=(0.297, -0.0001),
    width=(0.05, -0.0003),
    landing_knee=(28.5, 0.6),
    toe_off_knee=(14.0, -22.0),
    swing_knee=(105.5, 1.0),
    thigh_lift=(47.5, 0.9),
    metatarsal=(50.0, 0.0),
    plantar=(16.0, 3.0),
    strike_pitch=((10.5, -1.6), (-10.0, 0.0)),
    pointing=(5.2, 2.3),
    hind=(0.165, 0.62),
    mid_thigh=32.0,
    lag=0.95,
    dip=-0.006,
    flat=0.32,
    heel_off=(0.043, 0.015),
    ankles=(-17.5, -5.0, 3.0),
    arm_rest=-20.0,
    arm_turn=(10.0, 10.0),
)
LAWS: Mapping[str, Laws] = MappingProxyType({"recorded": RECORDED, "published": PUBLISHED})


def automatic(laws: Laws, relations: Relations, stride: Stride, rise: float = USUAL_RISE) -> Attributes:
    """The natural attributes of a stride with a flight height `rise` [m].

    Only the bounciness goes with the height, which itself goes with the others: see `bounced`. Bodies of other sizes
    have the attributes of the stride of a body of 1.8 m that moves alike.
    """
    size, root = relations.size, math.sqrt(relations.size)
    speed = stride.speed * KMH / root - USUAL_SPEED
    step = stride.step_length / size - USUAL_STEP
    cadence = stride.cadence * MINUTE * root - USUAL_CADENCE
    width = _at(laws.width, cadence)
    degrees = {
        "elbow_min": laws.elbow_min,
        "elbow_max": _at(laws.elbow_max, max(speed, 0.0)),
        "arms_out": laws.arms_out,
        "tilt": _at(laws.tilt, speed),
        "torso_sway": laws.torso_sway,
        "pelvis_rotation": _at(laws.pelvis_rotation, step),
        "pelvis_list": laws.pelvis_list,
        "landing_knee": max(_at(laws.landing_knee, speed), 0.0),
        "toe_off_knee": min(max(_at(laws.toe_off_knee, step), 5.0), 50.0),
        "swing_knee": _at(laws.swing_knee, speed),
        "thigh_lift": _at(laws.thigh_lift, speed),
        "toe_out": laws.toe_out,
        "metatarsal": min(max(_at(laws.metatarsal, step), 15.0), 50.0),
        "plantar": min(max(_at(laws.plantar, step), 0.0), 30.0),
        "pointing": min(max(_at(laws.pointing, speed), 0.0), 12.0),
    }
    return bounded(
        Attributes(
            arm_swing=laws.arm_swing,
            counter_rotation=laws.counter_rotation,
            sway=width * _at(laws.sway, cadence) * size,
            toe_strike=False,
            bounciness=bounced(laws, rise, 0.0, size),
            overstride=_at(laws.overstride, speed),
            width=width * size,
            heel_off=_at(laws.heel_off, speed),
            strike_pitch=_strike_pitch(laws, speed),
            **{name: math.radians(value) for name, value in degrees.items()},
        ),
        size,
    )


def offset(attributes: Attributes, offsets: Mapping[str, float], size: float = 1.0) -> Attributes:
    """Attributes with the user's offsets added, within their ranges; `arm_swing` and `counter_rotation` are factors."""
    unknown = [name for name in offsets if name not in RANGES]
    if unknown:
        raise InvalidParam("attribute", unknown[0], f"must be one of {', '.join(RANGES)}")
    moved = {
        name: getattr(attributes, name) * change if name in FACTORS else getattr(attributes, name) + change
        for name, change in offsets.items()
    }
    return bounded(replace(attributes, **moved), size)


def bounced(laws: Laws, rise: float, more: float = 0.0, size: float = 1.0) -> float:
    """The bounciness that goes with a flight height `rise` [m], and `more`."""
    low, high = RANGES["bounciness"]
    natural = min(max(_at(laws.bounciness, rise / size - USUAL_RISE), low), high)
    return min(max(natural + more, low), high)


def bounded(attributes: Attributes, size: float = 1.0) -> Attributes:
    """Attributes within their ranges for a body of `size` times 1.8 m."""
    values = {}
    for name, (low, high) in RANGES.items():
        scale = size if name in _LENGTHS else 1.0
        values[name] = min(max(getattr(attributes, name), low * scale), high * scale)
    return replace(attributes, **values)


def _strike_pitch(laws: Laws, speed: float) -> tuple[float, float]:
    heel, ball = (_at(law, speed) for law in laws.strike_pitch)
    return math.radians(min(max(heel, 4.0), 20.0)), math.radians(min(max(ball, -20.0), -4.0))


def _at(law: Law, change: float) -> float:
    return law[0] + law[1] * change
