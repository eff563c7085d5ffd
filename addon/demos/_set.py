"""Scenes of `core.planning.walkers.scenes` built in Blender: meshes with keys for what moves, empties, mannequins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...core.figure.mannequin import THEMES
from ...core.figure.shell import MATERIALS
from ...core.motion import Motion, Path
from ...core.planning.walkers.scenes import Scene
from ...core.skeleton import Array, Pose, Skeleton
from ...core.world import Body
from .. import bake, figure, rig
from ..scene import fps

COLOURS = {
    "ground": (0.95, 0.95, 0.92),
    "obstacle": (0.62, 0.72, 0.84),
    "prop": (0.85, 0.62, 0.40),
    "door": (0.72, 0.45, 0.32),
}


def build_set(context: bpy.types.Context, scene: Scene, height: float | None = None) -> dict[str, Any]:
    """Build a scene with its actors, and return these by name.

    Args:
        context: Of the scene to build in.
        scene: What to build.
        height: Cut walls off at this height, so that one can look in from above [m]; None to leave them.
    """
    context.scene.frame_set(1)
    for body in scene.world.bodies:
        _body(context, body, scene.world.fps, height)
    for name, path in scene.places.items():
        empty(context, name, path)
    actors = company(context, {name: setup.base for name, setup in scene.actors.items()})
    context.view_layer.update()
    return actors


def company(context: bpy.types.Context, bases: Mapping[str, Any]) -> dict[str, Any]:
    """Mannequins at bases x, y, heading, by name."""
    made: dict[str, Any] = {}
    for k, (name, (x, y, heading)) in enumerate(bases.items()):
        if not made:
            bpy.ops.troupe.mannequin()
            actor = context.object
        else:
            actor = _double(context, next(iter(made.values())), name, THEMES[k % len(THEMES)][0])
        actor.name = name
        actor.location, actor.rotation_euler.z = (x, y, 0.0), heading
        actor.show_in_front = False
        made[name] = actor
    choose(context, *made.values())
    return made


def _double(context: bpy.types.Context, actor: Any, name: str, theme: str) -> Any:
    """A second actor with the same body in other colours."""
    other = actor.copy()
    other.data = actor.data.copy()
    context.collection.objects.link(other)
    paints = dict(zip(MATERIALS, figure.materials(name, theme), strict=True))
    for child in actor.children:
        part = child.copy()
        part.data = child.data.copy()
        context.collection.objects.link(part)
        part.parent = other
        for k, slot in enumerate(child.data.materials):
            part.data.materials[k] = next(paint for word, paint in paints.items() if slot.name.endswith(f" {word}"))
        for modifier in part.modifiers:
            if modifier.type == "ARMATURE":
                modifier.object = other
    return other


def choose(context: bpy.types.Context, *actors: Any) -> None:
    """Select these and nothing else; the first is active."""
    for ob in context.view_layer.objects:
        ob.select_set(ob in actors)
    context.view_layer.objects.active = actors[0] if actors else None


def end_with(context: bpy.types.Context, *actors: Any) -> None:
    """Let the timeline end with the last of what actors do."""
    ends = [s.frame_end for a in actors if a.animation_data for t in a.animation_data.nla_tracks for s in t.strips]
    context.scene.frame_start, context.scene.frame_end = 1, int(max(ends, default=1.0))


def empty(context: bpy.types.Context, name: str, path: Path) -> Any:
    """An empty at a place, keyed where that moves."""
    ob = bpy.data.objects.new(name, None)
    ob.empty_display_size, ob.empty_display_type = 0.3, "SPHERE"
    context.collection.objects.link(ob)
    fps = context.scene.render.fps / context.scene.render.fps_base
    ob.location = (*path.points[0, :2], 0.0)
    if path.times is not None and len(path.points) > 1:
        for point, time in zip(path.points, path.times, strict=True):
            ob.location = (*point[:2], 0.0)
            ob.keyframe_insert("location", frame=1 + time * fps)
    return ob


def _body(context: bpy.types.Context, body: Body, fps: float, height: float | None) -> Any:
    vertices = body.vertices.copy()
    if height is not None and body.kind != "ground":
        vertices[:, 2] = np.minimum(vertices[:, 2], height)
    data = bpy.data.meshes.new(body.name)
    data.from_pydata(vertices.tolist(), [], body.triangles.tolist())
    data.materials.append(paint(body.kind))
    data.shade_flat()
    ob = bpy.data.objects.new(body.name, data)
    context.collection.objects.link(ob)
    ob.troupe.kind = body.kind
    ob.location = body.matrices[0, :3, 3]
    moves = body.matrices[:, :3, 3]
    if len(moves) > 1:
        rate = context.scene.render.fps / context.scene.render.fps_base
        for k in _corners(moves):
            ob.location = moves[k]
            ob.keyframe_insert("location", frame=1 + k * rate / fps)
        ob.location = moves[0]
    return ob


def _corners(moves: Any) -> list[int]:
    """Frames at which a thing begins or ceases to move, and those in between while it moves."""
    change = np.abs(np.diff(moves, axis=0)).max(axis=1) > 1e-9
    return [0, *(k for k in range(1, len(moves) - 1) if change[k - 1] or change[k]), len(moves) - 1]


def paint(kind: str) -> Any:
    """The material of a kind of things."""
    return paint_of(f"Set {kind}", COLOURS[kind])


def paint_of(name: str, colour: Sequence[float]) -> Any:
    """The material of a name, in a colour."""
    made = bpy.data.materials.get(name) or bpy.data.materials.new(name)
    made.diffuse_color = (*colour, 1.0)
    return made


def body(context: bpy.types.Context, thing: Body, material: Any) -> Any:
    """A thing that stands still, where it is."""
    data = bpy.data.meshes.new(thing.name)
    data.from_pydata(thing.vertices.tolist(), [], thing.triangles.tolist())
    data.materials.append(material)
    data.shade_flat()
    ob = bpy.data.objects.new(thing.name, data)
    context.collection.objects.link(ob)
    ob.troupe.kind = thing.kind
    ob.matrix_world = Matrix(thing.matrices[0].tolist())
    return ob


def spot(context: bpy.types.Context, name: str, matrix: Array) -> Any:
    """An empty that marks a place (4, 4) [m]."""
    ob = bpy.data.objects.new(name, None)
    ob.empty_display_size, ob.empty_display_type = 0.1, "ARROWS"
    context.collection.objects.link(ob)
    ob.matrix_world = Matrix(np.asarray(matrix).tolist())
    return ob


def posed(context: bpy.types.Context, actor: Any, skeleton: Skeleton, pose: Pose) -> None:
    """Give a mannequin a pose of the core's one, which has the same joints, as an action of its own."""
    cast = rig.read(actor, context)
    rotations = pose.rotations[[skeleton.index(name) for name in cast.skeleton.names]]
    motion = Motion(cast.skeleton, fps(context.scene), pose.root[None], rotations[None])
    keys = bake.prepare(actor, cast, motion, context, 1)
    action = bake.write(actor, keys, context, f"{actor.name} pose").action
    del action["troupe"]  # it is what the animator had, and no result
    context.scene.frame_set(1)


def view(context: bpy.types.Context, at: Sequence[float], eye: Sequence[float], lens_deg: float = 28.0) -> None:
    """Place the camera at `eye`, looking at `at` [m]."""
    camera = context.scene.camera
    camera.data.angle = np.radians(lens_deg)
    camera.location = eye
    camera.rotation_euler = (Vector(at) - Vector(eye)).to_track_quat("-Z", "Y").to_euler()
