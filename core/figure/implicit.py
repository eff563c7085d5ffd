"""Organic forms as implicit surfaces: primitives that melt into one another by a polynomial smooth minimum.

A field gives each point a signed distance, or something close to one near the surface; negative is inside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..skeleton import Array

Field = Callable[[Array], Array]
Map = Callable[[Array], Array]

FAR = 1e3
"""The distance of a point that no primitive is near to."""
_FINE = 1000
"""Samples of the smooth outlines of a sweep; between them they are straight."""


@dataclass(frozen=True, eq=False)
class Blob:
    """One primitive of a form.

    Attributes:
        field: (N, 3) to (N,) signed distance.
        lo, hi: (3,) corners of the box outside of which the primitive cannot matter.
        blend: Width over which it melts into what came before it.
        carve: It is taken away instead of added.
    """

    field: Field
    lo: Array
    hi: Array
    blend: float
    carve: bool = False


def evaluate(blobs: Sequence[Blob], points: Array) -> Array:
    """(N,) signed distance of points (N, 3) to the blobs joined in order."""
    d = np.full(len(points), FAR)
    columns = np.ascontiguousarray(points.T)
    widest = np.maximum.accumulate([b.blend for b in blobs][::-1])[::-1]  # what comes later may melt into it
    for blob, margin in zip(blobs, 1.5 * widest + 0.1, strict=True):
        near = np.ones(len(points), dtype=bool)
        for x, lo, hi in zip(columns, blob.lo - margin, blob.hi + margin, strict=True):
            near &= (x > lo) & (x < hi)
        these = np.flatnonzero(near)
        sign = -1.0 if blob.carve else 1.0
        d[these] = sign * _smooth_min(sign * d[these], blob.field(points[these]), blob.blend)
    return d


def mirrored(blobs: Sequence[Blob]) -> Field:
    """The field of a form that is given by its left half."""
    return lambda p: evaluate(blobs, left_half(p))


def left_half(points: Array) -> Array:
    """Points (N, 3), those on the right mirrored to the left."""
    return np.column_stack([np.abs(points[:, 0]), points[:, 1], points[:, 2]])


def _smooth_min(a: Array, b: Array, k: float) -> Array:
    h = np.maximum(k - np.abs(a - b), 0.0)
    return np.asarray(np.minimum(a, b) - h * h / (4.0 * max(k, 1e-9)))


def ellipsoid(
    centre: npt.ArrayLike, radii: npt.ArrayLike, blend: float, turn: Array | None = None, carve: bool = False
) -> Blob:
    """An ellipsoid with its axes along the columns of `turn` (3, 3)."""
    c, r = np.array(centre, dtype=float), np.array(radii, dtype=float)
    axes = np.eye(3) if turn is None else turn

    def field(p: Array) -> Array:
        q = (p - c) @ axes
        k = np.sqrt(np.sum((q / r) ** 2, axis=1))
        slope = np.sqrt(np.sum((q / r**2) ** 2, axis=1))
        return np.asarray((k - 1.0) * np.maximum(k, 1e-9) / np.maximum(slope, 1e-9 / r.min()))

    reach = np.sqrt(np.sum((axes * r) ** 2, axis=1))
    return Blob(field, c - reach, c + reach, blend, carve)


def cone(a: npt.ArrayLike, b: npt.ArrayLike, ra: float, rb: float, blend: float, carve: bool = False) -> Blob:
    """A cone with round ends: the hull of two balls, its radius changing linearly from end to end."""
    start, end = np.array(a, dtype=float), np.array(b, dtype=float)
    axis = end - start
    square = float(axis @ axis)

    def field(p: Array) -> Array:
        q = p - start
        t = np.clip(q @ axis / square, 0.0, 1.0)
        return np.asarray(np.sqrt(np.sum((q - t[:, None] * axis) ** 2, axis=1)) - (ra + (rb - ra) * t))

    r = max(ra, rb)
    return Blob(field, np.minimum(start, end) - r, np.maximum(start, end) + r, blend, carve)


def sweep(
    rows: npt.ArrayLike, to_straight: Map, lo: Array, hi: Array, blend: float, power: float = 2.0, cap: float = 2.0
) -> Blob:
    """A limb or trunk given by its outlines: a superellipse whose four half axes change along a straight axis.

    Args:
        rows: (n, 5 or 7) place along the axis (rising), half axes to +x, -x, +y, -y, and optionally the centre's x, y.
        to_straight: (N, 3) points to coordinates (x, y, place along the axis) in which the limb is straight.
        lo, hi: (3,) box around the limb.
        blend: As in Blob.
        power: Exponent of the superellipse; 2 is an ellipse, more is boxier.
        cap: Rounding of the two ends.
    """
    table = np.array(rows, dtype=float)
    if table.shape[1] == 5:
        table = np.column_stack([table, np.zeros((len(table), 2))])
    first, last = table[0, 0], table[-1, 0]
    fine = np.linspace(first, last, _FINE)
    start = smooth_rows(table, fine)
    rise = np.diff(start, axis=0)

    def field(p: Array) -> Array:
        q = to_straight(p)
        t = np.clip((q[:, 2] - first) * ((_FINE - 1) / (last - first)), 0.0, _FINE - 1.001)
        i = t.astype(np.int64)
        left, right, back, front, cx, cy = (start[i] + (t - i)[:, None] * rise[i]).T
        x, y = q[:, 0] - cx, q[:, 1] - cy
        rx, ry = np.where(x > 0, left, right), np.where(y > 0, back, front)
        u, v = np.abs(x) / rx, np.abs(y) / ry
        k = (u**power + v**power) ** (1.0 / power)
        slope = np.hypot(u ** (power - 1) / rx, v ** (power - 1) / ry) / np.maximum(k, 1e-6) ** (power - 1)
        d = (k - 1.0) / np.maximum(slope, 1.0 / np.maximum(rx, ry))
        return -_smooth_min(-d, np.minimum(q[:, 2] - first, last - q[:, 2]), cap)

    return Blob(field, lo, hi, blend)


def smooth_rows(table: Array, s: Array) -> Array:
    """(N, m-1) the other columns of `table` (n, m) at places s (N,) of its first: cubic, without overshoot."""
    x, y = table[:, 0], table[:, 1:]
    h = np.diff(x)[:, None]
    slope = np.diff(y, axis=0) / h
    inner = 0.5 * (slope[1:] + slope[:-1])
    limit = 3.0 * np.minimum(np.abs(slope[1:]), np.abs(slope[:-1]))
    inner = np.where(slope[1:] * slope[:-1] > 0, np.clip(inner, -limit, limit), 0.0)
    m = np.concatenate([slope[:1], inner, slope[-1:]])
    s = np.clip(s, x[0], x[-1])
    i = np.clip(np.searchsorted(x, s, side="right") - 1, 0, len(x) - 2)
    w = h[i]
    t = (s[:, None] - x[i][:, None]) / w
    a, b = y[i], y[i + 1]
    u, v = w * m[i], w * m[i + 1]
    return np.asarray(a + t * (u + t * (3 * (b - a) - 2 * u - v + t * (2 * (a - b) + u + v))))
