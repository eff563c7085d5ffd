"""What is shown, measured: skin and moving things as points of their surfaces, against the triangles of all others.

`penetration` looks at a plan, with capsules for flesh; this looks at what came of it on the screen, where every sample
is a frame or half of one and says where everything is.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from ...skeleton import Array
from ...world import Body, World
from .meshes import deepest
from .penetration import TOLERANCE, Penetration, inside_bodies, listed, mesh_at, worst
from .solids import Shapes
from .space import Bools

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
    return worst(inside_bodies(world, skin, np.arange(float(len(skin))), world.fps, parts, touching), tolerance)


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
    shapes = Shapes()
    for body in world.bodies:
        at = np.flatnonzero(_under_way(body.matrices)).astype(np.float64)
        others = [o for o in world.bodies if o is not body and (body.name, o.name) not in either]
        if len(at) and len(body.triangles):
            rows += _in_each(body, others, at, shapes)
    return worst(rows, tolerance)


def in_others(body: Body, world: World, shapes: Shapes | None = None) -> list[Penetration]:
    """Where a moving body is in others, at its samples and half way between them: its surface in them, theirs in it.

    Args:
        body: With a matrix for each sample.
        world: The others, as they are at first.
        shapes: What is known of meshes.
    """
    frames = np.linspace(0.0, len(body.matrices) - 1.0, 2 * len(body.matrices) - 1)
    others = [replace(o, matrices=o.matrices[:1]) for o in world.bodies if o.name != body.name]
    return worst(_in_each(body, others, frames, shapes or Shapes()), TOLERANCE)


def _in_each(body: Body, others: Sequence[Body], frames: Array, shapes: Shapes) -> list[Penetration]:
    """Where a body is in others, at frames (N,) of their matrices."""
    rows: list[Penetration] = []
    mesh, at = mesh_at(body, frames, shapes)
    for other in others:
        if len(other.triangles):
            there, place = mesh_at(other, frames, shapes)
            rows += listed(frames, body.name, other.name, deepest(mesh, there, np.linalg.inv(place) @ at))
    return rows


def _under_way(matrices: Array) -> Bools:
    """(T,) whether something is neither where it was at first nor where it is at last."""
    ends = [np.abs(matrices - matrices[k]).reshape(len(matrices), -1).max(axis=1) > 1e-6 for k in (0, -1)]
    return np.asarray(ends[0] & ends[1])
