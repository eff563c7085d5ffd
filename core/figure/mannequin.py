"""The skeleton of the built-in mannequin: a person of any stature in the neutral stance, and the A-pose of its mesh.

Heights and limb lengths follow `anthropometry`; joint centres in trunk, head and hand are those of an average adult.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kinematics.anatomy import default_limits, with_angles
from ..kinematics.fk import forward
from ..maths import quat
from ..params import Params, param
from ..skeleton import FINGERS, SIDES, Array, Pose, Skeleton
from .anthropometry import HEIGHTS, LENGTHS, check_stature

THEMES = (
    ("studio", "Neutral suit whose left side is blue and right side red, so that sides are told apart in any pose"),
    ("clay", "One warm grey, for looking at form and silhouette"),
    ("dummy", "Crash-test yellow with dark joints"),
)
HAIR = (("short", "Short hair"), ("bun", "Hair tied in a bun"), ("none", "A bald head"))


@dataclass(frozen=True)
class MannequinParams(Params):
    """What *Add actor* asks for."""

    height: float = param(1.75, lo=0.5, hi=2.5, unit="m", help="Stature from the soles to the top of the head")
    build: float = param(0.0, lo=-1.0, hi=1.0, help="From slender (-1) over average (0) to heavy (1)")
    shape: float = param(0.4, lo=0.0, hi=1.0, help="From masculine (0) to feminine (1)")
    hair: str = param("short", choices=HAIR, help="What is on the head")
    theme: str = param("studio", choices=THEMES, help="Colours of skin and suit")


Place = tuple[float, float, float]
Row = tuple[str, str, Place, Place | None]

# Left half and midline as fractions of stature (left, back, up): joint, its parent, its place in the neutral stance,
# and the end of its segment from there where that is not the first joint below it.
_SHOULDER, _HIP = (0.100, 0.006, HEIGHTS["shoulder"]), (0.050, 0.0, HEIGHTS["hip"])
_ELBOW = (*_SHOULDER[:2], _SHOULDER[2] - LENGTHS["upper_arm"])
_WRIST = (*_SHOULDER[:2], _ELBOW[2] - LENGTHS["forearm"])
_BODY: tuple[Row, ...] = (
    ("hips", "", (0.0, 0.0, HEIGHTS["hip"]), None),
    ("spine_01", "hips", (0.0, 0.008, 0.575), None),
    ("spine_02", "spine_01", (0.0, 0.006, 0.645), None),
    ("spine_03", "spine_02", (0.0, 0.014, 0.725), None),
    ("neck", "spine_03", (0.0, 0.020, 0.838), None),
    ("head", "neck", (0.0, 0.006, 0.905), (0.0, 0.0, 0.095)),
    ("jaw", "head", (0.0, -0.004, 0.917), (0.0, -0.050, -0.043)),
    ("eye.L", "head", (0.0183, -0.0431, HEIGHTS["eye"]), (0.0, -0.015, 0.0)),
    ("clavicle.L", "spine_03", (0.010, -0.022, 0.812), None),
    ("upper_arm.L", "clavicle.L", _SHOULDER, None),
    ("forearm.L", "upper_arm.L", _ELBOW, None),
    ("hand.L", "forearm.L", _WRIST, (0.0, 0.0, -0.475 * LENGTHS["hand"])),
    ("thigh.L", "hips", _HIP, None),
    ("shin.L", "thigh.L", (*_HIP[:2], _HIP[2] - LENGTHS["thigh"]), None),
    ("foot.L", "shin.L", (*_HIP[:2], HEIGHTS["ankle"]), None),
    ("toe.L", "foot.L", (_HIP[0], -0.078, 0.012), (0.0, -0.040, 0.0)),
)

# Fingers as fractions of hand length. Roots from the wrist: to the fingertips, to the thumb, to the back of the hand.
# The knuckles average to (d, 0, 0) and index and pinky lie level, so that these four define the axes of the hand.
_ROOTS = {
    "thumb": (0.130, 0.125, -0.060),
    "index": (0.500, 0.150, -0.007),
    "middle": (0.505, 0.045, 0.010),
    "ring": (0.470, -0.060, 0.004),
    "pinky": (0.425, -0.135, -0.007),
}
_PHALANGES = {
    "thumb": (0.250, 0.180, 0.145),
    "index": (0.230, 0.140, 0.115),
    "middle": (0.250, 0.155, 0.120),
    "ring": (0.235, 0.150, 0.120),
    "pinky": (0.185, 0.115, 0.105),
}
_SPREAD = {"thumb": 0.62, "index": 0.12, "middle": 0.03, "ring": -0.06, "pinky": -0.18}
_CURL = {"thumb": (0.42, 0.12, 0.10), **dict.fromkeys(FINGERS[1:], (0.10, 0.16, 0.12))}
"""Relaxed fingers [rad]: spread to the thumb side and cumulative curl to the palm side of each phalanx."""

ARM_CLEARANCE = 0.14
"""Abduction at which a straight arm hangs clear of hip and thigh [rad]."""

_REST = {  # flexion, abduction, rotation [rad]; a little flexion shows which way elbow and knee bend
    "upper_arm": (0.0, 0.70, 0.0),
    "forearm": (0.17, 0.0, 0.0),
    "thigh": (0.05, 0.06, 0.0),
    "shin": (0.10, 0.0, 0.0),
}
_TOE_OUT = 0.10


def mannequin(height: float = 1.75) -> Skeleton:
    """The mannequin's skeleton in the neutral stance: 51 joints named as in its armature.

    Args:
        height: Stature [m].
    """
    check_stature(height)
    places: dict[str, Array] = {}
    ends: dict[str, Array] = {}
    above: dict[str, str] = {}
    for name, parent, place, end in (*_BODY, *_fingers()):
        for key, up, mirror in ((name, parent, (1.0, 1.0, 1.0)), (_right(name), _right(parent), (-1.0, 1.0, 1.0))):
            places[key], above[key] = height * np.multiply(place, mirror), up
            if end is not None:
                ends[key] = height * np.multiply(end, mirror)
            if up not in ends and up:
                ends[up] = places[key] - places[up]
    names = tuple(places)
    index = {name: j for j, name in enumerate(names)}
    parents = np.array([index.get(above[name], -1) for name in names])
    spots = np.array([places[name] for name in names])
    roles = _roles(names)
    return Skeleton(
        names=names,
        parents=parents,
        offsets=spots - np.where(parents[:, None] < 0, 0.0, spots[parents]),
        tips=np.array([ends[name] for name in names]),
        roles=roles,
        limits=default_limits(roles, len(names)),
        arm_clearance=ARM_CLEARANCE,
    )


def rest_pose(skeleton: Skeleton) -> Pose:
    """The pose of the mesh: arms out by 40 degrees, elbows and knees bent a little, feet flat on the ground."""
    still = np.tile(quat.IDENTITY, (len(skeleton), 1))
    turns = with_angles(skeleton, still, {f"{part}_{side}": a for part, a in _REST.items() for side in SIDES})
    for side, out in zip(SIDES, (_TOE_OUT, -_TOE_OUT), strict=True):
        leg = quat.multiply(turns[skeleton.joint(f"thigh_{side}")], turns[skeleton.joint(f"shin_{side}")])
        flat = quat.about(np.array([0.0, 0.0, 1.0]), out)
        turns[skeleton.joint(f"foot_{side}")] = quat.multiply(quat.conjugate(leg), flat)
    ankle = skeleton.joint("foot_L")
    standing, bent = (forward(skeleton, q, skeleton.offsets[0])[0][ankle, 2] for q in (still, turns))
    return Pose(turns, skeleton.offsets[0] + (0.0, 0.0, standing - bent))


def _right(name: str) -> str:
    return name[:-1] + "R" if name.endswith(".L") else name


def _fingers() -> list[Row]:
    """Joints of the left fingers as rows of `_BODY`."""
    rows: list[Row] = []
    for finger in FINGERS:
        joint, above, spread = _WRIST + _in_stance(_ROOTS[finger]), "hand.L", _SPREAD[finger]
        for k, (length, curl) in enumerate(zip(_PHALANGES[finger], np.cumsum(_CURL[finger]), strict=True), 1):
            along = length * np.cos(curl)
            step = _in_stance((along * np.cos(spread), along * np.sin(spread), -length * np.sin(curl)))
            rows.append((f"{finger}_0{k}.L", above, tuple(joint), tuple(step) if k == 3 else None))
            joint, above = joint + step, f"{finger}_0{k}.L"
    return rows


def _in_stance(v: tuple[float, float, float]) -> Array:
    """A place in the left hand (see `_ROOTS`) as it lies in the neutral stance, in fractions of stature."""
    fingertips, thumb, back = v
    return LENGTHS["hand"] * np.array([back, -thumb, -fingertips])


def _roles(names: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    roles: dict[str, tuple[int, ...]] = {}
    for j, name in enumerate(names):
        stem, _, side = name.partition(".")
        role = stem.rstrip("0123456789").rstrip("_") + (f"_{side}" if side else "")
        roles[role] = (*roles.get(role, ()), j)
    return roles
