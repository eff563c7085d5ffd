"""Ways to go, drawn in the scene: curves, chains of edges, rows of waypoints, or a single place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import bpy
import numpy as np

from ...core.errors import TroupeError
from ...core.maths import curve
from ...core.maths.spline import arc_length
from ...core.motion import Path
from ...core.skeleton import Array
from .rates import metre

TOLERANCE = 1e-3
"""How far a route may leave the curve it follows [m].

Blender's single precision adds 1e-5 of the length of the curve; before 5.0 it rounds off the corners of NURBS splines
with Bezier knots by up to a centimetre.
"""
FINEST = 1024
"""Blender cuts a segment of a curve into no more pieces than this."""


def read_route(source: bpy.types.Object | bpy.types.Collection, context: bpy.types.Context) -> Path:
    """The way that an object or collection shows, as it is at the current frame; hidden ones too.

    Args:
        source: A curve, with its modifiers: its longest spline, to within TOLERANCE, from start to end. A mesh of edges
            without faces: its longest chain. Any other object: its place. A collection: the places of its empties,
            sorted by name with numbers as numbers.
        context: For scene and units.

    Returns:
        Points x, y, z (N, 3) [m] without repeats; a closed way ends where it begins.

    Raises:
        TroupeError: There is no way to see; names the thing and what to do.
    """
    if isinstance(source, bpy.types.Collection):
        points = _waypoints(source, context)
    elif source.type == "CURVE":
        points = _spline(source, context)
    elif source.type == "MESH" and len(source.data.edges) and not len(source.data.polygons):
        points = _edges(source, context)
    else:
        points = _places([source], context)
    return Path(points, ("x", "y", "z"))


def _waypoints(collection: bpy.types.Collection, context: bpy.types.Context) -> Array:
    empties = [ob for ob in collection.all_objects if ob.type == "EMPTY"]
    if not empties:
        raise TroupeError(f"Collection {collection.name!r} has no empties: add some and name them in their order")
    return curve.without_repeats(_places(sorted(empties, key=lambda ob: natural(ob.name)), context))


def natural(name: str) -> list[tuple[int, str]]:
    """Sort key under which "Point 10" comes after "Point 9"."""
    return [(int(part), "") if part.isdigit() else (-1, part.lower()) for part in re.split(r"([0-9]+)", name)]


def _places(objects: Sequence[bpy.types.Object], context: bpy.types.Context) -> Array:
    """(N, 3) [m]."""
    with _evaluated(objects, context) as shown:
        return np.array([_matrix(ob, context)[:3, 3] for ob in shown])


def _spline(ob: bpy.types.Object, context: bpy.types.Context) -> Array:
    if max((_count(spline) for spline in ob.data.splines), default=0) < 2:
        raise TroupeError(f"Curve {ob.name!r} has fewer than two points: add points in Edit Mode")
    line = ob.data.copy()
    try:
        with _evaluated([ob], context) as (shown,):
            matrix = _matrix(shown, context)
        _bare(line, matrix[:3, :3])
        if len(ob.modifiers):
            with _evaluated([ob], context, line) as (shown,):
                points = _longest_chain(shown, matrix)
        else:
            points = _longest_chain(bpy.data.objects.new(ob.name, line), matrix)
    finally:
        bpy.data.curves.remove(line)
    if points is None:
        raise TroupeError(f"Curve {ob.name!r} has all its points in one place: move them apart in Edit Mode")
    return points


def _edges(ob: bpy.types.Object, context: bpy.types.Context) -> Array:
    with _evaluated([ob], context) as (shown,):
        points = _longest_chain(shown, _matrix(shown, context))
    if points is None:
        raise TroupeError(f"Mesh {ob.name!r} has no edges with a length: move its vertices apart in Edit Mode")
    return points


def _matrix(shown: bpy.types.Object, context: bpy.types.Context) -> Array:
    """(4, 4) from the space of an object to the world in metres."""
    matrix = np.array(shown.matrix_world, dtype=np.float64)
    matrix[:3] *= metre(context.scene)
    return matrix


def _count(spline: bpy.types.Spline) -> int:
    return len(spline.bezier_points) if spline.type == "BEZIER" else len(spline.points)


def _bare(line: bpy.types.Curve, scale: Array) -> None:
    """Leave nothing of a curve but its line, and cut that finely enough; `scale` (3, 3) takes its points to metres."""
    line.animation_data_clear()  # it might give the thickness back
    line.bevel_mode = "ROUND"
    line.bevel_depth = line.extrude = 0.0
    line.dimensions = "3D"  # flat ones are filled
    for spline in line.splines:
        if spline.type == "BEZIER":
            handles = [_points(spline.bezier_points, name, 3) for name in ("co", "handle_right", "handle_left")]
            co, right, left = (h @ scale.T for h in handles)
            control = np.stack([co, right, np.roll(left, -1, axis=0), np.roll(co, -1, axis=0)], axis=1)
            pieces = curve.bezier_pieces(control if spline.use_cyclic_u else control[:-1], TOLERANCE)
        elif spline.type == "NURBS":
            co = _points(spline.points, "co", 4)
            weights = np.maximum(co[:, 3], 1e-3)
            pieces = curve.nurbs_pieces(co[:, :3] @ scale.T, weights, spline.order_u, spline.use_cyclic_u, TOLERANCE)
            if spline.order_u == 2:
                spline.type = "POLY"  # the same line, but Blender before 5.0 cuts its corners
        else:
            pieces = 1
        spline.resolution_u = min(max(pieces, spline.resolution_u), FINEST)


def _points(points: bpy.types.bpy_prop_collection, name: str, size: int) -> Array:
    out = np.empty(len(points) * size, np.float32)
    points.foreach_get(name, out)
    return out.reshape(-1, size).astype(np.float64)


def _longest_chain(shown: bpy.types.Object, matrix: Array) -> Array | None:
    """(N, 3) along the edges of an object, placed by `matrix` (4, 4); None where there is no way of any length."""
    mesh = shown.to_mesh()
    if mesh is None:
        return None
    vertices = _points(mesh.vertices, "co", 3) @ matrix[:3, :3].T + matrix[:3, 3]
    edges = np.empty(len(mesh.edges) * 2, np.int32)
    mesh.edges.foreach_get("vertices", edges)
    shown.to_mesh_clear()
    lines = [curve.without_repeats(vertices[run]) for run in curve.chains(edges)]
    best = max(lines, key=lambda line: float(arc_length(line)[-1]), default=None)
    return best if best is not None and len(best) > 1 else None


@contextmanager
def _evaluated(
    objects: Sequence[bpy.types.Object], context: bpy.types.Context, data: bpy.types.ID | None = None
) -> Iterator[list[bpy.types.Object]]:
    """The objects as Blender shows them, or with other `data` would show them.

    Blender does not keep hidden objects up to date, so a visible copy stands in for them.
    """
    copies = {}
    for ob in objects:
        if data is not None or not ob.visible_get(view_layer=context.view_layer):
            copies[ob] = copy = ob.copy()
            copy.hide_viewport = False
            if data is not None:
                copy.data = data
            context.scene.collection.objects.link(copy)
    try:
        depsgraph = context.evaluated_depsgraph_get()
        yield [copies.get(ob, ob).evaluated_get(depsgraph) for ob in objects]
    finally:
        for copy in copies.values():
            bpy.data.objects.remove(copy)
