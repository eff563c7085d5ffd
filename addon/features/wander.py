"""Wander: about, without an aim."""

from __future__ import annotations

from ...core.planning.walkers.going import WanderParams
from .going import GoingOperator

ICON = "FORCE_TURBULENCE"


class Operator(GoingOperator):
    """Let the selected actors stroll about without an aim, around things and each other"""

    bl_idname = "troupe.wander"
    bl_label = "Wander"
    params = WanderParams
