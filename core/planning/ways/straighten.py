"""Ways between the centres of cells made into ways from place to place, pulled taut where that costs nothing."""

from __future__ import annotations

from itertools import pairwise
from math import dist
from typing import TYPE_CHECKING

import numpy as np

from ...skeleton import Array
from .sight import Place

if TYPE_CHECKING:
    from .walkable import Walkable

SPACING = 0.25
"""Between the places where the cost of a straight way is taken [cells]."""


def between(ways: Walkable, places: list[Place], begin: Place, end: Place) -> list[Place]:
    """A way between centres of cells as one from place to place, pulled taut."""
    corners = ways.corners
    if begin != places[0]:
        if len(places) > 1 and corners.sees(*begin, *places[1]):
            places[0] = begin
        else:
            places.insert(0, begin)
    if end != places[-1]:
        if len(places) > 1 and corners.sees(*places[-2], *end):
            places[-1] = end
        else:
            places.append(end)
    return corners.taut(places)


def straightened(ways: Walkable, places: list[Place], begin: Place, end: Place) -> list[Place]:
    """A way from cell to cell pulled taut; over costly cells only where that makes it no dearer."""
    if not ways.costly:
        bends = [
            p
            for a, p, b in zip(places, places[1:], places[2:], strict=False)
            if p[0] - a[0] != b[0] - p[0] or p[1] - a[1] != b[1] - p[1]
        ]
        return between(ways, [places[0], *bends, places[-1]] if len(places) > 1 else places, begin, end)
    places = [begin, *places[1:-1], end] if len(places) > 1 else [begin, end]
    so_far = np.concatenate([[0.0], np.cumsum([_price(ways, a, b) for a, b in pairwise(places)])])
    kept, k = [places[0]], 0
    while k < len(places) - 1:
        far = k + 1
        while far + 1 < len(places) and ways.corners.sees(*places[k], *places[far + 1]):
            if _price(ways, places[k], places[far + 1]) > so_far[far + 1] - so_far[k] + 1e-9:
                break
            far += 1
        k = far
        kept.append(places[k])
    return kept


def _sampled(ways: Walkable, a: Place, b: Place) -> Array:
    """Cost of the cells along a straight line."""
    count = max(int(np.ceil(dist(a, b) / SPACING)), 1)
    share = (np.arange(count) + 0.5) / count
    rows, columns = ways.free.shape
    row = np.clip((a[1] - 0.5 + share * (b[1] - a[1])).astype(np.int64), 0, rows - 1)
    column = np.clip((a[0] - 0.5 + share * (b[0] - a[0])).astype(np.int64), 0, columns - 1)
    cost: Array = ways.cost[row, column]
    return cost


def _price(ways: Walkable, a: Place, b: Place) -> float:
    """Length of a straight line times the cost of its cells [cells]."""
    return float(_sampled(ways, a, b).mean()) * dist(a, b)


def crosses(ways: Walkable, places: list[Place]) -> bool:
    """Whether a way touches a cell that costs more than others."""
    return any(bool((_sampled(ways, a, b) > 1.0).any()) for a, b in pairwise(places))
