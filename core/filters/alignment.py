"""Which moments of two motions correspond: one monotone path for all channels together.

Dynamic timewarping after Bruderlin and Williams, "Motion signal processing", 1995, with the costs of `warp_costs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import InvalidMotion, InvalidParam
from ..kinematics import base as bases
from ..maths import dtw, quat
from ..maths.ramp import lerp, smooth
from ..maths.reduce import kept_keys
from ..maths.spline import catmull_rom_slopes, hermite
from ..motion import Motion
from ..params import param
from ..skeleton import Array
from .contacts import CURVES, contacts
from .signals import Signals, columns, rotation_vectors
from .warp_costs import PathParams, bends, lines_of, squares, tables

Ints = npt.NDArray[np.int64]

CONTACTS = tuple(name for names in CURVES for name in names)
"""Curves that say when heels and balls touch the ground."""

_MOST = 4000
"""Samples of a clip that are compared at most: longer clips are compared at a lower rate."""
_STILL = 0.01
"""Channels that deviate less than this from their mean in both clips say nothing about time [rad, m]."""
_KNOTS = 0.005
"""How far the knots of a time curve may lead it away from the path they stand for [s]."""


@dataclass(frozen=True)
class AlignParams(PathParams):
    """How moments of two motions are found that correspond."""

    rate: float = param(60.0, lo=5.0, hi=240.0, unit="Hz", help="Rate at which the clips are compared", basic=False)
    detail: float = param(
        6.0, lo=0.5, hi=60.0, unit="Hz", help="Movements faster than this are not compared: they are noise", basic=False
    )
    steepness: float = param(
        12.0,
        lo=0.1,
        hi=100.0,
        help="What counts as steep: standard deviations of a channel a second",
        basic=False,
    )
    footfalls: float = param(
        6.0,
        lo=0.0,
        hi=100.0,
        help="How much it counts when each foot touches the ground, against one angle of a joint",
        basic=False,
    )
    smooth: float = param(
        2.0, lo=0.1, hi=60.0, unit="Hz", help="The pace does not change faster than this", basic=False
    )


def moments(a: Motion, b: Motion, params: AlignParams | None = None) -> Array:
    """(K, 2) times of a and of b that correspond [s], both increasing from zero to the end.

    Both clips are compared as if they took the same time; what each does at once with the other decides, wherever they
    go. Between the pairs, time runs along the curve `retime` takes.
    """
    params = params or AlignParams()
    if params.footfalls > 0:
        a, b = with_contacts(a), with_contacts(b)
    a, b = bases.closed(a), bases.closed(b)
    ends = np.array([a.duration, b.duration])
    if len(a) < 2 or len(b) < 2:
        return np.stack([np.zeros(2), ends])
    names = [name for name in CONTACTS if params.footfalls > 0 and name in a.curves and name in b.curves]
    first, second = (
        smooth(np.column_stack([x.values[:, 3:], *(m.curves[name] for name in names)]), m.fps, params.detail)
        for x, m in zip(comparable((a, b)), (a, b), strict=True)
    )
    moving = np.maximum(first.std(axis=0), second.std(axis=0)) > _STILL
    for m in (a, b):
        if m.mask is not None:  # what one clip says nothing about cannot be compared
            moving[3 : 3 + 3 * len(m.mask)] &= np.repeat(m.mask, 3)
    if not moving.any():
        return np.stack([np.zeros(2), ends])
    scale = 1.0 / np.maximum(np.sqrt((first.var(axis=0) + second.var(axis=0)) / 2), _STILL)
    scale[len(scale) - len(names) :] *= params.footfalls
    count = int(np.clip(np.ceil(ends.max() * params.rate), 2, _MOST)) + 1
    step = float(ends.max()) / (count - 1)
    first, second = (_evenly(x[:, moving], count) for x in (first, second))
    path = warp_path(first, second, params, spacing=params.steepness * step, scale=scale[moving])
    at = np.linspace(0.0, ends[0], count)
    curve = np.interp(at, *(time_table(path) * (ends / (count - 1))).T)
    curve = smooth(curve, (count - 1) / ends[0], params.smooth)
    keys = kept_keys((curve - at * (ends[1] / ends[0]))[:, None], _KNOTS)
    return np.stack([at[keys], curve[keys]], axis=1)


def has_contacts(motion: Motion) -> bool:
    """Whether the motion says when its feet touch the ground."""
    return any(name in motion.curves for name in CONTACTS)


def with_contacts(motion: Motion) -> Motion:
    """The motion with contacts: its own, or detected ones where it has none and has feet."""
    if has_contacts(motion) or not motion.skeleton.has("foot_L", "foot_R", "shin_L", "shin_R"):
        return motion
    return contacts(motion)


def comparable(motions: Sequence[Motion]) -> list[Signals]:
    """The signals of motions of one skeleton, measured from the same references."""
    first = motions[0]
    for motion in motions[1:]:
        if motion.skeleton.names != first.skeleton.names:
            odd = sorted(set(motion.skeleton.names) ^ set(first.skeleton.names))[:3]
            raise InvalidMotion(
                f"the clips are of different rigs ({', '.join(odd) or 'joints in another order'}); retarget them first"
            )
    bodies = []
    for motion in motions:
        motion = bases.based(motion)
        places, hips = bases.relative(motion)
        bodies.append((motion, places, np.concatenate([hips[:, None], motion.rotations[:, 1:]], axis=1)))
    # each clip counts alike, however long it is
    middles = np.stack([quat.mean(np.moveaxis(turns, 0, 1)) for _, _, turns in bodies], axis=1)
    references = quat.mean(middles)
    out = []
    for motion, places, turns in bodies:
        vectors = rotation_vectors(quat.multiply(quat.conjugate(references), turns)).reshape(len(motion), -1)
        assert motion.base is not None
        values = np.concatenate([motion.base, places, vectors], axis=1)
        out.append(Signals(values, columns(motion.skeleton), references, motion.fps, motion.loop))
    return out


def warp_path(
    a: Array, b: Array, params: PathParams | None = None, spacing: float = 1.0, scale: npt.ArrayLike | None = None
) -> Ints:
    """The cheapest correspondence of two clips.

    Args:
        a, b: (n, C), (m, C) channels.
        params: Costs and limits.
        spacing: Time between samples, in the unit of scaled values: what counts as steep.
        scale: (C,) or one factor for the values; None divides each channel by its standard deviation over both clips,
            and leaves out those that never change.

    Returns:
        (K, 2) samples of a and b that correspond, from (0, 0) to (n - 1, m - 1) by steps of 0 or 1.
    """
    params = params or PathParams()
    first, second = lines_of(a, b, spacing, scale)
    n, m = len(first.values), len(second.values)
    within = dtw.band(n, m, params.window * (m - 1)) if params.window else None
    square = params.form == "values" or (params.form == "local" and params.stretch_power == params.bend_power == 2.0)
    if square and not params.longest:
        return dtw.cheapest(squares(first, second, params), within).path
    found = dtw.cheapest_limited(*tables(first, second, params), params.longest, bends(first, second, params), within)
    if not np.isfinite(found.cost):
        raise InvalidParam(
            "longest", params.longest, f"{n} and {m} samples do not fit with so short waits; allow longer ones or 0"
        )
    return found.path


def path_cost(
    a: Array,
    b: Array,
    path: npt.ArrayLike,
    params: PathParams | None = None,
    spacing: float = 1.0,
    scale: npt.ArrayLike | None = None,
) -> float:
    """What a path (K, 2) costs; the arguments as for `warp_path`."""
    params = params or PathParams()
    first, second = lines_of(a, b, spacing, scale)
    node, diagonal, (alone_a, alone_b) = tables(first, second, params)
    i, j = np.asarray(path, dtype=np.int64).T
    across, down = np.diff(i) > 0, np.diff(j) > 0
    both = across & down
    moves = np.where(both, diagonal[i[1:], j[1:]], np.where(across, alone_a[i[1:]], alone_b[j[1:]]))
    cost = node[i, j].sum() + moves.sum()
    turning = bends(first, second, params)
    if turning is not None:
        before, after, x, y = both[:-1], both[1:], i[1:-1], j[1:-1]
        cost += turning.through[x, y][before & after].sum() + turning.aside[x, y][before & ~after].sum()
        cost += turning.aside[i[2:], j[2:]][~before & after].sum()
    return float(cost)


def apply_path(values: Array, path: npt.ArrayLike) -> Array:
    """Signals of the second clip warped to the samples of the first.

    One sample that corresponds to one sample is taken over; several are averaged; one that corresponds to several is
    spread over them along the cubic through its neighbours, half a sample to either side, held at the clip's ends.

    Args:
        values: (m, ...) signals of the second clip.
        path: (K, 2) as `warp_path` gives it.

    Returns:
        (n, ...).
    """
    path = np.asarray(path, dtype=np.int64)
    values = np.asarray(values, dtype=np.float64)
    n, m = path[-1] + 1
    if m != len(values):
        raise InvalidMotion(f"a path to {m} samples for a signal of {len(values)}")
    i, j = path.T
    held = np.bincount(j, minlength=m)
    nth = np.arange(len(j)) - np.searchsorted(j, j)
    spread = np.where((held[j] > 1) & (j > 0) & (j < m - 1), j - 0.5 + (nth + 0.5) / held[j], j.astype(np.float64))
    # a sample that is one of several does not spread: they are averaged as they are
    spread = np.where(np.bincount(i, minlength=n)[i] > 1, j, spread)
    flat = _cubic(values.reshape(m, -1), spread)
    out = np.zeros((n, flat.shape[1]))
    np.add.at(out, i, flat)
    out /= np.bincount(i, minlength=n)[:, None]
    return out.reshape(n, *values.shape[1:])


def time_table(path: npt.ArrayLike) -> Array:
    """(K, 2) corresponding samples of a path as a curve that rises on both sides: never vertical, never level.

    Its knots are the ends and the middles of diagonal moves; between them each clip runs evenly.
    """
    path = np.asarray(path, dtype=np.float64)
    both = np.diff(path, axis=0).min(axis=1, initial=1.0) > 0
    middles = (path[:-1] + path[1:])[both] / 2
    return np.unique(np.concatenate([path[:1], middles, path[-1:]]), axis=0)


def _cubic(values: Array, at: Array) -> Array:
    """Values (m, C) at fractional samples, along Catmull-Rom cubics."""
    if len(values) < 2:
        return values[np.zeros(len(at), dtype=np.int64)]
    knots = np.arange(len(values), dtype=np.float64)
    return hermite(at, knots, values, catmull_rom_slopes(knots, values))


def _evenly(values: Array, count: int) -> Array:
    """Values (T, C) at so many equal steps from the first to the last sample."""
    at = np.linspace(0.0, len(values) - 1.0, count)
    low = np.minimum(at.astype(np.int64), len(values) - 2)
    return lerp(values[low], values[low + 1], (at - low)[:, None])
