"""The mannequin's bones at rest: where they lie, how they are rolled, and how they are grouped for the animator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kinematics.fk import forward, tip_positions
from ..maths import quat
from ..skeleton import FINGERS, Array, Skeleton
from .mannequin import rest_pose

GROUPS = ("Body", "Fingers", "Face")

LEFT, BACK, UP = np.eye(3)
_FACE = ("jaw", "eye.L", "eye.R")
_UPWARD = ("clavicle", "foot", "toe", "eye")


@dataclass(frozen=True, eq=False)
class Bone:
    """A bone from `head` to `tail` (3,) [m], its Z axis as nearly as possible along `roll` (3,), in one of GROUPS."""

    name: str
    parent: str
    head: Array
    tail: Array
    roll: Array
    group: str


def bones(skeleton: Skeleton) -> tuple[Bone, ...]:
    """The bones of `mannequin(height)` in its rest pose, parents first, and a root on the ground before them.

    Turning a bone about its own +X bends it forward (trunk, neck, head, shoulder, elbow, hip), or to the palm (hand,
    fingers); the knee bends about -X like every leg whose bones are rolled alike.
    """
    pose = rest_pose(skeleton)
    places, turns = forward(skeleton, pose.rotations, pose.root)
    ends = tip_positions(skeleton, places, turns)
    rolls = quat.rotate(turns, np.array([_neutral_roll(name) for name in skeleton.names]))
    root = Bone("root", "", np.zeros(3), 0.15 * skeleton.offsets[0, 2] * BACK, UP, "Body")
    return (
        root,
        *(
            Bone(name, skeleton.names[parent] if parent >= 0 else root.name, head, tail, roll, _group(name))
            for name, parent, head, tail, roll in zip(
                skeleton.names, skeleton.parents.tolist(), places, ends, rolls, strict=True
            )
        ),
    )


def _group(name: str) -> str:
    if name.split("_")[0] in FINGERS:
        return "Fingers"
    return "Face" if name in _FACE else "Body"


def _neutral_roll(name: str) -> Array:
    stem, side = name.split("_")[0].split(".")[0], -1.0 if name.endswith(".R") else 1.0
    if stem in FINGERS or stem == "hand":
        return np.asarray(-side * LEFT)
    if stem in _UPWARD:
        return np.asarray(UP)
    return np.asarray(-UP if stem == "jaw" else -BACK)
