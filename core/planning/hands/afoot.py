"""Somebody on foot: walks about with what hands hold, steps up to things and has hands do something there.

What it does is kept piece by piece, each beginning where the last one ended, to be made one performance of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from ...kinematics import base as bases
from ...maths import quat
from ...motion import Motion
from ...performance import Attachment, Performance
from ...skeleton import Array
from ...world import Body, World
from ..spaces.rrt import stopped
from ..spaces.solids import Shapes
from ..walkers.flowing import EARLY, flowing
from ..walkers.tasks import MoveTo, Scope, Stance, TurnTo, chained, charted, gone, still, timed
from ..ways.map import MapParams
from .arriving import Places, to_one
from .carry import CarryParams, carry
from .reach import reach
from .sidling import sidled, small_steps
from .stages import Holding
from .standing import as_moved, in_rooms, matrix_of
from .stepping_back import SWING, room_to_turn
from .stepping_up import clearest, deepest, stances, stepped
from .task import Job, Reached
from .upright import Upright

SETS_OFF = 0.3
"""On how much of its way somebody sets off [m]."""
HIGHER = 0.05
"""How much higher or lower ground is on which somebody looks anew where to stand [m]."""
CHEST = CarryParams(posture="chest", raised=0.06)
"""High enough for tables that it steps up to."""


@dataclass(eq=False)
class Afoot:
    """Somebody on foot, and what it did so far.

    Attributes:
        job: The actor as it is now, the world, and how hands move.
        speed: How fast it walks [m/s].
        chart: How the world becomes a map to walk on.
        log: Every decision.
    """

    job: Job
    speed: float
    chart: MapParams
    log: list[dict[str, Any]] = field(default_factory=list)
    _motions: list[Motion] = field(default_factory=list)
    _props: list[dict[str, Array]] = field(default_factory=list)
    _held: list[Attachment] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.job = in_rooms(replace(self.job, shapes=self.job.shapes or Shapes()))

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

    def note(self, what: str, why: str, thing: str = "", time: float | None = None) -> None:
        """Write down a decision, that of now or of another time [s]."""
        time = round(self.clock if time is None else time, 6)
        self.log.append({"time": time, "actor": self.job.actor, "what": what, "why": why, "thing": thing})

    @property
    def motions(self) -> tuple[Motion, ...]:
        """What it did so far, each motion from where the last one ended."""
        return tuple(self._motions)

    def walk(self, place: Array) -> None:
        """Walk to a place (2,)."""
        scope, there = self.scope(), (float(place[0]), float(place[1]))

        def walked(_: Upright, start: Array) -> Iterator[Array]:
            track = MoveTo(there, speed=self.speed).track(self._at(start), scope)
            yield np.tile(start, (2, 1)) if track is None else track.points

        self.gone(self._from_room(walked), ())

    def step_up(
        self,
        place: Array,
        hand: str = "auto",
        held: Sequence[Holding] = (),
        via: Sequence[Array] = (),
        facing: float | None = None,
    ) -> None:
        """Walk, with what hands hold, through places (2,) to where a place (3,) is in easy reach, and face it.

        `facing` is as in `stances`.
        """
        job, full, scope = self.job, [h.side for h in held], self.scope(held)
        world, shapes = scope.world, job.shapes
        motion = None
        # what is near is worked at facing as it stands, with a step aside
        for looks in [float(self.stance.base[2])] * (facing is None) + [facing]:
            found = stances(job.skeleton, job.pose, world, place, hand, None, shapes, facing=looks)
            goals = Places(found)
            aside = (
                None if len(via) else sidled(job.skeleton, job.pose, world, goals.first, job.fps, full, None, shapes)
            )
            if aside is not None and (motion is None or self._depth(aside, held) < self._depth(motion, held)):
                motion = aside
            if motion is not None and self._depth(motion, held) == 0.0:
                break
        if motion is None:
            ways = charted([self.stance.base[:2], *via, goals.first[:2]], self.stance, scope)

            def walked(body: Upright, start: Array) -> Iterator[Array]:
                return to_one(goals, body, ways, start, self.speed, job.fps, scope.style, via)

            motion = self._from_room(walked, held, several=True)
        if abs(float(motion.roots[-1, 2] - job.pose.root[2])) > HIGHER:
            there = motion.pose(len(motion) - 1)
            facing = float(quat.heading(there.rotations[0]))
            last = stepped(job.skeleton, there, world, place, job.fps, hand, None, shapes, False, facing, full)
            motion = chained([motion, last])
        self.gone(motion, held)

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
        self.add(motion, dict(done.performance.props), done.performance.attachments)
        return done

    def matrix(self, name: str) -> Array:
        """(4, 4) of a body as it is now."""
        return np.array(matrix_of(self.job, self.body(name)))

    def body(self, name: str) -> Body:
        """A body of the world by its name."""
        return next(b for b in self.job.world.bodies if b.name == name)

    def scope(self, held: Sequence[Holding] = ()) -> Scope:
        """What it walks with, and around: all but what hands hold."""
        return Scope(self.job.skeleton, as_moved(self.job, [h.prop for h in held]), fps=self.job.fps, map=self.chart)

    def turn(self, heading: float) -> None:
        """Turn to a heading [rad]."""
        scope = self.scope()

        def turned(_: Upright, start: Array) -> Iterator[Array]:
            yield TurnTo(heading).track(self._at(start), scope).points

        self.gone(self._from_room(turned, treads=False), ())

    def _from_room(
        self,
        ways: Callable[[Upright, Array], Iterator[Array]],
        held: Sequence[Holding] = (),
        treads: bool = True,
        several: bool = False,
    ) -> Motion:
        """Go along the first base track (T, 3) that somebody may take from a base (3,), or the clearest of several.

        Where there
        is no room for arms as it sets off, it steps to where there is room to turn first, and sets off from there. Who
        does not tread on the ground of the world stays as high as it is.
        """
        stopped(self.job.should_stop)
        job, scope, here, full = self.job, self.scope(held), self.stance, [h.side for h in held]
        body = Upright(job.skeleton, job.pose, scope.world, full, None, job.shapes)
        tracks = ways(body, here.base)
        first = next(tracks)
        tracks = chain([first], tracks)
        if not body.free(first[_setting_off(first)], SWING).all() and (room := room_to_turn(body)) is not None:
            away = small_steps(here.base, np.append(room[:2], here.base[2]), job.fps)
            tracks = (flowing(away, track, int(EARLY * len(away))) for track in ways(body, away[-1]))
        ground = scope if treads else replace(scope, world=World(()))

        def going(track: Array) -> Motion:
            return gone(timed(track, job.fps), here, ground)

        return clearest(tracks, going, lambda motion: self._depth(motion, held)) if several else going(next(tracks))

    def _depth(self, motion: Motion, held: Sequence[Holding]) -> float:
        """How deep an empty hand or its arm goes into anything in a motion [m]."""
        return deepest(motion, self.scope(held).world, [h.side for h in held], self.job.shapes)

    def _at(self, base: Array) -> Stance:
        return Stance(base, self.job.pose, 0.0)

    def gone(self, motion: Motion, held: Sequence[Holding]) -> None:
        """Do a motion of the whole body with what hands hold."""
        if not held:
            self.add(motion, {})
            return
        bodies = {b.name: b for b in self.job.world.bodies}
        done = carry(motion, held, CHEST, bodies=bodies, actor=self.job.actor, start=self.job.pose)
        self.add(replace(done.motions[self.job.actor], mask=None), dict(done.props), done.attachments)

    def add(self, motion: Motion, props: dict[str, Array], held: Sequence[Attachment] = ()) -> None:
        """Go on with a motion of the whole body, and with props (T, 4, 4) by name that go along."""
        late = self.clock
        self._held += [replace(a, start=a.start + late, end=a.end + late) for a in held]
        self._motions.append(motion)
        self._props.append(props)
        moved = {**(self.job.moved or {}), **{name: m[-1] for name, m in props.items()}}
        self.job = replace(self.job, pose=motion.pose(len(motion) - 1), moved=moved)

    def marked(self) -> tuple[Job, tuple[int, ...]]:
        """What `back_to` needs to go back to now."""
        return self.job, tuple(len(rows) for rows in self._rows())

    def back_to(self, mark: tuple[Job, tuple[int, ...]]) -> None:
        """Forget what was done since; decisions stay on record."""
        self.job = mark[0]
        for rows, count in zip(self._rows(), mark[1], strict=True):
            del rows[count:]

    def _rows(self) -> tuple[list[Any], ...]:
        return self._motions, self._props, self._held

    def _still(self) -> Motion:
        pose = self.job.pose
        return Motion(self.job.skeleton, self.job.fps, pose.root[None], pose.rotations[None])

    def performance(self) -> Performance:
        """All of it; somebody who did nothing stands for a moment."""
        if not self._motions:
            self.add(still(self.scope(), self.stance, 1.0), {})
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
        held = _lasting(self._held)
        return Performance({self.job.actor: motion}, matrices, held, motion.events, tuple(self.log))


def _setting_off(track: Array) -> Array:
    """Numbers of a few samples of a base track (T, 3) on which somebody sets off."""
    gone = np.hypot(*(track[:, :2] - track[0, :2]).T)
    last = int(np.flatnonzero(gone <= SETS_OFF)[-1])
    return np.unique(np.linspace(0, last, 12).astype(np.int64))


def _lasting(held: Sequence[Attachment]) -> tuple[Attachment, ...]:
    """Attachments in the order of time, of which those that go on where one ends are one with it."""
    out: list[Attachment] = []
    for now in held:
        last = next((k for k, a in enumerate(out) if _goes_on(a, now)), None)
        if last is None:
            out.append(now)
        else:
            out[last] = replace(out[last], end=now.end)
    return tuple(out)


def _goes_on(first: Attachment, then: Attachment) -> bool:
    return (first.prop, first.actor, first.joint) == (then.prop, then.actor, then.joint) and abs(
        then.start - first.end
    ) < 1e-6
