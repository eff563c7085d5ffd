"""Arms that hold something while the trunk under them comes to lean: the hands stay on the way that was planned."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import NoIK
from ...kinematics import fk
from ...kinematics.arm_goals import WITHIN
from ...kinematics.arm_ik import solve_arms, swivels
from ...maths import quat
from ...skeleton import Array, Skeleton
from ..spaces.arm_space import Arm


def followed(
    skeleton: Skeleton,
    root: Array,
    sides: Sequence[str],
    arms: Sequence[Arm],
    bodies: Array,
    leaned: Array,
    ways: Array,
) -> Array:
    """Rotations (T, 3 A, 4) of arms of a body that bends, whose hands go as those of the body that leans already.

    How far away they are in the beginning fades out as it bends.

    Args:
        skeleton: J joints.
        root: (3,) of the body [m].
        sides: The A arms and
        arms: what is known of them in the body that leans.
        bodies: (T, J, 4) the body as it bends, the first one with its arms as they are.
        leaned: (J, 4) the body that leans.
        ways: (T, 7 A) configurations of its arms.

    Raises:
        NoIK: An arm is too short for it meanwhile, or would pass its limits.
    """
    joints = np.concatenate([arm.joints for arm in arms])
    parts = [ways[:, 7 * k : 7 * k + 7] for k in range(len(arms))]
    frames = [arm.frames(q) for arm, q in zip(arms, parts, strict=True)]
    goals = np.stack([wrist.T for _, wrist, _ in frames], axis=1)
    turns = np.stack([quat.from_matrix(axes.transpose(2, 1, 0)) for *_, axes in frames], axis=1)
    there = np.repeat(leaned[None], len(ways), axis=0)
    there[:, joints] = np.concatenate([arm.rotations(q) for arm, q in zip(arms, parts, strict=True)], axis=-2)
    wanted = swivels(skeleton, *fk.forward(skeleton, there, root), sides)
    positions, globals = fk.forward(skeleton, bodies, root)
    away = swivels(skeleton, positions[:1], globals[:1], sides) - wanted[:1]
    away -= 2.0 * np.pi * np.round(away / (2.0 * np.pi))
    left = 1.0 - bent(skeleton, bodies, leaned)[:, None]
    goals = goals + left[:, None] * (positions[0, joints[2::3]] - goals[0])
    found = solve_arms(skeleton, positions, globals, goals, turns, sides=sides, swivel=wanted + left * away)
    if (found.gaps > 0).any():
        raise NoIK(f"as the trunk leans, a hand is {found.gaps.max():.2f} m out of reach", float(found.gaps.max()))
    if (found.beyond > found.beyond[[0, -1]].max(axis=0) + WITHIN).any():
        raise NoIK("as the trunk leans, an arm would pass its limits")
    out = found.rotations.reshape(len(ways), -1, 4)
    # what the joints have beside the seven angles fades out
    own = quat.multiply(quat.conjugate(out[0]), bodies[0, joints])
    return quat.multiply(out, quat.slerp(quat.IDENTITY, own, left))


def bent(skeleton: Skeleton, bodies: Array, leaned: Array) -> Array:
    """(T,) how far bodies (T, J, 4), of which the first stands upright, are bent as one that leans is: 0 to 1."""
    spine = list(skeleton.chain("spine"))
    far = quat.distance(bodies[:, spine], bodies[0, spine]).sum(axis=-1)
    whole = float(quat.distance(leaned[spine], bodies[0, spine]).sum())
    return np.asarray(np.clip(far / max(whole, 1e-9), 0.0, 1.0))
