"""A trunk that goes along with its hands: it turns and leans a little to where they reach, and they keep to their way.

Nobody moves an arm alone. A hand that goes forward brings its shoulder along, more the farther it goes: the trunk turns
about its own axis and leans the way the hand goes. Hands stay where they were planned to be; only the arms between them
and the trunk are bent otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
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

LEAN, TURN = np.radians(12.0), np.radians(14.0)
"""How far a trunk would lean and turn for a hand that has gone as far as its arm is long [rad]."""
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
    wanted = amount * _drawn(skeleton, places[0], sides)
    left = 1.0 - smootherstep(np.arange(last - back) / (last - back))
    wanted[back - first :] = left[:, None] * wanted[back - first]
    arms = _reaching(skeleton, *places, *places, sides)
    joints = arms.joints.ravel()
    changed = [*joints, *skeleton.chain("spine")]
    allowed = _over(planned, changed)
    # what joints have beside the angles of an arm they keep
    own = quat.multiply(quat.conjugate(_flat(arms)), planned.rotations[:, joints])
    for part in PARTS:
        rotations = _leaned(skeleton, planned.rotations, places[1], part * wanted)
        bent = _reaching(skeleton, *fk.forward(skeleton, rotations, planned.roots), *places, sides)
        rotations[:, joints] = quat.multiply(_flat(bent), own)
        if bent.gaps.any() or (_over(replace(planned, rotations=rotations), changed) > allowed + WITHIN).any():
            continue
        whole = np.array(motion.rotations)
        whole[at] = rotations
        return replace(motion, rotations=quat.continuous(whole))
    return None


def _drawn(skeleton: Skeleton, positions: Array, sides: Sequence[str]) -> Array:
    """(T, 3) rotation vectors by which hands draw the trunk along, in the world [rad]."""
    low = positions[0, skeleton.chain("spine")[0]]
    shoulders = positions[0, [skeleton.joint(f"upper_arm_{side}") for side in sides]]
    girdle = positions[0, [skeleton.joint(f"upper_arm_{side}") for side in SIDES if skeleton.has(f"upper_arm_{side}")]]
    axis = quat.unit(girdle.mean(axis=0) - low)
    hands = positions[:, [skeleton.joint(f"hand_{side}") for side in sides]]
    long = spans(arm_chain(skeleton, sides), 1.0)[1].ravel()
    gone = (hands - hands[:1]) / long[:, None]
    gone -= quat.dot(gone, axis)[..., None] * axis
    # ever less the farther
    gone /= np.sqrt(1.0 + quat.dot(gone, gone))[..., None]
    out = shoulders - low
    out -= quat.dot(out, axis)[..., None] * axis
    lean = np.cross(axis, gone).mean(axis=1)
    turn = quat.dot(np.cross(quat.unit(out), gone), axis).mean(axis=1)
    return np.asarray(LEAN * lean + TURN * turn[:, None] * axis)


def _leaned(skeleton: Skeleton, rotations: Array, globals: Array, turns: Array) -> Array:
    """Rotations (T, J, 4) with the joints of the spine sharing rotation vectors of the world (T, 3)."""
    spine = list(skeleton.chain("spine"))
    above = globals[:, skeleton.parents[spine]]
    own = quat.exp(quat.rotate(quat.conjugate(above), turns[:, None] / len(spine)))
    out = np.array(rotations)
    out[:, spine] = quat.multiply(own, rotations[:, spine])
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
