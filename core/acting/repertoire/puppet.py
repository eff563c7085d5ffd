"""The puppet that action tables speak of: nineteen universal joints and a root, and its fit to any skeleton.

Perlin, "Real time responsive animation with personality" (1995). A joint has three angles x, y, z [degrees] with

    J(x, y, z) = Rx(x) Rz(z) Ry(y),

in axes x to the actor's left, y up, z forward: x and z aim the limb, y twists it. All zero is upright with the arms at
the sides. Right limbs live in a mirrored frame, so equal numbers left and right are mirror images. The root is the
upper torso; head and arms hang from it, and the waist stands between it and the pelvis:

    Root - Neck - Nod;   Root - chest - shoulder - elbow - wrist;   Root - Waist - pelvis - hip - knee - ankle

Root itself leans the upper torso, which the paper's puppet cannot; a pose that leans it bends waist and hips back by
as much, or the legs lean too. Negative x bends hip, shoulder and elbow forward, positive x the knee; a waist that bends
the trunk forward has negative x, for it turns what is below it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from ...kinematics import anatomy
from ...maths import trig
from ...skeleton import SIDES, Array

ARM_JOINTS = ("chest", "shoulder", "elbow", "wrist")
LEG_JOINTS = ("pelvis", "hip", "knee", "ankle")
JOINTS = ("Root", "Waist", "Neck", "Nod", *(s + j for part in (ARM_JOINTS, LEG_JOINTS) for s in SIDES for j in part))
"""Rows of an array of puppet angles (..., 20, 3): root, waist, neck, head, left arm, right arm, left leg, right leg."""
AXES = ("x", "y", "z")
INDEX: Mapping[str, int] = MappingProxyType({name: k for k, name in enumerate(JOINTS)})
LIMB_TIPS: Mapping[str, str] = MappingProxyType(
    {f"{s}{j}": f"{r}_{s}" for s in SIDES for j, r in (("wrist", "hand"), ("ankle", "foot"))}
)
"""Joints that may be sent to a place, with the role of the limb's end."""

ALIASES: Mapping[str, str] = MappingProxyType({"head": "Nod", "torso": "Root", "body": "Root"})

Slots = tuple[tuple[int, float], tuple[int, float], tuple[int, float]]
_PLAIN: Slots = ((0, 1.0), (1, 1.0), (2, 1.0))
_FORWARD: Slots = ((0, -1.0), (1, 1.0), (2, 1.0))
_SEGMENTS: Mapping[str, tuple[str, Slots]] = {
    "UP_ARM": ("shoulder", _FORWARD),
    "LO_ARM": ("elbow", _FORWARD),
    "HAND": ("wrist", ((2, -1.0), (0, -1.0), (1, 1.0))),
    "SHOULDER": ("chest", ((1, -1.0), (0, 1.0), (2, 1.0))),
    "PELVIS": ("pelvis", _FORWARD),
    "UP_LEG": ("hip", _FORWARD),
    "LO_LEG": ("knee", _PLAIN),
    "FOOT": ("ankle", _FORWARD),
}
PARTS: Mapping[str, tuple[str, Slots]] = MappingProxyType(
    {
        "TORSO": ("Root", _PLAIN),
        "WAIST": ("Waist", _FORWARD),
        "NECK": ("Neck", _PLAIN),
        "HEAD": ("Nod", _PLAIN),
        **{f"{s}_{part}": (s + joint, slots) for part, (joint, slots) in _SEGMENTS.items() for s in SIDES},
    }
)
"""Body parts whose angles are pitch, roll, yaw: for each the joint, and which of its angles with which sign.

Positive pitch is flexion. A hand's pitch bends it to the palm, its roll to the thumb's side, and its yaw turns the palm
up; the shoulder's are forward, twist and up.
"""

_SIGNS = np.ones((len(JOINTS), 3))
_SIGNS[:, 1] = -1.0
for _k, _name in enumerate(JOINTS):
    if _name not in ("Root", "Waist", "Neck", "Nod") and _name.startswith("R"):
        _SIGNS[_k, 1:] *= -1.0
_SIGNS.flags.writeable = False
_HALVES = 0.5 * _SIGNS[:, [0, 2, 1]]
_HALVES.flags.writeable = False


def rows(joint: str) -> slice:
    """Rows of a joint of the limbs, left and right."""
    left, right = (INDEX[s + joint] for s in SIDES)
    return slice(left, right + 1, right - left)


_WRISTS, _SHOULDERS, _ELBOWS = rows("wrist"), rows("shoulder"), rows("elbow")
_CHESTS_ELBOWS = slice(INDEX["Lchest"], INDEX["Relbow"] + 1, 2)
ANKLES = rows("ankle")
"""Rows of the ankles, left and right."""
_CLEARANCE_ROUND = np.radians(4.0)
_FOREARM = 0.6
"""Part of the arm that is below the elbow, hand and all."""
_WRIST_LIMITS = np.radians([35.0, 85.0, 75.0])
"""Most that a wrist goes to the thumb or little finger, twists and bends."""
_WRIST_FREE = 0.7 * _WRIST_LIMITS
_WRIST_ROOM = _WRIST_LIMITS - _WRIST_FREE
_BENDS = [0, 2]


def joint_named(name: str) -> str | None:
    """The joint of a name, in any case and with its aliases; None when there is none."""
    key = name.lower()
    return ALIASES.get(key) or next((j for j in JOINTS if j.lower() == key), None)


def turns(angles: Array) -> Array:
    """Rotations (..., 20, 4) in character axes of puppet angles (..., 20, 3) [rad]: J of every joint."""
    # puppet x, z, y are turns about character +X, -Y, +Z: the flexion, side-bend and rotation of a trunk, and this is
    # `anatomy.from_angles` of one, multiplied out because every instant of every actor passes here
    half = angles * _HALVES
    cosine, sine = trig.cos(half), trig.sin(half)
    cx, cy, cz = cosine[..., 0], cosine[..., 1], cosine[..., 2]
    sx, sy, sz = sine[..., 0], sine[..., 1], sine[..., 2]
    cc, ss, cs, sc = cx * cz, sx * sz, cx * sz, sx * cz
    out = np.empty((*angles.shape[:-1], 4))
    out[..., 0] = cc * cy - ss * sy
    out[..., 1] = sc * cy + cs * sy
    out[..., 2] = cs * cy - sc * sy
    out[..., 3] = cc * sy + ss * cy
    return out


def angles_of(rotations: Array) -> Array:
    """Puppet angles (..., 20, 3) [rad] of the rotations (..., 20, 4) of its joints: the inverse of `turns`."""
    return (anatomy.joint_angles(rotations, "hips") * _SIGNS)[..., [0, 2, 1]]


def cleared(angles: Array, clearance: float) -> Array:
    """Puppet angles (..., 20, 3) [rad] whose hanging arms keep out of the body.

    A shoulder that hangs is held out by at least `clearance` [rad]; the further it is raised to the front or back, the
    less. What brings the hand nearer to the body, a shoulder let down or a forearm bent in, is made up for.
    """
    out = np.array(angles)
    shoulders = out[..., _SHOULDERS, :]
    lack = clearance - shoulders[..., 2]
    inward = np.maximum(-out[..., _CHESTS_ELBOWS, 2], 0.0)
    if inward.any():
        straight = np.maximum(trig.cos(out[..., _ELBOWS, 0]), 0.0)
        lack += inward[..., ::2] + _FOREARM * inward[..., 1::2] * straight
    hanging = np.maximum(trig.cos(shoulders[..., 0]), 0.0)
    rounded = np.sqrt(lack * lack + _CLEARANCE_ROUND**2)
    # the rounding vanishes far inside and adds nothing where no clearance is asked for
    shoulders[..., 2] += hanging * np.maximum(0.5 * (lack + rounded) - (_CLEARANCE_ROUND**2 / 4) / rounded, 0.0)
    return out


def limited(angles: Array) -> Array:
    """Puppet angles (..., 20, 3) [rad] whose wrists go no further than wrists do, eased towards their limits."""
    wrists = angles[..., _WRISTS, :]
    if not (np.abs(wrists) > _WRIST_FREE[0]).any():
        return angles
    twist = _eased(wrists[..., 1], 1)
    # bending is limited about the axes that the twist has turned
    c, s = np.cos(twist), np.sin(twist)
    bends = np.empty((*twist.shape, 2))
    bends[..., 0] = c * wrists[..., 0] - s * wrists[..., 2]
    bends[..., 1] = s * wrists[..., 0] + c * wrists[..., 2]
    bends = _eased(bends, _BENDS)
    side, bend = bends[..., 0], bends[..., 1]
    out = np.array(angles)
    out[..., _WRISTS, 0] = c * side + s * bend
    out[..., _WRISTS, 1] = twist
    out[..., _WRISTS, 2] = c * bend - s * side
    return out


def _eased(angle: Array, axes: int | list[int]) -> Array:
    """Wrist angles (...), or (..., n) about several axes, eased towards their limits."""
    angle = np.ascontiguousarray(angle)
    free, room = _WRIST_FREE[axes], _WRIST_ROOM[axes]
    size = np.abs(angle)
    beyond = np.maximum(size - free, 0.0)
    if not beyond.any():
        return angle
    out: Array = np.copysign(np.minimum(size, free) + room * np.tanh(beyond / room), angle)
    return out
