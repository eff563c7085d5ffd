"""The order in which the parts of a body are fastest, and how a feeling shifts it.

Amaya, Bruderlin and Calvert, "Emotion from motion", 1996, look at the times of the highest angular speeds of joints and
suspect that their order and spacing differ with emotion. Here that is measured for each level of the body in each basic
period, against the end effector, as a part of the period; the difference of an emotional performance to a neutral one
can be put onto another motion: each level is then fastest so much later or earlier. An experiment, as it is there.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from ..kinematics import base as bases
from ..maths import quat
from ..maths.ramp import smooth, smootherstep
from ..motion import Motion
from ..skeleton import Array
from .levels import level_joints, seen_from_base
from .periods import Ints

_DETAIL_HZ = 6.0
"""Low pass before speeds are compared."""
_STILL = 0.05
"""Speed of a level that counts as rest, as a part of its highest in the whole motion."""
_TAPER = 0.75
"""Part of the time from an end of a period to the peak over which the shift comes in."""
_FARTHEST = 0.6
"""Longest shift, as a part of the time from the end of the period that it leads away from: time still goes forward."""


def lags(motion: Motion, marks: Ints, path: Array) -> Array:
    """(P, 4) how much later than the end effector each level of the body is fastest, as a part of each period.

    Args:
        motion: T samples.
        marks: (P + 1,) samples that bound the basic periods.
        path: (T, 3) way of the end effector [m].

    Returns:
        From -1 to 1; NaN for a level without joints, and where it rests.
    """
    step = np.gradient(smooth(path, motion.fps, _DETAIL_HZ), axis=0)
    leading = _peaks(np.sqrt(quat.dot(step, step))[:, None], marks)
    return level_peaks(motion, marks) - leading


def level_peaks(motion: Motion, marks: Ints) -> Array:
    """(P, 4) where in each period each level of the body turns fastest, 0 to 1; NaN as for `lags`."""
    turns = seen_from_base(motion)
    levels = level_joints(motion.skeleton, motion.mask)
    step = quat.distance(turns[:-1], turns[1:]) ** 2
    speeds = np.stack([np.sqrt(step[:, joints].sum(axis=1)) for joints in levels], axis=1)
    speeds = np.concatenate([speeds[:1], (speeds[1:] + speeds[:-1]) / 2, speeds[-1:]])
    out = _peaks(smooth(speeds, motion.fps, _DETAIL_HZ), marks)
    out[:, [not joints for joints in levels]] = np.nan
    return out


def _peaks(speeds: Array, marks: Ints) -> Array:
    """(P, C) where in each period each of the speeds (T, C) is highest, between samples too; NaN where it rests."""
    highest = speeds.max(axis=0)
    out = np.full((len(marks) - 1, speeds.shape[1]), np.nan)
    for p, (a, b) in enumerate(pairwise(marks.tolist())):
        part = speeds[a : b + 1]
        for c, k in enumerate(part.argmax(axis=0).tolist()):
            if part[k, c] <= max(_STILL * highest[c], 1e-9):
                continue
            near = part[max(k - 1, 0) : k + 2, c]
            bend = near[0] - 2 * near[1] + near[-1] if len(near) == 3 else 0.0
            out[p, c] = (k + (0.5 * (near[0] - near[-1]) / bend if bend < 0 else 0.0)) / (b - a)
    return out


def shifted(motion: Motion, marks: Ints, shifts: Array) -> Motion:
    """The motion whose levels are fastest later by parts (P, 4) of each period; the ends of periods stay.

    No further than that time still goes forward. The way over the ground and the place of the hips stay as they are.
    """
    turns, peaks = seen_from_base(motion), level_peaks(motion, marks)
    out = turns.copy()
    for (a, b), places, ways in zip(pairwise(marks.tolist()), peaks, shifts, strict=True):
        for joints, peak, way in zip(level_joints(motion.skeleton, motion.mask), places, ways, strict=True):
            if not joints or not way or not 0.0 < peak < 1.0 or b - a < 2:
                continue
            at = a + (b - a) * _bent(np.linspace(0.0, 1.0, b - a + 1), float(peak), float(way))
            before = np.clip(at.astype(np.int64), a, b - 1)
            here, there = turns[before][:, joints], turns[before + 1][:, joints]
            out[a : b + 1, joints] = quat.slerp(here, there, (at - before)[:, None])
    base = bases.based(motion).base
    assert base is not None
    _, out[:, 0] = bases.compose(base, np.zeros((len(motion), 3)), out[:, 0])
    return replace(motion, rotations=quat.continuous(out))


def _bent(time: Array, peak: float, way: float) -> Array:
    """What was at which part of a period (n,) when what was at `peak` comes `way` later; from 0 to 1, rising.

    The shift is whole around the peak and nothing at the ends, so that these keep their speed and it its shape.
    """
    later = peak + float(np.clip(way, -_FARTHEST * (1.0 - peak), _FARTHEST * peak))
    later = float(np.clip(later, 0.4 * peak, 1.0 - 0.4 * (1.0 - peak)))
    share = smootherstep(time / (_TAPER * later)) * smootherstep((1.0 - time) / (_TAPER * (1.0 - later)))
    out: Array = time - (later - peak) * share
    return out
