"""Moods: the numbers that a script reads of its actors, as sliders that can be keyed and as buttons while they play."""

from __future__ import annotations

from typing import Any

import bpy

from ...core.errors import TroupeError
from .. import live, rig, scene
from ..scene import parts
from .scripting import ScriptOperator, check, script_of, script_property

MOODS = 8
"""How many of an actor's properties have a slider in the sidebar."""
STEP = 0.1
"""By how much a mood is changed by a button."""


class AddMoods(ScriptOperator):
    """Give the selected actors the moods that the script gives them, to be set and keyed here instead of there"""

    bl_idname = "troupe.add_moods"
    bl_label = "Moods of the Script"
    script: script_property()  # type: ignore[valid-type]

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        from .play import Operator

        return Operator.why_not(context)

    def act(self, context: bpy.types.Context, actor: Any) -> str:
        from ...core.acting.direction import assigned

        script = check(context, script_of(self, context))
        chosen = {ob.name: ob for ob in scene.selected_armatures(context)}
        names = assigned(actor.troupe.play.parts, list(script.actors), sorted(chosen))
        count = 0
        for name, ob in chosen.items():
            for mood, value in script.moods.get(names[name], {}).items():
                if mood in ob:
                    continue
                ob[mood] = value
                ob.id_properties_ui(mood).update(soft_min=0.0, soft_max=1.0, description=f"Mood of {names[name]}")
                count += 1
        if not count:
            raise TroupeError("the script gives these actors no moods that they do not have: write some, as courage .6")
        return f"{count} moods can be set and keyed"


def draw_moods(layout: bpy.types.UILayout, actor: Any) -> None:
    """Sliders of the properties that scripts read from an actor."""
    if actor is None or not rig.is_cast(actor):
        return
    header, body = layout.panel("TROUPE_moods", default_closed=False)
    header.label(text=f"Moods of {actor.name}")
    if body is None:
        return
    body.use_property_split = body.use_property_decorate = True
    for key in list(parts.properties_of(actor))[:MOODS]:
        body.prop(actor, f'["{bpy.utils.escape_identifier(key)}"]', text=key)
    body.operator(AddMoods.bl_idname, icon="ADD")


def draw_live_moods(layout: bpy.types.UILayout, session: live.Session, part: str) -> None:
    """Buttons that raise and lower the moods of who plays live."""
    for mood, value in session.moods(part)[:MOODS]:
        row = layout.row(align=True)
        row.label(text=f"{' toward '.join(mood)} {value:.2g}")
        what = " toward ".join(f'"{word}"' for word in mood)
        for icon, change in (("REMOVE", -STEP), ("ADD", STEP)):
            row.operator("troupe.direct", text="", icon=icon).say = f"{part} set my {what} to {value + change:.2g}"


CLASSES: tuple[type, ...] = (AddMoods,)
