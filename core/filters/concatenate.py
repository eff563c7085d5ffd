"""One motion after another, with a zone in which the first goes over into the second.

After Bruderlin and Williams, "Motion signal processing", 1995; bands of frequency that go over in zones of their own
are Burt and Adelson's merging of images, 1983, in time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import InvalidParam
from ..kinematics import base as bases
from ..maths import quat
from ..maths.ramp import smoothstep
from ..motion import Event, Motion
from ..skeleton import Array
from .alignment import comparable
from .bank import count, decompose
from .mixing import joint_mask, rounds, travelled
from .resample import resample
from .resample import slice as part_of
from .signals import from_signals


def concatenate(a: Motion, b: Motion, zone: float = 0.5, apart: bool = False, fit: float = 0.0) -> Motion:
    """`a`, then `b` from where and as `a` was heading; in the last `zone` of a [s] the one goes over into the other.

    Outside the zone both are as they were, b moved and turned on the ground. Inside, b comes in with a smooth step and
    the way over the ground goes by the steps of both.

    Args:
        a, b: Of one skeleton; the result has the rate of a.
        zone: Length of the transition, no more than either clip has [s].
        apart: Band k of frequency goes over within 2^(k+2) samples in the middle of the zone; only what is slower takes
            the whole zone.
        fit: b may begin up to so much later, where it is most like the end of a [s].
    """
    (a, b), _ = rounds((a, b))
    b = resample(b, a.fps)
    length = round(zone * a.fps)
    if not 0 <= length < min(len(a), len(b)):
        longest = (min(len(a), len(b)) - 1) / a.fps
        raise InvalidParam("zone", zone, f"must be from 0 to {longest:.2f} s, as long as the shorter clip")
    first, second = comparable((a, b))
    start = len(a) - 1 - length
    ending, beginning = first.values[start:], second.values
    if fit > 0:
        skip = _best_start(ending[:, 3:], beginning[:, 3:], round(fit * a.fps))
        b, beginning = part_of(b, skip / a.fps, b.duration), beginning[skip:]
    share = smoothstep(np.arange(length + 1) / length) if length else np.ones(1)
    values = ending + share[:, None] * (beginning[: length + 1] - ending)
    if apart:
        values += _sooner(first.values, beginning, start, share)
    values[:, :3] = travelled((ending[:, :3], beginning[: length + 1, :3]), np.stack([1.0 - share, share]))
    between = from_signals(part_of(a, start / a.fps, a.duration), first.with_values(values))
    return _joined(a, between, b, share, values[-1, :3])


def _best_start(ending: Array, beginning: Array, most: int) -> int:
    """By how many samples, up to `most`, a beginning (T, C) is to be cut to be most like an ending (Z, C)."""
    length = len(ending)
    last = min(most, len(beginning) - length)
    away = [np.square(beginning[k : k + length] - ending).sum() for k in range(last + 1)]
    return int(np.argmin(away))


def _sooner(before: Array, after: Array, start: int, share: Array) -> Array:
    """What fast bands (Z, C) of both change when they go over in the middle of the zone rather than all along it."""
    length = len(share) - 1
    levels = min(count(len(before)), count(len(after)))
    out = np.zeros_like(before[start:])
    if not length or not levels:
        return out
    (ending, _), (beginning, _) = (decompose(x, levels=levels) for x in (before, after))
    for k in range(levels):
        width = min(2 ** (k + 2), length)
        own = smoothstep((np.arange(length + 1) - (length - width) / 2) / width)
        out += (own - share)[:, None] * (beginning[k, : length + 1] - ending[k, start:])
    return out


def _joined(a: Motion, between: Motion, b: Motion, share: Array, place: Array) -> Motion:
    """The samples of a before the zone, of the zone, and of b after it, which goes on from `place` (3,)."""
    length = len(share) - 1
    start, middle = len(a) - 1 - length, length / 2 / a.fps
    rest = bases.move(part_of(b, length / a.fps, b.duration), *place)
    parts = (part_of(a, 0.0, start / a.fps), between, rest)
    keep = (slice(None), slice(1, -1), slice(None)) if length else (slice(-1), slice(0), slice(None))
    shift = start / a.fps
    events = [e for e in a.events if e.time <= shift + middle]
    events += [Event(e.time + shift, e.name, e.data) for e in b.events if e.time > middle]
    curves = {}
    for name in dict.fromkeys((*a.curves, *b.curves)):
        old, new = (m.curves.get(name, np.zeros(len(m))) for m in (a, b))
        zone = old[start:] + share * (new[: length + 1] - old[start:])
        curves[name] = np.concatenate([old[:start], zone, new[length + 1 :]])
    return replace(
        a,
        roots=np.concatenate([m.roots[k] for m, k in zip(parts, keep, strict=True)]),
        rotations=quat.continuous(np.concatenate([m.rotations[k] for m, k in zip(parts, keep, strict=True)])),
        base=np.concatenate([m.base[k] for m, k in zip(parts, keep, strict=True) if m.base is not None]),
        mask=joint_mask((a, b)),
        curves=curves,
        events=tuple(events),
    )
