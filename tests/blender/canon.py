"""A canonical dump of everything a user could lose: two scenes are equal when their dumps are."""

from typing import Any

import bpy
import numpy as np


def snapshot() -> str:
    """The dump as text, in which NaN equals itself."""
    return repr(dump())


def dump() -> dict[str, Any]:
    """Objects, poses, actions with all keys, NLA, settings, role maps, custom properties, markers; plain values."""
    return {
        "objects": {ob.name: _object(ob) for ob in bpy.data.objects},
        "armatures": {
            a.name: [(b.name, b.parent.name if b.parent else "") for b in a.bones] for a in bpy.data.armatures
        },
        "meshes": {m.name: (len(m.vertices), len(m.polygons)) for m in bpy.data.meshes},
        "actions": {a.name: _action(a) for a in bpy.data.actions},
        "keys": {k.name: _animation(k) for k in bpy.data.shape_keys},
        "scenes": {s.name: _scene(s) for s in bpy.data.scenes},
        "counts": {kind: len(getattr(bpy.data, kind)) for kind in ("materials", "collections", "texts", "images")},
    }


def _round(values: Any) -> Any:
    return [round(float(x), 6) for x in np.ravel(values)]


def _custom(owner: Any) -> dict[str, str]:
    return {k: repr(owner[k]) for k in sorted(owner.keys()) if k not in ("_RNA_UI", "troupe")} | (
        {"troupe": repr(owner["troupe"])} if isinstance(owner, bpy.types.Action) and "troupe" in owner else {}
    )


def _group(group: Any) -> dict[str, Any]:
    out = {}
    for p in group.bl_rna.properties:
        if p.identifier in ("rna_type", "name"):
            continue
        value = getattr(group, p.identifier)
        if p.type == "POINTER":
            out[p.identifier] = _group(value)
        else:
            out[p.identifier] = list(value) if getattr(p, "is_array", False) else value
    return out


def _transform(owner: Any) -> list[float]:
    names = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale")
    return _round(np.concatenate([np.ravel(getattr(owner, n)) for n in names]))


def _object(ob: bpy.types.Object) -> dict[str, Any]:
    out = {
        "type": ob.type,
        "mode": ob.mode,
        "selected": ob.select_get() if ob.name in bpy.context.view_layer.objects else None,
        "transform": _transform(ob),
        "rotation_mode": ob.rotation_mode,
        "parent": ob.parent.name if ob.parent else "",
        "constraints": [c.name for c in ob.constraints],
        "modifiers": [m.name for m in ob.modifiers],
        "custom": _custom(ob),
        "settings": _group(ob.troupe),
        "animation": _animation(ob),
    }
    if ob.pose:
        out["pose"] = {
            b.name: (b.rotation_mode, _transform(b), [c.name for c in b.constraints], _custom(b)) for b in ob.pose.bones
        }
    return out


def _animation(owner: Any) -> dict[str, Any] | None:
    data = owner.animation_data
    if data is None:
        return None
    strips = [
        (
            t.name,
            t.mute,
            t.is_solo,
            [
                (s.name, s.action.name if s.action else "", s.frame_start, s.frame_end, s.scale, s.repeat, s.blend_type)
                + (s.blend_in, s.blend_out, s.extrapolation, s.influence, s.mute)
                for s in t.strips
            ],
        )
        for t in data.nla_tracks
    ]
    slot = getattr(data, "action_slot", None)
    return {
        "action": data.action.name if data.action else "",
        "slot": slot.identifier if slot else "",
        "nla": data.use_nla,
        "tracks": strips,
        "drivers": [d.data_path for d in data.drivers],
    }


def bags(action: Any) -> list[Any]:
    """Everything in an action that holds F-curves."""
    if not hasattr(action, "layers"):
        return [action]
    return [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]


def keys_of(action: Any) -> dict[tuple[str, int], list[float]]:
    """(path, index) to all its keys, frames and values in turn."""
    out = {}
    for bag in bags(action):
        for f in bag.fcurves:
            co = np.empty(len(f.keyframe_points) * 2, np.float32)
            f.keyframe_points.foreach_get("co", co)
            out[(f.data_path, f.array_index)] = co.tolist()
    return out


def _action(action: Any) -> dict[str, Any]:
    return {
        "keys": keys_of(action),
        "fake": action.use_fake_user,
        "custom": _custom(action),
        "markers": [(m.name, m.frame) for m in action.pose_markers],
    }


def _scene(scene: bpy.types.Scene) -> dict[str, Any]:
    return {
        "frame": scene.frame_current,
        "range": (scene.frame_start, scene.frame_end),
        "markers": [(m.name, m.frame) for m in scene.timeline_markers],
        "settings": _group(scene.troupe),
        "objects": sorted(ob.name for ob in scene.objects),
        "active": bpy.context.view_layer.objects.active.name if bpy.context.view_layer.objects.active else "",
        "custom": _custom(scene),
    }
