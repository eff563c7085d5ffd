"""Narrow places: where only one can pass at a time, and who goes first.

Reciprocal avoidance alone lets two actors who meet in a doorway push each other for ever. Here those inside go on, the
others wait in front of it, to the side of the way of those who come out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...maths import trig
from ...maths.spline import arc_length, at_length
from ...skeleton import Array
from ..ways.chart import clearance
from ..ways.walkable import Walkable

SPACING = 0.15
"""Between the places at which a way is measured [m]."""
REACH = 2.0
"""How far to the sides walls are sought [m]."""
NOTICE = 2.6
"""How far in front of a narrow place others are minded [m]."""
PATIENCE = 4.0
"""Whoever has waited longer than this goes before those who have not [s]."""
ASIDE_FROM = 1.8
"""This near to a narrow place those who wait step out of the way of those who come out [m]."""
STANDOFF = 0.7
"""How far in front of a narrow place one waits [m]."""


def narrow_spans(points: Array, walk: Walkable, radius: float) -> Array:
    """(k, 2) from where to where along a way (N, 2) two bodies of a radius cannot pass each other [m]."""
    lengths = arc_length(points)
    if len(points) < 2 or lengths[-1] < SPACING:
        return np.zeros((0, 2))
    s = np.arange(0.0, lengths[-1], SPACING)
    on = at_length(points, s, lengths)
    ahead = at_length(points, np.minimum(s + 0.3, lengths[-1]), lengths)
    before = at_length(points, np.maximum(s - 0.3, 0.0), lengths)
    course = trig.arctan2(*(ahead - before).T[::-1])
    steps = np.arange(walk.cell / 2, max(REACH, walk.cell), walk.cell / 2)
    width = np.full(len(s), np.inf)
    for turn in (-0.5, 0.0, 0.5):
        across = np.stack([-np.sin(course + turn), np.cos(course + turn)], axis=-1)
        sides = []
        for sign in (1.0, -1.0):
            probes = on[:, None] + sign * steps[:, None] * across[:, None]
            wall = clearance(walk, probes) < 0.6 * walk.cell
            first = np.where(wall.any(axis=1), np.argmax(wall, axis=1), len(steps) - 1)
            sides.append(steps[first])
        width = np.minimum(width, sides[0] + sides[1])
    tight = width < 4.0 * radius + 0.1
    edges = np.diff(np.concatenate([[False], tight, [False]]).astype(int))
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    spans = [[s[a] - radius, s[b - 1] + radius] for a, b in zip(starts, ends, strict=True)]
    merged: list[list[float]] = []
    for span in spans:
        if merged and span[0] - merged[-1][1] < 0.5:
            merged[-1][1] = span[1]
        else:
            merged.append(span)
    return np.array(merged).reshape(-1, 2)


@dataclass(frozen=True, eq=False)
class Passage:
    """The next narrow place of one actor.

    Attributes:
        entry, exit: (2,) where it begins and ends [m].
        ahead: How far it is to the entry; negative inside [m].
        left: How far it is to the exit [m].
        length: Along the way [m].
        course: (2,) direction of the way where it begins.
    """

    entry: Array
    exit: Array
    course: Array
    ahead: float
    left: float
    length: float


def next_passage(points: Array, narrow: Array, along: float) -> Passage | None:
    """The narrow place that one who is `along` [m] a way (N, 2) is in, or comes to soon."""
    for begin, end in narrow:
        if along > end + 0.3:
            continue
        if begin - along > NOTICE:
            return None
        lengths = arc_length(points)
        entry, exit, before, after = at_length(points, np.array([begin, end, begin - 0.3, begin + 0.3]), lengths)
        course = (after - before) / max(float(np.hypot(*(after - before))), 1e-9)
        return Passage(entry, exit, course, float(begin - along), float(end - along), float(end - begin))
    return None


def shared(a: Passage, b: Passage) -> int:
    """-1 when two come through the same narrow place against each other, 1 when the same way, 0 for other places."""
    near = 0.7
    opposed = min(np.hypot(*(a.entry - b.exit)), np.hypot(*(a.exit - b.entry)))
    along = min(np.hypot(*(a.entry - b.entry)), np.hypot(*(a.exit - b.exit)))
    if min(opposed, along) > near + 0.3 * min(a.length, b.length):
        return 0
    return -1 if float(a.course @ b.course) < 0 else 1


def waiting_place(passage: Passage, place: Array, walk: Walkable, radius: float) -> Array:
    """(2,) where to wait [m]: before the narrow place, on one's own side, out of the way of those who come out."""
    left = np.array([-passage.course[1], passage.course[0]])
    side = 1.0 if float((place - passage.entry) @ left) > 0 else -1.0
    back, wide = np.meshgrid([0.9, 1.3, 1.8, 2.4], [1.1, 0.8, 0.5, -0.8, -1.1], indexing="ij")
    spots = passage.entry - back.reshape(-1, 1) * passage.course + side * wide.reshape(-1, 1) * left
    free = clearance(walk, spots) > radius + 0.05
    off = spots - place
    cost = np.hypot(off[:, 0], off[:, 1]) + 2.0 * (np.abs(wide.ravel()) < 0.7) + np.where(free, 0.0, 100.0)
    best = int(np.argmin(cost))
    return np.array(spots[best] if free[best] else place)


def holds(
    passages: list[Passage | None], priority: Array, waited: Array, passing: list[bool]
) -> tuple[Array, npt.NDArray[np.bool_], list[bool]]:
    """Who must wait and how far in front of its narrow place.

    Args:
        passages: The next narrow place of each actor.
        priority: (A,) of the actors.
        waited: (A,) how long each has waited [s].
        passing: Who had the right of way so far.

    Returns:
        (A,) way to go before it must stand [m], infinite for those who may go on; (A,) who waits for somebody who comes
        out; and who has the right of way now.
    """
    room = np.full(len(passages), np.inf)
    keys = {}
    for a, p in enumerate(passages):
        if p is not None:
            inside = p.ahead < 0.15
            # those who wait have stepped back: what counts is how long, not how near
            keys[a] = (
                not inside,
                not (passing[a] and p.ahead < 1.2),
                bool(waited[a] <= PATIENCE),
                -int(priority[a]),
                p.ahead,
                a,
            )
    order = sorted(keys, key=lambda a: keys[a])
    going: list[int] = []
    now = [False] * len(passages)
    opposed = np.zeros(len(passages), bool)
    for a in order:
        mine = passages[a]
        assert mine is not None
        wait, against = np.inf, False
        for b in going:
            other = passages[b]
            assert other is not None
            way = shared(mine, other)
            if way < 0:
                against = True
                wait = min(wait, mine.ahead - STANDOFF)
            elif way > 0 and other.ahead > -0.25 and mine.ahead > 0.15:
                wait = min(wait, mine.ahead - 0.6)
        if np.isfinite(wait):
            room[a] = wait
            opposed[a] = against
            # who waits only for the one before it in its own direction comes next, before those from the other side
            if not against:
                going.append(a)
        else:
            going.append(a)
            now[a] = True
    return room, opposed, now
