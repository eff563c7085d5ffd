"""Clean-up: what recorded motion needs before anything else, one task at a time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import bpy
import numpy as np

from ...core.errors import InvalidParam, TroupeError
from ...core.filters.cleanup import CHANGED, SETTINGS, CleanupParams, cleanup
from ...core.filters.contacts import ContactParams, contacts
from ...core.filters.intervals import intervals_of
from ...core.kinematics.cast import Cast
from ...core.motion import Motion
from ...core.params import declared
from .. import rig, scene, settings
from ..steps import Steps, finish
from .base import ActorOperator
from .edit import EditOperator, read_steps, source_of
from .motions import Plan

ICON = "BRUSH_DATA"
NEW_CONTACT = 0.25
"""How long a contact is that was just added [s]."""


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
            own.intervals = _text(rows)
        self.report({"INFO"}, f"{sum(len(rows) for _, rows in found)} contacts found")
        return {"FINISHED"}


class EditContact(ActorOperator):
    """Change a contact in the list at the frame where you are, take it away, or add one"""

    bl_idname = "troupe.edit_contact"
    bl_label = "Edit Contact"
    index: bpy.props.IntProperty(name="Contact", description="Number of the contact in the list, from 0", min=0)  # type: ignore[valid-type]
    change: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Change",
        description="What is done, at the frame where you are",
        items=(
            ("begin", "Begin Here", "Let the contact begin at this frame"),
            ("end", "End Here", "Let the contact end at this frame"),
            ("remove", "Remove", "Take the contact out of the list"),
            ("add_left", "Add Left", "Plant the left foot for a quarter of a second from this frame on"),
            ("add_right", "Add Right", "Plant the right foot for a quarter of a second from this frame on"),
        ),
    )

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        return Operator.why_not(context)

    def act(self, context: bpy.types.Context, actor: Any) -> str:
        own = actor.troupe.cleanup
        rows = [list(row) for row in settings.params_from(own, CleanupParams).intervals]
        first, last = source_of(actor, None).frames
        rate, frame = scene.fps(context.scene), context.scene.frame_current
        if self.change != "remove" and not first <= frame <= last:
            raise InvalidParam("frame", frame, f"lies outside the animation, frames {first} to {last}")
        here = (frame - first) / rate
        if self.change.startswith("add"):
            end = min(here + NEW_CONTACT, (last - first) / rate)
            rows.append([float(self.change == "add_right"), here, end])
        elif self.index >= len(rows):
            raise InvalidParam("index", self.index, f"there are {len(rows)} contacts in the list")
        elif self.change == "remove":
            del rows[self.index]
        else:
            rows[self.index][1 if self.change == "begin" else 2] = here
        if any(start > end for _, start, end in rows):
            raise InvalidParam("frame", frame, "a contact must begin before it ends")
        own.intervals = _text(rows)
        return f"{actor.name}: {len(rows)} contacts in the list"


CLASSES = (FindContacts, EditContact)


def _text(rows: Iterable[Sequence[float]]) -> str:
    """Contacts as the sidebar holds them, in order of time."""
    return json.dumps([[int(r[0]), round(r[1], 4), round(r[2], 4)] for r in sorted(rows, key=lambda r: (r[1], r[0]))])


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
        draw_contacts(layout, context, actor)


def draw_contacts(layout: bpy.types.UILayout, context: bpy.types.Context, actor: Any) -> None:
    """The contacts by hand, each with what can be done to it at this frame."""
    layout.operator(FindContacts.bl_idname, icon="TRACKER")
    try:
        rows = settings.params_from(actor.troupe.cleanup, CleanupParams).intervals
        first, rate = source_of(actor, None).frames[0], scene.fps(context.scene)
    except TroupeError:  # typed rows that are none, or no animation yet
        return
    column = layout.column(align=True)
    for k, (foot, start, end) in enumerate(rows):
        frames, row = [first + round(t * rate) for t in (start, end)], column.row(align=True)
        jump = row.operator("wm.context_set_int", text=f"{'LR'[int(foot)]}  {frames[0]} to {frames[1]}", icon="TIME")
        jump.data_path, jump.value = "scene.frame_current", frames[0]
        for change, icon in (("begin", "TRIA_RIGHT_BAR"), ("end", "TRIA_LEFT_BAR"), ("remove", "X")):
            button = row.operator(EditContact.bl_idname, text="", icon=icon)
            button.index, button.change = k, change
    row = column.row(align=True)
    for change, text in (("add_left", "Add Left"), ("add_right", "Add Right")):
        row.operator(EditContact.bl_idname, text=text, icon="ADD").change = change
