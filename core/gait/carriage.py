"""How the body is carried over its steps: root, pelvis and the curves of trunk, head and arms at any time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..kinematics import anatomy
from ..maths import quat, trig
from ..maths.ramp import clamp, smoothstep
from ..maths.spline import hermite, monotone_slopes, segment
from ..skeleton import Array
from .cycle import BODY, ODD, Cycle
from .footfalls import FOREVER, Plan
from .physique import GRAVITY
from .track import Track

Ints = npt.NDArray[np.int64]

FOLLOW = 0.6
"""Part of the way by which a footfall lies aside of where it was wanted that the body goes with it."""
MOST_BANK = np.radians(25.0)
UPHILL, DOWNHILL = 0.45, 0.2
"""Lean of the trunk on a slope, by the slope [rad]."""
TILT, SPINE = BODY.index("tilt"), BODY.index("spine_flexion")
_UP = np.array([0.0, 0.0, 1.0])
_MIRROR = np.where(ODD, -1.0, 1.0)


@dataclass(frozen=True, eq=False)
class Carriage:
    """The body at n times.

    Attributes:
        roots: (n, 3) [m].
        pelvis: (n, 4) world rotation.
        base: (n, 3) the track.
        body: (n, len(BODY)) curves, signs as they are for this step's side.
        arms: (2, n, len(ARM)) curves of the left and the right arm.
        curl: (n,) [rad].
        sunk: (n,) by how much the roots are lower than the gait has them, for the legs to reach [m].
        held: (n,) how much of a given pose the body has, 0 to 1.
    """

    roots: Array
    pelvis: Array
    base: Array
    body: Array
    arms: Array
    curl: Array
    sunk: Array
    held: Array

    def part(self, which: slice | npt.NDArray[np.bool_]) -> Carriage:
        """The body at some of the times."""
        return Carriage(
            self.roots[which],
            self.pelvis[which],
            self.base[which],
            self.body[which],
            self.arms[:, which],
            self.curl[which],
            self.sunk[which],
            self.held[which],
        )


class Carrier:
    """Carries one body over one plan."""

    def __init__(self, track: Track, plan: Plan, banking: float) -> None:
        self.track = track
        cycles: dict[int, Cycle] = {}
        for interval in plan.intervals:
            cycles.setdefault(id(interval.before), interval.before)
            cycles.setdefault(id(interval.after), interval.after)
        number = {key: i for i, key in enumerate(cycles)}
        self.bodies = np.stack([c.body for c in cycles.values()])
        self.arms = np.stack([c.arm for c in cycles.values()])
        self.curls = np.array([c.curl for c in cycles.values()])
        spans = plan.intervals
        self.starts = np.array([s.start for s in spans])
        self.ends = np.array([s.end for s in spans])
        self.sides = np.array([s.side for s in spans])
        self.before = np.array([number[id(s.before)] for s in spans])
        self.after = np.array([number[id(s.after)] for s in spans])
        paces = np.array([[s.before.step_time, s.after.step_time] for s in spans])
        self.rates = np.clip((self.ends - self.starts)[:, None] / paces, 0.5, 2.0)
        self.banks = self._banks(banking)
        self.knots, self.grounds, self.shifts = _ground_knots(plan)
        self.slopes = self._slopes()

    def at(self, times: Array) -> Carriage:
        """The body at times (n,) [s]."""
        k = np.maximum(np.searchsorted(self.starts, times, side="right") - 1, 0)
        length = self.ends[k] - self.starts[k]
        u = clamp((times - self.starts[k]) / length)
        w = smoothstep(u)[:, None]
        # the stride goes on at the pace of each strike, though its steps differ in length
        s = segment(u, 0.0, self.rates[k, 0], 1.0, self.rates[k, 1])
        mirror = np.where((self.sides[k] == 1)[:, None], _MIRROR, 1.0)
        a, b = self.before[k], self.after[k]
        body = mirror * ((1 - w) * periodic(self.bodies, a, s / 2) + w * periodic(self.bodies, b, s / 2))
        arms = []
        for side in (0, 1):
            phase = s / 2 + np.where(self.sides[k] == side, 0.0, 0.5)
            arms.append((1 - w) * periodic(self.arms, a, phase) + w * periodic(self.arms, b, phase))
        base = self.track.at(times)
        bank = (1 - w[:, 0]) * self.banks[k] + w[:, 0] * self.banks[k + 1]
        if self.slopes.any():
            slope = self._between(self.slopes, times)[:, 0]
            lean = np.where(slope > 0, UPHILL, DOWNHILL) * slope
            body[:, TILT] += 0.3 * lean
            body[:, SPINE] += 0.7 * lean
        surge, sway, height, *turns = body[:, :6].T
        heading = base[:, 2]
        sway = sway + height * np.sin(bank)
        sines, cosines = trig.sin(heading), trig.cos(heading)
        shift = self._between(self.shifts, times)
        roots = np.column_stack(
            [
                base[:, 0] + surge * sines + sway * cosines + shift[:, 0],
                base[:, 1] - surge * cosines + sway * sines + shift[:, 1],
                height * np.cos(bank) + self._between(self.grounds, times)[:, 0],
            ]
        )
        leant = quat.multiply(quat.about(_UP, heading), quat.about(np.array([0.0, 1.0, 0.0]), bank))
        pelvis = quat.multiply(leant, anatomy.from_angles(np.column_stack(turns), "hips"))
        nothing = np.zeros(len(times))
        curl = (1 - w[:, 0]) * self.curls[a] + w[:, 0] * self.curls[b]
        return Carriage(roots, pelvis, base, body, np.stack(arms), curl, nothing, nothing)

    def _banks(self, banking: float) -> Array:
        """(I + 1,) lean into the curve at the borders of the intervals [rad]."""
        borders = np.append(self.starts, self.ends[-1])
        out = np.zeros(len(borders))
        near = np.abs(borders) < FOREVER
        before, here, after = self.track.at(borders[near] + np.array([[-0.3], [0.0], [0.3]]))
        x, y, turning = ((after - before) / 0.6).T
        forward = x * trig.sin(here[:, 2]) - y * trig.cos(here[:, 2])
        out[near] = clamp(banking * np.arctan(forward * turning / GRAVITY), -MOST_BANK, MOST_BANK)
        return out

    def _slopes(self) -> Array:
        """(N, 1) rise of the ground over the way, ahead positive, where the body is over its footfalls."""
        if len(self.knots) < 3 or np.ptp(self.grounds) < 1e-9:
            return np.zeros((len(self.knots), 1))
        base = self.track.at(self.knots)
        gone = np.gradient(base[:, :2], axis=0)
        ahead = gone[:, 0] * trig.sin(base[:, 2]) - gone[:, 1] * trig.cos(base[:, 2])
        rise = np.gradient(self.grounds[:, 0])
        slopes: Array = np.where(np.abs(ahead) > 0.05, rise / np.where(np.abs(ahead) > 0.05, ahead, 1.0), 0.0)
        return np.clip(slopes, -1.0, 1.0)[:, None]

    def _between(self, values: Array, times: Array) -> Array:
        if len(self.knots) == 1:
            return np.broadcast_to(values[0], (len(times), values.shape[1]))
        return hermite(times, self.knots, values, monotone_slopes(self.knots, values))


def _ground_knots(plan: Plan) -> tuple[Array, Array, Array]:
    """When the body is over each footfall (N,), the height there (N, 1) and how far it goes aside with it (N, 2)."""
    knots, grounds, shifts = [], [], []
    standing = [f for f in plan.falls if f.strike <= -FOREVER]
    if standing:
        first = min([f.strike for f in plan.falls if f.strike > -FOREVER], default=0.0)
        knots.append(min(0.0, first - 1.0))
        grounds.append(float(np.mean([f.place[2] for f in standing])))
        shifts.append(FOLLOW * np.mean([f.place[:2] - f.wanted for f in standing], axis=0))
        resting = max(f.off if f.off < FOREVER else -FOREVER for f in standing)
        if resting > knots[0] + 0.2 and first - 0.1 > knots[0]:
            knots.append(max(first - 0.5, knots[0] + 0.05))
            grounds.append(grounds[0])
            shifts.append(shifts[0])
    for fall in plan.falls:
        if fall.strike <= -FOREVER:
            continue
        over = fall.strike + fall.cycle.lead * fall.cycle.stance_time
        over = max(over, knots[-1] + 1e-3) if knots else over
        knots.append(over)
        grounds.append(float(fall.place[2]))
        shifts.append(FOLLOW * (fall.place[:2] - fall.wanted))
    if len(plan.falls) > 1 and plan.falls[-1].off >= FOREVER and plan.falls[-2].off >= FOREVER and len(knots) > 1:
        last = plan.falls[-2:]
        knots.append(knots[-1] + 0.4)
        grounds.append(float(np.mean([f.place[2] for f in last])))
        shifts.append(FOLLOW * np.mean([f.place[:2] - f.wanted for f in last], axis=0))
    return np.array(knots), np.array(grounds)[:, None], np.array(shifts)


def periodic(curves: Array, which: Ints, phase: Array) -> Array:
    """(n, B) smooth values of curve sets (C, M, B), set `which` (n,) at `phase` (n,) of their period."""
    m = curves.shape[1]
    at = (phase % 1.0) * m
    k = np.floor(at).astype(np.int64)
    p0, p1, p2, p3 = (curves[which, (k + i) % m] for i in (-1, 0, 1, 2))
    return _cubic(p0, p1, p2, p3, (at - k)[:, None])


def along(curves: Array, which: Ints, u: Array) -> Array:
    """(n, B) smooth values of curve sets (C, N, B), set `which` (n,) at `u` (n,), 0 to 1 from end to end."""
    last = curves.shape[1] - 1
    at = clamp(u) * last
    k = np.minimum(np.floor(at).astype(np.int64), last - 1)
    p1, p2 = curves[which, k], curves[which, k + 1]
    p0 = np.where((k > 0)[:, None], curves[which, np.maximum(k - 1, 0)], 2 * p1 - p2)
    p3 = np.where((k < last - 1)[:, None], curves[which, np.minimum(k + 2, last)], 2 * p2 - p1)
    return _cubic(p0, p1, p2, p3, (at - k)[:, None])


def _cubic(p0: Array, p1: Array, p2: Array, p3: Array, t: Array) -> Array:
    """Catmull-Rom segment from p1 to p2 at t."""
    out: Array = p1 + t / 2 * (p2 - p0 + t * (2 * p0 - 5 * p1 + 4 * p2 - p3 + t * (3 * (p1 - p2) + p3 - p0)))
    return out
