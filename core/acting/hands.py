"""Hands that reach for something, and hands that meet: whoever is too far off for its arms leans over."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..kinematics import anatomy, fk
from ..kinematics.limb_ik import LIMBS, place_limb
from ..maths import quat
from ..motion import Event, Motion
from ..skeleton import Array
from .body.contact import contacts_of

PALM = 0.6
"""Where the palm is between wrist and finger roots."""
REACHED = 0.98
"""Part of its length to which an arm is stretched for a prop or a hand."""
MOST_LEAN = math.radians(35.0)
"""How far a body leans over to reach a hand [rad]."""
SHOULDER_FIRST = 0.8
"""Turn of the trunk that brings the right shoulder forward, as a part of a lean."""
TOGETHER = 0.01
"""How near two palms touch [m]."""
EYES_UP = 0.7
"""Part of a lean that neck and head take back."""


def palms(motion: Motion, side: str = "R") -> tuple[Array, Array]:
    """Places (T, 3) of a palm [m], and (T, 3) from the wrist to it."""
    body = motion.skeleton
    positions, globals_ = fk.forward(body, motion.rotations, motion.roots)
    hand = body.joint(f"hand_{side}")
    away = quat.rotate(globals_[:, hand], PALM * body.tips[hand])
    return positions[:, hand] + away, away


def reaching(motion: Motion, goals: Array, weights: Array, side: str = "R") -> Motion:
    """The motion with a palm brought to goals (T, 3) [m] by weights (T,); the hand keeps its turn."""
    body = motion.skeleton
    positions, globals_ = fk.forward(body, motion.rotations, motion.roots)
    palm, away = palms(motion, side)
    shoulder, length = _arm(motion, side)
    line = palm + weights[:, None] * (goals - palm) - shoulder
    far = np.maximum(np.linalg.norm(line, axis=-1), 1e-9)
    had = np.linalg.norm(palm - shoulder, axis=-1) * (1.0 - weights)
    wrist = shoulder + line * np.minimum(1.0, np.maximum(length, had) / far)[:, None] - away
    solved = place_limb(body, globals_, positions, LIMBS[f"hand_{side}"], wrist)
    globals_ = np.where((weights > 0.0)[:, None, None], solved, globals_)
    return replace(motion, rotations=quat.continuous(fk.local_rotations(body, globals_)))


def shake(events: Iterable[Event], motions: dict[str, Motion]) -> None:
    """Bring hands together that touch, in place; who does not reach the other leans over."""
    for touch in contacts_of(events):
        first, second = motions.get(touch.first), motions.get(touch.second)
        if first is None or second is None:
            continue
        weights = touch.weights(np.arange(len(first)) / first.fps)
        first, second = _leaning((first, second), weights)
        # neither leads: both go to the middle between their hands of the same frame
        middle = _reachable(0.5 * (palms(first)[0] + palms(second)[0]), (first, second))
        pair = [reaching(motion, middle, weights) for motion in (first, second)]
        apart = np.linalg.norm(palms(pair[0])[0] - palms(pair[1])[0], axis=-1)
        together = (weights >= 1.0) & (apart <= TOGETHER)
        motions[touch.first], motions[touch.second] = (_touched(motion, together) for motion in pair)


def _leaning(pair: tuple[Motion, Motion], weights: Array) -> tuple[Motion, Motion]:
    """Two motions in which each leans over, by weights (T,), by half of what their arms lack."""
    full = weights >= weights.max()  # before and after it they lean less than they must
    angles = np.zeros(2)
    leant = pair
    for _ in range(16):
        (a, reach_a), (b, reach_b) = (_arm(motion, "R") for motion in leant)
        lack = float(np.linalg.norm(a - b, axis=-1)[full].max()) - reach_a - reach_b
        if lack <= 1e-4:
            break
        # an even lean all the while they hold hands, not one that follows every breath
        angles += [0.5 * (lack + 1e-3) / _lever(motion) for motion in pair]
        angles = np.minimum(angles, MOST_LEAN)
        leant = (_lean(pair[0], weights * angles[0]), _lean(pair[1], weights * angles[1]))
    return leant


def _lever(motion: Motion) -> float:
    """How far the right shoulder comes forward for each radian of a small lean [m]."""
    body = motion.skeleton
    positions, _ = fk.forward(body, np.broadcast_to(quat.IDENTITY, (1, len(body), 4)), np.zeros((1, 3)))
    spine = body.chain("spine")
    away = positions[0, body.joint("upper_arm_R")] - positions[0, spine[0] if spine else 0]
    return float(away[2] + SHOULDER_FIRST * abs(away[0]))


def _lean(motion: Motion, angles: Array) -> Motion:
    """The motion with its trunk bent by angles (T,) [rad] at the loins, the right shoulder first, the face kept up."""
    body, rotations = motion.skeleton, np.array(motion.rotations)
    for role, share in (("spine", 1.0), ("neck", -EYES_UP)):
        joints = body.chain(role)
        each = np.zeros((len(angles), 3))
        if joints:
            each[:, 0] = share * angles / len(joints)
            each[:, 2] = SHOULDER_FIRST * each[:, 0]
            turn = anatomy.from_angles(each, role)
            for joint in joints:
                rotations[:, joint] = quat.multiply(turn, rotations[:, joint])
    return replace(motion, rotations=quat.continuous(rotations))


def _reachable(middle: Array, pair: Sequence[Motion]) -> Array:
    """Points (T, 3) brought toward the line between two shoulders until both palms can be there [m]."""
    arms = [_arm(motion, "R") for motion in pair]
    (a, reach_a), (b, reach_b) = arms
    centre = a + (b - a) * (reach_a / (reach_a + reach_b))
    low, high = np.zeros(len(middle)), np.ones(len(middle))
    for _ in range(24):
        share = 0.5 * (low + high)
        point = middle + share[:, None] * (centre - middle)
        fits = np.all([np.linalg.norm(point - shoulder, axis=-1) <= length for shoulder, length in arms], axis=0)
        low, high = np.where(fits, low, share), np.where(fits, share, high)
    near = np.all([np.linalg.norm(middle - shoulder, axis=-1) <= length for shoulder, length in arms], axis=0)
    share = np.where(near, 0.0, high)
    return middle + share[:, None] * (centre - middle)


def _arm(motion: Motion, side: str) -> tuple[Array, float]:
    """Around which point (T, 3) a palm can go as the hand is turned, and how far [m]."""
    body = motion.skeleton
    positions, _ = fk.forward(body, motion.rotations, motion.roots)
    length = sum(math.hypot(*body.offsets[body.joint(f"{r}_{side}")]) for r in ("forearm", "hand"))
    return positions[:, body.joint(f"upper_arm_{side}")] + palms(motion, side)[1], REACHED * length


def _touched(motion: Motion, together: npt.NDArray[np.bool_]) -> Motion:
    held = motion.curves.get("contact/hand_R", np.zeros(len(motion)))
    return replace(motion, curves={**motion.curves, "contact/hand_R": np.maximum(held, together * 1.0)})
