"""The top of the tab: who is on stage, what each is doing, and a first step for an empty scene."""

from __future__ import annotations

from typing import Any

import bpy

from . import bake, rig, scene

_registered: list[type] = []
_SURFACES = {"MESH", "CURVE", "SURFACE", "FONT", "META", "EMPTY"}
"""Types of objects that actors may walk on, go around or take notice of."""


class SelectActor(bpy.types.Operator):
    """Select this character, so that the buttons below act on it"""

    bl_idname = "troupe.select_actor"
    bl_label = "Select Actor"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    actor: bpy.props.StringProperty(name="Actor", description="Name of the armature object")  # type: ignore[valid-type]
    extend: bpy.props.BoolProperty(name="Extend", description="Keep the others selected")  # type: ignore[valid-type]

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if context.mode != "OBJECT":
            cls.poll_message_set("Go to Object Mode first")
            return False
        return True

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self.extend = event.shift
        return self.execute(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        actor = context.view_layer.objects.get(self.actor)
        if actor is None:
            self.report({"ERROR"}, f"{self.actor!r} is not in this view layer; choose one of the list")
            return {"CANCELLED"}
        if not self.extend:
            for ob in context.selected_objects:
                ob.select_set(False)
        actor.select_set(True)
        context.view_layer.objects.active = actor
        return {"FINISHED"}


class FirstSteps(bpy.types.Operator):
    """Add an actor at the 3D cursor and let it walk"""

    bl_idname = "troupe.first_steps"
    bl_label = "Add an Actor and Walk"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if context.mode != "OBJECT":
            cls.poll_message_set("Go to Object Mode first")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        bpy.ops.troupe.mannequin()
        bpy.ops.troupe.walk()
        actor = context.object
        context.scene.frame_end = max(
            context.scene.frame_end, int(actor.animation_data.nla_tracks[-1].strips[-1].frame_end)
        )
        self.report({"INFO"}, f"{actor.name} walks: press Space to play")
        return {"FINISHED"}


def actors(context: bpy.types.Context) -> list[Any]:
    """The armatures of the scene, those that are cast first."""
    found = [ob for ob in context.scene.objects if ob.type == "ARMATURE"]
    return sorted(found, key=lambda ob: (not rig.is_cast(ob), ob.name))


def state_of(ob: Any) -> tuple[str, str]:
    """Icon and a few words: is it cast, has it warnings, what did it do last."""
    problem = rig.check_usable(ob)
    if problem:
        return "ERROR", problem
    if not rig.is_cast(ob):
        return "QUESTION", "not cast yet"
    last = bake.results_of(ob)
    doing = last[-1].action.name.removeprefix(f"{ob.name} ") if last else "waiting"
    return ("ERROR", ob.troupe.warnings.splitlines()[0]) if ob.troupe.warnings else ("CHECKMARK", doing)


class StagePanel(bpy.types.Panel):
    """The characters of the scene."""

    bl_idname = "TROUPE_PT_stage"
    bl_label = "On Stage"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Troupe"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.mode in {"OBJECT", "POSE"}

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        present = actors(context)
        if not present:
            layout.label(text="Nobody on stage yet")
            layout.operator("troupe.first_steps", icon="PLAY")
            return
        chosen = scene.selected_armatures(context)
        column = layout.column(align=True)
        for ob in present:
            icon, words = state_of(ob)
            row = column.split(factor=0.45, align=True)
            row.operator("troupe.select_actor", text=ob.name, depress=ob in chosen).actor = ob.name
            row.label(text=words, icon=icon)


class ThingPanel(bpy.types.Panel):
    """What the selected object is to the actors around it."""

    bl_idname = "TROUPE_PT_thing"
    bl_label = "Scene Object"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Troupe"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        ob = context.active_object
        return context.mode == "OBJECT" and ob is not None and ob.type in _SURFACES and scene.armature_of(ob) is None

    def draw(self, context: bpy.types.Context) -> None:
        layout, own = self.layout, context.active_object.troupe
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(own, "kind")
        if own.kind == "door":
            layout.prop(own, "door")
        if own.kind != "ignore":
            layout.prop(own, "walk_cost")
            if own.kind != "ground":
                layout.prop(own, "solid")
            layout.prop(own, "see_through")
            layout.prop(own, "sort")
        layout.operator("troupe.copy_thing", icon="COPYDOWN")


class CopyThing(bpy.types.Operator):
    """Give all selected objects the kind and the other settings of the active one"""

    bl_idname = "troupe.copy_thing"
    bl_label = "Copy to Selected"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if context.mode != "OBJECT":
            cls.poll_message_set("Go to Object Mode first")
            return False
        if context.active_object is None:
            cls.poll_message_set("Make the object active whose settings are to be copied")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        own = context.active_object.troupe
        others = [ob for ob in context.selected_objects if ob.type in _SURFACES and ob != context.active_object]
        for ob in others:
            for name in ("kind", "door", "walk_cost", "solid", "see_through", "sort"):
                setattr(ob.troupe, name, getattr(own, name))
        self.report({"INFO"}, f"{len(others)} objects are {own.kind}")
        return {"FINISHED"}


CLASSES = (SelectActor, FirstSteps, CopyThing, StagePanel, ThingPanel)


def register() -> None:
    """Register the panel; it comes before the families."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
        _registered.append(cls)


def unregister() -> None:
    """Undo `register`."""
    while _registered:
        bpy.utils.unregister_class(_registered.pop())
