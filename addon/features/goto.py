"""Goto: to a place, a thing or an actor, around whatever stands or moves in the way."""

from __future__ import annotations

from ...core.planning.walkers.going import GotoParams
from . import review
from .going import GoingOperator

ICON = "TRACKER"


class Operator(GoingOperator):
    """Let the selected actors find their way to an object, a place or somebody, around whatever is in between"""

    bl_idname = "troupe.goto"
    bl_label = "Go To"
    params = GotoParams


CLASSES = review.CLASSES
