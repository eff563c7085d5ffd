"""Props in hands without a reach before: how a hand holds something, from its shape or from grasps made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...errors import NoGrasp
from ...kinematics import fk
from ...kinematics.fingers import close_fingers, finger_joints, grip_place, hand_length, open_fingers, palm_axes
from ...maths import quat
from ...motion import Motion
from ...skeleton import Array, Pose, Skeleton
from ...world import Body, World
from ..spaces.penetration import Penetration, penetrations
from ..spaces.solids import Shapes, parted
from .grasp import ANY, Grasp, for_purpose
from .grasp_forms import grasps_of
from .stages import Holding

TRIED = 8
"""Grasps that fingers are closed with before the best of them is taken anyhow."""
CLOSING = 4
"""Poses of a hand that closes at which it is looked at."""


def in_hand(
    skeleton: Skeleton, side: str, body: Body, grasps: Sequence[Grasp] | None = None, purpose: str = ANY
) -> Holding:
    """A prop held by the best of its grasps that fits the hand.

    Args:
        skeleton: Whose hand.
        side: "L" or "R".
        body: The prop, with its mesh.
        grasps: Made by hand; None for those that follow from its shape.
        purpose: What it is held for.

    Raises:
        NoGrasp: It is too large for the hand, or has no grasp for the purpose.
    """
    known = grasps_of(body, hand_length(skeleton, side)) if grasps is None else list(grasps)
    if not known:
        raise NoGrasp(f"{body.name} is too large for hand_{side}; hold it with both, or give it a grasp")
    fits = [g for g in for_purpose(known, purpose) if g.side in (ANY, side)]
    if not fits:
        raise NoGrasp(f"no grasp of {body.name} is for hand_{side}")
    tried = sorted(fits, key=lambda g: -g.quality)[:TRIED]
    loose: Holding | None = None
    for grasp in tried:
        offset = grasp_offset(skeleton, side, grasp, np.asarray(body.matrices[0]))
        holding, firm = _closed(skeleton, side, body, grasp, offset)
        if firm:
            return holding
        loose = loose or holding
    assert loose is not None
    return loose


def as_it_is(
    skeleton: Skeleton, pose: Pose, side: str, body: Body, matrix: Array, shape: str = "cylindrical"
) -> Holding:
    """A prop at a matrix (4, 4) held where it is by a hand where it is, the fingers closed on it from a shape."""
    hand = hand_matrix(skeleton, pose.rotations, pose.root, side)
    offset = np.linalg.inv(hand) @ matrix
    frame = np.eye(4)
    turn, _ = parted(matrix)
    grip = np.eye(4)
    grip[:3, :3], grip[:3, 3] = palm_axes(side), grip_place(skeleton, side, shape)
    there = hand @ grip
    frame[:3, :3], frame[:3, 3] = turn.T @ there[:3, :3], turn.T @ (there[:3, 3] - matrix[:3, 3])
    return _closed(skeleton, side, body, Grasp(frame, shape, side=side, name="as it is"), offset)[0]


def grasp_offset(skeleton: Skeleton, side: str, grasp: Grasp, matrix: Array) -> Array:
    """(4, 4) of a prop in the axes of the hand that holds it by a grasp; its matrix (4, 4) tells its scale."""
    _, scale = parted(matrix)
    grip = np.eye(4)
    grip[:3, :3], grip[:3, 3] = palm_axes(side), grip_place(skeleton, side, grasp.shape)
    return np.asarray(grip @ np.linalg.inv(grasp.frame) @ np.diag([*np.broadcast_to(scale, 3), 1.0]))


def hand_matrix(skeleton: Skeleton, rotations: Array, roots: Array, side: str) -> Array:
    """(..., 4, 4) of a hand of bodies with rotations (..., J, 4) and roots (..., 3)."""
    positions, globals = fk.forward(skeleton, rotations, roots)
    joint = skeleton.joint(f"hand_{side}")
    out = np.zeros((*positions.shape[:-2], 4, 4))
    out[..., :3, :3], out[..., :3, 3] = quat.to_matrix(globals[..., joint, :]), positions[..., joint, :]
    out[..., 3, 3] = 1.0
    return out


def opened_around(skeleton: Skeleton, rotations: Array, side: str, body: Body, grasp: Grasp, offset: Array) -> Array:
    """Rotations (J, 4) with the hand open in the shape of a grasp, its fingers in nothing of a prop it is about to hold
    or lets go of, which is at an offset (4, 4) in its axes."""
    still = np.tile(quat.IDENTITY, (len(skeleton), 1))
    matrix = hand_matrix(skeleton, still, np.zeros(3), side) @ offset
    thing = World((replace(body, matrices=matrix[None]),))
    out, fingers = np.array(rotations), finger_joints(skeleton, side)
    out[fingers] = open_fingers(skeleton, still, np.zeros(3), side, grasp.shape, thing)[fingers]
    return out


def closing_into(
    skeleton: Skeleton, root: Array, side: str, opened: Array, shut: Array, world: World, shapes: Shapes | None = None
) -> Penetration | None:
    """What fingers are in the deepest on their way from one pose (J, 4) to another, if in anything."""
    fingers = finger_joints(skeleton, side)
    rotations = np.repeat(shut[None], CLOSING, axis=0)
    rotations[:, fingers] = quat.slerp(opened[fingers], shut[fingers], np.linspace(0.0, 1.0, CLOSING)[:, None])
    motion = Motion(skeleton, world.fps, np.tile(root, (CLOSING, 1)), rotations)
    found = penetrations(motion, world, parts=("fingers", "thumb"), sides=(side,), shapes=shapes)
    return max(found, key=lambda o: o.depth, default=None)


def _closed(skeleton: Skeleton, side: str, body: Body, grasp: Grasp, offset: Array) -> tuple[Holding, bool]:
    """The holding, and whether it is firm: a hand without fingers holds whatever it is told."""
    still = np.tile(quat.IDENTITY, (len(skeleton), 1))
    matrix = hand_matrix(skeleton, still, np.zeros(3), side) @ offset
    thing = World((replace(body, matrices=matrix[None]),))
    grip = close_fingers(skeleton, still, np.zeros(3), side, grasp.shape, thing)
    return Holding(body.name, side, grasp, offset, grip.rotations), grip.firm or not grip.gaps
