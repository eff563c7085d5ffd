"""Swinging feet: from one footfall to the next at the speeds these give, over whatever lies between them."""

from __future__ import annotations

import numpy as np

from ..maths import quat
from ..maths.ramp import smoothstep
from ..maths.spline import segment
from ..skeleton import Array
from .carriage import Carriage, along
from .feet import EASE, EDGE, SIDEWAYS, STEP, TOE_REST, Foot, Ints, above, toe_flexion

MOST_TOE = np.radians(69.5)
"""Furthest the toes are bent up."""
_LOOKS = np.linspace(0.0, 1.0, 17)
"""Where in a swing the foot's height over the ground is looked at."""


class Swing:
    """The swings of one foot, which leave and reach its footfalls at the speeds these give."""

    def __init__(self, foot: Foot) -> None:
        self.foot = foot
        self.count = len(foot.falls) - 1
        self.lengths = np.maximum(foot.strikes[1:] - foot.offs[:-1], 1e-3)
        self.raises = np.zeros(self.count)
        self.lifts = np.zeros((self.count, len(_LOOKS)))
        self.retreats = np.zeros(self.count)

    @property
    def times(self) -> Array:
        """When the body must be known to `prepare` the swings [s]: around their ends, then along them."""
        first, last = self.foot.offs[:-1], self.foot.strikes[1:]
        ends = (first - STEP, first - EDGE, last + EDGE, last + STEP)
        inside = (first, first + STEP, last - STEP, last)
        looks = first[:, None] + _LOOKS * self.lengths[:, None]
        return np.concatenate([*ends, *inside, looks.ravel()])

    def prepare(self, body: Carriage) -> None:
        """Fit the swings to their footfalls, given the body at `times`."""
        n, foot = self.count, self.foot
        if n == 0:
            return
        before, after = np.arange(n), np.arange(1, n + 1)
        times = self.times[: 8 * n]
        at_ends = body.part(slice(0, 4 * n))
        j = np.concatenate([before, before, after, after])
        ankles, pitch = foot.planted(j, times[: 4 * n], at_ends)
        a, b, c, d = np.column_stack([ankles, pitch]).reshape(4, n, 4)
        per_swing = self.lengths[:, None] / STEP
        self.start, self.end = (b, (b - a) * per_swing), (c, (d - c) * per_swing)
        s = np.tile(before, 4)
        u = (times[4 * n :] - foot.offs[s]) / self.lengths[s]
        a, b, c, d = self._nominal(s, u, body.part(slice(4 * n, 8 * n))).reshape(4, n, 4)
        self.start_miss = self.start[0] - a, self.start[1] - (b - a) * per_swing
        self.end_miss = self.end[0] - d, self.end[1] - (d - c) * per_swing
        around = body.part(slice(8 * n, None))
        needed = self._needed(around)
        # before a step up the foot is first drawn back, or its toes would go through the riser
        early = needed[:, 1 : len(_LOOKS) // 3].max(axis=1)
        self.retreats = np.clip(0.6 * (early - 0.04 * foot.reach), 0.0, 0.16 * foot.reach)
        if self.retreats.any():
            needed = self._needed(around)
        # near its ends a swing is where its footfalls put it; a wide bump could not change that
        able = np.where(_bump(_LOOKS) > 0.6, needed / np.maximum(_bump(_LOOKS), 0.6), 0.0)
        self.raises = np.maximum(able.max(axis=1), 0.0)
        left = np.maximum(self._needed(around), 0.0)
        left[:, [0, -1]] = 0.0
        # between two looks an edge may pass unseen: lifted from well before to well after
        self.lifts = np.max([np.roll(left, k, axis=1) for k in (-2, -1, 0, 1, 2)], axis=0)
        self.lifts[:, [0, 1, -2, -1]] = 0.0

    def _nominal(self, s: Ints, u: Array, body: Carriage) -> Array:
        """(n, 4) ankle and pitch by the swing curves of the gait, seen from the hip."""
        foot = self.foot
        w = smoothstep(u)[:, None]
        now, then = (along(foot.swings, foot.cycle_of[k], u) for k in (s, s + 1))
        thigh, knee, pitch = ((1 - w) * now + w * then).T
        a, b = foot.bones
        ahead = a * np.sin(thigh) + b * np.sin(thigh - knee)
        down = a * np.cos(thigh) + b * np.cos(thigh - knee)
        heading = body.base[:, 2]
        ankle = foot.hips(body) + np.column_stack([ahead * np.sin(heading), -ahead * np.cos(heading), -down])
        return np.column_stack([ankle, pitch])

    def at(self, s: Ints, times: Array, body: Carriage) -> tuple[Array, Array, Array]:
        """Ankle (n, 3), rotation of the foot (n, 4) and its pitch (n,) in swing s (n,)."""
        foot = self.foot
        u = np.clip((times - foot.offs[s]) / self.lengths[s], 0.0, 1.0)
        (p0, v0), (p1, v1) = self.start_miss, self.end_miss
        out = self._nominal(s, u, body) + segment(u[:, None], p0[s], v0[s], p1[s], v1[s])
        ankles, pitch = out[:, :3].copy(), out[:, 3]
        ankles[:, 2] += self.raises[s] * _bump(u) + _spline(self.lifts, s, u)
        if self.retreats.any():
            back = smoothstep(np.clip(u / 0.12, 0.0, 1.0)) * (1.0 - smoothstep(np.clip((u - 0.15) / 0.35, 0.0, 1.0)))
            ankles += (self.retreats[s] * back)[:, None] * foot.axes[s, 1]
        hips = foot.hips(body)
        # where a swing begins and ends the foot is planted, and there the leg reaches
        ankles = ankles + inside(u, 0.03)[:, None] * (foot.within_reach(ankles, hips) - ankles)
        turn = quat.slerp(foot.turns[s], foot.turns[s + 1], smoothstep(u))
        bend = foot.dorsiflexion(np.moveaxis(quat.to_matrix(turn), -1, -2), pitch, hips - ankles)
        low, high = foot.limits
        far = above(bend - high + 2 * EASE, EASE) - above(low + 2 * EASE - bend, EASE)
        pitch = pitch - inside(u) * far
        return ankles, quat.multiply(turn, quat.about(SIDEWAYS, pitch)), pitch

    def toes(self, s: Ints, times: Array, ankles: Array, soles: Array, pitch: Array) -> Array:
        """(n,) flexion of the toes, up positive, in swing s (n,) [rad], their ends above the ground.

        Args:
            ankles, soles, pitch: What `at` gives.
        """
        u = np.clip((times - self.foot.offs[s]) / self.lengths[s], 0.0, 1.0)
        (first, first_rate), (last, last_rate) = ((p[s, 3], v[s, 3]) for p, v in (self.start, self.end))
        part = 0.45
        left = np.clip(u / part, 0.0, 1.0)
        early = segment(left, toe_flexion(first), part * _toe_rate(first) * first_rate, 0.0, 0.0)
        coming = np.clip((u - 1.0 + part) / part, 0.0, 1.0)
        late = segment(coming, 0.0, 0.0, toe_flexion(last), part * _toe_rate(last) * last_rate)
        free: Array = np.clip(early + late, -0.1, MOST_TOE)
        length = float(np.linalg.norm(self.foot.toe))
        if length < 1e-6:
            return free
        balls = ankles + quat.rotate(soles, self.foot.pivots[1])
        floor = self.foot.floor(balls, times) + self.foot.ankle[2] + self.foot.pivots[1, 2]
        least = np.arcsin(np.clip((floor - balls[:, 2]) / length, -1.0, 0.2)) - pitch
        lifted = np.minimum(least + above(free - least, 0.2 * EASE), MOST_TOE)
        out: Array = free + inside(u, 0.03) * (lifted - free)
        return out

    def _needed(self, body: Carriage) -> Array:
        """(S, looks) by how much the foot must still be raised at each look, for none of it to touch the ground [m]."""
        foot = self.foot
        s = np.repeat(np.arange(self.count), len(_LOOKS))
        u = np.tile(_LOOKS, self.count)
        times = foot.offs[s] + u * self.lengths[s]
        ankles, turns, pitch = self.at(s, times, body)
        toes = self.toes(s, times, ankles, turns, pitch)
        tip = foot.pivots[1] + quat.rotate(quat.about(SIDEWAYS, toes), foot.toe)
        points = [foot.pivots[0], foot.pivots[1], tip]
        rest = np.array([0.0, foot.ankle[2] + foot.pivots[1, 2], foot.ankle[2] + foot.pivots[1, 2]])
        clear = foot.lift[foot.cycle_of[s + 1]] * np.minimum(1.0, 1.6 * _bump(u))
        needed = np.full(len(s), -1.0)
        for point, high in zip(points, rest, strict=True):
            at = ankles + quat.rotate(turns, point)
            needed = np.maximum(needed, self.foot.floor(at, times) + high + clear - at[:, 2])
        return needed.reshape(self.count, -1)


def _toe_rate(pitch: Array) -> Array:
    """(n,) change of `toe_flexion` with the pitch."""
    return np.where(pitch < 0, -1.0, TOE_REST)


def _bump(u: Array) -> Array:
    """1 in the middle of a swing, 0 without a slope at its ends."""
    return smoothstep(np.clip(u / 0.24, 0.0, 1.0)) * smoothstep(np.clip((1.0 - u) / 0.24, 0.0, 1.0))


def _spline(controls: Array, s: Ints, u: Array) -> Array:
    """(n,) uniform cubic B-spline through about `controls` (S, N), row s (n,) at u (n,); its ends must be zero."""
    last = controls.shape[1] - 1
    at = np.clip(u, 0.0, 1.0) * last
    k = np.minimum(at.astype(np.int64), last - 1)
    t = at - k
    r = 1.0 - t
    weights = r**3, 4 - 6 * t * t + 3 * t**3, 4 - 6 * r * r + 3 * r**3, t**3
    near = (controls[s, np.clip(k + i, 0, last)] for i in (-1, 0, 1, 2))
    out: Array = sum(w * c for w, c in zip(weights, near, strict=True)) / 6.0
    return out


def inside(u: Array, edge: float = 0.08) -> Array:
    """1 within a swing, 0 without a slope at its ends, which belong to the footfalls; it changes over `edge` of it."""
    return smoothstep(np.clip(u / edge, 0.0, 1.0)) * smoothstep(np.clip((1.0 - u) / edge, 0.0, 1.0))
