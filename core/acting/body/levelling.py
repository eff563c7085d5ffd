"""Floor levelling: the height of a body follows the floor under its foot with a short lag.

Perlin (1995) averages each new height with the last one, frame by frame; at his 15 frames a second that is a half-life
of 1/15 s, which this keeps at any rate.
"""

from __future__ import annotations

import numpy as np

from ...skeleton import Array

HALVINGS = 15.0
"""How often the distance to the floor is halved in a second."""


def kept(dt: float) -> float:
    """Part of the distance to the floor that is left after `dt` [s]."""
    return float(0.5 ** (dt * HALVINGS))


def levelled(heights: Array, dt: float, start: float | None = None) -> Array:
    """Heights (T,) that follow `heights` (T,) sampled every `dt` [s], from `start` or the first of them."""
    rest = kept(dt)
    out = np.empty(len(heights))
    now = float(heights[0]) if start is None else start
    for k, height in enumerate(np.asarray(heights, dtype=np.float64).tolist()):
        now = height + (now - height) * (rest if k or start is not None else 0.0)
        out[k] = now
    return out
