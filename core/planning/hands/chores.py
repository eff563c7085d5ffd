"""Somebody at work in a room: walks, looks about, takes things, carries them and puts them down where they belong.

Kuffner, "Autonomous Agents for Real-Time Animation" (1999), 6: what is done next follows from what is seen. `tidy` and
`serve` are made of this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...errors import NoGrasp, NoIK, NoPath
from ...gait.physique import measure
from ...kinematics import base as bases
from ...kinematics import fk
from ...maths import quat
from ...motion import Event, Motion
from ...performance import Attachment, Performance
from ...skeleton import Array
from ...world import Body
from ..senses.eyes import eye_at
from ..senses.scenery import Scenery, scenery
from ..senses.vision import VisionParams, see
from ..spaces.penetration import in_others
from ..spaces.rrt import stopped
from ..spaces.solids import Shapes
from ..walkers.tasks import MoveTo, Scope, Stance, TurnTo, chained, still
from ..ways.map import MapParams
from .carry import CarryParams, carry
from .orders import ChoreParams
from .reach import reach
from .spots import footprint, free_spots
from .stages import Holding
from .standing import UP, as_moved, matrix_of
from .stepping_back import backed_off
from .stepping_up import stance, stepped
from .task import Job, Reached

RUN_UP = 0.6
"""How far from where it stands to work it turns to face it, at most [m]."""
CHEST = CarryParams(posture="chest", raised=0.06)
"""High enough for tables that it steps up to."""
ABOVE = np.array([0.0, 0.0, 0.1])
"""From the foot of a thing to where it is taken [m]."""
TRIES, APART = 4, 0.2
"""Places on one thing that are tried, and how far they are apart [m]."""
_TURNS = np.radians([0.0, 45.0, -45.0, 90.0, -90.0, 135.0, -135.0, 180.0])
FAILURES = (NoIK, NoPath, NoGrasp)
"""How a piece of work may fail."""
_GLANCE = 0.5
"""Time between two looks while it walks [s]."""
_DOWN = -0.35
"""How far down it looks, at tables rather than at walls [rad]."""

Place = Array | str
"""Where something goes: a matrix (4, 4), taken by one thing, or the name of a body that things are stood on."""


class _Crowded(NoPath):
    """There is something where a thing would be carried."""


@dataclass(eq=False)
class Shift:
    """A stretch of work: what was done so far, to be made a performance of.

    Attributes:
        job: The actor as it is now, the world, and how hands move.
        params: How it works.
        places: Where litter goes.
        seen: Names of what it has seen.
        away, lost: Names of what was put away and of what could not be, in order.
        log: Every decision.
    """

    job: Job
    params: ChoreParams
    places: Sequence[Place] = ()
    seen: set[str] = field(default_factory=set)
    away: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    log: list[dict[str, Any]] = field(default_factory=list)
    _used: set[int] = field(default_factory=set)
    _motions: list[Motion] = field(default_factory=list)
    _props: list[dict[str, Array]] = field(default_factory=list)
    _held: list[Attachment] = field(default_factory=list)
    _events: list[Event] = field(default_factory=list)
    _scenery: Scenery | None = None
    _floor: float = 0.0

    def __post_init__(self) -> None:
        own = self.params
        hands = replace(self.job.params, speed=own.hurry, gaze=own.gaze, budget=own.budget, seed=own.seed)
        self.job = replace(self.job, params=hands, shapes=self.job.shapes or Shapes())
        self._floor = float(self.job.pose.root[2]) - measure(self.job.skeleton).standing

    @property
    def clock(self) -> float:
        """Time that has gone by [s]."""
        return sum(m.duration for m in self._motions)

    @property
    def stance(self) -> Stance:
        """Where it stands."""
        last = self._motions[-1] if self._motions else self._still()
        where = bases.derive(last) if last.base is None else last.base
        return Stance(where[-1], self.job.pose, 0.0)

    def note(self, what: str, why: str, thing: str = "") -> None:
        """Write down a decision."""
        self.log.append(
            {"time": round(self.clock, 6), "actor": self.job.actor, "what": what, "why": why, "thing": thing}
        )

    def walk(self, place: Array) -> None:
        """Walk to a place (2,), and look ahead on the way."""
        self._gone(self._way(self.stance, place), ())

    def step_up(self, place: Array, hand: str = "auto", held: Sequence[Holding] = ()) -> None:
        """Walk, with what hands hold, to where a place (3,) is in easy reach, and face it."""
        job, world = self.job, as_moved(self.job)
        spot = stance(job.skeleton, job.pose, world, place, hand, None, job.shapes)
        far = float(np.hypot(*(spot[:2] - self.stance.base[:2])))
        back = spot[:2] - min(RUN_UP, 0.7 * far) * np.array([np.sin(spot[2]), -np.cos(spot[2])])
        try:
            walked = self._way(self.stance, back, held)
        except NoPath:
            walked = self._way(self.stance, spot[:2], held)
        there = walked.pose(len(walked) - 1)
        last = stepped(job.skeleton, there, world, place, job.fps, hand, None, job.shapes)
        self._gone(chained([walked, last]), held)

    def look_about(self) -> None:
        """Turn round once, looking."""
        for _ in range(3):
            now = self.stance
            motion = TurnTo(float(now.base[2]) + 2.0 * np.pi / 3.0).motion(now, self._scope())
            self._add(motion, {})
            self._glance(motion)

    def look(self) -> None:
        """See what is to be seen from where it stands."""
        self._glance(self._motions[-1] if self._motions else self._still())

    def reach(self, held: Sequence[Holding] = (), goal: Array | None = None, **params: Any) -> Reached:
        """Do a task with a hand, from where it stands."""
        first, other = (*held, None, None)[:2]
        job = replace(
            self.job,
            params=replace(self.job.params, **params),
            destination=goal,
            holding=first,
            other=other,
            moved=dict(self.job.moved or {}),
        )
        done = reach(job)
        motion = replace(done.performance.motions[self.job.actor], mask=None)
        self._add(motion, dict(done.performance.props), done.performance.attachments)
        return done

    def put_away(self, name: str) -> None:
        """Go to something, take it, carry it to the first place that works, and put it down there.

        Raises:
            NoIK, NoPath, NoGrasp: It cannot be taken, or there is no place for it; then it was not taken.
        """
        job, counts = self.job, [len(rows) for rows in self._rows()]
        failure: Exception = NoPath("there is no room left where it goes")
        for strict in (True, False):
            crowded = False
            for place, number in self._goals(name):
                stopped(self.job.should_stop)
                try:
                    self._carry_off(name, place, number is not None, strict)
                except FAILURES as error:
                    failure, crowded = error, crowded or isinstance(error, _Crowded)
                    self._restore(job, counts)
                else:
                    self._used |= set() if number is None else {number}
                    return
            if not crowded:
                break
        raise failure

    def _carry_off(self, name: str, place: Array, exact: bool, strict: bool) -> None:
        """Take something to a place (3,): of its origin where that is meant exactly, else of its foot.

        Raises:
            _Crowded: What is carried would be in something where one stands before the place, if `strict`.
        """
        self.step_up(self.place(name) + ABOVE)
        facing, turned = float(self.stance.base[2]), self.matrix(name)[:3, :3]
        taken = self.reach(task="pick_up", target=name, step=False)
        held = [h for h in (taken.holding, taken.other) if h is not None]
        self.step_up(place + ABOVE, taken.side if taken.side != "both" else "auto", held)
        carried = replace(self.body(name), matrices=self.matrix(name)[None])
        if strict and (found := in_others(carried, as_moved(self.job), self.job.fps)):
            raise _Crowded(f"{name} would be carried into {found[0].body}")
        # as it was taken, as the body sees it; where the hand cannot put it down so, turned about the vertical
        seen = float(self.stance.base[2]) - facing
        failure: Exception | None = None
        for turn in _TURNS:
            goal = np.eye(4)
            goal[:3, :3] = quat.to_matrix(quat.about(UP, seen + float(turn))) @ turned
            goal[:3, 3] = place if exact else place - footprint(self.body(name), goal[:3, :3]).foot
            try:
                self.reach(held, goal, task="put_back", target=name, step=False)
            except FAILURES as error:
                failure = failure or error
            else:
                return
        assert failure is not None
        raise failure

    def _goals(self, name: str) -> Iterator[tuple[Array, int | None]]:
        """(3,) places where something may go, and the number of that place where only one thing goes there."""
        for number, place in enumerate(self.places):
            if not isinstance(place, str):
                if number not in self._used:
                    yield np.asarray(place)[:3, 3], number
                continue
            world = as_moved(self.job)
            onto = next(b for b in world.bodies if b.name == place)
            free = free_spots(world, onto, self.body(name), self.matrix(name)[:3, :3], self.job.shapes)
            here = self.stance.base[:2]
            free = free[np.argsort(np.hypot(*(free[:, :2] - here).T), kind="stable")]
            for _ in range(TRIES):
                if not len(free):
                    break
                yield free[0], None
                free = free[np.hypot(*(free[:, :2] - free[0, :2]).T) > APART]

    def matrix(self, name: str) -> Array:
        """(4, 4) of a body as it is now."""
        return np.array(matrix_of(self.job, self.body(name)))

    def place(self, name: str) -> Array:
        """(3,) where something is [m]: the middle of its foot."""
        matrix = self.matrix(name)
        return np.asarray(matrix[:3, 3] + footprint(self.body(name), matrix[:3, :3]).foot)

    def body(self, name: str) -> Body:
        """A body of the world by its name."""
        return next(b for b in self.job.world.bodies if b.name == name)

    def _scope(self) -> Scope:
        chart = MapParams(radius=self.params.radius, step=self.params.climb, floor=self._floor)
        return Scope(self.job.skeleton, as_moved(self.job), fps=self.job.fps, map=chart)

    def _way(self, here: Stance, place: Array, held: Sequence[Holding] = ()) -> Motion:
        """Walk to a place (2,), first a step back from a table that is too near to turn beside it."""
        stopped(self.job.should_stop)
        job, full = self.job, [h.side for h in held]
        back = backed_off(job.skeleton, job.pose, as_moved(job, [h.prop for h in held]), job.fps, full, job.shapes)
        if back is not None:
            assert back.base is not None
            here = Stance(back.base[-1], back.pose(len(back) - 1), 0.0)
        way = MoveTo((float(place[0]), float(place[1])), speed=self.params.speed).motion(here, self._scope())
        return way if back is None else chained([back, way])

    def _gone(self, motion: Motion, held: Sequence[Holding]) -> None:
        if held:
            bodies = {b.name: b for b in self.job.world.bodies}
            done = carry(motion, held, CHEST, bodies=bodies, actor=self.job.actor, start=self.job.pose)
            self._add(replace(done.motions[self.job.actor], mask=None), dict(done.props), done.attachments)
        else:
            self._add(motion, {})
        self._glance(motion)

    def _add(self, motion: Motion, props: dict[str, Array], held: Sequence[Attachment] = ()) -> None:
        late = self.clock
        self._held += [replace(a, start=a.start + late, end=a.end + late) for a in held]
        self._events += [replace(e, time=e.time + late) for e in motion.events]
        self._motions.append(motion)
        self._props.append(props)
        moved = {**(self.job.moved or {}), **{name: m[-1] for name, m in props.items()}}
        self.job = replace(self.job, pose=motion.pose(len(motion) - 1), moved=moved)
        if props:
            self._scenery = None

    def _restore(self, job: Job, counts: Sequence[int]) -> None:
        """Forget what was done since; what was seen is still known."""
        self.job = job
        for rows, count in zip(self._rows(), counts, strict=True):
            del rows[count:]
        self._scenery = None

    def _rows(self) -> tuple[list[Any], ...]:
        return self._motions, self._props, self._held, self._events

    def _glance(self, motion: Motion) -> None:
        """See what there is to see from along a motion."""
        if self.params.mode == "near":
            return
        if self._scenery is None:
            self._scenery = scenery(as_moved(self.job))
        where = bases.derive(motion) if motion.base is None else motion.base
        skeleton, pose = self.job.skeleton, motion.pose(0)
        top = skeleton.chain("head")[-1] if skeleton.has("head") else len(skeleton) - 1
        tall = float(fk.forward(skeleton, pose.rotations, pose.root)[0][top, 2] - pose.root[2])
        for k in sorted({*range(0, len(motion), max(1, round(_GLANCE * motion.fps))), len(motion) - 1}):
            eye = eye_at(np.array([*where[k, :2], motion.roots[k, 2] + tall]), float(where[k, 2]), _DOWN)
            sight = see(self._scenery, eye, VisionParams())
            self.seen |= {name for name, stats in sight.visible.items() if stats.recognised}

    def _still(self) -> Motion:
        pose = self.job.pose
        return Motion(self.job.skeleton, self.job.fps, pose.root[None], pose.rotations[None])

    def performance(self) -> Performance:
        """All of it; somebody who did nothing stands for a moment."""
        if not self._motions:
            self._add(still(self._scope(), self.stance, 1.0), {})
        motion = chained(self._motions)
        matrices = {}
        for name in sorted({name for props in self._props for name in props}):
            now = matrix_of(replace(self.job, moved=None), self.body(name))
            rows = []
            for k, (part, props) in enumerate(zip(self._motions, self._props, strict=True)):
                way = props.get(name, np.tile(now, (len(part), 1, 1)))
                rows.append(way[0 if k == 0 else 1 :])
                now = way[-1]
            matrices[name] = np.concatenate(rows)
        return Performance({self.job.actor: motion}, matrices, tuple(self._held), tuple(self._events), tuple(self.log))


def clear(shift: Shift, litter: Sequence[str]) -> int:
    """Put away, from here, all litter that is known of and near; what fails is passed over. Returns how many were."""
    done = 0
    while True:
        left = [name for name in litter if name not in shift.away and name not in shift.lost]
        known = [n for n in left if shift.params.mode == "near" or n in shift.seen]
        here = shift.stance.base[:2]
        far = {n: float(np.hypot(*(shift.place(n)[:2] - here))) for n in known}
        near = [n for n in known if far[n] < shift.params.near]
        if not near:
            return done
        name = min(near, key=lambda n: far[n])
        how = "near" if shift.params.mode == "near" else "seen"
        shift.note("clean", f"{name} is {how}, {far[name]:.1f} m away", name)
        try:
            shift.put_away(name)
            shift.away.append(name)
            shift.note("put away", f"{name} is where it belongs", name)
            done += 1
        except FAILURES as error:
            shift.lost.append(name)
            shift.note("give up", f"{name}: {error}", name)
