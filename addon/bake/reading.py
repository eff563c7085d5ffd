"""From the animation on a cast rig to a Motion: in numpy where curves alone move the bones, else frame by frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ...core.errors import InvalidMotion
from ...core.filters.retarget import lifts
from ...core.kinematics.cast import Cast, read_joints, read_turns
from ...core.maths import quat
from ...core.motion import Motion
from ...core.skeleton import Array
from .. import scene as scenes
from ..steps import Steps, at_once
from . import controls, curves, nla, pose
from .evaluation import evaluate

RESTS_ON_ORIGIN = 0.15
"""Distance of the soles from the origin up to which a rig counts as standing on it [leg lengths]."""


def read(
    ob: bpy.types.Object,
    cast: Cast,
    context: bpy.types.Context,
    action: bpy.types.Action | None = None,
    frames: tuple[float, float] | None = None,
) -> Motion:
    """The motion of a cast rig in world space, object motion included.

    Args:
        ob: The armature object.
        cast: How it is cast.
        context: For scene, rate and units.
        action: Read this action instead of what the rig plays.
        frames: First and last frame; None for the whole animation.
    """
    times, rate = sample_times(ob, context.scene, action, frames)
    alone = action or nla.plain_source(ob)
    if alone is not None and moved_by_curves_alone(ob, cast):
        rigid = _rigid(ob, cast, Values(ob, alone, times), scenes.metre(context.scene))
        if rigid is not None:
            return Motion(cast.skeleton, rate, *read_turns(cast, *rigid))
    matrices = joint_matrices(ob, cast, context, times, action)
    return Motion(cast.skeleton, rate, *read_joints(cast, matrices))


def joint_matrices_steps(
    ob: bpy.types.Object,
    cast: Cast,
    context: bpy.types.Context,
    times: Array,
    action: bpy.types.Action | None = None,
) -> Steps[Array]:
    """Steps to the world matrices (T, J, 4, 4) [m] of the joints' bones at `times` (T,) [frames]."""
    alone = action or nla.plain_source(ob)
    if alone is not None and moved_by_curves_alone(ob, cast):
        world = _evaluated(ob, cast, Values(ob, alone, times))
    else:
        world = yield from _sampled(ob, cast, context, times, action)
    world[..., :3, :] *= scenes.metre(context.scene)
    if not np.isfinite(world).all():
        bad = int(np.flatnonzero(~np.isfinite(world).all(axis=(1, 2, 3)))[0])
        raise InvalidMotion(f"{ob.name} has a pose that is not a number at frame {times[bad]:g}; look for broken keys")
    return world


joint_matrices = at_once(joint_matrices_steps)


def pose_here(ob: bpy.types.Object, cast: Cast, context: bpy.types.Context) -> Motion:
    """The pose on screen, as a motion of one sample.

    Raises:
        InvalidMotion: A bone is nowhere.
    """
    shown = ob.evaluated_get(context.evaluated_depsgraph_get())
    world = (np.array(shown.matrix_world) @ pose.matrices(shown.pose.bones)[cast.joints])[None]
    lost = np.flatnonzero(~np.isfinite(world[0]).all(axis=(1, 2)))
    if len(lost):
        bone = cast.skeleton.names[int(lost[0])]
        raise InvalidMotion(
            f"{ob.name}: the pose of {bone} is no number: clear it (Alt G, Alt R, Alt S), or mend its keys"
        )
    world[..., :3, :] *= scenes.metre(context.scene)
    return Motion(cast.skeleton, scenes.fps(context.scene), *read_joints(cast, world))


@dataclass(frozen=True)
class Start:
    """Where a result begins.

    Attributes:
        frame: Its first frame.
        here: The pose before it, as a motion of one sample.
        ground: Height of the ground under the actor [m].
        moving: The actor was already doing something, which the result goes on from.
    """

    frame: int
    here: Motion
    ground: float
    moving: bool

    def to_plain(self) -> dict[str, Any]:
        """As JSON holds it."""
        pose = {"rotations": self.here.rotations[0].tolist(), "root": self.here.roots[0].tolist()}
        return {"frame": self.frame, "pose": pose, "ground": self.ground, "moving": self.moving}

    @classmethod
    def from_plain(cls, data: Mapping[str, Any], cast: Cast) -> Start:
        """What `to_plain` gave; InvalidMotion when the rig has other joints since."""
        rotations = np.array([data["pose"]["rotations"]], dtype=np.float64)
        if rotations.shape[1:] != (len(cast.skeleton), 4):
            raise InvalidMotion("the rig has other bones than when the result was made; make a new one instead")
        here = Motion(cast.skeleton, 24.0, np.array([data["pose"]["root"]]), rotations)
        return cls(int(data["frame"]), here, float(data["ground"]), bool(data["moving"]))


def start_here(ob: bpy.types.Object, cast: Cast, context: bpy.types.Context) -> Start:
    """The start at the current frame, from what is on screen."""
    here, frame = pose_here(ob, cast, context), context.scene.frame_current
    since = nla.frame_range(ob)[0] if nla.animated_paths(ob) else frame
    return Start(frame, here, ground_of(ob, cast, context, here), since <= frame - 2)


def stand_of(cast: Cast, world: Array, metre: float) -> Array:
    """(4, 4) where the resting character stands with its object at `world` (4, 4): its place on the ground [m]."""
    at = world.copy()
    at[:3] *= metre
    return at @ np.linalg.inv(cast.stand)


def ground_of(ob: bpy.types.Object, cast: Cast, context: bpy.types.Context, here: Motion) -> float:
    """Height of the ground the actor stands on [m].

    That is the height of the object where the rig rests on its origin. Elsewhere (clips often rest with the hips there)
    it is under the lower foot of the pose on screen, `here`.
    """
    metre = scenes.metre(context.scene)
    origin = ob.matrix_world.translation.z * metre
    rests = stand_of(cast, np.array(ob.matrix_world, dtype=np.float64), metre)[2, 3]
    if abs(rests - origin) < RESTS_ON_ORIGIN * cast.skeleton.leg_length():
        return float(rests)
    return float(lifts(here).min())


def sample_times(
    ob: bpy.types.Object,
    scene: bpy.types.Scene,
    action: bpy.types.Action | None = None,
    frames: tuple[float, float] | None = None,
) -> tuple[Array, float]:
    """Frames (T,) at which to read, and their rate [Hz]: the scene's, or the source's where its keys are denser."""
    played = action or nla.plain_source(ob)
    step, span = 1.0, frames or nla.frame_range(ob, action)
    if played is not None:
        bag = curves.bag(ob, played, create=False)
        stamps = np.unique(np.round(curves.key_frames(bag), 3)) if bag is not None else np.zeros(0)
        if action is not None and not len(stamps):
            raise InvalidMotion(f"the action {action.name} has no keys for {ob.name}")
        if len(stamps) > 2:
            gap = float(np.median(np.diff(stamps)))
            step = gap if gap < 0.99 else 1.0
    count = int(np.floor((span[1] - span[0]) / step + 1e-3)) + 1
    return span[0] + step * np.arange(max(count, 1), dtype=np.float64), scenes.fps(scene) / step


def moved_by_curves_alone(ob: bpy.types.Object, cast: Cast) -> bool:
    """Whether the joints follow from F-curves without constraints, drivers, parents or controls."""
    if controls.find(ob) is not None or ob.parent is not None or ob.constraints:
        return False
    drivers = [d for data in (ob.animation_data, ob.data.animation_data) if data for d in data.drivers]
    if drivers:
        return False
    bones = ob.pose.bones
    needed = _with_ancestors(cast)
    return not any(len(bones[b].constraints) for b in needed) and not any(
        ob.data.bones[b].bbone_segments > 1 for b in needed
    )


def _with_ancestors(cast: Cast) -> list[int]:
    """Bones of all joints and everything above them, parents first."""
    wanted = set(cast.joints.tolist())
    for b in list(wanted):
        p = int(cast.parents[b])
        while p >= 0 and p not in wanted:
            wanted.add(p)
            p = int(cast.parents[p])
    return sorted(wanted)


class Values:
    """The values of an action's curves at some times, and the present ones of whatever has no curve."""

    def __init__(self, ob: bpy.types.Object, action: bpy.types.Action, times: Array) -> None:
        bag = curves.bag(ob, action, create=False)
        found = curves.read(bag) if bag is not None else {}
        columns = evaluate(list(found.values()), times).T if found else ()
        self.curves = dict(zip(found, columns, strict=True))
        self.count = len(times)

    def of(self, owner: Any, prefix: str, name: str) -> Array:
        """(T, C) of a channel."""
        now = np.array(getattr(owner, name), dtype=np.float64)
        out = np.empty((self.count, len(now)))
        for k, value in enumerate(now):
            out[:, k] = self.curves.get((prefix + name, k), value)
        return out

    def moves(self, prefix: str, name: str) -> bool:
        """Whether a channel has curves."""
        return any((prefix + name, k) in self.curves for k in range(4))


def _rotation_channel(owner: Any) -> str:
    return pose.ROTATION_CHANNEL.get(owner.rotation_mode, "rotation_euler")


def _rigid(ob: bpy.types.Object, cast: Cast, values: Values, metre: float) -> tuple[Array, Array] | None:
    """World places (T, J, 3) [m] and orientations (T, J, 4) of the joints' bones, by quaternions alone.

    None where something is scaled or does not inherit rotation: then only matrices tell.
    """
    bones, rest, needed = ob.pose.bones, pose.rest(ob.data), _with_ancestors(cast)
    world = _object_matrices(ob, values)
    sizes = np.linalg.norm(world[:, :3, :3], axis=1)
    if np.ptp(sizes) > 1e-6 * sizes.max() or np.linalg.det(world[0, :3, :3]) < 0:
        return None
    size = float(sizes.mean())
    object_turn = quat.from_matrix(world[:, :3, :3] / size)
    places, turns = np.empty((len(bones), values.count, 3)), np.empty((len(bones), values.count, 4))
    for b in needed:
        bone, prefix, p = bones[b], curves.bone_path(bones[b].name, ""), int(rest.parents[b])
        scaled = values.moves(prefix, "scale") or max(abs(x - 1.0) for x in bone.scale) > 1e-6
        if scaled or not rest.flags[b][1] or not rest.flags[b][2]:
            return None
        step = rest.matrices[b] if p < 0 else np.linalg.inv(rest.matrices[p]) @ rest.matrices[b]
        lying = quat.from_matrix(step[:3, :3])
        above = (object_turn, world[:, :3, 3]) if p < 0 else (turns[p], places[p])
        frame = quat.multiply(above[0], lying)
        places[b] = above[1] + quat.rotate(above[0], size * step[:3, 3])
        if not bone.bone.use_connect and (values.moves(prefix, "location") or any(bone.location)):
            places[b] += quat.rotate(frame, size * values.of(bone, prefix, "location"))
        turn = values.of(bone, prefix, _rotation_channel(bone))
        turns[b] = quat.multiply(frame, pose.rotation_quaternion(turn, bone.rotation_mode))
    return np.moveaxis(places[cast.joints], 0, 1) * metre, np.moveaxis(turns[cast.joints], 0, 1)


def _evaluated(ob: bpy.types.Object, cast: Cast, values: Values) -> Array:
    """World matrices (T, J, 4, 4) of the joints' bones [world units]."""
    needed = _with_ancestors(cast)
    number = {b: i for i, b in enumerate(needed)}
    basis = np.empty((values.count, len(needed), 4, 4))
    for i, b in enumerate(needed):
        bone = ob.pose.bones[b]
        prefix = curves.bone_path(bone.name, "")
        location, turn, scale = (values.of(bone, prefix, c) for c in ("location", _rotation_channel(bone), "scale"))
        if bone.bone.use_connect:  # Blender ignores it there
            location[:] = 0.0
        basis[:, i] = pose.basis_from_channels(location, turn, bone.rotation_mode, scale)
    posed = pose.pose_from_basis(pose.rest(ob.data).part(needed), basis)[:, [number[b] for b in cast.joints.tolist()]]
    return _object_matrices(ob, values)[:, None] @ posed


def _object_matrices(ob: bpy.types.Object, values: Values) -> Array:
    delta = {"QUATERNION": "delta_rotation_quaternion", "AXIS_ANGLE": ""}.get(ob.rotation_mode, "delta_rotation_euler")
    names = ("location", _rotation_channel(ob), "scale", "delta_location", delta, "delta_scale")
    still = np.tile([0.0, 0.0, 1.0, 0.0], (values.count, 1))
    location, turn, scale, *deltas = (values.of(ob, "", n) if n else still for n in names)
    return pose.object_basis(location, turn, ob.rotation_mode, scale, *deltas)


def _sampled(
    ob: bpy.types.Object,
    cast: Cast,
    context: bpy.types.Context,
    times: Array,
    action: bpy.types.Action | None,
) -> Steps[Array]:
    scene, depsgraph = context.scene, context.evaluated_depsgraph_get()
    out = np.empty((len(times), len(cast.joints), 4, 4))
    with nla.playing(ob, scene, action):
        for i, t in enumerate(times):
            yield i / len(times)
            whole = int(np.floor(t))
            scene.frame_set(whole, subframe=float(t - whole))
            shown = ob.evaluated_get(depsgraph)
            out[i] = np.array(shown.matrix_world) @ pose.matrices(shown.pose.bones)[cast.joints]
    return out


def shared_bones(ob: bpy.types.Object, action: bpy.types.Action) -> int:
    """How many bones of an armature the curves of an action name."""
    paths = curves.paths(ob, action)
    return sum(any(p.startswith(curves.bone_path(b.name, "")) for p in paths) for b in ob.data.bones)
