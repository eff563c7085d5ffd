"""What a runner's trunk and arms do over a stride, while the head keeps facing ahead.

Bruderlin, Calvert, "Knowledge-driven, interactive animation of human running" (1996), section 3.3.3.
"""

from __future__ import annotations

import math

import numpy as np

from ..maths import trig
from ..skeleton import Array
from .cycle import ARM, BODY, LEG_SAMPLES, STRIDE_SAMPLES
from .runner_body import Lower
from .runner_phase import Phases
from .runner_style import Attributes, Laws

PHASE = np.arange(STRIDE_SAMPLES) / STRIDE_SAMPLES
_UNIT = np.linspace(0.0, 1.0, LEG_SAMPLES)
HARMONICS = 3
"""Multiples of the stride's frequency that an arm follows its leg with."""
GIRDLE = 0.12
"""Part of the swing of an arm that its shoulder girdle goes with it."""


def body_curves(phases: Phases, attributes: Attributes) -> tuple[Array, float]:
    """(STRIDE_SAMPLES, len(BODY)) curves of the body, and where its mean place is at the strike, from the flat heel."""
    path = phases.path
    times = PHASE * (2.0 * path.step)
    x, height, sway, list_, yaw = path.at(times)
    ahead = x - path.speed * times
    start = float(ahead.mean())
    still = np.zeros(STRIDE_SAMPLES)
    bent = attributes.tilt - path.state.tilt + attributes.torso_sway * _to_and_fro(times, path.stance, path.step)
    columns = {
        "surge": ahead - start,
        "sway": sway,
        "height": height,
        "tilt": still + path.state.tilt,
        "list": list_,
        "yaw": yaw,
        "spine_flexion": bent,
        "spine_side": -list_,
        # with the pelvis at the waist, against it at the shoulders
        "spine_yaw": -(1.0 + attributes.counter_rotation) * yaw,
        "head_pitch": still,
        "head_roll": still,
        "head_yaw": still,
    }
    return np.stack([columns[name] for name in BODY], axis=-1), start


def arm_curves(phases: Phases, laws: Laws, lower: Lower, attributes: Attributes) -> Array:
    """(STRIDE_SAMPLES, len(ARM)) curves of an arm over the stride of its own side's foot [rad]."""
    path, a = phases.path, attributes
    leg = _leg(phases, lower)
    half = STRIDE_SAMPLES // 2
    swing = _smooth(np.concatenate([leg[half:], leg[:half]]))
    # forward with the other leg: most of all when the own foot leaves the ground
    front = np.cos(2.0 * np.pi * (PHASE - path.stance / (2.0 * path.step)))
    still = np.zeros(STRIDE_SAMPLES)
    turned = [math.radians(x) for x in laws.arm_turn]
    columns = {
        "flexion": math.radians(laws.arm_rest) + a.arm_swing * swing,
        "abduction": still + a.arms_out,
        "rotation": turned[0] + turned[1] * front,
        "elbow": (a.elbow_max + a.elbow_min) / 2 + (a.elbow_max - a.elbow_min) / 2 * front,
        "pronation": still,
        "wrist": still,
        "shrug": still,
        "shoulder": GIRDLE * a.arm_swing * (swing - swing.mean()),
    }
    return np.stack([columns[name] for name in ARM], axis=-1)


def _leg(phases: Phases, lower: Lower) -> Array:
    """(STRIDE_SAMPLES,) what an arm follows of a leg: the line from hip to ankle in stance, the thigh in the swing."""
    share = phases.path.stance / (2.0 * phases.path.step)
    curves = np.concatenate([phases.stance[:-1], phases.swing])
    at = np.concatenate([share * _UNIT[:-1], share + (1.0 - share) * _UNIT])
    thigh, knee = curves[:, 0], curves[:, 1]
    ahead = lower.thigh * trig.sin(thigh) + lower.shin * trig.sin(thigh - knee)
    down = lower.thigh * trig.cos(thigh) + lower.shin * trig.cos(thigh - knee)
    # both meet where the leg turns round, at the ends of the swing
    through = np.clip((at - share) / (1.0 - share), 0.0, 1.0)
    weight = np.sin(np.pi * through) ** 2
    angle = (1.0 - weight) * np.arctan2(ahead, down) + weight * thigh
    out: Array = np.interp(PHASE, at, angle)
    return out


def _smooth(values: Array) -> Array:
    """A periodic curve (n,) without its fast parts."""
    spectrum = np.fft.rfft(values)
    spectrum[HARMONICS + 1 :] = 0.0
    return np.fft.irfft(spectrum, len(values))


def _to_and_fro(times: Array, stance: float, step: float) -> Array:
    """1 at mid-support, -1 at toe-off, every step."""
    since = (times - stance / 2) % step
    down = np.pi * np.minimum(since / (stance / 2), 1.0)
    back = np.pi * np.clip((since - stance / 2) / (step - stance / 2), 0.0, 1.0)
    return np.where(since < stance / 2, np.cos(down), -np.cos(back))
