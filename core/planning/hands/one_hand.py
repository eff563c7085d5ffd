"""A task with one hand of a body that stands: the grasps that work, and the stages of the first that does throughout.

Kuffner, "Autonomous Agents for Real-Time Animation" (1999), 5.2 to 5.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from ...errors import InvalidParam, NoGrasp, NoHold, NoIK, NoPath, TroupeError
from ...kinematics import fk
from ...kinematics.fingers import TOLERANCE, close_fingers, hand_length
from ...maths import quat
from ...skeleton import SIDES, Array
from ...world import Body, World
from ..spaces.arm_space import Held
from ..spaces.collision import clearance
from ..spaces.rrt import SearchParams, stopped
from ..spaces.shortcut import SmoothParams
from ..spaces.solids import Shapes, solids
from .arm_work import ArmWork
from .grasp import ANY, Grasp, for_purpose
from .grasp_forms import grasps_of
from .held_shape import held_capsules
from .holding import closing_into, opened_around
from .ledger import Ledger
from .orders import CARRYING, ReachParams
from .pointing import pointing, touching
from .postures import APPROACH, LIFT, Option, reachable, roomy, unreached
from .putting_down import let_go, put_down
from .stages import Holding, Stage
from .standing import UP, as_moved, destination_of, has_arm, matrix_of, place_of
from .task import Job

ABOUT = 0.03
"""How much farther from something a hand is at most that is about as near to it [m]."""
FEW = 8
"""Grasps that are asked at a time whether there is room for any."""
NEAR = 0.3
"""From a thing to what may be in the way of a hand that takes it [m]."""
TIP = 0.012
"""Thickness of a finger tip [m]."""


def smoothing(params: ReachParams) -> SmoothParams:
    """How ways are smoothed and timed."""
    return SmoothParams.faithful() if params.faithful else SmoothParams()


class OneHand:
    """One task with a body that stands."""

    def __init__(self, job: Job, target: Body, leaned: Array | None, ledger: Ledger, shapes: Shapes) -> None:
        self.job, self.target, self.ledger, self.shapes = job, target, ledger, shapes
        self.params = job.params
        self.rotations = np.array(job.pose.rotations) if leaned is None else leaned
        self.leaned = leaned is not None
        self.matrix = matrix_of(job, target)
        self.beside: tuple[str, ...] = ()
        self.positions, self.globals = fk.forward(job.skeleton, self.rotations, job.pose.root)

    def sides(self) -> tuple[str, ...]:
        """The hands to try: the nearer first; of hands about as near, the favoured one."""
        if self.job.holding is not None:
            return (self.job.holding.side,)
        if self.params.hand != "auto":
            return (self.params.hand,)
        able = [s for s in SIDES if has_arm(self.job, s)]
        place = place_of(self.job, self.target)
        far = {s: float(np.linalg.norm(self.positions[self.job.skeleton.joint(f"hand_{s}")] - place)) for s in able}
        if len(far) == 2 and abs(far["L"] - far["R"]) < ABOUT:
            return tuple(sorted(able, key=lambda s: s != self.params.favoured))
        return tuple(sorted(able, key=lambda s: far[s]))

    def work(self, side: str, moved: Mapping[str, Array] | None = None) -> ArmWork:
        params = self.params
        return ArmWork(
            self.job.skeleton,
            self.rotations,
            self.job.pose.root,
            side,
            self.job.world,
            self.job.time,
            self.ledger,
            {**(self.job.moved or {}), **(moved or {})},
            self.shapes,
            SearchParams(method="connect" if params.faithful else "wide", budget=params.budget, seed=params.seed),
            smoothing(params),
            self.job.should_stop,
        )

    def known(self, side: str) -> Sequence[Grasp]:
        """The grasps of the target for a hand, by hand or from its shape."""
        known = (self.job.grasps or {}).get(self.target.name)
        return grasps_of(self.target, hand_length(self.job.skeleton, side)) if known is None else known

    def has_room(self) -> bool:
        """Whether a hand has room at the target for any grasp of it, wherever the body is."""
        job, place = self.job, place_of(self.job, self.target)
        far = np.linalg.norm(self.target.vertices @ self.matrix[:3, :3].T + self.matrix[:3, 3] - place, axis=1)
        region = (place, float(far.max(initial=0.0)) + NEAR)
        around = solids(job.world, job.time, region, (self.target.name,), self.shapes, dict(job.moved or {}))
        for side in self.sides():
            fits = sorted((g for g in self.known(side) if g.side in (ANY, side)), key=lambda g: -g.quality)
            work = self.work(side)
            # nearly always the first few do
            for k in range(0, len(fits), FEW):
                if roomy(work, fits[k : k + FEW], self.matrix, around).any():
                    return True
        return False

    def grasps(self, side: str) -> list[Grasp]:
        """Those for the task."""
        task = self.params.task
        if task in ("touch", "point"):
            return (touching if task == "touch" else pointing)(self.job, self.target, self.matrix, self.positions, side)
        known = self.known(side)
        if not known:
            raise NoGrasp(f"{self.target.name} is too large for hand_{side}: let both take it, or give it a grasp")
        found = for_purpose(known, self.params.purpose)
        if self.params.faithful or not self.params.standoff:
            found = [replace(g, distance=0.0) for g in found]
        return found

    def done(self, side: str) -> Iterator[tuple[list[Stage], Holding | None]]:
        """The stages of the task with one hand, for one grasp after the other that works throughout."""
        if self.job.holding is not None:
            if self.params.task == "let_go":
                yield let_go(self, side, self.job.holding)
            else:
                yield from put_down(self, side, self.job.holding)
            return
        if self.params.task in ("let_go", "put_back"):
            raise InvalidParam("task", self.params.task, f"must begin with {self.target.name} in a hand")
        work = self.work(side)
        grasps = self.grasps(side)
        carries = self.params.task in CARRYING

        def shifts(along: Array, distance: float) -> Array:
            back = -distance * np.linspace(1.0, 0.0, APPROACH)[:, None] * along
            lift = self.params.lift * np.linspace(0.0, 1.0, LIFT + 1)[1:, None] * UP
            return np.concatenate([back, lift]) if carries else back

        distance = max((g.distance for g in grasps), default=0.0)
        natural = self.params.faithful
        self.beside = self._behind(grasps) if self.params.task == "touch" else ()
        options = reachable(
            work, grasps, self.matrix, self.target.name, lambda a: shifts(a, distance), work.rest, natural, self.beside
        )
        if not options:
            fits = [g for g in grasps if g.side in (ANY, side)]
            raise (
                unreached(work, fits, self.matrix, self.target.name)
                if fits
                else NoGrasp(f"no grasp is for hand_{side}")
            )
        pairs: list[tuple[Option, Array | None]] = [(option, None) for option in options]
        if self.params.task in ("move", "hand_over"):
            pairs = self._both(work, options)
        failure: TroupeError | None = None
        works = False
        for option, there in islice(self._clear(work, pairs) if carries else pairs, self.params.tries):
            try:
                found = self._with(work, option.grasp, option.ways, there)
            except (NoIK, NoPath, NoGrasp) as error:
                self.ledger.log(side, option.grasp.name, "way", str(error))
                failure = failure or error
                continue
            works = True
            yield found
        if failure is not None and not works:
            raise failure

    def _behind(self, grasps: Sequence[Grasp]) -> tuple[str, ...]:
        """What lies right behind the place that is touched: a finger tip is thicker than paper and coins are."""
        place = grasps[0].world(self.matrix)[0]
        region = (place, NEAR)
        around = solids(
            self.job.world, self.job.time, region, (self.target.name,), self.shapes, dict(self.job.moved or {})
        )
        gap, owner = clearance(around, place[None], place[None], np.zeros(1))
        return (around.names[owner[0]],) if owner[0] >= 0 and gap[0] < TIP else ()

    def _both(self, work: ArmWork, options: Sequence[Option]) -> list[tuple[Option, Array | None]]:
        """The grasps with which the destination is reached too, and their postures there; one question for all."""
        goal, name = destination_of(self.job), self.target.name
        grasps = [option.grasp for option in options]
        near = np.stack([option.ways[-1] for option in options])
        distance = max(grasp.distance for grasp in grasps)
        found = reachable(
            work, grasps, goal, name, lambda along: self.placing(along, distance), near, self.params.faithful
        )
        if not found:
            raise unreached(work, grasps, goal, name, True)
        there = {id(option.grasp): option for option in found}
        both = [option for option in options if id(option.grasp) in there]
        both.sort(key=lambda option: option.score + there[id(option.grasp)].score)
        return [(option, there[id(option.grasp)].ways) for option in both]

    def placing(self, along: Array, distance: float) -> Array:
        """Where the hand is from the destination (K, 3) as it lowers the prop, and goes back from it [m]."""
        high = 0.0 if self.params.task == "hand_over" else self.params.lift
        lower = high * np.linspace(1.0, 0.0, LIFT)[:, None] * UP
        return np.concatenate([lower, -distance * np.linspace(0.0, 1.0, APPROACH)[1:, None] * along])

    def _with(
        self, work: ArmWork, grasp: Grasp, ways: Array, there: Array | None
    ) -> tuple[list[Stage], Holding | None]:
        """All stages with one grasp, whose postures from the stand-off on are known, and those at the destination."""
        params, name = self.params, self.target.name
        self.used = grasp
        approach = ways[:APPROACH]
        opened = grip = work.shaped(grasp.shape)
        if params.task in (*CARRYING, "reach"):
            opened = self.opened(work, grasp, np.linalg.inv(self.hand_at(work, approach[-1])) @ self.matrix)
        if params.task in CARRYING:
            grip = self._gripped(work, opened, approach[-1], grasp)
        path = work.way(work.rest, approach[0], opened, (), after=approach, far_from=(name,))
        point = place_of(self.job, self.target)
        stages = [Stage("reach", path, opened, point)]
        if params.task not in CARRYING:
            stages.append(Stage("hold", approach[-1:], opened, point, seconds=params.hold))
            if params.come_back:
                back = work.way(approach[0], work.rest, opened, (), before=approach[::-1], far_from=(name,))
                stages.append(Stage("return", back, None, None))
            self.ledger.log(work.side, grasp.name, params.task, "done")
            return stages, None
        stages.append(Stage("grasp", approach[-1:], grip, point, seconds=0.4))
        hand = self.hand_at(work, approach[-1])
        held = held_capsules(self.target.vertices, hand, self.matrix)
        holding = Holding(name, work.side, grasp, np.linalg.inv(hand) @ self.matrix, grip, relaxed=self.rotations)
        lift = ways[APPROACH - 1 :]
        if params.task == "pick_up":
            stages.append(Stage("lift", lift, grip, None, carries=True))
            self.ledger.log(work.side, grasp.name, "pick_up", "done")
            return stages, holding
        assert there is not None
        return self.carried(work, holding, held, lift, there, stages)

    def _clear(
        self, work: ArmWork, pairs: Sequence[tuple[Option, Array | None]]
    ) -> Iterator[tuple[Option, Array | None]]:
        """The grasps whose forearm is not in the prop, then the others."""
        others = []
        for pair in pairs:
            if self._pierced(work, pair[0]):
                others.append(pair)
            else:
                yield pair
        yield from others

    def _pierced(self, work: ArmWork, option: Option) -> bool:
        """Whether the forearm of a hand that takes and lifts the prop would be in it."""
        lift = option.ways[APPROACH - 1 :]
        there = solids(World((self.target,)), 0.0, None, (), self.shapes, {self.target.name: self.matrix})
        elbows, wrists, _ = work.arm.frames(lift)
        ends = np.stack([elbows.T, wrists.T], axis=1)
        # seen from the hand the prop stays where it is
        hands = np.stack([self.hand_at(work, q) for q in lift])
        back = hands[0] @ np.linalg.inv(hands)
        ends = np.einsum("kij,kej->kei", back[:, :3, :3], ends) + back[:, None, :3, 3]
        gap, _ = clearance(there, ends[:, 0], ends[:, 1], np.full(len(lift), work.arm.radii[1]))
        pierced = bool(gap.min() < -0.5 * TOLERANCE)
        if pierced:
            self.ledger.log(work.side, option.grasp.name, "posture", f"the forearm would be in {self.target.name}")
        return pierced

    def carried(
        self,
        work: ArmWork,
        holding: Holding,
        held: Held,
        lift: Array,
        ways: Array,
        stages: list[Stage],
        steady: bool = False,
    ) -> tuple[list[Stage], Holding | None]:
        """Transfer, release and return."""
        params, name, grasp, goal = self.params, self.target.name, holding.grasp, destination_of(self.job)
        gives = params.task == "hand_over"
        down, away = ways[:LIFT], ways[LIFT - 1 :]
        path = work.way(lift[-1], down[0], holding.fingers, (name,), held, lift, down)
        centre = goal[:3, 3] + (place_of(self.job, self.target) - self.matrix[:3, 3])
        stages.append(Stage("transfer", path, holding.fingers, centre, carries=True, steady=steady))
        if gives:
            stages.append(Stage("hold", down[-1:], holding.fingers, centre, carries=True, seconds=params.hold))
            self.ledger.log(work.side, grasp.name, "hand_over", "done")
            return stages, holding
        opened = self.opened(work, grasp, holding.offset)
        stages.append(Stage("release", down[-1:], opened, centre, seconds=0.3))
        if params.come_back:
            free = self.work(work.side, {name: goal})
            free.loose = free.loose if holding.relaxed is None else holding.relaxed
            back = free.way(away[-1], work.rest, opened, (), before=away, far_from=(name,))
            stages.append(Stage("return", back, holding.relaxed, None))
        self.ledger.log(work.side, grasp.name, params.task, "done")
        return stages, None

    def hand_at(self, work: ArmWork, q: Array | None) -> Array:
        """(4, 4) of the hand."""
        out = np.eye(4)
        if q is None:
            joint = int(work.arm.joints[2])
            out[:3, :3], out[:3, 3] = quat.to_matrix(work.globals[joint]), work.positions[joint]
            return out
        _, wrist, axes = work.arm.frames(q[None])
        out[:3, :3], out[:3, 3] = axes[:, :, 0].T, wrist[:, 0]
        return out

    def opened(self, work: ArmWork, grasp: Grasp, offset: Array) -> Array:
        """Rotations (J, 4) with the hand open about the prop, which is at an offset (4, 4) in its axes."""
        return opened_around(work.skeleton, work.rotations, work.side, self.target, grasp, offset)

    def _gripped(self, work: ArmWork, opened: Array, q: Array, grasp: Grasp) -> Array:
        """Rotations (J, 4) with the fingers closed on the prop."""
        stopped(self.job.should_stop)
        body = opened.copy()
        body[work.arm.joints] = work.arm.rotations(q)
        thing = World((replace(self.target, matrices=self.matrix[None]),))
        grip = close_fingers(self.job.skeleton, body, self.job.pose.root, work.side, grasp.shape, thing)
        deep = [finger for finger, gap in grip.gaps.items() if gap < -TOLERANCE]
        if deep:
            raise NoGrasp(f"the hand on {self.target.name} is too near: {', '.join(deep)} would be in it")
        if grip.gaps and not grip.firm:
            touching = ", ".join(grip.touching) or "no finger"
            raise NoHold(
                f"the hand closes on {self.target.name} without a hold: {touching} touches it; "
                "bring a side of it over an edge, or give it a grasp by hand"
            )
        others = as_moved(self.job, (self.target.name,))
        offence = closing_into(work.skeleton, self.job.pose.root, work.side, body, grip.rotations, others, self.shapes)
        if offence is not None:
            raise NoGrasp(f"fingers that close on {self.target.name} would be in {offence.body}")
        return grip.rotations
