"""What stands in a closed mesh stands in a room, or under a sky: its walls are in the way, and nothing between them."""

from __future__ import annotations

from dataclasses import replace

from ...skeleton import Array
from ...world import HOLLOW, World
from .solids import Shapes, matrix_at, parted


def with_rooms(world: World, places: Array, time: float = 0.0, shapes: Shapes | None = None) -> World:
    """The world in which bodies are hollow that all of some places (N, 3) are within at a moment [m, s].

    What has an inside in itself is solid to everything that is not in it, so that the middle of one body alone, where
    somebody stands in a table for one, does not make a room of it: places should be as far apart as what stands there
    is tall.
    """
    shapes, out = shapes or Shapes(), []
    for body in world.bodies:
        if len(body.triangles) and HOLLOW not in body.tags:
            matrix = matrix_at(world, body, time)
            turn, scale = parted(matrix)
            mesh, local = shapes.mesh(body, scale), (places - matrix[:3, 3]) @ turn
            if ((local > mesh.low) & (local < mesh.high)).all() and mesh.inside(local).all():
                body = replace(body, tags=body.tags | {HOLLOW})
        out.append(body)
    return world if all(a is b for a, b in zip(out, world.bodies, strict=True)) else replace(world, bodies=tuple(out))
