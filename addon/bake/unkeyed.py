"""Values that only a result moves: they are kept with it and come back when it no longer plays.

Blender leaves a channel that nothing moves any more as it was moved last.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import bpy

from . import curves, nla
from .curves import Channel

STILL = "troupe still"
"""Custom property of a result's action: JSON of data paths and what they held before."""


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
