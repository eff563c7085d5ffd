"""Hide: where somebody cannot see one."""

from __future__ import annotations

from ...core.planning.walkers.going import HideParams
from .going import GoingOperator

ICON = "HIDE_ON"


class Operator(GoingOperator):
    """Let the selected actors hide from somebody behind whatever is high enough, and flee when found"""

    bl_idname = "troupe.hide"
    bl_label = "Hide"
    params = HideParams
