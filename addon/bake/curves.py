"""F-curves in Blender 4.2 to 5.2: where they live, and writing and reading keys in bulk.

Up to 4.3 an action owns its curves; from 4.4 on they lie in action > layer > strip > channelbag of a slot. `bag` gives
whatever holds them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ...core.errors import InvalidMotion
from ...core.maths.spline import hermite

Array = npt.NDArray[Any]
Bag = Any
"""What has `.fcurves` and `.groups`: an Action up to 4.3, an ActionChannelbag from 4.4 on."""

INTERPOLATION: Mapping[str, int] = {"CONSTANT": 0, "LINEAR": 1, "BEZIER": 2}
KEY_TYPES: Mapping[str, int] = {"KEYFRAME": 0, "EXTREME": 1, "BREAKDOWN": 2}
ALIGNED = 3

_FLOATS = re.compile(r"(^|\.)(delta_)?(location|rotation_(euler|quaternion|axis_angle)|scale|influence|value)$")


@dataclass(frozen=True, eq=False)
class Channel:
    """Values for one property, ready to be keyed.

    Attributes:
        path: Data path of the property from its owner.
        values: (T, C) component k goes to array index `index` + k; (T, 1) for a single number.
        group: Name of the group of curves, usually the bone.
        interpolation: One of INTERPOLATION, for every key.
        frames: (T,) where these values stand; None for the frames of the whole write.
        index: First array index.
        slopes: (T, C) change a frame at the keys of a BEZIER channel, held by handles a third of the way to the next
            key, between which it then is a plain cubic; None for automatic handles.
        types: (T,) what each key is to the animator, numbers of KEY_TYPES; None for keyframes.
        cycle: How the curve goes on before its first and after its last key: "REPEAT", "REPEAT_OFFSET" or not ("").
    """

    path: str
    values: Array
    group: str = ""
    interpolation: str = "LINEAR"
    frames: Array | None = None
    index: int = 0
    slopes: Array | None = None
    types: Array | None = None
    cycle: str = ""


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve that moves something: not muted, not empty, its property found.

    Attributes:
        path: Data path of the property from its owner.
        index: Array index.
        keys: (K, 2) frame and value of the keys or baked samples.
        fcurve: The curve itself.
        plain: Its values follow from its keys alone: no modifiers, no baked samples, not a whole number. The others
            only Blender can evaluate.
    """

    path: str
    index: int
    keys: Array
    fcurve: bpy.types.FCurve
    plain: bool


def bone_path(bone: str, channel: str) -> str:
    """Data path of a channel (`location`, `["IK_FK"]`) of a pose bone."""
    dot = "" if channel.startswith("[") else "."
    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"]{dot}{channel}'


def value(owner: bpy.types.ID, path: str) -> Any:
    """Present value of a property, a tuple where it has components; None when the path leads nowhere."""
    try:
        holder, name, own = _holder(owner, path)
        found = holder[name] if own else getattr(holder, name)
    except (ValueError, KeyError, AttributeError):
        return None
    return tuple(found) if hasattr(found, "__len__") and not isinstance(found, str) else found


def set_value(owner: bpy.types.ID, path: str, value: Any) -> None:
    """Set a property by its path; a number becomes the kind that the property holds."""
    holder, name, own = _holder(owner, path)
    now = holder[name] if own else getattr(holder, name)
    if isinstance(now, (bool, int, float)):
        value = type(now)(value)
    if own:
        holder[name] = value
    else:
        setattr(holder, name, value)


def _holder(owner: bpy.types.ID, path: str) -> tuple[Any, str, bool]:
    """Who holds the property, its name, and whether it is a custom one. Resolving those may give words for numbers."""
    own = path.endswith('"]')
    where, _, name = path[:-2].rpartition('["') if own else path.rpartition(".")
    holder = owner.path_resolve(where) if where else owner
    return holder, bpy.utils.unescape_identifier(name) if own else name, own


def find_slot(owner: bpy.types.ID, action: bpy.types.Action, create: bool = False) -> Any:
    """The slot of `action` that is the owner's, or fits it; None where there is none, or no slots at all."""
    if not hasattr(action, "slots"):
        return None
    data = owner.animation_data
    if data is not None and data.action == action and data.action_slot is not None:
        return data.action_slot
    fitting = [s for s in action.slots if s.target_id_type in (owner.id_type, "UNSPECIFIED")]
    own = [s for s in fitting if s.name_display == owner.name]
    if own or (fitting and not create):
        return (own or fitting)[0]
    # another owner's slot is never written into
    return action.slots.new(id_type=owner.id_type, name=owner.name) if create else None


def assign(owner: bpy.types.ID, action: bpy.types.Action | None) -> bpy.types.AnimData:
    """Make `action` the owner's active one, with a slot that fits: without a slot it moves nothing.

    An action that has slots for others only is used with the first slot of the owner's type, as Blender does.
    """
    data = owner.animation_data or owner.animation_data_create()
    if data.action != action:
        data.action = action
    if action is not None and hasattr(action, "slots") and data.action_slot is None:
        data.action_slot = find_slot(owner, action) or find_slot(owner, action, create=True)
    return data


def bag(owner: bpy.types.ID, action: bpy.types.Action, create: bool = True, slot: Any = None) -> Any:
    """Where the owner's curves in `action` lie, whether or not it is assigned; None when there are none to find.

    `slot` names one of the action's slots instead of the owner's.
    """
    if not hasattr(action, "slots"):
        return action
    slot = slot or find_slot(owner, action, create)
    if slot is None or not (create or action.layers):
        return None
    layer = action.layers[0] if action.layers else action.layers.new("Layer")
    if not (create or layer.strips):
        return None
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    return strip.channelbag(slot, ensure=create)


def write(bag: Bag, channels: Iterable[Channel], frames: Array) -> None:
    """Key every channel; the keys a curve had are replaced.

    Args:
        bag: Result of `bag`.
        channels: What to key.
        frames: (T,) strictly increasing [frames], for the channels without their own.

    Raises:
        InvalidMotion: Values are not finite or frames do not increase; nothing has been written then.
    """
    channels = tuple(channels)
    check(channels, frames)
    work = [(c, frames if c.frames is None else c.frames) for c in channels]
    present = {(f.data_path, f.array_index): f for f in bag.fcurves}
    for channel, at in work:
        n, components = channel.values.shape
        keys = np.empty((n, 2), np.float32)  # float32 and uint8 are copied in bulk, other types key by key
        keys[:, 0] = at
        kind = np.full(n, INTERPOLATION[channel.interpolation], np.uint8)
        for k in range(components):
            index = channel.index + k
            fcurve = present.get((channel.path, index)) or _new(bag, channel.path, index, channel.group, components)
            points = fcurve.keyframe_points
            if len(points):
                points.clear()
            points.add(n)
            keys[:, 1] = channel.values[:, k]
            # co_ui takes the handles along: they are sound without update(), which costs five times all the rest
            points.foreach_set("co_ui", keys.ravel())
            points.foreach_set("interpolation", kind)
            if channel.slopes is not None:
                _set_handles(points, keys, channel.slopes[:, k])
            elif channel.interpolation == "BEZIER":
                fcurve.update()
            if channel.types is not None:
                points.foreach_set("type", np.asarray(channel.types, np.uint8))
            if channel.cycle:
                repeat = fcurve.modifiers.new("CYCLES")
                repeat.mode_before = repeat.mode_after = channel.cycle
    bag.id_data.update_tag()


def key(owner: bpy.types.ID, path: str, frames: npt.ArrayLike, values: npt.ArrayLike) -> None:
    """Key a property in the owner's own action, with soft handles, as one does by hand; it then has no other keys.

    Args:
        owner: Whose property it is.
        path: Data path of the property.
        frames: (T,) strictly increasing [frames].
        values: (T, C), or (T,) of a single number.
    """
    at, rows = np.asarray(frames, np.float64), np.asarray(values, np.float64)
    data = owner.animation_data
    action = data.action if data is not None else None
    data = assign(owner, action or bpy.data.actions.new(f"{owner.name}Action"))
    channel = Channel(path, rows.reshape(len(at), -1), interpolation="BEZIER")
    write(bag(owner, data.action), [channel], at)


def _set_handles(points: Any, keys: Array, slopes: Array) -> None:
    """Handles of keys (n, 2) that give the curve these slopes (n,)."""
    widths = np.diff(keys[:, 0].astype(np.float64)) / 3
    if len(widths) == 0:
        return
    for name, reach in (
        ("handle_left", -np.concatenate([widths[:1], widths])),
        ("handle_right", np.concatenate([widths, widths[-1:]])),
    ):
        points.foreach_set(f"{name}_type", np.full(len(keys), ALIGNED, np.uint8))
        points.foreach_set(name, (keys + np.column_stack([reach, reach * slopes])).astype(np.float32).ravel())


def check(channels: Iterable[Channel], frames: Array) -> None:
    """Raise InvalidMotion where `write` would."""
    for channel in channels:
        _check(channel, frames if channel.frames is None else channel.frames)


def sampled(channel: Channel, frames: Array, at: Array) -> Array:
    """(M, C) what a channel gives at frames `at` (M,) within its keys; `frames` as in `write`."""
    times = frames if channel.frames is None else channel.frames
    if channel.slopes is not None:
        return hermite(at, np.asarray(times, np.float64), channel.values, channel.slopes)
    if channel.interpolation == "CONSTANT":
        found: Array = channel.values[np.clip(np.searchsorted(times, at, side="right") - 1, 0, None)]
        return found
    return np.column_stack([np.interp(at, times, values) for values in channel.values.T])


def _check(channel: Channel, frames: Array) -> None:
    if channel.values.ndim != 2 or len(channel.values) != len(frames):
        raise InvalidMotion(f"{channel.path}: values of shape {channel.values.shape} for {len(frames)} frames")
    if not np.isfinite(channel.values).all():
        raise InvalidMotion(f"{channel.path}: the values contain NaN or infinity")
    if len(frames) == 0 or not np.all(np.diff(np.asarray(frames, np.float32)) > 0):
        raise InvalidMotion(f"{channel.path}: frames must increase from key to key")


def _new(bag: Bag, path: str, index: int, group: str, components: int) -> bpy.types.FCurve:
    arguments = bag.fcurves.bl_rna.functions["new"].parameters.keys()
    if not group:
        fcurve = bag.fcurves.new(path, index=index)
    elif "group_name" in arguments:  # 5.0 and later
        fcurve = bag.fcurves.new(path, index=index, group_name=group)
    elif "action_group" in arguments:  # 4.2, 4.3
        fcurve = bag.fcurves.new(path, index=index, action_group=group)
    else:  # 4.4, 4.5
        fcurve = bag.fcurves.new(path, index=index)
        fcurve.group = bag.groups.get(group) or bag.groups.new(group)
    if components > 2:
        fcurve.color_mode = "AUTO_YRGB" if components == 4 else "AUTO_RGB"
    return fcurve


def read(bag: Bag) -> dict[tuple[str, int], Curve]:
    """The curves that Blender would evaluate, by path and array index.

    Raises:
        InvalidMotion: A key is NaN or infinite; the curve is named.
    """
    live = [f for f in bag.fcurves if not (f.mute or f.is_empty or not f.is_valid or (f.group and f.group.mute))]
    sources = [f.keyframe_points if len(f.keyframe_points) else f.sampled_points for f in live]
    ends = np.cumsum([0, *(len(s) for s in sources)])
    keys = np.empty((ends[-1], 2), np.float32)
    for source, a, b in zip(sources, ends[:-1], ends[1:], strict=True):
        source.foreach_get("co", keys[a:b].reshape(-1))
    found = []
    for fcurve, a, b in zip(live, ends[:-1], ends[1:], strict=True):
        path = fcurve.data_path
        plain = bool(len(fcurve.keyframe_points)) and not len(fcurve.modifiers) and bool(_FLOATS.search(path))
        found.append(Curve(path, fcurve.array_index, keys[a:b], fcurve, plain))
    if not np.isfinite(keys).all():
        wrong = next(c for c in found if not np.isfinite(c.keys).all())
        frame = wrong.keys[~np.isfinite(wrong.keys).all(axis=1)][0, 0]
        raise InvalidMotion(f"{wrong.path}[{wrong.index}]: the key at frame {frame:g} is not a number; delete it")
    return {(c.path, c.index): c for c in found}


def paths(owner: bpy.types.ID, action: bpy.types.Action, slot: Any = None) -> set[str]:
    """Data paths of the owner that an action has curves for."""
    found = bag(owner, action, create=False, slot=slot)
    return {f.data_path for f in found.fcurves} if found is not None else set()


def drop_broken_keys(owner: bpy.types.ID, action: bpy.types.Action) -> int:
    """Delete the keys that are not numbers, and return how many there were."""
    count = 0
    found = bag(owner, action, create=False)
    for fcurve in found.fcurves if found is not None else ():
        points = fcurve.keyframe_points
        for point in [p for p in reversed(points) if not np.isfinite(np.array(p.co)).all()]:
            points.remove(point)
            count += 1
    return count


def key_frames(bag: Bag) -> Array:
    """(K,) increasing frames with keys on any curve, found without reading every curve.

    Curves with as many keys between the same ends are taken to have them on the same frames.
    """
    seen: dict[tuple[int, float, float], Array] = {}
    for fcurve in bag.fcurves:
        points = fcurve.keyframe_points
        if len(points):
            kind = (len(points), points[0].co[0], points[-1].co[0])
            if kind not in seen:
                keys = np.empty(len(points) * 2, np.float32)
                points.foreach_get("co", keys)
                seen[kind] = keys[::2]
    return np.unique(np.concatenate(list(seen.values()))) if seen else np.empty(0)
