"""Where feet can be: out of the floor, and within reach of legs whose knees do not pop."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kinematics import fk
from ..kinematics.limb_ik import LIMBS
from ..maths import quat
from ..maths.ramp import lerp, smoothstep
from ..maths.window import covering
from ..motion import Motion
from ..skeleton import SIDES, Array
from .contacts import CURVES, Flags, heel_and_ball
from .floor import LEFT, UP, floor_under, out_of_floor, samples_from, toes_up

STRAIGHT, BENT = 0.995, 0.97
"""How straight a leg may be made, as a part of its length, and where one that swings begins to give way."""
NEAR, SINK = 0.15, 0.1
"""Time from a contact within which a foot is partly planted, and a quarter of that in which the pelvis sinks [s]."""


class Legs(NamedTuple):
    """Both legs of a motion in the world, left and right along the second axis, and which parts of the soles stand.

    Attributes:
        motion: Whose legs they are; it has all their joints.
        positions: (T, J, 3) places of all joints [m].
        globals: (T, J, 4) world rotations of all joints.
        hips: (T, 2, 3) places of the hip joints [m].
        ankles: (T, 2, 3) places of the feet [m].
        turns: (T, 2, 4) world rotations of the feet.
        planted: (T, 2, 2) heel and ball, by the contact curves.
    """

    motion: Motion
    positions: Array
    globals: Array
    hips: Array
    ankles: Array
    turns: Array
    planted: Flags

    @property
    def stance(self) -> Flags:
        """(T, 2) feet of which some part is planted."""
        out: Flags = np.any(self.planted, axis=2)
        return out


def legs_of(motion: Motion) -> Legs:
    """The legs of a motion."""
    skeleton = motion.skeleton
    positions, globals = fk.forward(skeleton, motion.rotations, motion.roots)
    hips, feet = ([skeleton.joint(LIMBS[f"foot_{side}"][k]) for side in SIDES] for k in (0, 2))
    on = [[motion.curves.get(name, np.zeros(len(motion))) > 0.5 for name in names] for names in CURVES]
    planted = np.array(on).transpose(2, 0, 1)
    return Legs(motion, positions, globals, positions[:, hips], positions[:, feet], globals[:, feet], planted)


def above_floor(before: Legs, ankles: Array, turns: Array) -> Array:
    """`ankles` (T, 2, 3) of feet turned by `turns` (T, 2, 4), lifted where a swinging one would be in the floor.

    The floor is what the foot stands on in `before` sooner and later, or the sole there where that is lower.
    """
    motion, out = before.motion, ankles.copy()
    ramp = max(1, round(NEAR * motion.fps))
    for k, side in enumerate(SIDES):
        sole, on = np.stack(heel_and_ball(motion.skeleton, side)), before.planted[:, k]
        had = (before.ankles[:, k, None] + quat.rotate(before.turns[:, k, None], sole))[..., 2]
        floor = np.minimum(floor_under(before.ankles[:, k], before.turns[:, k], on, sole), had)
        lifted, _ = out_of_floor(floor, ankles[:, k], turns[:, k], on, sole, ramp)
        out[:, k] = np.where(before.stance[:, k, None], ankles[:, k], lifted)
    return out


def toes_above_floor(before: Legs, after: Legs, k: int) -> Array:
    """(T, 4) local rotations of the toes of foot `k` in `after`, bent up out of the floor."""
    skeleton, side = before.motion.skeleton, SIDES[k]
    toe = skeleton.joint(f"toe_{side}")
    sole = np.stack(heel_and_ball(skeleton, side))
    floor = floor_under(before.ankles[:, k], before.turns[:, k], before.planted[:, k], sole)[:, 1]
    old, tip = (quat.rotate(legs.globals[:, toe], skeleton.tips[toe]) for legs in (before, after))
    lowest = np.minimum(floor + min(0.0, float(skeleton.tips[toe, 2])), before.positions[:, toe, 2] + old[:, 2])
    up = toes_up(tip, lowest - 1e-9 - after.positions[:, toe, 2], quat.rotate(after.turns[:, k], -LEFT))
    own = after.motion.rotations[:, toe]
    raised = quat.multiply(quat.conjugate(after.turns[:, k]), quat.multiply(up, after.globals[:, toe]))
    out: Array = np.where((up[:, :1] < 1.0), raised, own)
    return out


def in_reach(before: Legs, after: Legs, goals: Array) -> tuple[Array, Array]:
    """`goals` (T, 2, 3) of the feet of `after` as near as legs come to them, and how far the pelvis (T,) sinks [m].

    No leg is made straighter than it is in `before`, or than `STRAIGHT` where that is more. The pelvis sinks for feet
    that stand; a leg that swings gives way before it is straight, as far as its foot is not left where it was.
    """
    skeleton, fps = after.motion.skeleton, after.motion.fps
    parts = [[skeleton.joint(LIMBS[f"foot_{side}"][k]) for side in SIDES] for k in (1, 2)]
    full = sum(np.linalg.norm(skeleton.offsets[joints], axis=-1) for joints in parts)
    had = np.linalg.norm(before.ankles - before.hips, axis=-1)
    most = np.maximum(STRAIGHT * full, had)
    swing = np.stack([smoothstep(np.minimum(samples_from(on) / (NEAR * fps), 1.0)) for on in before.stance.T], axis=1)

    lines = goals - after.hips
    across = quat.dot(lines[..., :2], lines[..., :2])
    height = np.sqrt(np.maximum(most**2 - across, (0.3 * most) ** 2))
    need = (np.maximum(-lines[..., 2] - height, 0.0) * (1.0 - swing)).max(axis=1)
    # where nothing asks for it but rounding, the pelvis stays to the last digit
    drop = covering(np.where(need > 1e-9, need, 0.0), max(1, round(SINK * fps)))
    lines = lines + drop[:, None, None] * UP

    far = np.sqrt(quat.dot(lines, lines))
    room = (1.0 - BENT) * most
    soft = np.minimum(far, most - room) - room * np.expm1(-np.maximum(far - most + room, 0.0) / room)
    moved = smoothstep(np.minimum(np.linalg.norm(goals - after.ankles, axis=-1) / room, 1.0))
    near = lerp(np.minimum(far, most), soft, swing * moved)
    return after.hips - drop[:, None, None] * UP + lines * (near / np.maximum(far, 1e-9))[..., None], drop
