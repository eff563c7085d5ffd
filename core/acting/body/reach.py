"""How high hips may be for both legs to reach the ground, without knees that lock."""

from __future__ import annotations

import math

import numpy as np

from ...kinematics import fk
from ...kinematics.limb_ik import LIMBS, place_limb
from ...skeleton import SIDES, Array, Pose, Skeleton

REACH = 0.9995
"""Part of its length to which a leg is stretched at most."""
SOFT = 0.0025
"""Part of its length over which a leg goes straight ever more slowly: knees that lock at once are seen to."""
_UP = np.array([0.0, 0.0, 1.0])


def softly_larger(a: Array, b: Array, soft: Array | float) -> Array:
    """(T,) the larger of two, rounded where they are about the same: there it is larger still by half of `soft`."""
    out: Array = 0.5 * (a + b + np.sqrt((a - b) ** 2 + soft * soft))
    return out


def lack(body: Skeleton, side: str, hips: Array, ankles: Array) -> Array:
    """(T,) how far hip joints (T, 3) are too high for a leg to reach down to ankles (T, 3), negative below that [m]."""
    length = REACH * sum(math.hypot(*body.offsets[body.joint(f"{r}_{side}")]) for r in ("shin", "foot"))
    line = hips - ankles
    flat = np.minimum(np.hypot(*np.ascontiguousarray(line[:, :2].T)), 0.95 * length)
    out: Array = line[:, 2] - np.sqrt(length * length - flat * flat)
    return out


def levelled(body: Skeleton, pose: Pose, height: float) -> Pose:
    """The pose with both ankles at a height [m], the hips as low as that takes."""
    positions, globals_ = fk.forward(body, pose.rotations[None], pose.root[None])
    feet = [positions[:, body.joint(f"foot_{side}")] * (1.0, 1.0, 0.0) + height * _UP for side in SIDES]
    hips = [positions[:, body.joint(f"thigh_{side}")] for side in SIDES]
    drop = max(0.0, *(float(lack(body, *leg)[0]) for leg in zip(SIDES, hips, feet, strict=True)))
    root = pose.root - drop * _UP
    for side, foot in zip(SIDES, feet, strict=True):
        globals_ = place_limb(body, globals_, positions - drop * _UP, LIMBS[f"foot_{side}"], foot)
    return Pose(fk.local_rotations(body, globals_)[0], root)
