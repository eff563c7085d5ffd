"""What a thing or a machine is covered with, to be kept out of everything else: capsules, as many as its form needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...skeleton import Array
from ...world import Body
from .distance_field import surface_points
from .pieces import islands
from .space import Ints

SPLITS = 4
"""How often what covers a part of a mesh is divided at most."""
TIGHTER = 0.75
"""A part is divided where that makes what covers it smaller than this share."""
MOST_SLABS = 256
"""Most capsules side by side that cover a part; what is larger and flat is covered thicker than it is."""


@dataclass(frozen=True, eq=False)
class Cover:
    """Capsules on links.

    Attributes:
        starts, ends: (K, 3) in the axes of their links [m].
        radii: (K,) [m].
        links: (K,) number of the link of each.
    """

    starts: Array
    ends: Array
    radii: Array
    links: Ints

    def placed(self, frames: Array) -> tuple[Array, Array]:
        """Starts and vectors (3, K, N) of the capsules with links at frames (N, L, 4, 4)."""
        at = frames[:, self.links]
        begin = np.einsum("nkij,kj->ikn", at[..., :3, :3], self.starts) + at[..., :3, 3].transpose(2, 1, 0)
        along = np.einsum("nkij,kj->ikn", at[..., :3, :3], self.ends - self.starts)
        return np.ascontiguousarray(begin), np.ascontiguousarray(along)


def covered(parts: Sequence[tuple[Body, int]]) -> Cover:
    """Capsules around meshes on links; parts that are far from boxes are divided until they fit."""
    rows: list[tuple[Array, Array, float, int]] = []
    for body, link in parts:
        size = float(np.ptp(body.vertices, axis=0).max())
        for vertices, triangles in islands(body.vertices, body.triangles):
            points = surface_points(vertices, triangles, max(size / 24.0, 1e-4))
            rows += [(*capsule, link) for capsule in _fitted(points, SPLITS)]
    starts, ends, radii, links = zip(*rows, strict=True)
    return Cover(np.array(starts), np.array(ends), np.array(radii), np.array(links, dtype=np.int64))


Capsule = tuple[Array, Array, float]


def _fitted(points: Array, splits: int, most: int = MOST_SLABS) -> list[Capsule]:
    """Capsules around points (N, 3); as many as it takes, up to `most`."""
    whole = _slabs(points, most)
    if splits == 0 or len(points) < 16:
        return whole
    spread = points - points.mean(axis=0)
    axis = np.linalg.eigh(spread.T @ spread)[1][:, -1]
    along = spread @ axis
    middle = 0.5 * (along.min() + along.max())
    halves = [points[along <= middle], points[along > middle]]
    if min(len(h) for h in halves) < 8:
        return whole
    parts = [capsule for half in halves for capsule in _fitted(half, splits - 1, most // 2)]
    return parts if _volume(parts) < TIGHTER * _volume(whole) else whole


def _volume(capsules: Sequence[Capsule]) -> float:
    return sum(np.pi * r * r * (float(np.linalg.norm(b - a)) + 4.0 / 3.0 * r) for a, b, r in capsules)


def _slabs(points: Array, most: int) -> list[Capsule]:
    """Capsules side by side in the box around points (N, 3), up to `most`."""
    tries = []
    spread = points - points.mean(axis=0)
    for axes in (np.eye(3), np.linalg.eigh(spread.T @ spread)[1]):
        inside = points @ axes
        low, high = inside.min(axis=0), inside.max(axis=0)
        tries.append((float(np.prod(np.maximum(high - low, 1e-4))), axes, low, high))
    _, axes, low, high = min(tries, key=lambda row: row[0])
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    long, broad, thick = np.argsort(-half, kind="stable")
    count = max(1, min(int(np.ceil(half[broad] / max(1.2 * half[thick], 1e-3))), most))
    width = half[broad] / count
    radius = max(float(np.hypot(width, half[thick])), 1e-4)
    # the round ends cover all but the corners, which the next bulge over by less than this
    reach = max(float(half[long]) - 0.3 * radius, 0.0)
    out = []
    for k in range(count):
        centre, offset = middle.copy(), np.zeros(3)
        centre[broad] = low[broad] + (2 * k + 1) * width
        offset[long] = reach
        out.append((axes @ (centre - offset), axes @ (centre + offset), radius))
    return out
