"""Where one may hand something to another: midway between the two, under their shoulders."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ...errors import NoIK
from ...maths import quat
from ...skeleton import Array
from ...world import Body
from ..spaces.solids import parted
from .bounds import bounds
from .standing import UP, chest_of, matrix_of
from .task import Job

BELOW = 0.22
"""How far under the shoulders hands meet [m]."""
_YAWS = np.radians([0.0, 90.0, -90.0, 180.0])
_SIDEWAYS = (0.0, 0.12, -0.12)


def meetings(giver: Job, receiver: Job, target: Body) -> Iterator[Array]:
    """Matrices (4, 4) of the prop between the two, the likeliest first."""
    chests = [chest_of(job.skeleton, job.pose) for job in (giver, receiver)]
    way = chests[1] - chests[0]
    flat = np.array([way[0], way[1], 0.0])
    far, arms = float(np.linalg.norm(flat)), sum(arm_length(job) for job in (giver, receiver))
    if far > 0.9 * arms:
        names = f"{giver.actor} and {receiver.actor}"
        apart, reach = math.ceil(100.0 * far) / 100.0, math.floor(90.0 * arms) / 100.0
        raise NoIK(f"{names} stand {apart:.2f} m apart, and their arms reach {reach:.2f} m together; bring them closer")
    share = arm_length(giver) / arms
    across = np.cross(UP, flat / max(far, 1e-9))
    turn, scale = parted(matrix_of(giver, target))
    upright = quat.to_matrix(quat.between(turn[:, 2], UP)) @ turn if turn[2, 2] > 0.5 else turn
    middle = (bounds(target.vertices * scale).centre) * np.array([0.0, 0.0, 1.0])
    place = chests[0] + share * way
    place[2] = min(c[2] for c in chests) - BELOW
    for yaw in _YAWS:
        spin = quat.to_matrix(quat.about(UP, float(yaw))) @ upright
        for side in _SIDEWAYS:
            out = np.eye(4)
            out[:3, :3] = spin * scale
            out[:3, 3] = place + side * across - spin @ middle
            yield out


def arm_length(job: Job) -> float:
    """From the shoulder to the wrist [m]."""
    bones = [job.skeleton.offsets[job.skeleton.joint(f"{part}_L")] for part in ("forearm", "hand")]
    return float(np.linalg.norm(bones, axis=1).sum())
