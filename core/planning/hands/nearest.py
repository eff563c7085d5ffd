"""Where on the surface of a thing a finger goes: where it is nearest, or in the middle of what faces one."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from ...maths import geometry, quat
from ...skeleton import Array
from ...world import Body, World


def nearest(target: Body, matrix: Array, point: Array) -> tuple[Array, Array]:
    """The place (3,) on a thing at a matrix (4, 4) that is nearest to a point (3,), and the normal there, both in the
    world [m]."""
    back = np.linalg.inv(matrix)
    place, _, _, normal = geometry.nearest(_surface(target), (back[:3, :3] @ point + back[:3, 3])[None])
    return matrix[:3, :3] @ place[0] + matrix[:3, 3], quat.unit(back[:3, :3].T @ normal[0])


def facing(target: Body, matrix: Array, point: Array) -> tuple[Array, Array]:
    """The place (3,) on a thing at a matrix (4, 4) where it is met on the way from a point (3,) to its middle, and the
    normal there towards the point; the nearest place where that way meets nothing [m].

    What is nearest of a small thing is most often an edge, at which it is not touched.
    """
    middle = matrix[:3, :3] @ (0.5 * (target.vertices.min(axis=0) + target.vertices.max(axis=0))) + matrix[:3, 3]
    back = np.linalg.inv(matrix)
    start, way = back[:3, :3] @ point + back[:3, 3], back[:3, :3] @ (middle - point)
    far, normal, _, hit = geometry.ray(_surface(target), start[None], way[None])
    if not hit[0]:
        return nearest(target, matrix, point)
    place = start + float(far[0]) * quat.unit(way)
    return matrix[:3, :3] @ place + matrix[:3, 3], quat.unit(back[:3, :3].T @ normal[0])


@lru_cache(maxsize=8)
def _surface(target: Body) -> geometry.Surface:
    """The surface in the thing's own axes; asked for every posture of a body that tries."""
    return geometry.index(World((replace(target, matrices=np.eye(4)[None]),)))
