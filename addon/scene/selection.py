"""The rigs that are meant by what is selected."""

from __future__ import annotations

import bpy


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
