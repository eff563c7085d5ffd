"""The mannequin as Blender data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

import stage  # noqa: E402
from troupe.addon import figure, rig  # noqa: E402
from troupe.core.errors import TroupeError  # noqa: E402
from troupe.core.figure.armature import GROUPS, bones  # noqa: E402
from troupe.core.figure.body import body  # noqa: E402
from troupe.core.figure.mannequin import MannequinParams, mannequin  # noqa: E402
from troupe.core.figure.palette import colours  # noqa: E402
from troupe.core.figure.shell import MATERIALS  # noqa: E402


def add(**values: Any) -> Any:
    return figure.add(bpy.context, MannequinParams(**values))


def _stand() -> None:
    add()


def standing() -> Any:
    """The mannequin as it is by default, which was added once and is opened from a file."""
    stage.once(_stand)
    return bpy.context.object


def points(ob: Any, evaluated: bool = True) -> np.ndarray:
    """World places of the vertices, posed or as modelled."""
    mesh = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).data if evaluated else ob.data
    co = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", co)
    matrix = np.array(ob.matrix_world)
    return co.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


def mesh_of(actor: Any, name: str) -> Any:
    return next(child for child in actor.children if child.name.endswith(name))


def test_it_is_added_selected_and_active_in_the_active_collection() -> None:
    before = bpy.data.objects.new("Before", None)
    bpy.context.collection.objects.link(before)
    before.select_set(True)
    own = bpy.data.collections.new("Cast")
    bpy.context.scene.collection.children.link(own)
    bpy.context.view_layer.active_layer_collection = bpy.context.view_layer.layer_collection.children["Cast"]
    actor = add()
    assert bpy.context.view_layer.objects.active == actor
    assert bpy.context.selected_objects == [actor]
    assert set(own.objects) == {actor, *actor.children}
    assert bpy.context.mode == "OBJECT"


def test_it_stands_at_the_3d_cursor() -> None:
    bpy.context.scene.cursor.location = (1.0, 2.0, 0.5)
    actor = add()
    bpy.context.view_layer.update()
    z = np.concatenate([points(child)[:, 2] for child in actor.children])
    assert tuple(actor.location) == (1.0, 2.0, 0.5)
    assert z.min() == pytest.approx(0.5, abs=1e-3)
    assert points(mesh_of(actor, "Body"))[:, 0].mean() == pytest.approx(1.0, abs=1e-3)


def test_bones_lie_where_the_core_puts_them() -> None:
    actor = standing()
    rows = bones(mannequin())
    assert {b.name for b in actor.data.bones} == {row.name for row in rows}
    for row in rows:
        bone = actor.data.bones[row.name]
        assert np.allclose(bone.head_local, row.head, atol=1e-5), row.name
        assert np.allclose(bone.tail_local, row.tail, atol=1e-5), row.name
        assert (bone.parent.name if bone.parent else "") == row.parent
        _, y, z = np.array(bone.matrix_local)[:3, :3].T
        across = row.roll - (row.roll @ y) * y
        assert z @ across / np.linalg.norm(across) > 0.999, row.name
    assert not actor.data.bones["root"].use_deform


def test_bones_are_grouped_and_coloured() -> None:
    data = standing().data
    assert [c.name for c in data.collections] == list(GROUPS)
    assert all(len(bone.collections) == 1 for bone in data.bones)
    assert "index_02.L" in data.collections["Fingers"].bones
    assert "jaw" in data.collections["Face"].bones
    assert data.bones["hand.L"].color.palette != data.bones["hand.R"].color.palette


def test_meshes_are_valid_and_follow_the_core() -> None:
    actor = standing()
    for mesh in body(mannequin(), MannequinParams()):
        data = mesh_of(actor, mesh.name).data
        assert np.allclose(points(mesh_of(actor, mesh.name), evaluated=False), mesh.vertices, atol=1e-5)
        assert len(data.polygons) == len(mesh.faces)
        assert all(p.use_smooth for p in data.polygons)
        assert sum(e.use_edge_sharp for e in data.edges) == len(mesh.sharp)
        assert not data.validate(verbose=False), "nothing had to be repaired"


def test_every_vertex_is_moved_by_bones_that_exist() -> None:
    actor = standing()
    for child in actor.children:
        names = {group.index: group.name for group in child.vertex_groups}
        assert set(names.values()) <= set(actor.data.bones.keys())
        totals = np.array([sum(g.weight for g in v.groups) for v in child.data.vertices])
        assert np.allclose(totals, 1.0, atol=1e-4)
        assert max(len(v.groups) for v in child.data.vertices) <= 4


def test_the_rest_pose_deforms_nothing() -> None:
    actor = standing()
    bpy.context.view_layer.update()
    for child in actor.children:
        assert np.allclose(points(child), points(child, evaluated=False), atol=1e-5)


def test_posing_moves_the_hand_the_eye_and_the_jaw() -> None:
    actor = standing()
    bpy.context.view_layer.update()
    body_before, head_before = (points(mesh_of(actor, name)) for name in ("Body", "Head"))
    pose = actor.pose.bones
    for name, turn in (("forearm.L", 1.2), ("eye.R", 0.4), ("jaw", 0.3)):
        pose[name].rotation_mode = "XYZ"
        pose[name].rotation_euler.x = turn
    bpy.context.view_layer.update()
    body_moved = np.linalg.norm(points(mesh_of(actor, "Body")) - body_before, axis=1)
    head_moved = np.linalg.norm(points(mesh_of(actor, "Head")) - head_before, axis=1)
    assert body_moved.max() > 0.3
    assert body_moved[body_before[:, 0] < 0].max() < 1e-5
    chin = head_before[:, 1].argmin()
    assert 0.004 < head_moved[np.abs(head_before[:, 0] + 0.032) < 0.01].max() < 0.06
    assert head_moved[head_before[:, 2] > 1.7].max() < 1e-5
    assert head_moved[chin] < 0.05


@pytest.mark.parametrize("theme", ["studio", "clay", "dummy"])
def test_materials_have_the_colours_of_the_theme_for_workbench_and_render(theme: str) -> None:
    actor = add(theme=theme)
    wanted = dict(zip(MATERIALS, colours(theme), strict=True))
    seen = {}
    for child in actor.children:
        for paint in child.data.materials:
            name = paint.name.removeprefix(f"{actor.name} ")
            seen[name] = tuple(paint.diffuse_color)[:3]
            surface = next(node for node in paint.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
            assert np.allclose(surface.inputs["Base Color"].default_value[:3], wanted[name], atol=1e-6)
    assert seen.keys() == wanted.keys()
    assert all(np.allclose(seen[name], wanted[name], atol=1e-6) for name in wanted)


def test_a_second_one_shares_nothing_with_the_first() -> None:
    first, second = add(), add(height=1.2, shape=1.0)
    for collection in (bpy.data.objects, bpy.data.meshes, bpy.data.armatures, bpy.data.materials):
        assert len({block.name for block in collection}) == len(collection)
    assert first.data != second.data
    parts = [{m for child in actor.children for m in child.data.materials} for actor in (first, second)]
    assert not parts[0] & parts[1]
    assert {child.modifiers[0].object for child in second.children} == {second}


def test_the_scene_s_unit_scale_keeps_the_stature_in_metres() -> None:
    bpy.context.scene.unit_settings.scale_length = 0.01
    actor = add(height=1.8, hair="none")
    bpy.context.view_layer.update()
    z = np.concatenate([points(child)[:, 2] for child in actor.children])
    assert np.ptp(z) * 0.01 == pytest.approx(1.8, rel=0.01)


def test_a_hidden_collection_is_refused_and_nothing_is_left_behind() -> None:
    own = bpy.data.collections.new("Hidden")
    bpy.context.scene.collection.children.link(own)
    layer = bpy.context.view_layer.layer_collection.children["Hidden"]
    bpy.context.view_layer.active_layer_collection = layer
    layer.hide_viewport = True
    with pytest.raises(TroupeError, match="Hidden"):
        add()
    assert not bpy.data.objects
    assert not bpy.data.armatures


def test_detection_knows_every_bone_of_it() -> None:
    actor = standing()
    detected = rig.detect(rig.bones_of(actor))
    skeleton = mannequin()
    expected = {role: tuple(skeleton.names[j] for j in joints) for role, joints in skeleton.roles.items()}
    assert dict(detected.roles) == {"root": ("root",), **expected}
