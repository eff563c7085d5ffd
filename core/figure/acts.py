"""Small actions in a given manner: a drink, three knocks and a kick, for when no recording of an actor is at hand.

The actions are those of Amaya, Bruderlin and Calvert, "Emotion from motion", 1996. A manner says how long each move
takes, how far it swings out on its way and how suddenly it starts; the feelings that come with Troupe are the
differences between a drink in each of these manners and a neutral one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from ..kinematics.anatomy import with_angles
from ..maths import quat
from ..maths.ramp import smootherstep
from ..motion import Motion
from ..skeleton import Array, Skeleton

Angles = Mapping[str, tuple[float, float, float]]
"""Flexion, abduction, rotation by role [deg]."""


@dataclass(frozen=True)
class Manner:
    """How an action is done.

    Attributes:
        tempo: Length of time as a multiple of the neutral one.
        swing: How far limbs swing out between two poses, as a multiple of the neutral way.
        onset: Above 1 a move starts late and ends suddenly, below 1 it starts suddenly and ends slowly.
    """

    tempo: float = 1.0
    swing: float = 1.0
    onset: float = 1.0


MANNERS: Mapping[str, Manner] = MappingProxyType(
    {
        "neutral": Manner(),
        "angry": Manner(0.6, 1.5, 0.8),
        "sad": Manner(1.7, 0.5, 1.15),
        "happy": Manner(0.85, 1.5, 0.95),
        "fearful": Manner(0.8, 0.55, 1.3),
        "tired": Manner(1.9, 0.7, 1.35),
        "strong": Manner(0.8, 1.8, 1.1),
        "weak": Manner(1.4, 0.4, 0.9),
        "excited": Manner(0.65, 1.9, 0.9),
        "relaxed": Manner(1.3, 1.15, 1.0),
    }
)
"""A manner for each emotion; the paper analyses angry (fast, far) and sad (slow, near), the others are ours."""


class Move(NamedTuple):
    """From the pose before to `pose` in `time` [s], swinging out by `swing` half-way, then `rest` [s]."""

    pose: Angles
    time: float
    swing: Angles
    rest: float = 0.0


_STAND: Angles = {
    "upper_arm_L": (0, 8, 0),
    "forearm_L": (15, 0, 0),
    "upper_arm_R": (0, 8, 0),
    "forearm_R": (15, 0, 0),
    "hand_R": (0, 0, 0),
    "clavicle_R": (0, 0, 0),
    "spine": (0, 0, 0),
    "head": (0, 0, 0),
}
_AT_CUP: Angles = {"upper_arm_R": (40, 12, 10), "forearm_R": (62, 0, 30), "hand_R": (-10, 5, 0), "spine": (7, 0, 3)}
_AT_MOUTH: Angles = {
    "upper_arm_R": (62, 28, 38),
    "forearm_R": (122, 0, 20),
    "hand_R": (14, -8, 0),
    "clavicle_R": (4, 6, 0),
    "spine": (-3, 0, 0),
    "head": (-14, 0, 0),
}
_REACH: Angles = {"upper_arm_R": (-8, 14, 0), "forearm_R": (16, 0, 0), "hand_R": (-8, 0, 0), "spine": (3, 0, 2)}
_LIFT: Angles = {"upper_arm_R": (10, 18, -6), "forearm_R": (-12, 0, 0), "hand_R": (-12, 4, 0), "head": (4, 0, 0)}
_DRINK = (
    Move(_AT_CUP, 0.8, _REACH, 0.1),
    Move(_AT_MOUTH, 0.9, _LIFT, 0.7),
    Move(_AT_CUP, 1.0, _LIFT, 0.1),
    Move(_STAND, 0.8, _REACH),
)

_FIST: Angles = {
    "thumb_R": (70, 0, 0),
    **{f"{finger}_R": (190.0, 0.0, 0.0) for finger in ("index", "middle", "ring", "pinky")},
}
_DOOR: Angles = {
    **_FIST,
    "upper_arm_R": (68, 10, 20),
    "forearm_R": (88, 0, 10),
    "hand_R": (-20, 0, 0),
    "spine": (2, 0, 4),
}
_HIT: Angles = {**_FIST, "upper_arm_R": (74, 10, 20), "forearm_R": (52, 0, 10), "hand_R": (8, 0, 0), "spine": (3, 0, 5)}
_WIND: Angles = {"upper_arm_R": (2, 3, 0), "forearm_R": (4, 0, 0), "hand_R": (-6, 0, 0)}
_KNOCK = (
    Move(_DOOR, 0.8, _REACH),
    *(move for _ in range(3) for move in (Move(_HIT, 0.28, _WIND), Move(_DOOR, 0.28, _WIND))),
    Move(_STAND, 0.9, _REACH),
)

_COCKED: Angles = {"thigh_R": (-18, 4, 0), "shin_R": (85, 0, 0), "foot_R": (-20, 0, 0), "spine": (8, 0, 0)}
_STRUCK: Angles = {"thigh_R": (72, 4, 0), "shin_R": (12, 0, 0), "foot_R": (-35, 0, 0), "spine": (-8, 0, 0)}
_ARC: Angles = {"thigh_R": (-6, 6, 0), "shin_R": (24, 0, 0), "foot_R": (12, 0, 0), "spine": (4, 0, 0)}
_KICK = (Move(_COCKED, 0.5, _ARC), Move(_STRUCK, 0.35, _ARC), Move(_STAND, 0.9, _ARC, 0.2))


def drink(skeleton: Skeleton, manner: Manner | None = None, fps: float = 60.0) -> Motion:
    """Take a cup with the right hand, drink, put it down, and take the hand back."""
    return _act(skeleton, _DRINK, manner or Manner(), fps)


def knock(skeleton: Skeleton, manner: Manner | None = None, fps: float = 60.0) -> Motion:
    """Knock three times with the right hand."""
    return _act(skeleton, _KNOCK, manner or Manner(), fps)


def kick(skeleton: Skeleton, manner: Manner | None = None, fps: float = 60.0) -> Motion:
    """Kick with the right foot."""
    return _act(skeleton, _KICK, manner or Manner(), fps)


def _act(skeleton: Skeleton, moves: Sequence[Move], manner: Manner, fps: float) -> Motion:
    roles = list(dict.fromkeys((*_STAND, *(r for m in moves for r in (*m.pose, *m.swing)))))
    length = manner.tempo * sum(move.time + move.rest for move in moves)
    times = np.arange(round(length * fps) + 1) / fps
    pose, start = _row(_STAND, roles), 0.0
    angles = np.tile(pose, (len(times), 1, 1))
    for move in moves:
        part = np.clip((times - start) / (manner.tempo * move.time), 0.0, 1.0)
        along = smootherstep(part**manner.onset)[:, None, None]
        goal = _row({**_STAND, **move.pose}, roles)
        angles += along * (goal - pose) + manner.swing * np.sin(np.pi * along) ** 2 * _row(move.swing, roles)
        pose, start = goal, start + manner.tempo * (move.time + move.rest)
    still = np.tile(quat.IDENTITY, (len(times), len(skeleton), 1))
    known = {role: np.radians(angles[:, k]) for k, role in enumerate(roles) if skeleton.has(role)}
    rotations = quat.continuous(with_angles(skeleton, still, known))
    return Motion(skeleton, fps, np.tile(skeleton.offsets[0], (len(times), 1)), rotations)


def _row(pose: Angles, roles: Sequence[str]) -> Array:
    return np.array([pose.get(role, (0.0, 0.0, 0.0)) for role in roles], dtype=np.float64)
