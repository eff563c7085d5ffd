"""Everything a bake will write, computed before the scene is touched: channels of bones, object and properties."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

import bpy
import numpy as np
import numpy.typing as npt

from ...core.errors import InvalidMotion, InvalidRig
from ...core.filters.resample import resample
from ...core.kinematics import base
from ...core.kinematics.cast import Cast, bone_matrices, read_joints
from ...core.maths import quat
from ...core.maths.reduce import kept_keys
from ...core.motion import Motion
from ...core.skeleton import Array
from .. import scene as scenes
from ..steps import Steps, at_once
from . import controls, curves, nla, pose
from .curves import Channel
from .reading import joint_matrices_steps, stand_of

STILL = 1e-6


@dataclass(frozen=True, eq=False)
class Keys:
    """What a bake will write.

    Attributes:
        channels: Of the armature object.
        frames: (T,) whole frames.
        shapes: Mesh object name to the channels of its shape keys.
        motion: What is shown, at the scene's rate.
        root: What carries the base.
        whole: The hips are keyed; otherwise it is laid over something else.
    """

    channels: tuple[Channel, ...]
    frames: Array
    shapes: Mapping[str, tuple[Channel, ...]]
    motion: Motion
    root: str
    whole: bool


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
    tolerance: float = 0.0,
) -> Steps[Keys]:
    """Steps to the keys of a motion whose first sample falls on frame `start`.

    Args:
        ob: The armature object.
        cast: How it is cast; `motion` is on its skeleton.
        motion: What to show.
        context: For scene, rate and units.
        start: Frame of the first sample.
        root: What carries the base: auto, hips, root_bone, object or in_place.
        legs: How legs of a control rig are keyed: ik or fk.
        arms: The same for arms.
        tolerance: Keys are left out as long as no joint turns away by more than this [rad], and none moves by more
            than that turn of a leg; 0 keeps them all.
    """
    if motion.skeleton.names != cast.skeleton.names:
        raise InvalidMotion(f"this motion is not on the skeleton of {ob.name}: retarget it first")
    motion = base.based(resample(motion, scenes.fps(context.scene)))
    mode = root_mode(ob, cast, root)
    frames = start + np.arange(len(motion), dtype=np.float64)
    spoken = np.ones(len(cast.joints), bool) if motion.mask is None else np.asarray(motion.mask)
    rig = controls.find(ob)
    if rig is not None and not spoken[0]:
        # controls are placed, not turned: a part goes where it would be on the body that plays below
        roots, turns = read_joints(cast, (yield from joint_matrices_steps(ob, cast, context, frames)))
        motion = replace(motion, roots=roots, rotations=np.where(spoken[:, None], motion.rotations, turns))
    metre = scenes.metre(context.scene)
    world = np.array(ob.matrix_world, dtype=np.float64)
    if mode == "in_place":
        motion = in_place(motion, base_of(cast, world, metre))
    stands = _stands(cast, motion, world, metre)
    objects = stands if mode == "object" else world[None]
    wanted = bone_matrices(cast, motion)
    wanted[..., :3, 3] /= metre
    scale = np.cbrt(abs(np.linalg.det(world[:3, :3])))
    wanted[..., :3, :3] *= scale
    posed = np.linalg.inv(objects)[:, None] @ wanted
    targets = {int(b): posed[:, j] for j, b in enumerate(cast.joints)}
    keyed = {int(b) for j, b in enumerate(cast.joints) if spoken[j]}
    if mode == "root_bone" and spoken[0]:
        targets[cast.root_bone] = np.linalg.inv(objects) @ stands @ cast.rest[cast.root_bone]
        keyed.add(cast.root_bone)
    carrier = _carry_connected_hips(ob, cast, targets) if spoken[0] else None
    keyed |= {carrier} if carrier is not None else set()
    if rig is not None:
        named = {cast.bones[b]: targets[b] for b in keyed}
        channels = yield from controls.bake_steps(ob, rig, named, frames, legs=legs, arms=arms)
    else:
        channels = _bone_channels(ob, cast, targets, keyed, frames)
    if spoken[0]:
        channels += _object_channels(ob, objects, mode == "object", frames)
    channels += _property_channels(motion)
    if tolerance > 0:
        channels = [_reduced(c, frames, tolerance, cast.skeleton.leg_length() / cast.unit) for c in channels]
    return Keys(tuple(channels), frames, _shape_channels(ob, motion), motion, mode, bool(spoken[0]))


prepare = at_once(prepare_steps)


def _reduced(channel: Channel, frames: Array, tolerance: float, leg: float) -> Channel:
    """A channel without the keys that the others tell; half an angle is the length of a quaternion's change."""
    if channel.frames is not None or channel.interpolation != "LINEAR":
        return channel
    size = leg if channel.path.endswith("location") else 0.5
    at = kept_keys(channel.values, tolerance * size)
    return replace(channel, values=channel.values[at], frames=frames[at])


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


def _bone_channels(
    ob: bpy.types.Object, cast: Cast, targets: Mapping[int, Array], keyed: Set[int], frames: Array
) -> list[Channel]:
    """Channels of the `keyed` bones among the targets, and rest keys for what carries them if something moves it.

    The other targets tell only where the parents of keyed bones are meant to be.
    """
    rest = pose.rest(ob.data)
    between: set[int] = set()
    for b in targets:
        p = int(rest.parents[b])
        while p >= 0 and p not in targets:
            between.add(p)
            p = int(rest.parents[p])
    order = sorted({*targets, *between})
    carrying = {b for b in between if any(_carries(rest.parents, b, k, targets) for k in keyed)}
    number = {b: i for i, b in enumerate(order)}
    part = rest.part(order)
    posed = np.empty((len(frames), len(order), 4, 4))
    for i, b in enumerate(order):
        if b in targets:
            posed[:, i] = targets[b]
        else:
            p = part.parents[i]
            posed[:, i] = (
                part.matrices[i] if p < 0 else posed[:, p] @ np.linalg.inv(part.matrices[p]) @ part.matrices[i]
            )
    basis = pose.basis_from_pose(part, posed)
    moved = nla.animated_paths(ob)
    limit = STILL * max(cast.skeleton.leg_length() / cast.unit, 1e-9)
    out: list[Channel] = []
    by_mode: dict[str, list[int]] = {}
    for b in order:
        by_mode.setdefault(ob.pose.bones[b].rotation_mode, []).append(b)
    for mode, members in by_mode.items():
        locations, rotations, _ = pose.channels(basis[:, [number[b] for b in members]], mode)
        channel = pose.ROTATION_CHANNEL.get(mode, "rotation_euler")
        for k, b in enumerate(members):
            bone = ob.pose.bones[b]
            path, place = curves.bone_path(bone.name, channel), curves.bone_path(bone.name, "location")
            shifted = bool(np.abs(locations[:, k]).max() > limit)
            disturbed = place in moved or max(map(abs, bone.location)) > limit
            if b in targets:
                if b not in keyed:
                    continue
                out.append(Channel(path, rotations[:, k], bone.name))
                if bone.bone.use_connect:
                    continue
                if shifted or b == cast.joints[0]:
                    out.append(Channel(place, locations[:, k], bone.name))
                elif disturbed:
                    out.append(_held(place, np.zeros(3), bone.name, frames))
            elif b in carrying and (path in moved or disturbed or quat.angle(quat.from_matrix(_turned(bone))) > STILL):
                out.append(_held(path, rotations[0, k], bone.name, frames))
                out.append(_held(place, np.zeros(3), bone.name, frames))
    return out


def _carries(parents: npt.NDArray[np.int64], bone: int, keyed: int, targets: Mapping[int, Array]) -> bool:
    """Whether `bone` lies between a keyed bone and the next target above it."""
    p = int(parents[keyed])
    while p >= 0 and p not in targets:
        if p == bone:
            return True
        p = int(parents[p])
    return False


def _carry_connected_hips(ob: bpy.types.Object, cast: Cast, targets: dict[int, Array]) -> int | None:
    """A connected bone ignores its location: where the hips are one, the first free bone above moves them.

    Returns:
        That bone, which has become a target.
    """
    hips = int(cast.joints[0])
    if not ob.data.bones[hips].use_connect:
        return None
    carrier = hips
    while ob.data.bones[carrier].use_connect:
        carrier = int(cast.parents[carrier])
    moved = targets.get(carrier, np.tile(cast.rest[carrier], (len(targets[hips]), 1, 1))).copy()
    lands = (moved @ np.linalg.inv(cast.rest[carrier]) @ cast.rest[hips])[:, :3, 3]
    moved[:, :3, 3] += targets[hips][:, :3, 3] - lands
    targets[carrier] = moved
    return carrier


def _turned(bone: bpy.types.PoseBone) -> Array:
    return np.array(bone.matrix_basis.to_quaternion().to_matrix(), dtype=np.float64)


def _held(path: str, value: Array, group: str, frames: Array) -> Channel:
    """One key on the first frame that holds a value for the whole result."""
    return Channel(path, value[None], group, "CONSTANT", frames[:1])


def _object_channels(ob: bpy.types.Object, objects: Array, carries: bool, frames: Array) -> list[Channel]:
    """Keys of the object where it carries the base, or where something else would carry it away."""
    channel = pose.ROTATION_CHANNEL.get(ob.rotation_mode, "rotation_euler")
    if carries:
        above = np.array((ob.parent.matrix_world if ob.parent else ob.matrix_world.Identity(4)), dtype=np.float64)
        local = np.linalg.inv(above @ np.array(ob.matrix_parent_inverse)) @ objects
        delta = np.array(ob.delta_location)
        location, rotation, _ = pose.channels(local, ob.rotation_mode)
        return [
            Channel("location", location - delta, "Object Transforms"),
            Channel(channel, rotation, "Object Transforms"),
        ]
    moved = nla.animated_paths(ob)
    return [
        _held(path, np.array(getattr(ob, path), dtype=np.float64), "Object Transforms", frames)
        for path in ("location", channel)
        if path in moved
    ]


def _property_channels(motion: Motion) -> list[Channel]:
    out = []
    for name, values in motion.curves.items():
        kind, _, rest = name.partition("/")
        if kind == "prop":
            out.append(Channel(f'["{bpy.utils.escape_identifier(rest)}"]', values[:, None], "Properties"))
        elif kind == "bone":
            joint, _, prop = rest.rpartition("/")
            path = curves.bone_path(joint, f'["{bpy.utils.escape_identifier(prop)}"]')
            out.append(Channel(path, values[:, None], joint))
    return out


def _shape_channels(ob: bpy.types.Object, motion: Motion) -> dict[str, tuple[Channel, ...]]:
    """Mesh object name to the channels of its shape keys."""
    shapes = {n.partition("/")[2]: v for n, v in motion.curves.items() if n.startswith("shape/")}
    out: dict[str, tuple[Channel, ...]] = {}
    if shapes:
        for mesh in bpy.data.objects:
            if mesh.type == "MESH" and mesh.data.shape_keys and mesh.find_armature() == ob:
                blocks = mesh.data.shape_keys.key_blocks
                found = [
                    Channel(f'key_blocks["{bpy.utils.escape_identifier(name)}"].value', values[:, None])
                    for name, values in shapes.items()
                    if name in blocks
                ]
                if found:
                    out[mesh.name] = tuple(found)
    return out
