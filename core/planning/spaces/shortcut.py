"""From the way a search found to one that is fit to be seen: shorter, with round corners, eased in time.

Short-cuts and the eased profile are Kuffner's ("Autonomous Agents for Real-Time Animation", 1999, 5.4 and 5.5); chords
between any two points of the way, many tried together, and rounded corners go beyond them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParam
from ...maths.ramp import smootherstep, smoothstep
from ...motion import Path
from ...params import Params, param
from ...skeleton import Array
from .smoothing import smoothed
from .space import Space, clear, hits

_FINE = 256
"""Pieces in which the slope of a profile is known."""
_BEND = 8
"""Pieces of a rounded corner."""


@dataclass(frozen=True)
class SmoothParams(Params):
    """How a way is shortened and timed."""

    failures: int = param(32, lo=0, hi=10_000, basic=False, help="Short-cuts that may fail in a row before it is done")
    window: float = param(1.0, lo=0.01, hi=1.0, basic=False, help="Longest short-cut, as a part of the way")
    together: int = param(16, lo=1, hi=256, basic=False, help="Short-cuts tried at once; the best is taken")
    corners: float = param(0.5, lo=0.0, hi=0.5, basic=False, help="Part of each leg that a rounded corner may take")
    profile: str = param(
        "jerk",
        choices=(("jerk", "Least jerk"), ("cubic", "Classic ease in and out")),
        basic=False,
        help="How speed rises and falls along the way",
    )
    shortest: float = param(0.4, lo=0.0, hi=60.0, unit="s", basic=False, help="Least time for a way")
    ways: int = param(4, lo=1, hi=100, basic=False, help="Ways compared where the first one goes a long way round")

    @classmethod
    def faithful(cls) -> SmoothParams:
        """As published: short-cuts between nearby points, one at a time, plain corners and easing, the first way."""
        return cls(failures=100, window=0.33, together=1, corners=0.0, profile="cubic", ways=1)


def lengths(space: Space, points: Array) -> Array:
    """(N,) distances along a way (N, n) from its start."""
    out: Array = np.concatenate([[0.0], np.cumsum(space.distance(points[:-1], points[1:]))])
    return out


def along(space: Space, points: Array, at: npt.ArrayLike, known: Array | None = None) -> Array:
    """(..., n) configurations at distances `at` (...) along a way (N, n)."""
    known = lengths(space, points) if known is None else known
    at = np.asarray(at, dtype=np.float64)
    if len(points) == 1:
        return np.broadcast_to(points[0], (*at.shape, points.shape[1])).copy()
    k = np.clip(np.searchsorted(known, at, side="right") - 1, 0, len(points) - 2)
    leg = known[k + 1] - known[k]
    part = np.clip((at - known[k]) / np.where(leg > 0, leg, 1.0), 0.0, 1.0)
    return space.moved(points[k], part[..., None] * space.difference(points[k], points[k + 1]))


def shorten(
    space: Space, path: Path, params: SmoothParams | None = None, rng: np.random.Generator | None = None
) -> Path:
    """A way with the same ends that is no longer, by chords between random points of it.

    Args:
        space: Where the way is free.
        path: The way.
        params: How hard to try.
        rng: Source of chance; None for a fixed one.
    """
    params = params or SmoothParams()
    rng = rng if rng is not None else np.random.default_rng(0)
    for _ in range(REFINED + 1):
        points = _shortened(space, np.array(path.points), params, rng)
        if np.array_equal(points, path.points) or not hits(space, points):
            return replace(path, points=points, times=None)
        # something thin lies between two looks
        space = replace(space, step=space.step / 2)
    return replace(path, times=None)


REFINED = 3
"""How often a way is shortened anew with looks twice as close, when it touches something between them."""
WORTH = 0.01
"""Gain, of the length, below which a round counts as failed."""
_CORNERS = 64
"""Most corners of a way between which all short-cuts are tried at first."""


def _shortened(space: Space, points: Array, params: SmoothParams, rng: np.random.Generator) -> Array:
    """(M, n) a shorter way, free at the looks of the space."""
    if params.failures and params.window >= 1.0 and 2 < len(points) <= _CORNERS:
        points = _between_corners(space, points)
    known, failed = lengths(space, points), 0
    while failed < params.failures and len(points) > 2:
        total = known[-1]
        first = rng.uniform(0.0, total, params.together)
        last = np.minimum(total, first + rng.uniform(0.0, params.window * total, params.together))
        # half of them cut a corner off, which is where a way that is nearly short still has something to gain
        half = params.together // 2
        corner = rng.integers(1, len(points) - 1, half)
        legs, share = np.diff(known), rng.uniform(0.05, 1.0, (2, half))
        first[:half] = known[corner] - share[0] * np.minimum(legs[corner - 1], 0.5 * params.window * total)
        last[:half] = known[corner] + share[1] * np.minimum(legs[corner], 0.5 * params.window * total)
        ends = along(space, points, np.stack([first, last]), known)
        gain = (last - first) - space.distance(*ends)
        gain[gain < 1e-9] = 0.0
        tried = np.flatnonzero(gain)
        if len(tried):
            gain[tried[~clear(space, ends[0, tried], ends[1, tried])]] = 0.0
        chosen: list[int] = []
        for k in np.argsort(-gain, kind="stable")[: np.count_nonzero(gain)]:
            if all(last[k] <= first[c] or first[k] >= last[c] for c in chosen):
                chosen.append(int(k))
        rows, at = [], 0.0
        for k in sorted(chosen, key=lambda k: float(first[k])):
            rows += [points[(known >= at) & (known < first[k])], ends[:, k]]
            at = np.nextafter(last[k], np.inf)
        if chosen:
            ends_of_all = points[[0, -1]]
            points = np.concatenate([*rows, points[known >= at]])
            # a chord that begins or ends at an end of the way has it but for rounding
            points[[0, -1]] = ends_of_all
            known = lengths(space, points)
        failed = 0 if total - known[-1] > WORTH * total else failed + params.together
    return points


def _between_corners(space: Space, points: Array) -> Array:
    """The shortest way over corners (N, n) of a way from which the next one is seen."""
    i, j = np.triu_indices(len(points), 2)
    known = lengths(space, points)
    gains = space.distance(points[i], points[j]) < known[j] - known[i] - 1e-9
    i, j = i[gains], j[gains]
    if not len(i):
        return points
    seen = np.full((len(points), len(points)), np.inf)
    near = np.arange(len(points) - 1)
    seen[near, near + 1] = space.distance(points[:-1], points[1:])
    open_ways = clear(space, points[i], points[j])
    seen[i[open_ways], j[open_ways]] = space.distance(points[i[open_ways]], points[j[open_ways]])
    best, before = np.full(len(points), np.inf), np.zeros(len(points), dtype=np.int64)
    best[0] = 0.0
    for k in range(1, len(points)):
        through = best[:k] + seen[:k, k]
        before[k] = through.argmin()
        best[k] = through[before[k]]
    kept = [len(points) - 1]
    while kept[-1] > 0:
        kept.append(int(before[kept[-1]]))
    return points[kept[::-1]]


def rounded(space: Space, path: Path, corners: float = 0.5, straight: tuple[float, float] = (0.0, 0.0)) -> Path:
    """A way whose corners are round where there is room for it, and as they were where there is none.

    Args:
        space: Where the way is free.
        path: The way.
        corners: Part of each leg that a corner may take where the whole of it cannot be smoothed.
        straight: So much of the way at its beginning and its end is left as it is by smoothing.
    """
    points = path.points
    if len(points) < 3 or corners <= 0:
        return path
    smooth = smoothed(space, points, straight)
    if smooth is not None:
        return replace(path, points=smooth, times=None)
    rows = [points[:1]]
    u = np.linspace(0.0, 1.0, _BEND + 1)[:, None]
    for before, corner, after in zip(points[:-2], points[1:-1], points[2:], strict=True):
        arrive, leave = space.difference(corner, before), space.difference(corner, after)
        for share in corners * np.array([1.0, 0.5, 0.25, 0.125]):
            # a quadratic curve with the corner as its control point, in the tangent space there
            bend = space.moved(corner, share * ((1 - u) ** 2 * arrive + u**2 * leave))
            if not hits(space, bend):
                rows.append(bend)
                break
        else:
            rows.append(corner[None])
    found = np.concatenate([*rows, points[-1:]])
    keep = np.concatenate([[True], space.distance(found[:-1], found[1:]) > 1e-9])
    keep[-1] = True
    if hits(space, found[keep]) and not hits(space, points):
        return path
    # what the way touched before, as at a straight end that leads to a thing, is not the corners' fault
    return replace(path, points=found[keep], times=None)


def timed(
    space: Space,
    path: Path,
    fastest: npt.ArrayLike,
    fps: float,
    params: SmoothParams | None = None,
    travel: Array | None = None,
) -> Path:
    """A way at even times that starts and ends at rest and is fastest in between.

    Args:
        space: Where it leads.
        path: The way (N, n).
        fastest: (m,) greatest rate of each number of a tangent [1/s].
        fps: Samples a second; the last one is at the end or up to one sample after it, at rest.
        params: The profile.
        travel: (N - 1,) how far each leg is for who looks at it; None for its length in the space. Its speed is what
            rises and falls once.
    """
    params = params or SmoothParams()
    cap = np.asarray(fastest, dtype=np.float64)
    if not (cap > 0).all():
        raise InvalidParam("fastest", cap.tolist(), "must be above 0")
    points, ease = path.points, smootherstep if params.profile == "jerk" else smoothstep
    known = lengths(space, points) if travel is None else np.concatenate([[0.0], np.cumsum(travel)])
    total = float(known[-1])
    seconds = 0.0
    if total > 0:
        legs = np.diff(known)
        rates = np.abs(space.difference(points[:-1], points[1:])) / np.maximum(legs, 1e-12)[:, None]
        slowness = np.where(legs > 1e-12, (rates / cap).max(axis=1), 0.0)
        # a leg that turns a joint fast for its length costs nothing where the profile is slow
        seconds = total * float((slowness * _steepest(known / total, ease)).max())
    seconds = max(seconds, params.shortest if total > 0 else 0.0)
    count = max(1, int(np.ceil(seconds * fps - 1e-9)))
    eased = ease(np.arange(count + 1) / count)
    return Path(along(space, points, total * eased, known), path.axes, np.arange(count + 1) / fps)


def _steepest(spots: Array, ease: Callable[[Array], Array]) -> Array:
    """(N - 1,) how steep a profile from 0 to 1 is at most while it rises through each of the legs between N spots."""
    time = np.linspace(0.0, 1.0, _FINE + 1)
    height = ease(time)
    slope = np.diff(height) * _FINE
    first = np.clip(np.searchsorted(height, spots[:-1], side="right") - 1, 0, _FINE - 1)
    last = np.clip(np.searchsorted(height, spots[1:], side="left"), first + 1, _FINE)
    # profiles rise ever faster up to their middle, and then ever slower
    middle = (first < _FINE // 2) & (last > _FINE // 2)
    return np.asarray(np.where(middle, slope.max(), np.maximum(slope[first], slope[last - 1])))
