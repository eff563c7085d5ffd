"""Clean-up: what recorded motion needs before anything else, one task at a time."""

from __future__ import annotations

import json
from typing import Any

import bpy
import numpy as np

from ...core.errors import TroupeError
from ...core.filters.cleanup import CHANGED, SETTINGS, CleanupParams, cleanup
from ...core.filters.contacts import ContactParams, contacts
from ...core.filters.intervals import intervals_of
from ...core.kinematics.cast import Cast
from ...core.motion import Motion
from ...core.params import declared
from .. import rig, scene
from ..steps import Steps, finish
from .base import Plan
from .edit import EditOperator, read_steps, source_of

ICON = "BRUSH_DATA"


class Operator(EditOperator):
    """Put right what the recorded animation of the selected actors suffers from: spikes, gaps, sliding feet, drift"""

    bl_idname = "troupe.cleanup"
    bl_label = "Clean-up"
    params = CleanupParams

    @classmethod
    def edit_steps(
        cls, context: bpy.types.Context, actor: Any, cast: Cast, motion: Motion, params: CleanupParams
    ) -> Steps[Motion]:
        return cleanup(motion, params)
        yield

    @classmethod
    def title(cls, params: CleanupParams) -> str:
        return params.task

    def apply(self, context: bpy.types.Context, actor: Any, result: Plan) -> str:
        return super().apply(context, actor, result) + put_right(result.keys.motion)

    def draw(self, context: bpy.types.Context) -> None:
        """The redo panel: the task with its settings, then everything that belongs to any task."""
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        self.layout.prop(self, "task")
        draw_settings(self.layout, self)
        others = {"task", *(name for names in SETTINGS.values() for name in names)}
        for p in (p for record in self.records() for p in declared(record) if p.name not in others):
            self.layout.prop(self, p.name)


class FindContacts(bpy.types.Operator):
    """Find when the feet of the selected actors are planted, as rows that can be edited before the feet are held"""

    bl_idname = "troupe.find_contacts"
    bl_label = "Find Contacts"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        problem = Operator.why_not(context)
        if problem:
            cls.poll_message_set(problem)
        return problem is None

    def execute(self, context: bpy.types.Context) -> set[str]:
        found = []
        try:
            for actor in scene.selected_armatures(context):
                own, cast = actor.troupe.cleanup, rig.read(actor, context)
                motion = finish(read_steps(actor, cast, context, source_of(actor, None)))
                limits = ContactParams(speed=own.speed, height=own.height, shortest=own.shortest)
                found.append((own, intervals_of(contacts(motion, limits))))
        except TroupeError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        for own, rows in found:
            own.task = "plant"
            own.intervals = json.dumps([[int(foot), round(start, 4), round(end, 4)] for foot, start, end in rows])
        self.report({"INFO"}, f"{sum(len(rows) for _, rows in found)} contacts found")
        return {"FINISHED"}


CLASSES = (FindContacts,)


def put_right(motion: Motion) -> str:
    """How many frames were wrong, as the end of a sentence; empty for tasks that look for none."""
    if CHANGED not in motion.curves:
        return ""
    count = int(np.count_nonzero(motion.curves[CHANGED]))
    return f"; {count} frames put right" if count != 1 else "; 1 frame put right"


def draw_settings(layout: bpy.types.UILayout, owner: Any) -> None:
    """The settings of the chosen task alone."""
    column = layout.column()
    for name in SETTINGS[owner.task]:
        column.prop(owner, name)


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, actor: Any) -> None:
    """The settings of the chosen task, where they are at hand."""
    if actor is None or not rig.is_cast(actor):
        return
    layout.separator()
    draw_settings(layout, actor.troupe.cleanup)
    if actor.troupe.cleanup.task == "plant":
        layout.operator(FindContacts.bl_idname, icon="TRACKER")
