"""Things to reach for and to bump into, as meshes: boxes, balls, bottles and whatever a lathe turns."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...skeleton import Array
from ...world import Body

_CORNERS = np.array([[x, y, z] for z in (-1.0, 1.0) for y in (-1.0, 1.0) for x in (-1.0, 1.0)])
_FACES = np.array(
    [[0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4], [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6]]
    + [[1, 3, 5], [3, 7, 5]]
)


def placed(place: npt.ArrayLike, turn: Array | None = None) -> Array:
    """(4, 4) of a place (3,) [m] and a rotation (3, 3)."""
    matrix = np.eye(4)
    matrix[:3, 3] = place
    if turn is not None:
        matrix[:3, :3] = turn
    return matrix


def box(
    name: str,
    half: npt.ArrayLike,
    place: npt.ArrayLike = (0.0, 0.0, 0.0),
    turn: Array | None = None,
    kind: str = "obstacle",
    number: int = 0,
) -> Body:
    """A box of half size (3,) about a place (3,) [m]."""
    return Body(name, number, _CORNERS * np.asarray(half), _FACES, placed(place, turn)[None], kind)


def lathe(profile: npt.ArrayLike, sides: int = 24) -> tuple[Array, npt.NDArray[np.int64]]:
    """Vertices (V, 3) and triangles (F, 3) of a closed body of revolution about Z.

    Args:
        profile: (N, 2) radius and height [m], upwards; the first and the last on the axis.
        sides: Corners of a ring.
    """
    outline = np.asarray(profile, dtype=np.float64)
    angle = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(sides)])
    rings = (
        outline[1:-1, :1, None] * ring
        + np.stack([0 * outline[1:-1, 1], 0 * outline[1:-1, 1], outline[1:-1, 1]], 1)[:, None]
    )
    ends = np.array([[0.0, 0.0, outline[0, 1]], [0.0, 0.0, outline[-1, 1]]])
    vertices = np.concatenate([rings.reshape(-1, 3), ends])
    count = len(rings)
    j = np.arange(sides)
    k = (j + 1) % sides
    low, high, last = count * sides, count * sides + 1, (count - 1) * sides
    faces = [np.column_stack([np.full(sides, low), k, j]), np.column_stack([np.full(sides, high), last + j, last + k])]
    for i in range(count - 1):
        a, b = i * sides, (i + 1) * sides
        faces += [np.column_stack([a + j, a + k, b + k]), np.column_stack([a + j, b + k, b + j])]
    return vertices, np.concatenate(faces)


def ball(
    name: str, radius: float, place: npt.ArrayLike = (0.0, 0.0, 0.0), kind: str = "obstacle", number: int = 0
) -> Body:
    """A ball about a place (3,) [m]."""
    turn = np.linspace(0.0, np.pi, 9)
    vertices, faces = lathe(np.column_stack([radius * np.sin(turn), -radius * np.cos(turn)]), 16)
    return Body(name, number, vertices, faces, placed(place)[None], kind)


def bottle(
    name: str = "bottle",
    place: npt.ArrayLike = (0.0, 0.0, 0.0),
    height: float = 0.24,
    radius: float = 0.033,
    number: int = 0,
    sides: int = 24,
) -> Body:
    """A bottle that stands on a place (3,) [m]."""
    h, r = height, radius
    neck = 0.4 * r
    outline = [(0.0, 0.0), (r, 0.0), (r, 0.6 * h), (neck, 0.8 * h), (neck, h), (0.0, h)]
    vertices, faces = lathe(outline, sides)
    return Body(name, number, vertices, faces, placed(place)[None], "prop")


def cup(
    name: str = "cup",
    place: npt.ArrayLike = (0.0, 0.0, 0.0),
    height: float = 0.095,
    radius: float = 0.04,
    number: int = 0,
    sides: int = 32,
) -> Body:
    """A cup that stands on a place (3,) [m], with a handle to +X that fingers fit through."""
    h, r, wall = height, radius, 0.004
    outline = [(0.0, 0.0), (r, 0.0), (r, h), (r - wall, h), (r - wall, wall), (0.0, wall)]
    vertices, faces = lathe(outline, sides)
    bend, ring = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 9), np.linspace(0.0, 2.0 * np.pi, 6, endpoint=False)
    up = 0.5 * h + min(0.03, 0.32 * h) * np.sin(bend)
    along = np.column_stack([r - 0.002 + 0.034 * np.cos(bend), 0.0 * bend, up])
    outward = np.column_stack([np.cos(bend), 0.0 * bend, np.sin(bend)])
    rings = along[:, None] + 0.005 * (
        np.cos(ring)[:, None] * outward[:, None] + np.sin(ring)[:, None] * np.array([0.0, 1.0, 0.0])
    )
    first, count, j = len(vertices), len(ring), np.arange(len(ring))
    k = (j + 1) % count
    more = []
    for i in range(len(bend) - 1):
        a, b = first + i * count, first + (i + 1) * count
        more += [np.column_stack([a + j, b + j, b + k]), np.column_stack([a + j, b + k, a + k])]
    last = first + (len(bend) - 1) * count
    caps = [[first, first + k[i], first + i] for i in range(1, count - 1)]
    caps += [[last, last + i, last + k[i]] for i in range(1, count - 1)]
    triangles = np.concatenate([faces, *more, np.array(caps)])
    return Body(name, number, np.concatenate([vertices, rings.reshape(-1, 3)]), triangles, placed(place)[None], "prop")
