"""What is shown, measured: skin and moving things as points of their surfaces, against the triangles of all others.

`penetration` looks at a plan, with capsules for flesh; this looks at what came of it on the screen, where every sample
is a frame or half of one and says where everything is.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from ...skeleton import Array
from ...world import World
from .distance_field import surface_samples
from .penetration import TOLERANCE, Penetration, inside_bodies
from .space import Bools

SPACING = 1.0 / 24.0
"""Between two points of the surface of a thing, of its size."""
Pairs = Collection[tuple[str, str]]


def skin_in(
    skin: Array, parts: Sequence[str], world: World, touching: Pairs = (), tolerance: float = TOLERANCE
) -> list[Penetration]:
    """Where skin is in bodies, the deepest of each part and body at each sample.

    Args:
        skin: (T, K, 3) points of it [m].
        parts: (K,) of the body each belongs to.
        world: Bodies with one matrix or T.
        touching: Part and body that may be in each other.
        tolerance: Depths that do not count [m].
    """
    return _worst(inside_bodies(world, skin, np.arange(float(len(skin))), world.fps, parts, touching), tolerance)


def moving_in(world: World, touching: Pairs = (), tolerance: float = TOLERANCE) -> list[Penetration]:
    """Where bodies that move are in others: points of their surfaces in the others, and corners of the others in them.

    A body is looked at where it is away from its first and its last place: how it was put there is not its way's fault.

    Args:
        world: Bodies with one matrix or T.
        touching: Names of two bodies that may be in each other, either way round.
        tolerance: Depths that do not count [m].
    """
    either = {*touching, *((b, a) for a, b in touching)}
    rows: list[Penetration] = []
    for body in world.bodies:
        at = np.flatnonzero(_under_way(body.matrices))
        if not len(at) or not len(body.triangles):
            continue
        size = float(np.ptp(body.vertices, axis=0).max())
        surface = surface_samples(body.vertices[body.triangles], max(SPACING * size, 1e-4))[0]
        points = _placed(body.matrices[at], surface)
        others = tuple(o for o in world.bodies if o is not body and (body.name, o.name) not in either)
        there, frames = replace(world, bodies=others), at.astype(np.float64)
        rows += inside_bodies(there, points, frames, world.fps, [body.name] * len(surface))
        low, high = points.min(axis=(0, 1)), points.max(axis=(0, 1))
        own = replace(world, bodies=(body,))
        for other in others:
            corners = _placed(other.matrices[at] if len(other.matrices) > 1 else other.matrices, other.vertices)
            near = ((corners >= low) & (corners <= high)).all(axis=2).any(axis=0)
            if near.any():
                spread = np.broadcast_to(corners[:, near], (len(at), int(near.sum()), 3))
                found = inside_bodies(own, spread, frames, world.fps, [other.name] * spread.shape[1])
                rows += [replace(row, part=body.name, body=other.name) for row in found]
    return _worst(rows, tolerance)


def _under_way(matrices: Array) -> Bools:
    """(T,) whether something is neither where it was at first nor where it is at last."""
    ends = [np.abs(matrices - matrices[k]).reshape(len(matrices), -1).max(axis=1) > 1e-6 for k in (0, -1)]
    return np.asarray(ends[0] & ends[1])


def _placed(matrices: Array, points: Array) -> Array:
    """(T, K, 3) points (K, 3) of a body at matrices (T, 4, 4)."""
    return np.asarray(points @ matrices[:, :3, :3].transpose(0, 2, 1) + matrices[:, None, :3, 3])


def _worst(rows: Sequence[Penetration], tolerance: float) -> list[Penetration]:
    worst: dict[tuple[float, str, str], float] = {}
    for row in rows:
        key = row.frame, row.part, row.body
        worst[key] = max(worst.get(key, 0.0), row.depth)
    return [Penetration(*key, depth) for key, depth in sorted(worst.items()) if depth > tolerance]
