"""Displace: the pose on screen taken into the animation at this frame, coming and going smoothly around it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ...core.errors import InvalidParam, TroupeError
from ...core.filters.displace import DisplaceParams, Offsets, displace, from_text, offsets, to_text
from ...core.kinematics.cast import Cast, read_joints
from ...core.landing import LandingParams
from ...core.maths import quat
from ...core.motion import Motion
from ...core.skeleton import Pose
from .. import bake, rig, scene, settings
from ..bake import results
from ..steps import Steps, finish
from .base import ActorOperator
from .edit import EditOperator, Source, below, read_steps, source_of, spoken
from .motions import Plan, Titled

ICON = "POSE_HLT"
POSED = 1e-3
"""Turn of a joint from what plays that counts as posed by hand [rad]; of the hips' place, in leg lengths."""


class Operator(EditOperator):
    """Take the pose on screen into the animation at this frame; around it the change comes and goes smoothly"""

    bl_idname = "troupe.displace"
    bl_label = "Displace"
    params = DisplaceParams
    has_presets = False
    pose: str  # set below, for the properties are those of the parameters

    def actors(self, context: bpy.types.Context) -> list[Any]:
        return scene.selected_armatures(context)[:1]

    def compute_steps(self, context: bpy.types.Context, actor: Any, params: DisplaceParams) -> Steps[Any]:
        cast = rig.read(actor, context)
        # the pose is gone as soon as the frame is evaluated again, as a redo does
        self.pose = self.pose or _to_text(bake.pose_here(actor, cast, context), context.scene.frame_current)
        frame, shown = _from_text(self.pose, cast)
        own = _open_pass(actor)
        start = _recipe(own)["start"] if own is not None else None
        listed = actor.troupe.displace.edits
        kept = params.edits or listed
        # poses that the sidebar still lists of a displacement that is gone, or closed, do not come again
        if own is None and kept == listed:
            kept = ""
        edits = from_text(cast.skeleton, kept)
        played = _at(actor, cast, context, frame)
        if _differs(played, shown):
            source = source_of(actor, start)
            first, last = source.frames
            if not first <= frame <= last:
                raise InvalidParam("frame", frame, f"lies outside the animation, frames {first} to {last}")
            with below(actor, context.scene, own, source.active):
                before = _at(actor, cast, context, frame)
            edits[(frame - first) / scene.fps(context.scene)] = _posed(before, shown)
        elif not edits:
            raise TroupeError(_nothing(actor, frame, context))
        params = replace(params, edits=to_text(cast.skeleton, edits))
        self.edits = params.edits
        plan = yield from self.plan_steps(context, actor, params, settings.params_from(self, LandingParams), start)
        return own, plan

    @classmethod
    def motion_steps(
        cls, context: bpy.types.Context, actor: Any, cast: Cast, params: DisplaceParams, start: bake.Start
    ) -> Steps[Titled]:
        assert isinstance(start, Source)
        before = yield from read_steps(actor, cast, context, start)
        edits = {}
        for time, edit in from_text(cast.skeleton, params.edits).items():
            sample = round(time * before.fps)
            edits[sample % len(before) if before.loop else sample] = edit
        if not edits:
            raise InvalidParam("edits", "", "no poses yet: pose the actor at a frame and press Displace")
        after = displace(before, edits, params)
        yield 1.0
        touched = np.any([np.any(e.turns, axis=-1) for e in edits.values()], axis=0)
        touched[0] |= any(e.root.any() for e in edits.values())
        named = replace(params, joints=", ".join(np.array(cast.skeleton.names)[touched]))
        return replace(after, mask=spoken(actor, before, after, named)), "displaced"

    def apply(self, context: bpy.types.Context, actor: Any, result: Any) -> str:
        own, plan = result
        if own is None:
            return super().apply(context, actor, plan)
        done = bake.rewrite(actor, own.action, plan.keys, plan.recipe)
        actor.troupe.result = done.action.name
        return f"{actor.name}: {done.action.name}, {_count(plan)}, frames {done.first} to {done.last}"


Operator.__annotations__["pose"] = bpy.props.StringProperty(
    name="Pose", description="The pose to take, as JSON; empty for the one on screen", options={"HIDDEN", "SKIP_SAVE"}
)


def _count(plan: Plan) -> str:
    count = len(json.loads(plan.recipe["params"]["edits"]))
    return "1 pose" if count == 1 else f"{count} poses"


def current_pass(actor: Any) -> results.Found | None:
    """The result that further poses go into: the chosen one, if it is a displacement whose poses the sidebar lists."""
    for found in results.results_of(actor):
        recipe = _recipe(found)
        if found.action.name == actor.troupe.result and recipe.get("feature") == Operator.feature():
            return found if recipe["params"]["edits"] == actor.troupe.displace.edits else None
    return None


def _open_pass(actor: Any) -> results.Found | None:
    """The same, unless its keys were edited by hand: then it is closed, and a new one goes on top."""
    own = current_pass(actor)
    return own if own is not None and not results.is_edited(actor, own.action) else None


def _recipe(found: results.Found) -> dict[str, Any]:
    return results.recipe_of(found.action) or {}


def _at(actor: Any, cast: Cast, context: bpy.types.Context, frame: int) -> Motion:
    """What plays at a frame, as a motion of one sample."""
    matrices = bake.joint_matrices(actor, cast, context, np.array([float(frame)]))
    return Motion(cast.skeleton, scene.fps(context.scene), *read_joints(cast, matrices))


def _differs(played: Motion, shown: Pose) -> bool:
    away = np.abs(shown.root - played.roots[0]).max() / played.skeleton.leg_length()
    return bool(max(float(quat.distance(played.rotations[0], shown.rotations).max()), float(away)) > POSED)


def _posed(before: Motion, shown: Pose) -> Offsets:
    """What a pose adds; what differs by no more than rounding and the eye does not see is left out."""
    edit = offsets(before, 0, shown)
    small = quat.dot(edit.turns, edit.turns) < (POSED / 2) ** 2
    still = np.abs(edit.root).max() < POSED / 2 * before.skeleton.leg_length()
    return Offsets(np.where(small[:, None], 0.0, edit.turns), np.zeros(3) if still else edit.root)


def _nothing(actor: Any, frame: int, context: bpy.types.Context) -> str:
    if context.scene.tool_settings.use_keyframe_insert_auto:
        return f"nothing to take at frame {frame}: Auto Keying has keyed the pose; switch it off, undo and pose again"
    return f"{actor.name} is not posed at frame {frame}: move its bones, set no key, and press Displace"


def _to_text(shown: Motion, frame: int) -> str:
    return json.dumps({"frame": frame, "rotations": shown.rotations[0].tolist(), "root": shown.roots[0].tolist()})


def _from_text(text: str, cast: Cast) -> tuple[int, Pose]:
    try:
        data = json.loads(text)
        frame, pose = int(data["frame"]), Pose(data["rotations"], data["root"])
    except (ValueError, TypeError, KeyError):
        raise InvalidParam("pose", text[:40], "must hold frame, rotations and root") from None
    if len(pose.rotations) != len(cast.skeleton):
        raise InvalidParam("pose", f"{len(pose.rotations)} joints", f"this actor has {len(cast.skeleton)}")
    return frame, pose


class _PassOperator(ActorOperator):
    """Base of the small operators on the poses of the selected actor."""

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        problem = Operator.why_not(context)
        if problem is None and current_pass(scene.selected_armatures(context)[0]) is None:
            problem = "No poses yet: pose the actor and press Displace"
        return problem


class RemovePose(_PassOperator):
    """Take one of the poses out of the displacement again"""

    bl_idname = "troupe.remove_pose"
    bl_label = "Remove Pose"
    index: bpy.props.IntProperty(name="Pose", description="Number of the pose in the list, from 0", min=0)  # type: ignore[valid-type]

    def act(self, context: bpy.types.Context, actor: Any) -> str:
        own, group = _open_pass(actor), actor.troupe.displace
        if own is None:
            raise TroupeError("keys of this displacement were edited by hand and are kept; take the pose out there")
        skeleton = rig.read(actor, context).skeleton
        edits = from_text(skeleton, group.edits)
        if self.index >= len(edits):
            raise InvalidParam("index", self.index, f"must be from 0 to {len(edits) - 1}")
        del edits[sorted(edits)[self.index]]
        if not edits:
            results.remove(actor, own)
            group.edits = actor.troupe.result = ""
            return f"{actor.name}: the last pose is gone, and the displacement with it"
        params = replace(settings.params_from(group, DisplaceParams), edits=to_text(skeleton, edits))
        landing, start = settings.params_from(group, LandingParams), _recipe(own)["start"]
        plan = finish(Operator.plan_steps(context, actor, params, landing, start))
        bake.rewrite(actor, own.action, plan.keys, plan.recipe)
        group.edits = params.edits
        return f"{actor.name}: {own.action.name}, {_count(plan)} left"


class NewPass(_PassOperator):
    """Begin another displacement on top: the next pose starts from everything that plays now"""

    bl_idname = "troupe.new_pass"
    bl_label = "New Pass"

    def act(self, context: bpy.types.Context, actor: Any) -> str:
        actor.troupe.displace.edits = ""
        return f"{actor.name}: the next pose begins a displacement of its own"


CLASSES = (RemovePose, NewPass)


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, actor: Any) -> None:
    """The poses of the present pass, each with the way to its frame."""
    own = current_pass(actor) if actor is not None else None
    if own is None:
        return
    start, rate = _recipe(own)["start"], scene.fps(context.scene)
    column = layout.column(align=True)
    for i, time in enumerate(sorted(row["time"] for row in json.loads(actor.troupe.displace.edits))):
        frame, row = start["frames"][0] + round(time * rate), column.row(align=True)
        jump = row.operator("wm.context_set_int", text=f"Frame {frame}", icon="TIME")
        jump.data_path, jump.value = "scene.frame_current", frame
        row.operator("troupe.remove_pose", text="", icon="X").index = i
    layout.operator("troupe.new_pass", icon="ADD")
