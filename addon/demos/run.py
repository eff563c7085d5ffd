"""Three runners: a slow one, a fast one with high elbows, and the same with wide arms, high heels and toes first."""

from __future__ import annotations

from math import pi
from typing import Any

import bpy
from mathutils import Vector

from .walk import choose, label, twin

FRAMES = (1, 60)
FAST: dict[str, Any] = {"speed": 15.0 / 3.6, "elbow_back": 0.35, "elbow_front": 0.35}
RUNNERS: dict[str, dict[str, Any]] = {
    "5 km/h": {"speed": 5.0 / 3.6},
    "15 km/h, elbows": FAST,
    "arms, knees, toes": {**FAST, "arm_swing": 1.7, "swing_knee": 0.45, "strike": "toe"},
}


def build(context: bpy.types.Context) -> None:
    """Add one actor, copy it twice, and let all three run on the spot."""
    scene, ink = context.scene, bpy.data.materials.new("Ink")
    ink.diffuse_color = (0.05, 0.06, 0.08, 1.0)
    scene.frame_set(FRAMES[0])
    bpy.ops.troupe.mannequin()
    actor = context.object
    for k, (name, style) in enumerate(RUNNERS.items()):
        ob = twin(context, actor) if k else actor
        ob.location.y = 2.1 * (k - 1)
        label(context, name, (0.75, ob.location.y), ink, pi / 2)
        choose(context, ob)
        bpy.ops.troupe.run(in_place=True, landing="replace", **style)
    scene.frame_start, scene.frame_end = FRAMES


def camera(context: bpy.types.Context) -> None:
    """Look at them from their left."""
    view = Vector((-1.0, 0.22, -0.2)).normalized()
    context.scene.camera.location = Vector((0.0, 0.0, 0.8)) - 13.0 * view
    context.scene.camera.rotation_euler = view.to_track_quat("-Z", "Y").to_euler()
