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
from . import walk_curves
from .carriage import along
from .cycle import ARM, BODY, LEG_SAMPLES, STRIDE_SAMPLES, Cycle
from .physique import Physique

PERSON = 0.9
"""Leg length for which speeds and lengths are given [m]."""
PACE = 0.0038
"""Step length over cadence and body height [min]; body height taken as leg / 0.491."""
SLOWEST_CADENCE = 62.0
"""However slow, feet step this often [1/min for a leg of PERSON]."""
LIVELY = 1.15
"""How much more the pelvis rises and sinks than the recorded knees alone would have it."""
STAND_KNEE = np.radians(9.0)
TOES = np.radians(27.0)
"""Pitch of the foot on tiptoe [rad]."""
_STRIDE = np.arange(STRIDE_SAMPLES) / STRIDE_SAMPLES


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

    def cycle(self, speed: float, side: str) -> Cycle:
        """The stride at a speed [m/s], as the step that begins with `side` wants it."""
        key = round(float(speed), 3), side if self.style.limp_left or self.style.limp_right else ""
        if key not in self._cycles:
            self._cycles[key] = self._make(key[0], side)
        return self._cycles[key]

    def _make(self, speed: float, side: str) -> Cycle:
        style, body = self.style, self.body
        froude = body.froude(speed)
        step_time = 1.0 / float(self.cadence(np.array([speed]))[0])
        lively = float(smoothstep(np.clip(froude / walk_curves.SLOWEST, 0.0, 1.0)))
        limps = lively * style.limp_left, lively * style.limp_right
        limp, other = limps if side == "L" else limps[::-1]
        overlap = 2.0 * self._double_support(60.0 / step_time, froude)
        stance_time = step_time * (1.0 + overlap * (1.0 - 0.5 * limp + 0.5 * other))
        pitch, knee = self._stance(froude, lively, limp, other)
        swing = self._swing(froude, lively, limp)
        columns = self._body(froude, lively, limp, other)
        lead = (0.5 - 0.095 * lively) * (1.0 - 0.1 * other)
        width = self.size * style.stride_width
        share = stance_time / (2 * step_time)
        height = _pelvis_height(body, columns, pitch, knee, share, lead, speed * 2 * step_time, width)
        mean = height.mean()
        columns["height"] = mean + LIVELY * (height - mean) * style.bounce * (1.0 + 0.4 * style.heaviness)
        return Cycle(
            step_time=step_time,
            stance_time=stance_time,
            step_length=speed * step_time,
            width=width,
            toe_out=style.toe_out + 0.2 * limp,
            stance=pitch[:, None],
            swing=swing,
            body=np.stack([columns[name] for name in BODY], axis=-1),
            arm=self._arm(froude, lively),
            lead=lead,
            curl=style.hand_curl,
            toe_lift=self.size * (0.008 + 0.009 * lively + 0.03 * max(style.knee_lift, 0.0) + 0.03 * style.sneak),
        )

    def _double_support(self, cadence: float, froude: float) -> float:
        """Part of a stride that each double support takes, until the ball of the hind foot lifts.

        KLAW counts until the toes have left too, which is a little later, the more so in fast walks.
        """
        person = cadence * float(np.sqrt(self.size))
        return float(np.clip((29.08 - 0.16 * person) / 100.0 - 0.024 - 0.03 * (froude - 0.45), 0.03, 0.22))

    def _stance(self, froude: float, lively: float, limp: float, other: float) -> tuple[Array, Array]:
        """Pitch of the foot and knee flexion (LEG_SAMPLES,) of the stance [rad], of a leg with a limp or the other."""
        style = self.style
        pitch, knee = walk_curves.stance(froude)
        u = np.linspace(0.0, 1.0, LEG_SAMPLES)
        pitch = lively * pitch
        knee = STAND_KNEE + lively * (knee - STAND_KNEE)
        landing = smoothstep(np.clip((0.5 - u) / 0.5, 0.0, 1.0))
        pitch = pitch * (1.0 - landing * max(style.stomp, 0.8 * style.sneak, min(1.6 * style.tiptoe, 1.0), 0.7 * limp))
        pitch = pitch * (1.0 - 0.45 * limp)
        rise = np.sin(np.pi * np.clip((u - 0.3) / 0.6, 0.0, 1.0)) ** 2
        pitch = pitch - np.radians(16.0) * style.spring * lively * rise
        toes = np.maximum(style.tiptoe, style.sneak * _creep(np.clip(u / 0.45, 0.0, 1.0), lively))
        pitch = (1.0 - 0.55 * toes) * pitch - toes * TOES
        bend = self._bend()
        load = np.radians(14.0) * style.heaviness + np.radians(12.0) * style.spring + np.radians(18.0) * other
        deep = np.sin(np.pi * np.clip(u / 0.6, 0.0, 1.0)) ** 2 * load * lively
        stiff = 1.0 - 0.6 * limp
        return pitch, stiff * (knee - STAND_KNEE) + STAND_KNEE + bend + deep

    def _swing(self, froude: float, lively: float, limp: float) -> Array:
        """(LEG_SAMPLES, 3) thigh, knee and pitch of the swing [rad]."""
        style = self.style
        u = np.linspace(0.0, 1.0, LEG_SAMPLES)
        hump = np.sin(np.pi * u) ** 2
        thigh, knee, pitch = walk_curves.swing(froude)
        lifted = STAND_KNEE / 2 + np.radians(14.0) * hump, STAND_KNEE + np.radians(34.0) * hump, np.radians(-8.0) * hump
        thigh, knee, pitch = (a + lively * (b - a) for a, b in zip(lifted, (thigh, knee, pitch), strict=True))
        lift = style.knee_lift + 0.8 * style.sneak - 0.35 * limp
        thigh = thigh + np.radians(30.0) * lift * np.sin(np.pi * u**0.8) ** 2
        knee = knee + np.radians(18.0) * lift * np.sin(np.pi * u**0.85) ** 2
        bend = self._bend()
        knee = knee + bend * (1.0 - 0.4 * hump)
        thigh = thigh + 0.5 * bend
        toes = np.maximum(style.tiptoe, style.sneak * _creep(1.0 - u, lively))
        pitch = (1.0 - 0.45 * limp) * (1.0 - 0.55 * toes) * pitch - toes * TOES
        linger = u + style.hang * np.sin(2 * np.pi * u) / (2 * np.pi)
        return along(np.stack([thigh, knee, pitch], axis=-1)[None], np.zeros(LEG_SAMPLES, dtype=np.int64), linger)

    def _bend(self) -> float:
        """How much more than usual the knees are bent all the time [rad]."""
        style = self.style
        return float(np.radians(34.0 * style.crouch + 46.0 * style.sneak + 8.0 * style.heaviness + 10.0 * style.stomp))

    def _lean(self) -> float:
        """How far the style bends the trunk forward, against upright [rad]."""
        style = self.style
        return style.lean + float(np.radians(10.0 * style.sneak + 4.0 * style.heaviness))

    def _body(self, froude: float, lively: float, limp: float, other: float) -> dict[str, Array]:
        """Curves of the body over a stride [m, rad] by name; the height is still missing.

        Half a stride later each must be its own mirror image, or steps would not join: what differs between the sides
        lies in the two sides' cycles, and nothing that changes sign may be left of it in standing.
        """
        style, leg = self.style, self.body.leg
        stride = 2 * np.pi * _STRIDE
        fast = float(np.clip(froude, 0.0, 0.8))

        def wave(amplitude: float, peak: float, times: int = 1) -> Array:
            out: Array = amplitude * np.cos(times * (stride - 2 * np.pi * peak))
            return out

        d = np.radians
        sway = lively * (0.05 - 0.035 * fast) * leg * (1 + style.hip_sway) / 2 * (1 + 0.5 * style.heaviness)
        hips = lively * style.hip_sway
        still = np.zeros(STRIDE_SAMPLES)
        stoop = self._lean()
        lean = stoop + d(3.0) * lively * fast
        loll = lively * style.head_bob
        list_ = wave(d(4.6) * hips, 0.90) + wave(d(1.1) * hips, 0.02, 3)
        yaw = wave(d(2.0 + 6.5 * fast) * lively * style.hip_twist, 0.55)
        counter = wave(d(4.5 + 9.5 * fast) * lively * style.torso_twist, 0.03)
        spared = limp - other
        lurch = wave(d(5.0) * lively * (2.2 * spared + style.torso_sway), 0.3)
        roll = -(list_ + wave(d(1.6) * lively, 0.55)) + lurch
        glance = wave(lively * style.look_about, 0.1) - wave(lively * style.look_about / 6, 0.1, 3)
        tilt = d(-2.0) + d(22.0) * lively * max(fast - 0.3, 0.0) + 0.35 * lean + wave(d(1.4) * lively, 0.48, 2)
        return {
            # who bends forward puts the hips back
            "surge": wave(lively * 0.018 * leg, 0.155 - 0.03 * (fast - 0.45), 2) - 0.08 * leg * np.sin(stoop),
            "sway": wave(sway, 0.36) + wave(0.09 * sway, 0.17, 3),
            "tilt": tilt,
            "list": list_,
            "yaw": yaw,
            "spine_flexion": d(1.0) + 0.65 * lean - style.chest - wave(d(1.2) * lively, 0.48, 2),
            "spine_side": roll,
            "spine_yaw": counter,
            "head_pitch": still + style.head_pitch + loll * wave(d(6.0), 0.35, 2) - d(5.0) * lively * spared,
            "head_roll": loll * wave(d(5.0), 0.1),
            "head_yaw": loll * wave(d(5.0), 0.0) + glance,
        }

    def _arm(self, froude: float, lively: float) -> Array:
        """(STRIDE_SAMPLES, len(ARM)) curves of an arm over the stride of its own side's foot [rad]."""
        style, d = self.style, np.radians
        fast = float(np.clip(froude, 0.0, 0.8))
        swing = lively * style.arm_swing * (0.3 + 1.55 * fast)
        back = np.cos(2 * np.pi * (_STRIDE - 0.51))
        twice = np.cos(4 * np.pi * (_STRIDE - 0.46))
        late = np.cos(2 * np.pi * (_STRIDE - 0.54 - 0.07 * style.loose_arms))
        still = np.zeros(STRIDE_SAMPLES)
        flail = style.elbow_swing * swing * (d(11.0) * (1 + late) + d(1.5) * twice)
        elbow = d(16.0) + d(13.0) * lively * fast + style.elbow_bend + flail
        # arms hang from a trunk that bends forward, and slumped shoulders go with them
        hanging = 0.85 * (self._lean() - style.chest)
        columns = {
            "flexion": d(-1.0) * swing - style.arms_back + hanging + swing * (d(14.5) * back + d(0.8) * twice),
            "abduction": still + style.arms_out + 0.2 * max(hanging, 0.0) + d(2.0) * swing * back,
            "rotation": d(4.0) + style.arms_in + swing * d(7.0) * back,
            "elbow": np.maximum(elbow, d(2.0)),
            "pronation": still + d(8.0) + style.palms_back,
            "wrist": d(4.0) + style.wrist_bend + swing * d(3.0 + 9.0 * style.loose_arms) * late,
            "shrug": still + style.shrug + d(1.0) * style.shoulder_roll * swing * twice,
            "shoulder": style.shoulder_roll * swing * d(3.0) * back - 0.5 * style.chest,
        }
        return np.stack([columns[name] for name in ARM], axis=-1)


def _creep(u: Array, lively: float) -> Array:
    """How far the heel of a sneaking foot is up, at parts u of its lowering; in standing all the time the same."""
    out: Array = 0.2 + 0.6 * lively * (1.0 - smoothstep(u))
    return out


def _pelvis_height(
    body: Physique,
    columns: dict[str, Array],
    pitch: Array,
    knee: Array,
    share: float,
    lead: float,
    stride: float,
    width: float,
) -> Array:
    """(STRIDE_SAMPLES,) height of the root at which the bearing legs have the knee flexion that they should have [m].

    Args:
        pitch, knee: (LEG_SAMPLES,) of the stance [rad].
        share: Part of the stride that a foot is on the ground.
        stride: Length of a stride [m].
    """
    thigh, shin, ankle = (float(np.mean(v)) for v in (body.thigh, body.shin, body.ankle))
    pivots = body.heel.mean(axis=0) * [0, 1, 1], body.ball.mean(axis=0) * [0, 1, 1]
    half = body.hip_width / 2
    heights, weights = [], []
    for foot, sign in ((0.0, 1.0), (0.5, -1.0)):
        phase = (_STRIDE - foot) % 1.0
        u = phase / share
        where = np.zeros(STRIDE_SAMPLES, dtype=np.int64)
        p, k = along(np.stack([pitch, knee], axis=-1)[None], where, np.minimum(u, 1.0)).T
        pivot = np.where((p > 0)[:, None], pivots[0], pivots[1])
        c, s = np.cos(p), np.sin(p)
        ahead = -(pivot[:, 1] - (c * pivot[:, 1] + s * pivot[:, 2]))
        up = ankle + pivot[:, 2] - (c * pivot[:, 2] - s * pivot[:, 1])
        reach = thigh**2 + shin**2 + 2 * thigh * shin * np.cos(k)
        hip = columns["surge"] - sign * half * np.sin(columns["yaw"])
        gap = hip - ((lead * share - phase) * stride + ahead)
        across = columns["sway"] + sign * (half - width / 2)
        room = np.sqrt(np.maximum(reach - gap**2 - across**2, (0.5 * thigh) ** 2))
        heights.append(up + room + sign * half * np.sin(columns["list"]) - float(np.mean(body.hips[:, 2])))
        taken = 1.0 - smoothstep(np.clip((phase - 0.5) / max(share - 0.5, 1e-3), 0.0, 1.0))
        weights.append(np.where(phase < 0.5, smoothstep(np.clip(phase / max(share - 0.5, 1e-3), 0.0, 1.0)), taken))
    total = np.maximum(weights[0] + weights[1], 1e-6)
    raw = (weights[0] * heights[0] + weights[1] * heights[1]) / total
    spectrum = np.fft.rfft(raw)
    spectrum[7:] = 0.0
    return np.fft.irfft(spectrum, STRIDE_SAMPLES)
