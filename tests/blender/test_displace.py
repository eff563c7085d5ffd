"""Displace in Blender: pose, press, and the animation passes through the pose; nothing else is touched."""

import json

import bpy
import canon
import numpy as np
import pytest
import rig_zoo
import stage
from troupe.addon import bake
from troupe.addon.bake import nla, results
from troupe.addon.demos.displace import pose
from troupe.addon.features import displace as feature
from troupe.core.filters.contacts import contacts, sole_points
from troupe.core.maths import quat

RAISED = {"upper_arm.R": (0.0, 0.0, -80.0)}
NOD = {"head": (40.0, 0.0, 0.0)}


@pytest.fixture
def walker():
    """An actor with a walk on its Troupe track, frames 1 to 107."""
    return stage.walking()


def shown(ob):
    first, last = (round(f) for f in nla.frame_range(ob))
    return bake.read(ob, stage.cast_of(ob), bpy.context, frames=(first, last))


def here(ob):
    bpy.context.view_layer.update()
    return bake.pose_here(ob, stage.cast_of(ob), bpy.context)


def posed(ob, frame, turns, lift=0.0):
    """Pose an actor at a frame without a key and return the pose on screen."""
    bpy.context.scene.frame_set(frame)
    pose(ob, turns, lift)
    return here(ob)


def at(ob, frame):
    bpy.context.scene.frame_set(frame)
    return here(ob)


def apart(a, b):
    return float(quat.distance(a.rotations, b.rotations).max()), float(np.abs(a.roots - b.roots).max())


@pytest.mark.req("bruderlin", 51, 52)
def test_the_animation_passes_through_the_poses_and_what_is_below_stays(walker):
    below, before = canon.keys_of(results.results_of(walker)[0].action), shown(walker)
    first = posed(walker, 40, RAISED)
    bpy.ops.troupe.displace(plant=False)
    second = posed(walker, 80, NOD)
    bpy.ops.troupe.displace(plant=False)
    assert max(apart(at(walker, 40), first)) < 1e-5 and max(apart(at(walker, 80), second)) < 1e-5
    assert len(results.results_of(walker)) == 2, "both poses are in one displacement"
    after = shown(walker)
    for end in (0, -1):
        assert quat.distance(after.rotations[end], before.rotations[end]).max() < 1e-3
    assert canon.keys_of(results.results_of(walker)[0].action) == below
    bpy.ops.troupe.remove_result()
    assert max(stage.errors(shown(walker), before)) < 1e-6


def test_only_the_bones_that_were_posed_have_keys(walker):
    posed(walker, 40, RAISED)
    bpy.ops.troupe.displace()
    found = results.results_of(walker)[-1]
    bones = {f.data_path.split('"')[1] for bag in canon.bags(found.action) for f in bag.fcurves}
    assert bones == {"upper_arm.R"}


@pytest.mark.req("bruderlin", 52)
def test_a_new_pass_starts_from_the_one_before(walker):
    posed(walker, 40, RAISED)
    bpy.ops.troupe.displace()
    bpy.ops.troupe.new_pass()
    second = posed(walker, 60, {"upper_arm.R": (0.0, 0.0, 50.0)})
    bpy.ops.troupe.displace()
    assert len(results.results_of(walker)) == 3
    assert max(apart(at(walker, 60), second)) < 1e-4
    recipe = json.loads(results.results_of(walker)[-1].action["troupe"])
    assert [round(row["time"] * 24) for row in json.loads(recipe["params"]["edits"])] == [59]


@pytest.mark.req("bruderlin", 53)
def test_sliders_change_the_way_but_not_the_pose(walker):
    wanted = posed(walker, 40, RAISED)
    bpy.ops.troupe.displace()
    before = shown(walker)
    walker.troupe.displace.bias = 0.9
    bpy.ops.troupe.regenerate()
    after = shown(walker)
    assert max(apart(at(walker, 40), wanted)) < 1e-4
    assert quat.distance(after.rotations, before.rotations).max() > 0.02
    walker.troupe.displace.bias = 0.0
    bpy.ops.troupe.displace()
    assert max(stage.errors(shown(walker), before)) < 1e-3, "pressed without a new pose it is made again"


def test_a_pose_at_the_same_frame_takes_the_place_of_the_one_before(walker):
    posed(walker, 40, RAISED)
    bpy.ops.troupe.displace()
    again = posed(walker, 40, {"upper_arm.R": (0.0, 0.0, 30.0)})
    bpy.ops.troupe.displace()
    assert max(apart(at(walker, 40), again)) < 1e-4
    assert len(json.loads(walker.troupe.displace.edits)) == 1


def test_poses_are_taken_out_again(walker):
    before = shown(walker)
    posed(walker, 40, RAISED)
    bpy.ops.troupe.displace()
    once = shown(walker)
    posed(walker, 80, NOD)
    bpy.ops.troupe.displace()
    bpy.ops.troupe.remove_pose(index=1)
    assert max(stage.errors(shown(walker), once)) < 1e-3
    with pytest.raises(RuntimeError, match="from 0 to 0"):
        bpy.ops.troupe.remove_pose(index=4)
    bpy.ops.troupe.remove_pose(index=0)
    assert len(results.results_of(walker)) == 1 and max(stage.errors(shown(walker), before)) < 1e-6
    with pytest.raises(RuntimeError, match="No poses yet"):
        bpy.ops.troupe.remove_pose(index=0)


def test_keys_edited_by_hand_are_kept_and_the_next_pose_goes_on_top(walker):
    posed(walker, 40, RAISED)
    bpy.ops.troupe.displace()
    action = results.results_of(walker)[-1].action
    curve = canon.bags(action)[0].fcurves[0]
    for point in curve.keyframe_points:
        point.co.y += 0.05
    curve.update()
    mine = canon.keys_of(action)
    second = posed(walker, 70, NOD)
    bpy.ops.troupe.displace()
    assert canon.keys_of(action) == mine and len(results.results_of(walker)) == 3
    assert max(apart(at(walker, 70), second)) < 1e-3
    assert len(json.loads(walker.troupe.displace.edits)) == 1


def test_after_removing_it_the_next_pose_begins_anew(walker):
    posed(walker, 40, RAISED)
    bpy.ops.troupe.displace()
    bpy.ops.troupe.remove_result(result=results.results_of(walker)[-1].action.name)
    posed(walker, 70, NOD)
    bpy.ops.troupe.displace(edits=walker.troupe.displace.edits)
    assert [round(row["time"] * 24) for row in json.loads(walker.troupe.displace.edits)] == [69]


def test_planted_feet_stay_while_the_hips_sink(walker):
    before = contacts(shown(walker))
    posed(walker, 54, {}, lift=-0.1)
    bpy.ops.troupe.displace()
    after = shown(walker)
    assert after.roots[53, 2] == pytest.approx(before.roots[53, 2] - 0.1, abs=1e-3)
    for foot, side in enumerate("LR"):
        planted = before.curves[f"contact/foot_{side}"] > 0.5
        assert np.abs(sole_points(after) - sole_points(before))[planted, foot].max() < 1e-3


def test_the_pose_survives_the_redo_panel(walker):
    wanted = posed(walker, 40, RAISED)
    text = feature._to_text(wanted, 40)
    bpy.context.scene.frame_set(40)
    bpy.ops.troupe.displace(pose=text, bias=0.4)
    assert max(apart(at(walker, 40), wanted)) < 1e-4
    with pytest.raises(RuntimeError, match="frame, rotations and root"):
        bpy.ops.troupe.displace(pose="{}")


def test_without_a_pose_it_says_what_to_do(walker):
    bpy.context.scene.frame_set(40)
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match="not posed at frame 40"):
        bpy.ops.troupe.displace()
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    with pytest.raises(RuntimeError, match="Auto Keying"):
        bpy.ops.troupe.displace()
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False
    assert canon.snapshot() == before


def test_a_pose_outside_the_animation_is_refused(walker):
    posed(walker, 150, RAISED)
    with pytest.raises(RuntimeError, match="frames 1 to 107"):
        bpy.ops.troupe.displace()


def test_the_users_own_action_is_displaced_and_stays():
    ob = stage.actor(skin=False)
    bone = ob.pose.bones["upper_arm.L"]
    for frame, turn in ((1, 0.0), (20, 0.8), (48, 0.0)):
        bone.rotation_quaternion = quat.about(np.array([1.0, 0, 0]), turn)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    own = ob.animation_data.action
    keys = canon.keys_of(own)
    wanted = posed(ob, 30, {"upper_arm.L": (0.0, 40.0, 0.0), **NOD})
    bpy.ops.troupe.displace()
    assert canon.keys_of(own) == keys and max(apart(at(ob, 30), wanted)) < 1e-4


def test_a_control_rig_is_posed_by_its_controls(data):
    ob = rig_zoo.load(data / "rigs/rigify/rigify_basic_human_generated.blend")
    stage.choose(ob)
    bpy.ops.troupe.cast()
    bpy.context.scene.frame_set(1)
    bpy.ops.troupe.retarget(clip="walk")
    below = canon.keys_of(results.results_of(ob)[0].action)
    wanted = posed(ob, 40, {"upper_arm_fk.R": (0.0, 0.0, 50.0)})
    bpy.ops.troupe.displace()
    skeleton = stage.cast_of(ob).skeleton
    arm = [skeleton.joint(r) for r in ("upper_arm_R", "forearm_R", "hand_R")]
    shown_there = at(ob, 40)
    assert quat.distance(shown_there.rotations, wanted.rotations)[:, arm].max() < 0.01
    assert canon.keys_of(results.results_of(ob)[0].action) == below
