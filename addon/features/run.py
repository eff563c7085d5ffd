"""Run: ahead from where the actor stands, or on the spot as a cycle, in any style."""

from __future__ import annotations

from ...core.gait.run import RunParams, run
from .departure import StraightOperator

ICON = "FF"


class Operator(StraightOperator):
    """Let the selected actors run from where they stand, or on the spot as a cycle"""

    bl_idname = "troupe.run"
    bl_label = "Run"
    params = RunParams
    generate = staticmethod(run)
