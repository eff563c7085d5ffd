"""Two or more motions as one, at once or one after the other.

Multitarget interpolation and concatenation after Bruderlin and Williams, "Motion signal processing", 1995. Motions are
first put on a common clock by timewarping, for only what happens at the same moment of both can be mixed: feet that
touch the ground at different times would touch it at none. See `mixing` for what is mixed and how.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParam
from ..kinematics import base as bases
from ..motion import Motion
from ..params import param
from ..skeleton import Array, Skeleton
from .alignment import AlignParams, has_contacts, moments, with_contacts
from .concatenate import concatenate
from .footlock import footlock
from .mixing import clock, courses, mixed, rounds, shared, taken, weights_at
from .planted import EASE, hold_mixed
from .resample import slice as part_of
from .scope import ScopeParams, mask, mix, part_mask, weight

CLIPS = ("first", "second", "third", "fourth")
LIMBS = ("hips", "trunk", "head", "arm_L", "arm_R", "leg_L", "leg_R")
"""The parts of the body that may be mixed in shares of their own, of `scope.SCOPES`."""


@dataclass(frozen=True)
class BlendParams(ScopeParams):
    """What an actor's motion is mixed with or goes over into, and how."""

    source: str = param("", ref="armature", help="Armature whose animation is the second clip")
    action: str = param("", ref="action", help="Action that is the second clip, instead of what the source plays")
    how: str = param(
        "mix",
        choices=(("mix", "Both at once"), ("follow", "The second clip after the actor's own, with a transition")),
        help="How the clips are put together",
    )
    amount: float = param(
        0.5,
        lo=-2.0,
        hi=3.0,
        keyable=True,
        help="How much of the second clip: 0 is none, 1 it alone, beyond is more; may be animated",
    )
    zone: float = param(0.5, lo=0.0, hi=60.0, unit="s", help="How long the transition takes when one clip follows")
    influence: float = param(
        1.0, lo=0.0, hi=1.0, help="How much of the change counts: 0 leaves everything as it is", basic=False
    )
    third: str = param("", ref="action", help="Action that is the third clip", basic=False)
    fourth: str = param("", ref="action", help="Action that is the fourth clip", basic=False)
    weights: tuple[tuple[float, ...], ...] = param(
        (),
        columns=("time", *CLIPS),
        help="Weights of the clips at times [s] of the actor's own, instead of the amount; one row for all the time",
        basic=False,
    )
    parts: tuple[float, ...] = param(
        (1.0,) * len(LIMBS),
        lo=-2.0,
        hi=3.0,
        help="How much of the other clips counts in hips, trunk, head, left and right arm, left and right leg: 1 as "
        "elsewhere, 0 nothing, beyond is more",
        basic=False,
    )
    limbs: tuple[tuple[float, ...], ...] = param(
        (),
        columns=("time", *LIMBS),
        help="The same at times [s] of the actor's own clip, as a factor on the parts; one row for all the time",
        basic=False,
    )
    bands: tuple[tuple[float, ...], ...] = param(
        (), columns=CLIPS, help="Weights in the bands of frequency, the fastest first, instead", basic=False
    )
    align: bool = param(True, help="Match the moments of the clips before they are mixed", basic=False)
    timing: str = param(
        "blend",
        choices=(("blend", "Between those of the clips, by their weights"), ("first", "That of the actor's own clip")),
        help="Pace of the result",
        basic=False,
    )
    normalise: bool = param(False, help="Divide the weights by their sum", basic=False)
    plant: bool = param(True, help="Hold the feet still while they touch the ground", basic=False)
    apart: bool = param(False, help="When one clip follows: fast movements go over sooner than slow ones", basic=False)
    fit: float = param(
        0.0,
        lo=0.0,
        hi=10.0,
        unit="s",
        help="When one clip follows: it may begin so much later, where it fits best",
        basic=False,
    )


def combine(motions: Sequence[Motion], params: BlendParams, align: AlignParams | None = None) -> Motion:
    """The motions mixed, or one after the other, by the parameters alone."""
    if params.how == "mix":
        return blend(motions, weights_of(params, motions), params, align)
    out = motions[0]
    for motion in motions[1:]:
        out = _followed(out, motion, params)
    return out


def weights_of(params: BlendParams, motions: Sequence[Motion]) -> Array:
    """(Q, N) weights of the clips over the time of the first."""
    clips = len(motions)
    if not params.weights:
        if clips > 2:
            raise InvalidParam("weights", params.weights, f"{clips} clips need a row of weights")
        amount = np.atleast_1d(params.amount)
        return np.stack([1.0 - amount, amount][:clips])
    rows = np.array(sorted(params.weights))
    times = np.linspace(0.0, motions[0].duration, max(2, len(motions[0])))
    return np.stack([np.interp(times, rows[:, 0], rows[:, 1 + q]) for q in range(clips)])


def blend(
    motions: Sequence[Motion],
    weights: npt.ArrayLike,
    params: BlendParams | None = None,
    align: AlignParams | None = None,
) -> Motion:
    """A mixture of motions of one skeleton, at the rate of the first and from its place and heading.

    Args:
        motions: Q of them. A loop is gone through once; the result is a loop where all are.
        weights: (Q,), (Q, N) or (Q, N, J + 1), of any size and sign; N evenly over the time of the first motion, and of
            the joints and, last, the place of the hips and the travel. Outside the scope the first motion counts alone.
        params: How.
        align: How moments that correspond are found.
    """
    params = params or BlendParams()
    if not motions:
        raise InvalidParam("motions", 0, "needs one or more")
    if params.plant:
        motions = [with_contacts(m) for m in motions]
    clips, loop = rounds(motions)
    tables = None
    if params.align:
        tables = [moments(clips[0], m, align) for m in clips[1:]]
    else:
        # as they are: what the longer ones do after the shortest has ended is left out
        least = min(m.duration for m in clips)
        clips, loop = [part_of(m, 0.0, least) for m in clips], False
    ways = courses(clips, tables)
    places = np.linspace(0.0, 1.0, ways.shape[1])
    shares = _scoped(weights, places, clips, params)
    pace = shared(shares[..., -1])
    if params.timing == "first":
        pace = np.stack([np.ones(len(places)), *np.zeros((len(clips) - 1, len(places)))])
    takes, places = taken(clips, ways, clock(ways, pace), loop)
    bands = np.array(params.bands)[:, : len(clips)] if params.bands else None
    shares = _scoped(weights, places, clips, params)
    out = replace(mixed(takes, shares, bands), loop=loop)
    return hold_mixed(out, shares if bands is None else None) if params.plant and has_contacts(out) else out


def _scoped(weights: npt.ArrayLike, places: Array, clips: Sequence[Motion], params: BlendParams) -> Array:
    """Weights (Q, T, J + 1) at places (T,) of the common way, the first clip's alone where the scope does not reach."""
    skeleton = clips[0].skeleton
    given = weights_at(weights, len(clips), places, len(skeleton))
    if params.normalise:
        total = given.sum(axis=0)
        if np.abs(total).min() < 1e-9:
            raise InvalidParam("weights", np.asarray(weights).tolist(), "sum up to nothing and cannot be normalised")
        given = given / total
    times = np.linspace(0.0, clips[0].duration, max(2, 4 * len(clips[0])))
    share = np.interp(places * clips[0].duration, times, weight(times, params))
    reach = share[:, None] * mask(skeleton, params) * limb_shares(skeleton, places * clips[0].duration, params)
    out = reach * given
    out[0] += 1.0 - reach
    return out


def limb_shares(skeleton: Skeleton, times: Array, params: BlendParams) -> Array:
    """(T, J + 1) how much of the other clips counts at times (T,) [s] of the first, for joints and the hips' place."""
    out = np.ones((len(times), len(skeleton) + 1))
    rows = np.array(sorted(params.limbs)).reshape(-1, 1 + len(LIMBS))
    for k, limb in enumerate(LIMBS):
        over_time = np.interp(times, rows[:, 0], rows[:, 1 + k]) if len(rows) else np.ones(len(times))
        out[:, part_mask(skeleton, limb)] = params.parts[k] * over_time[:, None]
    return out


def _followed(a: Motion, b: Motion, params: BlendParams) -> Motion:
    """`concatenate`, with the feet held still in the transition."""
    if params.plant:
        a, b = with_contacts(a), with_contacts(b)
    out = concatenate(a, b, params.zone, params.apart, params.fit)
    if not params.plant or not has_contacts(out):
        return out
    end = bases.closed(a).duration
    begin = max(end - params.zone - EASE, 0.0)
    return mix(out, footlock(out), ScopeParams(range="part", begin=begin, end=end + EASE, soft=EASE))
