"""How a body that stands sets off: when it lifts the first foot, which one, and how long it swings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .footfalls import Footfall
from .track import Track

START = (0.03, np.radians(3.0))
"""A standing body steps when it has left its place by this [leg lengths; rad]."""
SOONEST = 0.15
"""A standing foot is not lifted sooner than this [s for a leg of 0.9 m]."""
LIFT_BEFORE = 0.1
"""How long before the body has left its place it lifts the foot [s for a leg of 0.9 m]."""


def departure(track: Track, leg: float, unit: float, time: float) -> float | None:
    """When a body that stands from `time` on must lift its first foot; None for never.

    Args:
        leg: Its length [m].
        unit: Its own time, by that of a leg of 0.9 m.
    """
    fps = track.fps
    first = int(np.ceil(time * fps))
    if first >= len(track.base):
        return None
    gone = track.base[first:] - np.array(track.point(min(time, track.duration)))
    away = np.maximum(np.hypot(gone[:, 0], gone[:, 1]) / (START[0] * leg), np.abs(gone[:, 2]) / START[1])
    if not np.any(away > 1.0):
        return None
    k = int(np.argmax(away > 1.0))
    part = (1.0 - away[k - 1]) / (away[k] - away[k - 1]) - 1.0 if k else 0.0
    # a heel has to rise before its foot can leave
    return float(max(time + SOONEST * unit, (first + k + part) / fps - LIFT_BEFORE * unit))


def first_swing(track: Track, leg: float, unit: float, lift: float, usual: float) -> float:
    """How long the first swing may last before the body has left its standing foot too far behind [s]."""
    times = lift + np.linspace(0.0, usual, 9)
    gone = np.abs(track.at(times) - track.at(lift))
    far = (np.hypot(gone[:, 0], gone[:, 1]) > 0.3 * leg) | (gone[:, 2] > np.radians(25.0))
    soonest = min(usual, 0.28 * unit)
    return float(max(times[far.argmax()] - lift if far.any() else usual, soonest))


def first_side(
    track: Track, leg: float, unit: float, falls: Sequence[Footfall], time: float, wanted: int | None
) -> int:
    """The foot that begins: the one on the side to which the body goes or turns, else the one that is behind.

    `wanted` is the one an animator asks for.
    """
    here, there = track.at(np.array([time, time + 0.35 * unit]))
    if abs(there[2] - here[2]) > np.radians(6.0):
        return 0 if there[2] > here[2] else 1
    s, c = np.sin(here[2]), np.cos(here[2])
    move = there - here
    forward, left = s * move[0] - c * move[1], c * move[0] + s * move[1]
    if abs(left) > 0.7 * abs(forward):
        return 0 if left > 0 else 1
    if wanted is not None:
        return wanted
    feet = [next(f for f in reversed(falls) if f.side == side).place for side in (0, 1)]
    behind = [s * foot[0] - c * foot[1] for foot in feet]
    if abs(behind[0] - behind[1]) < 0.02 * leg:
        return 1
    return int(np.argmin(behind) if forward >= 0 else np.argmax(behind))
