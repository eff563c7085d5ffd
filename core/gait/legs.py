"""The legs of a planned walk: closed-form reach from the hips to the feet, turned as far as hips and ankles can."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..kinematics import anatomy, fk
from ..kinematics.limb_ik import LIMBS, place_limb
from ..maths import quat
from ..maths.ramp import wrap
from ..skeleton import SIDES, Array, Skeleton
from .carriage import Carriage
from .feet import above
from .swing import inside

KNEE_TURN = 0.7
"""Part of the turn from pelvis to foot that is made in the hip; the rest is the ankle's."""
UNEASE = np.array([0.03, 0.25])
"""What a swivel of the knee and a twist of the shin cost, against as much beyond a limit."""
FARTHEST = np.radians([50.0, 25.0])
"""Farthest that they are turned [rad]."""
DAMPING = 0.05
SOFT = np.radians(0.6)
"""Limits are come to this softly [rad]."""
STEP = 1e-4
"""By which slopes are found [rad]."""
_UP = np.array([0.0, 0.0, 1.0])

Flags = npt.NDArray[np.bool_]


def reach(
    skeleton: Skeleton,
    rotations: Array,
    carried: Carriage,
    ankles: list[Array],
    soles: list[Array],
    toes: list[Array],
    swivels: Array,
) -> Array:
    """Rotations (T, J, 4) with legs that bring the ankles (T, 3) and soles (T, 4) where they belong."""
    hips_heading = quat.heading(carried.pelvis)
    for k, side in enumerate(SIDES):
        thigh, shin, foot = (skeleton.joint(f"{part}_{side}") for part in ("thigh", "shin", "foot"))
        leg = _leg_skeleton(skeleton, side)
        turned = hips_heading + KNEE_TURN * wrap(quat.heading(soles[k]) - hips_heading)
        globals = np.tile(quat.about(_UP, turned)[:, None], (1, 4, 1))
        globals[:, 0], globals[:, 3] = carried.pelvis, soles[k]
        places = np.empty((len(turned), 4, 3))
        places[:, 0] = carried.roots
        for j in (1, 2, 3):
            places[:, j] = places[:, j - 1] + quat.rotate(globals[:, j - 1], leg.offsets[j])
        solved = place_limb(leg, globals, places, LIMBS[f"foot_{side}"], ankles[k], swivels[k])
        back = quat.conjugate(solved)
        rotations[:, thigh] = quat.multiply(back[:, 0], solved[:, 1])
        rotations[:, shin] = quat.multiply(back[:, 1], solved[:, 2])
        rotations[:, foot] = quat.multiply(back[:, 2], solved[:, 3])
        if skeleton.has(f"toe_{side}"):
            flexion = np.column_stack([toes[k], np.zeros((len(turned), 2))])
            rotations[:, skeleton.joint(f"toe_{side}")] = anatomy.from_angles(flexion, f"toe_{side}")
    return rotations


def turn_within_limits(skeleton: Skeleton, rotations: Array, side: str) -> None:
    """Turn the leg of a side where its ankle would be turned or rolled further than it can, the foot left as it is.

    The knee swivels about the line from hip to ankle and the shin turns about its length: the least of both that keeps
    ankle and hip within their limits, by some steps of Gauss and Newton.
    """
    thigh, shin, foot = (skeleton.joint(f"{part}_{side}") for part in ("thigh", "shin", "foot"))

    def beyond(turns: Array, part: str, joint: int) -> Array:
        """(n, 2) by how much abduction and rotation are beyond what is comfortable [rad]."""
        low, high = skeleton.limits[joint, 1:].T
        angles = anatomy.joint_angles(turns, f"{part}_{side}")[:, 1:]
        return above(angles - high + 2 * SOFT, SOFT) - above(low + 2 * SOFT - angles, SOFT)

    far = [beyond(rotations[:, joint], part, joint) for part, joint in (("foot", foot), ("thigh", thigh))]
    at = np.flatnonzero(np.any(far, axis=(0, 2)))
    if len(at) == 0:
        return
    # three at once: where the turns are, and a little further in each of the two
    upper, lower, sole = (np.tile(rotations[at, joint], (3, 1)) for joint in (thigh, shin, foot))
    shank = skeleton.offsets[foot]
    line = quat.unit(skeleton.offsets[shin] + quat.rotate(lower, shank))
    held, shank = quat.multiply(lower, sole), quat.unit(shank)

    def turned(x: Array) -> tuple[Array, Array, Array]:
        swivel, bent = quat.about(line[: len(x)], x[:, 0]), quat.multiply(lower[: len(x)], quat.about(shank, x[:, 1]))
        loose = quat.multiply(quat.conjugate(bent), quat.multiply(quat.conjugate(swivel), held[: len(x)]))
        return quat.multiply(upper[: len(x)], swivel), bent, loose

    x, aside = np.zeros((len(at), 2)), np.repeat([[0.0, 0.0], [STEP, 0.0], [0.0, STEP]], len(at), axis=0)
    for _ in range(3):
        hip, _, ankle = turned(np.tile(x, (3, 1)) + aside)
        now, *others = np.split(np.concatenate([beyond(ankle, "foot", foot), beyond(hip, "thigh", thigh)], axis=1), 3)
        first, second = ((other - now) / STEP for other in others)
        # a damped step, or two limits that cannot both be kept would send it far away
        (cost, price), b = UNEASE**2, (first * second).sum(axis=1)
        a, c = (first * first).sum(axis=1) + cost + DAMPING, (second * second).sum(axis=1) + price + DAMPING
        p, q = (first * now).sum(axis=1) + cost * x[:, 0], (second * now).sum(axis=1) + price * x[:, 1]
        x = x - np.column_stack([c * p - b * q, a * q - b * p]) / (a * c - b * b)[:, None]
        x = np.clip(x, -FARTHEST, FARTHEST)
    for joint, turn in zip((thigh, shin, foot), turned(x), strict=True):
        rotations[at, joint] = turn


def loosen_ankle(skeleton: Skeleton, rotations: Array, side: str, u: Array, free: Flags) -> None:
    """Keep a swinging foot from being turned or rolled further than its ankle can; `u` (T,) is the part of its swing.

    A planted foot lies as the ground does, whatever its ankle says.
    """
    role, joint = f"foot_{side}", skeleton.joint(f"foot_{side}")
    at = np.flatnonzero(free)
    angles = anatomy.joint_angles(rotations[at, joint], role)
    low, high = skeleton.limits[joint, 1:].T
    held = np.clip(angles[:, 1:], low, high)
    if np.array_equal(held, angles[:, 1:]):
        return
    angles[:, 1:] += inside(u[at])[:, None] * (held - angles[:, 1:])
    rotations[at, joint] = anatomy.from_angles(angles, role)


def plant_again(skeleton: Skeleton, rotations: Array, roots: Array, ankles: list[Array], soles: list[Array]) -> Array:
    """Rotations (T, J, 4) with the ankles (T, 3) and soles (T, 4) back in their places, the legs bent as they were."""
    for k, side in enumerate(SIDES):
        joints = [0, *(skeleton.joint(f"{part}_{side}") for part in ("thigh", "shin", "foot"))]
        leg = _leg_skeleton(skeleton, side)
        places, globals = fk.forward(leg, rotations[:, joints], roots)
        globals[:, 3] = soles[k]
        solved = place_limb(leg, globals, places, LIMBS[f"foot_{side}"], ankles[k])
        rotations[:, joints] = fk.local_rotations(leg, solved)
    return rotations


def _leg_skeleton(skeleton: Skeleton, side: str) -> Skeleton:
    """The hips and one leg of a skeleton."""
    joints = [0, *(skeleton.joint(f"{part}_{side}") for part in ("thigh", "shin", "foot"))]
    return Skeleton(
        names=tuple(skeleton.names[j] for j in joints),
        parents=np.array([-1, 0, 1, 2]),
        offsets=skeleton.offsets[joints],
        tips=skeleton.tips[joints],
        roles={"hips": (0,), **{f"{part}_{side}": (k + 1,) for k, part in enumerate(("thigh", "shin", "foot"))}},
        limits=skeleton.limits[joints],
    )
