"""Configuration spaces: what a planner of motions needs to know of points, bodies that turn, chains and arms.

A configuration is a row of numbers. The way from one to another is a straight line of the space: a tangent vector is
taken there in equal parts, the short way round where a number is an angle that wraps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParam
from ...maths import quat
from ...skeleton import Array

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Free = Callable[[Array], Bools]
"""Configurations (N, n) to whether each is free of collisions (N,)."""


@dataclass(frozen=True, eq=False)
class Space:
    """A box of numbers, some of which may be angles that wrap.

    Attributes:
        names: Of the n numbers, the axes of a path.
        low, high: (n,) limits; beyond them nothing is free. A number that wraps has its period between them.
        free: Whether configurations within the limits are free of collisions.
        step: Distance between two checked configurations of a way, in the metric of the space.
        weight: (n,) how much each number counts in a distance; empty for 1 each.
        wraps: (n,) whether a number is an angle that wraps; empty for none.
    """

    names: tuple[str, ...]
    low: Array
    high: Array
    free: Free
    step: float
    weight: Array = field(default_factory=lambda: np.ones(0))
    wraps: Bools = field(default_factory=lambda: np.zeros(0, bool))
    _period: Array = field(init=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        low, high = np.asarray(self.low, dtype=np.float64), np.asarray(self.high, dtype=np.float64)
        count = len(self.names)
        if low.shape != (count,) or high.shape != (count,) or not (np.isfinite(low) & np.isfinite(high)).all():
            raise InvalidParam("limits", (low.tolist(), high.tolist()), f"must be {count} finite numbers each")
        if (low > high).any():
            bad = self.names[int(np.argmax(low > high))]
            raise InvalidParam("limits", bad, "its lower limit is above its upper one")
        if not self.step > 0:
            raise InvalidParam("step", self.step, "must be above 0")
        put(self, "low", low)
        put(self, "high", high)
        weight = np.asarray(self.weight, dtype=np.float64) if len(self.weight) else np.ones(count)
        wraps = np.asarray(self.wraps, dtype=bool) if len(self.wraps) else np.zeros(count, bool)
        put(self, "weight", weight)
        put(self, "wraps", wraps)
        put(self, "_period", np.where(wraps, high - low, np.inf))

    def __len__(self) -> int:
        return len(self.names)

    def difference(self, a: Array, b: Array) -> Array:
        """Tangents (..., n) that lead from configurations to others, the short way round."""
        d: Array = b - a
        if self.wraps.any():
            period = np.where(self.wraps, self._period, 1.0)
            d = np.where(self.wraps, d - period * np.round(d / period), d)
        return d

    def moved(self, a: Array, tangent: Array) -> Array:
        """Configurations (..., n) to which tangents lead; angles that wrap stay within their limits."""
        q: Array = a + tangent
        if self.wraps.any():
            period = np.where(self.wraps, self._period, 1.0)
            q = np.where(self.wraps, self.low + np.mod(q - self.low, period), q)
        return q

    def size(self, tangent: Array) -> Array:
        """Lengths (...) of tangents in the metric."""
        scaled = tangent * self.weight
        out: Array = np.sqrt(np.einsum("...i,...i->...", scaled, scaled))
        return out

    def distance(self, a: Array, b: Array) -> Array:
        """Distances (...) between configurations."""
        return self.size(self.difference(a, b))

    def sample(self, rng: np.random.Generator, count: int) -> Array:
        """(count, n) configurations, evenly distributed between the limits."""
        out: Array = rng.uniform(self.low, self.high, (count, len(self)))
        return out

    def allowed(self, q: Array) -> Bools:
        """Whether configurations (N, n) are within the limits and free (N,)."""
        out = np.asarray(((q >= self.low - 1e-9) & (q <= self.high + 1e-9)).all(axis=1))
        if out.any():
            out[out] = self.free(q[out])
        return out

    def nearest(self, nodes: Array, q: Array) -> Ints:
        """(K,) which of the nodes (N, n) is nearest to each configuration (K, n)."""
        if type(self) is Space and not self.wraps.any():
            a, b = nodes * self.weight, q * self.weight
            apart: Array = (a * a).sum(axis=1) - 2.0 * (b @ a.T)
        else:
            apart = self.distance(nodes, q[:, None])
        out: Ints = apart.argmin(axis=1)
        return out

    def extent(self) -> float:
        """Distance between the two ends of the limits."""
        return float(np.linalg.norm((self.high - self.low) * self.weight))


RIGID_AXES = ("x", "y", "z", "qw", "qx", "qy", "qz")


@dataclass(frozen=True, eq=False)
class RigidSpace(Space):
    """A rigid body in space, `RIGID_AXES`: x, y, z [m] and an orientation, a unit quaternion w, x, y, z.

    `weight` is unused; `reach` says how many metres a radian counts for, usually the radius of the body.
    """

    reach: float = 1.0

    def difference(self, a: Array, b: Array) -> Array:
        """Tangents (..., 6): a shift [m] and a turn by a rotation vector [rad]."""
        turn = quat.log(quat.multiply(b[..., 3:], quat.conjugate(a[..., 3:])))
        return np.concatenate([b[..., :3] - a[..., :3], turn], axis=-1)

    def moved(self, a: Array, tangent: Array) -> Array:
        """Configurations (..., 7) to which tangents (..., 6) lead."""
        turned = quat.multiply(quat.exp(tangent[..., 3:]), a[..., 3:])
        return np.concatenate([a[..., :3] + tangent[..., :3], turned], axis=-1)

    def size(self, tangent: Array) -> Array:
        """Lengths (...) of tangents [m]."""
        shift, turn = tangent[..., :3], self.reach * tangent[..., 3:]
        out: Array = np.sqrt((shift * shift).sum(axis=-1) + (turn * turn).sum(axis=-1))
        return out

    def sample(self, rng: np.random.Generator, count: int) -> Array:
        """(count, 7) places between the limits with every orientation alike."""
        places = rng.uniform(self.low[:3], self.high[:3], (count, 3))
        turns = rng.normal(size=(count, 4))
        return np.concatenate([places, turns / np.linalg.norm(turns, axis=1, keepdims=True)], axis=1)

    def extent(self) -> float:
        """Distance between two corners with opposite orientations [m]."""
        return float(np.hypot(np.linalg.norm((self.high - self.low)[:3]), self.reach * np.pi))


FEW = 64
"""As many configurations are looked at in one go, without looking at quarter points first."""


def checked(space: Space, start: Array, end: Array) -> tuple[Ints, Ints]:
    """How far each of several ways is known to be free.

    All quarter points of all ways are looked at first, then the rest up to the last free one: two batches in all.

    Args:
        space: Where.
        start: (K, n) free configurations.
        end: (K, n) where the ways lead.

    Returns:
        (K,) count of free steps from the start, and (K,) count of steps of the whole way.
    """
    tangent = space.difference(start, end)
    steps = np.maximum(1, np.ceil(space.size(tangent) / space.step - 1e-9)).astype(np.int64)
    if steps.sum() <= FEW:
        last, seen = steps.copy(), np.zeros((len(start), 1), dtype=np.int64)
    else:
        seen = np.ceil(steps[:, None] * np.array([0.25, 0.5, 0.75, 1.0])).astype(np.int64)
        ways = space.moved(start[:, None], (seen / steps[:, None])[:, :, None] * tangent[:, None])
        good = space.allowed(ways.reshape(-1, ways.shape[-1])).reshape(-1, 4)
        count = np.where(good.all(axis=1), 4, np.argmin(good, axis=1))
        last = np.where(count > 0, seen[np.arange(len(start)), count - 1], 0)
    way = np.repeat(np.arange(len(start)), last)
    at = np.arange(1, len(way) + 1) - (np.cumsum(last) - last)[way]
    rest = (at[:, None] != seen[way]).all(axis=1)
    way, at = way[rest], at[rest]
    if len(way):
        fine = space.allowed(space.moved(start[way], (at / steps[way])[:, None] * tangent[way]))
        bad = np.flatnonzero(~fine)[::-1]
        # in reverse, so that the first hit of a way is what stays
        last[way[bad]] = at[bad] - 1
    return last, steps


def clear(space: Space, start: Array, end: Array) -> Bools:
    """Whether straight ways between configurations (K, n) are free (K,); the starts are known to be."""
    last, steps = checked(space, start, end)
    out: Bools = last == steps
    return out


FINER = 10.0
"""How much finer than it was sought a way is looked at before it is used."""


def hits(space: Space, points: Array, finer: float = FINER) -> list[int]:
    """Numbers of the legs of a way (N, n) that touch something, looked at in finer steps than those of the space."""
    fine = replace(space, step=space.step / finer)
    if not fine.allowed(points[:1])[0]:
        return [0]
    if len(points) == 1:
        return []
    last, steps = checked(fine, points[:-1], points[1:])
    return [int(k) for k in np.flatnonzero(last < steps)]
