"""From the stages of a task to what is seen: samples of the whole body, of the prop it carries, and of its gaze."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...kinematics.fingers import finger_joints
from ...kinematics.gaze import attending, gaze
from ...maths import quat
from ...motion import Motion
from ...performance import Performance
from ...skeleton import Array
from ..walkers.tasks import chained
from .accompany import accompanied
from .stages import Stage
from .timeline import Timeline

if TYPE_CHECKING:
    from ...world import Body
    from .arm_work import ArmWork
    from .ledger import Ledger
    from .task import Job


def performed(
    job: Job,
    works: Sequence[ArmWork],
    stages: Sequence[Stage],
    target: Body,
    matrix: Array,
    ledger: Ledger,
    leaned: Array | None,
    walked: Motion | None,
    first: bool = False,
    carried: Mapping[str, Array] | None = None,
    along: float = 0.0,
) -> Performance:
    """The performance of the stages of a task.

    Args:
        job: The task.
        works: The arms that do it.
        stages: In order.
        target: What it is done to.
        matrix: (4, 4) of the target at the beginning.
        ledger: What it took.
        leaned: Rotations (J, 4) of the body while the arm works, where it leans.
        walked: What was done to get here.
        first: Whether the body leans before the arm moves and straightens after it, instead of along with it.
        carried: (T, 4, 4) of what it held on the way here, by name.
        along: How far the trunk goes along with the hands where it does not lean for them: 0 to 1.

    Raises:
        NoIK: Hands that are to keep to their way cannot while the trunk leans.
    """
    timeline = Timeline(job, works, stages, leaned, first)
    count = len(timeline.rotations)
    motion = Motion(
        job.skeleton, job.fps, np.tile(job.pose.root, (count, 1)), timeline.rotations, events=timeline.events(target)
    )
    sides = [work.side for work in works]
    with_trunk = accompanied(motion, sides, timeline.turns(), along) if leaned is None else None
    motion = with_trunk or motion
    mask = np.zeros(len(job.skeleton), dtype=bool)
    for work in works:
        mask[[*work.arm.joints, *finger_joints(job.skeleton, work.side)]] = True
    if leaned is not None or timeline.straightens or with_trunk is not None:
        mask[list(job.skeleton.chain("spine"))] = True
    if with_trunk is not None:
        mask[[j for side in sides for j in job.skeleton.roles.get(f"clavicle_{side}", ())]] = True
    if job.params.gaze > 0 and job.skeleton.has("head"):
        shifts = attending([(t, p) for t, p in timeline.looks()], head=job.params.gaze)
        looking = gaze(motion, shifts)
        mask |= np.asarray(looking.mask)
        motion = replace(looking, mask=None)
    held = {h.side: h.offset for h in (job.holding, job.other) if h is not None}
    props, attachments = timeline.prop(motion, target.name, matrix, job.actor, held)
    motion = replace(motion, rotations=quat.continuous(motion.rotations), mask=mask)
    if walked is not None:
        extra = len(walked) - 1
        motion = _going_on(walked, motion)
        before = {n: np.repeat(m[:1], extra, axis=0) for n, m in props.items()} | dict(carried or {})
        props = {n: np.concatenate([before[n][:extra], m]) for n, m in props.items()}
        late = extra / job.fps
        starts = dict.fromkeys(carried or (), 0.0)
        attachments = [replace(a, start=starts.get(a.prop, a.start + late), end=a.end + late) for a in attachments]
    transcript = [{"time": 0.0, "actor": job.actor, "what": "try", "why": dict(row)} for row in ledger.attempts]
    effort = {"ik": ledger.ik, "plans": ledger.plans, "looks": ledger.looks}
    transcript.append({"time": 0.0, "actor": job.actor, "what": job.params.task, "why": effort})
    return Performance({job.actor: motion}, props, tuple(attachments), motion.events, tuple(transcript))


def _going_on(walked: Motion, motion: Motion) -> Motion:
    """One motion of the whole body that goes on, where it stands, when another ends."""
    where = walked.base
    if where is None:
        return replace(chained([walked, replace(motion, mask=None)]), base=None)
    return chained([walked, replace(motion, mask=None, base=np.repeat(where[-1:], len(motion), axis=0))])
