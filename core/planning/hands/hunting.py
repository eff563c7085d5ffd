"""Looking for something on foot: over what shows from here, then from where most of the rest shows, until it is seen.

Kuffner, "Autonomous Agents for Real-Time Animation" (1999), 4.3 and 5.2. The actor knows what it walks around, but not
where in all that its target is; it sees with its own eyes, standing and on the way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParam, NoPath, NotVisible
from ...gait.physique import measure
from ...kinematics.gaze import Shift, gaze
from ...maths.ramp import wrap
from ...motion import Motion
from ...skeleton import Array
from ...world import Body, World
from ..senses.eyes import eye_at, eye_of, eyes
from ..senses.lookouts import WORTH, Lookouts, sharp_enough
from ..senses.scenery import scenery
from ..senses.vision import Sight, see
from ..walkers.tasks import chained, still
from ..ways.map import Map, MapParams, project
from .afoot import Afoot
from .standing import as_moved, place_of, target_of
from .task import Job
from .upright import floor_under

SPEED, RADIUS = 1.2, 0.25
"""How fast somebody walks who looks for something [m/s], and how wide it is [m]."""
CELL, CELLS = 0.0625, 640_000
"""Side of the cells of its map [m], so fine that it passes every usual door, and how many there are at most."""
DWELL = 0.5
"""How long gaze stays where it looks for something [s]."""
WIDE, BIN = 1.25, 0.7
"""How far to the side somebody looks without turning, and what one look takes in of that [rad]."""
OFTEN = 0.25
"""Between two looks on the way [s]."""
AHEAD = 0.35
"""Part of a way after which gaze goes ahead to what is to be seen at its end."""
UPRIGHT = 0.85
"""How high hips are at least over the ground of somebody who stands, compared with straight legs."""
FREE = 1.0
"""How far the nearest place may be where there is room to walk [m]."""
MOST = 30
"""Places from which somebody looks at most before giving up."""
LITTLE = 0.03
"""Part of what shows from where somebody stands that is not worth a turn."""


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
    """A search for the target of a task.

    Attributes:
        afoot: The actor and what it did so far, but for its gaze.
        shifts: Of its gaze so far.
        left: (N,) which of the places where the target may be it has not looked at yet.
        spots: From how many places it has looked about.
        head: How far the head turns along.
    """

    def __init__(self, job: Job) -> None:
        self.target: Body = target_of(job)
        world = as_moved(job)
        self._map = _charted(world, job, self.target.name)
        self.afoot = Afoot(job, SPEED, self._map.params)
        self._eyes = sharp_enough(scenery(world), self.target, job.time)
        self.lookouts = Lookouts.of(world, self.target, self._eyes, job.time)
        self.left: npt.NDArray[np.bool_] = np.ones(len(self.lookouts.places), dtype=bool)
        self.shifts: list[Shift] = []
        self.spots = 0
        self.head = job.params.gaze or 0.8
        try:
            ground = self._ground_under(job.pose.root[:2])
        except NoPath as error:
            raise self._kept(str(error)) from None
        if job.pose.root[2] - ground < UPRIGHT * measure(job.skeleton).standing:
            raise self._kept("it does not stand upright; let it stand up first")
        self._tall = float(eye_of(job.skeleton, job.pose)[2, 3] - ground)

    def _ground_under(self, place: Array) -> float:
        """Height of the ground where somebody stands who is at a place (2,) [m]; NoPath where nobody can."""
        x, y = place.tolist()
        cell, _ = self._map.walkable().free_cell(x, y, self.afoot.job.actor, FREE)
        return float(self._map.ground[0].ravel()[cell])

    def _kept(self, why: str) -> NotVisible:
        return NotVisible(
            f"{self.afoot.job.actor} does not see {self.target.name}, and cannot go and look for it: {why}"
        )

    def found(self) -> Glimpse | None:
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
            afoot.note("goes to look", f"more shows from ({spot[0]:.1f}, {spot[1]:.1f})", name)
            try:
                afoot.walk(spot)
            except NoPath as error:
                afoot.note("looks elsewhere", str(error), name)
                self.left &= ~self._shown_from(spot)
                continue
            ahead = self._look_ahead(spot, since)
            glimpse = self._seen_on_the_way(since, ahead)
            if glimpse is not None:
                # from there it goes on without a stop
                afoot.back_to(mark)
                del self.shifts[known:]
                return glimpse
            if self._looks_over():
                return None
        far = self.lookouts.vision.range
        small = f"; so small a thing is told from others within {far:.1f} m only" if far < self._tall else ""
        raise NotVisible(
            f"{afoot.job.actor} does not find {name}: it looked from {self.spots} places and there is nowhere "
            f"to stand from where more would show{small}; put it where it can be seen"
        )

    def _next(self) -> Array | None:
        """(2,) where more of what is left shows."""
        job, here = self.afoot.job, self.afoot.stance.base[:2]
        ways, ground = self._map.walkable(), self._map.ground[0]
        return self.lookouts.best(ways, ground, here, self.left, self._tall, job.time, job.should_stop)

    def _shown_from(self, spot: Array) -> npt.NDArray[np.bool_]:
        return self.lookouts.shown(np.array([*spot, self._eye_over(spot)]), self.afoot.job.time)

    def _eye_over(self, spot: Array) -> float:
        """How high eyes are over a place (2,) [m]."""
        column, row = np.floor((spot - self._map.origin) / self._map.cell).astype(np.int64)
        return float(self._map.ground[0, row, column]) + self._tall

    def _look_ahead(self, spot: Array, since: float) -> Shift | None:
        """Let gaze go ahead, on the way that began at `since`, to what is to be seen at its end, if anything is."""
        shows = self.left & self._shown_from(spot)
        if not shows.any():
            return None
        middle = np.average(self.lookouts.places[shows], axis=0, weights=self.lookouts.weights[shows])
        self.shifts.append(Shift(since + AHEAD * (self.afoot.clock - since), middle, self.head))
        return self.shifts[-1]

    def _seen_on_the_way(self, since: float, ahead: Shift | None) -> Glimpse | None:
        """Where on the way that began at `since` [s] the target comes into sight; None where it does not."""
        motion = self.shown()
        assert motion.base is not None
        first, step = round(since * motion.fps), max(1, round(OFTEN * motion.fps))
        for k in range(first, len(motion), step):
            if self._sees(motion, k):
                place, late = self._shows_from(motion.base[k:, :2]), k / motion.fps
                if ahead is None or ahead.time >= late:
                    return Glimpse(place)
                return Glimpse(place, ahead.points, (ahead.time - since) / (late - since))
        return None

    def _shows_from(self, places: Array) -> Array:
        """The first of some places (n, 2) from where, and from a little before it, a body that stands sees the target.

        Where it only just shows, a head that moves as the body comes to a stand would lose it. Else the first place.
        """
        goal, step = place_of(self.afoot.job, self.target), max(1, round(0.5 * OFTEN * self.afoot.job.fps))
        shown = False
        for place in places[::step]:
            eye = np.array([*place, self._eye_over(place)])
            off = goal - eye
            pitch = float(np.arctan2(off[2], np.hypot(off[0], off[1])))
            looking = eye_at(eye, float(np.arctan2(off[0], -off[1])), pitch)
            before = shown
            shown = self.target.name in recognised(see(self.lookouts.shapes, looking, self._eyes, self.afoot.job.time))
            if before and shown:
                return np.array(place)
        return np.array(places[-1] if shown else places[0])

    def _looks_over(self) -> bool:
        """Look over what shows from here and has not been looked at, turning where it has to; true when it is found."""
        self.spots += 1
        afoot = self.afoot
        eye = eye_of(afoot.job.skeleton, afoot.job.pose)[:3, 3]
        shown = self.lookouts.shown(eye, afoot.job.time)
        shows = self.left & shown
        # the little that would take a turn more is left for another time
        least = max(WORTH, LITTLE * self.lookouts.worth(shows))
        while self.lookouts.worth(shows) >= least:
            off = self.lookouts.places - eye
            side = wrap(np.arctan2(off[:, 0], -off[:, 1]) - afoot.stance.base[2])
            front = shows & (np.abs(side) < WIDE)
            if self.lookouts.worth(front) < least:
                self._turn(side[shows], self.lookouts.weights[shows])
                shows &= ~front
                continue
            if self._scans(eye, side, front):
                return True
            # what did not show after all is looked for from elsewhere or not at all
            shows &= self.left & ~front
        self.left &= ~shown | shows
        return False

    def _turn(self, side: Array, weights: Array) -> None:
        """Turn to where most is to be looked at, of which the sides (n,) are given [rad]."""
        ways = np.linspace(-np.pi, np.pi, 25)[1:]
        near = (np.abs(wrap(side[:, None] - ways)) < WIDE) * weights[:, None]
        # the shortest turn that brings most of the best before it
        good = ways[near.sum(axis=0) > 0.9 * near.sum(axis=0).max()]
        turn = float(good[np.abs(good).argmin()])
        self.shifts.append(Shift(self.afoot.clock))
        self.afoot.turn(float(self.afoot.stance.base[2]) + turn)

    def _scans(self, eye: Array, side: Array, front: npt.NDArray[np.bool_]) -> bool:
        """Stand and look at all places before it, from one side to the other; true when the target is found."""
        afoot, places, weights = self.afoot, self.lookouts.places, self.lookouts.weights
        looks = list(_bins(side, front))
        if abs(side[looks[-1]].mean()) < abs(side[looks[0]].mean()):
            looks.reverse()
        mark, begun, known = afoot.marked(), afoot.clock, len(self.shifts)
        for k, which in enumerate(looks):
            self.shifts.append(Shift(begun + k * DWELL, np.average(places[which], 0, weights[which]), self.head))
        afoot.gone(still(afoot.scope(), afoot.stance, len(looks) * DWELL), ())
        motion = self.shown()
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
        sight = see(self.lookouts.shapes, eye, self._eyes, job.time)
        near = replace(sight, lens=self.lookouts.vision.lens())
        self.left &= ~near.reveals(self.lookouts.places)
        return self.target.name in recognised(sight)

    def shown(self) -> Motion:
        """All that it did so far, with its gaze."""
        motion = chained(self.afoot.motions)
        return replace(gaze(motion, self.shifts), mask=None)


def _charted(world: World, job: Job, target: str) -> Map:
    """What somebody who looks for a target walks on; a large world has coarser cells."""
    coarse = MapParams(radius=RADIUS, floor=floor_under(job.skeleton, job.pose))
    try:
        return project(world, replace(coarse, cell=CELL, max_cells=CELLS), job.time, exclude=(target,))
    except InvalidParam:
        return project(world, coarse, job.time, exclude=(target,))


def _bins(side: Array, which: npt.NDArray[np.bool_]) -> Iterator[npt.NDArray[np.bool_]]:
    """Some places (N,) by directions (N,) [rad], from the right to the left, as one look each takes them in."""
    low, high = float(side[which].min()), float(side[which].max())
    count = max(1, int(np.ceil((high - low) / BIN)))
    number = np.clip(((side - low) / max(high - low, 1e-9) * count).astype(np.int64), 0, count - 1)
    for k in range(count):
        found = which & (number == k)
        if found.any():
            yield found


def recognised(sight: Sight) -> frozenset[str]:
    """Names of what is told from other things."""
    return frozenset(name for name, stats in sight.visible.items() if stats.recognised)
