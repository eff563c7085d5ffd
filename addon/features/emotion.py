"""Emotion: whatever an actor does, done with a feeling that comes with Troupe or was learned from two actions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import bpy
import numpy as np
from bpy_extras.io_utils import ExportHelper

from ...core.errors import InvalidParam
from ...core.filters.emotion import EVENT, EmotionParams, FeelingParams, emote
from ...core.filters.feeling import Feeling, extract
from ...core.filters.periods import EVENT as PERIOD
from ...core.filters.periods import periods, with_periods
from ...core.formats import feeling as files
from ...core.kinematics.cast import Cast, read_joints
from ...core.motion import Motion
from ...core.params import declared
from .. import bake, rig, scene, settings
from ..steps import Steps, finish
from .base import ActorOperator, FeatureOperator
from .edit import EditOperator, Source, read_steps, source_of, spoken
from .motions import Plan, Titled

ICON = "HEART"


class Operator(EditOperator):
    """Give what the selected actors do a feeling: its pace and its size, as angry, sad or happy people have them"""

    bl_idname = "troupe.emotion"
    bl_label = "Emotion"
    params = EmotionParams

    @classmethod
    def motion_steps(
        cls, context: bpy.types.Context, actor: Any, cast: Cast, params: EmotionParams, start: bake.Start
    ) -> Steps[Titled]:
        assert isinstance(start, Source)
        before = yield from read_steps(actor, cast, context, start)
        before = marked_periods(before, context, start.frames)
        after = yield from cls.edit_steps(context, actor, cast, before, params)
        return replace(after, mask=spoken(actor, before, after, params)), cls.title(params)

    @classmethod
    def edit_steps(
        cls, context: bpy.types.Context, actor: Any, cast: Cast, motion: Motion, params: EmotionParams
    ) -> Steps[Motion]:
        feeling = yield from feeling_steps(context, actor, cast, params)
        return emote(motion, feeling, params)

    @classmethod
    def title(cls, params: EmotionParams) -> str:
        return _name(params)

    def apply(self, context: bpy.types.Context, actor: Any, result: Plan) -> str:
        done = super().apply(context, actor, result)
        told = [e.data["notes"] for e in result.keys.motion.events if e.name == EVENT]
        return f"{done}; {'; '.join(told[-1])}" if told else done


def _name(params: EmotionParams) -> str:
    if params.file:
        return bpy.path.display_name_from_filepath(params.file)
    return params.emotional or params.emotion


def feeling_steps(context: bpy.types.Context, actor: Any, cast: Cast, params: EmotionParams) -> Steps[Feeling]:
    """Steps to the feeling that the parameters name: a file, two actions, or one that comes with Troupe."""
    if params.file:
        return files.read(params.file)
    if not (params.neutral or params.emotional):
        return files.shipped(params.emotion)
    both = []
    for name in ("neutral", "emotional"):
        action = bpy.data.actions.get(getattr(params, name))
        if action is None:
            raise InvalidParam(name, getattr(params, name), "no action of that name in this file")
        times, fps = bake.sample_times(actor, context.scene, action)
        matrices = yield from bake.joint_matrices_steps(actor, cast, context, times, action)
        motion = Motion(cast.skeleton, fps, *read_joints(cast, matrices))
        both.append(motion)
    return extract(both[0], both[1], params.emotional, params.effector, params.period)


def marked_periods(motion: Motion, context: bpy.types.Context, frames: tuple[int, int]) -> Motion:
    """The motion with its periods where the markers of the timeline say; as it is where there are none."""
    found = [m.frame - frames[0] for m in context.scene.timeline_markers if m.name.startswith(PERIOD)]
    inside = [k for k in found if 0 <= k <= frames[1] - frames[0]]
    return with_periods(motion, np.array(inside)) if inside else motion


class _EmotionOperator(ActorOperator):
    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        return Operator.why_not(context)


class MarkPeriods(_EmotionOperator):
    """Put markers on the timeline where the basic periods of the animation begin and end, to be moved by hand"""

    bl_idname = "troupe.mark_periods"
    bl_label = "Mark Periods"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def act(self, context: bpy.types.Context, actor: Any) -> str:
        source = source_of(actor, None)
        motion = finish(read_steps(actor, rig.read(actor, context), context, source))
        found = periods(motion, settings.params_from(actor.troupe.emotion, EmotionParams).effector)
        markers = context.scene.timeline_markers
        for marker in [m for m in markers if m.name.startswith(PERIOD)]:
            markers.remove(marker)
        for sample in found.tolist():
            markers.new(PERIOD, frame=source.frames[0] + sample)
        return f"{actor.name}: {len(found) - 1} periods marked"


class SaveFeeling(FeatureOperator, ExportHelper):
    """Save the feeling that these settings name, or learn from two actions, as a file to be used on other actors"""

    bl_idname = "troupe.save_feeling"
    bl_label = "Save Feeling"
    bl_options: ClassVar[set[str]] = {"REGISTER"}
    params = FeelingParams
    sidebar = False
    has_presets = False
    filename_ext = ".json"

    def actors(self, context: bpy.types.Context) -> list[Any]:
        return scene.selected_armatures(context)[:1]

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """The button saves what the sidebar says; it asks for the file alone."""
        group = self.actors(context)[0].troupe.emotion
        for p in (p for p in declared(FeelingParams) if p.name != "filepath"):
            setattr(self, p.name, getattr(group, p.name))
        self.filepath = f"{_name(settings.params_from(group, EmotionParams))}.json"
        answer: set[str] = ExportHelper.invoke(self, context, event)
        return answer

    def compute_steps(self, context: bpy.types.Context, actor: Any, params: FeelingParams) -> Steps[Any]:
        if not params.filepath:
            raise InvalidParam("filepath", "", "choose the file to write")
        known = {p.name: getattr(params, p.name) for p in declared(FeelingParams) if p.name != "filepath"}
        feeling = yield from feeling_steps(context, actor, rig.read(actor, context), EmotionParams(**known))
        return params, feeling

    def apply(self, context: bpy.types.Context, actor: Any, result: tuple[FeelingParams, Feeling]) -> str:
        params, feeling = result
        files.write(params.filepath, feeling)
        actor.troupe.emotion.file = params.filepath
        return f"{feeling.name or params.emotion} saved: " + ", ".join((*feeling.notes, f"tempo {feeling.tempo:.2f}"))


CLASSES = (MarkPeriods, SaveFeeling)


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, actor: Any) -> None:
    """What can be done besides."""
    row = layout.row(align=True)
    row.operator("troupe.mark_periods", icon="MARKER_HLT")
    row.operator("troupe.save_feeling", icon="FILE_TICK")
