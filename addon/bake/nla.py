"""NLA tracks and strips: where results land, what plays on an owner, and playing one action alone for a while."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy

from ...core.errors import InvalidMotion
from . import curves

TRACK, LAYER = "Troupe", "Troupe Layer"
SAME = 2e-3
"""Frames and scales that differ by less are the same; Blender keeps them in single precision."""


def land(owner: bpy.types.ID, action: bpy.types.Action, landing: str = "track") -> bpy.types.NlaStrip | None:
    """Put an action where it plays at its own frames; see `core.landing` for the ways.

    Returns:
        Its strip; None when it has become the active action.
    """
    data = owner.animation_data or owner.animation_data_create()
    data.use_tweak_mode = False
    if landing == "replace":
        if data.action is not None and data.action != action:
            data.action.use_fake_user = True
        curves.assign(owner, action)
        return None
    push_down(owner)
    if landing == "layer":
        _keep_room(data)
        return _strip(owner, _above(data, LAYER), action, extrapolation="NOTHING")
    return _strip(owner, _free_track(data, *_span(action)), action, extrapolation="HOLD_FORWARD")


def push_down(owner: bpy.types.ID) -> bpy.types.NlaStrip | None:
    """Move the active action to a strip on its own track above all others, so that it goes on playing as it did.

    Returns:
        Its strip; None when there is no active action.
    """
    data = owner.animation_data
    if data is None:
        return None
    data.use_tweak_mode = False
    action = data.action
    if action is None:
        return None
    slot = getattr(data, "action_slot", None)
    track = _above(data, action.name)
    strip = _strip(owner, track, action, extrapolation=data.action_extrapolation, slot=slot)
    strip.blend_type = data.action_blend_type
    if data.action_influence < 1:
        strip.use_animated_influence = True
        strip.influence = data.action_influence
    data.action = None
    return strip


def lay_under(owner: bpy.types.ID, action: bpy.types.Action, name: str) -> bpy.types.NlaStrip:
    """Let an action say, below whatever lands from now on, what holds wherever that does not play.

    Its track has a name that is not ours, so that nothing lands below it.
    """
    data = owner.animation_data or owner.animation_data_create()
    data.use_tweak_mode = False
    return _strip(owner, _above(data, name), action, extrapolation="HOLD")


def _span(action: bpy.types.Action) -> tuple[float, float]:
    first, last = action.frame_range
    return first, max(last, first + 1)


def _above(data: bpy.types.AnimData, name: str) -> bpy.types.NlaTrack:
    track = data.nla_tracks.new(prev=data.nla_tracks[-1] if len(data.nla_tracks) else None)
    track.name = name
    return track


def _keep_room(data: bpy.types.AnimData) -> None:
    """Let what the whole body does later find a track of ours below the layers, which would be silent under it."""
    ours = itertools.takewhile(lambda t: t.name.startswith(TRACK), reversed(data.nla_tracks))
    if all(t.name.startswith(LAYER) for t in ours):
        _above(data, TRACK)


def drop_empty(data: bpy.types.AnimData) -> None:
    """Remove tracks of ours that have no strips, but for those that keep room below layers."""
    covered = False
    for track in reversed(list(data.nla_tracks)):
        if not track.name.startswith(TRACK):
            break
        layer = track.name.startswith(LAYER)
        if not track.strips and (layer or not covered):
            data.nla_tracks.remove(track)
        else:
            covered = covered or layer


def _free_track(data: bpy.types.AnimData, first: float, last: float) -> bpy.types.NlaTrack:
    """The highest of our tracks with room, as long as nothing of the user's lies above it; else one on top."""
    for track in reversed(data.nla_tracks):
        if not track.name.startswith(TRACK):
            break
        usable = not (track.name.startswith(LAYER) or track.mute or track.lock)
        if usable and all(s.frame_end <= first or s.frame_start >= last for s in track.strips):
            return track
    return _above(data, TRACK)


def _strip(
    owner: bpy.types.ID, track: bpy.types.NlaTrack, action: bpy.types.Action, extrapolation: str, slot: Any = None
) -> bpy.types.NlaStrip:
    first = action.frame_range[0]
    strip = track.strips.new(action.name, int(first // 1), action)
    if strip.frame_start != first:
        strip.frame_start_ui = first
    if hasattr(strip, "action_slot"):
        chosen = slot or curves.find_slot(owner, action)
        if chosen is not None:
            strip.action_slot = chosen
    strip.extrapolation = extrapolation
    return strip


def shown_at(strip: Any, frame: float) -> float:
    """Frame of the scene at which a strip shows a frame of its action."""
    return float(strip.frame_start + (frame - strip.action_frame_start) * strip.scale)


def own_frame(strip: Any, frame: float) -> float:
    """Frame of its action that a strip shows at a frame of the scene: the inverse of `shown_at`."""
    return float(strip.action_frame_start + (frame - strip.frame_start) / max(strip.scale, 1e-6))


def plays_with(strip: Any, lead: Any) -> bool:
    """Whether a strip shows each frame of its action when another shows that of its own."""
    late = abs(strip.frame_start - shown_at(lead, strip.action_frame_start))
    return bool(late < SAME and abs(strip.scale - lead.scale) < SAME)


def play_with(strip: Any, lead: Any) -> None:
    """Let a strip play with another; it stays on its track, and goes as far as its neighbours let it."""
    if plays_with(strip, lead):
        return
    if abs(strip.scale - lead.scale) >= SAME:
        strip.scale = lead.scale
    start = shown_at(lead, strip.action_frame_start)
    length = (strip.action_frame_end - strip.action_frame_start) * strip.scale
    # a strip never ends before it begins: the end that is ahead goes first
    ends = ("frame_end", start + length), ("frame_start", start)
    for name, frame in ends if start > strip.frame_start else reversed(ends):
        setattr(strip, name, frame)


def plain_source(owner: bpy.types.ID) -> bpy.types.Action | None:
    """The active action when nothing but it plays; None when there is none or the NLA has a say."""
    data = owner.animation_data
    if data is None or data.action is None or data.use_tweak_mode:
        return None
    if hasattr(data, "action_slot") and data.action_slot is None:
        return None
    if data.use_nla and any(t.is_solo or (len(t.strips) and not t.mute) for t in data.nla_tracks):
        return None
    return data.action


def sources(owner: bpy.types.ID) -> Iterator[tuple[bpy.types.Action, Any]]:
    """Every action that may play on the owner, with its slot (None before slots)."""
    data = owner.animation_data
    if data is None:
        return
    if data.action is not None:
        yield data.action, getattr(data, "action_slot", None)
    for track in data.nla_tracks if data.use_nla else ():
        for strip in track.strips:
            if strip.action is not None and not (track.mute or strip.mute):
                yield strip.action, getattr(strip, "action_slot", None)


def is_moved(owner: bpy.types.ID) -> bool:
    """Whether some action that may play on the owner has curves for it."""
    bags = (curves.bag(owner, action, create=False, slot=slot) for action, slot in sources(owner))
    return any(bag is not None and len(bag.fcurves) > 0 for bag in bags)


def arrangement(owner: bpy.types.ID) -> tuple[Any, ...]:
    """Which actions play on the owner, when and how: all settings of its tracks and strips, to be compared."""
    data = owner.animation_data
    if data is None:
        return ()
    tracks = [(_settings(t), *map(_settings, t.strips)) for t in data.nla_tracks]
    return (_settings(data), *tracks)


def _settings(data: Any) -> tuple[Any, ...]:
    """The values of all plain settings of a piece of data, and the names of what it points to."""
    kinds = {"BOOLEAN", "INT", "FLOAT", "STRING", "ENUM", "POINTER"}
    found = ((p.type, getattr(data, p.identifier)) for p in data.bl_rna.properties if p.type in kinds)
    return tuple(repr(value) if kind == "POINTER" else value for kind, value in found)


def animated_paths(owner: bpy.types.ID) -> set[str]:
    """Data paths of the owner that its active action or any of its strips moves."""
    return {path for action, slot in sources(owner) for path in curves.paths(owner, action, slot)}


def frame_range(owner: bpy.types.ID, action: bpy.types.Action | None = None) -> tuple[float, float]:
    """First and last frame of an action, or of all that plays on the owner.

    Raises:
        InvalidMotion: Nothing plays.
    """
    if action is not None:
        return tuple(action.frame_range)
    data = owner.animation_data
    spans = [tuple(data.action.frame_range)] if data is not None and data.action is not None else []
    if data is not None and data.use_nla:
        spans += [(s.frame_start, s.frame_end) for t in data.nla_tracks if not t.mute for s in t.strips if not s.mute]
    if not spans:
        raise InvalidMotion(f"{owner.name} has no animation: give it an action or a strip")
    return min(s[0] for s in spans), max(s[1] for s in spans)


@contextmanager
def playing(owner: bpy.types.ID, scene: bpy.types.Scene, action: bpy.types.Action | None) -> Iterator[None]:
    """Let `action` alone play on the owner (None: what it plays anyway); frame, action and values come back after."""
    frame, subframe = scene.frame_current, scene.frame_subframe
    restore = _alone(owner, action) if action is not None else None
    try:
        yield
    finally:
        if restore is not None:
            restore()
        scene.frame_set(frame, subframe=subframe)


def _alone(owner: bpy.types.ID, action: bpy.types.Action) -> Callable[[], None]:
    had_data = owner.animation_data is not None
    data = owner.animation_data or owner.animation_data_create()
    bag = curves.bag(owner, action, create=False)
    put_back = remember(owner, {f.data_path for f in bag.fcurves} if bag is not None else ())
    tweaked = data.use_tweak_mode
    data.use_tweak_mode = False
    before, nla, slot = data.action, data.use_nla, getattr(data, "action_slot", None)
    data.use_nla = False
    curves.assign(owner, action)

    def restore() -> None:
        data.action = before
        if slot is not None:
            data.action_slot = slot
        data.use_nla = nla
        data.use_tweak_mode = tweaked
        put_back()
        if not had_data:
            owner.animation_data_clear()

    return restore


def remember(owner: bpy.types.ID, paths: Iterable[str]) -> Callable[[], None]:
    """Note the values of properties; the result sets them back. Paths that lead nowhere are passed over."""
    values = {path: curves.value(owner, path) for path in paths}

    def put_back() -> None:
        for path, value in values.items():
            if value is not None:
                curves.set_value(owner, path, value)

    return put_back


def refresh(ob: bpy.types.Object, context: bpy.types.Context) -> None:
    """Let Blender see tracks as they are: one that was silent at first stays still until relations are built again."""
    ob.parent = ob.parent
    context.view_layer.update()
