"""What a clip shows of a rig that its rest pose hides: which way elbows and knees bend, and how flat feet lie.

Clips are often exported with their first frame as the rest pose: a stride, arms down, feet in the air. The twist of
limbs that rest straight is taken from how they bend in motion, and feet that do not rest on the ground from how they
lie when they are lowest.
"""

from __future__ import annotations

import numpy as np

from ..maths import quat
from ..skeleton import SIDES, Array
from .cast import Cast, orthonormal, with_neutral
from .measure import TOE_HEIGHT_TO_LEG
from .stance import ELBOW_TWIST_MAX, KNEE_TWIST_MAX

BEND_NEEDED = np.radians(8.0)
UNEVEN = 0.05
FLAT_SHARE = 0.15


def learn_from(cast: Cast, matrices: Array) -> Cast:
    """`cast` with the neutral orientations that a clip reveals.

    Args:
        cast: Measured from its rest pose.
        matrices: (T, J, 4, 4) world matrices of the joints' bones in the clip.
    """
    neutral = cast.neutral.copy()
    turns, places = orthonormal(matrices), matrices[..., :3, 3]
    joint = cast.skeleton.joint
    for parts, flexes, most in (
        (("upper_arm", "forearm", "hand"), -1.0, ELBOW_TWIST_MAX),
        (("thigh", "shin", "foot"), 1.0, KNEE_TWIST_MAX),
    ):
        for side in SIDES:
            upper, lower, end = (joint(f"{part}_{side}") for part in parts)
            if cast.notes.get(f"{parts[0]}_{side}", np.inf) < most:
                continue
            u, v = quat.unit(places[:, lower] - places[:, upper]), quat.unit(places[:, end] - places[:, lower])
            hinge = quat.cross(u, v)
            if np.percentile(np.sqrt(quat.dot(hinge, hinge)), 80) < np.sin(BEND_NEEDED):
                continue
            own = np.einsum("tji,tj->ti", turns[:, upper] @ neutral[upper].T, hinge).sum(axis=0) * flexes
            twist = quat.to_matrix(quat.about(np.array([0.0, 0.0, 1.0]), -np.arctan2(own[1], own[0])))
            neutral[[upper, lower]] = twist @ neutral[[upper, lower]]
    ankle = None
    if _rests_unevenly(cast) and cast.skeleton.has("toe_L", "toe_R"):
        ankle = float(np.mean([_flatten_foot(cast, side, turns, places, neutral) for side in SIDES]))
    return with_neutral(cast, neutral, ankle)


def _rests_unevenly(cast: Cast) -> bool:
    """Whether the rest pose is no stance: one foot above or before the other."""
    left, right = (cast.rest[cast.joints[cast.skeleton.joint(f"foot_{s}")], :3, 3] @ cast.frame for s in SIDES)
    apart = np.abs(left - right)[1:] * cast.unit
    return bool(apart.max() > UNEVEN * cast.skeleton.leg_length())


def _flatten_foot(cast: Cast, side: str, turns: Array, places: Array, neutral: Array) -> float:
    """Take a foot's neutral orientation from the frames in which it is lowest; returns the ankle's height [m]."""
    foot, toe = cast.skeleton.joint(f"foot_{side}"), cast.skeleton.joint(f"toe_{side}")
    height = places[:, foot, 2] + places[:, toe, 2]
    down = height <= np.quantile(height, FLAT_SHARE)
    ahead = places[down, toe] - places[down, foot]
    back = quat.about(np.array([0.0, 0.0, 1.0]), -np.arctan2(ahead[:, 0], -ahead[:, 1]))
    for joint in (foot, toe):
        lying = quat.multiply(back, quat.from_matrix(turns[down, joint]))
        neutral[joint] = quat.to_matrix(quat.mean(lying))
    return float(np.mean(-ahead[:, 2]) + TOE_HEIGHT_TO_LEG * cast.skeleton.leg_length())
