"""Presets in Blender: shipped and the user's own, applied to the sidebar's settings of a feature.

The user's lie in the extension's own folder, a JSON file a feature, and outlive updates. `draw_presets` puts the button
into a panel's header; it opens the list.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import bpy

from ..core import presets
from ..core.errors import FormatError, InvalidParam, InvalidRig, TroupeError
from ..core.params import declared
from ..core.presets import Preset
from . import features, rig, scene, settings
from .features.base import FeatureOperator

_ROOT = __package__.rpartition(".")[0]
_registered: list[type] = []


def folder() -> Path:
    """Where the user's presets lie; it need not exist yet."""
    return Path(bpy.utils.extension_path_user(_ROOT, path="presets"))


def shipped(feature: str) -> tuple[Preset, ...]:
    """The presets of a feature that come with Troupe."""
    return presets.shipped(feature, operator_of(feature).params)


def own(feature: str) -> tuple[Preset, ...]:
    """The user's presets of a feature.

    Raises:
        FormatError: Their file cannot be read as presets.
    """
    return presets.read(_file(feature), feature, operator_of(feature).params)


def find(feature: str, name: str) -> Preset:
    """The preset of this name, shipped or the user's."""
    known: list[Preset] = []
    # A damaged file of the user's must not take the shipped ones away.
    for presets_of in (shipped, own):
        found = presets_of(feature)
        known += found
        for preset in found:
            if preset.name == name:
                return preset
    raise InvalidParam("name", name, f"no such preset of {feature}; there are {_names(known)}")


def save(feature: str, preset: Preset) -> None:
    """Add a preset to the user's, or put it in the place of the one with its name."""
    if preset.name in [p.name for p in shipped(feature)]:
        raise InvalidParam("name", preset.name, "is the name of a shipped preset; choose another")
    kept = {p.name: p for p in own(feature)}
    _write(feature, [*{**kept, preset.name: preset}.values()])


def remove(feature: str, name: str) -> None:
    """Take a preset away from the user's."""
    if name in [p.name for p in shipped(feature)]:
        raise InvalidParam("name", name, "is shipped with Troupe and cannot be removed")
    kept = own(feature)
    if name not in [p.name for p in kept]:
        raise InvalidParam("name", name, f"no preset of yours for {feature}; there are {_names(kept)}")
    _write(feature, [p for p in kept if p.name != name])


def apply(group: Any, operator: type[FeatureOperator], preset: Preset) -> None:
    """Put the values of a preset into a feature's settings; parameters that it does not name stay."""
    if preset.fault:
        raise preset.fault
    for p in declared(operator.params):
        if p.name in preset.values:
            value = preset.values[p.name]
            setattr(group, p.name, json.dumps(value) if p.kind == "table" else value)


def operator_of(feature: str) -> type[FeatureOperator]:
    """The main operator of a feature."""
    known = {op.feature(): op for op in features.operators()}
    if feature not in known:
        raise InvalidParam("feature", feature, f"no such feature; there are {', '.join(known)}")
    return known[feature]


def _names(known: Any) -> str:
    return ", ".join(p.name for p in known) or "none"


def _file(feature: str) -> Path:
    return folder() / f"{feature}.json"


def _write(feature: str, kept: list[Preset]) -> None:
    path = _file(feature)
    draft = path.with_suffix(".tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(presets.to_text(feature, kept), encoding="utf-8")
        # In one go, so that whatever interrupts leaves the old presets or the new, never half a file.
        os.replace(draft, path)
    except OSError as error:
        raise FormatError(str(path), 1, 1, f"cannot be written: {error.strerror}") from None


def _groups(context: bpy.types.Context, operator: type[FeatureOperator]) -> list[Any]:
    """The settings that a preset is for: the scene's, or those of the selected rigs, the active one first."""
    if operator.owner == "scene":
        return [operator._group(context, None)]
    actors = scene.selected_armatures(context)
    problem = next((text for ob in actors if (text := rig.check_usable(ob))), None)
    if problem or not actors:
        raise InvalidRig(problem or "Select the rig of a character first")
    return [operator._group(context, actor) for actor in actors]


class _PresetOperator(bpy.types.Operator):
    """Base: names a feature and a preset; errors become a report."""

    feature: bpy.props.StringProperty(name="Feature", description="Which feature the preset is of")  # type: ignore[valid-type]
    name: bpy.props.StringProperty(name="Name", description="Name of the preset", maxlen=presets.MAX_NAME)  # type: ignore[valid-type]

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if context.mode not in {"OBJECT", "POSE"}:
            cls.poll_message_set("Go to Object or Pose Mode first")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            self.report({"INFO"}, self.run(context, operator_of(self.feature)))
        except TroupeError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}

    def run(self, context: bpy.types.Context, operator: type[FeatureOperator]) -> str:
        """Do it and return the sentence to report."""
        raise TypeError(f"{type(self).__name__} does nothing")


class Apply(_PresetOperator):
    """Set the parameters of a feature to those of a preset, on all selected actors"""

    bl_idname = "troupe.preset_apply"
    bl_label = "Apply Preset"
    bl_options = {"UNDO", "INTERNAL"}  # noqa: RUF012

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        try:
            preset = find(properties.feature, properties.name)
        except TroupeError as error:
            return str(error)
        values = ", ".join(f"{name.replace('_', ' ')} {_shown(value)}" for name, value in preset.values.items())
        return str(preset.fault) if preset.fault else f"Set {values}"

    def run(self, context: bpy.types.Context, operator: type[FeatureOperator]) -> str:
        preset = find(self.feature, self.name)
        groups = _groups(context, operator)
        for group in groups:
            apply(group, operator, preset)
        return f"{operator.bl_label}: {preset.name}" + (f" for {len(groups)} actors" if len(groups) > 1 else "")


class Save(_PresetOperator):
    """Save the parameters of a feature, as the sidebar shows them, as a preset of your own"""

    bl_idname = "troupe.preset_save"
    bl_label = "Save Preset"
    bl_options = {"INTERNAL"}  # noqa: RUF012

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, _context: bpy.types.Context) -> None:
        self.layout.prop(self, "name")

    def run(self, context: bpy.types.Context, operator: type[FeatureOperator]) -> str:
        params = settings.params_from(_groups(context, operator)[0], operator.params)
        save(self.feature, presets.preset(self.name.strip(), params))
        return f"Preset {self.name.strip()} of {operator.bl_label} saved"


class Remove(_PresetOperator):
    """Delete one of your own presets; those that come with Troupe stay"""

    bl_idname = "troupe.preset_remove"
    bl_label = "Remove Preset"
    bl_options = {"INTERNAL"}  # noqa: RUF012

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        return context.window_manager.invoke_confirm(self, event)

    def run(self, context: bpy.types.Context, operator: type[FeatureOperator]) -> str:
        remove(self.feature, self.name)
        return f"Preset {self.name} of {operator.bl_label} removed"


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def draw_presets(layout: bpy.types.UILayout, feature: str) -> None:
    """A button that opens the presets of a feature; made for `Panel.draw_header_preset`."""
    layout.popover(f"TROUPE_PT_presets_{feature}", text="", icon="PRESET")


def list_panel(feature: str) -> type:
    """The list of a feature's presets: a click applies, a cross removes, the last line saves."""

    def entry(layout: bpy.types.UILayout, preset: Preset) -> bpy.types.UILayout:
        row = layout.row(align=True)
        row.alert = preset.fault is not None
        button = row.operator(Apply.bl_idname, text=preset.name, emboss=False, translate=False)
        button.feature, button.name = feature, preset.name
        return row

    def draw(self: Any, _context: bpy.types.Context) -> None:
        layout = self.layout
        column = layout.column(align=True)
        column.operator_context = "EXEC_DEFAULT"
        for preset in shipped(feature):
            entry(column, preset)
        column = layout.column(align=True)
        column.operator_context = "INVOKE_DEFAULT"
        try:
            for preset in own(feature):
                cross = entry(column, preset).operator(Remove.bl_idname, text="", icon="X", emboss=False)
                cross.feature, cross.name = feature, preset.name
            column.operator(Save.bl_idname, text="Save...", icon="ADD").feature = feature
        except FormatError as error:
            column.label(text=str(error), icon="ERROR", translate=False)

    fields = {
        "bl_label": "Presets",
        "bl_space_type": "VIEW_3D",
        "bl_region_type": "HEADER",
        "bl_ui_units_x": 14,
        "draw": draw,
    }
    return type(f"TROUPE_PT_presets_{feature}", (bpy.types.Panel,), fields)


def register() -> None:
    """Register the operators and a list for every feature."""
    for cls in (Apply, Save, Remove, *(list_panel(op.feature()) for op in features.operators())):
        bpy.utils.register_class(cls)
        _registered.append(cls)


def unregister() -> None:
    """Undo `register` in reverse."""
    for cls in reversed(_registered):
        bpy.utils.unregister_class(cls)
    _registered.clear()
