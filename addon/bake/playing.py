"""What a rig shows with other values in its channels, and which channels move what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np
import numpy.typing as npt

from ...core.kinematics.cast import Cast, read_joints
from ...core.motion import Motion
from ...core.skeleton import SIDES, Array
from ..steps import Steps
from . import controls, pose
from .bones import Body
from .curves import Channel
from .thinning import Movers

OBJECT = "Object Transforms"
"""Group of the curves of the object itself."""


@dataclass(frozen=True, eq=False)
class Player:
    """A rig with a key on every frame.

    Attributes:
        ob, cast: The rig.
        channels: Its keys at `frames` (T,).
        motion: What they are to show.
        body: Its bones where these are keyed directly; None for a control rig, which is played frame by frame.
        objects: World matrices (T or 1, 4, 4) of the object; they follow from the channels where it is `carried`.
        metre: Metres of one world unit.
    """

    ob: bpy.types.Object
    cast: Cast
    channels: Sequence[Channel]
    frames: Array
    motion: Motion
    body: Body | None
    objects: Array
    carried: bool
    metre: float

    def play_steps(self, values: Mapping[str, Array], at: npt.NDArray[np.int64]) -> Steps[Motion]:
        """Steps to what the rig shows at samples `at` (n,) with other values (T, C) in the channels of these paths."""
        some = {path: v[at] for path, v in values.items()}
        if self.body is not None:
            return self.motion_of(self.body.part(at).shown(some), some, at)
        keyed = [
            c if c.frames is not None else replace(c, values=some.get(c.path, c.values[at]), cycle="")
            for c in self.channels
        ]
        posed = yield from controls.play_steps(self.ob, keyed, self.frames[at], self.cast.joints.tolist())
        return self.motion_of(posed, some, at)

    def motion_of(self, posed: Array, values: Mapping[str, Array], at: npt.NDArray[np.int64] | None = None) -> Motion:
        """The motion of joints whose bones have these armature-space matrices (n, J, 4, 4)."""
        motion = self.motion
        part = np.arange(len(motion)) if at is None else at
        objects = self.objects if len(self.objects) == 1 else self.objects[part]
        channel = pose.ROTATION_CHANNEL.get(self.ob.rotation_mode, "rotation_euler")
        if self.carried and "location" in values and channel in values:
            above = np.array(self.ob.parent.matrix_world if self.ob.parent else np.eye(4), dtype=np.float64)
            above = above @ np.array(self.ob.matrix_parent_inverse)
            scale = pose.decompose(np.linalg.inv(above) @ objects)[2]
            location = values["location"] + np.array(self.ob.delta_location)
            objects = above @ pose.basis_from_channels(location, values[channel], self.ob.rotation_mode, scale)
        world = objects[:, None] @ posed
        world[..., :3, :] *= self.metre
        roots, rotations = read_joints(self.cast, world)
        curves = {name: curve[part] for name, curve in motion.curves.items()}
        return replace(motion, roots=roots, rotations=rotations, base=None, curves=curves, events=(), loop=False)

    def modes(self) -> dict[str, str]:
        """Path of every rotation channel to its rotation mode."""
        out = {}
        for channel in self.channels:
            if "rotation_" in channel.path:
                owner = self.ob if channel.group == OBJECT else self.ob.pose.bones[channel.group]
                out[channel.path] = owner.rotation_mode
        return out

    def movers(self, legs: str) -> Movers:
        """Which channels move what; `legs` are keyed as "ik" or "fk" where there is a choice."""
        skeleton, spoken = self.cast.skeleton, self.motion.mask
        used = {c.group for c in self.channels if c.frames is None}
        rig = controls.find(self.ob)
        if rig is None:
            carriers = _above(self.cast)
            turning = [frozenset({name}) for name in skeleton.names]
        else:
            carriers = rig.movers(rig.hips, used) | rig.movers("root", used)
            turning = [rig.movers(name, used) for name in skeleton.names]
        hips = (carriers | {OBJECT}) & used if spoken is None or spoken[0] else frozenset()
        solved = rig is not None and legs == "ik"
        joints = {j: turning[j] & used for j in range(1, len(skeleton)) if spoken is None or spoken[j]}
        chains = []
        for side in SIDES:
            chain = [j for part in ("thigh", "shin", "foot") for j in skeleton.roles.get(f"{part}_{side}", ())]
            chains.append(frozenset().union(*(turning[j] for j in (chain[-1:] if solved else chain))) & used)
            if solved:
                joints |= {j: joints[j] | hips for j in chain if j in joints}
        if hips:
            joints[0] = hips
        left, right = (chain if solved else chain | hips for chain in chains)
        return Movers(joints, hips, (left, right))


def _above(cast: Cast) -> frozenset[str]:
    """The hips bone and everything above it."""
    bone, names = int(cast.joints[0]), []
    while bone >= 0:
        names.append(cast.bones[bone])
        bone = int(cast.parents[bone])
    return frozenset(names)
