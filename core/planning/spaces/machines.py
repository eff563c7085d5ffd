"""What moves among other things: machines of one link or several, covered with capsules, and rigid bodies."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...maths import quat
from ...skeleton import Array
from ...world import Body
from .cover import Cover
from .space import RIGID_AXES, Bools, Free, RigidSpace, Space

FLOOR_AXES, SLIDE_AXES = ("x", "y", "turn"), ("x", "y", "z")


@dataclass(frozen=True, eq=False)
class Machine:
    """Something that moves.

    Attributes:
        cover: What is kept out of everything else.
        parts: Meshes in the axes of their links, and the number of the link of each.
    """

    cover: Cover
    parts: tuple[tuple[Body, int], ...] = ()

    def space(self, free: Free, step: float) -> Space:
        """Its configurations."""
        raise NotImplementedError

    def frames(self, q: Array) -> Array:
        """(N, L, 4, 4) of its links at configurations (N, n)."""
        raise NotImplementedError

    def tips(self, q: Array) -> Array:
        """(N, 3) what is shown of configurations (N, n): the middle of a thing, the end of a machine."""
        raise NotImplementedError

    def own(self, frames: Array) -> Bools:
        """Whether links at frames (N, L, 4, 4) are free of each other (N,)."""
        return np.ones(len(frames), dtype=bool)


@dataclass(frozen=True, eq=False)
class Thing(Machine):
    """A rigid body.

    Attributes:
        moves: "space", "floor" or "slide".
        start: (4, 4) where it is; what of it does not change stays so.
        low, high: (3,) between which its origin stays [m].
        reach: From its origin to its farthest point [m].
    """

    moves: str = "space"
    start: Array = field(default_factory=lambda: np.eye(4))
    low: Array = field(default_factory=lambda: np.full(3, -1.0))
    high: Array = field(default_factory=lambda: np.ones(3))
    reach: float = 1.0

    def space(self, free: Free, step: float) -> Space:
        one = np.ones(4)
        if self.moves == "space":
            low, high = np.concatenate([self.low, -one]), np.concatenate([self.high, one])
            return RigidSpace(RIGID_AXES, low, high, free, step, reach=self.reach)
        if self.moves == "slide":
            return Space(SLIDE_AXES, self.low, self.high, free, step)
        low, high = np.array([*self.low[:2], -np.pi]), np.array([*self.high[:2], np.pi])
        weight, wraps = np.array([1.0, 1.0, self.reach]), np.array([False, False, True])
        return Space(FLOOR_AXES, low, high, free, step, weight, wraps)

    def configuration(self, matrix: Array) -> Array:
        """(n,) in which it is at a matrix (4, 4), as far as it can."""
        if self.moves == "slide":
            return np.array(matrix[:3, 3])
        turn = quat.from_matrix(matrix[:3, :3])
        if self.moves == "space":
            return np.concatenate([matrix[:3, 3], turn])
        apart = matrix[:3, :3] @ self.start[:3, :3].T
        return np.array([*matrix[:2, 3], np.arctan2(apart[1, 0] - apart[0, 1], apart[0, 0] + apart[1, 1])])

    def frames(self, q: Array) -> Array:
        out = np.tile(self.start, (len(q), 1, 1, 1))
        if self.moves == "slide":
            out[:, 0, :3, 3] = q
        elif self.moves == "space":
            out[:, 0, :3, :3], out[:, 0, :3, 3] = quat.to_matrix(q[:, 3:]), q[:, :3]
        else:
            turn = quat.to_matrix(quat.about(np.array([0.0, 0.0, 1.0]), q[:, 2]))
            out[:, 0, :3, :3] = turn @ self.start[:3, :3]
            out[:, 0, :2, 3] = q[:, :2]
        return out

    def tips(self, q: Array) -> Array:
        return np.asarray(self.frames(q)[:, 0, :3, 3])
