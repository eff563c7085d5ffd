"""Bridges over samples that are known to be wrong.

A gap is bridged by a spline on the sphere: rotation vectors from the middle of both edges, through a few samples on
either side, joined by Akima's cubics ("A new method of interpolation and smooth curve fitting", 1970), which do not
swing over where a recording is noisy. Beyond the first or last sample that is known, movement goes on and dies away.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..maths import quat
from ..needs import needs_scipy
from ..skeleton import Array
from .contacts import Flags, runs

Ints = npt.NDArray[np.int64]

_NEAR = 4
"""Known samples on either side of a gap that a spline goes through."""
_FADE = 0.05
"""Time in which movement dies away beyond what is known [s]."""


def bridge_turns(rotations: Array, bad: Flags, fps: float) -> Array:
    """Rotations (T, J, 4) with the samples flagged in `bad` (T, J) bridged; those of a joint that has no other stay."""
    bad = bad & ~bad.all(axis=0)
    if not bad.any():
        return rotations
    alike: dict[tuple[int, ...], list[int]] = {}
    for joint in np.flatnonzero(bad.any(axis=0)).tolist():
        for a, b in runs(bad[:, joint]):
            alike.setdefault((a, b, *_around(bad[:, joint], a)), []).append(joint)
    out = rotations.copy()
    for (a, b, *near), joints in alike.items():
        known, values = np.array(near), rotations[:, joints]
        inside = int(np.searchsorted(known, a))
        # far from the middle of both edges a rotation vector is no good measure of a rotation
        middle = quat.slerp(values[known[max(inside - 1, 0)]], values[known[min(inside, len(known) - 1)]], 0.5)
        vectors = quat.log(quat.multiply(quat.conjugate(middle), values[known]))
        out[a:b, joints] = quat.multiply(middle, quat.exp(_spline(known, vectors, np.arange(a, b), fps)))
    return quat.continuous(out)


def bridge_places(places: Array, bad: Flags, fps: float) -> Array:
    """Places (T, C) with the samples flagged in `bad` (T,) bridged."""
    if not bad.any() or bad.all():
        return places
    out = places.copy()
    for a, b in runs(bad):
        known = _around(bad, a)
        out[a:b] = _spline(known, places[known], np.arange(a, b), fps)
    return out


def _around(bad: Flags, a: int) -> Ints:
    """The samples that are known next to a gap that begins at `a`, a few on either side."""
    known = np.flatnonzero(~bad)
    at = int(np.searchsorted(known, a))
    return known[max(0, at - _NEAR) : at + _NEAR]


def _spline(known: Ints, values: Array, at: Ints, fps: float) -> Array:
    """Values (M, ...) at samples `at` (M,), all in one gap, of what is known (K, ...) on either side of it."""
    with needs_scipy():
        from scipy.interpolate import Akima1DInterpolator

    if len(known) == 1:
        return np.repeat(values, len(at), axis=0)
    if known[0] < at[0] and known[-1] > at[-1]:
        if len(known) == 2:
            part = (at - known[0]) / (known[1] - known[0])
            line: Array = values[0] + part.reshape((-1,) + (1,) * (values.ndim - 1)) * (values[1] - values[0])
            return line
        return np.asarray(Akima1DInterpolator(known.astype(np.float64), values, axis=0)(at.astype(np.float64)))
    end, inner = (0, 1) if known[0] > at[-1] else (-1, -2)
    pace = (values[end] - values[inner]) / abs(int(known[end] - known[inner]))
    away = np.abs(at - known[end]) / (_FADE * fps)
    reach = _FADE * fps * -np.expm1(-away)
    out: Array = values[end] + reach.reshape((-1,) + (1,) * pace.ndim) * pace
    return out
