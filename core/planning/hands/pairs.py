"""Grasps for both hands: the palms on two sides of a thing that face each other, or the fingers on two of its edges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...maths import quat
from ...skeleton import Array
from ...world import Body
from ..spaces.solids import parted
from .bounds import Bounds, bounds
from .grasp import ANY, STANDOFF, Grasp, framed
from .grasp_forms import HAND

UP = np.array([0.0, 0.0, 1.0])
_LEVEL = 0.5
"""How much of a side's normal may point up or down, and must point across the body."""
_WIDEST, _NARROWEST = 1.1, 0.06
"""Between two palms [m]."""
_TURNS = tuple(np.radians([0.0, 35.0, 70.0, -30.0]))
"""Of the thumbs from straight up towards the actor."""
_TILT = np.radians(15.0)
"""Of the hands to the sides they press on, which takes the wrists off these."""
_ROUND = tuple(np.radians([0.0, 40.0, -40.0]))
"""How far round what is round from straight beside whoever takes it."""
_ALONG = (0.0, 0.5, -0.4)
_UPWARD = (0.0, -0.45, 0.35)
"""Where on a side, from its middle, of half its size."""
_FLAT = 0.36
"""What is lower than this, of the length of the hand, has no room for a palm at its sides."""
_COMING = ((0.0, 0.0), (3.0, 0.12), (30.0, 0.2))
"""How far hands come down for every metre they come nearer to each other at last, and how much less that is worth:
straight from the sides, or from above, where something stands beside it, near or close."""
_DOWN = tuple(np.radians([-25.0, -45.0, -65.0, -80.0]))
"""Of the thumbs then: forward, so that the fingers point down to the edges."""
_TIPS = 0.57
"""From the middle of the palm to the finger tips, of the length of the hand."""
_PAD = 0.09
"""Height of these over what it lies on, at least, of the length of the hand."""


def pairs_of(body: Body, matrix: Array, left: Array, ahead: Array, hand: float = HAND) -> list[tuple[Grasp, Grasp]]:
    """Grasps of the left and the right hand for one prop, best first.

    Args:
        body: The prop.
        matrix: (4, 4) where it is.
        left, ahead: (3,) of whoever takes it.
        hand: Length of the hand [m].
    """
    turn, scale = parted(matrix)
    found = bounds(body.vertices * scale)
    out: list[tuple[Grasp, Grasp]] = []
    for axis, half in _across(found, turn, left):
        across, width = float((turn @ axis) @ left), 2.0 * half
        if abs((turn @ axis)[2]) > _LEVEL or across < _LEVEL or not _NARROWEST <= width <= _WIDEST:
            continue
        # in the side: up and away from the actor, as the prop sees them
        high = turn.T @ UP
        high = high - (high @ axis) * axis
        high /= np.linalg.norm(high)
        far = np.cross(axis, high)
        far *= np.sign((turn @ far) @ ahead or 1.0)
        tall, deep = (float(np.abs(found.half @ np.abs(found.axes.T @ v))) for v in (high, far))
        flat = 2.0 * tall < _FLAT * hand
        for along in _ALONG:
            for upward in (0.0,) if flat else _UPWARD:
                middle = found.centre - along * deep * far + upward * tall * high
                for angle in _DOWN if flat else _TURNS:
                    thumb = np.cos(angle) * high - np.sin(angle) * far
                    place, worth = middle, 1.0 - 0.15 * abs(angle)
                    if flat:
                        fingers = np.cos(angle) * far + np.sin(angle) * high
                        lowest = max(_PAD * hand - tall, 0.0)
                        place, worth = middle + lowest * high - _TIPS * hand * fingers, 1.0 - 0.15 * abs(angle + 0.8)
                    worth -= 0.2 * abs(along) + 0.2 * abs(upward) + 0.5 * (1.0 - across)
                    name = "both edges" if flat else "both sides"
                    for down, less in _COMING:
                        quality = float(np.clip(worth - less, 0.05, 1.0))
                        out.append(_pair(axis, half, thumb, place, quality, name, -down * high))
    return sorted(out, key=lambda pair: -pair[0].quality)


def is_broad(body: Body, matrix: Array, hand: float) -> bool:
    """Whether a prop at a matrix (4, 4) is a thing for both hands in the first place: flat, and wider than a hand."""
    thick, wide, _ = sorted(2.0 * bounds(body.vertices * parted(matrix)[1]).half)
    return bool(thick < _FLAT * hand and wide > hand)


def _across(found: Bounds, turn: Array, left: Array) -> Sequence[tuple[Array, float]]:
    """Directions (3,) in the axes of a prop, from its right to its left side, and half its width along each [m]."""
    side = turn.T @ left
    if found.kind == "sphere" or (found.kind == "cylinder" and abs(float((turn @ found.axes[:, 2])[2])) > 0.9):
        # what is round has no sides: it is taken as one stands, or from a little round it
        high = turn.T @ UP
        if found.kind == "cylinder":
            high = found.axes[:, 2]
        side = quat.unit(side - (side @ high) * high)
        return [(quat.rotate(quat.about(high, yaw), side), float(found.half[0])) for yaw in _ROUND]
    axes = (turn @ found.axes).T
    return [(found.axes[:, k] * np.sign(axes[k] @ left or 1.0), float(found.half[k])) for k in range(3)]


def _pair(
    axis: Array, half: float, thumb: Array, middle: Array, quality: float, name: str, down: Array
) -> tuple[Grasp, Grasp]:
    """The grasps of both hands at places (3,) half the width to either side of a middle (3,), which come down by `down`
    (3,) as they come nearer."""
    both = []
    for side, sign in (("L", 1.0), ("R", -1.0)):
        inward = -sign * axis
        fingers = np.cross(thumb, inward) if side == "L" else np.cross(inward, thumb)
        palm = np.cos(_TILT) * inward - np.sin(_TILT) * fingers
        frame = framed(palm, thumb, middle - (half + 0.001) * inward)
        both.append(Grasp(frame, "press", (ANY, "carry"), quality, side, inward + down, STANDOFF, name))
    return both[0], both[1]
