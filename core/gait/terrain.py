"""Where a foot can stand in a world: soles laid on the ground, steps kept off edges and gaps."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..errors import NoPath
from ..maths import quat
from ..maths.geometry import Surface, height, index, ray
from ..skeleton import Array
from ..world import World
from .physique import Physique

ROUGH = 0.012
"""Ground within this of a plane is even enough for a sole [leg lengths]."""
STEEPEST = np.radians(35.0)
"""A sole is not tilted further than this."""
PERCH = 0.25
"""A sole hangs over an edge only if even ground is farther away by this [leg lengths]."""
OVERHEAD = 1.6
"""What is higher than this above the last footfall is not ground but a ceiling [leg lengths]."""
HIGHEST = 0.55
"""Highest step up or down that is taken [leg lengths]."""
RISER, SHORTEST_TREAD = 0.05, 0.2
"""Ground goes up or down a step where it does so by this at once, to a tread if it is this long [leg lengths]."""
SHIFTS = np.array([0.0, *(s * k / 50 for k in range(1, 17) for s in (1.0, -1.0))])
"""How far ahead or back a footfall may move to find even ground, the nearest first [leg lengths]."""
_UP = np.array([0.0, 0.0, 1.0])

Bools = npt.NDArray[np.bool_]


@lru_cache(maxsize=4)
def _indexed(world: World) -> Surface:
    """A world prepared for questions; kept, for many bodies may tread one world."""
    return index(world)


class Terrain:
    """The ground of a world as one body treads it; bodies that move are taken where they are at the time."""

    even = False

    def __init__(self, world: World, body: Physique) -> None:
        self.world = world
        self.surface = _indexed(world)
        self.leg = body.leg
        self.soles = [self._sole(body, side) for side in (0, 1)]

    @staticmethod
    def _sole(body: Physique, side: int) -> Array:
        """(6, 2) corners of the sole and its middle line, seen from the ankle of a foot that points ahead (-Y)."""
        heel, ball = body.heel[side, :2], body.ball[side, :2]
        tip = ball + body.toe[side, :2]
        half = 0.18 * math.hypot(*(tip - heel))
        across = np.array([half, 0.0])
        return np.stack([heel, heel + 0.6 * across, heel - 0.6 * across, ball + across, ball - across, tip])

    def ground(
        self, place: Array, heading: float, side: int, time: float, direction: float, near: float, fixed: bool
    ) -> tuple[Array, Array]:
        """Place (3,) and turn (4,) of a sole wanted at `place` (2,), near the height of the foot before it [m].

        Unless it is `fixed`, it moves along `direction` [rad] to where the whole sole is on even ground.
        """
        shifts = (np.zeros(1) if fixed else SHIFTS) * self.leg
        ahead = np.array([np.sin(direction), -np.cos(direction)])
        places = place + shifts[:, None] * ahead
        s, c = np.sin(heading), np.cos(heading)
        sole = self.soles[side] @ np.array([[c, s], [-s, c]])
        points = places[:, None] + sole
        z, _, hit = height(self.surface, points.reshape(-1, 2), time, below=near + OVERHEAD * self.leg)
        z, hit = z.reshape(points.shape[:2]), hit.reshape(points.shape[:2])
        flat = np.concatenate([np.ones((len(sole), 1)), sole], axis=1)
        planes = z @ np.linalg.pinv(flat).T
        rough = np.abs(z - planes @ flat.T).max(axis=1)
        slope = np.arctan(np.hypot(planes[:, 1], planes[:, 2]))
        ok = hit.all(axis=1) & (np.abs(z.max(axis=1) - near) <= HIGHEST * self.leg)
        even = ok & (rough < ROUGH * self.leg) & (slope < STEEPEST)
        if not ok.any():
            self._refuse(place, time, near, bool(hit.all(axis=1).any()))
        if fixed:
            k = 0
        elif even.any():
            k = int(even.argmax())
            # not so close before a riser that it would stub it, but not on another level for that
            free = even & (np.abs(planes[:, 0] - planes[k, 0]) < RISER * self.leg)
            free &= self._free_ahead(points, ahead, planes[:, 0], time, near)
            k = int(free.argmax()) if free.any() else k
        else:
            k = int(np.flatnonzero(ok)[rough[ok].argmin()])
        held = ok & self._held(z)
        if held.any() and not fixed:
            perch = int(held.argmax())
            k = k if even[k] and abs(shifts[k]) < abs(shifts[perch]) + PERCH * self.leg else perch
        lean = planes[k, 1:] * min(1.0, np.tan(STEEPEST) / max(np.tan(slope[k]), 1e-9))
        if not even[k]:
            lean = np.zeros(2)
        # on the highest points: a sole may hang over a hollow but not sink into a bump
        level = float((z[k] - quat.dot(sole, lean)).max())
        normal = quat.unit(np.array([-lean[0], -lean[1], 1.0]))
        turn = quat.multiply(quat.between(_UP, normal), quat.about(_UP, heading))
        return np.array([*places[k], level]), turn

    def _held(self, z: Array) -> Bools:
        """(C,) whether soles over ground of heights (C, 6) stand on it with the ball and with heel or tip besides."""
        on = z > z.max(axis=1, keepdims=True) - ROUGH * self.leg
        held: Bools = on[:, 3] & on[:, 4] & (on[:, 5] | on[:, :3].all(axis=1))
        return held

    def treads(self, way: Array, side: int, time: float, near: float) -> Array:
        """(K,) where on a way (n, 3) of x, y and heading the foot stands in the middle of a tread, as indices.

        Treads are level stretches between two risers, long enough for a foot and within its reach.
        """
        z, _, hit = height(self.surface, way[:, :2], time, below=near + OVERHEAD * self.leg)
        moves = np.diff(way[:, :2], axis=0)
        gone = np.concatenate([[0.0], np.cumsum(np.hypot(*moves.T))])
        riser = (np.abs(np.diff(z)) > RISER * self.leg + 0.7 * np.diff(gone)) | (np.diff(hit) != 0)
        edges = np.flatnonzero(riser)
        first, last = edges[:-1] + 1, edges[1:]
        far = (gone[last] + gone[last + 1] - gone[first] - gone[first - 1]) / 2
        good = hit[first] & (np.abs(z[first] - near) <= HIGHEST * self.leg) & (far >= SHORTEST_TREAD * self.leg)
        ahead = np.array([np.sin(way[0, 2]), -np.cos(way[0, 2])])
        facing = float(quat.dot(quat.unit(way[-1, :2] - way[0, :2]), ahead))
        # an ankle is not over the middle of its sole
        reach = -self.soles[side][:, 1]
        middle = (gone[first] + gone[last]) / 2 - facing * (reach.max() + reach.min()) / 2
        found: Array = np.interp(middle[good], gone, np.arange(len(gone)))
        return found

    def _free_ahead(self, points: Array, ahead: Array, levels: Array, time: float, near: float) -> Bools:
        """(C,) whether no step up is so close before the soles (C, 6, 2) that they would stub it when they leave."""
        tips = points.reshape(-1, 2)[quat.dot(points, ahead).argmax(axis=1) + points.shape[1] * np.arange(len(points))]
        looks = tips[:, None] + np.array([0.06, 0.12])[:, None] * self.leg * ahead
        z, _, _ = height(self.surface, looks.reshape(-1, 2), time, below=near + OVERHEAD * self.leg)
        free: Bools = (z.reshape(-1, 2).max(axis=1) - levels) < 0.07 * self.leg
        return free

    def _refuse(self, place: Array, time: float, near: float, whole: bool) -> None:
        """Say why no foot can stand near a place (2,), be there ground under the `whole` sole or not."""
        z, _, hit = height(self.surface, place[None], time)
        where = f"at x {place[0]:.2f}, y {place[1]:.2f} m"
        if not hit[0]:
            raise NoPath(f"there is no ground {where}: move the path onto the ground or add ground there")
        step = z[0] - near
        if not whole and abs(step) <= HIGHEST * self.leg:
            raise NoPath(f"the ground is too small for a foot {where}: lead the path around it or make it wider")
        way = "up" if step > 0 else "down"
        raise NoPath(
            f"the way goes {way} by {abs(step):.2f} m {where}, more than the {HIGHEST * self.leg:.2f} m this body "
            "climbs: lead the path around it or build steps"
        )

    def check_way(self, places: Array, times: Array) -> None:
        """Raise NoPath where something stands between one footfall and the next, of (n, 3) at times (n,)."""
        knees = places + 0.6 * self.leg * _UP
        lines = np.diff(knees, axis=0)
        far = np.sqrt(quat.dot(lines, lines))
        going = np.flatnonzero(far > 1e-6)
        distance, _, owner, hit = ray(self.surface, knees[going], lines[going], np.maximum(times[going], 0.0))
        blocked = np.flatnonzero(hit & (distance < far[going]))
        if len(blocked):
            k = going[blocked[0]]
            x, y, _ = knees[k] + lines[k] * (distance[blocked[0]] / far[k])
            name = self.world.bodies[owner[blocked[0]]].name
            raise NoPath(f"the way runs into {name} at x {x:.2f}, y {y:.2f} m: lead the path around it")

    def heights(self, points: Array, times: Array) -> Array:
        """(n,) height of the ground under points (n, 3) at times (n,) [m]; far below where there is none."""
        z, _, hit = height(self.surface, points[:, :2], np.maximum(times, 0.0), below=points[:, 2] + 0.8 * self.leg)
        return np.where(hit, z, -1e3)


class Ground(Protocol):
    """What feet are put on; `even` if it is a level floor."""

    even: bool

    def ground(
        self, place: Array, heading: float, side: int, time: float, direction: float, near: float, fixed: bool
    ) -> tuple[Array, Array]:
        """Place (3,) and turn (4,) of a sole wanted at `place` (2,); see `Terrain.ground`."""
        ...

    def check_way(self, places: Array, times: Array) -> None:
        """Raise NoPath where something stands between one footfall and the next, of (n, 3) at times (n,)."""
        ...

    def treads(self, way: Array, side: int, time: float, near: float) -> Array:
        """(K,) where on a way (n, 3) a foot stands in the middle of a tread; see `Terrain.treads`."""
        ...

    def heights(self, points: Array, times: Array) -> Array:
        """(n,) height of the ground under points (n, 3) at times (n,) [m]."""
        ...


class Level:
    """A level floor at a height [m]."""

    even = True

    def __init__(self, floor: float = 0.0) -> None:
        self.floor = floor

    def ground(
        self, place: Array, heading: float, side: int, time: float, direction: float, near: float, fixed: bool
    ) -> tuple[Array, Array]:
        """As `Terrain.ground`."""
        return np.append(place, self.floor), quat.about(_UP, heading)

    def check_way(self, places: Array, times: Array) -> None:
        """As `Terrain.check_way`: nothing stands on it."""

    def treads(self, way: Array, side: int, time: float, near: float) -> Array:
        """As `Terrain.treads`: there are none."""
        return np.zeros(0)

    def heights(self, points: Array, times: Array) -> Array:
        """As `Terrain.heights`."""
        return np.full(len(points), self.floor)
