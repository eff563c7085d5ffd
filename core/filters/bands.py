"""An equaliser for motion: every signal of it split into bands of frequency, each with a gain of its own.

Bruderlin and Williams, "Motion signal processing", 1995. Raised middle bands exaggerate, lowered fast ones smooth, a
slow one turned round winds up before a move and swings out after it. `bank` holds the filter bank.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..kinematics.base import loop_step
from ..maths import quat
from ..motion import Motion
from ..params import param
from ..skeleton import Array
from .bank import BOUNDARIES, Mixer, count, decompose, equalise, frequencies, recombine, response, spans
from .contacts import CURVES, contacts
from .footlock import footlock
from .planted import keep_feet
from .positions import from_positions, to_positions
from .scope import SCOPES, Bools, ScopeParams, mask, mix
from .signals import from_signals, to_signals

__all__ = [
    "BOUNDARIES",
    "SLIDERS",
    "BandParams",
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
    plant: bool = param(True, help="Hold the feet still while they touch the ground before the change")
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
    boundary = params.boundary
    if boundary == "auto":
        boundary = "wrap" if motion.loop else "reflect"
    if params.signal == "positions":
        before = to_positions(motion)
        after = from_positions(motion, before, _filter(before.copy(), gains, boundary, motion.loop))
    else:
        signals = to_signals(motion)
        values = signals.values  # of nobody else, so they can change where they are
        for some in _runs(signals.where(chosen)):
            _filter(values[:, some], gains, boundary, motion.loop)
        if params.travel and chosen[-1]:
            values[:, :3] = _travelled(motion, values[:, :3], gains, boundary)
        after = from_signals(motion, signals)
    if params.plant:
        after, chosen = _planted(motion, after, chosen)
    return mix(motion, after, params, chosen)


def gains_of(params: BandParams, samples: int) -> Array:
    """(K,) the gains that count for a signal of so many samples, normalised if so wished."""
    gains = np.array(params.gains[: min(SLIDERS, count(samples))])
    largest = gains.max(initial=0.0)
    return gains / largest if params.normalise and largest > 0 else gains


def _runs(columns: Bools) -> list[slice]:
    """Columns (C,) that lie side by side: a slice is a view, an index a copy."""
    edges = np.flatnonzero(np.diff(columns, prepend=False, append=False))
    return [slice(*ends) for ends in edges.reshape(-1, 2).tolist()]


def _filter(values: Array, gains: Array, boundary: str, loop: bool) -> Array:
    """`equalise` in place; a clip that ends as it began counts that sample once when it is taken for a loop."""
    closed = boundary == "wrap" and not loop and len(values) > 2 and np.allclose(values[-1], values[0], atol=1e-3)
    if not closed:
        return equalise(values, gains, boundary, values)
    gap = values[-1] - values[0]
    equalise(values[:-1], gains[: count(len(values) - 1)], boundary, values[:-1])
    values[-1] = values[0] + gap
    return values


def _travelled(motion: Motion, base: Array, gains: Array, boundary: str) -> Array:
    """Base (T, 3) with its way filtered and the straight, even way from beginning to end left as it is."""
    last = len(base) - 1
    way = loop_step(replace(motion, base=base)) if motion.loop else base[-1] - base[0]
    line = base[0] + np.arange(len(base))[:, None] * (way / max(last + motion.loop, 1))
    out: Array = line + _filter(base - line, gains, boundary, motion.loop)
    return out


def _planted(before: Motion, after: Motion, chosen: Bools) -> tuple[Motion, Bools]:
    """`after` with its feet still during the contacts of `before`, near their places there; and what changes then."""
    skeleton = before.skeleton
    legs = [j for role in SCOPES["legs"] for j in skeleton.roles.get(role, ())]
    if not skeleton.has("foot_L", "foot_R", "shin_L", "shin_R") or not chosen[[0, -1, *legs]].any():
        return after, chosen
    known = before if any(name in before.curves for names in CURVES for name in names) else contacts(before)
    touching = {name: known.curves[name] for names in CURVES for name in names if name in known.curves}
    kept = keep_feet(known, after)
    held = footlock(replace(kept, curves=touching))
    moved = quat.distance(held.rotations, after.rotations).max(axis=0) > 0.0
    chosen = chosen | np.append(moved, bool(np.any(held.roots != after.roots)))
    return replace(after, roots=held.roots, rotations=held.rotations), chosen
