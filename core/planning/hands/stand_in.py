"""Boxes that stand for somebody, in the way of somebody else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...kinematics import fk
from ...kinematics.body_shape import ARM_PARTS, capsules, with_fingers
from ...maths import quat
from ...skeleton import Pose, Skeleton
from ...world import Body
from ..spaces.set_pieces import box
from .standing import UP

TAKER = "taker"
"""Tag of what stands for somebody who holds the prop too."""


def as_boxes(skeleton: Skeleton, pose: Pose, actor: str, arms: bool = False) -> tuple[Body, ...]:
    """Somebody who stands, as boxes around trunk, head and legs, and the arms as well: in the way of somebody else."""
    positions, globals = fk.forward(skeleton, pose.rotations, pose.root)
    # what finger tips hold out is not hidden in a hand of which every phalanx is a box
    shape = with_fingers(skeleton) if arms else capsules(skeleton)
    out = []
    starts, ends = shape.placed(positions, globals)
    for k, part in enumerate(shape.parts):
        if part[:-2] in ARM_PARTS and not arms:
            continue
        along = ends[k] - starts[k]
        long = float(np.linalg.norm(along))
        turn = quat.to_matrix(quat.between(UP, along / long)) if long > 1e-6 else np.eye(3)
        radius = float(shape.radii[k]) * (1.0 if part[:-2] in ARM_PARTS else 0.9)
        size = (radius, radius, 0.5 * long + radius)
        middle = 0.5 * (starts[k] + ends[k])
        body = box(f"{actor}'s {part.replace('_', ' ')} {k}", size, middle, turn, number=9000 + k)
        out.append(replace(body, tags=frozenset({TAKER} if arms else ())))
    return tuple(out)
