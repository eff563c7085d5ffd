"""From where one would see a thing, wherever in a known scene it may be: places to look from when looking for it.

It may be at anything that has a surface, most likely where that is level and not trodden on. Which of these places show
from somewhere is read off pictures of the scene without the thing, so that nothing tells where it is.

    lookouts = Lookouts.of(world, body, params)
    spot = lookouts.best(scene_map.walkable(), ground, here, left, 1.6, 0.0)      # where more of `left` (N,) shows
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ...errors import NoPath
from ...maths import quat
from ...skeleton import Array
from ...world import Body, World
from ..spaces.rrt import stopped
from ..spaces.solids import matrix_at
from ..ways.walkable import Walkable
from .eyes import eye_at
from .scenery import Scenery, scenery
from .vision import VisionParams, see

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

FINE, MOST = 0.12, 4000
"""Between places on a body [m], and how many there are on one at most."""
OFF = 0.03
"""Of a place from the surface where it is, at least [m]."""
LEVEL = 0.7
"""Upward part of a normal from which on a surface is level."""
ELSEWHERE = 0.1
"""How likely a thing is on a floor, or anywhere that is not level; on level furniture being 1."""
APART, WIDE_APART = 0.6, 1.8
"""Between places to stand that are compared, and between those that are compared first [m]."""
WORTH = 2.0
"""What has to show from a place to make it worth going to or turning for, in places that are most likely."""
_FAR = 0.2
"""How much less a place to look from is worth for every metre to it, of what is left of it."""
_FILLED = 0.5
"""How much of the largest outline a thing has from an unknown side."""
_SHARP = 0.03
"""What hides nothing that is no further behind it [m]."""
CLOSE, SHARPEST = 3.0, 1000
"""How far off people tell a thing, be it small, and the width of the finest picture in which that is tried [px]."""
_COARSE = 200
"""Width of pictures of what lies around [px]."""
_AROUND = 0.5 * np.pi * np.arange(4)
_BOWED, _TALL = -0.35, 2.2
"""Pitch and height of the view in pictures of what lies around, down to the feet [rad]."""


@dataclass(frozen=True, eq=False)
class Lookouts:
    """Where a thing may be, and a memory of what shows from where.

    Attributes:
        shapes: The scene.
        thing: Name of what is looked for.
        places: (N, 3) where it may be [m].
        weights: (N,) how likely.
        vision: Of whoever looks, who tells the thing from others no further away than `range`.
    """

    shapes: Scenery
    thing: str
    places: Array
    weights: Array
    vision: VisionParams
    _shown: dict[tuple[float, ...], Bools] = field(default_factory=dict)

    @classmethod
    def of(cls, world: World, thing: Body, vision: VisionParams, time: float = 0.0) -> Lookouts:
        """Everywhere in a world that a thing of this size may be, for eyes of this kind."""
        shapes = scenery(world)
        turned = matrix_at(world, thing, time)
        size = thing.vertices @ turned[:3, :3].T
        half = 0.5 * float(np.ptp(size[:, 2])) if len(size) else 0.0
        rows = [_around(body, matrix_at(world, body, time), half) for body in world.bodies if body.name != thing.name]
        places = np.concatenate([np.zeros((0, 4)), *rows])
        far = _told_from(shapes, thing, turned, vision)
        vision = replace(vision, range=float(np.clip(far, 0.1, vision.range)))
        return cls(shapes, thing.name, places[:, :3], places[:, 3], vision)

    def shown(self, eye: Array, time: float = 0.0) -> Bools:
        """(N,) which places would be seen by somebody who turns round with eyes at (3,) [m]."""
        key = tuple(np.round(eye, 3).tolist())
        if key not in self._shown:
            coarse = min(self.vision.pixels, _COARSE)
            around = replace(self.vision, fov=0.55 * np.pi, fov_vertical=_TALL, recognition="pixel", pixels=coarse)
            out = np.zeros(len(self.places), dtype=bool)
            for heading in _AROUND:
                sight = see(self.shapes, eye_at(eye, float(heading), _BOWED), around, time, (self.thing,))
                out |= sight.reveals(self.places, _SHARP)
            self._shown[key] = out
        return self._shown[key]

    def worth(self, which: Bools) -> float:
        """How likely the thing is at one of some places (N,), one on level furniture being 1."""
        return float(self.weights[which].sum())

    def best(
        self,
        ways: Walkable,
        ground: Array,
        here: Array,
        left: Bools,
        tall: float,
        time: float,
        should_stop: Callable[[], bool] | None = None,
    ) -> Array | None:
        """Where to go to see most of what has not been looked at yet, the nearer the better.

        Args:
            ways: What may be trodden.
            ground: (rows, columns) its height in these cells [m].
            here: (2,) where one stands [m].
            left: (N,) places not looked at.
            tall: Height of the eyes over the ground [m].
            time: When [s].
            should_stop: Asked before every picture.

        Returns:
            (2,) [m]; None where nothing more would be seen from anywhere.
        """
        try:
            far = ways.field(here).distances.ravel()
        except NoPath:
            return None
        cells = np.flatnonzero(np.isfinite(far))
        cells = cells[np.argsort(far[cells], kind="stable")]
        open_ones, likely = self.places[left], self.weights[left]

        def gain(cell: int, least: float) -> float:
            """What standing in a cell is worth; 0 where that is not more than `least`."""
            near = float(np.exp(-_FAR * far[cell]))
            eye = np.array([*ways.centre(cell), float(ground.ravel()[cell]) + tall])
            within = ((open_ones - eye) ** 2).sum(axis=1) < self.vision.range**2
            if likely.sum() * near <= least or likely[within].sum() * near <= least:
                return 0.0
            stopped(should_stop)
            shows = self.worth(left & self.shown(eye, time))
            return shows * near if shows >= WORTH and shows * near > least else 0.0

        # from a few places first, then around the best of them, and from all where there is none among the few
        fine, few = (_first_of_each(cells, ways.centre(cells), tile) for tile in (APART, WIDE_APART))
        found, most = -1, 0.0
        for some in (few, fine):
            if found >= 0:
                some = some[np.abs(ways.centre(some) - ways.centre(found)).max(axis=1) < WIDE_APART]
            for cell in some:
                if (worth := gain(int(cell), most)) > 0.0:
                    found, most = int(cell), worth
        return None if found < 0 else ways.centre(found)


def _first_of_each(cells: Ints, places: Array, tile: float) -> Ints:
    """One of some cells (n,) in each square tile of the plane, the first; in their order."""
    _, first = np.unique(np.floor(places / tile).astype(np.int64), axis=0, return_index=True)
    return cells[np.sort(first)]


def sharp_enough(shapes: Scenery, thing: Body, time: float = 0.0) -> VisionParams:
    """Eyes that tell a thing of a scene from others across a table at least, as far as a picture can be as fine."""
    plain = VisionParams()
    finer = CLOSE / max(_told_from(shapes, thing, matrix_at(shapes.world, thing, time), plain), 1e-6)
    return replace(plain, pixels=int(np.clip(np.ceil(finer * plain.pixels), plain.pixels, SHARPEST)))


def _told_from(shapes: Scenery, thing: Body, matrix: Array, vision: VisionParams) -> float:
    """How far away a thing at a matrix (4, 4) covers just as many pixels as are needed [m]."""
    number = next(n for n, body in enumerate(shapes.world.bodies) if body.name == thing.name)
    across, along = vision.lens().focal
    outline = _FILLED * float(shapes.silhouette[number]) * float(np.linalg.norm(matrix[:3, 0])) ** 2
    return float(np.sqrt(outline * across * along / vision.least_pixels))


def _around(body: Body, matrix: Array, half: float) -> Array:
    """(n, 4) places just off the surface of a body, where a thing of half that height may be, and how likely it is.

    Evenly by area, on both sides, as windings are not to be relied on: what is within something will not be seen.
    """
    corners = (body.vertices @ matrix[:3, :3].T + matrix[:3, 3])[body.triangles]
    if not len(corners):
        return np.zeros((0, 4))
    normal = quat.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.cumsum(0.5 * np.sqrt(quat.dot(normal, normal)))
    count = int(min(np.ceil(area[-1] / FINE**2), MOST))
    k = np.arange(count)
    which = np.minimum(np.searchsorted(area, (k + 0.5) / max(count, 1) * area[-1], side="right"), len(area) - 1)
    # places within their triangles: a sequence that leaves no gaps (Roberts' R2), folded into the half it overflows
    u, v = (0.5 + k * 0.7548776662466927) % 1.0, (0.5 + k * 0.5698402909980532) % 1.0
    over = u + v > 1.0
    u, v = np.where(over, 1.0 - u, u), np.where(over, 1.0 - v, v)
    a, b, c = corners[which].transpose(1, 0, 2)
    on = a + u[:, None] * (b - a) + v[:, None] * (c - a)
    up = quat.unit(normal[which])
    up *= np.where(up[:, 2:] < 0.0, -1.0, 1.0)
    level = up[:, 2] > LEVEL
    off = np.where(level, max(half, OFF), OFF)[:, None] * up
    stands = level & (body.kind != "ground")
    likely = np.concatenate([np.where(stands, 1.0, ELSEWHERE), np.full(count, ELSEWHERE)])
    return np.column_stack([np.concatenate([on + off, on - off]), likely * area[-1] / max(count, 1) / FINE**2])
