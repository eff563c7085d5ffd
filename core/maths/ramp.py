"""Ramps, envelopes, springs and smoothing: scalar functions of time that shape everything else.

Easing functions take and give 0..1 and hold their ends outside. Critically damped spring: exact solution of
x'' = w^2 (goal - x) - 2 w x'. Four-stage envelope: attack, decay, sustain, release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParam
from .quat import Array

Ease = Callable[[npt.ArrayLike], Array]

_TURN = 2.0 * np.pi
_HALF_LIFE = 1.6783469900166605
"""Root of (1 + x) exp(-x) = 1/2: a spring from rest at frequency w is half-way there at x / w."""


def clamp(x: npt.ArrayLike, lo: npt.ArrayLike = 0.0, hi: npt.ArrayLike = 1.0) -> Array:
    """x kept within lo..hi."""
    return np.minimum(np.maximum(np.asarray(x, dtype=np.float64), lo), hi)


def lerp(a: npt.ArrayLike, b: npt.ArrayLike, t: npt.ArrayLike) -> Array:
    """a at t = 0, b at t = 1, both exactly; a straight line beyond them."""
    a, b, t = (np.asarray(x, dtype=np.float64) for x in (a, b, t))
    out: Array = a * (1.0 - t) + b * t
    return out


def unlerp(x: npt.ArrayLike, a: npt.ArrayLike, b: npt.ArrayLike) -> Array:
    """Where x lies between a (0) and b (1), unclamped; where a equals b, a step: 0 below, 1 from there on."""
    x, a, b = (np.asarray(v, dtype=np.float64) for v in (x, a, b))
    span = b - a
    flat = span == 0
    return np.where(flat, np.where(x < a, 0.0, 1.0), (x - a) / np.where(flat, 1.0, span))


def remap(x: npt.ArrayLike, a: npt.ArrayLike, b: npt.ArrayLike, to_a: npt.ArrayLike, to_b: npt.ArrayLike) -> Array:
    """x on a..b carried to the same place on to_a..to_b, held at the ends."""
    return lerp(to_a, to_b, clamp(unlerp(x, a, b)))


def linear(t: npt.ArrayLike) -> Array:
    """A straight ramp."""
    return clamp(t)


def smoothstep(t: npt.ArrayLike) -> Array:
    """3 t^2 - 2 t^3: no speed at the ends."""
    t = clamp(t)
    return t * t * (3.0 - 2.0 * t)


def smootherstep(t: npt.ArrayLike) -> Array:
    """10 t^3 - 15 t^4 + 6 t^5: no speed or acceleration at the ends; the minimum-jerk move."""
    t = clamp(t)
    return t * t * t * (10.0 + t * (6.0 * t - 15.0))


def raised_cosine(t: npt.ArrayLike) -> Array:
    """(1 - cos pi t) / 2."""
    out: Array = 0.5 - 0.5 * np.cos(np.pi * clamp(t))
    return out


def hold(t: npt.ArrayLike) -> Array:
    """0 until the very end, then 1."""
    return np.where(np.asarray(t) >= 1.0, 1.0, 0.0)


EASES: Mapping[str, Ease] = MappingProxyType(
    {
        "linear": linear,
        "smoothstep": smoothstep,
        "smootherstep": smootherstep,
        "raised_cosine": raised_cosine,
        "hold": hold,
    }
)
"""Easing functions by the name a parameter gives them."""


def envelope(
    t: npt.ArrayLike,
    length: float,
    attack: float,
    release: float,
    *,
    decay: float = 0.0,
    level: float = 1.0,
    ease: Ease = smoothstep,
) -> Array:
    """Rise to 1 in `attack`, fall to `level` in `decay`, stay, and fall to 0 in the last `release` of `length` [s].

    Stages that do not fit into `length` are shortened in proportion. Zero before 0 and from `length` on; a stage of no
    length is a step.
    """
    if min(attack, decay, release) < 0 or length < 0:
        raise InvalidParam("envelope", (length, attack, decay, release), "lengths of time must not be negative")
    t = np.asarray(t, dtype=np.float64)
    fit = min(1.0, length / max(attack + decay + release, 1e-300))
    attack, decay, release = attack * fit, decay * fit, release * fit
    rise = ease(unlerp(t, 0.0, attack))
    sag = 1.0 - (1.0 - level) * ease(unlerp(t, attack, attack + decay))
    fall = 1.0 - ease(unlerp(t, length - release, length))
    return np.where((t >= 0) & (t < length), rise * sag * fall, 0.0)


def window(
    t: npt.ArrayLike, start: float, end: float, blend_in: float, blend_out: float, ease: Ease = smoothstep
) -> Array:
    """Weight of a result laid over others from `start` to `end` [s]: 1 between, eased over `blend_in`, `blend_out`.

    Unlike `envelope` it is closed at `end`: without a blend-out the last sample counts.
    """
    if end < start or min(blend_in, blend_out) < 0:
        raise InvalidParam("window", (start, end, blend_in, blend_out), "start must not exceed end, blends not be < 0")
    t = np.asarray(t, dtype=np.float64)
    fit = min(1.0, (end - start) / max(blend_in + blend_out, 1e-300))
    rise = ease(unlerp(t, start, start + blend_in * fit))
    fall = ease(unlerp(-t, -end, blend_out * fit - end))
    return np.asarray(rise * fall)


def stages(t: npt.ArrayLike, durations: npt.ArrayLike) -> tuple[npt.NDArray[np.int64], Array]:
    """Which of successive stages t (...) falls into, and how far into it, 0..1.

    Locomotion has three: development, rhythmic, decay. A stage begins at its first instant; stages of no length are
    skipped; before the first it is (0, 0), after the last (last, 1).

    Args:
        t: Time since the beginning of the first stage [s].
        durations: (N,) lengths of the stages [s].
    """
    lengths = np.asarray(durations, dtype=np.float64)
    if lengths.ndim != 1 or not len(lengths) or lengths.min() < 0:
        raise InvalidParam("durations", durations, "needs at least one length of time, none negative")
    ends = np.cumsum(lengths)
    t = np.asarray(t, dtype=np.float64)
    index = np.minimum(np.searchsorted(ends, t, side="right"), len(lengths) - 1)
    start = ends[index] - lengths[index]
    return index, clamp(unlerp(t, start, ends[index]))


def wrap(angle: npt.ArrayLike) -> Array:
    """Angles brought to within half a turn of zero by whole turns [rad]."""
    angle = np.asarray(angle, dtype=np.float64)
    out: Array = angle - _TURN * np.round(angle / _TURN)
    return out


def unwrap(angles: Array) -> Array:
    """Angles (T, ...) freed of jumps over more than half a turn by adding whole turns; the first sample stays."""
    turns = np.round(np.diff(angles, axis=0) / _TURN)
    out = np.array(angles, dtype=np.float64)
    out[1:] -= _TURN * np.cumsum(turns, axis=0)
    return out


def spring(x: Array, velocity: Array, goal: Array, half_life: float, dt: float) -> tuple[Array, Array]:
    """State of a critically damped spring `dt` later, with `goal` held meanwhile; exact for any `dt`.

    Args:
        x, velocity, goal: (...) state, its rate of change, and the value it goes to.
        half_life: Time to cover half the way from rest [s]; 0 jumps to the goal.
        dt: Step [s].

    Returns:
        x and velocity after the step. It does not overshoot from rest.
    """
    if half_life <= 0:
        return np.array(goal, dtype=np.float64), np.zeros_like(velocity)
    rate = _HALF_LIFE / half_life
    fade = np.exp(-rate * dt)
    gap = x - goal
    push = velocity + rate * gap
    return goal + (gap + push * dt) * fade, (velocity - rate * push * dt) * fade


def follow(goals: Array, fps: float, half_life: float) -> Array:
    """A spring at rest on goals[0] that follows goals (T, ...) sampled at `fps`."""
    out = np.array(goals, dtype=np.float64)
    velocity = np.zeros_like(out[0])
    for k in range(1, len(out)):
        out[k], velocity = spring(out[k - 1], velocity, out[k], half_life, 1.0 / fps)
    return out


def smooth(values: Array, fps: float, cutoff_hz: float, closed: bool = False) -> Array:
    """Low-pass (T, ...) without delay: Lindeberg's discrete Gaussian, with gain 0.707 (-3 dB) at `cutoff_hz`.

    Its kernel is positive, so nothing rings or overshoots. The signal goes on beyond each end as its reflection through
    the end point: first and last sample stay where they are and straight lines come through unchanged, to 1e-15 of the
    range of values.

    Args:
        values: (T, ...) samples at `fps`.
        fps: [Hz].
        cutoff_hz: Positive; from half of `fps` on nothing is done.
        closed: The last sample is followed by the first, and no end is kept.
    """
    if not cutoff_hz > 0:
        raise InvalidParam("cutoff_hz", cutoff_hz, "must be positive")
    values = np.array(values, dtype=np.float64)
    count = len(values)
    if count < 2 or 2 * cutoff_hz >= fps:
        return values
    # without the line from end to end, the signal and its reflections are one period of a sequence that closes
    along = np.linspace(0.0, 1.0, count).reshape((-1,) + (1,) * (values.ndim - 1))
    line = np.zeros_like(values) if closed else values[0] + (values[-1] - values[0]) * along
    rest = values - line
    period = rest if closed else np.concatenate([rest, -rest[-2:0:-1]])
    variance = np.log(np.sqrt(2.0)) / (1.0 - np.cos(_TURN * cutoff_hz / fps))
    gain = np.exp(variance * (np.cos(_TURN * np.fft.rfftfreq(len(period))) - 1.0))
    spectrum = np.fft.rfft(period, axis=0) * gain.reshape((-1,) + (1,) * (values.ndim - 1))
    return line + np.fft.irfft(spectrum, n=len(period), axis=0)[:count]
