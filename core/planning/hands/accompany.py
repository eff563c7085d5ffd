"""A trunk that goes along with its hands: it turns and leans a little to where they reach, and they keep to their way.

Nobody moves an arm alone. A hand that goes forward or up brings its shoulder along, more the farther it goes: the
collar bone follows it, the trunk turns about its own axis and leans the way the hand goes. Hands stay where they were
planned to be; only the arms between them and the trunk are bent otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...kinematics import anatomy, fk
from ...kinematics.arm_chain import arm_chain, spans
from ...kinematics.arm_goals import WITHIN
from ...kinematics.arm_ik import ArmPoses, solve_arms, swivels
from ...maths import quat
from ...maths.ramp import smootherstep
from ...motion import Motion
from ...skeleton import SIDES, Array, Skeleton

LEAN, TURN, GIRDLE = np.radians(12.0), np.radians(14.0), np.radians(12.0)
"""How far a trunk would lean and turn, and a collar bone turn, for a hand that goes as far as its arm is long [rad]."""
PARTS = (1.0, 0.5)
"""Of how far it would go, what is tried where an arm does not bend so."""


def accompanied(motion: Motion, sides: Sequence[str], moments: tuple[int, int, int], amount: float) -> Motion | None:
    """A body whose trunk goes along with its hands.

    Args:
        motion: T samples of a body whose trunk keeps still.
        sides: The hands that move.
        moments: Samples from which it goes along, from which it comes back, and at which it is back.
        amount: How much of what it would do it does, 0 to 1.

    Returns:
        The same with hands as they were; None where there is no trunk to move, or an arm would be too short for it or
        bent beyond its limits.
    """
    skeleton, (first, back, last) = motion.skeleton, moments
    if amount <= 0.0 or not skeleton.has("spine") or last <= back:
        return None
    at = slice(first, last)
    planned = replace(motion, roots=motion.roots[at], rotations=motion.rotations[at], base=None, curves={}, events=())
    places = fk.forward(skeleton, planned.rotations, planned.roots)
    wanted = _drawn(skeleton, places[0], sides)
    left = np.ones(last - first)
    left[back - first :] -= smootherstep(np.arange(last - back) / (last - back))
    at_most = np.minimum(np.arange(last - first), back - first)
    wanted = {joint: amount * left[:, None] * turns[at_most] for joint, turns in wanted.items()}
    arms = _reaching(skeleton, *places, *places, sides)
    joints = arms.joints.ravel()
    changed = [*joints, *wanted]
    allowed = _over(planned, changed)
    # what joints have beside the angles of an arm they keep
    own = quat.multiply(quat.conjugate(_flat(arms)), planned.rotations[:, joints])
    for part in PARTS:
        rotations = _turned(skeleton, planned.rotations, places[1], wanted, part)
        bent = _reaching(skeleton, *fk.forward(skeleton, rotations, planned.roots), *places, sides)
        rotations[:, joints] = quat.multiply(_flat(bent), own)
        if bent.gaps.any() or (_over(replace(planned, rotations=rotations), changed) > allowed + WITHIN).any():
            continue
        whole = np.array(motion.rotations)
        whole[at] = rotations
        return replace(motion, rotations=quat.continuous(whole))
    return None


def _drawn(skeleton: Skeleton, positions: Array, sides: Sequence[str]) -> dict[int, Array]:
    """Rotation vectors (T, 3) by which hands draw joints of spine and girdle along, in the world [rad]."""
    spine = skeleton.chain("spine")
    low = positions[0, spine[0]]
    shoulders = positions[0, [skeleton.joint(f"upper_arm_{side}") for side in sides]]
    girdle = positions[0, [skeleton.joint(f"upper_arm_{side}") for side in SIDES if skeleton.has(f"upper_arm_{side}")]]
    axis = quat.unit(girdle.mean(axis=0) - low)
    hands = positions[:, [skeleton.joint(f"hand_{side}") for side in sides]]
    gone = (hands - hands[:1]) / spans(arm_chain(skeleton, sides), 1.0)[1]
    # ever less the farther
    gone /= np.sqrt(1.0 + quat.dot(gone, gone))[..., None]
    out = quat.unit(_across(shoulders - low, axis))
    level = _across(gone, axis)
    lean = np.cross(axis, level).mean(axis=1)
    turn = quat.dot(np.cross(out, level), axis).mean(axis=1)
    drawn = dict.fromkeys(spine, (LEAN * lean + TURN * turn[:, None] * axis) / len(spine))
    for k, side in enumerate(sides):
        for joint in skeleton.roles.get(f"clavicle_{side}", ()):
            drawn[joint] = GIRDLE * np.cross(out[k], gone[:, k])
    return drawn


def _across(v: Array, axis: Array) -> Array:
    """What of vectors (..., 3) lies across a unit axis (3,)."""
    return np.asarray(v - quat.dot(v, axis)[..., None] * axis)


def _turned(skeleton: Skeleton, rotations: Array, globals: Array, turns: Mapping[int, Array], part: float) -> Array:
    """Rotations (T, J, 4) with joints turned further by part of rotation vectors (T, 3) in the world."""
    out = np.array(rotations)
    for joint, turn in turns.items():
        above = quat.conjugate(globals[:, skeleton.parents[joint]])
        out[:, joint] = quat.multiply(quat.exp(part * quat.rotate(above, turn)), out[:, joint])
    return out


def _reaching(
    skeleton: Skeleton, positions: Array, globals: Array, planned: Array, turned: Array, sides: Sequence[str]
) -> ArmPoses:
    """Arms of bodies whose hands are where, and whose elbows are to the side to which, those that were planned are."""
    hands = [skeleton.joint(f"hand_{side}") for side in sides]
    return solve_arms(
        skeleton,
        positions,
        globals,
        planned[:, hands],
        turned[:, hands],
        sides=sides,
        swivel=swivels(skeleton, planned, turned, sides),
        limits=False,
    )


def _flat(arms: ArmPoses) -> Array:
    """(T, 3 S, 4) rotations of the joints of arms."""
    return arms.rotations.reshape(len(arms.rotations), -1, 4)


def _over(motion: Motion, joints: Sequence[int]) -> Array:
    """(K,) how far joints are beyond their limits, at most [rad]."""
    return np.asarray(np.abs(anatomy.violations(motion)[:, joints]).max(axis=(0, 2)))
