"""What hands hold while the body goes down to something or gets up: kept as it is, by arms that do not jump."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...kinematics import fk
from ...maths import quat
from ...maths.ramp import smootherstep
from ...motion import Motion
from ...skeleton import Array, Pose
from ...world import Body, World
from ..spaces.arm_space import Arm
from .carry import carry
from .holding import hand_matrix
from .orders import CarryParams
from .stages import Holding

AS_IT_IS = CarryParams(posture="kept", upright="now", steady=0.0, taking=0.0)
"""How something is held meanwhile."""
AT_EASE = CarryParams(posture="front", upright="now", steady=0.0, taking=0.0)
"""How it is held in the end where it cannot be kept so."""
QUICK = 4.5
"""Rate of an angle of an arm that would jump to keep a thing as it is [rad/s]."""


def in_hand_meanwhile(
    motion: Motion, held: Sequence[Holding], bodies: Mapping[str, Body], start: Pose, world: World | None = None
) -> tuple[Motion, dict[str, Array]]:
    """The motion with arms that hold something, and where that is.

    A thing is kept as it is; where an arm would have to jump for that, it goes by its own joints to where it carries
    at ease, and the thing tilts on the way.

    Args:
        motion: T samples of the body.
        held: What is in which hand.
        bodies: By name the props.
        start: The pose in which it is held at the beginning.
        world: What it is lifted over.

    Returns:
        The whole motion, and matrices (T, 4, 4) of what is held by name.
    """
    done = carry(motion, held, AS_IT_IS, bodies=bodies, start=start, world=world)
    out = replace(next(iter(done.motions.values())), mask=None, events=())
    props = dict(done.props)
    for holding in held:
        if sum(other.prop == holding.prop for other in held) > 1:
            continue
        positions, globals = fk.forward(motion.skeleton, start.rotations, start.root)
        arm = Arm(motion.skeleton, holding.side, positions, globals)
        ways = arm.configuration(out.rotations[:, arm.joints])
        if np.abs(np.diff(ways, axis=0)).max(initial=0.0) * motion.fps < QUICK:
            continue
        end = carry(motion, holding, AT_EASE, bodies=bodies, start=start).motions["actor"].rotations[-1]
        part = smootherstep(np.linspace(0.0, 1.0, len(ways)))[:, None]
        rotations = np.array(out.rotations)
        rotations[:, arm.joints] = quat.slerp(rotations[0, arm.joints], end[arm.joints], part)
        out = replace(out, rotations=quat.continuous(rotations))
        props[holding.prop] = hand_matrix(motion.skeleton, out.rotations, out.roots, holding.side) @ holding.offset
    return out, props
