"""Looking at something with the neck, as far as a neck turns.

Perlin (1995): the turn of the head is scaled by how far the target is in front, k = (d + 0.6) / 1.6 with d the cosine
between the body's front and the target. It holds a gaze as the body turns away, lets go, and takes it up again over the
other shoulder; behind, where k is 0, it changes sides unseen.
"""

from __future__ import annotations

import numpy as np

from ...maths import trig
from ...maths.ramp import smoothstep
from ...skeleton import Array

BEHIND = -0.6
"""Cosine at which the head gives up."""
YAW_LIMIT = np.radians(80.0)
"""Most that neck and head turn together."""
PITCH_LIMIT = np.radians(50.0)


def factor(cosine: Array, hold: bool = False) -> Array:
    """How much (...) of the way the head turns for a target at an angle of this cosine from the front.

    `hold` keeps the gaze longer and drops it more suddenly.
    """
    k = np.clip((np.asarray(cosine, dtype=np.float64) - BEHIND) / (1.0 - BEHIND), 0.0, 1.0)
    return smoothstep(np.sqrt(k)) if hold else k


def angles_to(directions: Array) -> tuple[Array, Array, Array]:
    """Yaw to the left and pitch down (...) [rad] of directions (..., 3) from the body, and the cosine to its front.

    Directions are in character axes of a body that faces -Y.
    """
    # in one piece: numpy rounds an arctangent by how its arguments lie in memory
    left, forward, up = np.ascontiguousarray(np.moveaxis(directions, -1, 0))
    forward = -forward
    length = np.maximum(np.sqrt(left * left + forward * forward + up * up), 1e-9)
    return trig.arctan2(left, forward), -trig.arctan2(up, np.hypot(left, forward)), forward / length


def looked(neck: Array, nod: Array, directions: Array, weights: Array, hold: bool = False) -> Array:
    """Neck angles (T, 3) [rad] that look along directions (T, n, 3) by weights (T, n).

    The turns are what is mixed: a point between two that are looked at may come close to the head, or behind it.

    Args:
        neck: (T, 3) angles x, y, z of the neck.
        nod: (T, 3) those of the head, which are kept.
        directions: (T, n, 3) from the head to the targets in the axes of the upper torso.
        weights: (T, n) 0..1.
        hold: See `factor`.
    """
    yaw, pitch, cosine = angles_to(directions)
    share = factor(cosine, hold) * weights
    out = np.array(neck)
    out[:, 1] += (share * yaw).sum(axis=1)
    out[:, 0] += (share * np.clip(pitch, -PITCH_LIMIT, PITCH_LIMIT)).sum(axis=1)
    return within_reach(out, nod)


def within_reach(neck: Array, nod: Array) -> Array:
    """Neck angles (T, 3) [rad] that with those of the head, `nod` (T, 3), turn it no further than heads turn."""
    total = neck[:, 1] + nod[:, 1]
    if (np.abs(total) <= YAW_LIMIT).all():
        return neck
    out = np.array(neck)
    out[:, 1] = np.clip(total, -YAW_LIMIT, YAW_LIMIT) - nod[:, 1]
    return out
