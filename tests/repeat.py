"""What counts as the same result computed again."""

import numpy as np

ROUNDING = 1e-12
"""Numpy takes another loop for an array with gaps when the result lies right behind it; keys hold seven digits."""


def repeats(a, b):
    """Two motions are one, up to rounding."""
    np.testing.assert_allclose(a.rotations, b.rotations, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(a.roots, b.roots, rtol=0, atol=ROUNDING)
