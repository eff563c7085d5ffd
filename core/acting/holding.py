"""Props in hands: how they are taken, carried and put down.

Hands go to a prop when it is granted, lift it, carry it and put it down on what stands there; nothing is done before
the mind has decided it, so that a play that is still going on shows what will be baked. What is wide is carried before
the body with both hands, the rest in the right one. A prop has its way, and the hands follow it:

    handling = Handling({"Tray": Thing(matrices, 24.0, half)}, furniture)
    handling.plan(attachments, pose_at)             # whenever something was taken or let go
    ways = handling.apply(motions, times)           # hands in place; (T, 4, 4) of every prop that somebody had
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ..maths import quat
from ..maths.ramp import smoothstep
from ..motion import Motion
from ..performance import Attachment
from ..skeleton import SIDES, Array
from .furniture import Furniture
from .hands import grasping, lack, lean_for, leaning, palms, reaching
from .mind.bodyport import LIFT, TAKE

WIDE = 0.3
"""What is wider than this is carried with both hands [m]."""
HELD = 0.03
"""How far above the palm the middle of something is that one hand holds [m]."""
BEFORE, ABOVE = 0.17, 0.12
"""How far before the hips the near side of what both hands carry is, and how far above them [m at legs of 0.9 m]."""
FLESH, RAISED = 0.03, 0.04
"""From the middle of a palm to what it holds from the side, and of the pads of its fingers over the middle of it: so
their tips are in nothing that it stands on [m]."""
REACH = 0.12
"""How much farther ahead than it was carried something is put down [m]."""
_UP = np.array([0.0, 0.0, 1.0])

PoseAt = Callable[[str, float], "Motion | None"]
"""The body of an actor at a time [s], as a motion of one sample; None for one without a body."""


@dataclass(frozen=True, eq=False)
class Thing:
    """A prop as it is while nobody has it.

    Attributes:
        track: (T, 4, 4) or (1, 4, 4) where it is [m].
        fps: Samples of the track a second.
        half: (3,) half its size in its own axes [m].
    """

    track: Array
    fps: float
    half: Array = field(default_factory=lambda: np.zeros(3))

    def at(self, times: Array) -> Array:
        """(T, 4, 4) where it is at times (T,)."""
        rows = np.clip(np.round(times * self.fps).astype(np.int64), 0, len(self.track) - 1)
        return np.array(self.track[rows])


@dataclass(frozen=True, eq=False)
class Hold:
    """A prop in somebody's hands.

    Attributes:
        prop, actor: Who has what.
        start, end: When it was taken and let go [s]; infinite as long as it is held.
        lain: (4, 4) where it was then [m].
        heading: Of the actor then [rad].
        grip: (2,) half the width and half the depth of the thing, as the actor stands before it [m].
        bends: How far the actor leans over to take it and to put it down [rad].
        put: (3,) where it is put down [m], and how far it was turned by then [rad].
        passed: When another has it [s].
    """

    prop: str
    actor: str
    start: float
    lain: Array
    heading: float
    grip: Array
    end: float = math.inf
    bends: tuple[float, float] = (0.0, 0.0)
    put: tuple[Array, float] | None = None
    passed: float = math.inf

    @property
    def wide(self) -> bool:
        """Whether it takes both hands."""
        return bool(2.0 * self.grip[0] > WIDE)


class Handling:
    """The props of a play, and who had them.

    Attributes:
        holds: Of every prop, in order of time.
    """

    def __init__(self, things: Mapping[str, Thing], furniture: Furniture | None = None) -> None:
        self.things, self.furniture = things, furniture
        self.holds: dict[str, list[Hold]] = {}

    def plan(self, attachments: Iterable[Attachment], pose_at: PoseAt, until: float = math.inf) -> None:
        """Heed who took and let go what up to a time [s]; what was planned before stays."""
        moments = []
        for each in attachments:
            if each.prop in self.things and pose_at(each.actor, each.start) is not None:
                moments.append((each.start, 1, each))
                if each.end < until:
                    moments.append((each.end, 0, each))
        for time, begins, each in sorted(moments, key=lambda m: m[:2]):
            known = self.holds.setdefault(each.prop, [])
            if begins and not any(h.start == each.start and h.actor == each.actor for h in known):
                known.append(self._taken(each, pose_at))
            elif not begins:
                k = next(k for k, h in enumerate(known) if h.start == each.start and h.actor == each.actor)
                if math.isinf(known[k].end):
                    known[k] = self._let_go(known[k], time, pose_at)

    def _taken(self, each: Attachment, pose_at: PoseAt) -> Hold:
        body, thing, known = pose_at(each.actor, each.start), self.things[each.prop], self.holds[each.prop]
        assert body is not None and body.base is not None
        lain = self._way(each.prop, {h.actor: pose_at(h.actor, each.start) for h in known}, np.array([each.start]))[0]
        heading = float(body.base[0, 2])
        if known and each.start < known[-1].end + TAKE:
            known[-1] = replace(known[-1], passed=each.start + TAKE)
        hold = Hold(each.prop, each.actor, each.start, lain, heading, _grip(lain, thing.half, heading))
        return replace(hold, bends=(self._bend(hold, body, lain[:3, 3], 0.0), 0.0))

    def _let_go(self, hold: Hold, end: float, pose_at: PoseAt) -> Hold:
        body = pose_at(hold.actor, end)
        assert body is not None and body.base is not None
        heading = float(body.base[0, 2])
        ahead = _carried(hold, body)[0] + REACH * np.array([math.sin(heading), -math.cos(heading), 0.0])
        under = float(self.things[hold.prop].half[2])
        found = None if self.furniture is None else self.furniture.rest(ahead[:2], hold.grip, heading)
        down = np.array([*ahead[:2], hold.lain[2, 3]]) if found is None else found + (0.0, 0.0, under)
        turned = heading - hold.heading
        bend = self._bend(hold, body, down, turned)
        return replace(hold, end=end, put=(down, turned), bends=(hold.bends[0], bend))

    def _bend(self, hold: Hold, body: Motion, place: Array, turned: float) -> float:
        short = max(
            float(lack(body, _palm(hold, place[None], np.array([turned]), side), side)[0]) for side in _sides(hold)
        )
        return lean_for(body, short)

    def apply(self, motions: dict[str, Motion], times: Array) -> dict[str, Array]:
        """Let hands follow what they have, in place, in motions sampled at times (T,), and (T, 4, 4) of each prop."""
        found = {prop: self._way(prop, motions, times) for prop, holds in self.holds.items() if holds}
        for prop, holds in self.holds.items():
            for hold in holds:
                if hold.actor in motions:
                    motions[hold.actor] = self._handled(hold, motions[hold.actor], found[prop], times)
        return found

    def _handled(self, hold: Hold, motion: Motion, way: Array, times: Array) -> Motion:
        gone = min(hold.end + TAKE, hold.passed)
        weights = _rise(times, hold.start, TAKE) * (1.0 - _rise(times, gone, LIFT))
        if not (weights > 0.0).any():
            return motion
        bend = hold.bends[0] * _rise(times, hold.start, TAKE) * (1.0 - _rise(times, hold.start + TAKE, LIFT))
        if hold.put is not None:
            down = _rise(times, hold.end, TAKE) * (1.0 - _rise(times, hold.end + TAKE, LIFT))
            bend = np.maximum(bend, hold.bends[1] * down)
        if bend.any():
            motion = leaning(motion, bend)
        turned = self._turned(hold, motion, times)
        for side in _sides(hold):
            goals = _palm(hold, way[:, :3, 3], turned, side)
            if hold.wide:
                motion = grasping(motion, goals, weights, _across(hold, turned), side)
            else:
                motion = reaching(motion, goals, weights, side)
        return motion

    def _way(self, prop: str, motions: Mapping[str, Motion | None], times: Array) -> Array:
        track = self.things[prop].at(times)
        for hold in self.holds.get(prop, ()):
            motion = motions.get(hold.actor)
            had = times >= hold.start
            if motion is None or not had.any():
                continue
            carried = _carried(hold, motion)
            up = _rise(times, hold.start + TAKE, LIFT)[:, None]
            place = hold.lain[:3, 3] + up * (carried - hold.lain[:3, 3])
            if hold.put is not None:
                place = place + _rise(times, hold.end, TAKE)[:, None] * (hold.put[0] - place)
            turn = quat.to_matrix(quat.about(_UP, self._turned(hold, motion, times)))
            track[had, :3, 3] = place[had]
            track[had, :3, :3] = (turn @ hold.lain[:3, :3])[had]
        return track

    def _turned(self, hold: Hold, motion: Motion, times: Array) -> Array:
        """(T,) how far a prop has turned since it was taken [rad]."""
        assert motion.base is not None
        angle = _rise(times, hold.start + TAKE, LIFT) * (motion.base[:, 2] - hold.heading)
        if hold.put is not None:
            angle = angle + _rise(times, hold.end, TAKE) * (hold.put[1] - angle)
        return np.asarray(angle)


def span_of(motion: Motion, start: int, stop: int) -> Motion:
    """Some samples of a motion, without curves and events."""
    assert motion.base is not None
    some = slice(start, stop)
    return Motion(motion.skeleton, motion.fps, motion.roots[some], motion.rotations[some], base=motion.base[some])


def _rise(times: Array, start: float, seconds: float) -> Array:
    """(T,) from 0 at a time to 1 so much later."""
    return np.asarray(smoothstep(np.clip((times - start) / seconds, 0.0, 1.0)))


def _sides(hold: Hold) -> tuple[str, ...]:
    return SIDES if hold.wide else ("R",)


def _grip(lain: Array, half: Array, heading: float) -> Array:
    """(2,) half the width and depth of a box on its middle lines across and along a heading [m]."""
    out = []
    for direction in ((math.cos(heading), math.sin(heading), 0.0), (math.sin(heading), -math.cos(heading), 0.0)):
        own = np.abs(lain[:3, :3].T @ np.array(direction))
        out.append(float(np.min(half[:2] / np.maximum(own[:2], 1e-9))))
    return np.array(out)


def _palm(hold: Hold, places: Array, turned: Array, side: str) -> Array:
    """(T, 3) where a palm holds a thing at places (T, 3) [m] that has turned by angles (T,) [rad]."""
    if not hold.wide:
        return places - (0.0, 0.0, HELD)
    aside = hold.grip[0] + FLESH
    out: Array = places + (aside if side == "L" else -aside) * _across(hold, turned) + (0.0, 0.0, RAISED)
    return out


def _across(hold: Hold, turned: Array) -> Array:
    """(T, 3) to the left of a thing that has turned by angles (T,) [rad], as who took it stood before it."""
    heading = hold.heading + turned
    return np.stack([np.cos(heading), np.sin(heading), np.zeros(len(heading))], axis=-1)


def _carried(hold: Hold, motion: Motion) -> Array:
    """(T, 3) where a thing is while it is carried [m]."""
    assert motion.base is not None
    if not hold.wide:
        return palms(motion)[0] + (0.0, 0.0, HELD)
    heading, scale = motion.base[:, 2], motion.skeleton.leg_length() / 0.9
    forward = np.stack([np.sin(heading), -np.cos(heading), np.zeros(len(heading))], axis=-1)
    out: Array = motion.roots + (BEFORE * scale + hold.grip[1]) * forward + (0.0, 0.0, ABOVE * scale)
    return out
