"""Fewer keys for the same curve: which samples to keep, and cubics between them that follow all the others.

Straight lines after Ramer, Douglas and Peucker; cubics with one free slope a key, fitted by least squares, which is a
Bezier curve with handles a third of the way to the next key.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..needs import needs_scipy
from .quat import Array
from .spline import catmull_rom_slopes, hermite

Ints = npt.NDArray[np.int64]

_STIFFNESS = 1e-3
"""Pull of a slope towards that of the parabola through its neighbours: decides where no sample lies between keys."""


def kept_keys(values: Array, tolerance: float) -> Ints:
    """Samples to keep so that linear interpolation between them stays within `tolerance` of all others.

    Args:
        values: (T, C) samples at equal steps; the distance is measured over all components together.
        tolerance: Largest distance allowed.

    Returns:
        (K,) increasing; the first and last sample are always kept.
    """
    count = len(values)
    keep = np.zeros(count, bool)
    keep[[0, -1]] = True
    open_ = [(0, count - 1)]
    while open_:
        a, b = open_.pop()
        if b - a < 2:
            continue
        share = (np.arange(a + 1, b) - a)[:, None] / (b - a)
        away = values[a + 1 : b] - (values[a] + share * (values[b] - values[a]))
        far = np.einsum("tc,tc->t", away, away)
        worst = int(far.argmax())
        if far[worst] > tolerance * tolerance:
            middle = a + 1 + worst
            keep[middle] = True
            open_ += [(a, middle), (middle, b)]
    return np.flatnonzero(keep)


def fitted_slopes(values: Array, keys: Ints, closed: bool = False) -> Array:
    """Slopes at the keys of the smooth cubics through them that come nearest to all samples.

    Args:
        values: (T, C) samples at equal steps.
        keys: (K,) samples that are kept, increasing, with the first and the last.
        closed: After the last sample it goes on as after the first, which lies there or a constant apart: the slope is
            the same at both.

    Returns:
        (K, C) change a sample, for `eased`.
    """
    if len(keys) < 2:
        return np.zeros((len(keys), values.shape[1]))
    at = np.arange(len(values))
    span = np.clip(np.searchsorted(keys, at, side="right") - 1, 0, len(keys) - 2)
    width = np.diff(keys)[span].astype(np.float64)
    u = (at - keys[span]) / width
    first, second = width * u * (1.0 - u) ** 2, -width * u * u * (1.0 - u)
    rest = values - eased(values, keys, np.zeros((len(keys), values.shape[1])))
    usual = catmull_rom_slopes(keys.astype(np.float64), values[keys], closed)
    diagonal = _total(span, first * first, len(keys)) + _total(span + 1, second * second, len(keys)) + _STIFFNESS
    beside = _total(span, first * second, len(keys))[:-1]
    starts = keys[:-1]
    right = _STIFFNESS * usual
    right[:-1] += np.add.reduceat(first[:, None] * rest, starts)
    right[1:] += np.add.reduceat(second[:, None] * rest, starts)
    return _solved_around(diagonal, beside, right) if closed and len(keys) > 2 else _solved(diagonal, beside, right)


def eased(values: Array, keys: Ints, slopes: Array) -> Array:
    """(T, C) what smooth cubics through some of the samples `values` (T, C) give, with `slopes` (K, C) at the keys."""
    return hermite(np.arange(len(values)), keys.astype(np.float64), values[keys], slopes)


def split(keys: Ints, excess: Array) -> Ints:
    """Keys with one more in every span between them where `excess` (T,) is above zero: where it is largest."""
    more = []
    for a, b in zip(keys[:-1].tolist(), keys[1:].tolist(), strict=True):
        if b - a > 1:
            worst = a + 1 + int(excess[a + 1 : b].argmax())
            if excess[worst] > 0:
                more.append(worst)
    return np.union1d(keys, np.array(more, dtype=np.int64))


def _total(at: Ints, values: Array, count: int) -> Array:
    return np.bincount(at, values, count).astype(np.float64)


def _solved(diagonal: Array, beside: Array, right: Array) -> Array:
    """The (K, C) solution of a symmetric tridiagonal system."""
    with needs_scipy():
        from scipy.linalg import solveh_banded

    bands = np.stack([np.concatenate([[0.0], beside]), diagonal])
    out: Array = solveh_banded(bands, right, check_finite=False)
    return out


def _solved_around(diagonal: Array, beside: Array, right: Array) -> Array:
    """The same where the last unknown is the first one again."""
    count = len(diagonal) - 1
    matrix = np.diag(diagonal[:-1])
    matrix[0, 0] += diagonal[-1]
    index = np.arange(count)
    np.add.at(matrix, (index, (index + 1) % count), beside)
    np.add.at(matrix, ((index + 1) % count, index), beside)
    total = right[:-1].copy()
    total[0] += right[-1]
    out = np.linalg.solve(matrix, total)
    return np.concatenate([out, out[:1]])
