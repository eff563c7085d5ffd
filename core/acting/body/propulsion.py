"""Foot propulsion: the lower foot stays where it is, so the pose itself drives the body along.

Perlin (1995), with three cures. The foot is its ankle, for a swinging toe can be lower than the sole that stands. The
change of feet happens at the instant of equal height inside a step, or every change would lose way. And a foot that is
hardly lower takes over only after a margin, so that a standing body does not chatter between its feet. The place is
integrated on the grid of the clock, whatever the frame rate.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...skeleton import Array
from .avoidance import Surroundings, slid, turning
from .clock import GRID_HZ
from .levelling import kept

MARGIN = 0.002
"""How much lower the other foot must be when the feet change heights slowly [m]."""
QUICK = 0.02 / GRID_HZ
"""Change of the difference in height during a step from which feet change at once [m]."""
PACE_TIME = 1.7
"""Time over which the speed of a body is smoothed: the hips of one that walks go to and fro [s]."""
FACING_GAIN = 5.0
"""Turn rate for each radian that a heading is off [1/s]."""

Index = npt.NDArray[np.int64]
Floor = Callable[[float, float], float]
"""Height of the ground [m] at x, y [m]."""


@dataclass(frozen=True)
class Footing:
    """Where a body stands at a grid point.

    Attributes:
        x, y: Of the hips on the ground [m].
        heading: [rad], unwrapped.
        floor: Height of the floor as the body follows it [m].
        support: The foot that stands, 0 left, 1 right.
        side: To which side it is turning away from a wall; 0 when free.
        rate: Turning to the left on the way here [rad/s].
        speed: Smoothed speed ahead [m/s]; 0 in open space, where nobody asks.
        feet: Both ankles from the hips with heading 0 [m], (x, y, z, x, y, z).
    """

    x: float
    y: float
    heading: float
    floor: float = 0.0
    support: int = 0
    side: int = 0
    rate: float = 0.0
    speed: float = 0.0
    feet: tuple[float, ...] = ()


class Way(NamedTuple):
    """What bends the way of a body.

    Attributes:
        around: Walls, obstacles and doorways; None for open space.
        floor: Ground; None for a floor at 0.
        facing: Heading (float) [rad] or place (x, y) [m] to turn to; None to go straight.
        turn_rate: Most that `facing` turns [rad/s].
        chance: Side taken exactly head-on to a wall.
    """

    around: Surroundings | None = None
    floor: Floor | None = None
    facing: float | tuple[float, float] | None = None
    turn_rate: float = math.radians(120.0)
    chance: int = 1


class Steps(NamedTuple):
    """Footings at K grid points, as arrays (K,); `feet` (K - 1, 2, 3) are those after the first, which has `before`."""

    x: Array
    y: Array
    heading: Array
    floor: Array
    support: Array
    side: Array
    rate: Array
    speed: Array
    before: tuple[float, ...]
    feet: Array

    def footing(self, k: int) -> Footing:
        """The footing at one grid point."""
        x, y, heading, floor, support, side, rate, speed = (float(v[k]) for v in self[:8])
        feet = tuple(self.feet[k - 1].reshape(-1).tolist()) if k else self.before
        return Footing(x, y, heading, floor, int(support), int(side), rate, speed, feet)


def first_footing(x: float, y: float, heading: float, feet: Array, floor: Floor | None) -> Footing:
    """A body that stands on its lower foot, the hips at x, y [m]; `feet` (2, 3) are its ankles from the hips [m]."""
    support = int(feet[1, 2] < feet[0, 2])
    fx, fy = _turned(heading, float(feet[support, 0]), float(feet[support, 1]))
    height = floor(x + fx, y + fy) if floor else 0.0
    return Footing(x, y, heading, height, support, feet=tuple(feet.reshape(-1).tolist()))


def propelled(footing: Footing, feet: Array, turns: Array, way: Way) -> Steps:
    """Footings at the next grid points.

    Args:
        footing: At the grid point before them.
        feet: (K, 2, 3) ankles from the hips with heading 0 at the next K grid points [m].
        turns: (K,) turning to the left that the pose itself asks for [rad/s].
        way: What else turns the body.

    Returns:
        K + 1 footings, the given one first.
    """
    dt, rest = 1.0 / GRID_HZ, kept(1.0 / GRID_HZ)
    x, y, heading, floor = footing.x, footing.y, footing.heading, footing.floor
    support, side, speed, before = footing.support, footing.side, footing.speed, footing.feet
    rows = feet.reshape(-1, 6).tolist()
    out: list[tuple[float, ...]] = [(x, y, heading, floor, support, side, footing.rate, speed)]
    around, ground = way.around, way.floor
    ch, sh = math.cos(heading), math.sin(heading)
    for now, turn in zip(rows, turns.tolist(), strict=True):
        rate = turn
        if way.facing is not None:
            rate += _towards(way.facing, x, y, heading, way.turn_rate)
        if around is not None and speed > 0.05:
            push, side = turning(x, y, heading, around, side, way.chance, speed)
            rate += push
        # the foot stays: what it moves under the hips, the hips move the other way
        s = 3 * support
        ox, oy = ch * before[s] - sh * before[s + 1], sh * before[s] + ch * before[s + 1]
        h = heading + rate * dt
        if rate:
            ch, sh = math.cos(h), math.sin(h)
        other = 3 - s
        was, gap = before[other + 2] - before[s + 2], now[other + 2] - now[s + 2]
        if gap < 0.0 and (gap < -MARGIN or was - gap > QUICK):
            part = was / (was - gap) if was > 0.0 else 0.0
            ax, ay = (before[s + k] + part * (now[s + k] - before[s + k]) for k in (0, 1))
            bx, by = (before[other + k] + part * (now[other + k] - before[other + k]) for k in (0, 1))
            ox, oy = ox - (ch * ax - sh * ay) + (ch * bx - sh * by), oy - (sh * ax + ch * ay) + (sh * bx + ch * by)
            support, s = 1 - support, other
        nx = x + ox - (ch * now[s] - sh * now[s + 1])
        ny = y + oy - (sh * now[s] + ch * now[s + 1])
        if around is not None:
            ahead = (nx - x) * math.sin(h) - (ny - y) * math.cos(h)
            speed += dt / PACE_TIME * (ahead / dt - speed)
            nx, ny, _ = slid(nx, ny, around)
        x, y, heading = nx, ny, h
        if ground is not None:
            height = ground(x + ch * now[s] - sh * now[s + 1], y + sh * now[s] + ch * now[s + 1])
            floor = height + (floor - height) * rest
        before = tuple(now)
        out.append((x, y, heading, floor, support, side, rate, speed))
    c = np.array(out).T
    return Steps(c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], footing.feet, feet)


def between(steps: Steps, which: Index, feet: Array, after: Array) -> tuple[Array, Array, Array, Array, Index]:
    """Place x, y, heading, floor and support (T,) shortly after grid points.

    Args:
        steps: Footings.
        which: (T,) number of the grid point before each instant.
        feet: (T, 2, 3) ankles at the instants [m].
        after: (T,) time since the grid point [s].
    """
    k = which
    support = steps.support[k].astype(np.int64)
    heading = steps.heading[k]
    if not (after > 1e-9).any():
        return steps.x[k], steps.y[k], heading, steps.floor[k], support
    later = heading + np.where(after > 1e-9, steps.rate[k] * after, 0.0)
    rows = np.arange(len(k))
    old = np.concatenate([np.reshape(steps.before, (1, 2, 3)), steps.feet])[k, support]
    new = feet[rows, support]
    ox, oy = _turned_all(heading, old)
    nx, ny = _turned_all(later, new)
    exact = after <= 1e-9
    x: Array = np.where(exact, steps.x[k], steps.x[k] + ox - nx)
    y: Array = np.where(exact, steps.y[k], steps.y[k] + oy - ny)
    return x, y, later, steps.floor[k], support


def _towards(facing: float | tuple[float, float], x: float, y: float, heading: float, most: float) -> float:
    if isinstance(facing, tuple):
        dx, dy = facing[0] - x, facing[1] - y
        if dx * dx + dy * dy < 0.01:
            return 0.0
        facing = math.atan2(dx, -dy)
    off = math.remainder(facing - heading, 2.0 * math.pi)
    return max(-most, min(most, FACING_GAIN * off))


def _turned(heading: float, x: float, y: float) -> tuple[float, float]:
    c, s = math.cos(heading), math.sin(heading)
    return c * x - s * y, s * x + c * y


def _turned_all(heading: Array, v: Array) -> tuple[Array, Array]:
    heading = np.ascontiguousarray(heading)
    c, s = np.cos(heading), np.sin(heading)
    return c * v[:, 0] - s * v[:, 1], s * v[:, 0] + c * v[:, 1]
