"""Pursue: to where somebody will be, until it is caught."""

from __future__ import annotations

from ...core.planning.walkers.going import PursueParams
from .going import GoingOperator

ICON = "FORCE_FORCE"


class Operator(GoingOperator):
    """Let the selected actors run after somebody or something and catch it where it will be"""

    bl_idname = "troupe.pursue"
    bl_label = "Pursue"
    params = PursueParams
