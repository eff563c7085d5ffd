"""The sidebar: a panel a family, a sub-panel a feature, drawn from its parameters."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import bpy

from ...core.params import Param, Params, declared
from .. import FEATURES, ghost, scene
from .motions import has_preview

TAB = "Troupe"
ICONS = {
    "object": "OBJECT_DATA",
    "armature": "ARMATURE_DATA",
    "curve": "CURVE_DATA",
    "action": "ACTION",
    "text": "TEXT",
    "collection": "OUTLINER_COLLECTION",
    "thing": "OUTLINER_COLLECTION",
}
"""Of what a parameter may name."""


def draw_params(layout: bpy.types.UILayout, group: Any, *records: type[Params]) -> None:
    """The basic parameters that count with the present settings, and the others in a closed part below."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    shown = [p for record in records for p in declared(record) if p.counts(group)]
    for p in shown:
        if p.basic:
            _draw_param(layout, group, p)
    if all(p.basic for p in shown):
        return
    header, body = layout.panel(f"TROUPE_advanced_{records[0].__name__}", default_closed=True)
    header.label(text="Advanced")
    if body:
        for p in shown:
            if not p.basic:
                _draw_param(body, group, p)


def _draw_param(layout: bpy.types.UILayout, group: Any, p: Param) -> None:
    """A parameter, with an icon that tells what it may name."""
    layout.prop(group, p.name, icon=ICONS.get(p.ref, "NONE"))


class _Panel:
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = TAB

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.mode in {"OBJECT", "POSE"}


def family_panels() -> Iterator[type]:
    """One panel a family; all but the first start closed."""
    for i, family in enumerate(FEATURES):
        fields = {
            "bl_label": family,
            "bl_options": set() if i == 0 else {"DEFAULT_CLOSED"},
            "draw": lambda _s, _c: None,
        }
        yield type(f"TROUPE_PT_family_{family.lower()}", (_Panel, bpy.types.Panel), fields)


def feature_panel(module: ModuleType) -> type:
    """The sub-panel of a feature: its parameters, its button, the reason when it is grey, and what it adds itself.

    A feature adds with `draw_first` what comes before the rest, and with `draw` what comes after it; where its
    `draw_instead` is true, it has drawn all there is to see now.
    """
    operator = module.Operator
    name = operator.feature()
    family = next(f for f, names in FEATURES.items() if name in names)

    def draw(self: Any, context: bpy.types.Context) -> None:
        layout = self.layout
        actor = next(iter(scene.selected_armatures(context)), None)
        if hasattr(module, "draw_instead") and module.draw_instead(layout, context):
            return
        problem = operator.why_not(context)
        if hasattr(module, "draw_first"):
            module.draw_first(layout, context, actor)
        if operator.owner == "scene" or actor is not None:
            draw_params(layout, operator._group(context, actor), *operator.records())
        row = layout.row(align=True)
        row.operator(operator.bl_idname, icon=getattr(module, "ICON", "NONE"))
        if has_preview(operator) and actor is not None:
            ghost.draw_toggle(row, actor, name)
        said = problem or ghost.words(context, actor, name)
        if said:
            wrapped(layout, said)
        if hasattr(module, "draw"):
            module.draw(layout, context, actor)

    def draw_header_preset(self: Any, _context: bpy.types.Context) -> None:
        from .. import presets  # it builds on this module

        presets.draw_presets(self.layout, name)

    fields: dict[str, Any] = {
        "bl_label": operator.bl_label,
        "bl_parent_id": f"TROUPE_PT_family_{family.lower()}",
        "draw": draw,
    }
    if operator.has_presets:
        fields["draw_header_preset"] = draw_header_preset
    return type(f"TROUPE_PT_{name}", (_Panel, bpy.types.Panel), fields)


def wrapped(layout: bpy.types.UILayout, text: str, width: int = 36, icon: str = "INFO") -> None:
    """A sentence over as many lines as it takes, in small type; without an icon further lines stand below the first."""
    column = layout.column(align=True)
    column.scale_y = 0.75
    for i, line in enumerate(textwrap.wrap(text, width)):
        column.label(text=line, icon=icon if i == 0 or icon == "NONE" else "BLANK1")
