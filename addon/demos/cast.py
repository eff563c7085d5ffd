"""A rig with names from nowhere is cast by its shape."""

from __future__ import annotations

import bpy

from .. import rig


def build(context: bpy.types.Context) -> None:
    """Add an actor, take away its map and its bone names, and cast it again."""
    bpy.ops.troupe.mannequin()
    actor = context.object
    bpy.ops.troupe.uncast()
    for i, bone in enumerate(actor.data.bones):
        bone.name = f"bone {i:03}"
    bpy.ops.troupe.cast()
    assert rig.is_cast(actor)
    context.scene.frame_end = 1
