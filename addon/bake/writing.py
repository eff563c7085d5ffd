"""Prepared keys into actions: fresh ones that land in the timeline, or those of a result that is made again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import bpy

from .. import scene as scenes
from . import curves, cycling, nla, properties, results, unkeyed
from .keys import Keys


@dataclass(frozen=True)
class Result:
    """What a bake left in the file: the action, its strip if it has one, and the frames it covers."""

    action: bpy.types.Action
    strip: bpy.types.NlaStrip | None
    first: int
    last: int
    keys: int


def write(
    ob: bpy.types.Object,
    keys: Keys,
    context: bpy.types.Context,
    name: str,
    *,
    landing: str = "track",
    blend: float = 0.0,
    markers: bool = False,
    recipe: Mapping[str, Any] | None = None,
) -> Result:
    """Write prepared keys into a fresh action and land it.

    Args:
        ob: The armature object.
        keys: From `prepare`.
        context: For scene and rate.
        name: Of the action.
        landing: See `core.landing`. What is laid over something else is a layer unless it replaces.
        blend: Time over which a layer fades in and out [s].
        markers: Put events on the timeline.
        recipe: How the result was made, to be kept with it.
    """
    if landing == "track" and not keys.whole:
        landing = "layer"
    curves.check(keys.channels, keys.frames)
    properties.ensure(ob, keys.contacts)
    still = unkeyed.values(ob, keys.channels)
    action = bpy.data.actions.new(name)
    curves.write(curves.bag(ob, action), keys.channels, keys.frames)
    _mark(action, keys)
    for mesh, channels in keys.shapes.items():
        owner = bpy.data.objects[mesh].data.shape_keys
        properties.widen(owner, channels)
        # before slots an action moves one kind of datablock only
        part = action if hasattr(action, "slots") else bpy.data.actions.new(f"{name} {mesh}")
        curves.write(curves.bag(owner, part), channels, keys.frames)
        _mark(part, keys)
        nla.land(owner, part, landing)
    if landing != "replace":
        unkeyed.hold(ob, still, float(keys.frames[0]))
    strip = nla.land(ob, action, landing)
    if strip is not None and landing == "layer":
        fade = min(blend * scenes.fps(context.scene), (len(keys.frames) - 1) / 2)
        strip.use_auto_blend = False
        strip.blend_in = strip.blend_out = fade
    for event in keys.motion.events if markers else ():
        frame = round(keys.frames[0] + event.time * scenes.fps(context.scene))
        context.scene.timeline_markers.new(event.name.replace("_", " "), frame=frame)
    unkeyed.keep(action, still)
    results.sign(ob, action, recipe or {}, keys)
    return Result(action, strip, int(keys.frames[0]), int(keys.frames[-1]), _count(keys))


def rewrite(ob: bpy.types.Object, action: bpy.types.Action, keys: Keys, recipe: Mapping[str, Any]) -> Result:
    """Put other keys into the action of a result; its strip keeps place, scale, repeat, blending, influence, muting."""
    properties.ensure(ob, keys.contacts)
    still = unkeyed.values(ob, keys.channels)
    owners = [(ob, keys.channels)]
    for mesh, channels in keys.shapes.items():
        owners.append((bpy.data.objects[mesh].data.shape_keys, channels))
        properties.widen(owners[-1][0], channels)
    for owner, channels in owners:
        bag = curves.bag(owner, action)
        for fcurve in list(bag.fcurves):
            bag.fcurves.remove(fcurve)
        curves.write(bag, channels, keys.frames)
    _mark(action, keys)
    made = [f.action for f in results.results_of(ob)]
    unkeyed.settle(ob, action, still, [a for a in made if a != action])
    unkeyed.release(ob)
    unkeyed.hold(ob, still, float(keys.frames[0]), landed=True)
    properties.drop_unused(ob, made)
    strip = results.strip_of(ob, action)
    if strip is not None:
        strip.action_frame_start, strip.action_frame_end = keys.frames[0], keys.frames[-1]
    results.sign(ob, action, recipe, keys)
    return Result(action, strip, int(keys.frames[0]), int(keys.frames[-1]), _count(keys))


def _mark(action: bpy.types.Action, keys: Keys) -> None:
    if keys.loop:
        cycling.mark(action, keys.frames[0], keys.frames[-1])
    elif action.use_cyclic:
        cycling.unmark(action)


def _count(keys: Keys) -> int:
    return sum(c.values.size for c in keys.channels)
