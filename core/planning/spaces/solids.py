"""What is in the way of an arm, made from the meshes of a world: spheres, boxes, and distance fields for the rest.

A mesh is taken apart into the pieces that hang together. A piece that is a ball, a box or a flat rectangle becomes just
that, without loss; any other gets a distance field in its own axes, so that it can be carried about.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...skeleton import Array
from ...world import HOLLOW, Body, World
from .distance_field import DistanceField
from .meshes import Mesh
from .pieces import Piece, pieces
from .space import Ints


@dataclass(frozen=True, eq=False)
class Solids:
    """Everything that may be touched, placed in the world.

    Attributes:
        names: Of the bodies.
        centres, radii, ball_of: (O, 3), (O,) of the balls [m] and the body (O,) of each.
        middles, axes, halves, box_of: (B, 3), (B, 3, 3), (B, 3) of boxes and fields, and the body (B,) of each.
        fields: Of each box its field, or None.
        origins: (B, 3) where the field's axes have their zero from the middle of the box, in the box's axes.
    """

    names: tuple[str, ...]
    centres: Array
    radii: Array
    ball_of: Ints
    middles: Array
    axes: Array
    halves: Array
    box_of: Ints
    fields: tuple[DistanceField | None, ...]
    origins: Array

    def without(self, *names: str) -> Solids:
        """The same without these bodies."""
        gone = [k for k, name in enumerate(self.names) if name in names]
        ball, box = ~np.isin(self.ball_of, gone), ~np.isin(self.box_of, gone)
        return Solids(
            self.names,
            self.centres[ball],
            self.radii[ball],
            self.ball_of[ball],
            self.middles[box],
            self.axes[box],
            self.halves[box],
            self.box_of[box],
            tuple(field for field, keep in zip(self.fields, box, strict=True) if keep),
            self.origins[box],
        )


class Shapes:
    """Remembers what was found out about meshes, which is the same however they are moved."""

    def __init__(self) -> None:
        self._known: dict[tuple[bytes, int, bool], list[tuple[Array, Ints, Array, Mesh]]] = {}
        self._parts: dict[tuple[int, bytes], tuple[Piece, ...]] = {}

    def mesh(self, body: Body, scale: Array) -> Mesh:
        """The mesh of a body with a scale (3,)."""
        # few meshes begin alike, so that hardly any are compared in full
        hollow = HOLLOW in body.tags
        alike = self._known.setdefault((body.vertices[:4].tobytes(), len(body.triangles), hollow), [])
        for known, triangles, size, mesh in alike:
            if _same(known, body.vertices) and _same(triangles, body.triangles) and np.allclose(size, scale):
                return mesh
        mesh = Mesh(body.vertices * scale, body.triangles, hollow)
        alike.append((body.vertices, body.triangles, scale, mesh))
        return mesh

    def of(self, body: Body, scale: Array, region: tuple[Array, Array] | None) -> tuple[Piece, ...]:
        """Pieces of a body with its scale (3,) applied; a region, in its own axes, is for large ones alone."""
        mesh = self.mesh(body, scale)
        if region is None or (mesh.high - mesh.low < 0.5 * (region[1] - region[0])).all():
            return mesh.pieces
        key = id(mesh), np.stack(region).tobytes()
        if key not in self._parts:
            self._parts[key] = pieces(mesh.islands, region, mesh.hollow)
        return self._parts[key]


def _same(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    return a is b or np.array_equal(a, b)


def solids(
    world: World,
    time: float = 0.0,
    region: tuple[Array, float] | None = None,
    ignore: Collection[str] = (),
    shapes: Shapes | None = None,
    moved: dict[str, Array] | None = None,
    plain: bool = False,
) -> Solids:
    """The solids of a world at one moment.

    Args:
        world: Its bodies.
        time: [s]
        region: Centre (3,) and radius of what matters [m]; bodies out of it are left out.
        ignore: Names of bodies that are not in the way.
        shapes: What is known of meshes already.
        moved: Matrices (4, 4) of bodies that are elsewhere than the world says.
        plain: Whether what is neither ball nor box is left out.
    """
    shapes = shapes or Shapes()
    balls: list[tuple[Array, float, int]] = []
    boxes: list[tuple[Array, Array, Array, int, DistanceField | None, Array]] = []
    for k, body in enumerate(world.bodies):
        if body.name in ignore or not len(body.triangles):
            continue
        matrix = matrix_at(world, body, time) if moved is None or body.name not in moved else moved[body.name]
        turn, scale = parted(matrix)
        place = matrix[:3, 3]
        own = None
        if region is not None:
            corners = body.vertices @ matrix[:3, :3].T + place
            if np.linalg.norm(np.clip(region[0], corners.min(axis=0), corners.max(axis=0)) - region[0]) > region[1]:
                continue
            middle = turn.T @ (region[0] - place)
            own = middle - region[1], middle + region[1]
        for piece in shapes.mesh(body, scale).plain if plain else shapes.of(body, scale, own):
            centre = place + turn @ piece.centre
            if piece.kind == "ball":
                balls.append((centre, float(piece.half[0]), k))
            else:
                boxes.append((centre, turn @ piece.axes, piece.half, k, piece.field, -piece.centre))
    return Solids(
        tuple(body.name for body in world.bodies),
        np.array([b[0] for b in balls]).reshape(-1, 3),
        np.array([b[1] for b in balls]),
        np.array([b[2] for b in balls], dtype=np.int64),
        np.array([b[0] for b in boxes]).reshape(-1, 3),
        np.array([b[1] for b in boxes]).reshape(-1, 3, 3),
        np.array([b[2] for b in boxes]).reshape(-1, 3),
        np.array([b[3] for b in boxes], dtype=np.int64),
        tuple(b[4] for b in boxes),
        np.array([b[5] for b in boxes]).reshape(-1, 3),
    )


def matrix_at(world: World, body: Body, time: float) -> npt.NDArray[np.float64]:
    """(4, 4) where a body is at a moment [s]: at the nearest sample."""
    at = int(np.clip(round(time * world.fps), 0, len(body.matrices) - 1))
    return np.asarray(body.matrices[at])


def parted(matrix: Array) -> tuple[Array, Array]:
    """Rotation (3, 3) and scale (3,) of a matrix (4, 4); a mirror is in the scale."""
    scale = np.linalg.norm(matrix[:3, :3], axis=0)
    if np.linalg.det(matrix[:3, :3]) < 0:
        scale[0] = -scale[0]
    return matrix[:3, :3] / np.where(scale == 0, 1.0, scale), scale
