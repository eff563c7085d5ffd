"""Hands that deal only with what eyes have seen: the rest is looked for on foot first, if the actor is told to.

Kuffner, "Autonomous Agents for Real-Time Animation" (1999), 4.3 and 5.2: nothing is reached for that is not visible,
and whoever wants it searches for it. The actor knows what it walks around, but not where in all that its target is; it
looks over what shows from where it stands, then goes where most of the rest shows, and sees with its own eyes on the
way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...errors import NoIK, NoPath, NotVisible
from ...filters.join import join
from ...kinematics import anatomy
from ...kinematics.gaze import Shift, gaze
from ...maths.ramp import wrap
from ...motion import Motion
from ...skeleton import SIDES, Array, Pose
from ...world import Body
from ..senses.eyes import eye_of, eyes
from ..senses.lookouts import WORTH, Lookouts
from ..senses.vision import Sight, VisionParams, see
from ..walkers.tasks import TurnTo, chained, still
from ..ways.map import MapParams, project
from .afoot import Afoot, floor_under
from .idle_arms import idle_arms
from .reach import reach
from .standing import as_moved, place_of, target_of
from .stepping_up import stance
from .task import Job, Reached

SPEED, RADIUS = 1.2, 0.25
"""How fast somebody walks who looks for something [m/s], and how wide it is [m]."""
DWELL = 0.6
"""How long gaze stays where it looks for something [s]."""
WIDE, BIN = 1.25, 0.6
"""How far to the side somebody looks without turning, and what one look takes in of that [rad]."""
OFTEN = 0.25
"""Between two looks on the way [s]."""
AHEAD = 0.35
"""Part of a way after which gaze goes ahead to what is to be seen at its end."""
MOST = 30
"""Places from which somebody looks at most before giving up."""
NEAR, ASIDE = 0.25, 0.5
"""How far from where it is best handled [m], and turned how far from it [rad], something is handled without a step."""
SETTLE = 0.5
"""Time in which a head that looked for something goes over to what it does when hands are at work [s]."""
BOWED = 0.5
"""How far somebody bows the head who looks at work before it [rad]."""


def in_sight(job: Job) -> Job:
    """The task for an actor that knows only what it sees as it stands and looks down at its work, and what it holds."""
    looks = anatomy.with_angles(job.skeleton, job.pose.rotations, {"head": (BOWED, 0.0, 0.0)})
    sight = see(as_moved(job), eye_of(job.skeleton, Pose(looks, job.pose.root)), VisionParams(), job.time)
    held = {h.prop for h in (job.holding, job.other) if h is not None}
    return replace(job, seen=_recognised(sight) | held)


def reach_seen(job: Job) -> Reached:
    """Do a task of hands with what the actor sees; what it does not see it looks for, if the task says so.

    Raises:
        NotVisible: It does not see the target, and is not to look for it or could not find it.

    Further errors are those of `reach`.
    """
    job = in_sight(job)
    try:
        return reach(job)
    except NotVisible:
        if not job.params.search:
            raise
    return Hunt(job).done()


@dataclass(frozen=True, eq=False)
class Glimpse:
    """What came into sight on the way.

    Attributes:
        place: (2,) where one is then [m].
        ahead: (3,) what one looked at on the way there [m]; None for nothing.
        early: From which part of the way there on.
    """

    place: Array
    ahead: Array | None = None
    early: float = 0.0


class Hunt:
    """A search for the target of a task, and the task done where it is found.

    Attributes:
        afoot: The actor and what it did so far, but for its gaze.
        shifts: Of its gaze so far.
        left: (N,) which of the places where the target may be it has not looked at yet.
        spots: From how many places it has looked about.
    """

    def __init__(self, job: Job) -> None:
        self.target: Body = target_of(job)
        chart = MapParams(radius=RADIUS, floor=floor_under(job))
        self.afoot = Afoot(job, SPEED, chart)
        self.lookouts = Lookouts.of(as_moved(job), self.target, VisionParams(), job.time)
        self.left: npt.NDArray[np.bool_] = np.ones(len(self.lookouts.places), dtype=bool)
        self.shifts: list[Shift] = []
        self.spots = 0
        self._head = job.params.gaze or 0.8
        self._map = project(as_moved(job), chart, job.time, exclude=(self.target.name,))
        ways = self._map.walkable()
        x, y = job.pose.root[:2].tolist()
        under = ways.free_cell(x, y, job.actor, 1.0)[0]
        self._tall = float(eye_of(job.skeleton, job.pose)[2, 3] - self._map.ground[0].ravel()[under])

    def done(self) -> Reached:
        """The target found and the task done.

        Raises:
            NotVisible: It is nowhere where the actor can see it.
        """
        glimpse = self._found()
        self.afoot.note("finds", f"{self.target.name} is in sight", self.target.name)
        seen = {*(self.afoot.job.seen or ()), self.target.name}
        self.afoot.job = replace(self.afoot.job, seen=seen)
        goal, since = place_of(self.afoot.job, self.target), self.afoot.clock
        self._goes_there(goal, glimpse)
        when = since
        if glimpse is not None:
            when = self._passes(glimpse.place, since)
            if glimpse.ahead is not None:
                self.shifts.append(Shift(since + glimpse.early * (when - since), glimpse.ahead, self._head))
        self.shifts.append(Shift(when, goal, self._head))
        return self._handled()

    def _goes_there(self, goal: Array, glimpse: Glimpse | None) -> None:
        """Walk to where a task at a place (3,) is easy, if it has to, by way of where the target came into sight."""
        afoot, via = self.afoot, () if glimpse is None else (glimpse.place,)
        hand = afoot.job.params.hand
        if afoot.job.params.task == "point":
            for place in via:
                afoot.walk(place)
        elif via or self._has_to_walk(goal):
            afoot.step_up(goal, hand if hand in SIDES else "auto", via=via)

    def _passes(self, place: Array, since: float) -> float:
        """When, from a time on, it is nearest to a place (2,) that it walks by [s]."""
        motion = chained(self.afoot.motions)
        assert motion.base is not None
        first = round(since * motion.fps)
        return (first + int(np.hypot(*(motion.base[first:, :2] - place).T).argmin())) / motion.fps

    def _found(self) -> Glimpse | None:
        """Look until the target is in sight; what it saw of it on a way that it has not gone yet, if it was on one."""
        afoot, name = self.afoot, self.target.name
        afoot.note("searches", f"{name} is not in sight", name)
        if self._looks_over():
            return None
        while self.spots < MOST:
            spot = self._next()
            if spot is None:
                break
            mark, since, known = afoot.marked(), afoot.clock, len(self.shifts)
            try:
                afoot.walk(spot)
            except NoPath:
                self.left &= ~self._shown_from(spot)
                continue
            afoot.note("goes to look", f"more shows from ({spot[0]:.1f}, {spot[1]:.1f})", name)
            ahead = self._look_ahead(spot, since)
            glimpse = self._seen_on_the_way(since, ahead)
            if glimpse is not None:
                # from there it goes on without a stop
                afoot.back_to(mark)
                del self.shifts[known:]
                return glimpse
            if self._looks_over():
                return None
        raise NotVisible(
            f"{afoot.job.actor} does not find {name}: it looked from {self.spots} places and there is nowhere "
            "to stand from where more would show; put it where it can be seen"
        )

    def _next(self) -> Array | None:
        """(2,) where more of what is left shows."""
        job, here = self.afoot.job, self.afoot.stance.base[:2]
        ways, ground = self._map.walkable(), self._map.ground[0]
        return self.lookouts.best(ways, ground, here, self.left, self._tall, job.time, job.should_stop)

    def _shown_from(self, spot: Array) -> npt.NDArray[np.bool_]:
        column, row = np.floor((spot - self._map.origin) / self._map.cell).astype(np.int64)
        eye = np.array([*spot, float(self._map.ground[0, row, column]) + self._tall])
        return self.lookouts.shown(eye, self.afoot.job.time)

    def _look_ahead(self, spot: Array, since: float) -> Shift | None:
        """Let gaze go ahead, on the way that began at `since`, to what is to be seen at its end, if anything is."""
        shows = self.left & self._shown_from(spot)
        if not shows.any():
            return None
        middle = np.average(self.lookouts.places[shows], axis=0, weights=self.lookouts.weights[shows])
        self.shifts.append(Shift(since + AHEAD * (self.afoot.clock - since), middle, self._head))
        return self.shifts[-1]

    def _seen_on_the_way(self, since: float, ahead: Shift | None) -> Glimpse | None:
        """Where on the way that began at `since` [s] the target comes into sight; None where it does not."""
        motion = self._shown_motion()
        assert motion.base is not None
        first, step = round(since * motion.fps), max(1, round(OFTEN * motion.fps))
        for k in range(first, len(motion), step):
            if self._sees(motion, k):
                place, late = np.array(motion.base[k, :2]), k / motion.fps
                if ahead is None or ahead.time >= late:
                    return Glimpse(place)
                return Glimpse(place, ahead.points, (ahead.time - since) / (late - since))
        return None

    def _looks_over(self) -> bool:
        """Look over what shows from here and has not been looked at, turning where it has to; true when it is found."""
        self.spots += 1
        afoot = self.afoot
        eye = eye_of(afoot.job.skeleton, afoot.job.pose)[:3, 3]
        shows = self.left & self.lookouts.shown(eye, afoot.job.time)
        while self.lookouts.worth(shows) >= WORTH:
            off = self.lookouts.places - eye
            side = wrap(np.arctan2(off[:, 0], -off[:, 1]) - afoot.stance.base[2])
            front = shows & (np.abs(side) < WIDE)
            if self.lookouts.worth(front) < WORTH:
                self._turn(side[shows], self.lookouts.weights[shows])
                shows &= ~front
                continue
            if self._scans(eye, side, front):
                return True
            # what did not show after all is looked for from elsewhere or not at all
            shows &= self.left & ~front
        self.left &= ~self.lookouts.shown(eye, afoot.job.time)
        return False

    def _turn(self, side: Array, weights: Array) -> None:
        """Turn to where most is to be looked at, of which the sides (n,) are given [rad]."""
        ways = np.linspace(-np.pi, np.pi, 25)[1:]
        near = (np.abs(wrap(side[:, None] - ways)) < WIDE) * weights[:, None]
        # the shortest turn that brings most of the best before it
        good = ways[near.sum(axis=0) > 0.9 * near.sum(axis=0).max()]
        turn = float(good[np.abs(good).argmin()])
        here = self.afoot.stance
        self.shifts.append(Shift(self.afoot.clock))
        self.afoot.gone(TurnTo(float(here.base[2]) + turn).motion(here, self.afoot.scope()), ())

    def _scans(self, eye: Array, side: Array, front: npt.NDArray[np.bool_]) -> bool:
        """Stand and look at all places before it, from one side to the other; true when the target is found."""
        afoot, places, weights = self.afoot, self.lookouts.places, self.lookouts.weights
        looks = list(_bins(side, front))
        if abs(side[looks[-1]].mean()) < abs(side[looks[0]].mean()):
            looks.reverse()
        mark, begun, known = afoot.marked(), afoot.clock, len(self.shifts)
        for k, which in enumerate(looks):
            self.shifts.append(Shift(begun + k * DWELL, np.average(places[which], 0, weights[which]), self._head))
        afoot.gone(still(afoot.scope(), afoot.stance, len(looks) * DWELL), ())
        motion = self._shown_motion()
        for k in range(len(looks)):
            at = min(round((begun + (k + 1) * DWELL) * motion.fps), len(motion) - 1)
            if self._sees(motion, at):
                # it looks no further
                afoot.back_to(mark)
                del self.shifts[known + k + 1 :]
                afoot.gone(still(afoot.scope(), afoot.stance, (k + 1) * DWELL), ())
                return True
        return False

    def _sees(self, motion: Motion, at: int) -> bool:
        """Whether the target is recognised in a sample; all that shows then has been looked at."""
        job = self.afoot.job
        eye = eyes(motion.skeleton, motion.rotations[at][None], motion.roots[at][None])[0]
        sight = see(self.lookouts.shapes, eye, VisionParams(), job.time)
        near = replace(sight, lens=self.lookouts.vision.lens())
        self.left &= ~near.reveals(self.lookouts.places)
        return self.target.name in _recognised(sight)

    def _shown_motion(self) -> Motion:
        """All that it did so far, with its gaze."""
        motion = chained(self.afoot.motions)
        return replace(gaze(motion, self.shifts), mask=None)

    def _has_to_walk(self, goal: Array) -> bool:
        job, here = self.afoot.job, self.afoot.stance.base
        spot = stance(job.skeleton, job.pose, as_moved(job), goal, job.params.hand, None, job.shapes)
        return bool(np.hypot(*(spot[:2] - here[:2])) > NEAR or abs(wrap(spot[2] - here[2])) > ASIDE)

    def _handled(self) -> Reached:
        """The task done from where it stands now, and all before it in one motion."""
        afoot, job = self.afoot, self.afoot.job
        before = self._shown_motion() if afoot.motions else None
        late = afoot.clock
        try:
            done = afoot.reach((), job.destination)
        except NoIK:
            if job.params.task != "move" or job.destination is None:
                raise
            done = self._taken_there(job.destination)
        whole = afoot.performance()
        if before is None:
            return done
        motion = _joined(whole.motions[job.actor], before)
        said = tuple({**row, "time": row["time"] + late} for row in done.performance.transcript)
        done.ledger.lookouts = self.spots
        holds = done.holding is not None
        return replace(
            done,
            performance=replace(
                whole, motions={job.actor: motion}, events=motion.events, transcript=(*whole.transcript, *said)
            ),
            pose=motion.pose(len(motion) - 1),
            idle=idle_arms(motion, [h.side for h in (done.holding, done.other) if h], None) if holds else None,
        )

    def _taken_there(self, goal: Array) -> Reached:
        """Take it, walk with it to where it is to be, and put it down there."""
        afoot = self.afoot
        taken = afoot.reach(task="pick_up")
        held = [h for h in (taken.holding, taken.other) if h is not None]
        afoot.step_up(goal[:3, 3], taken.side if taken.side != "both" else "auto", held)
        put = afoot.reach(held, goal, task="put_back")
        return replace(put, ledger=taken.ledger.and_then(put.ledger), grasp=taken.grasp)


def _joined(whole: Motion, before: Motion) -> Motion:
    """A motion whose beginning is as it was seen, with gaze; what follows begins with the head as it was then."""
    skeleton, count = whole.skeleton, len(before)
    mask = np.zeros(len(skeleton), dtype=bool)
    mask[[*skeleton.chain("neck"), *skeleton.chain("head")]] = True
    mask[[j for side in "LR" for j in skeleton.roles.get(f"eye_{side}", ())]] = True
    rest = replace(whole, roots=whole.roots[count - 1 :], rotations=whole.rotations[count - 1 :], base=None, curves={})
    rest = join(replace(rest, events=(), mask=mask), before.pose(count - 1), SETTLE)
    rotations = np.array(whole.rotations)
    rotations[:count], rotations[count - 1 :] = before.rotations, rest.rotations
    return replace(whole, rotations=rotations, events=tuple(sorted(whole.events, key=lambda e: e.time)))


def _bins(side: Array, which: npt.NDArray[np.bool_]) -> Iterator[npt.NDArray[np.bool_]]:
    """Some places (N,) by directions (N,) [rad], from the right to the left, as one look each takes them in."""
    low, high = float(side[which].min()), float(side[which].max())
    count = max(1, int(np.ceil((high - low) / BIN)))
    number = np.clip(((side - low) / max(high - low, 1e-9) * count).astype(np.int64), 0, count - 1)
    for k in range(count):
        found = which & (number == k)
        if found.any():
            yield found


def _recognised(sight: Sight) -> frozenset[str]:
    return frozenset(name for name, stats in sight.visible.items() if stats.recognised)
