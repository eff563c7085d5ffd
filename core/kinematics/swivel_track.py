"""Elbows over time: the swivels of a whole track at once, where one by one they would jump.

Which swivel of the elbow is best may change from one moment to the next, most of all where none keeps all limits: there
the least breach is now on one side, now on the other. So the way of least cost through all of them is taken, a dynamic
programme (Viterbi) over a grid of swivels which then is made finer about the way that was found.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..skeleton import Array
from .arm_goals import Bools

STEP, WIDEST = np.radians(5.0), np.radians(90.0)
"""Between two swivels that are tried, and how far from the wanted one [rad]."""
FINER, LEVELS = 5, 3
"""How much finer the grid becomes, and how often it is gone through."""
BREACH = 2.0
"""What a sample beyond its limits costs, beside by how much it is [1/rad]."""
SMOOTH, JUMP = 100.0, 1e4
"""What a turn between two samples costs, squared, and what is more than the limit of it [1/rad]."""
TWIST = 2.0
"""How much farther than the elbow a forearm may turn in itself: past a straight wrist it would flip."""
STRIDE, APART = 0.02, 0.1
"""Travel of a hand from sample to sample that goes with a turn by STEP, and from which on samples are no track [m]."""
LEVER = 0.1
"""What a turn of the hand counts as its travel [m/rad]."""


def limits_of(travel: Array) -> Array:
    """(N - 1,) how far an elbow may turn between samples whose hands are so far from each other (N - 1,) [rad]."""
    return np.where(travel < APART, STEP * np.maximum(1.0, travel / STRIDE), np.inf)


def rough(turns: Array, fits: Bools, limits: Array) -> list[tuple[int, int]]:
    """Parts of a track, first sample and one after the last, where turns (N,) jump or do not fit.

    Each has room about it for the elbow to turn as far as it ever does.
    """
    bad = ~fits
    jumps = np.abs(np.diff(turns)) > limits
    bad[:-1] |= jumps
    bad[1:] |= jumps
    room = round(WIDEST / STEP)
    out: list[tuple[int, int]] = []
    for k in np.flatnonzero(bad):
        first, last = max(0, int(k) - room), min(len(turns), int(k) + room + 1)
        if out and first <= out[-1][1]:
            out[-1] = out[-1][0], last
        else:
            out.append((first, last))
    return out


def followed(
    cost: Callable[[Array], tuple[Array, Array]], limits: Array, before: float | None, after: float | None
) -> Array:
    """(M,) turns through M samples in a row that cost least and do not jump [rad].

    Args:
        cost: What turns (K, M) cost at their samples (K, M), and how far the forearm is turned in itself there (K, M).
        limits: (M + 1,) how far the elbow may turn from the sample before the first to it, and so on, up to the sample
            after the last [rad].
        before, after: Turns of these; None where the track begins or ends.
    """
    middle, reach, step = np.zeros(len(limits) - 1), WIDEST, STEP
    for _ in range(LEVELS):
        count = round(reach / step)
        tried = np.clip(middle + step * np.arange(-count, count + 1)[:, None], -WIDEST, WIDEST)
        middle = _cheapest(tried, *cost(tried), limits, before, after)
        reach, step = step, step / FINER
    return middle


def _cheapest(
    tried: Array, cost: Array, twists: Array, limits: Array, before: float | None, after: float | None
) -> Array:
    """(M,) of turns (K, M) that cost so much (K, M) those along the way of least cost; so do flips of the forearm."""
    last = tried.shape[1] - 1
    total = cost[:, 0] + (0.0 if before is None else _turning(tried[:, 0] - before, limits[0]))
    came = np.zeros(tried.shape, dtype=np.int64)
    for m in range(1, last + 1):
        ways = total[:, None] + _turning(tried[:, m] - tried[:, m - 1, None], limits[m])
        flips = twists[:, m] - twists[:, m - 1, None]
        ways += _turning(flips - 2.0 * np.pi * np.rint(flips / (2.0 * np.pi)), TWIST * limits[m], 0.0)
        came[:, m] = ways.argmin(axis=0)
        total = ways.min(axis=0) + cost[:, m]
    if after is not None:
        total = total + _turning(after - tried[:, last], limits[-1])
    best = np.empty(last + 1, dtype=np.int64)
    best[last] = total.argmin()
    for m in range(last, 0, -1):
        best[m - 1] = came[best[m], m]
    return np.asarray(tried[best, np.arange(last + 1)])


def _turning(by: Array, limit: float, smooth: float = SMOOTH) -> Array:
    """What turns from one sample to the next cost."""
    if not np.isfinite(limit):
        return np.zeros(by.shape)
    out: Array = smooth * by * by + JUMP * np.maximum(np.abs(by) - 1.01 * limit, 0.0)
    return out
