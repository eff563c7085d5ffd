"""Anatomical angles: flexion, abduction and rotation as one named view of joint rotations.

q = R_flexion R_abduction R_twist, the twist about the segment's own axis applied first. Equal numbers on the left and
on the right are mirror images. Positive is

* flexion: hip, shoulder and elbow forward; heel to buttock; toes up (ankle and toes); trunk, neck and head forward;
  wrist and fingers to the palm side; shoulder girdle forward (protraction); jaw open; gaze down;
* abduction: away from the midline, for trunk, head and jaw to the left; wrist and thumb to the thumb's side; fingers
  apart (away from the middle finger, which itself goes to the thumb's side); shoulder girdle up (elevation);
* rotation: inward, for trunk and head to the left; forearm palm down (pronation); sole to the midline (inversion);
  shoulder girdle top forward; eyes top to the nose; jaw rolled to the left.

Angles from a quaternion without loss near abduction of a quarter turn: Bernardes, Viollet, "Quaternion to Euler angles
conversion" (2022). Ranges of motion: American Academy of Orthopaedic Surgeons, "Joint Motion: Method of Measuring and
Recording" (1965); where it is silent, NASA-STD-3000 (1995) and Kapandji, "The Physiology of the Joints".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from ..errors import InvalidRig
from ..maths import quat
from ..motion import Motion
from ..skeleton import FINGERS, ROLES, Array, Skeleton

_TURN = 2 * np.pi

_LEFT_AXES = {
    **dict.fromkeys(("root", "hips", "spine", "neck", "head"), "+x +y +z"),
    "jaw": "+x +z +y",
    "eye": "+x +z -y",
    "clavicle": "-z -y +x",
    **dict.fromkeys(("upper_arm", "forearm", "thigh"), "-x -y -z"),
    "shin": "+x -y -z",
    **dict.fromkeys(("foot", "toe"), "-x +z +y"),
    **dict.fromkeys(("hand", "thumb", "index", "middle"), "+y -x -z"),
    **dict.fromkeys(("ring", "pinky"), "+y +x -z"),
}
"""Axes of flexion, abduction and rotation of each part, on the left side where there are two."""

LIMITS: Mapping[str, tuple[tuple[float, float], ...]] = MappingProxyType(
    {
        "spine": ((-25, 80), (-35, 35), (-45, 45)),
        "neck": ((-45, 45), (-45, 45), (-60, 60)),
        "head": ((-45, 45), (-45, 45), (-60, 60)),
        "jaw": ((-2, 35), (-10, 10), (-5, 5)),
        "eye": ((-35, 45), (-45, 45), (-10, 10)),
        "clavicle": ((-20, 20), (-10, 45), (-50, 10)),
        "upper_arm": ((-60, 180), (-50, 180), (-90, 70)),
        "forearm": ((-10, 150), (-10, 10), (-80, 80)),
        "hand": ((-70, 80), (-30, 20), (-10, 10)),
        "thumb": ((-60, 80), (-35, 70), (-30, 30)),
        **dict.fromkeys(FINGERS[1:], ((-45, 100), (-20, 20), (-10, 10))),
        "thigh": ((-30, 120), (-30, 45), (-45, 45)),
        "shin": ((-10, 135), (-10, 10), (-30, 30)),
        "foot": ((-50, 30), (-20, 20), (-15, 35)),
        "toe": ((-45, 70), (-10, 10), (-10, 10)),
    }
)
"""Lowest and highest flexion, abduction, rotation [degrees] of each part: whole spine, whole neck, each finger joint.

The ankle's dorsiflexion is that of a foot that bears weight. Neck and head each have the range of the cervical spine,
for a rig may have only one of them.
"""


def _part(role: str) -> str:
    return role[:-2] if role[-2:] in ("_L", "_R") else role


def _axes_of(role: str) -> Array:
    rows = [(1.0 if a[0] == "+" else -1.0) * np.eye(3)["xyz".index(a[1])] for a in _LEFT_AXES[_part(role)].split()]
    mirrored = np.array([1.0, -1.0, -1.0]) if role.endswith("_R") else 1.0  # a mirror turns Y and Z the other way
    out = np.array(rows) * mirrored
    out.flags.writeable = False
    return out


_AXES: Mapping[str, Array] = MappingProxyType({role: _axes_of(role) for role in ROLES})


def joint_angles(rotations: Array, role: str) -> Array:
    """Flexion, abduction and rotation (..., 3) [rad] of rotations (..., 4) of one joint.

    Abduction lies within a quarter turn either way, the others within a half turn.
    """
    return _decompose(rotations, axes(role))


def from_angles(angles: npt.ArrayLike, role: str) -> Array:
    """Rotations (..., 4) of flexion, abduction and rotation (..., 3) [rad]: the inverse of `joint_angles`."""
    return _compose(np.asarray(angles, dtype=np.float64), axes(role))


def axes(role: str) -> Array:
    """(3, 3) the unit axes, one a row, about which flexion, abduction and rotation are positive turns."""
    try:
        return _AXES[role]
    except KeyError:
        raise InvalidRig(f"no role {role!r}; roles are {', '.join(_AXES)}") from None


def angles(motion: Motion, role: str) -> Array:
    """Flexion, abduction and rotation (T, 3) [rad] of a role over time, continuous; of a chain, its total."""
    joints = motion.rotations[:, motion.skeleton.chain(role)]
    each = _continuous(joint_angles(joints, role))
    if each.shape[1] == 1:
        return each[:, 0]
    # a finger curls through more than a half turn: the sum of its joints tells which of the equal triples is meant
    total, near = joint_angles(gather(joints), role), each.sum(axis=1)
    here, there = (a + _TURN * np.round((near - a) / _TURN) for a in (total, _other(total)))
    closer = ((there - near) ** 2).sum(axis=-1) < ((here - near) ** 2).sum(axis=-1)
    return np.asarray(np.where(closer[:, None], there, here))


def gather(rotations: Array) -> Array:
    """Total rotation (..., 4) of a chain's rotations (..., n, 4), root to tip."""
    total = rotations[..., 0, :]
    for j in range(1, rotations.shape[-2]):
        total = quat.multiply(total, rotations[..., j, :])
    return total


def spread(total: Array, n: int, weights: npt.ArrayLike | None = None, near: Array | None = None) -> Array:
    """One total rotation shared out over the n joints of a chain; `gather` gives it back.

    Args:
        total: (..., 4).
        n: Number of joints.
        weights: (n,) share of each joint, any scale; None for equal shares.
        near: (..., 3) rotation vector that tells a total of more than a half turn from its short way round [rad].

    Returns:
        (..., n, 4), root to tip.
    """
    share = np.full(n, 1.0 / n) if weights is None else np.asarray(weights, dtype=np.float64)
    if share.shape != (n,) or not abs(share.sum()) > 0:
        raise InvalidRig(f"weights of a chain of {n} joints must be {n} numbers whose sum is not zero, not {weights!r}")
    vector = quat.log(total)
    if near is not None:
        length = np.sqrt(quat.dot(vector, vector))[..., None]
        axis = np.where(length > 1e-9, vector / np.maximum(length, 1e-9), quat.unit(near))
        vector = vector + _TURN * np.round((quat.dot(near, axis)[..., None] - length) / _TURN) * axis
    return quat.exp((share / share.sum())[:, None] * vector[..., None, :])


def spread_onto(skeleton: Skeleton, rotations: Array, role: str, total: Array) -> Array:
    """Rotations (..., J, 4) in which the joints of `role` share the total rotation (..., 4) equally."""
    joints = skeleton.chain(role)
    out = np.array(rotations)
    out[..., joints, :] = spread(total, len(joints))
    return out


def with_angles(skeleton: Skeleton, rotations: Array, angles: Mapping[str, npt.ArrayLike]) -> Array:
    """Rotations (..., J, 4) with the given roles set to flexion, abduction and rotation (..., 3) [rad].

    The joints of a chain share the angles equally.
    """
    out = np.array(rotations)
    for role, values in angles.items():
        joints, a = skeleton.chain(role), np.asarray(values, dtype=np.float64)
        total = from_angles(a, role)
        out[..., joints, :] = (
            total[..., None, :] if len(joints) == 1 else spread(total, len(joints), near=a @ axes(role))
        )
    return out


def mirror(skeleton: Skeleton, rotations: Array) -> Array:
    """Rotations (..., J, 4) of the mirror image: left and right change places; joints without a partner stay."""
    partner = np.arange(len(skeleton))
    for role, joints in skeleton.roles.items():
        if role.endswith("_L"):
            for left, right in zip(joints, skeleton.roles.get(role[:-1] + "R", ()), strict=False):
                partner[[left, right]] = right, left
    out: Array = rotations[..., partner, :] * np.array([1.0, 1.0, -1.0, -1.0])
    return out


def default_limits(roles: Mapping[str, tuple[int, ...]], joints: int) -> Array:
    """(joints, 3, 2) the LIMITS of each joint by its role [rad]; spine and neck share theirs, other joints are free."""
    limits = np.tile([-np.pi, np.pi], (joints, 3, 1))
    for role, chain in roles.items():
        if (part := _part(role)) in LIMITS:
            limits[list(chain)] = np.radians(LIMITS[part]) / (len(chain) if part in ("spine", "neck") else 1)
    return limits


def violations(motion: Motion) -> Array:
    """How far each angle is beyond its limit (T, J, 3) [rad]: above it positive, below negative, within it zero."""
    return _measure(motion.skeleton, motion.rotations)[1]


def clamp(skeleton: Skeleton, rotations: Array, soft: float = 0.0) -> Array:
    """Rotations (..., J, 4) brought within the skeleton's limits; those already within stay as they are.

    `soft` [rad] is a margin inside the limits from which angles are eased towards them, so that no joint stops dead.
    """
    values, _ = _measure(skeleton, rotations)
    low, high = _bounds(skeleton)
    margin = np.minimum(soft, (high - low) / 2)
    held = np.clip(values, low + margin, high - margin)
    beyond = values - held
    with np.errstate(divide="ignore", invalid="ignore"):
        eased = held + np.where(margin > 0, np.sign(beyond) * margin * -np.expm1(-np.abs(beyond) / margin), 0.0)
    bent = np.any(eased != values, axis=-1)[..., None]
    clamped = _compose(eased, _skeleton_axes(skeleton))
    # the same sign as before, so that the result is as continuous in time as the input
    return np.where(bent, np.copysign(1.0, quat.dot(clamped, rotations))[..., None] * clamped, rotations)


def _bounds(skeleton: Skeleton) -> tuple[Array, Array]:
    """Lowest and highest angles (J, 3); a range of a whole turn is no limit."""
    low, high = skeleton.limits[..., 0], skeleton.limits[..., 1]
    free = high - low >= _TURN - 1e-9
    return np.where(free, -np.inf, low), np.where(free, np.inf, high)


def _skeleton_axes(skeleton: Skeleton) -> Array:
    roles = skeleton.role_of()
    return np.stack([_AXES[roles.get(j, "hips")] for j in range(len(skeleton))])


def _measure(skeleton: Skeleton, rotations: Array) -> tuple[Array, Array]:
    """Angles and their excess over the limits (..., J, 3), of the equal triples the one with the least excess."""
    low, high = _bounds(skeleton)
    middle = skeleton.limits.mean(axis=-1)
    principal = _decompose(rotations, _skeleton_axes(skeleton))
    here, there = (a + _TURN * np.round((middle - a) / _TURN) for a in (principal, _other(principal)))
    over_here, over_there = (a - np.clip(a, low, high) for a in (here, there))
    better = (np.abs(over_there).sum(axis=-1) < np.abs(over_here).sum(axis=-1))[..., None]
    return np.where(better, there, here), np.where(better, over_there, over_here)


def _compose(angles: Array, axes: Array) -> Array:
    """Quaternions (..., 4) of angles (..., 3) about axes (..., 3, 3)."""
    flexion, abduction, rotation = (quat.about(axes[..., k, :], angles[..., k]) for k in range(3))
    return quat.multiply(quat.multiply(flexion, abduction), rotation)


def _decompose(q: Array, axes: Array) -> Array:
    """Angles (..., 3) of quaternions (..., 4) about axes (..., 3, 3)."""
    hand = np.linalg.det(axes)  # -1 where the three axes are left-handed: the twist then counts the other way
    w = q[..., 0]
    x, y, z = np.moveaxis(np.einsum("...ij,...j->...i", axes, q[..., 1:]), -1, 0)
    z = hand * z
    # with f, b, t half of the angles: w + y = (cos b + sin b) cos(f + t), x + z = (cos b + sin b) sin(f + t),
    # w - y = (cos b - sin b) cos(f - t), x - z = (cos b - sin b) sin(f - t)
    total, difference = np.arctan2(x + z, w + y), np.arctan2(x - z, w - y)
    abduction = 2 * np.arctan2(np.hypot(w + y, x + z), np.hypot(w - y, x - z)) - np.pi / 2
    return np.stack([_wrap(total + difference), abduction, hand * _wrap(total - difference)], axis=-1)


def _wrap(angle: Array) -> Array:
    wrapped: Array = angle - _TURN * np.round(angle / _TURN)
    return wrapped


def _other(angles: Array) -> Array:
    """The second triple of angles (..., 3) that gives the same rotation."""
    other: Array = angles * np.array([1.0, -1.0, 1.0]) + np.pi
    return other


def _continuous(angles: Array) -> Array:
    """Angles (T, ..., 3) without jumps in time, of the equal triples the one that follows from the sample before."""
    direct = (_wrap(np.diff(angles, axis=0)) ** 2).sum(axis=-1)
    crossed = (_wrap(_other(angles[1:]) - angles[:-1]) ** 2).sum(axis=-1)
    odd = np.zeros(angles.shape[:-1], dtype=bool)
    odd[1:] = np.logical_xor.accumulate(crossed < direct, axis=0)
    return np.unwrap(np.where(odd[..., None], _other(angles), angles), axis=0)
