"""One arm of a character as a configuration space: seven anatomical angles, its flesh, and what the hand holds.

The body stands still while the arm moves, so shoulder and trunk are given once. A configuration is flexion, abduction
and rotation of the shoulder, flexion of the elbow, rotation of the forearm, flexion and deviation of the wrist [rad].
A hinge turns two axes of a frame in their plane: with these as real and imaginary parts it is one complex product.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...kinematics import anatomy
from ...kinematics.arm_chain import arm_chain
from ...kinematics.arm_goals import Trial
from ...kinematics.arm_ik import Free
from ...kinematics.body_shape import ARM_PARTS, TRUNK, beads, capsules
from ...maths import quat, trig
from ...skeleton import Array, Skeleton
from .collision import Checker
from .solids import Solids
from .space import Bools, Space

AXES = (
    "shoulder flexion",
    "shoulder abduction",
    "shoulder rotation",
    "elbow flexion",
    "forearm rotation",
    "wrist flexion",
    "wrist deviation",
)
FASTEST: Array = np.radians([120.0, 120.0, 120.0, 120.0, 180.0, 180.0, 180.0])
"""Greatest rates of the angles [rad/s]."""
STEP = 0.02
"""Distance between two looks along a way, by what the hand travels [m]."""
_SPARE = 0.001
"""Kept between beads and an arm that rests against the body [m]."""
_TURN = 2.0 * np.pi


@dataclass(frozen=True, eq=False)
class Held:
    """What a hand holds, as capsules in its axes: `starts`, `ends` (K, 3) from the wrist, `radii` (K,) [m]."""

    starts: Array
    ends: Array
    radii: Array


class Arm:
    """An arm that hangs on a body which stands still.

    Args:
        skeleton: Whose arm.
        side: "L" or "R".
        positions, globals: (J, 3) [m] and (J, 4) of the body in the world.
        shapes: Rotations (J, 4) whose fingers have the shapes the hand is held in; none for relaxed fingers.
        held: What the hand holds.
        thin: Part of its thickness that the arm is given; less than 1 gets it out of where it touches something.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        side: str,
        positions: Array,
        globals: Array,
        shapes: Sequence[Array] = (),
        held: Held | None = None,
        thin: float = 1.0,
    ) -> None:
        chain = arm_chain(skeleton, (side,))
        self.skeleton, self.side = skeleton, side
        self.joints = chain.joints[0]
        self.shoulder = positions[self.joints[0]]
        self.above = globals[int(chain.above[0])]
        self._upper, self._lower = chain.upper[:, 0, 0], chain.lower[:, 0, 0]
        signs = chain.signs[..., 0, 0]
        self._signs = np.array([*signs[0], -1.0, -signs[1, 2], *signs[2, :2]])
        self._frame = quat.to_matrix(self.above)
        self._axis = self._lower / np.linalg.norm(self._lower)
        # columns whose last is the axis the forearm turns about
        self._bench = quat.to_matrix(quat.between(np.array([0.0, 0.0, 1.0]), self._axis))
        body = capsules(skeleton, {side: shapes})
        self.body = body
        own = body.chosen([f"{part}_{side}" for part in ARM_PARTS])
        wrist = [k for k, joint in enumerate(own.joints) if joint == self.joints[2]]
        starts, ends, radii = own.starts[wrist], own.ends[wrist], own.radii
        self.parts = own.parts
        if held is not None:
            starts, ends = np.concatenate([starts, held.starts]), np.concatenate([ends, held.ends])
            radii = np.concatenate([radii, held.radii])
            self.parts = (*own.parts, *["held"] * len(held.radii))
        self.radii = thin * radii
        self._points = np.concatenate([starts, ends - starts])
        spans = np.linalg.norm(ends - starts, axis=1)
        self.lengths = np.array([np.linalg.norm(self._upper), np.linalg.norm(self._lower), *spans])
        limits = skeleton.limits[self.joints]
        self.low = np.array([*limits[0, :, 0], limits[1, 0, 0], limits[1, 2, 0], *limits[2, :2, 0]])
        self.high = np.array([*limits[0, :, 1], limits[1, 0, 1], limits[1, 2, 1], *limits[2, :2, 1]])
        reach = float(np.linalg.norm(ends, axis=1).max())
        upper, lower = self.lengths[:2]
        self.reach = upper + lower + reach
        self.weight = np.array([*[self.reach] * 2, 0.7 * (lower + reach), lower + reach, 0.5 * reach, reach, reach])

    def frames(self, q: Array) -> tuple[Array, Array, Array]:
        """Places of elbow and wrist (3, N) [m] and the hand's axes (3 axes, 3, N), of configurations (N, 7)."""
        turns = np.empty((7, len(q)), dtype=np.complex128)
        angles = q.T * -self._signs[:, None]
        turns.real, turns.imag = np.cos(angles), np.sin(angles)
        pair = np.empty((3, len(q)), dtype=np.complex128)
        re, im = pair.real, pair.imag
        a, b, c = self._frame.T[:, :, None]
        re[...], im[...] = b, c
        turned = pair * turns[0]
        re[...], im[...] = turned.imag, a
        b = turned.real
        turned = pair * turns[1]
        c = turned.real
        re[...], im[...] = turned.imag, b
        turned = pair * turns[2]
        a = turned.real
        ux, uy, uz = self._upper
        elbow = self.shoulder[:, None] + uz * c
        if ux or uy:
            elbow = elbow + ux * a + uy * turned.imag
        re[...], im[...] = turned.imag, c
        turned = pair * turns[3]
        b, c = turned.real, turned.imag
        lx, ly, lz = self._lower
        wrist = elbow + lz * c
        if lx or ly:
            wrist = wrist + lx * a + ly * b
            a, b, c = np.tensordot(self._bench.T, np.stack([a, b, c]), axes=1)
            re[...], im[...] = a, b
            turned = pair * turns[4]
            a, b, c = np.tensordot(self._bench, np.stack([turned.real, turned.imag, c]), axes=1)
        else:
            re[...], im[...] = a, b
            # the axis points down, against the vertical axis
            turned = pair * (turns[4] if lz > 0 else turns[4].conj())
            a, b = turned.real, turned.imag
        re[...], im[...] = c, a
        turned = pair * turns[5]
        axes = np.empty((3, 3, len(q)))
        axes[0] = turned.imag
        re[...], im[...] = b, turned.real
        turned = pair * turns[6]
        axes[1], axes[2] = turned.real, turned.imag
        return elbow, wrist, axes

    def segments(self, q: Array) -> tuple[Array, Array]:
        """Starts and vectors (3, S, N) of the arm's capsules [m], of configurations (N, 7)."""
        elbow, wrist, axes = self.frames(q)
        return self._segments(self.shoulder[:, None], elbow, wrist, axes)

    def _segments(self, shoulder: Array, elbow: Array, wrist: Array, axes: Array) -> tuple[Array, Array]:
        count, hand = elbow.shape[1], len(self._points) // 2
        points = (self._points @ axes.reshape(3, -1)).reshape(2 * hand, 3, count)
        starts, vectors = np.empty((3, 2 + hand, count)), np.empty((3, 2 + hand, count))
        starts[:, 0], starts[:, 1] = shoulder, elbow
        np.subtract(elbow, shoulder, out=vectors[:, 0])
        np.subtract(wrist, elbow, out=vectors[:, 1])
        np.add(points[:hand].transpose(1, 0, 2), wrist[:, None], out=starts[:, 2:])
        vectors[:, 2:] = points[hand:].transpose(1, 0, 2)
        return starts, vectors

    def hand_at(self, places: Array, turns: Array) -> tuple[Array, Array]:
        """Starts and ends (N, H, 3) of the capsules of the hand and of what it holds [m], `radii[2:]` thick, with the
        wrist at places (N, 3) and turned by (N, 4)."""
        hand = len(self._points) // 2
        points = quat.rotate(turns[:, None], self._points)
        starts = places[:, None] + points[:, :hand]
        return starts, starts + points[:, hand:]

    def rotations(self, q: Array) -> Array:
        """Parent-relative rotations (..., 3, 4) of upper arm, forearm and hand, of configurations (..., 7)."""
        x, y, z = np.eye(3)
        s = self._signs
        upper = quat.multiply(quat.about(x, s[0] * q[..., 0]), quat.about(y, s[1] * q[..., 1]))
        upper = quat.multiply(upper, quat.about(z, s[2] * q[..., 2]))
        forearm = quat.multiply(quat.about(x, s[3] * q[..., 3]), quat.about(self._axis, s[4] * q[..., 4]))
        hand = quat.multiply(quat.about(y, s[5] * q[..., 5]), quat.about(x, s[6] * q[..., 6]))
        return np.stack([upper, forearm, hand], axis=-2)

    def configuration(self, rotations: Array, near: Array | None = None) -> Array:
        """Configurations (..., 7) of rotations (..., 3, 4) of upper arm, forearm and hand.

        What the elbow has beside flexion and the wrist beside flexion and deviation is left out. Of the two triples of
        angles that a shoulder can have, the one within the limits, or nearer to `near` (..., 7) where both are.
        """
        side = self.side
        ball = anatomy.joint_angles(rotations[..., 0, :], f"upper_arm_{side}")
        middle = 0.5 * (self.low + self.high) if near is None else np.asarray(near)
        both = [ball, ball * np.array([1.0, -1.0, 1.0]) + np.pi]
        both = [each + _TURN * np.round((0.5 * (self.low + self.high)[:3] - each) / _TURN) for each in both]
        over = [np.maximum(np.maximum(self.low[:3] - e, e - self.high[:3]), 0.0).sum(axis=-1) for e in both]
        away = [((e - middle[..., :3]) ** 2).sum(axis=-1) for e in both]
        other = (over[1] < over[0] - 1e-6) | ((over[1] <= over[0] + 1e-6) & (away[1] < away[0] - 1e-9))
        ball = np.where(other[..., None], both[1], both[0])
        # the forearm's axis is turned by the hinge alone
        axis, seen = self._axis, quat.rotate(rotations[..., 1, :], self._axis)
        hinge = trig.arctan2(seen[..., 2], seen[..., 1]) - trig.arctan2(axis[2], axis[1])
        turn = quat.multiply(quat.about(np.array([-1.0, 0.0, 0.0]), hinge), rotations[..., 1, :])
        elbow = self._signs[3] * hinge
        forearm = self._signs[4] * 2.0 * trig.arctan2(turn[..., 1:] @ axis, turn[..., 0])
        w, x, y, _ = np.moveaxis(rotations[..., 2, :], -1, 0)
        wrist = [self._signs[5] * 2.0 * np.arctan2(y, w), self._signs[6] * 2.0 * np.arctan2(x, w)]
        rest = np.stack([elbow, forearm, *wrist], axis=-1)
        rest = rest - _TURN * np.round(rest / _TURN)
        return np.concatenate([ball, rest], axis=-1)

    def rest(self, positions: Array, globals: Array) -> tuple[Array, Array, Bools]:
        """Beads, centres (M, 3) and radii (M,) [m], of the body that the arm must not touch, and which capsules of the
        arm each is not in the way of (M, S)."""
        own = [f"{part}_{self.side}" for part in ARM_PARTS]
        others = self.body.chosen([part for part in self.body.parts if part not in own])
        starts, ends = others.placed(positions, globals)
        centres, radii, owner = beads(starts, ends, others.radii)
        trunk = np.array([others.parts[k] in TRUNK for k in owner])
        spared = np.zeros((len(radii), len(self.radii)), dtype=bool)
        spared[trunk, 0] = True
        return centres, radii, spared

    def judge(self, checker: Checker) -> Free:
        """For `solve_arms`: whether postures of this arm touch nothing."""

        def free(trial: Trial) -> Bools:
            shoulder, elbow, wrist = trial.places.transpose(1, 2, 0)
            axes = quat.to_matrix(trial.turns[:, 2]).transpose(2, 1, 0)
            return checker.free(*self._segments(shoulder, elbow, wrist, axes))

        return free


def checker(
    arm: Arm,
    solids: Solids,
    positions: Array,
    globals: Array,
    allowed: Array | None = None,
) -> Checker:
    """What looks at an arm among solids and against its own body.

    Args:
        arm: Its capsules.
        solids: What is in the way.
        positions, globals: (J, 3) [m] and (J, 4) of the body.
        allowed: (K, 7) configurations that the body itself must let be: where the arm rests against it, the body is
            taken as thin as the arm leaves it room.
    """
    centres, radii, spared = arm.rest(positions, globals)
    if allowed is not None and len(allowed):
        starts, vectors = arm.segments(np.atleast_2d(allowed))
        a, v = starts.transpose(2, 1, 0)[:, None], vectors.transpose(2, 1, 0)[:, None]
        away = centres[:, None] - a
        along = np.clip((away * v).sum(axis=-1) / np.maximum((v * v).sum(axis=-1), 1e-12), 0.0, 1.0)
        gap = np.linalg.norm(away - along[..., None] * v, axis=-1) - arm.radii
        room = np.where(spared, np.inf, gap).min(axis=(0, 2)) - _SPARE
        radii = np.minimum(radii, room)
        keep = radii > 0
        centres, radii, spared = centres[keep], radii[keep], spared[keep]
    return Checker(solids, arm.lengths, arm.radii, (centres, radii), spared)


def arm_space(arm: Arm, check: Checker, step: float = STEP) -> Space:
    """The configuration space of an arm; distances are about what the hand travels [m]."""

    def free(q: Array) -> Bools:
        return check.free(*arm.segments(q))

    return Space(AXES, arm.low, arm.high, free, step, arm.weight)


def put(rotations: Array, arm: Arm, q: Array) -> Array:
    """Rotations (..., J, 4) of a body whose arm has configurations q (..., 7)."""
    batch = q.shape[:-1]
    out = np.array(np.broadcast_to(rotations, (*batch, *rotations.shape[-2:])))
    out[..., arm.joints, :] = arm.rotations(q)
    return out


def angles_of(q: Array) -> Mapping[str, float]:
    """Names and values [degrees] of one configuration (7,), for a report."""
    return {name: float(np.degrees(value)) for name, value in zip(AXES, q, strict=True)}
