"""Hands that reach for things, touch them, point at them, take them, carry them, put them down and come back.

Kuffner, "Autonomous Agents for Real-Time Animation" (1999), 5.2 to 5.5: a task is a reach, a grasp, a transfer, a
release and a return, each a planned way of the arm; where one grasp or hand fails the next is tried, then the trunk
leans, then the knees bend, then the actor steps closer. A hand stops short of a prop and goes the rest straight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np

from ...errors import NoGrasp, NoHold, NoIK, NoPath, NotVisible, TroupeError
from ...performance import Performance
from ...skeleton import SIDES
from ...world import Body
from ..spaces.penetration import HAND, Penetration, penetrations
from ..spaces.rrt import stopped
from ..spaces.solids import Shapes
from .arm_work import ArmWork
from .both_hands import ABLE, BothHands
from .grasp_forms import HAND as HAND_LENGTH
from .idle_arms import idle_arms
from .ledger import Ledger
from .one_hand import OneHand
from .orders import CARRYING, TASKS, ReachParams
from .pairs import is_broad
from .performing import performed
from .stages import Holding, Stage
from .stand_in import TAKER
from .standing import Stand, as_moved, bodies_for, check, in_rooms, risen, straightening, target_of
from .task import Job, Reached

CHECKED = 3
"""Grasps whose motion is made and checked, when that of the first is in something after all."""

__all__ = ["CARRYING", "TASKS", "Job", "ReachParams", "Reached", "reach"]


def reach(job: Job) -> Reached:
    """Do a task with one hand or both.

    Raises:
        NotVisible: The actor does not see the target.
        NoGrasp: No grasp for the purpose, or nothing to take hold of.
        InvalidRig: No arm.
        Cancelled: `should_stop` said so.
        NoIK, NoPath: Nothing worked; the message names what was in the way, the tries are in `ledger` of the error.
    """
    ledger = Ledger()
    target = target_of(job)
    if job.seen is not None and target.name not in job.seen:
        raise NotVisible(f"{job.actor} does not see {target.name}; look for it first")
    check(job, target)
    shapes = job.shapes or Shapes()
    job = in_rooms(replace(job, shapes=shapes))
    failure: TroupeError | None = None
    found: list[Reached] = []
    for tried in _tries(job, target, ledger, shapes):
        stopped(job.should_stop)
        try:
            found.append(tried())
        except (NoIK, NoPath, NoGrasp) as error:
            if failure is None or _told(error) < _told(failure):
                failure = error
            continue
        # what would go through something is done with the other hand or by a body that holds itself otherwise
        if not found[-1].offences or len(found) == CHECKED:
            break
    if found:
        return min(found, key=_depth)
    assert failure is not None
    failure.ledger = ledger  # type: ignore[attr-defined]
    raise failure


def _told(error: TroupeError) -> tuple[int, bool, float]:
    """How little an error tells: that there is no way most, then that there is no hold; then what came up after
    something could be done; how much is missing least, and that the less the more."""
    rank = 0 if isinstance(error, NoPath) else 1 if isinstance(error, NoHold) else 2
    return rank, not getattr(error, "begun", False), getattr(error, "far", 0.0)


def _tries(job: Job, target: Body, ledger: Ledger, shapes: Shapes) -> Iterator[Callable[[], Reached]]:
    """The bodies and hands to try, one after the other; both hands for what one does not get at however it stands."""
    stands, first = [], False
    always = job.params.hand == "both" or job.other is not None
    # grasps made by hand are meant as they are
    own = bool((job.grasps or {}).get(target.name))
    able = always or (job.params.hand == "auto" and job.params.task in ABLE and job.holding is None and not own)
    here = OneHand(job, target, None, ledger, shapes)
    known = able and not always and bool(here.known(here.sides()[0]))
    only = always or (able and not (known and here.has_room()))
    if only and known:
        # what has no room for one hand has none however the body is, but what is in the way is known
        for side in here.sides():
            yield partial(_with_one, here, side, Stand(job))
    for skill in bodies_for(job, target):
        try:
            stands.append(skill())
        except (NoIK, NoPath) as error:
            ledger.log("", "", "step", str(error))
            yield partial(_raised, error)
            continue
        stand = stands[-1]
        one = OneHand(stand.job, target, stand.leaned, ledger, shapes)
        first = only or (able and len(target.vertices) > 0 and is_broad(target, one.matrix, HAND_LENGTH))
        if first:
            yield partial(_with_both, stand, target, ledger, shapes)
        if only:
            continue
        for side in one.sides():
            yield partial(_with_one, one, side, stand)
    for stand in stands if able and not first else ():
        yield partial(_with_both, stand, target, ledger, shapes)


def _raised(error: TroupeError) -> Reached:
    raise error


def _with_one(task: OneHand, side: str, stand: Stand) -> Reached:
    work, best, failure = task.work(side), None, None
    for stages, holding in islice(task.done(side), CHECKED):
        kept = replace(holding, rest=work.rest) if holding is not None and holding.rest is None else holding
        try:
            found = _finished(task, (work,), stages, () if kept is None else (kept,), stand)
        except NoIK as error:
            failure = error
            continue
        if best is None or _depth(found) < _depth(best):
            best = found
        if not found.offences:
            break
    if best is None:
        assert failure is not None
        raise failure
    return best


def _depth(done: Reached) -> float:
    """How deep it is in something [m], summed over all samples."""
    return sum(o.depth for o in done.offences)


def _with_both(stand: Stand, target: Body, ledger: Ledger, shapes: Shapes) -> Reached:
    task = BothHands(stand.job, target, stand.leaned, ledger, shapes)
    stages, holdings = task.done()
    return _finished(task, task.works, stages, holdings, stand)


def _finished(
    task: OneHand | BothHands,
    works: Sequence[ArmWork],
    stages: list[Stage],
    holdings: Sequence[Holding],
    stand: Stand,
) -> Reached:
    """The performance of the stages, checked."""
    job, sides = task.job, tuple(work.side for work in works)
    leaned = task.rotations if task.leaned else None
    there = as_moved(job)
    near = (task.target.name, *(task.beside if isinstance(task, OneHand) else ()))
    touching = {(f"{part}_{side}", name) for part in HAND for side in sides for name in near}
    touching |= {(task.target.name, body.name) for body in there.bodies if TAKER in body.tags}
    rising = stand.rising
    if rising is None and task.leaned and holdings and job.params.task == "pick_up":
        rising = straightening(job, task.rotations)
    gets_up = rising is not None and (bool(holdings) or stages[-1].name == "return")
    best: tuple[Performance, list[Penetration]] | None = None
    failure: NoIK | None = None
    along = 0.0 if job.params.faithful else job.params.trunk
    # a trunk leans along with the arm or ahead of it; one that need not lean goes along with it or keeps still
    ways = [(False, 0.0), (True, 0.0)] if task.leaned else [(False, along), (False, 0.0)]
    for first, share in dict.fromkeys(ways):
        try:
            performance = performed(
                job,
                works,
                stages,
                task.target,
                task.matrix,
                task.ledger,
                leaned,
                stand.walked,
                first,
                stand.carried,
                share,
            )
        except NoIK as error:
            failure = error
            continue
        if gets_up and rising is not None:
            performance = risen(performance, rising, holdings, job)
        motion = performance.motions[job.actor]
        # an arm that hangs goes along with the trunk
        looked = sides if share <= 0.0 else SIDES
        props = performance.props
        offences = penetrations(motion, there, props, sides=looked, touching=touching, shapes=job.shapes)
        if best is None or len(offences) < len(best[1]):
            best = performance, offences
        if not offences:
            break
    if best is None:
        assert failure is not None
        raise failure
    performance, offences = best
    motion = performance.motions[job.actor]
    pose = motion.pose(len(motion) - 1)
    idle = idle_arms(motion, sides, rising) if holdings and motion.mask is None else None
    if gets_up and rising is not None:
        # an arm hangs otherwise from a trunk that stands than from one that is bent
        home = rising.rotations[-1]
        arms = {work.side: work.arm for work in works}
        holdings = [
            replace(h, rest=np.clip((a := arms[h.side]).configuration(home[a.joints]), a.low, a.high)) for h in holdings
        ]
    held, other = (*holdings, None, None)[:2]
    side = "both" if len(sides) > 1 else sides[0]
    return Reached(performance, task.ledger, side, task.used, held, tuple(offences), pose, other, idle)
