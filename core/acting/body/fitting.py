"""The puppet on a skeleton: which bone carries which joint, and what becomes of joints without one.

All is done with the rotations of the puppet's joints, never with the angles of bones, whose rolls differ from rig to
rig. Pelvis joints turn half a pelvis each, so the pelvis is midway between them and the thighs make up the difference.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import InvalidRig
from ...kinematics import anatomy
from ...maths import quat
from ...skeleton import SIDES, Array, Skeleton
from ..repertoire.puppet import ANKLES, ARM_JOINTS, INDEX, JOINTS, LEG_JOINTS, angles_of, rows

_CHESTS, _SHOULDERS, _ELBOWS, _WRISTS = map(rows, ARM_JOINTS)
_PELVES, _HIPS, _KNEES = map(rows, LEG_JOINTS[:3])
_WAIST_PELVES, _ROOT_PELVES, _WAIST_HIPS = (
    np.array([first, *(INDEX[s + joint] for s in SIDES)]) for first, joint in ((1, "pelvis"), (0, "pelvis"), (1, "hip"))
)
_THIGHS_TWICE = np.array([0, 0, 1, 2])
_ABOUT_UP = np.array([1.0, 0.0, 0.0, 1.0])
_UP = np.array([0.0, 0.0, 1.0])
REFERENCE_LEG = 0.84
"""Thigh and shin of the person to whom places in tables apply as they stand [m]."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A puppet on a skeleton.

    Attributes:
        skeleton: Whose joints are turned.
        missing: Puppet joints without a bone of their own; their rotations are folded into the next joint down.
        ankle_height: Of the ankles above the ground in the neutral stance [m].
        toes: (2, 3) from the ankles to the soles of the ends of the toes in the neutral stance [m].
        scale: Lengths as a multiple of those of a person with legs of 0.84 m.
    """

    skeleton: Skeleton
    missing: tuple[str, ...]
    ankle_height: float
    toes: Array
    scale: float
    _legs: Array

    def rotations(self, turned: Array, headings: Array) -> Array:
        """Joint rotations (T, J, 4) of puppet `turns` (T, 20, 4) with the actor heading (T,) [rad]."""
        body, roles = self.skeleton, self.skeleton.roles
        out = np.zeros((len(turned), len(body), 4))
        out[..., 0] = 1.0
        tilt = _tilt(turned)
        # the twist of the wrist is that of the forearm bones
        twist = turned[:, _WRISTS] * _ABOUT_UP
        twist = np.where(quat.dot(twist, twist)[..., None] > 1e-9, quat.unit(twist), quat.IDENTITY)
        back = quat.conjugate(tilt)[:, None]
        # three levels of products, each level in one call: single small products cost as much as many
        facing = quat.about(_UP, headings)[:, None]
        waist = turned.take(_WAIST_PELVES, axis=1)
        left = np.concatenate([facing, waist, turned[:, _ELBOWS], quat.conjugate(twist)], axis=1)
        right = np.concatenate([turned[:, :1], tilt[:, None], turned[:, _HIPS], twist, turned[:, _WRISTS]], axis=1)
        once = quat.multiply(left, right)
        torso, pelvis, thighs, forearms, hands = once[:, :1], once[:, 1:2], once[:, 2:4], once[:, 4:6], once[:, 6:8]
        twice = quat.multiply(
            np.concatenate([torso, back, back], axis=1),
            np.concatenate([pelvis, thighs], axis=1),
        )
        out[:, 0] = twice[:, 0]
        trunk = quat.conjugate(pelvis[:, 0])
        spine, neck = roles.get("spine", ()), roles.get("neck", ())
        arms = turned[:, _CHESTS]
        top = turned[:, 2]
        if spine:
            out[:, spine] = anatomy.spread(trunk, len(spine))
        else:  # neck and arms hang from the pelvis
            arms, top = quat.multiply(trunk[:, None], arms), quat.multiply(trunk, top)
        if neck:
            out[:, neck] = anatomy.spread(top, len(neck)) if len(neck) > 1 else top[:, None]
            out[:, roles["head"][0]] = turned[:, 3]
        else:
            out[:, roles["head"][0]] = quat.multiply(top, turned[:, 3])
        shoulders, knees, ankles = turned[:, _SHOULDERS], turned[:, _KNEES], turned[:, ANKLES]
        for k, side in enumerate(SIDES):
            upper = shoulders[:, k]
            if f"clavicle_{side}" in roles:
                out[:, roles[f"clavicle_{side}"][0]] = arms[:, k]
            else:
                upper = quat.multiply(arms[:, k], upper)
            out[:, roles[f"upper_arm_{side}"][0]] = upper
            out[:, roles[f"forearm_{side}"][0]] = forearms[:, k]
            out[:, roles[f"hand_{side}"][0]] = hands[:, k]
            out[:, roles[f"thigh_{side}"][0]] = twice[:, 1 + k]
            out[:, roles[f"shin_{side}"][0]] = knees[:, k]
            out[:, roles[f"foot_{side}"][0]] = ankles[:, k]
        return out

    def legs(self, turned: Array) -> tuple[Array, Array]:
        """Ankles (T, 2, 3) [m] and orientations of the shins (T, 2, 4), left and right, from the hips at heading 0.

        Args:
            turned: (T, 20, 4) puppet `turns`.
        """
        once = quat.multiply(turned.take(_ROOT_PELVES, axis=1), turned.take(_WAIST_HIPS, axis=1))
        torso = once[:, :1]
        below = np.concatenate([_tilt(turned)[:, None], once[:, 1:]], axis=1)
        upper = quat.multiply(torso, below)
        lower = quat.multiply(upper[:, 1:], turned[:, _KNEES])
        chain = np.concatenate([upper.take(_THIGHS_TWICE, axis=1), lower], axis=1)
        arms = quat.rotate(chain, self._legs)
        return arms[:, :2] + arms[:, 2:4] + arms[:, 4:], lower

    def feet(self, turned: Array, contact: Array | None = None) -> Array:
        """(T, 2, 3) the points of the feet on which the body stands, left and right, from the hips at heading 0 [m].

        Args:
            turned: (T, 20, 4) puppet `turns`.
            contact: (3,) a point of the left foot, from the ankle in the neutral stance [m]; None for the ankle itself.
        """
        out, shins = self.legs(turned)
        if contact is None:
            return out
        points = contact * np.array([[1.0, 1.0, 1.0], [-1.0, 1.0, 1.0]])
        return out + quat.rotate(quat.multiply(shins, turned[:, ANKLES]), points)

    def angles(self, rotations: Array) -> tuple[Array, Array]:
        """Puppet angles (T, 20, 3) and headings (T,) [rad] of joint rotations (T, J, 4): what `rotations` undoes.

        The pelvis joints stay zero, their turn being the waist's; chains give their total.
        """
        roles = self.skeleton.roles
        total = {r: anatomy.gather(rotations[:, roles[r]]) for r in roles if r not in ("root", "jaw", "eye_L", "eye_R")}
        still = np.broadcast_to(quat.IDENTITY, rotations[:, 0].shape)
        trunk = total.get("spine", still)
        chest = quat.multiply(rotations[:, 0], trunk)
        heading = np.unwrap(quat.heading(chest))
        q = np.tile(quat.IDENTITY, (len(rotations), len(JOINTS), 1))
        q[:, 0] = quat.multiply(quat.about(_UP, -heading), chest)
        q[:, 1], q[:, 2], q[:, 3] = quat.conjugate(trunk), total.get("neck", still), total["head"]
        for side in SIDES:
            arm, leg = INDEX[f"{side}chest"], INDEX[f"{side}pelvis"]
            for k, role in enumerate(("clavicle", "upper_arm", "forearm", "hand")):
                q[:, arm + k] = total.get(f"{role}_{side}", still)
            for k, role in enumerate(("thigh", "shin", "foot"), 1):
                q[:, leg + k] = total[f"{role}_{side}"]
        return np.unwrap(angles_of(q), axis=0), heading


def fit(skeleton: Skeleton) -> Fit:
    """The puppet on a skeleton; bones that are missing between torso and limbs are folded into their neighbours."""
    needed = ("head", *(f"{r}_{s}" for s in SIDES for r in ("upper_arm", "forearm", "hand", "thigh", "shin", "foot")))
    lacking = [role for role in needed if not skeleton.has(role)]
    if lacking:
        raise InvalidRig(f"acting needs bones for {', '.join(lacking)}; correct the roles of this character")
    missing = [j for j, role in (("Waist", "spine"), ("Neck", "neck")) if not skeleton.has(role)]
    missing += [f"{s}chest" for s in SIDES if not skeleton.has(f"clavicle_{s}")]
    thighs, shins, feet = (
        np.array([skeleton.offsets[skeleton.joint(f"{r}_{s}")] for s in SIDES]) for r in ("thigh", "shin", "foot")
    )
    toes = np.array([_toe_end(skeleton, side) for side in SIDES])
    height = float((skeleton.offsets[0] + (thighs + shins + feet).mean(axis=0))[2])
    return Fit(
        skeleton,
        tuple(missing),
        height,
        # of the toes what must not go through the ground is their sole, which is level with that of the foot
        np.column_stack([toes[:, :2], np.full(2, -height)]),
        skeleton.leg_length() / REFERENCE_LEG,
        np.concatenate([thighs, shins, feet]),
    )


def _toe_end(skeleton: Skeleton, side: str) -> Array:
    """From the ankle to the end of the toes in the neutral stance (3,) [m]."""
    toe = skeleton.roles.get(f"toe_{side}")
    if toe is None:
        return np.array(skeleton.tips[skeleton.joint(f"foot_{side}")])
    return np.array(skeleton.offsets[toe[0]] + skeleton.tips[toe[0]])


def _tilt(turned: Array) -> Array:
    """Rotation (T, 4) of the pelvis below the waist: midway between its halves."""
    left, right = turned[:, _PELVES.start], turned[:, _PELVES.stop - 1]
    return quat.unit(left + right)
