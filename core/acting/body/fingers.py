"""Hands that close, point and open: values of actions bend the fingers beyond or short of how they hang at rest.

    R_FIST 1                  the whole right hand closed
    R_FIST 1  R_INDEX -2      closed, but for a straight index finger

A value of 0 leaves a finger as it hangs, 1 closes it into the palm, -1 straightens it; the hand's and the finger's add.
"""

from __future__ import annotations

import numpy as np

from ...kinematics import anatomy
from ...maths import quat
from ...skeleton import FINGERS, SIDES, Array, Skeleton
from ..repertoire.compositor import Layout

HAND = "FIST"
NAMES = frozenset(f"{side}_{name}" for side in SIDES for name in (HAND, *(f.upper() for f in FINGERS)))
"""Values that bend fingers."""
CLOSED = {"thumb": (0.5, 0.5, 0.9)}
CLOSED_FINGER = (1.45, 1.7, 1.0)
"""Flexion of each joint of a closed finger, root to tip [rad]."""
OPEN = {"thumb": (-0.6, -0.2, 0.0)}
OPEN_FINGER = (0.0, 0.0, 0.0)
"""That of a straight one; a thumb goes back out of the palm."""


def fingers_of(layout: Layout, channels: Array) -> dict[str, Array]:
    """Role of each finger that actions bend to (T,) how far: 1 closed, -1 straight."""
    found = {}
    for side in SIDES:
        hand = layout.value(channels, f"{side}_{HAND}")
        for finger in FINGERS:
            own = layout.value(channels, f"{side}_{finger.upper()}")
            given = [v for v in (hand, own) if v is not None and np.any(v)]
            if given:
                found[f"{finger}_{side}"] = np.clip(np.sum(given, axis=0), -1.0, 1.0)
    return found


def bent(skeleton: Skeleton, rotations: Array, fingers: dict[str, Array]) -> Array:
    """Rotations (T, J, 4) with fingers bent so far."""
    out = np.array(rotations)
    for role, amount in fingers.items():
        closed, opened = CLOSED.get(role[:-2], CLOSED_FINGER), OPEN.get(role[:-2], OPEN_FINGER)
        close, straight = np.maximum(amount, 0.0), np.maximum(-amount, 0.0)
        # of four joints the first lies within the palm
        for joint, shut, flat in zip(skeleton.roles.get(role, ())[-len(closed) :], closed, opened, strict=False):
            turn = rotations[:, joint]
            for flexion, share in ((shut, close), (flat, straight)):
                goal = anatomy.from_angles((flexion, 0.0, 0.0), role)
                turn = quat.slerp(turn, np.broadcast_to(goal, turn.shape), share)
            out[:, joint] = turn
    return out
