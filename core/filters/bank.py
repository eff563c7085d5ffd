"""A filter bank: signals split into bands of frequency, an octave each, and put together again with gains.

Bruderlin and Williams, "Motion signal processing", 1995: G[0] is the signal, G[k+1] is G[k] smoothed by the cubic
B-spline (1 4 6 4 1) / 16 with its taps 2^k samples apart, band k is L[k] = G[k] - G[k+1], and the result is the last G
plus the sum of gain[k] L[k]. A signal of m samples has floor(log2 m) bands, band 0 the fastest. With w = 2 pi f / fps,
G[k] answers to a sine of frequency f by R[k] = (sin(2^k w / 2) / (2^k sin(w / 2)))^4, and band k by
R[k] (1 - cos^4(2^k w / 2)).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParam, MissingDependency
from ..needs import needs_scipy
from ..skeleton import Array

BOUNDARIES = ("reflect", "constant", "wrap")
"""How a signal goes on beyond its ends: mirrored at its end samples, held at their values, or around."""

_BLOCK = 60_000
"""Numbers in one buffer that is worked in: it and its like stay in the second-level cache, and calls are few."""
_ALONE = 9_216
"""Numbers of a matrix whose product with a vector is left to one thread: several would wait for each other on a busy
machine, for many times as long as they work."""


def count(samples: int) -> int:
    """How many bands a signal of so many samples has: floor(log2 m)."""
    if samples < 1:
        raise InvalidParam("samples", samples, "a signal needs at least one sample")
    return int(samples).bit_length() - 1


def decompose(values: Array, boundary: str = "reflect", levels: int | None = None) -> tuple[Array, Array]:
    """Bands (K, T, ...), the fastest first, and what is left (T, ...), of signals (T, ...).

    Their sum is the signal. `levels` is the number of bands; as many as the signal has where it is None.
    """
    values = np.asarray(values, dtype=np.float64)
    levels = _checked(values, boundary, levels)
    flat = values.reshape(len(values), -1)
    out = np.empty((levels + 1, *flat.shape))
    for at, cascade in _cascades(flat, boundary, levels):
        out[0, :, at] = flat[:, at]
        for k, sums in enumerate(cascade):
            np.multiply(sums, 0.0625 ** (k + 1), out=out[k + 1, :, at])
            out[k, :, at] -= out[k + 1, :, at]
    parts = out.reshape(levels + 1, *values.shape)
    return parts[:levels], parts[levels]


def recombine(parts: Array, low: Array, gains: npt.ArrayLike) -> Array:
    """What is left (T, ...) plus each band (K, T, ...) times its gain (K,)."""
    factors = _gains(gains, len(parts))
    out: Array = low + (factors @ parts.reshape(len(parts), -1)).reshape(low.shape)
    return out


class Mixer:
    """Signals kept as their bands, so that new gains on all of them are there at once.

    The bands are kept in single precision, in which a take of a whole body fits the processor's caches: what comes out
    differs from `recombine` by some ten millionths of the signal. It is for showing; `equalise` is for keeping.

    Attributes:
        shape: (T, ...) of the signals.
        levels: How many bands they have.
    """

    def __init__(self, values: Array, boundary: str = "reflect", levels: int | None = None) -> None:
        """Of signals (T, ...); the rest as for `decompose`."""
        parts, low = decompose(values, boundary, levels)
        self.levels, self.shape = len(parts), low.shape
        width = max(1, _ALONE // (self.levels + 1))
        pieces = -(-low.size // width)
        rows = np.zeros((self.levels + 1, pieces * width), dtype=np.float32)
        rows[:-1, : low.size], rows[-1, : low.size] = parts.reshape(self.levels, low.size), low.reshape(-1)
        self._pieces = rows.reshape(self.levels + 1, pieces, width).transpose(1, 0, 2).copy()
        self._out = np.zeros((pieces, width), dtype=np.float32)

    def mix(self, gains: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """(T, ...) the signals with gains (K,) on their bands; good until the next are asked for."""
        factors = np.append(_gains(gains, self.levels), 1.0).astype(np.float32)
        np.matmul(factors, self._pieces, out=self._out)
        return self._out.reshape(-1)[: math.prod(self.shape)].reshape(self.shape)


def equalise(values: Array, gains: npt.ArrayLike, boundary: str = "reflect", out: Array | None = None) -> Array:
    """Signals (T, ...) with gains (K,) on their fastest K bands: as if decomposed and recombined, but faster.

    `out` (T, ...) takes the result and may be `values` itself.
    """
    values, factors = np.asarray(values, dtype=np.float64), np.asarray(gains, dtype=np.float64)
    if factors.ndim != 1:
        raise InvalidParam("gains", gains, "must be a row of numbers, one a band")
    # what follows the last band that changes need not be told apart
    levels = max((k for k, gain in enumerate(factors.tolist(), 1) if gain != 1.0), default=0)
    levels = _checked(values, boundary, levels)
    flat = values if values.ndim == 2 else values.reshape(len(values), -1)
    done = _equalised(flat, factors[:levels], boundary, out if out is not None and out.ndim == 2 else None)
    if out is None:
        return done.reshape(values.shape)
    if not np.may_share_memory(done, out):
        out[:] = done.reshape(values.shape)
    return out


def response(hz: npt.ArrayLike, fps: float, levels: int) -> Array:
    """(levels + 1, ...) how the bands and what is left answer to sines of frequencies (...) [Hz]; their sum is 1."""
    half = np.pi * np.asarray(hz, dtype=np.float64) / fps
    lows = [np.ones_like(half)]
    for k in range(levels):
        lows.append(lows[-1] * np.square(np.square(np.cos(2.0**k * half))))
    return np.stack([*(lows[k] - lows[k + 1] for k in range(levels)), lows[levels]])


def frequencies(fps: float, samples: int) -> Array:
    """(K,) the frequency to which each band of a signal answers most [Hz]."""
    return fps * np.array([_shape(k)[1] for k in range(count(samples))])


def spans(fps: float, samples: int) -> Array:
    """(K, 2) the frequencies between which each band answers at least half as much as at its best [Hz]."""
    return fps * np.array([_shape(k)[::2] for k in range(count(samples))]).reshape(-1, 2)


@lru_cache(maxsize=64)
def _shape(k: int) -> tuple[float, float, float]:
    """Band k's lower half height, peak and upper half height [cycles a sample]."""
    cycles = np.linspace(0.0, 0.5**k / 2, 20_001)
    heights = response(cycles, 1.0, k + 1)[k]
    peak = int(heights.argmax())
    high = np.flatnonzero(heights >= heights[peak] / 2)
    return float(cycles[high[0]]), float(cycles[peak]), float(cycles[high[-1]])


def _checked(values: Array, boundary: str, levels: int | None) -> int:
    if boundary not in BOUNDARIES:
        raise InvalidParam("boundary", boundary, f"must be one of {', '.join(BOUNDARIES)}")
    most = count(len(values) if values.ndim else 0)
    if levels is not None and not 0 <= levels <= most:
        raise InvalidParam("levels", levels, f"{len(values)} samples have {most} bands")
    return most if levels is None else levels


def _gains(gains: npt.ArrayLike, count: int) -> Array:
    factors = np.asarray(gains, dtype=np.float64)
    if factors.shape != (count,):
        raise InvalidParam("gains", gains, f"must be {count} numbers, one a band")
    return factors


def _equalised(flat: Array, gains: Array, boundary: str, room: Array | None) -> Array:
    """Signals (T, C) with gains on all their bands, in `room` (T, C) or in memory of their own."""
    if not len(gains) or not flat.size:
        return flat.copy()
    # held level by level, a signal does not repeat itself and has no spectrum
    lengths = None if boundary == "constant" else _lengths(len(flat), boundary, len(gains))
    if lengths is None:
        return _by_sums(flat, gains, boundary, room)
    if lengths.transform == len(flat):
        bands, rest = _answers(len(flat), len(gains))
        return _around(flat, gains @ bands + rest, room)
    bands, rest = _extended_answers(*lengths, len(gains))
    return _extended(flat, gains @ bands + rest, boundary, lengths.reach, room)


class _Lengths(NamedTuple):
    """Samples after which a signal repeats itself, that a band's kernel reaches to a side, and of a fast transform."""

    period: int
    reach: int
    transform: int


def _lengths(rows: int, boundary: str, levels: int) -> _Lengths | None:
    """For signals of so many samples; None where there is no SciPy."""
    try:
        with needs_scipy():
            from scipy.fft import next_fast_len
    except MissingDependency:
        return None
    # mirrored, a signal goes on with its last sample but one and comes around to its second
    period = rows if boundary == "wrap" else 2 * (rows - 1)
    reach = min((2 << levels) - 2, period // 2)
    extended: int = next_fast_len(rows + 2 * reach, real=True)
    whole = next_fast_len(period, real=boundary == "reflect") == period
    return _Lengths(period, reach, min(extended, period) if whole else extended)


def _around(flat: Array, factors: Array, room: Array | None) -> Array:
    """Periodic signals (T, C) with each of their frequencies times its factor (T,).

    Two columns are the real and the imaginary part of one: factors without a phase keep them apart, and a complex
    transform of half the columns moves less memory than a real one of all. In place: new memory for so many numbers
    costs as much as their transform.
    """
    with needs_scipy():
        from scipy import fft

    columns = flat.shape[1]
    if room is None or columns % 2 or room.strides[1] != flat.itemsize:
        room = np.zeros((len(flat), columns + columns % 2))
    if room is not flat:
        room[:, :columns] = flat
    waves = fft.fft(room.view(np.complex128), axis=0, overwrite_x=True)
    numbers = waves.view(np.float64)  # a real number times a real one: half the work
    numbers *= factors[:, None]
    done: Array = fft.ifft(waves, axis=0, overwrite_x=True, norm="forward").view(np.float64)
    return done[:, :columns]


def _extended(flat: Array, factors: Array, boundary: str, reach: int, room: Array | None) -> Array:
    """Signals (T, C) extended to a length (L,) of which transforms are fast, with each frequency times its factor.

    Real transforms in place, of few columns at a time: so much new memory would cost as much as they do.
    """
    with needs_scipy():
        from scipy import fftpack

    (rows, columns), length = flat.shape, len(factors)
    out = np.empty(flat.shape) if room is None else room
    wraps, after = boundary == "wrap", min(reach, length - rows)
    before = min(reach, length - rows - after)
    width = min(columns, max(1, _BLOCK // length))
    lines = np.empty((width, length))
    for first in range(0, columns, width):
        some = flat[:, first : first + width].T
        long = lines[: len(some)]
        long[:, :rows] = some
        long[:, rows : rows + after] = some[:, :after] if wraps else some[:, rows - 1 - after : rows - 1][:, ::-1]
        long[:, rows + after : length - before] = 0.0
        long[:, length - before :] = some[:, rows - before :] if wraps else some[:, 1 : before + 1][:, ::-1]
        waves = fftpack.rfft(long, axis=1, overwrite_x=True)
        waves *= factors
        out[:, first : first + width] = fftpack.irfft(waves, axis=1, overwrite_x=True)[:, :rows].T
    return out


@lru_cache(maxsize=16)
def _answers(period: int, levels: int) -> tuple[Array, Array]:
    """(levels, period) and (period,) factors of the bands and of what is left, for a transform without a norm.

    For a clip whose sliders move they are the same every time.
    """
    answers = response(np.arange(period) / period, 1.0, levels) / period
    return answers[:-1], answers[-1]


@lru_cache(maxsize=16)
def _extended_answers(period: int, reach: int, transform: int, levels: int) -> tuple[Array, Array]:
    """The same for a transform of another length than the period.

    In the order of `scipy.fftpack.rfft`: of each frequency but zero a real and an imaginary part. A band's kernel
    reaches so far to either side, or half the period, from where on it comes back; a signal that is extended as far
    need not fit the transform.
    """
    answers = response(np.arange(period // 2 + 1) / period, 1.0, levels)
    kernels = np.fft.irfft(answers, period, axis=1)[:, : reach + 1]
    if 2 * reach == period:
        kernels[:, -1] /= 2.0  # half way round, which is as far on either side
    around = np.zeros((levels + 1, transform))
    around[:, : reach + 1] = kernels
    around[:, transform - reach :] += kernels[:, :0:-1]
    factors = np.repeat(np.fft.rfft(around, axis=1).real, 2, axis=1)[:, 1 : transform + 1]
    return factors[:-1], factors[-1]


def _by_sums(flat: Array, gains: Array, boundary: str, room: Array | None) -> Array:
    """The same by the cascade: the sum of gain[k] (G[k] - G[k+1]) by what each G is multiplied with."""
    out = np.empty(flat.shape) if room is None else room
    first, *shares = np.diff(gains, prepend=0.0, append=1.0)
    for at, cascade in _cascades(flat, boundary, len(gains)):
        total = flat[:, at] * first
        some = np.empty_like(total)
        for k, sums in enumerate(cascade):
            if shares[k] != 0.0:
                total += np.multiply(sums, shares[k] * 0.0625 ** (k + 1), out=some)
        out[:, at] = total
    return out


def _cascades(flat: Array, boundary: str, levels: int) -> Iterator[tuple[slice, Iterator[Array]]]:
    """Columns that can be done together, and the `_sums` of each such block."""
    rows, columns = flat.shape
    span = rows + (2 << levels)
    blocks = -(-columns // max(1, _BLOCK // span))
    width = -(-columns // max(blocks, 1))
    room = np.empty((2, span * width))
    for first in range(0, columns, max(width, 1)):
        at = slice(first, min(first + width, columns))
        yield at, _sums(flat[:, at], boundary, levels, room[:, : span * (at.stop - first)])


def _sums(block: Array, boundary: str, levels: int, room: Array) -> Iterator[Array]:
    """16 G[1], 16^2 G[2], ... (T, W) of G[0]; each is good until the next is asked for.

    The kernel is four times the sum of two neighbours: four additions of long contiguous rows, time leading. Leaving
    out the division costs no digits, for it is by a power of two.
    """
    (rows, width), (one, two) = block.shape, room
    one[2 * width : (rows + 2) * width].reshape(rows, width)[:] = block
    for k in range(levels):
        shift, size = width << k, rows * width
        _extend(one[: size + 4 * shift].reshape(-1, width), rows, boundary)
        for source, target, ahead in ((one, two, 3 * shift), (two, one, 2 * shift), (one, two, shift)):
            np.add(source[: size + ahead], source[shift : size + ahead + shift], out=target[: size + ahead])
        # in the middle of where it will be extended for the next level
        low = one[4 * shift : 4 * shift + size]
        np.add(two[:size], two[shift : size + shift], out=low)
        yield low.reshape(rows, width)


def _extend(padded: Array, rows: int, boundary: str) -> None:
    """Fill what lies before and after the signal, which is the `rows` in the middle of `padded` (N, W)."""
    pad = (len(padded) - rows) // 2
    low, before, after = padded[pad : pad + rows], padded[:pad], padded[pad + rows :]
    if boundary == "constant":
        before[:], after[:] = low[0], low[-1]
    elif boundary == "wrap":
        before[:], after[:] = low[rows - pad :], low[:pad]
    elif pad < rows:
        turned = low[::-1]
        before[:], after[:] = turned[rows - 1 - pad : rows - 1], turned[1 : 1 + pad]
    else:  # longer than the signal: there and back again
        index = np.abs(np.arange(-pad, rows + pad)) % max(2 * (rows - 1), 1)
        index = np.minimum(index, 2 * (rows - 1) - index)
        before[:], after[:] = low[index[:pad]], low[index[pad + rows :]]
