"""Which ground an actor has looked at, and where the unseen begins: the places to go when searching."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...errors import NoPath
from ...skeleton import Array
from ..ways.map import Map
from ..ways.walkable import Walkable
from .vision import Sight

UNDERFOOT = 1.0
"""What is nearer to an actor than this needs no look [m]: it stands there."""


@dataclass(frozen=True, eq=False)
class Survey:
    """Cells of a map that have been in view.

    Attributes:
        origin: (2,) corner of cell (0, 0) with the least x and y [m].
        cell: Side of a cell [m].
        points: (rows * columns, 3) just above the ground in the middle of each cell [m].
        seen: (rows, columns) bool.
    """

    origin: Array
    cell: float
    points: Array
    seen: npt.NDArray[np.bool_]

    def open_at(self, place: npt.ArrayLike) -> bool:
        """Whether a cell beside the one at `place` (2,) [m] has not been seen."""
        column, row = np.floor((np.asarray(place) - self.origin) / self.cell).astype(np.int64)
        return not bool(self.seen[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2].all())

    def closed_at(self, place: npt.ArrayLike) -> Survey:
        """The same, with what is near `place` (2,) [m] taken as seen: more of it will not be seen from there."""
        near = np.hypot(*(self.points[:, :2] - np.asarray(place)).T) < UNDERFOOT
        return replace(self, seen=self.seen | near.reshape(self.seen.shape))


def unseen(of: Map, above: float = 0.05) -> Survey:
    """A survey of a map of which nothing has been seen; looks count that show a place `above` the ground [m]."""
    rows, columns = of.shape
    y, x = np.divmod(np.arange(rows * columns), columns)
    xy = of.origin + (np.stack([x, y], axis=1) + 0.5) * of.cell
    return Survey(
        of.origin, of.cell, np.column_stack([xy, of.ground[0].ravel() + above]), np.zeros((rows, columns), dtype=bool)
    )


def surveyed(survey: Survey, sight: Sight) -> Survey:
    """The survey with what a look showed."""
    hidden = np.flatnonzero(~survey.seen)
    points = survey.points[hidden]
    now = sight.reveals(points) | (np.hypot(*(points[:, :2] - sight.eye[:2, 3]).T) < UNDERFOOT)
    seen = survey.seen.copy()
    seen.ravel()[hidden[now]] = True
    return replace(survey, seen=seen)


def frontier(survey: Survey, walkable: Walkable, here: npt.ArrayLike) -> Array | None:
    """Nearest place (2,) on foot that is seen and free but borders on the unseen [m]; None where there is none.

    Args:
        survey: What has been seen, of the same cells as `walkable`.
        walkable: What may be trodden in the believed world.
        here: (2,) [m].
    """
    unknown = ~survey.seen & ~walkable.blocked
    beside = np.zeros_like(unknown)
    beside[1:] |= unknown[:-1]
    beside[:-1] |= unknown[1:]
    beside[:, 1:] |= unknown[:, :-1]
    beside[:, :-1] |= unknown[:, 1:]
    edge = np.flatnonzero(survey.seen & beside & walkable.free)
    if not len(edge):
        return None
    try:
        far = walkable.field(here).distances.ravel()[edge]
    except NoPath:
        return None
    # who already stands there sees no more of it: only places a few steps away are worth going to
    far = np.where(far < walkable.radius, np.inf, far)
    best = int(far.argmin())
    return walkable.centre(edge[best]) if np.isfinite(far[best]) else None
