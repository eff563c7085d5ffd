"""The cheapest monotone path through a grid of costs: dynamic programming, exact, with the path itself.

A path goes from (0, 0) to (n - 1, m - 1) by diagonal moves and by moves on one side alone. With node costs N and
diagonal costs M, D(i, j) = N(i, j) + min(D(i-1, j-1) + M(i, j), D(i-1, j) + alone_a(i), D(i, j-1) + alone_b(j)).

Less the running sums of alone_a and alone_b, moves on one side cost nothing, and within a row D less the running sum of
N is a running minimum. So a row is a few array operations.
"""

from __future__ import annotations

import threading
from math import isqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..needs import needs_scipy
from .quat import Array

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Pair = tuple[Array, Array]

_BLOCK = 120
"""Rows whose costs are computed at once: few enough to stay in cache."""
_KEPT = 4_000_000
"""Nodes of which everything is kept until the path is known; of larger grids the rows are gone through twice."""
_ALONE = 524_287
"""Multiplications of a matrix product that is left to one thread."""


_REUSED = 1 << 20
"""Numbers that are kept from one search to the next: pages new to the process cost as much as what is done in them."""


class _Workspace(threading.local):
    """A thread's room to work in."""

    room: Array = np.empty(0)

    def take(self, size: int) -> Array:
        """(size,) numbers, whatever they are, until the next call."""
        if size > _REUSED:
            return np.empty(size)
        if len(self.room) < size:
            self.room = np.empty(size)
        return self.room[:size]


_workspace = _Workspace()


class Found(NamedTuple):
    """`path` (K, 2) row and column of its nodes, `cost` their sum; infinite, and no path, where none is allowed."""

    path: Ints
    cost: float


class Squares:
    """Costs that are sums of squares, so that blocks of them are products of matrices.

    A node costs |p - q|^2 + u v, a diagonal move |s - t|^2, a move on one side |s|^2 or |t|^2; of the first side p, u
    and s at its row, of the second q, v and t at its column.

    Attributes:
        alone_a: (n,) cost of a move to row i in the same column.
        alone_b: (m,) cost of a move to column j in the same row.
        free: Moves cost nothing.
        most: Bound of what the nodes of a row cost, and all moves on one side.
        even: Costs that differ by less than this are equal.
    """

    def __init__(self, nodes: Pair, moves: Pair | None = None, products: Pair | None = None) -> None:
        """Of values (n, ...) and (m, ...) each: `nodes` p and q, `moves` s and t, `products` u and v."""
        (p, q), (u, v) = nodes, products or (x[:, :0] for x in nodes)
        n, m, width, more = len(p), len(q), p.shape[1], u.shape[1]
        squares = [np.einsum("tc,tc->t", x, x) for x in nodes]
        self._left = np.empty((n, width + more + 2))
        np.multiply(p, -2.0, out=self._left[:, :width])
        self._left[:, width:-2], self._left[:, -2], self._left[:, -1] = u, squares[0], 1.0
        # summed up along the row beforehand, since that is what is asked for
        self._right = np.zeros((width + more + 2, m + 1))
        self._right[:width, 1:] = np.cumsum(q, axis=0).T
        self._right[width:-2, 1:] = np.cumsum(v, axis=0).T
        self._right[-2] = np.arange(m + 1.0)
        np.cumsum(squares[1], out=self._right[-1, 1:])
        # rounding must not make a path leave the diagonal for moves that cost the same
        largest = float(squares[0].max() * m + squares[1].sum())
        self.even = 1e-13 * largest
        s, t = moves or (x[:, :0] for x in nodes)
        self.alone_a, self.alone_b = (np.einsum("tc,tc->t", x, x) for x in (s, t))
        self.most = 2.1 * largest + float(self.alone_a.sum() + self.alone_b.sum())
        self.free = moves is None
        self._from, self._to = s, t.T.copy()

    def sums(self, rows: slice, columns: slice, out: Array) -> None:
        """Write into out (r, c + 1) the costs of all nodes before each one in its row, and at last of the whole row."""
        _product(1.0, self._left[rows], self._right[:, columns.start : columns.stop + 1], out)

    def diagonals(self, rows: slice, columns: slice, out: Array) -> None:
        """Write into out (r, c) what diagonal moves to the nodes cost, less the two moves that each stands for."""
        _product(-2.0, self._from[rows], self._to[:, columns], out)


def _product(factor: float, left: Array, right: Array, out: Array) -> None:
    """Write factor times left (r, k) @ right (k, c) into `out`, best a contiguous one.

    By scipy's library: that of older numpys does not know newer processors and takes four times as long on them. Little
    at a time, for which it starts no threads: these would wait for each other on a busy machine, for many times as long
    as they work. About as many rows as summands: `right` is arranged anew for some rows, `out` read for some summands.
    """
    with needs_scipy():
        from scipy.linalg.blas import dgemm

    summands, columns = right.shape
    some = max(1, isqrt(_ALONE // max(columns, 1)))
    some = -(-summands // -(-summands // some)) if summands else 1
    height = max(1, _ALONE // (max(columns, 1) * some))
    to = out if out.flags.c_contiguous else np.empty(out.shape)
    if not summands:
        to[:] = 0.0
    for k in range(0, summands, some):
        part = np.ascontiguousarray(left[:, k : k + some]).T
        for i in range(0, len(left), height):
            here = to[i : i + height].T
            dgemm(factor, right[k : k + some].T, part[:, i : i + height], float(k > 0), here, overwrite_c=True)
    if to is not out:
        out[:] = to


def band(n: int, m: int, width: float) -> Ints:
    """(n, 2) first and past-last column within `width` columns of the straight line from corner to corner."""
    slope = (m - 1) / max(n - 1, 1)
    centre = np.arange(n) * slope
    # a band narrower than a step of its line would not hang together
    width = max(width, slope, 1.0)
    first = np.maximum(np.ceil(centre - width), 0).astype(np.int64)
    last = np.minimum(np.floor(centre + width), m - 1).astype(np.int64)
    return np.stack([first, last + 1], axis=1)


def cheapest(costs: Squares, within: Ints | None = None) -> Found:
    """The cheapest path; a diagonal move is preferred among equals, then one to the next row.

    Args:
        costs: Of n rows and m columns.
        within: (n, 2) first and past-last column allowed in each row, both never decreasing; None for all.
    """
    n, m = len(costs.alone_a), len(costs.alone_b)
    height = max(1, _KEPT // m)
    parts = [slice(start, min(start + height, n)) for start in range(0, n, height)]
    tops = [np.full(m + 1, np.inf)]
    tops[0][0] = costs.most  # a path comes from nowhere; nothing less a row of nodes may be negative
    for part in parts:
        grid = _Grid.filled(costs, part, tops[-1], within)
        tops.append(np.append(np.inf, grid.reached[-1, 1:]))
    column, pieces = m - 1, []
    for k in reversed(range(len(parts))):
        if k < len(parts) - 1:  # there was no room to keep it
            grid = _Grid.filled(costs, parts[k], tops[k], within)
        nodes = grid.walk_back(column, costs.even)
        column = int(nodes[0, 1])
        pieces.append(nodes[1:] + (parts[k].start, 0))
    taken = costs.alone_a[1:].sum() + costs.alone_b[1:].sum()
    return Found(np.concatenate(pieces[::-1]), float(tops[-1][-1] - costs.most + taken))


class _Grid(NamedTuple):
    """What it costs to come to the nodes of r rows and m columns.

    Attributes:
        room: All the numbers of both tables, one after the other.
        reached: (r + 1, m + 1) D, after a row and a column before the first.
        diagonal: (r, m) D by diagonal moves, before the node's own cost; where moves are free, D as it was before.
    """

    room: Array
    reached: Array
    diagonal: Array

    @classmethod
    def filled(cls, costs: Squares, part: slice, top: Array, within: Ints | None) -> _Grid:
        """The rows of `part`, where the row before the first is `top` (m + 1,)."""
        r, m = part.stop - part.start, len(top) - 1
        room = _workspace.take((r + 1) * (m + 1) + (0 if costs.free else r * m))
        reached = room[: (r + 1) * (m + 1)].reshape(r + 1, m + 1)
        reached[0], reached[1:, 0] = top, np.inf
        if within is not None:
            reached[1:] = np.inf
        diagonal = reached[:-1, :-1] if costs.free else room[reached.size :].reshape(r, m)
        grid, line = cls(room, reached, diagonal), np.empty((min(_BLOCK, r) + 2) * (m + 1))
        for start in range(part.start, part.stop, _BLOCK):
            grid._fill(costs, slice(start, min(start + _BLOCK, part.stop)), part.start, within, line)
        return grid

    def _fill(self, costs: Squares, rows: slice, first: int, within: Ints | None, room: Array) -> None:
        """Some of the rows, of which `first` is the first, one after the other; `room` is to work in."""
        columns = slice(0, len(costs.alone_b))
        if within is not None:
            columns = slice(int(within[max(rows.start - 1, 0), 0]), int(within[rows.stop - 1, 1]))
        r, c = rows.stop - rows.start, columns.stop - columns.start
        sums, (w, h) = room[: r * (c + 1)].reshape(r, c + 1), room[r * (c + 1) :][: 2 * c].reshape(2, c)
        costs.sums(rows, columns, sums)
        diagonal = self.diagonal[rows.start - first : rows.stop - first, columns]
        if not costs.free:
            costs.diagonals(rows, columns, diagonal)
            if rows.start == 0:
                diagonal[0, 0] = 0.0
        before = self.reached[rows.start - first : rows.stop - first + 1]
        lefts, here = before[:-1, :-1][:, columns], before[1:, 1:][:, columns]
        above = before[0, 1:][columns]
        add, subtract, least, running = np.add, np.subtract, np.minimum, np.fmin.accumulate
        # numbers that are not negative are in the order of their bits, and whole numbers are compared in half the time
        bits, least_bits = w.view(np.int64), h.view(np.int64)
        lines = zip(diagonal, lefts, sums[:, :-1], sums[:, 1:], here, strict=True)
        for k, (x, left, taken, whole, d) in enumerate(lines, rows.start):
            if not costs.free:
                add(x, left, x)
            least(x, above, out=w)
            subtract(w, taken, w)
            if within is not None:
                w[: within[k, 0] - columns.start] = np.inf
            running(bits, 0, None, least_bits)
            add(h, whole, d)
            if within is not None:
                d[within[k, 1] - columns.start :] = np.inf
            above = d

    def walk_back(self, column: int, even: float) -> Ints:
        """(K, 2) the path to a column of the last row from the row before the first, which is -1.

        Costs that differ by less than `even` are equal.
        """
        (rows, width), pitch = self.reached.shape, self.diagonal.strides[0] // self.room.itemsize
        costs = self.room.data
        at = (rows - 1) * width + column + 1
        # where D by a diagonal move to the node lies
        aside = at - width - 1 if pitch == width else self.reached.size + (rows - 2) * pitch + column
        nodes = [at]
        while at >= width:
            diagonal, above = costs[aside], costs[at - width]
            if costs[at - 1] < (diagonal if diagonal < above else above) - even:
                at, aside = at - 1, aside - 1
            elif diagonal > above + even:
                at, aside = at - width, aside - pitch
            else:
                at, aside = at - width - 1, aside - pitch - 1
            nodes.append(at)
        return np.stack(np.divmod(np.array(nodes[::-1], dtype=np.int64), width), axis=1) - 1


class Bends(NamedTuple):
    """What a path pays at its nodes for changes of direction, (n, m) each.

    Attributes:
        through: Between two diagonal moves.
        aside: Between the diagonal move to the node and another move after it, or another move before it.
    """

    through: Array
    aside: Array


def cheapest_limited(
    node: Array,
    diagonal: Array,
    alone: tuple[Array, Array],
    longest: int = 0,
    bends: Bends | None = None,
    within: Ints | None = None,
) -> Found:
    """The cheapest path with at most `longest` moves in a row that are not diagonal, or whose bends cost.

    Which moves are allowed and what they cost then depends on the moves before: a grid for each number of moves since
    the last diagonal one. Without a limit there are two, and moves along the row in the second are a running minimum.

    Args:
        node, diagonal: (n, m) costs.
        alone: (n,) and (m,) costs of moves to row i, to column j, alone.
        longest: 0 for any number.
        bends: What changes of direction cost.
        within: As for `cheapest`.
    """
    n, m = node.shape
    free = longest == 0
    layers = 2 if free else longest + 1
    through, aside = (x.copy() for x in bends or Bends(np.zeros((n, m)), np.zeros((n, m))))
    through[0, 0] = aside[0, 0] = 0.0  # no move comes before the first
    came = np.zeros((n, layers, m), dtype=np.uint8)
    state, nothing = np.full((layers, m), np.inf), np.full(m, np.inf)
    for i in range(n):
        before, state = state, np.full((layers, m), np.inf)
        if i == 0:
            state[0, 0] = 0.0
        else:
            options = np.concatenate([before[:1] + through[i - 1], before[1:]])[:, :-1]
            options[1:] += aside[i, 1:]
            came[i, 0, 1:] = options.argmin(axis=0)
            state[0, 1:] = options.min(axis=0) + diagonal[i, 1:]
        state[0] = _kept(state[0] + node[i], within, i)
        leaving = before + alone[0][i]
        leaving[0] += aside[i - 1]
        for r in range(1, layers):
            along = nothing.copy()
            along[1:] = state[r - 1, :-1] + alone[1][1:] + (aside[i, :-1] if r == 1 else 0.0)
            up = leaving[r - 1] if i else nothing
            codes = np.where(along < up, _ALONG, 0) + (r - 1)
            best = np.minimum(up, along) + node[i]
            if free:
                if i:
                    codes = np.where(leaving[1] + node[i] < best, 1, codes)
                    best = np.minimum(best, leaving[1] + node[i])
                best = _kept(best, within, i)
                sums = np.cumsum(node[i] + alone[1])
                running = np.fmin.accumulate(best - sums) + sums
                # what the running minimum changes came along the row
                changed = np.zeros(m, dtype=bool)
                changed[1:] = np.fmin.accumulate(best - sums)[:-1] < (best - sums)[1:]
                codes, best = np.where(changed, _ALONG + 1, codes), np.where(changed, running, best)
            state[r], came[i, r] = _kept(best, within, i), codes
    last = int(state[:, -1].argmin())
    cost = float(state[last, -1])
    return Found(_walk_layers(came, last) if np.isfinite(cost) else np.empty((0, 2), dtype=np.int64), cost)


_ALONG = 128
"""Marks a move along the row; the rest of the code is the layer it came from."""


def _kept(values: Array, within: Ints | None, row: int) -> Array:
    if within is not None:
        values[: within[row, 0]] = np.inf
        values[within[row, 1] :] = np.inf
    return values


def _walk_layers(came: Bytes, layer: int) -> Ints:
    """(K, 2) the path back from the last node in a layer of (n, layers, m) codes."""
    i, j = came.shape[0] - 1, came.shape[2] - 1
    nodes = [(i, j)]
    while i or j:
        code = int(came[i, layer, j])
        if layer == 0:
            i, j, layer = i - 1, j - 1, code
        elif code & _ALONG:
            j, layer = j - 1, code - _ALONG
        else:
            i, layer = i - 1, code
        nodes.append((i, j))
    return np.array(nodes[::-1], dtype=np.int64)
