"""Footprints in the viewport: the footfalls of a result as objects that can be dragged, and what was dragged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np

from ..core.gait.physique import Physique
from ..core.maths.ramp import wrap
from ..core.motion import Event
from ..core.skeleton import SIDES
from . import draw, scene
from .draw import COLOURS

STEP, RESULT, PLACE = "troupe_step", "troupe_result", "troupe_place"
"""Custom properties of a print: number of its step, action of its result, x, y [m] and heading [rad] as it was put."""
MOVED = (1e-3, np.radians(0.2))
"""A print that is farther than this from where it was put [m; rad] has been moved by hand."""
ABOVE = 0.004
"""Height of a print over the ground, so that it does not flicker [m]."""

Row = tuple[float, ...]
"""Number of a step, x, y [m] and heading [rad]."""


def prints_of(actor: bpy.types.Object, result: str) -> dict[int, bpy.types.Object]:
    """The prints of a result in the scene, by the number of their step."""
    collection = bpy.data.collections.get(_collection_name(actor))
    found = collection.objects if collection is not None else ()
    return {int(ob[STEP]): ob for ob in found if STEP in ob and ob.get(RESULT) == result}


def show(
    context: bpy.types.Context, actor: bpy.types.Object, result: str, body: Physique, events: Iterable[Event]
) -> int:
    """Put a print on every footfall of a result; those that are there already move, those left over go.

    Args:
        context: For scene and units.
        actor: Whose result it is.
        result: Name of its action.
        body: Of the actor, for the size of its soles.
        events: Of its motion; the strikes among them have place and heading.

    Returns:
        How many there are.
    """
    collection = _collection(context, actor)
    there = prints_of(actor, result)
    for ob in list(collection.objects):
        if ob not in there.values():
            bpy.data.objects.remove(ob)
    metre = scene.metre(context.scene)
    outlines = [_sole(actor, body, k, 1.0 / metre) for k in (0, 1)]
    falls = {int(e.data["step"]): e for e in events if e.name.startswith("heel_strike") and "step" in e.data}
    for step in there.keys() - falls.keys():
        bpy.data.objects.remove(there.pop(step))
    for step, event in falls.items():
        side, fall = SIDES.index(event.name[-1]), event.data
        name = f"{actor.name} step {step} {SIDES[side]}"
        ob = there.get(step) or _print(collection, name, outlines[side], result, step)
        ob.data = outlines[side]
        ob.location = (fall["x"] / metre, fall["y"] / metre, (fall["z"] + ABOVE) / metre)
        ob.rotation_euler = (0.0, 0.0, fall["heading"])
        ob[PLACE] = [float(fall[key]) for key in ("x", "y", "heading")]
    return len(falls)


def hide(actor: bpy.types.Object) -> int:
    """Take all prints of an actor away and return how many there were."""
    collection = bpy.data.collections.get(_collection_name(actor))
    if collection is None:
        return 0
    prints = [ob for ob in collection.objects if STEP in ob]
    for ob in prints:
        bpy.data.objects.remove(ob)
    if not collection.objects and not collection.children:
        bpy.data.collections.remove(collection)
    return len(prints)


def table(context: bpy.types.Context, actor: bpy.types.Object, result: str, before: Iterable[Row]) -> tuple[Row, ...]:
    """The footfalls put elsewhere by hand, in the order of their steps.

    Args:
        context: For units.
        actor: Whose result it is.
        result: Name of its action.
        before: Those of earlier. One whose print was deleted since is set free.
    """
    prints = prints_of(actor, result)
    rows = {int(row[0]): tuple(row) for row in before if int(row[0]) in prints}
    context.view_layer.update()
    for step, ob in prints.items():
        x, y, heading = ob[PLACE]
        now = np.array(ob.matrix_world, dtype=np.float64)
        at = now[:2, 3] * scene.metre(context.scene)
        turned = float(wrap(np.arctan2(-now[0, 1], now[1, 1]) - heading))
        if np.hypot(at[0] - x, at[1] - y) > MOVED[0] or abs(turned) > MOVED[1]:
            rows[step] = (float(step), *(round(float(v), 6) for v in (*at, heading + turned)))
    return tuple(rows[step] for step in sorted(rows))


def _collection_name(actor: bpy.types.Object) -> str:
    return f"{actor.name} footprints"


def _collection(context: bpy.types.Context, actor: bpy.types.Object) -> bpy.types.Collection:
    name = _collection_name(actor)
    collection = bpy.data.collections.get(name) or bpy.data.collections.new(name)
    if collection not in context.scene.collection.children_recursive:
        context.scene.collection.children.link(collection)
    return collection


def _print(collection: bpy.types.Collection, name: str, mesh: bpy.types.Mesh, result: str, step: int) -> Any:
    ob = bpy.data.objects.new(name, mesh)
    collection.objects.link(ob)
    ob[STEP], ob[RESULT] = step, result
    ob.troupe.kind = "ignore"
    ob.hide_render = ob.show_in_front = True
    ob.lock_location[2] = ob.lock_rotation[0] = ob.lock_rotation[1] = True
    ob.lock_scale = (True, True, True)
    return ob


def _sole(actor: bpy.types.Object, body: Physique, side: int, unit: float) -> bpy.types.Mesh:
    """A flat mesh in the shape of a sole, seen from the ankle of a foot that points ahead; `unit` is one metre."""
    name = f"{actor.name} footprint {SIDES[side]}"
    mesh = bpy.data.meshes.get(name) or bpy.data.meshes.new(name)
    ring = draw.sole_outline(body, side)
    vertices = np.column_stack([ring, np.zeros(len(ring))]) * unit
    mesh.clear_geometry()
    mesh.from_pydata(vertices.tolist(), [], [tuple(range(len(ring)))])
    if not mesh.materials:
        mesh.materials.append(_paint(side))
    return mesh


def _paint(side: int) -> bpy.types.Material:
    name, colour = f"Footprint {SIDES[side]}", COLOURS[("left", "right")[side]]
    paint = bpy.data.materials.get(name)
    if paint is None:
        paint = bpy.data.materials.new(name)
        paint.diffuse_color = colour
    return paint
