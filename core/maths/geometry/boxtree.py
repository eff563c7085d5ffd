"""A tree of boxes over triangles that a batch of queries descends together, one level at a time.

Triangles are sorted by repeated halving along the longest side of their box until eight are left; every eight
neighbours share a box, every eight boxes a larger one. Blocks of eight siblings lie together and by component, so a
batch gathers whole blocks and computes on rows of eight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..quat import Array, cross, dot, unit
from . import shapes

Ints = npt.NDArray[np.int64]

_FAN = 8
_BATCH = 1024
"""Queries that descend together: enough to hide the cost of a call, few enough to stay in the cache."""


@dataclass(frozen=True, eq=False)
class Tree:
    """Made by `build`.

    Attributes:
        face: (F,) number of the triangle at each sorted place.
        blocks: (F / 8, 9, 8) corners of the triangles, three times x, y, z; NaN where the last block is not full.
        levels: From the top (n / 8, 6, 8) boxes: lowest x, y, z, highest x, y, z. The last holds a box per block.
    """

    face: Ints
    blocks: Array
    levels: tuple[Array, ...]


def build(corners: Array) -> Tree:
    """Tree over one or more triangles with `corners` (F, 3, 3)."""
    face = sorted_near(corners.mean(axis=1))
    blocks = _blocked(corners[face].reshape(-1, 9))
    # a hair of slack keeps rounding from parting a ray that grazes a box from the triangle in its corner
    slack = 1e-9 * float(np.ptp(corners, axis=(0, 1)).max())
    sides = blocks.reshape(-1, 3, 3, _FAN)
    low, high = np.fmin.reduce(sides, axis=(1, 3)) - slack, np.fmax.reduce(sides, axis=(1, 3)) + slack
    levels = [_blocked(np.concatenate([low, high], axis=1))]
    while len(levels[0]) > 1:
        low, high = np.fmin.reduce(levels[0][:, :3], axis=2), np.fmax.reduce(levels[0][:, 3:], axis=2)
        levels.insert(0, _blocked(np.concatenate([low, high], axis=1)))
    return Tree(face, blocks, tuple(levels))


def first(tree: Tree, origins: Array, directions: Array, limit: Array) -> tuple[Array, Ints, Array]:
    """What rays meet first.

    Args:
        tree: The triangles.
        origins: (N, 3).
        directions: (N, 3).
        limit: (N,) how far to look, in lengths of the direction.

    Returns:
        Distance (N,) in lengths of the direction, triangle (N,), unit normal of one of its sides (N, 3); `limit`, -1
        and zero where nothing lies before `limit`.
    """
    best, slot = limit.copy(), np.full(len(origins), -1)
    inverse = 1.0 / np.where(np.abs(directions) < 1e-30, 1e-30, directions)
    upright = not directions[:, :2].any()

    def enter(query: Ints, boxes: Array) -> Array:
        near, far = np.zeros(()), np.full((), np.inf)
        inside = np.ones((), dtype=bool)
        for axis in range(3):
            o, low, high = origins[query, axis, None], boxes[:, axis], boxes[:, axis + 3]
            if upright and axis < 2:
                inside = inside & (low <= o) & (o <= high)
                continue
            a, b = (low - o) * inverse[query, axis, None], (high - o) * inverse[query, axis, None]
            near, far = np.maximum(near, np.minimum(a, b)), np.minimum(far, np.maximum(a, b))
        return np.where(inside & (near <= far), near, np.inf)

    def measure(query: Ints, block: Ints) -> None:
        length = shapes.ray_triangle(origins[query, None], directions[query, None], *_corners(tree, block))
        _keep(length, query, block, best, slot)

    for batch in _batches(len(origins)):
        _search(tree, batch, enter, measure, best)
    return best, *_found(tree, slot)


def closest(tree: Tree, points: Array, limit: Array) -> tuple[Array, Ints, Array, Array]:
    """Nearest places on the triangles.

    Args:
        tree: The triangles.
        points: (N, 3).
        limit: (N,) how far to look.

    Returns:
        Distance (N,), triangle (N,), unit normal of one of its sides (N, 3), the place (N, 3); `limit`, -1, zero and
        the point itself where nothing is nearer than `limit`.
    """
    best, slot = limit * limit, np.full(len(points), -1)

    def gap(query: Ints, boxes: Array) -> Array:
        out = np.zeros(())
        for axis in range(3):
            p = points[query, axis, None]
            out = out + np.maximum(np.maximum(boxes[:, axis] - p, p - boxes[:, axis + 3]), 0.0) ** 2
        return np.where(np.isnan(out), np.inf, out)

    def measure(query: Ints, block: Ints) -> None:
        p = points[query, None]
        away = p - shapes.point_triangle(p, *_corners(tree, block))
        _keep(dot(away, away), query, block, best, slot)

    for batch in _batches(len(points)):
        # straight down to some block near by: its distance rules out nearly all others
        block = np.zeros(len(batch), dtype=np.int64)
        for boxes in tree.levels:
            block = block * _FAN + gap(batch, boxes[block]).argmin(axis=1)
        measure(batch, block)
        _search(tree, batch, gap, measure, best)
    place = points.copy()
    at = np.flatnonzero(slot >= 0)
    place[at] = shapes.point_triangle(points[at], *_corners(tree, slot[at] // _FAN, slot[at] % _FAN))
    away = points - place
    return np.where(slot >= 0, np.sqrt(dot(away, away)), limit), *_found(tree, slot), place


def _search(
    tree: Tree, query: Ints, bound: Callable[[Ints, Array], Array], measure: Callable[[Ints, Ints], None], best: Array
) -> None:
    """Measure every pair of query and block of triangles that can improve on `best` (N,).

    `bound` takes queries (P,) and their boxes (P, 6, 8) to lower bounds (P, 8), infinite where there can be nothing;
    `measure` takes queries (P,) and blocks (P,) and lowers `best`.
    """
    block, lower = np.zeros(len(query), dtype=np.int64), np.zeros(len(query))
    for boxes in tree.levels:
        below = bound(query, boxes[block])
        pair, child = np.nonzero((below <= best[query, None]) & (below < np.inf))
        query, block, lower = query[pair], block[pair] * _FAN + child, below[pair, child]
    # the nearest blocks first: what is found there rules out most of the others
    order = np.lexsort((lower, query))
    query, block, lower = query[order], block[order], lower[order]
    rank = np.arange(len(query)) - np.searchsorted(query, query)
    width = 2
    while len(query):
        now = rank < width
        measure(query[now], block[now])
        later = ~now & (lower <= best[query])
        query, block, lower, rank = query[later], block[later], lower[later], rank[later]
        width *= 2


def _keep(length: Array, query: Ints, block: Ints, best: Array, slot: Ints) -> None:
    """Enter into `best` and `slot` the least of `length` (P, 8) of the pairs of each query, where it is less."""
    child = np.where(np.isnan(length), np.inf, length).argmin(axis=1)
    least = length[np.arange(len(child)), child]
    better = least < best[query]
    query, least, place = query[better], least[better], block[better] * _FAN + child[better]
    np.minimum.at(best, query, least)
    won = least == best[query]
    slot[query[won]] = place[won]


def _corners(tree: Tree, block: Ints, child: Ints | None = None) -> tuple[Array, Array, Array]:
    """Corners (P, 8, 3) of the triangles of blocks, or (P, 3) of one of each."""
    rows = np.moveaxis(tree.blocks[block], 1, -1) if child is None else tree.blocks[block, :, child]
    return rows[..., :3], rows[..., 3:6], rows[..., 6:]


def _found(tree: Tree, slot: Ints) -> tuple[Ints, Array]:
    """Triangles (N,) at sorted places and their unit normals (N, 3); -1 and zero for -1."""
    a, b, c = _corners(tree, slot // _FAN, slot % _FAN)
    there = slot >= 0
    return np.where(there, tree.face[slot], -1), np.where(there[:, None], unit(cross(b - a, c - a)), 0.0)


def sorted_near(centres: Array) -> Ints:
    """Order of triangles in which every aligned run of 8, 16, 32, ... lies close together."""
    count = len(centres)
    order = np.arange(count)
    size = 1 << max(count - 1, 0).bit_length()
    while size > _FAN:
        starts, run = np.arange(0, count, size), np.arange(count) // size
        c = centres[order]
        low, high = np.minimum.reduceat(c, starts), np.maximum.reduceat(c, starts)
        axis = (high - low).argmax(axis=1)
        at = np.arange(len(starts))
        start, extent = low[at, axis], np.maximum((high - low)[at, axis], 1e-300)
        key = run + 0.999 * (c[np.arange(count), axis[run]] - start[run]) / extent[run]
        order = order[np.argsort(key, kind="stable")]
        size //= 2
    return order


def _blocked(rows: Array) -> Array:
    """Rows (n, k) in blocks (m, k, 8), filled up with NaN."""
    rows = np.pad(rows, ((0, -len(rows) % _FAN), (0, 0)), constant_values=np.nan)
    return np.ascontiguousarray(rows.reshape(-1, _FAN, rows.shape[1]).transpose(0, 2, 1))


def _batches(count: int) -> Iterator[Ints]:
    """Numbers of the queries, batch by batch."""
    for start in range(0, count, _BATCH):
        yield np.arange(start, min(start + _BATCH, count))
