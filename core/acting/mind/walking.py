"""A stage on which points move as bodies can: they turn, win and lose speed, go around things and past each other.

The way of everyone is a base track that `core.gait.travel` can put feet under. Whoever sets out minds those who stand,
and those who are already on their way and where they will be; so the later gives way to the earlier, and everybody to
what moves by itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...gait.route import RouteParams, follow
from ...maths.ramp import smoothstep
from ...skeleton import Array
from ..floorplan import Floorplan
from .bodyport import RADIUS, KinematicStage, Leg, Point, heading_to

SAMPLES_HZ = 60.0
"""How densely a way is told."""
ROUTE = RouteParams(acceleration=1.8, turn_rate=2.4, pause=0.0, corners=0.0)
AROUND = RouteParams(acceleration=1.8, turn_rate=2.4, pause=0.0, corners=0.18)
"""How a straight way is gone, and one with corners."""
WATCHED_HZ = 10.0
"""How densely it is looked whether two come too close."""
WAITS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
"""How long somebody waits for others to pass, where it cannot go around them [s]."""
SAME_WAY = math.radians(50.0)
"""Turn up to which someone who walks goes over into another way without a stop."""
TURNING = 1.6
"""Mean speed of a turn on the spot [rad/s]."""
QUICKEST_TURN = 0.4


class Errand(NamedTuple):
    """Where somebody was sent, how fast, up to which distance, and where and when it stops there."""

    place: Point
    speed: float
    within: float
    stops: Point
    end: float


class WalkingStage(KinematicStage):
    """Actors that gather speed, turn before they go, slow down before they stand, and do not run into each other.

    Attributes:
        ways: What stands on the stage.
        errands: Where everybody was sent last.
    """

    def __init__(self, places: Mapping[str, tuple[float, float, float]], ways: Floorplan | None = None) -> None:
        super().__init__(places)
        self.ways = Floorplan() if ways is None else ways
        self.errands: dict[str, Errand] = {}
        for mover in self.ways.movers:
            self.follow(mover.name, mover.at)
            self.solid[mover.name] = mover.radius

    def walk_to(self, actor: str, place: Point, speed: float, time: float, within: float = 0.0) -> float | None:
        """Around what is in the way; whoever faces elsewhere turns first, whoever goes elsewhere stops first."""
        here = self.position(actor, time)
        if here is None or speed <= 0.0:
            return time
        goal = np.array(place[:2], dtype=np.float64)
        way = self._way(actor, goal, time, within)
        pace, course = self._pace(actor, time)
        aim = heading_to(here, tuple(way[min(1, len(way) - 1)]), course)
        if pace > 0.05 and abs(math.remainder(aim - course, math.tau)) > SAME_WAY:
            self._brake(actor, time)
            time, pace = self.journeys[actor][-1].end, 0.0
            way = self._way(actor, goal, time, within)
        self.errands.pop(actor, None)
        if np.hypot(*np.diff(way, axis=0).T).sum() < 1e-3:
            return time
        start, track = self._passing(actor, way, goal, min(pace, speed), speed, time, within)
        end = self._tell(actor, start, track[:, :2], track[:, 2:])
        stops = (float(track[-1, 0]), float(track[-1, 1]))
        self.errands[actor] = Errand(place, speed, within, stops, end)
        return end

    def place(self, name: str, time: float) -> Point | None:
        """Where someone counts as being: where it was sent, when it stands beside that for want of room."""
        errand = self.errands.get(name)
        if errand is not None and errand.within <= 0.0 and time >= errand.end:
            return (*errand.place[:2], *(self.position(name, time) or ())[2:])
        return self.position(name, time)

    def _way(self, actor: str, goal: Array, time: float, within: float, also: Array | None = None) -> Array:
        """(N, 2) from where somebody is, around whoever stands then, and around further discs (n, 3) [m]."""
        here = self.position(actor, time) or (0.0, 0.0)
        discs = []
        for name, radius in (self.solid | self.ways.things).items():
            spot = self.position(name, time)
            free = name not in self.curves and not (self.carried.get(name) or [(0.0, "")])[-1][1]
            if name == actor or spot is None or not free:
                continue
            last = self.journeys[name][-1]
            if last.end > time:
                # on its way: it only matters where it will stand, for whoever is sent to the same place
                spot = last.b
                if math.hypot(spot[0] - goal[0], spot[1] - goal[1]) >= radius + RADIUS:
                    continue
            discs.append((spot[0], spot[1], radius))
        rows = np.array(discs, dtype=np.float64).reshape(-1, 3)
        if also is not None:
            rows = np.concatenate([rows, also])
        return self.ways.way(np.array(here[:2], dtype=np.float64), goal, rows, within)

    def _passing(
        self, actor: str, way: Array, goal: Array, pace: float, speed: float, time: float, within: float
    ) -> tuple[float, Array]:
        """When to set out [s], and the track (T, 3) on which one comes too close to nobody who walks."""
        best, chosen = -math.inf, (time, self._track(actor, way, pace, speed, time))
        for wait in WAITS if pace <= 0.05 else WAITS[:1]:
            start = time + wait
            track = self._track(actor, way, pace, speed, start)
            room, spots = self._room(actor, track, start)
            if room < 0.0:
                aside = self._track(actor, self._way(actor, goal, time, within, spots), pace, speed, start)
                found, _ = self._room(actor, aside, start)
                if found > room:
                    room, track = found, aside
            if room >= 0.0:
                return start, track
            if room > best + 0.02:
                best, chosen = room, (start, track)
        return chosen

    def _track(self, actor: str, way: Array, pace: float, speed: float, time: float) -> Array:
        heading = self.heading(actor, time)
        return follow(way, speed, SAMPLES_HZ, ROUTE if len(way) < 3 else AROUND, heading, pace).points

    def _room(self, actor: str, track: Array, time: float) -> tuple[float, Array]:
        """How much room a track (T, 3) from `time` leaves to those who walk [m], and discs (n, 3) where it does not."""
        movers = {}
        for name, radius in self.solid.items():
            legs = self.journeys.get(name)
            if name != actor and (name in self.curves or (legs is not None and legs[-1].end > time)):
                movers[name] = radius
        rows = track[:: round(SAMPLES_HZ / WATCHED_HZ), :2]
        # whoever stands at its goal by then is in the way of those who come by later
        until = max((self.journeys[name][-1].end for name in movers if name not in self.curves), default=time)
        count = max(len(rows), math.ceil((until - time) * WATCHED_HZ) + 1)
        rows = np.concatenate([rows, np.repeat(rows[-1:], count - len(rows), axis=0)])
        times = time + np.arange(count) / WATCHED_HZ
        least, spots = math.inf, []
        for name, radius in movers.items():
            there = np.array([self.position(name, t) or (math.inf, math.inf) for t in times.tolist()])[:, :2]
            apart = np.hypot(*(rows - there).T)
            # who is near already may leave
            keep = min(radius + RADIUS, float(apart[0]))
            least = min(least, float(apart.min()) - keep + 1e-6)
            if apart.min() < keep - 1e-6:
                k = int(apart.argmin())
                spots.append((there[k, 0], there[k, 1], radius))
        return least, np.array(spots, dtype=np.float64).reshape(-1, 3)

    def stop(self, actor: str, time: float) -> None:
        """Slow down along the way; who would run into the one who now stands goes around it."""
        self._brake(actor, time)
        self.errands.pop(actor, None)
        for name, errand in list(self.errands.items()):
            if name == actor or errand.end <= time:
                continue
            count = max(int((errand.end - time) * SAMPLES_HZ), 1)
            left = [self.position(name, time + k / SAMPLES_HZ) or (0.0, 0.0) for k in range(count + 1)]
            ahead = np.array([(*p[:2], 0.0) for p in left])
            if self._room(name, ahead, time)[0] < 0.0:
                self.walk_to(name, errand.place, errand.speed, time, errand.within)

    def _brake(self, actor: str, time: float) -> None:
        here = self.position(actor, time)
        if here is None:
            return
        pace, course = self._pace(actor, time)
        seconds = pace / ROUTE.acceleration
        t = np.linspace(0.0, seconds, max(round(seconds * SAMPLES_HZ), 1) + 1)
        gone = pace * t - 0.5 * ROUTE.acceleration * t * t
        line = np.array([math.sin(course), -math.cos(course)])
        self._tell(actor, time, np.array(here[:2]) + gone[:, None] * line)

    def _turn(self, actor: str, heading: float, time: float) -> float:
        """The shorter way round, gently begun and ended."""
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
