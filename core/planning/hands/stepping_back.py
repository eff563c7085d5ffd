"""Room for hanging arms beside things, and how to get there from where there is none: a step back, or one ahead."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...motion import Motion
from ...skeleton import Array, Pose, Skeleton
from ...world import World
from ..spaces.solids import Shapes
from .sidling import shifted
from .upright import Upright

_BACK = np.arange(0.05, 0.61, 0.05)
"""How far somebody steps away to turn [m]."""
SWING = 0.05
"""Between somebody who turns and anything, for arms that swing [m]."""
_HEADINGS = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)


def backed_off(
    skeleton: Skeleton,
    pose: Pose,
    world: World,
    fps: float,
    full: Sequence[str] = (),
    shapes: Shapes | None = None,
) -> Motion | None:
    """Step away from what is too near to turn beside it with hanging arms, back or else ahead.

    None where there is room, or none either way.

    Args:
        skeleton, pose: Who stands there.
        world: What is around, as it is.
        fps: Samples a second [Hz].
        full: Sides whose hands hold something, which look after themselves.
        shapes: What is known of meshes.
    """
    goal = room_to_turn(Upright(skeleton, pose, world, full, None, shapes))
    return None if goal is None else shifted(skeleton, pose, world, goal, fps)


def room_to_turn(body: Upright) -> Array | None:
    """(3,) base behind a body, or else before it, where it has room to turn; None where that is here, or nowhere."""
    x, y, heading = body.base

    def room(far: float) -> bool:
        place = x - far * np.sin(heading), y + far * np.cos(heading)
        return bool(body.free(np.column_stack([np.tile(place, (len(_HEADINGS), 1)), _HEADINGS]), SWING).all())

    if room(0.0):
        return None
    for far in (*_BACK, *-_BACK):
        if room(far):
            return np.array([x - far * np.sin(heading), y + far * np.cos(heading), heading])
    return None
