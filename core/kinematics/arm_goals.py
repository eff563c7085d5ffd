"""Arms and their goals in the axes of the trunk: to which side elbows may go, and the postures that follow.

Arrays lead with components, then have the S arms, then N samples, as in `arm_chain`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParam
from ..skeleton import SIDES, Array, Skeleton
from .arm_chain import (
    TINY,
    Bend,
    arm_chain,
    bend,
    beyond_limits,
    forearm_and_hand,
    inverse,
    spans,
    strain,
    times,
    turned,
    upper_arm,
)
from .natural_arm import REFERENCE, natural_elbow

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

WITHIN = 1e-6
"""Rounding that is no breach of a limit [rad], and no lack of reach [of it]."""


class Trial(NamedTuple):
    """M postures to be judged by whoever knows what is in the way.

    Attributes:
        samples, arms: (M,) which goal each is for: number in the flattened batch, and number among the sides.
        places: (M, 3, 3) shoulder, elbow and wrist in the world [m].
        turns: (M, 3, 4) world rotations of upper arm, forearm and hand.
    """

    samples: Ints
    arms: Ints
    places: Array
    turns: Array


Free = Callable[[Trial], Bools]
"""Which of M postures (M,) touch nothing."""


class Posed(NamedTuple):
    """Arms with their elbows somewhere.

    Attributes:
        upper: (4, S, N) rotation of the upper arm in the axes of the trunk.
        local, forearm, hand: (4, S, N) of upper arm, forearm and hand from their parents.
        turn: (S, N) of the forearm about itself [rad].
    """

    upper: Array
    local: Array
    forearm: Array
    hand: Array
    turn: Array


class ArmGoals:
    """The arms of a body in the axes of its trunk, and their goals: (C, S, N)."""

    def __init__(
        self,
        skeleton: Skeleton,
        positions: Array,
        globals: Array,
        goals: Array,
        turns: Array | None,
        sides: Sequence[str],
        stretch: float,
    ) -> None:
        if not sides or any(side not in SIDES for side in sides) or goals.shape[-2] != len(sides):
            raise InvalidParam("sides", tuple(sides), f"must name the {goals.shape[-2]} arms of the goals: L, R")
        self.chain = chain = arm_chain(skeleton, sides)
        self.batch = goals.shape[:-2]
        first = chain.joints[:, 0]
        self.trunk = self._rows(globals[..., [chain.trunk], :])
        back = inverse(self.trunk)
        self.shoulders = self._rows(positions[..., first, :])
        self.to_parent = times(inverse(self._rows(globals[..., chain.above, :])), self.trunk)
        line = turned(back, self._rows(goals) - self.shoulders)
        x, y, z = line
        far = np.sqrt(x * x + y * y + z * z)
        nearest, farthest = spans(chain, stretch)
        near = np.minimum(np.maximum(far, nearest), farthest)
        gaps = np.abs(far - near)
        self.gaps = np.where(gaps > WITHIN * farthest, gaps, 0.0)
        if far.size and far.min() <= TINY:  # a goal in the shoulder gives no line: down
            line = np.where(far > TINY, line, np.array([0.0, 0.0, -1.0])[:, None, None])
            far = np.where(far > TINY, far, 1.0)
        self.line = line * (1.0 / far)
        self.bent = bend(chain, near)
        self.scale = REFERENCE / spans(chain, 1.0)[1]
        self.shape = far.shape
        self.hands = None if turns is None else times(back, self._rows(turns))
        self.body = globals

    @property
    def timed(self) -> bool:
        """Whether the samples are a track, one after the other in time."""
        return len(self.batch) == 1

    def travel(self, lever: float) -> Array:
        """(S, N - 1) how far hands go from sample to sample beside the trunk, `lever` times their turns added [m]."""
        places = self.line * self.bent.distance
        far: Array = np.sqrt((np.diff(places, axis=-1) ** 2).sum(axis=0))
        if self.hands is not None:
            same = np.abs((self.hands[..., 1:] * self.hands[..., :-1]).sum(axis=0))
            far = far + lever * 2.0 * np.arccos(np.minimum(same, 1.0))
        return far

    def _rows(self, values: Array) -> Array:
        """(..., S, C) to contiguous (C, S, N)."""
        full = np.broadcast_to(values, (*self.batch, *values.shape[-2:]))
        return np.ascontiguousarray(full.reshape(-1, *values.shape[-2:]).transpose(2, 1, 0))

    def natural(self, model: str) -> Array:
        """Unit directions (3, S, N) of the elbows across the lines, as people hold them."""
        side, (x, y, z), far = self.chain.outward, self.line, self.bent.distance
        outward, forward, up = natural_elbow(side * x * far, -y * far, z * far, self.scale, model)
        return _unit(np.stack([side * outward, -forward, up]))

    def toward(self, pole: Array) -> Array:
        """The same, towards points (..., S, 3) in the world."""
        away = turned(inverse(self.trunk), self._rows(pole) - self.shoulders)
        across = away - (away * self.line).sum(axis=0) * self.line
        clear = (across * across).sum(axis=0) > 1e-12 * (away * away).sum(axis=0)
        return np.where(clear, _unit(across), self._zero())

    def at_swivel(self, swivel: Array) -> Array:
        """The same, at swivels (..., S)."""
        wanted = np.broadcast_to(swivel, (*self.batch, self.shape[0])).reshape(-1, self.shape[0]).T
        return self.moved(self._zero(), wanted, slice(None))

    def present(self) -> Array:
        """The same, where the hinges of the arms as they are bend them to."""
        upper = times(inverse(self.trunk), self._rows(self.body[..., self.chain.joints[:, 0], :]))
        hinge = turned(upper, np.array([-1.0, 0.0, 0.0])[:, None, None])
        (nx, ny, nz), (hx, hy, hz) = self.line, hinge
        return _unit(np.stack([ny * hz - nz * hy, nz * hx - nx * hz, nx * hy - ny * hx]))

    def _zero(self) -> Array:
        """Unit directions (3, S, N) from which swivels are measured: down; back where the arm hangs or points up."""
        x, y, z = self.line
        steep = np.clip((np.abs(z) - 0.98) / 0.019, 0.0, 1.0)
        level = steep * steep * (3.0 - 2.0 * steep)
        back, down = level, level - 1.0
        along = back * y + down * z
        return _unit(np.stack([-along * x, back - along * y, down - along * z]))

    def moved(self, elbow: Array, shifts: Array, at: Ints | slice) -> Array:
        """Directions (3, S, N) turned outward about the lines of samples `at` by (S, N) [rad]."""
        (ex, ey, ez), (nx, ny, nz) = elbow, self.line[..., at]
        c, s = np.cos(shifts), np.sin(shifts) * -self.chain.outward
        return np.stack(
            [
                c * ex + s * (ey * nz - ez * ny),
                c * ey + s * (ez * nx - ex * nz),
                c * ez + s * (ex * ny - ey * nx),
            ]
        )

    def swivel_of(self, elbow: Array) -> Array:
        """Swivels (..., S) of directions (3, S, N)."""
        zero = self._zero()
        (nx, ny, nz), (ux, uy, uz), (ex, ey, ez) = self.line, zero, elbow
        out = ex * (uy * nz - uz * ny) + ey * (uz * nx - ux * nz) + ez * (ux * ny - uy * nx)
        angle = np.arctan2(-self.chain.outward * out, ex * ux + ey * uy + ez * uz)
        return self.batched(angle[None])[..., 0]

    def posed(self, elbow: Array, at: Ints | slice) -> Posed:
        """The arms of samples `at` with their elbows in these directions (3, S, N)."""
        bent = Bend(*(part[..., at] for part in self.bent))
        upper = upper_arm(bent, self.line[..., at], elbow)
        if self.hands is not None:
            forearm, hand, turn = forearm_and_hand(self.chain, bent, upper, self.hands[..., at])
        else:
            forearm, hand, turn = self._relaxed(bent, at)
        return Posed(upper, times(self.to_parent[..., at], upper), forearm, hand, turn)

    def beyond(self, posed: Posed, at: Ints | slice) -> Array:
        """(S, N) sum of what the angles of these arms are beyond their limits [rad]."""
        bent = Bend(*(part[..., at] for part in self.bent))
        return beyond_limits(self.chain, posed.local, bent, posed.turn, posed.hand)

    def strain(self, posed: Posed, at: Ints | slice) -> Array:
        """(S, N) how near the nearest limit is, 0 to 1."""
        bent = Bend(*(part[..., at] for part in self.bent))
        return strain(self.chain, posed.local, bent, posed.turn, posed.hand)

    def _relaxed(self, bent: Bend, at: Ints | slice) -> tuple[Array, Array, Array]:
        """Forearm, hand and turn with the forearm turned in itself and the wrist bent as they are on the body."""
        joints, angle = self.chain.joints, bent.angle
        upper, lower, hand = (self._rows(self.body[..., joints[:, k], :])[..., at] for k in range(3))
        axis = self.chain.lower / np.sqrt((self.chain.lower**2).sum(axis=0))
        held = times(inverse(upper), lower)
        w, along = held[0], (held[1:] * axis).sum(axis=0)
        turn = 2.0 * np.arctan2(np.where(w < 0, -along, along), np.abs(w))
        c, s = np.cos(0.5 * turn), np.sin(0.5 * turn)
        zero = np.zeros_like(angle)
        hinge = (np.cos(0.5 * angle), -np.sin(0.5 * angle), zero, zero)
        forearm = times(hinge, (c, s * axis[0], s * axis[1], s * axis[2]))
        return forearm, times(inverse(lower), hand), turn

    def world(self, posed: Posed, at: Ints | slice) -> tuple[Array, Array]:
        """Places (S, N, 3, 3) of shoulder, elbow and wrist [m] and world rotations (S, N, 3, 4) of the segments."""
        trunk, shoulder = self.trunk[..., at], self.shoulders[..., at]
        upper = times(trunk, posed.upper)
        lower = times(upper, posed.forearm)
        hand = times(lower, posed.hand)
        elbow = self.elbows(posed, at)
        places = np.stack([shoulder, elbow, elbow + turned(lower, self.chain.lower)])
        return places.transpose(2, 3, 0, 1), np.stack([upper, lower, hand]).transpose(2, 3, 0, 1)

    def elbows(self, posed: Posed, at: Ints | slice) -> Array:
        """World places (3, S, N) of the elbows [m]."""
        away = turned(posed.upper, self.chain.upper)
        return self.shoulders[..., at] + turned(self.trunk[..., at], away)

    def judged(self, free: Free | None, posed: Posed, asked: Bools, at: Ints | slice = slice(None)) -> Bools:
        """(S, N) whether postures of samples `at` touch nothing; those not `asked` about count as free."""
        out = np.ones(asked.shape, dtype=bool)
        if free is not None and asked.any():
            places, turns = self.world(posed, at)
            arms, which = np.nonzero(asked)
            samples = np.arange(self.shape[1])[at][which]
            out[asked] = free(Trial(samples, arms, places[asked], turns[asked]))
        return out

    def batched(self, values: Array) -> Array:
        """(C, S, N) to (..., S, C)."""
        moved = np.ascontiguousarray(values.transpose(2, 1, 0))
        return moved.reshape(*self.batch, *moved.shape[1:])


def _unit(v: Array) -> Array:
    """Vectors (3, S, N) divided by their length."""
    x, y, z = v
    out: Array = v * (1.0 / np.maximum(np.sqrt(x * x + y * y + z * z), TINY))
    return out
