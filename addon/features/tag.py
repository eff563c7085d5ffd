"""Tag: a game for several; whoever is touched is it."""

from __future__ import annotations

from ...core.planning.walkers.going import TagParams
from .going import GoingOperator

ICON = "ARMATURE_DATA"


class Operator(GoingOperator):
    """Let the selected actors play tag: one runs after the others, and whoever is touched is it"""

    bl_idname = "troupe.tag"
    bl_label = "Play Tag"
    params = TagParams
