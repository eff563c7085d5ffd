"""Doctor: what is wrong with a rig or its animation, in sentences with numbers and buttons that mend it."""

from __future__ import annotations

import json
import textwrap
from dataclasses import asdict, replace
from typing import Any

import bpy

from ...core.errors import TroupeError
from ...core.filters.doctor import DoctorParams, Finding, examine
from .. import rig, scene, settings
from ..bake import nla
from ..checkup import checkup
from ..remedy import examined, remedy_of
from .base import FeatureOperator

ICON = "CHECKMARK"
FINDINGS = "troupe_findings"
"""Custom property of an actor that holds the findings as JSON: undone and saved with what they speak of."""
UNREADABLE = {"scipy", "nan", "linked", "unusable", "uncast", "lost", "rig", "twice"}
"""Findings with which no motion can be measured."""
NOTES = {"size", "units", "input", "stretch", "muted", "solo"}
"""Findings that may well be meant so."""


class Operator(FeatureOperator):
    """Examine the selected rigs and their animation: sliding feet, floor, joints, jumps, and what hides results"""

    bl_idname = "troupe.doctor"
    bl_label = "Examine"
    params = DoctorParams

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        if context.mode not in {"OBJECT", "POSE"}:
            return "Go to Object or Pose Mode first"
        if scene.selected_armatures(context):
            return None
        chosen = context.active_object
        return "Select the rig of a character first" if chosen is None else rig.check_usable(chosen)

    def compute(self, context: bpy.types.Context, actor: Any, params: DoctorParams) -> list[Finding]:
        return diagnose(actor, context, params)

    def apply(self, context: bpy.types.Context, actor: Any, result: list[Finding]) -> str:
        store(actor, result)
        if not result:
            return f"{actor.name}: nothing wrong found"
        count = "1 finding" if len(result) == 1 else f"{len(result)} findings"
        return f"{actor.name}: {count}. " + ". ".join(f.sentence for f in result)


def diagnose(ob: bpy.types.Object, context: bpy.types.Context, params: DoctorParams) -> list[Finding]:
    """All findings about an actor, times given as frames."""
    found = list(checkup(ob, context))
    if UNREADABLE & {f.kind for f in found} or not nla.animated_paths(ob):
        return found
    try:
        _, motion, times, ground = examined(ob, context)
        moving = examine(motion, params, ground)
    except TroupeError as error:
        return [*found, Finding("rig", str(error), ob.name)]
    return [*found, *(_in_frames(f, motion.fps, times, ob) for f in moving)]


def store(ob: bpy.types.Object, findings: list[Finding]) -> None:
    """Keep findings with the actor."""
    ob[FINDINGS] = json.dumps([asdict(f) for f in findings])


def findings_of(ob: bpy.types.Object | None) -> list[Finding] | None:
    """The findings of the last examination; None when there was none."""
    if ob is None or not isinstance(ob.get(FINDINGS), str):
        return None
    return [Finding(**values) for values in json.loads(ob[FINDINGS])]


def _in_frames(finding: Finding, fps: float, times: Any, ob: bpy.types.Object) -> Finding:
    """The finding with frames for seconds, said in its sentence, and the strip that begins where it jumps."""
    if finding.start is None or finding.end is None:
        return finding
    first, last = (round(float(times[round(t * fps)])) for t in (finding.start, finding.end))
    text = f"{finding.sentence}, frame {first}" if first == last else f"{finding.sentence}, frames {first} to {last}"
    if finding.kind == "jump":
        strips = [s for t in ob.animation_data.nla_tracks if not t.mute for s in t.strips if not s.mute]
        begins = [s.name for s in strips if first <= s.frame_start <= last]
        ends = [s.name for s in strips if first <= s.frame_end <= last]
        if begins or ends:
            text += f", where {begins[0]} begins" if begins else f", where {ends[0]} ends"
    return replace(finding, sentence=text, start=float(first), end=float(last))


class Fix(bpy.types.Operator):
    """Mend what the Doctor found; keys you made stay, and one undo takes it back"""

    bl_idname = "troupe.fix"
    bl_label = "Fix"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    actor: bpy.props.StringProperty(name="Actor", description="Rig to mend; empty for the active one")  # type: ignore[valid-type]
    kind: bpy.props.StringProperty(name="Kind", description="Kind of finding, such as slide or muted")  # type: ignore[valid-type]
    part: bpy.props.StringProperty(name="Part", description="What the finding is about: a role, track or action")  # type: ignore[valid-type]

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        problem = Operator.why_not(context)
        if problem is None and findings_of(scene.selected_armatures(context)[0]) is None:
            problem = "Press Examine first"
        if problem:
            cls.poll_message_set(problem)
        return problem is None

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            ob = bpy.data.objects.get(self.actor) if self.actor else scene.selected_armatures(context)[0]
            if ob is None or ob.type != "ARMATURE":
                raise TroupeError(f"there is no rig {self.actor!r} in this file")
            found = [f for f in findings_of(ob) or () if f.kind == self.kind and self.part in ("", f.part)]
            if not found:
                raise TroupeError(f"{ob.name} has no finding {self.kind!r}: press Examine and choose a fix")
            remedy = remedy_of(self.kind, found[0].part)
            if remedy is None:
                raise TroupeError(f"this has to be mended by hand: {found[0].sentence}")
            done = remedy.act(ob, context, found[0].part)
        except TroupeError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        shown = scene.selected_armatures(context)[0] if self.kind == "linked" else ob
        nla.refresh(shown, context)
        store(shown, diagnose(shown, context, settings.params_from(shown.troupe.doctor, DoctorParams)))
        self.report({"INFO"}, done)
        return {"FINISHED"}


CLASSES = (Fix,)


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, actor: Any) -> None:
    """The findings, each with its remedy and the way to its frame."""
    found = findings_of(actor)
    if found is None:
        return
    if not found:
        layout.label(text="Nothing wrong found", icon="CHECKMARK")
    width = int(context.region.width / (7.5 * context.preferences.system.ui_scale)) - 8 if context.region else 40
    offered = set()
    for finding in found:
        box = layout.box()
        lines = box.column(align=True)
        lines.scale_y = 0.75
        icon = "INFO" if finding.kind in NOTES else "ERROR"
        for i, line in enumerate(textwrap.wrap(finding.sentence, max(width, 24))):
            lines.label(text=line, icon=icon if i == 0 else "BLANK1")
        row = box.row(align=True)
        remedy = remedy_of(finding.kind, finding.part)
        # a remedy of motion mends all findings of its kind at once
        if remedy is not None and not (finding.start is not None and finding.kind in offered):
            offered.add(finding.kind)
            button = row.operator("troupe.fix", text=remedy.label, icon=remedy.icon)
            button.actor, button.kind, button.part = actor.name, finding.kind, finding.part
        if finding.start is not None:
            jump = row.operator("wm.context_set_int", text=f"Frame {finding.start:.0f}", icon="TIME")
            jump.data_path, jump.value = "scene.frame_current", int(finding.start)
