"""The mirror image of a motion: left and right change places in the body, on the ground, in curves and in events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParam
from ..kinematics import base as bases
from ..maths import quat
from ..motion import Event, Motion
from ..skeleton import Array, Skeleton

PLANES = ("start", "world")
"""Where the mirror stands: along the way the character faces when it begins; on x = 0."""

_ALIKE = 0.1
"""How far a joint without a role may be from the mirror image of its partner [leg lengths]."""
_SIDES = (("_L", "_R"), (".L", ".R"))


def mirror(motion: Motion, plane: str = "start") -> Motion:
    """The mirror image of a motion; twice gives it back, to the last digits.

    Joints change places with those that play the same role on the other side; joints without a role with the one that
    lies opposite, if there is one. Names of curves and events, and texts in the data of events, that end in _L, _R, .L
    or .R or name a joint change sides.
    """
    if plane not in PLANES:
        raise InvalidParam("plane", plane, f"must be one of {', '.join(PLANES)}")
    motion = bases.based(motion)
    assert motion.base is not None
    other = partners(motion.skeleton)
    names = {a: motion.skeleton.names[k] for a, k in zip(motion.skeleton.names, other.tolist(), strict=True)}
    x, y, heading = motion.base[0] if plane == "start" else (0.0, 0.0, 0.0)
    across = np.array([np.cos(heading), np.sin(heading), 0.0])
    origin = np.array([x, y, 0.0])
    image = motion.rotations[:, other] * np.array([1.0, 1.0, -1.0, -1.0])
    if heading:
        # the reflection in a turned plane is that in x = 0, turned by twice as much
        image[:, 0] = quat.multiply(quat.about(np.array([0.0, 0.0, 1.0]), 2 * heading), image[:, 0])
    base = _reflected(motion.base * (1.0, 1.0, 0.0), origin, across)
    base[:, 2] = 2 * heading - motion.base[:, 2]
    return replace(
        motion,
        roots=_reflected(motion.roots, origin, across),
        rotations=quat.continuous(image),
        base=base,
        mask=None if motion.mask is None else motion.mask[other],
        curves={_other_name(name, names): curve for name, curve in motion.curves.items()},
        events=tuple(_other_event(e, names, origin, across) for e in motion.events),
    )


def partners(skeleton: Skeleton) -> npt.NDArray[np.int64]:
    """(J,) the joint on the other side of each; itself for what is in the middle or has no partner."""
    other, known = np.arange(len(skeleton)), skeleton.role_of()
    for role, joints in skeleton.roles.items():
        if role[-2:] in ("_L", "_R"):
            opposite = skeleton.roles.get(role[:-1] + ("R" if role.endswith("L") else "L"), ())
            for here, there in zip(joints, opposite, strict=False):
                other[here] = there
    feet = skeleton.has("shin_L", "foot_L", "shin_R", "foot_R")
    near = _ALIKE * (skeleton.leg_length() if feet else float(np.abs(skeleton.offsets).max()))
    loose = [j for j in range(1, len(skeleton)) if j not in known]
    for j in loose:
        # parents come first, so that theirs is known
        beside = [k for k in loose if skeleton.parents[k] == other[skeleton.parents[j]]]
        apart = [np.linalg.norm(skeleton.offsets[k] - skeleton.offsets[j] * (-1.0, 1.0, 1.0)) for k in beside]
        best = int(np.argmin(apart)) if apart else -1
        if best >= 0 and apart[best] < near:
            other[j] = beside[best]
    mutual = other[other] == np.arange(len(other))
    return np.where(mutual, other, np.arange(len(other)))


def _reflected(places: Array, origin: Array, across: Array) -> Array:
    """Places (T, 3) on the other side of a plane through `origin` to which `across` is normal."""
    out: Array = places - 2.0 * ((places - origin) @ across)[:, None] * across
    return out


def _other_name(name: str, joints: Mapping[str, str]) -> str:
    """A name with its parts, between slashes, on the other side."""
    return "/".join(_other_part(part, joints) for part in name.split("/"))


def _other_part(part: str, joints: Mapping[str, str]) -> str:
    if part in joints:
        return joints[part]
    for left, right in _SIDES:
        if part.endswith(left):
            return part[: -len(left)] + right
        if part.endswith(right):
            return part[: -len(right)] + left
    return part


def _other_event(event: Event, joints: Mapping[str, str], origin: Array, across: Array) -> Event:
    """An event on the other side; a place on the ground in its data, x, y and heading, is that of the mirror image."""
    data: dict[str, Any] = {k: _other_part(v, joints) if isinstance(v, str) else v for k, v in event.data.items()}
    if {"x", "y"} <= data.keys():
        place = _reflected(np.array([[data["x"], data["y"], 0.0]]), origin, across)[0]
        data["x"], data["y"] = float(place[0]), float(place[1])
    if "heading" in data:
        data["heading"] = float(2 * np.arctan2(across[1], across[0]) - data["heading"])
    return Event(event.time, _other_name(event.name, joints), data)
