"""Plan the way of one actor among the others, notice when it is blocked, and keep it from going to and fro."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from ...errors import NoPath
from ...maths.ramp import wrap
from ...maths.spline import arc_length, at_length
from ...skeleton import Array
from ..ways.chart import Chart, clearance
from ..ways.map import with_discs
from ..ways.walkable import Walkable
from .actors import Mind, Order, Plan, State
from .doorway import narrow_spans
from .guests import NOBODY, SEEN

FLIPS = 3
"""How often a course may be turned round before one keeps to a way."""
MEMORY = 10.0
"""How long courses are remembered [s]."""
BETTER = 0.85
"""A new way must be shorter than this share of what is left of the old one to be taken without need."""


def planned(
    state: State, chart: Chart, me: int, order: Order, crowd: str, guests: tuple[Array, Array] = NOBODY
) -> Plan:
    """A way for an order.

    Args:
        state: Of everybody.
        chart: The map now.
        me: Number of the actor.
        order: Where it is to go.
        crowd: How others are minded: predict, current or none.
        guests: (n, 2) places [m] and (n, 2) velocities [m/s] of those who are not of the cast.

    Raises:
        NoPath: There is none.
    """
    radius = float(state.cast.radius[me])
    here = state.movers.place[me]
    alone, searched = _way(chart.walkable(radius), here, order)
    points = alone
    if crowd != "none":
        near = _in_the_way(state, me, alone, crowd, guests)
        if near is not None:
            starts, ends, radii = near
            try:
                others = with_discs(chart.map, starts, ends, radii).walkable(radius, chart.growth)
                around, more = _way(others, here, order)
                searched = np.concatenate([searched, more])
                # those in the way will mostly have moved on: a great detour is worse than waiting
                if arc_length(around)[-1] < 1.5 * arc_length(alone)[-1] + 1.5:
                    points = around
            except NoPath:
                pass
    points = trimmed(points, order)
    narrow = narrow_spans(points, chart.walkable(radius), radius)
    return Plan(points, order.goals[0], state.clock, narrow, max(1, len(searched)), searched)


def _way(walk: Walkable, here: Array, order: Order) -> tuple[Array, Array]:
    """A way (N, 2) for an order, and the places (n, 2) looked at to find it [m]."""
    if walk.params.straighten and not walk.costly and len(order.goals) == 1 and bool(walk.clear(here, order.goals[0])):
        return np.stack([here, order.goals[0]]), np.zeros((0, 2))
    try:
        found = walk.plan(here, order.goals)
    except NoPath:
        if order.stop <= 0:
            raise
        found = walk.plan(here, order.goals, goal_radius=order.stop)
    return found.path.points, walk.centre(found.searched)


def trimmed(points: Array, order: Order) -> Array:
    """A way (N, 2) that ends at the stopping distance of its goal."""
    if order.stop <= 0 or len(points) < 2:
        return points
    goal = order.goals[np.argmin(((order.goals - points[-1]) ** 2).sum(axis=-1))]
    lengths = arc_length(points)
    s = np.linspace(0.0, lengths[-1], max(2, int(lengths[-1] / 0.05) + 1))
    far = np.hypot(*(at_length(points, s, lengths) - goal).T) > order.stop
    last = s[np.flatnonzero(far)[-1]] if far.any() else 0.0
    kept = points[lengths < last]
    return np.concatenate([kept, at_length(points, np.array([last]), lengths)]) if len(kept) else points[:1]


def predicted(place: Array, velocity: Array, mine: Array, my_speed: float, ahead: float) -> Array:
    """(n, 2) where others at places (n, 2) will be when one meets them, at most `ahead` seconds on [m]."""
    speed = np.hypot(velocity[:, 0], velocity[:, 1])
    meeting = np.hypot(*(place - mine).T) / np.maximum(my_speed + speed, 1e-6)
    out: Array = place + velocity * np.minimum(ahead, meeting)[:, None]
    return out


def _in_the_way(
    state: State, me: int, way: Array, crowd: str, guests: tuple[Array, Array]
) -> tuple[Array, Array, Array] | None:
    """Places now and later (n, 2) and radii (n,) of those whom a way (N, 2) would touch; None for nobody."""
    movers, cast, params = state.movers, state.cast, state.cast.params
    here = movers.place[me]
    place = np.concatenate([movers.place, guests[0]])
    near = np.hypot(*(place - here).T) < SEEN
    near[me] = False
    if not near.any():
        return None
    place, velocity = place[near], np.concatenate([movers.velocity, guests[1]])[near]
    radius = np.concatenate([cast.radius, np.full(len(guests[0]), params.radius)])[near]
    ahead = params.prediction if crowd == "predict" else 0.0
    ends = predicted(place, velocity, here, float(cast.speed[me]), ahead)
    both = radius + cast.radius[me]
    lengths = arc_length(way)
    line = at_length(way, np.linspace(0.0, min(lengths[-1], SEEN), 25), lengths) if lengths[-1] > 0 else way[:1]
    step = ends - place
    square = np.maximum((step * step).sum(axis=-1), 1e-12)

    def gap(points: Array) -> Array:
        share = np.clip(((points[:, None] - place) * step).sum(axis=-1) / square, 0.0, 1.0)
        off = points[:, None] - place - share[..., None] * step
        out: Array = np.sqrt((off * off).sum(axis=-1))
        return out

    # whoever is close to one, or to the goal, is drawn smaller, so that both stay free
    walk = state.chart.walkable(float(cast.radius[me]))
    grown = walk.radius + walk.params.margin + walk.cell
    radii = np.minimum(radius, gap(np.stack([here, way[-1]])).min(axis=0) - grown)
    hit = (gap(line).min(axis=0) < both + 0.1) & (radii > 0.02)
    if not hit.any():
        return None
    return place[hit], ends[hit], radii[hit]


def blocked_at(plan: Plan, along: float, walk: Walkable, radius: float, reach: float = np.inf) -> float:
    """How far ahead of `along` [m] a way touches something, inf if it does not within `reach` [m]."""
    lengths = arc_length(plan.points)
    end = min(lengths[-1], along + reach)
    if end - along < 0.05:
        return np.inf
    s = np.linspace(along, end, max(2, int((end - along) / (0.7 * walk.cell)) + 1))
    tight = clearance(walk, at_length(plan.points, s, lengths)) < radius
    # one who already touches something must be able to leave it
    free = np.flatnonzero(~tight)
    if not len(free):
        return np.inf
    tight[: free[0]] = False
    hit = np.flatnonzero(tight)
    return float(s[hit[0]] - along) if len(hit) else np.inf


def with_course(mind: Mind, plan: Plan, clock: float, guard: bool) -> tuple[Mind, bool]:
    """The mind with a new plan noted, and whether it goes to and fro so often that it should keep to its way."""
    lengths = arc_length(plan.points)
    if lengths[-1] < 0.5:
        return mind, False
    ahead = at_length(plan.points, np.array([min(2.0, lengths[-1])]), lengths)[0] - plan.points[0]
    x, y = plan.points[0]
    courses = tuple(c for c in mind.courses if clock - c[0] <= MEMORY)
    courses = (*courses, (clock, float(np.arctan2(ahead[0], -ahead[1])), float(x), float(y)))
    turns = [abs(float(wrap(b[1] - a[1]))) > np.pi / 2 for a, b in pairwise(courses)]
    back = any(clock - c[0] > 2.0 and np.hypot(x - c[2], y - c[3]) < 1.0 for c in courses[:-1])
    return replace(mind, courses=courses), guard and sum(turns) >= FLIPS and back
