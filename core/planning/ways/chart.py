"""The map that a whole cast shares, kept up to date with what moves, and what it says about single places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...skeleton import Array
from ...world import Body, World
from .map import Map, MapParams, project, update
from .walkable import Walkable, WalkableParams

Bools = npt.NDArray[np.bool_]

MARGIN = 4.0
"""How much of the floor around the cast and the obstacles is charted [m]."""
NEAR = 15.0
"""How much more of the ground is charted where there is some [m]."""
FAR = 50.0
"""Distance that stands for any that is greater [m]."""
PROBE = 0.5
"""How far around an actor walls are felt for [m]."""
_ANGLES = np.arange(8) * (np.pi / 4)
DIRECTIONS: Array = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], axis=-1)
"""(8, 2) in which walls are felt for."""


@dataclass(frozen=True, eq=False)
class Chart:
    """Map of a world at one moment.

    Attributes:
        map: With everything in it.
        world: Of which it is a map.
        time: Of the moment [s].
        version: Grows when something has moved.
        params: How it is made.
        bounds: (2, 2) least and greatest x, y of the charted floor [m].
        movers: Names of the bodies that move.
        growth: How obstacles grow by the size of a body, and how ways are sought.
    """

    map: Map
    world: World
    time: float
    version: int
    params: MapParams
    bounds: Array
    movers: tuple[str, ...]
    growth: WalkableParams

    def walkable(self, radius: float) -> Walkable:
        """Where a disc of a radius [m] may tread now."""
        return self.map.walkable(radius, self.growth)

    def height(self, places: Array) -> Array:
        """(n,) height of the ground at places (n, 2) [m]."""
        rows, columns = self.map.shape
        column, row = np.floor((places - self.map.origin) / self.map.cell).astype(np.int64).T
        out: Array = self.map.ground[0, np.clip(row, 0, rows - 1), np.clip(column, 0, columns - 1)]
        return out


def charted(
    world: World, params: MapParams, around: Array, time: float = 0.0, growth: WalkableParams | None = None
) -> Chart:
    """Chart the floor around places (n, 2) and all obstacles at a time [s]."""
    bounds = _bounds(world, around)
    movers = tuple(b.name for b in world.bodies if b.kind != "ground" and _moves(b))
    whole = project(world, params, time=time, bounds=bounds)
    return Chart(whole, world, time, 0, params, bounds, movers, growth or WalkableParams())


def recharted(chart: Chart, world: World, time: float) -> Chart:
    """The chart at another time, or of another world; the same chart when nothing has moved."""
    if world is chart.world:
        if not chart.movers or _places(chart, chart.time) == _places(chart, time):
            return chart
    else:
        movers = tuple(b.name for b in world.bodies if b.kind != "ground" and _moves(b))
        chart = replace(chart, world=world, movers=movers)
    return replace(chart, map=update(chart.map, world, time), time=time, version=chart.version + 1)


def widened(chart: Chart, world: World, places: Array, time: float) -> Chart:
    """The chart, grown where places (n, 2) lie outside of it [m]."""
    low, high = chart.bounds
    if not len(places) or not ((places < low + 1.0) | (places > high - 1.0)).any():
        return chart
    known = chart.bounds + np.array([[MARGIN], [-MARGIN]])
    grown = charted(world, chart.params, np.concatenate([places, known]), time, chart.growth)
    return replace(grown, version=chart.version + 1)


def clearance(walk: Walkable, places: Array) -> Array:
    """(...,) distance from places (..., 2) to what blocks, between the centres of cells [m]."""
    field = np.minimum(walk.clearance, FAR)
    rows, columns = field.shape
    u = (places - walk.origin) / walk.cell - 0.5
    x = np.clip(u[..., 0], 0.0, columns - 1.001)
    y = np.clip(u[..., 1], 0.0, rows - 1.001)
    i, j = x.astype(np.int64), y.astype(np.int64)
    s, t = x - i, y - j
    near = field[j, i] * (1 - s) + field[j, i + 1] * s
    far = field[j + 1, i] * (1 - s) + field[j + 1, i + 1] * s
    out: Array = near * (1 - t) + far * t
    return out


def rooms(walk: Walkable, places: Array, radius: Array) -> Array:
    """(A, 8) how far discs (A,) of a radius at places (A, 2) may go in each of DIRECTIONS [m]; inf where no wall is."""
    here = clearance(walk, places)[:, None]
    there = clearance(walk, places[:, None] + PROBE * DIRECTIONS)
    keep = (radius + 0.5 * walk.cell)[:, None]
    closing = here - there
    with np.errstate(divide="ignore", invalid="ignore"):
        room = PROBE * (here - keep) / closing
    out: Array = np.where((closing > 1e-6) & (there < keep + 0.1), np.maximum(room, -0.1), np.inf)
    return out


PARTS = (1.5, 0.9, 0.15)
"""Heights of head, pelvis and feet [m], of which any gives one away."""


def sees(map: Map, eyes: Array, places: Array, parts: Sequence[float] = PARTS, eye_height: float = 1.6) -> Bools:
    """(...,) whether from eyes (..., 2) some part of somebody at places (..., 2) can be seen over and under things.

    Args:
        map: With the heights of what stands on it.
        eyes: Where one looks from [m].
        places: Where one looks at [m].
        parts: Heights over the ground of what may be seen there [m].
        eye_height: Of the eyes over the ground [m].
    """
    eyes, places = np.broadcast_arrays(np.asarray(eyes, dtype=float), np.asarray(places, dtype=float))
    off = places - eyes
    longest = float(np.sqrt((off * off).sum(axis=-1)).max(initial=0.0))
    count = max(2, int(np.ceil(longest / (0.7 * map.cell))) + 1)
    share = np.linspace(0.0, 1.0, count)[:, None]
    on = eyes[..., None, :] + share * off[..., None, :]
    rows, columns = map.shape
    cells = np.floor((on - map.origin) / map.cell).astype(np.int64)
    i, j = np.clip(cells[..., 0], 0, columns - 1), np.clip(cells[..., 1], 0, rows - 1)
    low, high = map.low[0, j, i], map.high[0, j, i]
    ground = map.ground[0, j, i]
    # what begins at the floor of the slab stands on the ground, what ends at its ceiling goes on above
    low = np.where(low <= ground + map.params.z_low + 1e-6, -np.inf, low)
    high = np.where(high >= ground + map.params.z_high - 1e-6, np.inf, high)
    start, end = ground[..., :1] + eye_height, ground[..., -1:]
    out: Bools = np.zeros(off.shape[:-1], bool)
    for part in parts:
        line = start + share[:, 0] * (end + part - start)
        out |= ~((line >= low) & (line <= high)).any(axis=-1)
    return out


def _moves(body: Body) -> bool:
    return len(body.matrices) > 1 and bool(np.ptp(body.matrices, axis=0).max() > 1e-6)


def _places(chart: Chart, time: float) -> tuple[int, ...]:
    """The frames in which the moving bodies are; equal numbers mean equal places."""
    frame = int(time * chart.world.fps + 0.5)
    out = []
    for body in chart.world.bodies:
        if body.name in chart.movers:
            k = min(frame, len(body.matrices) - 1)
            same = np.flatnonzero((body.matrices[: k + 1] != body.matrices[k]).any(axis=(1, 2)))
            out.append(int(same[-1]) if len(same) else -1)
    return tuple(out)


def _bounds(world: World, around: Array) -> Array:
    """(2, 2) least and greatest x, y: the cast and the obstacles with a margin, and the ground that is near [m]."""
    corners, grounds = [around], []
    for body in world.bodies:
        if body.kind == "ground":
            grounds.append((body.vertices @ body.matrices[0, :3, :3].T + body.matrices[0, :3, 3])[:, :2])
            continue
        for matrix in body.matrices[:: max(1, len(body.matrices) // 50)]:
            corners.append((body.vertices @ matrix[:3, :3].T + matrix[:3, 3])[:, :2])
    points = np.concatenate(corners)
    low, high = points.min(axis=0) - MARGIN, points.max(axis=0) + MARGIN
    if grounds:
        ground = np.concatenate(grounds)
        low = np.minimum(low, np.maximum(ground.min(axis=0), low - NEAR))
        high = np.maximum(high, np.minimum(ground.max(axis=0), high + NEAR))
    return np.stack([low, high])
