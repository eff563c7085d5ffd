"""What a prop roughly is: a ball, something round about an axis, or a box."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...skeleton import Array

YAWS = 12
"""Ways round something round that are tried."""


@dataclass(frozen=True, eq=False)
class Bounds:
    """What a prop roughly is: "sphere", "cylinder" (its axis is the last column) or "box".

    Attributes:
        kind: Of the three.
        centre: (3,) [m].
        axes: (3, 3) in columns.
        half: (3,) half of its size along them [m].
    """

    kind: str
    centre: Array
    axes: Array
    half: Array


def bounds(vertices: Array) -> Bounds:
    """The oriented box around vertices (V, 3), and which simple shape fills it.

    Axes are the prop's own unless those of its vertices' spread make a box smaller by a tenth.
    """
    tries = [np.eye(3)]
    spread = np.cov((vertices - vertices.mean(axis=0)).T)
    own = np.linalg.eigh(spread)[1]
    tries.append(own * np.sign(np.linalg.det(own)))
    sizes = [np.ptp(vertices @ axes, axis=0) for axes in tries]
    axes = tries[1] if np.prod(sizes[1]) < 0.9 * np.prod(sizes[0]) else tries[0]
    local = vertices @ axes
    low, high = local.min(axis=0), local.max(axis=0)
    half, middle = 0.5 * (high - low), 0.5 * (low + high)
    away = np.linalg.norm(local - middle, axis=1)
    if half.min() > 0.9 * half.max() and away.max() < 1.06 * half.max():
        return Bounds("sphere", axes @ middle, axes, half)
    # the axis of a body of revolution: the two others are alike, and no corner sticks out
    for k in np.argsort(-np.abs(half - np.median(half)), kind="stable"):
        a, b = (k + 1) % 3, (k + 2) % 3
        radial = np.hypot(local[:, a] - middle[a], local[:, b] - middle[b]).max()
        if abs(half[a] - half[b]) < 0.08 * max(half[a], half[b]) and radial < 1.08 * max(half[a], half[b]):
            order = [a, b, k]
            return Bounds("cylinder", axes @ middle, axes[:, order], half[order])
    return Bounds("box", axes @ middle, axes, half)
