"""Furniture as bodies meet it: tables to put things on, and seats."""

from __future__ import annotations

import numpy as np

from ..maths import geometry
from ..skeleton import Array
from ..world import World

LEVEL = 0.02
"""What differs in height by less than this is one surface [m]."""
SEATS = (0.6, 1.5)
"""Between which parts of the height at which hips would be without it a seat is sat on."""
TABLES = (0.35, 1.45)
"""Between which heights things are put on something [m]."""
INSIDE = 0.08
"""How far from the edge of a seat one sits at least [m]."""
NEAR = 0.35
"""How far aside from where it would be something is put on a table, or somebody sits down [m]."""
_STEP = 0.05


class Furniture:
    """Upper sides of what stands on a stage.

    Attributes:
        floor: Height that heights are measured from [m].
    """

    def __init__(self, world: World, floor: float = 0.0) -> None:
        self.floor = floor
        solid = tuple(b for b in world.bodies if b.kind == "obstacle")
        self._tops = geometry.index(World(solid, world.fps)) if solid else None

    def tops(self, places: Array, below: float) -> Array:
        """(n,) height of what is under places (n, 2) and not above `below`; 0 where nothing is [m]."""
        if self._tops is None:
            return np.zeros(len(places))
        found, _, hit = geometry.height(self._tops, places, below=below + self.floor, kinds=("obstacle",))
        return np.where(hit, found - self.floor, 0.0)

    def rest(self, place: Array, half: Array, heading: float) -> Array | None:
        """(3,) where something can be put down that is so large, near a place (2,) [m]; None where no table is.

        Args:
            half: (2,) half its size across and along the heading [m].
            heading: Of who puts it down [rad].
        """
        across = np.array([np.cos(heading), np.sin(heading)])
        along = np.array([np.sin(heading), -np.cos(heading)])
        grid = np.arange(-NEAR, NEAR + 1e-9, _STEP)
        offsets = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2)
        offsets = offsets[np.argsort((offsets**2).sum(axis=1), kind="stable")]
        spots = place + offsets[:, :1] * across + offsets[:, 1:] * along
        corners = [sx * half[0] * across + sy * half[1] * along for sx in (-1, 1) for sy in (-1, 1)]
        heights = np.stack([self.tops(spots + c, TABLES[1]) for c in (np.zeros(2), *corners)], axis=1)
        fits = (np.ptp(heights, axis=1) < LEVEL) & (heights[:, 0] > TABLES[0])
        if not fits.any():
            return None
        k = int(np.flatnonzero(fits)[0])
        return np.array([*spots[k], heights[k, 0]])

    def seat(self, hips: Array, heading: float) -> Array | None:
        """(3,) the top of the seat that hips (3,) meet where they go down, or a little behind; None without one [m]."""
        back = np.array([-np.sin(heading), np.cos(heading)])
        spots = hips[:2] + np.arange(0.0, NEAR + 1e-9, _STEP)[:, None] * back
        high = SEATS[1] * hips[2]
        heights, before, behind = (self.tops(spots + d * back, high) for d in (0.0, -INSIDE, INSIDE))
        good = (heights > SEATS[0] * hips[2] - 0.1) & (abs(before - heights) < LEVEL) & (abs(behind - heights) < LEVEL)
        if not good.any():
            return None
        k = int(np.flatnonzero(good)[0])
        return np.array([*spots[k], heights[k]])
