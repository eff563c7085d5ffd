"""Why a place is not free: the bodies that it lies in or beside, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from .footprint import Frame, filled

if TYPE_CHECKING:
    from .bodies import Seen
    from .walkable import Walkable


def whereabouts(ways: Walkable, x: float, y: float) -> str:
    """Where a place [m] that is not free lies, as in "in Crate" or "beside Wall"."""
    if ways.things is None:
        return "in or beside an obstacle"
    inside = within(ways, x, y)
    if inside:
        return f"in {inside[0]}"
    at = (np.array([y, x]) - ways.origin[::-1]) / ways.cell - 0.5
    near = {}
    for name, one in _blocking(ways.things).items():
        row, column = np.divmod(one.footprint.cells, ways.free.shape[1])
        near[name] = float(np.hypot(row - at[0], column - at[1]).min()) * ways.cell
    nearest = min(near, key=lambda name: near[name], default="")
    if nearest and near[nearest] <= ways.radius + ways.params.margin + 2.0 * ways.cell:
        return f"beside {nearest}"
    return "where the ground ends or is too steep"


def within(ways: Walkable, x: float, y: float) -> tuple[str, ...]:
    """Names of the bodies whose outlines, seen from above, hold a place [m]; the smallest first."""
    column, row = (int(np.floor(v)) for v in (np.array([x, y]) - ways.origin) / ways.cell)
    frame = Frame(ways.origin, ways.cell, (ways.free.shape[0], ways.free.shape[1]))
    found = []
    for name, one in _blocking(ways.things or {}).items():
        top, left, bottom, right = one.footprint.box
        if top <= row <= bottom and left <= column <= right:
            cells = filled(one.footprint, frame).cells
            if row * frame.shape[1] + column in cells:
                found.append((len(cells), name))
    return tuple(name for _, name in sorted(found))


def shut_off(ways: Walkable, start: tuple[float, float], goal: tuple[float, float]) -> str:
    """What keeps a start from a goal [m] that no way joins, in words."""
    behind = [within(ways, *place) for place in (start, goal)]
    for what, mine, other in (("start", *behind), ("goal", *behind[::-1])):
        alone = [name for name in mine if name not in other]
        if alone:
            return f"the {what} is inside {alone[0]}"
    return "something shuts it off"


def _blocking(things: Mapping[str, Seen]) -> dict[str, Seen]:
    return {name: one for name, one in things.items() if one.role != "region" and len(one.footprint.cells)}
