"""A motion written as keys is shown by the rig, whatever its modes, scales and settings."""

from dataclasses import replace

import bpy
import canon
import numpy as np
import pytest
import stage
from troupe.addon import bake
from troupe.core.errors import InvalidMotion, InvalidRig
from troupe.core.maths import quat
from troupe.core.motion import Event

CLOSE = 1e-4


def test_bake_then_read_gives_the_same_motion(root="hips"):
    for root in ("hips", "root_bone", "object"):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        ob = stage.actor()
        cast = stage.cast_of(ob)
        motion = stage.wriggle(cast.skeleton)
        shown, _ = stage.bake_and_read(ob, motion, cast, root=root)
        place, turn = stage.errors(shown, motion)
        assert place < CLOSE and turn < CLOSE, root


def test_in_place_gives_the_same_motion_after_the_base_is_put_back():
    ob = stage.actor()
    ob.location, ob.rotation_euler = (1.0, 2.0, 0.0), (0.0, 0.0, 0.7)
    bpy.context.view_layer.update()
    cast = stage.cast_of(ob)
    motion = stage.wriggle(cast.skeleton)
    shown, result = stage.bake_and_read(ob, motion, cast, root="in_place")
    here = bake.base_of(cast, np.array(ob.matrix_world), 1.0)
    place, turn = stage.errors(stage.put_back(shown, motion, here), motion)
    assert place < CLOSE and turn < CLOSE
    assert np.ptp(shown.roots[:, :2], axis=0).max() < 0.3, "it does not travel"
    assert '"base"' in result.action["troupe"]


@pytest.mark.parametrize("root", ["hips", "root_bone", "object"])
@pytest.mark.parametrize(
    ("location", "rotation", "scale", "metre"),
    [
        ((3, -2, 1), (0, 0, 2.0), 1.0, 1.0),
        ((0, 0, 0), (1.5708, 0, 0), 0.01, 1.0),
        ((1, 1, 0), (0.3, 0.1, 1), 2.0, 0.01),
    ],
)
def test_place_rotation_scale_and_units_of_the_object_do_not_matter(root, location, rotation, scale, metre):
    ob = stage.actor()
    ob.location, ob.rotation_euler, ob.scale = location, rotation, (scale,) * 3
    bpy.context.scene.unit_settings.scale_length = metre
    bpy.context.view_layer.update()
    cast = stage.cast_of(ob)
    motion = stage.wriggle(cast.skeleton)
    shown, _ = stage.bake_and_read(ob, motion, cast, root=root)
    place, turn = stage.errors(shown, motion)
    assert place < CLOSE * max(1.0, cast.skeleton.leg_length()) and turn < CLOSE


@pytest.mark.parametrize("mode", ["XYZ", "ZYX", "YXZ", "AXIS_ANGLE"])
def test_other_rotation_modes_show_the_same_and_do_not_flip(mode):
    ob = stage.actor()
    for bone in ob.pose.bones:
        bone.rotation_mode = mode
    ob.rotation_mode = mode
    cast = stage.cast_of(ob)
    motion = stage.wriggle(cast.skeleton, frames=60)
    for root in ("root_bone", "object"):
        shown, result = stage.bake_and_read(ob, motion, cast, root=root, landing="replace")
        assert stage.errors(shown, motion)[1] < CLOSE
    for (path, _), keys in canon.keys_of(result.action).items():
        if "rotation_euler" in path and len(keys) > 2:
            assert np.abs(np.diff(keys[1::2])).max() < 1.6, path


def test_locked_channels_are_keyed_all_the_same():
    ob = stage.actor()
    for bone in ob.pose.bones:
        bone.lock_location = bone.lock_rotation = (True, True, True)
    cast = stage.cast_of(ob)
    motion = stage.wriggle(cast.skeleton)
    assert stage.errors(stage.bake_and_read(ob, motion, cast)[0], motion)[1] < CLOSE


def test_bones_in_between_that_something_moves_are_held_at_rest():
    ob = stage.actor()
    cast = stage.cast_of(ob)
    root = ob.pose.bones["root"]
    root.rotation_quaternion, root.location = (0.9, 0.1, 0.3, 0.1), (0.3, 0.2, 0.1)
    spine = ob.pose.bones["spine_02"]
    spine.location = (0.1, 0.0, 0.0)
    motion = stage.wriggle(cast.skeleton)
    place, turn = stage.errors(stage.bake_and_read(ob, motion, cast, root="hips")[0], motion)
    assert place < CLOSE and turn < CLOSE


def test_a_mask_keys_only_its_joints():
    ob = stage.actor()
    cast = stage.cast_of(ob)
    mask = np.zeros(len(cast.skeleton), bool)
    mask[cast.skeleton.joint("head")] = True
    _, result = stage.bake_and_read(ob, replace(stage.wriggle(cast.skeleton), mask=mask), cast, landing="layer")
    assert {path for path, _ in canon.keys_of(result.action)} == {'pose.bones["head"].rotation_quaternion'}
    assert result.strip.extrapolation == "NOTHING"


def test_curves_reach_shape_keys_and_properties_and_events_become_markers():
    ob = stage.actor()
    mesh = next(o for o in bpy.data.objects if o.type == "MESH" and o.find_armature() == ob)
    mesh.shape_key_add(name="Basis")
    mesh.shape_key_add(name="smile")
    ob["energy"] = 0.0
    ob.pose.bones["head"]["glow"] = 0.0
    cast = stage.cast_of(ob)
    ramp = np.linspace(0, 1, 20)
    curves = {"shape/smile": ramp, "prop/energy": 2 * ramp, "bone/head/glow": 3 * ramp, "info/x": ramp}
    motion = replace(stage.wriggle(cast.skeleton), curves=curves, events=(Event(0.5, "cue"),))
    keys = bake.prepare(ob, cast, motion, bpy.context, 1)
    bake.write(ob, keys, bpy.context, "test", markers=True)
    bpy.context.scene.frame_set(20)
    assert mesh.data.shape_keys.key_blocks["smile"].value == pytest.approx(1.0)
    shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    assert shown["energy"] == pytest.approx(2.0) and shown.pose.bones["head"]["glow"] == pytest.approx(3.0)
    assert [(m.name, m.frame) for m in bpy.context.scene.timeline_markers] == [("cue", 13)]


def test_the_users_action_is_kept_below():
    ob = stage.actor()
    ob.keyframe_insert("location", frame=1)
    mine = ob.animation_data.action
    before = canon.keys_of(mine)
    cast = stage.cast_of(ob)
    stage.bake_and_read(ob, stage.wriggle(cast.skeleton), cast)
    tracks = ob.animation_data.nla_tracks
    assert tracks[0].strips[0].action == mine
    assert canon.keys_of(mine) == before and ob.animation_data.action is None
    assert tracks[-1].name == "Troupe" and tracks[-1].strips[0].extrapolation == "HOLD_FORWARD"


def test_replace_keeps_the_old_action_with_a_fake_user():
    ob = stage.actor()
    ob.keyframe_insert("location", frame=1)
    mine = ob.animation_data.action
    _, result = stage.bake_and_read(ob, stage.wriggle(stage.cast_of(ob).skeleton), stage.cast_of(ob), landing="replace")
    assert ob.animation_data.action == result.action and mine.use_fake_user


def test_an_object_moved_by_something_else_is_held():
    ob = stage.actor()
    for frame, x in ((1, 0.0), (20, 5.0)):
        ob.location.x = x
        ob.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    cast = stage.cast_of(ob)
    motion = stage.wriggle(cast.skeleton)
    assert stage.errors(stage.bake_and_read(ob, motion, cast, root="hips")[0], motion)[0] < CLOSE


@pytest.mark.parametrize(("fps", "base"), [(24, 1.0), (30, 1.001), (60, 1.0)])
def test_other_rates_keep_the_duration(fps, base):
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = fps, base
    ob = stage.actor()
    cast = stage.cast_of(ob)
    motion = stage.wriggle(cast.skeleton, frames=121, fps=120.0)
    _, result = stage.bake_and_read(ob, motion, cast)
    assert (result.last - result.first) / (fps / base) == pytest.approx(1.0, abs=0.5 * base / fps)


def test_denser_keys_are_read_at_their_own_rate():
    ob = stage.actor()
    cast = stage.cast_of(ob)
    _, result = stage.bake_and_read(ob, stage.wriggle(cast.skeleton, frames=41), cast, landing="replace")
    for bag in canon.bags(result.action):
        for fcurve in bag.fcurves:
            for point in fcurve.keyframe_points:
                point.co_ui.x = 1 + (point.co_ui.x - 1) / 4
            fcurve.update()
    motion = bake.read(ob, cast, bpy.context)
    assert motion.fps == pytest.approx(96.0) and len(motion) == 41


def test_hips_connected_to_their_parent_are_carried_by_it():
    ob = stage.actor()
    bpy.ops.object.mode_set(mode="EDIT")
    bones = ob.data.edit_bones
    bones["root"].tail = bones["hips"].head
    bones["hips"].use_connect = True
    bpy.ops.object.mode_set(mode="OBJECT")
    cast = stage.cast_of(ob)
    motion = stage.wriggle(cast.skeleton)
    for root in ("hips", "root_bone"):
        place, turn = stage.errors(stage.bake_and_read(ob, motion, cast, root=root, landing="replace")[0], motion)
        assert place < CLOSE and turn < CLOSE, root


def test_a_motion_of_another_skeleton_is_refused():
    ob = stage.actor()
    cast = stage.cast_of(ob)
    short = replace(cast.skeleton, names=tuple(f"x{i}" for i in range(len(cast.skeleton))))
    with pytest.raises(InvalidMotion, match="retarget it first"):
        bake.prepare(ob, cast, replace(stage.wriggle(cast.skeleton), skeleton=short), bpy.context, 1)


def test_a_root_mode_without_its_bone_is_refused():
    ob = stage.actor()
    ob.troupe.roles.root = ""
    cast = stage.cast_of(ob)
    with pytest.raises(InvalidRig, match="no root bone"):
        bake.prepare(ob, cast, stage.wriggle(cast.skeleton), bpy.context, 1, root="root_bone")


def test_the_same_motion_gives_the_same_keys_bit_for_bit():
    ob = stage.actor()
    cast = stage.cast_of(ob)
    motion = stage.wriggle(cast.skeleton)
    first, second = (canon.keys_of(stage.bake_and_read(ob, motion, cast)[1].action) for _ in range(2))
    assert first == second


def test_quaternion_keys_stay_on_one_hemisphere():
    ob = stage.actor()
    cast = stage.cast_of(ob)
    _, result = stage.bake_and_read(ob, stage.wriggle(cast.skeleton, frames=60), cast)
    keys = canon.keys_of(result.action)
    for path in {p for p, _ in keys if p.endswith("rotation_quaternion")}:
        q = np.column_stack([keys[path, k][1::2] for k in range(4)])
        assert (quat.dot(q[1:], q[:-1]) > 0).all(), path


@pytest.mark.parametrize("mode", ["QUATERNION", "ZXY", "AXIS_ANGLE"])
@pytest.mark.parametrize("scale", [1.0, 1.3])
def test_reading_curves_in_numpy_equals_sampling_frames(mode, scale):
    ob = stage.actor()
    ob.location, ob.rotation_euler, ob.scale = (1, 2, 3), (0.1, 0.2, 0.3), (0.5, 0.5, 0.5)
    for bone in ob.pose.bones:
        bone.rotation_mode = mode
    cast = stage.cast_of(ob)
    stage.bake_and_read(ob, stage.wriggle(cast.skeleton), cast, root="object", landing="replace")
    ob.pose.bones["clavicle.L"].location = (0.02, 0.01, 0.0)
    ob.pose.bones["thigh.L"].scale = (scale, scale, scale)
    read = bake.read(ob, cast, bpy.context)
    ob.pose.bones["root"].constraints.new("LIMIT_SCALE")  # does nothing, but has the rig sampled
    sampled = bake.read(ob, cast, bpy.context)
    place, turn = stage.errors(read, sampled)
    assert place < 1e-5 and turn < 5e-5  # single precision on the sampled side


@pytest.mark.parametrize("root", ["hips", "root_bone", "object"])
def test_a_rig_under_a_moved_parent_shows_the_motion(root):
    ob = stage.actor()
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.location, parent.rotation_euler, parent.scale = (1, 2, 0), (0, 0, 0.8), (2, 2, 2)
    ob.parent = parent
    ob.delta_location = (0.3, 0.1, 0.0)
    bpy.context.view_layer.update()
    cast = stage.cast_of(ob)
    motion = stage.wriggle(cast.skeleton)
    place, turn = stage.errors(stage.bake_and_read(ob, motion, cast, root=root)[0], motion)
    assert place < CLOSE and turn < CLOSE
