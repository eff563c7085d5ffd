"""A map of a scene for walkers: what blocks, how high the ground lies and what it costs to tread, on square cells.

Geometry between two heights over the ground is projected straight down onto a grid (Kuffner, "Goal-directed navigation
for animated characters using real-time path planning and control", 1998). How bodies are read is told in `bodies`. What
a walker of some size may do on a map is a `Walkable`; the map makes and keeps one for every size.

    scene_map = project(world)
    path = scene_map.walkable(0.3).route((0, 0), (5, 3))
    scene_map = update(scene_map, world, time)            # only where something moved
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...params import Params, param
from ...skeleton import Array
from ...world import Body, World
from .walkable import Walkable, WalkableParams, walkable

if TYPE_CHECKING:
    from .bodies import Seen
    from .cells import Ints
    from .footprint import Frame
    from .growth import Box

Bools = npt.NDArray[np.bool_]
_USUAL = WalkableParams()


@dataclass(frozen=True)
class MapParams(Params):
    """How a scene becomes a map."""

    radius: float = param(0.3, lo=0.01, hi=100.0, unit="m", help="Radius of the body the map is made for")
    cell: float = param(0.0, lo=0.0, hi=100.0, unit="m", help="Side of a cell; 0 is half the radius")
    z_low: float = param(0.05, lo=0.0, hi=10.0, unit="m", help="What ends below this over the ground is no obstacle")
    z_high: float = param(1.9, lo=0.01, hi=100.0, unit="m", help="What begins above this over the ground is none")
    slope: float = param(0.7, lo=0.01, hi=1.5, unit="rad", help="Steepest ground that is walked on")
    step: float = param(0.35, lo=0.0, hi=10.0, unit="m", help="Highest step that is taken")
    floor: float = param(
        0.0, lo=-1e5, hi=1e5, unit="m", basic=False, help="Height of the floor where no body is ground"
    )
    ceiling: float = param(1e5, lo=-1e5, hi=1e5, unit="m", basic=False, help="Ground above this is another storey's")
    border_blocked: bool = param(False, basic=False, help="A ring of blocked cells around the map")
    fill_enclosed: bool = param(False, basic=False, help="Block the inside of every body's outline")
    max_cells: int = param(4_000_000, lo=1, hi=100_000_000, basic=False, help="Largest map that is made")


@dataclass(frozen=True, eq=False)
class _Kept:
    """What an update starts from: bodies by name, how many block each cell, and what the ground itself costs."""

    seen: Mapping[str, Seen]
    count: npt.NDArray[np.int32]
    cost: Array


@dataclass(frozen=True, eq=False)
class Map:
    """Square cells seen from above; the first axis is the storey, of which there is one.

    Attributes:
        origin: (2,) corner of cell (0, 0) with the least x and y [m].
        cell: Side of a cell [m].
        blocked: (L, rows, columns) something stands there; not grown by the size of any body. Rows run along y.
        ground: (L, rows, columns) height of the ground [m].
        low: (L, rows, columns) and high: lowest and highest geometry over the cell within the slab [m]; inf and -inf
            where there is none. They tell what may be stepped over or ducked under.
        cost: (L, rows, columns) how many times as much a cell costs as a plain one, at least 1.
        params: How it was made.
        notes: What a user should know: a cell coarser than the body, a map made coarser to stay small.
    """

    origin: Array
    cell: float
    blocked: Bools
    ground: Array
    low: Array
    high: Array
    cost: Array
    params: MapParams = MapParams()
    notes: tuple[str, ...] = ()
    _kept: _Kept | None = field(default=None, repr=False)
    _walkables: dict[tuple[float, WalkableParams, int], Walkable] = field(default_factory=dict, repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        _, rows, columns = self.blocked.shape
        return rows, columns

    @property
    def frame(self) -> Frame:
        """Where the cells lie."""
        from .footprint import Frame

        return Frame(self.origin, self.cell, self.shape)

    @property
    def things(self) -> Mapping[str, Seen] | None:
        """The bodies on it, by name; None where that is not known."""
        return self._kept.seen if self._kept else None

    def walkable(self, radius: float | None = None, params: WalkableParams | None = None, floor: int = 0) -> Walkable:
        """What a disc of `radius` [m] may tread: made at the first call for a radius, kept for the next ones."""
        radius = self.params.radius if radius is None else float(radius)
        key = (radius, params or _USUAL, floor)
        if key not in self._walkables:
            self._walkables[key] = walkable(self, *key)
        return self._walkables[key]


def project(
    world: World,
    params: MapParams | None = None,
    time: float = 0.0,
    exclude: Collection[str] = (),
    bounds: npt.ArrayLike | None = None,
) -> Map:
    """Make the map of a world at one time.

    Args:
        world: Its bodies; its actors are not looked at (`with_discs` draws them).
        params: How.
        time: Where moving bodies are taken [s].
        exclude: Names of bodies that are left out: the walker's own mesh, what it carries, a goal's marker.
        bounds: (2, 2) least and greatest x, y of the map [m]; None for all the ground, or all bodies without ground.

    Returns:
        The map. An automatic cell size (`cell` 0) grows up to the radius where the map would exceed `max_cells`.

    Raises:
        InvalidParam: The map would be too large, or there is nothing to tell its bounds from.
    """
    from . import bodies, footprint, terrain
    from .bodies import Seen

    params = params or MapParams()
    placed = _placed(world, time, exclude)
    corners = [footprint.corners_of(body, matrix) for body, matrix in placed.values()]
    roles = [bodies.role(body) for body, _ in placed.values()]
    frame, notes = bodies.frame(corners, roles, bounds, params.radius, params.cell, params.max_cells)

    floors = [k for k, role in enumerate(roles) if role == "ground"]
    land = terrain.sample([corners[k] for k in floors], frame, params.slope, params.ceiling, params.floor)
    out = terrain.impassable(land, frame.cell, params.slope, params.step, bool(floors))
    if params.border_blocked:
        out[[0, -1]] = True
        out[:, [0, -1]] = True
    names = list(placed)
    cost = np.ones(frame.shape)
    for number, k in enumerate(floors):
        cost[land.body == number] = bodies.cost(placed[names[k]][0])
    # walls that belong to a ground mesh: what is steep in it and higher than a step
    steep = [corners[k][terrain.slopes(corners[k]) > params.slope] for k in floors]
    walls = footprint.footprints(steep, frame, land.height, params.step + 1e-6, params.z_high)
    seen = _stood({name: at for name, at in placed.items() if at[0].kind != "ground"}, frame, land.height, params)
    for k, wall in zip(floors, walls, strict=True):
        body, matrix = placed[names[k]]
        seen[body.name] = Seen(body, matrix, "ground", 1.0, wall)
    count = out.astype(np.int32).ravel()
    low, high = np.full(out.size, np.inf), np.full(out.size, -np.inf)
    for one in seen.values():
        if one.role != "region":
            count[one.footprint.cells] += 1
            _raise(low, high, one, slice(None))
    layer = (1, *frame.shape)
    return Map(
        frame.origin,
        frame.cell,
        (count > 0).reshape(layer),
        land.height.reshape(layer),
        low.reshape(layer),
        high.reshape(layer),
        _priced(cost.ravel(), seen.values()).reshape(layer),
        params,
        notes,
        _Kept(seen, count, cost.ravel()),
    )


def update(old: Map, world: World, time: float = 0.0, exclude: Collection[str] = ()) -> Map:
    """The map of a world in which some bodies moved, changed, came or went; its bounds stay.

    Only the cells of those bodies are worked on, and only their surroundings in the walkables that the map had made.
    When ground has changed the whole map is made anew.

    Args:
        old: The map so far; it stays as it is.
        world: Now.
        time: Where moving bodies are taken [s].
        exclude: Names of bodies that are left out.

    Returns:
        The new map; `old` itself when nothing changed.
    """
    before = old._kept.seen if old._kept else {}
    at_rest = {
        body.name
        for body in world.bodies
        if body.name in before and before[body.name].body is body and len(body.matrices) == 1
    }.difference(exclude)
    placed = _placed(world, time, at_rest.union(exclude))
    gone = [
        one for name, one in before.items() if name not in at_rest and not (name in placed and one.still(*placed[name]))
    ]
    lost = {one.body.name for one in gone}
    new = {name: at for name, at in placed.items() if name in lost or name not in before}
    if old._kept is None or any(b.kind == "ground" for b in [*(g.body for g in gone), *(b for b, _ in new.values())]):
        far = old.origin + np.array(old.shape[::-1]) * old.cell
        made = project(world, replace(old.params, cell=old.cell), time, exclude, np.stack([old.origin, far]))
        return replace(made, params=old.params, notes=old.notes)
    if not gone and not new:
        return old
    came = _stood(new, old.frame, old.ground[0], old.params)
    seen = {name: one for name, one in before.items() if name not in lost} | came
    stood = [one for one in [*gone, *came.values()] if one.role != "region"]
    box = _around([one.footprint.box for one in stood if len(one.footprint.cells)])
    dirty = np.concatenate([one.footprint.cells for one in stood]) if stood else np.zeros(0, np.int64)
    count = old._kept.count.copy()
    for one in stood:
        count[one.footprint.cells] += 1 if came.get(one.body.name) is one else -1
    blocked, low, high = old.blocked.copy(), old.low.copy(), old.high.copy()
    blocked.reshape(-1)[dirty] = count[dirty] > 0
    flat = low.reshape(-1), high.reshape(-1)
    flat[0][dirty], flat[1][dirty] = np.inf, -np.inf
    touched = np.zeros(count.size, bool)
    touched[dirty] = True
    top, left, bottom, right = box
    for one in seen.values():
        first_row, first_column, last_row, last_column = one.footprint.box
        apart = first_row > bottom or last_row < top or first_column > right or last_column < left
        if one.role != "region" and not apart:
            _raise(*flat, one, touched[one.footprint.cells])
    cost = old.cost
    if any(one.role == "region" for one in [*gone, *came.values()]):
        cost = _priced(old._kept.cost, seen.values()).reshape(cost.shape)
    kept = _Kept(seen, count, old._kept.cost)
    changed = replace(old, blocked=blocked, low=low, high=high, cost=cost, _kept=kept, _walkables={})
    return _carried(old, changed, box)


def with_discs(old: Map, starts: npt.ArrayLike, ends: npt.ArrayLike, radii: npt.ArrayLike) -> Map:
    """The map with moving discs drawn on it, to plan around others where they are and where they will be.

    Args:
        old: The map; it stays as it is.
        starts: (n, 2) centres now [m].
        ends: (n, 2) centres at the end of the time looked ahead [m]; the same where they stand.
        radii: (n,) or one [m].
    """
    from . import footprint

    a = np.asarray(starts, dtype=np.float64).reshape(-1, 2)
    b = np.asarray(ends, dtype=np.float64).reshape(-1, 2)
    cells = footprint.capsules(a, b, np.broadcast_to(np.asarray(radii, dtype=np.float64), len(a)), old.frame)
    blocked = old.blocked.copy()
    blocked.reshape(-1)[cells] = True
    # without what an update starts from: discs are no bodies and would be lost
    return _carried(old, replace(old, blocked=blocked, _kept=None, _walkables={}), _box(cells, old.shape[1]))


def _placed(world: World, time: float, exclude: Collection[str]) -> dict[str, tuple[Body, Array]]:
    """Bodies that count, with their matrices."""
    from . import bodies, footprint

    return {
        body.name: (body, footprint.placement(body, world.fps, time))
        for body in world.bodies
        if body.name not in exclude and not (body.tags and bodies.role(body) == "nothing")
    }


def _stood(placed: Mapping[str, tuple[Body, Array]], frame: Frame, height: Array, params: MapParams) -> dict[str, Seen]:
    """Bodies with their cells."""
    from . import bodies, footprint
    from .bodies import Seen

    prints = footprint.footprints(
        [footprint.corners_of(body, matrix) for body, matrix in placed.values()],
        frame,
        height,
        params.z_low,
        params.z_high,
        [params.fill_enclosed or "solid" in body.tags for body, _ in placed.values()],
    )
    return {
        name: Seen(body, matrix, bodies.role(body), bodies.cost(body), one)
        for (name, (body, matrix)), one in zip(placed.items(), prints, strict=True)
    }


def _raise(low: Array, high: Array, one: Seen, chosen: slice | Bools) -> None:
    """Take the heights of a body into flat layers, in its chosen cells."""
    cells = one.footprint.cells[chosen]
    low[cells] = np.minimum(low[cells], one.footprint.low[chosen])
    high[cells] = np.maximum(high[cells], one.footprint.high[chosen])


def _priced(cost: Array, seen: Collection[Seen]) -> Array:
    """Cost of the ground and of the regions on it."""
    priced = cost.copy()
    for one in seen:
        if one.role == "region":
            priced[one.footprint.cells] = np.maximum(priced[one.footprint.cells], one.cost)
    return priced


def _box(cells: Ints, columns: int) -> Box:
    """Around cells, which may be none."""
    if not len(cells):
        return 0, 0, -1, -1
    row, column = np.divmod(cells, columns)
    return int(row.min()), int(column.min()), int(row.max()), int(column.max())


def _around(boxes: Collection[Box]) -> Box:
    """Around boxes, which may be none."""
    if not boxes:
        return 0, 0, -1, -1
    top, left, bottom, right = zip(*boxes, strict=True)
    return min(top), min(left), max(bottom), max(right)


def _carried(old: Map, new: Map, box: Box) -> Map:
    """The new map with the walkables of the old one, put right around the cells that changed."""
    for key, ways in old._walkables.items():
        floor = key[2]
        new._walkables[key] = ways.changed(new.blocked[floor], new.cost[floor], box, new.things)
    return new
