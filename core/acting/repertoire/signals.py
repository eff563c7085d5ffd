"""Signals that drive actions: raised sines in phase with the master clock, coherent noise, and functions on them.

Perlin, "Real time responsive animation with personality" (1995), and Perlin, Goldberg, "Improv" (1996). Bias and gain
after Perlin's "Hypertexture" (1989). A signal lies within 0..1; the phase is the actor's clock, the time is in plain
seconds and no tempo changes it. Names, upper and lower case apart:

    s1 c1 s2 c2           (1 + sin phi) / 2 and so on, once and twice a cycle
    A B C D A2 B2         c1, s1, 1 - c1, 1 - s1, c2, 1 - c2: quarter-cycle steps
    n1 n2 n3 ...          noise in seconds, each 100 units further along; N is n1
    N0 N1 N2 ...          noise that swings 1, 2, 4 ... times a second; N0_2, N0_3 are other streams of the same speed
    w1 w2 w3 ...          slow noise, each at a pace of its own, for bodies at rest: no two are in step
    blink glance          eyes that close for a moment every few seconds; a look that rests and jumps (glance_2, ...)
    t age phi             seconds, seconds since the action was selected, phase [rad]

More signals and functions come in a `Signals` that is handed to whoever reads tables; there is no hidden register.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from ...errors import InvalidParam
from ...maths.noise import SWINGS, HashNoise, Noise, RowNoise, TableNoise
from ...maths.ramp import smoothstep
from ...skeleton import Array

STREAM_STEP = 100.0
"""Units of noise between n1 and n2, n2 and n3 ..."""
APART = 0.618034
"""Part of a unit between streams: noise vanishes at whole numbers, where bodies must not all be at once."""
ACTOR_STEP = 1000.0 + APART
"""Units of noise between the streams of one actor and the next."""
OCTAVE_STEP = 37.0 + APART
"""Units of noise between N0, N1, N2 ..."""
WANDER = (0.45, 0.4)
"""Slowest pace of wandering noise, and how much faster the fastest is [units/s]."""

BLINK_EVERY, BLINK_LENGTH = 4.0, 0.18
"""Mean time between blinks, and how long one takes [s]."""
GLANCE_EVERY, GLANCE_JUMP = 1.7, 0.08
"""Time a look rests, and how long it takes to jump [s]."""

_LAST_TWO = np.array([-1.0, 0.0])
_GLANCE_NAME = re.compile(r"glance_([1-9]\d*)$")
_NOISE_NAME = re.compile(r"n([1-9]\d*)$")
_WANDER_NAME = re.compile(r"w([1-9]\d*)$")
_OCTAVE_NAME = re.compile(r"N(\d)(?:_([1-9]\d*))?$")
_SALT = 35
_LOG_HALF = math.log(0.5)
_INSIDE = "must lie between 0 and 1, both excluded"


@dataclass(frozen=True, eq=False)
class Moments:
    """The instants at which signals are read, and whose they are.

    Attributes:
        time: (T,) seconds of the take.
        phase: (T,) phase of the actor's clock [rad].
        age: (T,) seconds since the action was selected.
        noise: The actor's noise.
        offset: Where in the noise this actor's streams begin.
        energy: Speed of all noise as a multiple of the usual one; ratios between joints stay.
        noise_gain: How far noise strays from its middle, 1 as a rule; 0 stills it.

    The last three are numbers, or (T,) where instants of several actors are read together.
    """

    time: Array
    phase: Array
    age: Array
    noise: Noise
    offset: float | Array = 0.0
    energy: float | Array = 1.0
    noise_gain: float | Array = 1.0
    cache: dict[str, Array] = field(default_factory=dict, repr=False)

    def swinging(self, rate: float, offset: float) -> Array:
        """(T,) noise as a signal of 0..1, going `rate` units a second from `offset` on."""
        x = (self.energy * rate) * self.time + (offset + self.offset)
        return 0.5 + (0.5 * self.noise_gain) * self.noise(x)

    def all_swinging(self, rates: Array, offsets: Array) -> Array:
        """(T, n) what `swinging` gives for n rates and offsets (n,)."""
        energy, start, gain = (
            v[:, None] if isinstance(v, np.ndarray) else v for v in (self.energy, self.offset, self.noise_gain)
        )
        x = (energy * rates) * self.time[:, None] + (offsets + start)
        return 0.5 + (0.5 * gain) * self.noise(x)

    def aged(self, age: Array) -> Moments:
        """The same instants for an action selected at another time."""
        return Moments(self.time, self.phase, age, self.noise, self.offset, self.energy, self.noise_gain)


def joined(parts: Sequence[Moments]) -> Moments:
    """The instants of several actors, whose noises are tables, one after the other."""
    counts = [len(m.time) for m in parts]
    energy, offset, gain = (
        np.repeat([float(v) for v in each], counts)
        for each in zip(*((m.energy, m.offset, m.noise_gain) for m in parts), strict=True)
    )
    time, phase, age = (np.concatenate(each) for each in zip(*((m.time, m.phase, m.age) for m in parts), strict=True))
    noise = RowNoise([m.noise for m in parts if isinstance(m.noise, TableNoise)], counts)
    return Moments(time, phase, age, noise, offset, energy, gain)


Signal = Callable[[Moments], Array]
Function = Callable[..., Any]


def bias(t: Any, b: Any) -> Array:
    """t^(ln b / ln 1/2): raises or lowers the middle of 0..1 to b and keeps the ends; t is clamped to 0..1."""
    t = np.minimum(np.maximum(t, 0.0), 1.0)
    if isinstance(b, float) or np.ndim(b) == 0:
        if not 0.0 < b < 1.0:
            raise InvalidParam("bias", float(b), _INSIDE)
        out: Array = t ** (math.log(b) / _LOG_HALF)
        return out
    with np.errstate(all="ignore"):
        return np.where((b > 0) & (b < 1), t ** (np.log(b) / _LOG_HALF), np.nan)


def gain(t: Any, g: Any) -> Array:
    """Two half-size `bias` curves back to back: above 1/2 steeper at the ends, below 1/2 in the middle."""
    if np.ndim(g) == 0 and not 0.0 < g < 1.0:
        raise InvalidParam("gain", float(g), _INSIDE)
    t = np.minimum(np.maximum(t, 0.0), 1.0)
    other = 1.0 - g
    return np.where(t < 0.5, bias(2.0 * t, other) / 2.0, 1.0 - bias(2.0 - 2.0 * t, other) / 2.0)


def raised_sine(x: Any) -> Any:
    """(1 + sin x) / 2."""
    return 0.5 + 0.5 * np.sin(x)


def raised_cosine(x: Any) -> Any:
    """(1 + cos x) / 2."""
    return 0.5 + 0.5 * np.cos(x)


def coherent(moments: Moments, x: Any) -> Array:
    """(T,) the actor's own coherent noise at x, in -1..1."""
    at = np.broadcast_to(np.asarray(x, dtype=np.float64), moments.time.shape)
    return moments.noise_gain * moments.noise(at + moments.offset)


def _sine(multiple: float) -> Signal:
    return lambda m: np.asarray(raised_sine(multiple * m.phase))


def _cosine(multiple: float) -> Signal:
    return lambda m: np.asarray(raised_cosine(multiple * m.phase))


def _same(name: str) -> Signal:
    return lambda m: _cached(m, name, _PHASED[name])


def _rest(name: str) -> Signal:
    return lambda m: 1.0 - _cached(m, name, _PHASED[name])


def _drawn(m: Moments, slots: Array, stream: float) -> Array:
    """Numbers in -1..1, one for each whole number of `slots`, always the same."""
    return m.noise(slots + (0.5 + stream + m.offset))


def _blink(m: Moments) -> Array:
    """Lids: 0 open, 1 closed. One blink in every stretch of BLINK_EVERY seconds, somewhere in its middle part."""
    time = m.time[:, None]
    slots = np.floor(time / BLINK_EVERY) + _LAST_TWO
    offset = m.offset[:, None] if isinstance(m.offset, np.ndarray) else m.offset
    starts = (slots + 0.5 + 0.35 * m.noise(slots + (0.5 + 53.0 + offset))) * BLINK_EVERY
    part = np.minimum(np.maximum((time - starts) / BLINK_LENGTH, 0.0), 1.0)
    closed = 0.5 - 0.5 * np.cos(2.0 * np.pi * part)
    out: Array = closed[:, 0] + closed[:, 1]
    return out


def _glance(stream: int) -> Signal:
    def read(m: Moments) -> Array:
        slot = np.floor(m.time / GLANCE_EVERY)
        old, new = (_drawn(m, s, 71.0 + STREAM_STEP * stream) for s in (slot - 1.0, slot))
        jump = smoothstep((m.time - slot * GLANCE_EVERY) / GLANCE_JUMP)
        return 0.5 + (0.5 * m.noise_gain) * (old + (new - old) * jump)

    return read


def _cached(moments: Moments, name: str, signal: Signal) -> Array:
    """(T,) values of a signal, computed once for the same moments."""
    known = moments.cache.get(name)
    if known is None:
        known = np.asarray(signal(moments), dtype=np.float64)
        if known.shape != moments.time.shape:
            known = np.broadcast_to(known, moments.time.shape)
        moments.cache[name] = known
    return known


_PHASED: Mapping[str, Signal] = MappingProxyType(
    {
        "s1": _sine(1.0),
        "c1": _cosine(1.0),
        "s2": _sine(2.0),
        "c2": _cosine(2.0),
        "A": _same("c1"),
        "B": _same("s1"),
        "C": _rest("c1"),
        "D": _rest("s1"),
        "A2": _same("c2"),
        "B2": _rest("c2"),
        "t": lambda m: m.time,
        "age": lambda m: m.age,
        "phi": lambda m: m.phase,
        "blink": _blink,
        "glance": _glance(0),
    }
)

_FUNCTIONS: Mapping[str, tuple[int, Function]] = MappingProxyType(
    {
        "+": (2, lambda a, b: a + b),
        "-": (2, lambda a, b: a - b),
        "*": (2, lambda a, b: a * b),
        "/": (2, lambda a, b: np.true_divide(a, b)),
        "bias": (2, bias),
        "gain": (2, gain),
        "min": (2, np.minimum),
        "max": (2, np.maximum),
        "sin": (1, np.sin),
        "cos": (1, np.cos),
        "rsin": (1, raised_sine),
        "rcos": (1, raised_cosine),
        "ramp": (1, smoothstep),
        "abs": (1, np.abs),
        "neg": (1, lambda a: -a),
        "noise": (1, coherent),
    }
)
OF_MOMENTS = frozenset(("noise",))
"""Functions that are also told the moments, and so are never worked out before."""


@dataclass(frozen=True)
class Signals:
    """The signals and functions that tables may name; `with_signal` and `with_function` give richer ones.

    Attributes:
        more: Added signals by name.
        functions: Name to number of arguments and function of numbers or (T,) arrays.
    """

    more: Mapping[str, Signal] = field(default_factory=dict)
    functions: Mapping[str, tuple[int, Function]] = field(default_factory=lambda: _FUNCTIONS)

    def with_signal(self, name: str, signal: Signal) -> Signals:
        """These and one signal more: a function of `Moments` that gives (T,) values, mostly in 0..1."""
        self._check_new(name)
        return replace(self, more=MappingProxyType({**self.more, name: signal}))

    def with_function(self, name: str, arguments: int, function: Function) -> Signals:
        """These and one function more, of numbers or (T,) arrays."""
        self._check_new(name)
        return replace(self, functions=MappingProxyType({**self.functions, name: (arguments, function)}))

    def find(self, name: str) -> Signal | None:
        """The signal of a name; None when there is none."""
        found = self.more.get(name) or _PHASED.get(name)
        if found is not None:
            return found
        if match := _GLANCE_NAME.match(name):
            return _glance(int(match[1]) - 1)
        swing = self.swing(name)
        return None if swing is None else lambda m: m.swinging(*swing)

    def swing(self, name: str) -> tuple[float, float] | None:
        """Rate and offset of a signal that is plain noise, as of `Moments.swinging`; None for any other."""
        if name in self.more:
            return None
        if name == "N":
            return 1.0, 0.0
        if match := _NOISE_NAME.match(name):
            return 1.0, STREAM_STEP * (int(match[1]) - 1)
        if match := _OCTAVE_NAME.match(name):
            octave, stream = int(match[1]), int(match[2] or 1) - 1
            return 2.0**octave / SWINGS, OCTAVE_STEP * octave + (STREAM_STEP + APART) * stream
        if match := _WANDER_NAME.match(name):
            stream = int(match[1])
            return WANDER[0] + WANDER[1] * (APART * stream % 1.0), (STREAM_STEP + APART) * stream
        return None

    @property
    def common(self) -> bool:
        """Whether nothing was added, so that all is read instant by instant and of many actors at once."""
        return not self.more and self.functions is _FUNCTIONS

    def reader(self, name: str) -> Signal:
        """A function that gives (T,) values of a signal, computed once for the same moments."""
        signal = self.find(name)
        if signal is None:
            raise InvalidParam("signal", name, f"no such signal; there are {', '.join(self.names)}")

        return lambda moments: _cached(moments, name, signal)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the signals, one of each kind of noise."""
        return (*_PHASED, "N", "n1", "n2", "n3", "N0", "N1", "N2", "N0_2", "w1", "w2", *self.more)

    def _check_new(self, name: str) -> None:
        if not re.fullmatch(r"[A-Za-z_]\w*", name) or self.find(name) or name in self.functions:
            raise InvalidParam("name", name, "must be a word that is not a signal or function yet")


def actor_noise(seed: int, endless: bool = False) -> Noise:
    """The noise of an actor: a table that repeats after 256 units, or one that never does."""
    if endless:
        return HashNoise(seed)
    return TableNoise(np.random.default_rng([seed, _SALT]).uniform(-1.0, 1.0, 256))
