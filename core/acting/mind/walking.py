"""A stage on which points move as bodies can: they turn, win and lose speed, and so arrive when a body would.

The way of everyone is a base track that `core.gait.travel` can put feet under.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from ...gait.route import RouteParams, follow
from ...maths.ramp import smoothstep
from ...skeleton import Array
from .bodyport import KinematicStage, Leg, Point, heading_to

SAMPLES_HZ = 60.0
"""How densely a way is told."""
ROUTE = RouteParams(acceleration=1.8, turn_rate=2.4, pause=0.0, corners=0.0)
SAME_WAY = math.radians(50.0)
"""Turn up to which someone who walks goes over into another way without a stop."""
TURNING = 1.6
"""Mean speed of a turn on the spot [rad/s]."""
QUICKEST_TURN = 0.4


class WalkingStage(KinematicStage):
    """Actors that gather speed, turn before they go, and slow down before they stand."""

    def walk_to(self, actor: str, place: Point, speed: float, time: float) -> float | None:
        """Straight to the place; whoever faces elsewhere turns first, whoever goes elsewhere stops first."""
        here = self.position(actor, time)
        if here is None or speed <= 0.0:
            return time
        pace, course = self._pace(actor, time)
        aim = heading_to(here, place, course)
        if pace > 0.05 and abs(math.remainder(aim - course, math.tau)) > SAME_WAY:
            self.stop(actor, time)
            time, pace = self.journeys[actor][-1].end, 0.0
            here = self.position(actor, time) or here
        if math.hypot(place[0] - here[0], place[1] - here[1]) < 1e-3:
            return time
        way = np.array([here[:2], place[:2]], dtype=np.float64)
        heading = self.heading(actor, time)
        track = follow(way, speed, SAMPLES_HZ, ROUTE, heading, min(pace, speed)).points
        return self._tell(actor, time, track[:, :2], track[:, 2:])

    def stop(self, actor: str, time: float) -> None:
        """Slow down along the way."""
        here = self.position(actor, time)
        if here is None:
            return
        pace, course = self._pace(actor, time)
        seconds = pace / ROUTE.acceleration
        t = np.linspace(0.0, seconds, max(round(seconds * SAMPLES_HZ), 1) + 1)
        gone = pace * t - 0.5 * ROUTE.acceleration * t * t
        line = np.array([math.sin(course), -math.cos(course)])
        self._tell(actor, time, np.array(here[:2]) + gone[:, None] * line)

    def turn_to(self, actor: str, place: Point, time: float) -> float | None:
        """The shorter way round, gently begun and ended."""
        start = self.position(actor, time)
        if start is None:
            return time
        return self._turn(actor, heading_to(start, place, self.heading(actor, time)), time)

    def _turn(self, actor: str, heading: float, time: float) -> float:
        now = self.heading(actor, time)
        change = math.remainder(heading - now, math.tau)
        if abs(change) < 1e-6:
            return time
        seconds = QUICKEST_TURN + abs(change) / TURNING
        count = round(seconds * SAMPLES_HZ)
        share = smoothstep(np.arange(count + 1) / count)
        return self._tell(actor, time, None, now + change * share[:, None])

    def _pace(self, actor: str, time: float) -> tuple[float, float]:
        """Speed [m/s] and course [rad] of someone."""
        facing, earlier = self.heading(actor, time), time - 0.5 / SAMPLES_HZ
        if self.journeys[actor][-1].end <= time or earlier < self.journeys[actor][0].start:
            return 0.0, facing
        before, now = self.position(actor, earlier), self.position(actor, time)
        if before is None or now is None:
            return 0.0, facing
        pace = math.hypot(now[0] - before[0], now[1] - before[1]) * 2.0 * SAMPLES_HZ
        return pace, heading_to(before, now, facing)

    def _tell(self, actor: str, time: float, places: Array | None, headings: Array | None = None) -> float:
        """Put samples of a way (N, 2) and of headings (N, 1) after `time`; when they end [s]."""
        end = time
        for legs, rows in ((self.journeys[actor], places), (self.turns[actor], headings)):
            if rows is None:
                continue
            while len(legs) > 1 and legs[-1].start >= time:
                legs.pop()
            points = [tuple(row) for row in rows.tolist()]
            last = time + max(len(points) - 1, 0) / SAMPLES_HZ
            legs += [
                Leg(time + k / SAMPLES_HZ, time + (k + 1) / SAMPLES_HZ, a, b)
                for k, (a, b) in enumerate(pairwise(points))
            ]
            legs.append(Leg(last, last, points[-1], points[-1]))
            end = max(end, last)
        return end
