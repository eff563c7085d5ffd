"""Straight lines over free cells: who sees what, and ways pulled taut.

Places are x and y counted in cells of a grid that has one blocked cell added on every side; centres of cells are whole
numbers there. A line sees its end if it touches free cells only, so it slips through no gap between two corners.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ...skeleton import Array

Bools = npt.NDArray[np.bool_]
Runs = npt.NDArray[np.int16]
Place = tuple[float, float]
"""x and y counted in cells; centres of cells are whole numbers."""

_TOUCH = 1e-9
"""A line this near to a cell touches it [cells]."""
_BELOW, _ABOVE = 0.5 - _TOUCH, 0.5 + _TOUCH


class Sight:
    """Lines over free cells.

    Python reads single values from bytes and arrays several times faster than from numpy, which has views of them.
    """

    def __init__(self, width: int, free: bytearray, row_run: array[int], column_run: array[int]) -> None:
        """Take over what is known of a grid.

        Args:
            width: Columns, with the two blocked ones at the sides.
            free: A byte for every cell, row by row: whether it is free.
            row_run: Length of the run of free cells that begins at a cell and goes on along its row.
            column_run: The same along its column.
        """
        self.width = width
        self._free, self._row_run, self._column_run = free, row_run, column_run
        self._padded: Bools = np.frombuffer(free, dtype=bool).reshape(-1, width)
        self._runs: list[Runs] = [
            np.frombuffer(run, dtype=np.int16).reshape(-1, width) for run in (row_run, column_run)
        ]

    def sees(self, x: float, y: float, x_end: float, y_end: float) -> bool:
        """Whether the straight line between two places touches free cells only."""
        run, row_step, step = self._row_run, self.width, 1
        if abs(y_end - y) > abs(x_end - x):
            run, x, y, x_end, y_end, row_step, step = self._column_run, y, x, y_end, x_end, 1, self.width
        if y_end < y:
            x, y, x_end, y_end = x_end, y_end, x, y
        first, last = int(y + _BELOW), int(y_end + _ABOVE)
        # over the rows that the line crosses: from where it enters to where it leaves must be one free run
        at = first * row_step
        if first < last and y_end == y:
            # along the border of two rows: both must be free
            x, x_end = min(x, x_end), max(x, x_end)
            begin = int(x + _BELOW)
            if run[at + begin * step] <= int(x_end + _ABOVE) - begin:
                return False
            at += row_step
        elif first < last:
            slant = (x_end - x) / (y_end - y)
            leave = x + (first + 0.5 - y) * slant
            if slant >= 0:
                for _ in range(first, last):
                    begin = int(x + _BELOW)
                    if run[at + begin * step] <= int(leave + _ABOVE) - begin:
                        return False
                    x, leave, at = leave, leave + slant, at + row_step
            else:
                for _ in range(first, last):
                    begin = int(leave + _BELOW)
                    if run[at + begin * step] <= int(x + _ABOVE) - begin:
                        return False
                    x, leave, at = leave, leave + slant, at + row_step
        if x_end < x:
            x, x_end = x_end, x
        begin = int(x + _BELOW)
        return run[at + begin * step] > int(x_end + _ABOVE) - begin

    def taut(self, places: Iterable[Place], before: Iterable[Place] = ()) -> list[Place]:
        """A way with those places left out that only make it longer: their neighbours see each other.

        Args:
            places: Of the way.
            before: Places that the way begins with, pulled taut already.
        """
        free, width, sees = self._free, self.width, self.sees
        kept = list(before)
        for place in places:
            x, y = place
            while len(kept) > 1:
                x1, y1 = kept[-1]
                x0, y0 = kept[-2]
                along, across = x1 - x0, y1 - y0
                turn = along * (y - y1) - across * (x - x1)
                if turn:
                    # a blocked cell on the side to which the way bends: there it is taut
                    column, row = int(x1 + 0.5), int(y1 + 0.5)
                    if turn > 0:
                        column, row = column + (1 if y < y0 else -1), row + (1 if x > x0 else -1)
                    else:
                        column, row = column + (1 if y > y0 else -1), row + (1 if x < x0 else -1)
                    if not free[row * width + column] or not sees(x0, y0, x, y):
                        break
                elif along * (x - x1) + across * (y - y1) < 0:
                    break
                kept.pop()
            kept.append(place)
        return kept

    def clear(self, a: Array, b: Array) -> Bools:
        """As `sees` for many lines from `a` (n, 2) to `b` (n, 2), x and y counted in cells; (n,)."""
        limit = np.array(self._padded.shape[::-1]) - 0.5
        with np.errstate(invalid="ignore"):
            inside = ((a >= 0.5) & (a <= limit) & (b >= 0.5) & (b <= limit)).all(axis=1)
        seen: Bools = np.array(inside)
        steep = np.abs(b[:, 1] - a[:, 1]) > np.abs(b[:, 0] - a[:, 0])
        for run, chosen, order in (
            (self._runs[0], inside & ~steep, slice(None)),
            (self._runs[1].T, inside & steep, slice(None, None, -1)),
        ):
            which = np.flatnonzero(chosen)
            if not len(which):
                continue
            p, q = a[which][:, order], b[which][:, order]
            falling = (q[:, 1] < p[:, 1])[:, None]
            p, q = np.where(falling, q, p), np.where(falling, p, q)
            first = np.floor(p[:, 1] + 0.5 - _TOUCH).astype(np.int64)
            last = np.floor(q[:, 1] + 0.5 + _TOUCH).astype(np.int64)
            count = last - first + 1
            line = np.repeat(np.arange(len(which)), count)
            row = np.arange(len(line)) - np.repeat(np.cumsum(count) - count, count) + first[line]
            rise = q[:, 1] - p[:, 1]
            slant = np.where(rise > 0, (q[:, 0] - p[:, 0]) / np.where(rise > 0, rise, 1.0), 0.0)
            low, high = np.minimum(p[:, 0], q[:, 0])[line], np.maximum(p[:, 0], q[:, 0])[line]
            enter = np.clip(p[line, 0] + (row - 0.5 - p[line, 1]) * slant[line], low, high)
            leave = np.clip(p[line, 0] + (row + 0.5 - p[line, 1]) * slant[line], low, high)
            enter = np.where(row == first[line], p[line, 0], enter)
            leave = np.where((row == last[line]) | (rise[line] <= 0), q[line, 0], leave)
            begin = np.floor(np.minimum(enter, leave) + 0.5 - _TOUCH).astype(np.int64)
            end = np.floor(np.maximum(enter, leave) + 0.5 + _TOUCH).astype(np.int64)
            seen[which[line[run[row, begin] <= end - begin]]] = False
        return seen
