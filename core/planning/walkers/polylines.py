"""Ways of many actors in one record: the nearest point on each, and the point at a length along each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...errors import InvalidMotion
from ...maths import trig
from ...maths.ramp import wrap
from ...maths.spline import arc_length
from ...skeleton import Array


@dataclass(frozen=True, eq=False)
class Ways:
    """Polylines of A actors padded by their last points.

    Attributes:
        points: (A, P, 2) [m].
        lengths: (A, P) along them [m].
        bends: (A, P) how much each turns at its points, 0 for straight on to 1 for a right angle and more.
    """

    points: Array
    lengths: Array
    bends: Array

    @cached_property
    def steps(self) -> Array:
        """(A, P - 1, 2) from each point to the next [m]."""
        return np.diff(self.points, axis=1)

    @cached_property
    def spans(self) -> Array:
        """(A, P - 1) lengths of the steps [m]."""
        return np.diff(self.lengths, axis=1)

    @property
    def total(self) -> Array:
        """(A,) [m]."""
        return self.lengths[:, -1]

    @property
    def goal(self) -> Array:
        """(A, 2) last points [m]."""
        return self.points[:, -1]


def ways(polylines: Sequence[Array]) -> Ways:
    """Put polylines (N, 2) of A actors into one record."""
    count = max([len(p) for p in polylines] + [2])
    points = np.empty((len(polylines), count, 2))
    lengths = np.empty((len(polylines), count))
    for a, line in enumerate(polylines):
        if len(line) == 0:
            raise InvalidMotion("a way needs at least one point")
        n = len(line)
        points[a, :n], points[a, n:] = line, line[-1]
        lengths[a, :n] = arc_length(line) if n > 1 else 0.0
        lengths[a, n:] = lengths[a, n - 1]
    step = np.diff(points, axis=1)
    course = trig.arctan2(step[..., 0], -step[..., 1])
    bends = np.zeros(lengths.shape)
    bends[:, 1:-1] = np.minimum(np.abs(wrap(np.diff(course, axis=1))) / (np.pi / 2), 1.0)
    bends[:, 1:-1][np.diff(lengths, axis=1)[:, 1:] <= 0] = 0.0
    return Ways(points, lengths, bends)


def nearest(way: Ways, place: Array, along: Array, window: Array | float) -> Array:
    """(A,) length along the ways nearest to places (A, 2), not before `along` nor beyond the window [m]."""
    a, step, start, span = way.points[:, :-1], way.steps, way.lengths[:, :-1], way.spans
    long = np.maximum(span, 1e-9)
    off = place[:, None] - a
    reach = (off[..., 0] * step[..., 0] + off[..., 1] * step[..., 1]) / (long * long)
    low = (along[:, None] - start) / long
    high = ((along + window)[:, None] - start) / long
    share = np.minimum(np.maximum(np.minimum(np.maximum(reach, low), high), 0.0), 1.0)
    x, y = share * step[..., 0] - off[..., 0], share * step[..., 1] - off[..., 1]
    distance = np.where((low > 1.0) | (high < 0.0), np.inf, x * x + y * y)
    rows = np.arange(len(place))
    k = np.argmin(distance, axis=1)
    found: Array = start[rows, k] + share[rows, k] * span[rows, k]
    return np.maximum(np.where(np.isfinite(distance[rows, k]), found, along), along)


def at(way: Ways, length: Array) -> Array:
    """(A, 2) point of each way at a length (A,) [m]."""
    rows = np.arange(len(length))
    k = np.minimum(np.maximum((way.lengths <= length[:, None]).sum(axis=1) - 1, 0), way.spans.shape[1] - 1)
    share = (length - way.lengths[rows, k]) / np.maximum(way.spans[rows, k], 1e-9)
    out: Array = way.points[rows, k] + np.minimum(np.maximum(share, 0.0), 1.0)[:, None] * way.steps[rows, k]
    return out
