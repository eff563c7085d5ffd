"""Values that change along straight lines between knots in time: style parameters, moving targets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParam
from ...skeleton import Array


@dataclass(frozen=True, eq=False)
class Track:
    """Knots `times` (N,) [s] with `values` (N, ...); before the first and after the last the value holds."""

    times: Array
    values: Array

    def at(self, times: Array) -> Array:
        """Values (T, ...) at times (T,) [s]."""
        if len(self.times) == 1:
            return np.broadcast_to(self.values[0], (len(times), *self.values.shape[1:]))
        k = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, len(self.times) - 2)
        span = np.maximum(self.times[k + 1] - self.times[k], 1e-12)
        part = np.clip((times - self.times[k]) / span, 0.0, 1.0).reshape((-1,) + (1,) * (self.values.ndim - 1))
        out: Array = self.values[k] * (1.0 - part) + self.values[k + 1] * part
        return out

    @property
    def constant(self) -> bool:
        """Whether there is only one knot."""
        return len(self.times) == 1

    def going_to(self, value: npt.ArrayLike, time: float, over: float) -> Track:
        """The track that leaves its course at `time` and reaches `value` after `over` seconds."""
        here = self.at(np.array([time]))
        kept = self.times < time
        # what lies more than a knot back is never asked for again
        first = max(0, int(kept.sum()) - 1)
        times = np.concatenate([self.times[kept][first:], [time, time + max(over, 1e-9)]])
        goal = np.asarray(value, dtype=np.float64)[None]
        return Track(times, np.concatenate([self.values[kept][first:], here, goal]))


def constant(value: npt.ArrayLike) -> Track:
    """A track that holds one value."""
    return Track(np.zeros(1), np.asarray(value, dtype=np.float64)[None])


def sampled(values: npt.ArrayLike, fps: float) -> Track:
    """A track with a knot every 1/fps seconds from time 0."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0 or not len(array) or not np.isfinite(array).all():
        raise InvalidParam("values", array.shape, "must be samples in time, all finite")
    return Track(np.arange(len(array)) / fps, array)
