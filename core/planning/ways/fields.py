"""Ways of many walkers to the same goals: one search from the goals, then every way is read off."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParam, NoPath
from ...motion import Path
from ...needs import needs_scipy
from ...skeleton import Array
from .routes import Ends, descent, ends_of
from .sight import Place
from .straighten import straightened

if TYPE_CHECKING:
    from .walkable import Walkable


@dataclass(frozen=True, eq=False)
class Field:
    """Where to go from anywhere to the nearest of some goals.

    Attributes:
        ways: What may be trodden.
        ends: The free cells that stand for the goals.
    """

    ways: Walkable
    ends: Ends

    @cached_property
    def distances(self) -> Array:
        """(rows, columns) length of the shortest way over cells to the nearest goal [m, times cost]; inf for none."""
        return self._spread[0].reshape(self.ways.free.shape)

    @cached_property
    def _spread(self) -> tuple[Array, npt.NDArray[np.int32]]:
        return self.ways.spread(self.ends.cells)

    def descend(self, xy: npt.ArrayLike) -> tuple[Path, ...]:
        """Ways with axes x, y from places (n, 2) or (2,) [m], one each.

        Raises:
            NoPath: A place is in an obstacle, with nothing free near, or no way leads from it to a goal.
        """
        places = np.asarray(xy, dtype=np.float64)
        if places.ndim not in (1, 2) or places.shape[-1] != 2 or not np.isfinite(places).all():
            raise InvalidParam("xy", np.shape(xy), "must be places of finite x and y, (2,) or (n, 2)")
        ways = self.ways
        over_cells = ways.costly or ways.params.cut_corners or not ways.params.straighten
        labels, reached = ways.labels, {self.ways.labels[end] for end in self.ends.cells}
        starts = [(*ways.free_cell(x, y, "start"), x, y) for x, y in places.reshape(-1, 2).tolist()]
        for cell, _, x, y in starts:
            if labels[cell] not in reached:
                raise NoPath(f"no way leads from ({x:.2f}, {y:.2f}) to the goal: something shuts it off")
        cells = [start[0] for start in starts]
        begins = [ways.middle(cell) if moved else ways.to_cells(x, y) for cell, moved, x, y in starts]
        found = self._over_cells(cells, begins) if over_cells else self._over_corners(cells, begins)
        for way, (_, moved, x, y) in zip(found, starts, strict=True):
            if moved:
                way.insert(0, ways.to_cells(x, y))
        points = (np.array([place for way in found for place in way]).reshape(-1, 2) - 0.5) * ways.cell + ways.origin
        last = np.cumsum([len(way) for way in found]).tolist()
        return tuple(Path(points[end - len(way) : end], ("x", "y")) for way, end in zip(found, last, strict=True))

    def _over_cells(self, cells: list[int], begins: list[Place]) -> list[list[Place]]:
        found = []
        for cell, begin in zip(cells, begins, strict=True):
            over = descent(self._spread[1], cell)
            places: list[Place] = [self.ways.middle(c) for c in over]
            if self.ways.params.straighten:
                end = self.ends.places[self.ends.cells.index(over[-1])]
                places = straightened(self.ways, places, begin, end)
            found.append(places)
        return found

    def _over_corners(self, cells: list[int], begins: list[Place]) -> list[list[Place]]:
        ways, corners, onward = self.ways, self.ways.corners, self._onward
        numbers, _, distance, _ = self._tree
        centres = [ways.middle(cell) for cell in cells]
        middles = np.array(centres, dtype=np.float64).reshape(-1, 2)
        ends = np.array([ways.middle(cell) for cell in self.ends.cells], dtype=np.float64)
        straight = np.linalg.norm(ends - middles[:, None], axis=-1)
        lines = (np.repeat(middles, len(ends), axis=0), np.tile(ends, (len(cells), 1)))
        straight[~corners.clear(*lines).reshape(straight.shape)] = np.inf
        nearest = straight.argmin(axis=1)
        lengths = straight[np.arange(len(cells)), nearest].tolist()
        found = []
        for middle, begin, least, k in zip(centres, begins, lengths, nearest.tolist(), strict=True):
            first = -1 - k
            for node, length, _ in corners.reached(middle[1] * corners.width + middle[0]):
                number = numbers[node]
                total = length + distance[number]
                if total < least:
                    least, first = total, number
            way = onward.get(first) or self._from(first)
            if begin != middle and not corners.sees(*begin, *way[-1]):
                way = corners.taut([middle], way)
            # ways are kept from their ends, which many share
            found.append(corners.taut([begin] if begin != way[-1] else [], way)[::-1])
        return found

    def _from(self, number: int) -> list[Place]:
        """Taut way from the goal to a corner, or for -1 - k to goal k itself."""
        _, nodes, _, before = self._tree
        onward, corners = self._onward, self.ways.corners
        todo = []
        while number not in onward:
            if number < 0:
                end, middle = self.ends.places[-1 - number], self.ways.middle(self.ends.cells[-1 - number])
                onward[number] = [end] if end == middle else [end, middle]
                break
            todo.append(number)
            number = before[number]
        for corner in reversed(todo):
            onward[corner] = corners.taut([corners.centre(nodes[corner])], onward[number])
            number = corner
        return onward[number]

    @cached_property
    def _onward(self) -> dict[int, list[Place]]:
        return {}

    @cached_property
    def _tree(self) -> tuple[dict[int, int], list[int], list[float], list[int]]:
        """Number of every corner, the corners, distance to the goals and next corner of each; goal k is -1 - k."""
        with needs_scipy():
            from scipy.sparse import csr_matrix
            from scipy.sparse.csgraph import dijkstra
        corners, cells = self.ways.corners, self.ends.cells
        numbers, nodes, (data, indices, starts) = corners.graph
        count, size = len(nodes), len(nodes) + len(cells)
        tails = [corners.reached(self.ways.inner(end)) for end in cells]
        # every goal is one more node, from which the search sets out
        graph = csr_matrix(
            (
                np.concatenate([data, [length for tail in tails for _, length, _ in tail]]),
                np.concatenate([indices, [numbers[node] for tail in tails for node, _, _ in tail]]).astype(np.int32),
                np.concatenate([starts, starts[-1] + np.cumsum([len(tail) for tail in tails])]).astype(np.int32),
            ),
            shape=(size, size),
        )
        distance, before, _ = dijkstra(graph, indices=np.arange(count, size), min_only=True, return_predecessors=True)
        return numbers, nodes, distance.tolist(), np.where(before < count, before, count - 1 - before).tolist()


def field(ways: Walkable, goals: npt.ArrayLike, goal_radius: float = 0.0) -> Field:
    """See `Walkable.field`."""
    return Field(ways, ends_of(ways, goals, goal_radius))
