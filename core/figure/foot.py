"""The left foot in a plain shoe [cm]: outlines along the foot, from the ground below the ankle."""

from __future__ import annotations

import numpy as np

from ..skeleton import Array
from .faces import split
from .implicit import Blob, cone, evaluate, sweep
from .layout import Layout
from .net import net, steps
from .shell import Shell, material, rise, shell, softened

# Forward of the ankle, then half axes outward, inward, up and down, and the centre's place outward and up
_LAST = (
    (-6.0, 2.3, 2.3, 2.2, 3.4, 0.0, 3.0),
    (-4.0, 3.2, 3.2, 4.6, 3.4, 0.0, 3.0),
    (0.0, 3.5, 3.4, 6.0, 3.4, 0.0, 3.0),
    (4.0, 3.7, 3.5, 5.2, 3.4, 0.0, 3.0),
    (8.0, 4.2, 3.9, 3.8, 3.4, 0.1, 3.0),
    (12.0, 4.8, 4.4, 2.8, 3.4, 0.2, 2.8),
    (16.0, 4.6, 4.3, 2.4, 3.4, 0.0, 2.6),
    (19.0, 3.7, 3.8, 2.0, 3.4, -0.4, 2.5),
    (21.0, 2.2, 2.4, 1.4, 3.4, -0.7, 2.4),
)
_SPACING = 0.95
_SOLE, _TOP = 1.7, 7.6


def foot(layout: Layout) -> Shell:
    """The skin of the left foot; its top end is hidden in the leg."""
    ground = Blob(lambda p: p[:, 2], np.array([-20.0, -40.0, -10.0]), np.array([20.0, 40.0, 3.0]), 0.8, carve=True)
    blobs = [
        sweep(_LAST, _along, np.array([-7.0, -22.0, -2.0]), np.array([7.0, 7.0, 11.0]), 1.0, power=2.3, cap=1.6),
        cone((0.0, 0.2, 5.0), (0.0, 0.8, 12.5), 3.4, 3.1, 2.5),
        ground,
    ]
    grid = steps(-7.0, _SPACING, 7.5), steps(-24.0, _SPACING, 9.0), steps(-2.0, _SPACING, 17.0)
    v, f = net(lambda p: evaluate(blobs, p), grid)
    v, f, sole, _ = split(v, f, v[:, 2] - _SOLE)
    part = np.where(sole, material("Sole"), material("Foot.L"))
    v, f, shoe, origin = split(v, f, v[:, 2] - _TOP - 0.22 * np.maximum(v[:, 1], -4.0))
    part = np.where(shoe, part[origin], material("Sole"))

    index, w = layout.skeleton.index, layout.zeros(len(v))
    ankle, toe = layout.at("foot.L"), layout.at("toe.L")
    shin = rise(v[:, 2], ankle[2] + 1.5, 2.5)
    ball = rise(-v[:, 1], -toe[1], 2.0) * (1.0 - shin)
    w[:, index("shin.L")], w[:, index("toe.L")], w[:, index("foot.L")] = shin, ball, 1.0 - shin - ball
    at_rest = layout.placed(v + ankle * (1, 1, 0), "foot.L")
    return shell(at_rest, f, part, softened(w, f, 2))


def _along(p: Array) -> Array:
    return np.column_stack([p[:, 0], p[:, 2], -p[:, 1]])
