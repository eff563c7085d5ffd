"""A task with both hands of a body that stands: a box is taken between the palms, lifted, moved and put down.

While the hands hold it they are one closed chain: the way is sought for the prop (its place and its turn about the
vertical), and both arms follow by inverse kinematics, which decides together with the collisions of arms and prop what
is free.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...errors import InvalidParam, NoGrasp, NoIK, NoPath, TroupeError
from ...kinematics import fk
from ...kinematics.arm_ik import ArmPoses, Free, Trial, solve_arms
from ...kinematics.fingers import close_fingers
from ...skeleton import SIDES, Array
from ...world import Body, World
from ..spaces.arm_space import checker
from ..spaces.rrt import SearchParams
from ..spaces.shortcut import SmoothParams
from ..spaces.solids import Shapes
from ..spaces.space import Bools
from .arm_work import ArmWork, fine_arm
from .grasp import Grasp
from .holding import closing_into, hand_matrix, opened_around
from .ledger import Ledger
from .pair_search import Pair, reachable_pairs
from .postures import APPROACH
from .prop_way import dense_way, prop_way
from .stages import Holding, Stage, home_of
from .standing import as_moved, destination_of, matrix_of, place_of
from .task import Job

ABLE = ("pick_up", "move", "put_back", "reach")


class BothHands:
    """One task with both hands of a body that stands."""

    def __init__(self, job: Job, target: Body, leaned: Array | None, ledger: Ledger, shapes: Shapes) -> None:
        self.job, self.target, self.ledger, self.shapes = job, target, ledger, shapes
        self.params = job.params
        if self.params.task not in ABLE:
            raise InvalidParam("task", self.params.task, f"with both hands must be one of {', '.join(ABLE)}")
        missing = [f"hand_{side}" for side in SIDES if not job.skeleton.has(f"hand_{side}")]
        if missing:
            raise NoGrasp(f"{job.actor} has no {missing[0]}, and it takes both")
        self.rotations = np.array(job.pose.rotations) if leaned is None else leaned
        self.leaned = leaned is not None
        self.positions, self.globals = fk.forward(job.skeleton, self.rotations, job.pose.root)
        self.works = tuple(self._work(side) for side in SIDES)
        self.matrix = matrix_of(job, target)

    def _work(self, side: str, moved: Mapping[str, Array] | None = None, body: Array | None = None) -> ArmWork:
        job = self.job
        return ArmWork(
            job.skeleton,
            self.rotations if body is None else body,
            job.pose.root,
            side,
            job.world,
            job.time,
            self.ledger,
            {**(job.moved or {}), **(moved or {})},
            self.shapes,
            SearchParams(budget=self.params.budget, seed=self.params.seed),
            SmoothParams(),
            job.should_stop,
        )

    def done(self) -> tuple[list[Stage], tuple[Holding, ...]]:
        """The stages of the task; the first pair of grasps that works throughout."""
        held = tuple(h for h in (self.job.holding, self.job.other) if h is not None)
        if held:
            held = tuple(sorted(held, key=lambda h: SIDES.index(h.side)))
            pairs = [Pair(held[0].grasp, held[1].grasp, 0.0)]
        else:
            pairs = reachable_pairs(self)
        failure: TroupeError | None = None
        for pair in pairs[: self.params.tries]:
            self.used = pair.left
            # leaning, what is held stays where it is meanwhile, or goes along with the trunk
            for steady in (True, False) if held and self.leaned else (False,):
                try:
                    return self._with(pair, held, steady)
                except (NoIK, NoPath, NoGrasp) as error:
                    self.ledger.log("both", pair.left.name, "way", str(error))
                    failure = failure or error
        assert failure is not None
        raise failure

    def frames(self, grasps: tuple[Grasp, Grasp], matrix: Array, back: Array) -> tuple[Array, Array]:
        """Places (K, 2, 3) and turns (K, 2, 4) of the wrists, so far back (K,) from their grasps [m]."""
        rows = []
        for work, grasp in zip(self.works, grasps, strict=True):
            rows.append(work.wrists([grasp], matrix, -back[None, :, None] * grasp.world(matrix)[2]))
        return np.stack([r[0][0] for r in rows], axis=1), np.stack([r[1][0] for r in rows], axis=1)

    def approach(self, share: float, matrix: Array, known: list[tuple[Grasp, Grasp]]) -> tuple[Array, Array]:
        back = share * np.linspace(1.0, 0.0, APPROACH)
        rows = [self.frames(pair, matrix, back * pair[0].distance) for pair in known]
        return np.stack([r[0] for r in rows]), np.stack([r[1] for r in rows])

    def lifted(self, matrix: Array, known: list[tuple[Grasp, Grasp]]) -> tuple[Array, Array]:
        high = np.array(matrix)
        high[2, 3] += self.params.lift
        rows = [self.frames(pair, high, np.zeros(1)) for pair in known]
        return np.stack([r[0] for r in rows]), np.stack([r[1] for r in rows])

    def solved(self, goals: Array, turns: Array | None, free: Free | None = None) -> ArmPoses:
        batch = goals.shape[:-2]
        return solve_arms(
            self.job.skeleton,
            np.broadcast_to(self.positions, (*batch, *self.positions.shape)),
            np.broadcast_to(self.globals, (*batch, *self.globals.shape)),
            goals,
            turns,
            free=free,
        )

    def judge(self, pair: tuple[Grasp, Grasp]) -> Free:
        """Whether postures of either arm touch nothing but the prop."""
        judges = []
        for work, grasp in zip(self.works, pair, strict=True):
            arm = fine_arm(work, work.shaped(grasp.shape))
            found = work.solids((self.target.name,))
            judges.append(arm.judge(checker(arm, found, work.positions, work.globals, work.rest[None])))

        def free(trial: Trial) -> Bools:
            out = np.zeros(len(trial.samples), dtype=bool)
            for k, judge in enumerate(judges):
                at = np.flatnonzero(trial.arms == k)
                if len(at):
                    out[at] = judge(Trial(trial.samples[at], trial.arms[at], trial.places[at], trial.turns[at]))
            return out

        return free

    def _with(
        self, pair: Pair, held: tuple[Holding, ...], steady: bool = False
    ) -> tuple[list[Stage], tuple[Holding, ...]]:
        """All stages with one pair of grasps."""
        params, name, grasps = self.params, self.target.name, (pair.left, pair.right)
        judge = self.judge(grasps)
        back = np.linspace(1.0, 0.0, APPROACH) * pair.left.distance
        matrices = [self.matrix]
        if held:
            matrices = [self._held_matrix(held, steady)]
        if params.task in ("move", "put_back"):
            matrices += prop_way(self, grasps, matrices[0], destination_of(self.job), judge, bool(held))
        elif params.task == "pick_up":
            high = np.array(self.matrix)
            high[2, 3] += params.lift
            matrices.append(high)
        dense = dense_way(matrices)
        parts = [self.frames(grasps, self.matrix, back)] if not held else []
        carried = [self.frames(grasps, m, np.zeros(1)) for m in dense]
        parts.append((np.concatenate([c[0] for c in carried]), np.concatenate([c[1] for c in carried])))
        if params.task in ("move", "put_back"):
            parts.append(self.frames(grasps, dense[-1], back[::-1]))
        goals, turns = (np.concatenate([p[k] for p in parts]) for k in range(2))
        self.ledger.ik += 1
        found = self.solved(goals, turns, judge)
        if not found.good.all():
            raise NoIK(f"both hands on {name}: the arms do not go all the way")
        q = self._configurations(found.rotations, held)
        opened = self._opened(grasps, q[0 if held else APPROACH - 1], matrices[0])
        ends = np.cumsum([len(p[0]) for p in parts])
        ways = np.split(q, ends[:-1])
        return self._staged(ways, opened, dense, held, grasps, steady)

    def _configurations(self, rotations: Array, held: tuple[Holding, ...]) -> Array:
        """(N, 14) of rotations (N, 2, 3, 4), each near to the one before."""
        out = np.empty((len(rotations), 14))
        for k, work in enumerate(self.works):
            near = work.rest
            for n in range(len(rotations)):
                near = work.arm.configuration(rotations[n, k], near)
                out[n, 7 * k : 7 * k + 7] = near
            out[:, 7 * k : 7 * k + 7] = np.clip(out[:, 7 * k : 7 * k + 7], work.arm.low, work.arm.high)
        if np.abs(np.diff(out, axis=0)).max() > 0.7:
            raise NoIK(f"both hands on {self.target.name}: an elbow would jump")
        return out

    def _staged(
        self,
        ways: list[Array],
        opened: Array,
        dense: list[Array],
        held: tuple[Holding, ...],
        grasps: tuple[Grasp, Grasp],
        steady: bool,
    ) -> tuple[list[Stage], tuple[Holding, ...]]:
        params, name, point = self.params, self.target.name, place_of(self.job, self.target)
        stages: list[Stage] = []
        rest = np.concatenate([work.rest for work in self.works])
        if not held:
            approach, carried = ways[0], ways[1]
            stages.append(
                Stage("reach", self._joint(rest, approach[0], opened, {}, name, after=approach), opened, point)
            )
            if params.task == "reach":
                stages.append(Stage("hold", approach[-1:], opened, point, seconds=params.hold))
                if params.come_back:
                    back = self._joint(approach[0], rest, opened, {}, name, before=approach[::-1])
                    stages.append(Stage("return", back, None, None))
                self.ledger.log("both", grasps[0].name, params.task, "done")
                return stages, ()
            grip = self._gripped(approach[-1], opened, grasps)
            stages.append(Stage("grasp", approach[-1:], grip, point, seconds=0.3))

            def offset(k: int) -> Array:
                return np.asarray(np.linalg.inv(self._hand(k, approach[-1])) @ self.matrix)

            held = tuple(
                Holding(name, work.side, grasp, offset(k), grip, work.rest, self.rotations)
                for k, (work, grasp) in enumerate(zip(self.works, grasps, strict=True))
            )
        else:
            carried, grip = ways[0], held[0].fingers
            rest = np.concatenate([home_of(w.arm, h, w.rest) for w, h in zip(self.works, held, strict=True)])
        if params.task == "pick_up":
            stages.append(Stage("lift", carried, grip, None, carries=True))
            self.ledger.log("both", grasps[0].name, "pick_up", "done")
            return stages, held
        goal = dense[-1]
        centre = goal[:3, 3] + (point - self.matrix[:3, 3])
        stages.append(Stage("transfer", carried, grip, centre, carries=True, steady=steady))
        stages.append(Stage("release", carried[-1:], opened, centre, seconds=0.25))
        if params.come_back:
            away = ways[-1]
            back = self._joint(away[-1], rest, opened, {name: goal}, name, before=away, loose=held[0].relaxed)
            stages.append(Stage("return", back, held[0].relaxed, None))
        self.ledger.log("both", grasps[0].name, params.task, "done")
        return stages, ()

    def _joint(
        self,
        start: Array,
        goal: Array,
        shape: Array,
        moved: Mapping[str, Array],
        prop: str,
        before: Array | None = None,
        after: Array | None = None,
        loose: Array | None = None,
    ) -> Array:
        """(N, 14) the ways of both arms at once: the right one's with the left one where it goes to.

        `loose` are rotations (J, 4) whose fingers are those far from the prop, where they are not the body's.
        """
        paths = []
        body = np.array(self.rotations)
        for k, side in enumerate(SIDES):
            own = slice(7 * k, 7 * k + 7)
            work = self._work(side, moved, body)
            work.loose = work.loose if loose is None else loose
            lead, tail = (None if way is None else way[:, own] for way in (before, after))
            paths.append(work.way(start[own], goal[own], shape, (), None, lead, tail, (prop,)))
            body[work.arm.joints] = work.arm.rotations(goal[own])
        # both take as long: spread over the longer one, by the part of the way that is behind
        spots = [np.concatenate([[0.0], np.cumsum(np.abs(np.diff(p, axis=0)).max(axis=1))]) for p in paths]
        spots = [s / max(s[-1], 1e-9) for s in spots]
        at = np.unique(np.concatenate(spots))
        at = at[np.concatenate([[True], np.diff(at) > 1e-9])]
        sides = [
            np.stack([np.interp(at, s, p[:, n]) for n in range(7)], axis=1) for s, p in zip(spots, paths, strict=True)
        ]
        return np.concatenate(sides, axis=1)

    def _opened(self, grasps: tuple[Grasp, Grasp], q: Array, matrix: Array) -> Array:
        """(J, 4) with both hands, of arms at q (14,), open in the shapes of their grasps about the prop at a matrix."""
        body = self.rotations
        for k, (work, grasp) in enumerate(zip(self.works, grasps, strict=True)):
            offset = np.linalg.inv(self._hand(k, q)) @ matrix
            body = opened_around(work.skeleton, body, work.side, self.target, grasp, offset)
        return body

    def _gripped(self, q: Array, opened: Array, grasps: tuple[Grasp, Grasp]) -> Array:
        """(J, 4) with the fingers of both hands laid on the prop."""
        body = opened.copy()
        thing = World((replace(self.target, matrices=self.matrix[None]),))
        others = as_moved(self.job, (self.target.name,))
        for k, (work, grasp) in enumerate(zip(self.works, grasps, strict=True)):
            body[work.arm.joints] = work.arm.rotations(q[7 * k : 7 * k + 7])
            before = body
            body = close_fingers(work.skeleton, body, work.root, work.side, grasp.shape, thing).rotations
            offence = closing_into(work.skeleton, work.root, work.side, before, body, others, self.shapes)
            if offence is not None:
                raise NoGrasp(f"fingers that close on {self.target.name} would be in {offence.body}")
        return body

    def _hand(self, k: int, q: Array) -> Array:
        out = np.eye(4)
        _, wrist, axes = self.works[k].arm.frames(q[None, 7 * k : 7 * k + 7])
        out[:3, :3], out[:3, 3] = axes[:, :, 0].T, wrist[:, 0]
        return out

    def _held_matrix(self, held: tuple[Holding, ...], steady: bool) -> Array:
        """(4, 4) of the prop in the hands, before the body leans or, with arms as they are, when it does."""
        pose = self.job.pose
        body = pose.rotations if steady else self.rotations
        self.matrix = hand_matrix(self.job.skeleton, body, pose.root, held[0].side) @ held[0].offset
        return self.matrix
