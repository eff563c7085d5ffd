"""Patrol: from waypoint to waypoint, again and again."""

from __future__ import annotations

from ...core.planning.walkers.going import PatrolParams
from .going import GoingOperator

ICON = "LOOP_FORWARDS"


class Operator(GoingOperator):
    """Let the selected actors go from waypoint to waypoint, around whatever is in between"""

    bl_idname = "troupe.patrol"
    bl_label = "Patrol"
    params = PatrolParams
