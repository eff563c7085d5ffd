"""Walking: three coupled parameters, the determinants of gait, and the style an animator gives it.

Step length, cadence and double support by the relations of Bruderlin and Calvert (KLAW, 1989); leg curves from recorded
walks; the height of the pelvis follows from the knees of the legs that bear it, so that it rises over the stance leg
and sinks in double support (Saunders, Inman, Eberhart 1953: rotation, list, knee flexion, foot, ankle, lateral shift).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InvalidParam
from ..maths.ramp import smoothstep
from ..params import Params, param
from ..skeleton import Array
from . import walk_curves, walk_shape
from .cycle import Cycle
from .physique import Physique
from .walk_shape import Pace

PERSON = 0.9
"""Leg length for which speeds and lengths are given [m]."""
PACE = 0.0038
"""Step length over cadence and body height [min]; body height taken as leg / 0.491."""
SLOWEST_CADENCE = 62.0
"""However slow, feet step this often [1/min for a leg of PERSON]."""
HASTE = 0.14
"""Part of its step by which a leg that hurts is sooner relieved by the other one."""
NODE, BLOCK = 0.1, 8
"""Curves are made at speeds this far apart [m/s for a leg of PERSON], so many at once, and mixed in between."""


@dataclass(frozen=True)
class WalkStyle(Params):
    """How somebody walks. Speeds and lengths are those of a person with a leg of 0.9 m and follow the actor's size."""

    speed: float = param(1.4, lo=0.1, hi=2.5, unit="m/s", help="Speed, for a leg of 0.9 m")
    step_length: float = param(0.0, lo=0.0, hi=1.5, unit="m", help="Held at this; 0 follows from the speed")
    cadence: float = param(0.0, lo=0.0, hi=260.0, unit="1/min", help="Steps a minute; 0 follows from the speed")
    bounce: float = param(1.0, lo=0.0, hi=3.0, help="How much the body rises and sinks with each step")
    arm_swing: float = param(1.0, lo=0.0, hi=4.0, basic=False, help="How far the arms swing")
    lean: float = param(0.0, lo=-0.3, hi=0.8, unit="rad", basic=False, help="Lean of the trunk, forward positive")
    heaviness: float = param(0.0, lo=0.0, hi=1.0, basic=False, help="Weight of the body: deep knees, hard landings")
    sneak: float = param(0.0, lo=0.0, hi=1.0, basic=False, help="Crouched, high-kneed and on the toes")
    tiptoe: float = param(0.0, lo=0.0, hi=1.0, basic=False, help="Heels off the ground")
    crouch: float = param(0.0, lo=0.0, hi=1.0, basic=False, help="Bend of the knees all the time")
    stomp: float = param(0.0, lo=0.0, hi=1.0, basic=False, help="Flat feet that come down hard")
    spring: float = param(0.0, lo=0.0, hi=1.0, basic=False, help="Knees give and heels rise early: a bouncing step")
    hang: float = param(0.0, lo=0.0, hi=0.9, basic=False, help="The lifted foot lingers before it comes down")
    hip_sway: float = param(1.0, lo=-1.0, hi=4.0, basic=False, help="List and sideways travel of the hips")
    hip_twist: float = param(1.0, lo=-1.0, hi=4.0, basic=False, help="Turn of the hips with each step")
    torso_twist: float = param(1.0, lo=-1.0, hi=4.0, basic=False, help="Turn of the chest against the hips")
    torso_sway: float = param(0.0, lo=-2.0, hi=3.0, basic=False, help="Lean of the chest over the foot that bears")
    shoulder_roll: float = param(1.0, lo=0.0, hi=4.0, basic=False, help="Swing of the shoulders with the arms")
    stride_width: float = param(0.1, lo=-0.15, hi=0.6, unit="m", basic=False, help="Between the lines the feet tread")
    toe_out: float = param(0.1, lo=-0.4, hi=0.5, unit="rad", basic=False, help="Feet turned outward")
    knee_lift: float = param(0.0, lo=-0.5, hi=1.5, basic=False, help="Knees and feet higher in the swing")
    elbow_bend: float = param(0.0, lo=-0.4, hi=1.8, unit="rad", basic=False, help="Elbows bent further")
    elbow_swing: float = param(1.0, lo=0.0, hi=3.0, basic=False, help="How much the elbows bend with the swing")
    arms_out: float = param(0.0, lo=-0.2, hi=1.2, unit="rad", basic=False, help="Arms held away from the body")
    arms_in: float = param(0.0, lo=-0.8, hi=1.0, unit="rad", basic=False, help="Forearms turned in front of the body")
    arms_back: float = param(0.0, lo=-1.0, hi=0.8, unit="rad", basic=False, help="Arms held behind the body")
    loose_arms: float = param(0.0, lo=0.0, hi=1.0, basic=False, help="Forearms and hands trail behind the swing")
    palms_back: float = param(0.0, lo=-1.0, hi=1.2, unit="rad", basic=False, help="Palms backward, down if elbows bend")
    wrist_bend: float = param(0.0, lo=-1.2, hi=1.2, unit="rad", basic=False, help="Hands bent; negative lifts them")
    shrug: float = param(0.0, lo=-0.15, hi=0.6, unit="rad", basic=False, help="Shoulders raised")
    chest: float = param(0.0, lo=-0.6, hi=0.4, unit="rad", basic=False, help="Chest out; negative slumps")
    head_pitch: float = param(0.0, lo=-0.6, hi=0.9, unit="rad", basic=False, help="Face down; negative is up")
    head_bob: float = param(0.0, lo=0.0, hi=1.0, basic=False, help="How much the head goes with the body; 0 is steady")
    look_about: float = param(0.0, lo=0.0, hi=0.9, unit="rad", basic=False, help="Face turned left and right")
    hand_curl: float = param(0.35, lo=0.0, hi=1.6, unit="rad", basic=False, help="Bend of the fingers' joints")
    limp_left: float = param(0.0, lo=0.0, hi=1.0, basic=False, help="Pain in the left leg")
    limp_right: float = param(0.0, lo=0.0, hi=1.0, basic=False, help="Pain in the right leg")
    wobble: float = param(0.0, lo=0.0, hi=1.0, basic=False, help="Staggering from the line")
    seed: int = param(0, lo=0, hi=99999, basic=False, help="Another number staggers otherwise")


class Walk:
    """The walking gait of one body in one style."""

    name = "walk"

    def __init__(self, body: Physique, style: WalkStyle) -> None:
        self.body, self.style = body, style
        self.size = body.leg / PERSON
        self.rate = float(self._natural(np.array([style.speed * np.sqrt(self.size)]))[0])
        self.hurry = self._locked() / self.rate
        self._cycles: dict[tuple[float, str], Cycle] = {}
        self._blocks: dict[tuple[int, str], tuple[Array, ...]] = {}

    def cadence(self, speeds: Array) -> Array:
        """Steps a second (T,) at speeds (T,) [m/s]."""
        out: Array = self.hurry * self._natural(speeds)
        return out

    def _natural(self, speeds: Array) -> Array:
        """Steps a second (T,) that people take at speeds (T,) [m/s], whatever is locked."""
        height = self.body.leg / 0.491
        # the recorded relation holds for people; bodies of other sizes move alike in their own time
        free = np.sqrt(60.0 * np.abs(speeds) / (PACE * height)) / 60.0 / self.size**0.25
        least = SLOWEST_CADENCE / 60.0 / np.sqrt(self.size)
        # a smooth maximum
        out: Array = (free**6 + least**6) ** (1 / 6)
        return out

    def _locked(self) -> float:
        """Steps a second at the style's own speed, with what is locked."""
        style = self.style
        if style.step_length > 0 and style.cadence > 0:
            wanted = style.speed / style.step_length * 60.0
            if abs(wanted - style.cadence) > 0.01 * wanted:
                raise InvalidParam(
                    "cadence",
                    style.cadence,
                    f"a step of {style.step_length:g} m at {style.speed:g} m/s makes {wanted:.1f} steps a minute; "
                    "set cadence or step_length to 0",
                )
        if style.step_length > 0:
            return style.speed / style.step_length / float(np.sqrt(self.size))
        if style.cadence > 0:
            return style.cadence / 60.0 / float(np.sqrt(self.size))
        slower = 1.0 - 0.12 * style.heaviness
        return self.rate * slower

    def beat(self, speed: float, side: str) -> float:
        """How long the step that begins with a strike of `side` lasts at a speed [m/s], by the mean of both."""
        pain, other = self._pains(side)
        if pain == other:
            return 1.0
        lively = smoothstep(min(max(self.body.froude(speed) / walk_curves.SLOWEST, 0.0), 1.0))
        return float(1.0 - HASTE * lively * (pain - other))

    def cycle(self, speed: float, side: str) -> Cycle:
        """The stride at a speed [m/s], as the step that begins with `side` wants it."""
        key = round(float(speed), 3), side if self.style.limp_left or self.style.limp_right else ""
        if key not in self._cycles:
            self._cycles[key] = self._make(key[0], side)
        return self._cycles[key]

    def _make(self, speed: float, side: str) -> Cycle:
        style = self.style
        pace = self._pace(np.array([speed]), side)
        lively, limp = float(pace.lively[0]), float(pace.limp[0])
        step_time, beat = float(pace.step_time[0]), self.beat(speed, side)
        stance, swing, body, arm = self._curves(speed, side)
        return Cycle(
            step_time=beat * step_time,
            stance_time=beat * 2 * step_time * float(pace.share[0]),
            step_length=beat * speed * step_time,
            width=self.size * style.stride_width,
            toe_out=style.toe_out + 0.2 * limp,
            stance=stance,
            swing=swing,
            body=body,
            arm=arm,
            lead=float(pace.lead[0]),
            curl=style.hand_curl,
            toe_lift=self.size * (0.008 + 0.009 * lively + 0.03 * max(style.knee_lift, 0.0) + 0.03 * style.sneak),
        )

    def _pace(self, speeds: Array, side: str) -> Pace:
        """Times and pains at speeds (S,) [m/s], in a step that begins with `side`."""
        froude = speeds / self.body.speed(1.0)
        lively = smoothstep(froude / walk_curves.SLOWEST)
        limp, other = (lively * pain for pain in self._pains(side))
        step_time = 1.0 / self.cadence(speeds)
        overlap = 2.0 * self._double_support(60.0 / step_time, froude) * (1.0 - 0.5 * limp + 0.2 * other)
        lead = (0.5 - 0.095 * lively) * (1.0 + 0.05 * other)
        return Pace(froude, lively, limp, other, step_time, (1.0 + overlap) / 2, lead, 2 * speeds * step_time)

    def _pains(self, side: str) -> tuple[float, float]:
        """Pain in the leg of a side and in the other one."""
        pains = self.style.limp_left, self.style.limp_right
        return pains if side == "L" else pains[::-1]

    def _curves(self, speed: float, side: str) -> tuple[Array, ...]:
        """The curves of a Cycle at a speed [m/s]: between those at the even speeds next to it, which are kept."""
        at = abs(speed) / (NODE * float(np.sqrt(self.size)))
        block = int(at) // BLOCK
        key = block, side if any(self._pains(side)) else ""
        if key not in self._blocks:
            nodes: Array = NODE * float(np.sqrt(self.size)) * np.arange(block * BLOCK, (block + 1) * BLOCK + 1.0)
            pace = self._pace(nodes, side)
            self._blocks[key] = walk_shape.curves(self.style, self.body, pace, self.size * self.style.stride_width)
        k = int(at) - block * BLOCK
        part = at - int(at)
        return tuple((1.0 - part) * curve[k] + part * curve[k + 1] for curve in self._blocks[key])

    def _double_support(self, cadence: Array, froude: Array) -> Array:
        """(S,) part of a stride that each double support takes, until the ball of the hind foot lifts.

        KLAW counts until the toes have left too, which is a little later, the more so in fast walks.
        """
        person = cadence * float(np.sqrt(self.size))
        sooner = 0.016 + 0.08 * np.maximum(froude - 0.54, 0.0) + np.clip(0.065 * (0.54 - froude), 0.0, 0.005)
        out: Array = np.clip((29.08 - 0.16 * person) / 100.0 - sooner, 0.03, 0.22)
        return out
