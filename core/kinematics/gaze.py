"""Eyes, head and neck that look somewhere while the body does what it does.

Kuffner, "Autonomous Agents for Real-Time Animation" (1999), section 5.6: the neck turns towards the target, then the
head, placed by the neck, then the eyes, placed by the head; each goes over from what it did before to the shortest
rotation that faces the target, within its limits. The eyes jump ahead in a saccade and the head follows; as eyes are
aimed anew in every frame, gaze then stays on its target however head and body move (the vestibulo-ocular reflex).

Directions are azimuth, to the left, and elevation [rad] from straight ahead in the axes of the link above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ..errors import InvalidMotion, InvalidParam
from ..maths import quat
from ..maths.ramp import follow, lerp, smootherstep, smoothstep, unwrap
from ..motion import Event, Motion
from ..skeleton import Array
from .face import FORWARD, Face, Limits
from .saccade import small_shift, timing

EVENT = "gaze"
"""Begins a shift of gaze; its data: `target`, number of the shift's target or -1 for none, and its size `degrees`."""
CURVE = "info/gaze"
"""Number of what is looked at in every sample, -1 for nothing."""
COMFORT = np.radians(20.0)
"""How far eyes stay turned in the head when there is time for the head to follow [rad]."""
LOWERED, LESS = np.radians(30.0), 3.0
"""How far they stay lowered, which is easy for them, and how much less the head bows than it turns: its part of a shift
straight down is raised to one more than this."""
_TURN = 2.0 * np.pi
BEHIND = np.radians(20.0)
"""A target that has gone this far past straight behind is looked at over the other shoulder [rad]."""


@dataclass(frozen=True, eq=False)
class Shift:
    """From `time` on [s] gaze is on something else.

    Attributes:
        time: When the eyes begin to move [s].
        points: (T, 3) or (3,) what is looked at in the world [m]; None for whatever the body itself looks at.
        head: Part that neck and head take of a large shift, the eyes doing the rest, 0 to 1.
        pursuit: Half-life with which the head follows a target that moves [s]; the eyes stay on it.
    """

    time: float
    points: Array | None = None
    head: float = 0.8
    pursuit: float = 0.0


def attending(stages: Sequence[tuple[float, Array | None]], lead: float = 0.08, head: float = 0.8) -> list[Shift]:
    """Shifts of gaze that go ahead of the hands: each a little before its stage of work begins.

    Args:
        stages: When each begins [s] and what it is about: reach for an object, carry it to a destination, and back
            (None).
        lead: How much sooner the eyes move than the hand [s].
        head: As in `Shift`.
    """
    return [Shift(max(time - lead, 0.0), points, head) for time, points in stages]


def gaze(
    motion: Motion,
    shifts: Sequence[Shift],
    limits: Limits | None = None,
    *,
    eyes: bool = True,
    lag: float | None = None,
    drift: Array | None = None,
) -> Motion:
    """The motion with gaze shifted; it speaks for neck, head and eyes alone.

    Before the first shift and when the last one, to nothing, is over, every joint is as in `motion`. Without eyes the
    head faces its targets.

    Args:
        motion: What the body does, T samples.
        shifts: In order of time; one holds until the next.
        limits: How far the links turn.
        eyes: Whether the eyes may be turned, on a skeleton that has them.
        lag: Of the head behind the eyes [s]; None for what people show, by the size of the shift.
        drift: (T, 2) by how much the eyes are off their targets [rad]; see `saccade.drift`.
    """
    face = Face.of(motion, limits or Limits(), eyes)
    plans = _planned(motion, shifts, face)
    neck, head = face.neck, face.head
    timed: list[tuple[_Plan, Array]] = []
    events, shown = [], np.full(len(motion), -1.0)
    before = _Plan(Shift(0.0), None, np.zeros(len(motion)), -1, 0)
    for plan in plans:
        _, _, turn, eye = face.carried(neck, head)
        aim, had = (face.ahead if p.points is None else quat.unit(p.points - eye) for p in (plan, before))
        looks = had if before.points is None else face.attained(turn, had, before.side)
        size = float(_angle(looks[plan.sample], aim[plan.sample]))
        times = timing(size, lag if face.eyes else 0.0)
        since = motion.times - plan.shift.time
        move = smootherstep((since - times.lag) / times.head)
        if plan.points is None:
            neck, head = quat.slerp(neck, face.neck, move[:, None]), quat.slerp(head, face.head, move)
        else:
            points = plan.points
            if plan.shift.pursuit > 0:
                points = follow(points, motion.fps, plan.shift.pursuit)
            share = _share(quat.rotate(quat.conjugate(turn), aim), plan.shift.head * small_shift(size))
            share = share if face.eyes else np.ones(len(motion))
            neck, head = face.turned(neck, head, points, plan.side, share, move)
        timed.append((plan, smoothstep(since / times.eyes)))
        events.append(Event(plan.shift.time, EVENT, {"target": plan.target, "degrees": float(np.degrees(size))}))
        shown[motion.times >= plan.shift.time] = plan.target
        before = plan
    rotations = motion.rotations.copy()
    rotations[:, face.neck_joints], rotations[:, face.head_joint] = neck, head
    if face.eyes:
        ways = [(plan.points, plan.side, done) for plan, done in timed]
        rotations[:, list(face.eyes)] = face.looking(neck, head, ways, drift)
    mask = np.zeros(len(motion.skeleton), dtype=bool)
    mask[[*face.neck_joints, face.head_joint, *face.eyes]] = True
    return replace(
        motion,
        rotations=quat.continuous(rotations),
        mask=mask,
        curves={**motion.curves, CURVE: shown},
        events=(*motion.events, *events),
        loop=False,
    )


@dataclass(frozen=True, eq=False)
class _Plan:
    """A shift with its points (T, 3), their azimuth from the chest (T,), the number of its target, and the sample at
    which it begins."""

    shift: Shift
    points: Array | None
    side: Array
    target: int
    sample: int


def _planned(motion: Motion, shifts: Sequence[Shift], face: Face) -> list[_Plan]:
    """The shifts in order, with one more wherever a target passes behind the back."""
    if any(b.time < a.time for a, b in pairwise(shifts)):
        raise InvalidParam("shifts", [s.time for s in shifts], "must be in order of time")
    out, target = [], -1
    last = len(motion) - 1
    for k, shift in enumerate(shifts):
        if not 0.0 <= shift.head <= 1.0:
            raise InvalidParam("head", shift.head, "must be from 0 to 1")
        begin = min(max(round(shift.time * motion.fps), 0), last)
        if shift.points is None:
            out.append(_Plan(shift, None, np.zeros(len(motion)), -1, begin))
            continue
        try:
            points = np.broadcast_to(np.asarray(shift.points, dtype=np.float64), (len(motion), 3))
        except ValueError:
            shape = np.shape(shift.points)
            raise InvalidMotion(f"a target of {len(motion)} samples has shape {shape}, not (T, 3) or (3,)") from None
        if not np.isfinite(points).all():
            raise InvalidMotion("the place of a target contains NaN or infinity")
        target += 1
        end = min(round(shifts[k + 1].time * motion.fps), last) if k + 1 < len(shifts) else last
        side, now = unwrap(face.bearing(points)), shift
        while True:
            side = side - _TURN * np.round(side[begin] / _TURN)
            out.append(_Plan(now, points, side, target, begin))
            past = np.flatnonzero(np.abs(side[begin : end + 1]) > np.pi + BEHIND)
            if not len(past):
                break
            begin += int(past[0])
            now = replace(shift, time=begin / motion.fps)
    return out


def _share(aim: Array, share: float) -> Array:
    """Part (T,) of the way to where directions (T, 3) in its axes lead that the head goes, so that the eyes are not
    turned by more than is easy."""
    angle = _angle(FORWARD, aim)
    down = np.minimum(aim[:, 2], 0.0) ** 2 / (aim[:, 0] ** 2 + aim[:, 2] ** 2 + 1e-3)
    left = (1.0 - share ** (1.0 + LESS * down)) * angle
    easy = lerp(COMFORT, LOWERED, down)
    eased = easy * -np.expm1(-left / easy)
    return np.where(angle > 1e-6, 1.0 - eased / np.maximum(angle, 1e-6), share)


def _angle(a: Array, b: Array) -> Array:
    """Angle (...) between vectors (..., 3) [rad]."""
    across = quat.cross(a, b)
    return np.arctan2(np.sqrt(quat.dot(across, across)), quat.dot(a, b))
