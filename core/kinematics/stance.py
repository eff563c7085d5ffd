"""The neutral stance of any rig: which way it faces, and how each bone lies when the character stands at ease.

The character frame follows from left/right pairs and from ankles to head alone. Limbs hang along -Z; their twist comes
from the rest bend of elbow and knee where that is plausible, the hand's from its knuckles. Feet keep their rest pitch
and are yawed forward. Trunk, neck and head stay as they rest. Thresholds were tuned on 32 rigs and clips.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..errors import InvalidRig
from ..maths import quat
from ..skeleton import FINGERS, Array

LEFT, BACK, UP = np.eye(3)
AXIS_SNAP, WORLD_SNAP, CLAVICLE_MAX, FOOT_YAW_MAX = np.radians([5.0, 15.0, 55.0, 60.0])
BENT, ELBOW_TWIST_MAX, KNEE_TWIST_MAX = np.radians([2.0, 45.0, 25.0])
MIN_CLEARANCE = float(np.radians(5.0))


def angle_between(a: Array, b: Array) -> float:
    """Angle of two directions [rad]."""
    return float(np.arctan2(np.linalg.norm(quat.cross(a, b)), a @ b))


def _turn(axis: Array, angle: float) -> Array:
    return quat.to_matrix(quat.about(axis, angle))


def _swing(a: Array, b: Array) -> Array:
    """Smallest rotation (3, 3) from a to b; an arm held up comes down sideways, not over the front."""
    first, a = np.eye(3), quat.unit(a)
    if np.hypot(a[0], a[2]) > 0.3 and angle_between(a, b) > np.radians(120):
        first = _turn(BACK, float(np.arctan2(b[0], b[2]) - np.arctan2(a[0], a[2])))
        a = first @ a
    return quat.to_matrix(quat.between(a, b)) @ first


def _align(a: Array, side: Array, b: Array, side_to: Array) -> Array:
    """Rotation (3, 3) that takes a to b exactly and `side` to `side_to` as nearly as possible."""

    def basis(d: Array, s: Array) -> Array:
        d = quat.unit(d)
        n = quat.unit(quat.cross(d, s))
        return np.stack([d, n, quat.cross(d, n)], axis=1)

    return basis(b, side_to) @ basis(a, side).T


def _angle(m: Array) -> float:
    return float(quat.angle(quat.from_matrix(m)))


def character_frame(places: Mapping[str, Array], world_up: Array = UP) -> Array:
    """(3, 3) whose columns are the character's left, back and up in the space of `places`.

    Args:
        places: Joint to (3,) rest place; thighs, upper arms, feet and head are needed.
        world_up: (3,) the world's Z in that space, for rests that lean.

    Heads sit up to 4 degrees in front of the ankles in clean rest poses, so a direction near an axis is snapped to it.
    """
    axes = np.concatenate([np.eye(3), -np.eye(3)])

    def snap(v: Array, to: Array, tolerance: float) -> Array | None:
        best = to[np.argmax(to @ v)]
        return best if angle_between(v, best) < tolerance else None

    across = sum((quat.unit(places[f"{r}_L"] - places[f"{r}_R"]) for r in ("thigh", "upper_arm")), np.zeros(3))
    raw = quat.unit(places["head"] - (places["foot_L"] + places["foot_R"]) / 2)
    if np.linalg.norm(across) < 0.1 or not np.any(raw):
        raise InvalidRig("the left and right limbs of this rig lie on each other, so it has no facing; check the roles")
    up = snap(raw, axes, AXIS_SNAP)
    if up is None:
        up = snap(raw, world_up[None], WORLD_SNAP)
    up = raw if up is None else up
    left = quat.unit(across - up * (across @ up))
    snapped = snap(left, axes, AXIS_SNAP)
    left = left if snapped is None else quat.unit(snapped - up * (snapped @ up))
    return np.stack([left, quat.cross(up, left), up], axis=1)


def rest_to_neutral(
    places: Mapping[str, Array], tips: Mapping[str, Array], parents: Mapping[str, str | None]
) -> tuple[dict[str, Array], dict[str, float]]:
    """The rotation from rest to neutral of every joint, in character axes.

    Args:
        places: Joint to (3,) rest place in character axes; chain joints are called "spine.0", "index_L.1".
        tips: Joint to (3,) end of its segment, for hands (knuckles) and feet (toes).
        parents: Joint to the joint above it, parents first.

    Returns:
        {joint: (3, 3)} and {joint: angle [rad]} of the twists that were measured, for the curious.
    """
    turns = {joint: np.eye(3) for joint in parents}
    notes: dict[str, float] = {}
    for side, lateral in (("L", LEFT), ("R", -LEFT)):
        clavicle = f"clavicle_{side}"
        if clavicle in places:
            d = places[f"upper_arm_{side}"] - places[clavicle]
            notes[clavicle] = angle_between(d, lateral)
            if notes[clavicle] > CLAVICLE_MAX:
                turns[clavicle] = _swing(d, lateral)
        for limb, flexes, most in (
            (("upper_arm", "forearm", "hand"), -LEFT, ELBOW_TWIST_MAX),
            (("thigh", "shin", "foot"), LEFT, KNEE_TWIST_MAX),
        ):
            upper, lower, end = (f"{part}_{side}" for part in limb)
            u, v = places[lower] - places[upper], places[end] - places[lower]
            turns[upper] = _swing(u, -UP)
            turns[lower] = _swing(turns[upper] @ v, -UP) @ turns[upper]
            if angle_between(u, v) > BENT:
                hinge = quat.cross(u, v)
                bent = _align(u, hinge, -UP, flexes)
                notes[upper] = _angle(bent @ turns[upper].T)
                if notes[upper] < most:
                    turns[upper], turns[lower] = bent, _align(v, hinge, -UP, flexes)
        turns[f"hand_{side}"] = _hand(side, places, tips, turns, notes)
        foot = f"foot_{side}"
        if foot in tips:
            d = tips[foot] - places[foot]
            flat = d * (1.0, 1.0, 0.0)
            if np.linalg.norm(flat) > 0.2 * np.linalg.norm(d):
                notes[foot] = angle_between(flat, -BACK)
                if notes[foot] < FOOT_YAW_MAX:
                    turns[foot] = _swing(flat, -BACK)
    for joint, above in parents.items():
        if above is not None and (joint.startswith("toe") or joint.split("_")[0] in FINGERS):
            turns[joint] = turns[above]
    return turns, notes


def _hand(
    side: str, places: Mapping[str, Array], tips: Mapping[str, Array], turns: dict[str, Array], notes: dict[str, float]
) -> Array:
    hand, above = f"hand_{side}", turns[f"forearm_{side}"]
    if hand not in tips:
        return above
    d = tips[hand] - places[hand]
    index, pinky = f"index_{side}.0", f"pinky_{side}.0"
    if index in places and pinky in places:
        palm = _align(d, places[index] - places[pinky], -UP, -BACK)
        notes[hand] = _angle(palm @ above.T)
        return palm
    return _swing(above @ d, -UP) @ above


def arm_clearance(shoulder: Array, reach: float, thickness: float, body: Array) -> float:
    """Abduction at which a straight hanging arm clears the body [rad].

    Args:
        shoulder: (3,) place of the left upper arm in character axes, the midline at x = 0 [m].
        reach: Shoulder to fingertips [m].
        thickness: Radius of arm and hand [m].
        body: (V, 3) points of trunk and legs [m]; may be empty.
    """
    down = shoulder[2] - body[:, 2]
    near = body[(down > 0.35 * reach) & (down < reach)]
    if not len(near):
        return MIN_CLEARANCE
    out = np.abs(near[:, 0]) + thickness - shoulder[0]
    return float(np.clip(np.arctan2(out, shoulder[2] - near[:, 2]).max(), MIN_CLEARANCE, np.radians(44.0)))
