"""Base tracks that flow into each other: who has nearly turned sets off, who has nearly come to a stand turns."""

from __future__ import annotations

import numpy as np

from ...skeleton import Array

EARLY = 0.35
"""Part of a turn on the spot that is left when a body sets off."""


def flowing(first: Array, then: Array, count: int) -> Array:
    """(T, 3) one base track after another, of which the second begins so many samples before the first is over.

    Args:
        first: (N, 3) x, y [m] and heading [rad].
        then: (M, 3) from where the first one ends.
        count: Samples that both take part in.
    """
    count = max(1, min(count, len(first), len(then)))
    both = first[len(first) - count :] + then[:count] - then[0]
    return np.concatenate([first[: len(first) - count], both, then[count:]])


def set_off(track: Array) -> Array:
    """A base track (T, 3) that begins with a turn on the spot, with less of a stand between that and the way."""
    gone = np.flatnonzero(np.hypot(*(track[:, :2] - track[0, :2]).T) > 1e-6)
    turned = int(gone[0]) if len(gone) else len(track)
    if turned < 3 or turned == len(track) or np.ptp(track[:turned, 2]) < 1e-6:
        return track
    return flowing(track[:turned], track[turned - 1 :], int(EARLY * turned))
