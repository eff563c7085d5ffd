"""Casting: roles found, stored, corrected, exported and imported; what cannot be cast is left untouched."""

import json

import bpy
import canon
import numpy as np
import pytest
import stage
from troupe.addon import draw, rig, settings
from troupe.core.formats import rolemap
from troupe.core.maths import quat
from troupe.core.skeleton import ROLES


def armature(*bones):
    """An armature of (name, parent, head, tail)."""
    data = bpy.data.armatures.new("Rig")
    ob = bpy.data.objects.new("Rig", data)
    bpy.context.scene.collection.objects.link(ob)
    stage.choose(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    for name, parent, head, tail in bones:
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        bone.parent = data.edit_bones.get(parent) if parent else None
    bpy.ops.object.mode_set(mode="OBJECT")
    return ob


def expect_refusal(words, call=None, **arguments):
    """The call raises a report with these words and changes nothing."""
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match=words):
        (call or bpy.ops.troupe.cast)(**arguments)
    assert canon.snapshot() == before


def test_the_mannequin_is_cast_completely():
    ob = stage.actor()
    roles = rig.roles_of(ob)
    assert set(roles) == set(ROLES)
    assert [len(roles[r]) for r in ("spine", "neck", "index_L", "thumb_R")] == [3, 1, 3, 3]
    assert roles["hand_L"] == ("hand.L",) and roles["root"] == ("root",)
    assert ob.troupe.score > 0.9


def test_a_body_stands_for_its_rig():
    ob = stage.actor()
    bpy.ops.troupe.uncast()
    stage.choose(next(o for o in bpy.data.objects if o.type == "MESH"))
    assert bpy.ops.troupe.cast() == {"FINISHED"}
    assert rig.is_cast(ob)


def test_several_rigs_are_cast_at_once_or_not_at_all():
    first, second = stage.actor(), stage.actor()
    for ob in (first, second):
        stage.choose(ob)
        bpy.ops.troupe.uncast()
    stage.choose(first, second)
    bpy.ops.troupe.cast()
    assert rig.is_cast(first) and rig.is_cast(second)
    bpy.ops.troupe.uncast()
    broken = armature(("a", "", (0, 0, 0), (0, 0, 1)))
    stage.choose(first, broken)
    expect_refusal("Rig|bones")
    assert not rig.is_cast(first)


def test_the_map_is_saved_with_the_file(tmp_path):
    ob = stage.actor()
    ob.troupe.roles.jaw = ""
    roles = rig.roles_of(ob)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    assert rig.roles_of(bpy.data.objects["Mannequin"]) == roles


def test_the_map_survives_a_file_of_its_own(tmp_path):
    ob = stage.actor()
    ob.troupe.roles.eye_L = ""
    roles = rig.roles_of(ob)
    path = str(tmp_path / "map.json")
    bpy.ops.troupe.export_map(filepath=path)
    bpy.ops.troupe.uncast()
    assert not rig.roles_of(ob)
    bpy.ops.troupe.cast(map_file=path)
    assert rig.roles_of(ob) == roles


def test_a_correction_by_hand_is_used():
    ob = stage.actor()
    ob.troupe.roles.spine_1, ob.troupe.roles.spine_2 = "spine_03", ""
    cast = stage.cast_of(ob)
    assert [cast.skeleton.names[j] for j in cast.skeleton.chain("spine")] == ["spine_01", "spine_03"]


def test_the_pose_can_be_the_neutral_stance():
    ob = stage.actor()
    plain = stage.cast_of(ob)
    ob.pose.bones["upper_arm.L"].rotation_quaternion = (0.9, 0.3, 0.2, 0.1)
    bpy.context.view_layer.update()
    bpy.ops.troupe.cast(neutral="pose")
    assert json.loads(ob.troupe.neutral)["upper_arm.L"]
    cast = stage.cast_of(ob)
    from troupe.addon import bake

    still = bake.pose_here(ob, cast, bpy.context).rotations
    mapped = [j for joints in cast.skeleton.roles.values() for j in joints]
    assert quat.angle(still[0, mapped]).max() < 1e-4
    turned = bake.pose_here(ob, plain, bpy.context).rotations
    assert quat.angle(turned[0, plain.skeleton.joint("upper_arm_L")]) > 0.3


def test_mapped_bones_have_the_colours_of_their_roles():
    lines = draw.role_lines(stage.actor())
    assert all(lines.values()) and set(lines) == set(draw.COLOURS)
    left, right = (np.array([p[:] for p in lines[side]]) for side in ("left", "right"))
    assert left[:, 0].min() > 0 and right[:, 0].max() < 0


def test_every_role_has_a_slot_in_the_table():
    names = [slot for role in ROLES for slot in settings.slots(role)]
    assert len(set(names)) == len(names)
    table = stage.actor().troupe.roles
    assert all(hasattr(table, name) for name in names)


def test_nothing_selected_and_no_armature_are_told():
    expect_refusal("Select the rig of a character first")
    cube = bpy.data.objects.new("Cube", bpy.data.meshes.new("Cube"))
    bpy.context.scene.collection.objects.link(cube)
    stage.choose(cube)
    expect_refusal("Select the rig of a character first")


def test_an_armature_without_bones_is_told():
    stage.choose(armature())
    expect_refusal("no bones")


def test_an_armature_without_a_character_is_told():
    armature(*[(f"b{i}", f"b{i - 1}" if i else "", (i, 0, 0), (i + 1, 0, 0)) for i in range(8)])
    expect_refusal("Error: .{20}")


def test_bones_without_length_are_told():
    armature(*[(f"b{i}", f"b{i - 1}" if i else "", (0, 0, 1e-5 * i), (0, 0, 1e-5 * (i + 1))) for i in range(30)])
    expect_refusal("Error: .{20}")


def test_bones_deleted_after_casting_are_named(tmp_path):
    ob = stage.actor()
    path = stage.walk_file(tmp_path, cycles=1)
    bpy.ops.object.mode_set(mode="EDIT")
    ob.data.edit_bones.remove(ob.data.edit_bones["shin.L"])
    bpy.ops.object.mode_set(mode="OBJECT")
    expect_refusal(r"shin\.L.*press Cast again", bpy.ops.troupe.retarget, file=str(path))


def test_a_rig_that_is_not_cast_is_told(tmp_path):
    stage.actor()
    bpy.ops.troupe.uncast()
    expect_refusal("not cast yet: press Cast first", bpy.ops.troupe.retarget, file=str(tmp_path / "x.bvh"))


@pytest.mark.parametrize(
    ("text", "words"),
    [("{", "map.json:1:2: not JSON"), ('{"troupe_role_map": 1, "roles": {"hips": "nowhere"}}', "nowhere")],
)
def test_a_broken_map_file_is_told(tmp_path, text, words):
    stage.actor()
    path = tmp_path / "map.json"
    path.write_text(text)
    expect_refusal(words, map_file=str(path))


def test_a_missing_map_file_is_told(tmp_path):
    stage.actor()
    expect_refusal("no such file", map_file=str(tmp_path / "none.json"))


def test_two_roles_on_one_bone_are_told(tmp_path):
    ob = stage.actor()
    roles = dict(rig.roles_of(ob))
    roles["shin_L"] = roles["thigh_L"]
    path = tmp_path / "map.json"
    path.write_text(rolemap.to_text(rolemap.RoleMap(roles)))
    expect_refusal(r"two roles at once: thigh\.L", map_file=str(path))


def test_a_linked_rig_is_told_to_be_overridden(tmp_path):
    stage.actor()
    path = str(tmp_path / "lib.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (there, here):
        here.objects = there.objects
    for ob in here.objects:
        bpy.context.scene.collection.objects.link(ob)
    linked = next(ob for ob in here.objects if ob.type == "ARMATURE")
    stage.choose(linked)
    expect_refusal("linked from another file: make a library override")
    mine = linked.override_create(remap_local_usages=True)
    stage.choose(mine)
    assert bpy.ops.troupe.cast() == {"FINISHED"}
    cast = stage.cast_of(mine)
    motion = stage.wriggle(cast.skeleton)
    assert stage.errors(stage.bake_and_read(mine, motion, cast)[0], motion)[1] < 1e-4
