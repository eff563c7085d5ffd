"""Directing a play live: begin it, tell everybody what to do while it goes on, and bake what came of it."""

from __future__ import annotations

from typing import Any

import bpy

from ...core.errors import TroupeError
from ...core.landing import LandingParams
from .. import live, scene, settings
from . import moods
from .panels import wrapped
from .scripting import ScriptOperator, mode_problem, write_text

MANY, CROWD = 12, 2
"""A group of more actions than this is closed until it is opened, and so is everybody but the first of more actors."""


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

    seconds, said = session.reached, list(session.said)
    names, first = session.actors, session.first
    live.end()
    if seconds <= 0.0:
        raise TroupeError("nothing was played: let the timeline run, then press again")
    present = [context.scene.objects[n] for n in names if n in context.scene.objects]
    if not present:
        raise TroupeError(f"nobody of {', '.join(names)} is in the scene any more")
    for ob in context.view_layer.objects:
        ob.select_set(ob in present)
    context.view_layer.objects.active = present[0]
    params = session.params
    text = write_text(f"{params.script} directions", write_directions(said)) if said else None
    frame = context.scene.frame_current
    context.scene.frame_set(first)
    landing = settings.params_from(present[0].troupe.play, LandingParams).to_dict()
    values = {**landing, **params.to_dict(), "seconds": seconds, "directions": text.name if text else ""}
    try:
        bpy.ops.troupe.play(**values)
    except RuntimeError as error:
        raise TroupeError(
            f"what was played could not be baked: {str(error).strip().removeprefix('Error: ')}"
        ) from error
    finally:
        context.scene.frame_set(frame)
    return f"{', '.join(ob.name for ob in present)}: {seconds:.1f} s baked, told {len(said)} times"


class Direct(ScriptOperator):
    """Give this direction to the actors that play live; its time is recorded with it"""

    bl_idname = "troupe.direct"
    bl_label = "Direct"
    # it changes the play and nothing in the file, so there is nothing for an undo step to bring back
    bl_options = {"REGISTER"}  # noqa: RUF012
    say: bpy.props.StringProperty(name="Direction", description='What to do: "Izzy Wave right", "Otto walk to door"')  # type: ignore[valid-type]

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """A button says it; without words one is asked for them."""
        if self.say:
            return self.execute(context)
        answer: set[str] = context.window_manager.invoke_props_dialog(self, width=400)
        return answer

    def draw(self, _context: bpy.types.Context) -> None:
        self.layout.activate_init = True
        self.layout.prop(self, "say", text="", placeholder="Who and what, such as: Ann walk to Bob")

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


class TakeBack(ScriptOperator):
    """Take back the last direction: the play goes on as if it had not been given"""

    bl_idname = "troupe.take_back"
    bl_label = "Take Back"
    bl_options = {"REGISTER"}  # noqa: RUF012

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        session = live.running()
        return Direct.why_not(context) or (None if session and session.said else "No direction has been given yet")

    def act(self, context: bpy.types.Context, actor: Any) -> str:
        session = live.running()
        assert session is not None
        return f"{session.take_back(context)!r} was taken back"


CLASSES: tuple[type, ...] = (Live, Direct, TakeBack)


def draw_first(layout: bpy.types.UILayout, context: bpy.types.Context, actor: Any) -> None:
    """The script and its cast, which come before a play."""
    row = layout.row(align=True)
    row.operator("troupe.new_script", icon="ADD")
    row.operator("troupe.check_script", icon="CHECKMARK")
    if actor is None:
        split = layout.row()
        split.use_property_split, split.use_property_decorate = True, False
        split.prop(context.scene.troupe, "script")
    layout.operator("troupe.bring_on", icon="COMMUNITY")


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, actor: Any) -> None:
    """Playing live, and the moods of the cast."""
    layout.operator("troupe.play_live", icon="PLAY")
    moods.draw_moods(layout, actor)


def draw_instead(layout: bpy.types.UILayout, context: bpy.types.Context) -> bool:
    """What the cast can be told while it plays live; whether it does."""
    session = live.running()
    if session is None:
        return False
    layout.operator("troupe.play_live", text="Stop and Bake", icon="REC", depress=True)
    row = layout.row()
    told = f", told {len(session.said)}" if session.said else ""
    row.label(text=f"{session.script}: {session.time:.1f} s{told}", icon="TIME")
    row.operator("troupe.take_back", text="", icon="LOOP_BACK")
    if session.problem:
        wrapped(layout, session.problem, icon="ERROR")
    layout.operator("troupe.direct", text="Tell...", icon="OUTLINER_OB_SPEAKER").say = ""
    for label in session.play.widgets:
        layout.operator("troupe.direct", text=label).say = f"press {label}"
    for name in session.parts:
        closed = len(session.parts) > CROWD and name != session.parts[0]
        header, body = layout.panel(f"TROUPE_direct_{name}", default_closed=closed)
        header.label(text=name)
        if body is None:
            continue
        moods.draw_live_moods(body, session, name)
        for group, actions in session.choices(name):
            inner, grid = body.panel(f"TROUPE_direct_{name}_{group}", default_closed=len(actions) > MANY)
            now = next((action for action, shown in actions if shown), "")
            inner.label(text=f"{group}: {_spoken(now)}" if now else group)
            if grid is None:
                continue
            flow = grid.grid_flow(row_major=True, columns=2, align=True)
            for action, shown in actions:
                button = flow.operator("troupe.direct", text=_spoken(action), depress=shown)
                button.say = f"{name} {action}"
    return True


def _spoken(name: str) -> str:
    """The name of an action as a button shows it."""
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]
