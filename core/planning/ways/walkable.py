"""What a body of one size may tread on a map, and the ways it has there.

ways = scene_map.walkable(radius)          # made once for a radius, kept by the map
path = ways.route((0, 0), (5, 3))          # shortest way as a Path of x, y; NoPath says why there is none
field = ways.field((5, 3))                 # one search for many walkers to one goal
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParam, NoPath
from ...motion import Path
from ...needs import needs_scipy
from ...params import Params, param
from ...skeleton import Array
from . import blame, fields, growth, routes
from .corners import Corners
from .cornerways import SLACK, Table, tabled
from .fields import Field
from .growth import Box
from .routes import Route, RouteReport
from .search import grid_graph
from .sight import Place

if TYPE_CHECKING:
    from .bodies import Seen
    from .map import Map

__all__ = ["Field", "Route", "RouteReport", "Walkable", "WalkableParams", "on_grid", "walkable"]

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class WalkableParams(Params):
    """How obstacles grow by the size of a body, and how ways are searched."""

    margin: float = param(0.05, lo=0.0, hi=10.0, unit="m", help="Room kept beside the body, for it strays from its way")
    half_cell: bool = param(True, basic=False, help="Keep clear of whole cells, not of their centres only")
    cut_corners: bool = param(False, basic=False, help="Pass diagonally between two blocked cells")
    straighten: bool = param(True, basic=False, help="Pull the way taut instead of going from cell to cell")
    method: str = param(
        "fast",
        choices=(
            ("fast", "Over the corners of obstacles"),
            ("astar", "Over cells, towards the goal"),
            ("dijkstra", "Over cells, in all directions"),
        ),
        basic=False,
        help="Search",
    )
    slack: float = param(
        SLACK, lo=0.0, hi=1.0, basic=False, help="How much longer than the shortest a way may be, for a faster search"
    )

    @classmethod
    def faithful(cls) -> WalkableParams:
        """As published: growth between centres, corners cut, ways from cell to cell, plain search."""
        return cls(margin=0.0, half_cell=False, cut_corners=True, straighten=False, method="dijkstra", slack=0.0)


@dataclass(frozen=True, eq=False)
class Walkable:
    """The cells where the centre of a disc may be.

    Attributes:
        origin: (2,) corner of cell (0, 0) with the least x and y [m].
        cell: Side of a cell [m].
        radius: Of the disc [m].
        blocked: (rows, columns) of the map, not grown.
        free: (rows, columns) the centre of the disc may be there.
        cost: (rows, columns) at least 1.
        params: How obstacles grew and how ways are searched.
        notes: What a user should know.
        table: What `prepare` found.
        things: The bodies that stand on the map, by name; None where it was made of cells alone.
    """

    origin: Array
    cell: float
    radius: float
    blocked: Bools
    free: Bools
    cost: Array
    params: WalkableParams = WalkableParams()
    notes: tuple[str, ...] = ()
    table: Table | None = field(default=None, repr=False)
    things: Mapping[str, Seen] | None = field(default=None, repr=False)

    @cached_property
    def clearance(self) -> Array:
        """(rows, columns) from the centre of every cell to that of the nearest blocked one [m]; inf without any."""
        return growth.distances(self.blocked) * self.cell

    @cached_property
    def corners(self) -> Corners:
        """The corners of what is not free."""
        return Corners(self.free)

    @cached_property
    def costly(self) -> bool:
        """Whether some free cell costs more than 1."""
        return bool((self.cost[self.free] > 1.0).any())

    @cached_property
    def labels(self) -> array[int]:
        """(rows * columns,) number of the connected part that a cell belongs to, 0 where it is not free."""
        with needs_scipy():
            from scipy.ndimage import label
        # a diagonal step that cuts no corner is two straight ones
        around = np.ones((3, 3)) if self.params.cut_corners else None
        return array("i", label(self.free, around)[0].astype(np.int32).tobytes())

    def prepare(self) -> Walkable:
        """Do now what many routes would do, so that all are fast; returns itself.

        All connections between corners are found, and where they are few all ways between them too: then ways are
        read off, not searched, and are the shortest over corners. It takes as long as a few hundred routes.
        """
        _ = self.labels, self.costly
        if self.table is None:
            object.__setattr__(self, "table", tabled(self.corners))
        return self

    def centre(self, cells: npt.ArrayLike) -> Array:
        """Centres (..., 2) of cells given as row * columns + column [m]."""
        row, column = np.divmod(np.asarray(cells), self.free.shape[1])
        return self.origin + (np.stack([column, row], axis=-1) + 0.5) * self.cell

    def nearest(self, xy: npt.ArrayLike, reach: float | None = None) -> Array:
        """Place (2,) free for the disc nearest to `xy` (2,) [m]: itself, or the centre of a free cell.

        Args:
            xy: Wanted place [m].
            reach: How far it may be [m]; None for twice the radius.

        Raises:
            NoPath: There is none within reach.
        """
        x, y = routes.place_of(xy, "place")
        cell, moved = self.free_cell(x, y, "place", reach)
        return self.centre(cell) if moved else np.array([x, y])

    def clear(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Bools:
        """Whether the straight ways from `a` (..., 2) to `b` (..., 2) [m] touch free cells only, (...)."""
        p, q = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64))
        flat = [(place.reshape(-1, 2) - self.origin) / self.cell + 0.5 for place in (p, q)]
        return self.corners.clear(*flat).reshape(p.shape[:-1])

    def plan(self, start: npt.ArrayLike, goals: npt.ArrayLike, goal_radius: float = 0.0) -> Route:
        """The shortest way to the nearest of some goals, with a report.

        Args:
            start: (2,) [m]. Where the disc would touch something it first goes straight to the nearest free place.
            goals: (2,) or (n, 2) [m]; the one reached at least cost is taken. Where the disc would touch something the
                way ends at the nearest free place.
            goal_radius: A way may end this near to a goal [m].

        Returns:
            Path with axes x, y from start to goal, and the report.

        Raises:
            NoPath: Start or goal has no free place within twice the radius, or no way joins them.
        """
        return routes.route(self, start, goals, goal_radius)

    def route(self, start: npt.ArrayLike, goals: npt.ArrayLike, goal_radius: float = 0.0) -> Path:
        """The shortest way to the nearest of some goals as a Path of x, y; see `plan`."""
        return routes.route(self, start, goals, goal_radius).path

    def field(self, goals: npt.ArrayLike, goal_radius: float = 0.0) -> Field:
        """Ways from everywhere to the nearest of goals (2,) or (n, 2) [m]; see `plan` for goals in walls.

        `field.descend(places)` gives the ways of many walkers, `field.distances` how far every cell is.
        """
        return fields.field(self, goals, goal_radius)

    def changed(self, blocked: Bools, cost: Array, box: Box, things: Mapping[str, Seen] | None = None) -> Walkable:
        """The same for a map of other things, whose blocked cells differ within a box of rows and columns only.

        Where the box is small this is far cheaper than from nothing; an empty box (last before first) means that only
        costs differ. What `prepare` did is not done again.
        """
        if box[2] < box[0]:
            other = replace(self, cost=cost, things=things)
            kept = {"corners", "labels", "clearance"} & self.__dict__.keys()
            other.__dict__.update({name: self.__dict__[name] for name in kept})
            return other
        grown, near = growth.regrown(blocked, _reach(self.radius, self.cell, self.params), ~self.free, box)
        other = replace(self, blocked=blocked, free=~grown, cost=cost, table=None, things=things)
        if "corners" in self.__dict__:
            other.__dict__["corners"] = self.corners.changed(other.free, near)
        return other

    def free_cell(self, x: float, y: float, what: str, reach: float | None = None) -> tuple[int, float]:
        """The free cell at a place [m], or the nearest, and how far away its centre is then [m]; NoPath for none."""
        rows, columns = self.free.shape
        left, low = self._corner
        across, along = (x - left) / self.cell, (y - low) / self.cell
        inside = 0 <= across < columns and 0 <= along < rows
        if inside:
            cell = int(along) * columns + int(across)
            if self.labels[cell]:
                return cell, 0.0
        reach = 2 * self.radius if reach is None else reach
        if not inside and max(-across, across - columns, -along, along - rows) * self.cell > reach:
            raise NoPath(f"the {what} ({x:.2f}, {y:.2f}) is outside the map")
        row, column = int(np.floor(along)), int(np.floor(across))
        span = int(min(reach / self.cell, rows + columns)) + 2
        r, c = max(row - span, 0), max(column - span, 0)
        near = self.free[r : max(row + span + 1, 0), c : max(column + span + 1, 0)]
        i, j = np.nonzero(near)
        if len(i):
            distance = np.hypot(j + c + 0.5 - across, i + r + 0.5 - along) * self.cell
            k = int(distance.argmin())
            if distance[k] <= reach + 1e-9:
                return int((i[k] + r) * columns + j[k] + c), float(distance[k])
        where = blame.whereabouts(self, x, y) if inside else "outside the map"
        raise NoPath(f"the {what} ({x:.2f}, {y:.2f}) is {where}, with no free place within {reach:.2f} m")

    def spread(self, cells: list[int]) -> tuple[Array, npt.NDArray[np.int32]]:
        """Over cells to the nearest of some: distances (rows * columns,) [m, times cost]; next cells, -1 for none."""
        with needs_scipy():
            from scipy.sparse.csgraph import dijkstra
        distance, before, _ = dijkstra(self._graph, indices=np.unique(cells), min_only=True, return_predecessors=True)
        return distance, np.where(before < 0, -1, before).astype(np.int32)

    @cached_property
    def _graph(self) -> Any:
        return grid_graph(self.free, self.cost, self.params.cut_corners, self.cell)

    @cached_property
    def _corner(self) -> tuple[float, float]:
        return float(self.origin[0]), float(self.origin[1])

    def inner(self, cell: int) -> int:
        """The node of `corners` that is a cell."""
        columns: int = self.free.shape[1]
        return (cell // columns + 1) * (columns + 2) + cell % columns + 1

    def outer(self, nodes: list[int]) -> Ints:
        """(n,) cells that are nodes of `corners`."""
        row, column = np.divmod(np.array(nodes, dtype=np.int64), self.free.shape[1] + 2)
        cells: Ints = (row - 1) * self.free.shape[1] + column - 1
        return cells

    def middle(self, cell: int) -> tuple[int, int]:
        """Centre of a cell, counted in cells as in `sight`."""
        row, column = divmod(cell, self.free.shape[1])
        return column + 1, row + 1

    def to_cells(self, x: float, y: float) -> Place:
        """A place [m] counted in cells as in `sight`."""
        left, low = self._corner
        return (x - left) / self.cell + 0.5, (y - low) / self.cell + 0.5


def walkable(of: Map, radius: float, params: WalkableParams | None = None, floor: int = 0) -> Walkable:
    """What a disc may tread on a map; `Map.walkable` keeps what this makes.

    Args:
        of: The map.
        radius: Of the disc [m].
        params: Growth and search.
        floor: Storey.
    """
    params = params or WalkableParams()
    if not 0 < radius < np.inf:
        raise InvalidParam("radius", radius, "must be a positive number of metres")
    if not 0 <= floor < len(of.blocked):
        raise InvalidParam("floor", floor, f"must be one of the map's {len(of.blocked)} storeys, counted from 0")
    blocked = of.blocked[floor]
    free = ~growth.grown(blocked, _reach(radius, of.cell, params))
    notes: tuple[str, ...] = ()
    if of.cell > radius:
        notes = (f"cells of {of.cell:.2f} m are larger than the radius {radius:.2f} m: narrow ways are missed",)
    return Walkable(of.origin, of.cell, radius, blocked, free, of.cost[floor], params, notes, None, of.things)


def on_grid(
    free: npt.ArrayLike,
    cell: float = 1.0,
    origin: npt.ArrayLike = (0.0, 0.0),
    cost: npt.ArrayLike | None = None,
    params: WalkableParams | None = None,
) -> Walkable:
    """A walkable of given free cells (rows, columns), which are not grown; rows run along y.

    Args:
        free: Where the centre of the body may be.
        cell: Side of a cell [m].
        origin: (2,) corner of cell (0, 0) [m].
        cost: (rows, columns) at least 1; None for 1 everywhere.
        params: Search.
    """
    cells = np.array(free, dtype=bool)
    if cells.ndim != 2 or not cells.size:
        raise InvalidParam("free", cells.shape, "must be rows and columns of at least one cell")
    price = np.ones(cells.shape) if cost is None else np.array(cost, dtype=np.float64)
    if price.shape != cells.shape or not (price >= 1).all():
        raise InvalidParam("cost", price.shape, f"must be numbers of at least 1, {cells.shape[0]} x {cells.shape[1]}")
    base = np.array(origin, dtype=np.float64)
    return Walkable(base, float(cell), 0.5 * float(cell), ~cells, cells, price, params or WalkableParams())


def _reach(radius: float, cell: float, params: WalkableParams) -> float:
    """Distance between centres below which a cell is not free [cells]."""
    # rounding must not decide whether a distance of exactly the radius is within it
    return (radius + params.margin) / cell + (np.sqrt(0.5) if params.half_cell else 0.0) + 1e-9
