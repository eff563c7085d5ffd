"""Where the surface of a thing is nearest to somebody."""

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


@lru_cache(maxsize=8)
def _surface(target: Body) -> geometry.Surface:
    """The surface in the thing's own axes; asked for every posture of a body that tries."""
    return geometry.index(World((replace(target, matrices=np.eye(4)[None]),)))
