"""A level walk from tables of normal gait: the built-in clip, for when no motion capture is at hand.

Joint angles by percent of the gait cycle after D. A. Winter, "Biomechanics and Motor Control of Human Movement". The
pelvis travels so that whichever foot bears the body stands still.
"""

from __future__ import annotations

import numpy as np

from ..kinematics import fk
from ..kinematics.anatomy import with_angles
from ..maths import quat
from ..maths.ramp import smooth
from ..maths.spline import hermite, natural_slopes
from ..motion import Motion
from ..skeleton import Array, Skeleton

# percent of the cycle from heel strike: hip flexion, knee flexion, ankle and toes up [deg]
CYCLE = np.array(
    [
        (0, 28, 4, 1, 12),
        (6, 27, 13, -5, 3),
        (12, 23, 18, -2, 0),
        (20, 15, 16, 4, 0),
        (30, 4, 8, 7, 0),
        (40, -6, 4, 10, 0),
        (50, -11, 9, 7, 14),
        (58, -6, 30, -12, 28),
        (64, 4, 48, -17, 12),
        (72, 18, 61, -7, 0),
        (80, 27, 50, 0, 2),
        (88, 31, 24, 2, 6),
        (95, 30, 6, 1, 11),
    ],
    dtype=np.float64,
)


SWAY_HZ = 3.5
"""Above this the pelvis does not follow the feet: it bobs once a step [Hz]."""


def walk(skeleton: Skeleton, cycles: int = 4, period: float = 1.1, fps: float = 60.0) -> Motion:
    """Walk straight ahead for some cycles of `period` [s]."""
    count = round(cycles * period * fps) + 1
    phase = np.arange(count) / (period * fps)
    angles: dict[str, Array] = {}
    for side, shift in (("L", 0.0), ("R", 0.5)):
        hip, knee, ankle, toe = _at(phase + shift).T
        swing = np.cos(2 * np.pi * (phase + shift))
        zero = np.zeros(count)
        angles[f"thigh_{side}"] = np.column_stack([hip, zero + 1.5, zero])
        angles[f"shin_{side}"] = np.column_stack([knee, zero, zero])
        angles[f"foot_{side}"] = np.column_stack([ankle, zero, zero - 5])
        angles[f"toe_{side}"] = np.column_stack([toe, zero, zero])
        angles[f"upper_arm_{side}"] = np.column_stack([-4 - 20 * swing, zero + 9, zero + 4])
        angles[f"forearm_{side}"] = np.column_stack([20 - 11 * swing, zero, zero])
        angles[f"hand_{side}"] = np.column_stack([zero + 4, zero, zero])
    twist, sway = np.cos(2 * np.pi * phase), np.sin(2 * np.pi * phase)
    step = np.cos(4 * np.pi * phase + 0.6)
    angles["hips"] = np.column_stack([2 + 1.0 * step, 3 * sway, -4 * twist])
    angles["spine"] = np.column_stack([2 - 1.0 * step, -4 * sway, 9 * twist])
    angles["neck"] = np.column_stack([0 * phase, 0.5 * sway, -2.5 * twist])
    angles["head"] = np.column_stack([-3 + 0.5 * step, 0.5 * sway, -2.5 * twist])
    still = np.tile(quat.IDENTITY, (count, len(skeleton), 1))
    known = {role: np.radians(a) for role, a in angles.items() if skeleton.has(role)}
    rotations = quat.continuous(with_angles(skeleton, still, known))
    roots = _travel(skeleton, rotations)
    # the supporting point changes at once from foot to foot; a body does not
    roots = roots[:1] + smooth(roots - roots[:1], fps, SWAY_HZ)
    return Motion(skeleton, fps, roots, rotations)


def _at(phase: Array) -> Array:
    """Angles (T, 4) [deg] at a phase (T,), by cubic interpolation of the table, cycle after cycle."""
    rounds = np.concatenate([CYCLE + np.array([shift, 0, 0, 0, 0]) for shift in (-100.0, 0.0, 100.0)])
    knots, angles = rounds[:, 0] / 100, rounds[:, 1:]
    return hermite(phase % 1.0, knots, angles, natural_slopes(knots, angles))


def _travel(skeleton: Skeleton, rotations: Array) -> Array:
    """Roots (T, 3): the lowest sole point of each frame stays where it is until the other foot takes over."""
    places, turns = fk.forward(skeleton, rotations, np.zeros((len(rotations), 3)))
    soles = []
    for side in "LR":
        foot, toe = skeleton.joint(f"foot_{side}"), skeleton.joint(f"toe_{side}")
        ankle = skeleton.offsets[0, 2] + sum(skeleton.offsets[skeleton.joint(f"{p}_{side}"), 2] for p in _LEG)
        heel = places[:, foot] + quat.rotate(turns[:, foot], np.array([0.0, 0.25 * ankle * 2, -ankle]))
        ball = places[:, toe] - quat.rotate(turns[:, toe], np.array([0.0, 0.0, ankle + skeleton.offsets[toe, 2]]))
        soles += [heel, ball]
    points = np.stack(soles, axis=1)
    lowest = points[..., 2].argmin(axis=1)
    roots = np.zeros((len(rotations), 3))
    roots[:, 2] = -points[..., 2].min(axis=1)
    for t in range(1, len(roots)):
        k = lowest[t - 1]
        roots[t, :2] = roots[t - 1, :2] + (points[t - 1, k] - points[t, k])[:2]
    return roots


_LEG = ("thigh", "shin", "foot")
