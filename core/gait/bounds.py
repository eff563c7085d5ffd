"""The poses in which a motion starts and ends: what sets them apart from the gait fades out and in, feet planted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..kinematics import fk
from ..maths import quat
from ..maths.ramp import smootherstep
from ..skeleton import SIDES, Array, Pose, Skeleton
from .carriage import Carriage


class Bounds:
    """A start and an end pose, each held at its end of the motion and let go within `blend` seconds."""

    def __init__(self, start: Pose | None, end: Pose | None, duration: float, blend: float) -> None:
        self.poses = [(pose, at) for pose, at in ((start, 0.0), (end, duration)) if pose is not None]
        self.blend = min(blend, duration / max(len(self.poses), 1)) if duration > 0 else blend
        self.moves: list[tuple[Array, Array]] = []

    def weight(self, at: float, times: Array) -> Array:
        """(n,) how much of the pose at the time `at` there is at times (n,)."""
        return 1.0 - smootherstep(np.clip(np.abs(times - at) / self.blend, 0.0, 1.0))

    def held(self, times: Array) -> Array:
        """(n,) how much of either pose there is."""
        out = np.zeros(len(times))
        for _, at in self.poses:
            out = np.maximum(out, self.weight(at, times))
        return out

    def measure(self, carry: Callable[[Array], Carriage]) -> None:
        """Find how far the gait's own body is from the poses."""
        for pose, at in self.poses:
            body = carry(np.array([at]))
            turn = quat.log(quat.multiply(pose.rotations[0], quat.conjugate(body.pelvis[0])))
            self.moves.append((pose.root - body.roots[0], turn))

    def carried(self, body: Carriage, times: Array) -> Carriage:
        """The body with its root and pelvis drawn to the poses."""
        roots, pelvis = body.roots, body.pelvis
        for (_, at), (move, turn) in zip(self.poses, self.moves, strict=True):
            w = self.weight(at, times)[:, None]
            roots = roots + w * move
            pelvis = quat.multiply(quat.exp(w * turn), pelvis)
        return replace(body, roots=roots, pelvis=pelvis, held=self.held(times))

    def swivels(self, skeleton: Skeleton, rotations: Array, roots: Array, times: Array) -> Array:
        """(2, T) turns of the legs about their lines from hip to ankle that bring the knees to those of the poses."""
        out = np.zeros((2, len(times)))
        for pose, at in self.poses:
            k = int(np.argmin(np.abs(times - at)))
            mine = fk.forward(skeleton, rotations[k], roots[k])
            theirs = fk.forward(skeleton, pose.rotations, pose.root)
            for s, side in enumerate(SIDES):
                thigh, foot = skeleton.joint(f"thigh_{side}"), skeleton.joint(f"foot_{side}")
                axis = quat.unit(mine[0][foot] - mine[0][thigh])
                turn = quat.log(quat.multiply(theirs[1][thigh], quat.conjugate(mine[1][thigh])))
                out[s] += self.weight(at, times) * float(quat.dot(turn, axis))
        return out

    def joined(self, rotations: Array, times: Array) -> Array:
        """Rotations (T, J, 4) whose joints begin and end exactly as the poses have them."""
        for pose, at in self.poses:
            k = int(np.argmin(np.abs(times - at)))
            away = quat.log(quat.multiply(pose.rotations, quat.conjugate(rotations[k])))
            away[0] = 0.0
            w = self.weight(at, times)[:, None, None]
            rotations = quat.multiply(quat.exp(w * away), rotations)
        return rotations
