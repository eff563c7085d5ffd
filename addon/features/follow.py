"""Follow: after somebody, leaving some room."""

from __future__ import annotations

from ...core.planning.walkers.going import FollowParams
from .going import GoingOperator

ICON = "COMMUNITY"


class Operator(GoingOperator):
    """Let the selected actors follow somebody or something that moves, leaving it some room"""

    bl_idname = "troupe.follow"
    bl_label = "Follow"
    params = FollowParams
