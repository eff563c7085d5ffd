"""Walking up to where somebody is to stand and face something, in one go and turning no more than it takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise, product

import numpy as np

from ...errors import NoPath
from ...gait.route import RouteParams, follow
from ...maths.ramp import smootherstep, wrap
from ...motion import Path
from ...skeleton import Array
from ..walkers.flowing import EARLY, flowing, set_off
from ..walkers.tasks import TURNING, timed
from ..ways.chart import clearance
from ..ways.walkable import Walkable
from .sidling import SPOT, small_steps
from .upright import GAP, SWINGS, Upright

TURN = np.radians(75.0)
"""How far somebody turns as it arrives, at most; who has to turn farther turns on the spot [rad]."""
_WITHIN = 0.4, 0.6
"""On how much of the way it turns as it arrives [m], and how much more for each radian [m/rad]."""
_ROUTE = RouteParams(pause=0.0, turn_rate=TURNING)
_BEFORE = 0.35, 0.6, 0.9
"""How far from where it is to stand it may come into its last steps [m]."""
_ROUND = tuple(np.radians([0.0, 30.0, -30.0, 60.0, -60.0, 90.0, -90.0]))
"""From which sides, from behind where it is to stand."""
_EACH_METRE = 0.3
"""How much of a turn a metre less is worth [rad/m]."""
_BLOCKED = 20.0
"""How much of a turn it is worth to have room all along the last steps [rad]."""
_TRUNK = 4.0
"""How much more it is worth to have room for the trunk than for the arms."""
_MOST, _ENOUGH = 8, 3
"""How many ways are looked at, at most, and at least, if there are so many."""
_CORNERS = 0.35, 0.2, 0.1
"""How far corners of the way are rounded, the first that cuts none [m]."""
_TIGHT = 0.6
"""How near its middle comes to what it walks around at least, of its radius."""
_ENDS = 0.5
"""How near to where it is at first and at last that does not matter [m]."""
_PLACES = 8
"""How many places to stand are tried."""
_LAST, _SAMPLES = 1.2, 12
"""On how much of the way room for the arms is looked for [m], and at how many places."""


def arriving(way: Array, goal: Array, speed: float, fps: float, heading: float, route: RouteParams = _ROUTE) -> Path:
    """Base track along a way (N, 2) [m] that turns at its end to the heading of a base (3,).

    Args:
        way: From where it stands to where it is to stand.
        goal: x, y [m] and heading [rad] of the base at the end.
        speed: [m/s]
        fps: Samples a second [Hz].
        heading: Where it faces at the beginning [rad].
        route: How a way is gone.
    """
    track = set_off(np.array(follow(way, speed, fps, route, heading).points))
    left = float(wrap(goal[2] - track[-1, 2]))
    if abs(left) <= TURN:
        gone = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(track[:, :2], axis=0).T))])
        within = min(_WITHIN[0] + _WITHIN[1] * abs(left), float(gone[-1]))
        track[:, 2] += left * smootherstep(1.0 - (gone[-1] - gone) / max(within, 1e-6))
    else:
        count = int(np.ceil(1.875 * abs(left) / TURNING * fps))
        share = smootherstep(np.arange(count + 1) / count)
        track = flowing(track, track[-1] + share[:, None] * np.array([0.0, 0.0, left]), int(EARLY * count))
    return timed(track, fps)


def arrived(
    body: Upright,
    ways: Walkable,
    start: Array,
    goal: Array,
    speed: float,
    fps: float,
    route: RouteParams = _ROUTE,
    via: Sequence[Array] = (),
) -> list[tuple[float, float, Array]]:
    """Walks to where somebody is to stand, those with most room at last and least turning first.

    Args:
        body: Who goes.
        ways: Where there is room to walk.
        start, goal: x, y [m] and heading [rad] of the bases (3,) at both ends.
        speed, fps, route: As for `arriving`.
        via: (2,) places on the way [m].

    Returns:
        Of each how much of it has no room, and how much when arms swing, 0 where all has, and the base track (T, 3).

    Raises:
        NoPath: No way leads there.
    """
    if not len(via) and np.hypot(*(goal[:2] - start[:2])) < SPOT:
        points = small_steps(start, goal, fps)
        return [(_crowded(body, points), _crowded(body, points, fps), points)]
    found: list[tuple[float, float, float, Array]] = []
    failure: NoPath | None = None
    legs: dict[tuple[float, ...], Array] = {}

    def leg(a: Array, b: Array) -> Array:
        key = (*a.tolist(), *b.tolist())
        if key not in legs:
            legs[key] = ways.route(a, b).points
        return legs[key]

    stops = [start[:2], *(np.asarray(place[:2]) for place in via)]
    for number, (likely, before) in enumerate(sorted(_approaches(stops, start, goal), key=lambda c: c[0])):
        costs = sorted(cost for cost, *_ in found)
        if costs and (number >= _MOST or likely > min(costs[_ENOUGH - 1 :], default=np.inf)):
            break
        try:
            parts = [leg(a, b) for a, b in pairwise([*stops, *before])]
        except NoPath as error:
            failure = failure or error
            continue
        way = np.concatenate([*parts, goal[None, :2]])
        for corners in _CORNERS:
            track = arriving(way, goal, speed, fps, float(start[2]), replace(route, corners=corners))
            cut = _cut(ways, track.points)
            if not cut:
                break
        turning = float(np.abs(np.diff(track.points[:, 2])).sum())
        length = float(np.hypot(*np.diff(track.points[:, :2], axis=0).T).sum())
        blocked = _crowded(body, track.points) + cut
        swings = _crowded(body, track.points, fps)
        found.append((turning + _EACH_METRE * length + _BLOCKED * blocked, blocked, swings + cut, track.points))
    if not found:
        raise failure or NoPath("no way leads there")
    return [one[1:] for one in sorted(found, key=lambda f: f[0])]


class Places:
    """Places to stand, found one after the other as they are asked for.

    Attributes:
        first: (3,) the base that is best.

    Raises:
        NoPath: There is none.
    """

    def __init__(self, found: Iterator[Array]) -> None:
        self._found, self._known = islice(found, _PLACES), list[Array]()
        first = next(iter(self), None)
        if first is None:
            raise NoPath("there is no room to stand within reach of it")
        self.first: Array = first

    def __iter__(self) -> Iterator[Array]:
        """All of them (3,), the best first."""
        yield from self._known
        for base in self._found:
            self._known.append(base)
            yield base


def to_one(
    places: Places,
    body: Upright,
    ways: Walkable,
    start: Array,
    speed: float,
    fps: float,
    route: RouteParams = _ROUTE,
    via: Sequence[Array] = (),
) -> Iterator[Array]:
    """Base tracks (T, 3) to one of some places; see `arrived`.

    Those to the best place with least turning come first, if there is room all the way, then those on which arms have
    room to swing, and those without room all the way last.

    Raises:
        NoPath: No way leads to any of them.
    """
    narrow: list[tuple[float, Array]] = []
    failures: list[NoPath] = []
    leads = False
    for goal in places:
        try:
            found = arrived(body, ways, start, goal, speed, fps, route, via)
        except NoPath as error:
            failures.append(error)
            continue
        first = 0 if leads else sum(not blocked for blocked, *_ in found[:_ENOUGH])
        yield from (points for *_, points in found[:first])
        leads = True
        yield from (points for _, swings, points in found[first:] if not swings)
        narrow += [(swings, points) for _, swings, points in found[first:] if swings]
    if not leads:
        raise failures[0]
    yield from (points for _, points in sorted(narrow, key=lambda n: n[0]))


def _approaches(stops: Sequence[Array], start: Array, goal: Array) -> Iterator[tuple[float, list[Array]]]:
    """Places (2,) from which the last steps may go, if any, and what the way by there costs if it is straight."""
    far = float(np.hypot(*(goal[:2] - stops[-1])))
    angles = [(d, a) for d, a in product(_BEFORE, _ROUND) if d < 0.7 * far or d == _BEFORE[0]]
    sides = [goal[:2] - d * np.array([np.sin(goal[2] + a), -np.cos(goal[2] + a)]) for d, a in angles]
    for before in [[goal[:2]], *([side] for side in sides)]:
        line = np.array([*stops, *before, goal[:2]])
        steps = np.diff(line, axis=0)
        steps = steps[np.hypot(steps[:, 0], steps[:, 1]) > 0.05]
        courses = np.concatenate([start[2:], np.arctan2(steps[:, 0], -steps[:, 1]), goal[2:]])
        length = float(np.hypot(steps[:, 0], steps[:, 1]).sum())
        yield float(np.abs(wrap(np.diff(courses))).sum()) + _EACH_METRE * length, before


def _cut(ways: Walkable, track: Array) -> float:
    """Which part of a base track (T, 3) comes too near to what it leads around, but for its ends."""
    away = np.minimum(*(np.hypot(*(track[:, :2] - track[k, :2]).T) for k in (0, -1)))
    under_way = track[away > _ENDS, :2]
    return float((clearance(ways, under_way) < _TIGHT * ways.radius).mean()) if len(under_way) else 0.0


def _crowded(body: Upright, track: Array, fps: float = 0.0) -> float:
    """On which part of the last bit of a base track (T, 3) there is no room for what has room at its end.

    Room for arms counts for less than that for the trunk; at a rate of samples `fps` [Hz] they swing.
    """
    left = np.concatenate([np.cumsum(np.hypot(*np.diff(track[::-1, :2], axis=0).T))[::-1], [0.0]])
    last = np.flatnonzero(left <= _LAST)
    at = np.unique(np.linspace(last[0], last[-1], _SAMPLES).astype(np.int64))
    speed = np.hypot(*np.gradient(track[:, :2], axis=0).T) * fps
    missing = ~body.room(track[at], GAP, SWINGS * speed[at])
    missing &= ~missing[-1]
    return float(missing.any(axis=1).mean() + _TRUNK * missing[:, body.trunk].any(axis=1).mean())
