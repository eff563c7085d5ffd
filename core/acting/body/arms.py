"""Ways of hands to their goals: about the shoulder, and never so that an arm turns over, locks or folds up."""

from __future__ import annotations

import math

import numpy as np

from ...kinematics.limb_ik import LIMBS
from ...maths import quat, trig
from ...maths.ramp import smoothstep
from ...skeleton import Array, Skeleton

REACH = 0.999
"""Part of its length to which a limb is stretched at most for a place out of reach."""
FOLDED = 0.28
"""Part of its length to which an arm is folded at least."""
STRETCH = 0.12
"""Last part of its length that an arm which follows a target gives ever more slowly: elbows that lock are seen to."""
ACROSS, ASIDE = math.radians(45.0), math.radians(110.0)
"""How far before the body to the other side an arm reaches, and how far out to its own [rad]."""
ABACK, BEHIND = math.radians(120.0), math.radians(165.0)
"""Angles from the front from which on a target is reached for less, and no more [rad]."""
_UP = np.array([0.0, 0.0, 1.0])
_DIAGONAL = math.sqrt(0.5)


def length_of(body: Skeleton, tip: str) -> float:
    """How long a limb is at most [m]."""
    return REACH * sum(math.hypot(*body.offsets[body.joint(role)]) for role in LIMBS[tip][1:])


def before(targets: Array, x: Array, y: Array, heading: Array) -> Array:
    """(T,) how far targets (T, 3) lie before a body: nobody reaches behind its back, where an arm would turn over."""
    line = np.nan_to_num(targets[:, :2]) - np.column_stack([x, y])
    off = np.abs(_turned_from(np.column_stack([line, np.zeros(len(line))]), heading))
    return np.asarray(smoothstep((BEHIND - off) / (BEHIND - ABACK)))


def within_arms(tip: str, goal: Array, shoulder: Array, heading: Array, length: float) -> Array:
    """Goals (T, 3) of a hand, those too far to a side turned about its shoulder to where arms still reach.

    An arm that follows a target around the body waits at its limit, instead of coming to it in a moment; and it does
    not go straight in a moment as the target leaves its reach.
    """
    outward = 1.0 if tip.endswith("L") else -1.0
    line = goal - shoulder
    yaw = outward * _turned_from(line, heading)
    back = quat.about(_UP, outward * (np.clip(yaw, -ACROSS, ASIDE) - yaw))
    far = np.maximum(np.sqrt(quat.dot(line, line)), 1e-9)
    soft = STRETCH * length
    over = np.maximum(far - (length - soft), 0.0)
    near = np.minimum(far, length - soft) - soft * np.expm1(-over / soft)
    return np.asarray(shoulder + quat.rotate(back, line * (near / far)[:, None]))


def led(
    tip: str, shoulder: Array, place: Array, goals: list[tuple[Array, Array]], heading: Array, length: float
) -> Array:
    """Ways (T, 3) of a hand from its place to its goals by their weights (T,), one goal after the other.

    It goes about the shoulder, and from a place to its opposite by way of the front and its own side: a straight way
    that comes near to the shoulder would fold the arm and turn it over, and so would the mean of two goals.

    Args:
        tip: Which hand.
        shoulder: (T, 3) [m].
        place: (T, 3) where the angles alone have the hand [m].
        goals: Of each, places (T, 3) [m] and weights (T,), together 1 at most.
        heading: (T,) where the body faces [rad].
        length: Of the arm [m].
    """
    outward = _DIAGONAL if tip.endswith("L") else -_DIAGONAL
    side = quat.rotate(quat.about(_UP, heading), np.array([outward, -_DIAGONAL, 0.0]))
    out = place - shoulder
    least = np.minimum(np.sqrt(quat.dot(out, out)), FOLDED * length)[:, None]
    # the weights are those of a sum; each goal is gone to by its part of what the later ones leave
    left = np.ones(len(place))
    shares = []
    for _, alpha in reversed(goals):
        shares.append(np.clip(alpha / np.maximum(left, 1e-9), 0.0, 1.0))
        left = left - alpha
    for (goal, _), share in zip(goals, reversed(shares), strict=True):
        line = goal - shoulder
        near, far = (np.maximum(np.sqrt(quat.dot(v, v)), 1e-9)[:, None] for v in (out, line))
        start, end = out / near, line / far
        apart = 0.5 - 0.5 * quat.dot(start, end)
        over = quat.unit(start + end + (2.0 * apart * apart)[:, None] * side)
        way = _turned_to(_turned_to(start, over, share), _turned_to(over, end, share), share)
        out = way * np.maximum((1.0 - share)[:, None] * near + share[:, None] * np.minimum(far, length), least)
    return np.asarray(shoulder + out)


def _turned_to(a: Array, b: Array, part: Array) -> Array:
    """Unit vectors (T, 3) part (T,) of the way from a to b."""
    whole = quat.between(a, b)
    return quat.rotate(quat.slerp(np.broadcast_to(quat.IDENTITY, whole.shape), whole, part), a)


def _turned_from(line: Array, heading: Array) -> Array:
    """(T,) how far to the left of headings (T,) lines (T, 3) go [rad], -pi..pi."""
    left, forward, _ = np.ascontiguousarray(quat.rotate(quat.about(_UP, -heading), line).T)
    return trig.arctan2(left, -forward)
