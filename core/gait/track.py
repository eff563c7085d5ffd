"""Where a body is meant to be over time: x, y and heading, with its speeds, at any time."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ..errors import InvalidMotion
from ..maths import trig
from ..maths.spline import segment
from ..motion import Path
from ..skeleton import Array

AXES = ("x", "y", "heading")
STILL = 0.03
"""Slower than this, in leg lengths a second, a body stands."""


class Track:
    """A base track; before its first and after its last sample it goes on as it went there.

    Attributes:
        base: (T, 3) x, y [m], heading [rad].
        fps: Samples a second [Hz].
        forward, sideways, turning: (T,) speed ahead and to the left [m/s], turning rate to the left [rad/s].
    """

    def __init__(self, path: Path) -> None:
        if path.axes != AXES or path.times is None:
            raise InvalidMotion(f"a base track has the axes {', '.join(AXES)} and times, not {', '.join(path.axes)}")
        steps = np.diff(path.times)
        if len(path.points) < 2 or steps.min() <= 0 or np.ptp(steps) > 1e-3 * steps.mean():
            raise InvalidMotion("a base track needs at least two samples at even times; resample the path first")
        self.base = np.array(path.points)
        self.start = float(path.times[0])
        self.fps = float(1.0 / steps.mean())
        velocity = np.gradient(self.base, 1.0 / self.fps, axis=0, edge_order=2 if len(self.base) > 2 else 1)
        self._slopes = velocity / self.fps
        self._rows: list[list[float]] = np.concatenate([self.base, self._slopes], axis=1).tolist()
        heading = self.base[:, 2]
        ahead = np.column_stack([trig.sin(heading), -trig.cos(heading)])
        self.forward: Array = (velocity[:, :2] * ahead).sum(axis=1)
        self.sideways: Array = velocity[:, 0] * trig.cos(heading) + velocity[:, 1] * trig.sin(heading)
        self.turning: Array = velocity[:, 2]

    @property
    def duration(self) -> float:
        """[s]"""
        return (len(self.base) - 1) / self.fps

    def fastest(self) -> float:
        """Highest speed, whatever the direction [m/s]."""
        return float(np.hypot(self.forward, self.sideways).max())

    def at(self, times: npt.ArrayLike) -> Array:
        """(..., 3) base at times (...) [s from the first sample]."""
        t = np.asarray(times, dtype=np.float64)
        inside = np.clip(t, 0.0, self.duration)
        k = np.minimum((inside * self.fps).astype(np.int64), len(self.base) - 2)
        u = (inside * self.fps - k)[..., None]
        out = segment(u, self.base[k], self._slopes[k], self.base[k + 1], self._slopes[k + 1])
        for end, beyond in ((0, t < 0.0), (-1, t > self.duration)):
            if beyond.any():
                out[beyond] = _carried_on(self, end, (t - inside)[beyond])
        return out

    def point(self, time: float) -> tuple[float, float, float]:
        """x, y, heading at one time [s]; `at` is for many."""
        if not 0.0 <= time <= self.duration:
            beyond = np.array(time - min(max(time, 0.0), self.duration))
            x, y, heading = _carried_on(self, 0 if time < 0 else -1, beyond).tolist()
            return x, y, heading
        k = min(int(time * self.fps), len(self._rows) - 2)
        u = time * self.fps - k
        w = 1.0 - u
        a, b, c, d = w * w * (1 + 2 * u), u * u * (3 - 2 * u), u * w * w, -u * u * w
        (x0, y0, h0, p0, q0, r0), (x1, y1, h1, p1, q1, r1) = self._rows[k], self._rows[k + 1]
        return (
            a * x0 + b * x1 + c * p0 + d * p1,
            a * y0 + b * y1 + c * q0 + d * q1,
            a * h0 + b * h1 + c * r0 + d * r1,
        )

    def speeds(self, time: float, window: float) -> tuple[float, float, float]:
        """Mean speed ahead, to the left and of turning over a window [s] around a time."""
        a, here, b = (self.point(t) for t in (time - window / 2, time, time + window / 2))
        x, y, turn = ((after - before) / window for before, after in zip(a, b, strict=True))
        s, c = math.sin(here[2]), math.cos(here[2])
        return s * x - c * y, c * x + s * y, turn


def _carried_on(track: Track, end: int, beyond: Array) -> Array:
    """(..., 3) base `beyond` seconds after (before, where negative) an end of the track, at its speeds there."""
    forward, sideways, turn = track.forward[end], track.sideways[end], track.turning[end]
    x, y, heading = track.base[end]
    # the chord of the arc: its direction is that of the middle of the turn
    half = turn * beyond / 2
    chord = beyond * np.sinc(half / np.pi)
    s, c = np.sin(heading + half), np.cos(heading + half)
    along, across = chord * forward, chord * sideways
    out: Array = np.stack([x + along * s + across * c, y + across * s - along * c, heading + 2 * half], axis=-1)
    return out
