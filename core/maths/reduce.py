"""Leave out keys that straight lines between the others tell well enough (Ramer, Douglas, Peucker)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .quat import Array


def kept_keys(values: Array, tolerance: float) -> npt.NDArray[np.int64]:
    """Samples to keep so that linear interpolation between them stays within `tolerance` of all others.

    Args:
        values: (T, C) samples at equal steps; the distance is measured over all components together.
        tolerance: Largest distance allowed.

    Returns:
        (K,) increasing; the first and last sample are always kept.
    """
    count = len(values)
    keep = np.zeros(count, bool)
    keep[[0, -1]] = True
    open_ = [(0, count - 1)]
    while open_:
        a, b = open_.pop()
        if b - a < 2:
            continue
        share = (np.arange(a + 1, b) - a)[:, None] / (b - a)
        away = values[a + 1 : b] - (values[a] + share * (values[b] - values[a]))
        far = np.einsum("tc,tc->t", away, away)
        worst = int(far.argmax())
        if far[worst] > tolerance * tolerance:
            middle = a + 1 + worst
            keep[middle] = True
            open_ += [(a, middle), (middle, b)]
    return np.flatnonzero(keep)
