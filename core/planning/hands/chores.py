"""Somebody at work in a room: walks, looks about, takes things, carries them and puts them down where they belong.

Kuffner, "Autonomous Agents for Real-Time Animation" (1999), 6: what is done next follows from what is seen. `tidy` and
`serve` are made of this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...errors import NoGrasp, NoIK, NoPath
from ...kinematics import base as bases
from ...kinematics import fk
from ...maths import quat
from ...motion import Motion
from ...performance import Attachment
from ...skeleton import Array
from ..senses.eyes import eye_at
from ..senses.scenery import Scenery, scenery
from ..senses.vision import VisionParams, see
from ..spaces.rrt import stopped
from ..spaces.surfaces import in_others
from ..ways.map import MapParams
from .afoot import Afoot
from .orders import ChoreParams
from .spots import footprint, free_spots
from .stages import Holding
from .standing import UP, as_moved
from .task import Job
from .upright import floor_under

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


class Shift(Afoot):
    """A stretch of work: what was done so far, to be made a performance of.

    Attributes:
        params: How it works.
        places: Where litter goes.
        seen: Names of what it has seen.
        away, lost: Names of what was put away and of what could not be, in order.
    """

    def __init__(self, job: Job, params: ChoreParams, places: Sequence[Place] = ()) -> None:
        hands = replace(
            job.params, speed=params.hurry, gaze=params.gaze, budget=params.budget, seed=params.seed, step=False
        )
        chart = MapParams(radius=params.radius, step=params.climb, floor=floor_under(job.skeleton, job.pose))
        super().__init__(replace(job, params=hands), params.speed, chart)
        self.params, self.places = params, places
        self.seen: set[str] = set()
        self.away: list[str] = []
        self.lost: list[str] = []
        self._used: set[int] = set()
        self._scenery: Scenery | None = None

    def look_about(self) -> None:
        """Turn round once, looking."""
        for _ in range(3):
            self.turn(float(self.stance.base[2]) + 2.0 * np.pi / 3.0)

    def look(self) -> None:
        """See what is to be seen from where it stands."""
        self._glance(self._motions[-1] if self._motions else self._still())

    def put_away(self, name: str) -> None:
        """Go to something, take it, carry it to the first place that works, and put it down there.

        Raises:
            NoIK, NoPath, NoGrasp: It cannot be taken, or there is no place for it; then it was not taken.
        """
        mark = self.marked()
        failure: Exception = NoPath("there is no room left where it goes")
        for strict in (True, False):
            crowded = False
            for place, number in self._goals(name):
                stopped(self.job.should_stop)
                try:
                    self._carry_off(name, place, number is not None, strict)
                except FAILURES as error:
                    failure, crowded = error, crowded or isinstance(error, _Crowded)
                    self.back_to(mark)
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
        taken = self.reach(task="pick_up", target=name)
        held = [h for h in (taken.holding, taken.other) if h is not None]
        self.step_up(place + ABOVE, taken.side if taken.side != "both" else "auto", held)
        carried = replace(self.body(name), matrices=self.matrix(name)[None])
        if strict and (found := in_others(carried, as_moved(self.job), shapes=self.job.shapes)):
            raise _Crowded(f"{name} would be carried into {found[0].body}")
        # as it was taken, as the body sees it; where the hand cannot put it down so, turned about the vertical
        seen = float(self.stance.base[2]) - facing
        failure: Exception | None = None
        for turn in _TURNS:
            goal = np.eye(4)
            goal[:3, :3] = quat.to_matrix(quat.about(UP, seen + float(turn))) @ turned
            goal[:3, 3] = place if exact else place - footprint(self.body(name), goal[:3, :3]).foot
            try:
                self.reach(held, goal, task="put_back", target=name)
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

    def place(self, name: str) -> Array:
        """(3,) where something is [m]: the middle of its foot."""
        matrix = self.matrix(name)
        return np.asarray(matrix[:3, 3] + footprint(self.body(name), matrix[:3, :3]).foot)

    def gone(self, motion: Motion, held: Sequence[Holding]) -> None:
        """Do a motion of the whole body with what hands hold, and look on the way."""
        super().gone(motion, held)
        self._glance(motion)

    def add(self, motion: Motion, props: dict[str, Array], held: Sequence[Attachment] = ()) -> None:
        """Go on with a motion, after which things may be elsewhere."""
        super().add(motion, props, held)
        if props:
            self._scenery = None

    def back_to(self, mark: tuple[Job, tuple[int, ...]]) -> None:
        """Forget what was done since; what was seen is still known."""
        super().back_to(mark)
        self._scenery = None

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
