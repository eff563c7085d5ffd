"""How a map reads the bodies of a world: which of them block, which only cost, and how much floor there is to chart.

ground          gives the height of every cell; what is steep in it blocks when it is higher than a step.
door            tagged `open` it is passed, tagged `openable` it is passed at a cost, otherwise it blocks.
others          block, whatever they are called.
tag `cost=3`    on ground, its cells cost three times as much to tread; any other body so tagged is a region that
                does not block but makes the cells under it cost that much.
tag `solid`     the inside of its outline blocks too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParam
from ...skeleton import Array
from ...world import Body
from .footprint import Footprint, Frame

DOOR_COST = 5.0
"""How many times as much a cell under an openable door costs, unless a tag says otherwise."""


@dataclass(frozen=True, eq=False)
class Seen:
    """A body as it stands on a map: where it was, what it counts for, and its cells."""

    body: Body
    matrix: Array
    role: str
    cost: float
    footprint: Footprint

    def still(self, body: Body, matrix: Array) -> bool:
        """Whether a body is this one, unmoved."""
        old = self.body
        if not (matrix == self.matrix).all() or body.kind != old.kind or body.tags != old.tags:
            return False
        return body is old or (
            (body.vertices is old.vertices or np.array_equal(body.vertices, old.vertices))
            and (body.triangles is old.triangles or np.array_equal(body.triangles, old.triangles))
        )


def role(body: Body) -> str:
    """What a body is on a map: `ground`, `block`, `region` or `nothing`."""
    if body.kind == "ground":
        return "ground"
    if not body.tags:
        return "block"
    if body.kind == "door" and "open" in body.tags:
        return "nothing"
    if (body.kind == "door" and "openable" in body.tags) or any(tag.startswith("cost=") for tag in body.tags):
        return "region"
    return "block"


def cost(body: Body) -> float:
    """How many times as much the cells of a body cost, by its tags."""
    for tag in sorted(body.tags):
        if tag.startswith("cost="):
            try:
                value = float(tag[5:])
            except ValueError:
                value = -1.0
            if not 1.0 <= value < np.inf:
                raise InvalidParam(f"tag of {body.name}", tag, "must be cost= and a number of at least 1")
            return value
    return DOOR_COST if body.kind == "door" else 1.0


def frame(
    corners: Sequence[Array],
    roles: Sequence[str],
    bounds: npt.ArrayLike | None,
    radius: float,
    cell: float,
    max_cells: int,
) -> tuple[Frame, tuple[str, ...]]:
    """Cells that cover a world, or bounds in it, and notes about their size.

    Args:
        corners: (F, 3, 3) triangles of every body [m].
        roles: Of the bodies.
        bounds: (2, 2) least and greatest x, y [m]; None for all the ground, or all bodies where none is ground.
        radius: Of the walker [m].
        cell: Side of a cell [m]; 0 for half the radius, or up to the radius where that would be too many.
        max_cells: Most cells that are allowed.
    """
    if bounds is None:
        grounds = [c for c, kind in zip(corners, roles, strict=True) if kind == "ground" and len(c)]
        shown = grounds or [c for c in corners if len(c)]
        if not shown:
            raise InvalidParam("bounds", None, "the world has no bodies to tell the map's size from: give bounds")
        points = np.concatenate([c[..., :2].reshape(-1, 2) for c in shown])
        # without ground there must be room to walk around the bodies
        room = 0.0 if grounds else 4 * radius + 1.0
        box = np.stack([points.min(axis=0) - room, points.max(axis=0) + room])
    else:
        box = np.asarray(bounds, dtype=np.float64)
        if box.shape != (2, 2) or not np.isfinite(box).all() or (box[1] < box[0]).any():
            raise InvalidParam("bounds", bounds, "must be two places, the least and the greatest x, y")
    notes = []
    side = cell or 0.5 * radius
    size = np.maximum(box[1] - box[0], 1e-9)
    if np.prod(np.ceil(size / side)) > max_cells:
        fitting = float(np.sqrt(np.prod(np.maximum(size, side)) / max_cells)) * 1.01
        if cell or fitting > radius:
            raise InvalidParam(
                "cell",
                side,
                f"a map of {size[0]:.0f} x {size[1]:.0f} m would have more than {max_cells} cells: "
                f"keep starts and goals nearer together, or take cells of at least {fitting:.2f} m",
            )
        notes.append(f"cells are {fitting:.2f} m instead of {side:.2f} m: the map is {size[0]:.0f} x {size[1]:.0f} m")
        side = fitting
    if side > radius:
        notes.append(f"cells of {side:.2f} m are larger than the radius {radius:.2f} m: narrow ways are missed")
    # given bounds are covered; of the ground only cells whose centres lie over it, else its edge would be full of holes
    half = 0.5 if bounds is None else 0.0
    low = np.floor(box[0] / side + 1e-6 + half)
    count = np.maximum(np.ceil(box[1] / side - 1e-6 - half) - low, 1.0).astype(np.int64)
    return Frame(low * side, side, (int(count[1]), int(count[0]))), tuple(notes)
