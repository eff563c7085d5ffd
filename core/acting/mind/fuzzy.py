"""Soft comparison: how well a number meets a target, from 0 to 1 (Improv, appendix on fuzzy logic).

The kernel is a raised cosine of the distance to the target over the spread. "Greater than" and "less than" have an
infinite spread on one side, so they are 1 from equality on and fade on the other side only.
"""

from __future__ import annotations

import math

from ..language.syntax import EQUALS, GREATER, LESS, NOT_EQUAL, NOT_GREATER, NOT_LESS

CRISP = 1e-6
"""Distance at which numbers still count as equal when there is no spread."""
_INFINITE_ABOVE = (GREATER, NOT_GREATER)
_INFINITE_BELOW = (LESS, NOT_LESS)
NEGATED = (NOT_EQUAL, NOT_GREATER, NOT_LESS)


def kernel(distance: float) -> float:
    """Raised cosine: 1 at 0, a half at 0.5, 0 from 1 on."""
    return 0.5 * (1.0 + math.cos(math.pi * distance)) if distance < 1.0 else 0.0


def agreement(x: float, lo: float, hi: float, operator: str = EQUALS, below: float = 0.0, above: float = 0.0) -> float:
    """How true it is that `x` compares so with the target range from `lo` to `hi`.

    Args:
        operator: One of `syntax.OPERATORS`.
        below, above: Spread on the low and the high side of the target, in units of x; 0 is crisp.

    Returns:
        From 0 (false) to 1 (true).
    """
    distance = lo - x if x < lo else max(x - hi, 0.0)
    spread = below if x < lo else above
    if (x > hi and operator in _INFINITE_ABOVE) or (x < lo and operator in _INFINITE_BELOW):
        distance = 0.0
    if distance == 0.0:
        y = 1.0
    elif spread <= 0.0:
        y = 1.0 if distance <= CRISP else 0.0
    else:
        y = kernel(distance / spread)
    return 1.0 - y if operator in NEGATED else y
