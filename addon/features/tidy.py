"""Tidy: what lies about is carried to where it belongs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy

from ...core.errors import InvalidParam
from ...core.performance import Performance
from ...core.planning.hands.orders import TidyParams
from .. import scene
from . import chore

ICON = "BRUSH_DATA"


class Operator(chore.ChoreOperator):
    """Let the selected actor carry what lies about, all of it or only what it sees, to where it belongs"""

    bl_idname = "troupe.tidy"
    bl_label = "Tidy"
    params = TidyParams

    @classmethod
    def task(cls, params: TidyParams, room: chore.Room) -> Callable[[Any], Performance]:
        from ...core.planning.hands.tidy import tidy

        litter = chore.things(params.litter, "litter", "what is put away", room)
        away = [p for p in chore.places(params.away, room) if not isinstance(p, str) or p not in litter]
        stops = _stops(params, room)
        return lambda job: tidy(job, params, litter, away, stops)


def _stops(params: TidyParams, room: chore.Room) -> list[Any]:
    if not params.route:
        return []
    collection = bpy.data.collections.get(params.route)
    if collection is None:
        raise InvalidParam("route", params.route, "no collection of that name in this file")
    return list(scene.read_route(collection, room.context).points[:, :2] / room.size)


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, actor: Any) -> None:
    """What came of it."""
    chore.draw_report(layout, actor, Operator.feature())
