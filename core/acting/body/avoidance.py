"""Wall avoidance: walls, obstacles and doorways that turn a walking actor before it meets them.

Perlin (1995): every wall pushes away what approaches it, ever more steeply; an actor that faces a little to the left of
head-on keeps turning left. Only the heading is changed. Only walls that are being approached count, and the side is
kept until the way is free, or corners would make it waver.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...errors import InvalidParam

REACH = 2.0
"""Distance at which a wall begins to be felt, up to FAST [m]."""
FAST = 1.5
"""Speed above which the reach grows in proportion [m/s]."""
STEEPEST = 20.0
NEAREST = 0.02
GAIN, MOST = math.radians(240.0), math.radians(270.0)
"""Turning a unit of push, and at most [rad/s]."""
CONE = math.radians(45.0)
"""Half of the angle in which a doorway draws."""
RADIUS = 0.3
"""Of a body [m]."""


@dataclass(frozen=True)
class Wall:
    """A straight wall from `start` to `end` (x, y) [m]; both sides push."""

    start: tuple[float, float]
    end: tuple[float, float]

    def __post_init__(self) -> None:
        if math.dist(self.start, self.end) < 1e-9:
            raise InvalidParam("wall", self, "needs two different ends")


@dataclass(frozen=True)
class Obstacle:
    """A round thing in the way: centre (x, y) and radius [m]."""

    centre: tuple[float, float]
    radius: float


@dataclass(frozen=True)
class Doorway:
    """An opening in a wall: its middle (x, y) and width [m]. It draws whoever heads for it and has no wall in it."""

    middle: tuple[float, float]
    width: float


@dataclass(frozen=True)
class Surroundings:
    """What an actor keeps clear of."""

    walls: tuple[Wall, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    doorways: tuple[Doorway, ...] = ()


def room(width: float, depth: float) -> Surroundings:
    """Four walls around the origin [m]."""
    x, y = width / 2, depth / 2
    corners = [(-x, -y), (x, -y), (x, y), (-x, y)]
    return Surroundings(tuple(Wall(corners[k], corners[(k + 1) % 4]) for k in range(4)))


def turning(
    x: float, y: float, heading: float, around: Surroundings, side: int, chance: int = 1, speed: float = 0.0
) -> tuple[float, int]:
    """How fast to turn, and to which side.

    Args:
        x, y: Place [m].
        heading: [rad].
        around: Walls, obstacles and doorways.
        side: 1 left, -1 right when already turning away from something, else 0.
        chance: The side taken when exactly head-on.
        speed: Of walking [m/s].

    Returns:
        Turn rate, positive to the left [rad/s], and the side, 0 once the way is free.
    """
    hx, hy = math.sin(heading), -math.cos(heading)
    reach = REACH * max(1.0, speed / FAST)
    for door in around.doorways:
        dx, dy = door.middle[0] - x, door.middle[1] - y
        away = math.hypot(dx, dy)
        if away > reach or hx * dx + hy * dy < 0:
            continue
        off = math.atan2(hx * dy - hy * dx, hx * dx + hy * dy)
        if abs(off) < CONE and _enters(x, y, door, around):
            return max(-MOST, min(MOST, 4.0 * GAIN * math.sin(off) / max(away, 0.4))), side
    fx = fy = 0.0
    for nx, ny, distance in _pushes(x, y, around):
        if -(hx * nx + hy * ny) > 0.0 and distance < reach:
            push = min(STEEPEST, reach / max(distance, NEAREST) - 1.0)
            fx, fy = fx + nx * push, fy + ny * push
    into = -(hx * fx + hy * fy)
    if into <= 0.0:
        return 0.0, 0
    if side == 0:
        lean = fy * hx - fx * hy  # up . ((-F) x h)
        side = (1 if lean > 0 else -1) if abs(lean) > 1e-9 * math.hypot(fx, fy) else chance
    return max(-MOST, min(MOST, GAIN * into * side)), side


def slid(x: float, y: float, around: Surroundings, radius: float = RADIUS) -> tuple[float, float, bool]:
    """The place moved out of walls and obstacles, and whether it had to be."""
    moved = False
    for nx, ny, distance in _pushes(x, y, around):
        if distance < radius:
            x, y, moved = x + nx * (radius - distance), y + ny * (radius - distance), True
    return x, y, moved


def _pushes(x: float, y: float, around: Surroundings) -> list[tuple[float, float, float]]:
    """Direction away from each wall and obstacle, and the distance to it [m]; a doorway has no wall in it."""
    out = []
    for wall in around.walls:
        ax, ay = wall.start
        ux, uy = wall.end[0] - ax, wall.end[1] - ay
        length = math.hypot(ux, uy)
        ux, uy = ux / length, uy / length
        along = (x - ax) * ux + (y - ay) * uy
        near = min(max(along, 0.0), length)
        px, py = ax + near * ux, ay + near * uy
        if any(math.hypot(px - d.middle[0], py - d.middle[1]) < d.width / 2 for d in around.doorways):
            continue
        dx, dy = x - px, y - py
        distance = math.hypot(dx, dy)
        if distance < 1e-9:
            out.append((-uy, ux, 0.0))
        else:
            out.append((dx / distance, dy / distance, distance))
    for thing in around.obstacles:
        dx, dy = x - thing.centre[0], y - thing.centre[1]
        away = max(math.hypot(dx, dy), 1e-9)
        out.append((dx / away, dy / away, away - thing.radius))
    return out


def _enters(x: float, y: float, door: Doorway, around: Surroundings) -> bool:
    """Whether a doorway is still ahead: not when standing in it, where going straight on is right."""
    return math.hypot(door.middle[0] - x, door.middle[1] - y) > 0.25 * door.width and bool(around.walls)


def seeded_side(seed: int) -> int:
    """The side an actor takes when it meets a wall exactly head-on."""
    return 1 if np.random.default_rng([seed, 59]).random() < 0.5 else -1
