"""Hands that deal only with what eyes have seen: the rest is looked for on foot first, if the actor is told to.

Kuffner, "Autonomous Agents for Real-Time Animation" (1999), 4.3 and 5.2: nothing is reached for that is not visible,
and whoever wants it searches for it.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np

from ...errors import NoIK, NoPath, NotVisible
from ...filters.join import join
from ...kinematics import anatomy
from ...kinematics.gaze import Shift
from ...maths.ramp import wrap
from ...motion import Motion
from ...skeleton import SIDES, Array, Pose
from ..senses.eyes import eye_of
from ..senses.lookouts import sharp_enough
from ..senses.scenery import scenery
from ..senses.vision import see
from ..walkers.tasks import chained
from .arriving import Places
from .hunting import Glimpse, Hunt, recognised
from .idle_arms import idle_arms
from .reach import reach
from .standing import as_moved, place_of, target_of
from .stepping_up import stances
from .task import Job, Reached

NEAR, ASIDE = 0.25, 0.5
"""How far from where it is best handled [m], and turned how far from it [rad], something is handled without a step."""
SETTLE = 0.5
"""Time in which a head that looked for something goes over to what it does when hands are at work [s]."""
ACROSS = 1.6
"""Farther than this nobody takes anything without walking [m]."""
ENDS = MappingProxyType({"move": "put_back", "hand_over": "hand_over"})
"""How tasks that take something elsewhere end, for who has walked there with it."""
BOWED = 0.5
"""How far somebody bows the head who looks at work before it [rad]."""


def in_sight(job: Job) -> Job:
    """The task for an actor that knows only what it sees as it stands and looks down at its work, and what it holds."""
    looks = anatomy.with_angles(job.skeleton, job.pose.rotations, {"head": (BOWED, 0.0, 0.0)})
    shapes = scenery(as_moved(job))
    eye, vision = eye_of(job.skeleton, Pose(looks, job.pose.root)), sharp_enough(shapes, target_of(job), job.time)
    sight = see(shapes, eye, vision, job.time)
    held = {h.prop for h in (job.holding, job.other) if h is not None}
    return replace(job, seen=recognised(sight) | held)


def reach_seen(job: Job) -> Reached:
    """Do a task of hands with what the actor sees; what it does not see it looks for, if the task says so.

    Raises:
        NotVisible: It does not see the target, and is not to look for it or could not find it.
        NoPath: It sees the target from somewhere, and cannot get there.

    Further errors are those of `reach`.
    """
    job = in_sight(job)
    try:
        return reach(job)
    except NotVisible:
        if not job.params.search:
            raise
    return _fetched(Hunt(job))


def _fetched(hunt: Hunt) -> Reached:
    """The target found and the task done.

    Raises:
        NotVisible: It is nowhere where the actor can see it.
        NoPath: There is no way to it.
    """
    glimpse = hunt.found()
    seen = {*(hunt.afoot.job.seen or ()), hunt.target.name}
    hunt.afoot.job = replace(hunt.afoot.job, seen=seen)
    goal, since = place_of(hunt.afoot.job, hunt.target), hunt.afoot.clock
    try:
        _goes_there(hunt, goal, glimpse)
    except NoPath as error:
        raise NoPath(f"{hunt.afoot.job.actor} sees {hunt.target.name}, but cannot get there: {error}") from None
    when = since
    if glimpse is not None:
        when = _passes(hunt, glimpse.place, since)
        if glimpse.ahead is not None:
            hunt.shifts.append(Shift(since + glimpse.early * (when - since), glimpse.ahead, hunt.head))
    hunt.shifts.append(Shift(when, goal, hunt.head))
    hunt.afoot.note("finds", f"{hunt.target.name} is in sight", hunt.target.name, when)
    return _handled(hunt)


def _goes_there(hunt: Hunt, goal: Array, glimpse: Glimpse | None) -> None:
    """Walk to where a task at a place (3,) is easy, if it has to, by way of where the target came into sight."""
    afoot, via = hunt.afoot, () if glimpse is None else (glimpse.place,)
    hand = afoot.job.params.hand
    # from the side where it shows, not from behind what hides it
    off = goal[:2] - (*via, afoot.stance.base[:2])[0]
    facing = float(np.arctan2(off[0], -off[1]))
    if afoot.job.params.task == "point":
        for place in via:
            afoot.walk(place)
        if abs(wrap(facing - afoot.stance.base[2])) > ASIDE:
            afoot.turn(facing)
    elif via or _has_to_walk(hunt, goal, facing):
        afoot.step_up(goal, hand if hand in SIDES else "auto", via=via, facing=facing)


def _passes(hunt: Hunt, place: Array, since: float) -> float:
    """When, from a time on, it is nearest to a place (2,) that it walks by [s]."""
    motion = chained(hunt.afoot.motions)
    assert motion.base is not None
    first = round(since * motion.fps)
    return (first + int(np.hypot(*(motion.base[first:, :2] - place).T).argmin())) / motion.fps


def _has_to_walk(hunt: Hunt, goal: Array, facing: float) -> bool:
    job, here = hunt.afoot.job, hunt.afoot.stance.base
    found = stances(job.skeleton, job.pose, as_moved(job), goal, job.params.hand, None, job.shapes, facing=facing)
    spot = Places(found).first
    return bool(np.hypot(*(spot[:2] - here[:2])) > NEAR or abs(wrap(spot[2] - here[2])) > ASIDE)


def _handled(hunt: Hunt) -> Reached:
    """The task done from where it stands now, and all before it in one motion."""
    afoot, job = hunt.afoot, hunt.afoot.job
    before = hunt.shown() if afoot.motions else None
    late = afoot.clock
    goal = job.destination if job.params.task in ENDS else None
    off = 0.0 if goal is None else float(np.linalg.norm(goal[:3, 3] - place_of(job, hunt.target)))
    try:
        done = _taken_there(hunt, goal) if goal is not None and off > ACROSS else afoot.reach((), job.destination)
    except NoIK:
        if goal is None or off > ACROSS:
            raise
        done = _taken_there(hunt, goal)
    whole = afoot.performance()
    if before is None:
        return done
    motion = _joined(whole.motions[job.actor], before)
    said = tuple({**row, "time": row["time"] + late} for row in done.performance.transcript)
    done.ledger.lookouts = hunt.spots
    holds = done.holding is not None
    return replace(
        done,
        performance=replace(
            whole, motions={job.actor: motion}, events=motion.events, transcript=(*whole.transcript, *said)
        ),
        pose=motion.pose(len(motion) - 1),
        idle=idle_arms(motion, [h.side for h in (done.holding, done.other) if h], None) if holds else None,
    )


def _taken_there(hunt: Hunt, goal: Array) -> Reached:
    """Take it, walk with it to where it is to be, and put it down or hold it out there."""
    afoot = hunt.afoot
    taken = afoot.reach(task="pick_up")
    held = [h for h in (taken.holding, taken.other) if h is not None]
    afoot.step_up(goal[:3, 3], taken.side if taken.side != "both" else "auto", held)
    put = afoot.reach(held, goal, task=ENDS[afoot.job.params.task])
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
