"""Whether somebody upright with hanging arms has room where it is to stand, to turn or to step by.

Balls and boxes are asked for their distance; other meshes for their triangles, capsule by capsule of the body, so that
there is room in the corner of a desk as there is in the middle of a hall.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...gait.physique import measure
from ...kinematics import anatomy, fk
from ...kinematics.body_shape import ARM_PARTS, capsules
from ...maths import quat
from ...skeleton import SIDES, Array, Pose, Skeleton
from ...world import World
from ..spaces.collision import clearance
from ..spaces.meshes import Mesh
from ..spaces.solids import Shapes, matrix_at, parted, solids
from ..spaces.space import Bools

UP = np.array([0.0, 0.0, 1.0])
GAP = 0.02
"""Between a body where it stands or steps by and anything [m]."""
SWINGS = 0.2
"""How far to all sides arms swing for each metre a second [s]."""
_UNDERFOOT = 0.06
"""What is lower than this over the soles is trodden on: rugs, sills, the floor of a room that is one mesh [m]."""
_BEADS = 4.0
"""Places along a capsule at which triangles are looked for, to its radius: it is taken for less than 1 % too thick."""


def hanging(skeleton: Skeleton, rotations: Array) -> Array:
    """Rotations (J, 4) of a body with its arms hanging."""
    arms = {"upper_arm": (0.02, skeleton.arm_clearance + 0.06, 0.0), "forearm": (0.25, 0.0, 0.0)}
    angles = {f"{part}_{side}": a for part, a in arms.items() for side in SIDES if skeleton.has(f"{part}_{side}")}
    return anatomy.with_angles(skeleton, rotations, angles)


def floor_under(skeleton: Skeleton, pose: Pose) -> float:
    """Height of the floor under somebody who stands upright [m]."""
    return float(pose.root[2]) - measure(skeleton).standing


class Upright:
    """A body with hanging arms that stands at one place or another, on feet as high as they are now.

    Args:
        skeleton, pose: Who stands.
        world: What is around, of which the ground is not in the way.
        full: Sides whose hands hold something, which look after themselves.
        moved: Matrices (4, 4) of bodies that are elsewhere than the world says.
        shapes: What is known of meshes.

    Attributes:
        base: (3,) x, y [m] and heading [rad] of where it stands now.
        trunk: (K,) which of its parts are not of an arm.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        pose: Pose,
        world: World,
        full: Sequence[str] = (),
        moved: Mapping[str, Array] | None = None,
        shapes: Shapes | None = None,
    ) -> None:
        shapes, moved = shapes or Shapes(), dict(moved or {})
        heading = float(quat.heading(pose.rotations[0]))
        self.base: Array = np.array([*pose.root[:2], heading])
        shape = capsules(skeleton)
        shape = shape.chosen([p for p in shape.parts if not (p[:-2] in ARM_PARTS and p[-1] in full)])
        self.trunk: Bools = np.array([part[:-2] not in ARM_PARTS for part in shape.parts])
        ends = shape.placed(*fk.forward(skeleton, hanging(skeleton, pose.rotations), pose.root))
        back = quat.about(UP, -heading)
        starts, finish = (quat.rotate(back, p - pose.root) for p in ends)
        least = (np.minimum(starts, finish)[:, 2] - shape.radii).min() + shape.radii + _UNDERFOOT
        for p in (starts, finish):
            p[:, 2] = np.maximum(p[:, 2], least)
        self._starts, self._ends = starts, finish
        self._radii, self._height = shape.radii, float(pose.root[2])
        ground = [b.name for b in world.bodies if b.kind == "ground"]
        self._plain = solids(world, 0.0, None, ground, shapes, moved, plain=True)
        self._rough: list[tuple[Mesh, Array, Array]] = []
        for body in world.bodies:
            if body.name not in ground and len(body.triangles):
                matrix = moved.get(body.name, matrix_at(world, body, 0.0))
                turn, scale = parted(matrix)
                self._rough += [(mesh, turn, matrix[:3, 3]) for mesh in shapes.mesh(body, scale).rough]

    def room(self, bases: Array, gap: float, swing: float | Array = 0.0) -> Bools:
        """(N, K) which of its parts have room at bases (N, 3), x, y [m] and heading [rad], with a gap [m].

        `swing` is how much more of it arms need, at all or each of the bases (N,) [m].
        """
        turns = quat.about(UP, bases[:, 2])[:, None]
        there = np.column_stack([bases[:, :2], np.full(len(bases), self._height)])[:, None]
        a, b = ((there + quat.rotate(turns, p)).reshape(-1, 3) for p in (self._starts, self._ends))
        more = np.where(self.trunk, 0.0, np.broadcast_to(swing, len(bases))[:, None])
        radii = (self._radii + gap + more).ravel()
        free: Bools = clearance(self._plain, a, b, radii)[0] > 0.0
        for mesh, turn, place in self._rough:
            left = np.flatnonzero(free)
            free[left] = ~_met(mesh, (a[left] - place) @ turn, (b[left] - place) @ turn, radii[left])
        return free.reshape(len(bases), -1)

    def free(self, bases: Array, gap: float) -> Bools:
        """(N,) at which bases (N, 3) all of it has room, with a gap to anything [m]."""
        return np.asarray(self.room(bases, gap).all(axis=1))

    def missing(self, way: Array, gap: float, swing: float | Array = 0.0) -> int:
        """How often what has room at both ends of a way (N, 3) has none on it; gaps are those of `room`."""
        ends = self.room(way[[0, -1]], gap).all(axis=0)
        return int((~self.room(way, gap, swing)[:, ends]).sum())


def _met(mesh: Mesh, starts: Array, ends: Array, radii: Array) -> Bools:
    """(K,) which capsules, in the axes of a mesh, its surface goes through or its inside holds."""
    middles, long = 0.5 * (starts + ends), np.linalg.norm(ends - starts, axis=1)
    out = mesh.touched(middles, 0.5 * long + radii)
    near = np.flatnonzero(out)
    counts = np.ceil(_BEADS * long[near] / radii[near]).astype(np.int64) + 1
    row, first = np.repeat(np.arange(len(near)), counts), np.cumsum(counts) - counts
    share = (np.arange(len(row)) - first[row]) / np.maximum(counts[row] - 1, 1)
    at = near[row]
    beads = starts[at] + share[:, None] * (ends - starts)[at]
    thick = np.hypot(radii, 0.5 * long / np.maximum(np.ceil(_BEADS * long / radii), 1.0))
    out[near] = np.bincount(row, mesh.touched(beads, thick[at]), len(near)) > 0
    clear = np.flatnonzero(~out)
    out[clear] = mesh.inside(middles[clear])
    return out
