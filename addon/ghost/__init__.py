"""A ghost in the viewport: the motion that a button would bake with the present settings, drawn without any key.

One ghost at a time. It is made anew a moment after a setting of its feature has changed, by the steps that the button
takes up to its keys. Where a feature has a draft, the ghost follows its sliders with that and is made anew when they
rest.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ...core.errors import InvalidParam, TroupeError
from .. import draw, scene
from . import plans
from .figure import Figure, figure_of
from .live import Live

DELAY, PATIENCE = 0.02, 1.0
"""Changes are gathered for this long, or as long as the ghost took last, up to the second [s]."""
REST = 0.3
"""A slider rests when it has not moved for this long [s]."""
HIDDEN = 0.2
"""How much of the colour is left behind other things."""


@dataclass(eq=False)
class Ghost:
    """The one that is shown.

    Attributes:
        actor: Name of the armature object.
        feature: Whose settings it shows.
        plan: What the button would write, without its keys; None until it is made.
        figure: What is drawn; None until it is made, or where it cannot be.
        problem: Why it cannot, in a sentence.
        live: What follows the sliders of an edit; None where there is nothing.
        took: How long it took to make last [s].
    """

    actor: str
    feature: str
    plan: Any = None
    figure: Figure | None = None
    problem: str = ""
    live: Live | None = None
    took: float = 0.0


_now: Ghost | None = None
_handles: list[Any] = []


def current() -> Ghost | None:
    """The ghost; None when there is none, or its actor is gone."""
    return _now if _now is not None and bpy.data.objects.get(_now.actor) is not None else None


def shows(actor: Any, feature: str) -> bool:
    """Whether the ghost is that of an actor and a feature."""
    return _now is not None and actor is not None and (_now.actor, _now.feature) == (actor.name, feature)


def show(actor: Any, feature: str) -> None:
    """Let the ghost of an actor show the settings of a feature, from a moment later on."""
    global _now
    _now = Ghost(actor.name, feature)
    request()


def clear(actor: Any = None) -> None:
    """Take the ghost away; with an actor only if it is its own."""
    global _now
    if _now is not None and (actor is None or actor.name == _now.actor):
        _now = None
        _stop(tick, settle)
        _redraw()


def words(context: bpy.types.Context, actor: Any, feature: str) -> str:
    """What the panel of a feature says about its ghost: its frames, or why there is none."""
    if _now is None or not shows(actor, feature) or (_now.plan is None and not _now.problem):
        return ""
    if _now.problem:
        return _now.problem
    frames, frame = _now.plan.keys.frames, context.scene.frame_current
    told = f"Ghost: frames {frames[0]:.0f} to {frames[-1]:.0f}"
    return told + (f"; the button starts at frame {frame}" if plans.held(_now.plan, frame) is not None else "")


def changed(group: Any, _context: bpy.types.Context) -> None:
    """A setting was changed: make the ghost anew if it is one of its feature. Called by Blender."""
    ghost = current()
    if ghost is not None and group == getattr(bpy.data.objects[ghost.actor].troupe, ghost.feature, None):
        request()


def request() -> None:
    """Make the ghost anew a moment later, with whatever is set by then."""
    _stop(settle)
    if _now is not None and not bpy.app.timers.is_registered(tick):
        bpy.app.timers.register(tick, first_interval=max(DELAY, min(_now.took, PATIENCE)))


def tick() -> None:
    """Blender's timer: a setting has changed."""
    if follow():
        bpy.app.timers.register(settle, first_interval=REST)
    else:
        refresh()


def settle() -> None:
    """Blender's timer: the sliders rest."""
    refresh()


def follow() -> bool:
    """Let the ghost follow the sliders at once; False where it has to be made anew."""
    ghost = current()
    return ghost is not None and ghost.live is not None and _make(ghost, ghost.live.follow)


def refresh() -> None:
    """Make the ghost at once, as the button would."""
    ghost = current()
    if ghost is None:
        clear()
        return

    def make(context: bpy.types.Context) -> Any:
        plan, ghost.live = plans.keyless(context, ghost.feature, ghost.plan)
        return plan

    _make(ghost, make)


def _make(ghost: Ghost, make: Callable[[bpy.types.Context], Any]) -> bool:
    """Show the plan that `make` gives, if any; what is in the way is kept as text, for a timer has nobody to tell."""
    begun = time.monotonic()
    try:
        with plans.about(bpy.data.objects[ghost.actor]) as context:
            plan = make(context)
            metre = scene.metre(context.scene)
        if plan is None:
            return False
        ghost.figure = figure_of(plan.keys.motion, int(plan.keys.frames[0]), metre, plan.keys.loop)
        ghost.plan, ghost.problem = plan, ""
    except TroupeError as error:
        ghost.figure, ghost.problem, ghost.live = None, str(error), None
    except Exception as error:
        ghost.figure, ghost.problem, ghost.live = None, f"{type(error).__name__}: {error}", None
    ghost.took = time.monotonic() - begun
    _redraw()
    return True


def _stop(*timers: Callable[[], None]) -> None:
    for timer in timers:
        if bpy.app.timers.is_registered(timer):
            bpy.app.timers.unregister(timer)


def _redraw() -> None:
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def _draw() -> None:
    ghost, context = current(), bpy.context
    if ghost is None or ghost.figure is None or not context.space_data.overlay.show_overlays:
        return
    if ghost.actor not in context.view_layer.objects:
        return
    figure = ghost.figure
    pose, trail, falls = figure.pose(context.scene.frame_current_final), figure.trail(), figure.footfalls()
    for depth, part in (("GREATER", HIDDEN), ("LESS_EQUAL", 1.0)):
        draw.lines(falls, 2.0, 0.9 * part, depth)
        draw.lines(trail, 1.5, 0.35 * part, depth)
        draw.lines(pose, 4.0, part, depth)


class Preview(bpy.types.Operator):
    """Show the result of these settings as a ghost, without keys"""

    bl_idname = "troupe.preview"
    bl_label = "Preview"
    bl_options = {"INTERNAL"}  # noqa: RUF012
    feature: bpy.props.StringProperty(name="Feature", description="Whose settings the ghost shows")  # type: ignore[valid-type]

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        from ..features.motions import MotionOperator  # it builds on this module

        problem = MotionOperator.why_not(context)
        if problem:
            cls.poll_message_set(problem)
        return problem is None

    def execute(self, context: bpy.types.Context) -> set[str]:
        from .. import presets
        from ..features.motions import has_preview

        actor = scene.selected_armatures(context)[0]
        if shows(actor, self.feature):
            clear()
            return {"FINISHED"}
        try:
            operator = presets.operator_of(self.feature)
            if not has_preview(operator):
                raise InvalidParam("feature", self.feature, "has no preview")
            problem = operator.why_not(context)
            if problem is not None:
                raise TroupeError(problem)
        except TroupeError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        show(actor, self.feature)
        return {"FINISHED"}


def draw_toggle(layout: bpy.types.UILayout, actor: Any, feature: str) -> None:
    """The button that lets the ghost come and go; made for the row of the feature's own button."""
    layout.operator(Preview.bl_idname, text="", icon="ONIONSKIN_ON", depress=shows(actor, feature)).feature = feature


@persistent
def _loading(*_: Any) -> None:
    clear()


@persistent
def _undone(*_: Any) -> None:
    if current() is None:
        clear()
    else:
        request()


@persistent
def _keys_changed(_scene: Any, depsgraph: bpy.types.Depsgraph) -> None:
    if _now is not None and any(isinstance(update.id, bpy.types.Action) for update in depsgraph.updates):
        _now.live = None


HANDLERS = (
    ("load_pre", _loading),
    ("undo_post", _undone),
    ("redo_post", _undone),
    ("depsgraph_update_post", _keys_changed),
)


def register() -> None:
    """Register the toggle, watch for other files and undone steps, and draw over every 3D viewport."""
    bpy.utils.register_class(Preview)
    for name, handler in HANDLERS:
        getattr(bpy.app.handlers, name).append(handler)
    if not bpy.app.background:
        _handles.append(bpy.types.SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_VIEW"))


def unregister() -> None:
    """Undo `register`; the ghost goes."""
    clear()
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
    for name, handler in HANDLERS:
        getattr(bpy.app.handlers, name).remove(handler)
    bpy.utils.unregister_class(Preview)
