"""The built-in walk taken along a winding curve, from a stand to a stand."""

from __future__ import annotations

import bpy

TOUR = False
"""Not in the default tour, which has to be short."""
POINTS = ((0.0, 0.0), (0.9, -1.4), (-0.9, -3.2), (0.9, -5.0), (0.0, -6.6))


def build(context: bpy.types.Context) -> None:
    """Add an actor and a curve, and let the one follow the other."""
    line = bpy.data.curves.new("Way", "CURVE")
    line.dimensions, line.bevel_depth = "3D", 0.015
    spline = line.splines.new("BEZIER")
    spline.bezier_points.add(len(POINTS) - 1)
    for point, (x, y) in zip(spline.bezier_points, POINTS, strict=True):
        point.co = (x, y, 0.0)
        point.handle_left_type = point.handle_right_type = "AUTO"
    way = bpy.data.objects.new("Way", line)
    context.scene.collection.objects.link(way)
    bpy.ops.troupe.mannequin()
    context.scene.frame_set(1)
    bpy.ops.troupe.treadmill(path=way.name)
    track = context.object.animation_data.nla_tracks[0]
    context.scene.frame_start, context.scene.frame_end = 1, int(track.strips[0].frame_end)
