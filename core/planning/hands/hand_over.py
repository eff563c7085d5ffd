"""One actor hands something to another: both hands meet, the giver holds on until the other's fingers have closed.

The giver takes the prop to where both can reach it, the receiver takes hold of it there with the giver's arm in the
way, and the giver lets go with the receiver's arm in the way. The three are then laid over each other in time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...errors import InvalidParam, NoGrasp, NoIK, NoPath, TroupeError
from ...kinematics import fk
from ...kinematics.body_shape import ARM_PARTS, capsules, self_gaps, with_fingers
from ...kinematics.fingers import hand_length
from ...kinematics.hand_shapes import hand_shape
from ...maths import geometry, quat
from ...motion import Event, Motion
from ...performance import Attachment, Performance
from ...skeleton import SIDES, Array, Pose, Skeleton
from ...world import Body
from ..spaces.arm_space import Arm
from ..spaces.penetration import HAND, Penetration, penetrations
from ..spaces.set_pieces import box
from ..spaces.solids import Shapes, parted
from ..spaces.space import Ints
from .bounds import bounds
from .carry import carry
from .grasp import Grasp
from .grasp_forms import grasps_of
from .one_hand import TAKER
from .orders import CarryParams
from .postures import strain
from .reach import reach
from .stages import STAGE
from .standing import UP, as_moved, chest_of, matrix_of, target_of
from .task import Job, Reached
from .timeline import TAIL

LATE = 0.1
"""How long after the giver the receiver arrives [s]."""
CLEAR = 0.35
"""How long after the giver's hand is open the receiver takes it away [s]."""
BELOW = 0.22
"""How far under the shoulders hands meet [m]."""
TRIES = 6
AHEAD = (0.0, 0.05, 0.1, 0.15)
"""How much farther from the body than it is carried the receiver may hold it in the end [m]."""
AT_EASE = 0.4
"""Strain of both arms where they meet up to which no better place is looked for."""
_YAWS = np.radians([0.0, 90.0, -90.0, 180.0])
_SIDEWAYS = (0.0, 0.12, -0.12)


@dataclass(frozen=True, eq=False)
class HandedOver:
    """What came of it.

    Attributes:
        performance: Motions of both, the prop, and who holds it when.
        giver, receiver: What each of them did; the giver up to where the prop is offered.
        meeting: (4, 4) of the prop where it changes hands.
        closed: When the receiver's fingers have closed on it [s].
        gap: Least distance between the arms of the two while they move [m].
        offences: Where one of them is in something after all.
    """

    performance: Performance
    giver: Reached
    receiver: Reached
    meeting: Array
    closed: float
    gap: float
    offences: tuple[Penetration, ...] = ()


def hand_over(giver: Job, receiver: Job, meeting: Array | None = None) -> HandedOver:
    """Hand a prop from one actor to another; both stand where they are.

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
    giver, receiver = replace(giver, shapes=shapes, fps=receiver.fps), replace(receiver, shapes=shapes)
    places = [np.asarray(meeting)] if meeting is not None else _meetings(giver, receiver, target)
    failure: TroupeError | None = None
    best: tuple[float, HandedOver] | None = None
    for place in list(places)[:TRIES]:
        try:
            done = _handed(giver, receiver, target, place, shapes)
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


def _meetings(giver: Job, receiver: Job, target: Body) -> Iterator[Array]:
    """Matrices (4, 4) of the prop between the two, the likeliest first."""
    chests = [chest_of(job.skeleton, job.pose) for job in (giver, receiver)]
    way = chests[1] - chests[0]
    flat = np.array([way[0], way[1], 0.0])
    far, arms = float(np.linalg.norm(flat)), sum(_arm(job) for job in (giver, receiver))
    if far > 0.9 * arms:
        names = f"{giver.actor} and {receiver.actor}"
        apart, reach = math.ceil(100.0 * far) / 100.0, math.floor(90.0 * arms) / 100.0
        raise NoIK(f"{names} stand {apart:.2f} m apart, and their arms reach {reach:.2f} m together; bring them closer")
    share = _arm(giver) / arms
    across = np.cross(UP, flat / max(far, 1e-9))
    turn, scale = parted(matrix_of(giver, target))
    upright = quat.to_matrix(quat.between(turn[:, 2], UP)) @ turn if turn[2, 2] > 0.5 else turn
    middle = (bounds(target.vertices * scale).centre) * np.array([0.0, 0.0, 1.0])
    place = chests[0] + share * way
    place[2] = min(c[2] for c in chests) - BELOW
    for yaw in _YAWS:
        spin = quat.to_matrix(quat.about(UP, float(yaw))) @ upright
        for side in _SIDEWAYS:
            out = np.eye(4)
            out[:3, :3] = spin * scale
            out[:3, 3] = place + side * across - spin @ middle
            yield out


def _arm(job: Job) -> float:
    bones = [job.skeleton.offsets[job.skeleton.joint(f"{part}_L")] for part in ("forearm", "hand")]
    return float(np.linalg.norm(bones, axis=1).sum())


def _handed(giver: Job, receiver: Job, target: Body, place: Array, shapes: Shapes) -> HandedOver:
    name, world = target.name, giver.world
    others = as_boxes(receiver.skeleton, receiver.pose, receiver.actor)
    offer = replace(
        giver,
        world=replace(world, bodies=(*world.bodies, *others)),
        destination=place,
        grasps={**(giver.grasps or {}), name: _offering(giver, target)},
        params=replace(giver.params, task="hand_over", target=name, step=False, hold=0.2),
    )
    given = reach(offer)
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
    reach(leave)
    holder = as_boxes(giver.skeleton, given.pose, giver.actor, arms=True)
    take = replace(
        receiver,
        world=replace(world, bodies=(*world.bodies, *holder)),
        moved={**(receiver.moved or {}), name: there},
        shapes=shapes,
        params=replace(receiver.params, task="pick_up", target=name, step=False, lift=0.04),
    )
    taken = _drawn_in(reach(take), receiver, target)
    grasped = _stage(taken, "lift")
    holds = taken.performance.motions[receiver.actor].pose(grasped)
    takers = as_boxes(receiver.skeleton, holds, receiver.actor, arms=True)
    left = reach(replace(leave, world=replace(world, bodies=(*world.bodies, *takers))))
    for late in (0.0, 1.0):
        out = _together(giver, receiver, name, (given, taken, left), late)
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


def _offering(giver: Job, target: Body) -> Sequence[Grasp]:
    """Grasps that leave the other one room: at an end of the prop rather than in its middle."""
    known = (giver.grasps or {}).get(target.name)
    if known is not None:
        return known
    side = giver.params.hand if giver.params.hand in SIDES else SIDES[0]
    _, scale = parted(matrix_of(giver, target))
    shape = bounds(target.vertices * scale)
    long = int(shape.half.argmax())
    known = grasps_of(target, hand_length(giver.skeleton, side))
    out = []
    # what is given is held with the whole hand where that can be
    for grasp in [g for g in known if hand_shape(g.shape).grip == "palm"] or known:
        off = abs(float((grasp.frame[:3, 3] - shape.centre) @ shape.axes[:, long])) / float(shape.half[long])
        out.append(replace(grasp, quality=float(np.clip(0.6 * grasp.quality + 0.4 * min(off, 1.0), 0.0, 1.0))))
    return out


def as_boxes(skeleton: Skeleton, pose: Pose, actor: str, arms: bool = False) -> tuple[Body, ...]:
    """Somebody who stands, as boxes around trunk, head and legs, and the arms as well: in the way of somebody else."""
    positions, globals = fk.forward(skeleton, pose.rotations, pose.root)
    hands = {side: [pose.rotations] for side in SIDES}
    shape = capsules(skeleton, hands)
    out = []
    starts, ends = shape.placed(positions, globals)
    for k, part in enumerate(shape.parts):
        if part[:-2] in ARM_PARTS and not arms:
            continue
        along = ends[k] - starts[k]
        long = float(np.linalg.norm(along))
        turn = quat.to_matrix(quat.between(UP, along / long)) if long > 1e-6 else np.eye(3)
        radius = float(shape.radii[k]) * (1.0 if part[:-2] in ARM_PARTS else 0.9)
        size = (radius, radius, 0.5 * long + radius)
        middle = 0.5 * (starts[k] + ends[k])
        body = box(f"{actor}'s {part.replace('_', ' ')} {k}", size, middle, turn, number=9000 + k)
        out.append(replace(body, tags=frozenset({TAKER} if arms else ())))
    return tuple(out)


def _stage(done: Reached, name: str) -> int:
    """Sample at which a stage begins."""
    motion = next(iter(done.performance.motions.values()))
    return next(
        round(e.time * motion.fps) for e in done.performance.events if e.name == STAGE and e.data["stage"] == name
    )


def _together(giver: Job, receiver: Job, prop: str, done: tuple[Reached, Reached, Reached], late: float) -> HandedOver:
    given, taken, left = done
    fps = giver.fps
    first, second, third = (d.performance.motions[j.actor] for d, j in zip(done, (giver, receiver, giver), strict=True))
    arrives = _stage(given, "hold")
    wait = round(late * fps) + round(LATE * fps)
    begin = max(0, arrives + wait - _stage(taken, "grasp"))
    closed = begin + _stage(taken, "lift")
    closed = max(closed, len(first) - 1)
    opened = closed + _stage(left, "return")
    takes = opened + round(CLEAR * fps)
    # each sample of the whole: which sample of which part
    count = max(closed + len(third), takes + len(second) - _stage(taken, "lift"))
    frames = np.arange(count)
    gives = [
        (first, np.minimum(frames[: closed + 1], len(first) - 1)),
        (third, np.minimum(frames[1 : count - closed], len(third) - 1)),
    ]
    lift = _stage(taken, "lift")
    index = np.where(frames < begin + lift, np.maximum(frames - begin, 0), np.maximum(lift, lift + frames - takes))
    receives = [(second, np.minimum(index, len(second) - 1))]
    motions = {giver.actor: _spliced(gives), receiver.actor: _spliced(receives)}
    matrices = np.concatenate(
        [given.performance.props[prop][gives[0][1]], taken.performance.props[prop][receives[0][1]][closed + 1 :]]
    )
    held = given.performance.attachments[0]
    holds = taken.performance.attachments[0]
    end = (count - 1) / fps
    attachments = (
        replace(held, end=closed / fps),
        Attachment(prop, receiver.actor, holds.joint, closed / fps, end),
    )
    events = (*motions[giver.actor].events, *motions[receiver.actor].events)
    transcript = tuple(row for d in done for row in d.performance.transcript)
    performance = Performance(motions, {prop: matrices}, attachments, events, transcript)
    gap = _gap(motions[giver.actor], given.side, motions[receiver.actor], taken.side)
    # the boxes that stand for the other one are larger than the other one: that is what the gap is for
    real = {body.name for body in giver.world.bodies}
    offences = tuple(o for d in done for o in d.offences if o.body in real)
    return HandedOver(performance, given, taken, given.performance.props[prop][-1], closed / fps, gap, offences)


def _spliced(parts: Sequence[tuple[Motion, Ints]]) -> Motion:
    """One motion of chosen samples of some."""
    model = parts[0][0]
    masks = [motion.mask for motion, _ in parts]
    mask = None if any(m is None for m in masks) else np.any([m for m in masks if m is not None], axis=0)
    names = sorted({name for motion, _ in parts for name in motion.curves})
    curves = {
        name: np.concatenate([m.curves[name][k] if name in m.curves else np.zeros(len(k)) for m, k in parts])
        for name in names
    }
    events: list[Event] = []
    begin = 0
    for motion, index in parts:
        for event in motion.events:
            at = round(event.time * motion.fps)
            # a stage begins after the wait before it, anything else happens before it
            last = int(np.searchsorted(index, at, side="right")) - 1
            to = last if event.name == STAGE else int(np.searchsorted(index, at))
            if at <= index[-1]:
                events.append(replace(event, time=(begin + max(to, 0)) / motion.fps))
        begin += len(index)
    return Motion(
        model.skeleton,
        model.fps,
        np.concatenate([m.roots[k] for m, k in parts]),
        quat.continuous(np.concatenate([m.rotations[k] for m, k in parts])),
        None,
        mask,
        curves,
        tuple(sorted(events, key=lambda e: e.time)),
    )


def _gap(first: Motion, one: str, second: Motion, two: str) -> float:
    """Least gap between the arms of two [m]."""
    rows = []
    for motion, side in ((first, one), (second, two)):
        shape = with_fingers(motion.skeleton).chosen([f"{part}_{side}" for part in ARM_PARTS])
        rows.append((*shape.placed(*fk.forward(motion.skeleton, motion.rotations, motion.roots)), shape.radii))
    (a, b, r), (c, d, s) = rows
    gaps = geometry.capsule_distance(a[:, :, None], b[:, :, None], r[:, None], c[:, None], d[:, None], s)
    return float(gaps.min())
