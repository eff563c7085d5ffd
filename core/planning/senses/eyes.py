"""Where an actor looks from and which way, as matrices with the axes of characters: left, back, up."""

from __future__ import annotations

import numpy as np

from ...kinematics import fk
from ...maths import quat
from ...skeleton import SIDES, Array, Pose, Skeleton

FORWARD = np.array([0.0, -1.0, 0.0])
_EYE_UP, _EYE_AHEAD = 0.33, 0.52
"""Where eyes are on a head without eye bones: above and before the head joint, as parts of the head's length."""


def eye_of(skeleton: Skeleton, pose: Pose) -> Array:
    """(4, 4) eye of a posed actor: see `eyes`."""
    eye: Array = eyes(skeleton, pose.rotations[None], pose.root[None])[0]
    return eye


def eyes(skeleton: Skeleton, rotations: Array, roots: Array) -> Array:
    """Eyes of a batch of poses: midway between the eye bones, looking their mean way; else from the head.

    Args:
        skeleton: J joints.
        rotations: (T, J, 4).
        roots: (T, 3) [m].

    Returns:
        (T, 4, 4) with the axes of characters: left, back, up.
    """
    positions, globals = fk.forward(skeleton, rotations, roots)
    head = skeleton.joint("head")
    if skeleton.has("eye_L", "eye_R"):
        both = [skeleton.joint(f"eye_{side}") for side in SIDES]
        place, turn = positions[:, both].mean(axis=1), quat.mean(globals[:, both])
    else:
        tip = skeleton.tips[head]
        offset = _EYE_UP * tip + _EYE_AHEAD * np.linalg.norm(tip) * FORWARD
        place, turn = positions[:, head] + quat.rotate(globals[:, head], offset), globals[:, head]
    out = np.tile(np.eye(4), (len(place), 1, 1))
    out[:, :3, :3], out[:, :3, 3] = quat.to_matrix(turn), place
    return out


def eye_at(place: Array, heading: float, pitch: float = 0.0) -> Array:
    """(4, 4) eye at `place` (3,) [m] looking along `heading` [rad], upwards by `pitch` [rad]."""
    turn = quat.multiply(
        quat.about(np.array([0.0, 0.0, 1.0]), float(heading)), quat.about(np.array([-1.0, 0.0, 0.0]), float(pitch))
    )
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = quat.to_matrix(turn), place
    return out
