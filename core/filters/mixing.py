"""Several motions as one: a common clock, postures mixed as signals, travel mixed as speed.

Multitarget interpolation after Bruderlin and Williams, "Motion signal processing", 1995: each channel is the weighted
sum of those of the motions. Rotations are added as rotation vectors from the mean of all the motions (the log map), so
weights that do not sum to one make movements larger or smaller about that mean. The way over the ground is not mixed as
places, which have nothing in common, but as steps seen from the character.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParam
from ..kinematics import base as bases
from ..maths import trig
from ..maths.ramp import clamp, lerp
from ..motion import Event, Motion
from ..skeleton import Array
from .alignment import CONTACTS, comparable
from .bank import decompose
from .retime import along, played, steps
from .signals import FIRST, from_signals

_NEAR = 0.3
"""Events of one name in several motions that are closer than this are one event [s]."""


def mixed_values(values: npt.ArrayLike, weights: npt.ArrayLike, bands: npt.ArrayLike | None = None) -> Array:
    """The weighted sum of Q signals: sum of weights[q] values[q], for all channels and samples.

    Args:
        values: (Q, T, C).
        weights: (Q,), (Q, T), (Q, 1, C) or (Q, T, C), of any size and sign.
        bands: (K, Q) weights in the fastest K bands of frequency instead.

    Returns:
        (T, C).
    """
    signals = np.asarray(values, dtype=np.float64)
    factors = np.asarray(weights, dtype=np.float64)
    factors = factors.reshape(factors.shape + (1,) * (3 - factors.ndim))
    if bands is None:
        return _sum(factors, signals)
    rows = np.asarray(bands, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != len(signals):
        raise InvalidParam("bands", rows.shape, f"must be rows of {len(signals)} weights, one a clip")
    out = _sum(factors, signals)
    for q, signal in enumerate(signals):
        parts, _ = decompose(signal)
        for part, row in zip(parts, rows, strict=False):
            out += (row[q] - factors[q]) * part
    return out


def _sum(factors: Array, signals: Array) -> Array:
    out: Array = factors[0] * signals[0]
    for factor, signal in zip(factors[1:], signals[1:], strict=True):
        out = out + factor * signal
    return out


def rounds(motions: Sequence[Motion]) -> tuple[list[Motion], bool]:
    """The motions as single rounds with their bases, and whether all were loops."""
    return [bases.closed(bases.based(m)) for m in motions], all(m.loop for m in motions)


def courses(motions: Sequence[Motion], tables: Sequence[npt.ArrayLike] | None = None) -> Array:
    """(Q, N) times at which motions pass the same places of their common way, evenly in the time of the first [s].

    Args:
        motions: None of them a loop any more.
        tables: For each motion but the first, (K, 2) times of the first and its own that correspond; None stretches
            all evenly.
    """
    count = 4 * max(len(m) for m in motions) + 1
    even = np.stack([np.linspace(0.0, m.duration, count) for m in motions])
    if tables is None or motions[0].duration == 0.0:
        return even
    return np.stack([even[0], *(along(np.asarray(table, dtype=np.float64), even[0]) for table in tables)])


def clock(ways: Array, weights: Array) -> Array:
    """(N,) time at which a mixture passes places of the common way [s].

    Args:
        ways: (Q, N) times at which each motion passes them.
        weights: (Q, N) of the motions' paces there; they should sum to one.
    """
    middle = (weights[:, 1:] + weights[:, :-1]) / 2
    paces = (middle * np.diff(ways, axis=1)).sum(axis=0)
    if len(paces) and paces.min() < 0:
        raise InvalidParam("pace", float(weights.max()), "so far beyond the clips time would run backwards; take less")
    return np.concatenate([[0.0], np.cumsum(paces)])


def taken(motions: Sequence[Motion], ways: Array, time: Array, loop: bool) -> tuple[list[Motion], Array]:
    """The motions at the rate of the first, each passing the common way at the same time.

    Args:
        motions: None of them a loop any more.
        ways: (Q, N) times at which each passes places of it.
        time: (N,) when the result does.
        loop: The result is one round of a loop, whose end is its beginning.

    Returns:
        Motions of T samples, and (T,) where on the common way, from 0 to 1, each sample is.
    """
    fps = motions[0].fps
    count, step = steps(float(time[-1]), fps, loop)
    at = np.minimum(step * np.arange(count), time[-1])
    takes = [played(m, np.interp(at, time, way), fps) for m, way in zip(motions, ways, strict=True)]
    return takes, np.interp(at, time, np.linspace(0.0, 1.0, len(time)))


def mixed(takes: Sequence[Motion], weights: Array, bands: npt.ArrayLike | None = None) -> Motion:
    """One motion of several with the same number of samples.

    Args:
        takes: (Q) motions of one skeleton; the first gives rate, place and heading at the beginning.
        weights: (Q, T, J + 1) of the joints and, last, of the hips' place, the travel and the curves.
        bands: (K, Q) weights in the fastest K bands of frequency instead, for posture.

    Returns:
        With the curves of all, and one event where the motions have one each.
    """
    first, weights = takes[0], _spoken(takes, weights)
    place = weights[..., -1]
    signals = comparable(takes)
    values = np.stack([x.values for x in signals])
    factors = np.concatenate(
        [np.repeat(weights[..., -1:], FIRST, axis=2), np.repeat(weights[..., :-1], 3, axis=2)], axis=2
    )
    # the hips' place has no zero of its own: what is mixed is how it differs from the mean
    middle = values[..., 3:FIRST].mean(axis=(0, 1))
    values[..., 3:FIRST] -= middle
    out = mixed_values(values, factors, bands)
    out[:, 3:FIRST] += middle
    out[:, :3] = travelled([x.values[:, :3] for x in signals], place)
    motion = from_signals(first, signals[0].with_values(out))
    shares = shared(place)
    return replace(
        motion, mask=joint_mask(takes), curves=_curves(takes, place, shares), events=_events(takes, shares.mean(axis=1))
    )


def _spoken(takes: Sequence[Motion], weights: Array) -> Array:
    """Weights (Q, T, J + 1) with those of joints that a take does not speak for given to the first one."""
    out = np.array(weights)
    for q, take in enumerate(takes[1:], 1):
        if take.mask is not None:
            silent = np.append(~take.mask, not take.mask[0])
            out[0][:, silent] += out[q][:, silent]
            out[q][:, silent] = 0.0
    return out


def shared(weights: Array) -> Array:
    """Weights (Q, ...) as parts of a whole: none negative, all together one."""
    positive = np.maximum(weights, 0.0)
    total = positive.sum(axis=0)
    return np.where(total > 0, positive / np.where(total > 0, total, 1.0), 1.0 / len(weights))


def travelled(tracks: Sequence[Array], weights: Array) -> Array:
    """Base (T, 3) that goes by the weighted steps of bases (T, 3), each seen from its own heading, from the first's.

    Args:
        tracks: Of Q motions.
        weights: (Q, T).
    """
    step = np.zeros((len(tracks[0]) - 1, 3))
    for track, weight in zip(tracks, weights, strict=True):
        step += ((weight[1:] + weight[:-1]) / 2)[:, None] * _steps(track)
    return walked(tracks[0][0], step)


def walked(start: Array, step: Array) -> Array:
    """Base (T, 3) that begins at `start` (3,) and takes steps (T - 1, 3), each seen from where it has got to."""
    heading = start[2] + np.concatenate([[0.0], np.cumsum(step[:, 2])])
    c, s = np.cos(heading[:-1]), np.sin(heading[:-1])
    way = np.stack([c * step[:, 0] - s * step[:, 1], s * step[:, 0] + c * step[:, 1]], axis=1)
    places = start[:2] + np.concatenate([np.zeros((1, 2)), np.cumsum(way, axis=0)])
    return np.column_stack([places, heading])


def _steps(track: Array) -> Array:
    """(T - 1, 3) steps of a base (T, 3) seen from its own heading."""
    c, s = trig.cos(track[:-1, 2]), trig.sin(track[:-1, 2])
    x, y, turn = np.diff(track, axis=0).T
    return np.column_stack([c * x + s * y, c * y - s * x, turn])


def joint_mask(motions: Sequence[Motion]) -> npt.NDArray[np.bool_] | None:
    """(J,) joints that any of the motions speaks for; None for all."""
    masks = [m.mask for m in motions if m.mask is not None]
    return np.any(masks, axis=0) if len(masks) == len(motions) else None


def weights_at(weights: npt.ArrayLike, count: int, places: Array, joints: int) -> Array:
    """Weights of `count` clips as (Q, T, J + 1) at places (T,) of the common way, from 0 to 1.

    They are given as (Q,), (Q, N) or (Q, N, J + 1), N evenly from its beginning to its end.
    """
    given = np.asarray(weights, dtype=np.float64)
    if given.ndim == 0 or len(given) != count or given.ndim > 3 or given.size == 0:
        raise InvalidParam("weights", given.shape, f"must be {count}, one a clip")
    if not np.isfinite(given).all():
        raise InvalidParam("weights", "NaN or infinity", "must be finite numbers")
    given = np.atleast_3d(given) if given.ndim > 1 else given[:, None, None]
    _, n, parts = given.shape
    if parts not in (1, joints + 1):
        raise InvalidParam("weights", given.shape, f"must have one for each of {joints} joints and one for the place")
    if n > 1:
        at = places * (n - 1.0)
        low = np.minimum(at.astype(np.int64), n - 2)
        given = lerp(given[:, low], given[:, low + 1], (at - low)[:, None])
    return np.broadcast_to(given, (count, len(places), joints + 1))


def _curves(takes: Sequence[Motion], weights: Array, shares: Array) -> dict[str, Array]:
    """Curves of all takes; those that not all have are mixed among those that have them."""
    out = {}
    for name in dict.fromkeys(name for take in takes for name in take.curves):
        having = [q for q, take in enumerate(takes) if name in take.curves]
        some = name in CONTACTS or len(having) < len(takes)
        factors = shared(shares[having]) if some else weights
        curve = sum(f * takes[q].curves[name] for f, q in zip(factors, having, strict=True))
        out[name] = clamp(curve) if name in CONTACTS else np.asarray(curve)
    return out


def _events(takes: Sequence[Motion], shares: Array) -> tuple[Event, ...]:
    """The events of the take that counts most, each at the mean time of its like in the others."""
    lead = int(shares.argmax())
    out = []
    for event in takes[lead].events:
        time, total = shares[lead] * event.time, shares[lead]
        for q, take in enumerate(takes):
            like = [e.time for e in take.events if e.name == event.name] if q != lead else []
            nearest = min(like, key=lambda t: abs(t - event.time), default=None)
            if nearest is not None and abs(nearest - event.time) < _NEAR:
                time, total = time + shares[q] * nearest, total + shares[q]
        out.append(replace(event, time=float(time / total)))
    return tuple(out)
