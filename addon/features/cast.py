"""Cast: take the selected rigs for characters by finding which bone plays which role."""

from __future__ import annotations

from typing import Any

import bpy

from ...core.errors import FormatError
from ...core.formats import rolemap
from ...core.formats.rolemap import RoleMap
from ...core.kinematics.cast import CastParams
from ...core.skeleton import FINGERS, ROLES
from .. import rig, scene, settings
from .base import FeatureOperator

ICON = "COMMUNITY"
GROUPS = {
    "Body": ("root", "hips", "spine", "neck", "head", "jaw", "eye_L", "eye_R"),
    "Arms": tuple(f"{r}_{s}" for s in "LR" for r in ("clavicle", "upper_arm", "forearm", "hand")),
    "Legs": tuple(f"{r}_{s}" for s in "LR" for r in ("thigh", "shin", "foot", "toe")),
    "Fingers": tuple(f"{f}_{s}" for s in "LR" for f in FINGERS),
}


class Operator(FeatureOperator):
    """Find out which bone of the selected rigs plays which role, so that Troupe can direct them"""

    bl_idname = "troupe.cast"
    bl_label = "Cast"
    params = CastParams

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        if context.mode not in {"OBJECT", "POSE"}:
            return "Go to Object or Pose Mode first"
        actors = scene.selected_armatures(context)
        if not actors:
            return "Select the rig of a character first"
        return next((problem for ob in actors if (problem := rig.check_usable(ob))), None)

    def compute(self, context: bpy.types.Context, actor: Any, params: CastParams) -> Any:
        detected = None
        if params.map_file:
            role_map = rolemap.read(params.map_file)
        else:
            detected = rig.detect(rig.bones_of(actor))
            role_map = RoleMap(detected.roles)
        if params.neutral == "pose":
            role_map = RoleMap(role_map.roles, rig.neutral_of_pose(actor, role_map.roles))
        cast = rig.read(actor, context, role_map.roles, role_map.neutral)
        return role_map, detected, cast

    def apply(self, context: bpy.types.Context, actor: Any, result: Any) -> str:
        role_map, detected, cast = result
        rig.store(actor, role_map, detected)
        leg = cast.skeleton.leg_length()
        kind = f"{_kind(detected.convention)}, score {detected.score:.0%}" if detected else "by its map file"
        size = "" if 0.2 <= leg <= 2.0 else "; treated as a person at another scale"
        bones = sum(len(chain) for chain in role_map.roles.values())
        return f"{actor.name}: {bones} bones in {len(role_map.roles)} roles ({kind}), legs {leg:.2f} m{size}"


class ExportMap(bpy.types.Operator):
    """Save the role map of the active rig as JSON, to use it on other files"""

    bl_idname = "troupe.export_map"
    bl_label = "Export Map"

    filepath: bpy.props.StringProperty(subtype="FILE_PATH")  # type: ignore[valid-type]
    filter_glob: bpy.props.StringProperty(default="*.json", options={"HIDDEN"})  # type: ignore[valid-type]

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        actor = next(iter(scene.selected_armatures(context)), None)
        if not rig.is_cast(actor):
            cls.poll_message_set("Select a rig that is cast")
            return False
        return True

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        self.filepath = f"{scene.selected_armatures(context)[0].name}.json"
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        path = bpy.path.abspath(self.filepath)
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(rolemap.to_text(rig.role_map(scene.selected_armatures(context)[0])))
        except OSError as error:
            self.report({"ERROR"}, str(FormatError(path, 1, 1, f"cannot be written: {error.strerror}")))
            return {"CANCELLED"}
        self.report({"INFO"}, f"Role map saved to {path}")
        return {"FINISHED"}


class Uncast(bpy.types.Operator):
    """Forget the role map of the selected rigs; their animation stays"""

    bl_idname = "troupe.uncast"
    bl_label = "Forget"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not any(rig.is_cast(ob) for ob in scene.selected_armatures(context)):
            cls.poll_message_set("Select a rig that is cast")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        for ob in scene.selected_armatures(context):
            rig.store(ob, RoleMap({}))
            ob.troupe.is_cast = False
        return {"FINISHED"}


CLASSES = (ExportMap, Uncast)


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, actor: Any) -> None:
    """The role table of the active rig, open to correction."""
    if actor is None:
        return
    if actor.library is not None and actor.override_library is None:
        layout.operator("object.make_override_library", text="Make Override", icon="LIBRARY_DATA_OVERRIDE")
    if not rig.is_cast(actor):
        return
    row = layout.row(align=True)
    row.operator("troupe.export_map", icon="EXPORT")
    row.operator("troupe.uncast", icon="X")
    layout.prop(context.scene.troupe, "show_roles")
    box = layout.column(align=True)
    box.label(text=f"{_kind(actor.troupe.convention)}, score {actor.troupe.score:.0%}", icon="CHECKMARK")
    for line in actor.troupe.warnings.splitlines():
        box.label(text=line, icon="ERROR")
    known = actor.data.bones
    for title, roles in GROUPS.items():
        header, body = layout.panel(f"TROUPE_roles_{title}", default_closed=True)
        mapped = sum(1 for role in roles if getattr(actor.troupe.roles, settings.slots(role)[0]))
        header.label(text=f"{title}: {mapped} of {len(roles)} roles")
        if not body:
            continue
        column = body.column(align=True)
        for role in roles:
            _draw_role(column, actor, role, known)


def _kind(convention: str) -> str:
    return "names of its own" if convention == "unknown" else convention


def _draw_role(column: bpy.types.UILayout, actor: Any, role: str, known: Any) -> None:
    table, names = actor.troupe.roles, settings.slots(role)
    used = sum(1 for name in names if getattr(table, name))
    for name in names[: min(used + 1, len(names))]:
        row = column.row()
        bone = getattr(table, name)
        row.alert = bool(bone) and bone not in known
        row.prop_search(table, name, actor.data, "bones")


assert set(ROLES) == {role for roles in GROUPS.values() for role in roles}, "every role has a place in the table"
