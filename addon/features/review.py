"""What came of the last way an actor found: a report, a check of every frame, and what to show of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...core.errors import TroupeError
from ...core.kinematics import base
from ...core.kinematics.cast import read_joints
from ...core.motion import Motion
from .. import bake, rig, scene, trace
from ..settings import NAVIGATION_SHOWN
from ..steps import finish
from .base import ActorOperator
from .panels import TAB
from .scripting import show_text

if TYPE_CHECKING:
    from ...core.planning.walkers.verify import Offence

MARK = "collision"
"""How timeline markers of offences begin."""


def _why_no_way(context: bpy.types.Context) -> str | None:
    actor = next(iter(scene.selected_armatures(context)), None)
    if context.mode not in {"OBJECT", "POSE"}:
        return "Go to Object or Pose Mode first"
    if actor is None or not rig.is_cast(actor):
        return "Select the rig of a character first"
    return None if bake.results_of(actor) else "This actor has no results yet: make it do something first"


class Verify(ActorOperator):
    """Check every frame and half frame of the chosen result against the scene and other actors, and mark collisions"""

    bl_idname = "troupe.verify"
    bl_label = "Verify"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        return _why_no_way(context)

    def act(self, context: bpy.types.Context, actor: Any) -> str:
        found = bake.results_of(actor)
        action = next((f.action for f in found if f.action.name == actor.troupe.result), found[-1].action)
        first, last = (round(x) for x in action.frame_range)
        offences = finish(verify_steps(context, actor, first, last))
        marks = mark(context, actor, offences, first)
        checked = 2 * (last - first) + 1
        kept = trace.trace_of(action)
        if kept is not None:
            kept["report"]["offences"] = [vars(o) for o in offences]
            kept["report"]["checks"] = checked
            trace.keep(actor, action, kept)
        if not offences:
            return f"{actor.name}: {checked} frames and half frames checked, no collisions"
        rate = scene.fps(context.scene)
        worst = max(offences, key=lambda o: o.depth)
        return (
            f"{actor.name}: {checked} frames and half frames checked, {marks} collisions marked; the worst with "
            f"{worst.other} at frame {first + worst.time * rate:.1f}, {100 * worst.depth:.1f} cm deep"
        )


def verify_steps(context: bpy.types.Context, actor: Any, first: int, last: int) -> Any:
    """Steps to everything that an actor runs into from frame to frame, halves included."""
    from ...core.planning.walkers.similar import size_of
    from ...core.planning.walkers.verify import verify_bodies
    from ...core.planning.ways.footing import with_footing

    frames = np.arange(2 * (last - first) + 1) / 2.0 + first
    cast, rate = rig.read(actor, context), 2.0 * scene.fps(context.scene)
    matrices = yield from bake.joint_matrices_steps(actor, cast, context, frames)
    body = base.based(Motion(cast.skeleton, rate, *read_joints(cast, matrices)))
    world = yield from scene.read_world_steps(context, None, (), frames)
    guests = yield from scene.read_guests_steps(context, [actor], frames)
    assert body.base is not None
    feet = np.column_stack([body.base[:1, :2], [bake.ground_of(actor, cast, context, body)]])
    world = with_footing(world, feet, 0.35 * size_of(cast.skeleton))
    return verify_bodies(actor.name, body, world, guests)


def mark(context: bpy.types.Context, actor: Any, offences: tuple[Offence, ...], first: int) -> int:
    """Put a marker where each collision begins, in place of those of an earlier check; returns how many."""
    markers, rate = context.scene.timeline_markers, scene.fps(context.scene)
    for old in [m for m in markers if m.name.startswith(f"{MARK}: {actor.name} ")]:
        markers.remove(old)
    last: dict[str, float] = {}
    count = 0
    for offence in offences:
        if offence.time - last.get(offence.other, -np.inf) > 0.25:
            markers.new(f"{MARK}: {actor.name} - {offence.other}", frame=round(first + offence.time * rate))
            count += 1
        last[offence.other] = offence.time
    return count


class ShowTranscript(ActorOperator):
    """Show every decision of this actor, with its time and reason, in a text editor"""

    bl_idname = "troupe.show_transcript"
    bl_label = "Transcript"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        return _why_no_way(context)

    def act(self, context: bpy.types.Context, actor: Any) -> str:
        text = bpy.data.texts.get(f"{actor.name} transcript")
        if text is None:
            raise TroupeError(f"{actor.name} has decided nothing yet: let it go somewhere first")
        where = "in the text editor" if show_text(text) else "open a Text Editor to read it"
        return f"{text.name}: {len(text.lines) - 1} lines, {where}"


class TROUPE_PT_way(bpy.types.Panel):
    """What came of the way that the chosen result found."""

    bl_label = "Last Way"
    bl_parent_id = "TROUPE_PT_family_go"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = TAB
    bl_order = 100

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return _why_no_way(context) is None

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        actor = scene.selected_armatures(context)[0]
        found = trace.last_trace(actor)
        column = layout.column(align=True)
        if found is None:
            column.label(text="No way was found yet")
        else:
            column.label(text=found[0].name, icon="ACTION")
            for line in trace.told(found[1]["report"]):
                column.label(text=line)
        row = layout.row(align=True)
        row.operator(Verify.bl_idname, icon="CHECKMARK")
        row.operator(ShowTranscript.bl_idname, icon="TEXT")
        flow = layout.grid_flow(columns=3, align=True)
        for name, _ in NAVIGATION_SHOWN:
            flow.prop(context.scene.troupe, f"show_{name}", toggle=True)


CLASSES = (Verify, ShowTranscript, TROUPE_PT_way)
