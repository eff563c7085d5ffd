"""Sixteen styles side by side: every preset of Walk as a cycle on the spot, with its name before it."""

from __future__ import annotations

from typing import Any

import bpy
from mathutils import Vector

from ...core.gait.walk import WalkParams
from ...core.presets import shipped

FRAMES = (1, 96)
COLUMNS, APART = 4, (1.5, 2.4)


def build(context: bpy.types.Context) -> None:
    """Add one actor, copy it for each preset, and let them all walk."""
    scene, ink = context.scene, bpy.data.materials.new("Ink")
    ink.diffuse_color = (0.05, 0.06, 0.08, 1.0)
    scene.frame_set(FRAMES[0])
    bpy.ops.troupe.mannequin()
    actor = context.object
    for part in actor.children:
        part.display.show_shadows = False  # those of sixteen figures take longer than all else in a picture
    for k, preset in enumerate(shipped("walk", WalkParams)):
        ob = twin(context, actor) if k else actor
        row, column = divmod(k, COLUMNS)
        ob.location = (APART[0] * (column - (COLUMNS - 1) / 2), APART[1] * row, 0.0)
        label(context, preset.name, (ob.location.x, ob.location.y - 0.75), ink)
        choose(context, ob)
        bpy.ops.troupe.walk(in_place=True, landing="replace", **preset.values)
    scene.frame_start, scene.frame_end = FRAMES


def camera(context: bpy.types.Context) -> None:
    """Look down on all of them from the front."""
    middle = Vector((0.0, APART[1] * 1.35, 0.75))
    view = Vector((-0.16, 1.0, -0.55)).normalized()
    context.scene.camera.location = middle - 15.5 * view
    context.scene.camera.rotation_euler = view.to_track_quat("-Z", "Y").to_euler()


def twin(context: bpy.types.Context, actor: Any) -> Any:
    """Another actor with the same body, without building it again."""
    ob = actor.copy()
    ob.animation_data_clear()
    context.collection.objects.link(ob)
    for part in actor.children:
        copy = part.copy()
        copy.parent = ob
        for modifier in copy.modifiers:
            if modifier.type == "ARMATURE":
                modifier.object = ob
        context.collection.objects.link(copy)
    return ob


def choose(context: bpy.types.Context, ob: Any) -> None:
    """Select an object and nothing else."""
    for other in context.selected_objects:
        other.select_set(False)
    ob.select_set(True)
    context.view_layer.objects.active = ob
    context.view_layer.update()


def label(
    context: bpy.types.Context, text: str, place: tuple[float, float], ink: bpy.types.Material, turn: float = 0.0
) -> None:
    """Write a word on the floor, turned to the left by an angle [rad]."""
    line = bpy.data.curves.new(text, "FONT")
    line.body, line.size, line.align_x = text, 0.26, "CENTER"
    line.materials.append(ink)
    ob = bpy.data.objects.new(text, line)
    ob.location, ob.rotation_euler = (*place, 0.002), (0.0, 0.0, turn)
    context.collection.objects.link(ob)
