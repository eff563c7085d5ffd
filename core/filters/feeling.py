"""What makes an action emotional: the difference in pace and in size between it and the same action done neutrally.

Amaya, Bruderlin and Calvert, "Emotion from motion", 1996. Pace: how far along its path the end effector is, period by
period (their equations 1 to 4, kept as the tables f of path by time, which unlike frame densities have no poles). Size:
how far the joints of each level of the body depart from the straight way between the ends of a period (equation 5).
Order: how much later each level is fastest (`phases`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType

import numpy as np

from ..errors import InvalidMotion, InvalidParam
from ..maths import quat
from ..motion import Motion
from ..skeleton import Array, frozen
from .levels import LEVELS, level_joints, seen_from_base
from .periods import Ints, effector_path, length, paired, periods
from .phases import lags

EMOTIONS = ("neutral", "angry", "sad", "happy", "fearful", "tired", "strong", "weak", "excited", "relaxed")
"""The emotions that a transform may be kept for."""
_WALKS = ("Brisk", "March", "Sneak", "Tired", "Proud", "Sad", "Happy", "Drunk", "Old")
_RUNS = ("Sprint", "Heavy", "Loose", "Stiff")
GAITS: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {f"{style.lower()}_walk": ("walk", "Neutral", style) for style in _WALKS}
    | {f"{style.lower()}_run": ("run", "Run", style) for style in _RUNS}
)
"""Manners of going that come with Troupe too: the feature, its plain preset, and the one in that manner."""

TABLE = 65
"""Entries of a table of pace."""
SMALLEST_SPAN = 1e-6
"""Departure from the straight way below which a level of the body does not move [rad]."""
RATIO_RANGE = (0.1, 5.0)
_FLOOR = 1e-3
"""Part of the path that is covered at constant speed whatever happens, so that pace can be inverted in rests."""
_COUNTS = 0.05
"""Periods count for the mean where a level departs by this part of its largest departure."""


@dataclass(frozen=True, eq=False)
class Feeling:
    """The difference between a neutral and an emotional performance of one action.

    Attributes:
        name: What it is called.
        neutral_pace, emotional_pace: (M,) part of the path covered at even steps through the chosen period, 0 to 1.
        neutral_time, emotional_time: Length of that period [s].
        times: (P,) lengths of the neutral periods [s].
        spans: (P, 4, 2) largest departure of each level from the straight way, neutral and emotional [rad]; NaN for a
            level that the source does not have.
        shifts: (P, 4) how much later each level is fastest than in the neutral performance, against the end effector,
            as a part of the period; NaN where it is not known, as everywhere when it is not given.
        notes: What was found out on the way, in sentences.
    """

    name: str
    neutral_pace: Array
    emotional_pace: Array
    neutral_time: float
    emotional_time: float
    times: Array
    spans: Array
    notes: tuple[str, ...] = ()
    shifts: Array = field(default_factory=lambda: np.empty((0, len(LEVELS))))

    def __post_init__(self) -> None:
        put = object.__setattr__
        for side in ("neutral", "emotional"):
            time = getattr(self, f"{side}_time")
            if not (np.isfinite(time) and time > 0):
                raise InvalidParam(f"{side}_time", time, "must be a positive number of seconds")
            pace = frozen(getattr(self, f"{side}_pace"), (None,), f"{side} pace")
            if len(pace) < 2 or abs(pace[0]) > 1e-9 or abs(pace[-1] - 1.0) > 1e-9 or np.any(np.diff(pace) <= 0):
                raise InvalidParam(f"{side}_pace", f"{len(pace)} numbers", "must rise from 0 to 1")
            put(self, f"{side}_pace", pace)
        times = frozen(self.times, (None,), "times")
        spans = np.array(self.spans, dtype=np.float64)
        if not len(times) or times.min() <= 0 or spans.shape != (len(times), len(LEVELS), 2):
            raise InvalidParam("spans", spans.shape, f"must be two numbers of {len(LEVELS)} levels for each period")
        if np.isinf(spans).any() or np.any(spans < 0):
            raise InvalidParam("spans", "a number", "must not be negative or infinite")
        shifts = np.array(self.shifts, dtype=np.float64)
        if not len(shifts):
            shifts = np.full((len(times), len(LEVELS)), np.nan)
        if shifts.shape != (len(times), len(LEVELS)) or np.any(np.abs(shifts) > 2.0):
            raise InvalidParam("shifts", shifts.shape, f"must be parts of each period for {len(LEVELS)} levels")
        spans.flags.writeable = shifts.flags.writeable = False
        put(self, "shifts", shifts)
        put(self, "times", times)
        put(self, "spans", spans)
        put(self, "notes", tuple(self.notes))

    @property
    def tempo(self) -> float:
        """Length of the emotional period as a multiple of the neutral one."""
        return self.emotional_time / self.neutral_time


def ratios(feeling: Feeling) -> Array:
    """(P, 4) how much larger each level moves in each period; 1 where the neutral one does not, NaN where unknown."""
    neutral, emotional = feeling.spans[..., 0], feeling.spans[..., 1]
    moves = neutral >= SMALLEST_SPAN
    out: Array = np.clip(np.where(moves, emotional, 1.0) / np.where(moves, neutral, 1.0), *RATIO_RANGE)
    return np.where(np.isnan(neutral) | np.isnan(emotional), np.nan, np.where(moves, out, 1.0))


def mean_ratios(feeling: Feeling) -> Array:
    """(4,) geometric mean of the ratios over the periods, weighted by their lengths; NaN where unknown.

    Periods in which a level hardly moves say nothing about it.
    """
    each, neutral = ratios(feeling), feeling.spans[..., 0]
    if np.isnan(neutral).all():
        return np.full(len(LEVELS), np.nan)
    largest = np.fmax.reduce(neutral, axis=0)
    weights = feeling.times[:, None] * (np.nan_to_num(neutral) >= np.maximum(_COUNTS * np.nan_to_num(largest), 1e-300))
    total = weights.sum(axis=0)
    logs = (weights * np.log(np.nan_to_num(each, nan=1.0))).sum(axis=0) / np.where(total > 0, total, 1.0)
    return np.where(np.isnan(largest), np.nan, np.exp(logs))


def mean_shifts(feeling: Feeling) -> Array:
    """(4,) mean of the shifts over the periods, weighted by their lengths; NaN where unknown."""
    known = ~np.isnan(feeling.shifts)
    weights = feeling.times[:, None] * known
    total = weights.sum(axis=0)
    mean = (weights * np.nan_to_num(feeling.shifts)).sum(axis=0) / np.where(total > 0, total, 1.0)
    return np.where(total > 0, mean, np.nan)


def filled(values: Array, unknown: float = 1.0) -> Array:
    """Values (..., 4) with those of unknown levels taken from the nearest known level, the higher of two."""
    out = np.array(values, dtype=np.float64)
    levels = np.arange(len(LEVELS))
    for k in levels:
        for other in sorted(levels, key=lambda i: (abs(i - k), -i)):
            out[..., k] = np.where(np.isnan(out[..., k]), values[..., other], out[..., k])
    return np.where(np.isnan(out), unknown, out)


def extract(neutral: Motion, emotional: Motion, name: str = "", effector: str = "auto", period: int = 0) -> Feeling:
    """The difference between two performances of one action by the same body.

    Args:
        neutral: Without emotion.
        emotional: With it. It may take another time; where it has another number of basic periods, those that have no
            counterpart are joined to their neighbours.
        name: What to call it.
        effector: Role of the hand or foot that acts; "auto" for the one that moves most in the neutral performance.
        period: Number of the period that the pace is taken from, from 1; 0 for the longest one that goes somewhere.
    """
    if neutral.skeleton.names != emotional.skeleton.names:
        raise InvalidMotion("the neutral and the emotional performance are of different bodies; retarget one of them")
    both = (neutral, emotional)
    role, path = effector_path(neutral, effector)
    paths = (path, effector_path(emotional, role)[1])
    found = [periods(motion, role) for motion in both]
    if min(len(marks) for marks in found) < 2:
        raise InvalidMotion("a performance of one sample has no pace; choose longer clips")
    counts = [len(marks) - 1 for marks in found]
    marks = paired(found[0], paths[0], found[1], paths[1])
    notes = [f"{counts[0]} periods of {role}"]
    if counts[0] != counts[1]:
        notes = [f"{counts[0]} neutral and {counts[1]} emotional periods of {role}, joined to {len(marks[0]) - 1}"]
    chosen = _chosen(paths[0], marks[0], period)
    pace = [path_fraction(path[m[chosen] : m[chosen + 1] + 1]) for path, m in zip(paths, marks, strict=True)]
    lasts = [(m[chosen + 1] - m[chosen]) / motion.fps for motion, m in zip(both, marks, strict=True)]
    spans = np.stack([level_spans(motion, m) for motion, m in zip(both, marks, strict=True)], axis=-1)
    behind = [lags(motion, m, path) for motion, m, path in zip(both, marks, paths, strict=True)]
    notes.append(f"pace of period {chosen + 1}, {lasts[0]:.2f} s to {lasts[1]:.2f} s")
    return Feeling(
        name=name,
        neutral_pace=table(pace[0]),
        emotional_pace=table(pace[1]),
        neutral_time=float(lasts[0]),
        emotional_time=float(lasts[1]),
        times=np.diff(marks[0]) / neutral.fps,
        spans=spans,
        notes=tuple(notes),
        shifts=behind[1] - behind[0],
    )


def path_fraction(path: Array) -> Array:
    """(n,) part of a path (n, 3) that is covered at each sample, 0 to 1; even where it goes nowhere."""
    step = np.diff(path, axis=0)
    covered = np.concatenate([[0.0], np.cumsum(np.sqrt(quat.dot(step, step)))])
    even = np.linspace(0.0, 1.0, len(path))
    if covered[-1] < 1e-9:
        return even
    out: Array = (1.0 - _FLOOR) * covered / covered[-1] + _FLOOR * even
    return out


def table(fraction: Array, size: int = TABLE) -> Array:
    """(size,) a rising curve (n,) at even steps from its beginning to its end."""
    out: Array = np.interp(np.linspace(0.0, 1.0, size), np.linspace(0.0, 1.0, len(fraction)), fraction)
    out[0], out[-1] = 0.0, 1.0
    return out


def departures(rotations: Array) -> tuple[Array, Array]:
    """The straight way (n, J, 4) from the first to the last of (n, J, 4), and rotation vectors (n, J, 3) from it."""
    along = np.linspace(0.0, 1.0, len(rotations))[:, None]
    straight = quat.slerp(rotations[:1], rotations[-1:], along)
    return straight, quat.log(quat.multiply(quat.conjugate(straight), rotations))


def span(angles: Array) -> float:
    """Largest distance of angles (n, C) from the straight line between the first and the last (equation 5)."""
    along = np.linspace(0.0, 1.0, len(angles))[:, None]
    away = angles - (angles[0] * (1.0 - along) + angles[-1] * along)
    return float(np.sqrt((away * away).sum(axis=-1)).max())


def level_spans(motion: Motion, marks: Ints) -> Array:
    """(P, 4) how far each level departs from the straight way in each period [rad]; NaN without joints."""
    levels, rotations = level_joints(motion.skeleton, motion.mask), seen_from_base(motion)
    out = np.full((len(marks) - 1, len(levels)), np.nan)
    for p, (a, b) in enumerate(pairwise(marks.tolist())):
        _, away = departures(rotations[a : b + 1])
        squares = quat.dot(away, away)
        for k, joints in enumerate(levels):
            if joints:
                out[p, k] = float(np.sqrt(squares[:, joints].sum(axis=-1)).max())
    return out


def _chosen(path: Array, marks: Ints, period: int) -> int:
    count = len(marks) - 1
    if not 0 <= period <= count:
        raise InvalidParam("period", period, f"must be from 1 to {count}, the periods found, or 0 for the longest")
    if period:
        return period - 1
    lengths = [length(path[a : b + 1]) for a, b in pairwise(marks.tolist())]
    moves = np.array(lengths) >= 0.1 * max(lengths)
    return int(np.where(moves, np.diff(marks), -1).argmax())
