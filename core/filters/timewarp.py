"""One motion in the time of another: its own poses at the other's pace, or anything between.

Dynamic timewarping after Bruderlin and Williams, "Motion signal processing", 1995. The moments of two motions that
correspond are found (`alignment`), then timing and poses are mixed apart: at time (1 - tau) a + tau b of the result,
the motions are at a and b, and its pose is that of the first plus alpha times the difference to the second.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..errors import InvalidParam
from ..motion import Motion
from ..params import param
from ..skeleton import Array
from .alignment import AlignParams, has_contacts, moments, with_contacts
from .mixing import clock, courses, mixed, rounds, taken
from .planted import hold_mixed
from .retime import ROUNDED, retime
from .scope import ScopeParams, mask, weight


@dataclass(frozen=True)
class TimewarpParams(ScopeParams, AlignParams):
    """Whose timing, how much of it, and how much of its poses."""

    source: str = param("", ref="armature", help="Armature whose animation gives the pace")
    action: str = param("", ref="action", help="Action that gives the pace, instead of what the source plays")
    pace: float = param(1.0, lo=-1.0, hi=2.0, help="Timing: 0 is the actor's own, 1 that of the source, beyond is more")
    poses: float = param(0.0, lo=-1.0, hi=2.0, help="Poses: 0 are the actor's own, 1 those of the source")
    curve: tuple[tuple[float, ...], ...] = param(
        (),
        columns=("own", "source"),
        help="Times [s] of the actor's clip and of the source that correspond, found when there are none; without a "
        "source, times of the actor's clip and of the result",
    )
    influence: float = param(
        1.0, lo=0.0, hi=1.0, help="How much of the change counts: 0 leaves everything as it is", basic=False
    )
    plant: bool = param(True, help="Hold the feet still where poses are mixed", basic=False)


def timewarp(a: Motion, b: Motion, params: TimewarpParams | None = None) -> Motion:
    """`a` with as much of the timing and of the poses of `b` as wished, at the rate of `a`.

    The scope says which joints take poses of b, and when both timing and poses count; time is one for all joints.
    """
    params = params or TimewarpParams()
    if params.plant and params.poses != 0.0:
        a, b = with_contacts(a), with_contacts(b)
    (first, second), loop = rounds((a, b))
    table = curve_of(first, second, params)
    ways = courses((first, second), (table,))
    share = weight(ways[0], params)
    time = clock(ways, np.stack([1.0 - params.pace * share, params.pace * share]))
    takes, places = taken((first, second), ways, time, loop)
    amount = params.poses * np.interp(places, np.linspace(0.0, 1.0, len(share)), share)
    if not amount.any():
        return replace(takes[0], loop=loop)
    chosen = amount[:, None] * mask(a.skeleton, params)
    shares = np.stack([1.0 - chosen, chosen])
    out = replace(mixed(takes, shares), loop=loop)
    return hold_mixed(out, shares) if params.plant and has_contacts(out) else out


def curve_of(a: Motion, b: Motion, params: TimewarpParams) -> Array:
    """(K, 2) times of two motions that correspond [s]: those of the parameters, checked, or found."""
    if not params.curve:
        return moments(a, b, params)
    rows = np.array(params.curve)
    if len(rows) < 2 or np.any(np.diff(rows, axis=0) <= 0):
        raise InvalidParam("curve", params.curve, "must be two or more rows of times that increase from row to row")
    ends = np.array([[0.0, 0.0], [a.duration, b.duration]])
    if np.any(rows[0] < -ROUNDED) or np.any(rows[-1] > ends[1] + ROUNDED):
        raise InvalidParam(
            "curve", params.curve, f"its times must lie within 0 to {a.duration:g} s and 0 to {b.duration:g} s"
        )
    rows = np.clip(rows, *ends)
    # what the curve leaves out at the ends is gone through evenly
    before, after = (np.all(np.abs(rows[k] - ends[k]) > ROUNDED) for k in (0, -1))
    return np.concatenate([*([ends[:1]] if before else []), rows, *([ends[1:]] if after else [])])


def retimed(motion: Motion, params: TimewarpParams) -> Motion:
    """The motion played by the curve of the parameters alone: rows of its own time and the time in the result."""
    if not params.curve:
        raise InvalidParam("curve", params.curve, "give a source, or rows of a time in the clip and one in the result")
    own, new = np.array(params.curve).T
    try:
        return retime(motion, np.stack([own + params.influence * (new - own), own], axis=1))
    except InvalidParam as error:  # with the rows as they were given
        raise InvalidParam("curve", params.curve, error.expected) from None
