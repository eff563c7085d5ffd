"""Ways of things and machines through a world: sought with capsules, shortened, timed, and checked with triangles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...errors import Blocked, InvalidParam, NoPath
from ...motion import Path
from ...skeleton import Array
from ...world import Body, World
from ..plan import PlanParams
from .chain import Chain
from .collision import Checker, clearance
from .cover import Cover, covered
from .machines import Machine, Thing
from .penetration import TOLERANCE, Penetration
from .rooms import with_rooms
from .rrt import SearchParams, plan
from .shortcut import SmoothParams, rounded, shorten, timed
from .solids import Shapes, Solids, solids
from .space import Bools, Space
from .surfaces import in_others
from .tree import Search, SearchTimeout

THIN = (1.0, 0.9, 0.75, 0.5)
"""Shares of the margin and of what covers a mover, tried when it touches something where it begins or ends."""
LEEWAY = 4.0
"""How near to such an end it stays thin, in radii of what covers it."""
AGAIN = 3
"""How often a way is sought anew, with more distance, when triangles touch after all."""

MOST_STEPS = 100_000
"""Looks that the straight way may take, above which none is sought."""


@dataclass(frozen=True, eq=False)
class Planned:
    """A way.

    Attributes:
        frames: (T, L, 4, 4) of the links, sample by sample.
        path: Configurations (T, n) at even times.
        search: What it took.
        machine: With what was kept out of everything.
        gap: Least distance that what covers it had from anything [m].
        offences: Where triangles touch after all.
    """

    frames: Array
    path: Path
    search: Search
    machine: Machine
    gap: float
    offences: tuple[Penetration, ...]


def way(
    machine: Machine,
    world: World,
    start: Array,
    goal: Array,
    params: PlanParams,
    fps: float,
    should_stop: Callable[[], bool] | None = None,
) -> Planned:
    """The way of a machine from one configuration (n,) to another.

    Raises:
        NoPath: It touches something at an end, which is named, or no way was found.
        Cancelled: It was stopped.
    """
    shapes, extra = Shapes(), 0.0
    begin, along = machine.cover.placed(machine.frames(np.stack([start, goal])))
    world = with_rooms(world, np.concatenate([p.reshape(3, -1).T for p in (begin, begin + along)]), 0.0, shapes)
    best: Planned | None = None
    for _ in range(AGAIN):
        try:
            found = _sought(machine, world, start, goal, params, fps, extra, shapes, should_stop)
        except NoPath:
            if best is None:
                raise
            break
        if best is None or len(found.offences) < len(best.offences):
            best = found
        if not found.offences:
            break
        extra += max(o.depth for o in found.offences) + 0.002
    assert best is not None
    return best


def _sought(
    machine: Machine,
    world: World,
    start: Array,
    goal: Array,
    params: PlanParams,
    fps: float,
    extra: float,
    shapes: Shapes,
    should_stop: Callable[[], bool] | None,
) -> Planned:
    hard = solids(world, 0.0, None, (), shapes)
    up = np.zeros(len(start))
    lifts = isinstance(machine, Thing) and params.lift > 0 and machine.moves != "floor"
    if lifts:
        up[2] = params.lift
    ends = np.stack([start + up, goal + up])
    for share in THIN:
        slim = replace(machine, cover=_scaled(machine, share, share * params.margin + extra))
        space = _space(slim, hard)
        if space.allowed(ends).all():
            break
    else:
        which = 0 if not space.allowed(ends[:1])[0] else 1
        raise Blocked(("start", "goal")[which], blocker(slim, hard, space, ends[which]))
    steps = float(space.distance(*ends)) / space.step
    if steps > MOST_STEPS:
        raise NoPath(f"its goal is {steps * space.step:.0f} m away, too far for its size: bring it nearer")
    method, smooth = ("connect", SmoothParams.faithful()) if params.faithful else ("wide", SmoothParams())
    search = SearchParams(method=method, budget=params.budget, seed=params.seed)
    try:
        if share < THIN[0]:
            whole = replace(machine, cover=_scaled(machine, 1.0, params.margin + extra))
            try:
                space = _thin_at_ends(_space(whole, hard), space, ends, LEEWAY * float(whole.cover.radii.max()))
                found = plan(space, ends[0], ends[1], search, should_stop=should_stop)
            except SearchTimeout:  # it is as narrow in between
                space = _space(slim, hard)
                found = plan(space, ends[0], ends[1], search, should_stop=should_stop)
        else:
            found = plan(space, ends[0], ends[1], search, should_stop=should_stop)
    except SearchTimeout as error:
        between = space.moved(ends[:1], np.linspace(0.0, 1.0, 32)[:, None] * space.difference(ends[0], ends[1]))
        hit = between[np.flatnonzero(~space.allowed(between))]
        where = blocker(slim, hard, space, hit[len(hit) // 2]) if len(hit) else "what is in between"
        raise error.around(where) from None
    path = shorten(space, found.path, smooth, np.random.default_rng(params.seed))
    path = rounded(space, path, smooth.corners)
    points = path.points
    if lifts:
        points = np.concatenate([start[None], points, goal[None]])
    done = timed(space, Path(points, path.axes), _fastest(machine, params), fps, smooth)
    frames = slim.frames(done.points)
    offences = _offences(machine, world, frames, shapes)
    return Planned(frames, done, found.search, slim, _least(slim, hard, frames), offences)


def _thin_at_ends(whole: Space, thin: Space, ends: Array, near: float) -> Space:
    """The space of a mover that is thin only as near as this to one of the ends (2, n), where it touches something."""

    def free(q: Array) -> Bools:
        out = whole.free(q)
        rest = np.flatnonzero(~out)
        if len(rest):
            rest = rest[(whole.distance(q[rest, None], ends) < near).any(axis=1)]
        if len(rest):
            out[rest] = thin.free(q[rest])
        return out

    return replace(whole, free=free)


def _scaled(machine: Machine, share: float, margin: float) -> Cover:
    cover = machine.cover
    return replace(cover, radii=np.maximum(share * cover.radii + margin, 1e-4))


def _space(machine: Machine, hard: Solids) -> Space:
    cover = machine.cover
    check = Checker(hard, np.linalg.norm(cover.ends - cover.starts, axis=1), cover.radii)

    def free(q: Array) -> Bools:
        frames = machine.frames(q)
        out = check.free(*cover.placed(frames))
        if isinstance(machine, Chain) and out.any():
            out[out] = machine.own(frames[out])
        return out

    return machine.space(free, max(0.35 * float(np.median(cover.radii)), 0.004))


def _fastest(machine: Machine, params: PlanParams) -> Array:
    if isinstance(machine, Thing):
        shift, turn = [params.speed] * 3, [params.turning] * 3
        return np.array({"space": shift + turn, "floor": [*shift[:2], params.turning], "slide": shift}[machine.moves])
    assert isinstance(machine, Chain)
    return np.full(len(machine.hinges), params.turning)


def blocker(machine: Machine, hard: Solids, space: Space, q: Array) -> str:
    """What a configuration (n,) is deepest in."""
    beyond = np.flatnonzero((q < space.low - 1e-9) | (q > space.high + 1e-9))
    if len(beyond):
        return f"the limit of {space.names[int(beyond[0])]}"
    begin, along = machine.cover.placed(machine.frames(q[None]))
    a, v = begin[:, :, 0].T, along[:, :, 0].T
    gap, owner = clearance(hard, a, a + v, machine.cover.radii)
    k = int(gap.argmin())
    return hard.names[owner[k]] if owner[k] >= 0 and gap[k] < 0.01 else "itself"


def _least(machine: Machine, hard: Solids, frames: Array) -> float:
    """Least gap on the way [m]."""
    some = frames[:: max(1, len(frames) // 40)]
    begin, along = machine.cover.placed(some)
    a, v = begin.transpose(2, 1, 0).reshape(-1, 3), along.transpose(2, 1, 0).reshape(-1, 3)
    gap, _ = clearance(hard, a, a + v, np.tile(machine.cover.radii, len(some)))
    return float(gap.min()) if np.isfinite(gap).any() else np.inf


def _offences(machine: Machine, world: World, frames: Array, shapes: Shapes) -> tuple[Penetration, ...]:
    """What of the meshes of a machine is in something at any sample, or half way to the next."""
    out: list[Penetration] = []
    for body, link in machine.parts:
        found = in_others(replace(body, matrices=frames[:, link]), world, shapes=shapes)
        deep = {o.body for o in found if o.frame == 0.0} | {o.body for o in found if o.frame == len(frames) - 1.0}
        # where it stands on something, or in it, at an end, that is how it was put there
        out += [o for o in found if o.body not in deep or o.depth > 2.0 * TOLERANCE + _at_ends(found, o.body)]
    return tuple(out)


def _at_ends(found: list[Penetration], name: str) -> float:
    ends = (min(o.frame for o in found), max(o.frame for o in found))
    return max((o.depth for o in found if o.body == name and o.frame in ends), default=0.0)


def between(thing: Thing, goal: Array) -> tuple[Array, Array]:
    """Configurations (n,) of a thing where it is and at a goal (4, 4).

    Raises:
        InvalidParam: It cannot be there the way it moves.
    """
    there = thing.configuration(goal)
    reached = thing.frames(there[None])[0, 0]
    away = float(np.linalg.norm(reached[:3, 3] - goal[:3, 3]))
    if away > 0.01 * max(thing.reach, 0.01):
        raise InvalidParam("moves", thing.moves, f"it does not get to the goal, which is {away:.2f} m higher or lower")
    return thing.configuration(thing.start), there


def thing_of(body: Body, goal: Array, params: PlanParams) -> Thing:
    """A body of the world, covered, with room to go to a goal (4, 4)."""
    parts = ((body, 0),)
    start = np.array(body.matrices[0])
    ends = np.stack([start[:3, 3], goal[:3, 3]])
    reach = float(np.linalg.norm(body.vertices, axis=1).max())
    return Thing(
        covered(parts),
        parts,
        params.moves,
        start,
        ends.min(axis=0) - params.room,
        ends.max(axis=0) + params.room,
        reach,
    )
