"""Arms that swing past legs: where a leg goes out to the side, the arm above it goes out in time and comes back.

How thick arms and thighs are is what `kinematics.body_shape` says.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..kinematics import fk
from ..kinematics.body_shape import Capsules, with_fingers
from ..maths import quat
from ..maths.geometry import capsule_distance
from ..maths.window import covering
from ..skeleton import ARM, SIDES, Array, Skeleton

ROOM = 0.006
"""Left between a hand and a thigh, where it has to give way [m]."""
TOUCHING = 0.001
"""What is in each other by less is let be [m]."""
AHEAD = 0.24
"""How long before it must be there, and after, an arm is on its way [s]: no step that is not begun yet may matter."""
ROUNDS = 3
OUTWARD = {"L": np.array([0.0, -1.0, 0.0]), "R": np.array([0.0, 1.0, 0.0])}
"""Axis about which an arm goes out to its side."""


def beside_legs(skeleton: Skeleton, rotations: Array, roots: Array, fps: float, free: Array) -> Array:
    """Rotations (T, J, 4) of a body whose hands go past its thighs.

    Args:
        skeleton: J joints.
        rotations: (T, J, 4) and
        roots: (T, 3) of a body whose hands may be in them [m].
        fps: Samples a second [Hz].
        free: (T,) how far the arms may give way, 0 where a pose is held, to 1.
    """
    if not skeleton.has("head", *(f"{part}_{s}" for part in (*ARM[1:], "thigh", "shin", "foot") for s in SIDES)):
        return rotations
    shape, out = _legs_and_arms(skeleton), rotations
    parts = [[skeleton.joint(f"{part}_{side}") for part in ARM[2:]] for side in SIDES]
    long = np.linalg.norm(skeleton.offsets[parts], axis=-1).sum(axis=1)
    for _ in range(ROUNDS):
        lacks = _lacks(skeleton, shape, out, roots)
        lacks[(lacks < ROOM + TOUCHING) | (free[:, None] <= 0.0)] = 0.0
        if not lacks.any():
            break
        out = np.array(out)
        for side, wanted in zip(SIDES, (lacks / long).T, strict=True):
            upper = skeleton.joint(f"upper_arm_{side}")
            turn = free * covering(wanted, max(1, round(AHEAD * fps / 4.0)))
            out[:, upper] = quat.multiply(quat.about(OUTWARD[side], turn), out[:, upper])
    return out


@lru_cache(maxsize=32)
def _legs_and_arms(skeleton: Skeleton) -> Capsules:
    return with_fingers(skeleton).chosen(("forearm", "palm", "fingers", "thumb", "thigh"))


def _lacks(skeleton: Skeleton, shape: Capsules, rotations: Array, roots: Array) -> Array:
    """(T, 2) by how much the arm of each side is too near to the thigh below it [m], negative where it is not."""
    starts, ends = shape.placed(*fk.forward(skeleton, rotations, roots))
    out = []
    for side in SIDES:
        leg = shape.parts.index(f"thigh_{side}")
        arm = [k for k, part in enumerate(shape.parts) if part.endswith(side) and k != leg]
        a, b, r = starts[:, arm], ends[:, arm], shape.radii
        gaps = capsule_distance(a, b, r[arm], starts[:, [leg]], ends[:, [leg]], r[leg])
        out.append(ROOM - gaps.min(axis=1))
    return np.stack(out, axis=1)
