"""The tools beside Play: scripts from templates, checking them, bringing their cast on, and directing by buttons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from mathutils import Vector

from ...core.acting import starter
from ...core.errors import FormatError, InvalidParam, TroupeError
from ...core.skeleton import Array
from .. import extend, rig, scene
from ..scene import parts
from .base import ActorOperator

if TYPE_CHECKING:
    from ...core.acting.direction import Named

EXAMPLE = starter.FOLDER / "example.sheet"
PROP_SIZE = (0.4, 0.28, 0.04)
"""Of a prop whose script says none [m]."""
TOP, LEG = 0.05, 0.05
"""Thickness of the top and of the legs of furniture [m]."""


def text_of(name: str, param: str) -> str:
    """What a text of the file says; a script that is not there may be a shipped one."""
    text = bpy.data.texts.get(name)
    if text is None and param == "script" and name in starter.names():
        return starter.text(name)
    if text is None:
        hint = "no text of that name in this file" if name else "choose a text, or make one with New Script"
        raise InvalidParam(param, name, hint)
    return str(text.as_string())


def write_text(name: str, content: str) -> Any:
    """Put content into a text of the file, which is made if it is not there."""
    text = bpy.data.texts.get(name) or bpy.data.texts.new(name)
    text.from_string(content)
    return text


def check(name: str) -> Named:
    """Read a script as Play would, without playing it; FormatError where it has a mistake."""
    from ...core.acting.act import repertoire
    from ...core.acting.direction import named
    from ...core.acting.play import rehearse
    from ...core.acting.repertoire.library import ActionLibrary
    from ...core.acting.scriptactions import script_sheets

    content = text_of(name, "script")
    words = extend.statements()
    script = named(content, name, words)
    sheets = script_sheets(content, name, repertoire(), extend.signals(), tuple(words))
    rehearse([(content, name)], [], ActionLibrary(sheets), statements=words)
    return script


def mode_problem(context: bpy.types.Context) -> str | None:
    return None if context.mode in {"OBJECT", "POSE"} else "Go to Object or Pose Mode first"


class ScriptOperator(ActorOperator):
    """Base of the operators that need no actor."""

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        return mode_problem(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            self.report({"INFO"}, self.act(context, next(iter(scene.selected_armatures(context)), None)))
        except TroupeError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


TEMPLATES = [(name, name.replace("_", " ").title(), starter.title(name)) for name in starter.names()]


class NewScript(ScriptOperator):
    """Make a text with a script to play at once and to change, and choose it for the selected actors"""

    bl_idname = "troupe.new_script"
    bl_label = "New Script"
    template: bpy.props.EnumProperty(name="Template", description="The scene to begin with", items=TEMPLATES)  # type: ignore[valid-type]

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        context.window_manager.invoke_search_popup(self)
        return {"RUNNING_MODAL"}

    bl_property = "template"

    def act(self, context: bpy.types.Context, actor: Any) -> str:
        text = bpy.data.texts.new(f"{self.template.replace('_', ' ').title()}")
        text.from_string(starter.text(self.template))
        text.cursor_set(0)
        for ob in scene.selected_armatures(context):
            ob.troupe.play.script = text.name
        return f"{text.name}: {starter.title(self.template)}"


class NewActions(ScriptOperator):
    """Make a text with an action of your own to change, which Act can show beside those of the repertoire"""

    bl_idname = "troupe.new_actions"
    bl_label = "Add Starter Actions"

    def act(self, context: bpy.types.Context, actor: Any) -> str:
        text = bpy.data.texts.new("Actions")
        text.from_string(EXAMPLE.read_text(encoding="utf-8"))
        for ob in scene.selected_armatures(context):
            ob.troupe.act.sheet = text.name
        return f"{text.name}: change the numbers, then choose its actions by name in Act"


def _script_of(operator: Any, context: bpy.types.Context) -> str:
    if operator.script:
        return str(operator.script)
    space = context.space_data
    if space is not None and space.type == "TEXT_EDITOR" and space.text is not None:
        return str(space.text.name)
    actor = next(iter(scene.selected_armatures(context)), None)
    return str(actor.troupe.play.script) if actor is not None else ""


def _script_property() -> Any:
    return bpy.props.StringProperty(name="Script", description="Text with the script; empty for that of the actor")


class CheckScript(ScriptOperator):
    """Read a script without playing it; where it has a mistake, say what is wrong and put the cursor there"""

    bl_idname = "troupe.check_script"
    bl_label = "Check Script"
    script: _script_property()  # type: ignore[valid-type]

    def act(self, context: bpy.types.Context, actor: Any) -> str:
        name = _script_of(self, context)
        try:
            found = check(name)
        except FormatError as error:
            text = bpy.data.texts.get(name)
            if text is None:
                raise
            line = min(max(error.line - 1, 0), len(text.lines) - 1)
            text.cursor_set(line, character=min(max(error.column - 1, 0), len(text.lines[line].body)))
            raise
        people = ", ".join(found.actors) or "whoever is selected"
        return f"{name} can be played by {people}"


class BringOn(ScriptOperator):
    """Put everybody and everything on stage that the script names and the scene lacks, where it says"""

    bl_idname = "troupe.bring_on"
    bl_label = "Bring On the Cast"
    script: _script_property()  # type: ignore[valid-type]

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        return None if context.mode == "OBJECT" else "Go to Object Mode first"

    def act(self, context: bpy.types.Context, actor: Any) -> str:
        name = _script_of(self, context)
        script = check(name)
        there = {part: parts.find(context, part) for part in script.actors}
        made = [part for part, ob in there.items() if ob is None]
        for part in made:
            there[part] = _mannequin(context, part, script.actors[part] or (0.0, 0.0, 0.0))
        things = [n for n in (*script.places, *script.props) if parts.find(context, n) is None]
        for thing in things:
            _thing(context, thing, script)
        cast = [ob for ob in there.values() if ob.type == "ARMATURE" and rig.is_cast(ob)]
        for ob in context.view_layer.objects:
            ob.select_set(ob in cast)
        context.view_layer.objects.active = cast[0] if cast else None
        for ob in cast:
            ob.troupe.play.script = name
        return f"{name}: {len(made)} actors and {len(things)} things added, {len(cast)} actors selected"


def _mannequin(context: bpy.types.Context, name: str, place: tuple[float, float, float]) -> Any:
    cursor, turn = context.scene.cursor.location.copy(), context.scene.cursor.rotation_euler.copy()
    metre = scene.metre(context.scene)
    try:
        context.scene.cursor.location = (place[0] / metre, place[1] / metre, 0.0)
        bpy.ops.troupe.mannequin()
    finally:
        context.scene.cursor.location, context.scene.cursor.rotation_euler = cursor, turn
    ob = context.object
    ob.rotation_euler.z = place[2]
    ob.name = name
    context.view_layer.update()
    return ob


def _thing(context: bpy.types.Context, name: str, script: Named) -> Any:
    """A prop, on what it lies on; furniture for a place that has a size, else an empty."""
    unit, prop = scene.metre(context.scene), name in script.props
    table = parts.find(context, script.under[name]) if name in script.under else None
    size = script.sizes.get(name) or (PROP_SIZE if prop else None)
    place = script.props.get(name) or script.places.get(name)
    x, y, turn = place or (0.0, 0.0, 0.0)
    height = 0.0
    if prop and size is not None:
        height = 0.9 - 0.5 * size[2]
        if table is not None:
            height = unit * max((table.matrix_world @ Vector(c)).z for c in table.bound_box)
            x, y, turn = place or (*(unit * table.location)[:2], table.rotation_euler.z)
    data = None
    if size is not None:
        data = bpy.data.meshes.new(name)
        boxes = [_box((0.0, 0.0, 0.0), size)] if prop else _furniture(*size)
        vertices = np.concatenate(boxes) / unit
        data.from_pydata(
            vertices.tolist(), [], [tuple(8 * k + i for i in f) for k in range(len(boxes)) for f in _FACES]
        )
        height += 0.5 * size[2] if prop else 0.0
    ob = bpy.data.objects.new(name, data)
    ob.location = (x / unit, y / unit, height / unit)
    ob.rotation_euler.z = turn
    ob.troupe.kind = "prop" if prop else "ignore" if data is None else "obstacle"
    context.collection.objects.link(ob)
    context.view_layer.update()
    return ob


def _furniture(width: float, depth: float, height: float) -> list[Array]:
    """Boxes (8, 3) of a table or stool: a top, and legs where it is high enough for them [m]."""
    if height < 4.0 * TOP:
        return [_box((0.0, 0.0, 0.5 * height), (width, depth, height))]
    below = height - TOP
    x, y = 0.5 * (width - LEG), 0.5 * (depth - LEG)
    legs = [_box((sx * x, sy * y, 0.5 * below), (LEG, LEG, below)) for sx in (-1, 1) for sy in (-1, 1)]
    return [_box((0.0, 0.0, height - 0.5 * TOP), (width, depth, TOP)), *legs]


def _box(middle: tuple[float, float, float], size: tuple[float, float, float]) -> Array:
    signs = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    out: Array = np.array(middle) + signs * np.array(size)
    return out


_FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))

CLASSES: tuple[type, ...] = (NewScript, NewActions, CheckScript, BringOn)
