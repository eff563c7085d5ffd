"""Somebody who tidies up and waits at tables, by what it sees: walks, looks, takes, carries and puts down.

Kuffner, "Autonomous Agents for Real-Time Animation" (1999), 6: a cleaner takes litter that it walks near, or only what
it sees, or looks about for it; a waiter goes from table to table and breaks off to clean where it sees litter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...errors import NoGrasp, NoIK, NoPath
from ...kinematics import base as bases
from ...maths import quat
from ...motion import Event, Motion
from ...params import Params, param
from ...performance import Attachment, Performance
from ...skeleton import Array
from ...world import World
from ..senses.eyes import eye_at
from ..senses.scenery import Scenery, scenery
from ..senses.vision import VisionParams, see
from ..spaces.solids import Shapes
from ..walkers.tasks import MoveTo, Scope, Stance, TurnTo, chained
from .carry import CarryParams, carry
from .reach import reach
from .stages import Holding
from .standing import UP, matrix_of
from .stepping_up import stance, stepped
from .task import Job, Reached

EYES = 0.93
"""Height of the eyes, of that of the body when the hips are at 0.53 of it."""
_HIPS = 0.53
RUN_UP = 0.6
"""How far from where it stands to work it turns to face it [m]."""
CHEST = CarryParams(posture="chest", raised=0.06)
"""High enough for tables that it steps up to."""
ABOVE = np.array([0.0, 0.0, 0.1])
"""From the foot of a thing to where it is taken [m]."""
_GLANCE = 0.5
"""Time between two looks while it walks [s]."""
_DOWN = -0.35
"""How far down it looks, at tables rather than at walls [rad]."""


@dataclass(frozen=True)
class ChoreParams(Params):
    """How somebody tidies up."""

    mode: str = param(
        "see",
        choices=(
            ("near", "Take what is near"),
            ("see", "Take only what was seen"),
            ("look", "Look about at every stop, and take what was seen"),
        ),
        help="What litter it takes",
    )
    near: float = param(2.0, lo=0.2, hi=20.0, unit="m", help="From how far away it goes to what it takes")
    speed: float = param(1.3, lo=0.2, hi=3.0, unit="m/s", help="How fast it walks")


@dataclass(eq=False)
class Shift:
    """A stretch of work: what was done so far, to be made a performance of.

    Attributes:
        job: The actor as it is now, the world, and how hands move.
        seen: Names of what it has seen.
        lost: Names of what it could not put away.
        log: Every decision.
    """

    job: Job
    params: ChoreParams
    seen: set[str] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)
    log: list[dict[str, Any]] = field(default_factory=list)
    _motions: list[Motion] = field(default_factory=list)
    _props: list[dict[str, Array]] = field(default_factory=list)
    _held: list[Attachment] = field(default_factory=list)
    _events: list[Event] = field(default_factory=list)
    _scenery: Scenery | None = None

    def __post_init__(self) -> None:
        if self.job.shapes is None:
            self.job = replace(self.job, shapes=Shapes())

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

    def note(self, what: str, why: str) -> None:
        """Write down a decision."""
        self.log.append({"time": self.clock, "actor": self.job.actor, "what": what, "why": why})

    def walk(self, place: Array) -> None:
        """Walk to a place (2,), and look ahead on the way."""
        scope = Scope(self.job.skeleton, self._there(), fps=self.job.fps)
        self._gone(MoveTo((float(place[0]), float(place[1])), speed=self.params.speed).motion(self.stance, scope), None)

    def step_up(self, place: Array, hand: str = "auto", holding: Holding | None = None) -> None:
        """Walk, with what the hand holds, to where a place (3,) is in easy reach, and face it."""
        job, world = self.job, self._there()
        spot = stance(job.skeleton, job.pose, world, place, hand, None, job.shapes)
        ahead = np.array([np.sin(spot[2]), -np.cos(spot[2])])
        scope = Scope(job.skeleton, world, fps=job.fps)
        back = spot[:2] - RUN_UP * ahead
        walked = MoveTo((float(back[0]), float(back[1])), speed=self.params.speed).motion(self.stance, scope)
        there = walked.pose(len(walked) - 1)
        last = stepped(job.skeleton, there, world, place, job.fps, hand, None, job.shapes)
        self._gone(chained([walked, last]), holding)

    def _gone(self, motion: Motion, holding: Holding | None) -> None:
        if holding is None:
            self._add(motion, {})
        else:
            bodies = {b.name: b for b in self.job.world.bodies}
            done = carry(motion, holding, CHEST, bodies=bodies, actor=self.job.actor, start=self.job.pose)
            self._add(replace(done.motions[self.job.actor], mask=None), dict(done.props), done.attachments)
        self._glance(motion)

    def look_about(self) -> None:
        """Turn round once, looking."""
        scope = Scope(self.job.skeleton, self._there(), fps=self.job.fps)
        for _ in range(3):
            now = self.stance
            motion = TurnTo(float(now.base[2]) + 2.0 * np.pi / 3.0).motion(now, scope)
            self._add(motion, {})
            self._glance(motion)

    def reach(self, **params: Any) -> Reached:
        """Do a task with a hand, from where it stands."""
        goal = params.pop("goal", None)
        holding = params.pop("holding", None)
        job = replace(
            self.job,
            params=replace(self.job.params, **params),
            destination=goal,
            holding=holding,
            moved=dict(self.job.moved or {}),
        )
        done = reach(job)
        motion = replace(done.performance.motions[self.job.actor], mask=None)
        self._add(motion, dict(done.performance.props), done.performance.attachments)
        return done

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

    def _there(self) -> World:
        """The world with what was moved where it is."""
        moved = self.job.moved or {}
        bodies = (replace(b, matrices=moved[b.name][None]) if b.name in moved else b for b in self.job.world.bodies)
        return replace(self.job.world, bodies=tuple(bodies))

    def _glance(self, motion: Motion) -> None:
        """See what there is to see from along a motion."""
        if self._scenery is None:
            self._scenery = scenery(self._there())
        where = bases.derive(motion) if motion.base is None else motion.base
        tall = float(motion.roots[0, 2]) / _HIPS
        for k in {*range(0, len(motion), max(1, round(_GLANCE * motion.fps))), len(motion) - 1}:
            eye = eye_at(np.array([*where[k, :2], EYES * tall]), float(where[k, 2]), _DOWN)
            sight = see(self._scenery, eye, VisionParams())
            self.seen |= {name for name, stats in sight.visible.items() if stats.recognised}

    def _still(self) -> Motion:
        pose = self.job.pose
        return Motion(self.job.skeleton, self.job.fps, pose.root[None], pose.rotations[None])

    def performance(self) -> Performance:
        """All of it."""
        motion = chained(self._motions)
        names = sorted({name for props in self._props for name in props})
        matrices = {}
        for name in names:
            now = matrix_of(replace(self.job, moved=None), next(b for b in self.job.world.bodies if b.name == name))
            rows = []
            for k, (part, props) in enumerate(zip(self._motions, self._props, strict=True)):
                way = props.get(name, np.tile(now, (len(part), 1, 1)))
                rows.append(way[0 if k == 0 else 1 :])
                now = way[-1]
            matrices[name] = np.concatenate(rows)
        return Performance({self.job.actor: motion}, matrices, tuple(self._held), tuple(self._events), tuple(self.log))


def clean(shift: Shift, litter: Sequence[str], spots: Sequence[Array], stops: Sequence[Array]) -> list[str]:
    """Go from stop to stop and put litter where it belongs.

    Args:
        shift: The actor, and where all of it is written.
        litter: Names of what does not belong where it is.
        spots: (4, 4) where each goes, in the order in which they are taken.
        stops: (2,) places to pass [m].

    Returns:
        Names of what was put away, in order.
    """
    away: list[str] = []
    for stop in stops:
        shift.walk(np.asarray(stop))
        if shift.params.mode == "look":
            shift.look_about()
        tidy(shift, litter, spots, away)
    return away


def tidy(shift: Shift, litter: Sequence[str], spots: Sequence[Array], away: list[str]) -> None:
    """Put away, from here, all that is known of and near; what is done is added to `away`."""
    while True:
        left = [name for name in litter if name not in away and name not in shift.lost]
        near = [n for n in left if shift.params.mode == "near" or n in shift.seen]
        here = shift.stance.base[:2]
        near = [n for n in near if np.hypot(*(_place(shift, n)[:2] - here)) < shift.params.near]
        if not near or len(away) >= len(spots):
            return
        name = min(near, key=lambda n: float(np.hypot(*(_place(shift, n)[:2] - here))))
        shift.note("clean", f"{name} is " + ("near" if shift.params.mode == "near" else "seen"))
        try:
            put_away(shift, name, np.asarray(spots[len(away)]))
            away.append(name)
        except (NoIK, NoPath, NoGrasp) as error:
            shift.lost.add(name)
            shift.note("give up", f"{name}: {error}")


def put_away(shift: Shift, name: str, spot: Array) -> None:
    """Go to something, take it, carry it and put it down at a matrix (4, 4)."""
    shift.step_up(_place(shift, name) + ABOVE)
    facing, turned = float(shift.stance.base[2]), np.array(_matrix(shift, name))
    taken = shift.reach(task="pick_up", target=name, step=False)
    held = taken.holding
    shift.step_up(spot[:3, 3] + ABOVE, taken.side, held)
    # it is put down the way round it was taken, as the body sees it
    turn = quat.to_matrix(quat.about(UP, float(shift.stance.base[2]) - facing))
    goal = np.array(spot)
    goal[:3, :3] = turn @ turned[:3, :3]
    shift.reach(task="put_back", target=name, goal=goal, holding=held, step=False)
    shift.note("put away", name)


def serve(
    shift: Shift, cups: Sequence[str], litter: Sequence[str] = (), spots: Sequence[Array] = ()
) -> tuple[list[str], list[str]]:
    """Go from cup to cup and attend to each, and break off to clean where litter is seen.

    Returns:
        Names of the cups that were served, and of what was put away.
    """
    served: list[str] = []
    away: list[str] = []
    for cup in cups:
        shift.step_up(_place(shift, cup) + ABOVE)
        before = len(away)
        tidy(shift, litter, spots, away)
        if len(away) > before:
            shift.note("resume", f"{cup} was to be served")
            shift.step_up(_place(shift, cup) + ABOVE)
        shift.reach(task="touch", target=cup, step=False)
        shift.note("serve", cup)
        served.append(cup)
    return served, away


def _matrix(shift: Shift, name: str) -> Array:
    return matrix_of(shift.job, next(b for b in shift.job.world.bodies if b.name == name))


def _place(shift: Shift, name: str) -> Array:
    return np.asarray(_matrix(shift, name)[:3, 3])
