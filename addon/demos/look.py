"""Walking on the spot, an actor looks from ball to ball, then follows one that swings: eyes first, then the head."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from .. import bake

BALLS = (
    ("Ball 1", (0.34, -0.45, 1.7), (0.85, 0.25, 0.2)),
    ("Ball 2", (-0.34, -0.5, 1.42), (0.2, 0.45, 0.85)),
    ("Ball 3", (0.24, -0.6, 1.36), (0.95, 0.75, 0.2)),
)
"""Name, place [m] and colour of what is looked at."""
TRACKS, HALF, END = 105, 35, 250
"""Frame from which the swinging ball is followed, frames from one side to the other, and the last frame."""
FRAMES = 20, 195


def build(context: bpy.types.Context) -> None:
    """Put up an actor and the balls, look at them in turn, and then follow the one that swings."""
    scene = context.scene
    scene.frame_set(1)
    things = bpy.data.collections.new("Balls")
    scene.collection.children.link(things)
    for name, place, colour in BALLS:
        things.objects.link(_ball(name, place, colour))
    swinging = _ball("Swinging", (0.0, 0.0, 0.0), (0.3, 0.7, 0.35))
    scene.collection.objects.link(swinging)
    frames = np.arange(1, END + 1)
    swing = np.cos(np.pi * (frames - FRAMES[0]) / HALF)
    places = np.column_stack([-0.3 * swing, np.full(END, -0.55), 1.86 - 0.1 * (1.0 - swing * swing)])
    bake.key(swinging, "location", frames, places)
    bpy.ops.troupe.mannequin()
    bpy.ops.troupe.walk(in_place=True)
    context.object.animation_data.nla_tracks[-1].strips[-1].repeat = END / 25
    bpy.ops.troupe.look(mode="scan", targets="Balls", hold=1.2)
    scene.frame_set(TRACKS)
    bpy.ops.troupe.look(mode="track", target="Swinging", hold=5.0)
    scene.frame_set(1)
    scene.frame_start, scene.frame_end = 1, END


def camera(context: bpy.types.Context) -> None:
    """Look the actor in the face."""
    shot = context.scene.camera
    shot.location = (0.2, -2.3, 1.62)
    shot.rotation_euler = (Vector((0.0, 0.0, 1.52)) - shot.location).to_track_quat("-Z", "Y").to_euler()


def _ball(name: str, place: tuple[float, float, float], colour: tuple[float, float, float]) -> Any:
    points, faces = _sphere(0.05, 12, 24)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, [], faces)
    mesh.shade_smooth()
    paint = bpy.data.materials.new(name)
    paint.diffuse_color = (*colour, 1.0)
    mesh.materials.append(paint)
    ball = bpy.data.objects.new(name, mesh)
    ball.location = place
    return ball


def _sphere(radius: float, rings: int, sides: int) -> tuple[list[list[float]], list[list[int]]]:
    """Points [m] and faces of a sphere."""
    up, around = np.meshgrid(np.linspace(0, np.pi, rings + 1), np.arange(sides) * 2 * np.pi / sides, indexing="ij")
    points = radius * np.stack([np.sin(up) * np.cos(around), np.sin(up) * np.sin(around), np.cos(up)], axis=-1)
    corner = np.arange(points[..., 0].size).reshape(points.shape[:2])
    after = np.roll(corner, -1, axis=1)
    faces = np.stack([corner[:-1], corner[1:], after[1:], after[:-1]], axis=-1)
    return points.reshape(-1, 3).tolist(), faces.reshape(-1, 4).tolist()
