"""A motion on another clock: the same movements at other times, with their events, curves and way over the ground."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParam
from ..kinematics import base as bases
from ..maths import quat
from ..maths.spline import catmull_rom_slopes, hermite, monotone_slopes
from ..motion import Motion
from ..skeleton import Array

ROUNDED = 1e-3
"""By how much times that are typed may pass the end of a clip [s]."""


def retime(motion: Motion, table: npt.ArrayLike) -> Motion:
    """The motion played by a curve.

    Args:
        motion: Whose movements.
        table: (K, 2) times of the result and of the motion [s], in order; between them time runs along a smooth curve
            that never turns back. Equal times of the motion hold its pose.

    Returns:
        From the first to the last row; a loop again where a loop is played for exactly one round.
    """
    rows = _checked(table, motion.duration)
    span = float(rows[-1, 0] - rows[0, 0])
    around = motion.loop and abs(rows[-1, 1] - rows[0, 1] - motion.duration) < ROUNDED
    count, step = steps(span, motion.fps, around)
    at = along(rows, rows[0, 0] + step * np.arange(count))
    out = played(motion, at)
    return replace(out, loop=True) if around else out


def steps(seconds: float, fps: float, loop: bool) -> tuple[int, float]:
    """How many samples such a time has, and the time between them [s]: a loop has a whole number of them."""
    if loop:
        count = max(1, round(seconds * fps))
        return count, seconds / count
    return round(seconds * fps) + 1, 1.0 / fps


def along(table: Array, at: Array) -> Array:
    """The second column of a table (K, 2) where the first is `at` (M,), by a smooth curve that rises as it does."""
    knots, values = table.T
    if len(knots) == 1:
        return np.full(len(at), values[0])
    return hermite(at, knots, values, monotone_slopes(knots, values))


def played(motion: Motion, at: Array, fps: float | None = None) -> Motion:
    """The motion at times (M,) [s] that do not decrease, one a sample of the result, at `fps` or the motion's own rate.

    Places and rotations follow Catmull-Rom cubics between samples, curves straight lines. Times beyond the ends hold
    the pose there. Not a loop any more.
    """
    motion = bases.closed(motion)
    x = np.clip(at * motion.fps, 0.0, len(motion) - 1.0)
    # a sample that is met stays itself, though time was added up on the way to it
    x = np.where(np.abs(x - np.round(x)) < 1e-6, np.round(x), x)
    knots = np.arange(len(motion), dtype=np.float64)
    # where times stand still, an event happens when they get there
    rate = fps or motion.fps
    moved = np.concatenate([[True], np.diff(at) > 0])
    events = [
        replace(e, time=float(np.interp(e.time, at[moved], np.flatnonzero(moved) / rate)))
        for e in motion.events
        if at[0] - 1e-9 <= e.time <= at[-1] + 1e-9
    ]
    return replace(
        motion,
        fps=rate,
        roots=_cubic(motion.roots, knots, x),
        rotations=quat.unit(_cubic(quat.continuous(motion.rotations), knots, x)),
        base=None if motion.base is None else _cubic(motion.base, knots, x),
        curves={name: np.interp(x, knots, curve) for name, curve in motion.curves.items()},
        events=tuple(events),
    )


def _cubic(values: Array, knots: Array, at: Array) -> Array:
    if len(knots) == 1:
        return np.repeat(values, len(at), axis=0)
    return hermite(at, knots, values, catmull_rom_slopes(knots, values))


def _checked(table: npt.ArrayLike, duration: float) -> Array:
    rows = np.asarray(table, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 2 or len(rows) < 2 or not np.isfinite(rows).all():
        raise InvalidParam("curve", table, "must be two or more rows of a time in the result and a time in the clip")
    if np.any(np.diff(rows[:, 0]) <= 0):
        raise InvalidParam("curve", table, "the times of the result must increase from row to row")
    if np.any(np.diff(rows[:, 1]) < 0):
        raise InvalidParam("curve", table, "the times of the clip must not decrease: time does not run backwards")
    if rows[0, 1] < -ROUNDED or rows[-1, 1] > duration + ROUNDED:
        raise InvalidParam("curve", table, f"the times of the clip must lie within 0 and {duration:g} s")
    return rows
