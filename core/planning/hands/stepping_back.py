"""Where there is room to turn with hanging arms, for whom there is none where it stands: a step back, or one ahead."""

from __future__ import annotations

import numpy as np

from ...skeleton import Array
from .upright import Upright

_BACK = np.arange(0.05, 0.61, 0.05)
"""How far somebody steps away to turn [m]."""
SWING = 0.05
"""Between somebody who turns and anything, for arms that swing [m]."""
_HEADINGS = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)


def room_to_turn(body: Upright) -> Array | None:
    """(3,) base behind a body, or else before it, where it has room to turn; None where that is here, or nowhere."""
    x, y, heading = body.base

    def room(far: float) -> bool:
        place = x - far * np.sin(heading), y + far * np.cos(heading)
        return bool(body.free(np.column_stack([np.tile(place, (len(_HEADINGS), 1)), _HEADINGS]), SWING).all())

    if room(0.0):
        return None
    for far in (*_BACK, *-_BACK):
        if room(far):
            return np.array([x - far * np.sin(heading), y + far * np.cos(heading), heading])
    return None
