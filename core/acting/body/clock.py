"""The master clock of an actor: a phase that runs at the mixed tempo of what it is doing.

Perlin (1995): at the start of a change the clock has the old tempo, at its end the new one, and in between the weighted
mean, so actions written for the same phase stay in step. The phase is integrated on a grid of its own, whatever the
frame rate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate, repeat

import numpy as np
import numpy.typing as npt

from ...skeleton import Array

GRID_HZ = 240
"""Steps a second in which phase, heading and place are integrated."""
STOPPED = 0.05
"""Cycles a second below which the clock counts as stopped."""
_TURN = 2.0 * np.pi
Rate = Callable[[Array], Array] | float
"""Cycles a second (T,) at times (T,) [s]; a number where they never change."""


def tick_of(time: float) -> int:
    """Number of the last grid point not after `time` [s]."""
    return math.floor(time * GRID_HZ + 1e-7)


def mixed_tempo(weights: Sequence[Array], tempos: Sequence[Array]) -> Array:
    """Weighted mean (T,) of tempos (T,) [cycles/s]; 0 where nothing with a tempo has weight."""
    total = np.sum(weights, axis=0)
    mean: Array = np.sum([w * r for w, r in zip(weights, tempos, strict=True)], axis=0) / np.where(total > 0, total, 1)
    return np.where(total > 0, mean, 0.0)


def grid_phases(rate: Rate, phase: float, first: int, last: int) -> Array:
    """Phases [rad] at grid points first..last, both included, from the phase at the first; by Simpson's rule."""
    if last <= first:
        return np.array([phase])
    if isinstance(rate, float):
        step = (rate + 4.0 * rate + rate) * (_TURN / (6.0 * GRID_HZ))
        return np.array(list(accumulate(repeat(step, last - first), initial=phase)))
    halves = np.arange(2 * first, 2 * last + 1) / (2.0 * GRID_HZ)
    r = rate(halves)
    steps = (r[:-1:2] + 4.0 * r[1::2] + r[2::2]) * (_TURN / (6.0 * GRID_HZ))
    return np.cumsum(np.concatenate([[phase], steps]))


def since_ticks(times: Array) -> tuple[npt.NDArray[np.int64], Array]:
    """Numbers (T,) of the last grid points not after times (T,), and the time since then [s]."""
    ticks = np.array([tick_of(t) for t in times.tolist()], dtype=np.int64)
    return ticks, times - ticks / GRID_HZ


def phases_at(rate: Rate, times: Array, phases: Array, first: int) -> Array:
    """Phases (T,) at any times (T,) within a grid whose phases from point `first` on are known."""
    ticks, span = since_ticks(times)
    if not (span > 1e-12).any():
        return phases.take(ticks - first)
    if isinstance(rate, float):
        total: Array | float = rate + 4.0 * rate + rate
    else:
        start = ticks / GRID_HZ
        total = rate(start) + 4.0 * rate(start + 0.5 * span) + rate(times)
    out: Array = phases[ticks - first] + total * span * (_TURN / 6.0)
    return out


def inside(phase: Array | float, windows: Sequence[tuple[float, float]]) -> Array:
    """Whether phases [rad] lie in one of the windows [deg], which may run across 360; true without windows."""
    degrees = np.degrees(np.asarray(phase, dtype=np.float64))
    if not windows:
        return np.ones(degrees.shape, dtype=bool)
    hit = np.zeros(degrees.shape, dtype=bool)
    for low, high in windows:
        hit |= np.mod(degrees - low, 360.0) <= np.mod(high - low, 360.0)
    return hit


def entry_time(
    rate: Callable[[Array], Array],
    phase: float,
    since: float,
    until: float,
    windows: Sequence[Sequence[tuple[float, float]]],
    cycles: float,
) -> tuple[float | None, bool]:
    """When a request made at `since` may start, looking as far as `until` [s].

    Args:
        rate: Of the clock.
        phase: At `since` [rad].
        since: Time of the request, or from where to go on looking [s].
        until: How far to look [s].
        windows: Lists of windows that must all be open [deg].
        cycles: Cycles after which the request lapses.

    Returns:
        The time, None if it is not yet; and whether the request lapsed first.
    """
    count = max(2, int(np.ceil((until - since) * 4 * GRID_HZ)) + 1)
    times = np.linspace(since, until, count)
    r = rate(times)
    steps = 0.5 * (r[1:] + r[:-1]) * np.diff(times) * _TURN
    track = phase + np.concatenate([[0.0], np.cumsum(steps)])
    fine = r < STOPPED
    fine |= np.all([inside(track, w) for w in windows], axis=0)
    over = track - phase > cycles * _TURN
    first = int(np.argmax(fine)) if fine.any() else count
    lapse = int(np.argmax(over)) if over.any() else count
    if first < lapse:
        if first == 0 or r[first] < STOPPED:
            return float(times[first]), False
        edges = [np.mod(np.radians(low) - track[first - 1], _TURN) for w in windows for low, _ in w]
        step = track[first] - track[first - 1]
        part = max((e / step for e in edges if e <= step), default=1.0)
        return float(times[first - 1] + part * (times[first] - times[first - 1])), False
    return None, lapse < count
