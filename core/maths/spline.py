"""Piecewise cubic curves: Hermite with every usual choice of slopes, B-splines, Bezier segments, arc length.

All interpolating curves are one evaluator, `hermite`, fed with slopes: `catmull_rom_slopes`, `natural_slopes` (C2),
`monotone_slopes`, `kochanek_bartels`. Sources: Kochanek and Bartels 1984; Barry and Goldman 1988 and Yuksel et al. 2011
(centripetal Catmull-Rom); Fritsch and Butland 1984 (monotone). Exact to a few 1e-15 of the values' range.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParam
from .quat import Array

Ints = npt.NDArray[np.int64]


def hermite(
    x: npt.ArrayLike,
    knots: Array,
    values: Array,
    outgoing: Array,
    incoming: Array | None = None,
    derivative: int = 0,
) -> Array:
    """Piecewise cubic through `values` at `knots`, held constant outside them.

    Args:
        x: (...) where to evaluate.
        knots: (N,) increasing.
        values: (N, ...) at the knots.
        outgoing: (N, ...) slope on the right of each knot, per unit of x.
        incoming: (N, ...) slope on the left; None for the same, which makes the curve C1.
        derivative: 0 for the value, 1 for the slope; outside the knots that of the nearer end.

    Returns:
        The shape of x followed by the shape of one value.
    """
    x = np.asarray(x, dtype=np.float64)
    incoming = outgoing if incoming is None else incoming
    if len(knots) == 1:
        constant = values[:1] if derivative == 0 else np.zeros_like(values[:1])
        return np.broadcast_to(constant[0], x.shape + values.shape[1:]).copy()
    i = _span(knots, x)
    width = knots[i + 1] - knots[i]
    u = np.clip((x - knots[i]) / width, 0.0, 1.0)
    if derivative == 0:
        v = 1.0 - u
        parts = (v * v * (1.0 + 2.0 * u), u * u * (3.0 - 2.0 * u), width * u * v * v, -width * u * u * v)
    elif derivative == 1:
        bend = 6.0 * u * (1.0 - u) / width
        parts = (-bend, bend, 1.0 - u * (4.0 - 3.0 * u), u * (3.0 * u - 2.0))
    else:
        raise InvalidParam("derivative", derivative, "must be 0 or 1")
    w0, w1, s0, s1 = (_column(part, values) for part in parts)
    out: Array = w0 * values[i] + w1 * values[i + 1] + s0 * outgoing[i] + s1 * incoming[i + 1]
    return out


def segment(
    u: Array,
    start: Array | float,
    start_slope: Array | float,
    end: Array | float = 0.0,
    end_slope: Array | float = 0.0,
) -> Array:
    """One cubic from `start` to `end` at u, 0 to 1, with the slopes of both ends; everything broadcasts."""
    w = 1.0 - u
    out: Array = w * w * (1 + 2 * u) * start + u * u * (3 - 2 * u) * end + u * w * (w * start_slope - u * end_slope)
    return out


def catmull_rom_slopes(knots: Array, values: Array, closed: bool = False) -> Array:
    """Slopes (N, ...) of the parabola through each value and its neighbours; straight at the ends.

    With `closed`, the last value repeats the first and both ends share one slope.
    """
    h, chord = _chords(knots, values)
    out = np.empty(values.shape)
    out[1:-1] = (h[1:] * chord[:-1] + h[:-1] * chord[1:]) / (h[1:] + h[:-1])
    out[0], out[-1] = chord[0], chord[-1]
    if closed:
        out[0] = out[-1] = (h[0] * chord[-1] + h[-1] * chord[0]) / (h[0] + h[-1])
    return out


def natural_slopes(knots: Array, values: Array, start: Array | None = None, end: Array | None = None) -> Array:
    """Slopes (N, ...) that make the curve C2: no curvature at an end, or there the slope `start`, `end` if given."""
    h, chord = _chords(knots, values)
    n = len(knots)
    # rows: below * m[i-1] + here * m[i] + above * m[i+1] = right[i], solved by elimination without pivots (dominant)
    below, here, above = np.zeros(n), np.full(n, 2.0), np.zeros(n)
    right = np.empty(values.shape)
    wide = h.reshape(-1)
    below[1:-1], above[1:-1], here[1:-1] = wide[1:], wide[:-1], 2.0 * (wide[1:] + wide[:-1])
    right[1:-1] = 3.0 * (h[1:] * chord[:-1] + h[:-1] * chord[1:])
    above[0], right[0] = 1.0, 3.0 * chord[0]
    below[-1], right[-1] = 1.0, 3.0 * chord[-1]
    if start is not None:
        here[0], above[0], right[0] = 1.0, 0.0, start
    if end is not None:
        here[-1], below[-1], right[-1] = 1.0, 0.0, end
    for i in range(1, n):
        factor = below[i] / here[i - 1]
        here[i] -= factor * above[i - 1]
        right[i] -= factor * right[i - 1]
    right[-1] /= here[-1]
    for i in range(n - 2, -1, -1):
        right[i] = (right[i] - above[i] * right[i + 1]) / here[i]
    return right


def monotone_slopes(knots: Array, values: Array) -> Array:
    """Slopes (N, ...) under which the curve rises and falls only where the values do: it never leaves their range."""
    h, chord = _chords(knots, values)
    before, after = h[1:] + 2.0 * h[:-1], 2.0 * h[1:] + h[:-1]
    same = chord[1:] * chord[:-1] > 0
    left, right = np.where(same, chord[:-1], 1.0), np.where(same, chord[1:], 1.0)
    out = np.empty(values.shape)
    out[1:-1] = np.where(same, (before + after) / (after / left + before / right), 0.0)
    out[0], out[-1] = chord[0], chord[-1]
    return out


def kochanek_bartels(
    knots: Array,
    values: Array,
    tension: npt.ArrayLike = 0.0,
    continuity: npt.ArrayLike = 0.0,
    bias: npt.ArrayLike = 0.0,
) -> tuple[Array, Array]:
    """Outgoing and incoming slopes (N, ...) for `hermite`, with Kochanek and Bartels' correction for uneven knots.

    Args:
        knots: (N,).
        values: (N, ...).
        tension: Per key (N,) or for all, -1..1: positive bends more sharply.
        continuity: Negative breaks the curve at the key.
        bias: Positive overshoots, negative anticipates.

    Returns:
        outgoing, incoming. Both are zero at the ends: the curve eases in and out.
    """
    h, _ = _chords(knots, values)
    step = np.diff(values, axis=0)
    t, c, b = (
        _column(np.broadcast_to(np.asarray(p, dtype=np.float64), knots.shape)[1:-1], values)
        for p in (tension, continuity, bias)
    )
    scale = (1.0 - t) / (h[1:] + h[:-1])
    outgoing, incoming = np.zeros(values.shape), np.zeros(values.shape)
    outgoing[1:-1] = scale * ((1.0 + c) * (1.0 + b) * step[:-1] + (1.0 - c) * (1.0 - b) * step[1:])
    incoming[1:-1] = scale * ((1.0 - c) * (1.0 + b) * step[:-1] + (1.0 + c) * (1.0 - b) * step[1:])
    return outgoing, incoming


def catmull_rom(points: Array, u: npt.ArrayLike, closed: bool = False, alpha: float = 0.5) -> Array:
    """Curve through `points` (N, D) at u (...) in 0..1; without cusps or loops inside a span for `alpha` 0.5.

    `alpha` 0.5 is centripetal, 0 uniform, 1 chordal. Repeated points count once.
    """
    points = np.asarray(points, dtype=np.float64)
    if closed:
        points = np.concatenate([points, points[:1]])
    length = np.sqrt((np.diff(points, axis=0) ** 2).sum(axis=-1))
    moved = length > 0
    points = points[np.concatenate([[True], moved])]
    knots = np.concatenate([[0.0], np.cumsum(length[moved] ** alpha)])
    if len(points) == 1:
        return hermite(u, knots, points, points)
    return hermite(np.asarray(u) * knots[-1], knots, points, catmull_rom_slopes(knots, points, closed))


def arc_length(points: Array) -> Array:
    """(N,) length along the polyline `points` (N, D) from its first point to each."""
    step = np.diff(points, axis=0)
    return np.concatenate([[0.0], np.cumsum(np.sqrt((step * step).sum(axis=-1)))])


def at_length(points: Array, length: npt.ArrayLike, lengths: Array | None = None) -> Array:
    """Places (..., D) at `length` (...) along the polyline `points` (N, D), held at its ends.

    `lengths` is `arc_length(points)` when the caller has it.
    """
    lengths = arc_length(points) if lengths is None else lengths
    length = np.asarray(length, dtype=np.float64)
    if len(points) == 1:
        return np.broadcast_to(points[0], length.shape + points.shape[1:]).copy()
    i = _span(lengths, length)
    width = lengths[i + 1] - lengths[i]
    u = np.clip((length - lengths[i]) / np.where(width > 0, width, 1.0), 0.0, 1.0)
    u = _column(u, points)
    out: Array = points[i] * (1.0 - u) + points[i + 1] * u
    return out


def evenly(points: Array, spacing: float) -> Array:
    """The polyline `points` (N, D) resampled at equal steps of arc length, the largest that do not exceed `spacing`."""
    if not spacing > 0:
        raise InvalidParam("spacing", spacing, "must be positive")
    lengths = arc_length(points)
    count = max(1, int(np.ceil(lengths[-1] / spacing - 1e-9)))
    return at_length(points, np.linspace(0.0, lengths[-1], count + 1), lengths)


def bspline(t: npt.ArrayLike, control: Array, closed: bool = False, derivative: int = 0) -> Array:
    """Uniform cubic B-spline with coefficients `control` (K, ...) at t (...) in 0..1.

    Open: K - 3 spans, t held at the ends. Closed: K spans, t taken modulo 1. `derivative` 1 gives the rate by t.
    """
    weights, index = _bspline_weights(np.asarray(t, dtype=np.float64), len(control), closed, derivative)
    out: Array = np.einsum("...q,...qc->...c", weights, control.reshape(len(control), -1)[index]).reshape(
        weights.shape[:-1] + control.shape[1:]
    )
    return out


def bspline_matrix(t: Array, count: int, closed: bool = False, derivative: int = 0) -> Array:
    """(M, count) matrix that takes `count` coefficients to the values at t (M,): for least-squares fits."""
    weights, index = _bspline_weights(np.asarray(t, dtype=np.float64), count, closed, derivative)
    out = np.zeros((len(index), count))
    np.add.at(out, (np.arange(len(index))[:, None], index), weights)
    return out


def bezier(control: Array, u: npt.ArrayLike) -> Array:
    """Cubic Bezier curves with control points (..., 4, D) at u (...) in 0..1, by de Casteljau's construction."""
    along: Array = np.asarray(u, dtype=np.float64)[..., None, None]
    while control.shape[-2] > 1:
        control = control[..., :-1, :] * (1.0 - along) + control[..., 1:, :] * along
    return control[..., 0, :]


def bezier_value(
    x: npt.ArrayLike,
    x0: npt.ArrayLike,
    y0: npt.ArrayLike,
    hx0: npt.ArrayLike,
    hy0: npt.ArrayLike,
    hx1: npt.ArrayLike,
    hy1: npt.ArrayLike,
    x1: npt.ArrayLike,
    y1: npt.ArrayLike,
) -> Array:
    """Height at x of F-curve segments from key (x0, y0), its right handle (hx0, hy0) to left handle (hx1, hy1), key.

    As Blender does it: a handle longer in x than the segment is shortened to the segment, then x is a monotone cubic
    of the parameter and is solved for it. Everything broadcasts; x outside a segment gives its nearer key. The
    parameter is right to 1e-12 (1e-5 where the curve stands vertical at that place).
    """
    x, x0, y0, hx0, hy0, hx1, hy1, x1, y1 = np.broadcast_arrays(
        *(np.asarray(v, dtype=np.float64) for v in (x, x0, y0, hx0, hy0, hx1, hy1, x1, y1))
    )
    width = np.where(x1 > x0, x1 - x0, 1.0)
    right, left = np.maximum((hx0 - x0) / width, 0.0), np.maximum((x1 - hx1) / width, 0.0)
    y_right = y0 + (hy0 - y0) / np.maximum(right, 1.0)
    y_left = y1 + (hy1 - y1) / np.maximum(left, 1.0)
    u = _monotone_root(np.clip((x - x0) / width, 0.0, 1.0), np.minimum(right, 1.0), 1.0 - np.minimum(left, 1.0))
    v = 1.0 - u
    # from y0 up, so that a flat segment is exactly flat
    out: Array = y0 + u * (3.0 * v * (v * (y_right - y0) + u * (y_left - y0)) + u * u * (y1 - y0))
    return out


def _monotone_root(x: Array, p: Array, q: Array) -> Array:
    """u in 0..1 at which the cubic Bezier with heights 0, p, q, 1, known to be monotone, equals x in 0..1."""
    c, b, a = 3.0 * p, 3.0 * q - 6.0 * p, 1.0 + 3.0 * p - 3.0 * q
    u, low, high = x.copy(), np.zeros(x.shape), np.ones(x.shape)
    for _ in range(60):
        excess = ((a * u + b) * u + c) * u - x
        slope = (3.0 * a * u + 2.0 * b) * u + c
        low, high = np.where(excess < 0, u, low), np.where(excess > 0, u, high)
        step = np.divide(excess, slope, out=np.full(x.shape, np.inf), where=slope > 1e-12)
        newton = u - step
        # Newton's step where it stays between the bounds, else their middle: converges whatever the handles
        target = np.where((newton >= low) & (newton <= high), newton, 0.5 * (low + high))
        target = np.where(excess == 0, u, target)
        moved = np.abs(target - u).max(initial=0.0)
        u = target
        if moved < 1e-13:
            break
    return u


def _bspline_weights(t: Array, count: int, closed: bool, derivative: int) -> tuple[Array, Ints]:
    """Weights (..., 4) of the four active coefficients and their indices (..., 4)."""
    spans = count if closed else count - 3
    if spans < 1:
        raise InvalidParam("control", count, "a cubic B-spline needs at least 4 coefficients, a closed one 1")
    place = np.mod(t, 1.0) * spans if closed else np.clip(t, 0.0, 1.0) * spans
    start = np.minimum(place.astype(np.int64), spans - 1)
    u = place - start
    v = 1.0 - u
    if derivative == 0:
        parts = [v**3, (3.0 * u - 6.0) * u * u + 4.0, ((3.0 - 3.0 * u) * u + 3.0) * u + 1.0, u**3]
        weights = np.stack(parts, axis=-1) / 6.0
    elif derivative == 1:
        parts = [-v * v, (3.0 * u - 4.0) * u, (2.0 - 3.0 * u) * u + 1.0, u * u]
        weights = np.stack(parts, axis=-1) * (0.5 * spans)
    else:
        raise InvalidParam("derivative", derivative, "must be 0 or 1")
    return weights, (start[..., None] + np.arange(4)) % count


def _span(knots: Array, x: Array) -> Ints:
    """Index of the span that holds x (...), the first or last for x outside."""
    return np.clip(np.searchsorted(knots, x, side="right") - 1, 0, len(knots) - 2)


def _column(x: Array, values: Array) -> Array:
    """x (...) with axes added to multiply rows of `values` (N, ...)."""
    return x.reshape(x.shape + (1,) * (values.ndim - 1))


def _chords(knots: Array, values: Array) -> tuple[Array, Array]:
    """Widths of the spans, shaped to multiply, and slopes of their chords (N - 1, ...)."""
    if len(knots) < 2 or len(knots) != len(values) or not np.all(np.diff(knots) > 0):
        raise InvalidParam("knots", knots.shape, "needs two or more increasing knots, one a value")
    h = _column(np.diff(knots), values)
    return h, np.diff(values, axis=0) / h
