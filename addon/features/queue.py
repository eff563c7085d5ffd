"""Queue: in line in front of a place, until it is one's turn."""

from __future__ import annotations

from ...core.planning.walkers.going import QueueParams
from .going import GoingOperator

ICON = "SEQ_SEQUENCER"


class Operator(GoingOperator):
    """Let the selected actors wait in line in front of a place, be served one by one, and leave"""

    bl_idname = "troupe.queue"
    bl_label = "Queue"
    params = QueueParams
