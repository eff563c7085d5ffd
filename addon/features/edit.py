"""What editing features share: the animation of an actor is read, changed, and laid over what it was made from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ...core.errors import InvalidParam
from ...core.filters.draft import Draft
from ...core.filters.resample import resample
from ...core.filters.scope import ScopeParams, mask
from ...core.kinematics.cast import Cast, read_joints
from ...core.landing import LandingParams
from ...core.maths import quat
from ...core.motion import Motion
from ...core.params import declared
from ...core.skeleton import ARM, LEG, SIDES
from .. import bake, rig, scene
from ..bake import controls, curves, nla, reading, results
from ..steps import Steps
from .motions import MotionOperator, Plan, Titled


@dataclass(frozen=True)
class Source(bake.Start):
    """What an edit begins with: whatever plays on the actor below its result.

    Attributes:
        frames: First and last frame of it.
        active: Name of the action that was active when the result took its place, if any.
        number: Tells the edits of an actor apart, however alike they are.
        own: The result that is made again; None for a new one.
    """

    here: Any = None
    ground: float = 0.0
    moving: bool = False
    frames: tuple[int, int] = (0, 0)
    active: str = ""
    number: int = 0
    own: results.Found | None = None

    def to_plain(self) -> dict[str, Any]:
        return {"frame": self.frame, "frames": list(self.frames), "active": self.active, "number": self.number}


class EditOperator(MotionOperator):
    """Base of the features that change what an actor already does, whatever it is made of.

    A feature sets `params`, a record that derives from `core.filters.scope.ScopeParams`, and overrides `edit_steps`,
    which is one filter of core. All else is done here:

    - What plays on the actor, from its first to its last frame, is read as a motion at the rate of the scene; a
      single cyclic action is read as a loop.
    - The scope "selected" is filled in with the bones selected in Pose Mode (controls stand for what they move), the
      range "scene" with the preview range or frame range, keyable parameters with what is keyed on the actor. The
      recipe holds what was filled in.
    - The result speaks for the joints of the scope and for whatever else the filter changed. It lies on a track of its
      own above everything it was read from, none of which is touched; the whole body holds its last pose after it.
    - Made again, an edit reads what lies below its own strip, so it never filters its own result. Pressed again, it
      reads everything, so edits compose.
    """

    @classmethod
    def edit_steps(
        cls, context: bpy.types.Context, actor: Any, cast: Cast, motion: Motion, params: Any
    ) -> Steps[Motion]:
        """Steps to the edited motion, on the same skeleton; params derive from `ScopeParams`."""
        raise TypeError(f"{cls.__name__} edits nothing")

    @classmethod
    def draft(cls, motion: Motion, params: Any) -> Draft | None:
        """What lets a ghost follow some of the settings at once; None where each change is a new edit."""
        return None

    @classmethod
    def title(cls, params: Any) -> str:
        """What the action of the result is called after its actor."""
        return cls.bl_label.lower()

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        problem = super().why_not(context)
        if problem is None:
            idle = next((ob for ob in scene.selected_armatures(context) if not nla.is_moved(ob)), None)
            problem = f"{idle.name} does nothing yet: give it an animation first" if idle is not None else None
        return problem

    @classmethod
    def plan_steps(
        cls, context: bpy.types.Context, actor: Any, params: Any, landing: LandingParams, start: Any
    ) -> Steps[Plan]:
        source = source_of(actor, start)
        if source.own is None:
            params = filled_in(params, actor, context, source)
        else:
            params = _filled_in_before(params, _recipe(source.own)["params"])
        params = animated(params, actor, cls.feature(), source)
        return (yield from super().plan_steps(context, actor, params, landing, source))

    @classmethod
    def motion_steps(
        cls, context: bpy.types.Context, actor: Any, cast: Cast, params: Any, start: bake.Start
    ) -> Steps[Titled]:
        assert isinstance(start, Source)
        before = yield from read_steps(actor, cast, context, start)
        after = yield from cls.edit_steps(context, actor, cast, before, params)
        return replace(after, mask=spoken(actor, before, after, params)), cls.title(params)

    def apply(self, context: bpy.types.Context, actor: Any, result: Plan) -> str:
        asked = {name: getattr(self, name) for name in ("landing", "blend")}
        # above everything, and not faded: the scope has soft ends of its own
        on_track = asked["landing"] == "track"
        _set(self, {"landing": "layer", "blend": 0.0} if on_track else {})
        try:
            done = super().apply(context, actor, result)
        finally:
            _set(self, asked)
        if on_track and result.keys.whole:
            found = results.find(actor, actor.troupe.result)
            found.track.name, found.strip.extrapolation = nla.TRACK, "HOLD_FORWARD"
            nla.drop_empty(actor.animation_data)
        return done


def spoken(actor: Any, before: Motion, after: Motion, params: ScopeParams) -> Any:
    """(J,) the joints of the scope and those that differ; whole limbs where controls place them. None for all."""
    chosen = mask(before.skeleton, params)
    joints = chosen[:-1].copy()
    joints[0] |= chosen[-1]
    if len(before) == len(after):
        joints |= quat.distance(before.rotations, after.rotations).max(axis=0) > 1e-6
        joints[0] |= bool(np.abs(before.roots - after.roots).max() > 1e-6)
    else:
        joints[:] = True
    if controls.find(actor) is not None:
        for side in SIDES:
            for limb in (ARM, LEG):
                parts = [j for part in limb for j in before.skeleton.roles.get(f"{part}_{side}", ())]
                joints[parts] |= joints[parts].any() or (limb is LEG and joints[0])
    return None if joints.all() else joints


def filled_in(params: Any, actor: Any, context: bpy.types.Context, source: Source) -> Any:
    """The parameters with selected bones as joints and the range of the scene as seconds."""
    if params.scope == "selected":
        shown = context.selected_pose_bones or () if context.mode == "POSE" else ()
        names = {bone.name for bone in shown if bone.id_data == actor}
        known, joints = controls.find(actor), rig.read(actor, context).skeleton.names
        chosen = [n for n in joints if n in names or (known is not None and known.movers(n, names))]
        if names and not chosen:
            raise InvalidParam("scope", "selected", f"none of the selected bones moves a joint of {actor.name}")
        params = replace(params, joints=", ".join(chosen) or params.joints)
    if params.range == "scene":
        first, last = _scene_range(context.scene)
        rate, (a, b) = scene.fps(context.scene), source.frames
        if last <= a or first >= b:
            raise InvalidParam(
                "range", "scene", f"frames {first} to {last} lie outside the animation, frames {a} to {b}"
            )
        params = replace(params, begin=max(first - a, 0) / rate, end=(last - a) / rate)
    return params


def animated(params: Any, actor: Any, feature: str, source: Source) -> Any:
    """The parameters with those that are keyed on the actor as values at each frame of the source.

    A result that is made again when the keys are gone keeps what it was made with, unless another value is set since.
    """
    frames = np.arange(source.frames[0], source.frames[1] + 1, dtype=np.float64)
    held = _recipe(source.own)["params"] if source.own is not None else {}
    values: dict[str, Any] = {}
    for p in (p for p in declared(type(params)) if p.keyable):
        found, before = scene.keyed(actor, f"troupe.{feature}.{p.name}", frames, below=True), held.get(p.name)
        if found is not None:
            values[p.name] = found if np.ptp(found) > 1e-6 else float(found[0])
        elif isinstance(before, list) and np.abs(np.subtract(before, getattr(params, p.name))).min() < 1e-4:
            values[p.name] = np.array(before)
    return replace(params, **values)


def _filled_in_before(params: Any, old: dict[str, Any]) -> Any:
    """The parameters with what was filled in when the result was made, where they leave it open."""
    if params.scope == "selected" and not params.joints:
        params = replace(params, joints=old["joints"])
    if params.range == "scene":
        params = replace(params, begin=old["begin"], end=old["end"])
    return params


def source_of(actor: Any, start: Any) -> Source:
    """What plays on an actor; with the `start` of a recipe, what lies below the result that was made with it."""
    made = [(f, _recipe(f)["start"] or {}) for f in results.results_of(actor)]
    if start is None:
        first, last = nla.frame_range(actor)
        span = int(np.floor(first)), int(np.ceil(last))
        number = 1 + max((known.get("number", 0) for _, known in made), default=0)
        return Source(span[0], frames=span, active=_active(actor), number=number)
    own = next((f for f, known in reversed(made) if known == start), None)
    span = start["frames"][0], start["frames"][1]
    return Source(span[0], frames=span, active=start["active"], number=start["number"], own=own)


def read_steps(actor: Any, cast: Cast, context: bpy.types.Context, source: Source) -> Steps[Motion]:
    """Steps to the motion of a source at the rate of the scene, a loop where it is one cyclic action."""
    rate, (first, last) = scene.fps(context.scene), source.frames
    with below(actor, context.scene, source.own, source.active):
        sole = _sole(actor)
        if sole is not None and reading.moved_by_curves_alone(actor, cast):
            action, shift = sole
            span = first - shift, last - shift
            motion = resample(bake.read(actor, cast, context, action, span), rate)
            if action.use_cyclic and len(motion) > 2 and span == tuple(action.frame_range):
                motion = replace(motion, roots=motion.roots[:-1], rotations=motion.rotations[:-1], loop=True)
        else:
            times = np.arange(first, last + 1, dtype=np.float64)
            matrices = yield from bake.joint_matrices_steps(actor, cast, context, times)
            motion = Motion(cast.skeleton, rate, *read_joints(cast, matrices))
    if actor.troupe.cast.root == "in_place":
        here = bake.base_of(cast, np.array(actor.matrix_world, dtype=np.float64), scene.metre(context.scene))
        motion = replace(motion, base=np.tile(here, (len(motion), 1)))
    return motion


@contextmanager
def below(actor: Any, scenery: bpy.types.Scene, own: results.Found | None, active: str) -> Iterator[None]:
    """Let only what lies below a result play; where it is the active action, the one before it plays instead."""
    if own is None:
        yield
        return
    data = actor.animation_data
    frame, subframe, tweaked = scenery.frame_current, scenery.frame_subframe, data.use_tweak_mode
    data.use_tweak_mode = False
    action, slot = data.action, getattr(data, "action_slot", None)
    tracks = list(data.nla_tracks)
    above = tracks[tracks.index(own.track) :] if own.track is not None else []
    muted = [(x, x.mute) for x in (*above[1:], *([own.strip] if own.strip is not None else []))]
    alone = [t for t in tracks if t.is_solo]
    try:
        for track in alone:
            track.is_solo = False
        for x, _ in muted:
            x.mute = True
        data.action = None
        if own.strip is None and active in bpy.data.actions:
            curves.assign(actor, bpy.data.actions[active])
        yield
    finally:
        data.action = action
        if slot is not None:
            data.action_slot = slot
        for x, was in muted:
            x.mute = was
        for track in alone:
            track.is_solo = True
        data.use_tweak_mode = tweaked
        scenery.frame_set(frame, subframe=subframe)


def _sole(actor: Any) -> tuple[Any, float] | None:
    """The one action that plays unchanged, and by how many frames it is shifted; None where there is more to it."""
    data = actor.animation_data
    if data.use_tweak_mode or any(t.is_solo for t in data.nla_tracks):
        return None
    strips = [s for t in data.nla_tracks if data.use_nla and not t.mute for s in t.strips if not s.mute]
    if data.action is not None:
        return (data.action, 0.0) if not strips and nla.plain_source(actor) is not None else None
    if len(strips) != 1:
        return None
    s = strips[0]
    changed = s.use_animated_influence or s.use_animated_time or s.use_reverse or s.use_auto_blend
    changed |= s.type != "CLIP" or s.blend_type != "REPLACE" or (s.scale, s.repeat) != (1.0, 1.0)
    changed |= s.action is None or bool(s.blend_in or s.blend_out)
    if changed or getattr(s, "action_slot", None) != (curves.find_slot(actor, s.action) if s.action else None):
        return None
    return s.action, s.frame_start - s.action_frame_start


def _set(owner: Any, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(owner, name, value)


def _recipe(found: results.Found) -> dict[str, Any]:
    return {"start": None, "params": {}, **(results.recipe_of(found.action) or {})}


def _active(actor: Any) -> str:
    action = actor.animation_data.action if actor.animation_data else None
    return action.name if action is not None else ""


def _scene_range(scenery: bpy.types.Scene) -> tuple[int, int]:
    if scenery.use_preview_range:
        return scenery.frame_preview_start, scenery.frame_preview_end
    return scenery.frame_start, scenery.frame_end
