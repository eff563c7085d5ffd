"""An action done with feeling: the pace and the size of an emotional performance put onto another motion.

Amaya, Bruderlin and Calvert, "Emotion from motion", 1996. Each basic period of the motion is first made larger or
smaller about the straight way between its ends (their equation 6), level by level of the body, so that what was learned
from an arm serves a leg; if wished, its levels are shifted in time against each other (`phases`); then its time is
warped as the emotional performance warps the neutral one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ..errors import InvalidParam
from ..kinematics import base as bases
from ..maths import quat, spline
from ..maths.ramp import smoothstep
from ..motion import Event, Motion
from ..params import Params, param, same
from ..skeleton import Array
from .feeling import (
    EMOTIONS,
    GAITS,
    TABLE,
    Feeling,
    departures,
    filled,
    mean_ratios,
    mean_shifts,
    path_fraction,
    ratios,
    table,
)
from .levels import LEVELS, level_joints, seen_from_base
from .periods import EFFECTORS, Ints, effector_path, periods, with_periods
from .phases import shifted
from .planted import keep_feet
from .scope import ScopeParams, mix, weight
from .signals import from_signals, to_signals

EVENT = "feeling"
"""Name of the event that tells which feeling a motion was given, and how."""
RAMP = 0.1
"""Part of a period at each of its ends over which the change of size comes and goes, so that nothing jerks."""
_SLOWEST = 0.05
"""Least advance of the new time for one step of the old, however strong the feeling."""
_FINE = 4
"""Steps of the time map for each sample."""


@dataclass(frozen=True)
class EmotionParams(ScopeParams):
    """Which feeling, how much of it, and what it changes."""

    emotion: str = param(
        "angry",
        choices=(
            *((name, f"The feeling kept as {name}") for name in EMOTIONS),
            *((name, f"How the {gait} {style} differs from {plain}") for name, (gait, plain, style) in GAITS.items()),
        ),
        help="Feeling that comes with Troupe",
    )
    file: str = param("", ref="file", help="A feeling of your own instead, as written by Save Feeling (JSON)")
    intensity: float = param(1.0, lo=0.0, hi=2.0, help="0 changes nothing, 1 is the feeling as learned")
    pace: bool = param(True, help="Change the timing")
    amplitude: bool = param(True, help="Change the size of the movements")
    influence: float = param(
        1.0, lo=0.0, hi=1.0, help="How much of the change counts: 0 leaves everything as it is", basic=False
    )
    phase: bool = param(
        False,
        help="Change the order too in which parts of the body are fastest; an experiment, for feelings learned here",
        basic=False,
    )
    plant: bool = param(True, help="Leave feet that touch the ground where they are", basic=False)
    mode: str = param(
        "warp",
        choices=(
            ("warp", "Bend the motion's own timing as the feeling bends a neutral one"),
            ("substitute", "Give every period the timing of the feeling, whatever its own"),
        ),
        help="How the timing is taken over",
        basic=False,
    )
    match: str = param(
        "auto",
        choices=(
            ("auto", "Period by period where the numbers of periods are equal, else the mean"),
            ("mean", "One size for all periods: the mean over those of the source"),
            ("index", "Period by period, beginning again where the source has fewer"),
        ),
        help="Which period of the source tells the size of which period of the motion",
        basic=False,
    )
    effector: str = param(
        "auto",
        choices=(
            ("auto", "The hand or foot that moves most"),
            *((role, f"Role {role}") for role in EFFECTORS),
        ),
        help="Hand or foot whose turning points bound the periods",
        basic=False,
    )
    neutral: str = param(
        "", ref="action", help="Learn the feeling from two actions of this actor: the one done neutrally", basic=False
    )
    emotional: str = param("", ref="action", help="The same action done with the feeling", basic=False)
    period: int = param(
        0, lo=0, hi=999, help="Period that the pace is learned from; 0 for the longest that goes somewhere", basic=False
    )
    periods: tuple[tuple[float, ...], ...] = param(
        (),
        columns=("time",),
        lo=0.0,
        unit="s",
        help="Times that bound the basic periods; empty for the markers named period, or where they are found",
        basic=False,
    )


@dataclass(frozen=True)
class FeelingParams(Params):
    """Which feeling is saved, and where."""

    filepath: str = param("", ref="output", help="File to write (JSON)")
    emotion: str = same(EmotionParams, "emotion")
    neutral: str = same(EmotionParams, "neutral")
    emotional: str = same(EmotionParams, "emotional")
    effector: str = same(EmotionParams, "effector")
    period: int = same(EmotionParams, "period")


@dataclass(frozen=True, eq=False)
class Plan:
    """What a feeling does to a motion.

    Attributes:
        marks: (K + 1,) samples that bound the basic periods.
        ratios: (K, 4) size of each level of the body in each period, intensity included.
        shifts: (K, 4) how much later each level is fastest, as parts of the period, intensity included.
        at: (M,) place in the motion, in samples, of each sample of the result; rising.
        notes: What is done, in sentences.
    """

    marks: Ints
    ratios: Array
    shifts: Array
    at: Array
    notes: tuple[str, ...]


def emote(motion: Motion, feeling: Feeling, params: EmotionParams | None = None) -> Motion:
    """`motion` done with a feeling; it may last longer or shorter.

    The poses at the ends of basic periods stay as they are. Without a change of pace the number of samples stays too.
    An event "feeling" at the beginning tells its name and, as `notes`, what was done.
    """
    params = params or EmotionParams()
    if len(motion) < 3:
        return motion
    if params.periods:
        motion = _bounded(motion, params)
    if motion.loop:
        return _looping(emote(bases.closed(motion), feeling, params))
    done = plan(motion, feeling, params)
    sized = motion
    if params.amplitude and np.any(done.ratios != 1.0):
        sized = _resized(motion, done)
    if params.phase and np.any(done.shifts != 0.0):
        sized = shifted(sized, done.marks, done.shifts)
    if sized is not motion:
        sized = mix(motion, sized, params)
        if params.plant:
            sized = keep_feet(motion, sized)
    still = len(done.at) == len(motion) and bool(np.abs(done.at - np.arange(len(motion))).max() < 1e-9)
    out = sized if still else retimed(sized, done.at)
    told = Event(0.0, EVENT, {"name": feeling.name, "notes": list(done.notes)})
    return replace(out, events=(*(e for e in out.events if e.name != EVENT), told))


def _bounded(motion: Motion, params: EmotionParams) -> Motion:
    """The motion with the periods of the parameters."""
    times = np.array(params.periods)[:, 0]
    if times.max() > motion.duration + 1e-6:
        raise InvalidParam("periods", params.periods, f"the clip is over after {motion.duration:g} s")
    return with_periods(motion, np.round(motion.fps * times))


def plan(motion: Motion, feeling: Feeling, params: EmotionParams | None = None) -> Plan:
    """What `emote` does, before it is done."""
    params = params or EmotionParams()
    role, path = effector_path(motion, params.effector)
    marks = periods(motion, role)
    count, known = len(marks) - 1, len(feeling.times)
    if params.match == "mean" or (params.match == "auto" and count != known):
        each = np.tile(filled(mean_ratios(feeling)), (count, 1))
        shifts = np.tile(filled(mean_shifts(feeling), 0.0), (count, 1))
        how = f"the mean size of the source's {known} periods on all {count}"
    else:
        its = np.arange(count) % known
        each, shifts = filled(ratios(feeling))[its], filled(feeling.shifts, 0.0)[its]
        how = f"{count} periods, each sized as its own of the source's {known}"
    each, shifts = each**params.intensity, shifts * params.intensity
    at = np.arange(len(motion), dtype=np.float64)
    notes = []
    if params.amplitude:
        sizes = ", ".join(
            f"{name} x {r:.2f}" for name, r in zip(LEVELS, np.exp(np.log(each).mean(axis=0)), strict=True)
        )
        notes += [how, sizes]
    if params.phase:
        later = ", ".join(f"{name} {s:+.0%}" for name, s in zip(LEVELS, shifts.mean(axis=0), strict=True))
        notes.append(f"fastest later by parts of a period: {later}")
    if params.pace:
        at = correspondence(path, marks, feeling, motion.fps, params)
        notes.append(f"{motion.duration:.2f} s become {(len(at) - 1) / motion.fps:.2f} s, {role}")
    return Plan(marks, each, shifts, at, tuple(notes))


def correspondence(path: Array, marks: Ints, feeling: Feeling, fps: float, params: EmotionParams) -> Array:
    """(M,) fractional sample of the motion that each sample of the result shows; strictly rising, from end to end."""
    count = int(marks[-1]) + 1
    nodes = np.linspace(0.0, 1.0, TABLE)
    old, advance = [], []
    for a, b in pairwise(marks.tolist()):
        own = feeling.neutral_pace
        if params.mode == "substitute":
            own = table(path_fraction(path[a : b + 1]))
        source = np.linspace(0.0, 1.0, len(own))
        # by nodes and then a monotone cubic: exactly even where the two paces are the same
        covered = np.interp(nodes, source, own)
        reached = np.interp(covered, feeling.emotional_pace, np.linspace(0.0, 1.0, len(feeling.emotional_pace)))
        fine = np.linspace(0.0, 1.0, _FINE * max(b - a, TABLE - 1) + 1)
        new = spline.hermite(fine, nodes, reached, spline.monotone_slopes(nodes, reached))
        old.append(a + (b - a) * fine[:-1])
        advance.append(feeling.tempo * np.diff(new) / np.diff(fine))
    places, slopes = np.concatenate([*old, [float(count - 1)]]), np.concatenate(advance)
    middles = (places[1:] + places[:-1]) / 2
    times = np.append(middles, count - 1.0) / fps
    counts = params.intensity * weight(times, params)[:-1]
    slopes = np.maximum(1.0 + counts * (slopes - 1.0), _SLOWEST)
    made = np.concatenate([[0.0], np.cumsum(slopes * np.diff(places))])
    whole = max(1, round(float(made[-1])))
    # the last sample shows the end: time is stretched by half a sample at most
    at: Array = np.interp(np.linspace(0.0, made[-1], whole + 1), made, places)
    return np.where(np.abs(at - np.round(at)) < 1e-9 * count, np.round(at), at)


def retimed(motion: Motion, at: Array) -> Motion:
    """The motion at fractional samples `at` (M,), rising, one after another at its own rate."""
    signals = to_signals(motion)
    before = np.clip(at.astype(np.int64), 0, max(len(motion) - 2, 0))
    part = (at - before)[:, None]
    after = np.minimum(before + 1, len(motion) - 1)
    values = signals.values[before] * (1.0 - part) + signals.values[after] * part
    samples = np.arange(len(motion))
    return replace(
        from_signals(motion, signals.with_values(values)),
        curves={name: np.interp(at, samples, curve) for name, curve in motion.curves.items()},
        events=tuple(
            replace(event, time=float(np.interp(event.time * motion.fps, at, np.arange(len(at)))) / motion.fps)
            for event in motion.events
        ),
    )


def amplified(angles: Array, ratio: float, ramp: float = 0.0) -> Array:
    """Angles (n, C) of one period made larger about the straight line between its ends (equation 6).

    `ramp` is the part of the period at each end over which the ratio comes in.
    """
    along = np.linspace(0.0, 1.0, len(angles))[:, None]
    straight = angles[0] * (1.0 - along) + angles[-1] * along
    out: Array = straight + (1.0 + (ratio - 1.0) * _eased(along, ramp)) * (angles - straight)
    return out


def _eased(along: Array, ramp: float) -> Array:
    return np.ones_like(along) if ramp <= 0 else smoothstep(along / ramp) * smoothstep((1.0 - along) / ramp)


def _resized(motion: Motion, done: Plan) -> Motion:
    rotations = seen_from_base(motion)
    size = np.ones(len(motion.skeleton))
    for (a, b), levels in zip(pairwise(done.marks.tolist()), done.ratios, strict=True):
        for joints, ratio in zip(level_joints(motion.skeleton, motion.mask), levels, strict=True):
            size[joints] = ratio
        changed = size != 1.0
        straight, away = departures(rotations[a : b + 1][:, changed])
        ease = _eased(np.linspace(0.0, 1.0, b - a + 1), RAMP)[:, None]
        grown = (1.0 + (size[changed] - 1.0) * ease)[..., None] * away
        turned = quat.multiply(straight, quat.exp(grown))
        # the ends belong to two periods, and neither changes them
        rotations[a + 1 : b, changed] = turned[1:-1]
    base = bases.derive(motion) if motion.base is None else motion.base
    _, rotations[:, 0] = bases.compose(base, np.zeros((len(motion), 3)), rotations[:, 0])
    out = motion.rotations.copy()
    moved = np.any(done.ratios != 1.0, axis=0)
    for joints, some in zip(level_joints(motion.skeleton, motion.mask), moved, strict=True):
        if some:
            out[:, joints] = rotations[:, joints]
    return replace(motion, rotations=quat.continuous(out))


def _looping(motion: Motion) -> Motion:
    """One whole round, the first sample of the next at its end, as a loop."""
    return replace(
        motion,
        roots=motion.roots[:-1],
        rotations=motion.rotations[:-1],
        base=None if motion.base is None else motion.base[:-1],
        curves={name: curve[:-1] for name, curve in motion.curves.items()},
        loop=True,
    )
