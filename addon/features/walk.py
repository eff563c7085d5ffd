"""Walk: ahead from where the actor stands, or on the spot as a cycle, in any style."""

from __future__ import annotations

from ...core.gait.walk import WalkParams, walk
from .departure import StraightOperator

ICON = "PLAY"


class Operator(StraightOperator):
    """Let the selected actors walk from where they stand, ahead, backward or sideways, or on the spot as a cycle"""

    bl_idname = "troupe.walk"
    bl_label = "Walk"
    params = WalkParams
    generate = staticmethod(walk)
