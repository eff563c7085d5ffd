"""The bodies with which a task is tried: as it is, leaning, and standing closer; and where its target is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...errors import InvalidParam, InvalidRig, NoGrasp
from ...kinematics import anatomy, fk
from ...maths import quat
from ...motion import Motion
from ...skeleton import ARM, SIDES, Array
from ...world import Body
from ..spaces.solids import matrix_at
from .stepping_up import stepped
from .task import Job

UP = np.array([0.0, 0.0, 1.0])
STILL, SHIFT = 2.0, 0.01
"""How long what is reached for has to keep still [s], and how still [m]."""
LEANS = tuple(np.radians([10.0, 20.0, 30.0, 40.0]))
"""How far the trunk leans, when that helps [rad]."""


def target_of(job: Job) -> Body:
    """What a task is about.

    Raises:
        InvalidParam: The world has no such thing (any more).
    """
    name = job.params.target or (job.holding.prop if job.holding is not None else "")
    for body in job.world.bodies:
        if body.name == name:
            return body
    known = ", ".join(sorted(b.name for b in job.world.bodies)[:12])
    raise InvalidParam("target", name, f"must be one of the bodies of the world: {known}")


def check(job: Job, target: Body) -> None:
    """Refuse what no hand can do, before anything is sought.

    Raises:
        InvalidRig: The actor has no arm.
        NoGrasp: There is nothing to take hold of, or it does not keep still.
    """
    able = [side for side in SIDES if has_arm(job, side)]
    asked = {"auto": SIDES[:0], "both": SIDES}.get(job.params.hand, (job.params.hand,))
    missing = [side for side in asked if side not in able]
    if missing or not able:
        side = missing[0] if missing else SIDES[0]
        lacks = next(part for part in ARM[1:] if not job.skeleton.has(f"{part}_{side}"))
        raise InvalidRig(
            f"{job.actor} has no arm to reach with: {lacks}_{side} is missing; map it in the table of roles"
        )
    if job.params.task == "point" or job.holding is not None:
        return
    if not len(target.triangles) and not (job.grasps or {}).get(target.name):
        raise NoGrasp(f"{target.name} has no mesh to take hold of; choose a mesh, or give it a grasp by hand")
    if len(target.matrices) > 1 and target.name not in (job.moved or {}):
        first = int(np.clip(round(job.time * job.world.fps), 0, len(target.matrices) - 1))
        soon = target.matrices[first : first + 1 + int(np.ceil(STILL * job.world.fps)), :3, 3]
        away = float(np.linalg.norm(soon - soon[0], axis=1).max())
        if away > SHIFT:
            raise NoGrasp(
                f"{target.name} moves by {away:.2f} m in the next {STILL:.0f} s; reach for it when it keeps still"
            )


def has_arm(job: Job, side: str) -> bool:
    """Whether the actor has upper arm, forearm and hand on a side."""
    return all(job.skeleton.has(f"{part}_{side}") for part in ARM[1:])


Stand = tuple[Job, Array | None, Motion | None]
"""The task there, rotations (J, 4) of the body where it leans, and how it got there."""


def bodies_for(job: Job, target: Body) -> list[Callable[[], Stand]]:
    """The body as it is, then leaning, then standing closer; each found when it is needed."""
    out: list[Callable[[], Stand]] = [lambda: (job, None, None)]
    carries = job.holding is not None
    if job.params.lean and job.skeleton.has("spine"):

        def leaning(angle: float) -> Callable[[], Stand]:
            return lambda: (job, leaned(job, target, angle), None)

        out += [leaning(angle) for angle in LEANS]
    if job.params.step and not carries:

        def closer() -> Stand:
            place = place_of(job, target)
            walked = stepped(job.skeleton, job.pose, job.world, place, job.fps, job.params.hand, job.moved, job.shapes)
            end = walked.pose(len(walked) - 1)
            return replace(job, pose=end, time=job.time + walked.duration), None, walked

        out.append(closer)
    return out


def place_of(job: Job, target: Body) -> Array:
    """(3,) the middle of the target [m]."""
    matrix = matrix_of(job, target)
    if not len(target.vertices):
        return np.asarray(matrix[:3, 3])
    return np.asarray((target.vertices @ matrix[:3, :3].T + matrix[:3, 3]).mean(axis=0))


def matrix_of(job: Job, target: Body) -> Array:
    if job.moved and target.name in job.moved:
        return job.moved[target.name]
    return matrix_at(job.world, target, job.time)


def leaned(job: Job, target: Body, angle: float) -> Array:
    """Rotations (J, 4) of the body with its trunk leaning to the target by an angle [rad], the head staying level."""
    skeleton, pose = job.skeleton, job.pose
    positions, globals = fk.forward(skeleton, pose.rotations, pose.root)
    spine = skeleton.chain("spine")
    away = quat.rotate(quat.conjugate(globals[spine[0]]), place_of(job, target) - positions[spine[0]])
    flat = np.array([away[0], away[1], 0.0])
    axis = quat.unit(np.cross(UP, quat.unit(flat)))
    out = np.array(pose.rotations)
    total = quat.multiply(quat.about(axis, angle), anatomy.gather(pose.rotations[list(spine)]))
    out[list(spine)] = anatomy.spread(total, len(spine))
    return out
