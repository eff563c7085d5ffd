"""The scene as core sees it: rates, units, frames."""

from __future__ import annotations

import bpy


def fps(scene: bpy.types.Scene) -> float:
    """Frames a second of the timeline."""
    return scene.render.fps / scene.render.fps_base


def metre(scene: bpy.types.Scene) -> float:
    """Metres of one world unit."""
    return scene.unit_settings.scale_length or 1.0


def armature_of(ob: bpy.types.Object | None) -> bpy.types.Object | None:
    """The armature that an object is, or that deforms it."""
    if ob is None or ob.type == "ARMATURE":
        return ob
    return ob.find_armature()


def selected_armatures(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Armatures among the selected objects, the active one first; bodies count as their armature."""
    chosen = [context.active_object, *context.selected_objects]
    found = [armature_of(ob) for ob in chosen if ob is not None]
    return list(dict.fromkeys(ob for ob in found if ob is not None))
