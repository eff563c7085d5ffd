"""What two do to hand something over, laid over each other in time: the giver holds on until the other's fingers have
closed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...kinematics import fk
from ...kinematics.body_shape import ARM_PARTS, with_fingers
from ...maths import geometry, quat
from ...motion import Event, Motion
from ...performance import Attachment, Performance
from ...skeleton import Array
from ..spaces.penetration import Penetration
from ..spaces.space import Ints
from .stages import STAGE
from .task import Job, Reached

LATE = 0.1
"""How long after the giver the receiver arrives [s]."""
CLEAR = 0.35
"""How long after the giver's hand is open the receiver takes it away [s]."""


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


def interlaced(giver: Job, receiver: Job, prop: str, done: tuple[Reached, Reached, Reached], late: float) -> HandedOver:
    """What came of what the giver, the receiver and again the giver did, the receiver `late` by a time [s]."""
    given, taken, left = done
    fps = giver.fps
    first, second, third = (d.performance.motions[j.actor] for d, j in zip(done, (giver, receiver, giver), strict=True))
    arrives = stage_at(given, "hold")
    wait = round(late * fps) + round(LATE * fps)
    begin = max(0, arrives + wait - stage_at(taken, "grasp"))
    closed = begin + stage_at(taken, "lift")
    closed = max(closed, len(first) - 1)
    opened = closed + stage_at(left, "return")
    takes = opened + round(CLEAR * fps)
    # each sample of the whole: which sample of which part
    count = max(closed + len(third), takes + len(second) - stage_at(taken, "lift"))
    frames = np.arange(count)
    gives = [
        (first, np.minimum(frames[: closed + 1], len(first) - 1)),
        (third, np.minimum(frames[1 : count - closed], len(third) - 1)),
    ]
    lift = stage_at(taken, "lift")
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


def stage_at(done: Reached, name: str) -> int:
    """Sample at which a stage begins."""
    motion = next(iter(done.performance.motions.values()))
    return next(
        round(e.time * motion.fps) for e in done.performance.events if e.name == STAGE and e.data["stage"] == name
    )
