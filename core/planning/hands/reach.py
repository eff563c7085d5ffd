"""Hands that reach for things, touch them, point at them, take them, carry them, put them down and come back.

Kuffner, "Autonomous Agents for Real-Time Animation" (1999), 5.2 to 5.5: a task is a reach, a grasp, a transfer, a
release and a return, each a planned way of the arm; where one grasp or hand fails the next is tried, then the trunk
leans, then the actor steps closer. A hand stops short of a prop and goes the rest straight.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...errors import InvalidParam, NoGrasp, NoIK, NoPath, NotVisible, TroupeError
from ...kinematics import anatomy, fk
from ...kinematics.fingers import close_fingers, grip_place, hand_length
from ...kinematics.hand_choice import MARGIN
from ...maths import geometry, quat
from ...performance import Performance
from ...skeleton import SIDES, Array, Pose, Skeleton
from ...world import Body, World
from ..spaces.arm_space import Held
from ..spaces.penetration import HAND, Penetration, penetrations
from ..spaces.rrt import SearchParams
from ..spaces.shortcut import SmoothParams
from ..spaces.solids import Shapes, matrix_at, parted
from .arm_work import APPROACH, LIFT, UP, ArmWork, Ledger, Option, held_capsules
from .grasp import ANY, Grasp, for_purpose, framed, grasps_of, touches
from .stages import Holding, Stage, performed
from .stepping_up import stepped
from .tasks import CARRYING, ReachParams

LEANS = tuple(np.radians([10.0, 20.0, 30.0, 40.0]))
"""How far the trunk leans, when that helps [rad]."""


@dataclass(frozen=True, eq=False)
class Job:
    """Everything a task is given.

    Attributes:
        skeleton, pose: The actor as it is.
        world, time: What is around, at which moment [s].
        params: The task.
        fps: Samples a second of the result [Hz].
        actor: Its name.
        destination: (4, 4) where the prop is to be; None for none.
        grasps: By name of the prop, made by hand; others follow from its shape.
        holding: What the hand holds at the beginning.
        seen: Names of what the actor sees; None for everything.
        moved: (4, 4) of bodies that are elsewhere than the world says.
        shapes: What is known of meshes; shared by tasks in one scene.
        should_stop: Asked by every search.
    """

    skeleton: Skeleton
    pose: Pose
    world: World
    params: ReachParams
    fps: float = 24.0
    actor: str = "actor"
    time: float = 0.0
    destination: Array | None = None
    grasps: Mapping[str, Sequence[Grasp]] | None = None
    holding: Holding | None = None
    seen: Collection[str] | None = None
    moved: Mapping[str, Array] | None = None
    shapes: Shapes | None = None
    should_stop: Callable[[], bool] | None = None


@dataclass(frozen=True, eq=False)
class Reached:
    """What came of a task.

    Attributes:
        performance: Motion, props, attachments, events and the record of all tries.
        ledger: What it took.
        side: The hand that did it.
        grasp: How it took hold, touched or pointed.
        holding: What it holds at the end.
        offences: Where the motion is in something after all.
        pose: At the end.
    """

    performance: Performance
    ledger: Ledger
    side: str
    grasp: Grasp
    holding: Holding | None
    offences: tuple[Penetration, ...]
    pose: Pose


def reach(job: Job) -> Reached:
    """Do a task with one hand.

    Raises:
        NotVisible: The actor does not see the target.
        NoGrasp: No grasp for the purpose, or no hand.
        NoIK, NoPath: Nothing worked; the message names what was in the way, the tries are in `ledger` of the error.
    """
    ledger = Ledger()
    target = _target(job)
    if job.seen is not None and target.name not in job.seen:
        raise NotVisible(f"{job.actor} does not see {target.name}; look for it first")
    shapes = job.shapes or Shapes()
    failure: TroupeError | None = None
    for skill in _bodies(job, target):
        try:
            job_there, leaned, walked = skill()
        except (NoIK, NoPath) as error:
            ledger.log("", "", "step", str(error))
            continue
        work = _Task(job_there, target, leaned, ledger, shapes)
        for side in work.sides():
            try:
                stages, holding = work.done(side)
                return _finished(job_there, work, side, stages, holding, walked)
            except (NoIK, NoPath, NoGrasp) as error:
                if failure is None or isinstance(error, NoPath):
                    failure = error
    assert failure is not None
    failure.ledger = ledger  # type: ignore[attr-defined]
    raise failure


def _target(job: Job) -> Body:
    name = job.params.target or (job.holding.prop if job.holding is not None else "")
    for body in job.world.bodies:
        if body.name == name:
            return body
    known = ", ".join(sorted(b.name for b in job.world.bodies)[:12])
    raise InvalidParam("target", name, f"must be one of the bodies of the world: {known}")


Body_ = tuple[Job, Array | None, Any]


def _bodies(job: Job, target: Body) -> list[Callable[[], Body_]]:
    """The body as it is, then leaning, then standing closer; each found when it is needed."""
    out: list[Callable[[], Body_]] = [lambda: (job, None, None)]
    carries = job.holding is not None
    if job.params.lean and job.skeleton.has("spine"):

        def leaning(angle: float) -> Callable[[], Body_]:
            return lambda: (job, _leaned(job, target, angle), None)

        out += [leaning(angle) for angle in LEANS]
    if job.params.step and not carries:

        def closer() -> Body_:
            place = _place(job, target)
            walked = stepped(job.skeleton, job.pose, job.world, place, job.fps, job.params.hand, job.moved)
            end = walked.pose(len(walked) - 1)
            return replace(job, pose=end, time=job.time + walked.duration), None, walked

        out.append(closer)
    return out


def _place(job: Job, target: Body) -> Array:
    """(3,) the middle of the target [m]."""
    matrix = _matrix(job, target)
    return np.asarray((target.vertices @ matrix[:3, :3].T + matrix[:3, 3]).mean(axis=0))


def _matrix(job: Job, target: Body) -> Array:
    if job.moved and target.name in job.moved:
        return job.moved[target.name]
    return matrix_at(job.world, target, job.time)


def _leaned(job: Job, target: Body, angle: float) -> Array:
    """Rotations (J, 4) of the body with its trunk leaning to the target by an angle [rad], the head staying level."""
    skeleton, pose = job.skeleton, job.pose
    positions, globals = fk.forward(skeleton, pose.rotations, pose.root)
    spine = skeleton.chain("spine")
    away = quat.rotate(quat.conjugate(globals[spine[0]]), _place(job, target) - positions[spine[0]])
    flat = np.array([away[0], away[1], 0.0])
    axis = quat.unit(np.cross(UP, quat.unit(flat)))
    out = np.array(pose.rotations)
    total = quat.multiply(quat.about(axis, angle), anatomy.gather(pose.rotations[list(spine)]))
    out[list(spine)] = anatomy.spread(total, len(spine))
    return out


class _Task:
    """One task with a body that stands."""

    def __init__(self, job: Job, target: Body, leaned: Array | None, ledger: Ledger, shapes: Shapes) -> None:
        self.job, self.target, self.ledger, self.shapes = job, target, ledger, shapes
        self.params = job.params
        self.rotations = np.array(job.pose.rotations) if leaned is None else leaned
        self.leaned = leaned is not None
        self.matrix = _matrix(job, target)
        self.positions, self.globals = fk.forward(job.skeleton, self.rotations, job.pose.root)

    def sides(self) -> tuple[str, ...]:
        """The hands to try: the nearer first; of hands about as near, the favoured one."""
        if self.job.holding is not None:
            return (self.job.holding.side,)
        if self.params.hand != "auto":
            return (self.params.hand,)
        able = [s for s in SIDES if self.job.skeleton.has(f"hand_{s}")]
        place = _place(self.job, self.target)
        far = {s: float(np.linalg.norm(self.positions[self.job.skeleton.joint(f"hand_{s}")] - place)) for s in able}
        if len(far) == 2 and abs(far["L"] - far["R"]) < 0.2 * MARGIN:
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
            SearchParams(budget=params.budget, seed=params.seed),
            SmoothParams(),
            self.job.should_stop,
        )

    def grasps(self, side: str) -> list[Grasp]:
        task, target = self.params.task, self.target
        if task in ("touch", "point"):
            return self._touches(side) if task == "touch" else self._pointing(side)
        known = (self.job.grasps or {}).get(target.name)
        if known is None:
            known = grasps_of(target, hand_length(self.job.skeleton, side))
        found = for_purpose(known, self.params.purpose)
        if not self.params.standoff:
            found = [replace(g, distance=0.0) for g in found]
        return found

    def _touches(self, side: str) -> list[Grasp]:
        """The nearest place of the surface to the shoulder, as seen from the prop."""
        body = replace(self.target, matrices=self.matrix[None])
        shoulder = self.positions[self.job.skeleton.joint(f"upper_arm_{side}")]
        point, _, _, normal = geometry.nearest(World((body,)), shoulder[None])
        turn, _ = parted(self.matrix)
        return touches(turn.T @ (point[0] - self.matrix[:3, 3]), turn.T @ normal[0])

    def _pointing(self, side: str) -> list[Grasp]:
        """The finger on the line from the shoulder to the target, as far as the arm goes easily."""
        skeleton = self.job.skeleton
        shoulder = self.positions[skeleton.joint(f"upper_arm_{side}")]
        way = _place(self.job, self.target) - shoulder
        far = float(np.linalg.norm(way))
        along = way / max(far, 1e-9)
        arm = sum(float(np.linalg.norm(skeleton.offsets[skeleton.joint(f"{r}_{side}")])) for r in ("forearm", "hand"))
        tip = float(np.linalg.norm(grip_place(skeleton, side, "index")))
        turn, _ = parted(self.matrix)
        out = []
        for stretch in (0.93, 0.85, 0.75):
            place = shoulder + min(stretch * arm + tip, max(far - 0.05, 0.2)) * along
            for roll in np.radians([0.0, 30.0, -30.0, 60.0, -60.0, 90.0]):
                down = -UP if abs(along[2]) < 0.95 else np.array([0.0, 1.0, 0.0])
                palm = quat.rotate(quat.about(along, float(roll)), quat.unit(down - (down @ along) * along))
                thumb = np.cross(along, palm) if side == "R" else np.cross(palm, along)
                frame = framed(palm, thumb, place)
                local = np.eye(4)
                local[:3, :3] = turn.T @ frame[:3, :3]
                local[:3, 3] = turn.T @ (place - self.matrix[:3, 3])
                quality = 1.0 - 0.3 * abs(roll) / np.pi - (0.93 - stretch)
                out.append(Grasp(local, "index", (ANY,), quality, side, turn.T @ along, 0.0, "point"))
        return out

    def done(self, side: str) -> tuple[list[Stage], Holding | None]:
        """The stages of the task with one hand; the first grasp that works throughout."""
        if self.job.holding is not None:
            return self._put_down(side, self.job.holding)
        work = self.work(side)
        grasps = self.grasps(side)
        carries = self.params.task in CARRYING

        def shifts(along: Array, distance: float) -> Array:
            back = -distance * np.linspace(1.0, 0.0, APPROACH)[:, None] * along
            lift = self.params.lift * np.linspace(0.0, 1.0, LIFT + 1)[1:, None] * UP
            return np.concatenate([back, lift]) if carries else back

        distance = max((g.distance for g in grasps), default=0.0)
        options = work.options(grasps, self.matrix, self.target.name, lambda a: shifts(a, distance), work.rest)
        if not options:
            fits = [g for g in grasps if g.side in (ANY, side)]
            raise (
                work.unreached(fits, self.matrix, self.target.name) if fits else NoGrasp(f"no grasp is for hand_{side}")
            )
        pairs: list[tuple[Option, Array | None]] = [(option, None) for option in options]
        if self.params.task in ("move", "hand_over"):
            pairs = self._both(work, options)
        failure: TroupeError | None = None
        for option, there in pairs[: self.params.tries]:
            try:
                return self._with(work, option.grasp, option.ways, there)
            except (NoIK, NoPath, NoGrasp) as error:
                self.ledger.log(side, option.grasp.name, "way", str(error))
                failure = failure or error
        assert failure is not None
        raise failure

    def _both(self, work: ArmWork, options: Sequence[Option]) -> list[tuple[Option, Array | None]]:
        """The grasps with which the destination is reached too, and their postures there; one question for all."""
        goal, name = self._destination(), self.target.name
        grasps = [option.grasp for option in options]
        near = np.stack([option.ways[-1] for option in options])
        distance = max(grasp.distance for grasp in grasps)
        found = work.options(grasps, goal, name, lambda along: self._placing(along, distance), near)
        if not found:
            raise work.unreached(grasps, goal, name)
        there = {id(option.grasp): option for option in found}
        both = [option for option in options if id(option.grasp) in there]
        both.sort(key=lambda option: option.score + there[id(option.grasp)].score)
        return [(option, there[id(option.grasp)].ways) for option in both]

    def _placing(self, along: Array, distance: float) -> Array:
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
        opened = work.shaped(grasp.shape)
        approach = ways[:APPROACH]
        path = work.way(work.rest, approach[0], opened, (), after=approach, far_from=name)
        point = _place(self.job, self.target)
        stages = [Stage("reach", path, opened, point)]
        if params.task not in CARRYING:
            stages.append(Stage("hold", approach[-1:], opened, point, seconds=params.hold))
            if params.come_back:
                back = work.way(approach[0], work.rest, opened, (), before=approach[::-1], far_from=name)
                stages.append(Stage("return", back, None, None))
            self.ledger.log(work.side, grasp.name, params.task, "done")
            return stages, None
        grip = self._gripped(work, opened, approach[-1], grasp)
        stages.append(Stage("grasp", approach[-1:], grip, point, seconds=0.4))
        hand = self._hand(work, approach[-1])
        held = held_capsules(self.target.vertices, hand, self.matrix)
        holding = Holding(name, work.side, grasp, np.linalg.inv(hand) @ self.matrix, grip)
        lift = ways[APPROACH - 1 :]
        if params.task == "pick_up":
            stages.append(Stage("lift", lift, grip, None, carries=True))
            self.ledger.log(work.side, grasp.name, "pick_up", "done")
            return stages, holding
        assert there is not None
        return self._carried(work, holding, held, lift, there, stages)

    def _carried(
        self, work: ArmWork, holding: Holding, held: Held, lift: Array, ways: Array, stages: list[Stage]
    ) -> tuple[list[Stage], Holding | None]:
        """Transfer, release and return."""
        params, name, grasp, goal = self.params, self.target.name, holding.grasp, self._destination()
        gives = params.task == "hand_over"
        down, away = ways[:LIFT], ways[LIFT - 1 :]
        path = work.way(lift[-1], down[0], holding.fingers, (name,), held, lift, down)
        centre = goal[:3, 3] + (_place(self.job, self.target) - self.matrix[:3, 3])
        stages.append(Stage("transfer", path, holding.fingers, centre, carries=True))
        if gives:
            stages.append(Stage("hold", down[-1:], holding.fingers, centre, carries=True, seconds=params.hold))
            self.ledger.log(work.side, grasp.name, "hand_over", "done")
            return stages, holding
        opened = work.shaped(grasp.shape)
        stages.append(Stage("release", down[-1:], opened, centre, seconds=0.3))
        if params.come_back:
            free = self.work(work.side, {name: goal})
            back = free.way(away[-1], work.rest, opened, (), before=away, far_from=name)
            stages.append(Stage("return", back, None, None))
        self.ledger.log(work.side, grasp.name, params.task, "done")
        return stages, None

    def _put_down(self, side: str, holding: Holding) -> tuple[list[Stage], Holding | None]:
        """Transfer, release and return of what is held."""
        work = self.work(side)
        self.used = holding.grasp
        hand = self._hand(work, None)
        matrix = hand @ holding.offset
        self.matrix = matrix
        held = held_capsules(self.target.vertices, hand, matrix)
        start = work.rest[None]
        if self.params.come_back and holding.before is not None:
            arm = work.arm
            work.rest = np.clip(arm.configuration(np.asarray(holding.before)[arm.joints]), arm.low, arm.high)
        elif self.params.come_back and holding.rest is not None:
            work.rest = np.asarray(holding.rest)
        goal, grasp = self._destination(), holding.grasp
        found = work.options([grasp], goal, self.target.name, lambda a: self._placing(a, grasp.distance), start[0])
        if not found:
            raise work.unreached([grasp], goal, self.target.name)
        return self._carried(work, holding, held, np.repeat(start, 2, axis=0), found[0].ways, [])

    def _destination(self) -> Array:
        goal = self.job.destination
        if goal is None:
            goal = next((b.matrices[0] for b in self.job.world.bodies if b.name == self.params.destination), None)
        if goal is None:
            raise InvalidParam("destination", self.params.destination, "must say where it is taken")
        return np.asarray(goal)

    def _hand(self, work: ArmWork, q: Array | None) -> Array:
        """(4, 4) of the hand."""
        out = np.eye(4)
        if q is None:
            joint = int(work.arm.joints[2])
            out[:3, :3], out[:3, 3] = quat.to_matrix(work.globals[joint]), work.positions[joint]
            return out
        _, wrist, axes = work.arm.frames(q[None])
        out[:3, :3], out[:3, 3] = axes[:, :, 0].T, wrist[:, 0]
        return out

    def _gripped(self, work: ArmWork, opened: Array, q: Array, grasp: Grasp) -> Array:
        """Rotations (J, 4) with the fingers closed on the prop."""
        body = opened.copy()
        body[work.arm.joints] = work.arm.rotations(q)
        thing = World((replace(self.target, matrices=self.matrix[None]),))
        grip = close_fingers(self.job.skeleton, body, self.job.pose.root, work.side, grasp.shape, thing)
        if grip.gaps and not grip.firm:
            touching = ", ".join(grip.touching) or "no finger"
            raise NoGrasp(f"the hand closes on {self.target.name} without a hold: {touching} touches it")
        return grip.rotations


def _finished(job: Job, task: _Task, side: str, stages: list[Stage], holding: Holding | None, walked: Any) -> Reached:
    """The performance of the stages, checked."""
    work = task.work(side)
    if holding is not None and holding.rest is None:
        holding = replace(holding, rest=work.rest)
    leaned = task.rotations if task.leaned else None
    moved = job.moved or {}
    bodies = tuple(replace(b, matrices=moved[b.name][None]) if b.name in moved else b for b in job.world.bodies)
    there = replace(job.world, bodies=bodies)
    touching = {(f"{part}_{side}", task.target.name) for part in HAND}
    best: tuple[Performance, list[Penetration]] | None = None
    for first in (False, True) if task.leaned else (False,):
        performance = performed(
            job, work, stages, task.target, task.matrix, holding, task.ledger, leaned, walked, first
        )
        motion = performance.motions[job.actor]
        offences = penetrations(motion, there, performance.props, sides=(side,), touching=touching)
        if best is None or len(offences) < len(best[1]):
            best = performance, offences
        if not offences:
            break
    assert best is not None
    performance, offences = best
    motion = performance.motions[job.actor]
    pose = motion.pose(len(motion) - 1)
    return Reached(performance, task.ledger, side, task.used, holding, tuple(offences), pose)
