"""What counts as the same result computed again."""

import numpy as np

ROUNDING = 1e-12
"""Some processors round numpy's vector loops by where an array lies in memory; curves hold seven digits."""


def repeats(a, b):
    """Two motions are one, up to rounding."""
    np.testing.assert_allclose(a.rotations, b.rotations, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(a.roots, b.roots, rtol=0, atol=ROUNDING)
