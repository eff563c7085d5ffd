"""Directing a play live: begin it, tell everybody what to do while it goes on, and bake what came of it."""

from __future__ import annotations

from typing import Any

import bpy

from ...core.errors import TroupeError
from ...core.landing import LandingParams
from .. import live, rig, scene, settings
from ..scene import parts
from .scripting import ScriptOperator, mode_problem, write_text

MOODS = 6
"""How many of an actor's properties have a slider in the sidebar."""


class Live(ScriptOperator):
    """Let the selected actors play live while the timeline runs, without keys; press again to bake what they did"""

    bl_idname = "troupe.play_live"
    bl_label = "Play Live"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        if live.running() is not None:
            return mode_problem(context)
        from .play import Operator

        return Operator.why_not(context)

    def act(self, context: bpy.types.Context, actor: Any) -> str:
        session = live.running()
        if session is None:
            chosen = scene.selected_armatures(context)
            session = live.begin(context, chosen)
            if not bpy.app.background and context.screen is not None and not context.screen.is_animation_playing:
                bpy.ops.screen.animation_play()
            return f"{session.script} is played live by {', '.join(ob.name for ob in chosen)}; press again to bake"
        if not bpy.app.background and context.screen is not None and context.screen.is_animation_playing:
            bpy.ops.screen.animation_cancel(restore_frame=False)
        return bake_live(context, session)


def bake_live(context: bpy.types.Context, session: live.Session) -> str:
    """End a live session, keep its directions and bake what was played."""
    from ...core.acting.direction import write_directions

    seconds, said = session.time, list(session.said)
    names, first = session.actors, session.first
    live.end()
    if seconds <= 0.0:
        raise TroupeError("nothing was played: let the timeline run, then press again")
    present = [context.scene.objects[n] for n in names if n in context.scene.objects]
    for ob in context.view_layer.objects:
        ob.select_set(ob in present)
    context.view_layer.objects.active = present[0]
    params = session.params
    text = write_text(f"{params.script} directions", write_directions(said)) if said else None
    frame = context.scene.frame_current
    context.scene.frame_set(first)
    landing = settings.params_from(present[0].troupe.play, LandingParams).to_dict()
    values = {**landing, **params.to_dict(), "seconds": seconds, "directions": text.name if text else ""}
    answer = bpy.ops.troupe.play(**values)
    context.scene.frame_set(frame)
    if "FINISHED" not in answer:
        raise TroupeError("what was played could not be baked; see the messages before")
    return f"{len(present)} actors baked, {seconds:.1f} s with {len(said)} directions"


class Direct(ScriptOperator):
    """Give this direction to the actors that play live; its time is recorded with it"""

    bl_idname = "troupe.direct"
    bl_label = "Direct"
    say: bpy.props.StringProperty(name="Direction", description='What to do: "Izzy Wave right", "Otto walk to door"')  # type: ignore[valid-type]

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        return mode_problem(context) or (None if live.running() else "Press Play Live first")

    def act(self, context: bpy.types.Context, actor: Any) -> str:
        session = live.running()
        assert session is not None
        problem = session.direct(self.say)
        if problem:
            raise TroupeError(problem)
        return f"{session.time:.2f} s: {self.say}"


CLASSES: tuple[type, ...] = (Live, Direct)


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, actor: Any) -> None:
    """Tools of the script, and what the cast can be told while it plays live."""
    row = layout.row(align=True)
    row.operator("troupe.new_script", icon="ADD")
    row.operator("troupe.check_script", icon="CHECKMARK")
    layout.operator("troupe.bring_on", icon="COMMUNITY")
    session = live.running()
    layout.operator("troupe.play_live", icon="REC" if session else "PLAY", depress=session is not None)
    if session is None:
        if actor is not None and rig.is_cast(actor):
            _draw_moods(layout, actor)
        return
    if session.problem:
        layout.label(text=session.problem, icon="ERROR")
    for name in session.parts:
        header, body = layout.panel(f"TROUPE_direct_{name}", default_closed=False)
        header.label(text=name)
        if body is None:
            continue
        for group, actions in session.choices(name):
            body.label(text=group)
            grid = body.grid_flow(row_major=True, columns=2, align=True)
            for action, shown in actions:
                grid.operator("troupe.direct", text=action, depress=shown).say = f"{name} {action}"
    for label in session.play.widgets:
        layout.operator("troupe.direct", text=label).say = f"press {label}"


def _draw_moods(layout: bpy.types.UILayout, actor: Any) -> None:
    """Sliders of the properties that scripts read from an actor."""
    for key in list(parts.properties_of(actor))[:MOODS]:
        layout.prop(actor, f'["{bpy.utils.escape_identifier(key)}"]', text=key)
