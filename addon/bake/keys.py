"""Everything a bake will write, computed before the scene is touched: channels of bones, object and properties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import bpy
import numpy as np
import numpy.typing as npt

from ...core.errors import InvalidMotion, InvalidRig
from ...core.filters.keyposes import KeyPose, key_poses
from ...core.filters.resample import resample
from ...core.kinematics import base
from ...core.kinematics.cast import Cast, bone_matrices, read_joints
from ...core.maths import quat
from ...core.motion import Motion
from ...core.skeleton import Array
from .. import scene as scenes
from ..steps import Steps, at_once
from . import bones, controls, cycling, nla, pose, properties, thinning
from .curves import Channel
from .playing import OBJECT, Player
from .reading import joint_matrices_steps, stand_of
from .twins import Twins


@dataclass(frozen=True, eq=False)
class Keys:
    """What a bake will write.

    Attributes:
        channels: Of the armature object.
        frames: (T,) whole frames.
        shapes: Mesh object name to the channels of its shape keys.
        motion: What is shown, at the scene's rate; of a loop one whole round, the first sample again at its end.
        root: What carries the base.
        whole: The hips are keyed; otherwise it is laid over something else.
        loop: It goes on after the last frame as after the first.
        contacts: Properties of the object that show which feet are planted; made when the keys are written.
        note: What the user should know about the keys, in a few words.
    """

    channels: tuple[Channel, ...]
    frames: Array
    shapes: Mapping[str, tuple[Channel, ...]]
    motion: Motion
    root: str
    whole: bool
    loop: bool = False
    contacts: tuple[str, ...] = ()
    note: str = ""


def root_mode(ob: bpy.types.Object, cast: Cast, wanted: str) -> str:
    """What carries the base when the user leaves it to us."""
    if wanted == "root_bone" and cast.root_bone < 0:
        raise InvalidRig(f"{ob.name} has no root bone: choose hips, object or in place, or set the role root")
    if wanted != "auto":
        return wanted
    # feet of a control rig hang from its root: they stay where they are only while the root does
    return "root_bone" if cast.root_bone >= 0 and controls.find(ob) is None else "hips"


def prepare_steps(
    ob: bpy.types.Object,
    cast: Cast,
    motion: Motion,
    context: bpy.types.Context,
    start: int,
    *,
    root: str = "auto",
    legs: str = "ik",
    arms: str = "fk",
    keys: str = "every_frame",
    tolerance: float = 0.01,
    contacts: bool = False,
    twins: Twins | None = None,
) -> Steps[Keys]:
    """Steps to the keys of a motion whose first sample falls on frame `start`.

    A loop is keyed as one round and the first sample again, and its curves repeat.

    Args:
        ob: The armature object.
        cast: How it is cast; `motion` is on its skeleton.
        motion: What to show.
        context: For scene, rate and units.
        start: Frame of the first sample.
        root: What carries the base: auto, hips, root_bone, object or in_place.
        legs: How legs of a control rig are keyed: ik or fk.
        arms: The same for arms.
        keys: Where there are keys: every_frame, reduced or blocking; see `core.landing`.
        tolerance: For reduced keys: no joint turns away by more than this [rad], and the hips do not move by more than
            that turn of a leg.
        contacts: Key the contact curves of the motion as properties of the object.
        twins: Keeps the twin of a control rig for the next time.
    """
    if motion.skeleton.names != cast.skeleton.names:
        raise InvalidMotion(f"this motion is not on the skeleton of {ob.name}: retarget it first")
    fps, loop = scenes.fps(context.scene), motion.loop
    note = cycling.note(motion, fps)
    motion = base.based(resample(motion, fps))
    poses = _poses(motion) if keys == "blocking" else None
    motion = base.closed(motion)
    mode = root_mode(ob, cast, root)
    frames = start + np.arange(len(motion), dtype=np.float64)
    spoken = np.ones(len(cast.joints), bool) if motion.mask is None else np.asarray(motion.mask)
    rig = controls.find(ob)
    swung = _swung(cast, spoken) if rig is None else _dragged(cast, spoken)
    if (rig is not None or swung.any()) and not spoken[0]:
        # what is placed, not turned, goes where it would be on the body that plays below
        roots, turns = read_joints(cast, (yield from joint_matrices_steps(ob, cast, context, frames)))
        motion = replace(motion, roots=roots, rotations=np.where(spoken[:, None], motion.rotations, turns))
    metre = scenes.metre(context.scene)
    world = np.array(ob.matrix_world, dtype=np.float64)
    if mode == "in_place":
        motion = in_place(motion, base_of(cast, world, metre))
    stands = _stands(cast, motion, world, metre)
    objects = stands if mode == "object" else world[None]
    targets = _targets(cast, motion, objects, world, metre)
    keyed = {int(b) for j, b in enumerate(cast.joints) if spoken[j] or swung[j]}
    if mode == "root_bone" and spoken[0]:
        targets[cast.root_bone] = np.linalg.inv(objects) @ stands @ cast.rest[cast.root_bone]
        keyed.add(cast.root_bone)
    carrier = bones.carry_connected_hips(ob, cast, targets) if spoken[0] else None
    keyed |= {carrier} if carrier is not None else set()
    body = None
    if rig is not None:
        named = {cast.bones[b]: targets[b] for b in keyed}
        watched = () if keys == "every_frame" else cast.joints.tolist()
        channels, shown = yield from controls.bake_steps(
            ob, rig, named, frames, legs=legs, arms=arms, watched=watched, twins=twins
        )
    else:
        channels, body = bones.bone_channels(ob, cast, targets, keyed, frames)
        shown = body.shown({}) if keys != "every_frame" else np.empty(0)
    carried = bool(spoken[0]) and mode == "object"
    if spoken[0]:
        channels += _object_channels(ob, objects, carried, frames)
    channels += properties.property_channels(motion)
    shapes = properties.shape_channels(ob, motion)
    planted = properties.contact_channels(motion, frames) if contacts else {}
    if loop and not cycling.repeats(channels):
        loop, note = False, f"{note}, which does not repeat because it turns on the way"
    if loop:
        channels = [cycling.repeating(c) for c in channels]
        shapes = {mesh: tuple(cycling.repeating(c) for c in found) for mesh, found in shapes.items()}
        planted = {name: cycling.repeating(c) for name, c in planted.items()}
    if keys != "every_frame":
        player = Player(ob, cast, channels, frames, motion, body, objects, carried, metre)
        dense = player.motion_of(shown, {})
        limits = thinning.BLOCKING if keys == "blocking" else thinning.reduced(tolerance)
        channels = yield from thinning.thin_steps(
            channels, frames, dense, player.play_steps, player.modes(), player.movers(legs), limits, cast.unit, poses
        )
    channels += planted.values()
    return Keys(tuple(channels), frames, shapes, motion, mode, bool(spoken[0]), loop, tuple(planted), note)


prepare = at_once(prepare_steps)


def base_of(cast: Cast, world: Array, metre: float) -> Array:
    """(3,) x, y, heading where the rig stands with its object at `world` (4, 4) and its bones at rest."""
    here = stand_of(cast, world, metre)
    turn = quat.from_matrix(here[:3, :3] / np.cbrt(abs(np.linalg.det(here[:3, :3]))))
    return np.array([here[0, 3], here[1, 3], float(quat.heading(turn))])


def in_place(motion: Motion, here: Array) -> Motion:
    """The motion with its travel taken away, standing at base `here` (3,)."""
    still = np.tile(here, (len(motion), 1))
    roots, turns = base.relative(motion)
    roots, turns = base.compose(still, roots, turns)
    rotations = motion.rotations.copy()
    rotations[:, 0] = turns
    return replace(motion, roots=roots, rotations=quat.continuous(rotations), base=motion.base)


def _targets(cast: Cast, motion: Motion, objects: Array, world: Array, metre: float) -> dict[int, Array]:
    """Bone of every joint to the armature-space matrices (T, 4, 4) it takes in a motion.

    `objects` are the object's matrices (T or 1, 4, 4), `world` (4, 4) the one that tells its scale.
    """
    wanted = bone_matrices(cast, motion)
    wanted[..., :3, 3] /= metre
    wanted[..., :3, :3] *= np.cbrt(abs(np.linalg.det(world[:3, :3])))
    posed = np.linalg.inv(objects)[:, None] @ wanted
    return {int(b): posed[:, j] for j, b in enumerate(cast.joints)}


def _swung(cast: Cast, spoken: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """(J,) joints of which a motion does not speak, but whose bones are moved otherwise by those of which it does.

    Clavicles that hang from a neck would turn with a head that looks about, thighs that hang from a spine with a trunk
    that leans.
    """
    parents = cast.skeleton.parents
    joint_of = {int(b): j for j, b in enumerate(cast.joints)}
    movers: list[frozenset[int]] = []
    for j, parent in enumerate(parents.tolist()):
        above = movers[parent] if parent >= 0 else frozenset()
        movers.append(above | {j} if spoken[j] else above)
    out = np.zeros_like(spoken)
    for j in range(1, len(parents)):
        carrier = int(cast.parents[cast.joints[j]])
        while carrier >= 0 and carrier not in joint_of:
            carrier = int(cast.parents[carrier])
        moved = movers[joint_of[carrier]] if carrier >= 0 else frozenset()
        out[j] = not spoken[j] and moved != movers[parents[j]]
    return out


def _dragged(cast: Cast, spoken: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """(J,) the hips where the trunk turns without them: controls of a spine bend it at both ends."""
    out = np.zeros_like(spoken)
    out[0] = not spoken[0] and spoken[list(cast.skeleton.roles.get("spine", ()))].any()
    return out


def _stands(cast: Cast, motion: Motion, world: Array, metre: float) -> Array:
    """Object matrices (T, 4, 4) that put the resting rig on the base of every frame, at the object's height."""
    assert motion.base is not None
    at = np.zeros((len(motion), 4, 4))
    turn = quat.to_matrix(quat.about(np.array([0.0, 0.0, 1.0]), motion.base[:, 2]))
    at[:, :3, :3], at[:, :2, 3], at[:, 3, 3] = turn, motion.base[:, :2], 1.0
    at[:, 2, 3] = stand_of(cast, world, metre)[2, 3]
    out = at @ cast.stand
    out[:, :3] /= metre
    return out


def _object_channels(ob: bpy.types.Object, objects: Array, carries: bool, frames: Array) -> list[Channel]:
    """Keys of the object where it carries the base, or where something else would carry it away."""
    channel = pose.ROTATION_CHANNEL.get(ob.rotation_mode, "rotation_euler")
    if carries:
        above = np.array((ob.parent.matrix_world if ob.parent else ob.matrix_world.Identity(4)), dtype=np.float64)
        local = np.linalg.inv(above @ np.array(ob.matrix_parent_inverse)) @ objects
        delta = np.array(ob.delta_location)
        location, rotation, _ = pose.channels(local, ob.rotation_mode)
        return [
            Channel("location", location - delta, OBJECT),
            Channel(channel, rotation, OBJECT),
        ]
    moved = nla.animated_paths(ob)
    return [
        bones.held(path, np.array(getattr(ob, path), dtype=np.float64), OBJECT, frames)
        for path in ("location", channel)
        if path in moved
    ]


def _poses(motion: Motion) -> list[KeyPose]:
    """The poses of a whole-body motion; those of a loop with that of its first sample again at the end."""
    poses = [] if motion.mask is not None and not motion.mask[0] else key_poses(motion)
    return poses + [p._replace(sample=len(motion)) for p in poses if motion.loop and p.sample == 0]
