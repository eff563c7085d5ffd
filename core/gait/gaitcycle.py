"""One closed cycle of a gait, seen from a base point that travels at its mean velocity.

With d the way of the hips over one cycle of duration T, the base moves straight at V = |d| / T and the hips are kept as
H = B^-1 T_hips, so that any other base may carry them. J. Kuffner, "Autonomous Agents for Real-Time Animation" (1999).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..filters.contacts import Flags, heel_and_ball
from ..kinematics import fk
from ..maths import quat
from ..skeleton import LEG, SIDES, Array, Skeleton


class Legs(NamedTuple):
    """The legs of a skeleton as one of their own, for work that concerns nothing else.

    `joints` are their joints in the whole skeleton, `soles` (2, 2, 3) heel and ball of each foot from its ankle, and
    `level` (2, 2) the heights of these in the neutral stance [m].
    """

    skeleton: Skeleton
    joints: npt.NDArray[np.int64]
    soles: Array
    level: Array

    def points(self, roots: Array, rotations: Array) -> Array:
        """(..., 2, 2, 3) heel and ball of each foot, for roots (..., 3) and rotations (..., L, 4) of the legs [m]."""
        places, turns = fk.forward(self.skeleton, rotations, roots)
        feet = [self.skeleton.joint(f"foot_{side}") for side in SIDES]
        return places[..., feet, None, :] + quat.rotate(turns[..., feet, None, :], self.soles)


@dataclass(frozen=True, eq=False)
class GaitCycle:
    """One closed cycle; sample k of N is at phase k / N, and phase 1 is phase 0 again.

    Attributes:
        skeleton: Whose cycle it is.
        period: Duration [s].
        strides: Strides in it.
        lead: Strides from the first sample until the left foot is farthest ahead of the right.
        origin: (3,) where the base is at phase 0 in the clip, on the plane the feet tread [m].
        heading: Direction of travel in the clip [rad].
        step: (3,) way of the base over the cycle in the clip [m].
        places: (N, 3) hips as seen from the base [m].
        rotations: (N, J, 4); joint 0's as seen from the base.
        planted: (N, 2, 2) heel and ball of each foot on the ground.
        mask: (J,) joints the clip speaks for; None for all.
    """

    skeleton: Skeleton
    period: float
    strides: int
    lead: float
    origin: Array
    heading: float
    step: Array
    places: Array
    rotations: Array
    planted: Flags
    mask: Flags | None

    def __len__(self) -> int:
        return len(self.places)

    @property
    def speed(self) -> float:
        """Mean speed over the ground [m/s]."""
        return float(np.hypot(*self.step[:2])) / self.period

    def bases(self, phases: Array) -> tuple[Array, Array]:
        """Base (..., 3) x, y, heading in the clip at phases (...), and the height (...) of the ground under it [m]."""
        way = self.origin + phases[..., None] * self.step
        headings = np.full((*phases.shape, 1), self.heading)
        return np.concatenate([way[..., :2], headings], axis=-1), way[..., 2]

    def at(self, phases: Array) -> tuple[Array, Array]:
        """Hips (M, 3) and rotations (M, J, 4) as seen from the base at any phases (M,), smooth over all of them."""
        count = len(self)
        at = np.mod(phases, 1.0) * count
        start = np.minimum(at.astype(np.int64), count - 1)
        u = at - start
        v = 1.0 - u
        # Catmull-Rom through the four samples around
        weights = 0.5 * np.stack([-u * v * v, 2 - u * u * (5 - 3 * u), 2 - v * v * (5 - 3 * v), -v * u * u], axis=-1)
        near = (start[:, None] + np.arange(-1, 3)) % count
        turns = self.rotations[near]
        turns = turns * np.copysign(1.0, quat.dot(turns, turns[:, 1:2]))[..., None]
        places: Array = np.einsum("mk,mkc->mc", weights, self.places[near])
        return places, quat.unit(np.einsum("mk,mkjc->mjc", weights, turns))

    def planted_at(self, phases: Array) -> Flags:
        """(M, 2, 2) heel and ball of each foot on the ground at phases (M,)."""
        nearest = np.round(np.mod(phases, 1.0) * len(self)).astype(np.int64) % len(self)
        return np.asarray(self.planted[nearest])


def legs_of(skeleton: Skeleton) -> Legs:
    """The legs alone."""
    roles = {f"{part}_{side}" for part in LEG for side in SIDES} & set(skeleton.roles)
    needed = {0, *(j for role in roles for j in skeleton.roles[role])}
    for j in sorted(needed, reverse=True):
        while j > 0:
            j = int(skeleton.parents[j])
            needed.add(j)
    joints = np.array(sorted(needed))
    number = {int(j): k for k, j in enumerate(joints)}
    part = Skeleton(
        names=tuple(skeleton.names[j] for j in joints),
        parents=np.array([number.get(int(skeleton.parents[j]), -1) for j in joints]),
        offsets=skeleton.offsets[joints],
        tips=skeleton.tips[joints],
        roles={"hips": (0,), **{role: tuple(number[j] for j in skeleton.roles[role]) for role in roles}},
        limits=skeleton.limits[joints],
    )
    legs = Legs(part, joints, np.stack([np.stack(heel_and_ball(part, side)) for side in SIDES]), np.zeros((2, 2)))
    return legs._replace(level=legs.points(part.offsets[0], np.tile(quat.IDENTITY, (len(joints), 1)))[..., 2])
