"""The frame that what a body carries rides on, and the arms that hold it there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
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
from ..spaces.arm_space import Arm, Held, checker
from ..spaces.solids import parted, solids
from .held_shape import held_capsules
from .holding import hand_matrix
from .stages import Holding, between

if TYPE_CHECKING:
    from .orders import CarryParams

UP = np.array([0.0, 0.0, 1.0])
POSTURES: Mapping[str, tuple[float, float, float]] = MappingProxyType(
    {
        "front": (0.05, 0.52, -0.62),
        "chest": (-0.10, 0.48, -0.38),
        "side": (0.22, 0.10, -0.93),
        "high": (0.25, 0.38, 0.02),
    }
)
"""Where the wrist is from its shoulder: outward, forward, up [lengths of the arm]."""
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
_YAWS = 24
_SPREAD = (-0.14, 0.0, 0.14)
"""How far from the posture a better place is looked for [lengths of the arm]."""
_LOOKS = 5
"""Samples of the motion at which a posture is checked against the body."""


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
        skeleton, params, sides = self.skeleton, self.params, tuple(h.side for h in group)
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
            there[:3, :3] = _upright(first, params.upright)
        else:
            there = self._chosen(group, first, body)
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
        goals, hands = _wrists(group, at, prop)
        if params.swing > 0:
            goals = goals + params.swing * self._swing(sides)
        natural = solve_arms(skeleton, self.positions, self.globals, goals, hands, sides=sides)
        if len(group) == 1 and not (natural.beyond > _BREACH).any():
            return self._kept(natural, sides)
        if len(group) == 1:
            # where no swivel is within the limits the best one jumps; evened out, the limits are kept joint by joint
            calm = _settled(np.unwrap(natural.swivels, axis=0), _ELBOW * self.motion.fps, self.motion.loop)
            found = solve_arms(
                skeleton, self.positions, self.globals, goals, hands, sides=sides, swivel=calm, limits=False
            )
            return self._kept(found, sides)
        held = fk.forward(skeleton, self.start.rotations, self.start.root)
        begun = swivels(skeleton, *held, sides)
        away = natural.swivels - begun
        away -= 2.0 * np.pi * np.round(away / (2.0 * np.pi))
        found = solve_arms(
            skeleton, self.positions, self.globals, goals, hands, sides=sides, swivel=begun + self.share[:, None] * away
        )
        return self._kept(found, sides)

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

    def _chosen(self, group: tuple[Holding, ...], first: Array, body: Body | None) -> Array:
        """(4, 4) of the prop in the axes it rides on: near the posture, upright, arms at ease and off the body."""
        outward, forward, up = np.array(POSTURES[self.params.posture]) * self.length
        grid = self.length * np.stack(np.meshgrid(_SPREAD, _SPREAD, _SPREAD, indexing="ij"), axis=-1).reshape(-1, 3)
        ideal = np.array([0.0, -forward - self.params.ahead, up + self.params.raised])
        if len(group) == 1:
            sign = 1.0 if group[0].side == "L" else -1.0
            ideal[0] = sign * (self.half + outward)
        yaws = 2.0 * np.pi * np.arange(_YAWS) / _YAWS
        level = quat.from_matrix(_upright(first, self.params.upright))
        turn = quat.multiply(quat.about(UP, yaws), level)
        _, scale = parted(first)
        # the middle of the wrists is what goes to the posture
        goals, _ = _wrists(group, np.zeros((len(turn), 3)), turn)
        places = (ideal + grid)[:, None] - goals.mean(axis=1)[None]
        candidates = places.reshape(-1, 3), np.tile(turn, (len(grid), 1))
        cost = np.repeat(np.linalg.norm(grid, axis=1) / self.length, len(turn))
        cost = cost + 0.1 * np.tile(np.abs(np.arctan2(np.sin(yaws), np.cos(yaws))), len(grid))
        cost = cost + self._burden(group, *candidates, body)
        best = int(np.argmin(cost))
        out = np.eye(4)
        out[:3, :3] = quat.to_matrix(candidates[1][best]) * scale
        out[:3, 3] = candidates[0][best]
        return out

    def _burden(self, group: tuple[Holding, ...], places: Array, turns: Array, body: Body | None) -> Array:
        """(C,) how awkward it is to have a prop at places (C, 3) and turns (C, 4) of the frame, over the motion."""
        sides, cost = tuple(h.side for h in group), np.zeros(len(places))
        for k in np.unique(np.linspace(0, len(self.motion) - 1, _LOOKS).astype(int)):
            at = self.place[k] + quat.rotate(self.turn[k], places)
            goals, hands = _wrists(group, at, quat.multiply(self.turn[k], turns))
            shape = (len(places), *self.positions[k].shape)
            found = solve_arms(
                self.skeleton,
                np.broadcast_to(self.positions[k], shape),
                np.broadcast_to(self.globals[k], (len(places), *self.globals[k].shape)),
                goals,
                hands,
                sides=sides,
            )
            raised = found.elbows[..., 2] - self.positions[k][found.joints[:, 0], 2]
            bad = 10.0 * found.gaps + 3.0 * found.beyond + 0.3 * np.abs(found.shifts)
            bad = bad + 1.5 * np.maximum(raised / self.length + 0.35, 0.0)
            cost += bad.sum(axis=1)
            for n, holding in enumerate(group):
                held = None if body is None or n else self._held(holding, body)
                hit = self._touches(k, holding, held, found.rotations[:, n])
                cost += 5.0 * hit
        return cost / _LOOKS

    def _held(self, holding: Holding, body: Body) -> Held:
        return held_capsules(body.vertices, np.eye(4), holding.offset)

    def _touches(self, k: int, holding: Holding, held: Held | None, rotations: Array) -> Array:
        """(C,) whether arms with rotations (C, 3, 4) touch the body at sample k."""
        arm = Arm(self.skeleton, holding.side, self.positions[k], self.globals[k], [holding.fingers], held)
        check = checker(arm, solids(World(())), self.positions[k], self.globals[k])
        return np.asarray(~check.free(*arm.segments(arm.configuration(rotations))))


def _wrists(group: tuple[Holding, ...], places: Array, turns: Array) -> tuple[Array, Array]:
    """Places (N, S, 3) of wrists [m] and rotations (N, S, 4) of hands that hold a prop at (N, 3), turned (N, 4)."""
    goals, hands = [], []
    for holding in group:
        turn, _ = parted(holding.offset)
        own = quat.from_matrix(turn)
        hand = quat.multiply(turns, quat.conjugate(own))
        hands.append(hand)
        goals.append(places - quat.rotate(hand, holding.offset[:3, 3]))
    return np.stack(goals, axis=1), np.stack(hands, axis=1)


def _upright(matrix: Array, which: str) -> Array:
    """(3, 3) the rotation of a matrix (4, 4) turned the shortest way so that what of the prop points up does so."""
    turn, _ = parted(matrix)
    axis = turn[:, 2]
    if which == "now":
        k = int(np.abs(turn[2]).argmax())
        axis = turn[:, k] * np.sign(turn[2, k])
    return np.asarray(quat.to_matrix(quat.between(axis, UP)) @ turn)


def _settled(values: Array, width: float, loop: bool) -> Array:
    """(T, n) evened out over a width [samples]."""
    with needs_scipy():
        from scipy.ndimage import gaussian_filter1d
    return np.asarray(gaussian_filter1d(values, width, axis=0, mode="wrap" if loop else "nearest"))
