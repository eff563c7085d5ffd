"""How to mend what the Doctor finds: one function a kind, which raises before it changes anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import bpy
import numpy as np

from ..core.errors import InvalidRig, TroupeError
from ..core.filters.doctor import DoctorParams
from ..core.filters.mend import CURES
from ..core.formats.rolemap import RoleMap
from . import bake, checkup, rig, settings
from .bake import curves, nla, results


class Remedy(NamedTuple):
    """What mends a kind of finding: the words on its button, its icon, and `act(ob, context, part)`.

    `act` returns the sentence to report; where it puts another object in the place of `ob`, that has its name.
    """

    label: str
    icon: str
    act: Callable[[bpy.types.Object, bpy.types.Context, str], str]


def examined(ob: bpy.types.Object, context: bpy.types.Context) -> tuple[Any, Any, Any, float]:
    """Cast, motion, its frames (T,) and the height of the ground [m] of what an actor plays."""
    cast = rig.read(ob, context)
    first, last = nla.frame_range(ob)
    span = float(np.floor(first)), float(np.ceil(last))
    times, _ = bake.sample_times(ob, context.scene, frames=span)
    motion = bake.read(ob, cast, context, frames=span)
    ground = bake.ground_of(ob, cast, context, bake.pose_here(ob, cast, context))
    return cast, motion, times, ground


def _motion(kind: str, title: str) -> Callable[..., str]:
    """A remedy that lays corrected motion over what plays; keys below stay as they are."""

    def act(ob: bpy.types.Object, context: bpy.types.Context, part: str) -> str:
        cast, motion, times, ground = examined(ob, context)
        params = settings.params_from(ob.troupe.doctor, DoctorParams)
        mended = CURES[kind](motion, params, ground)
        if not np.any(mended.mask):
            raise TroupeError(f"{ob.name}: nothing to mend; press Examine again")
        own = ob.troupe.cast
        # corrections are in the world as it is shown: travel that was left out stays out
        root = "hips" if own.root == "in_place" else own.root
        keys = bake.prepare(ob, cast, mended, context, int(times[0]), root=root, legs=own.legs, arms=own.arms)
        recipe = {"feature": "doctor", "params": params.to_dict(), "fix": kind}
        done = bake.write(ob, keys, context, f"{ob.name} {title}", landing="layer", recipe=recipe)
        return f"{ob.name}: {title} on a layer above, frames {done.first} to {done.last}"

    return act


def _cast(ob: bpy.types.Object, context: bpy.types.Context, part: str) -> str:
    """Find the roles that are missing; what is mapped to bones that exist stays."""
    stored = rig.role_map(ob)
    kept = {role: tuple(b for b in chain if b in ob.data.bones) for role, chain in stored.roles.items()}
    detected = rig.detect(rig.bones_of(ob))
    if not any(kept.values()):
        roles = dict(detected.roles)
    else:
        used = {b for chain in kept.values() for b in chain}
        fresh = {r: chain for r, chain in detected.roles.items() if not kept.get(r) and not used & set(chain)}
        roles = {role: chain for role, chain in {**kept, **fresh}.items() if chain}
    neutral = {b: q for b, q in stored.neutral.items() if b in ob.data.bones}
    rig.read(ob, context, roles, neutral)
    rig.store(ob, RoleMap(roles, neutral), detected)
    bones = sum(len(chain) for chain in roles.values())
    return f"{ob.name}: {bones} bones in {len(roles)} roles"


def _override(ob: bpy.types.Object, context: bpy.types.Context, part: str) -> str:
    made = ob.override_hierarchy_create(context.scene, context.view_layer, do_fully_editable=True)
    if made is None:
        raise InvalidRig(f"{ob.name} cannot be overridden: link its collection and make an override of that")
    made.select_set(True)
    context.view_layer.objects.active = made
    return f"{made.name} is a library override and can be animated"


def _apply_scale(ob: bpy.types.Object, context: bpy.types.Context, part: str) -> str:
    size = np.array(ob.scale) * np.array(ob.delta_scale)
    even = np.ptp(size) < 1e-6 * abs(size).max() and size[0] > 0
    paths = nla.animated_paths(ob)
    by_hand = "apply it by hand (Object > Apply > Scale)"
    if "scale" in paths or "delta_scale" in paths:
        raise InvalidRig(f"the scale of {ob.name} is animated: remove those keys, then {by_hand}")
    if any(p.endswith(".location") for p in paths) or (paths and not even):
        raise InvalidRig(f"{ob.name} is animated and its keys would mean something else: take them off, then {by_hand}")
    if ob.data.users > 1:
        raise InvalidRig(f"{ob.data.name} is used by {ob.data.users} objects: make it single-user, then {by_hand}")
    if ob.mode != "OBJECT":
        raise InvalidRig(f"{ob.name} is in Pose Mode: go to Object Mode first")
    for bone in ob.pose.bones:
        bone.location = [x * s for x, s in zip(bone.location, size, strict=True)] if even else bone.location
    ob.scale = size
    ob.delta_scale = (1.0, 1.0, 1.0)
    with context.temp_override(active_object=ob, object=ob, selected_editable_objects=[ob], selected_objects=[ob]):
        bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    return f"{ob.name}: scale applied"


def _mute_constraints(ob: bpy.types.Object, context: bpy.types.Context, part: str) -> str:
    found = {id(x): x for each in checkup.hiding(ob).values() for x in each}
    for hiding in found.values():
        hiding.mute = True
    return f"{ob.name}: {len(found)} constraints and drivers muted"


def _unmute(ob: bpy.types.Object, context: bpy.types.Context, part: str) -> str:
    found = results.find(ob, part)
    if found.track is not None and found.strip is not None:
        found.track.mute = found.strip.mute = False
    return f"{part} shows again"


def _no_solo(ob: bpy.types.Object, context: bpy.types.Context, part: str) -> str:
    for track in ob.animation_data.nla_tracks:
        track.is_solo = False
    return f"All tracks of {ob.name} play"


def _stash(ob: bpy.types.Object, context: bpy.types.Context, part: str) -> str:
    name = ob.animation_data.action.name
    strip = nla.push_down(ob)
    track = next(t for t in ob.animation_data.nla_tracks if strip in list(t.strips))
    track.mute = True
    return f"{name} is kept on the muted track {track.name}"


def _realign(ob: bpy.types.Object, context: bpy.types.Context, part: str) -> str:
    from .features import handling  # the features build on this module

    return f"{ob.name}: {handling.realign(ob)} strips of props play with its hands again"


def _assign_slot(ob: bpy.types.Object, context: bpy.types.Context, part: str) -> str:
    curves.assign(ob, ob.animation_data.action)
    return f"{part} moves {ob.name}"


def _delete_broken(ob: bpy.types.Object, context: bpy.types.Context, part: str) -> str:
    action = bpy.data.actions[part]
    kept = action.copy()
    kept.name, kept.use_fake_user = f"{part} broken", True
    count = curves.drop_broken_keys(ob, action)
    return f"{part}: {count} broken keys deleted; {kept.name} keeps them"


def _clear_input(ob: bpy.types.Object, context: bpy.types.Context, part: str) -> str:
    feature, name = part.split(".")
    setattr(getattr(ob.troupe, feature), name, "")
    return f"{feature.title()}: {name} is empty"


def _set(path: str, value: Any, done: str) -> Callable[..., str]:
    """A remedy that sets one property, by its path from `ob` or `scene`."""

    def act(ob: bpy.types.Object, context: bpy.types.Context, part: str) -> str:
        owner, *between, name = path.split(".")
        holder: Any = {"ob": ob, "scene": context.scene}[owner]
        for step in between:
            holder = getattr(holder, step)
        setattr(holder, name, value)
        return done

    return act


def _no_stretch(ob: bpy.types.Object, context: bpy.types.Context, part: str) -> str:
    context.scene.render.frame_map_old = context.scene.render.frame_map_new = 100
    return "The scene plays as long as its keys say"


def _rate(ob: bpy.types.Object, context: bpy.types.Context, part: str) -> str:
    made = float((results.recipe_of(bpy.data.actions[part]) or {})["fps"])
    context.scene.render.fps = max(1, round(made))
    context.scene.render.fps_base = context.scene.render.fps / made
    return f"The scene plays {made:.4g} frames a second"


REMEDIES = {
    "slide": Remedy("Plant Feet", "CON_FLOOR", _motion("slide", "feet planted")),
    "floor": Remedy("Raise", "TRIA_UP", _motion("floor", "raised")),
    "hyperextension": Remedy("Straighten", "CON_ROTLIMIT", _motion("hyperextension", "straightened")),
    "limits": Remedy("Limit Joints", "CON_ROTLIMIT", _motion("limits", "joints limited")),
    "jump": Remedy("Smooth", "SMOOTHCURVE", _motion("jump", "smoothed")),
    "uncast": Remedy("Cast", "COMMUNITY", _cast),
    "lost": Remedy("Find Again", "COMMUNITY", _cast),
    "unmapped": Remedy("Find", "COMMUNITY", _cast),
    "linked": Remedy("Make Override", "LIBRARY_DATA_OVERRIDE", _override),
    "scale": Remedy("Apply Scale", "CON_SIZELIKE", _apply_scale),
    "units": Remedy("Unit Scale 1", "CON_SIZELIKE", _set("scene.unit_settings.scale_length", 1.0, "Unit scale is 1")),
    "driven": Remedy("Mute Constraints", "CONSTRAINT_BONE", _mute_constraints),
    "rest": Remedy("Pose Position", "POSE_HLT", _set("ob.data.pose_position", "POSE", "The animation shows again")),
    "tweak": Remedy("Leave Tweak Mode", "NLA", _set("ob.animation_data.use_tweak_mode", False, "All tracks show")),
    "nla": Remedy("Switch On", "NLA", _set("ob.animation_data.use_nla", True, "The NLA plays")),
    "slot": Remedy("Assign Slot", "ACTION_SLOT" if bpy.app.version >= (4, 4) else "ACTION", _assign_slot),
    "muted": Remedy("Unmute", "HIDE_OFF", _unmute),
    "solo": Remedy("All Tracks", "SOLO_OFF", _no_solo),
    "hidden": Remedy("Stash Action", "NLA_PUSHDOWN", _stash),
    "props": Remedy("Realign Props", "SNAP_ON", _realign),
    "nan": Remedy("Delete Broken Keys", "KEY_DEHLT", _delete_broken),
    "input": Remedy("Clear", "X", _clear_input),
    "stretch": Remedy("Unstretch", "TIME", _no_stretch),
    "rate": Remedy("Use Its Rate", "TIME", _rate),
}
"""Kind of finding to its remedy; kinds that only the user can mend have none."""


def remedy_of(kind: str, part: str) -> Remedy | None:
    """The remedy of a finding; None where only the user can help."""
    if kind == "floor" and not part.startswith("foot_"):
        return None
    return REMEDIES.get(kind)
