"""The feet of a planned walk or run: planted exactly, rolled over heel and ball, swung to the next footfall."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..maths import quat
from ..maths.ramp import clamp, smoothstep
from ..maths.spline import segment
from ..skeleton import Array
from .carriage import Carriage, along
from .cycle import Cycle
from .footfalls import FOREVER, Plan
from .physique import Physique
from .terrain import Ground

Ints = npt.NDArray[np.int64]

STRAIGHTEST = np.radians(4.0)
"""Knees are never straighter than this: a straight knee pops."""
LANDING, GIVE, GIVE_OVER = 0.002, 0.02, 0.15
"""Legs are never quite stretched when a foot comes down, by the first part of their reach; by the second where a foot
comes down or leaves that is lower than the other by the third [leg lengths]. A knee that bends from straight pops."""
EASE = np.radians(1.5)
"""Ankles come to their limits this softly [rad]."""
FLAT = np.radians(2.0)
"""A foot pitched by less than about this lies flat, so that it changes over from heel to ball at rest [rad]."""
POINTED = -0.5
"""Only a foot pitched further than this may be pointed too far [rad]."""
STEEPEST = np.radians(69.0)
"""Steepest pitch of a foot on its ball or heel [rad]."""
TOE_REST = 0.3
"""Part of a heel-strike's pitch by which the toes are held up."""
EDGE, STEP = 1e-9, 1e-4
"""How far from a strike or toe-off, and over how long, speeds are taken there [s]."""
SIDEWAYS = np.array([-1.0, 0.0, 0.0])
_UP = np.array([0.0, 0.0, 1.0])


class Foot:
    """One side's footfalls, and its ankle, sole and toes at any time.

    `limits` (2, 2) are the lowest and highest flexion of the ankle and of the knee [rad].
    """

    def __init__(self, plan: Plan, body: Physique, side: int, limits: Array, terrain: Ground) -> None:
        self.side, self.floor, self.even = side, terrain.heights, terrain.even
        self.falls = [f for f in plan.falls if f.side == side]
        self.strikes = np.array([f.strike for f in self.falls])
        self.offs = np.array([f.off for f in self.falls])
        self.leaves = np.array([f.leaves for f in self.falls])
        self.places = np.array([f.place for f in self.falls])
        self.turns = quat.continuous(np.array([f.turn for f in self.falls]))
        self.axes = np.moveaxis(quat.to_matrix(self.turns), -1, -2)
        cycles, numbers = _distinct([f.cycle for f in self.falls] + [f.leaving or f.cycle for f in self.falls])
        self.cycle_of, self.leaving_by = np.split(numbers, 2)
        self.stances = np.stack([c.stance for c in cycles])
        self.swings = np.stack([c.swing for c in cycles])
        self.lengths = np.array([c.stance_time for c in cycles])
        self.lift = np.array([c.toe_lift for c in cycles])
        self.pivots = np.stack([body.heel[side], body.ball[side]])
        self.ankle = np.array([0.0, 0.0, body.ankle[side]])
        self.toe = body.toe[side]
        self.bones = float(body.thigh[side]), float(body.shin[side])
        a, b = self.bones
        self.reach = float(np.sqrt(a * a + b * b + 2 * a * b * np.cos(STRAIGHTEST)))
        self.hip = body.hips[side]
        self.limits = limits[0]
        folded = min(float(limits[1, 1]) - EASE, np.radians(150.0))
        self.nearest = float(np.sqrt(a * a + b * b + 2 * a * b * np.cos(folded)))
        self.gives = _gives(plan, side, GIVE_OVER * body.leg)
        nothing = np.zeros(len(self.falls))
        self.over_at_off = self.over_at_strike = nothing, nothing

    def hips(self, body: Carriage) -> Array:
        """(n, 3) places of the hip joint [m]."""
        return body.roots + quat.rotate(body.pelvis, self.hip)

    def index(self, times: Array) -> Ints:
        """(n,) the last footfall that has struck."""
        return np.maximum(np.searchsorted(self.strikes, times, side="right") - 1, 0)

    def swinging(self, times: Array) -> tuple[Ints, npt.NDArray[np.bool_], Array]:
        """Last footfall (n,), whether the foot is in the air (n,) and which part of its swing is over (n,)."""
        j = self.index(times)
        after = np.minimum(j + 1, len(self.falls) - 1)
        free = (times >= self.offs[j]) & (after > j)
        length = np.where(free, self.strikes[after] - self.offs[j], 1.0)
        return j, free, np.where(free, (times - self.offs[j]) / np.maximum(length, 1e-6), 0.0)

    def planted(self, j: Ints, times: Array, body: Carriage) -> tuple[Array, Array]:
        """Ankle (n, 3) and pitch (n,) of the foot on footfall j (n,) at times (n,) within its stance."""
        strike, off = self.strikes[j], self.offs[j]
        length = off - strike
        usual = self.lengths[self.cycle_of[j]]
        # a foot that stands when the motion begins rolls off in the time there is
        known = np.maximum(off - np.maximum(strike, 0.0), 0.01)
        span = np.where(length < 1.5 * usual, length, np.minimum(usual, 2 * known))
        since, left = times - strike, off - times
        u = np.where(since < span / 2, since / span, np.where(left < span / 2, 1.0 - left / span, 0.5))
        leaves = self.leaves[j]
        w = smoothstep(np.where(leaves > -FOREVER, (times - leaves) / np.maximum(off - leaves, 1e-6), u))
        landing, leaving = (along(self.stances, cycle[j], u)[:, 0] for cycle in (self.cycle_of, self.leaving_by))
        pitch = clamp(_rested((1 - w) * landing + w * leaving), -STEEPEST, STEEPEST)
        hips = self.hips(body)
        # the heel rises as if the body had not been lowered: how far it is lowered depends on that
        above = hips + body.sunk[:, None] * _UP
        risen = self._risen(j, pitch, above, smoothstep((u - 0.35) / 0.3))
        steep = np.flatnonzero(risen < POINTED)
        if len(steep):
            risen = np.array(risen)
            risen[steep] = self._eased(j[steep], risen[steep], above[steep], 0)
        risen = self._eased(j, risen, hips, 1)
        # a pose that is held has its own feet
        pitch = pitch + (1.0 - body.held) * (risen - pitch)
        return self.ankles(j, pitch), pitch

    def _eased(self, j: Ints, pitch: Array, hips: Array, limit: int) -> Array:
        """Pitch (n,) with the ankle kept within its lowest (0) or highest (1) flexion, the heel lowered or raised."""
        sign = 1.0 if limit else -1.0
        most = sign * self.limits[limit] - 2 * EASE
        bend = sign * self.dorsiflexion(self.axes[j], pitch, hips - self.ankles(j, pitch))
        bent = np.flatnonzero(bend > most - 8 * EASE)
        if len(bent) == 0:
            return pitch
        fall, hip, bend = j[bent], hips[bent], bend[bent]
        goal = bend - above(bend - most, EASE)
        before, was, slope = sign * pitch[bent], bend, np.ones(len(bent))
        for _ in range(4):
            eased = clamp(before - (was - goal) / slope, -STEEPEST, STEEPEST)
            now = sign * self.dorsiflexion(self.axes[fall], sign * eased, hip - self.ankles(fall, sign * eased))
            moved = before - eased
            gained = clamp((was - now) / np.where(moved == 0, 1.0, moved), 0.7, 5.0)
            slope = np.where(np.abs(moved) > 1e-7, gained, slope)
            before, was = eased, now
        out = np.array(pitch)
        out[bent] = before if limit else np.minimum(-before, 0.0)
        return out

    def dorsiflexion(self, axes: Array, pitch: Array, lines: Array) -> Array:
        """(n,) flexion of the ankle, toes up positive, of a foot as the line (n, 3) from ankle to hip demands it [rad].

        Args:
            axes: (n, 3, 3) the sole's own axes, one a row.
            pitch: (n,) of the foot against its sole [rad].
        """
        y, z = quat.dot(axes[:, 1], lines), quat.dot(axes[:, 2], lines)
        far = np.maximum(_length(lines), 1e-6)
        # a leg out of reach will be brought within it; near straight the angle would depend on that too much
        far = far - above(far - self.reach, 0.004 * self.reach)
        a, b = self.bones
        knee = np.arccos(clamp((far * far + b * b - a * a) / (2 * b * far), -1.0, 1.0))
        out: Array = np.arctan2(-y, z) + knee + pitch
        return out

    def within_reach(self, ankles: Array, hips: Array) -> Array:
        """Ankles (n, 3) as far from the hips (n, 3) as the knee can have them, its limits neared ever more gently."""
        lines = ankles - hips
        far = np.maximum(_length(lines), 1e-6)
        soft = 0.004 * self.reach
        change = above(self.nearest - far, soft) - above(far - self.reach, soft)
        out: Array = hips + lines * (1.0 + change / far)[:, None]
        return out

    def ankles(self, j: Ints, pitch: Array) -> Array:
        """(n, 3) ankle over footfall j (n,) with the foot pitched (n,) about heel or ball."""
        back = pitch > 0
        y = np.where(back, self.pivots[0, 1], self.pivots[1, 1])
        z = np.where(back, self.pivots[0, 2], self.pivots[1, 2])
        c, s = np.cos(pitch), np.sin(pitch)
        along, up = y - c * y - s * z, self.ankle[2] + z - c * z + s * y
        axes = self.axes[j]
        out: Array = self.places[j] + along[:, None] * axes[:, 1] + up[:, None] * axes[:, 2]
        return out

    def _stretch(self, j: Ints, times: Array) -> Array:
        """(n,) longest that the leg may be on footfall j (n,) at times (n,) within its stance [m]."""
        if not self.gives.any():
            return np.full(len(j), self.reach)
        part = 0.35 * self.lengths[self.cycle_of[j]]
        spans = times - self.strikes[j], self.offs[j] - times
        since, left = (1.0 - smoothstep(span / part) for span in spans)
        out: Array = self.reach * (1.0 - since * self.gives[j, 0] - left * self.gives[j, 1])
        return out

    def _risen(self, j: Ints, pitch: Array, hips: Array, weight: Array) -> Array:
        """Pitch (n,) with the heel raised where the leg would not reach otherwise, as far as `weight` (n,) allows.

        The ankle turns about the ball: in the plane of the foot its distance from the hip gives the angle between
        them, and that the pitch.
        """
        soft = 0.003 * self.reach
        far = _length(hips - self.ankles(j, pitch))
        late = np.flatnonzero((far > self.reach - 8 * soft) & (weight > 0) & (pitch <= 0.2 * FLAT))
        if len(late) == 0:
            return pitch
        fall = j[late]
        goal = far[late] - weight[late] * above(far[late] - self.reach, soft)
        axes = self.axes[fall]
        _, ball_y, ball_z = self.pivots[1]
        from_ball = hips[late] - self.places[fall] - ball_y * axes[:, 1] - (ball_z + self.ankle[2]) * axes[:, 2]
        x, y, z = (quat.dot(from_ball, axes[:, i]) for i in range(3))
        arm, away = float(np.hypot(ball_y, ball_z)), np.hypot(y, z)
        cosine = (x * x + away * away + arm * arm - goal * goal) / (2 * arm * away)
        lifted = np.arctan2(-ball_z, -ball_y) - np.arctan2(z, y) + np.arccos(clamp(cosine, -1.0, 1.0))
        out = np.array(pitch)
        # come to the steepest softly, for then the hip has to follow at once
        out[late] = np.minimum(above(lifted + STEEPEST, EASE) - STEEPEST, pitch[late])
        return out

    def overreach(self, times: Array, body: Carriage) -> Array:
        """(n,) how far the hip joint must come down for this leg to reach its footfall [m], never negative.

        In a swing it fades from what the foot asked for when it left to what it will ask for when it strikes.
        """
        j, free, u = self.swinging(times)
        out = self._over(j, np.minimum(times, self.offs[j] - 1e-9), body)
        if free.any():
            after = np.minimum(j + 1, len(self.falls) - 1)
            length = np.where(free, self.strikes[after] - self.offs[j], 0.0)
            (left, left_rate), (met, met_rate) = self.over_at_off, self.over_at_strike
            early = segment(clamp(u / 0.4), left[j], 0.4 * length * left_rate[j], 0.0, 0.0)
            late = segment(clamp((u - 0.4) / 0.6), 0.0, 0.0, met[after], 0.6 * length * met_rate[after])
            out = np.where(free, early + late, out)
        return out

    @property
    def ends(self) -> Array:
        """(4 F,) times around which footfalls end and begin [s], those of all times cut to what a track has."""
        offs, strikes = np.clip(self.offs, -100.0, 1e7), np.clip(self.strikes, -100.0, 1e7)
        return np.concatenate([offs - STEP, offs - EDGE, strikes + EDGE, strikes + STEP])

    def settle(self, body: Carriage) -> None:
        """Find how far the hip is out of reach where swings begin and end, from the body at `ends`."""
        j = np.tile(np.arange(len(self.falls)), 4)
        times = np.concatenate([self.offs - STEP, self.offs - EDGE, self.strikes + EDGE, self.strikes + STEP])
        a, b, c, d = self._over(j, times, body).reshape(4, -1)
        self.over_at_off, self.over_at_strike = (b, (b - a) / STEP), (c, (d - c) / STEP)

    def _over(self, j: Ints, times: Array, body: Carriage) -> Array:
        ankles, _ = self.planted(j, times, body)
        hips = self.hips(body)
        flat = hips[:, :2] - ankles[:, :2]
        reach = self._stretch(j, times)
        room = np.sqrt(np.maximum(reach**2 - quat.dot(flat, flat), (0.3 * self.reach) ** 2))
        return above(hips[:, 2] - ankles[:, 2] - room, 0.01 * self.reach)


def _gives(plan: Plan, side: int, over: float) -> Array:
    """(F, 2) part by which the leg is not stretched where each of a side's footfalls begins and ends."""
    rises = np.array([*(f.rise for f in plan.falls), 0.0])
    lower = GIVE * smoothstep(np.column_stack([-rises[:-1], rises[1:]]) / over)
    lower[:, 0] = np.maximum(lower[:, 0], LANDING)
    return lower[[f.side == side for f in plan.falls]]


def toe_flexion(pitch: Array) -> Array:
    """(n,) flexion of the toes of a planted foot: flat on the ground while the heel is up [rad]."""
    out: Array = np.maximum(-pitch, 0.0) + TOE_REST * np.maximum(pitch, 0.0)
    return out


def _rested(pitch: Array) -> Array:
    """Pitch (n,) whose rate is zero where it passes zero, for there the foot changes from one pivot to the other."""
    out: Array = np.sign(pitch) * (np.sqrt(pitch * pitch + FLAT * FLAT) - FLAT)
    return out


def above(x: Array, soft: float) -> Array:
    """max(x, 0) without a kink; `soft` / 2 too much at zero."""
    out: Array = (x + np.sqrt(x * x + soft * soft)) / 2
    return out * smoothstep((x + 8 * soft) / (6 * soft))


def _length(v: Array) -> Array:
    return np.sqrt(quat.dot(v, v))


def _distinct(cycles: list[Cycle]) -> tuple[list[Cycle], Ints]:
    """The different cycles and the number of each one among them."""
    seen: dict[int, int] = {}
    distinct: list[Cycle] = []
    for cycle in cycles:
        if id(cycle) not in seen:
            seen[id(cycle)] = len(distinct)
            distinct.append(cycle)
    return distinct, np.array([seen[id(c)] for c in cycles])
