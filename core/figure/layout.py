"""Where the joints of the figure are while it is built, in centimetres at a stature of 175, and how to unbend limbs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kinematics.fk import forward
from ..maths import quat
from ..skeleton import Array, Skeleton
from .mannequin import rest_pose
from .shell import rise

STATURE = 175.0


@dataclass(frozen=True, eq=False)
class Layout:
    """Neutral places of joints and ends of segments (J, 3), rest places (J, 3) [cm] and rest turns (J, 3, 3)."""

    skeleton: Skeleton
    neutral: Array
    ends: Array
    rest: Array
    turns: Array

    def zeros(self, n: int) -> Array:
        """(n, J) empty weights."""
        return np.zeros((n, len(self.skeleton)))

    @property
    def drop(self) -> Array:
        """(3,) how far the trunk is moved from neutral to rest; it is not turned."""
        return np.asarray(self.rest[0] - self.neutral[0])

    def at(self, name: str) -> Array:
        """(3,) neutral place of a joint."""
        return np.asarray(self.neutral[self.skeleton.index(name)])

    def placed(self, p: Array, name: str) -> Array:
        """Neutral points (N, 3) that move rigidly with a joint, at rest."""
        j = self.skeleton.index(name)
        return np.asarray((p - self.neutral[j]) @ self.turns[j].T + self.rest[j])

    def unbent(self, p: Array, upper: str, lower: str, width: float) -> Array:
        """Rest points (N, 3) of a two-bone limb as they lie in the neutral stance; the bend is spread over `width`."""
        a, b = self.skeleton.index(upper), self.skeleton.index(lower)
        above = (p - self.rest[a]) @ self.turns[a] + self.neutral[a]
        below = (p - self.rest[b]) @ self.turns[b] + self.neutral[b]
        t = rise(-0.5 * (above[:, 2] + below[:, 2]), -self.neutral[b, 2], width / 2)
        return np.asarray(above + t[:, None] * (below - above))

    def arm(self, p: Array) -> Array:
        """Rest points of the left arm as outward, back and up from the shoulder of the straight hanging arm."""
        return self.unbent(p, "upper_arm.L", "forearm.L", 8.0) - self.at("upper_arm.L")

    def leg(self, p: Array) -> Array:
        """Rest points of the left leg as outward and back from the axis of the straight leg, and height."""
        return self.unbent(p, "thigh.L", "shin.L", 10.0) - self.at("thigh.L") * (1, 1, 0)

    def trunk(self, p: Array) -> Array:
        """Rest points of trunk and head as they stand in the neutral stance."""
        return p - self.drop

    def box(self, first: str, last: str, margin: float) -> tuple[Array, Array]:
        """Corners of the box around two joints at rest."""
        ends = self.rest[[self.skeleton.index(first), self.skeleton.index(last)]]
        return ends.min(axis=0) - margin, ends.max(axis=0) + margin

    def neck(self, p: Array) -> tuple[Array, Array]:
        """How much neutral points (N, 3) follow the neck or what is above it, and the head: (N,) each."""
        lean = quat.unit(np.array([0.0, -0.25, 1.0]))
        return rise((p - self.at("neck")) @ lean, 2.0, 5.0), rise((p - self.at("head")) @ lean, -1.0, 4.0)


def layout(skeleton: Skeleton, stature: float) -> Layout:
    """The layout of a figure of `stature` [m]."""
    pose = rest_pose(skeleton)
    scale = STATURE / stature
    neutral, _ = forward(skeleton, np.tile(quat.IDENTITY, (len(skeleton), 1)), skeleton.offsets[0])
    rest, turns = forward(skeleton, pose.rotations, pose.root)
    ends = neutral + skeleton.tips
    return Layout(skeleton, neutral * scale, ends * scale, rest * scale, quat.to_matrix(turns))
