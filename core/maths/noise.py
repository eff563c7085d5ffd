"""Coherent one-dimensional gradient noise: smooth, aimless, always the same for the same seed.

Perlin, "Real time responsive animation with personality" (1995): zero at every whole number, with a pseudo-random slope
there, and a cubic between. With gradients g in -1..1 and u the part of x beyond the whole number i,

    noise(x) = 4 (g[i] u (1 - u)^2 - g[i + 1] u^2 (1 - u)),

which lies within -1..1, is continuous in slope, and swings to and fro 0.75 times a unit of x.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParam
from .quat import Array

SIZE = 256
"""Gradients in a table; the noise of a table repeats after as many units."""
SCALE = 4.0
"""Brings the steepest cell, slopes 1 and -1, to a height of exactly 1."""
SWINGS = 0.75
"""Oscillations a unit of x: half of the turning points."""

_BLOCK = 16384
"""Samples worked on at a time: few enough for their buffers to stay in cache."""
_FEW = 512
"""Samples below which buffers cost more than they save."""
_GOLDEN, _FIRST, _SECOND = (np.uint64(x) for x in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


class Noise(Protocol):
    """A noise is called with places (...) and gives values (...) in -1..1."""

    def __call__(self, x: npt.ArrayLike) -> Array: ...


@dataclass(frozen=True, eq=False)
class TableNoise:
    """Noise from a table of gradients; it repeats every `len(gradients)` units.

    Attributes:
        gradients: (N,) slopes at whole numbers, each in -1..1; N is a power of two.
    """

    gradients: Array
    _pairs: npt.NDArray[np.complex128] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        slopes = np.array(self.gradients, dtype=np.float64)
        count = len(slopes) if slopes.ndim == 1 else 0
        if count < 2 or count & (count - 1):
            raise InvalidParam("gradients", slopes.shape, "must be a list whose length is a power of two")
        if not np.all(np.abs(slopes) <= 1.0):
            raise InvalidParam("gradients", float(np.abs(slopes).max()), "each must be within -1 and 1")
        slopes.flags.writeable = False
        put = object.__setattr__
        put(self, "gradients", slopes)
        # 4 (g0 u (1-u)^2 - g1 u^2 (1-u)) = u (1-u) (4 g0 - 4 (g0 + g1) u): both numbers of a cell in one look-up
        put(self, "_pairs", SCALE * slopes + 1j * (SCALE * (slopes + np.roll(slopes, -1))))

    def __call__(self, x: npt.ArrayLike) -> Array:
        """Values (...) in -1..1 at places x (...)."""
        places = np.asarray(x, dtype=np.float64)
        if places.size < _FEW:
            return _between(self._pairs, places, len(self.gradients) - 1)
        flat = np.ascontiguousarray(places).reshape(-1)
        out = np.empty(flat.size)
        size = min(_BLOCK, flat.size)
        beyond, cell, both = np.empty(size), np.empty(size, dtype=np.int64), np.empty(size, dtype=np.complex128)
        mask = len(self.gradients) - 1
        for start in range(0, flat.size, _BLOCK):
            here = flat[start : start + _BLOCK]
            u, i, pair, y = beyond[: len(here)], cell[: len(here)], both[: len(here)], out[start : start + _BLOCK]
            np.floor(here, out=u)
            np.copyto(i, u, casting="unsafe")
            np.bitwise_and(i, mask, out=i)
            np.subtract(here, u, out=u)
            np.take(self._pairs, i, out=pair, mode="clip")
            np.multiply(pair.imag, u, out=y)
            np.subtract(pair.real, y, out=y)
            y *= u
            np.subtract(1.0, u, out=u)
            y *= u
        return out.reshape(places.shape)


class RowNoise:
    """Several tables of one length side by side: every row of places is read from a table of its own."""

    def __init__(self, noises: Sequence[TableNoise], counts: Sequence[int]) -> None:
        """Of places (T, ...), the first `counts[0]` rows are for the first noise, and so on."""
        self._pairs = np.concatenate([n._pairs for n in noises])
        self._mask = len(noises[0].gradients) - 1
        self._first = np.repeat(np.arange(len(noises)) * (self._mask + 1), counts)

    def __call__(self, x: npt.ArrayLike) -> Array:
        """Values (T, ...) in -1..1 at places x (T, ...)."""
        places = np.asarray(x, dtype=np.float64)
        first = self._first.reshape((-1,) + (1,) * (places.ndim - 1))
        return _between(self._pairs, places, self._mask, first)


def _between(
    pairs: npt.NDArray[np.complex128], places: Array, mask: int, first: npt.NDArray[np.int64] | int = 0
) -> Array:
    """Values (...) at places (...) from the numbers of their cells, those of a table beginning at `first`."""
    cells = np.floor(places)
    part = places - cells
    pair = pairs.take((cells.astype(np.int64) & mask) + first)
    out: Array = (pair.real - pair.imag * part) * part * (1.0 - part)
    return out


@dataclass(frozen=True)
class HashNoise:
    """Noise whose gradients are computed from the whole number and a seed, so that it never repeats in a take."""

    seed: int

    def __call__(self, x: npt.ArrayLike) -> Array:
        """Values (...) in -1..1 at places x (...)."""
        places = np.asarray(x, dtype=np.float64)
        whole = np.floor(places)
        u = places - whole
        cell = whole.astype(np.int64)
        first, second = self.gradients(cell), self.gradients(cell + 1)
        out: Array = SCALE * u * (1.0 - u) * (first - (first + second) * u)
        return out

    def gradients(self, cells: npt.NDArray[np.int64]) -> Array:
        """Slopes (...) in -1..1 at whole numbers (...): SplitMix64 of Steele, Lea and Flood (2014)."""
        with np.errstate(over="ignore"):
            key = np.uint64(self.seed % 2**64) * _SECOND + _GOLDEN
            z = (cells.view(np.uint64) + key) * _GOLDEN
            z = (z ^ (z >> np.uint64(30))) * _FIRST
            z = (z ^ (z >> np.uint64(27))) * _SECOND
            z = z ^ (z >> np.uint64(31))
        out: Array = (z >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1.0
        return out


def seeded(seed: int) -> TableNoise:
    """The table noise of a seed: SIZE gradients, evenly spread over -1..1."""
    return TableNoise(np.random.default_rng(seed).uniform(-1.0, 1.0, SIZE))
