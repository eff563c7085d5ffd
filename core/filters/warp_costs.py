"""What it costs two clips to go apart in time: stretching and bending their signals into each other.

Costs of Sederberg and Greenwood, "A physically based approach to 2-D shape blending", 1992, as used for motion by
Bruderlin and Williams, "Motion signal processing", 1995. Each channel is a polyline over time; segments of different
length cost (stretch), and so do vertices of different angle (bend), summed over the channels. Angles are signed, so
that a peak never passes for a valley; with unsigned ones the extremum rule does it: where one vertex is a peak and the
other a valley, one angle is taken as 360 degrees less it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..errors import InvalidMotion, InvalidParam
from ..maths import dtw
from ..params import Params, param
from ..skeleton import Array


@dataclass(frozen=True)
class PathParams(Params):
    """What it costs two clips to go apart."""

    stretch: float = param(
        1.0, lo=0.0, hi=1e6, help="Cost of segments of different length: higher keeps the pace even", basic=False
    )
    bend: float = param(
        1.0, lo=0.0, hi=1e6, help="Cost of different angles: higher insists on matching peaks and valleys", basic=False
    )
    stretch_power: float = param(2.0, lo=1.0, hi=8.0, help="Power of a difference in length", basic=False)
    bend_power: float = param(2.0, lo=1.0, hi=8.0, help="Power of a difference in angle", basic=False)
    angles: str = param(
        "signed",
        choices=(
            ("signed", "Bends to either side differ"),
            ("unsigned", "Bends to either side are alike but for the extremum rule"),
        ),
        help="How angles are compared",
        basic=False,
    )
    extrema: bool = param(True, help="With unsigned angles: a peak does not match a valley", basic=False)
    form: str = param(
        "local",
        choices=(
            ("local", "Lengths and angles of each clip by itself"),
            ("full", "Angles along the path, lengths in proportion, as for shapes; slower"),
            ("values", "The values themselves, and neither lengths nor angles"),
        ),
        help="How costs are measured",
        basic=False,
    )
    proportion: float = param(
        0.5,
        lo=0.01,
        hi=1.0,
        help="Full form: 1 measures a stretch by the longer segment, near 0 by the shorter one",
        basic=False,
    )
    detour: float = param(1.0, lo=0.0, hi=1e3, help="Full form: cost of angles that turn there and back", basic=False)
    window: float = param(
        0.0,
        lo=0.0,
        hi=1.0,
        help="How far moments may lie from an even stretch, as a part of the clip; 0 for any distance",
        basic=False,
    )
    longest: int = param(
        0, lo=0, hi=100, help="Most samples for which one clip may wait for the other; 0 for any number", basic=False
    )


class Lines:
    """A clip's channels as polylines, (n, C) each: the segments that end at a sample, nothing at the first."""

    def __init__(self, values: Array, scale: Array, spacing: float) -> None:
        self.values, self._scale, self._spacing = values, scale, spacing

    @cached_property
    def slopes(self) -> Array:
        """Of segments."""
        out = np.empty_like(self.values)
        out[0] = 0.0
        np.subtract(self.values[1:], self.values[:-1], out=out[1:])
        out *= self._scale / self._spacing
        return out

    def scaled(self) -> Array:
        """The values of all channels in like units."""
        return self.values * self._scale

    def lengths(self) -> Array:
        """Of segments."""
        out = np.square(self.slopes)
        out += 1.0
        np.sqrt(out, out=out)
        out *= self._spacing
        out[0] = 0.0
        return out

    def turns(self) -> Array:
        """Signed angles between segments, zero at both ends [rad]."""
        angles = np.arctan(self.slopes)
        out = np.empty_like(angles)
        out[0] = out[-1] = 0.0
        np.subtract(angles[2:], angles[1:-1], out=out[1:-1])
        return out

    def peaks(self) -> Array:
        """1 where there is a local maximum, -1 where there is a minimum, else 0."""
        out = np.zeros_like(self.slopes)
        signs = np.sign(self.slopes)
        out[1:-1] = np.where(signs[1:-1] * signs[2:] < 0, signs[1:-1], 0.0)
        return out


def lines_of(a: npt.ArrayLike, b: npt.ArrayLike, spacing: float, scale: npt.ArrayLike | None) -> tuple[Lines, Lines]:
    """Both clips with the channels that count."""
    a, b = (np.asarray(x, dtype=np.float64) for x in (a, b))
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1] or not len(a) or not len(b):
        raise InvalidMotion(f"signals of shapes {a.shape} and {b.shape} cannot be warped: they need the same channels")
    totals = a.sum(axis=0), b.sum(axis=0)
    for name, total in zip(("first", "second"), totals, strict=True):
        if not np.isfinite(total).all():
            raise InvalidMotion(f"the signals of the {name} clip contain NaN or infinity")
    if not spacing > 0:
        raise InvalidParam("spacing", spacing, "must be positive")
    if scale is None:
        count = len(a) + len(b)
        mean = (totals[0] + totals[1]) / count
        deviation = np.sqrt(sum(np.einsum("tc,tc->c", x, x) for x in (a - mean, b - mean)) / count)
        moving = deviation > 1e-9 * max(1.0, float(np.abs(mean).max(initial=0.0)))
        if not moving.all():
            moving[:1] |= not moving.any()
            a, b, deviation = a[:, moving], b[:, moving], deviation[moving]
        scale = 1.0 / np.maximum(deviation, 1e-300)
    factors = np.broadcast_to(np.asarray(scale, dtype=np.float64), a.shape[1:])
    return Lines(a, factors, spacing), Lines(b, factors, spacing)


def squares(a: Lines, b: Lines, params: PathParams) -> dtw.Squares:
    """Costs with squared differences."""
    if params.form == "values":
        return dtw.Squares((a.scaled(), b.scaled()))
    lengths, turns = (a.lengths(), b.lengths()), (a.turns(), b.turns())
    for cost, sides in ((params.stretch, lengths), (params.bend, turns)):
        for side in sides if cost != 1.0 else ():
            side *= np.sqrt(cost)
    if params.angles == "signed":
        return dtw.Squares(turns, lengths)
    p, q = np.abs(turns[0]), np.abs(turns[1])
    if not params.extrema:
        return dtw.Squares((p, q), lengths)
    # the rule turns (p - q)^2 into (p + q)^2, 4 p q more, where one is a peak and the other a valley
    high, low = a.peaks(), b.peaks()
    u = np.concatenate([4.0 * p * (high > 0), 4.0 * p * (high < 0)], axis=1)
    v = np.concatenate([q * (low < 0), q * (low > 0)], axis=1)
    return dtw.Squares((p, q), lengths, (u, v))


def tables(a: Lines, b: Lines, params: PathParams) -> tuple[Array, Array, tuple[Array, Array]]:
    """Costs (n, m) of nodes and of diagonal moves, and (n,) and (m,) of moves on one side, for any powers."""
    n, m = len(a.values), len(b.values)
    node, diagonal = np.zeros((2, n, m))
    if params.form == "values":
        for p, q in zip(a.scaled().T, b.scaled().T, strict=True):
            node += np.square(p[:, None] - q)
        return node, diagonal, (np.zeros(n), np.zeros(m))
    full, es, share = params.form == "full", params.stretch_power, params.proportion
    lengths, turns = (a.lengths(), b.lengths()), (a.turns(), b.turns())
    for c in range(a.values.shape[1]):
        p, q = lengths[0][:, None, c], lengths[1][:, c]
        apart = params.stretch * np.abs(p - q) ** es
        if full:
            apart /= np.maximum((1 - share) * np.minimum(p, q) + share * np.maximum(p, q), 1e-300)
        diagonal += apart
    if not full:
        for difference in _differences(turns, (a.peaks(), b.peaks()), params):
            node += params.bend * difference**params.bend_power
    power, divisor = (es - 1.0, share) if full else (es, 1.0)
    alone = [params.stretch * (x**power / divisor).sum(axis=1) for x in lengths]
    return node, diagonal, (alone[0], alone[1])


def _differences(turns: tuple[Array, Array], peaks: tuple[Array, Array], params: PathParams) -> Iterator[Array]:
    """(n, m) difference of the angles of each channel [rad]."""
    for p, q, high, low in zip(*(x.T for x in (*turns, *peaks)), strict=True):
        if params.angles == "signed":
            yield np.abs(p[:, None] - q)
            continue
        opposite = high[:, None] * low < 0 if params.extrema else False
        p, q = np.abs(p)[:, None], np.abs(q)
        yield np.where(opposite, p + q, np.abs(p - q))


def bends(a: Lines, b: Lines, params: PathParams) -> dtw.Bends | None:
    """Costs of angles along the path, for the full form.

    While one clip becomes the other, a segment's slope goes evenly from that of the one to that of the other; where a
    move stands for a segment of one clip alone, the other's is as steep. So an angle changes only next to a diagonal
    move. (Angles never close, as those of shapes may: time goes forward.)
    """
    if params.form != "full":
        return None
    through, aside = np.zeros((2, len(a.values), len(b.values)))
    turns, angles = (a.turns(), b.turns()), (np.arctan(a.slopes), np.arctan(b.slopes))
    for c in range(a.values.shape[1]):
        aside += params.bend * np.abs(angles[0][:, None, c] - angles[1][:, c]) ** params.bend_power
        change = np.abs(turns[0][:-1, None, c] - turns[1][:-1, c])
        change += params.detour * _detour(a.slopes[:, c], b.slopes[:, c])
        through[:-1, :-1] += params.bend * change**params.bend_power
    return dtw.Bends(through, aside)


def _detour(p: Array, q: Array) -> Array:
    """(n - 1, m - 1) by how much the angle at a vertex leaves the range between its first and last value [rad].

    The angle is arctan(v) - arctan(u), with u going evenly from p[i] to q[j] and v from p[i+1] to q[j+1]. It turns
    back where v' (1 + u^2) = u' (1 + v^2), a quadratic equation.
    """
    u0, v0 = np.broadcast_arrays(p[:-1, None], p[1:, None])
    u1, v1 = q[:-1] - u0, q[1:] - v0
    squared, linear = u1 * v1 * (u1 - v1), 2.0 * u1 * v1 * (u0 - v0)
    constant = v1 * (1 + u0 * u0) - u1 * (1 + v0 * v0)
    root = np.sqrt(np.maximum(linear * linear - 4.0 * squared * constant, 0.0))
    half = -0.5 * (linear + np.copysign(root, linear))
    with np.errstate(divide="ignore", invalid="ignore"):
        turning = [half / squared, constant / half]
    places = [np.clip(np.nan_to_num(t, nan=0.0, posinf=0.0, neginf=0.0), 0.0, 1.0) for t in turning]
    ends = [np.arctan(v0 + t * v1) - np.arctan(u0 + t * u1) for t in (0.0, 1.0)]
    inner = [np.arctan(v0 + t * v1) - np.arctan(u0 + t * u1) for t in places]
    low, high = np.minimum(*ends), np.maximum(*ends)
    out: Array = np.maximum(low - np.minimum(*inner), 0.0) + np.maximum(np.maximum(*inner) - high, 0.0)
    return out
