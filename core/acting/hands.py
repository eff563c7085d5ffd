"""Hands that reach for something, and hands that meet: whoever is too far off for its arms leans over."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..kinematics import anatomy, fk
from ..kinematics.limb_ik import LIMBS, place_limb
from ..maths import quat
from ..motion import Event, Motion
from ..skeleton import FINGERS, Array
from .body.contact import Contact, contacts_of

PALM, PADS = 0.6, 1.7
"""Where the palm is between wrist and finger roots, and the pads of the fingers beyond them."""
OVER = 0.03
"""How much higher than straight hands go to the sides of something and away from them [m]."""
REACHED = 0.98
"""Part of its length to which an arm is stretched for a prop or a hand."""
MOST_LEAN = math.radians(35.0)
"""How far a body leans over to reach a hand [rad]."""
SHOULDER_FIRST = 0.8
"""Turn of the trunk that brings the right shoulder forward, as a part of a lean over to shake hands."""
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


@dataclass(frozen=True)
class Meeting:
    """Two who touch, and how far each leans over for it [rad]."""

    contact: Contact
    leans: tuple[float, float]


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


def grasping(motion: Motion, goals: Array, weights: Array, across: Array, side: str = "R") -> Motion:
    """The motion with the pads of straight fingers brought to goals (T, 3) [m] by weights (T,), over edges.

    The hand lies in the plane that `across` (T, 3), to the left of what is held, stands on; the palm faces inward.
    """
    body = motion.skeleton
    rotations = np.array(motion.rotations)
    fingers = [joint for finger in FINGERS[1:] for joint in body.roles.get(f"{finger}_{side}", ())]
    rotations[:, fingers] = quat.slerp(rotations[:, fingers], quat.IDENTITY, weights[:, None])
    positions, globals_ = fk.forward(body, rotations, motion.roots)
    hand = body.joint(f"hand_{side}")
    pads = positions[:, hand] + quat.rotate(globals_[:, hand], PADS * body.tips[hand])
    # up before it goes over, and back before it goes down
    share = np.stack([weights**2, weights**2, 1.0 - (1.0 - weights) ** 2], axis=-1)
    aim = pads + share * (goals - pads) + (OVER * 4.0 * weights * (1.0 - weights))[:, None] * np.array([0.0, 0.0, 1.0])
    solved, turn = globals_, globals_[:, hand]
    for _ in range(4):
        away = quat.rotate(turn, PADS * body.tips[hand])
        solved = place_limb(body, globals_, positions, LIMBS[f"hand_{side}"], aim - away, keep_end=False)
        turn = quat.slerp(solved[:, hand], _beside(solved[:, hand], across), weights)
    local = fk.local_rotations(body, solved)
    local[:, hand] = quat.multiply(quat.conjugate(solved[:, int(body.parents[hand])]), turn)
    local = np.where((weights > 0.0)[:, None, None], local, motion.rotations)
    return replace(motion, rotations=quat.continuous(local))


def _beside(turns: Array, across: Array) -> Array:
    """(T, 4) hands that point as those of turns (T, 4) do, in the plane on which `across` (T, 3) stands."""
    along = quat.rotate(turns, np.array([0.0, 0.0, -1.0]))
    along = quat.unit(along - (along * across).sum(axis=-1, keepdims=True) * across)
    return np.asarray(quat.from_matrix(np.stack([across, np.cross(across, along), -along], axis=-1)))


def lack(motion: Motion, goals: Array, side: str = "R") -> Array:
    """(T,) how much farther goals (T, 3) are than a palm comes [m]."""
    shoulder, length = _arm(motion, side)
    out: Array = np.maximum(np.linalg.norm(goals - shoulder, axis=-1) - length, 0.0)
    return out


def lean_for(motion: Motion, short: float) -> float:
    """How far a body leans over whose arms are too short by so much [m] [rad]."""
    return min(1.2 * short / _lever(motion), MOST_LEAN)


def shake(events: Iterable[Event], motions: dict[str, Motion]) -> None:
    """Bring hands together that touch, in place; who does not reach the other leans over."""
    for touch in contacts_of(events):
        found = meeting_of(touch, motions)
        if found is not None:
            meet([found], motions, np.arange(len(motions[touch.first])) / motions[touch.first].fps)


def meeting_of(touch: Contact, motions: Mapping[str, Motion], first: float = 0.0) -> Meeting | None:
    """How two meet whose motions begin at a time [s]; None if one has no body."""
    pair = [motions[name] for name in (touch.first, touch.second) if name in motions]
    if len(pair) < 2:
        return None
    weights = touch.weights(first + np.arange(len(pair[0])) / pair[0].fps)
    return Meeting(touch, _leans((pair[0], pair[1]), weights))


def meet(meetings: Iterable[Meeting], motions: dict[str, Motion], times: Array) -> None:
    """Bring hands together, in place, in motions sampled at times (T,) [s]."""
    for each in meetings:
        touch, weights = each.contact, each.contact.weights(times)
        if touch.first not in motions or touch.second not in motions or not (weights > 0.0).any():
            continue
        pair = [
            leaning(motions[n], weights * a, SHOULDER_FIRST)
            for n, a in zip((touch.first, touch.second), each.leans, strict=True)
        ]
        # neither leads: both go to the middle between their hands of the same frame
        middle = _reachable(0.5 * (palms(pair[0])[0] + palms(pair[1])[0]), pair)
        pair = [reaching(motion, middle, weights) for motion in pair]
        apart = np.linalg.norm(palms(pair[0])[0] - palms(pair[1])[0], axis=-1)
        together = (weights >= 1.0) & (apart <= TOGETHER)
        motions[touch.first], motions[touch.second] = (_touched(motion, together) for motion in pair)


def _leans(pair: tuple[Motion, Motion], weights: Array) -> tuple[float, float]:
    """How far two lean over [rad], each by half of what their arms lack while they touch by weights (T,)."""
    if not (weights > 0.0).any():
        return 0.0, 0.0
    full = weights >= weights.max()  # before and after it they lean less than they must
    angles = np.zeros(2)
    leant = pair
    for _ in range(16):
        (a, reach_a), (b, reach_b) = (_arm(motion, "R") for motion in leant)
        missing = float(np.linalg.norm(a - b, axis=-1)[full].max()) - reach_a - reach_b
        if missing <= 1e-4:
            break
        # an even lean all the while they hold hands, not one that follows every breath
        angles += [0.5 * (missing + 1e-3) / _lever(motion, SHOULDER_FIRST) for motion in pair]
        angles = np.minimum(angles, MOST_LEAN)
        leant = (
            leaning(pair[0], weights * angles[0], SHOULDER_FIRST),
            leaning(pair[1], weights * angles[1], SHOULDER_FIRST),
        )
    return float(angles[0]), float(angles[1])


def _lever(motion: Motion, shoulder: float = 0.0) -> float:
    """How far the right shoulder comes forward for each radian of a small lean [m]."""
    body = motion.skeleton
    positions, _ = fk.forward(body, np.broadcast_to(quat.IDENTITY, (1, len(body), 4)), np.zeros((1, 3)))
    spine = body.chain("spine")
    away = positions[0, body.joint("upper_arm_R")] - positions[0, spine[0] if spine else 0]
    return float(away[2] + shoulder * abs(away[0]))


def leaning(motion: Motion, angles: Array, shoulder: float = 0.0) -> Motion:
    """The motion with its trunk bent by angles (T,) [rad] at the loins, the face kept up.

    `shoulder` is the turn of the trunk that brings the right shoulder forward, as a part of the lean.
    """
    body, rotations = motion.skeleton, np.array(motion.rotations)
    for role, share in (("spine", 1.0), ("neck", -EYES_UP)):
        joints = body.chain(role)
        each = np.zeros((len(angles), 3))
        if joints:
            each[:, 0] = share * angles / len(joints)
            each[:, 2] = shoulder * each[:, 0]
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
