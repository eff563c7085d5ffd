"""A stroll along a curve over uneven ground, up stairs and down a ramp; and from a stand to a run by a speed curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from .. import bake

POINTS = ((0.0, 0.0), (1.3, -2.2), (-1.2, -5.0), (0.0, -7.6), (0.0, -10.2), (0.9, -13.6), (0.0, -16.0))
STEPS, RISE, TREAD = 5, 0.16, 0.32
STAIRS, PLATFORM, RAMP = -8.0, 1.8, 4.0
"""Where the stairs begin, and how long platform and ramp are [m]."""
SPEEDS = ((1, 0.0), (13, 0.0), (37, 1.3), (96, 1.4), (140, 4.0), (200, 4.0), (240, 1.2), (264, 0.0))
"""Frames and speeds [m/s]."""


def build(context: bpy.types.Context) -> None:
    """Make the ground, draw the curve and send an actor along it."""
    scene = context.scene
    _ground(context)
    _stairs(context)
    way = _curve(context)
    scene.frame_set(1)
    bpy.ops.troupe.mannequin()
    bpy.ops.troupe.travel(path=way.name, speed=1.25, style="Stroll")
    bpy.ops.troupe.show_footprints()
    _end_with(context, context.object)


def camera(context: bpy.types.Context) -> None:
    """Go along with the actor, a few steps to its left."""
    scene = context.scene
    actor = next(ob for ob in scene.objects if ob.type == "ARMATURE")
    aside = Vector((5.6, -2.6, 2.4))
    scene.camera.rotation_euler = (Vector((0.0, 0.0, 0.8)) - aside).to_track_quat("-Z", "Y").to_euler()
    frames, places = range(scene.frame_start, scene.frame_end + 8, 8), []
    for frame in frames:
        scene.frame_set(frame)
        shown = actor.evaluated_get(context.evaluated_depsgraph_get())
        hips = shown.matrix_world @ shown.pose.bones["hips"].head
        places.append(aside + Vector((hips.x, hips.y, hips.z - 0.9)))
    bake.key(scene.camera, "location", frames, places)


def start_walk_run_stop(context: bpy.types.Context) -> None:
    """Key the speed of an actor, and let it start, walk, run and come to a stand on a level floor."""
    context.scene.frame_set(1)
    bpy.ops.troupe.mannequin()
    actor = context.object
    bake.key(actor, "troupe.travel.speed", *zip(*SPEEDS, strict=True))
    bpy.ops.troupe.travel(distance=60.0)
    _end_with(context, actor)


def _end_with(context: bpy.types.Context, actor: Any) -> None:
    strip = actor.animation_data.nla_tracks[-1].strips[-1]
    context.scene.frame_start, context.scene.frame_end = 1, int(strip.frame_end)


def _curve(context: bpy.types.Context) -> Any:
    line = bpy.data.curves.new("Way", "CURVE")
    line.dimensions = "3D"
    spline = line.splines.new("BEZIER")
    spline.bezier_points.add(len(POINTS) - 1)
    for point, (x, y) in zip(spline.bezier_points, POINTS, strict=True):
        point.co = (x, y, 0.0)
        point.handle_left_type = point.handle_right_type = "AUTO"
    way = bpy.data.objects.new("Way", line)
    context.collection.objects.link(way)
    return way


def _ground(context: bpy.types.Context) -> None:
    """Rolling ground from the start to the stairs, level from there on."""
    x, y = np.meshgrid(np.linspace(-4.0, 4.0, 41), np.linspace(2.0, -18.0, 101), indexing="ij")
    rolling = np.clip((-y - 0.8) / 1.5, 0.0, 1.0) * np.clip((y - STAIRS - 0.6) / 1.5, 0.0, 1.0)
    z = rolling * (0.16 * np.sin(1.9 * y + 0.7 * x) + 0.09 * np.sin(2.3 * x - 1.1 * y))
    corner = np.arange(x.size).reshape(x.shape)
    quads = np.stack([corner[:-1, :-1], corner[:-1, 1:], corner[1:, 1:], corner[1:, :-1]], axis=-1)
    _mesh(context, "Ground", np.stack([x, y, z], axis=-1).reshape(-1, 3), quads.reshape(-1, 4), (0.72, 0.77, 0.58))


def _stairs(context: bpy.types.Context) -> None:
    """Steps up, a platform and a ramp down, from one profile."""
    profile = [(STAIRS, -0.1)]
    for k in range(STEPS):
        at = STAIRS - k * TREAD
        profile += [(at, k * RISE), (at, (k + 1) * RISE)]
    end = STAIRS - (STEPS - 1) * TREAD - PLATFORM
    profile += [(end, STEPS * RISE), (end - RAMP, 0.0), (end - RAMP, -0.1)]
    y, z = np.array(profile).T
    sides = [np.column_stack([np.full(len(y), x), y, z]) for x in (1.2, -1.2)]
    count = len(y)
    faces = [(k, count + k, count + k + 1, k + 1) for k in range(count - 1)]
    _mesh(context, "Stairs", np.concatenate(sides), faces, (0.82, 0.8, 0.76))
    _mesh(
        context,
        "Stairs side",
        np.concatenate(sides),
        [range(count), range(2 * count - 1, count - 1, -1)],
        (0.6, 0.58, 0.55),
    )


def _mesh(
    context: bpy.types.Context, name: str, vertices: Any, faces: Sequence[Any] | Any, colour: tuple[float, float, float]
) -> None:
    data = bpy.data.meshes.new(name)
    data.from_pydata(vertices.tolist(), [], [list(map(int, face)) for face in faces])
    paint = bpy.data.materials.new(name)
    paint.diffuse_color = (*colour, 1.0)
    data.materials.append(paint)
    data.shade_smooth() if name == "Ground" else data.shade_flat()
    context.collection.objects.link(bpy.data.objects.new(name, data))
