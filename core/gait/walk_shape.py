"""The shape of a walk: curves of legs, trunk and arms over a stride at many speeds at once, in the style asked for.

The height of the pelvis follows from the knees of the legs that bear it, so that it rises over the stance leg and sinks
in double support (Saunders, Inman, Eberhart 1953: rotation, list, knee flexion, foot, ankle, lateral shift).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..maths import trig
from ..maths.ramp import smoothstep
from ..skeleton import Array
from . import walk_curves
from .carriage import along
from .cycle import ARM, BODY, LEG_SAMPLES, STRIDE_SAMPLES
from .physique import Physique

if TYPE_CHECKING:
    from .walking import WalkStyle

LIVELY = 1.16
"""How much more the pelvis rises and sinks than the recorded knees alone would have it."""
STAND_KNEE = np.radians(9.0)
TOES = np.radians(27.0)
"""Pitch of the foot on tiptoe [rad]."""
_STRIDE = np.arange(STRIDE_SAMPLES) / STRIDE_SAMPLES
_LEG = np.linspace(0.0, 1.0, LEG_SAMPLES)


@dataclass(frozen=True, eq=False)
class Pace:
    """Strides at S speeds, in steps that begin with one side.

    Attributes:
        froude: (S,) speed in units of sqrt(g leg).
        lively: (S,) how much of a walk there is: 0 in standing, 1 from the slowest recorded walk on.
        limp, other: (S,) pain in the leg that strikes and in the other one.
        step_time: (S,) mean of both steps [s].
        share: (S,) part of the stride that the foot is on the ground.
        lead: (S,) see `Cycle`.
        stride: (S,) length [m].
    """

    froude: Array
    lively: Array
    limp: Array
    other: Array
    step_time: Array
    share: Array
    lead: Array
    stride: Array


def curves(style: WalkStyle, body: Physique, pace: Pace, width: float) -> tuple[Array, Array, Array, Array]:
    """The curves of a Cycle at S speeds: stance, swing, body and arm, each (S, samples, columns).

    `width` is that between the lines on which the feet tread [m].
    """
    pitch, knee = _stance(style, pace)
    columns = _body(style, body.leg, pace)
    height = _pelvis_height(body, columns, pitch, knee, pace, width)
    mean = height.mean(axis=1, keepdims=True)
    columns["height"] = mean + LIVELY * (height - mean) * style.bounce * (1.0 + 0.4 * style.heaviness)
    shape = len(pace.froude), STRIDE_SAMPLES
    trunk = np.stack([np.broadcast_to(columns[name], shape) for name in BODY], axis=-1)
    return pitch[..., None], _swing(style, pace), trunk, _arm(style, pace)


def _stance(style: WalkStyle, pace: Pace) -> tuple[Array, Array]:
    """Pitch of the foot and knee flexion (S, LEG_SAMPLES) of the stance [rad]."""
    lively, limp, other = (v[:, None] for v in (pace.lively, pace.limp, pace.other))
    pitch, knee = walk_curves.stance(pace.froude)
    u = _LEG
    pitch = lively * pitch
    knee = STAND_KNEE + lively * (knee - STAND_KNEE)
    landing = smoothstep((0.5 - u) / 0.5)
    flat = max(style.stomp, 0.8 * style.sneak, min(1.6 * style.tiptoe, 1.0))
    pitch = pitch * (1.0 - landing * np.maximum(flat, 0.7 * limp))
    pitch = pitch * (1.0 - 0.45 * limp)
    rise = np.sin(np.pi * np.clip((u - 0.3) / 0.6, 0.0, 1.0)) ** 2
    pitch = pitch - np.radians(16.0) * style.spring * lively * rise
    toes = np.maximum(style.tiptoe, style.sneak * _creep(np.clip(u / 0.45, 0.0, 1.0), lively))
    pitch = (1.0 - 0.55 * toes) * pitch - toes * TOES
    load = np.radians(14.0) * style.heaviness + np.radians(12.0) * style.spring + np.radians(18.0) * other
    deep = np.sin(np.pi * np.clip(u / 0.6, 0.0, 1.0)) ** 2 * load * lively
    stiff = 1.0 - 0.6 * limp
    return pitch, stiff * (knee - STAND_KNEE) + STAND_KNEE + _bend(style) + deep


def _swing(style: WalkStyle, pace: Pace) -> Array:
    """(S, LEG_SAMPLES, 3) thigh, knee and pitch of the swing [rad]."""
    lively, limp = pace.lively[:, None], pace.limp[:, None]
    u = _LEG
    hump = np.sin(np.pi * u) ** 2
    lifted = STAND_KNEE / 2 + np.radians(14.0) * hump, STAND_KNEE + np.radians(34.0) * hump, np.radians(-8.0) * hump
    swung = walk_curves.swing(pace.froude)
    thigh, knee, pitch = (a + lively * (b - a) for a, b in zip(lifted, swung, strict=True))
    lift = style.knee_lift + 0.8 * style.sneak - 0.35 * limp
    thigh = thigh + np.radians(30.0) * lift * np.sin(np.pi * u**0.8) ** 2
    knee = knee + np.radians(18.0) * lift * np.sin(np.pi * u**0.85) ** 2
    bend = _bend(style)
    knee = knee + bend * (1.0 - 0.4 * hump)
    thigh = thigh + 0.5 * bend
    toes = np.maximum(style.tiptoe, style.sneak * _creep(1.0 - u, lively))
    pitch = (1.0 - 0.45 * limp) * (1.0 - 0.55 * toes) * pitch - toes * TOES
    shape = np.stack([thigh, knee, pitch], axis=-1)
    if style.hang == 0.0:
        return shape
    count = len(shape)
    which, linger = np.repeat(np.arange(count), LEG_SAMPLES), u + style.hang * np.sin(2 * np.pi * u) / (2 * np.pi)
    return along(shape, which, np.tile(linger, count)).reshape(shape.shape)


def _bend(style: WalkStyle) -> float:
    """How much more than usual the knees are bent all the time [rad]."""
    return float(np.radians(34.0 * style.crouch + 46.0 * style.sneak + 8.0 * style.heaviness + 10.0 * style.stomp))


def _lean(style: WalkStyle) -> float:
    """How far the style bends the trunk forward, against upright [rad]."""
    return style.lean + float(np.radians(10.0 * style.sneak + 4.0 * style.heaviness))


def _body(style: WalkStyle, leg: float, pace: Pace) -> dict[str, Array]:
    """Curves of the body over a stride (S, STRIDE_SAMPLES) or (S, 1) [m, rad] by name; the height is still missing.

    Half a stride later each must be its own mirror image, or steps would not join: what differs between the sides lies
    in the two sides' cycles, and nothing that changes sign may be left of it in standing.
    """
    lively = pace.lively[:, None]
    fast = np.clip(pace.froude, 0.0, 0.8)[:, None]
    spared = (pace.limp - pace.other)[:, None]

    def wave(amplitude: Array | float, peak: Array | float, times: int = 1) -> Array:
        out: Array = amplitude * np.cos(2 * np.pi * times * (_STRIDE - peak))
        return out

    d = np.radians
    sway = lively * (0.05 - 0.035 * fast) * leg * (1 + style.hip_sway) / 2 * (1 + 0.5 * style.heaviness)
    hips = lively * style.hip_sway
    stoop = _lean(style)
    lean = stoop + d(3.0) * lively * fast
    loll = lively * style.head_bob
    list_ = wave(d(4.6) * hips, 0.90) + wave(d(1.1) * hips, 0.02, 3)
    lurch = wave(d(5.0) * lively * (2.2 * spared + style.torso_sway), 0.3)
    glance = wave(lively * style.look_about, 0.1) - wave(lively * style.look_about / 6, 0.1, 3)
    nod = wave(lively, 0.48, 2)
    return {
        # who bends forward puts the hips back
        "surge": wave(lively * 0.018 * leg, 0.155 - 0.03 * (fast - 0.45), 2) - 0.08 * leg * np.sin(stoop),
        "sway": wave(sway, 0.36) + wave(0.09 * sway, 0.17, 3),
        "tilt": d(-3.0) + d(22.0) * lively * np.maximum(fast - 0.3, 0.0) + 0.35 * lean + d(1.4) * nod,
        "list": list_,
        "yaw": wave(d(2.0 + 6.5 * fast) * lively * style.hip_twist, 0.55),
        "spine_flexion": d(2.0) + 0.65 * lean - style.chest - d(1.2) * nod,
        "spine_side": lurch - list_ - wave(d(1.6) * lively, 0.55),
        "spine_yaw": wave(d(4.5 + 9.5 * fast) * lively * style.torso_twist, 0.03),
        "head_pitch": style.head_pitch + loll * wave(d(6.0), 0.35, 2) - d(5.0) * lively * spared,
        "head_roll": loll * wave(d(5.0), 0.1),
        "head_yaw": loll * wave(d(5.0), 0.0) + glance,
    }


def _arm(style: WalkStyle, pace: Pace) -> Array:
    """(S, STRIDE_SAMPLES, len(ARM)) curves of an arm over the stride of its own side's foot [rad]."""
    d, lively = np.radians, pace.lively[:, None]
    fast = np.clip(pace.froude, 0.0, 0.8)[:, None]
    swing = lively * style.arm_swing * (0.3 + 1.55 * fast)
    back = np.cos(2 * np.pi * (_STRIDE - 0.51))
    twice = np.cos(4 * np.pi * (_STRIDE - 0.46))
    late = np.cos(2 * np.pi * (_STRIDE - 0.54 - 0.07 * style.loose_arms))
    flail = style.elbow_swing * swing * (d(11.0) * (1 + late) + d(1.5) * twice)
    elbow = d(16.0) + d(13.0) * lively * fast + style.elbow_bend + flail
    # arms hang from a trunk that bends forward, and slumped shoulders go with them
    hanging = 0.85 * (_lean(style) - style.chest)
    columns: dict[str, Array | float] = {
        "flexion": d(-1.0) * swing - style.arms_back + hanging + swing * (d(14.5) * back + d(0.8) * twice),
        "abduction": style.arms_out + 0.2 * max(hanging, 0.0) + d(2.0) * swing * back,
        "rotation": d(4.0) + style.arms_in + swing * d(7.0) * back,
        "elbow": np.maximum(elbow, d(2.0)),
        "pronation": d(8.0) + style.palms_back,
        "wrist": d(4.0) + style.wrist_bend + swing * d(3.0 + 9.0 * style.loose_arms) * late,
        "shrug": style.shrug + d(1.0) * style.shoulder_roll * swing * twice,
        "shoulder": style.shoulder_roll * swing * d(3.0) * back - 0.5 * style.chest,
    }
    out = np.empty((len(pace.froude), STRIDE_SAMPLES, len(ARM)))
    for k, name in enumerate(ARM):
        out[..., k] = columns[name]
    return out


def _creep(u: Array, lively: Array) -> Array:
    """How far the heel of a sneaking foot is up, at parts u of its lowering; in standing all the time the same."""
    out: Array = 0.2 + 0.6 * lively * (1.0 - smoothstep(u))
    return out


def _pelvis_height(
    body: Physique, columns: dict[str, Array], pitch: Array, knee: Array, pace: Pace, width: float
) -> Array:
    """(S, STRIDE_SAMPLES) height of the root at which the bearing legs have the knee flexion that they should have [m].

    Args:
        pitch, knee: (S, LEG_SAMPLES) of the stance [rad].
    """
    thigh, shin, ankle = (float(np.mean(v)) for v in (body.thigh, body.shin, body.ankle))
    (heel_y, heel_z), (ball_y, ball_z) = (v.mean(axis=0)[1:] for v in (body.heel, body.ball))
    half = body.hip_width / 2
    share, lead, stride = (v[:, None] for v in (pace.share, pace.lead, pace.stride))
    count = len(pitch)
    leg, which = np.stack([pitch, knee], axis=-1), np.repeat(np.arange(count), STRIDE_SAMPLES)
    double = np.maximum(share - 0.5, 1e-3)
    raw, total = np.zeros((count, STRIDE_SAMPLES)), np.zeros((count, STRIDE_SAMPLES))
    for foot, sign in ((0.0, 1.0), (0.5, -1.0)):
        phase = (_STRIDE - foot) % 1.0
        p, k = np.moveaxis(along(leg, which, np.minimum(phase / share, 1.0).ravel()), -1, 0).reshape(2, count, -1)
        y, z = np.where(p > 0, heel_y, ball_y), np.where(p > 0, heel_z, ball_z)
        c, s = trig.cos(p), trig.sin(p)
        ahead, up = c * y + s * z - y, ankle + z - c * z + s * y
        reach = thigh**2 + shin**2 + 2 * thigh * shin * trig.cos(k)
        hip = columns["surge"] - sign * half * np.sin(columns["yaw"])
        gap = hip - ((lead * share - phase) * stride + ahead)
        across = columns["sway"] + sign * (half - width / 2)
        room = np.sqrt(np.maximum(reach - gap**2 - across**2, (0.5 * thigh) ** 2))
        height = up + room + sign * half * np.sin(columns["list"]) - float(np.mean(body.hips[:, 2]))
        taken = 1.0 - smoothstep((phase - 0.5) / double)
        weight = np.where(phase < 0.5, smoothstep(phase / double), taken)
        raw, total = raw + weight * height, total + weight
    spectrum = np.fft.rfft(raw / np.maximum(total, 1e-6), axis=1)
    spectrum[:, 7:] = 0.0
    return np.fft.irfft(spectrum, STRIDE_SAMPLES, axis=1)
