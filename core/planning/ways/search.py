"""The exact search over cells: eight neighbours, whole-number costs, shortest on the grid and complete on it.

Dijkstra's algorithm with five successors instead of eight: a shortest way never turns by more than a right angle, so a
cell that was entered in some direction is left in one of the five around it (Kuffner 1998). A* with the octile distance
finds the same costs and looks at fewer cells. It is the yardstick for the ways over corners, and the published search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParam
from ...needs import needs_scipy
from ...skeleton import Array

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

STRAIGHT, DIAGONAL = 1024, 1448
"""Cost of a step to a neighbour: 1448 / 1024 is the square root of two to 0.011 %."""
DIRECTIONS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
"""Row and column of the eight neighbours, in turn; odd ones are diagonal."""
_FAR = 1 << 62


@dataclass(frozen=True, eq=False)
class GridWay:
    """What a search found.

    Attributes:
        cells: (n,) row * columns + column from start to goal; none if there is no way.
        cost: In 1/1024 of a cell; -1 if there is no way.
        expanded: Cells taken from the queue.
        relaxations: Steps to free neighbours looked at.
        pruned: Whether only five of eight directions were tried.
        closed: (rows * columns,) 1 where a cell was taken from the queue.
    """

    cells: Ints
    cost: int
    expanded: int
    relaxations: int
    pruned: bool
    closed: Bools


def search(
    free: Bools,
    starts: Sequence[int],
    goals: Sequence[int],
    astar: bool = True,
    cut_corners: bool = False,
    weights: Array | None = None,
    step_weights: Array | None = None,
    prune: bool = True,
) -> GridWay:
    """Cheapest way over free cells from any start to any goal.

    Args:
        free: (rows, columns).
        starts: Cells as row * columns + column; those that are not free are passed over.
        goals: Cells; the one that is cheapest to reach is taken.
        astar: Look towards the goal first; with several goals towards the nearest of them.
        cut_corners: Allow a diagonal step where one or both of the cells beside it are blocked.
        weights: (rows, columns) cost of a cell, at least 1; a step costs the mean of its two cells.
        step_weights: (8, rows, columns) cost of the step in each of DIRECTIONS from a cell, at least 1 (a slope climbed
            costs more than the same slope descended). Then all eight directions are tried.
        prune: Try five directions of eight; the cost is the same.
    """
    rows: int = free.shape[0]
    columns: int = free.shape[1]
    for what, cost in (("weights", weights), ("step_weights", step_weights)):
        if cost is not None and (cost.shape[-2:] != free.shape or not (cost >= 1.0).all()):
            raise InvalidParam(what, cost.shape, f"must be numbers of at least 1 for {rows} x {columns} cells")
    pruned = prune and step_weights is None
    width = columns + 2
    padded = np.zeros((rows + 2, width), bool)
    padded[1:-1, 1:-1] = free
    open_ = padded.tobytes()
    price = _prices(weights, step_weights, free.shape)

    def inner(cell: int) -> int:
        row, column = divmod(int(cell), columns)
        return (row + 1) * width + column + 1

    aims = {inner(g) for g in goals if free.flat[g]}
    offsets = [dy * width + dx for dy, dx in DIRECTIONS]
    sides = [(dy * width, dx) for dy, dx in DIRECTIONS]
    successors = [[(k + turn) % 8 for turn in (-2, -1, 0, 1, 2)] if pruned else list(range(8)) for k in range(8)]
    successors.append(list(range(8)))
    targets = [divmod(g, width) for g in sorted(aims)] if astar else []
    best: dict[int, int] = {}
    entered: dict[int, int] = {}
    heap: list[tuple[int, int]] = []
    for start in starts:
        if free.flat[start]:
            cell = inner(start)
            best[cell], entered[cell] = 0, 8
            heappush(heap, (_ahead(cell, width, targets), cell))
    closed = bytearray(len(open_))
    expanded = relaxations = 0
    while heap and aims:
        _, cell = heappop(heap)
        if closed[cell]:
            continue
        closed[cell] = 1
        expanded += 1
        if cell in aims:
            way = _traced(cell, entered, offsets, width)
            return GridWay(way, best[cell], expanded, relaxations, pruned, _inside(closed, width))
        so_far = best[cell]
        for k in successors[entered[cell]]:
            other = cell + offsets[k]
            if not open_[other]:
                continue
            if k & 1 and not cut_corners and not (open_[cell + sides[k][0]] and open_[cell + sides[k][1]]):
                continue
            relaxations += 1
            if closed[other]:
                continue
            total = so_far + ((DIAGONAL if k & 1 else STRAIGHT) if price is None else price[k][cell])
            if total < best.get(other, _FAR):
                best[other], entered[other] = total, k
                heappush(heap, (total + _ahead(other, width, targets), other))
    return GridWay(np.zeros(0, np.int64), -1, expanded, relaxations, pruned, _inside(closed, width))


def prices(weights: Array | None, step_weights: Array | None, shape: tuple[int, int]) -> Ints:
    """Whole-number cost (8, rows, columns) of the step in each of DIRECTIONS from a cell; see `search`."""
    padded = np.pad(np.ones(shape) if weights is None else weights, 1, mode="edge")
    rows, columns = shape
    cost = np.empty((8, rows, columns), np.int64)
    for k, (dy, dx) in enumerate(DIRECTIONS):
        mean = 0.5 * (padded[1:-1, 1:-1] + padded[1 + dy : rows + 1 + dy, 1 + dx : columns + 1 + dx])
        if step_weights is not None:
            mean = mean * step_weights[k]
        cost[k] = np.rint(mean * (DIAGONAL if k & 1 else STRAIGHT))
    return cost


def grid_graph(free: Bools, cost: Array, cut_corners: bool, cell: float = 1.0) -> Any:
    """Steps between free neighbours as a sparse matrix (rows * columns, rows * columns) of lengths times costs."""
    with needs_scipy():
        from scipy.sparse import csr_matrix
    rows, columns = free.shape
    index = np.arange(free.size, dtype=np.int32).reshape(free.shape)
    starts, ends, lengths = [], [], []
    for dy, dx in DIRECTIONS:
        a = (slice(max(0, -dy), rows - max(0, dy)), slice(max(0, -dx), columns - max(0, dx)))
        b = (slice(max(0, dy), rows + min(0, dy)), slice(max(0, dx), columns + min(0, dx)))
        both = free[a] & free[b]
        if dy and dx and not cut_corners:
            both &= free[a[0], b[1]] & free[b[0], a[1]]
        starts.append(index[a][both])
        ends.append(index[b][both])
        lengths.append((0.5 * cell * np.hypot(dx, dy)) * (cost[a] + cost[b])[both])
    return csr_matrix(
        (np.concatenate(lengths), (np.concatenate(starts), np.concatenate(ends))), shape=(free.size, free.size)
    )


def _prices(weights: Array | None, step_weights: Array | None, shape: tuple[int, int]) -> list[list[int]] | None:
    if weights is None and step_weights is None:
        return None
    whole = np.pad(prices(weights, step_weights, shape), ((0, 0), (1, 1), (1, 1)))
    found: list[list[int]] = whole.reshape(8, -1).tolist()
    return found


def _ahead(cell: int, width: int, targets: Sequence[tuple[int, int]]) -> int:
    """Least cost from a cell to the nearest target; 0 without targets."""
    if not targets:
        return 0
    row, column = divmod(cell, width)
    least = _FAR
    for y, x in targets:
        dy, dx = abs(y - row), abs(x - column)
        octile = STRAIGHT * dx + (DIAGONAL - STRAIGHT) * dy if dx > dy else STRAIGHT * dy + (DIAGONAL - STRAIGHT) * dx
        if octile < least:
            least = octile
    return least


def _inside(closed: bytearray, width: int) -> Bools:
    """Flags (rows * columns,) of the cells within a border of one."""
    flags: Bools = np.frombuffer(closed, dtype=bool).reshape(-1, width)[1:-1, 1:-1].ravel()
    return flags


def _traced(cell: int, entered: dict[int, int], offsets: Sequence[int], width: int) -> Ints:
    cells = [cell]
    while entered[cell] < 8:
        cell -= offsets[entered[cell]]
        cells.append(cell)
    row, column = np.divmod(np.array(cells[::-1], dtype=np.int64), width)
    return np.asarray((row - 1) * (width - 2) + column - 1, dtype=np.int64)
