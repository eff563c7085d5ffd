"""Basic periods of an action: from one turning point of the hand or foot that acts to the next.

Amaya, Bruderlin and Calvert, "Emotion from motion", 1996, analyse and change a motion period by period. A boundary is
where the end effector turns back or comes to rest; a rest long enough is a period of its own. Boundaries set by hand
are events named "period" and are taken as they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParam, InvalidRig
from ..kinematics import base as bases
from ..kinematics import fk
from ..maths import quat
from ..maths.ramp import smooth
from ..motion import Event, Motion
from ..skeleton import SIDES, Array
from .contacts import runs

Ints = npt.NDArray[np.int64]

EVENT = "period"
"""Name of the events that say where a period ends and the next begins."""
EFFECTORS = tuple(f"{part}_{side}" for part in ("hand", "foot") for side in SIDES)

_TURNS_HZ, _RESTS_HZ = 2.0, 6.0
"""Low pass before velocities are taken, for turning back and for rest: a Gaussian of two samples at 30 a second has its
-3 dB at 2 Hz; it would hide short rests."""
_STILL = 0.05
"""Speed that counts as rest, as a part of the highest."""
_SHORTEST = 0.1
"""Shorter periods are joined to their neighbours [s]."""
_PAUSE = 0.35
"""A rest of this length is a period of its own, as a part of the usual length of a period."""
_DROP = 0.08
"""Difference of place, in parts of the whole, at which two boundaries rather have no partner."""


def periods(motion: Motion, effector: str = "auto") -> Ints:
    """(K + 1,) samples at which the K basic periods of a motion begin, and its last sample.

    Args:
        motion: Its "period" events are used where it has any.
        effector: Role of the hand or foot that acts, or "auto" for the one that moves most.
    """
    last = len(motion) - 1
    marks = [round(e.time * motion.fps) for e in motion.events if e.name == EVENT]
    if marks:
        return np.unique([0, *(m for m in marks if 0 < m < last), last])
    return detect(effector_path(motion, effector)[1], motion.fps)


def with_periods(motion: Motion, boundaries: npt.ArrayLike) -> Motion:
    """`motion` whose periods are bounded at these samples, whatever they were before."""
    last = len(motion) - 1
    marks = [Event(int(k) / motion.fps, EVENT) for k in np.asarray(boundaries) if 0 < k < last]
    # without an inner boundary the whole is one period, which no event says; its beginning does
    marks = marks or [Event(0.0, EVENT)]
    return replace(motion, events=(*(e for e in motion.events if e.name != EVENT), *marks))


def effector_paths(motion: Motion) -> dict[str, Array]:
    """(T, 3) places of each hand and foot as seen from the place on the ground where the character is [m]."""
    skeleton = motion.skeleton
    roles = [role for role in EFFECTORS if skeleton.has(role)]
    if not roles:
        raise InvalidRig(f"this character has neither hands nor feet; it has {', '.join(skeleton.roles)}")
    base = bases.derive(motion) if motion.base is None else motion.base
    positions, _ = fk.forward(skeleton, motion.rotations, motion.roots)
    away = positions[:, [skeleton.joint(role) for role in roles]] - (base * (1.0, 1.0, 0.0))[:, None]
    seen = quat.rotate(quat.about(np.array([0.0, 0.0, 1.0]), -base[:, 2])[:, None], away)
    return {role: seen[:, k] for k, role in enumerate(roles)}


def effector_path(motion: Motion, effector: str = "auto") -> tuple[str, Array]:
    """The role of a hand or foot, the busiest for "auto", and its path (T, 3) as of `effector_paths`."""
    paths = effector_paths(motion)
    if effector == "auto":
        effector = max(paths, key=lambda role: length(paths[role]))
    if effector not in paths:
        raise InvalidParam("effector", effector, f"must be auto or one of {', '.join(paths)}")
    return effector, paths[effector]


def length(path: Array) -> float:
    """Length of a path (T, 3)."""
    step = np.diff(path, axis=0)
    return float(np.sqrt(quat.dot(step, step)).sum())


def detect(path: Array, fps: float) -> Ints:
    """(K + 1,) samples that bound the K basic periods of a path (T, 3) [m], the first and the last included."""
    count = len(path)
    if count < 3:
        return np.unique([0, count - 1])
    velocity = np.gradient(smooth(path, fps, _TURNS_HZ), axis=0)
    speed = np.sqrt(quat.dot(velocity, velocity))
    if speed.max() * fps < 1e-6:
        return np.array([0, count - 1])
    rests = runs(_speed(smooth(path, fps, _RESTS_HZ)) < _STILL * speed.max())
    step = max(1, round(fps / 15))
    samples = np.arange(count)
    earlier, later = velocity[np.maximum(samples - step, 0)], velocity[np.minimum(samples + step, count - 1)]
    turning = quat.dot(earlier, later) < 0
    for a, b in rests:
        turning[a:b] = False
    turns = {a + int(speed[a:b].argmin()) for a, b in runs(turning)}
    ends = {0, count - 1}
    marks = _joined(ends | turns | {(a + b) // 2 for a, b in rests if a > 0 and b < count}, speed, _SHORTEST * fps)
    pause = max(_SHORTEST * fps, _PAUSE * float(np.median(np.diff(marks))))
    edges = {k for a, b in rests for k in ((a, b - 1) if b - a >= pause else ((a + b) // 2,))}
    # a short rest at either end of the clip is part of the first or last period
    edges -= {(a + b) // 2 for a, b in rests if b - a < pause and (a == 0 or b == count)}
    return _joined(ends | turns | edges, speed, _SHORTEST * fps)


def _speed(path: Array) -> Array:
    velocity = np.gradient(path, axis=0)
    speed: Array = np.sqrt(quat.dot(velocity, velocity))
    return speed


def _joined(found: set[int], speed: Array, shortest: float) -> Ints:
    """The boundaries left when those that bound a period too short are taken away, the fastest of each pair first."""
    marks = sorted(found)
    while len(marks) > 2:
        gaps = np.diff(marks)
        k = int(gaps.argmin())
        if gaps[k] >= shortest:
            break
        inner = [i for i in (k, k + 1) if 0 < i < len(marks) - 1]
        marks.pop(max(inner, key=lambda i: float(speed[marks[i]])))
    return np.array(marks)


def paired(first: Ints, first_path: Array, second: Ints, second_path: Array) -> tuple[Ints, Ints]:
    """The boundaries that two performances of one action have in common; all of them where they have as many.

    Boundaries belong together where the same part of the path is covered, in order; those without a partner are
    dropped, so that their periods are joined.
    """
    if len(first) == len(second):
        return first, second
    here, there = (_places(m, p) for m, p in ((first, first_path), (second, second_path)))
    cost = np.abs(here[1:-1, None] - there[None, 1:-1]).sum(axis=-1)
    n, m = cost.shape
    # the cheapest way to pair or drop the inner boundaries, in order
    best = np.full((n + 1, m + 1), np.inf)
    best[0], best[:, 0] = _DROP * np.arange(m + 1), _DROP * np.arange(n + 1)
    for i in range(n):
        for j in range(m):
            best[i + 1, j + 1] = min(best[i, j] + cost[i, j], best[i, j + 1] + _DROP, best[i + 1, j] + _DROP)
    pairs, i, j = [], n, m
    while i and j:
        if best[i, j] == best[i - 1, j - 1] + cost[i - 1, j - 1]:
            pairs.append((i, j))
            i, j = i - 1, j - 1
        elif best[i, j] == best[i - 1, j] + _DROP:
            i -= 1
        else:
            j -= 1
    kept = [(0, 0), *reversed(pairs), (n + 1, m + 1)]
    return first[[i for i, _ in kept]], second[[j for _, j in kept]]


def _places(marks: Ints, path: Array) -> Array:
    """(K + 1, 2) part of the path and, counting less, of the time at each boundary."""
    step = np.diff(path, axis=0)
    covered = np.concatenate([[0.0], np.cumsum(np.sqrt(quat.dot(step, step)))])
    return np.stack([covered[marks] / max(covered[-1], 1e-9), 0.3 * marks / max(len(path) - 1, 1)], axis=-1)
