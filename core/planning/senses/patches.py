"""Large bodies cut into patches, so that seeing one end of a wall does not reveal the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...errors import InvalidParam
from ...skeleton import Array
from ...world import Body, World
from .raster import Ints
from .scenery import named


def split(world: World, size: float, kinds: Sequence[str] = ("ground", "obstacle")) -> World:
    """Cut bodies of these kinds that are larger than `size` [m] into equal boxes no larger than that.

    Patches are bodies `NAME#k` with new ids and the tag `part:NAME`; so an actor who has seen one end of a wall does
    not know the other. They cover the body exactly and without cracks.
    """
    if not size > 0:
        raise InvalidParam("size", size, "must be more than 0 m")
    bodies: list[Body] = []
    fresh = max((body.id for body in world.bodies), default=-1) + 1
    for body in world.bodies:
        scale = np.linalg.norm(body.matrices[0, :3, :3], axis=0)
        extent = np.ptp(body.vertices, axis=0) if len(body.vertices) else np.zeros(3)
        count = np.maximum(np.ceil(extent * scale / size - 1e-9), 1.0).astype(np.int64)
        if body.kind not in kinds or not len(body.triangles) or count.max() == 1:
            bodies.append(body)
            continue
        low = body.vertices.min(axis=0)
        vertices, triangles = body.vertices, np.asarray(body.triangles)
        for axis in range(3):
            for k in range(1, count[axis]):
                vertices, triangles = _cut(vertices, triangles, axis, low[axis] + extent[axis] * k / count[axis])
        middle = (vertices[triangles].mean(axis=1) - low) / np.maximum(extent, 1e-300) * count
        cell = np.minimum(middle.astype(np.int64), count - 1) @ [count[1] * count[2], count[2], 1]
        for k, number in enumerate(np.unique(cell)):
            own, index = np.unique(triangles[cell == number], return_inverse=True)
            tags = body.tags | {f"part:{body.name}"}
            bodies.append(
                replace(body, name=f"{body.name}#{k}", id=fresh, vertices=vertices[own], triangles=index, tags=tags)
            )
            fresh += 1
    return replace(world, bodies=tuple(bodies))


def _cut(vertices: Array, triangles: Ints, axis: int, at: float) -> tuple[Array, Ints]:
    """The mesh with its triangles cut where they cross a plane; neighbours share the corners that come in."""
    away = vertices[:, axis] - at
    away[np.abs(away) < 1e-9 * np.ptp(vertices[:, axis])] = 0.0
    side = np.sign(away).astype(np.int64)[triangles]
    crossing = (side.max(axis=1) > 0) & (side.min(axis=1) < 0)
    whole, cut, side = triangles[~crossing], triangles[crossing], side[crossing]
    # first the corner on the plane, or else the one that has a side to itself
    through = (side == 0).any(axis=1)
    first = np.where(through, (side == 0).argmax(axis=1), (side == -np.sign(side.sum(axis=1))[:, None]).argmax(axis=1))
    a, b, c = np.take_along_axis(cut, (first[:, None] + np.arange(3)) % 3, axis=1).T
    edges = np.concatenate(
        [np.stack([b, c])[:, through], np.stack([a, b])[:, ~through], np.stack([a, c])[:, ~through]], axis=1
    )
    ends, place = np.unique(np.sort(edges, axis=0), axis=1, return_inverse=True)
    u = away[ends[0]] / (away[ends[0]] - away[ends[1]])
    new = vertices[ends[0]] + u[:, None] * (vertices[ends[1]] - vertices[ends[0]])
    new[:, axis] = at
    middle = place.reshape(-1) + len(vertices)
    two, one = int(through.sum()), int((~through).sum())
    m, p, q = middle[:two], middle[two : two + one], middle[two + one :]
    parts = [
        whole,
        np.stack([a[through], b[through], m], axis=1),
        np.stack([a[through], m, c[through]], axis=1),
        np.stack([a[~through], p, q], axis=1),
        np.stack([p, b[~through], c[~through]], axis=1),
        np.stack([p, c[~through], q], axis=1),
    ]
    return np.concatenate([vertices, new]), np.concatenate(parts)


def whole(body: Body) -> str:
    """Name of the body that a patch was cut from, or of the body itself."""
    return named(body, "part") or body.name
