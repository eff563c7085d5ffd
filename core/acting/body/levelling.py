"""Floor levelling: the height of a body follows the floor under its foot with a short lag.

Perlin (1995) averages each new height with the last one, frame by frame; at his 15 frames a second that is a half-life
of 1/15 s, which this keeps at any rate.
"""

from __future__ import annotations

HALVINGS = 15.0
"""How often the distance to the floor is halved in a second."""


def kept(dt: float) -> float:
    """Part of the distance to the floor that is left after `dt` [s]."""
    return float(0.5 ** (dt * HALVINGS))
