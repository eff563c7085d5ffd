"""One walker's way from a place to the nearest of some goals, by the fastest search that the case allows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import dist
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParam, NoPath
from ...motion import Path
from . import blame, cornerways
from .search import search
from .sight import Place
from .straighten import between, crosses, straightened

if TYPE_CHECKING:
    from .walkable import Walkable

Ints = npt.NDArray[np.int64]

MANY = 400
"""With more goal cells than this one search over all cells is faster."""


@dataclass(frozen=True)
class RouteReport:
    """What a search did.

    Attributes:
        method: The search that answered: straight, corners, field, astar or dijkstra.
        length: Of the way [m].
        expanded: Places taken from the queue.
        relaxations: Steps looked at.
        start_adjusted: How far the start was moved to be free [m]; 0 if it was.
        goal_adjusted: How far the goal was moved [m].
        goal: Number of the goal that was reached.
        notes: What was adjusted, in words.
    """

    method: str
    length: float
    expanded: int
    relaxations: int
    start_adjusted: float = 0.0
    goal_adjusted: float = 0.0
    goal: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Route:
    """A way and how it was found.

    Attributes:
        path: x, y from start to goal.
        report: What the search did.
        look: Tells the cells that the search took from its queue, as row * columns + column.
    """

    path: Path
    report: RouteReport
    look: Callable[[], Ints]

    @cached_property
    def searched(self) -> Ints:
        """(n,) cells that the search took from its queue, in order; none where the goal was in plain sight."""
        return self.look()


@dataclass(frozen=True, eq=False)
class Ends:
    """Free cells, as row * columns + column, that stand for goals.

    Attributes:
        cells: Of all goals.
        goal: Number of the goal that each of them stands for.
        places: Where a way that arrives there ends, counted in cells (see `sight`).
        moved: How far each lies from its goal where that is not free [m].
    """

    cells: list[int]
    goal: list[int]
    places: list[Place]
    moved: list[float]

    def only(self, kept: list[int]) -> Ends:
        """Those with these numbers."""
        cells, goal = [self.cells[k] for k in kept], [self.goal[k] for k in kept]
        return Ends(cells, goal, [self.places[k] for k in kept], [self.moved[k] for k in kept])


def route(ways: Walkable, start: npt.ArrayLike, goals: npt.ArrayLike, goal_radius: float) -> Route:
    """See `Walkable.plan`."""
    x, y = place_of(start, "start")
    cell, moved = ways.free_cell(x, y, "start")
    ends = ends_of(ways, goals, goal_radius, cell)
    labels = ways.labels
    here = labels[cell]
    if any(labels[end] != here for end in ends.cells):
        kept = [k for k, end in enumerate(ends.cells) if labels[end] == here]
        if not kept:
            a, b = (np.array(ends.places[0]) - 0.5) * ways.cell + ways.origin
            why = blame.shut_off(ways, (x, y), (float(a), float(b)))
            raise NoPath(f"no way leads from ({x:.2f}, {y:.2f}) to the goal: {why}")
        ends = ends.only(kept)
    begin: Place = ways.middle(cell) if moved else ways.to_cells(x, y)
    params = ways.params
    exact = params.method != "fast" or params.cut_corners or not params.straighten
    if exact:
        places, k, method, expanded, relaxations, look = _over_cells(ways, cell, ends, begin)
    elif len(ends.cells) > MANY:
        places, k, method, expanded, relaxations, look = _over_field(ways, cell, ends, begin)
    else:
        places, k, method, expanded, relaxations, look = _over_corners(ways, cell, ends, begin)
        if ways.costly and crosses(ways, places):
            places, k, method, expanded, relaxations, look = _over_field(ways, cell, ends, begin)
    if moved:
        places.insert(0, ways.to_cells(x, y))
    size = ways.cell
    length = sum(map(dist, places[1:], places)) * size
    notes: tuple[str, ...] = ()
    if moved or ends.moved[k]:
        notes = tuple(
            f"the {what} was moved by {far:.2f} m to be free"
            for what, far in (("start", moved), ("goal", ends.moved[k]))
            if far
        )
    path = Path((np.array(places) - 0.5) * size + ways.origin, ("x", "y"))
    report = RouteReport(method, length, expanded, relaxations, moved, ends.moved[k], ends.goal[k], notes)
    return Route(path, report, look)


def ends_of(ways: Walkable, goals: npt.ArrayLike, goal_radius: float, start: int = -1) -> Ends:
    """The free cells that stand for goals (2,) or (n, 2) [m]; `start` is one that may lie among them.

    Raises:
        NoPath: None of the goals has a free place near.
    """
    if not goal_radius and isinstance(goals, tuple) and len(goals) == 2 and isinstance(goals[0], float):
        x, y = place_of(goals, "goal")
        cell, far = ways.free_cell(x, y, "goal")
        return Ends([cell], [0], [ways.middle(cell) if far else ways.to_cells(x, y)], [far])
    array = np.asarray(goals, dtype=np.float64)
    if array.ndim not in (1, 2) or array.shape[-1] != 2 or not array.size or not np.isfinite(array).all():
        raise InvalidParam("goals", np.shape(goals), "must be places of finite x and y, (2,) or (n, 2)")
    if not 0 <= goal_radius < np.inf:
        raise InvalidParam("goal_radius", goal_radius, "must be a length of at least 0")
    cells: list[int] = []
    numbers: list[int] = []
    places: list[Place] = []
    moved: list[float] = []
    trouble: NoPath | None = None
    for number, (x, y) in enumerate(array.reshape(-1, 2).tolist()):
        around = _around(ways, x, y, goal_radius, start) if goal_radius else []
        if around:
            cells += around
            numbers += [number] * len(around)
            places += [ways.middle(cell) for cell in around]
            moved += [0.0] * len(around)
            continue
        try:
            cell, far = ways.free_cell(x, y, "goal")
        except NoPath as error:
            trouble = error
            continue
        cells.append(cell)
        numbers.append(number)
        places.append(ways.middle(cell) if far else ways.to_cells(x, y))
        moved.append(far)
    if not cells and trouble:
        raise trouble
    return Ends(cells, numbers, places, moved)


def _around(ways: Walkable, x: float, y: float, radius: float, start: int) -> list[int]:
    """Free cells on the rim of a disc, where ways from outside enter it; only the start if that lies inside."""
    columns = ways.free.shape[1]
    left, low = ((np.array([x, y]) - radius - ways.origin) / ways.cell - 1.5).astype(np.int64).clip(0)
    right, high = ((np.array([x, y]) + radius - ways.origin) / ways.cell + 2.5).astype(np.int64).clip(0)
    part = ways.free[low:high, left:right]
    if not part.size:
        return []
    cx = ways.origin[0] + (np.arange(left, left + part.shape[1]) + 0.5) * ways.cell - x
    cy = ways.origin[1] + (np.arange(low, low + part.shape[0]) + 0.5) * ways.cell - y
    disc = part & (cx * cx + (cy * cy)[:, None] <= radius * radius)
    row, column = divmod(start, columns)
    if (
        start >= 0
        and low <= row < low + part.shape[0]
        and left <= column < left + part.shape[1]
        and disc[row - low, column - left]
    ):
        return [start]
    outside = np.pad(part & ~disc, 1)
    rim = disc & (outside[:-2, 1:-1] | outside[2:, 1:-1] | outside[1:-1, :-2] | outside[1:-1, 2:])
    r, c = np.nonzero(rim if rim.any() else disc)
    found: list[int] = ((r + low) * columns + c + left).tolist()
    return found


Places = tuple[list[Place], int, str, int, int, Callable[[], Ints]]
"""Places of a way counted in cells, number of its end, method, expanded, relaxations, and which cells were expanded."""


def _none() -> Ints:
    return np.zeros(0, np.int64)


def _over_corners(ways: Walkable, cell: int, ends: Ends, begin: Place) -> Places:
    corners = ways.corners
    if len(ends.cells) == 1:
        end = ends.places[0]
        if ends.cells[0] == cell or corners.sees(*begin, *end):
            return ([begin, end] if begin != end else [begin]), 0, "straight", 0, 1, _none
    elif cell in ends.cells:
        k = ends.cells.index(cell)
        return ([begin, ends.places[k]] if begin != ends.places[k] else [begin]), k, "straight", 0, 1, _none
    width, inner = corners.width, ways.inner
    goals = [inner(end) for end in ends.cells]
    if ways.table is not None and len(goals) == 1:
        found = cornerways.read_off(corners, ways.table, inner(cell), goals[0])
    else:
        found = cornerways.search(corners, inner(cell), goals, ways.params.slack)
    if found is None:
        raise NoPath("no way leads to the goal")
    places: list[Place] = [(node % width, node // width) for node in found.nodes]
    return (
        between(ways, places, begin, ends.places[found.goal]),
        found.goal,
        "corners",
        len(found.closed),
        found.relaxations,
        lambda: ways.outer(sorted(found.closed)),
    )


def _over_cells(ways: Walkable, cell: int, ends: Ends, begin: Place) -> Places:
    """The exact search; its way goes from centre to centre unless it is pulled taut."""
    params = ways.params
    weights = ways.cost if ways.costly else None
    found = search(ways.free, [cell], ends.cells, params.method != "dijkstra", params.cut_corners, weights)
    if not len(found.cells):
        raise NoPath("no way leads to the goal")
    k = ends.cells.index(int(found.cells[-1]))
    method = "dijkstra" if params.method == "dijkstra" else "astar"
    places: list[Place] = [ways.middle(c) for c in found.cells.tolist()]
    if params.straighten:
        places = straightened(ways, places, begin, ends.places[k])
    return places, k, method, found.expanded, found.relaxations, lambda: np.flatnonzero(found.closed)


def _over_field(ways: Walkable, cell: int, ends: Ends, begin: Place) -> Places:
    """One search over all cells in compiled code, for weighted cells and for many goals."""
    distance, follow = ways.spread(ends.cells)
    if not np.isfinite(distance[cell]):
        raise NoPath("no way leads to the goal")
    cells = descent(follow, cell)
    k = ends.cells.index(cells[-1])
    places: list[Place] = [ways.middle(c) for c in cells]
    seen = np.isfinite(distance)
    count = int(seen.sum())
    taut = straightened(ways, places, begin, ends.places[k])
    return taut, k, "field", count, count, lambda: np.flatnonzero(seen)


def descent(follow: npt.NDArray[np.int32], cell: int) -> list[int]:
    """Cells from one on to the end of its way, where `follow` (rows * columns,) names the next of each, -1 for none."""
    cells = [cell]
    step = int(follow[cell])
    while step >= 0:
        cells.append(step)
        step = int(follow[step])
    return cells


def place_of(value: npt.ArrayLike, what: str) -> tuple[float, float]:
    """x and y [m] of a place, which must be two finite numbers."""
    if isinstance(value, (tuple, list, np.ndarray)) and len(value) == 2:
        try:
            x, y = float(value[0]), float(value[1])
        except (TypeError, ValueError):
            x = y = np.nan
        if abs(x) < np.inf and abs(y) < np.inf:
            return x, y
    raise InvalidParam(what, value, "must be two finite numbers, x and y")
