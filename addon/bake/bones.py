"""Keys for bones that are keyed directly, and what the rig shows with them."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

import bpy
import numpy as np
import numpy.typing as npt

from ...core.kinematics.cast import Cast
from ...core.maths import quat
from ...core.skeleton import Array
from . import curves, nla, pose
from .curves import Channel

STILL = 1e-6


@dataclass(frozen=True, eq=False)
class Body:
    """Bones as they are keyed.

    Attributes:
        rest: Their rest.
        modes: Their rotation modes.
        basis: (T, n, 4, 4) their `matrix_basis`.
        joints: Which of them each joint is.
    """

    rest: pose.Rest
    modes: tuple[str, ...]
    basis: Array
    joints: tuple[int, ...]

    def part(self, at: npt.NDArray[np.int64]) -> Body:
        """The same at some samples."""
        return replace(self, basis=self.basis[at])

    def shown(self, values: Mapping[str, Array]) -> Array:
        """Armature-space matrices (T, J, 4, 4) of the joints with other values (T, C) at some channel paths."""
        basis = self.basis.copy()
        for k, (name, mode) in enumerate(zip(self.rest.names, self.modes, strict=True)):
            turn = values.get(curves.bone_path(name, pose.ROTATION_CHANNEL.get(mode, "rotation_euler")))
            place = values.get(curves.bone_path(name, "location"))
            if turn is not None:
                size = np.linalg.norm(basis[:, k, :3, :3], axis=-2, keepdims=True)
                basis[:, k, :3, :3] = pose.rotation_matrix(turn, mode) * size
            if place is not None:
                basis[:, k, :3, 3] = place
        return pose.pose_from_basis(self.rest, basis)[:, list(self.joints)]


def bone_channels(
    ob: bpy.types.Object, cast: Cast, targets: Mapping[int, Array], keyed: Set[int], frames: Array
) -> tuple[list[Channel], Body]:
    """Channels of the `keyed` bones among the targets, and rest keys for what carries them if something moves it.

    The other targets tell only where the parents of keyed bones are meant to be.

    Args:
        ob: The armature object.
        cast: How it is cast.
        targets: Bone to the armature-space matrices (T, 4, 4) it shall take.
        keyed: The bones that get keys.
        frames: (T,).
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
                    out.append(held(place, np.zeros(3), bone.name, frames))
            elif b in carrying and (path in moved or disturbed or quat.angle(quat.from_matrix(_turned(bone))) > STILL):
                out.append(held(path, rotations[0, k], bone.name, frames))
                out.append(held(place, np.zeros(3), bone.name, frames))
    modes = tuple(ob.pose.bones[b].rotation_mode for b in order)
    return out, Body(part, modes, basis, tuple(number[b] for b in cast.joints.tolist()))


def carry_connected_hips(ob: bpy.types.Object, cast: Cast, targets: dict[int, Array]) -> int | None:
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


def held(path: str, value: Array, group: str, frames: Array) -> Channel:
    """One key on the first frame that holds a value for the whole result."""
    return Channel(path, value[None], group, "CONSTANT", frames[:1])


def _carries(parents: npt.NDArray[np.int64], bone: int, keyed: int, targets: Mapping[int, Array]) -> bool:
    """Whether `bone` lies between a keyed bone and the next target above it."""
    p = int(parents[keyed])
    while p >= 0 and p not in targets:
        if p == bone:
            return True
        p = int(parents[p])
    return False


def _turned(bone: bpy.types.PoseBone) -> Array:
    return np.array(bone.matrix_basis.to_quaternion().to_matrix(), dtype=np.float64)
