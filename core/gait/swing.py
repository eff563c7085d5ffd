"""Swinging feet: from one footfall to the next at the speeds these give, over whatever lies between them."""

from __future__ import annotations

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..maths import quat, trig
from ..maths.ramp import clamp, smoothstep
from ..maths.spline import segment
from ..skeleton import Array
from .carriage import Carriage, along
from .feet import EASE, EDGE, SIDEWAYS, STEP, TOE_REST, Foot, Ints, above, toe_flexion

MOST_TOE = np.radians(69.5)
"""Furthest the toes are bent up."""
CONTROLS = 17
"""Of the spline by which a swing is lifted over the ground, evenly from end to end."""
FINE = 3
"""So many more looks are taken on uneven ground, whose edges may be anywhere."""
TOUCH, STUB = 1e-3, 8e-3
"""A swinging foot may be so deep in the ground; one that is by the second as it leaves stubs a riser [leg lengths]."""


class Swing:
    """The swings of one foot, which leave and reach its footfalls at the speeds these give."""

    def __init__(self, foot: Foot) -> None:
        self.foot = foot
        self.count = len(foot.falls) - 1
        self.lengths = np.maximum(foot.strikes[1:] - foot.offs[:-1], 1e-3)
        self.looks = np.linspace(0.0, 1.0, 1 + (CONTROLS - 1) * (1 if foot.even else FINE))
        self.raises = np.zeros(self.count)
        self.lifts = np.zeros((self.count, CONTROLS))
        self.retreats = np.zeros(self.count)
        self.advances = np.zeros(self.count)
        self.uneven = np.zeros(self.count, dtype=bool)

    @property
    def times(self) -> Array:
        """When the body must be known to `prepare` the swings [s]: around their ends, then along them."""
        first, last = self.foot.offs[:-1], self.foot.strikes[1:]
        ends = (first - STEP, first - EDGE, last + EDGE, last + STEP)
        inside = (first, first + STEP, last - STEP, last)
        looks = first[:, None] + self.looks * self.lengths[:, None]
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
        self._clear(body.part(slice(8 * n, None)))

    def _clear(self, around: Carriage) -> None:
        """Lift the swings over the ground, given the body at their looks."""
        foot, looks = self.foot, self.looks
        step = (len(looks) - 1) // (CONTROLS - 1)
        every = np.arange(self.count)
        if not foot.even:
            coarse = np.tile(np.arange(len(looks)) % step == 0, self.count)
            needed = self._needed(around.part(coarse), every, looks[::step])
            # before a step up the foot is first drawn back, or its toes would go through the riser
            climbs = foot.places[1:, 2] > foot.places[:-1, 2] - 0.02 * foot.reach
            early = np.where(climbs, needed[:, 1:6].max(axis=1), 0.0)
            self.retreats = np.clip(0.6 * (early - 0.04 * foot.reach), 0.0, 0.16 * foot.reach)
            # and before a step down it is brought ahead, or its heel would go through the edge
            late = np.where(climbs, 0.0, needed[:, -6:-1].max(axis=1))
            self.advances = np.clip(0.8 * late, 0.0, 0.08 * foot.reach)
        needed = self._needed(around, every, looks)
        # near its ends a swing is where its footfalls put it; a wide bump could not change that
        bump = _bump(looks)
        able = np.where(bump > 0.6, needed / np.maximum(bump, 0.6), 0.0)
        self.raises = np.maximum(able.max(axis=1), 0.0)
        # on a level floor what is left is known: a raised foot is higher by as much
        left = needed - self.raises[:, None] * bump
        if self.uneven.any():
            left = np.where(self.uneven[:, None], self._needed(around, every, looks), left)
        self._lift(every, np.maximum(left, 0.0))
        for _ in range(0 if foot.even else 4):
            stuck = np.flatnonzero(self.uneven)
            if len(stuck) == 0:
                break
            which = np.repeat(np.isin(every, stuck), len(looks))
            left = np.maximum(self._needed(around.part(which), stuck, looks), 0.0)[:, 1:-1]
            self.uneven[stuck] = left.max(axis=1) > TOUCH * foot.reach
            self._lift(stuck, np.pad(left, ((0, 0), (1, 1))))
            soon = left[:, : 5 * step].max(axis=1) > STUB * foot.reach
            self.retreats[stuck] += np.where(climbs[stuck] & soon, 0.04 * foot.reach, 0.0)

    def _lift(self, s: Ints, left: Array) -> None:
        """Lift swings s (n,) by what is `left` (n, looks) to be raised, from well before to well after it."""
        step = (len(self.looks) - 1) // (CONTROLS - 1)
        rows, u = np.repeat(np.arange(len(s)), len(self.looks)), np.tile(self.looks, len(s))
        lifts = np.zeros((len(s), CONTROLS))
        for _ in range(3):
            short = left - _spline(lifts, rows, u).reshape(left.shape)
            short[:, [0, -1]] = 0.0
            low = short.max(axis=1) > TOUCH * self.foot.reach
            if not low.any():
                break
            short[~low] = 0.0
            padded = np.pad(np.maximum(short, 0.0), ((0, 0), (2 * step, 2 * step)))
            more = sliding_window_view(padded, 4 * step + 1, axis=1)[:, ::step].max(axis=2)
            more[:, [0, 1, -2, -1]] = 0.0
            lifts += more
        self.lifts[s] += lifts

    def _nominal(self, s: Ints, u: Array, body: Carriage) -> Array:
        """(n, 4) ankle and pitch by the swing curves of the gait, seen from the hip."""
        foot = self.foot
        w = smoothstep(u)[:, None]
        now, then = (along(foot.swings, foot.cycle_of[k], u) for k in (s, s + 1))
        thigh, knee, pitch = ((1 - w) * now + w * then).T
        a, b = foot.bones
        ahead = a * trig.sin(thigh) + b * trig.sin(thigh - knee)
        down = a * trig.cos(thigh) + b * trig.cos(thigh - knee)
        heading = body.base[:, 2]
        ankle = foot.hips(body) + np.column_stack([ahead * trig.sin(heading), -ahead * trig.cos(heading), -down])
        return np.column_stack([ankle, pitch])

    def at(self, s: Ints, times: Array, body: Carriage) -> tuple[Array, Array, Array]:
        """Ankle (n, 3), rotation of the foot (n, 4) and its pitch (n,) in swing s (n,)."""
        foot = self.foot
        u = clamp((times - foot.offs[s]) / self.lengths[s])
        (p0, v0), (p1, v1) = self.start_miss, self.end_miss
        out = self._nominal(s, u, body) + segment(u[:, None], p0[s], v0[s], p1[s], v1[s])
        pitch, hips = out[:, 3], foot.hips(body)
        # where a swing begins and ends the foot is planted, and there the leg reaches
        able = inside(u, 0.03)[:, None]
        # what the leg cannot reach is brought within its reach first, or raising the foot would but shorten the excess
        ankles = out[:, :3] + able * (foot.within_reach(out[:, :3], hips) - out[:, :3])
        ankles[:, 2] += self.raises[s] * _bump(u) + _spline(self.lifts, s, u)
        if self.retreats.any():
            back = smoothstep(u / 0.12) * (1.0 - smoothstep((u - 0.15) / 0.35))
            ankles += (self.retreats[s] * back)[:, None] * foot.axes[s, 1]
        if self.advances.any():
            ahead = smoothstep((u - 0.35) / 0.4) * smoothstep((1.0 - u) / 0.22)
            ankles -= (self.advances[s] * ahead)[:, None] * foot.axes[s + 1, 1]
        ankles = ankles + able * (foot.within_reach(ankles, hips) - ankles)
        turn = quat.slerp(foot.turns[s], foot.turns[s + 1], smoothstep(u))
        bend = foot.dorsiflexion(np.moveaxis(quat.to_matrix(turn), -1, -2), pitch, hips - ankles)
        low, high = foot.limits
        far = above(bend - high + 2 * EASE, EASE) - above(low + 2 * EASE - bend, EASE)
        pitch = pitch - inside(u) * far
        pitch = pitch + inside(u, 0.015) * self._too_steep(s, ankles, turn, pitch, u)
        return ankles, quat.multiply(turn, quat.about(SIDEWAYS, pitch)), pitch

    def _too_steep(self, s: Ints, ankles: Array, turn: Array, pitch: Array, u: Array) -> Array:
        """(n,) by how much a foot that has just left is steeper than toes with their ends on the ground can bend."""
        out, length = np.zeros(len(s)), math.hypot(*self.foot.toe)
        at = np.flatnonzero((pitch < 0.2 - MOST_TOE) & (u < 0.3)) if length > 1e-6 else np.zeros(0, dtype=np.int64)
        now = pitch[at]
        for _ in range(3 if len(at) else 0):
            fall = s[at]
            balls = ankles[at] + quat.rotate(quat.multiply(turn[at], quat.about(SIDEWAYS, now)), self.foot.pivots[1])
            up = quat.dot(balls - self.foot.places[fall], self.foot.axes[fall, 2]) - self.foot.ankle[2]
            free = np.arcsin(clamp((up - self.foot.pivots[1, 2]) / length))
            far = above(-MOST_TOE - free - pitch[at], EASE)
            if not far.any():
                break
            now = pitch[at] + far
        out[at] = (now - pitch[at]) * (1.0 - smoothstep((u[at] - 0.15) / 0.15))
        return out

    def toes(self, s: Ints, times: Array, balls: Array, under: Array, pitch: Array) -> Array:
        """(n,) flexion of the toes, up positive, in swing s (n,) [rad], their ends above the ground.

        Args:
            balls: (n, 3) places of the toe joint [m].
            under: (n,) height of the ground there [m].
            pitch: (n,) of the foot [rad].
        """
        u = clamp((times - self.foot.offs[s]) / self.lengths[s])
        (first, first_rate), (last, last_rate) = ((p[s, 3], v[s, 3]) for p, v in (self.start, self.end))
        part = 0.45
        left = clamp(u / part)
        early = segment(left, toe_flexion(first), part * _toe_rate(first) * first_rate, 0.0, 0.0)
        coming = clamp((u - 1.0 + part) / part)
        late = segment(coming, 0.0, 0.0, toe_flexion(last), part * _toe_rate(last) * last_rate)
        free = clamp(early + late, -0.1, MOST_TOE)
        length = math.hypot(*self.foot.toe)
        if length < 1e-6:
            return free
        floor = under + self.foot.ankle[2] + self.foot.pivots[1, 2]
        least = np.arcsin(clamp((floor - balls[:, 2]) / length, -1.0, 0.2)) - pitch
        lifted = np.minimum(least + above(free - least, 0.2 * EASE), MOST_TOE)
        out: Array = free + inside(u, 0.03) * (lifted - free)
        return out

    def _needed(self, body: Carriage, which: Ints, looks: Array) -> Array:
        """(n, looks) by how much swings `which` (n,) must still be raised not to touch the ground [m].

        Notes which of them go over uneven ground.
        """
        foot = self.foot
        s, u = np.repeat(which, len(looks)), np.tile(looks, len(which))
        times = foot.offs[s] + u * self.lengths[s]
        ankles, turns, pitch = self.at(s, times, body)
        balls = ankles + quat.rotate(turns, foot.pivots[1])
        under = foot.floor(balls, times)
        toes = self.toes(s, times, balls, under, pitch)
        tips = balls + quat.rotate(quat.multiply(turns, quat.about(SIDEWAYS, toes)), foot.toe)
        heels = ankles + quat.rotate(turns, foot.pivots[0])
        floors = np.stack([foot.floor(heels, times), under, foot.floor(tips, times)])
        high = foot.ankle[2] + foot.pivots[1, 2]
        clear = foot.lift[foot.cycle_of[s + 1]] * np.minimum(1.0, 1.6 * _bump(u))
        above = np.stack([heels[:, 2], balls[:, 2] - high, tips[:, 2] - high])
        needed: Array = ((floors - above).max(axis=0) + clear).reshape(len(which), -1)
        if not foot.even:
            self.uneven[which] = np.ptp(floors.reshape(3, len(which), -1), axis=(0, 2)) > 1e-6
            # level ground is looked at alike, be it a mesh or not
            step = (len(looks) - 1) // (CONTROLS - 1)
            needed[np.ix_(~self.uneven[which], np.arange(len(looks)) % step > 0)] = -1.0
        return needed


def _toe_rate(pitch: Array) -> Array:
    """(n,) change of `toe_flexion` with the pitch."""
    return np.where(pitch < 0, -1.0, TOE_REST)


def _bump(u: Array) -> Array:
    """1 in the middle of a swing, 0 without a slope at its ends."""
    return inside(u, 0.24)


def _spline(controls: Array, s: Ints, u: Array) -> Array:
    """(n,) uniform cubic B-spline through about `controls` (S, N), row s (n,) at u (n,); its ends must be zero."""
    last = controls.shape[1] - 1
    at = clamp(u) * last
    k = np.minimum(at.astype(np.int64), last - 1)
    t = at - k
    r = 1.0 - t
    weights = r**3, 4 - 6 * t * t + 3 * t**3, 4 - 6 * r * r + 3 * r**3, t**3
    near = (controls[s, np.minimum(np.maximum(k + i, 0), last)] for i in (-1, 0, 1, 2))
    out: Array = sum(w * c for w, c in zip(weights, near, strict=True)) / 6.0
    return out


def inside(u: Array, edge: float = 0.08) -> Array:
    """1 within a swing, 0 without a slope at its ends, which belong to the footfalls; it changes over `edge` of it."""
    return smoothstep(np.minimum(u, 1.0 - u) / edge)
