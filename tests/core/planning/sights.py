"""Small worlds to look at."""

from __future__ import annotations

import numpy as np
from troupe.core.maths import quat
from troupe.core.world import Body, World

CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
SIDES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4]]
    + [[1, 5, 7], [1, 7, 3]]
)


def at(x, y, z=0.0, turn=None):
    """A matrix that places, and turns by a rotation vector."""
    out = np.eye(4)
    out[:3, 3] = x, y, z
    if turn is not None:
        out[:3, :3] = quat.to_matrix(quat.exp(np.asarray(turn, dtype=float)))
    return out


def box(name, number, place, size, kind="obstacle", tags=(), turn=None, matrices=None):
    """A box around its middle; `size` is a side or three."""
    matrices = at(*place, turn)[None] if matrices is None else matrices
    return Body(name, number, CORNERS * np.broadcast_to(size, 3), SIDES, matrices, kind, frozenset(tags))


def floor(number=0, x0=-10.0, y0=-10.0, x1=10.0, y1=10.0):
    corners = np.array([[x0, y0, 0.0], [x1, y0, 0.0], [x1, y1, 0.0], [x0, y1, 0.0]])
    return Body("floor", number, corners, np.array([[0, 1, 2], [0, 2, 3]]), np.eye(4)[None], "ground")


def ball(name, number, place, radius, fineness=24, **more):
    u, v = np.linspace(0, np.pi, fineness + 1), np.arange(fineness) * 2 * np.pi / fineness
    points = np.stack(
        [np.outer(np.sin(u), np.cos(v)), np.outer(np.sin(u), np.sin(v)), np.outer(np.cos(u), np.ones_like(v))], axis=-1
    )
    i, j = np.divmod(np.arange(fineness * fineness), fineness)
    a, b = i * fineness + j, i * fineness + (j + 1) % fineness
    triangles = np.concatenate([np.stack([a, b, b + fineness], 1), np.stack([a, b + fineness, a + fineness], 1)])
    return Body(name, number, radius * points.reshape(-1, 3), triangles, at(*place)[None], **more)


def crowded(rng, count, fps=24.0):
    """A floor, boxes and a tangle of triangles around the origin."""
    bodies = [floor()]
    for k in range(1, count + 1):
        place, size = rng.uniform(-6, 6, 3) * [1, 1, 0.3] + [0, 0, 1.5], rng.uniform(0.05, 2.0, 3)
        bodies.append(box(f"box {k}", k, place, size, turn=rng.normal(size=3)))
    tangle = rng.normal(size=(30, 3)) * 2 + [0, 0, 1.5]
    bodies.append(Body("tangle", count + 1, tangle, rng.permutation(30).reshape(-1, 3), np.eye(4)[None]))
    return World(tuple(bodies), fps)
