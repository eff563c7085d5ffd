"""Crouching: hips go down and back, knees and trunk bend, and the weight stays over feet that stay where they are.

Where an ankle would bend further than one that bears weight can, the heel comes up and the foot turns on its ball.
"""

from __future__ import annotations

import numpy as np

from ...filters.contacts import heel_and_ball
from ...kinematics import anatomy, fk
from ...kinematics.balance import centre_of_mass
from ...kinematics.limb_ik import LIMBS, place_limb
from ...maths import quat
from ...maths.ramp import smootherstep
from ...motion import Motion
from ...skeleton import SIDES, Array, Pose, Skeleton

DEEP = 0.58
"""How far the hips go down at most [leg lengths]."""
BOW = np.radians(110.0)
"""How far the trunk bends forward then, pelvis and spine together [rad]."""
_PELVIS = 0.25
"""Part of that which is the pelvis'."""
BOWING, _HINGE = 0.08, 0.5
"""How far the hips of somebody go down who bows over something [leg lengths], and the part of the pelvis then."""
_LEVEL = 0.35
"""Part of that which neck and head take back."""
_OPEN = np.radians(14.0)
"""How far the knees go apart then [rad]."""
_ELBOW = np.radians(80.0)
"""How far the elbows bend then, so that hands do not come to the floor [rad]."""
ANKLE = np.radians(anatomy.LIMITS["foot"][0][1])
"""How far an ankle bends [rad]."""
_STANDS = 0.8
"""Height of the hips of somebody who stands, over the ankles [leg lengths]."""
_ROUNDS = 8
SLOW, LONG = 0.45, 0.75
"""Time that a crouch takes in any case, and time more that the deepest takes [s]."""


def can_crouch(skeleton: Skeleton, pose: Pose) -> bool:
    """Whether somebody has what it takes, and stands."""
    needed = [role for side in SIDES for role in LIMBS[f"foot_{side}"]]
    if not skeleton.has("spine", *needed):
        return False
    positions, _ = fk.forward(skeleton, pose.rotations, pose.root)
    ankles = positions[[skeleton.joint(f"foot_{side}") for side in SIDES], 2]
    return bool(pose.root[2] - ankles.max() > _STANDS * skeleton.leg_length())


def crouched(
    skeleton: Skeleton, pose: Pose, amounts: Array, deep: float = DEEP, back: float = 0.0
) -> tuple[Array, Array]:
    """Bend the knees of somebody who stands; upper arms hang as they did.

    Args:
        skeleton: J joints.
        pose: As it stands.
        amounts: (T,) how far, from 0 for as it is to 1 for as low as it goes.
        deep: How far down the hips go then [leg lengths]; little for somebody who bows.
        back: How far the arms are kept at the trunk, from 0 for hanging to 1.

    Returns:
        roots (T, 3) [m] and rotations (T, J, 4).
    """
    amounts = np.asarray(amounts, dtype=np.float64)
    count, leg = len(amounts), skeleton.leg_length()
    places, turns = fk.forward(skeleton, pose.rotations, pose.root)
    facing = float(quat.heading(turns[0]))
    ahead, across = np.array([np.sin(facing), -np.cos(facing), 0.0]), np.array([np.cos(facing), np.sin(facing), 0.0])
    rotations = _bowed(skeleton, pose, turns, across, amounts, deep / DEEP, back)
    feet = [skeleton.joint(f"foot_{side}") for side in SIDES]
    balls = [quat.rotate(turns[foot], heel_and_ball(skeleton, side)[1]) for foot, side in zip(feet, SIDES, strict=True)]
    middle = places[feet].mean(axis=0)
    # between heel and ball while the heels are down, over the balls when they are up
    here = float((centre_of_mass(skeleton, places) - middle) @ ahead)
    front = float(np.mean([ball @ ahead for ball in balls]))
    roots = np.tile(pose.root, (count, 1)) - np.outer(amounts * deep * leg, [0.0, 0.0, 1.0])
    raised = np.zeros((count, len(SIDES)))
    out = rotations
    for _ in range(_ROUNDS):
        positions, globals_ = fk.forward(skeleton, rotations, roots)
        for k, (side, foot, ball) in enumerate(zip(SIDES, feet, balls, strict=True)):
            pivot = quat.about(across, raised[:, k])
            goals = places[foot] + ball - quat.rotate(pivot, ball)
            outward = (1.0 if side == "L" else -1.0) * _OPEN * amounts
            globals_ = place_limb(skeleton, globals_, positions, LIMBS[f"foot_{side}"], goals, -outward)
            globals_[:, foot] = quat.multiply(pivot, turns[foot])
            for toe in skeleton.roles.get(f"toe_{side}", ()):
                globals_[:, toe] = turns[toe]
        out = fk.local_rotations(skeleton, globals_)
        for k, side in enumerate(SIDES):
            bend = anatomy.joint_angles(out[:, feet[k]], f"foot_{side}")[:, 0]
            raised[:, k] = np.maximum(raised[:, k] + bend - max(ANKLE, float(bend[amounts.argmin()])), 0.0)
        positions, _ = fk.forward(skeleton, out, roots)
        up = np.clip(raised.mean(axis=1) / np.radians(25.0), 0.0, 1.0)
        wanted = here + np.minimum(amounts / 0.25, 1.0) * (front * (0.45 + 0.45 * up) - here)
        off = (centre_of_mass(skeleton, positions) - middle) @ ahead - wanted
        roots = roots - np.outer(off, ahead)
    return roots, quat.continuous(out)


def going_down(
    skeleton: Skeleton, pose: Pose, amount: float, fps: float, deep: float = DEEP, back: float = 0.0
) -> Motion:
    """Somebody who stands crouches by an amount, from 0 to 1; see `crouched`."""
    count = max(2, int(np.ceil((SLOW + LONG * amount) * fps)))
    roots, rotations = crouched(skeleton, pose, amount * smootherstep(np.arange(count + 1) / count), deep, back)
    planted = np.ones(count + 1)
    curves = {f"contact/toe_{side}": planted for side in SIDES}
    return Motion(skeleton, fps, roots, rotations, curves=curves)


def backwards(motion: Motion) -> Motion:
    """A motion from its end to its beginning, without its events."""
    curves = {name: values[::-1] for name, values in motion.curves.items()}
    base = None if motion.base is None else motion.base[::-1]
    return Motion(motion.skeleton, motion.fps, motion.roots[::-1], motion.rotations[::-1], base, None, curves)


def _bowed(
    skeleton: Skeleton, pose: Pose, turns: Array, across: Array, amounts: Array, low: float, back: float
) -> Array:
    """(T, J, 4) with pelvis and spine bent forward, the head less, and upper arms hanging, or kept back.

    The less low it goes (1 for a crouch) the more of it is the pelvis'.
    """
    pelvis = _PELVIS + (_HINGE - _PELVIS) * (1.0 - low)
    bow = BOW * amounts
    globals_ = np.tile(turns, (len(amounts), 1, 1))
    spine = list(skeleton.chain("spine"))
    head = [j for role in ("neck", "head") for j in skeleton.roles.get(role, ())]
    share = np.zeros(len(skeleton))
    share[0] = pelvis
    for k, joint in enumerate(spine):
        share[joint] = pelvis + (1.0 - pelvis) * (k + 1) / len(spine)
    for k, joint in enumerate(head):
        share[joint] = 1.0 - _LEVEL * (k + 1) / len(head)
    arms = {j for side in SIDES for j in skeleton.roles.get(f"upper_arm_{side}", ())}
    elbows = {j for side in SIDES for j in skeleton.roles.get(f"forearm_{side}", ())}
    own, bent = {0, *spine, *head}, np.zeros(len(skeleton))
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if joint not in own and parent >= 0:
            share[joint] = back * share[parent] if joint in arms else share[parent]
        bent[joint] = 1.0 if joint in elbows else bent[parent] if parent >= 0 else 0.0
    lean = quat.about(across, bow[:, None] * share - (low * _ELBOW * amounts * amounts)[:, None] * bent)
    return fk.local_rotations(skeleton, quat.multiply(lean, globals_))
