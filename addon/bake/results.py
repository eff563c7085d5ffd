"""The results of features on an actor: their recipes, whether their keys were edited, muting, removing, merging."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ...core.errors import InvalidMotion, TroupeError
from ...core.maths import quat
from . import curves, nla, properties, unkeyed
from .evaluation import evaluate
from .keys import Keys

RECIPE = "troupe"
"""Custom property of a result's action that holds its recipe as JSON."""
HANDLES_MOVED = 2e-3
"""Change of `handle_sums` above which some handle was moved by hand."""


@dataclass(frozen=True)
class Found:
    """A result on an actor: its action, and track and strip unless it is the active action."""

    action: Any
    track: Any
    strip: Any


def sign(ob: bpy.types.Object, action: bpy.types.Action, recipe: Mapping[str, Any], keys: Keys) -> None:
    """Store the recipe on the action, with the fingerprint of the keys and the base that they leave out."""
    data = dict(recipe)
    if keys.root == "in_place" and keys.motion.base is not None:
        data["base"] = np.round(keys.motion.base, 6).tolist()
    data["hash"], data["handles"] = fingerprint(ob, action), handle_sums(ob, action)
    action[RECIPE] = json.dumps(data)


def recipe_of(action: bpy.types.Action | None) -> dict[str, Any] | None:
    """The recipe of a result; None when the action is the user's own."""
    if action is None or RECIPE not in action:
        return None
    try:
        data = json.loads(action[RECIPE])
    except (TypeError, ValueError):
        return None
    return data if isinstance(data, dict) else None


def fingerprint(ob: bpy.types.Object, action: bpy.types.Action) -> str:
    """A hash of what a hand may change in the curves: keys, interpolation, modifiers; see `handle_sums` for handles."""
    digest = hashlib.sha256()
    bag = curves.bag(ob, action, create=False)
    for fcurve in sorted(bag.fcurves if bag else (), key=lambda f: (f.data_path, f.array_index)):
        digest.update(f"{fcurve.data_path}[{fcurve.array_index}]{fcurve.mute}".encode())
        points = fcurve.keyframe_points
        co, kind = np.empty(len(points) * 2, np.float32), np.empty(len(points), np.uint8)
        points.foreach_get("co", co)
        points.foreach_get("interpolation", kind)
        digest.update(co.tobytes() + kind.tobytes())
        digest.update("".join(m.type for m in fcurve.modifiers).encode())
    return digest.hexdigest()[:24]


def handle_sums(ob: bpy.types.Object, action: bpy.types.Action) -> list[float]:
    """Weighted sums over all handles of smooth keys, left and right: Blender moves aligned ones by a rounding error."""
    bag, sums = curves.bag(ob, action, create=False), [0.0, 0.0]
    for fcurve in bag.fcurves if bag else ():
        points = fcurve.keyframe_points
        kind, at = np.empty(len(points), np.uint8), np.empty(len(points) * 2, np.float32)
        points.foreach_get("interpolation", kind)
        smooth = np.repeat(kind == curves.INTERPOLATION["BEZIER"], 2)
        if smooth.any():
            weights = np.where(smooth, 1.0 + np.arange(len(at)) % 7, 0.0)
            for k, side in enumerate(("handle_left", "handle_right")):
                points.foreach_get(side, at)
                sums[k] += float(weights @ at)
    return sums


def is_edited(ob: bpy.types.Object, action: bpy.types.Action) -> bool:
    """Whether keys of a result were changed since it was written."""
    recipe = recipe_of(action)
    if recipe is None:
        return False
    now = handle_sums(ob, action)
    moved = np.abs(np.subtract(recipe.get("handles", now), now)).max() > HANDLES_MOVED
    return bool(moved) or recipe.get("hash") != fingerprint(ob, action)


def results_of(ob: bpy.types.Object) -> list[Found]:
    """The results on an actor, the topmost last."""
    data = ob.animation_data
    if data is None:
        return []
    found = [
        Found(strip.action, track, strip)
        for track in data.nla_tracks
        for strip in track.strips
        if recipe_of(strip.action) is not None
    ]
    if recipe_of(data.action) is not None:
        found.append(Found(data.action, None, None))
    return found


def find(ob: bpy.types.Object, name: str) -> Found:
    """The result whose action has this name."""
    for found in results_of(ob):
        if found.action.name == name:
            return found
    names = ", ".join(f.action.name for f in results_of(ob)) or "none"
    raise TroupeError(f"{ob.name} has no result {name!r}; its results: {names}")


def strip_of(ob: bpy.types.Object, action: bpy.types.Action) -> bpy.types.NlaStrip | None:
    """The strip on which an action plays."""
    return next((f.strip for f in results_of(ob) if f.action == action), None)


def remove(ob: bpy.types.Object, found: Found) -> bool:
    """Take a result away. An edited action is kept in the file; returns whether that was so."""
    edited = is_edited(ob, found.action)
    if edited:
        found.action.use_fake_user = True
    if found.strip is None:
        ob.animation_data.action = None
    else:
        found.track.strips.remove(found.strip)
        if not found.track.strips and not found.track.name.startswith(nla.TRACK):
            ob.animation_data.nla_tracks.remove(found.track)
        nla.drop_empty(ob.animation_data)
    unkeyed.put_back(ob, unkeyed.kept(found.action), [f.action for f in results_of(ob)])
    unkeyed.release(ob)
    if not edited and not found.action.use_fake_user and found.action.users == 0:
        bpy.data.actions.remove(found.action)
    if not edited:
        properties.drop_unused(ob, [f.action for f in results_of(ob)])
    return edited


def keep_edits_as_layer(ob: bpy.types.Object, found: Found, fresh: Keys) -> bpy.types.NlaStrip:
    """Put what was edited by hand, as the difference to the `fresh` keys of the same recipe, on a layer of its own."""
    bag = curves.bag(ob, found.action, create=False)
    edited = curves.read(bag) if bag is not None else {}
    frames = fresh.frames
    out = []
    for channel in fresh.channels:
        now = [edited.get((channel.path, channel.index + k)) for k in range(channel.values.shape[1])]
        if any(c is None for c in now):
            continue
        values = evaluate([c for c in now if c is not None], frames)
        made = curves.sampled(channel, frames, frames)
        if np.abs(values - made).max() < 1e-5:
            continue
        if channel.path.endswith("rotation_quaternion"):
            # a COMBINE strip is multiplied onto what lies below from the right
            difference = quat.multiply(quat.conjugate(quat.unit(made)), quat.unit(values))
            difference = quat.continuous(difference)
        else:
            difference = values - made
        out.append(curves.Channel(channel.path, difference, channel.group))
    if not out:
        raise InvalidMotion(f"the edits of {found.action.name} are in no channel that Troupe wrote; choose another way")
    action = bpy.data.actions.new(f"{found.action.name} edits")
    curves.write(curves.bag(ob, action), out, frames)
    strip = nla.land(ob, action, "layer")
    assert strip is not None
    strip.blend_type = "COMBINE"
    return strip


def bake_down(ob: bpy.types.Object, scene: bpy.types.Scene, name: str) -> bpy.types.Action:
    """Everything that plays on an actor as one plain action; the tracks stay below it, muted."""
    first, last = (round(f) for f in nla.frame_range(ob))
    frames = np.arange(first, last + 1, dtype=np.float64)
    paths = sorted(nla.animated_paths(ob))
    values: dict[str, list[Any]] = {path: [] for path in paths}
    with nla.playing(ob, scene, None):
        for frame in frames:
            scene.frame_set(int(frame))
            for path in paths:
                values[path].append(np.atleast_1d(np.array(curves.value(ob, path), dtype=np.float64)))
    channels = []
    for path in paths:
        array = np.array(values[path])
        if path.endswith("rotation_quaternion"):
            array = quat.continuous(quat.unit(array))
        group = path.split('"')[1] if path.startswith("pose.bones[") else "Object Transforms"
        channels.append(curves.Channel(path, array, group))
    action = bpy.data.actions.new(name)
    curves.write(curves.bag(ob, action), channels, frames)
    data = ob.animation_data
    if data.action is not None:
        nla.push_down(ob)
    for track in data.nla_tracks:
        track.mute = True
    curves.assign(ob, action)
    return action
