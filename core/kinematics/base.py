"""The place on the ground of a motion: x, y and heading over time, without the sway of the single step.

A mean over exactly one stride removes whatever repeats with the stride (sway, pelvic rotation, surge) and keeps steady
travel and steady turns as they are; so the track of the hips is averaged over the stride under way at each sample.
Beyond its ends a walk goes on walking, a stance stands, a loop starts again.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..maths import quat, trig
from ..maths.ramp import unwrap, wrap
from ..motion import Motion
from ..skeleton import Array
from . import fk

STRIDE = 1.1
"""Averaged over where nobody steps: the stride of a person walking at ease [s]."""
STRIDE_RANGE = (0.4, 2.0)
"""Shortest and longest stride taken for one [s]."""

_UP = np.array([0.0, 0.0, 1.0])
_UPSIDE_DOWN = 0.1
"""Squared cosine of half the tilt below which there is no heading: within 37 degrees of standing on the head."""
_REACH = 0.75
"""Strides that the two averages look ahead: half of one stride, then half of half of one."""


def derive(motion: Motion) -> Array:
    """Base (T, 3) of a motion from its hips, shoulders and steps: x, y [m], unwrapped heading [rad]."""
    positions, globals = fk.forward(motion.skeleton, motion.rotations, motion.roots)
    track = np.column_stack([motion.roots[:, :2], _headings(motion, globals)])
    if len(track) < 3:
        return track
    feet = _feet_apart(motion, positions, track[:, 2])
    if motion.loop:
        around = len(track)
        steps = _steps(np.tile(feet, (3, 1)), _looped(track, around), motion)
        strides = _strides(steps, 3 * around, motion.fps)[around:-around]
        pad = int(np.ceil(_REACH * strides.max())) + 2
        long, widths = _looped(track, pad), np.pad(strides, pad, mode="wrap")
    else:
        steps = _steps(feet, track, motion)
        strides = _strides(steps, len(track), motion.fps)
        pad = int(np.ceil(_REACH * strides.max())) + 2
        before = _beyond(track[::-1], (len(track) - 1 - steps)[::-1], strides[0], pad)[::-1]
        after = _beyond(track, steps, strides[-1], pad)
        long, widths = np.concatenate([before, track, after]), np.pad(strides, pad, mode="edge")
    return _unbent(_mean(_mean(long, widths), widths / 2), widths)[pad:-pad]


def based(motion: Motion) -> Motion:
    """The motion with its base, derived where it has none."""
    return motion if motion.base is not None else replace(motion, base=derive(motion))


def relative(motion: Motion) -> tuple[Array, Array]:
    """Hips seen from the base: places (T, 3) [m] and rotations (T, 4). `compose` is the inverse."""
    base = derive(motion) if motion.base is None else motion.base
    back = quat.about(_UP, -base[:, 2])
    return quat.rotate(back, motion.roots - _ground(base)), quat.multiply(back, motion.rotations[:, 0])


def compose(base: Array, roots: Array, rotations: Array) -> tuple[Array, Array]:
    """World places (..., 3) [m] and rotations (..., 4) of hips given as seen from a base (..., 3)."""
    turn = quat.about(_UP, base[..., 2])
    return quat.rotate(turn, roots) + _ground(base), quat.multiply(turn, rotations)


def move(motion: Motion, x: float, y: float, heading: float) -> Motion:
    """The whole motion moved and turned on the ground so that its base begins at x, y [m] with `heading` [rad]."""
    base = derive(motion) if motion.base is None else motion.base
    here, there = base[0], np.array([x, y, heading])
    turn = quat.about(_UP, there[2] - here[2])
    roots = quat.rotate(turn, motion.roots - _ground(here)) + _ground(there)
    hips = quat.multiply(turn, motion.rotations[:, :1])
    rotations = np.concatenate([hips, motion.rotations[:, 1:]], axis=1)
    return replace(motion, roots=roots, rotations=rotations, base=_carried(base, here, there))


def loop_step(motion: Motion) -> Array:
    """(3,) by how much the base of a looping motion has moved after one round: x, y [m], heading [rad].

    A loop does not hold its first sample twice, so the way from the last sample to the first of the next round is that
    of its neighbours, seen from the character. What comes back to within a step and a half of where it began closes.
    """
    return _loop_step(_place(motion)) if motion.loop else np.zeros(3)


def round_later(motion: Motion, rounds: int = 1) -> Motion:
    """A looping motion as it goes on so many rounds later, or earlier where `rounds` is negative."""
    here = _place(motion)[0]
    there, base, roots, hips = here + loop_step(motion), motion.base, motion.roots, motion.rotations[:, :1]
    if rounds < 0:
        here, there = there, here
    by = quat.about(_UP, float(wrap(there[2] - here[2])))
    for _ in range(abs(rounds) if (here != there).any() else 0):
        roots = quat.rotate(by, roots - _ground(here)) + _ground(there)
        hips = quat.multiply(by, hips)
        base = None if base is None else _carried(base, here, there)
    rotations = np.concatenate([hips, motion.rotations[:, 1:]], axis=1)
    return replace(motion, roots=roots, rotations=rotations, base=base)


def closed(motion: Motion) -> Motion:
    """A loop as one whole round: its samples and, at the end, the first of the next round; not a loop any more."""
    if not motion.loop:
        return motion
    after = round_later(motion)
    return replace(
        motion,
        roots=np.concatenate([motion.roots, after.roots[:1]]),
        rotations=quat.continuous(np.concatenate([motion.rotations, after.rotations[:1]])),
        base=None if motion.base is None or after.base is None else np.concatenate([motion.base, after.base[:1]]),
        curves={name: np.append(curve, curve[0]) for name, curve in motion.curves.items()},
        loop=False,
    )


def base_matrix(base: Array) -> Array:
    """(..., 4, 4) from the base's own axes to the world, for base (..., 3)."""
    matrix = np.zeros((*base.shape[:-1], 4, 4))
    matrix[..., :3, :3] = quat.to_matrix(quat.about(_UP, base[..., 2]))
    matrix[..., :2, 3] = base[..., :2]
    matrix[..., 3, 3] = 1.0
    return matrix


def _ground(base: Array) -> Array:
    ground: Array = base * np.array([1.0, 1.0, 0.0])
    return ground


def _carried(track: Array, here: Array, there: Array) -> Array:
    """Track (..., 3) moved as the base `here` must be to become `there`."""
    turn = there[2] - here[2]
    c, s = np.cos(turn), np.sin(turn)
    x, y, heading = np.moveaxis(track - here, -1, 0)
    carried: Array = np.stack([c * x - s * y, s * x + c * y, heading], axis=-1) + there
    return carried


def _headings(motion: Motion, globals: Array) -> Array:
    """(T,) unwrapped heading of hips and shoulders together, carried over where the body is upside down [rad]."""
    chest = motion.skeleton.roles.get("spine", (0,))[-1]
    # (w + iz)^2 of a rotation points along its heading and is as long as the heading is certain
    both = ((globals[:, [0, chest], 0] + 1j * globals[:, [0, chest], 3]) ** 2).mean(axis=1)
    sure = np.flatnonzero(np.abs(both) > _UPSIDE_DOWN)
    if len(sure) == 0:
        sure = np.arange(len(both))
    headings: Array = np.interp(np.arange(len(both)), sure, np.unwrap(np.angle(both[sure])))
    return headings


def _feet_apart(motion: Motion, positions: Array, headings: Array) -> Array:
    """(T, 3) from the right foot to the left as the character sees it, in leg lengths; zero without feet."""
    if not motion.skeleton.has("foot_L", "foot_R", "shin_L", "shin_R"):
        return np.zeros((len(motion), 3))
    left, right = (positions[:, motion.skeleton.joint(role)] for role in ("foot_L", "foot_R"))
    return quat.rotate(quat.about(_UP, -headings), left - right) / motion.skeleton.leg_length()


def _steps(feet: Array, track: Array, motion: Motion) -> Array:
    """(K,) samples at which the feet pass each other, else at which hips turn or sway from one side to the other."""
    centred = feet - feet.mean(axis=0)
    stride = centred @ np.linalg.eigh(centred.T @ centred)[1][:, -1]
    stride = stride - (stride.max() + stride.min()) / 2
    sway = track - _mean(track, np.full(len(track), 1.5 * STRIDE * motion.fps))
    across = sway[:, 0] * trig.cos(track[:, 2]) + sway[:, 1] * trig.sin(track[:, 2])
    steps = np.empty(0)
    for signal, least in ((stride, max(0.05, 0.2 * stride.max())), (sway[:, 2], np.radians(2.0)), (across, 0.01)):
        steps = _crossings(signal, least)
        if len(steps) >= 2:
            break
    return steps


def _crossings(signal: Array, least: float) -> Array:
    """Samples (K,) at which a signal passes zero on its way from beyond `least` on one side to the other."""
    strong = np.flatnonzero(np.abs(signal) > least)
    arrivals = strong[1:][np.diff(np.sign(signal[strong])) != 0]
    before = np.flatnonzero((signal[1:] >= 0) != (signal[:-1] >= 0))
    last = before[np.searchsorted(before, arrivals) - 1]
    crossings: Array = last + signal[last] / (signal[last] - signal[last + 1])
    return crossings


def _strides(steps: Array, n: int, fps: float) -> Array:
    """(n,) length in samples of the stride under way."""
    if len(steps) == 2:
        middles, lengths = steps[:1], 2 * np.diff(steps)
    else:
        middles, lengths = steps[1:-1], steps[2:] - steps[:-2]
    plausible = (lengths >= STRIDE_RANGE[0] * fps) & (lengths <= STRIDE_RANGE[1] * fps)
    if not plausible.any():
        return np.full(n, STRIDE * fps)
    strides: Array = np.interp(np.arange(n), middles[plausible], lengths[plausible])
    return strides


def _unbent(track: Array, widths: Array) -> Array:
    """Track (N, 3) put back on the arc from which the means over one stride and half of one drew it inwards.

    A mean with variance s^2 moves x by s^2 x'' / 2, and on an arc x'' is the turning rate times the speed, leftwards.
    """
    variance = (widths**2 + (widths / 2) ** 2) / 12
    vx, vy, turning = np.gradient(track, axis=0).T
    inwards = np.stack([-turning * vy, turning * vx, np.zeros_like(vx)], axis=-1)
    unbent: Array = track - (variance / 2)[:, None] * inwards
    return unbent


def _beyond(track: Array, steps: Array, stride: float, pad: int) -> Array:
    """`pad` samples after the end of a track: the last stride again where that is part of a walk, else mirrored."""
    last = len(track) - 1.0
    ahead = np.arange(1.0, pad + 1.0)
    stride = min(stride, last)
    if not _walks_on(track, steps, stride):
        mirrored: Array = 2 * track[-1] - _at(track, last - ahead)
        return mirrored
    here, there = _at(track, np.array([last - stride]))[0], track[-1]
    times = np.ceil(ahead / stride)
    future = _at(track, last + ahead - times * stride)
    for k in range(int(times.max())):
        future = np.where((times > k)[:, None], _carried(future, here, there), future)
    return future


def _walks_on(track: Array, steps: Array, stride: float) -> bool:
    """Whether a walk is under way, and not slowing to a stop, at the end of a track."""
    last = len(track) - 1
    if len(steps) < 2 or last - steps[-1] > 0.6 * stride or last < 0.8 * stride:
        return False
    whole, quarter = (np.linalg.norm((track[-1] - _at(track, np.array([last - n * stride]))[0])[:2]) for n in (1, 0.25))
    return bool(whole < 0.1 or quarter > 0.125 * whole)


def _place(motion: Motion) -> Array:
    """(T, 3) the base, or the hips on the ground where it has none."""
    if motion.base is not None:
        return motion.base
    return np.column_stack([motion.roots[:, :2], unwrap(quat.heading(motion.rotations[:, 0]))])


def _loop_step(track: Array) -> Array:
    """`loop_step` of a track (T, 3)."""
    n = len(track)
    if n < 2:
        return np.zeros(3)
    c, s = trig.cos(track[:-1, 2]), trig.sin(track[:-1, 2])
    x, y, turns = np.diff(track, axis=0).T
    paces = np.column_stack([c * x + s * y, c * y - s * x, turns])
    # the cubic through the two paces before and the two after the one that is missing
    near = paces[[-1, 0]].sum(axis=0)
    missing = near / 2 if n < 4 else (4 * near - paces[[-2, 1]].sum(axis=0)) / 6
    c, s = np.cos(track[-1, 2]), np.sin(track[-1, 2])
    last = np.array([c * missing[0] - s * missing[1], s * missing[0] + c * missing[1], missing[2]])
    step: Array = track[-1] + last - track[0]
    if np.linalg.norm(step[:2]) <= 1.5 * np.linalg.norm(paces[:, :2], axis=1).max() + 0.01:
        step[:2] = 0.0
    if abs(wrap(step[2])) <= 1.5 * np.abs(turns).max() + 0.01:  # whole turns apart
        step[2] -= wrap(step[2])
    return step


def _looped(track: Array, pad: int) -> Array:
    """Track (T, 3) of a loop with `pad` samples of the rounds before and after it."""
    n = len(track)
    first = track[0]
    there = first + _loop_step(track)
    index = np.arange(-pad, n + pad)
    rounds = index // n
    out: Array = track[index % n]
    for k in range(1, -(-pad // n) + 1):
        out = np.where((rounds >= k)[:, None], _carried(out, first, there), out)
        out = np.where((rounds <= -k)[:, None], _carried(out, there, first), out)
    return out


def _at(track: Array, samples: Array) -> Array:
    """Track (K, C) at fractional samples, held beyond its ends."""
    return np.stack([np.interp(samples, np.arange(len(track)), column) for column in track.T], axis=-1)


def _mean(values: Array, widths: Array) -> Array:
    """Mean (N, C) over a window of `widths` (N,) samples around each sample of values taken as joined by lines."""
    n = len(values)
    integral = np.concatenate([np.zeros_like(values[:1]), np.cumsum((values[1:] + values[:-1]) / 2, axis=0)])
    slopes = np.diff(values, axis=0)

    def up_to(samples: Array) -> Array:
        whole = np.minimum(samples.astype(np.int64), n - 2)
        part = (samples - whole)[:, None]
        out: Array = integral[whole] + part * (values[whole] + part / 2 * slopes[whole])
        return out

    low = np.maximum(np.arange(n) - widths / 2, 0.0)
    high = np.minimum(np.arange(n) + widths / 2, n - 1.0)
    mean: Array = (up_to(high) - up_to(low)) / (high - low)[:, None]
    return mean
