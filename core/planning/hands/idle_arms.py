"""What a body that took something does below the arms that hold it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...kinematics.fingers import finger_joints
from ...maths import quat
from ...maths.ramp import smootherstep
from ...motion import Motion
from ...skeleton import ARM
from .stages import STAGE


def idle_arms(motion: Motion, sides: Sequence[str], rising: Motion | None) -> Motion:
    """What the whole body does as it takes something, with arms of these sides that do nothing from when they would.

    Laid under what the arms do, it is what they come back to when they let go. `rising` is how the body gets up in the
    end, where it does.
    """
    skeleton = motion.skeleton
    own = [j for side in sides for part in ARM[1:] for j in skeleton.roles[f"{part}_{side}"]]
    own += [j for side in sides for j in finger_joints(skeleton, side)]
    begun = next((round(e.time * motion.fps) for e in motion.events if e.name == STAGE), 0)
    rotations = np.array(motion.rotations)
    rotations[begun:, own] = rotations[begun, own]
    if rising is not None:
        count = len(rising)
        part = smootherstep(np.linspace(0.0, 1.0, count))[:, None]
        rotations[-count:, own] = quat.slerp(rotations[begun, own], rising.rotations[-1, own], part)
    return replace(motion, rotations=quat.continuous(rotations), events=())
