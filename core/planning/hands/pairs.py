"""Grasps for both hands: the palms on two sides of a thing that face each other, as a box is lifted."""

from __future__ import annotations

import numpy as np

from ...skeleton import Array
from ...world import Body
from ..spaces.solids import parted
from .grasp import ANY, STANDOFF, Grasp, bounds, framed

UP = np.array([0.0, 0.0, 1.0])
_LEVEL = 0.5
"""How much of a side's normal may point up or down, and must point across the body."""
_WIDEST, _NARROWEST = 1.1, 0.06
"""Between two palms [m]."""
_TURNS = np.radians([0.0, 35.0, 70.0, -30.0])
"""Of the thumbs from straight up towards the actor."""
_TILT = np.radians(15.0)
"""Of the hands to the sides they press on, which takes the wrists off these."""
_ALONG = (0.0, 0.5, -0.4)
_UPWARD = (0.0, -0.45, 0.35)
"""Where on a side, from its middle, of half its size."""


def pairs_of(body: Body, matrix: Array, left: Array, ahead: Array) -> list[tuple[Grasp, Grasp]]:
    """Grasps of the left and the right hand for one prop, best first.

    Args:
        body: The prop.
        matrix: (4, 4) where it is.
        left, ahead: (3,) of whoever takes it.
    """
    turn, scale = parted(matrix)
    found = bounds(body.vertices * scale)
    axes = turn @ found.axes
    out: list[tuple[float, Grasp, Grasp]] = []
    for k in range(3):
        axis = found.axes[:, k] * np.sign(axes[:, k] @ left or 1.0)
        across = float((turn @ axis) @ left)
        width = 2.0 * float(found.half[k])
        if abs((turn @ axis)[2]) > _LEVEL or across < _LEVEL or not _NARROWEST <= width <= _WIDEST:
            continue
        # in the side: up and away from the actor, as the prop sees them
        high = turn.T @ UP
        high = high - (high @ axis) * axis
        high /= np.linalg.norm(high)
        far = np.cross(axis, high)
        far *= np.sign((turn @ far) @ ahead or 1.0)
        tall, deep = (float(np.abs(found.half @ np.abs(found.axes.T @ v))) for v in (high, far))
        for along in _ALONG:
            for upward in _UPWARD:
                middle = found.centre - along * deep * far + upward * tall * high
                for angle in _TURNS:
                    thumb = np.cos(angle) * high - np.sin(angle) * far
                    worth = 1.0 - 0.15 * abs(angle) - 0.2 * abs(along) - 0.2 * abs(upward) - 0.5 * (1.0 - across)
                    quality = float(np.clip(worth, 0.05, 1.0))
                    both = []
                    for side, sign in (("L", 1.0), ("R", -1.0)):
                        inward = -sign * axis
                        fingers = np.cross(thumb, inward) if side == "L" else np.cross(inward, thumb)
                        palm = np.cos(_TILT) * inward - np.sin(_TILT) * fingers
                        frame = framed(palm, thumb, middle - (found.half[k] + 0.001) * inward)
                        both.append(
                            Grasp(frame, "press", (ANY, "carry"), quality, side, inward, STANDOFF, "both sides")
                        )
                    out.append((quality, both[0], both[1]))
    return [(a, b) for _, a, b in sorted(out, key=lambda row: -row[0])]
