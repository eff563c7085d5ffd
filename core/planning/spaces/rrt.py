"""Ways through a configuration space by two rapidly-exploring random trees.

Kuffner, "Autonomous Agents for Real-Time Animation" (1999), chapter 5: the basic planner, in which both trees grow
towards the same samples, and RRT-Connect, in which each new node is what the other tree heads for. The default grows
both trees by many samples a round and checks all edges of a round together, which is the same search in wider steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...errors import Cancelled, InvalidParam, NoPath
from ...motion import Path
from ...params import Params, param
from ...skeleton import Array
from .space import Bools, Ints, Space, checked, clear, hits
from .tree import Found, Grown, Search, SearchTimeout, Tree, joined

REACH = 9.0
"""Longest edge of the wide search, in strides."""


@dataclass(frozen=True)
class SearchParams(Params):
    """How a way is sought."""

    method: str = param(
        "wide",
        choices=(
            ("wide", "RRT-Connect with many samples a round"),
            ("connect", "RRT-Connect as published, one sample a round"),
            ("basic", "Both trees towards the same samples"),
        ),
        basic=False,
        help="Kind of search",
    )
    budget: int = param(4000, lo=1, hi=10_000_000, help="Rounds after which the search gives up")
    stride: float = param(
        0.04, lo=0.001, hi=0.5, basic=False, help="Length of a step as a part of the width of the space"
    )
    samples: int = param(8, lo=1, hi=256, basic=False, help="Samples for each tree in a round of the wide search")
    seed: int = param(0, lo=0, hi=2**31 - 1, basic=False, help="Number from which everything random follows")


REFINED = 4
"""How often a search is repeated with looks twice as close, when the way it found touches something between them."""


class _Tally:
    """A space whose looks are counted."""

    def __init__(self, space: Space) -> None:
        self.looks = 0
        free = space.free

        def counted(q: Array) -> Bools:
            self.looks += len(q)
            return free(q)

        self.space = replace(space, free=counted)


def plan(
    space: Space,
    start: Array,
    goal: Array,
    params: SearchParams | None = None,
    rng: np.random.Generator | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Found:
    """A way from one configuration to another.

    Args:
        space: With its limits and collisions.
        start, goal: (n,) configurations.
        params: How it is sought.
        rng: Source of chance; None for one from the seed.
        should_stop: Asked once a round.

    Raises:
        NoPath: The start or the goal is not free.
        SearchTimeout: Nothing was found within the budget, which proves nothing; its `search` holds the trees.
        Cancelled: It was stopped.
    """
    params = params or SearchParams()
    rng = rng if rng is not None else np.random.default_rng(params.seed)
    start, goal = np.array(start, dtype=np.float64), np.array(goal, dtype=np.float64)
    if not (np.isfinite(start).all() and np.isfinite(goal).all()):
        raise InvalidParam("goal", goal.tolist(), "start and goal must be numbers")
    tally = _Tally(space)
    ends = tally.space.allowed(np.stack([start, goal]))
    for name, q, fine in (("start", start, ends[0]), ("goal", goal, ends[1])):
        if not fine:
            raise NoPath(f"the {name} {_shown(space, q)} is not free")
    method = {"wide": _wide, "connect": _connect, "basic": _basic}[params.method]
    for _ in range(REFINED + 1):
        trees = Tree(tally.space, start), Tree(tally.space, goal)
        points, samples, rounds, trace = method(tally.space, trees, params, rng, should_stop)
        if points is None or not hits(space, points):
            break
        # something thin lies between two looks
        tally.space = replace(tally.space, step=tally.space.step / 2)
    kept = [(tree.nodes.copy(), tree.parents.copy()) for tree in trees]
    search = Search((kept[0], kept[1]), samples, tally.looks, rounds, tuple(trace))
    if points is None:
        raise SearchTimeout(search)
    return Found(Path(points, space.names), search)


def _shown(space: Space, q: Array) -> str:
    wrong = np.flatnonzero((q < space.low - 1e-9) | (q > space.high + 1e-9))
    if len(wrong):
        k = int(wrong[0])
        return f"({space.names[k]} = {q[k]:.3g}, allowed {space.low[k]:.3g} to {space.high[k]:.3g})"
    return "touches something, which"


Answer = tuple["Array | None", int, int, list[str]]


def stopped(should_stop: Callable[[], bool] | None) -> None:
    """Raise Cancelled when told to stop."""
    if should_stop is not None and should_stop():
        raise Cancelled("the search for a way was stopped")


def _basic(
    space: Space,
    trees: tuple[Tree, Tree],
    params: SearchParams,
    rng: np.random.Generator,
    should_stop: Callable[[], bool] | None,
) -> Answer:
    stride = params.stride * space.extent()
    for k in range(params.budget):
        stopped(should_stop)
        q = space.sample(rng, 1)[0]
        (a, node), (b, other) = (tree.grow(q, stride) for tree in trees)
        if a is b is Grown.CONNECTION:
            return joined(trees[0].way(node), trees[1].way(other), False), k + 1, k + 1, []
    return None, params.budget, params.budget, []


def _connect(
    space: Space,
    trees: tuple[Tree, Tree],
    params: SearchParams,
    rng: np.random.Generator,
    should_stop: Callable[[], bool] | None,
) -> Answer:
    stride = params.stride * space.extent()
    active, heading = 0, True
    target, nearest = trees[1].nodes[0], None
    samples, trace = 0, []
    for k in range(params.budget):
        stopped(should_stop)
        trace.append("IG"[active].lower() if heading else "IG"[active])
        tree = trees[active]
        if heading:
            # after a step the newest node is the nearest: every other one was further from the target
            grown, node = tree.grow(target, stride, nearest)
            if grown is Grown.CONNECTION:
                meet = int(trees[1 - active].nearest(target[None])[0])
                points = joined(tree.way(node), trees[1 - active].way(meet), active == 1)
                return points, samples, k + 1, trace
            heading, nearest = grown is Grown.SUCCESS, node if grown is Grown.SUCCESS else None
            continue
        samples += 1
        grown, node = tree.grow(space.sample(rng, 1)[0], stride)
        if grown is not Grown.FAILED:
            target, heading = tree.nodes[node].copy(), True
        active = 1 - active
    return None, samples, params.budget, trace


def _wide(
    space: Space,
    trees: tuple[Tree, Tree],
    params: SearchParams,
    rng: np.random.Generator,
    should_stop: Callable[[], bool] | None,
) -> Answer:
    start, goal = (tree.nodes[0].copy() for tree in trees)
    if clear(space, start[None], goal[None])[0]:
        return np.stack([start, goal]), 0, 1, []
    reach = REACH * params.stride * space.extent()
    fresh: list[Ints] = [np.zeros(0, dtype=np.int64)] * 2
    for k in range(params.budget):
        stopped(should_stop)
        meeting, fresh = _round(space, trees, fresh, space.sample(rng, 2 * params.samples), reach)
        if meeting is not None:
            return meeting, 2 * params.samples * (k + 1), k + 1, []
    return None, 2 * params.samples * params.budget, params.budget, []


def _round(
    space: Space, trees: tuple[Tree, Tree], fresh: list[Ints], samples: Array, reach: float
) -> tuple[Array | None, list[Ints]]:
    """Grow both trees towards their halves of the samples, and towards the nodes that were new in the other one.

    Returns:
        The way where the trees meet, or None; and the nodes of each tree that the other one has not headed for yet.
    """
    half = len(samples) // 2
    starts, ends, roots, sizes = [], [], [], []
    for tree, some in zip(trees, (samples[:half], samples[half:]), strict=True):
        near = tree.nearest(some)
        tangent = space.difference(tree.nodes[near], some)
        far = np.maximum(space.size(tangent), 1e-12)
        starts.append(tree.nodes[near])
        ends.append(space.moved(starts[-1], tangent * np.minimum(1.0, reach / far)[:, None]))
        roots.append(near)
        sizes.append(half)
    for k in (0, 1):
        wanted = trees[k].nodes[fresh[k]]
        near = trees[1 - k].nearest(wanted) if len(wanted) else fresh[k]
        starts.append(trees[1 - k].nodes[near])
        ends.append(wanted)
        roots.append(near)
        sizes.append(len(wanted))
    start, end, root = np.concatenate(starts), np.concatenate(ends), np.concatenate(roots)
    done, steps = checked(space, start, end)
    bounds = np.cumsum([0, *sizes])
    for k in (0, 1):
        lo, hi = bounds[2 + k], bounds[3 + k]
        met = np.flatnonzero(done[lo:hi] == steps[lo:hi])
        if len(met):
            best = int(met[np.argmin(steps[lo + met])])
            mine, other = trees[k].way(int(fresh[k][best])), trees[1 - k].way(int(root[lo + best]))
            return joined(mine, other, k == 1), fresh
    new = space.moved(start, (done / steps)[:, None] * space.difference(start, end))
    grown = done > 0
    out: list[Ints] = []
    for k in (0, 1):
        own = np.flatnonzero(grown[bounds[k] : bounds[k + 1]]) + bounds[k]
        # what was left of the way to a node of the other tree stays, without heading for it again at once
        part = np.flatnonzero(grown[bounds[3 - k] : bounds[4 - k]]) + bounds[3 - k]
        both = np.concatenate([own, part])
        nodes = trees[k].add(new[both], root[both]) if len(both) else both
        out.append(nodes[: len(own)])
    return None, out
