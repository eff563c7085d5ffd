"""Which triangle is nearest at every pixel of a small picture: a z-buffer in numpy, over all triangles at once.

Edges and depth are linear functions of the direction of a pixel's ray (Olano and Greer, "Triangle scan conversion using
2D homogeneous coordinates", 1997), so that triangles reaching behind the eye need no clipping: a pixel shows what a ray
through its centre meets. Functions of an edge shared by two triangles are exact negatives of each other: no cracks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...skeleton import Array

Ints = npt.NDArray[np.int64]

_CHUNK = 1 << 16
"""Pixels tried together: few enough to stay in the cache."""
_FIRST = 128
"""Triangles drawn before it is asked for the first time what they hide."""
_TILE = 8
"""Side of the smallest tiles of the pyramid: three times halved [px]."""
_SLACK = 1e-6
"""Pixels by which a box is widened, so that rounding leaves the decision to the edges."""


@dataclass(frozen=True)
class Lens:
    """How an eye makes a picture; column 0 is at the left, row 0 at the top.

    Attributes:
        width, height: Size [px].
        slope_x, slope_y: Tangents of half the horizontal and vertical field of view.
        near: Nearer than this, measured along the view, nothing is seen [m].
        range: Further than this nothing is seen, as the crow flies [m].
    """

    width: int
    height: int
    slope_x: float
    slope_y: float
    near: float
    range: float

    @property
    def focal(self) -> tuple[float, float]:
        """Pixels a unit of slope, horizontally and vertically."""
        return 0.5 * self.width / self.slope_x, 0.5 * self.height / self.slope_y

    @property
    def columns(self) -> Array:
        """(width,) slope to the right of the pixels' centres."""
        out: Array = (np.arange(self.width, dtype=np.float64) + 0.5 - 0.5 * self.width) / self.focal[0]
        return out

    @property
    def rows(self) -> Array:
        """(height,) slope upwards of the pixels' centres."""
        out: Array = (0.5 * self.height - 0.5 - np.arange(self.height, dtype=np.float64)) / self.focal[1]
        return out

    def stretch(self) -> Array:
        """(height, width) length of the ray to each pixel for one metre along the view."""
        out: Array = np.sqrt(1.0 + self.columns[None, :] ** 2 + self.rows[:, None] ** 2)
        return out


class Canvas(NamedTuple):
    """A picture being drawn: `nearness` (h*w,) 1 / depth [1/m] and `owner` (h*w,) of the nearest triangle, or -1."""

    nearness: Array
    owner: Ints


def blank(lens: Lens) -> Canvas:
    """A canvas on which whatever lies beyond the range is hidden already."""
    return Canvas((lens.stretch() / lens.range).ravel(), np.full(lens.height * lens.width, -1))


def draw(canvas: Canvas, lens: Lens, corners: Array, owner: Ints) -> None:
    """Draw triangles into the canvas, in place.

    Args:
        canvas: What is drawn so far; the nearer wins, and of equals the one drawn first.
        lens: Of the canvas.
        corners: (3, 3, n) corner, then right, up, forward of the eye, of each triangle [m].
        owner: (n,) what its pixels are to hold.
    """
    boxes, size = _boxed(lens, corners), _FIRST
    while len(boxes.number):
        # the nearest first: what they hide need not be drawn
        boxes = _unhidden(boxes, canvas, lens)
        for pixel, nearness, whose in fragments(lens, corners, owner, boxes.at(slice(size))):
            better = nearness > canvas.nearness[pixel]
            while better.any():
                # of several at one pixel the last to be written stays, so the first is written last
                pixel, nearness, whose = pixel[better], nearness[better], whose[better]
                canvas.nearness[pixel[::-1]] = nearness[::-1]
                canvas.owner[pixel[::-1]] = whose[::-1]
                better = nearness > canvas.nearness[pixel]
        boxes, size = boxes.at(slice(size, None)), 2 * size


def uncovered(canvas: Canvas, lens: Lens, corners: Array, owner: Ints) -> tuple[Ints, Ints, Array]:
    """Where triangles are nearer than what is on the canvas, which stays as it is.

    Those of different owners do not hide each other. A surface that is on the canvas itself is not nearer than itself,
    by a slack of a billionth. Arguments are those of `draw`.

    Returns:
        owner (k,), pixel (k,) and nearness (k,) [1/m] of the owner there; sorted, no pair of the first two twice.
    """
    size = len(canvas.nearness)
    keys, all_nearness = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    boxes = _boxed(lens, corners)
    boxes = _unhidden(boxes, canvas, lens) if len(boxes.number) else boxes
    for pixel, nearness, whose in fragments(lens, corners, owner, boxes):
        front = nearness > canvas.nearness[pixel] * (1.0 + 1e-9)
        keys.append(whose[front] * size + pixel[front])
        all_nearness.append(nearness[front])
    key, nearest = np.concatenate(keys), np.concatenate(all_nearness)
    order = np.lexsort((-nearest, key))
    key, nearest = key[order], nearest[order]
    once = np.concatenate([[True], key[1:] != key[:-1]])[: len(key)]
    return key[once] // size, key[once] % size, nearest[once]


def fragments(lens: Lens, corners: Array, owner: Ints, kept: _Boxes) -> Iterator[tuple[Ints, Array, Ints]]:
    """Pixels whose centres the triangles `kept` cover, in their order: pixel (n,), nearness (n,), owner (n,).

    The other arguments are those of `draw`. Range does not matter here; the near plane does.
    """
    if not len(kept.number):
        return
    a, b, c = corners[..., kept.number]
    sides = np.stack([_cross(b, c), _cross(c, a), _cross(a, b)])
    volume = a[0] * sides[0, 0] + a[1] * sides[0, 1] + a[2] * sides[0, 2]
    usable = np.flatnonzero(volume)
    sides, volume, kept = sides[..., usable], volume[usable], kept.at(usable)
    depth = sides.sum(axis=0) / volume
    near = -depth
    near[2] += 1.0 / lens.near
    planes = np.concatenate([sides * np.sign(volume), near[None]])
    owner = owner[kept.number]

    height = kept.bottom - kept.top + 1
    ends = np.cumsum(height)
    first = 0
    while first < len(height):
        last = max(first + 1, int(np.searchsorted(ends, ends[first] - height[first] + _CHUNK, side="right")))
        yield from _spans(lens, first, height[first:last], kept, planes, depth, owner)
        first = last


class _Boxes(NamedTuple):
    """Triangles that may show, from the nearest on: number, first and last row and column, all (n,).

    `nearness` (n,) is more than that of any of its places [1/m].
    """

    number: Ints
    nearness: Array
    top: Ints
    bottom: Ints
    left: Ints
    right: Ints

    def at(self, which: Ints | slice) -> _Boxes:
        return _Boxes(
            self.number[which],
            self.nearness[which],
            self.top[which],
            self.bottom[which],
            self.left[which],
            self.right[which],
        )


def _boxed(lens: Lens, corners: Array) -> _Boxes:
    """The triangles whose picture may hold the centre of a pixel."""
    x, y, z = corners.transpose(1, 0, 2)
    behind = z < lens.near
    number = np.flatnonzero(~behind.all(axis=0))
    x, y, z, behind = x[:, number], y[:, number], z[:, number], behind[:, number]
    depth = np.where(behind, 1.0, z)
    low, high = [], []
    for values in (x, y):
        slope = values / depth
        low.append(np.where(behind, np.inf, slope).min(axis=0))
        high.append(np.where(behind, -np.inf, slope).max(axis=0))
    cut = np.flatnonzero(behind.any(axis=0))
    for k in range(3):
        # where an edge passes the near plane, that place bounds the picture in the stead of the corner behind
        j = (k + 1) % 3
        at = cut[behind[k, cut] != behind[j, cut]]
        u = (lens.near - z[k, at]) / (z[j, at] - z[k, at])
        for axis, values in enumerate((x, y)):
            slope = (values[k, at] + u * (values[j, at] - values[k, at])) / lens.near
            low[axis][at], high[axis][at] = np.minimum(low[axis][at], slope), np.maximum(high[axis][at], slope)
    fx, fy = lens.focal
    middle, across = 0.5 * lens.height - 0.5, 0.5 * lens.width - 0.5
    top, bottom = _whole(middle - high[1] * fy, middle - low[1] * fy, lens.height)
    left, right = _whole(across + low[0] * fx, across + high[0] * fx, lens.width)
    shown = np.flatnonzero((top <= bottom) & (left <= right))
    nearest = z[:, shown].min(axis=0)
    order = np.argsort(nearest, kind="stable")
    bound = (1.0 + 1e-9) / np.maximum(nearest[order], lens.near)
    order = shown[order]
    return _Boxes(number[order], bound, top[order], bottom[order], left[order], right[order])


def _unhidden(boxes: _Boxes, canvas: Canvas, lens: Lens) -> _Boxes:
    """The triangles of which something may be nearer than the canvas.

    A pyramid holds the least nearness of tiles of 8, 16, 32, ... pixels (Greene, Kass, Miller, "Hierarchical Z-buffer
    visibility", 1993); a box is compared with the four tiles, of its own size or more, that hold it.
    """
    tiles = canvas.nearness.reshape(lens.height, lens.width)
    for _ in range(3):
        tiles = _halved(tiles)
    span = np.maximum(boxes.bottom - boxes.top, boxes.right - boxes.left) + 1
    wanted = np.ceil(np.log2(np.maximum(span / _TILE, 1.0))).astype(np.int64)
    covered = np.zeros(len(span))
    for level in range(int(wanted.max(initial=0)) + 1):
        at = np.flatnonzero(wanted == level)
        side = _TILE << level
        top, bottom, left, right = (part[at] // side for part in boxes[2:])
        covered[at] = np.minimum(
            np.minimum(tiles[top, left], tiles[top, right]), np.minimum(tiles[bottom, left], tiles[bottom, right])
        )
        tiles = _halved(tiles)
    seen = np.flatnonzero(boxes.nearness > covered)
    return boxes.at(seen)


def _halved(tiles: Array) -> Array:
    """The least of each two by two of `tiles` (rows, columns); those at an odd end stand alone."""
    for _ in range(2):
        tiles = tiles.T
        if len(tiles) % 2:
            tiles = np.concatenate([tiles, tiles[-1:]])
        tiles = np.minimum(tiles[::2], tiles[1::2])
    return tiles


def _whole(low: Array, high: Array, size: int) -> tuple[Ints, Ints]:
    """First and last pixel of 0..size-1 from `low` to `high` [px]; the first is the greater where there is none."""
    first = np.ceil(np.clip(low - _SLACK, 0.0, size)).astype(np.int64)
    return first, np.floor(np.clip(high + _SLACK, -1.0, size - 1)).astype(np.int64)


def _spans(
    lens: Lens, first: int, height: Ints, kept: _Boxes, planes: Array, depth: Array, owner: Ints
) -> Iterator[tuple[Ints, Array, Ints]]:
    """Fragments of the triangles from `first` on, which are `height` (n,) rows tall.

    `planes` (4, 3, N) are the half planes of slopes that hold a triangle, `depth` (3, N) its nearness.
    """
    triangle = np.repeat(np.arange(first, first + len(height)), height)
    row = _counted(height) + kept.top[triangle]
    y = lens.rows[row]
    low, high = kept.left[triangle].astype(np.float64), kept.right[triangle].astype(np.float64)
    fx, across = lens.focal[0], 0.5 * lens.width - 0.5
    for a, b, c in planes:
        slope, rest = a[triangle], b[triangle] * y + c[triangle]
        flat = slope == 0
        place = -rest / np.where(flat, 1.0, slope) * fx + across
        low = np.maximum(low, np.where(slope > 0, np.ceil(place), -1.0))
        high = np.minimum(high, np.where(slope < 0, np.floor(place), lens.width))
        high = np.where(flat & (rest < 0), -1.0, high)
    some = np.flatnonzero(low <= high)
    triangle, row, start = triangle[some], row[some], low[some].astype(np.int64)
    length = high[some].astype(np.int64) - start + 1
    pixel = row * lens.width + start
    nearness = depth[0, triangle] * lens.columns[start] + (depth[1, triangle] * lens.rows[row] + depth[2, triangle])
    step, whose = depth[0, triangle] / fx, owner[triangle]
    ends = np.cumsum(length)
    a = 0
    while a < len(length):
        b = max(a + 1, int(np.searchsorted(ends, ends[a] - length[a] + _CHUNK, side="right")))
        count = length[a:b]
        k = _counted(count)
        yield (
            np.repeat(pixel[a:b], count) + k,
            np.repeat(nearness[a:b], count) + np.repeat(step[a:b], count) * k,
            np.repeat(whose[a:b], count),
        )
        a = b


def _counted(count: Ints) -> Ints:
    """0, 1, ... count[0]-1, 0, 1, ... count[1]-1, and so on."""
    ends = np.cumsum(count)
    out: Ints = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - count, count)
    return out


def _cross(a: Array, b: Array) -> Array:
    """Cross products (3, n); those of exchanged arguments are exact negatives."""
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
