"""The scene as core sees it: surfaces in metres where Blender shows them, ways as they are drawn, keys as they play."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

import stage  # noqa: E402
from troupe.addon import rig, scene  # noqa: E402
from troupe.addon.bake import curves  # noqa: E402
from troupe.addon.scene import placement  # noqa: E402
from troupe.core.errors import InvalidMotion, InvalidParam, TroupeError  # noqa: E402
from troupe.core.maths import geometry, spline  # noqa: E402
from troupe.core.world import KINDS  # noqa: E402

SQUARE = ((-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0))
SHEARED = {"rotation_euler": (0.3, -0.5, 0.8), "scale": (2.0, 0.5, 1.5), "location": (3, -2, 1)}


def add(name: str, data: Any = None, parent: Any = None, collection: Any = None, **values: Any) -> Any:
    ob = bpy.data.objects.new(name, data)
    (collection or bpy.context.scene.collection).objects.link(ob)
    ob.parent = parent
    for key, value in values.items():
        setattr(ob, key, value)
    return ob


def mesh(vertices: Any = SQUARE, faces: Any = ((0, 1, 2, 3),), edges: Any = ()) -> Any:
    data = bpy.data.meshes.new("Mesh")
    data.from_pydata(vertices, edges, faces)
    return data


def cube() -> Any:
    bpy.ops.mesh.primitive_cube_add()
    data = bpy.context.object.data
    bpy.data.objects.remove(bpy.context.object)
    return data


def new_collection(name: str, linked: bool = True) -> Any:
    made = bpy.data.collections.new(name)
    if linked:
        bpy.context.scene.collection.children.link(made)
    return made


def read(**options: Any) -> Any:
    return scene.read_world(bpy.context, **options)


def names(**options: Any) -> list[str]:
    return [body.name for body in read(**options).bodies]


def body_of(name: str, **options: Any) -> Any:
    return next(b for b in read(**options).bodies if b.name == name)


def corners(body: Any, frame: int = 0) -> Any:
    """(F, 3, 3) of the triangles in the world."""
    matrix = body.matrices[frame]
    return (body.vertices @ matrix[:3, :3].T + matrix[:3, 3])[body.triangles]


def shown(ob: Any) -> Any:
    """(V, 3) of the evaluated mesh in the world [world units], by Blender's own reckoning."""
    now = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    found = now.to_mesh()
    out = np.array([now.matrix_world @ v.co for v in found.vertices])
    now.to_mesh_clear()
    return out


def same_points(a: Any, b: Any, atol: float = 1e-5) -> None:
    """Two clouds of points are the same, whatever their order and however often each is there."""
    a, b = np.reshape(a, (-1, 3)), np.reshape(b, (-1, 3))
    distance = np.linalg.norm(a[:, None] - b[None], axis=-1)
    assert distance.min(axis=1).max() < atol
    assert distance.min(axis=0).max() < atol


def key(ob: Any, path: str, values: dict[float, Any], interpolation: str = "LINEAR") -> None:
    frames = sorted(values)
    rows = np.array([np.atleast_1d(values[f]) for f in frames], dtype=np.float64)
    action = (ob.animation_data and ob.animation_data.action) or bpy.data.actions.new("Keys")
    curves.assign(ob, action)
    curves.write(curves.bag(ob, action), [curves.Channel(path, rows, "", interpolation)], np.array(frames))


class Plays:
    """Counts the changes of frame while it is there."""

    def __enter__(self) -> Plays:
        self.frames: list[float] = []
        bpy.app.handlers.frame_change_post.append(self._note)
        return self

    def _note(self, timeline: Any, *_: Any) -> None:
        self.frames.append(timeline.frame_current_final)

    def __exit__(self, *_: Any) -> None:
        bpy.app.handlers.frame_change_post.remove(self._note)


# ---- the world: shapes and places


@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_a_turned_and_scaled_mesh_stands_where_blender_shows_it(unit: float) -> None:
    bpy.context.scene.unit_settings.scale_length = unit
    ob = add("Slab", mesh(), **SHEARED)
    world = read()
    same_points(corners(world.bodies[0]), shown(ob) * unit, 1e-5 * unit)
    assert len(world.bodies[0].triangles) == 2
    assert world.fps == scene.fps(bpy.context.scene) == 24.0


@pytest.mark.parametrize("scale", [(2, 0.5, 1.5), (-1, 1, 1), (-2, -3, -0.5), (1, 1, 0)])
def test_matrices_hold_no_scale_and_faces_keep_their_outside(scale: Any) -> None:
    ob = add("Box", cube(), location=(1, 2, 3), rotation_euler=(0.4, 0.2, -0.9), scale=scale)
    body = read().bodies[0]
    turn = body.matrices[0, :3, :3]
    np.testing.assert_allclose(turn.T @ turn, np.eye(3), atol=1e-9)
    assert np.linalg.det(turn) > 0
    np.testing.assert_allclose(body.matrices[0, :3, 3], (1, 2, 3))
    same_points(corners(body), shown(ob))
    triangles = corners(body) - (1, 2, 3)
    outwards = np.einsum("fi,fi->f", np.cross(*np.diff(triangles, axis=1).swapaxes(0, 1)), triangles.mean(axis=1))
    assert (outwards > 0).all() if all(scale) else np.abs(outwards).max() < 1e-6


def test_the_axes_of_a_body_are_those_of_its_object() -> None:
    ob = add("Box", cube(), rotation_euler=(0.4, 0.2, -0.9), scale=(2, 0.5, 1.5))
    bpy.context.view_layer.update()
    turn = np.array(ob.matrix_world.to_quaternion().to_matrix())
    np.testing.assert_allclose(read().bodies[0].matrices[0, :3, :3], turn, atol=1e-6)


def test_shear_of_an_unevenly_scaled_parent_is_kept() -> None:
    parent = add("Parent", None, scale=(3, 1, 1), rotation_euler=(0, 0, 0.5))
    ob = add("Slab", cube(), parent, rotation_euler=(0.3, 0.7, 0.4))
    body = read().bodies[0]
    same_points(corners(body), shown(ob))
    np.testing.assert_allclose(body.matrices[0, :3, :3].T @ body.matrices[0, :3, :3], np.eye(3), atol=1e-9)


def test_modifiers_count() -> None:
    ob = add("Row", cube(), **SHEARED)
    ob.modifiers.new("Array", "ARRAY").count = 3
    body = read().bodies[0]
    assert len(body.triangles) == 36
    same_points(corners(body), shown(ob))
    ob.modifiers[0].show_viewport = False
    assert len(read().bodies[0].triangles) == 12


def test_everything_with_faces_is_a_body_and_nothing_else() -> None:
    tube = bpy.data.curves.new("Tube", "CURVE")
    tube.splines.new("POLY").points.add(2)
    for k, point in enumerate(tube.splines[0].points):
        point.co = (k, 0, 0, 1)
    wire = tube.copy()
    tube.bevel_depth = 0.1
    text = bpy.data.curves.new("Text", "FONT")
    text.body = "T"
    for name, data in (("Tube", tube), ("Wire", wire), ("Text", text)):
        add(name, data)
    add("Edges", mesh(faces=(), edges=((0, 1), (1, 2))))
    add("Cloud", mesh(faces=()))
    add("Nothing", mesh((), ()))
    add("Empty")
    add("Lamp", bpy.data.lights.new("Lamp", "SUN"))
    add("Rig", bpy.data.armatures.new("Rig"))
    bpy.ops.object.metaball_add()
    bpy.context.object.name = "Ball"
    bpy.ops.object.metaball_add(location=(1, 0, 0))
    bpy.context.object.name = "Ball.001"
    bpy.ops.surface.primitive_nurbs_surface_sphere_add()
    bpy.context.object.name = "Dome"
    assert sorted(names()) == ["Ball", "Dome", "Text", "Tube"]
    same_points(corners(body_of("Tube")), shown(bpy.data.objects["Tube"]))


def test_an_empty_scene_is_an_empty_world() -> None:
    assert read().bodies == ()
    assert read(frames=range(1, 5)).bodies == ()


def test_ground_answers_with_its_height() -> None:
    bpy.context.scene.unit_settings.scale_length = 0.01
    add("Ramp", mesh(), scale=(500, 500, 1), rotation_euler=(0, -np.arctan(0.1), 0))
    z, normal, hit = geometry.height(read(), np.array([[0.0, 0.0], [2.0, 1.0], [9.0, 0.0]]))
    np.testing.assert_allclose(z, [0.0, 0.2, 0.0], atol=1e-6)
    assert hit.tolist() == [True, True, False]
    assert normal[0] @ (-0.1, 0, 1) > 1.004


# ---- the world: who belongs to it


def test_hidden_objects_are_left_out() -> None:
    add("Seen", mesh())
    add("No Render", mesh(), hide_render=True)
    add("Screen", mesh(), hide_viewport=True)
    add("Eye", mesh()).hide_set(True)
    add("Inside", mesh(), collection=new_collection("Away"))
    bpy.context.view_layer.layer_collection.children["Away"].exclude = True
    assert names() == ["Seen", "No Render"]


def test_a_collection_is_read_with_those_below_it() -> None:
    outer, inner = new_collection("Set"), new_collection("Inner", linked=False)
    outer.children.link(inner)
    add("A", mesh(), collection=outer)
    add("B", mesh(), collection=inner)
    add("C", mesh())
    assert sorted(names(collection="Set")) == ["A", "B"]
    assert names(collection="Inner") == ["B"]
    assert sorted(names(collection="")) == sorted(names()) == ["A", "B", "C"]


def test_a_collection_that_is_not_in_the_scene_is_named_with_the_choices() -> None:
    new_collection("Set")
    new_collection("Elsewhere", linked=False)
    for name in ("Elsewhere", "Sett"):
        with pytest.raises(TroupeError, match=f"no collection '{name}'; choose one of .*Set"):
            read(collection=name)


def test_one_object_can_be_read_alone() -> None:
    one = add("one", mesh())
    add("child", mesh(), one)
    add("other", mesh())
    assert names(only=one) == ["one"] and len(names()) == 3


def test_a_cast_actor_is_no_part_of_the_world() -> None:
    actor = stage.actor()
    floor = add("Floor", mesh())
    add("Hat", cube(), actor)
    add("Feather", cube(), bpy.data.objects["Hat"])
    add("Sword", cube(), actor).troupe.kind = "prop"
    body = next(ob for ob in bpy.context.scene.objects if ob.type == "MESH" and ob.find_armature() == actor)
    body.troupe.kind = "ground"
    assert sorted(names()) == ["Floor", "Sword"]
    actor.troupe.is_cast = False
    assert set(names()) >= {"Floor", "Hat", "Feather", "Sword", body.name}
    assert sorted(names(exclude=[actor])) == ["Floor"]
    assert "Floor" not in names(exclude={floor, actor})


def test_kinds_are_what_the_user_says_or_follow_from_the_faces() -> None:
    add("Floor", mesh())
    add("Steep", mesh(), rotation_euler=(np.radians(50), 0, 0))
    add("Wall", mesh(), rotation_euler=(np.pi / 2, 0, 0))
    add("Ceiling", mesh(), rotation_euler=(np.pi, 0, 0))
    add("Mirrored", mesh(), scale=(1, -1, 1))
    for kind in KINDS:
        add(kind, mesh()).troupe.kind = kind
    add("No", mesh()).troupe.kind = "ignore"
    kinds = {body.name: body.kind for body in read().bodies}
    said = {kind: kind for kind in KINDS}
    assert kinds == said | {"Floor": "ground", "Steep": "ground", "Mirrored": "ground"} | dict.fromkeys(
        ("Wall", "Ceiling"), "obstacle"
    )


# ---- the world: instances


def scatter(on: Any, what: Any = None) -> Any:
    """Geometry nodes that put a cube, or instances of an object, on every vertex and keep the mesh."""
    tree = bpy.data.node_groups.new("Scatter", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    start, end, put, join = (
        tree.nodes.new(kind)
        for kind in ("NodeGroupInput", "NodeGroupOutput", "GeometryNodeInstanceOnPoints", "GeometryNodeJoinGeometry")
    )
    thing = tree.nodes.new("GeometryNodeObjectInfo" if what else "GeometryNodeMeshCube")
    if what:
        thing.inputs["Object"].default_value = what
        thing.inputs["As Instance"].default_value = True
    tree.links.new(start.outputs[0], put.inputs[0])
    tree.links.new(thing.outputs["Geometry" if what else "Mesh"], put.inputs["Instance"])
    for source in (put.outputs[0], start.outputs[0]):
        tree.links.new(source, join.inputs[0])
    tree.links.new(join.outputs[0], end.inputs[0])
    on.modifiers.new("Scatter", "NODES").node_group = tree
    return tree


def test_instances_of_a_collection_are_bodies_with_names_of_their_own() -> None:
    parts = new_collection("Parts", linked=False)
    add("Tree", cube(), collection=parts, location=(0, 0, 5))
    for k in range(2):
        add("Wood", None, location=(10 * k, 0, 0), instance_type="COLLECTION", instance_collection=parts)
    world = read()
    assert [b.name for b in world.bodies] == ["Wood/Tree", "Wood.001/Tree"]
    np.testing.assert_allclose([b.matrices[0, :3, 3] for b in world.bodies], [(0, 0, 5), (10, 0, 5)])


def test_instances_of_geometry_nodes_are_bodies() -> None:
    ground = add("Ground", mesh(), location=(0, 0, 2), scale=(3, 3, 3))
    scatter(ground)
    bodies = read().bodies
    assert sorted(b.name for b in bodies) == ["Ground", "Ground 2", "Ground 3", "Ground 4", "Ground 5"]
    cubes = [b for b in bodies if len(b.triangles) == 12]
    same_points([b.matrices[0, :3, 3] for b in cubes], 3 * np.array(SQUARE) + (0, 0, 2))
    same_points(
        corners(cubes[0]) - cubes[0].matrices[0, :3, 3],
        [(x, y, z) for x in (-1.5, 1.5) for y in (-1.5, 1.5) for z in (-1.5, 1.5)],
    )


def test_ignored_instancers_and_ignored_things_make_no_instances() -> None:
    ground, rock = add("Ground", mesh()), add("Rock", cube())
    scatter(ground, rock)
    assert len(names()) == 6
    rock.troupe.kind = "ignore"
    assert names() == ["Ground"]
    rock.troupe.kind, ground.troupe.kind = "prop", "ignore"
    assert [(b.name, b.kind) for b in read().bodies] == [("Rock", "prop")]


def test_an_instance_belongs_to_the_collection_of_its_instancer() -> None:
    inside = new_collection("Set")
    ground, rock = add("Ground", mesh(), collection=inside), add("Rock", cube())
    scatter(ground, rock)
    assert sorted(names(collection="Set")) == ["Ground", "Ground/Rock", *(f"Ground/Rock {k}" for k in (2, 3, 4))]


# ---- the world: movement


def assert_as_played(world: Any, frames: Any, unit: float = 1.0, **pairs: Any) -> None:
    """Each named body has, at every frame, its triangles where Blender shows the object then."""
    for name, ob in pairs.items():
        body = next(b for b in world.bodies if b.name == name)
        assert len(body.matrices) == len(frames)
        for k, frame in enumerate(frames):
            bpy.context.scene.frame_set(int(frame // 1), subframe=frame % 1)
            same_points(corners(body, k), shown(ob) * unit, 2e-5)


def new_crane() -> Any:
    """An armature with the one bone "Arm"."""
    bones = bpy.data.armatures.new("Crane")
    crane = add("Crane", bones)
    bpy.context.view_layer.objects.active = crane
    bpy.ops.object.mode_set(mode="EDIT")
    bones.edit_bones.new("Arm").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    return crane


def test_still_scenes_are_not_played() -> None:
    add("Floor", mesh())
    target = add("Target")
    follower = add("Follower", mesh(), add("Parent"))
    follower.constraints.new("COPY_LOCATION").target = target
    with Plays() as plays:
        world = read(frames=np.arange(1, 50))
    assert plays.frames == []
    assert [b.matrices.shape for b in world.bodies] == [(1, 4, 4)] * 2


@pytest.mark.parametrize("mode", ["XYZ", "ZXY", "QUATERNION", "AXIS_ANGLE"])
def test_a_keyed_platform_moves_with_its_keys_without_playing(mode: str) -> None:
    bpy.context.scene.unit_settings.scale_length = 0.5
    lift = add("Lift", mesh(), rotation_mode=mode, delta_location=(0, 0, 0.5), scale=(2, 1, 1))
    turn = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")
    size = len(getattr(lift, turn))
    key(lift, "location", {1: (0, 0, 0), 20: (4, 0, 2)}, "BEZIER")
    key(lift, turn, {1: (1, 0, 0, 0)[:size], 15: (0.3, 0.5, 0.9, 0.7)[:size]})
    rider = add("Rider", cube(), lift, location=(0, 0, 1), scale=(1, 1, 0.2))
    rider.matrix_parent_inverse[0][3] = 0.7
    frames = np.arange(1, 25, 2.5)
    bpy.context.scene.frame_set(7)
    with Plays() as plays:
        world = read(frames=frames)
    assert plays.frames == []
    assert world.fps == 24 / 2.5
    assert_as_played(world, frames, 0.5, Lift=lift, Rider=rider)


def test_whatever_else_moves_is_played_and_the_frame_comes_back() -> None:
    timeline = bpy.context.scene
    guide = add("Guide")
    key(guide, "location", {1: (0, 0, 0), 10: (0, 9, 0)})
    held, driven, looped = add("Held", mesh()), add("Driven", mesh()), add("Looped", mesh())
    held.constraints.new("COPY_LOCATION").target = guide
    driver = driven.driver_add("location", 2).driver
    driver.expression = "frame / 4"
    key(looped, "location", {1: (0, 0, 0), 10: (1, 2, 3)})
    action, looped.animation_data.action = looped.animation_data.action, None
    strip = looped.animation_data.nla_tracks.new().strips.new("Loop", 1, action)
    if hasattr(strip, "action_slot"):
        strip.action_slot = action.slots[0]
    crane = new_crane()
    key(crane, 'pose.bones["Arm"].location', {1: (0, 0, 0), 10: (0, 3, 0)})
    load = add("Load", mesh(), crane, parent_type="BONE", parent_bone="Arm")
    still = add("Still", mesh())
    timeline.frame_set(3, subframe=0.25)
    frames = np.arange(2.0, 9.0)
    with Plays() as plays:
        world = read(frames=frames)
    assert plays.frames == [*frames, 3.25]
    assert timeline.frame_current_final == 3.25
    assert len(next(b for b in world.bodies if b.name == still.name).matrices) == 1
    assert_as_played(world, frames, Held=held, Driven=driven, Looped=looped, Load=load)


def test_stopping_the_steps_puts_the_frame_back() -> None:
    add("Driven", mesh()).driver_add("location", 2).driver.expression = "frame"
    bpy.context.scene.frame_set(5)
    steps = scene.read_world_steps(bpy.context, frames=np.arange(10, 30))
    assert [next(steps) for _ in range(3)] == [0.0, 0.05, 0.1]
    assert bpy.context.scene.frame_current == 11
    steps.close()
    assert bpy.context.scene.frame_current == 5


def test_instances_move_with_their_instancer_and_by_themselves() -> None:
    parts = new_collection("Parts", linked=False)
    add("Cart", cube(), collection=parts, location=(0, 0, 5))
    wheel = add("Wheel", cube(), collection=parts)
    key(wheel, "location", {1: (0, 0, 0), 11: (0, 5, 0)})
    train = add("Train", None, instance_type="COLLECTION", instance_collection=parts, scale=(2, 2, 2))
    key(train, "location", {1: (0, 0, 0), 11: (10, 0, 0)})
    bpy.context.scene.frame_set(4)
    world = read(frames=np.arange(1, 12))
    bodies = {b.name: b for b in world.bodies}
    x, zero = np.arange(11.0), np.zeros(11)
    np.testing.assert_allclose(bodies["Train/Cart"].matrices[:, :3, 3], np.c_[x, zero, zero + 10], atol=1e-5)
    np.testing.assert_allclose(bodies["Train/Wheel"].matrices[:, :3, 3], np.c_[x, x, zero], atol=1e-5)


def test_a_keyed_object_that_stays_where_it_is_stands_still() -> None:
    ob = add("Post", mesh())
    key(ob, "location", {1: (1, 2, 3), 20: (1, 2, 3)})
    assert read(frames=np.arange(1, 20)).bodies[0].matrices.shape == (1, 4, 4)


def test_moving_things_are_read_where_they_are_now_if_no_frames_are_asked_for() -> None:
    ob = add("Lift", mesh())
    key(ob, "location", {1: (0, 0, 0), 11: (0, 0, 10)})
    bpy.context.scene.frame_set(6)
    np.testing.assert_allclose(read().bodies[0].matrices[:, 2, 3], [5.0], atol=1e-5)
    np.testing.assert_allclose(read(frames=[9]).bodies[0].matrices[:, 2, 3], [8.0], atol=1e-5)


@pytest.mark.parametrize("scale", [(-1, 1, 1), (-2, -3, -0.5), (2, 2, 0), (0, 1, 2), (1, 0, 1)])
def test_a_mirrored_or_flat_body_moves_rigidly(scale: Any) -> None:
    ob = add("Box", cube(), scale=scale)
    key(ob, "rotation_euler", {1: (0, 0, 0), 20: (1, 2, 3)})
    frames = np.arange(1.0, 20.0, 3)
    world = read(frames=frames)
    assert (np.linalg.det(world.bodies[0].matrices[:, :3, :3]) > 0.99).all()
    assert_as_played(world, frames, Box=ob)


def test_a_load_on_a_bone_moves_as_the_bone_is_posed() -> None:
    crane = new_crane()
    crane.pose.bones["Arm"].location = (0, 2, 0)
    key(crane, "location", {1: (0, 0, 0), 10: (9, 0, 0)})
    load = add("Load", mesh(), crane, parent_type="BONE", parent_bone="Arm")
    frames = np.arange(2.0, 9.0, 3)
    assert_as_played(read(frames=frames), frames, Load=load)


def test_instances_move_with_what_moves_the_points_they_stand_on() -> None:
    field = add("Field", mesh())
    field.modifiers.new("Lift", "DISPLACE").direction = "Z"
    scatter(field)
    key(field, 'modifiers["Lift"].strength', {1: 0.0, 11: 20.0})
    key(field, "location", {1: (0, 0, 0), 11: (10, 0, 0)})
    posts = [b for b in read(frames=np.arange(1, 12)).bodies if b.name != "Field"]
    assert len(posts) == 4
    x = np.arange(11.0)
    for body in posts:
        place = body.matrices[:, :3, 3]
        np.testing.assert_allclose(place - place[0], np.c_[x, 0 * x, x], atol=1e-5)


def test_instancers_that_are_not_shown_are_left_out() -> None:
    field = add("Field", mesh(), instance_type="VERTS", show_instancer_for_viewport=False)
    add("Post", cube(), field)
    posts = ["Field/Post", *(f"Field/Post {k}" for k in (2, 3, 4)), "Post"]
    assert sorted(names()) == posts
    field.show_instancer_for_viewport = True
    assert sorted(names()) == ["Field", *posts]


def test_a_body_that_changes_its_size_is_named_with_the_way_out() -> None:
    ob = add("Balloon", mesh())
    key(ob, "scale", {1: (1, 1, 1), 20: (2, 2, 2)})
    assert len(read().bodies) == 1
    with pytest.raises(TroupeError, match=r"Balloon changes its size while it moves: .* kind Ignore"):
        read(frames=np.arange(1, 20))
    ob.troupe.kind = "ignore"
    assert read(frames=np.arange(1, 20)).bodies == ()


@pytest.mark.parametrize("frames", [[], [[1, 2]], [1, 1], [3, 2, 1], [1, 2, 4], [1, np.nan]])
def test_frames_must_increase_by_equal_steps(frames: Any) -> None:
    with pytest.raises(InvalidParam, match="frames"):
        read(frames=frames)


@pytest.mark.parametrize("give", ["animation", "parent", "target", "bone target", "rigid body", "curve", "nodes"])
def test_whatever_may_move_an_object_is_seen(give: str) -> None:
    ob, other = add("Thing", mesh()), add("Other")
    ob.parent = add("Parent", None, other)
    assert not placement.may_move(ob)
    if give in ("animation", "parent"):
        key(ob if give == "animation" else other, "location", {1: (0, 0, 0), 9: (1, 1, 1)})
    elif give == "target":
        goal = add("Goal")
        goal.driver_add("location", 0)
        ob.constraints.new("COPY_LOCATION").target = goal
    elif give == "bone target":
        goal = add("Rig", bpy.data.armatures.new("Rig"))
        key(goal, "location", {1: (0, 0, 0), 9: (1, 1, 1)})
        ob.constraints.new("ARMATURE").targets.new().target = goal
    elif give == "rigid body":
        bpy.context.view_layer.objects.active = ob
        ob.select_set(True)
        bpy.ops.rigidbody.object_add(type="ACTIVE")
    elif give == "curve":
        path = add("Path", bpy.data.curves.new("Path", "CURVE"))
        path.data.driver_add("eval_time")
        ob.constraints.new("FOLLOW_PATH").target = path
    else:
        scatter(ob).nodes["Cube"].inputs["Vertices X"].driver_add("default_value")
    assert placement.may_move(ob)


def test_a_ring_of_constraints_ends() -> None:
    a, b = add("A", mesh()), add("B", mesh())
    a.constraints.new("COPY_LOCATION").target = b
    b.constraints.new("COPY_LOCATION").target = a
    assert not placement.may_move(a)


def test_a_hundred_thousand_triangles_take_a_moment() -> None:
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=224, y_subdivisions=224)
    bpy.context.view_layer.update()
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        world = read()
        best = min(best, time.perf_counter() - start)
    assert len(world.bodies[0].triangles) > 100_000
    assert best < 0.5, f"{best * 1000:.0f} ms"


# ---- ways to go


def new_curve(kind: str, points: Any, cyclic: bool = False, name: str = "Path", **values: Any) -> Any:
    data = bpy.data.curves.new(name, "CURVE")
    data.dimensions = "3D"
    add_spline(data, kind, points, cyclic)
    return add(name, data, **values)


def add_spline(data: Any, kind: str, points: Any, cyclic: bool = False) -> Any:
    one = data.splines.new(kind)
    if kind == "BEZIER":
        one.bezier_points.add(len(points) - 1)
        for point, co in zip(one.bezier_points, points, strict=True):
            point.co = co
            point.handle_left_type = point.handle_right_type = "AUTO"
    else:
        one.points.add(len(points) - 1)
        for point, co in zip(one.points, points, strict=True):
            point.co = (*co, 1.0)
    one.use_cyclic_u = cyclic
    return one


def route(source: Any) -> Any:
    found = scene.read_route(source, bpy.context)
    assert found.axes == ("x", "y", "z")
    assert found.times is None
    assert (np.diff(spline.arc_length(found.points)) > 0).all()
    return found.points


def off_line(points: Any, line: Any) -> float:
    """Largest distance of points (N, 3) from a polyline (M, 3)."""
    far = [
        np.linalg.norm(p - geometry.point_segment(p[None], line[:-1], line[1:])[0], axis=1).min()
        for p in np.asarray(points)
    ]
    return float(np.max(far))


def exact(ob: Any, fine: int = 300) -> Any:
    """The first Bezier spline of a curve, in metres, by de Casteljau's construction."""
    one = ob.data.splines[0]
    table = [[tuple(getattr(p, n)) for n in ("co", "handle_right", "handle_left")] for p in one.bezier_points]
    co, right, left = np.array(table).swapaxes(0, 1)
    control = np.stack([co, right, np.roll(left, -1, 0), np.roll(co, -1, 0)], axis=1)
    control = control if one.use_cyclic_u else control[:-1]
    points = np.concatenate([spline.bezier(c[None], np.linspace(0, 1, fine)) for c in control])
    bpy.context.view_layer.update()
    matrix = np.array(ob.matrix_world)
    return (points @ matrix[:3, :3].T + matrix[:3, 3]) * bpy.context.scene.unit_settings.scale_length


ZIGZAG = ((0, 0, 0), (3, 1, 0), (4, 5, 1), (9, 4, 2))


@pytest.mark.parametrize("cyclic", [False, True])
@pytest.mark.parametrize(("unit", "scale"), [(1.0, 1.0), (0.01, 100.0), (1.0, 30.0)])
def test_a_bezier_route_stays_within_a_millimetre(cyclic: bool, unit: float, scale: float) -> None:
    bpy.context.scene.unit_settings.scale_length = unit
    ob = new_curve("BEZIER", ZIGZAG, cyclic, location=(5, 6, 7), rotation_euler=(0.1, 0.2, 0.3), scale=(scale,) * 3)
    ob.data.bevel_depth = 0.2
    points, truth = route(ob), exact(ob)
    near = 1.1e-3 + 1e-5 * spline.arc_length(truth)[-1]
    assert off_line(truth, points) < near
    assert off_line(points, truth) < near
    np.testing.assert_allclose(points[[0, -1]], truth[[0, -1]], atol=1e-4)
    assert (np.linalg.norm(points[0] - points[-1]) < 1e-9) == cyclic
    assert len(points) < 3000


@pytest.mark.parametrize("cyclic", [False, True])
def test_a_poly_route_goes_through_its_points(cyclic: bool) -> None:
    points = route(new_curve("POLY", (*ZIGZAG[:2], ZIGZAG[1], *ZIGZAG[2:]), cyclic))
    np.testing.assert_allclose(points, [*ZIGZAG, ZIGZAG[0]] if cyclic else ZIGZAG, atol=1e-6)


@pytest.mark.parametrize(("clamped", "cyclic"), [(True, False), (False, False), (False, True)])
@pytest.mark.parametrize("order", [2, 3, 4, 5])
def test_a_nurbs_route_stays_within_a_millimetre(order: int, clamped: bool, cyclic: bool) -> None:
    rng = np.random.default_rng(order)
    ob = new_curve("NURBS", rng.uniform(-5, 5, (9, 3)), cyclic)
    one = ob.data.splines[0]
    one.order_u, one.use_endpoint_u = order, clamped
    for point, weight in zip(one.points, rng.uniform(0.5, 2, 9), strict=True):
        point.weight = point.co[3] = weight
    points = route(ob)
    one.resolution_u = 1024
    fine = ob.to_mesh()
    truth = np.array([v.co for v in fine.vertices])[::16]
    ob.to_mesh_clear()
    assert off_line(truth, points) < 1.1e-3
    assert (np.linalg.norm(points[0] - points[-1]) < 1e-9) == cyclic


def test_flat_filled_curves_are_their_outline() -> None:
    ob = new_curve("POLY", SQUARE, cyclic=True)
    ob.data.dimensions, ob.data.fill_mode = "2D", "BOTH"
    np.testing.assert_allclose(route(ob), [*SQUARE, SQUARE[0]], atol=1e-6)


def test_the_longest_spline_is_the_route() -> None:
    ob = new_curve("POLY", ((0, 0, 0), (1, 0, 0)))
    add_spline(ob.data, "POLY", ((0, 0, 0), (0, 5, 0), (0, 5, 1)))
    add_spline(ob.data, "POLY", ((0, 0, 9),))
    np.testing.assert_allclose(route(ob), [(0, 0, 0), (0, 5, 0), (0, 5, 1)], atol=1e-6)


def test_modifiers_of_a_curve_count_and_its_thickness_does_not() -> None:
    ob = new_curve("POLY", ((0, 0, 0), (2, 0, 0), (4, 0, 0)), location=(0, 0, 5))
    ob.data.bevel_depth = 0.3
    ob.data.driver_add("bevel_depth").driver.expression = "0.3"
    handle = add("Handle", location=(2, 0, 5))
    hook = ob.modifiers.new("Hook", "HOOK")
    hook.object = handle
    hook.vertex_indices_set([1])
    bpy.context.view_layer.update()
    hook.matrix_inverse = handle.matrix_world.inverted() @ ob.matrix_world
    handle.location = (2, 3, 5)
    np.testing.assert_allclose(route(ob), [(0, 0, 5), (2, 3, 5), (4, 0, 5)], atol=1e-5)


def test_shape_keys_of_a_curve_count() -> None:
    ob = new_curve("POLY", ((0, 0, 0), (2, 0, 0)))
    ob.shape_key_add(name="Basis")
    ob.shape_key_add(name="Up").data[1].co = (2, 0, 4)
    ob.data.shape_keys.key_blocks["Up"].value = 0.5
    np.testing.assert_allclose(route(ob), [(0, 0, 0), (2, 0, 2)], atol=1e-5)


def test_reading_a_route_leaves_nothing_behind() -> None:
    ob = new_curve("BEZIER", ZIGZAG)
    ob.data.bevel_depth = 0.1
    ob.modifiers.new("Deform", "SIMPLE_DEFORM")
    ob.shape_key_add(name="Basis")
    ob.hide_viewport = True
    hidden = add("Place", hide_viewport=True)
    before = {kind: list(getattr(bpy.data, kind)) for kind in ("objects", "curves", "meshes", "shape_keys", "actions")}
    state = (ob.data.bevel_depth, ob.data.splines[0].resolution_u, list(bpy.context.scene.collection.objects))
    route(ob)
    scene.read_route(hidden, bpy.context)
    assert before == {kind: list(getattr(bpy.data, kind)) for kind in before}
    assert state == (ob.data.bevel_depth, ob.data.splines[0].resolution_u, list(bpy.context.scene.collection.objects))


@pytest.mark.parametrize("how", ["eye", "screen", "excluded"])
def test_hidden_ways_are_read_where_they_are_now(how: str) -> None:
    away = new_collection("Away")
    parent = add("Parent", collection=away)
    ob = new_curve("POLY", ((0, 0, 0), (1, 0, 0)))
    bpy.context.scene.collection.objects.unlink(ob)
    away.objects.link(ob)
    ob.parent = parent
    bpy.context.view_layer.update()
    if how == "excluded":
        bpy.context.view_layer.layer_collection.children["Away"].exclude = True
    for hidden in (ob, parent):
        if how == "screen":
            hidden.hide_viewport = True
        elif how == "eye":
            hidden.hide_set(True)
    key(parent, "location", {1: (0, 0, 0), 11: (0, 10, 0)})
    ob.location = (0, 0, 3)
    bpy.context.scene.frame_set(5)
    np.testing.assert_allclose(route(ob), [(0, 4, 3), (1, 4, 3)], atol=1e-5)


def test_an_object_is_a_route_of_one_place() -> None:
    bpy.context.scene.unit_settings.scale_length = 0.1
    parent = add("Parent", None, location=(10, 0, 0), scale=(2, 2, 2))
    for data in (None, cube(), bpy.data.armatures.new("Rig")):
        np.testing.assert_allclose(route(add("Goal", data, parent, location=(1, 2, 3))), [(1.2, 0.4, 0.6)], atol=1e-6)


def test_waypoints_go_by_name_with_numbers_as_numbers() -> None:
    stops = new_collection("Stops")
    places = {"Stop 10": (3, 0, 0), "Stop 9": (2, 0, 0), "stop 1": (0, 0, 0), "Stop 9.5": (2, 5, 0)}
    for name, place in places.items():
        add(name, None, collection=stops, location=place)
    add("Stop 2", None, add("Stop 1.5", None, collection=stops, location=(0, 0, 0)), stops, location=(1, 0, 0))
    add("Stop 3", cube(), collection=stops, location=(7, 7, 7))
    np.testing.assert_allclose(route(stops), [(0, 0, 0), (1, 0, 0), (2, 0, 0), (2, 5, 0), (3, 0, 0)], atol=1e-6)


def test_names_that_blender_numbers_come_in_the_order_of_their_making() -> None:
    stops = new_collection("Stops")
    for k in range(12):
        add("Stop", None, collection=stops, location=(k, 0, 0))
    np.testing.assert_allclose(route(stops)[:, 0], np.arange(12))


def test_a_chain_of_edges_is_a_route() -> None:
    ob = add("Chain", mesh(SQUARE, (), ((2, 1), (0, 1), (2, 3))), location=(0, 0, 2))
    np.testing.assert_allclose(route(ob), np.array(SQUARE) + (0, 0, 2))


@pytest.mark.parametrize("points", [0, 1])
@pytest.mark.parametrize("kind", ["POLY", "BEZIER", "NURBS"])
def test_a_curve_without_two_points_is_named_with_the_way_out(kind: str, points: int) -> None:
    ob = new_curve(kind, ZIGZAG[:1]) if points else add("Path", bpy.data.curves.new("Path", "CURVE"))
    with pytest.raises(TroupeError, match="Curve 'Path' has fewer than two points: add points in Edit Mode"):
        route(ob)


def test_ways_without_length_are_named_with_the_way_out() -> None:
    with pytest.raises(TroupeError, match="Curve 'Path' has all its points in one place: move them apart"):
        route(new_curve("POLY", ZIGZAG[:1] * 3))
    with pytest.raises(TroupeError, match="Mesh 'Chain' has no edges with a length"):
        route(add("Chain", mesh([(1, 1, 1)] * 2, (), [(0, 1)])))
    with pytest.raises(TroupeError, match="Collection 'Stops' has no empties: add some"):
        route(new_collection("Stops"))


# ---- keyed properties


FRAMES = np.arange(-5, 40, 0.5)


@pytest.mark.parametrize("interpolation", ["CONSTANT", "LINEAR", "BEZIER"])
def test_a_keyed_property_is_sampled_as_blender_plays_it(interpolation: str) -> None:
    ob = add("Actor")
    key(ob, "troupe.score", {1: 0.2, 10: 0.9, 25: 0.4}, interpolation)
    key(ob, "location", {1: (0, 0, 0), 25: (1, 2, 3)})
    found = scene.keyed(ob, "troupe.score", FRAMES)
    assert scene.is_keyed(ob, "troupe.score")
    for frame, value in zip(FRAMES, found, strict=True):
        bpy.context.scene.frame_set(int(frame // 1), subframe=frame % 1)
        assert abs(ob.troupe.score - value) < 1e-5
    np.testing.assert_allclose(scene.keyed(ob, "location", [13.0], index=2), [1.5], atol=1e-5)


def test_values_stay_within_the_range_of_their_property() -> None:
    ob = add("Actor")
    key(ob, "troupe.score", {1: -3.0, 11: 7.0})
    np.testing.assert_allclose(scene.keyed(ob, "troupe.score", [1, 4, 4.5, 11]), [0, 0, 0.5, 1], atol=1e-6)
    ob["own"] = 1.0
    key(ob, '["own"]', {1: -3.0, 11: 7.0})
    np.testing.assert_allclose(scene.keyed(ob, '["own"]', [1, 11]), [-3, 7], atol=1e-6)


def test_a_property_that_is_not_keyed_gives_nothing() -> None:
    ob = add("Actor")
    assert scene.keyed(ob, "troupe.score", FRAMES) is None
    key(ob, "location", {1: (0, 0, 0)})
    assert scene.keyed(ob, "troupe.score", FRAMES) is None
    assert scene.keyed(ob, "location", FRAMES, index=3) is None
    assert not scene.is_keyed(ob, "troupe.score")
    ob.driver_add("troupe.score").driver.expression = "frame"
    assert not scene.is_keyed(ob, "troupe.score")


def test_keys_in_the_nla_are_not_asked() -> None:
    ob = add("Actor")
    key(ob, "troupe.score", {1: 0.0, 11: 1.0})
    action = ob.animation_data.action
    ob.animation_data.nla_tracks.new().strips.new("Down", 1, action)
    assert scene.is_keyed(ob, "troupe.score")
    ob.animation_data.action = None
    assert not scene.is_keyed(ob, "troupe.score")


def test_only_the_slot_of_the_owner_counts() -> None:
    ob, other = add("Actor"), add("Other")
    key(ob, "troupe.score", {1: 0.0, 11: 1.0})
    action = ob.animation_data.action
    if not hasattr(action, "slots"):
        pytest.skip("actions have no slots")
    other.animation_data_create().action = action
    other.animation_data.action_slot = action.slots.new(id_type="OBJECT", name="Other")
    assert not scene.is_keyed(other, "troupe.score")
    ob.animation_data.action_slot = None
    assert not scene.is_keyed(ob, "troupe.score")


def test_keys_that_are_not_numbers_are_named() -> None:
    ob = add("Actor")
    key(ob, "troupe.score", {1: 0.0, 11: 1.0})
    curves.bag(ob, ob.animation_data.action).fcurves[0].keyframe_points[1].co[1] = np.nan
    with pytest.raises(InvalidMotion, match=r"troupe\.score"):
        scene.keyed(ob, "troupe.score", FRAMES)


# ---- who is selected, rates


def test_a_body_counts_as_its_armature_and_the_active_one_comes_first() -> None:
    first, second = stage.actor(), stage.actor()
    body = next(ob for ob in bpy.context.scene.objects if ob.type == "MESH" and ob.find_armature() == second)
    stage.choose(body, first)
    assert scene.selected_armatures(bpy.context) == [second, first]
    assert scene.armature_of(None) is None
    assert scene.armature_of(add("Lone", mesh())) is None
    assert rig.is_cast(scene.armature_of(body))


def test_rates_and_units_are_those_of_the_scene() -> None:
    timeline = bpy.context.scene
    timeline.render.fps, timeline.render.fps_base = 30, 1.001
    timeline.unit_settings.scale_length = 0.01
    assert abs(scene.fps(timeline) - 29.97003) < 1e-5
    assert abs(scene.metre(timeline) - 0.01) < 1e-9
