"""Look: eyes, head and neck turned to objects or other actors, over whatever the body does."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ...core.errors import InvalidParam
from ...core.kinematics.cast import Cast, read_joints
from ...core.kinematics.face import between_eyes
from ...core.kinematics.look import LookParams, look, seconds
from ...core.landing import LandingParams
from ...core.motion import Motion
from ...core.skeleton import SIDES, Array
from .. import bake, rig, scene
from ..bake import controls, results
from ..scene.placement import by_curves
from ..steps import Steps
from .edit import below
from .motions import MotionOperator, Plan, Titled
from .objects import named

ICON = "HIDE_OFF"
LIDS = (
    ("blink", "eyesclosed", "eyesclose", "eyeclose", "fcleyeclose", "vrcblink", "まばたき"),
    ("eyeblinkleft", "eyeblinkl", "blinkleft", "blinkl", "fcleyeclosel", "ウィンク"),
    ("eyeblinkright", "eyeblinkr", "blinkright", "blinkr", "fcleyecloser", "ウィンク右"),
)
"""Names of shape keys that close both eyes, the left one and the right one, as letters alone."""


@dataclass(frozen=True)
class Onset(bake.Start):
    """Where a look begins, over whatever plays below its result.

    Attributes:
        active: Name of the action that was active when the result took its place, if any.
        number: Tells the looks of an actor apart, however alike they are.
        own: The result that is made again; None for a new one.
    """

    active: str = ""
    number: int = 0
    own: results.Found | None = None

    def to_plain(self) -> dict[str, Any]:
        return {**super().to_plain(), "active": self.active, "number": self.number}


class Operator(MotionOperator):
    """Turn eyes, head and neck of the selected actors to something, and back, over whatever else they do"""

    bl_idname = "troupe.look"
    bl_label = "Look"
    params = LookParams

    @classmethod
    def plan_steps(
        cls, context: bpy.types.Context, actor: Any, params: Any, landing: LandingParams, start: Any
    ) -> Steps[Plan]:
        onset = _onset(context, actor, start)
        return (yield from super().plan_steps(context, actor, params, landing, onset))

    @classmethod
    def motion_steps(
        cls, context: bpy.types.Context, actor: Any, cast: Cast, params: LookParams, start: bake.Start
    ) -> Steps[Titled]:
        assert isinstance(start, Onset)
        objects = _objects(actor, params)
        rate = scene.fps(context.scene)
        count = int(np.ceil(seconds(params, len(objects)) * rate)) + 2
        frames = start.frame + np.arange(count, dtype=np.float64)
        with below(actor, context.scene, start.own, start.active):
            matrices = yield from bake.joint_matrices_steps(actor, cast, context, frames)
            places = yield from _places_steps(context, objects, frames)
        body = Motion(cast.skeleton, rate, *read_joints(cast, matrices))
        if actor.troupe.cast.root == "in_place":
            here = bake.base_of(cast, np.array(actor.matrix_world, dtype=np.float64), scene.metre(context.scene))
            body = replace(body, base=np.tile(here, (len(body), 1)))
        if not params.lids:
            params = replace(params, lids=", ".join(lids_of(actor)))
        return look(body, places, params, eyes=turns_eyes(actor, cast)), _title(params)

    def apply(self, context: bpy.types.Context, actor: Any, result: Plan) -> str:
        own: Any = self
        asked, own.blend = own.blend, 0.0  # it begins and ends as what lies below
        try:
            return super().apply(context, actor, result)
        finally:
            own.blend = asked


def _onset(context: bpy.types.Context, actor: Any, start: Any) -> Onset:
    """The onset at the current frame, or the one that a result was made with."""
    made = [(found, (results.recipe_of(found.action) or {}).get("start") or {}) for found in bake.results_of(actor)]
    cast = rig.read(actor, context)
    if start is None:
        here = bake.start_here(actor, cast, context)
        action = actor.animation_data.action if actor.animation_data else None
        number = 1 + max((int(known.get("number", 0)) for _, known in made), default=0)
        return Onset(here.frame, here.here, here.ground, False, action.name if action else "", number)
    own = next((found for found, known in reversed(made) if known == start), None)
    here = bake.Start.from_plain(start, cast)
    return Onset(here.frame, here.here, here.ground, False, start["active"], start["number"], own)


def _title(params: LookParams) -> str:
    return f"{params.mode} {params.targets if params.mode == 'scan' else params.target}".strip()


def _objects(actor: Any, params: LookParams) -> list[Any]:
    """What is looked at, in order."""
    if params.mode != "scan":
        ob = named(params.target, "target", "what to look at")
        if scene.armature_of(ob) == actor:
            raise InvalidParam("target", params.target, "is the actor itself; choose something else to look at")
        return [_whole(ob)]
    collection = bpy.data.collections.get(params.targets)
    if collection is None:
        expected = "no collection of that name in this file" if params.targets else "choose the collection to look over"
        raise InvalidParam("targets", params.targets, expected)
    there = [ob for ob in collection.all_objects if bpy.context.scene.objects.get(ob.name) == ob]
    found = sorted(there, key=lambda ob: _natural(ob.name))
    objects = list(dict.fromkeys(_whole(ob) for ob in found if scene.armature_of(ob) != actor))
    if not objects:
        raise InvalidParam("targets", params.targets, "has no objects of this scene to look at: put some into it")
    return objects


def _whole(ob: Any) -> Any:
    """The actor that an object is the body of, or the object."""
    armature = scene.armature_of(ob)
    return armature if armature is not None and rig.is_cast(armature) else ob


def _natural(name: str) -> list[tuple[int, str]]:
    """Sort key under which "Ball 10" comes after "Ball 9"."""
    return [(int(part), "") if part.isdigit() else (-1, part.lower()) for part in re.split(r"([0-9]+)", name)]


def _places_steps(context: bpy.types.Context, objects: Sequence[Any], frames: Array) -> Steps[list[Array]]:
    """Steps to where each object is at `frames` (T,): (T, 3) [m]; of actors, between their eyes."""
    metre, found = scene.metre(context.scene), {}
    for ob in objects:
        if rig.is_cast(ob):
            cast = rig.read(ob, context)
            matrices = yield from bake.joint_matrices_steps(ob, cast, context, frames)
            found[ob] = between_eyes(Motion(cast.skeleton, scene.fps(context.scene), *read_joints(cast, matrices)))
        elif (track := by_curves(ob, frames)) is not None:
            found[ob] = track[:, :3, 3] * metre
    rest = [ob for ob in objects if ob not in found]
    if rest:
        found.update((yield from _played_steps(context, rest, frames)))
    for ob in objects:
        scene.demand_place(ob.name, found[ob])
    return [found[ob] for ob in objects]


def _played_steps(context: bpy.types.Context, objects: Sequence[Any], frames: Array) -> Steps[Mapping[Any, Array]]:
    """Steps to where objects are (T, 3) [m] while the scene plays."""
    stage = context.scene
    frame, subframe = stage.frame_current, stage.frame_subframe
    out = {ob: np.empty((len(frames), 3)) for ob in objects}
    try:
        for i, time in enumerate(frames):
            yield i / len(frames)
            stage.frame_set(int(time))
            depsgraph = context.evaluated_depsgraph_get()
            for ob, places in out.items():
                places[i] = np.array(ob.evaluated_get(depsgraph).matrix_world.translation) * scene.metre(stage)
    finally:
        stage.frame_set(frame, subframe=subframe)
    return out


def turns_eyes(actor: Any, cast: Cast) -> bool:
    """Whether the eyes of a rig can be keyed: on a control rig they may hang on a control of another kind."""
    known, skeleton = controls.find(actor), cast.skeleton
    eyes = [skeleton.names[skeleton.joint(f"eye_{side}")] for side in SIDES if skeleton.has(f"eye_{side}")]
    return known is None or all(known.drives(name) for name in eyes)


def lids_of(actor: Any) -> list[str]:
    """The shape keys of an actor's meshes that close its eyes: one for both, or one for each."""
    names: dict[str, str] = {}
    for mesh in bpy.data.objects:
        if mesh.type == "MESH" and mesh.data.shape_keys and mesh.find_armature() == actor:
            names.update({re.sub(r"[\W_]+", "", key.name).lower(): key.name for key in mesh.data.shape_keys.key_blocks})
    both, left, right = (next((names[n] for n in known if n in names), "") for known in LIDS)
    return [both] if both else [name for name in (left, right) if name]
