"""Running: four coupled parameters, the skill of the runner and nineteen attributes.

Bruderlin, Calvert, "Knowledge-driven, interactive animation of human running" (Graphics Interface 1996). `runner` has
the relations of the parameters, `runner_style` the attributes, `runner_pose` the frame of a step, `runner_path` the way
of the pelvis, `runner_phase` the legs and `runner_upper` the rest of the body.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..errors import InvalidParam
from ..params import Params, declared, param
from ..skeleton import Array
from .cycle import ARM, BODY, LEG_SAMPLES, STRIDE_SAMPLES, Cycle
from .physique import Physique
from .runner import FLIGHT_MODELS, MINUTE, PARAMETERS, Relations, Stride, settle
from .runner_body import lower_body
from .runner_path import PATHS
from .runner_phase import Phases, phases
from .runner_pose import State, pose
from .runner_style import LAWS, automatic, bounced, offset
from .runner_swing import CLEARANCE
from .runner_upper import arm_curves, body_curves

SLOWEST = 2.0 / 3.6
"""Slower than this a runner of 1.8 m takes shorter steps, not fewer, and stands at last [m/s]."""
STANDING_KNEE, STANDING_ELBOW, STANDING_CURL = math.radians(9.0), math.radians(15.0), 0.3
"""Flexion of knees, elbows and the fingers' joints in standing [rad]."""
PERSON_LEGS = 0.2, 2.0
"""Legs shorter or longer than these are those of a person at another scale [m]."""
USUAL = 3.3333333
"""Speed of a run when none is told, 12 km/h, in as many digits as a property keeps [m/s]."""
CURL = 0.6
"""Flexion of the fingers' joints [rad]."""

_OFFSETS = {
    "bounciness": "bounciness",
    "lean": "tilt",
    "torso_sway": "torso_sway",
    "arm_swing": "arm_swing",
    "elbow_back": "elbow_min",
    "elbow_front": "elbow_max",
    "shoulder_twist": "counter_rotation",
    "arms_out": "arms_out",
    "hip_twist": "pelvis_rotation",
    "hip_drop": "pelvis_list",
    "body_sway": "sway",
    "overstride": "overstride",
    "stride_width": "width",
    "landing_knee": "landing_knee",
    "toe_off_knee": "toe_off_knee",
    "swing_knee": "swing_knee",
    "thigh_lift": "thigh_lift",
    "toe_out": "toe_out",
}
"""Attribute of the runner that each parameter of style changes."""


def _more(lo: float, hi: float, what: str, unit: str = "rad") -> float:
    """A parameter that is added to the natural value of an attribute."""
    value: float = param(0.0, lo=lo, hi=hi, unit=unit, basic=False, help=f"{what}; added to what is natural")
    return value


@dataclass(frozen=True)
class RunStyle(Params):
    """How somebody runs.

    Of speed, step length and cadence those that are not 0 are held, the others follow as people run; all three must
    agree. The style is added to the natural values, which go with speed and step length, and changes none of the four.
    """

    speed: float = param(USUAL, lo=0.0, hi=12.0, unit="m/s", help="Forward speed; 0 follows from the others")
    level: float = param(0.0, lo=-1.0, hi=1.0, basic=False, help="Skill: longer steps and flights, or shorter ones")
    step_length: float = param(0.0, lo=0.0, hi=6.0, unit="m", help="Held at this; 0 follows as people run")
    cadence: float = param(0.0, lo=0.0, hi=600.0, unit="1/min", help="Steps a minute, held; 0 follows as people run")
    jump: float = param(0.0, lo=0.0, hi=1.0, unit="m", help="Height of the flight, held; 0 follows as people run")
    bounciness: float = _more(-1.0, 1.0, "Bend of the knee under the load", "")
    lean: float = _more(-0.5, 0.6, "Forward tilt of the trunk")
    torso_sway: float = _more(-0.3, 0.3, "Nodding of the trunk with each step")
    arm_swing: float = param(1.0, lo=0.0, hi=3.0, basic=False, help="How far the arms swing, by what is natural")
    elbow_back: float = _more(-1.6, 1.3, "Bend of the elbow behind the body")
    elbow_front: float = _more(-1.8, 0.8, "Bend of the elbow in front of the body")
    shoulder_twist: float = param(1.0, lo=0.0, hi=2.0, basic=False, help="Turn of the shoulders, by what is natural")
    arms_out: float = _more(-0.2, 0.9, "Arms held away from the body")
    hip_twist: float = _more(-0.4, 0.6, "Turn of the pelvis with each step")
    hip_drop: float = _more(-0.2, 0.3, "Drop of the pelvis on the swinging side")
    body_sway: float = _more(-0.1, 0.1, "Shift of the body over the standing foot", "m")
    strike: str = param(
        "heel",
        choices=(("heel", "The heel touches the ground first"), ("toe", "The ball of the foot does")),
        basic=False,
        help="What touches the ground first",
    )
    overstride: float = _more(-0.4, 0.4, "How far ahead the foot comes down, as a part of the way over it", "")
    stride_width: float = _more(-0.2, 0.4, "Between the lines the feet tread", "m")
    landing_knee: float = _more(-0.4, 0.8, "Bend of the knee when the foot comes down")
    toe_off_knee: float = _more(-0.4, 0.9, "Bend of the knee when the foot leaves")
    swing_knee: float = _more(-1.4, 0.9, "Largest bend of the swinging knee: heels up")
    thigh_lift: float = _more(-0.8, 1.0, "Height of the knee in front")
    toe_out: float = _more(-0.4, 0.6, "Feet turned outward")
    calibration: str = param(
        "recorded",
        choices=(
            ("recorded", "Legs as in recorded runs"),
            ("published", "Legs that give the flight heights of the published example: 4 mm at 12 km/h"),
        ),
        basic=False,
        help="Where the natural attributes come from",
    )
    flight_model: str = param(
        "continuous", choices=tuple(FLIGHT_MODELS.items()), basic=False, help="How long a runner is in the air"
    )
    pelvis_path: str = param(
        "smooth",
        choices=((PATHS[0], "No jump of speed at the strike"), (PATHS[1], "One cubic through four points")),
        basic=False,
        help="How the pelvis moves over the foot",
    )
    strict_similarity: bool = param(
        False, basic=False, help="Bodies of all sizes move alike; else small ones take fewer steps than they would"
    )


_STYLE = tuple(p for p in declared(RunStyle) if p.name in _OFFSETS)


class Run:
    """The running gait of one body."""

    name = "run"

    def __init__(self, physique: Physique, params: RunStyle | None = None) -> None:
        params = params or RunStyle()
        self.physique, self.params = physique, params
        self.lower = lower_body(physique)
        strict = params.strict_similarity or not PERSON_LEGS[0] <= physique.leg <= PERSON_LEGS[1]
        self.relations = Relations(physique.height, params.level, params.flight_model, strict)
        self.laws = LAWS[params.calibration]
        self.offsets = {attribute: float(getattr(params, name)) for name, attribute in _OFFSETS.items()}
        self.styled = params.strike == "toe" or any(getattr(params, p.name) != p.default for p in _STYLE)
        self.settled = _settled(self.relations, params)
        self.slowest = SLOWEST * math.sqrt(self.relations.size)
        self.stretch = self.settled.step_length / self.relations.step_length(self.settled.speed)
        self._states: dict[float, State] = {}
        self._cycles: dict[float, Cycle] = {}
        self._shortest: tuple[Array, Array] = np.zeros(1), np.ones(1)

    def cadence(self, speeds: Array) -> Array:
        """Steps a second (T,) at speeds (T,) [m/s]."""
        speeds = np.maximum(np.abs(np.asarray(speeds, dtype=np.float64)), self.slowest)
        wanted = speeds / (self.stretch * self.relations.step_lengths(speeds))
        return np.asarray(wanted / self._reached(speeds))

    def beat(self, speed: float, side: str) -> float:
        """How long the step that begins with a strike of `side` lasts, by the mean: both sides are alike."""
        return 1.0

    def stride(self, speed: float) -> Stride:
        """The stride at a speed [m/s], with what is held."""
        return self.state(speed).stride

    def state(self, speed: float) -> State:
        """The frame of the steps at a speed [m/s]: attributes, heights and flight."""
        key = max(round(abs(float(speed)), 3), self.slowest)
        if key not in self._states:
            self._states[key] = self._pose(key)
        return self._states[key]

    def _pose(self, speed: float) -> State:
        wanted, laws, size = self._wanted(speed), self.laws, self.relations.size
        plain = automatic(laws, self.relations, wanted)
        held = self.params.jump * min(1.0, speed / self.settled.speed)
        state = pose(self.lower, self.relations, laws, wanted, plain, held)
        if self.styled:
            # attributes change no parameter: the flight is as high as that of the natural ones, and may be longer
            style = replace(offset(plain, self.offsets, size), toe_strike=self.params.strike == "toe")
            bent = state.attributes.toe_off_knee - plain.toe_off_knee
            style = replace(style, toe_off_knee=style.toe_off_knee + bent)
            state = pose(self.lower, self.relations, laws, wanted, style, state.rise)
        bounce = bounced(laws, state.rise, self.offsets["bounciness"], size)
        return replace(state, attributes=replace(state.attributes, bounciness=bounce))

    def legs(self, speed: float) -> Phases:
        """The way of the pelvis and the angles of the legs at a speed [m/s]."""
        state = self.state(speed)
        return phases(state, self.laws, self.lower, self.relations.size, self.params.pelvis_path)

    def warnings(self, speed: float) -> tuple[str, ...]:
        """What of the parameters cannot be had at a speed [m/s], and what was done."""
        return self.legs(speed).warnings

    def cycle(self, speed: float, side: str) -> Cycle:
        """The stride at a speed [m/s]; both sides are alike."""
        key = round(abs(float(speed)), 3)
        if key not in self._cycles:
            self._cycles[key] = self._make(key)
        return self._cycles[key]

    def _wanted(self, speed: float) -> Stride:
        """The stride before anything is found to be out of reach."""
        step = self.stretch * self.relations.step_length(speed)
        cadence = speed / step
        return Stride(speed, step, cadence, self.relations.flight_time(cadence, speed), self.settled.natural)

    def _reached(self, speeds: Array) -> Array:
        """Step lengths (T,) by what they should be: below 1 where legs are too short for their steps."""
        top = float(speeds.max(initial=self.slowest))
        known, parts = self._shortest
        if top > known[-1]:
            known, parts = np.linspace(self.slowest, 1.2 * top, 96), np.ones(96)
            for k in range(len(known) - 1, -1, -1):
                reached = self.state(float(known[k])).stride
                parts[k] = reached.step_length / self._wanted(reached.speed).step_length
                if parts[k] == 1.0:
                    break
            self._shortest = known, parts
        return np.interp(speeds, known, parts)

    def _make(self, speed: float) -> Cycle:
        state, leg = self.state(speed), self.legs(speed)
        a, stride = state.attributes, state.stride
        body, start = body_curves(leg, a)
        run = Cycle(
            step_time=stride.step_time,
            stance_time=stride.stance_time,
            step_length=stride.step_length,
            width=a.width,
            toe_out=a.toe_out,
            stance=leg.stance[:, 2:],
            swing=leg.swing,
            body=body,
            arm=arm_curves(leg, self.laws, self.lower, a),
            lead=min(max((self.lower.heel - start) / (stride.speed * stride.stance_time), 0.0), 1.0),
            curl=CURL,
            toe_lift=CLEARANCE * self.relations.size,
        )
        return run if speed >= self.slowest else self._slowed(run, speed / self.slowest)

    def _slowed(self, cycle: Cycle, part: float) -> Cycle:
        """The slowest run made slower: all ways and angles shrink alike, down to standing at 0."""
        lower = self.lower
        body, arm = np.zeros((STRIDE_SAMPLES, len(BODY))), np.zeros((STRIDE_SAMPLES, len(ARM)))
        body[:, BODY.index("height")] = lower.leg(STANDING_KNEE) + lower.ankle
        arm[:, ARM.index("elbow")] = STANDING_ELBOW
        ahead = lower.shin * math.sin(STANDING_KNEE)
        thigh = math.atan2(ahead, lower.thigh + lower.shin * math.cos(STANDING_KNEE))
        swing = np.tile([thigh, STANDING_KNEE, 0.0], (LEG_SAMPLES, 1))
        return replace(
            cycle,
            step_length=part * cycle.step_length,
            stance_time=cycle.step_time + part * (cycle.stance_time - cycle.step_time),
            stance=part * cycle.stance,
            swing=swing + part * (cycle.swing - swing),
            body=body + part * (cycle.body - body),
            arm=arm + part * (cycle.arm - arm),
            lead=0.5 + part * (cycle.lead - 0.5),
            curl=STANDING_CURL + part * (cycle.curl - STANDING_CURL),
        )


def _settled(relations: Relations, params: RunStyle) -> Stride:
    """The stride that the held parameters make."""
    given = {name: getattr(params, name) for name in PARAMETERS}
    given["cadence"] /= MINUTE
    held = {name: value for name, value in given.items() if value > 0.0}
    if not held:
        raise InvalidParam("speed", 0.0, "speed, step_length and cadence are all 0; give one of them")
    if len(held) == 3:
        made = held["step_length"] * held["cadence"]
        if abs(made - held["speed"]) > 1e-3 * made:
            raise InvalidParam(
                "speed",
                params.speed,
                f"step_length {params.step_length:g} m and cadence {params.cadence:g} a minute make {made:.3f} m/s; "
                "set speed, step_length or cadence to 0",
            )
        del held["cadence"]
    moved, *others = held
    return settle(relations, moved, held[moved], {name: held[name] for name in others})
