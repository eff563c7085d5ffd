"""A loop made of a motion: the part of it that ends most as it began, with its ends brought together.

Two moments are alike when the joints, seen from the character, are at the same places and move the same way (in the
manner of Kovar, Gleicher, Pighin, "Motion graphs", 2002). How unlike they are counts in relation to how much happens
between them: standing still is no cycle. `seam` brings the ends together.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import InvalidMotion, InvalidParam
from ..kinematics import base as bases
from ..kinematics import fk
from ..maths import quat
from ..motion import Motion
from ..skeleton import CORE_ROLES, LEG, SIDES, Array
from .contacts import contacts
from .footlock import footlock
from .resample import slice as part_of
from .seam import as_loop, ring

LEAST = 4
"""Fewest samples of a loop."""
SHORTEST, LONGEST = 0.3, 8.0
"""Cycles that are looked for [s]."""
UNLIKE = 0.6
"""Difference of two ends, as a part of what happens between them, beyond which there is no cycle."""

_RATE = 30.0
"""Samples a second at which cycles are looked for first [Hz]."""
_SPEED = 0.1
"""Difference of place that weighs as much as a difference of speed of one [s]."""
_STILL = 0.02
"""What happens in a body that stands: root mean square of places [leg lengths]."""
_FOLLOWS = 0.2
"""Difference between the first sample and what comes after the last, below which a clip is a round as it is."""


class Cycle(NamedTuple):
    """First sample of a cycle, the sample at which it begins again, and how unlike they are: 0 for equal."""

    first: int
    last: int
    unlike: float


def loop(
    motion: Motion,
    cycle: str = "find",
    period: float = 0.0,
    way: str = "straight",
    plant: bool = True,
    start: float = 0.0,
    end: float | None = None,
) -> Motion:
    """A loop: the last sample goes over into the first, carried along where the motion travels.

    Args:
        motion: Returned as it is if it is a loop already.
        cycle: "find" for the best cycle within start and end, "range" for exactly these.
        period: How long a cycle that is looked for lasts, to a quarter of it; 0 for any [s].
        way: What becomes of the way over the ground, one of `seam.WAYS`. With "keep" a cycle that turns goes on turning
            from round to round.
        plant: Hold the feet still in their contacts, over the seam too, unless the loop stays in place.
        start, end: The part of the motion that is looked at; None for its end [s].

    Raises:
        InvalidMotion: No cycle was found, or the range is too short.
    """
    if cycle not in ("find", "range"):
        raise InvalidParam("cycle", cycle, "must be find or range")
    if motion.loop:
        return motion
    low = round(start * motion.fps)
    high = min(len(motion) - 1 if end is None else round(end * motion.fps), len(motion) - 1)
    count = max(high - low + 1, 0)
    if count <= LEAST:
        raise InvalidMotion(f"a loop needs at least {LEAST + 1} samples, not {count}")
    motion = bases.based(motion)
    repeats, follows = ends(motion, low, high)
    fits = SHORTEST <= count / motion.fps <= LONGEST if period == 0 else abs(count / motion.fps / period - 1) < 0.25
    goes_on = follows < 0.5 * repeats and (cycle == "range" or (fits and follows < _FOLLOWS))
    if goes_on:
        # its samples are one round already: what closes it is the first of the next
        part = part_of(motion, low / motion.fps, high / motion.fps)
        motion, found = bases.closed(replace(part, loop=True)), Cycle(0, count, follows)
    else:
        found = find_cycle(motion, period, low, high) if cycle == "find" else Cycle(low, high, repeats)
    out = as_loop(ring(motion, found.first, found.last, way, speeds=not goes_on))
    if plant and way != "in_place" and out.skeleton.has(*(f"{part}_{side}" for part in LEG[:3] for side in SIDES)):
        out = footlock(out if any(name.startswith("contact/") for name in out.curves) else contacts(out))
    return out


def find_cycle(
    motion: Motion,
    period: float = 0.0,
    first: int = 0,
    last: int | None = None,
    lengths: tuple[float, float] = (SHORTEST, LONGEST),
    starts: npt.ArrayLike | None = None,
    turned: float = 0.0,
) -> Cycle:
    """The best cycle of a motion; of several that are alike the shortest.

    Args:
        motion: No loop.
        period: About how long it lasts, to a quarter of it; 0 for any length within `lengths` [s].
        first, last: The samples between which it lies; None for the last of all.
        lengths: The shortest and the longest that are looked for without a period [s].
        starts: Samples at which it may begin; None for any.
        turned: How much it counts that joints are turned alike, and not at the same places alone [leg lengths a
            radian]; recordings whose feet turn over need 0.

    Raises:
        InvalidMotion: The clip is too short, hardly anything moves, or no two moments of it are alike.
    """
    span, fps = _Span.of(_features(motion, turned)[first : len(motion) if last is None else last + 1]), motion.fps
    step = max(1, int(fps / _RATE))
    shortest, longest = (0.75 * period, 1.25 * period) if period > 0 else lengths
    lags = range(max(LEAST, round(shortest * fps)), min(len(span.features) - 1, round(longest * fps)) + 1)
    what = f"no cycle of {period:g} s" if period > 0 else "no cycle"
    if not lags:
        raise InvalidMotion(
            f"{what} in a clip of {(len(span.features) - 1) / fps:.2f} s; choose a longer one, or close its range"
        )
    every = np.arange(0, len(span.features), step) if starts is None else np.unique(starts).astype(np.int64) - first
    every = every[every >= 0]
    found = [_best(span, lag, every) for lag in lags[::step]]
    unlike = np.array([c.unlike for c in found])
    best = float(unlike.min())
    if not best < UNLIKE:
        reason = "hardly anything in it moves" if np.isinf(best) else "no two moments of it are alike"
        raise InvalidMotion(f"{what} in the clip: {reason}; choose another part of it, or close its range")
    k = int(np.flatnonzero(unlike <= max(1.25 * best, best + 0.02))[0])
    while k + 1 < len(found) and unlike[k + 1] < unlike[k]:
        k += 1
    near = [lag for lag in lags if abs(lag - lags[::step][k]) <= step]
    every = np.arange(len(span.features)) if starts is None else every
    finest = min((_best(span, lag, every) for lag in near), key=lambda c: c.unlike)
    return Cycle(first + finest.first, first + finest.last, finest.unlike)


def ends(motion: Motion, first: int = 0, last: int | None = None, turned: float = 0.0) -> tuple[float, float]:
    """How far the part from sample `first` to `last` is from being a cycle: 0 is not at all.

    The arguments are as for `find_cycle`.

    Returns:
        If its last sample repeats the first, and if the first comes next after the last, both in relation to how much
        happens between them.
    """
    features = _features(motion, turned)[first : len(motion) if last is None else last + 1]
    features = features[:, : features.shape[1] // 2]  # speeds are not known well at the very ends
    happens = max(float(_Span.of(features).happens(np.array([0]), len(features))[0]), 1e-9)
    over, beside = features[0] - features[-1], (features[-1] - features[-2] + features[1] - features[0]) / 2
    return float(np.linalg.norm(over)) / happens, float(np.linalg.norm(over - beside)) / happens


def _features(motion: Motion, turned: float) -> Array:
    """(T, F) where the joints are and how they are turned, as seen from the base, and how fast both change.

    Distances are root mean squares: of places in leg lengths, and of angles times `turned`.
    """
    skeleton, motion = motion.skeleton, bases.based(motion)
    size = skeleton.leg_length() if skeleton.has("shin_L", "foot_L", "shin_R", "foot_R") else 1.0
    roles = [role for role in (*CORE_ROLES, "spine") if skeleton.has(role)]
    joints = sorted({j for role in roles for j in skeleton.chain(role)}) or list(range(len(skeleton)))
    places, hips = bases.relative(motion)
    turns = np.concatenate([hips[:, None], motion.rotations[:, 1:]], axis=1)
    seen = fk.forward(skeleton, turns, places)[0][:, joints] / size
    if turned:  # of near rotations, the chord of the quaternions is half the angle
        seen = np.concatenate([seen, 2.0 * turned * quat.continuous(turns[:, joints])], axis=2)
    seen = seen.reshape(len(motion), -1) / np.sqrt(len(joints))
    return np.concatenate([seen, _SPEED * np.gradient(seen, 1.0 / motion.fps, axis=0)], axis=1)


class _Span(NamedTuple):
    """Features (T, F) with their sums, and those of their squares, over all samples before each (T + 1, ...)."""

    features: Array
    sums: Array
    squares: Array

    @classmethod
    def of(cls, features: Array) -> _Span:
        """Of features (T, F)."""
        sums = np.concatenate([np.zeros((1, features.shape[1])), np.cumsum(features, axis=0)])
        return cls(features, sums, np.concatenate([[0.0], np.cumsum((features**2).sum(axis=1))]))

    def happens(self, starts: npt.NDArray[np.int64], lag: int) -> Array:
        """How much happens in the `lag` samples from each start (M,) on: root mean square about their mean."""
        mean = (self.sums[starts + lag] - self.sums[starts]) / lag
        square = (self.squares[starts + lag] - self.squares[starts]) / lag
        out: Array = np.sqrt(np.maximum(square - (mean**2).sum(axis=1), 0.0))
        return out


def _best(span: _Span, lag: int, starts: npt.NDArray[np.int64]) -> Cycle:
    """The best cycle of exactly `lag` samples that begins at one of the samples `starts`."""
    starts = starts[starts < len(span.features) - lag]
    if not len(starts):
        return Cycle(0, lag, np.inf)
    apart = span.features[starts + lag] - span.features[starts]
    happens = span.happens(starts, lag)
    unlike = np.where(happens > _STILL, np.sqrt((apart**2).sum(axis=1)) / np.maximum(happens, _STILL), np.inf)
    k = int(unlike.argmin())
    return Cycle(int(starts[k]), int(starts[k]) + lag, float(unlike[k]))
