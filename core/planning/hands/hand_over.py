"""One actor hands something to another: both hands meet, the giver holds on until the other's fingers have closed.

The giver takes the prop to where both can reach it, the receiver takes hold of it there with the giver's arm in the
way, and the giver lets go with the receiver's arm in the way. The three are then laid over each other in time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...errors import InvalidParam, NoGrasp, NoIK, NoPath, TroupeError, naming
from ...kinematics import fk
from ...kinematics.body_shape import self_gaps, with_fingers
from ...maths import quat
from ...skeleton import Array
from ...world import Body
from ..spaces.arm_space import Arm
from ..spaces.penetration import HAND, penetrations
from ..spaces.solids import Shapes
from .carry import carry
from .interlaced import HandedOver, interlaced, stage_at
from .offering import Offering
from .orders import CarryParams
from .postures import strain
from .reach import reach
from .stand_in import as_boxes
from .standing import as_moved, in_rooms, target_of
from .task import Job, Reached
from .timeline import TAIL

AHEAD = (0.0, 0.05, 0.1, 0.15)
"""How much farther from the body than it is carried the receiver may hold it in the end [m]."""
AT_EASE = 0.4
"""Strain of both arms where they meet up to which no better place is looked for."""


def hand_over(giver: Job, receiver: Job, meeting: Array | None = None) -> HandedOver:
    """Hand a prop from one actor to another; both stand where they are but for what the giver has to fetch.

    Args:
        giver: The actor that has it or takes it first; its target is the prop.
        receiver: The other one, in the same world; its target is not used.
        meeting: (4, 4) where the prop changes hands; None for midway between the two.

    Raises:
        NoIK, NoPath, NoGrasp: They do not get at it; the message says who and what is in the way.
    """
    if giver.actor == receiver.actor:
        raise InvalidParam("receiver", receiver.actor, "must be somebody else than the giver")
    target = target_of(giver)
    shapes = giver.shapes or Shapes()
    giver, receiver = (in_rooms(replace(job, shapes=shapes, fps=receiver.fps)) for job in (giver, receiver))
    with naming(giver.actor):
        offering = Offering(giver, receiver, target, meeting)
    failure: TroupeError | None = None
    best: tuple[float, HandedOver] | None = None
    for number in range(len(offering.places)):
        try:
            with naming(giver.actor):
                given = offering.at(number)
            done = _handed(giver, receiver, target, given)
        except (NoIK, NoPath, NoGrasp) as error:
            failure = failure or error
            continue
        cost = _strain(done, giver, receiver)
        if best is None or cost < best[0]:
            best = cost, done
        if cost < AT_EASE:
            break
    if best is not None:
        return best[1]
    assert failure is not None
    raise failure


def _strain(done: HandedOver, giver: Job, receiver: Job) -> float:
    """How strained both arms are where the prop changes hands; much more where the two touch each other."""
    out = 0.0 if done.gap > 0.0 and not done.offences else 10.0
    for job, side in ((giver, done.giver.side), (receiver, done.receiver.side)):
        motion = done.performance.motions[job.actor]
        pose = motion.pose(round(done.closed * motion.fps))
        arm = Arm(job.skeleton, side, *fk.forward(job.skeleton, pose.rotations, pose.root))
        out += strain(arm, arm.configuration(pose.rotations[arm.joints])[None])
    return out


def _handed(giver: Job, receiver: Job, target: Body, given: Reached) -> HandedOver:
    """What both do once it is offered."""
    name, world = target.name, giver.world
    there = given.performance.props[name][-1]
    leave = replace(
        giver,
        pose=given.pose,
        holding=given.holding,
        grasps=None,
        moved={**(giver.moved or {}), name: there},
        params=replace(giver.params, task="let_go", target=name, lean=False, step=False),
    )
    # who cannot take the hand away from there need not be waited for by the other one, who takes longest
    with naming(giver.actor):
        reach(leave)
    holder = as_boxes(giver.skeleton, given.pose, giver.actor, arms=True)
    take = replace(
        receiver,
        world=replace(world, bodies=(*world.bodies, *holder)),
        moved={**(receiver.moved or {}), name: there},
        params=replace(receiver.params, task="pick_up", target=name, step=False, lift=0.04),
    )
    with naming(receiver.actor):
        taken = _drawn_in(reach(take), receiver, target)
    grasped = stage_at(taken, "lift")
    holds = taken.performance.motions[receiver.actor].pose(grasped)
    takers = as_boxes(receiver.skeleton, holds, receiver.actor, arms=True)
    with naming(giver.actor):
        left = reach(replace(leave, world=replace(world, bodies=(*world.bodies, *takers))))
    for late in (0.0, 1.0):
        out = interlaced(giver, receiver, name, (given, taken, left), late)
        if out.gap > 0.0:
            break
    return out


def _drawn_in(taken: Reached, receiver: Job, target: Body) -> Reached:
    """The same with the prop drawn to the body in the end, and held there as it is carried."""
    holding, motion = taken.holding, taken.performance.motions[receiver.actor]
    if holding is None or taken.other is not None:
        return taken
    begin = max(0, len(motion) - 1 - int(np.ceil(TAIL * motion.fps)))
    end = replace(
        motion,
        roots=motion.roots[begin:],
        rotations=motion.rotations[begin:],
        base=None if motion.base is None else motion.base[begin:],
        curves={name: values[begin:] for name, values in motion.curves.items()},
        events=(),
        mask=None,
    )
    touching = {(f"{part}_{taken.side}", target.name) for part in HAND}
    shape = with_fingers(motion.skeleton)
    for ahead in AHEAD:
        params = CarryParams(taking=TAIL, ahead=ahead)
        drawn = carry(end, holding, params, bodies={target.name: target}, world=receiver.world, actor=receiver.actor)
        found, way = drawn.motions[receiver.actor], drawn.props[target.name]
        frames = fk.forward(motion.skeleton, found.rotations, found.roots)
        if self_gaps(shape, *frames, taken.side)[0].min() < 0.0:
            continue
        moved, sides = {target.name: way}, (taken.side,)
        if not penetrations(found, as_moved(receiver), moved, sides=sides, touching=touching, shapes=receiver.shapes):
            break
    else:
        return taken
    whole = replace(motion, rotations=quat.continuous(np.concatenate([motion.rotations[:begin], found.rotations])))
    before = taken.performance.props[target.name][:begin]
    performance = replace(
        taken.performance,
        motions={**taken.performance.motions, receiver.actor: whole},
        props={**taken.performance.props, target.name: np.concatenate([before, way])},
    )
    return replace(taken, performance=performance, pose=whole.pose(len(whole) - 1))
