"""Together: several actors at once, each doing what it was told, so that they react to each other."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import bpy

from ...core.errors import InvalidParam
from ...core.planning.walkers.going import TogetherParams
from .. import rig, scene, settings
from .company import CompanyOperator
from .going import GoingOperator, told_by

ICON = "GROUP"


class Operator(GoingOperator):
    """Let the selected actors do what each was told last, all at once: a pursuer and an evader react to each other"""

    bl_idname = "troupe.together"
    bl_label = "Together"
    params = TogetherParams

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        problem = super().why_not(context)
        if problem is None and len(scene.selected_armatures(context)) < 2:
            problem = "Select two or more characters first"
        return problem

    def direct(
        self, context: bpy.types.Context, actor: Any, params: TogetherParams
    ) -> tuple[type[CompanyOperator], Any]:
        said = _said(params.told, [ob.name for ob in scene.selected_armatures(context)])
        name = said.get(actor.name) or actor.troupe.told
        operator = told_by(name)
        if operator is None:
            known = ", ".join(o.feature() for o in told_by())
            expected = f"{actor.name} has not been told what to do: choose one of {known}"
            raise InvalidParam("told", params.told, expected)
        own: Any = settings.params_from(getattr(actor.troupe, operator.feature()), operator.params)
        return operator, replace(own, seconds=params.seconds, seed=params.seed)


def _said(text: str, names: list[str]) -> dict[str, str]:
    """What each actor is told by a text such as "Fox pursue, Hare evade"."""
    out = {}
    for part in filter(None, (p.strip() for p in re.split(r"[,;\n]", text))):
        actor, _, behaviour = part.rpartition(" ")
        if actor.strip() not in names:
            raise InvalidParam("told", part, f"must be a selected actor and a behaviour; actors are {', '.join(names)}")
        if told_by(behaviour) is None:
            known = ", ".join(o.feature() for o in told_by())
            raise InvalidParam("told", part, f"{behaviour!r} is none of {known}")
        out[actor.strip()] = behaviour
    return out


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, actor: Any) -> None:
    """What each of the selected actors will do."""
    column = layout.column(align=True)
    for ob in scene.selected_armatures(context):
        if rig.is_cast(ob):
            row = column.split(factor=0.5)
            row.label(text=ob.name)
            row.prop(ob.troupe, "told", text="")
