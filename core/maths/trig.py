"""Sines, cosines and arctangents, the same bit for bit every time.

Of an array with gaps (the headings among the columns of a base) numpy takes another loop when the result comes to lie
right beside it, which rounds otherwise: two equal calls then differ in the last digit. Without gaps it does not.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def sin(angle: npt.ArrayLike) -> Array:
    """Sine of angles (...) [rad], of a column too."""
    out: Array = np.sin(np.asarray(angle, dtype=np.float64, order="C"))
    return out


def cos(angle: npt.ArrayLike) -> Array:
    """Cosine of angles (...) [rad], of a column too."""
    out: Array = np.cos(np.asarray(angle, dtype=np.float64, order="C"))
    return out


def arctan2(y: npt.ArrayLike, x: npt.ArrayLike) -> Array:
    """Angle [rad] of the directions with components x and y (...), of columns too."""
    first, second = (np.asarray(v, dtype=np.float64, order="C") for v in (y, x))
    out: Array = np.arctan2(first, second)
    return out
