"""Which foot goes where and when: the footfalls under a base track, one gait or the other at each step.

Steps are planned one after the other. A clock that runs with the gait's cadence says when the next foot strikes, the
track where the body will be when it stands on that foot. Nothing about a step depends on the track later than the
middle of the stance of the step after it, so a track may be continued without a change to what has been walked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..maths import quat, trig
from ..maths.ramp import wrap
from ..skeleton import Array
from .cycle import Cycle, Gait
from .departure import departure, first_side, first_swing
from .footfalls import FOREVER, Footfall, Interval, Plan, Wishes, landing, quickened, reverse
from .physique import Physique
from .terrain import Ground
from .track import STILL, Track

HOME = (0.09, np.radians(12.0))
"""A standing foot this near to where it would stand at ease [leg lengths; rad] need not step."""
TURN_RADIUS = 0.6
"""A turn counts as a walk on a circle of this radius [leg lengths]."""
SIDESTEP = 2.2
"""A step aside counts as so much faster than one ahead."""
CLOSING = 0.62
"""Longest a step takes that brings the feet together at the end [s for a leg of 0.9 m]."""
SETTLE = 0.7
"""Time in which a body comes to rest after its last step [s for a leg of 0.9 m]."""
SHIFT = 0.35
"""Time in which the weight goes over to one foot before the first step [s for a leg of 0.9 m]."""
QUICKEST = 0.38
"""Shortest step by which a stair is taken; who is faster takes two at a time [s for a leg of 0.9 m]."""
LONGEST_DOUBLE = 0.45
"""Longest part of a step in which both feet are on the ground."""
LENGTHENED = 1.3
"""A step longer than the one before of the same foot by this is pushed off for."""
TREAD_AHEAD = 0.4
"""How far beyond a footfall stairs are looked for [leg lengths]."""
_UP = np.array([0.0, 0.0, 1.0])


class Planner:
    """Plans the steps under one track; `plan` does it all."""

    def __init__(
        self, track: Track, body: Physique, gaits: Mapping[str, Gait], terrain: Ground, wishes: Wishes
    ) -> None:
        self.track, self.body, self.gaits, self.terrain, self.wishes = track, body, gaits, terrain, wishes
        self.slow = STILL * body.leg
        self.unit = float(np.sqrt(body.leg / 0.9))
        pace = self.pace(track.forward, track.sideways, track.turning)
        self.paces, self.swift = pace, np.hypot(track.forward, track.sideways)
        self.clocks = {
            name: np.concatenate([[0.0], np.cumsum(_midpoints(gait.cadence(pace)))]) / track.fps
            for name, gait in gaits.items()
        }
        self.ends = {name: gait.cadence(pace[[0, -1]]) for name, gait in gaits.items()}
        self.moving = pace > self.slow
        moving = np.flatnonzero(self.moving)
        self.rest = float(moving[-1] + 1) / track.fps if len(moving) else 0.0
        self.count = 0

    def pace(self, forward: Array, sideways: Array, turning: Array) -> Array:
        """How fast the feet must go, whatever for [m/s]."""
        out: Array = np.sqrt(forward**2 + (SIDESTEP * sideways) ** 2 + (TURN_RADIUS * self.body.leg * turning) ** 2)
        return out

    def after(self, gait: str, time: float, side: int | None = None) -> float:
        """When a step that begins at `time`, by a strike of `side` or of either, is over by the clock of a gait."""
        clock, (first, last), fps = self.clocks[gait], self.ends[gait], self.track.fps
        now = np.interp(time, np.arange(len(clock)) / fps, clock)
        now += first * min(time, 0.0) + last * max(time - self.track.duration, 0.0)
        goal = now + (1.0 if side is None else self.gaits[gait].beat(self._pace_at(time), "LR"[side]))
        if goal <= 0.0:
            return float(goal / first)
        if goal >= clock[-1]:
            return float(self.track.duration + (goal - clock[-1]) / last)
        return float(np.interp(goal, clock, np.arange(len(clock)) / fps))

    def stride(self, gait: str, time: float, side: int, hurry: float = 1.0) -> Cycle:
        """The cycle of the step that begins at `time`, so many times quicker and shorter than usual."""
        window = self.after(gait, time) - time
        forward, sideways, turning = self.track.speeds(time, window)
        around = TURN_RADIUS * self.body.leg * turning
        pace = math.sqrt(forward**2 + (0.5 * SIDESTEP * sideways) ** 2 + (0.5 * around) ** 2)
        if self._pace_at(time) <= self.slow and pace < 2 * self.slow:
            pace = 0.0
        cycle = quickened(self.gaits[gait].cycle(pace / hurry, "LR"[side]), hurry)
        if forward < -0.1 * pace and forward < 0:
            cycle = reverse(cycle)
        extra = abs(sideways) * cycle.step_time
        return replace(cycle, width=cycle.width + extra) if extra > 1e-6 else cycle

    def fall(self, side: int, strike: float, cycle: Cycle, gait: str, before: Array) -> Footfall:
        """The footfall of a strike, near the height of the one at `before` (3,)."""
        over = strike + cycle.lead * cycle.stance_time
        x, y, heading = self.track.point(over)
        out = 1.0 if side == 0 else -1.0
        wanted = np.array([x, y]) + out * cycle.width / 2 * np.array([np.cos(heading), np.sin(heading)])
        heading += out * cycle.toe_out
        number = self.count
        place, mine = wanted, self.wishes.prints.get(number)
        self.count += 1
        if mine is not None:
            place, heading = np.array(mine[:2]), float(mine[2])
        elif self.wishes.final is not None and over >= self.rest and self.rest < self.track.duration:
            last = self.wishes.final[side]
            return replace(last, strike=strike, cycle=cycle, gait=gait, number=number)
        forward, sideways, _ = self.track.speeds(strike, cycle.step_time)
        direction = heading - out * cycle.toe_out - math.atan2(-sideways, forward)
        at, turn = self.terrain.ground(place, heading, side, max(strike, 0.0), direction, before[2], mine is not None)
        if self.terrain.even:
            return Footfall(side, at, turn, wanted, strike, FOREVER, cycle, gait, number)
        # on a slope the other foot is lower but in the plane of this one
        rise, above = float(at[2] - before[2]), float(quat.dot(at - before, quat.rotate(turn, _UP)))
        rise = rise if abs(rise) < abs(above) else above
        cycle = landing(cycle, rise / self.body.leg)
        return Footfall(side, at, turn, wanted, strike, FOREVER, cycle, gait, number, rise=rise)

    def stand(self) -> list[Footfall]:
        """The footfalls of a body that stands at ease where the track begins."""
        still = self.gaits["walk"].cycle(0.0, "L")
        x, y, heading = self.track.point(0.0)
        falls = []
        for side, out in ((0, 1.0), (1, -1.0)):
            place = np.array([x, y]) + out * still.width / 2 * np.array([np.cos(heading), np.sin(heading)])
            turned = heading + out * still.toe_out
            at, turn = self.terrain.ground(place, turned, side, 0.0, heading, self.level(), True)
            falls.append(Footfall(side, at, turn, place, -FOREVER, FOREVER, still, "walk"))
        return falls

    def level(self) -> float:
        """Height of the ground where the track begins [m]."""
        x, y, _ = self.track.base[0]
        return float(self.terrain.heights(np.array([[x, y, 1e3]]), np.zeros(1))[0])

    def plan(self, standing: Sequence[Footfall] | None, gait: str) -> Plan:
        """All steps from standing feet, or, with None, those of a body that is already on its way."""
        falls: list[Footfall] = list(standing or ())
        intervals: list[Interval] = []
        walking = standing is None
        if walking:
            self._come_from_before(falls, gait)
        at = falls[-1].strike
        end = self.track.duration
        # both feet must have come down after the end, or the last swings would lead nowhere
        while at < end + 1e-9 or (walking and falls[-2].strike < end):
            previous = falls[-1]
            still = self.gaits[gait].cycle(0.0, "L")
            if walking and self._home(falls, at):
                settled = at + SETTLE * self.unit
                intervals.append(Interval(at, settled, previous.side, previous.cycle, still))
                at, walking = settled, False
            elif walking:
                gait = self.wishes.choose(self._at(at, self.swift), gait)
                side = 1 - previous.side
                strike = self.after(gait, at, previous.side)
                if self._pace_at(at) <= self.slow:
                    strike = min(strike, at + CLOSING * self.unit)
                strike, cycle = self._onto_tread(previous, at, strike, gait)
                fall = self.fall(side, strike, cycle, gait, previous.place)
                intervals.append(Interval(at, strike, previous.side, previous.cycle, fall.cycle))
                _hasten(falls, fall, at)
                _lift(falls, side, self._off(falls, side, at, strike))
                falls.append(fall)
                at = strike
            else:
                lift = departure(self.track, self.body.leg, self.unit, max(at, 0.0))
                if lift is None:
                    intervals.append(Interval(at, FOREVER, previous.side, still, still))
                    break
                gait = self.wishes.choose(self._at(lift + 0.3 * self.unit, self.swift), gait)
                side = first_side(self.track, self.body.leg, self.unit, falls, lift, self.wishes.first)
                shift = max(at, lift - SHIFT * self.unit)
                if shift > at:
                    intervals.append(Interval(at, shift, previous.side, still, still))
                ahead = self.stride(gait, lift + 0.4 * self.unit, side)
                at = lift + first_swing(self.track, self.body.leg, self.unit, lift, ahead.swing_time)
                fall = self.fall(side, at, self.stride(gait, at, side), gait, previous.place)
                intervals.append(Interval(shift, at, 1 - side, still, fall.cycle))
                _lift(falls, side, lift)
                falls[-2:] = [replace(f, leaving=fall.cycle) for f in falls[-2:]]
                falls.append(fall)
                walking = True
        # by where the body is, not the feet: one may tread on either side of a corner
        strikes = np.maximum([f.strike for f in falls], 0.0)
        way = np.column_stack([self.track.at(strikes)[:, :2], [f.place[2] for f in falls]])
        self.terrain.check_way(way, strikes)
        return Plan(tuple(falls), tuple(intervals))

    def _onto_tread(self, previous: Footfall, at: float, strike: float, gait: str) -> tuple[float, Cycle]:
        """When a step that begins at `at` strikes, usually at `strike`, and its stride: stairs are taken singly."""
        side, usual = 1 - previous.side, strike - at
        cycle = self.stride(gait, strike, side)
        if self.terrain.even:
            return strike, cycle
        over = strike + cycle.lead * cycle.stance_time
        pace = max(self._pace_at(over), 10 * self.slow)
        times = np.linspace(at, over + TREAD_AHEAD * self.body.leg / pace, 81)
        way = self.track.at(times)
        out = (1.0 - 2.0 * side) * cycle.width / 2
        way[:, :2] += out * np.column_stack([trig.cos(way[:, 2]), trig.sin(way[:, 2])])
        for k in self.terrain.treads(way, side, max(strike, 0.0), float(previous.place[2])).tolist():
            goal, on, mine = float(np.interp(k, np.arange(len(times)), times)), strike, cycle
            for _ in range(3):
                lag = mine.lead * mine.stance_time / mine.step_time
                on = (goal + lag * at) / (1.0 + lag)
                if not QUICKEST * self.unit <= on - at < 1.2 * usual:
                    break
                mine = self.stride(gait, on, side, usual / (on - at))
            else:
                return on, mine
        return strike, cycle

    def _off(self, falls: list[Footfall], side: int, at: float, strike: float) -> float:
        """When the foot of `side` leaves, for its next strike: its own stance as its stride has it, in real steps."""
        last = next(f for f in reversed(falls) if f.side == side)
        cycle = last.leaving or last.cycle
        overlap = cycle.stance_time / cycle.step_time - 1.0
        before = at - last.strike if last.strike > -FOREVER else cycle.step_time
        # who walks faster from step to step does not stand on both feet as long as the slow step had it
        off = at + min(overlap * before, LONGEST_DOUBLE * (strike - at))
        low = last.strike + 0.1 * before if last.strike > -FOREVER else at
        return float(min(max(off, low), strike - 0.3 * min(cycle.swing_time, strike - at)))

    def _come_from_before(self, falls: list[Footfall], gait: str) -> None:
        """Put two footfalls before the beginning of the track, as if the body came from there."""
        time, before = -2.2 * (self.after(gait, 0.0)), np.array([*self.track.base[0, :2], self.level()])
        for side in (0, 1):
            falls.append(self.fall(side, time, self.stride(gait, time, side), gait, before))
            before = falls[-1].place
            time = self.after(gait, time, side)
        self.count = 0 if time > 0 else -1

    def _pace_at(self, time: float) -> float:
        return self._at(time, self.paces)

    def _at(self, time: float, values: Array) -> float:
        at = min(max(time * self.track.fps, 0.0), len(values) - 1.0)
        k = min(int(at), len(values) - 2)
        return float(values[k] + (at - k) * (values[k + 1] - values[k]))

    def _home(self, falls: list[Footfall], time: float) -> bool:
        """Whether the body is at rest and both feet stand where they may stay."""
        fps = self.track.fps
        soon = self.moving[max(0, int(time * fps)) : int((time + 0.4 * self.unit) * fps) + 2]
        if len(soon) == 0:
            soon = self.moving[-1:]
        if soon.any():
            return False
        at_end = self.wishes.final is not None and time >= self.rest
        x, y, heading = self.track.point(min(max(time, 0.0), self.track.duration))
        still = self.gaits[falls[-1].gait].cycle(0.0, "L")
        for side, out in ((0, 1.0), (1, -1.0)):
            last = next(f for f in reversed(falls) if f.side == side)
            home = np.array([x, y]) + out * still.width / 2 * np.array([np.cos(heading), np.sin(heading)])
            facing = heading + out * still.toe_out
            wanted = last.wanted if last.strike > -FOREVER else last.place[:2]
            if at_end and self.wishes.final is not None:
                final = self.wishes.final[side]
                home, facing, wanted = final.place[:2], float(quat.heading(final.turn)), last.place[:2]
            near = 0.01 if at_end else HOME[0]
            turned = wrap(quat.heading(last.turn) - facing)
            if np.hypot(*(wanted - home)) > near * self.body.leg or abs(turned) > HOME[1]:
                return False
        return True


def _lift(falls: list[Footfall], side: int, off: float) -> None:
    """Let the foot of a side leave its last footfall."""
    k = next(k for k in range(len(falls) - 1, -1, -1) if falls[k].side == side)
    falls[k] = replace(falls[k], off=off)


def _hasten(falls: list[Footfall], fall: Footfall, at: float) -> None:
    """Let the foot that steps to `fall` push off as for that step, from `at` on, where it is a much longer one."""
    k = next(k for k in range(len(falls) - 1, -1, -1) if falls[k].side == fall.side)
    last, length = falls[k], falls[k].cycle.step_length
    if last.leaving is None and last.gait == fall.gait and fall.cycle.step_length > LENGTHENED * max(length, 0.0):
        falls[k] = replace(last, leaving=fall.cycle, leaves=at)


def _midpoints(values: Array) -> Array:
    out: Array = (values[1:] + values[:-1]) / 2
    return out
