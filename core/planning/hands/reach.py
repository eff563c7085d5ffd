"""Hands that reach for things, touch them, point at them, take them, carry them, put them down and come back.

Kuffner, "Autonomous Agents for Real-Time Animation" (1999), 5.2 to 5.5: a task is a reach, a grasp, a transfer, a
release and a return, each a planned way of the arm; where one grasp or hand fails the next is tried, then the trunk
leans, then the actor steps closer. A hand stops short of a prop and goes the rest straight.
"""

from __future__ import annotations

from dataclasses import replace

from ...errors import NoGrasp, NoIK, NoPath, NotVisible, TroupeError
from ...motion import Motion
from ...performance import Performance
from ..spaces.penetration import HAND, Penetration, penetrations
from ..spaces.solids import Shapes
from .ledger import Ledger
from .one_hand import OneHand
from .orders import CARRYING, TASKS, ReachParams
from .stages import Holding, Stage, performed
from .standing import bodies_for, target_of
from .task import Job, Reached

__all__ = ["CARRYING", "TASKS", "Job", "ReachParams", "Reached", "reach"]


def reach(job: Job) -> Reached:
    """Do a task with one hand.

    Raises:
        NotVisible: The actor does not see the target.
        NoGrasp: No grasp for the purpose, or no hand.
        NoIK, NoPath: Nothing worked; the message names what was in the way, the tries are in `ledger` of the error.
    """
    ledger = Ledger()
    target = target_of(job)
    if job.seen is not None and target.name not in job.seen:
        raise NotVisible(f"{job.actor} does not see {target.name}; look for it first")
    shapes = job.shapes or Shapes()
    failure: TroupeError | None = None
    for skill in bodies_for(job, target):
        try:
            job_there, leaned, walked = skill()
        except (NoIK, NoPath) as error:
            ledger.log("", "", "step", str(error))
            continue
        work = OneHand(job_there, target, leaned, ledger, shapes)
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


def _finished(
    job: Job, task: OneHand, side: str, stages: list[Stage], holding: Holding | None, walked: Motion | None
) -> Reached:
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
