"""Contacts told by hand: from when to when each foot is planted, and feet held there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ..errors import InvalidParam
from ..motion import Event, Motion
from ..skeleton import SIDES
from .contacts import CURVES, EVENTS, ContactParams, Flags, contacts, footfall_events, runs
from .footlock import FootlockParams, footlock

Interval = tuple[float, ...]
"""Foot (0 left, 1 right), start and end [s]."""


def plant(
    motion: Motion,
    found: ContactParams | None = None,
    held: FootlockParams | None = None,
    intervals: Iterable[Interval] = (),
) -> Motion:
    """`motion` with its feet held still while they are planted: in `intervals`, else where contacts are found."""
    rows = tuple(intervals)
    touching = with_intervals(motion, rows, found) if rows else contacts(motion, found)
    return footlock(touching, held)


def intervals_of(motion: Motion) -> tuple[Interval, ...]:
    """When each foot is planted by any part of it, after the contact curves of a motion, in order of time."""
    rows = []
    for foot, names in enumerate(CURVES):
        touching = np.zeros(len(motion), dtype=bool)
        for name in names:
            touching |= motion.curves[name] > 0.5 if name in motion.curves else False
        rows += [(float(foot), a / motion.fps, (b - 1) / motion.fps) for a, b in runs(touching)]
    return tuple(sorted(rows, key=lambda row: row[1]))


def with_intervals(motion: Motion, intervals: Iterable[Interval], found: ContactParams | None = None) -> Motion:
    """`motion` with contact curves and events that follow from intervals, whatever else might be found.

    Within an interval heel and ball come down and leave as they are found to; where nothing is found, as at the nearest
    moment of it where something is, and the whole foot where there is none.

    Args:
        motion: Its contact curves and the events of its footfalls are replaced.
        intervals: Rows of foot (0 left, 1 right), start and end [s].
        found: What counts as a contact of heel or ball.
    """
    rows = _checked(motion, intervals)
    known = contacts(motion, found)
    names = {f"{event}_{side}" for event in EVENTS for side in SIDES}
    curves, events = dict(motion.curves), [e for e in motion.events if e.name not in names]
    for foot, side in enumerate(SIDES):
        parts = np.stack([known.curves[name] for name in CURVES[foot]], axis=-1) > 0.5
        planted = np.zeros_like(parts)
        for _, start, end in (row for row in rows if row[0] == foot):
            a, b = round(start * motion.fps), min(round(end * motion.fps) + 1, len(motion))
            planted[a:b] |= _nearest(parts[a:b])
        for part, name in enumerate(CURVES[foot]):
            curves[name] = planted[:, part].astype(np.float64)
        events += [Event(k / motion.fps, f"{name}_{side}") for k, name in footfall_events(planted, motion.loop)]
    return replace(motion, curves=curves, events=tuple(events))


def _nearest(parts: Flags) -> Flags:
    """Heel and ball (T, 2), where neither is down as at the nearest sample where one is; both where there is none."""
    down = np.flatnonzero(parts.any(axis=1))
    if not len(down):
        return np.ones_like(parts)
    after = np.minimum(np.searchsorted(down, np.arange(len(parts))), len(down) - 1)
    before = np.maximum(after - 1, 0)
    at = np.arange(len(parts))
    nearest = np.where(np.abs(down[before] - at) < np.abs(down[after] - at), down[before], down[after])
    return np.asarray(parts[nearest])


def _checked(motion: Motion, intervals: Iterable[Interval]) -> list[tuple[int, float, float]]:
    last, rows = (len(motion) - 1) / motion.fps, []
    for row in intervals:
        if len(row) != 3 or row[0] not in (0, 1):
            raise InvalidParam("intervals", row, "must be rows of foot (0 left, 1 right), start and end")
        foot, start, end = row
        if not 0 <= start <= end:
            raise InvalidParam("intervals", row, "must start at 0 s or later and end after that")
        if start > last + 0.5 / motion.fps:
            raise InvalidParam("intervals", row, f"starts after the end of the clip at {last:g} s")
        rows.append((int(foot), float(start), float(end)))
    return rows
