"""Ways of things and cameras that a performance moves: keys of their own, made again when the performance is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ...core.maths import euler, quat
from ...core.skeleton import Array
from . import curves, nla
from .curves import Channel
from .pose import ROTATION_CHANNEL, rotation_values

WAY = "troupe_way"
"""Custom property of the action of such a way: the feature that made it."""


def write_way(ob: bpy.types.Object, feature: str, frames: Array, places: Array | None, turns: Array | None) -> Any:
    """Key an object without bones; what it did before stays below, and keys of an earlier way are replaced.

    Args:
        ob: Thing or camera.
        feature: Who moves it.
        frames: (T,) [frames].
        places: (T, 3) locations in the world [units]; None to leave them alone.
        turns: (T, 4) orientations in the world; None to leave them alone.

    Returns:
        The action.
    """
    return _written(ob, feature, frames, way_channels(ob, places, turns))


def way_channels(ob: bpy.types.Object, places: Array | None, turns: Array | None) -> list[Channel]:
    """The channels of an object without bones that is at places (T, 3) [units], turned (T, 4), in the world."""
    inverse = np.asarray(np.linalg.inv(_parent(ob)), dtype=np.float64)
    channels = []
    if places is not None:
        local = places @ inverse[:3, :3].T + inverse[:3, 3]
        channels.append(Channel("location", local, "Object Transforms"))
    if turns is not None:
        path = ROTATION_CHANNEL.get(ob.rotation_mode, "rotation_euler")
        own = _turn(inverse) @ quat.to_matrix(turns)
        channels.append(Channel(path, rotation_values(own, ob.rotation_mode), "Object Transforms"))
    return channels


def write_joints(ob: bpy.types.Object, feature: str, frames: Array, names: Sequence[str], angles: Array) -> Any:
    """Key the bones of a machine.

    Args:
        ob: The armature.
        feature: Who moves it.
        frames: (T,) [frames].
        names: Of L bones.
        angles: (T, L, 3) about X, then Y, then Z [rad].

    Returns:
        The action.
    """
    channels = []
    for k, name in enumerate(names):
        mode = ob.pose.bones[name].rotation_mode
        values = angles[:, k]
        if mode != "XYZ":
            values = rotation_values(euler.to_matrix(angles[:, k], "XYZ"), mode)
        path = curves.bone_path(name, ROTATION_CHANNEL.get(mode, "rotation_euler"))
        channels.append(Channel(path, np.asarray(values), name))
    return _written(ob, feature, frames, channels)


def _written(ob: bpy.types.Object, feature: str, frames: Array, channels: list[Channel]) -> Any:
    """The action with these channels in place of those of an earlier way."""
    strip = way_of(ob, feature)
    alone = not nla.animated_paths(ob)
    action = strip.action if strip is not None else bpy.data.actions.new(f"{ob.name} {feature}")
    bag = curves.bag(ob, action)
    for fcurve in list(bag.fcurves):
        bag.fcurves.remove(fcurve)
    curves.write(bag, channels, frames)
    action[WAY] = feature
    if strip is None:
        made = nla.land(ob, action)
        if made is not None and alone:
            made.extrapolation = "HOLD"  # before it nothing else says where the thing is
    else:
        strip.action_frame_start, strip.action_frame_end = frames[0], frames[-1]
        strip.frame_start, strip.frame_end = frames[0], max(frames[-1], frames[0] + 1)
    return action


def way_of(ob: bpy.types.Object, feature: str) -> Any:
    """The strip of a way that a feature gave an object; None when there is none."""
    for track in ob.animation_data.nla_tracks if ob.animation_data else ():
        for strip in track.strips:
            if strip.action is not None and strip.action.get(WAY) == feature:
                return strip
    return None


def _parent(ob: bpy.types.Object) -> Array:
    if ob.parent is None:
        return np.eye(4)
    return np.array(ob.parent.matrix_world @ ob.matrix_parent_inverse, dtype=np.float64)


def _turn(matrix: Array) -> Array:
    """(3, 3) what a matrix turns, without its scale."""
    lengths = np.linalg.norm(matrix[:3, :3], axis=0)
    out: Array = matrix[:3, :3] / np.maximum(lengths, 1e-12)
    return out
