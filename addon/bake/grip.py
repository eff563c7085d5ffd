"""Arms that hold something: a strip above the result that took it, which lasts until the arms do something else.

It begins with the result and plays with it. Whatever the body does after that, arms and fingers stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy

from ...core.skeleton import Array
from . import curves, nla, results, unkeyed
from .curves import Channel

OWNER = "troupe_grip"
"""Custom property of the action: which result it belongs to."""


def write(actor: bpy.types.Object, owner: str, channels: Sequence[Channel], frames: Array, lead: Any) -> None:
    """Let arms play as these channels say, over all there is; what an earlier writing of the same result left goes.

    Args:
        actor: The armature object.
        owner: Tells results of all actors apart.
        channels: Of its arms; empty for none.
        frames: (T,) of the result.
        lead: The strip of the result.
    """
    known = find(actor).get(owner)
    if not channels or lead is None:
        drop(actor, owner)
        return
    if known is None:
        action = bpy.data.actions.new(f"{lead.action.name} grip")
        action[OWNER] = owner
    else:
        action = known[1].action
        for fcurve in list(curves.bag(actor, action).fcurves):
            curves.bag(actor, action).fcurves.remove(fcurve)
    still = unkeyed.values(actor, channels) if known is None else {}
    unkeyed.keep(action, still)
    curves.write(curves.bag(actor, action), channels, frames)
    unkeyed.hold(actor, still, float(frames[0]))
    strip = known[1] if known is not None else nla.land(actor, action, "layer")
    assert strip is not None
    strip.use_auto_blend, strip.blend_in, strip.blend_out = False, 0.0, 0.0
    strip.action_frame_start, strip.action_frame_end = frames[0], frames[-1]
    strip.mute = lead.mute
    nla.play_with(strip, lead)


def find(actor: bpy.types.Object) -> dict[str, tuple[Any, Any]]:
    """Tracks and strips of arms that hold something, by the result they belong to."""
    data = actor.animation_data
    if data is None:
        return {}
    rows = [(track, strip) for track in data.nla_tracks for strip in track.strips if strip.action is not None]
    return {strip.action[OWNER]: (track, strip) for track, strip in rows if OWNER in strip.action}


def drop(actor: bpy.types.Object, owner: str) -> None:
    """Take away the strip that belongs to a result."""
    found = find(actor).get(owner)
    if found is None:
        return
    track, strip = found
    action = strip.action
    track.strips.remove(strip)
    nla.drop_empty(actor.animation_data)
    unkeyed.put_back(actor, unkeyed.kept(action), [f.action for f in results.results_of(actor)])
    unkeyed.release(actor)
    if action.users == 0:
        bpy.data.actions.remove(action)
