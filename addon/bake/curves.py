"""F-curves in Blender 4.2 to 5.2: where they live, writing keys in bulk, reading and evaluating them in numpy.

Up to 4.3 an action owns its curves; from 4.4 on they lie in action > layer > strip > channelbag of a slot. `bag` gives
whatever holds them. Evaluation follows Blender's `fcurve_eval_keyframes`; what numpy does not cover (modifiers, easing
curves, discrete properties) is asked of Blender curve by curve.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ...core.errors import InvalidMotion
from ...core.maths.spline import bezier_value, hermite

Array = npt.NDArray[Any]
Bag = Any
"""What has `.fcurves` and `.groups`: an Action up to 4.3, an ActionChannelbag from 4.4 on."""

INTERPOLATION: Mapping[str, int] = {"CONSTANT": 0, "LINEAR": 1, "BEZIER": 2}
KEY_TYPES: Mapping[str, int] = {"KEYFRAME": 0, "EXTREME": 1, "BREAKDOWN": 2}
ALIGNED = 3
SNAP = 1e-4
"""Blender takes the value of a key, without interpolation, within this distance of it [frames]."""

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


def evaluate(curves: Sequence[Curve], frames: Array) -> Array:
    """(T, C) values of the curves at `frames` (T,), as Blender would give them, to single precision."""
    frames = np.asarray(frames, np.float32).astype(np.float64)
    out = np.empty((len(curves), len(frames)))
    asked = [c for c, curve in enumerate(curves) if not curve.plain]
    for group in _alike(curves):
        times = curves[group[0]].keys[:, 0].astype(np.float64)
        if not np.all(np.diff(times) > 0):
            asked += group
            continue
        values = np.stack([curves[c].keys[:, 1] for c in group]).astype(np.float64)
        left = np.maximum(np.searchsorted(times - SNAP, frames, side="right") - 1, 0)
        off = np.abs(frames - times[left]) > SNAP
        found = values[:, left]
        if off.any():
            keys = _keys([curves[c] for c in group], times, values)
            asked += [group[c] for c in np.flatnonzero(keys.odd)]
            found[:, off] = _between(keys, frames[off], left[off])
        out[group] = found
    for c in asked:
        at = curves[c].fcurve.evaluate
        out[c] = [at(f) for f in frames.tolist()]
    return out.T


def _alike(curves: Sequence[Curve]) -> Iterator[list[int]]:
    """Numbers of the plain curves, those with the same key frames together."""
    groups: dict[bytes, list[int]] = {}
    for c, curve in enumerate(curves):
        if curve.plain:
            groups.setdefault(curve.keys[:, 0].tobytes(), []).append(c)
    yield from groups.values()


@dataclass(frozen=True, eq=False)
class _Keys:
    """Everything about the keys of C curves at the same `times` (K,).

    `values` and `kinds` of interpolation are (C, K); `before` and `after` (C, K, 2) the handles (zero where no key is
    smooth); `linear` (C,) those that go on straight beyond their ends; `odd` (C,) those that only Blender can evaluate.
    """

    times: Array
    values: Array
    kinds: Array
    before: Array
    after: Array
    linear: Array
    odd: Array


def _keys(curves: Sequence[Curve], times: Array, values: Array) -> _Keys:
    kinds = np.empty(values.shape, np.uint8)
    handles = np.zeros((2, *values.shape, 2), np.float32)
    for c, curve in enumerate(curves):
        points = curve.fcurve.keyframe_points
        points.foreach_get("interpolation", kinds[c])
        if (kinds[c] == INTERPOLATION["BEZIER"]).any():
            points.foreach_get("handle_left", handles[0, c].reshape(-1))
            points.foreach_get("handle_right", handles[1, c].reshape(-1))
    before, after = handles.astype(np.float64)
    smooth = kinds == INTERPOLATION["BEZIER"]
    # a handle on the wrong side of its key: time would run back and forth
    backward = smooth & ((before[..., 0] > times + SNAP) | (after[..., 0] < times - SNAP))
    odd = (kinds > INTERPOLATION["BEZIER"]).any(axis=1) | backward.any(axis=1)
    linear = np.array([c.fcurve.extrapolation == "LINEAR" for c in curves])
    return _Keys(times, values, kinds, before, after, linear, odd)


def _between(keys: _Keys, frames: Array, left: Array) -> Array:
    """(C, n) values off the keys: `frames` (n,) whose key to the left (or the first) is `left` (n,)."""
    times, values = keys.times, keys.values
    out = np.empty((len(values), len(frames)))
    ends = ((frames < times[0], 0, 1, keys.before), (frames > times[-1], -1, -2, keys.after))
    for at, end, neighbour, handles in ends:
        if at.any():
            slope = _slope(keys, end, neighbour, handles) * keys.linear
            out[:, at] = values[:, end, None] + slope[:, None] * (frames[at] - times[end])
    inside = (frames > times[0]) & (frames < times[-1])
    if inside.any():
        k, x = left[inside], frames[inside]
        kind = keys.kinds[:, k]
        rise = np.where(kind == INTERPOLATION["CONSTANT"], 0.0, values[:, k + 1] - values[:, k])
        inner = values[:, k] + rise * ((x - times[k]) / (times[k + 1] - times[k]))
        smooth = kind == INTERPOLATION["BEZIER"]
        out[:, inside] = np.where(smooth, _bezier(keys, x, k), inner) if smooth.any() else inner
    return out


def _slope(keys: _Keys, end: int, neighbour: int, handles: Array) -> Array:
    """(C,) slope of straight extrapolation at the first or last key, on the side of these handles."""
    slope = np.zeros(len(keys.values))
    if len(keys.times) > 1:
        straight = (keys.values[:, neighbour] - keys.values[:, end]) / (keys.times[neighbour] - keys.times[end])
        slope = np.where(keys.kinds[:, end] == INTERPOLATION["LINEAR"], straight, slope)
    run, rise = handles[:, end, 0] - keys.times[end], handles[:, end, 1] - keys.values[:, end]
    smooth = keys.kinds[:, end] == INTERPOLATION["BEZIER"]
    return np.where(smooth, rise / np.where(run == 0, np.inf, run), slope)


def _bezier(keys: _Keys, x: Array, k: Array) -> Array:
    """(C, n) values at frames `x` (n,) on the smooth segments from keys `k` (n,) to the next ones."""
    right, left = keys.after[:, k], keys.before[:, k + 1]
    heights = (keys.values[:, k], right[..., 1], left[..., 1], keys.values[:, k + 1])
    x0, hx0, hx1, x1 = keys.times[k], right[..., 0], left[..., 0], keys.times[k + 1]
    if np.ptp(hx0, axis=0).max() < SNAP and np.ptp(hx1, axis=0).max() < SNAP:
        # automatic handles are as long on every curve: solve time once, for the weights of the four heights
        weights = (bezier_value(x, x0, a, hx0[0], b, hx1[0], c, x1, d) for a, b, c, d in np.eye(4))
        return np.sum([w * h for w, h in zip(weights, heights, strict=True)], axis=0)
    y0, hy0, hy1, y1 = heights
    return bezier_value(x, x0, y0, hx0, hy0, hx1, hy1, x1, y1)
