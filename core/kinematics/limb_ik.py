"""Closed-form inverse kinematics of a two-bone limb with a swivel.

Tolani, Goswami, Badler, "Real-time inverse kinematics techniques for anthropomorphic limbs" (2000): the distance to the
goal fixes the middle joint, the swivel about the line from root to goal is free. `place_limb` keeps the bend plane that
a limb has, so a goal where the end already is changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParam
from ..maths import quat
from ..skeleton import ARM, LEG, SIDES, Array, Skeleton

LIMBS: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        f"{parts[2]}_{side}": (f"{parts[0]}_{side}", f"{parts[1]}_{side}", f"{parts[2]}_{side}")
        for parts in (LEG[:3], ARM[1:])
        for side in SIDES
    }
)
"""The three roles of each limb, by the role at its end."""

_TINY = 1e-12
_BENT = np.cos(np.radians(40.0))
"""Cosine of the bend from which a limb's own bend plane is trusted alone."""


def two_bone(
    root: Array,
    goal: Array,
    upper: Array | float,
    lower: Array | float,
    pole: Array,
    swivel: Array | float = 0.0,
    soft: float = 0.0,
) -> tuple[Array, Array, npt.NDArray[np.bool_]]:
    """Places of the middle and end joint of a limb that reaches for a goal.

    A goal too far or too near leaves the end on the line to it, as close as the limb allows.

    Args:
        root: (..., 3) shoulder or hip [m].
        goal: (..., 3) where the end should be [m].
        upper: (...) length of the first bone [m].
        lower: (...) length of the second bone [m].
        pole: (..., 3) direction towards which the middle joint points.
        swivel: (...) turn of the middle joint about the line from root to goal, away from the pole [rad].
        soft: Last part of the reach, as a fraction of it, that is approached ever more slowly instead of being hit, so
            that a knee does not pop as the leg goes straight. 0 reaches exactly.

    Returns:
        mid (..., 3), end (..., 3) [m], and reached (...): whether the end is at the goal to a millionth of the reach.
    """
    line = goal - root
    far = np.sqrt(quat.dot(line, line))
    # a goal at the root gives no line: across the pole, so that the limb folds towards the pole
    along = np.where((far > _TINY)[..., None], line / np.maximum(far, _TINY)[..., None], _across(quat.unit(pole)))
    near = _distance(far, np.abs(upper - lower), upper + lower, soft)
    forward, side = _frame(along, pole)
    cosine = (upper * upper + near * near - lower * lower) / np.maximum(2 * upper * near, _TINY)
    cosine = np.clip(cosine, -1.0, 1.0)
    sine = np.sqrt(1.0 - cosine * cosine)
    out = np.cos(swivel)[..., None] * forward + np.sin(swivel)[..., None] * side
    mid = root + np.asarray(upper * cosine)[..., None] * along + np.asarray(upper * sine)[..., None] * out
    end = root + near[..., None] * along
    return mid, end, np.abs(near - far) <= 1e-6 * (upper + lower)


def swivel_angle(root: Array, mid: Array, end: Array, pole: Array) -> Array:
    """Swivel (...) [rad, -pi..pi] for which `two_bone` with this pole gives this limb; 0 for a straight one.

    Args:
        root: (..., 3) place of the first joint [m].
        mid: (..., 3) place of the middle joint [m].
        end: (..., 3) place of the end [m].
        pole: (..., 3) direction from which the swivel is measured.
    """
    forward, side = _frame(quat.unit(end - root), pole)
    bend = mid - root
    return np.arctan2(quat.dot(bend, side), quat.dot(bend, forward))


def place_limb(
    skeleton: Skeleton,
    globals: Array,
    positions: Array,
    limb: tuple[str, str, str],
    goals: Array,
    swivel: Array | float = 0.0,
    keep_end: bool = True,
    soft: float = 0.0,
) -> Array:
    """World rotations with the end of one limb brought to its goals, the bend plane and twist as they were.

    The lower segment turns about the hinge, then the whole limb swings the shortest way to the goal. The hinge is the
    normal of the plane in which the limb is bent; the straighter the limb, the more it is the anatomical one, so knees
    bend forward and elbows back. A limb bent the wrong way by less than that comes out bent the right way.

    Args:
        skeleton: J joints.
        globals: (..., J, 4) world rotations.
        positions: (..., J, 3) world places belonging to them [m].
        limb: Roles of the upper segment, the lower segment and the end; see LIMBS.
        goals: (..., 3) where the end joint should be [m]; out of reach, the limb points there.
        swivel: (...) extra turn of the limb about the line from its root to the goal [rad].
        keep_end: Whether the foot or hand keeps its world rotation; else it turns with the lower segment.
        soft: As in `two_bone`.

    Returns:
        globals (..., J, 4), changed for the two segments and the joints that hang on them.
    """
    first, middle, last = (skeleton.joint(role) for role in limb)
    upper = positions[..., middle, :] - positions[..., first, :]
    lower = positions[..., last, :] - positions[..., middle, :]
    line = goals - positions[..., first, :]
    flexion = np.array([1.0 if limb[1].startswith("shin") else -1.0, 0.0, 0.0])
    hinge = _hinge(upper, lower, quat.rotate(globals[..., first, :], flexion))

    # |upper + R(hinge, turn) lower|^2 = fixed + 2 (a cos turn + b sin turn), largest where the limb is straightest
    stiff = quat.dot(hinge, upper) * quat.dot(hinge, lower)
    sideways = quat.cross(hinge, lower)
    a, b = quat.dot(upper, lower) - stiff, quat.dot(upper, sideways)
    fixed = quat.dot(upper, upper) + quat.dot(lower, lower) + 2 * stiff
    swing = np.maximum(np.hypot(a, b), _TINY)
    nearest = np.sqrt(np.maximum(fixed - 2 * swing, 0.0))
    far = np.sqrt(quat.dot(line, line))
    distance = _distance(far, nearest, np.sqrt(fixed + 2 * swing), soft)
    bend = np.arccos(np.clip((distance * distance - fixed) / (2 * swing), -1.0, 1.0))
    flex = quat.about(hinge, np.arctan2(b, a) + bend)

    reach = upper + quat.rotate(flex, lower)
    direction = np.where((far > _TINY)[..., None], line, reach)
    whole = quat.between(reach, direction)
    if np.any(swivel):
        whole = quat.multiply(quat.about(quat.unit(direction), swivel), whole)
    shank = quat.multiply(whole, flex)

    turns = {first: whole, middle: shank}
    if not keep_end:
        turns[last] = shank
    out = np.array(globals)
    for joint, owner in enumerate(_owners(skeleton, (first, middle, last))):
        if owner in turns:
            out[..., joint, :] = quat.multiply(turns[owner], globals[..., joint, :])
    return out


def _hinge(upper: Array, lower: Array, anatomical: Array) -> Array:
    """Unit axis (..., 3) about which the lower segment flexes, from the bend there is and the anatomical hinge."""
    scale = np.maximum(np.sqrt(quat.dot(upper, upper) * quat.dot(lower, lower)), _TINY)
    straight = np.clip((quat.dot(upper, lower) / scale - _BENT) / (1.0 - _BENT), 0.0, 1.0)
    return quat.unit(quat.cross(upper, lower) + (scale * (straight * straight + _TINY))[..., None] * anatomical)


def _owners(skeleton: Skeleton, joints: tuple[int, int, int]) -> list[int]:
    """For each joint the one of `joints` that it is or hangs on most closely, -1 for none."""
    owners: list[int] = []
    for j, parent in enumerate(skeleton.parents.tolist()):
        owners.append(j if j in joints else owners[parent] if parent >= 0 else -1)
    return owners


def _distance(far: Array, nearest: Array | float, farthest: Array | float, soft: float) -> Array:
    """Distance (...) from root to end for a goal at `far`, within what the limb allows."""
    if not 0.0 <= soft < 1.0:
        raise InvalidParam("soft", soft, "must be from 0 to below 1")
    if soft > 0.0:
        zone = soft * farthest
        over = np.maximum(far - (farthest - zone), 0.0)
        far = np.minimum(far, farthest - zone) + zone * -np.expm1(-over / np.maximum(zone, _TINY))
    return np.clip(far, nearest, farthest)


def _frame(along: Array, pole: Array) -> tuple[Array, Array]:
    """Unit vectors across unit `along`: the one nearest to the pole and the one a quarter turn further."""
    forward = pole - quat.dot(pole, along)[..., None] * along
    clear = quat.dot(forward, forward) > 1e-18 * quat.dot(pole, pole)
    forward = np.where(clear[..., None], quat.unit(forward), _across(along))
    return forward, quat.cross(along, forward)


def _across(axis: Array) -> Array:
    """Some unit vector at right angles to each unit axis (..., 3)."""
    other = np.where(np.abs(axis[..., :1]) < 0.9, np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
    return quat.unit(quat.cross(axis, other))
