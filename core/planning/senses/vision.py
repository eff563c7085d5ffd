"""What an actor sees: a small picture of body ids from its eyes, and what it recognises in it.

Kuffner, "Autonomous Agents for Real-Time Animation" (1999), section 4.3: the world is drawn from the eyes with one
colour a body, and the colours found are the list of what is visible. Here the picture is drawn by `raster`, without
a graphics card; a pixel shows what a ray through its centre meets.

    shapes = scenery(world)                                       # once
    sight = see(shapes, eye_of(skeleton, pose), VisionParams())   # as often as wanted
    sight.visible                                                 # {"table": PixelStats(...), ...}
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParam
from ...params import Params, param
from ...skeleton import Array
from ...world import World
from . import raster
from .raster import Ints, Lens
from .scenery import Scenery, in_sight, scenery, sphere, view_of

RECOGNITION = (
    ("area", "Enough of a body shows: some pixels, and some part of what would show if nothing hid it"),
    ("pixel", "One pixel is enough"),
)


@dataclass(frozen=True)
class VisionParams(Params):
    """How well and how often an actor sees."""

    fov: float = param(np.radians(100), lo=0.1, hi=3.0, unit="rad", help="Width of the field of view")
    fov_vertical: float = param(np.radians(75), lo=0.1, hi=3.0, unit="rad", help="Height of the field of view")
    range: float = param(30.0, lo=0.1, hi=10000.0, unit="m", help="How far the actor sees")
    pixels: int = param(
        200, lo=4, hi=2000, unit="px", help="Width and height of the picture: how small a thing it sees"
    )
    interval: int = param(1, lo=1, hi=1000, help="Looks once in this many frames")
    recognition: str = param("area", choices=RECOGNITION, help="When a body is recognised and not just something")
    near: float = param(0.05, lo=0.001, hi=1.0, unit="m", basic=False, help="Nearer than this nothing is seen")
    least_pixels: int = param(4, lo=1, hi=10000, unit="px", basic=False, help="Pixels needed to recognise a body")
    least_part: float = param(
        0.05, lo=0.0, hi=1.0, basic=False, help="Part of a body's outline that must show to recognise it"
    )
    features: bool = param(
        True, basic=False, help="Bodies that have features, such as a face, are recognised by them alone"
    )

    def lens(self) -> Lens:
        """The lens of such an eye."""
        slopes = np.tan(0.5 * self.fov), np.tan(0.5 * self.fov_vertical)
        return Lens(self.pixels, self.pixels, float(slopes[0]), float(slopes[1]), self.near, self.range)


FAITHFUL = VisionParams(recognition="pixel", features=False)


class PixelStats(NamedTuple):
    """How a body shows: its `id`, `pixels`, their `box` (first row, column, last row, column), least depth [m]."""

    id: int
    pixels: int
    box: tuple[int, int, int, int]
    depth: float
    recognised: bool


@dataclass(frozen=True, eq=False)
class Sight:
    """One look at the world.

    Attributes:
        ids: (h, w) id of the body at each pixel, -1 where there is none; row 0 is the top.
        depth: (h, w) distance along the view [m], infinite where there is nothing.
        glass: (h, w) id of the nearest see-through body before that, or -1.
        visible: By name of the body, in the order of the world.
        eye: (4, 4) place of the eye, axes left, back, up.
        lens: Of the eye.
        time: [s].
    """

    ids: npt.NDArray[np.int64]
    depth: Array
    glass: npt.NDArray[np.int64]
    visible: Mapping[str, PixelStats]
    eye: Array
    lens: Lens
    time: float

    @property
    def seen(self) -> tuple[int, ...]:
        """Ids of all bodies of which at least one pixel shows."""
        return tuple(stats.id for stats in self.visible.values())

    @property
    def recognised(self) -> tuple[int, ...]:
        """Ids of the bodies that are recognised."""
        return tuple(stats.id for stats in self.visible.values() if stats.recognised)

    def canvas(self) -> raster.Canvas:
        """A copy of the opaque picture to draw on."""
        hidden = raster.blank(self.lens).nearness
        return raster.Canvas(np.where(np.isinf(self.depth.ravel()), hidden, 1.0 / self.depth.ravel()), self.ids.ravel())

    def reveals(self, points: Array, slack: float = 0.1) -> npt.NDArray[np.bool_]:
        """Which points (n, 3) lie in view with nothing before them nearer than `slack` [m]."""
        view = view_of(self.eye)
        x, y, z = view[:, :3] @ np.asarray(points).T + view[:, 3:]
        ahead = z > self.lens.near
        z = np.where(ahead, z, 1.0)
        fx, fy = self.lens.focal
        column, row = np.floor(0.5 * self.lens.width + fx * x / z), np.floor(0.5 * self.lens.height - fy * y / z)
        inside = ahead & (column >= 0) & (column < self.lens.width) & (row >= 0) & (row < self.lens.height)
        inside &= x * x + y * y + z * z <= self.lens.range**2
        at = np.where(inside, row, 0).astype(np.int64), np.where(inside, column, 0).astype(np.int64)
        return np.asarray(inside & (z <= self.depth[at] + slack))


def see(
    world: World | Scenery,
    eye: Array,
    params: VisionParams | None = None,
    time: float = 0.0,
    exclude: Collection[str] = (),
) -> Sight:
    """What an eye sees of a world.

    Args:
        world: Or what `scenery` made of it, which is faster when it is looked at often.
        eye: (4, 4), axes left, back, up: of `eyes.eye_of` or `eyes.eye_at`.
        params: Field of view, range, recognition.
        time: When [s].
        exclude: Names of bodies that are not drawn, and of actors whose bodies are not: the looking one's own.
    """
    params = params or VisionParams()
    eye = np.asarray(eye, dtype=np.float64)
    if eye.shape != (4, 4) or not np.isfinite(eye).all():
        raise InvalidParam("eye", eye.shape, "must be a finite matrix of shape (4, 4)")
    shapes = world if isinstance(world, Scenery) else scenery(world)
    lens = params.lens()
    numbers = shapes.shown_to(exclude)
    bodies = shapes.world.bodies
    matrices = shapes.places(time)[numbers]
    canvas, (copy, pixel, nearness) = look(shapes, lens, eye, numbers, matrices)

    size = lens.width * lens.height
    shown = np.flatnonzero(canvas.owner >= 0)
    found = _Found.of(lens, len(numbers), canvas.owner[shown], shown, canvas.nearness[shown])
    glassy = _Found.of(lens, len(numbers), copy, pixel, nearness)
    ids = np.array([bodies[n].id for n in numbers] + [-1], dtype=np.int64)
    glass = np.full(size, -1)
    order = np.argsort(nearness, kind="stable")
    glass[pixel[order]] = ids[copy[order]]
    shape = lens.height, lens.width
    depth = np.where(canvas.owner >= 0, 1.0 / canvas.nearness, np.inf)
    visible = _recognised(shapes, params, eye, numbers, matrices, found.joined(glassy))
    return Sight(
        ids[canvas.owner].reshape(shape), depth.reshape(shape), glass.reshape(shape), visible, eye, lens, float(time)
    )


def look(
    shapes: Scenery, lens: Lens, eye: Array, numbers: Ints, matrices: Array
) -> tuple[raster.Canvas, tuple[Ints, Ints, Array]]:
    """The picture of copies of bodies: the opaque ones, and where see-through ones show before them.

    Args:
        shapes: Of the world.
        lens: Of the eye.
        eye: (4, 4).
        numbers: (n,) of the bodies.
        matrices: (n, 4, 4) of the copies.

    Returns:
        A canvas whose owners are 0..n-1, and copy (k,), pixel (k,), nearness (k,) of what is see-through.
    """
    corners, copy = in_sight(shapes, lens, eye, numbers, matrices)
    canvas = raster.blank(lens)
    clear = np.isin(numbers, sorted(shapes.see_through))[copy]
    raster.draw(canvas, lens, corners[..., ~clear], copy[~clear])
    return canvas, raster.uncovered(canvas, lens, corners[..., clear], copy[clear])


class _Found(NamedTuple):
    """Of each copy: pixels, first and last row and column, nearness [1/m]."""

    pixels: Ints
    low: Ints
    high: Ints
    nearness: Array

    @staticmethod
    def of(lens: Lens, copies: int, copy: Ints, pixel: Ints, nearness: Array) -> _Found:
        low, high = np.full((copies, 2), max(lens.width, lens.height)), np.full((copies, 2), -1)
        nearest = np.zeros(copies)
        for axis, place in enumerate((pixel // lens.width, pixel % lens.width)):
            there = np.zeros((copies, (lens.height, lens.width)[axis]), dtype=bool)
            there[copy, place] = True
            some = np.flatnonzero(there.any(axis=1))
            low[some, axis] = there[some].argmax(axis=1)
            high[some, axis] = there.shape[1] - 1 - there[some, ::-1].argmax(axis=1)
        np.maximum.at(nearest, copy, nearness)
        return _Found(np.bincount(copy, minlength=copies), low, high, nearest)

    def joined(self, other: _Found) -> _Found:
        return _Found(
            self.pixels + other.pixels,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            np.maximum(self.nearness, other.nearness),
        )


def _recognised(
    shapes: Scenery, params: VisionParams, eye: Array, numbers: Ints, matrices: Array, found: _Found
) -> Mapping[str, PixelStats]:
    """What shows, by name; a body shows too where a feature of it does."""
    count, low, high, nearness = (np.array(column) for column in found)
    place = {int(n): k for k, n in enumerate(numbers)}
    hidden_face = np.zeros(len(numbers), dtype=bool)
    for owner, parts in shapes.features.items():
        own = [place[n] for n in parts if n in place]
        if owner in place and own:
            all_of = [place[owner], *own]
            hidden_face[place[owner]] = not found.pixels[own].any()
            count[place[owner]] = found.pixels[all_of].sum()
            low[place[owner]], high[place[owner]] = found.low[all_of].min(axis=0), found.high[all_of].max(axis=0)
            nearness[place[owner]] = found.nearness[all_of].max()
    enough = count > 0
    if params.recognition == "area":
        area = _whole_area(shapes, params, eye, numbers, matrices)
        enough = count >= np.maximum(params.least_pixels, params.least_part * area)
    if params.features:
        enough &= ~hidden_face
    out = {}
    for k in np.flatnonzero(count):
        body = shapes.world.bodies[numbers[k]]
        box = int(low[k, 0]), int(low[k, 1]), int(high[k, 0]), int(high[k, 1])
        out[body.name] = PixelStats(body.id, int(count[k]), box, float(1.0 / nearness[k]), bool(enough[k]))
    return MappingProxyType(out)


def _whole_area(shapes: Scenery, params: VisionParams, eye: Array, numbers: Ints, matrices: Array) -> Array:
    """(n,) pixels that copies of bodies would take if nothing hid them: an estimate from their distance."""
    lens = params.lens()
    fx, fy = lens.focal
    far, scale = sphere(shapes, eye, numbers, matrices)
    area = shapes.silhouette[numbers] * scale**2 * fx * fy / np.maximum(far, lens.near) ** 2
    return np.asarray(np.minimum(area, lens.width * lens.height))


def false_colour(ids: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    """(h, w, 3) red, green, blue of a picture of ids: id + 1 in base 256, red first; nothing is black."""
    code = np.asarray(ids) + 1
    return np.stack([(code >> shift) & 255 for shift in (0, 8, 16)], axis=-1).astype(np.uint8)
