"""Scenes of `core.planning.walkers.scenes` built in Blender: meshes with keys for what moves, empties, mannequins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...core.figure.mannequin import THEMES
from ...core.figure.shell import MATERIALS
from ...core.filters.retarget import transfer
from ...core.kinematics import anatomy
from ...core.kinematics.cast import read_joints
from ...core.maths import quat
from ...core.motion import Motion, Path
from ...core.planning.walkers.scenes import Scene
from ...core.skeleton import Array, Pose, Skeleton
from ...core.world import Body
from .. import bake, figure, rig, steps, trace
from .. import scene as scenery

COLOURS = {
    "ground": (1.0, 0.98, 0.93),
    "obstacle": (0.55, 0.74, 0.95),
    "prop": (1.0, 0.70, 0.30),
    "door": (0.85, 0.45, 0.25),
    "goal": (0.15, 0.75, 0.30),
    "looked at": (0.85, 0.72, 1.0),
    "blocked": (0.35, 0.40, 0.50),
}
ACTORS = (
    (0.90, 0.16, 0.14),
    (0.10, 0.42, 0.95),
    (0.10, 0.68, 0.28),
    (0.98, 0.62, 0.05),
    (0.62, 0.22, 0.85),
    (0.05, 0.70, 0.72),
    (0.95, 0.35, 0.65),
)
"""What the actors of a set wear, one after the other, and what their ways are drawn in."""
SUIT = ("Torso", "Pelvis", "Arm", "Leg")
"""Parts of a mannequin that are painted."""


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
            actor = _double(context, next(iter(made.values())), name)
        actor.name = name
        _dress(actor, ACTORS[k % len(ACTORS)])
        actor.location, actor.rotation_euler.z = (x, y, 0.0), heading
        actor.show_in_front = False
        made[name] = actor
    choose(context, *made.values())
    return made


def _double(context: bpy.types.Context, actor: Any, name: str) -> Any:
    """A second actor with the same body and paints of its own."""
    other = actor.copy()
    other.data = actor.data.copy()
    context.collection.objects.link(other)
    paints = dict(zip(MATERIALS, figure.materials(name, THEMES[0][0]), strict=True))
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


def _dress(actor: Any, colour: Sequence[float]) -> None:
    """Paint the suit of an actor, its legs a shade darker, so that it is told from others at a glance."""
    for material in {slot.material for child in actor.children for slot in child.material_slots}:
        part = next((p for p in SUIT if p in material.name.split()[-1]), None)
        if part is not None:
            shade = 0.72 if part in ("Pelvis", "Leg") else 1.0
            painted(material, [shade * c for c in colour])


def painted(material: Any, colour: Sequence[float]) -> Any:
    """A material in a colour, in the viewport and in renders."""
    material.diffuse_color = (*colour, 1.0)
    for node in material.node_tree.nodes if material.node_tree else ():
        if node.type == "BSDF_PRINCIPLED":
            node.inputs["Base Color"].default_value = (*colour, 1.0)
    return material


def choose(context: bpy.types.Context, *actors: Any) -> None:
    """Select these and nothing else; the first is active."""
    for ob in context.view_layer.objects:
        ob.select_set(ob in actors)
    context.view_layer.objects.active = actors[0] if actors else None


def end_with(context: bpy.types.Context, *actors: Any) -> None:
    """Let the timeline end with the last of what actors do."""
    ends = [s.frame_end for a in actors if a.animation_data for t in a.animation_data.nla_tracks for s in t.strips]
    context.scene.frame_start, context.scene.frame_end = 1, int(max(ends, default=1.0))
    for actor in actors:
        found = trace.last_trace(actor)
        if found is not None:
            _draw_way(context, actor, found[1])


def _draw_way(context: bpy.types.Context, actor: Any, kept: Mapping[str, Any]) -> None:
    """Lay where an actor went on the floor, in its colour, and its goal as a disc."""
    worn = [m for c in actor.children if c.type == "MESH" for m in c.data.materials if m is not None]
    dressed = next((m for m in worn if m.name.split()[-1] == "Torso"), worn[0] if worn else None)
    track = np.array(kept["track"])[:, :2]
    line = track[np.concatenate([[True], np.hypot(*np.diff(track, axis=0).T) > 1e-3])]
    if len(line) > 1:
        ribbon(context, f"{actor.name} way", line, dressed, 0.05)


def ribbon(context: bpy.types.Context, name: str, line: Any, material: Any, width: float, up: float = 0.015) -> Any:
    """A flat band along places (N, 2) on the floor, of which actors take no notice [m]."""
    course = np.gradient(line, axis=0)
    aside = np.stack([-course[:, 1], course[:, 0]], axis=-1) / np.maximum(np.hypot(*course.T), 1e-9)[:, None]
    ends = [np.column_stack([line + sign * width / 2 * aside, np.full(len(line), up)]) for sign in (1.0, -1.0)]
    n = len(line)
    faces = [(k, n + k, n + k + 1, k + 1) for k in range(n - 1)]
    return sheet(context, name, np.concatenate(ends).tolist(), faces, material)


def sheet(context: bpy.types.Context, name: str, vertices: Any, faces: Any, material: Any) -> Any:
    """A mesh that is to be looked at only."""
    data = bpy.data.meshes.new(name)
    data.from_pydata(vertices, [], faces)
    data.materials.append(material)
    ob = bpy.data.objects.new(name, data)
    ob.troupe.kind = "ignore"
    ob.display.show_shadows = False
    context.collection.objects.link(ob)
    return ob


def empty(context: bpy.types.Context, name: str, path: Path) -> Any:
    """An empty at a place, keyed where that moves."""
    ob = bpy.data.objects.new(name, None)
    ob.empty_display_size, ob.empty_display_type = 0.3, "SPHERE"
    context.collection.objects.link(ob)
    fps = context.scene.render.fps / context.scene.render.fps_base
    ob.location = (*path.points[0, :2], 0.0)
    turns = np.arange(24) * (np.pi / 12)
    rim = np.stack([0.18 * np.cos(turns), 0.18 * np.sin(turns), np.full(24, 0.012)], axis=-1)
    disc = sheet(context, f"{name} mark", rim.tolist(), [tuple(range(24))], paint("goal"))
    disc.parent = ob
    if path.times is not None and len(path.points) > 1:
        flat = np.column_stack([path.points[:, :2], np.zeros(len(path.points))])
        bake.key(ob, "location", 1 + path.times * fps, flat)
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
    # shadows of thin walls cover the walls themselves
    ob.display.show_shadows = body.kind == "prop"
    ob.location = body.matrices[0, :3, 3]
    moves = body.matrices[:, :3, 3]
    if len(moves) > 1:
        rate = context.scene.render.fps / context.scene.render.fps_base
        turning = np.array(_corners(moves))
        bake.key(ob, "location", 1 + turning * rate / fps, moves[turning])
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
    """Give an actor a pose of the core's mannequin, or of its own skeleton, as an action of its own."""
    cast = rig.read(actor, context)
    motion = Motion(skeleton, scenery.fps(context.scene), pose.root[None], pose.rotations[None])
    rotations, _ = transfer(motion, cast.skeleton)
    scale = cast.skeleton.leg_length() / skeleton.leg_length()
    root = np.array([*pose.root[:2], scale * pose.root[2]])
    motion = Motion(cast.skeleton, motion.fps, root[None], rotations)
    keys = bake.prepare(actor, cast, motion, context, 1)
    action = bake.write(actor, keys, context, f"{actor.name} pose").action
    del action["troupe"]  # it is what the animator had, and no result
    context.scene.frame_set(1)


def at_ease(context: bpy.types.Context, actor: Any) -> None:
    """Let an actor stand with its arms hanging, as an action of its own."""
    cast = rig.read(actor, context)
    skeleton = cast.skeleton
    still = np.tile([1.0, 0.0, 0.0, 0.0], (len(skeleton), 1))
    angles = {}
    for side in ("L", "R"):
        angles[f"upper_arm_{side}"] = (0.02, skeleton.arm_clearance + 0.06, 0.0)
        angles[f"forearm_{side}"] = (0.25, 0.0, 0.0)
    still[0] = quat.about(np.array([0.0, 0.0, 1.0]), float(actor.rotation_euler.z))
    root = np.array([*actor.location[:2], skeleton.offsets[0, 2]])
    posed(context, actor, skeleton, Pose(anatomy.with_angles(skeleton, still, angles), root))


def view(context: bpy.types.Context, at: Sequence[float], eye: Sequence[float], lens_deg: float = 28.0) -> None:
    """Place the camera at `eye`, looking at `at` [m]."""
    camera = context.scene.camera
    camera.data.angle = np.radians(lens_deg)
    camera.location = eye
    camera.rotation_euler = (Vector(at) - Vector(eye)).to_track_quat("-Z", "Y").to_euler()


def overhead(x: float, y: float, height: float, lens_deg: float = 40.0) -> Callable[[bpy.types.Context], None]:
    """A camera that looks almost straight down on a place [m]."""

    def camera(context: bpy.types.Context) -> None:
        view(context, (x, y, 0.0), (x, y - 0.32 * height, 0.95 * height), lens_deg)

    return camera


def through_eyes(context: bpy.types.Context, actor: Any = None) -> None:
    """Let the camera look through the eyes of an actor, frame by frame: the given one, the active one, or the first."""
    from ...core.planning.senses.eyes import eyes

    cast = [ob for ob in context.scene.objects if rig.is_cast(ob)]
    chosen = actor or (context.object if context.object in cast else cast[0])
    camera, read = context.scene.camera, rig.read(chosen, context)
    frames = np.arange(context.scene.frame_start, context.scene.frame_end + 1, dtype=np.float64)
    matrices = steps.finish(bake.joint_matrices_steps(chosen, read, context, frames))
    roots, turns = read_joints(read, matrices)
    for child in chosen.children:
        child.hide_render = "Head" in child.name
    camera.data.angle, camera.data.clip_start, camera.rotation_mode = np.radians(75.0), 0.02, "QUATERNION"
    metre = scenery.metre(context.scene)
    seeing = eyes(read.skeleton, turns, roots)
    # a camera looks along -Z with +Y up; an eye has the axes left, back, up
    left, back, up = np.moveaxis(seeing[:, :3, :3], -1, 0)
    looking = quat.from_matrix(np.stack([-left, up, back], axis=-1))
    bake.key(camera, "location", frames, seeing[:, :3, 3] / metre)
    bake.key(camera, "rotation_quaternion", frames, quat.continuous(looking))


def words(context: bpy.types.Context, text: str, place: Sequence[float], size: float) -> Any:
    """Letters that lie on the floor [m]."""
    data = bpy.data.curves.new("Words", "FONT")
    data.body, data.size = text, size
    data.materials.append(paint("blocked"))
    ob = bpy.data.objects.new("Words", data)
    ob.location = place
    ob.troupe.kind = "ignore"
    context.collection.objects.link(ob)
    return ob
