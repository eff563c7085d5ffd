"""Bringing on whom and what a script names: mannequins for its parts, and boxes and tables for its things."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from mathutils import Vector

from ...core.skeleton import Array
from .. import rig, scene
from ..scene import parts
from .scripting import ScriptOperator, check, script_of, script_property

if TYPE_CHECKING:
    from ...core.acting.direction import Named

PROP_SIZE = (0.4, 0.28, 0.04)
"""Of a prop whose script says none [m]."""
NEAR, AT_HEIGHTS = 0.3, (0.5, 1.0, 1.5)
"""How near to the middle of a body nothing may be, and at which heights that is looked at [m]."""
TOP, LEG = 0.05, 0.05
"""Thickness of the top and of the legs of furniture [m]."""


class BringOn(ScriptOperator):
    """Put everybody and everything on stage that the script names and the scene lacks, where it says"""

    bl_idname = "troupe.bring_on"
    bl_label = "Bring On the Cast"
    script: script_property()  # type: ignore[valid-type]

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        return None if context.mode == "OBJECT" else "Go to Object Mode first"

    def act(self, context: bpy.types.Context, actor: Any) -> str:
        name = script_of(self, context)
        script = check(context, name)
        there = {part: parts.find(context, part) for part in script.actors}
        made = [part for part, ob in there.items() if ob is None]
        for part in made:
            there[part] = _mannequin(context, part, script.actors[part] or (0.0, 0.0, 0.0))
        things = [n for n in (*script.places, *script.props) if parts.find(context, n) is None]
        for thing in things:
            _thing(context, thing, script)
        cast = [ob for ob in there.values() if ob.type == "ARMATURE" and rig.is_cast(ob)]
        for ob in context.view_layer.objects:
            ob.select_set(ob in cast)
        context.view_layer.objects.active = cast[0] if cast else None
        for ob in cast:
            ob.troupe.play.script = name
        context.scene.troupe.script = name
        said = f"{name}: {len(made)} actors and {len(things)} things added, {len(cast)} actors selected"
        blocked = in_the_way(context, [there[part] for part in made])
        if blocked:
            self.report({"WARNING"}, f"{said}; in their way: {', '.join(blocked)}; move it, or delete it")
            return ""
        return said


def in_the_way(context: bpy.types.Context, actors: Sequence[Any]) -> list[str]:
    """Names of the meshes that touch somebody who was put there, or are in the middle of the stage."""
    unit, found = scene.metre(context.scene), []
    own = {part for ob in actors for part in ob.children_recursive}
    feet = [*(actor.matrix_world.translation for actor in actors), Vector()] if actors else []
    for ob in context.view_layer.objects:
        if ob.type != "MESH" or ob in own or ob.troupe.kind in ("ground", "ignore", "prop") or not ob.visible_get():
            continue
        shown = ob.evaluated_get(context.evaluated_depsgraph_get())
        if not shown.data.polygons:
            continue
        back = ob.matrix_world.inverted_safe()
        size = max(ob.matrix_world.to_scale())
        spots = [foot + Vector((0, 0, z / unit)) for foot in feet for z in AT_HEIGHTS]
        if size > 0.0 and any(shown.closest_point_on_mesh(back @ p, distance=NEAR / unit / size)[0] for p in spots):
            found.append(ob.name)
    return found


def _mannequin(context: bpy.types.Context, name: str, place: tuple[float, float, float]) -> Any:
    cursor, turn = context.scene.cursor.location.copy(), context.scene.cursor.rotation_euler.copy()
    metre = scene.metre(context.scene)
    try:
        context.scene.cursor.location = (place[0] / metre, place[1] / metre, 0.0)
        bpy.ops.troupe.mannequin()
    finally:
        context.scene.cursor.location, context.scene.cursor.rotation_euler = cursor, turn
    ob = context.object
    ob.rotation_euler.z = place[2]
    ob.name = name
    for part in ob.children:
        part.name = part.name.replace("Mannequin", name)
    context.view_layer.update()
    return ob


def _thing(context: bpy.types.Context, name: str, script: Named) -> Any:
    """A prop, on what it lies on; furniture for a place that has a size, else an empty."""
    unit, prop = scene.metre(context.scene), name in script.props
    table = parts.find(context, script.under[name].value) if name in script.under else None
    size = script.sizes.get(name) or (PROP_SIZE if prop else None)
    place = script.props.get(name) or script.places.get(name)
    x, y, turn = place or (0.0, 0.0, 0.0)
    height = 0.0
    if prop and size is not None:
        height = 0.9 - 0.5 * size[2]
        if table is not None:
            height = unit * max((table.matrix_world @ Vector(c)).z for c in table.bound_box)
            x, y, turn = place or (*(unit * table.location)[:2], table.rotation_euler.z)
    data = None
    if size is not None:
        data = bpy.data.meshes.new(name)
        boxes = [_box((0.0, 0.0, 0.0), size)] if prop else _furniture(*size)
        vertices = np.concatenate(boxes) / unit
        data.from_pydata(
            vertices.tolist(), [], [tuple(8 * k + i for i in f) for k in range(len(boxes)) for f in _FACES]
        )
        height += 0.5 * size[2] if prop else 0.0
    ob = bpy.data.objects.new(name, data)
    ob.location = (x / unit, y / unit, height / unit)
    ob.rotation_euler.z = turn
    ob.troupe.kind = "prop" if prop else "ignore" if data is None else "obstacle"
    context.collection.objects.link(ob)
    context.view_layer.update()
    return ob


def _furniture(width: float, depth: float, height: float) -> list[Array]:
    """Boxes (8, 3) of a table or stool: a top, and legs where it is high enough for them [m]."""
    if height < 4.0 * TOP:
        return [_box((0.0, 0.0, 0.5 * height), (width, depth, height))]
    below = height - TOP
    x, y = 0.5 * (width - LEG), 0.5 * (depth - LEG)
    legs = [_box((sx * x, sy * y, 0.5 * below), (LEG, LEG, below)) for sx in (-1, 1) for sy in (-1, 1)]
    return [_box((0.0, 0.0, height - 0.5 * TOP), (width, depth, TOP)), *legs]


def _box(middle: tuple[float, float, float], size: tuple[float, float, float]) -> Array:
    signs = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    out: Array = np.array(middle) + signs * np.array(size)
    return out


_FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))

CLASSES: tuple[type, ...] = (BringOn,)
