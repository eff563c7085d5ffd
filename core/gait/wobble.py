"""Staggering: a track led astray, always the same way for the same seed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..maths import trig
from ..maths.window import slide
from ..motion import Path
from ..skeleton import Array
from .walking import WalkStyle

WAVES = 5
"""Sines of which a wander is made."""
SLOWEST_HZ, FASTEST_HZ = 0.12, 0.55
ASIDE, AHEAD, TURNED = 0.14, 0.1, np.radians(10.0)
"""Farthest stagger to the side and ahead or back [leg lengths] and turn [rad] at full wobble, nearly."""


def wander(times: Array, seed: int, channel: int) -> Array:
    """(T,) smooth aimless values, mostly within -1 and 1, at times (T,) [s]."""
    rng = np.random.default_rng([seed, channel])
    rates = rng.uniform(SLOWEST_HZ, FASTEST_HZ, WAVES)
    phases = rng.uniform(0.0, 2 * np.pi, WAVES)
    out: Array = np.sin(2 * np.pi * rates * times[:, None] + phases).sum(axis=1) / np.sqrt(WAVES)
    return out


def staggered(base: Path, style: WalkStyle, leg: float) -> Path:
    """A base track with the stagger of a style; one that stands still stays where it is."""
    if style.wobble <= 0.0 or base.times is None or len(base.points) < 3:
        return base
    times = base.times - base.times[0]
    x, y, heading = base.points.T
    pace = np.hypot(np.gradient(x, times), np.gradient(y, times))
    width = max(1, round(0.8 / (times[1] - times[0])))
    window = np.hanning(2 * width + 1)
    going = np.pad(np.minimum(pace / (0.4 * leg), 1.0), width, mode="edge")
    awake = slide(going, window / window.sum())
    aside, turned, ahead = (
        style.wobble * most * awake * wander(times, style.seed, channel)
        for channel, most in enumerate((ASIDE * leg, TURNED, AHEAD * leg))
    )
    c, s = trig.cos(heading), trig.sin(heading)
    points = np.column_stack([x + aside * c + ahead * s, y + aside * s - ahead * c, heading + turned])
    return replace(base, points=points)
