"""The writer's tools beside Play: scripts from templates, the names that they may use, and checking them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ...core.acting import starter
from ...core.errors import FormatError, InvalidParam, TroupeError
from .. import extend, scene
from .base import ActorOperator

if TYPE_CHECKING:
    from ...core.acting.direction import Named

EXAMPLE = starter.FOLDER / "example.sheet"


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


def check(context: bpy.types.Context, name: str) -> Named:
    """Read a script as Play would, without playing it; FormatError where it has a mistake."""
    from ...core.acting.act import repertoire
    from ...core.acting.direction import named
    from ...core.acting.language.lexer import key_of, suggestion
    from ...core.acting.play import rehearse
    from ...core.acting.repertoire.library import ActionLibrary
    from ...core.acting.scriptactions import script_sheets

    content = text_of(name, "script")
    words = extend.statements()
    script = named(content, name, words)
    sheets = script_sheets(content, name, repertoire(), extend.signals(), tuple(words))
    rehearse([(content, name)], [], ActionLibrary(sheets), statements=words)
    for prop, table in script.under.items():
        known = [*script.places, *(p for p in script.props if p != prop), *(ob.name for ob in context.scene.objects)]
        if key_of(table.value) not in map(key_of, known):
            hint = suggestion(table.value, known) or "define a PLACE of that name"
            raise table.at.error(f'nothing is called "{table.value}", upon which {prop} lies; {hint}')
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
            said = self.act(context, next(iter(scene.selected_armatures(context)), None))
            if said:
                self.report({"INFO"}, said)
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
        context.scene.troupe.script = text.name
        for ob in scene.selected_armatures(context):
            ob.troupe.play.script = text.name
        shown = show_text(text)
        seen = any(window.screen in shown for window in context.window_manager.windows)
        where = (
            "" if seen else f" Read and change it in {shown[0].name}." if shown else " Open a Text Editor to read it."
        )
        return f"{starter.title(self.template)}{where}"


class NewActions(ScriptOperator):
    """Make a text with an action of your own to change, which Act can show beside those of the repertoire"""

    bl_idname = "troupe.new_actions"
    bl_label = "Add Starter Actions"

    def act(self, context: bpy.types.Context, actor: Any) -> str:
        text = bpy.data.texts.new("Actions")
        text.from_string(EXAMPLE.read_text(encoding="utf-8"))
        for ob in scene.selected_armatures(context):
            ob.troupe.act.sheet = text.name
        show_text(text)
        return f"{text.name}: change the numbers, then choose its actions by name in Act"


def script_of(operator: Any, context: bpy.types.Context) -> str:
    """The script that an operator is for: its own, the one in the text editor, the actor's, or that of the scene."""
    if operator.script:
        return str(operator.script)
    space = context.space_data
    if space is not None and space.type == "TEXT_EDITOR" and space.text is not None:
        return str(space.text.name)
    actor = next(iter(scene.selected_armatures(context)), None)
    own = str(actor.troupe.play.script) if actor is not None else ""
    return own or str(context.scene.troupe.script)


def script_property() -> Any:
    """The property of an operator that names a script."""
    return bpy.props.StringProperty(
        name="Script", description="Text with the script; empty for that of the actor, or of the scene"
    )


def show_text(text: Any) -> list[Any]:
    """Show a text in every workspace that has a text editor, and return their screens.

    An editor that showed nothing yet is made ready for writing: its sidebar open, long lines wrapped. Where one shows
    the text already, the others are left alone.
    """
    found = []
    for screen in bpy.data.screens:
        spaces = [area.spaces.active for area in screen.areas if area.type == "TEXT_EDITOR"]
        for space in spaces if text not in [s.text for s in spaces] else ():
            if space.text is None:
                space.show_region_ui = space.show_word_wrap = True
            space.text = text
        found += [screen] if spaces else []
    return found


class CheckScript(ScriptOperator):
    """Read a script without playing it; where it has a mistake, say what is wrong and put the cursor there"""

    bl_idname = "troupe.check_script"
    bl_label = "Check Script"
    script: script_property()  # type: ignore[valid-type]

    def act(self, context: bpy.types.Context, actor: Any) -> str:
        name = script_of(self, context)
        try:
            found = check(context, name)
        except FormatError as error:
            text = bpy.data.texts.get(name)
            if text is None:
                raise
            line = min(max(error.line - 1, 0), len(text.lines) - 1)
            text.cursor_set(line, character=min(max(error.column - 1, 0), len(text.lines[line].body)))
            show_text(text)
            raise
        people = ", ".join(found.actors) or "whoever is selected"
        return f"{name} can be played by {people}"


_names: list[tuple[str, str, str]] = []
"""Blender keeps no copy of the items of a list that is made when it is asked for."""


def _doings(_self: Any, _context: bpy.types.Context | None) -> list[tuple[str, str, str]]:
    from ...core.acting.act import GROUPS, names_of
    from ...core.acting.mind.verbs import NAMES

    if not _names:
        _names.extend((name, f"{name}   ({group})", group) for group in GROUPS for name in names_of(group))
        _names.extend((name, f"{name}   (everybody can)", "Everybody can") for name in NAMES)
    return _names


class InsertName(ScriptOperator):
    """Put the name of an action, or of something that every actor knows how to do, into the text at its cursor"""

    bl_idname = "troupe.insert_name"
    bl_label = "Insert Name"
    bl_property = "what"
    what: bpy.props.EnumProperty(name="Name", description="What an actor shall do", items=_doings)  # type: ignore[valid-type]

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        space = context.space_data
        there = space is not None and space.type == "TEXT_EDITOR" and space.text is not None
        return None if there else "Open a script in a Text Editor first"

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        context.window_manager.invoke_search_popup(self)
        return {"RUNNING_MODAL"}

    def act(self, context: bpy.types.Context, actor: Any) -> str:
        space: Any = context.space_data
        text, name = space.text, f'"{self.what}"'
        ends = (
            (text.current_line_index, text.current_character),
            (text.select_end_line_index, text.select_end_character),
        )
        line, column = min(ends)
        text.write(name)
        # Blender leaves the cursor at the end of the text
        text.cursor_set(line, character=column + len(name))
        return f"{self.what} is in line {line + 1}"


class TROUPE_PT_script(bpy.types.Panel):
    """What a writer needs beside a script, in the sidebar of the text editor."""

    bl_label = "Script"
    bl_space_type = "TEXT_EDITOR"
    bl_region_type = "UI"
    bl_category = "Troupe"

    def draw(self, context: bpy.types.Context) -> None:
        from .. import live
        from .panels import wrapped
        from .play import Operator

        column = self.layout.column(align=True)
        column.operator("troupe.new_script", icon="ADD")
        column.operator("troupe.insert_name", icon="OUTLINER_OB_ARMATURE")
        column.operator("troupe.check_script", icon="CHECKMARK")
        self.layout.operator("troupe.bring_on", text="Bring On Cast", icon="COMMUNITY")
        column = self.layout.column(align=True)
        if live.running() is not None:
            column.operator("troupe.play_live", text="Stop and Bake", icon="REC", depress=True)
            return
        problem = Operator.why_not(context)
        text, actor = context.space_data.text, next(iter(scene.selected_armatures(context)), None)
        if problem is None and text is not None and actor is not None and actor.troupe.play.script != text.name:
            problem = f"{actor.name} has another script: bring on the cast of this one"
        column.enabled = problem is None
        column.operator("troupe.play", icon="OUTLINER_OB_SPEAKER")
        column.operator("troupe.play_live", icon="PLAY")
        if problem is not None:
            wrapped(self.layout, problem, 20)


CLASSES: tuple[type, ...] = (NewScript, NewActions, CheckScript, InsertName, TROUPE_PT_script)
