"""Evade: away from somebody who comes too near."""

from __future__ import annotations

from ...core.planning.walkers.going import EvadeParams
from .going import GoingOperator

ICON = "FORCE_VORTEX"


class Operator(GoingOperator):
    """Let the selected actors keep away from somebody or something that comes too near"""

    bl_idname = "troupe.evade"
    bl_label = "Evade"
    params = EvadeParams
