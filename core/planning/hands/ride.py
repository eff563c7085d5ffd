"""The frame that what a body carries rides on, and the arms that hold it there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...kinematics import base, fk
from ...kinematics.arm_ik import ArmPoses, solve_arms, swivels
from ...maths import geometry, quat
from ...maths.ramp import smootherstep
from ...maths.window import covering
from ...motion import Motion
from ...needs import needs_scipy
from ...skeleton import SIDES, Array, Pose
from ...world import KINDS, Body, World
from ..spaces.arm_space import Arm
from ..spaces.solids import parted
from .carry_posture import ASLANT, UP, chosen, upright, wrists
from .holding import hand_matrix
from .stages import Holding, between

if TYPE_CHECKING:
    from .orders import CarryParams

SETTLED = 0.35
"""Width of the window in which bobbing and swaying even out [s]."""
_ELBOW = 0.12
"""The same for elbows [s]."""
_BREACH = 1e-6
"""By how much a limit may be passed unnoticed [rad]."""
CLEARANCE = 0.03
"""Between a prop that is carried over something and that [m]."""
_STEP, _RAISING = 0.35, 0.15
"""What is higher than this above a prop it is not raised over [m]; a quarter of the time for raising it [s]."""


class Ride:
    """A body that moves, and the frame that what it carries rides on."""

    def __init__(self, motion: Motion, params: CarryParams, start: Pose, world: World | None = None) -> None:
        """`world` is what it must not be carried through."""
        self.motion, self.params, self.start = motion, params, start
        self._ground = geometry.index(world or World(()))
        self.skeleton = skeleton = motion.skeleton
        rotations = np.array(motion.rotations)
        self.positions, self.globals = fk.forward(skeleton, rotations, motion.roots)
        shoulders = [skeleton.joint(f"upper_arm_{side}") for side in SIDES]
        bones = [skeleton.offsets[skeleton.joint(f"{part}_{side}")] for part in ("forearm", "hand") for side in SIDES]
        self.length = 0.5 * float(np.linalg.norm(bones, axis=1).sum())
        middle = self.positions[:, shoulders].mean(axis=1)
        across = self.positions[:, shoulders[0]] - self.positions[:, shoulders[1]]
        heading = np.unwrap(np.arctan2(across[:, 1], across[:, 0]))
        place = base.based(motion).base
        assert place is not None
        back = quat.about(UP, -place[:, 2])
        ground = np.column_stack([place[:, :2], np.zeros(len(place))])
        rest = np.column_stack([quat.rotate(back, middle - ground), heading - place[:, 2]])
        rest[:, 3] -= 2.0 * np.pi * np.round(rest[0, 3] / (2.0 * np.pi))
        calm = rest + params.steady * (_settled(rest, SETTLED * motion.fps, motion.loop) - rest)
        self.turn = quat.about(UP, place[:, 2] + calm[:, 3])
        self.place = ground + quat.rotate(quat.about(UP, place[:, 2]), calm[:, :3])
        self.half = 0.5 * float(np.median(np.linalg.norm(across, axis=1)))
        time = np.arange(len(motion)) / motion.fps
        self.share = (
            smootherstep(np.clip(time / params.taking, 0.0, 1.0)) if params.taking > 0 else np.ones(len(motion))
        )

    def arms(self, group: tuple[Holding, ...], body: Body | None) -> ArmPoses:
        """Postures of the arms that hold one thing."""
        skeleton, params = self.skeleton, self.params
        start = [hand_matrix(skeleton, self.start.rotations, self.start.root, h.side) for h in group]
        now = (
            start[0] @ group[0].offset
            if len(group) == 1
            else between(*(m @ h.offset for m, h in zip(start, group, strict=True)))
        )
        back = np.eye(4)
        back[:3, :3] = quat.to_matrix(self.turn[0]).T
        back[:3, 3] = -back[:3, :3] @ self.place[0]
        first = back @ now
        if params.posture == "kept":
            there = np.array(first)
            there[:3, :3] = upright(first, params.upright)
            return self._held_at(group, first, there, body)[0]
        out, tilt = self._held_at(group, first, chosen(self, group, first, body), body)
        if tilt > ASLANT and params.level > 0.5:
            # no wrist bends so far that a hanging hand holds a bottle upright: the elbow bends instead
            found = self._held_at(group, first, chosen(self, group, first, body, wide=True), body)
            out = found[0] if found[1] < tilt else out
        return out

    def _held_at(
        self, group: tuple[Holding, ...], first: Array, there: Array, body: Body | None
    ) -> tuple[ArmPoses, float]:
        """Postures of the arms that take a prop from one matrix (4, 4) of the frame to another, and how far it is
        turned from that in the end [rad]."""
        skeleton, params, sides = self.skeleton, self.params, tuple(h.side for h in group)
        # both hands keep their hold on the way to the posture; one arm goes there by its own joints
        share = self.share if len(group) == 2 else np.ones(len(self.share))
        places = first[:3, 3] + share[:, None] * (there[:3, 3] - first[:3, 3])
        turns = [quat.from_matrix(parted(m)[0]) for m in (first, there)]
        rotation = quat.slerp(turns[0], turns[1], share)
        prop = quat.multiply(self.turn, rotation)
        if params.level < 1.0:
            trunk = self.globals[:, int(skeleton.parents[skeleton.joint("upper_arm_L")])]
            tied = quat.multiply(trunk, quat.multiply(quat.conjugate(trunk[0]), quat.multiply(self.turn[0], rotation)))
            prop = quat.slerp(tied, prop, params.level)
        at = self.place + quat.rotate(self.turn, places)
        if body is not None:
            at = at + self._lift(body, parted(first)[1], at, prop)[:, None] * UP
        goals, hands = wrists(group, at, prop)
        if params.swing > 0:
            goals = goals + params.swing * self._swing(sides)
        natural = solve_arms(skeleton, self.positions, self.globals, goals, hands, sides=sides)
        if len(group) == 1 and not (natural.beyond > _BREACH).any():
            return self._kept(natural, sides), 0.0
        if len(group) == 1:
            # where no swivel is within the limits the best one jumps; evened out, the limits are kept joint by joint
            calm = _settled(np.unwrap(natural.swivels, axis=0), _ELBOW * self.motion.fps, self.motion.loop)
            found = solve_arms(
                skeleton, self.positions, self.globals, goals, hands, sides=sides, swivel=calm, limits=False
            )
            kept = self._kept(found, sides)
            return kept, self._off(kept, hands[:, 0])
        held = fk.forward(skeleton, self.start.rotations, self.start.root)
        begun = swivels(skeleton, *held, sides)
        away = natural.swivels - begun
        away -= 2.0 * np.pi * np.round(away / (2.0 * np.pi))
        found = solve_arms(
            skeleton, self.positions, self.globals, goals, hands, sides=sides, swivel=begun + self.share[:, None] * away
        )
        return self._kept(found, sides), 0.0

    def _off(self, found: ArmPoses, wanted: Array) -> float:
        """How far the hand of one arm is tilted from what is wanted (T, 4), once the posture is taken [rad]."""
        joints = found.joints[0]
        turn = self.globals[:, int(self.skeleton.parents[joints[0]])]
        for k in range(len(joints)):
            turn = quat.multiply(turn, found.rotations[:, 0, k])
        up = quat.rotate(quat.multiply(turn, quat.conjugate(wanted)), UP)[self.share >= 1.0]
        return float(np.arccos(np.clip(up[:, 2], -1.0, 1.0)).max(initial=0.0))

    def _lift(self, body: Body, scale: Array, places: Array, turns: Array) -> Array:
        """(T,) how far a prop at places (T, 3), turned (T, 4), is raised over tables that it would go through [m]."""
        low, high = (scale * edge for edge in (body.vertices.min(axis=0), body.vertices.max(axis=0)))
        lattice = np.stack(np.meshgrid(*(np.linspace(a, b, 3) for a, b in zip(low, high, strict=True))), axis=-1)
        points = places[:, None] + quat.rotate(turns[:, None], lattice.reshape(-1, 3))
        foot = np.repeat(points[..., 2].min(axis=1), points.shape[1])
        tops, _, hit = geometry.height(self._ground, points[..., :2].reshape(-1, 2), 0.0, foot + _STEP, KINDS)
        short = np.where(hit, np.maximum(tops + CLEARANCE - foot, 0.0), 0.0)
        return covering(short.reshape(len(places), -1).max(axis=1), max(1, round(_RAISING * self.motion.fps)))

    def _kept(self, found: ArmPoses, sides: tuple[str, ...]) -> ArmPoses:
        """The postures within their limits, from the pose at the beginning, and to the arm's own motion at the end."""
        out = np.array(found.rotations)
        for k, side in enumerate(sides):
            arm = Arm(self.skeleton, side, self.positions[0], self.globals[0])
            over = found.beyond[:, k] > _BREACH
            if over.any():
                out[over, k] = arm.rotations(np.clip(arm.configuration(out[over, k]), arm.low, arm.high))
            own = self.start.rotations[arm.joints]
            if len(sides) == 1:
                begun = arm.configuration(own)
                q = np.clip(arm.configuration(out[:, k], begun), arm.low, arm.high)
                out[:, k] = arm.rotations(begun + self.share[:, None] * (q - begun))
            # what the joints have beside the seven angles fades out
            odd = quat.multiply(quat.conjugate(out[0, k]), own)
            if self.params.taking > 0:
                out[:, k] = quat.multiply(out[:, k], quat.slerp(quat.IDENTITY, odd, 1.0 - self.share[:, None]))
            if self.params.lower > 0:
                left = (len(self.motion) - 1) / self.motion.fps - np.arange(len(self.motion)) / self.motion.fps
                part = smootherstep(np.clip(1.0 - left / self.params.lower, 0.0, 1.0))
                out[:, k] = quat.slerp(out[:, k], self.motion.rotations[:, arm.joints], part[:, None])
        return replace(found, rotations=quat.continuous(out))

    def _swing(self, sides: tuple[str, ...]) -> Array:
        """(T, S, 3) what the wrists of the motion do beside what evens out [m]."""
        out = []
        for side in sides:
            away = quat.rotate(
                quat.conjugate(self.turn), self.positions[:, self.skeleton.joint(f"hand_{side}")] - self.place
            )
            rest = away - _settled(away, SETTLED * self.motion.fps, self.motion.loop)
            out.append(quat.rotate(self.turn, self.share[:, None] * rest))
        # of one thing in both hands, the two swing as one
        return np.repeat(np.mean(out, axis=0)[:, None], len(sides), axis=1)


def _settled(values: Array, width: float, loop: bool) -> Array:
    """(T, n) evened out over a width [samples]."""
    with needs_scipy():
        from scipy.ndimage import gaussian_filter1d
    return np.asarray(gaussian_filter1d(values, width, axis=0, mode="wrap" if loop else "nearest"))
