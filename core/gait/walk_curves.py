"""Curves of normal walking over stance and swing, as a base and its change with speed.

Fitted to recorded walks of several people at 0.9 to 1.9 m/s (CMU Graphics Lab Motion Capture Database 02_01, 35_01,
07_12): foot, thigh and knee in degrees at even parts of the stance or the swing, at a speed of 0.45 sqrt(g leg), and
what a whole unit of that speed adds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from ..maths.spline import hermite, monotone_slopes, natural_slopes
from ..skeleton import Array
from .cycle import LEG_SAMPLES

Table = tuple[tuple[float, ...], ...]

MIDDLE = 0.45
"""Speed of the base curves, in units of sqrt(g leg)."""
SLOWEST, FASTEST = 0.28, 0.75
"""Speeds between which the curves follow the speed, in units of sqrt(g leg)."""

_STANCE_PITCH = (
    (22.4, 8.8, 0.9, -0.0, 0.0, 0.0, 0.0, -0.3, -0.5, -5.5, -10.0, -19.7, -31.1, -56.1),
    (32, 4, 0, 0, 0, 0, 0, -8, -12, -17, -22, -24, -14, -7),
)
_STANCE_KNEE = (
    (22.0, 28.6, 33.7, 32.4, 29.0, 25.5, 23.7, 21.1, 15.4, 9.9, 8.7, 11.3, 20.4, 41.0),
    (-2, 9, 18, 25, 29, 29, 20, 11, 1, -16, -26, -37, -64, -86),
)
_SWING_THIGH = (
    (-11.5, -4.0, 4.5, 11.6, 16.5, 21.0, 24.9, 28.6, 29.0, 29.8, 30.3, 31.6, 33.7, 32.7),
    (-77, -64, -56, -45, -32, -21, -8, 0, 5, 8, 12, 14, 18, 23),
)
_SWING_KNEE = (
    (41.7, 52.6, 65.0, 67.8, 71.7, 71.3, 68.5, 61.6, 50.8, 38.9, 27.9, 23.2, 22.5, 19.8),
    (-72, -36, -10, 6, 4, -4, -16, -22, -21, -22, -17, -16, -10, -5),
)
_SWING_PITCH = (
    (-61.2, -69.2, -69.2, -62.5, -52.5, -42.5, -30.5, -17.6, -7.1, 3.5, 13.9, 21.2, 27.8, 23.5),
    (-8, -33, -47, -34, -23, -9, 7, 21, 33, 47, 58, 60, 54, 34),
)


@cache
def _sampled(table: Table) -> tuple[Array, Array]:
    """Base and change (LEG_SAMPLES,) [rad] of a table: a natural spline is linear in what it goes through."""
    base, change = np.radians(np.array(table, dtype=np.float64))
    return _through(base, natural_slopes), _through(change, natural_slopes)


def _through(values: Array, slopes: Callable[[Array, Array], Array]) -> Array:
    knots = np.linspace(0.0, 1.0, len(values))
    return hermite(np.linspace(0.0, 1.0, LEG_SAMPLES), knots, values, slopes(knots, values))


def _beyond_middle(froude: Array) -> Array:
    return np.clip(froude, SLOWEST, FASTEST)[:, None] - MIDDLE


def curve(table: Table, froude: Array) -> Array:
    """(S, LEG_SAMPLES) a curve [rad] at speeds (S,) in units of sqrt(g leg), held at the ends of what was recorded."""
    base, change = _sampled(table)
    out: Array = base + change * _beyond_middle(froude)
    return out


def stance(froude: Array) -> tuple[Array, Array]:
    """Pitch of the foot and knee flexion (S, LEG_SAMPLES) from strike to toe-off [rad] at speeds (S,)."""
    # without overshoot, so that a flat foot is quite flat and leaves the ground by its heel alone
    base, change = np.radians(np.array(_STANCE_PITCH, dtype=np.float64))
    pitch = _through((base + change * _beyond_middle(froude)).T, monotone_slopes).T
    late = np.linspace(0.0, 1.0, LEG_SAMPLES) > 0.38
    return np.where(late, np.minimum(pitch, 0.0), pitch), curve(_STANCE_KNEE, froude)


def swing(froude: Array) -> tuple[Array, Array, Array]:
    """Pitch of the thigh, knee flexion and pitch of the foot (S, LEG_SAMPLES) from toe-off to strike [rad]."""
    return curve(_SWING_THIGH, froude), curve(_SWING_KNEE, froude), curve(_SWING_PITCH, froude)
