"""A motion at another rate, or a part of it.

Time is kept, not sample counts: sample k of the result is the motion at k / fps, so 120, 119.88 and 23.976 fps material
lasts as long as before, to half a sample of the result. Rotations follow the great arc (slerp).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParam
from ..kinematics.base import round_later
from ..maths import quat, spline
from ..maths.ramp import lerp
from ..motion import Event, Motion
from ..skeleton import Array

Ints = npt.NDArray[np.int64]

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
    roots, rotations, base = motion.roots, motion.rotations, motion.base
    order = np.arange(count)
    if motion.loop:
        roots, rotations, base = _rounds(motion)
        order = np.arange(-_PAD, count + _PAD) % count
        at = at + _PAD
    return replace(
        motion,
        fps=float(fps),
        roots=_places(roots, at, cubic),
        rotations=_turns(quat.continuous(rotations), at, cubic),
        base=None if base is None else _places(base, at, cubic),
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


def _rounds(motion: Motion) -> tuple[Array, Array, Array | None]:
    """Roots, rotations and base of a loop with samples of the rounds before and after it, `_PAD` of each."""
    late, early = np.arange(-_PAD, 0) % len(motion), np.arange(_PAD) % len(motion)
    parts = ((round_later(motion, -1), late), (motion, np.arange(len(motion))), (round_later(motion), early))
    roots = np.concatenate([m.roots[keep] for m, keep in parts])
    rotations = np.concatenate([m.rotations[keep] for m, keep in parts])
    based = [m.base[keep] for m, keep in parts if m.base is not None]
    return roots, rotations, np.concatenate(based) if based else None


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
