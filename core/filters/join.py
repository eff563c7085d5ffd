"""Start a motion from a given pose: the difference to its own first sample fades out over a while.

Offsets are added to the motion instead of blending towards it (inertialisation), so its own timing and contacts stay.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import InvalidMotion
from ..maths import quat
from ..maths.ramp import smootherstep
from ..motion import Motion
from ..skeleton import Pose


def join(motion: Motion, pose: Pose, seconds: float) -> Motion:
    """`motion` beginning exactly in `pose` and becoming itself after `seconds`.

    Joints outside its mask, and its base, are left alone; the root moves only where the motion speaks for the hips.
    """
    if pose.rotations.shape != motion.rotations.shape[1:]:
        raise InvalidMotion(f"a pose of {len(pose.rotations)} joints cannot start a motion of {len(motion.skeleton)}")
    if seconds <= 0:
        return motion
    left = 1.0 - smootherstep(np.minimum(motion.times / seconds, 1.0))
    spoken = np.ones(len(motion.skeleton), bool) if motion.mask is None else motion.mask
    away = quat.log(quat.multiply(pose.rotations, quat.conjugate(motion.rotations[0])))
    away = np.where(spoken[:, None], away, 0.0)
    rotations = quat.multiply(quat.exp(left[:, None, None] * away), motion.rotations)
    roots = motion.roots
    if spoken[0]:
        roots = roots + left[:, None] * (pose.root - motion.roots[0])
    return replace(motion, rotations=quat.continuous(rotations), roots=roots)
