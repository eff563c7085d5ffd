"""When eyes and head move in a shift of gaze, and how they rest: saccades, the lag of the head, blinks, small drifts.

Duration of saccades grows linearly with their size, the main sequence: 2 to 2.7 ms a degree and 20 to 30 ms (Duchowski
and Joerg, "Eye animation", Handbook of Human Motion, 2018). The head follows the eyes, the sooner the larger the shift:
139 ms later at 10 degrees and 50 ms at 40 (measured: J-STAGE, jibi1954, volume 24, number 4).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..maths.ramp import raised_cosine, smoothstep
from ..skeleton import Array

BLINKS_FROM = np.radians(20.0)
"""Shifts larger than this may come with a blink [rad]."""
_CLOSING, _CLOSED, _OPENING = 0.075, 0.03, 0.16
"""Times of a blink [s]; opening takes twice as long as closing."""
_DWELL = 0.25, 1.1
"""Shortest and longest time between two small movements of resting eyes [s]."""


class Timing(NamedTuple):
    """When eyes and head move after a shift of gaze has begun [s]: duration of the saccade, lag and duration of the
    head."""

    eyes: float
    lag: float
    head: float


def timing(size: float, lag: float | None = None) -> Timing:
    """The timing of a shift of this size [rad]; `lag` holds that of the head whatever the size [s]."""
    degrees = np.degrees(size)
    later = float(np.clip(0.169 - 0.003 * degrees, 0.03, 0.14)) if lag is None else lag
    return Timing(0.0022 * degrees + 0.021, later, 0.25 + 0.006 * degrees)


def small_shift(size: float) -> float:
    """How much of its usual part the head takes of a shift of this size [rad]: eyes do small ones nearly alone."""
    return 0.2 + 0.8 * float(smoothstep((np.degrees(size) - 15.0) / 10.0))


def lids(times: Array, onsets: Array) -> Array:
    """How far the lids are closed (T,), 0 to 1, at `times` (T,) with blinks that begin at `onsets` (K,) [s]."""
    closed = np.zeros(len(times))
    for onset in onsets:
        since = times - onset
        shut = raised_cosine(since / _CLOSING) * (1.0 - raised_cosine((since - _CLOSING - _CLOSED) / _OPENING))
        closed = np.maximum(closed, shut)
    return closed


def blink_length() -> float:
    """How long a blink takes [s]."""
    return _CLOSING + _CLOSED + _OPENING


def drift(times: Array, size: float, rng: np.random.Generator) -> Array:
    """Azimuth and elevation (T, 2) [rad] by which resting eyes are off their target: small steps now and then.

    Args:
        times: (T,) [s].
        size: Their usual distance from the target [rad].
        rng: Decides when and where to.
    """
    last = float(times[-1]) if len(times) else 0.0
    count = int(np.ceil((last + 1.0) / _DWELL[0])) + 1
    steps = np.cumsum(rng.uniform(*_DWELL, count))
    places = np.concatenate([np.zeros((1, 2)), size * rng.normal(size=(count, 2)) * (1.0, 0.6)])
    at = np.searchsorted(steps, times, side="right")
    ramp = smoothstep((times - np.concatenate([[-1.0], steps])[at]) / 0.025)[:, None]
    return np.asarray(places[np.maximum(at - 1, 0)] * (1.0 - ramp) + places[at] * ramp)
