"""Means over a moving window, the same bit for bit every time.

`np.convolve`, `np.dot` and a matrix times a vector go to BLAS, some of whose kernels round by where an array lies in
memory: two equal calls then differ in the last digit. `np.einsum` does not.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..needs import needs_scipy
from ..skeleton import Array


def slide(values: Array, weights: Array) -> Array:
    """Sums (T - n + 1, ...) of every n neighbours along the first axis of values (T, ...), by weights (n,)."""
    out: Array = np.einsum("...n,n->...", sliding_window_view(values, len(weights), axis=0), weights)
    return out


def covering(need: Array, half: int) -> Array:
    """(T,) smooth values that are nowhere below those needed (T,), and rise and fall over 4 `half` samples."""
    with needs_scipy():
        from scipy.ndimage import maximum_filter1d, uniform_filter1d

    # a running maximum averaged over the same span is nowhere below what is needed
    out: Array = maximum_filter1d(need, 4 * half + 1, mode="nearest")
    for _ in range(2):
        out = uniform_filter1d(out, 2 * half + 1, mode="nearest")
    return out
