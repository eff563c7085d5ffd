"""The cheapest monotone path through a grid of costs: dynamic programming, exact, with the path itself.

A path goes from (0, 0) to (n - 1, m - 1) by diagonal moves and by moves on one side alone. With node costs N and
diagonal costs M, D(i, j) = N(i, j) + min(D(i-1, j-1) + M(i, j), D(i-1, j) + alone_a(i), D(i, j-1) + alone_b(j)).

Less the running sums of alone_a and alone_b, moves on one side cost nothing, and within a row D less the running sum of
N is a running minimum. So a row is a few array operations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..needs import needs_scipy
from .quat import Array

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Pair = tuple[Array, Array]

_BLOCK = 200
"""Rows whose costs are computed at once: few enough to stay in cache."""
_ALONE = 500_000
"""Multiplications of a matrix product that is left to one thread."""


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
        even: Costs that differ by less than this are equal.
    """

    def __init__(self, nodes: Pair, moves: Pair | None = None, products: Pair | None = None) -> None:
        """Of values (n, ...) and (m, ...) each: `nodes` p and q, `moves` s and t, `products` u and v."""
        (p, q), (u, v) = nodes, products or (x[:, :0] for x in nodes)
        n, m, width, more = len(p), len(q), p.shape[1], u.shape[1]
        squares = [np.einsum("tc,tc->t", x, x) for x in nodes]
        self._left = np.ones((n, width + more + 2))
        np.multiply(p, -2.0, out=self._left[:, :width])
        self._left[:, width:-2], self._left[:, -2] = u, squares[0]
        # summed up along the row beforehand, since that is what is asked for
        self._right = np.zeros((width + more + 2, m + 1))
        np.cumsum(q.T, axis=1, out=self._right[:width, 1:])
        np.cumsum(v.T, axis=1, out=self._right[width:-2, 1:])
        self._right[-2] = np.arange(m + 1.0)
        np.cumsum(squares[1], out=self._right[-1, 1:])
        # rounding must not make a path leave the diagonal for moves that cost the same
        self.even = 1e-13 * float(squares[0].max() * m + squares[1].sum())
        s, t = moves or (x[:, :0] for x in nodes)
        self.alone_a, self.alone_b = (np.einsum("tc,tc->t", x, x) for x in (s, t))
        self.free = moves is None
        self._from, self._to = -2.0 * s, t.T.copy()

    def sums(self, rows: slice, columns: slice, out: Array) -> None:
        """Write into out (r, c + 1) the costs of all nodes before each one in its row, and at last of the whole row."""
        _product(self._left[rows], self._right[:, columns.start : columns.stop + 1], out)

    def diagonals(self, rows: slice, columns: slice, out: Array) -> None:
        """Write into out (r, c) what diagonal moves to the nodes cost, less the two moves that each stands for."""
        _product(self._from[rows], self._to[:, columns], out)


def _product(left: Array, right: Array, out: Array) -> None:
    """Write left (r, k) @ right (k, c) into a contiguous `out`.

    By scipy's library: that of older numpys does not know newer processors and takes four times as long on them. A few
    rows at a time, for which it starts no threads: these would wait for each other on a busy machine, for many times
    as long as they work.
    """
    with needs_scipy():
        from scipy.linalg.blas import dgemm

    rows = max(1, _ALONE // max(right.size, 1))
    for k in range(0, len(left), rows):
        dgemm(1.0, right.T, left[k : k + rows].T, c=out[k : k + rows].T, overwrite_c=True)


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
    moves, best = np.empty((n, m), dtype=np.uint8), np.full(m, np.inf)
    for rows, columns, block in _blocks(n, m, within):
        costs.sums(rows, columns, block.sums)
        block.reached[0, 0], block.reached[0, 1:] = np.inf, best[columns]
        if costs.free:
            block = block._replace(diagonal=block.reached[:-1, :-1])
        else:
            costs.diagonals(rows, columns, block.diagonal)
        if rows.start == 0:
            block.reached[0, 0] = block.diagonal[0, 0] = 0.0  # a path comes from nowhere
        block.scan(costs.free, None if within is None else within[rows] - columns.start)
        moves[rows, columns] = block.moves(costs.even)
        best[:] = np.inf
        best[columns] = block.reached[-1, 1:]
    taken = costs.alone_a[1:].sum() + costs.alone_b[1:].sum()
    return Found(_walk_back(moves), float(best[-1] + taken))


class _Block(NamedTuple):
    """Some rows and the columns that matter to them: r by c.

    Attributes:
        sums: (r, c + 1) running sums of the costs of nodes.
        diagonal: (r, c) what diagonal moves cost; then D by them. Where moves are free, that is D as it was.
        before: (r, c) D by moves from the row before, less the running sum.
        least: (r, c) its running minimum.
        reached: (r + 1, c + 1) D, after a row and a column before the first.
    """

    sums: Array
    diagonal: Array
    before: Array
    least: Array
    reached: Array

    def scan(self, free: bool, within: Ints | None) -> None:
        """Row after row; `within` (r, 2) are the columns allowed."""
        add, subtract, least, running = np.add, np.subtract, np.fmin, np.fmin.accumulate
        before, here, sums = self.reached[:-1], self.reached[1:, 1:], self.sums
        rows = (self.diagonal, before[:, :-1], before[:, 1:], self.before, sums[:, :-1], self.least, sums[:, 1:], here)
        for k, (x, left, above, w, taken, h, whole, d) in enumerate(zip(*rows, strict=True)):
            if not free:
                add(x, left, x)
            least(x, above, w)
            subtract(w, taken, w)
            if within is not None:
                w[: within[k, 0]] = np.inf
            running(w, 0, None, h)
            add(h, whole, d)
            if within is not None:
                d[within[k, 1] :] = np.inf

    def moves(self, even: float) -> Bytes:
        """(r, c) how each node was reached, where costs that differ by less than `even` are equal."""
        self.before[:] -= even
        code = (self.least < self.before).view(np.uint8)
        code *= 2
        code += (self.diagonal > self.reached[:-1, 1:] + even).view(np.uint8)
        return code


def _blocks(n: int, m: int, within: Ints | None) -> Iterator[tuple[slice, slice, _Block]]:
    """Some rows at a time, the columns that matter to them, and room to work in."""
    height = min(_BLOCK, n)
    room = np.empty((5, (height + 1) * (m + 1)))
    for start in range(0, n, height):
        rows = slice(start, min(start + height, n))
        columns = slice(0, m)
        if within is not None:
            columns = slice(int(within[max(start - 1, 0), 0]), int(within[rows.stop - 1, 1]))
        r, c = rows.stop - rows.start, columns.stop - columns.start
        shapes = (r, c + 1), (r, c), (r, c), (r, c), (r + 1, c + 1)
        block = _Block(*(x[: i * j].reshape(i, j) for x, (i, j) in zip(room, shapes, strict=True)))
        block.reached[:, 0] = np.inf
        yield rows, columns, block


def _walk_back(moves: Bytes) -> Ints:
    """(K, 2) the path to the last node along the `moves` (n, m) that led to each."""
    n, m = moves.shape
    codes = moves.tobytes()
    # bit 1: along the row; else bit 0: from the row before, and not diagonally
    steps = (m + 1, m, 1, 1)
    at = n * m - 1
    nodes = [at]
    while at > 0:
        at -= steps[codes[at]]
        nodes.append(at)
    return np.stack(np.divmod(np.array(nodes[::-1], dtype=np.int64), m), axis=1)


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
