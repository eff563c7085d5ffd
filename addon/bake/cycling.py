"""Curves of a loop, which go on after their last key as after their first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import bpy
import numpy as np

from ...core.motion import Motion
from ...core.skeleton import Array
from .curves import Channel

SEAM = 1e-4
"""A value whose last key is as near to its first as this closes."""


def note(motion: Motion, fps: float) -> str:
    """How many frames one round of a loop takes at `fps`, and whether that is rounded; empty for what is no loop."""
    if not motion.loop:
        return ""
    frames = len(motion) * fps / motion.fps
    whole = max(1, round(frames))
    rounded = f" (rounded from {frames:.2f})" if abs(frames - whole) > 0.005 else ""
    return f"cycle of {whole} frames{rounded}"


def repeats(channels: Iterable[Channel]) -> bool:
    """Whether channels that were keyed over one round can be repeated: places may move on, but nothing may have turned.

    Whole turns are none.
    """
    return all(_closing(c) is not None for c in channels if _spans(c))


def repeating(channel: Channel) -> Channel:
    """The channel with equal first and last values where it closes, and told to go on."""
    last = _closing(channel) if _spans(channel) else None
    if last is None:
        return channel
    values = np.concatenate([channel.values[:-1], last[None]])
    moves_on = np.abs(last - channel.values[0]).max() > SEAM and not _quaternion(channel)
    return replace(channel, values=values, cycle="REPEAT_OFFSET" if moves_on else "REPEAT")


def mark(action: bpy.types.Action, first: float, last: float) -> None:
    """Tell Blender and the animator that an action is one round of a cycle, from one frame to the other."""
    action.use_frame_range = action.use_cyclic = True
    action.frame_start, action.frame_end = first, last


def unmark(action: bpy.types.Action) -> None:
    """The opposite of `mark`."""
    action.use_frame_range = action.use_cyclic = False


def _spans(channel: Channel) -> bool:
    """Whether it has keys over the whole round, and not one that holds."""
    return len(channel.values) > 1


def _quaternion(channel: Channel) -> bool:
    return channel.path.endswith("rotation_quaternion")


def _closing(channel: Channel) -> Array | None:
    """(C,) last values that follow the round, exact where they close; None where the channel has turned meanwhile."""
    first, last = channel.values[0], channel.values[-1]
    near = np.abs(last - first) < SEAM
    if _quaternion(channel):
        if near.all():
            return first
        return -first if np.abs(last + first).max() < SEAM else None
    if channel.path.endswith("rotation_axis_angle"):
        return first if near.all() else None
    if channel.path.endswith("rotation_euler"):
        turns = 2 * np.pi * np.round((last - first) / (2 * np.pi))
        return first + turns if np.abs(last - first - turns).max() < SEAM else None
    return np.where(near, first, last)
