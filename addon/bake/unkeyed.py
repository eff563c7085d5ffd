"""Values that only a result moves: they are kept with it and come back when it no longer plays.

Blender leaves a channel that nothing moves any more as it was moved last, and gives it its default at frames at which
no strip that moves it plays: a character posed without keys would be in its rest pose before and after a result. What
is not at its default is therefore held by a strip below them as long as there are results.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np

from . import curves, nla
from .curves import Channel

STILL = "troupe still"
"""Custom property of a result's action: JSON of data paths and what they held before."""
HELD = "troupe_held"
"""Custom property of the action, and name of the track, that holds them where no result plays."""
TRACK = "Still"


def values(ob: bpy.types.Object, channels: Iterable[Channel]) -> dict[str, list[float]]:
    """What the channels that nothing moves so far hold, by data path; those of numbers in a row alone."""
    moved = nla.animated_paths(ob)
    paths = {c.path for c in channels} - moved
    found = {path: ob.path_resolve(path) for path in sorted(paths)}
    rows = {path: value for path, value in found.items() if hasattr(value, "__len__") and not isinstance(value, str)}
    return {path: [float(x) for x in value] for path, value in rows.items()}


def keep(action: bpy.types.Action, held: dict[str, list[float]]) -> None:
    """Store values with the result that moves them from now on."""
    if held:
        action[STILL] = json.dumps(held)


def settle(
    ob: bpy.types.Object, action: bpy.types.Action, held: dict[str, list[float]], others: Iterable[bpy.types.Action]
) -> None:
    """After other keys were put into a result: hold what it moves now, give back what it does not move any more."""
    paths, known = curves.paths(ob, action), held | kept(action)
    if known:
        action[STILL] = json.dumps({p: v for p, v in known.items() if p in paths})
        put_back(ob, {p: v for p, v in known.items() if p not in paths}, others)


def kept(action: bpy.types.Action) -> dict[str, Any]:
    """The values stored with a result."""
    try:
        found = json.loads(action.get(STILL, "{}"))
    except (TypeError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def put_back(ob: bpy.types.Object, held: dict[str, Any], others: Iterable[bpy.types.Action] = ()) -> None:
    """Give back what nothing moves any more; what one of the results `others` moves is handed on to it."""
    for action in others:
        paths = curves.paths(ob, action)
        keep(action, {p: v for p, v in held.items() if p in paths} | kept(action))
    moved = nla.animated_paths(ob)
    for path in held.keys() - moved:
        try:
            ob.path_resolve(path)[:] = held[path]
        except (TypeError, ValueError):  # a bone of another name by now
            continue


def hold(ob: bpy.types.Object, held: dict[str, list[float]], frame: float, landed: bool = False) -> None:
    """Let values that a result is to move stay as they are wherever none plays.

    Args:
        ob: The armature object.
        held: From `values`.
        frame: First one of the result.
        landed: Whether it is in the NLA already, where nothing new can be laid under it.
    """
    away = {path: row for path, row in held.items() if _is_away(ob, path, row)}
    strip = _holding(ob)
    if not away or (strip is None and landed):
        return
    action = strip.action if strip is not None else bpy.data.actions.new(f"{ob.name} still")
    at = np.array([frame if strip is None else float(strip.action_frame_start)])
    channels = [Channel(path, np.array([row]), TRACK, "CONSTANT") for path, row in away.items()]
    curves.write(curves.bag(ob, action), channels, at)
    if strip is None:
        action[HELD] = True
        nla.lay_under(ob, action, TRACK)


def release(ob: bpy.types.Object) -> None:
    """Set values that no result moves any more back to what was held, and hold them no longer."""
    strip = _holding(ob)
    if strip is None:
        return
    action, bag = strip.action, curves.bag(ob, strip.action, create=False)
    silent, strip.mute = strip.mute, True
    moved = nla.animated_paths(ob)
    strip.mute = silent
    for curve in [f for f in bag.fcurves if f.data_path not in moved] if bag is not None else ():
        row = curves.value(ob, curve.data_path)
        if isinstance(row, tuple):
            value = float(curve.keyframe_points[0].co[1])
            curves.set_value(ob, curve.data_path, [value if k == curve.array_index else x for k, x in enumerate(row)])
        bag.fcurves.remove(curve)
    if bag is None or not bag.fcurves:
        data = ob.animation_data
        data.nla_tracks.remove(next(t for t in data.nla_tracks if strip in list(t.strips)))
        bpy.data.actions.remove(action)


def _holding(ob: bpy.types.Object) -> Any:
    """The strip that holds values where no result plays; None when there is none."""
    tracks = ob.animation_data.nla_tracks if ob.animation_data is not None else ()
    return next((s for t in tracks for s in t.strips if s.action is not None and HELD in s.action), None)


def _is_away(ob: bpy.types.Object, path: str, row: list[float]) -> bool:
    """Whether a property of Blender's own is not at the default that the NLA gives it."""
    owner, _, name = path.rpartition(".")
    known = (ob.path_resolve(owner) if owner else ob).bl_rna.properties.get(name)
    return known is not None and bool(np.abs(np.array(known.default_array) - row).max() > 1e-6)
