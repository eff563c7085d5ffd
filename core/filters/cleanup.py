"""What recorded motion needs before anything else: spikes, gaps, feet, loops, sides, rates, floor and drift put right.

Each task is a filter of its own: `despike`, `gaps.fill_gaps`, `intervals.plant`, `looping.loop`, `mirror`, `at_rate`
here, `ground.floor` and `ground.drift`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from ..errors import InvalidParam
from ..kinematics import base as bases
from ..maths import quat
from ..motion import Motion
from ..params import param
from .contacts import ContactParams
from .despike import SPIKE, WIDTH, despike
from .footlock import FootlockParams
from .gaps import fill_gaps
from .ground import drift, floor
from .intervals import plant
from .looping import loop
from .mirror import mirror
from .resample import resample
from .scope import ScopeParams, mask, mix

TASKS = (
    ("despike", "Take out spikes of a frame or two"),
    ("gaps", "Bridge frames that are frozen, empty or thrown away from what is around them"),
    ("plant", "Hold the feet still while they touch the ground"),
    ("loop", "Make a loop of the best cycle, or of the range"),
    ("mirror", "Let left and right change places"),
    ("resample", "Change the rate of its samples"),
    ("floor", "Bring the plane the feet stand on to the floor"),
    ("drift", "Take slow drift out of the way over the ground"),
)
"""What is done, with its help."""
SETTINGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "despike": ("spike", "ratio", "width"),
        "gaps": ("longest", "frozen", "glitches", "bad"),
        "plant": ("speed", "height", "shortest", "ease", "reach", "intervals"),
        "loop": ("cycle", "period", "way", "planted"),
        "mirror": ("plane",),
        "resample": ("rate", "keep"),
        "floor": ("level", "ground"),
        "drift": ("way", "vertical"),
    }
)
"""The parameters of each task."""
CHANGED = "info/cleaned"
"""Curve of a motion freed of spikes or gaps: how many of its joints were wrong at each sample."""


@dataclass(frozen=True)
class CleanupParams(ScopeParams):
    """Which task, and the settings of all of them."""

    task: str = param("despike", choices=TASKS, help="What is put right")
    spike: float = param(
        SPIKE,
        lo=0.0,
        hi=3.14,
        unit="rad",
        basic=False,
        help="Despike: smallest spike of a joint; of the hips, as far as a leg swings by that turn",
    )
    ratio: float = param(
        2.5, lo=0.0, hi=100.0, basic=False, help="Despike: how much larger a spike is than the usual step around it"
    )
    width: int = param(
        WIDTH, lo=3, hi=31, basic=False, help="Despike: frames of the running median, odd; a spike has less than half"
    )
    longest: float = param(0.25, lo=0.0, hi=10.0, unit="s", basic=False, help="Gaps: longer ones are left alone")
    frozen: bool = param(True, basic=False, help="Gaps: bridge frames that repeat the one before while the body moves")
    glitches: bool = param(
        True, basic=False, help="Gaps: bridge flips, empty frames and other poses that come from nowhere and vanish"
    )
    bad: tuple[tuple[float, ...], ...] = param(
        (), columns=("start", "end"), lo=0.0, unit="s", basic=False, help="Gaps: times that are bridged in any case"
    )
    speed: float = param(
        0.8, lo=0.05, hi=3.0, basic=False, help="Plant: fastest a planted foot moves [leg lengths a second]"
    )
    height: float = param(
        0.02, lo=0.005, hi=0.5, basic=False, help="Plant: highest a planted heel is above the ground [leg lengths]"
    )
    shortest: float = param(0.06, lo=0.0, hi=1.0, unit="s", basic=False, help="Plant: shorter contacts are dropped")
    ease: float = param(
        0.15, lo=0.0, hi=1.0, unit="s", basic=False, help="Plant: time over which a foot goes into and out of a hold"
    )
    reach: float = param(
        0.995, lo=0.8, hi=1.0, basic=False, help="Plant: how straight a leg may be made before the pelvis sinks"
    )
    intervals: tuple[tuple[float, ...], ...] = param(
        (),
        columns=("foot", "start", "end"),
        lo=0.0,
        basic=False,
        help="Plant: when each foot (0 left, 1 right) is planted, in seconds from the start; empty to find it",
    )
    cycle: str = param(
        "find",
        choices=(("find", "The cycle that closes best"), ("range", "From the first to the last frame of the range")),
        basic=False,
        help="Loop: what becomes one round",
    )
    period: float = param(
        0.0, lo=0.0, hi=600.0, unit="s", basic=False, help="Loop: about how long a cycle lasts; 0 for any"
    )
    way: str = param(
        "straight",
        choices=(
            ("keep", "As it is"),
            ("straight", "Straight ahead, without turning"),
            ("in_place", "None: the character stays where it begins"),
        ),
        basic=False,
        help="Loop, drift: the way over the ground",
    )
    planted: bool = param(True, basic=False, help="Loop: hold the feet still in their contacts, over the seam too")
    plane: str = param(
        "start",
        choices=(("start", "Along the way the character faces at first"), ("world", "The plane x = 0 of the world")),
        basic=False,
        help="Mirror: where the mirror stands",
    )
    rate: float = param(0.0, lo=0.0, hi=1000.0, unit="Hz", basic=False, help="Resample: samples a second; 0 as it is")
    keep: str = param(
        "time",
        choices=(
            ("time", "It lasts as long as before"),
            ("samples", "Every sample, as if recorded at this rate: it lasts shorter or longer"),
            ("steps", "The time, and each pose until the next, as when animated on twos"),
        ),
        basic=False,
        help="Resample: what stays",
    )
    level: bool = param(True, basic=False, help="Floor: make a slope level too")
    ground: float = param(0.0, lo=-1e4, hi=1e4, unit="m", basic=False, help="Floor: height of the floor")
    vertical: bool = param(False, basic=False, help="Drift: take slow changes of height out too")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.width % 2 == 0:
            raise InvalidParam("width", self.width, "must be an odd number of frames")
        if self.task in ("loop", "resample") and (self.scope != "all" or self.joints.strip() or self.influence != 1.0):
            raise InvalidParam(
                "scope", self.joints or self.scope, f"{self.task} is of the whole body: choose all, with influence 1"
            )


def cleanup(motion: Motion, params: CleanupParams | None = None) -> Motion:
    """`motion` with one task done, where and as much as its scope says.

    A loop is made within the range; a motion at another rate or speed is so from end to end. Where spikes or gaps were
    looked for, the curve CHANGED tells what was found.
    """
    params = params or CleanupParams()
    if params.task == "loop":
        return _looped(motion, params)
    if params.task == "resample":
        return at_rate(motion, params.rate, params.keep) if params.rate > 0 else motion
    chosen = mask(motion.skeleton, params)
    if params.influence == 0.0:
        return motion
    before = bases.based(motion) if params.task in ("mirror", "drift") else motion
    after = _TASKS[params.task](before, params)
    if params.task == "mirror" and not chosen.all():
        # contacts and footfalls are those of the legs, which may not have changed sides
        after = replace(after, curves=before.curves, events=before.events, mask=before.mask)
    if params.task in ("despike", "gaps"):
        wrong = quat.distance(before.rotations, after.rotations)[:, chosen[:-1]] > 1e-9
        lost = chosen[-1] & (np.abs(before.roots - after.roots).max(axis=1) > 1e-9)
        after = replace(after, curves={**after.curves, CHANGED: np.maximum(wrong.sum(axis=1), lost)})
    return mix(before, after, params, chosen)


def at_rate(motion: Motion, rate: float, keep: str = "time") -> Motion:
    """The motion at another rate [Hz].

    Args:
        motion: Unchanged where it has this rate already.
        rate: Samples a second.
        keep: "time" for as long as before; "samples" for the same samples, faster or slower; "steps" for the samples of
            that rate at the rate of the motion, each held until the next.
    """
    if not (np.isfinite(rate) and rate > 0):
        raise InvalidParam("rate", rate, "must be a positive number")
    if keep == "time":
        return resample(motion, rate)
    if keep == "samples":
        ratio = motion.fps / rate
        return replace(motion, fps=rate, events=tuple(replace(e, time=e.time * ratio) for e in motion.events))
    if keep != "steps":
        raise InvalidParam("keep", keep, "must be time, samples or steps")
    # the sample next to the last moment of that rate; rounding of times must not hold one for longer
    at = np.floor(motion.times * rate + 1e-6) / rate
    held = np.minimum(np.round(at * motion.fps).astype(np.int64), len(motion) - 1)
    return replace(
        motion,
        roots=motion.roots[held],
        rotations=motion.rotations[held],
        base=None if motion.base is None else motion.base[held],
        curves={name: curve[held] for name, curve in motion.curves.items()},
    )


def _looped(motion: Motion, params: CleanupParams) -> Motion:
    whole = params.range == "whole"
    start, end = (0.0, None) if whole else (params.begin, params.end or None)
    if start > (len(motion) - 1) / motion.fps:
        raise InvalidParam("begin", start, f"the clip is over after {(len(motion) - 1) / motion.fps:g} s")
    return loop(motion, params.cycle, params.period, params.way, params.planted, start, end)


def _plant(motion: Motion, params: CleanupParams) -> Motion:
    found = ContactParams(speed=params.speed, height=params.height, shortest=params.shortest)
    return plant(motion, found, FootlockParams(blend=params.ease, reach=params.reach), params.intervals)


_TASKS: Mapping[str, Callable[[Motion, CleanupParams], Motion]] = MappingProxyType(
    {
        "despike": lambda m, p: despike(m, p.spike, p.ratio, p.width),
        "gaps": lambda m, p: fill_gaps(m, p.longest, p.frozen, p.glitches, p.bad),
        "plant": _plant,
        "mirror": lambda m, p: mirror(m, p.plane),
        "floor": lambda m, p: floor(m, p.level, p.ground),
        "drift": lambda m, p: drift(m, p.way, p.vertical),
    }
)
