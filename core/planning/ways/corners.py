"""The corners of obstacles and how they join: a small graph in place of a large grid.

A shortest way bends only at corners, so it is enough to search over the free cells diagonally beside them. These cells
and the straight connections between them are the simple subgoal graph of Uras, Koenig and Hernandez, "Subgoal graphs
for optimal pathfinding in eight-neighbor grids" (2013), which holds a shortest way of the grid. Edges here have their
straight length. They are found when first needed and kept, and a change of the grid forgets only those around it.

The grid has one blocked cell added on every side. A node is a cell of it: row * width + column.
"""

from __future__ import annotations

import math
from array import array

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParam
from ...skeleton import Array
from .growth import Box
from .sight import Bools, Place, Runs, Sight

Ints = npt.NDArray[np.int32]
Edge = tuple[int, float, complex]
"""Node, distance [cells] and place of the node as x + iy, which makes the fastest distances."""

_DIAGONAL = math.sqrt(2.0)
_LONGEST = 32_000


class Corners(Sight):
    """The corners of a grid and what each of them reaches; edges are found when first needed and kept."""

    def __init__(self, free: Bools) -> None:
        """Corners of `free` (rows, columns)."""
        rows, columns = free.shape
        if max(free.shape) > _LONGEST:
            raise InvalidParam("free", free.shape, f"a map may have {_LONGEST} rows and columns at most")
        # Python reads single values from byte strings and arrays several times faster than from numpy
        size = (rows + 2) * (columns + 2)
        self._hold(columns + 2, bytearray(size), bytearray(size), [array("h", bytes(2 * size)) for _ in range(6)])
        self._padded[1:-1, 1:-1] = free
        self._refresh(1, 1, rows + 1, columns + 1)

    def _hold(self, width: int, free: bytearray, corner: bytearray, tables: list[array[int]]) -> None:
        """Take these as the state, with views on them for numpy."""
        Sight.__init__(self, width, free, *tables[4:])
        self._is_corner, self._arrays = corner, tables
        # as far as one goes right, left, up (along y) and down before a wall or at a corner
        self._right, self._left, self._up, self._down = tables[:4]
        self._corner: Bools = np.frombuffer(corner, dtype=bool).reshape(-1, width)
        self._tables: list[Runs] = [np.frombuffer(table, dtype=np.int16).reshape(-1, width) for table in tables]
        self.known: dict[int, list[Edge]] = {}
        # for every corner whose edges are known: itself, and the first and last row and column that they depend on
        self._depends = array("i")
        self._graph: tuple[dict[int, int], list[int], tuple[Array, Ints, Ints]] | None = None

    def _refresh(self, r0: int, c0: int, r1: int, c1: int) -> None:
        """Find corners in rows r0 to r1 and columns c0 to c1, and what depends on them."""
        padded, corner = self._padded, self._corner
        corner[r0:r1, c0:c1] = _corners(padded[r0 - 1 : r1 + 1, c0 - 1 : c1 + 1])
        right, left, up, down, along_row, along_column = self._tables
        # rows and columns as rows of one array: numpy costs by the call
        wide, high, many = padded.shape[1], padded.shape[0], r1 - r0
        free, stops = np.zeros((2, many + c1 - c0, max(wide, high)), bool)
        free[:many, :wide], free[many:, :high] = padded[r0:r1], padded[:, c0:c1].T
        stops[:many, :wide], stops[many:, :high] = corner[r0:r1], corner[:, c0:c1].T
        on, back, run = _lines(free, stops)
        right[r0:r1], left[r0:r1], along_row[r0:r1] = on[:many, :wide], back[:many, :wide], run[:many, :wide]
        for table, line in ((up, on), (down, back), (along_column, run)):
            table[:, c0:c1] = line[many:, :high].T

    def changed(self, free: Bools, box: Box) -> Corners:
        """The same for another grid of the same size, which differs within `box` of rows and columns of `free` only."""
        top, left, bottom, right = box
        other = Corners.__new__(Corners)
        other._hold(self.width, self._free[:], self._is_corner[:], [table[:] for table in self._arrays])
        padded = other._padded
        padded[top + 1 : bottom + 2, left + 1 : right + 2] = free[top : bottom + 1, left : right + 1]
        # a cell's neighbours decide whether it is a corner
        r0, r1 = max(top, 1), min(bottom + 3, padded.shape[0] - 1)
        c0, c1 = max(left, 1), min(right + 3, padded.shape[1] - 1)
        other._refresh(r0, c0, r1, c1)
        depends = np.frombuffer(self._depends, dtype=np.int32).reshape(-1, 5)
        node, first_row, first_column, last_row, last_column = depends.T
        near = (last_row >= r0) & (first_row < r1) & (last_column >= c0) & (first_column < c1)
        other._depends = array("i", depends.take((~near).nonzero()[0], axis=0).tobytes())
        other.known = self.known.copy()
        for changed in node[near].tolist():
            del other.known[changed]
        return other

    @property
    def nodes(self) -> list[int]:
        """All corners, in order of rows."""
        found: list[int] = np.flatnonzero(self._corner.ravel()).tolist()
        return found

    def centre(self, node: int) -> Place:
        """Place of the centre of a cell."""
        row, column = divmod(node, self.width)
        return column, row

    @property
    def graph(self) -> tuple[dict[int, int], list[int], tuple[Array, Ints, Ints]]:
        """All edges: number of each corner, the corners, and data, indices and row starts of a sparse matrix."""
        if self._graph is None:
            nodes = self.nodes
            numbers = {node: k for k, node in enumerate(nodes)}
            edges = [self.edges(node) for node in nodes]
            data = np.array([length for leaving in edges for _, length, _ in leaving])
            indices = np.array([numbers[other] for leaving in edges for other, _, _ in leaving], dtype=np.int32)
            starts = np.concatenate([[0], np.cumsum([len(leaving) for leaving in edges])]).astype(np.int32)
            self._graph = numbers, nodes, (data, indices, starts)
        return self._graph

    def edges(self, node: int) -> list[Edge]:
        """Corners that a corner reaches, kept."""
        found = self.known.get(node)
        if found is None:
            found = self.known[node] = self.reached(node)
            self._depends.extend((node, *self._looked_at(node)))
        return found

    def reached(self, node: int) -> list[Edge]:
        """Corners that a free cell reaches without passing another: along a row, column or diagonal, or first along
        a diagonal and then along a row or column. Then all cells between the two are free, and the straight line is.
        """
        free, corner, width = self._free, self._is_corner, self.width
        right, left, up, down = self._right, self._left, self._up, self._down
        row, column = divmod(node, width)
        found: list[Edge] = []
        add = found.append
        hypot = math.hypot
        j = right[node]
        if j and corner[node + j]:
            add((node + j, float(j), complex(column + j, row)))
        j = left[node]
        if j and corner[node - j]:
            add((node - j, float(j), complex(column - j, row)))
        j = up[node]
        if j and corner[node + j * width]:
            add((node + j * width, float(j), complex(column, row + j)))
        j = down[node]
        if j and corner[node - j * width]:
            add((node - j * width, float(j), complex(column, row - j)))
        for along_x, along_y, step_x, step_y, sign_x, sign_y in (
            (right, up, 1, width, 1, 1),
            (right, down, 1, -width, 1, -1),
            (left, up, -1, width, -1, 1),
            (left, down, -1, -width, -1, -1),
        ):
            step = step_x + step_y
            go_x, go_y = along_x[node], along_y[node]
            most_x = go_x - 1 if go_x and corner[node + go_x * step_x] else go_x
            most_y = go_y - 1 if go_y and corner[node + go_y * step_y] else go_y
            at, i = node, 0
            while go_x and go_y and free[at + step]:
                at += step
                i += 1
                if corner[at]:
                    add((at, i * _DIAGONAL, complex(column + i * sign_x, row + i * sign_y)))
                    break
                go_x, go_y = along_x[at], along_y[at]
                # what lies farther along than was free beside the cell before is not reached from there
                if go_x <= most_x:
                    most_x = go_x
                    if go_x and corner[at + go_x * step_x]:
                        k = i + go_x
                        add((at + go_x * step_x, hypot(k, i), complex(column + k * sign_x, row + i * sign_y)))
                        most_x -= 1
                if go_y <= most_y:
                    most_y = go_y
                    if go_y and corner[at + go_y * step_y]:
                        k = i + go_y
                        add((at + go_y * step_y, hypot(i, k), complex(column + i * sign_x, row + k * sign_y)))
                        most_y -= 1
        return found

    def _looked_at(self, node: int) -> Box:
        """Rows and columns outside which nothing changes what a corner reaches."""
        row, column = divmod(node, self.width)
        right_up, right_down = self._diagonal(node, self.width + 1), self._diagonal(node, 1 - self.width)
        left_up, left_down = self._diagonal(node, self.width - 1), self._diagonal(node, -1 - self.width)
        # from each cell of a diagonal it looks no farther along a row or column than from the corner itself
        right, left = max(right_up, right_down) + self._right[node], max(left_up, left_down) + self._left[node]
        up, down = max(right_up, left_up) + self._up[node], max(right_down, left_down) + self._down[node]
        return row - down - 1, column - left - 1, row + up + 1, column + right + 1

    def _diagonal(self, node: int, step: int) -> int:
        """Number of the first blocked cell on a diagonal, counted from a corner."""
        at, count = node + step, 1
        while self._free[at]:
            at, count = at + step, count + 1
        return count


def _corners(padded: Bools) -> Bools:
    """Free cells (rows, columns) beside a corner of something, of (rows + 2, columns + 2) cells."""
    free, blocked = padded[1:-1, 1:-1], ~padded
    found: Bools = np.zeros(free.shape, bool)
    for beside in (slice(None, -2), slice(2, None)):
        vertical = padded[beside, 1:-1] & free
        for ahead in (slice(None, -2), slice(2, None)):
            found |= vertical & padded[1:-1, ahead] & blocked[beside, ahead]
    return found


def _lines(free: Bools, corner: Bools) -> tuple[Runs, Runs, Runs]:
    """How far one goes along rows.

    Args:
        free: (rows, columns), the first and last columns blocked.
        corner: (rows, columns).

    Returns:
        For every free cell the steps that one may go on and back, before a wall, or at most to the next corner; and for
        every cell the length of the run of free cells that begins there.
    """
    columns = np.arange(free.shape[1], dtype=np.int16)
    wall = ~free
    walls, stops = wall.view(np.int8), (wall | corner).view(np.int8)
    # where the last stop was, going on, going back, and of walls alone going back; a wall stops one step earlier
    marks = np.empty((3, *free.shape), np.int16)
    for mark, before, stop in ((marks[0], walls, stops), (marks[1], walls[:, ::-1], stops[:, ::-1])):
        np.add(columns, before, out=mark)
        mark *= stop
    np.multiply(columns, walls[:, ::-1], out=marks[2])
    behind, ahead, last = np.maximum.accumulate(marks, axis=2)
    on, back = np.zeros((2, *free.shape), np.int16)
    np.subtract(columns[1:], behind[:, :-1], out=back[:, 1:])
    np.subtract(columns[1:], ahead[:, :-1], out=on[:, -2::-1])
    run: Runs = (columns - last)[:, ::-1]
    return on, back, run
