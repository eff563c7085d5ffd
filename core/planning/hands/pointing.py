"""Where a finger goes to touch something or to point at it, as grasps of that thing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...kinematics.fingers import grip_place, palm_axes, phalanx_radii, pointing_axis, tip_axis
from ...maths import quat
from ...skeleton import Array, Skeleton
from ...world import Body
from ..spaces.solids import parted
from .grasp import ANY, Grasp, framed, touches
from .nearest import facing, nearest
from .standing import UP, is_large, place_of
from .task import Job


def touching(job: Job, target: Body, matrix: Array, positions: Array, side: str) -> list[Grasp]:
    """The place of the surface that faces the shoulder, or that is nearest where it is broad, as seen from the prop."""
    found = nearest if is_large(target) else facing
    place, normal = found(target, matrix, positions[job.skeleton.joint(f"upper_arm_{side}")])
    turn, _ = parted(matrix)
    outward = turn.T @ normal
    return [_laid(job.skeleton, g, outward) for g in touches(turn.T @ (place - matrix[:3, 3]), outward)]


def _laid(skeleton: Skeleton, grasp: Grasp, outward: Array) -> Grasp:
    """The same with the finger's bone so far from a surface with a normal (3,) that its flesh lies on it."""
    if not skeleton.has(f"index_{grasp.side}"):
        return grasp
    frame = np.array(grasp.frame)
    along = frame[:3, :3] @ palm_axes(grasp.side).T @ tip_axis(skeleton, grasp.side)
    # its tip is round: straight on it touches with its end, along the surface with its pad
    far = phalanx_radii(skeleton, "index", grasp.side)[-1] * (1.0 + min(float(along @ outward), 0.0))
    frame[:3, 3] += far * outward
    return replace(grasp, frame=frame)


def pointing(job: Job, target: Body, matrix: Array, positions: Array, side: str) -> list[Grasp]:
    """The finger on the line from the shoulder to the target, as far as the arm goes easily."""
    skeleton = job.skeleton
    shoulder = positions[skeleton.joint(f"upper_arm_{side}")]
    way = place_of(job, target) - shoulder
    far = float(np.linalg.norm(way))
    along = way / max(far, 1e-9)
    arm = sum(float(np.linalg.norm(skeleton.offsets[skeleton.joint(f"{r}_{side}")])) for r in ("forearm", "hand"))
    tip = float(np.linalg.norm(grip_place(skeleton, side, "index")))
    turn, _ = parted(matrix)
    finger = palm_axes(side).T @ pointing_axis(skeleton, side)
    out = []
    for stretch in (0.93, 0.85, 0.75):
        place = shoulder + min(stretch * arm + tip, max(far - 0.05, 0.2)) * along
        for roll in np.radians([0.0, 30.0, -30.0, 60.0, -60.0, 90.0]):
            down = -UP if abs(along[2]) < 0.95 else np.array([0.0, 1.0, 0.0])
            palm = quat.rotate(quat.about(along, float(roll)), quat.unit(down - (down @ along) * along))
            thumb = np.cross(along, palm) if side == "R" else np.cross(palm, along)
            frame = framed(palm, thumb, place)
            # fingers are spread: it is the index finger that is on the line
            frame[:3, :3] = quat.to_matrix(quat.between(frame[:3, :3] @ finger, along)) @ frame[:3, :3]
            local = np.eye(4)
            local[:3, :3] = turn.T @ frame[:3, :3]
            local[:3, 3] = turn.T @ (place - matrix[:3, 3])
            quality = 1.0 - 0.3 * abs(roll) / np.pi - (0.93 - stretch)
            out.append(Grasp(local, "index", (ANY,), quality, side, turn.T @ along, 0.0, "point"))
    return out
