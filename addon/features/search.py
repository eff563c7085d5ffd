"""Search: everywhere, until somebody or something is seen."""

from __future__ import annotations

from ...core.planning.walkers.going import SearchParams
from .going import GoingOperator

ICON = "VIEWZOOM"


class Operator(GoingOperator):
    """Let the selected actors look everywhere until they see somebody or something, and go there"""

    bl_idname = "troupe.search"
    bl_label = "Search"
    params = SearchParams
