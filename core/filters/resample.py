"""A motion at another rate, or a part of it.

Time is kept, not sample counts: sample k of the result is the motion at k / fps, so 120, 119.88 and 23.976 fps material
lasts as long as before, to half a sample of the result. Rotations follow the great arc (slerp).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParam
from ..maths import quat, spline
from ..maths.ramp import lerp, unwrap, wrap
from ..motion import Event, Motion
from ..skeleton import Array

Ints = npt.NDArray[np.int64]

_UP = np.array([0.0, 0.0, 1.0])
_PAD = 2
"""Samples of the neighbouring rounds that a cubic at the seam of a loop looks at."""


def resample(motion: Motion, fps: float, cubic: bool = False) -> Motion:
    """The motion sampled at `fps` [Hz].

    A loop gets a whole number of samples: its period changes by at most half of one, and its events with it. The
    samples between the last and the first are those of the next round, carried along if the loop travels.

    Args:
        motion: Returned as it is if it has this rate already.
        fps: Samples a second of the result.
        cubic: Catmull-Rom instead of straight lines and great arcs, for places and rotations: a third more faithful on
            smooth recordings, but it overshoots where a recording jumps. Curves are always joined by straight lines.
    """
    if not (np.isfinite(fps) and fps > 0):
        raise InvalidParam("fps", fps, "must be a positive number")
    if fps == motion.fps:
        return motion
    ratio, count = motion.fps / fps, len(motion)
    stretch = 1.0
    if motion.loop:
        whole = max(1, round(count / ratio))
        stretch = whole * ratio / count
        at: Array = np.arange(whole, dtype=np.float64) * (ratio / stretch)
    else:
        whole = round((count - 1) / ratio) + 1
        at = np.minimum(np.arange(whole) * ratio, count - 1.0)
    # a sample that coincides stays itself, although rates such as 24000/1001 do not divide exactly
    at = np.where(np.abs(at - np.round(at)) < 1e-9 * count, np.round(at), at)
    track = _Track(motion.roots, motion.rotations, motion.base)
    order = np.arange(count)
    if motion.loop:
        track, order = _rounds(track), np.arange(-_PAD, count + _PAD) % count
        at = at + _PAD
    return replace(
        motion,
        fps=float(fps),
        roots=_places(track.roots, at, cubic),
        rotations=_turns(quat.continuous(track.rotations), at, cubic),
        base=None if track.base is None else _places(track.base, at, cubic),
        curves={name: _places(curve[order], at, False) for name, curve in motion.curves.items()},
        events=tuple(replace(event, time=event.time * stretch) for event in motion.events),
    )


def slice(motion: Motion, start: float, end: float) -> Motion:
    """The samples from `start` to `end` [s], both counted, to the nearest sample; not a loop any more."""
    last = (len(motion) - 1) / motion.fps
    half = 0.5 / motion.fps
    if not -half <= start <= end <= last + half:
        raise InvalidParam("start, end", (start, end), f"must lie in order within 0 to {last:g} s")
    a, b = (min(max(round(t * motion.fps), 0), len(motion) - 1) for t in (start, end))
    first, stop = a / motion.fps, b / motion.fps
    keep = np.s_[a : b + 1]
    return replace(
        motion,
        roots=motion.roots[keep],
        rotations=motion.rotations[keep],
        base=None if motion.base is None else motion.base[keep],
        curves={name: curve[keep] for name, curve in motion.curves.items()},
        events=tuple(
            Event(max(event.time - first, 0.0), event.name, event.data)
            for event in motion.events
            if first - half <= event.time <= stop + half
        ),
        loop=False,
    )


class _Track(NamedTuple):
    """What a motion says about place and posture."""

    roots: Array
    rotations: Array
    base: Array | None

    def part(self, keep: Any) -> _Track:
        return _Track(self.roots[keep], self.rotations[keep], None if self.base is None else self.base[keep])

    def carried(self, here: Array, there: Array) -> _Track:
        """Moved and turned on the ground as x, y, heading `here` must be to become `there`."""
        turn = quat.about(_UP, there[2] - here[2])
        flat = np.array([1.0, 1.0, 0.0])
        roots = quat.rotate(turn, self.roots - here * flat) + there * flat
        rotations = self.rotations.copy()
        rotations[:, 0] = quat.multiply(turn, rotations[:, 0])
        base = self.base
        if base is not None:
            ground = quat.rotate(turn, (base - here) * flat) + there * flat
            base = ground + (base[:, 2:] - here[2] + there[2]) * _UP
        return _Track(roots, rotations, base)


def _rounds(track: _Track) -> _Track:
    """A loop with samples of the rounds before and after it, `_PAD` of each."""
    count = len(track.roots)
    place = track.base
    if place is None:
        place = np.column_stack([track.roots[:, :2], unwrap(quat.heading(track.rotations[:, 0]))])
    first, step = place[0], np.diff(place, axis=0, prepend=place[:1])
    after = place[-1] + step[-1]
    # what comes back to within a step and a half of where it began, whole turns apart, does not travel
    if np.linalg.norm(after[:2] - first[:2]) <= 1.5 * np.linalg.norm(step[:, :2], axis=1).max() + 0.01:
        after[:2] = first[:2]
    if abs(wrap(after[2] - first[2])) <= 1.5 * np.abs(step[:, 2]).max() + 0.01:
        after[2] -= wrap(after[2] - first[2])
    late = track.part(np.arange(-_PAD, 0) % count).carried(after, first)
    early = track.part(np.arange(_PAD) % count).carried(first, after)
    return _Track(
        np.concatenate([late.roots, track.roots, early.roots]),
        np.concatenate([late.rotations, track.rotations, early.rotations]),
        None
        if late.base is None or track.base is None or early.base is None
        else np.concatenate([late.base, track.base, early.base]),
    )


def _between(at: Array, count: int) -> tuple[Ints, Ints, Array]:
    """Sample before, sample after, and the fraction between them."""
    before = np.minimum(at.astype(np.int64), count - 1)
    return before, np.minimum(before + 1, count - 1), at - before


def _places(values: Array, at: Array, cubic: bool) -> Array:
    """Values (T, ...) at fractional samples `at` (M,)."""
    if cubic and len(values) > 1:
        knots = np.arange(len(values), dtype=np.float64)
        return spline.hermite(at, knots, values, spline.catmull_rom_slopes(knots, values))
    before, after, part = _between(at, len(values))
    return lerp(values[before], values[after], part.reshape((-1,) + (1,) * (values.ndim - 1)))


def _turns(rotations: Array, at: Array, cubic: bool) -> Array:
    """Sign-continuous rotations (T, J, 4) at fractional samples `at` (M,)."""
    if cubic:
        return quat.unit(_places(rotations, at, cubic))
    before, after, part = _between(at, len(rotations))
    return quat.continuous(quat.slerp(rotations[before], rotations[after], part[:, None]))
