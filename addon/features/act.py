"""Act: an actor shows an action of the repertoire: a stance, gait or dance, gestures over whatever it does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...core.acting.act import ActParams
from ...core.errors import InvalidParam
from ...core.kinematics.cast import Cast
from ...core.motion import Motion
from ...core.params import REPERTOIRE
from ...core.skeleton import Array, Pose
from .. import bake, extend, rig, scene
from ..scene import volumes
from ..steps import Steps
from .base import ActorOperator
from .departure import Departure, departure
from .motions import MotionOperator, Titled

if TYPE_CHECKING:
    from ...core.acting.repertoire.actions import Action
    from ...core.acting.repertoire.tables import Sheet

ICON = "ARMATURE_DATA"
PHASE = "phase"
"""Name of the marker on a recorded cycle where the clock is at zero."""


class Operator(MotionOperator):
    """Let the selected actors show actions of the repertoire: a stance, gait or dance, or gestures over what they do"""

    bl_idname = "troupe.act"
    bl_label = "Act"
    params = ActParams

    @classmethod
    def motion_steps(
        cls, context: bpy.types.Context, actor: Any, cast: Cast, params: ActParams, start: bake.Start
    ) -> Steps[Titled]:
        from ...core.acting.act import act

        rate = scene.fps(context.scene)
        begin = departure(cast, start)
        target = yield from _target_steps(context, params, start.frame, rate)
        if target is not None:
            target = target - (0.0, 0.0, begin.floor)
        clips = recorded(context, actor, cast, params.chosen.values())
        own = [read_text(params.sheet)] if params.sheet else []
        motion = act(cast.skeleton, params, rate, begin.place, lowered(begin), own, clips, target)
        title = " ".join(name.replace("_", " ").lower() for name in params.chosen.values())
        return (raised(begin, motion) if motion.mask is None else motion), title


def lowered(begin: Departure) -> Pose | None:
    """The pose in which an actor stands, as if on a floor at height 0; None where it stands in none."""
    pose = begin.pose
    return None if pose is None else Pose(pose.rotations, pose.root - (0.0, 0.0, begin.floor))


def raised(begin: Departure, motion: Motion) -> Motion:
    """A motion from a floor at height 0 brought to that of an actor."""
    return replace(begin, pose=None).raised(motion)


def _target_steps(context: bpy.types.Context, params: ActParams, frame: int, rate: float) -> Steps[Array | None]:
    if not params.target:
        return None
    ob = context.scene.objects.get(params.target)
    if ob is None:
        raise InvalidParam("target", params.target, "no object of that name in this scene")
    frames = frame + np.arange(round(params.seconds * rate) + 1, dtype=np.float64)
    found = yield from scene.read_tracks_steps(context, [ob], frames)
    return found[ob.name].points


def read_text(name: str) -> Sheet:
    """The actions in a text of the file; an error names its line and column."""
    from ...core.acting.repertoire.tables import read_sheet

    text = bpy.data.texts.get(name)
    if text is None:
        raise InvalidParam("sheet", name, "no text of that name in this file")
    return read_sheet(text.as_string(), name, extend.signals())


def recorded(context: bpy.types.Context, actor: Any, cast: Cast, names: Iterable[str]) -> tuple[Action, ...]:
    """Blender actions of these names as actions of the repertoire, where it has none of the name.

    The manual frame range of an action is its cycle when it is cyclic, else it plays once; a marker on the action
    called "phase" is where the clock is at zero.
    """
    from ...core.acting.act import GROUPS, names_of
    from ...core.acting.repertoire.clips import action_of_motion
    from ...core.acting.repertoire.library import canonical

    known = {canonical(name) for group in GROUPS for name in names_of(group)}
    found = []
    for name in dict.fromkeys(names):
        action = bpy.data.actions.get(name)
        if action is None or canonical(name) in known:
            continue
        motion = bake.read(actor, cast, context, action=action)
        first = round(action.frame_range[0])
        begin, end = 0, len(motion)
        if action.use_frame_range:
            begin, end = int(action.frame_start) - first, int(action.frame_end) - first + (not action.use_cyclic)
        mark = next((m.frame - first for m in action.pose_markers if m.name.lower() == PHASE), None)
        zero = {"phase_zero": mark} if mark is not None and action.use_cyclic else {}
        made = action_of_motion(name, motion, loop=bool(action.use_cyclic), start=begin, end=end, **zero)
        found.append(made)
    return tuple(found)


class Show(ActorOperator):
    """Choose this action for the actor in the sidebar, or let it go again"""

    bl_idname = "troupe.choose_action"
    bl_label = "Choose Action"
    group: bpy.props.StringProperty(name="Group", description="Which part of the repertoire: stance, gesture, head")  # type: ignore[valid-type]
    action: bpy.props.StringProperty(name="Action", description="Name of the action; empty for none")  # type: ignore[valid-type]

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        return Operator.why_not(context)

    def act(self, context: bpy.types.Context, actor: Any) -> str:
        if self.group not in REPERTOIRE:
            raise InvalidParam("group", self.group, f"must be one of {', '.join(REPERTOIRE)}")
        setattr(actor.troupe.act, self.group, self.action)
        return f"{actor.name}: {self.group} {self.action or 'none'}"


class SlideVolume(ActorOperator):
    """Let the selected meshes on bones of the actor slide down them as the joints bend backward, to keep their shape"""

    bl_idname = "troupe.slide_volume"
    bl_label = "Slide Volumes"
    slide: bpy.props.FloatProperty(  # type: ignore[valid-type]
        name="Slide", description="How far they go for each radian of bend", default=0.08, unit="LENGTH"
    )

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        return Operator.why_not(context)

    def act(self, context: bpy.types.Context, actor: Any) -> str:
        meshes = [o for o in context.selected_objects if o.type == "MESH" and o.parent_type == "BONE"]
        if not meshes:
            raise InvalidParam("volume", actor.name, "select the meshes too; each must be parented to a bone")
        cast = rig.read(actor, context)
        for mesh in meshes:
            volumes.slide(actor, cast, mesh, self.slide)
        return f"{actor.name}: {', '.join(m.name for m in meshes)} slide along their bones"


def draw(layout: bpy.types.UILayout, _context: bpy.types.Context, _actor: Any) -> None:
    """Actions of one's own."""
    layout.operator("troupe.new_actions", icon="ADD")


CLASSES = (Show, SlideVolume)
