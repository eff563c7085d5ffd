"""What is wrong with a rig, its animation and its scene before any motion is measured; one sentence each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np

from ..core.errors import InvalidMotion, MissingDependency, TroupeError
from ..core.filters.doctor import Finding, spoken
from ..core.needs import needs_scipy
from ..core.params import declared
from ..core.skeleton import CORE_ROLES
from . import rig, scene
from .bake import controls, curves, nla, results

HIDING = {"COPY_ROTATION", "COPY_TRANSFORMS", "DAMPED_TRACK", "LOCKED_TRACK", "TRACK_TO", "STRETCH_TO", "TRANSFORM"}
"""Constraints of a bone that take the place of its keys; IK does so for a whole chain."""
CHAINS = {"IK", "SPLINE_IK"}


def checkup(ob: bpy.types.Object, context: bpy.types.Context) -> tuple[Finding, ...]:
    """Everything wrong with an armature and how it is animated, apart from the motion itself."""
    found = [*_software(), *_time(ob, context.scene)]
    problem = rig.check_usable(ob)
    if problem is not None:
        linked = ob.library is not None and ob.override_library is None
        return (*found, Finding("linked" if linked else "unusable", problem, ob.name))
    found += [*_roles(ob), *_scale(ob), *_inputs(ob)]
    if rig.is_cast(ob):
        found += [*_driven(ob), *_size(ob, context)]
    return (*found, *_playing(ob), *_props(ob), *_broken_keys(ob))


def _software() -> Iterator[Finding]:
    try:
        with needs_scipy():
            import scipy.ndimage  # noqa: F401
    except MissingDependency as error:
        yield Finding("scipy", str(error))


def _roles(ob: bpy.types.Object) -> Iterator[Finding]:
    if not rig.is_cast(ob):
        yield Finding("uncast", f"{ob.name} is not cast: Troupe does not know which bone plays which role", ob.name)
        return
    roles, bones = rig.roles_of(ob), ob.data.bones
    lost = [bone for chain in roles.values() for bone in chain if bone not in bones]
    if lost:
        played = [spoken(role) for role, chain in roles.items() if any(b in lost for b in chain)]
        yield Finding("lost", f"{ob.name} has no bone {_list(lost)} any more, which played {_list(played)}", lost[0])
    missing = [spoken(role) for role in CORE_ROLES if role not in roles]
    if missing:
        yield Finding("unmapped", f"{ob.name} has no bone for {_list(missing)}", missing[0], float(len(missing)))
    used: dict[str, str] = {}
    for role, chain in roles.items():
        for bone in chain:
            if used.setdefault(bone, role) != role:
                text = f"{bone} plays both {spoken(used[bone])} and {spoken(role)}: correct the role table"
                yield Finding("twice", text, bone)


def _scale(ob: bpy.types.Object) -> Iterator[Finding]:
    size = np.array(ob.scale) * np.array(ob.delta_scale)
    shown = ", ".join(f"{x:.3g}" for x in size)
    if (size < 0).any():
        yield Finding("scale", f"{ob.name} has a negative scale ({shown}), which turns left into right", ob.name)
    elif np.ptp(size) > 1e-3 * abs(size).max():
        yield Finding("scale", f"{ob.name} is scaled unevenly ({shown}): its limbs change length as they turn", ob.name)
    elif abs(size[0] - 1.0) > 1e-3:
        yield Finding("scale", f"{ob.name} has an unapplied scale of {size[0]:.3g}", ob.name, float(size[0]))


def _size(ob: bpy.types.Object, context: bpy.types.Context) -> Iterator[Finding]:
    try:
        leg = rig.read(ob, context).skeleton.leg_length()
    except TroupeError as error:
        yield Finding("rig", str(error), ob.name)
        return
    if 0.2 <= leg <= 2.0:
        return
    metre = scene.metre(context.scene)
    text = f"The legs of {ob.name} measure {leg:.3g} m, so it is treated as a person at another scale"
    if abs(metre - 1.0) > 1e-6 and 0.2 <= leg / metre <= 2.0:
        yield Finding("units", f"{text}: the scene's unit scale is {metre:.3g}", ob.name, leg, "m")
    else:
        yield Finding("size", text, ob.name, leg, "m")


def hiding(ob: bpy.types.Object) -> dict[str, list[Any]]:
    """Mapped bone to the constraints and drivers that would hide keys on it."""
    out: dict[str, list[Any]] = {}
    mapped = {bone for chain in rig.roles_of(ob).values() for bone in chain if bone in ob.pose.bones}
    for bone in ob.pose.bones:
        for c in bone.constraints:
            if c.mute or c.influence == 0 or not c.is_valid or c.type not in HIDING | CHAINS:
                continue
            reach = [bone]
            if c.type in CHAINS:
                above = list(bone.parent_recursive)
                reach += above[: c.chain_count - 1] if c.chain_count else above
            for b in reach:
                if b.name in mapped:
                    out.setdefault(b.name, []).append(c)
    for driver in ob.animation_data.drivers if ob.animation_data else ():
        for name in mapped:
            if driver.data_path.startswith(curves.bone_path(name, "rotation")) and not driver.mute:
                out.setdefault(name, []).append(driver)
    return out


def unseen(ob: bpy.types.Object, action: bpy.types.Action) -> Iterator[str]:
    """What keeps a result from being seen on its rig, in sentences."""
    for finding in _playing(ob):
        if finding.kind in ("rest", "nla") or (finding.kind in ("solo", "muted") and finding.part == action.name):
            yield finding.sentence
    for finding in _driven(ob, action):
        yield finding.sentence


def _driven(ob: bpy.types.Object, action: bpy.types.Action | None = None) -> Iterator[Finding]:
    """Bones whose keys would be hidden; of an action, those that it turns."""
    if controls.find(ob) is not None:
        return
    bones = sorted(hiding(ob))
    if action is not None:
        keyed = curves.paths(ob, action)
        bones = [b for b in bones if any(path.startswith(curves.bone_path(b, "rotation")) for path in keyed)]
    if bones:
        verb = "is" if len(bones) == 1 else "are"
        text = f"{_list(bones)} {verb} moved by constraints or drivers: keys of Troupe would not show"
        yield Finding("driven", text, bones[0], float(len(bones)))


def _playing(ob: bpy.types.Object) -> Iterator[Finding]:
    """What keeps results from being seen."""
    if ob.data.pose_position == "REST":
        yield Finding("rest", f"{ob.name} is set to Rest Position, so no animation shows", ob.name)
    data = ob.animation_data
    if data is None:
        return
    if data.use_tweak_mode:
        yield Finding("tweak", f"A strip of {ob.name} is in Tweak Mode, which hides the tracks above it", ob.name)
    elif data.action is not None and hasattr(data, "action_slot") and data.action_slot is None:
        name = data.action.name
        yield Finding("slot", f"The action {name} has no slot for {ob.name}, so it moves nothing", name)
    made = [f for f in results.results_of(ob) if f.strip is not None]
    if made and not data.use_nla:
        yield Finding("nla", f"The NLA of {ob.name} is switched off, so its results do not show", ob.name)
    own = None if data.use_tweak_mode or results.recipe_of(data.action) is not None else data.action
    covered = [f for f in made if own is not None and _covers(ob, own, f)]
    solo = next((t for t in data.nla_tracks if t.is_solo), None)
    for f in made:
        # an action that covers a silent result was most likely made from it
        if (f.track.mute or f.strip.mute) and f not in covered:
            what = f"The track {f.track.name}" if f.track.mute else f"The strip {f.strip.name}"
            yield Finding("muted", f"{what} is muted: the result {f.action.name} does not show", f.action.name)
        elif solo is not None and f.track != solo:
            yield Finding("solo", f"The track {solo.name} plays alone: {f.action.name} does not show", f.action.name)
    hidden = [f.action.name for f in covered if not (f.track.mute or f.strip.mute)]
    if own is not None and hidden:
        yield Finding("hidden", f"The active action {own.name} hides {_list(hidden)} below it", own.name)


def _props(ob: bpy.types.Object) -> Iterator[Finding]:
    """Props that move at other frames than the hands that hold them."""
    from .features import handling  # the features build on this module

    for found, lost in handling.astray(ob):
        late = lost[0].frame_start - nla.shown_at(found.strip, lost[0].action_frame_start)
        text = f"{lost[0].name} plays {abs(late):.0f} frames {'late' if late > 0 else 'early'}"
        yield Finding("props", f"{text}: the strip {found.strip.name} was moved without it", found.action.name, late)


def _covers(ob: bpy.types.Object, action: bpy.types.Action, found: results.Found) -> bool:
    """Whether the active action takes the place of a result: same channels, no blending, at the same time."""
    data = ob.animation_data
    if data.action_blend_type != "REPLACE" or data.action_influence == 0:
        return False
    first, last = action.frame_range
    if data.action_extrapolation == "NOTHING" and (last < found.strip.frame_start or first > found.strip.frame_end):
        return False
    return not curves.paths(ob, action).isdisjoint(curves.paths(ob, found.action))


def actions_of(ob: bpy.types.Object) -> list[bpy.types.Action]:
    """The actions that play on an object, each once."""
    return list(dict.fromkeys(action for action, _ in nla.sources(ob)))


def _broken_keys(ob: bpy.types.Object) -> Iterator[Finding]:
    for action in actions_of(ob):
        bag = curves.bag(ob, action, create=False)
        try:
            curves.read(bag) if bag is not None else None
        except InvalidMotion as error:
            yield Finding("nan", f"The action {action.name} is broken: {error}", action.name)


def _time(ob: bpy.types.Object, timeline: bpy.types.Scene) -> Iterator[Finding]:
    render, rate = timeline.render, scene.fps(timeline)
    if render.frame_map_old != render.frame_map_new:
        ratio = render.frame_map_new / render.frame_map_old
        yield Finding(
            "stretch", f"Time Stretching plays the scene {ratio:.3g} times as long as its keys say", "", ratio
        )
    for found in results.results_of(ob):
        made = (results.recipe_of(found.action) or {}).get("fps")
        if isinstance(made, (int, float)) and abs(made - rate) > 1e-3 * rate:
            text = f"{found.action.name} was made for {made:.4g} frames a second, but the scene plays {rate:.4g}"
            yield Finding("rate", text, found.action.name, float(made))


def _inputs(ob: bpy.types.Object) -> Iterator[Finding]:
    """Settings that name a file, an action or an object that is gone."""
    from .features import operators

    for operator in operators():
        if operator.owner == "scene":
            continue
        group = getattr(ob.troupe, operator.feature())
        for p in (p for record in operator.records() for p in declared(record) if p.kind == "ref"):
            name = getattr(group, p.name)
            if name and not _exists(p.ref, name):
                text = f"{operator.bl_label} is set to the {p.ref} {name}, which does not exist"
                yield Finding("input", text, f"{operator.feature()}.{p.name}")


def _exists(ref: str, name: str) -> bool:
    if ref == "file":
        return os.path.exists(bpy.path.abspath(name))
    if ref == "thing":
        sorts = (ob.troupe.sort for ob in bpy.data.objects)
        return name in bpy.data.collections or name in bpy.data.objects or name in sorts
    # presets and actions of the repertoire are no datablocks
    pool = getattr(bpy.data, {"armature": "objects", "curve": "objects"}.get(ref, f"{ref}s"), None)
    return pool is None or name in pool


def _list(names: list[str], most: int = 4) -> str:
    """The first few names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
