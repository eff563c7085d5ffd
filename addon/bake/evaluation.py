"""F-curves evaluated in numpy, many at once.

It follows Blender's `fcurve_eval_keyframes`; what numpy does not cover (modifiers, easing curves, discrete properties)
is asked of Blender curve by curve.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...core.maths.spline import bezier_value
from .curves import INTERPOLATION, Array, Curve

SNAP = 1e-4
"""Blender takes the value of a key, without interpolation, within this distance of it [frames]."""


def evaluate(curves: Sequence[Curve], frames: Array) -> Array:
    """(T, C) values of the curves at `frames` (T,), as Blender would give them, to single precision."""
    frames = np.asarray(frames, np.float32).astype(np.float64)
    out = np.empty((len(curves), len(frames)))
    asked = [c for c, curve in enumerate(curves) if not curve.plain]
    for group in _alike(curves):
        times = curves[group[0]].keys[:, 0].astype(np.float64)
        if not np.all(np.diff(times) > 0):
            asked += group
            continue
        values = np.stack([curves[c].keys[:, 1] for c in group]).astype(np.float64)
        left = np.maximum(np.searchsorted(times - SNAP, frames, side="right") - 1, 0)
        off = np.abs(frames - times[left]) > SNAP
        found = values[:, left]
        if off.any():
            keys = _keys([curves[c] for c in group], times, values)
            asked += [group[c] for c in np.flatnonzero(keys.odd)]
            found[:, off] = _between(keys, frames[off], left[off])
        out[group] = found
    for c in asked:
        at = curves[c].fcurve.evaluate
        out[c] = [at(f) for f in frames.tolist()]
    return out.T


def _alike(curves: Sequence[Curve]) -> Iterator[list[int]]:
    """Numbers of the plain curves, those with the same key frames together."""
    groups: dict[bytes, list[int]] = {}
    for c, curve in enumerate(curves):
        if curve.plain:
            groups.setdefault(curve.keys[:, 0].tobytes(), []).append(c)
    yield from groups.values()


@dataclass(frozen=True, eq=False)
class _Keys:
    """Everything about the keys of C curves at the same `times` (K,).

    `values` and `kinds` of interpolation are (C, K); `before` and `after` (C, K, 2) the handles (zero where no key is
    smooth); `linear` (C,) those that go on straight beyond their ends; `odd` (C,) those that only Blender can evaluate.
    """

    times: Array
    values: Array
    kinds: Array
    before: Array
    after: Array
    linear: Array
    odd: Array


def _keys(curves: Sequence[Curve], times: Array, values: Array) -> _Keys:
    kinds = np.empty(values.shape, np.uint8)
    handles = np.zeros((2, *values.shape, 2), np.float32)
    for c, curve in enumerate(curves):
        points = curve.fcurve.keyframe_points
        points.foreach_get("interpolation", kinds[c])
        if (kinds[c] == INTERPOLATION["BEZIER"]).any():
            points.foreach_get("handle_left", handles[0, c].reshape(-1))
            points.foreach_get("handle_right", handles[1, c].reshape(-1))
    before, after = handles.astype(np.float64)
    smooth = kinds == INTERPOLATION["BEZIER"]
    # a handle on the wrong side of its key: time would run back and forth
    backward = smooth & ((before[..., 0] > times + SNAP) | (after[..., 0] < times - SNAP))
    odd = (kinds > INTERPOLATION["BEZIER"]).any(axis=1) | backward.any(axis=1)
    linear = np.array([c.fcurve.extrapolation == "LINEAR" for c in curves])
    return _Keys(times, values, kinds, before, after, linear, odd)


def _between(keys: _Keys, frames: Array, left: Array) -> Array:
    """(C, n) values off the keys: `frames` (n,) whose key to the left (or the first) is `left` (n,)."""
    times, values = keys.times, keys.values
    out = np.empty((len(values), len(frames)))
    ends = ((frames < times[0], 0, 1, keys.before), (frames > times[-1], -1, -2, keys.after))
    for at, end, neighbour, handles in ends:
        if at.any():
            slope = _slope(keys, end, neighbour, handles) * keys.linear
            out[:, at] = values[:, end, None] + slope[:, None] * (frames[at] - times[end])
    inside = (frames > times[0]) & (frames < times[-1])
    if inside.any():
        k, x = left[inside], frames[inside]
        kind = keys.kinds[:, k]
        rise = np.where(kind == INTERPOLATION["CONSTANT"], 0.0, values[:, k + 1] - values[:, k])
        inner = values[:, k] + rise * ((x - times[k]) / (times[k + 1] - times[k]))
        smooth = kind == INTERPOLATION["BEZIER"]
        out[:, inside] = np.where(smooth, _bezier(keys, x, k), inner) if smooth.any() else inner
    return out


def _slope(keys: _Keys, end: int, neighbour: int, handles: Array) -> Array:
    """(C,) slope of straight extrapolation at the first or last key, on the side of these handles."""
    slope = np.zeros(len(keys.values))
    if len(keys.times) > 1:
        straight = (keys.values[:, neighbour] - keys.values[:, end]) / (keys.times[neighbour] - keys.times[end])
        slope = np.where(keys.kinds[:, end] == INTERPOLATION["LINEAR"], straight, slope)
    run, rise = handles[:, end, 0] - keys.times[end], handles[:, end, 1] - keys.values[:, end]
    smooth = keys.kinds[:, end] == INTERPOLATION["BEZIER"]
    return np.where(smooth, rise / np.where(run == 0, np.inf, run), slope)


def _bezier(keys: _Keys, x: Array, k: Array) -> Array:
    """(C, n) values at frames `x` (n,) on the smooth segments from keys `k` (n,) to the next ones."""
    right, left = keys.after[:, k], keys.before[:, k + 1]
    heights = (keys.values[:, k], right[..., 1], left[..., 1], keys.values[:, k + 1])
    x0, hx0, hx1, x1 = keys.times[k], right[..., 0], left[..., 0], keys.times[k + 1]
    if np.ptp(hx0, axis=0).max() < SNAP and np.ptp(hx1, axis=0).max() < SNAP:
        # automatic handles are as long on every curve: solve time once, for the weights of the four heights
        weights = (bezier_value(x, x0, a, hx0[0], b, hx1[0], c, x1, d) for a, b, c, d in np.eye(4))
        return np.sum([w * h for w, h in zip(weights, heights, strict=True)], axis=0)
    y0, hy0, hy1, y1 = heights
    return bezier_value(x, x0, y0, hx0, hy0, hx1, hy1, x1, y1)
