"""An equaliser for motion: every signal of it split into bands of frequency, each with a gain of its own.

Bruderlin and Williams, "Motion signal processing", 1995. Raised middle bands exaggerate, lowered fast ones smooth, a
slow one turned round winds up before a move and swings out after it. `bank` holds the filter bank.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..kinematics.base import loop_step
from ..maths import quat
from ..motion import Motion
from ..params import param
from ..skeleton import Array
from .bank import BOUNDARIES, Mixer, count, decompose, equalise, frequencies, recombine, response, spans
from .planted import keep_feet
from .positions import from_positions, to_positions
from .scope import SCOPES, Bools, ScopeParams, mask, mix
from .signals import from_signals, to_signals

__all__ = [
    "BOUNDARIES",
    "SLIDERS",
    "BandParams",
    "BandsDraft",
    "Mixer",
    "bands",
    "count",
    "decompose",
    "equalise",
    "frequencies",
    "gains_of",
    "recombine",
    "response",
    "spans",
]

SLIDERS = 8
"""Bands that have a gain of their own; what is slower stays as it is."""


@dataclass(frozen=True)
class BandParams(ScopeParams):
    """The gains of the bands, what they act on, and what is held meanwhile."""

    gains: tuple[float, ...] = param(
        (1.0,) * SLIDERS,
        lo=-10.0,
        hi=10.0,
        help="Gain of each band, the fastest first, each about half as fast as the one before; 1 leaves it, 0 removes "
        "it, less turns it round",
        basic=False,
    )
    signal: str = param(
        "rotations",
        choices=(
            ("rotations", "Turns of the joints and place of the hips"),
            ("positions", "Places of the joints, as in a cartoon: limbs reach further than they are long"),
        ),
        help="What is split into bands",
    )
    normalise: bool = param(False, help="Divide all gains by the largest, so that raising some bands lowers the others")
    plant: bool = param(True, help="Leave the feet where they were while they touched the ground")
    travel: bool = param(False, help="Change the way over the ground too, where the hips change", basic=False)
    boundary: str = param(
        "auto",
        choices=(
            ("auto", "Around for a loop, else mirrored"),
            ("reflect", "Mirrored at its first and last sample"),
            ("constant", "Held at its first and last value"),
            ("wrap", "Around: the last sample is followed by the first"),
        ),
        help="How a signal goes on beyond its ends",
        basic=False,
    )


def bands(motion: Motion, params: BandParams | None = None) -> Motion:
    """`motion` with the gains applied to its bands, where and as much as its scope says.

    All gains 1 give the motion back. With signal positions the joints turn so that the bones point where the filtered
    places are, and `info/stretch/<joint>` curves tell how long each bone would have to be, in its own lengths.
    """
    params = params or BandParams()
    chosen = mask(motion.skeleton, params)
    gains = gains_of(params, len(motion))
    if np.all(gains == 1.0) or params.influence == 0.0:
        return motion
    boundary = _boundary(motion, params)
    parts, put_together = _taken_apart(motion, params, chosen, boundary)
    for part in parts:
        equalise(part, gains[: count(len(part))], boundary, part)
    after = put_together()
    if params.plant:
        after, chosen = _planted(motion, after, chosen)
    return mix(motion, after, params, chosen)


class BandsDraft:
    """A motion kept as its bands, which follows the gains at once: what `bands` gives before it holds the feet.

    It is for showing while a slider moves; rotations differ from those of `bands` by some ten millionths.

    Attributes:
        follows: The parameters that may change; all others are those it was made with.
    """

    follows: tuple[str, ...] = ("gains", "normalise")

    def __init__(self, motion: Motion, params: BandParams) -> None:
        self._before, boundary = motion, _boundary(motion, params)
        self._parts, self._put_together = _taken_apart(motion, params, mask(motion.skeleton, params), boundary)
        self._mixers = [Mixer(part, boundary, min(SLIDERS, count(len(part)))) for part in self._parts]

    def motion(self, params: BandParams) -> Motion:
        """The motion with other gains."""
        gains = gains_of(params, len(self._before))
        for part, mixer in zip(self._parts, self._mixers, strict=True):
            part[:] = mixer.mix(gains[: mixer.levels])
        return mix(self._before, self._put_together(), params)


def gains_of(params: BandParams, samples: int) -> Array:
    """(K,) the gains that count for a signal of so many samples, normalised if so wished."""
    gains = np.array(params.gains[: min(SLIDERS, count(samples))])
    largest = gains.max(initial=0.0)
    return gains / largest if params.normalise and largest > 0 else gains


def _runs(columns: Bools) -> list[slice]:
    """Columns (C,) that lie side by side: a slice is a view, an index a copy."""
    edges = np.flatnonzero(np.diff(columns, prepend=False, append=False))
    return [slice(*ends) for ends in edges.reshape(-1, 2).tolist()]


def _boundary(motion: Motion, params: BandParams) -> str:
    if params.boundary != "auto":
        return params.boundary
    return "wrap" if motion.loop else "reflect"


def _taken_apart(
    motion: Motion, params: BandParams, chosen: Bools, boundary: str
) -> tuple[list[Array], Callable[[], Motion]]:
    """Signals (T, ...) to be filtered where they are, and what makes a motion of them as they are by then."""
    if params.signal == "positions":
        before = to_positions(motion)
        places = before.copy()
        return _once_round(motion, [places], boundary, lambda: from_positions(motion, before, places))
    signals = to_signals(motion)
    values = signals.values
    parts = [values[:, some] for some in _runs(signals.where(chosen))]
    travels = params.travel and bool(chosen[-1])
    if travels:
        line = _line(motion, values[:, :3])
        parts.append(values[:, :3] - line)

    def put_together() -> Motion:
        if travels:
            values[:, :3] = line + parts[-1]
        return from_signals(motion, signals)

    return _once_round(motion, parts, boundary, put_together)


def _once_round(
    motion: Motion, parts: list[Array], boundary: str, put_together: Callable[[], Motion]
) -> tuple[list[Array], Callable[[], Motion]]:
    """A clip that ends as it began counts that sample once when it is taken for a loop; it follows the first then."""
    if boundary != "wrap" or motion.loop or len(motion) < 3:
        return parts, put_together
    gaps = [part[-1] - part[0] for part in parts]
    closed = [bool(np.allclose(gap, 0.0, atol=1e-3)) for gap in gaps]

    def close() -> Motion:
        for part, gap, is_closed in zip(parts, gaps, closed, strict=True):
            if is_closed:
                part[-1] = part[0] + gap
        return put_together()

    return [part[:-1] if is_closed else part for part, is_closed in zip(parts, closed, strict=True)], close


def _line(motion: Motion, base: Array) -> Array:
    """(T, 3) the straight, even way from the beginning of a base to its end, which no gain changes."""
    last = len(base) - 1
    way = loop_step(replace(motion, base=base)) if motion.loop else base[-1] - base[0]
    out: Array = base[0] + np.arange(len(base))[:, None] * (way / max(last + motion.loop, 1))
    return out


def _planted(before: Motion, after: Motion, chosen: Bools) -> tuple[Motion, Bools]:
    """`after` with its feet where they are in `before` while they are planted there; and what changes then."""
    skeleton = before.skeleton
    legs = [j for role in SCOPES["legs"] for j in skeleton.roles.get(role, ())]
    if not skeleton.has("foot_L", "foot_R", "shin_L", "shin_R") or not chosen[[0, -1, *legs]].any():
        return after, chosen
    held = keep_feet(before, after)
    moved = quat.distance(held.rotations, after.rotations).max(axis=0) > 0.0
    chosen = chosen | np.append(moved, bool(np.any(held.roots != after.roots)))
    return held, chosen
