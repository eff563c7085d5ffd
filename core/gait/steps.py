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

from ..maths import quat
from ..maths.ramp import wrap
from ..skeleton import Array
from .cycle import Cycle, Gait
from .footfalls import FOREVER, Footfall, Interval, Plan, Wishes, reverse
from .physique import Physique
from .terrain import Ground
from .track import STILL, Track

HOME = (0.09, np.radians(12.0))
"""A standing foot this near to where it would stand at ease [leg lengths; rad] need not step."""
START = (0.03, np.radians(3.0))
"""A standing body steps when it has left its place by this [leg lengths; rad]."""
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
SOONEST = 0.15
"""A standing foot is not lifted sooner than this [s for a leg of 0.9 m]."""
LIFT_BEFORE = 0.1
"""How long before that it lifts the foot [s for a leg of 0.9 m]."""


class Planner:
    """Plans the steps under one track; `plan` does it all."""

    def __init__(
        self, track: Track, body: Physique, gaits: Mapping[str, Gait], terrain: Ground, wishes: Wishes
    ) -> None:
        self.track, self.body, self.gaits, self.terrain, self.wishes = track, body, gaits, terrain, wishes
        self.slow = STILL * body.leg
        self.unit = float(np.sqrt(body.leg / 0.9))
        pace = self.pace(track.forward, track.sideways, track.turning)
        self.paces = pace
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

    def after(self, gait: str, time: float) -> float:
        """When a step that begins at `time` is over, by the clock of a gait."""
        clock, (first, last), fps = self.clocks[gait], self.ends[gait], self.track.fps
        now = np.interp(time, np.arange(len(clock)) / fps, clock)
        now += first * min(time, 0.0) + last * max(time - self.track.duration, 0.0)
        goal = now + 1.0
        if goal <= 0.0:
            return float(goal / first)
        if goal >= clock[-1]:
            return float(self.track.duration + (goal - clock[-1]) / last)
        return float(np.interp(goal, clock, np.arange(len(clock)) / fps))

    def stride(self, gait: str, time: float, side: int) -> Cycle:
        """The cycle of the step that begins at `time`."""
        window = self.after(gait, time) - time
        forward, sideways, turning = self.track.speeds(time, window)
        around = TURN_RADIUS * self.body.leg * turning
        pace = math.sqrt(forward**2 + (0.5 * SIDESTEP * sideways) ** 2 + (0.5 * around) ** 2)
        if self._pace_at(time) <= self.slow and pace < 2 * self.slow:
            pace = 0.0
        cycle = self.gaits[gait].cycle(pace, "LR"[side])
        if forward < -0.1 * pace and forward < 0:
            cycle = reverse(cycle)
        extra = abs(sideways) * cycle.step_time
        return replace(cycle, width=cycle.width + extra) if extra > 1e-6 else cycle

    def fall(self, side: int, strike: float, cycle: Cycle, gait: str, near: float) -> Footfall:
        """The footfall of a strike, near the height of the one before [m]."""
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
        at, turn = self.terrain.ground(place, heading, side, max(strike, 0.0), direction, near, mine is not None)
        return Footfall(side, at, turn, wanted, strike, FOREVER, cycle, gait, number)

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
                gait = self.wishes.choose(self._pace_at(at), gait)
                side = 1 - previous.side
                strike = self.after(gait, at)
                if self._pace_at(at) <= self.slow:
                    strike = min(strike, at + CLOSING * self.unit)
                fall = self.fall(side, strike, self.stride(gait, strike, side), gait, float(previous.place[2]))
                intervals.append(Interval(at, strike, previous.side, previous.cycle, fall.cycle))
                _lift(falls, side, self._off(falls, side, at, strike))
                falls.append(fall)
                at = strike
            else:
                lift = self._departure(max(at, 0.0))
                if lift is None:
                    intervals.append(Interval(at, FOREVER, previous.side, still, still))
                    break
                gait = self.wishes.choose(self._pace_at(lift + 0.3 * self.unit), gait)
                side = self._first_side(falls, lift)
                shift = max(at, lift - SHIFT * self.unit)
                if shift > at:
                    intervals.append(Interval(at, shift, previous.side, still, still))
                ahead = self.stride(gait, lift + 0.4 * self.unit, side)
                at = lift + self._first_swing(lift, ahead.swing_time)
                fall = self.fall(side, at, self.stride(gait, at, side), gait, float(previous.place[2]))
                intervals.append(Interval(shift, at, 1 - side, still, fall.cycle))
                _lift(falls, side, lift)
                falls[-2:] = [replace(f, leaving=fall.cycle) for f in falls[-2:]]
                falls.append(fall)
                walking = True
        self.terrain.check_way(np.array([f.place for f in falls]), np.array([f.strike for f in falls]))
        return Plan(tuple(falls), tuple(intervals))

    def _off(self, falls: list[Footfall], side: int, at: float, strike: float) -> float:
        """When the foot of `side` leaves, for its next strike: its own stance as its stride has it, in real steps."""
        last = next(f for f in reversed(falls) if f.side == side)
        cycle = last.leaving or last.cycle
        overlap = (cycle.stance_time - cycle.step_time) / cycle.step_time
        before = at - last.strike if last.strike > -FOREVER else cycle.step_time
        off = at + overlap * before
        low = last.strike + 0.1 * before if last.strike > -FOREVER else at
        return float(min(max(off, low), strike - 0.3 * min(cycle.swing_time, strike - at)))

    def _come_from_before(self, falls: list[Footfall], gait: str) -> None:
        """Put two footfalls before the beginning of the track, as if the body came from there."""
        time, near = -2.2 * (self.after(gait, 0.0)), self.level()
        for side in (0, 1):
            falls.append(self.fall(side, time, self.stride(gait, time, side), gait, near))
            near = float(falls[-1].place[2])
            time = self.after(gait, time)
        self.count = 0 if time > 0 else -1

    def _pace_at(self, time: float) -> float:
        at = min(max(time * self.track.fps, 0.0), len(self.paces) - 1.0)
        k = min(int(at), len(self.paces) - 2)
        return float(self.paces[k] + (at - k) * (self.paces[k + 1] - self.paces[k]))

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

    def _departure(self, time: float) -> float | None:
        """When a body that stands from `time` on must lift its first foot; None for never."""
        fps = self.track.fps
        first = int(np.ceil(time * fps))
        if first >= len(self.track.base):
            return None
        gone = self.track.base[first:] - np.array(self.track.point(min(time, self.track.duration)))
        away = np.maximum(np.hypot(gone[:, 0], gone[:, 1]) / (START[0] * self.body.leg), np.abs(gone[:, 2]) / START[1])
        if not np.any(away > 1.0):
            return None
        k = int(np.argmax(away > 1.0))
        part = (1.0 - away[k - 1]) / (away[k] - away[k - 1]) - 1.0 if k else 0.0
        # a heel has to rise before its foot can leave
        return float(max(time + SOONEST * self.unit, (first + k + part) / fps - LIFT_BEFORE * self.unit))

    def _first_swing(self, lift: float, usual: float) -> float:
        """How long the first swing may last before the body has left its standing foot too far behind [s]."""
        times = lift + np.linspace(0.0, usual, 9)
        gone = np.abs(self.track.at(times) - self.track.at(lift))
        far = (np.hypot(gone[:, 0], gone[:, 1]) > 0.3 * self.body.leg) | (gone[:, 2] > np.radians(25.0))
        soonest = min(usual, 0.28 * self.unit)
        return float(max(times[far.argmax()] - lift if far.any() else usual, soonest))

    def _first_side(self, falls: list[Footfall], time: float) -> int:
        """The foot that begins: the one on the side to which the body goes or turns, else the one that is behind."""
        ahead = 0.35 * self.unit
        here, there = self.track.at(np.array([time, time + ahead]))
        if abs(there[2] - here[2]) > np.radians(6.0):
            return 0 if there[2] > here[2] else 1
        s, c = np.sin(here[2]), np.cos(here[2])
        move = there - here
        forward, left = s * move[0] - c * move[1], c * move[0] + s * move[1]
        if abs(left) > 0.7 * abs(forward):
            return 0 if left > 0 else 1
        if self.wishes.first is not None:
            return self.wishes.first
        feet = [next(f for f in reversed(falls) if f.side == side).place for side in (0, 1)]
        behind = [s * foot[0] - c * foot[1] for foot in feet]
        apart = 0.02 * self.body.leg
        if abs(behind[0] - behind[1]) < apart:
            return 1
        return int(np.argmin(behind) if forward >= 0 else np.argmax(behind))


def _lift(falls: list[Footfall], side: int, off: float) -> None:
    """Let the foot of a side leave its last footfall."""
    k = next(k for k in range(len(falls) - 1, -1, -1) if falls[k].side == side)
    falls[k] = replace(falls[k], off=off)


def _midpoints(values: Array) -> Array:
    out: Array = (values[1:] + values[:-1]) / 2
    return out
