"""Ways across the stage of a play: around furniture and walls, around whoever stands, and past whoever walks.

This is all that a play knows of planning: where something is in the way, and how to go around it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ..errors import NoPath
from ..maths.spline import arc_length, at_length
from ..planning.ways.chart import Chart, charted, widened
from ..planning.ways.map import MapParams, with_discs
from ..planning.ways.walkable import Walkable
from ..skeleton import Array
from ..world import World
from .mind.bodyport import RADIUS

CELL = 0.08
ASIDE = 1.0
"""Farthest from where it was sent that somebody stops because there is no room [m]; farther off it goes regardless."""
NEAREST = 0.4
"""Nearer than this to another nobody is placed, wherever it was sent [m]."""
SPACING = 0.05
"""Between places at which the end of a way is sought [m]."""


@dataclass(frozen=True, eq=False)
class Mover:
    """Something that moves as it will, whoever is in its way.

    Attributes:
        name: Unlike any other.
        track: (T, 2) where it is [m].
        fps: Samples a second; before and after them it rests.
        radius: Of the circle around it [m].
    """

    name: str
    track: Array
    fps: float
    radius: float

    def at(self, time: float) -> tuple[float, float]:
        """Where it is at a time [s]."""
        x = min(max(time * self.fps, 0.0), len(self.track) - 1.0)
        k = min(int(x), max(len(self.track) - 2, 0))
        a, b = self.track[k], self.track[min(k + 1, len(self.track) - 1)]
        return float(a[0] + (x - k) * (b[0] - a[0])), float(a[1] + (x - k) * (b[1] - a[1]))


def parted(world: World) -> tuple[World, tuple[Mover, ...]]:
    """A world without what moves, and that as circles on the floor."""
    still = tuple(body for body in world.bodies if len(body.matrices) == 1 or body.kind == "ground")
    movers = []
    for body in world.bodies:
        if body in still or not len(body.vertices):
            continue
        middle = 0.5 * (body.vertices.min(axis=0) + body.vertices.max(axis=0))
        centres = body.matrices[:, :3, :3] @ middle + body.matrices[:, :3, 3]
        reach = (body.vertices - middle) @ body.matrices[0, :3, :3].T
        radius = float(np.hypot(reach[:, 0], reach[:, 1]).max())
        movers.append(Mover(f"({body.name})", centres[:, :2], world.fps, radius))
    return replace(world, bodies=still), tuple(movers)


@dataclass(eq=False)
class Floorplan:
    """What stands on the stage.

    Attributes:
        world: Furniture, walls and ground; nothing of the cast, and nothing that moves by itself.
        things: Radius of each prop of the play that is in the way while nobody holds it [m].
        floor: Height of the floor where no body is ground [m].
        bystanders: (n, 2) where others stand who have no part in the play [m].
        movers: What moves by itself, and who walks without a part.
    """

    world: World = field(default_factory=lambda: World((), 24.0))
    things: dict[str, float] = field(default_factory=dict)
    floor: float = 0.0
    bystanders: Array = field(default_factory=lambda: np.zeros((0, 2)))
    movers: tuple[Mover, ...] = ()
    _chart: Chart | None = field(default=None, init=False, repr=False)

    def way(self, start: Array, goal: Array, discs: Array, within: float = 0.0) -> Array:
        """(N, 2) a way from place to place [m].

        Args:
            start, goal: (2,) [m].
            discs: (n, 3) x, y and radius of whoever is in the way [m].
            within: It ends as soon as the goal is this near [m].
        """
        straight = np.stack([start, goal])
        discs = np.concatenate([discs, np.column_stack([self.bystanders, np.full(len(self.bystanders), RADIUS)])])
        discs = _shrunk(discs, start, goal, within)
        if not self.world.bodies and not _touched(straight, discs):
            return _cut(straight, goal, within)
        chart = self._charted(straight)
        try:
            found = self._plan(chart, start, goal, discs)
            if arc_length(found)[-1] > 2.0 * arc_length(self._plan(chart, start, goal, discs[:0]))[-1] + 3.0:
                # those in the way will move on; nobody goes around half the stage for them
                found = self._plan(chart, start, goal, discs[:0])
        except NoPath:
            return _cut(straight, goal, within)
        if np.hypot(*(found[-1] - goal)) > ASIDE:
            return _cut(straight, goal, within)
        return _cut(found, goal, within)

    def _plan(self, chart: Chart, start: Array, goal: Array, discs: Array) -> Array:
        places = with_discs(chart.map, discs[:, :2], discs[:, :2], discs[:, 2]) if len(discs) else chart.map
        walk = places.walkable(RADIUS, chart.growth)
        goal = _free(walk, start, goal)
        if bool(walk.clear(start, goal)):
            return np.stack([start, goal])
        points = walk.plan(start, goal).path.points
        return points if len(points) > 1 else np.stack([start, goal])

    def _charted(self, places: Array) -> Chart:
        if self._chart is None:
            self._chart = charted(self.world, MapParams(radius=RADIUS, cell=CELL, floor=self.floor), places)
        self._chart = widened(self._chart, self.world, places, 0.0)
        return self._chart


def _free(walk: Walkable, start: Array, goal: Array) -> Array:
    """(2,) where one stops who goes from a place to another that is taken: short of it, else beside it [m]."""
    apart = float(np.hypot(*(start - goal)))
    short = np.arange(0.0, min(ASIDE, apart), SPACING)
    line = goal + short[:, None] * (start - goal) / max(apart, 1e-9)
    free = np.flatnonzero(walk.clear(line, line)) if len(line) else np.zeros(0, np.int64)
    return line[free[0]] if len(free) else walk.nearest(goal, ASIDE)


def _shrunk(discs: Array, start: Array, goal: Array, within: float) -> Array:
    """Discs (n, 3) that leave the start free, and the goal where it is not in the middle of somebody."""
    if not len(discs):
        return discs
    room = np.hypot(*(discs[:, :2] - start).T) - RADIUS - 2.0 * CELL
    there = np.hypot(*(discs[:, :2] - goal).T)
    kept = np.where(there >= NEAREST, there - RADIUS - 2.0 * CELL, np.inf)
    radii = np.minimum(discs[:, 2], np.minimum(room, kept))
    sought = (within > 0.0) & (there < 1e-3)
    out: Array = np.column_stack([discs[:, :2], radii])[(radii > 0.02) & ~sought]
    return out


def _touched(line: Array, discs: Array) -> bool:
    """Whether a walker along a line (2, 2) touches any of discs (n, 3)."""
    if not len(discs):
        return False
    along = line[1] - line[0]
    share = np.clip((discs[:, :2] - line[0]) @ along / max(float(along @ along), 1e-12), 0.0, 1.0)
    off = discs[:, :2] - line[0] - share[:, None] * along
    return bool((np.hypot(*off.T) < discs[:, 2] + RADIUS + CELL).any())


def _cut(way: Array, goal: Array, within: float) -> Array:
    """A way (N, 2) up to where it first comes so near to the goal [m]."""
    lengths = arc_length(way)
    if within <= 0.0 or lengths[-1] <= 0.0:
        return way
    s = np.append(np.arange(0.0, lengths[-1], SPACING), lengths[-1])
    near = np.flatnonzero(np.hypot(*(at_length(way, s, lengths) - goal).T) <= within)
    if not len(near):
        return way
    last = float(s[near[0]])
    if near[0] and len(way) == 2:
        # exactly there on a straight way
        last = float(lengths[-1] - within)
    kept = way[lengths < last]
    return np.concatenate([kept, at_length(way, np.array([last]), lengths)]) if len(kept) else way[:1]
