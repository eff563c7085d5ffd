"""Serve: tables are attended to one after the other, and what lies about on the way is put away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy

from ...core.performance import Performance
from ...core.planning.hands.orders import ServeParams
from . import chore

ICON = "RESTRICT_SELECT_OFF"


class Operator(chore.ChoreOperator):
    """Let the selected actor wait at tables: attend to each in turn, and put away what it sees lying about"""

    bl_idname = "troupe.serve"
    bl_label = "Serve"
    params = ServeParams

    @classmethod
    def task(cls, params: ServeParams, room: chore.Room) -> Callable[[Any], Performance]:
        from ...core.planning.hands.serve import serve

        tables = chore.things(params.tables, "tables", "what is attended to", room)
        litter = chore.things(params.litter, "litter", "what is put away", room) if params.litter else []
        away = chore.places(params.away, room) if params.litter else []
        return lambda job: serve(job, params, tables, litter, away)


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, actor: Any) -> None:
    """What came of it."""
    chore.draw_report(layout, actor, Operator.feature())
