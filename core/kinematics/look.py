"""Looking: at something, for a moment, after something that moves, or from one thing to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import InvalidMotion, InvalidParam
from ..motion import Event, Motion
from ..params import Params, param
from ..skeleton import Array
from .gaze import EVENT, Shift, gaze
from .saccade import BLINKS_FROM, blink_length, drift, lids, timing

BLINK = "info/blink"
"""How far the lids are closed, 0 to 1."""
GLANCE = 0.35
"""Longest time of a glance on its target [s]."""
_ARRIVAL = 0.12
"""Time the eyes take on the way to a target, which does not count as looking at it [s]."""
_FOLLOWING = 0.12
"""Half-life with which a head follows what it tracks [s]."""


@dataclass(frozen=True)
class LookParams(Params):
    """What an actor looks at, how long, and how much of it the head does."""

    mode: str = param(
        "look",
        choices=(
            ("look", "Look there, stay on it and look away again"),
            ("glance", "A short look with the eyes more than with the head"),
            ("track", "Keep the eyes on something that moves; the head follows behind"),
            ("scan", "Look at the objects of a collection one after the other, in the order of their names"),
        ),
        help="How it looks",
    )
    target: str = param(
        "", ref="object", help="What it looks at; of another actor, the eyes", only=("mode", "look", "glance", "track")
    )
    targets: str = param("", ref="collection", help="For a scan: the objects it looks at", only=("mode", "scan"))
    hold: float = param(2.0, lo=0.05, hi=3600.0, unit="s", help="How long gaze stays on each target")
    head: float = param(0.8, lo=0.0, hi=1.0, help="How far the head turns along: 0 moves the eyes as long as they can")
    blink: float = param(0.6, lo=0.0, hi=1.0, help="How likely a large shift of gaze comes with a blink")
    delay: float = param(0.1, lo=0.0, hi=3600.0, unit="s", help="Time until the eyes begin to move", basic=False)
    restless: float = param(
        0.004, lo=0.0, hi=0.1, unit="rad", help="Size of the small movements of resting eyes", basic=False
    )
    lids: str = param(
        "", help="Shape keys that close the lids, separated by commas; found by their names when empty", basic=False
    )
    seed: int = param(0, lo=0, hi=2**31 - 1, help="Another number gives other blinks and small movements", basic=False)


def look(motion: Motion, targets: Sequence[Array], params: LookParams | None = None, *, eyes: bool = True) -> Motion:
    """The motion with its gaze on the targets and back again; it speaks for neck, head and eyes alone.

    It ends when the head is back where the body has it, so that it can be laid over the motion without a jump.

    Args:
        motion: What the body does, for at least `seconds(params, len(targets))`.
        targets: Each (T, 3) or (3,) [m]; one, except for a scan.
        params: How.
        eyes: Whether the eyes may be turned, on a skeleton that has them.
    """
    params = params or LookParams()
    if not len(targets) or (len(targets) > 1 and params.mode != "scan"):
        raise InvalidParam("targets", len(targets), "must be one thing to look at, or several to scan")
    needed = seconds(params, len(targets))
    if motion.duration < needed - 0.5 / motion.fps:
        raise InvalidMotion(f"looking takes {needed:.2f} s, the motion has {motion.duration:.2f} s; hold it shorter")
    rng = np.random.default_rng(params.seed)
    head = 0.5 * params.head if params.mode == "glance" else params.head
    pursuit = _FOLLOWING if params.mode == "track" else 0.0
    shifts, time = [], params.delay
    for points in targets:
        shifts.append(Shift(time, points, head, pursuit))
        time += _ARRIVAL + _hold(params)
    shifts.append(Shift(time))
    small = drift(motion.times, params.restless, rng) if params.restless > 0 else None
    found = gaze(motion, shifts, eyes=eyes, drift=small)
    made = [e for e in found.events if e.name == EVENT and e not in motion.events]
    return _blinking(_cut(found, made[-1]), made, params, rng)


def seconds(params: LookParams, count: int) -> float:
    """How long looking at `count` targets takes at most, until the head is back [s]."""
    back = timing(np.pi)
    return params.delay + count * (_ARRIVAL + _hold(params)) + back.lag + back.head + 0.1


def _hold(params: LookParams) -> float:
    return min(params.hold, GLANCE) if params.mode == "glance" else params.hold


def _cut(motion: Motion, last: Event) -> Motion:
    """The motion until its last shift of gaze is over."""
    times = timing(np.radians(last.data["degrees"]))
    end = last.time + max(times.lag + times.head, times.eyes, blink_length())
    count = min(int(np.ceil(end * motion.fps)) + 2, len(motion))
    return replace(
        motion,
        roots=motion.roots[:count],
        rotations=motion.rotations[:count],
        base=None if motion.base is None else motion.base[:count],
        curves={name: values[:count] for name, values in motion.curves.items()},
        events=tuple(e for e in motion.events if e.time <= (count - 1) / motion.fps),
    )


def _blinking(motion: Motion, shifts: Sequence[Event], params: LookParams, rng: np.random.Generator) -> Motion:
    """The motion with lids that close during some of its large shifts of gaze."""
    lucky = rng.random(len(shifts)) < params.blink
    large = [e.data["degrees"] > np.degrees(BLINKS_FROM) for e in shifts]
    closed = lids(motion.times, np.array([e.time for e in shifts])[lucky & large])
    names = [name.strip() for name in params.lids.split(",")]
    shapes = {f"shape/{name}": closed for name in names if name}
    return replace(motion, curves={**motion.curves, BLINK: closed, **shapes})
