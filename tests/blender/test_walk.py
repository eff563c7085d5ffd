"""Walk from where the actor stands, on any rig, feet planted; cycles on the spot; errors that change nothing."""

import importlib

import afoot
import bpy
import canon
import numpy as np
import pytest
import stage
from troupe.addon import bake, job
from troupe.core.filters.retarget import lifts
from troupe.core.kinematics import base
from troupe.core.maths import quat


@pytest.mark.parametrize("kind", afoot.RIGS)
def test_feet_stay_planted_on_any_rig(data, kind):
    ob = afoot.enter(kind, data)
    assert bpy.ops.troupe.walk(distance=3.0) == {"FINISHED"}
    plan, motion = afoot.meant(ob), afoot.shown(ob)
    size = motion.skeleton.leg_length()
    assert afoot.worst_slide(motion, plan) < 0.001
    ground = afoot.last_result(ob)[1]["start"]["ground"]
    assert afoot.deepest(motion, ground) < 0.001
    assert np.abs(motion.roots - plan.roots).max() < 1e-4 * max(1.0, size)
    assert np.hypot(*(motion.roots[-1] - motion.roots[0])[:2]) == pytest.approx(3.0, abs=0.02)


def test_it_goes_where_the_actor_faces_on_its_own_floor():
    ob = stage.actor(skin=False)
    ob.location, ob.rotation_euler = (2.0, 1.0, 0.5), (0.0, 0.0, 1.0)
    bpy.context.view_layer.update()
    bpy.ops.troupe.walk(distance=3.0)
    motion = afoot.shown(ob)
    gone = motion.roots[-1] - motion.roots[0]
    assert np.linalg.norm(motion.roots[0, :2] - (2.0, 1.0)) < 0.05
    assert np.arctan2(gone[0], -gone[1]) == pytest.approx(1.0, abs=0.02)
    assert np.abs(afoot.deepest(motion, 0.5)) < 0.001


@pytest.mark.parametrize(
    ("direction", "way"), [(np.pi, (0.0, 1.0)), (np.pi / 2, (1.0, 0.0)), (-np.pi / 2, (-1.0, 0.0))]
)
def test_it_walks_backward_and_sideways_without_turning(direction, way):
    ob = stage.actor(skin=False)
    bpy.ops.troupe.walk(distance=2.0, direction=direction, speed=0.8)
    motion = afoot.shown(ob)
    assert (motion.roots[-1] - motion.roots[0])[:2] == pytest.approx(2.0 * np.array(way), abs=0.03)
    assert np.abs(base.derive(motion)[:, 2]).max() < np.radians(12.0)
    assert afoot.worst_slide(motion, afoot.meant(ob)) < 0.001


def test_an_actor_at_rest_begins_with_hanging_arms():
    ob = stage.actor(skin=False)
    waiting = bake.pose_here(ob, stage.cast_of(ob), bpy.context)
    assert afoot.arms(waiting, 0).min() > np.radians(25.0), "it rests with its arms away from the body"
    bpy.ops.troupe.walk(distance=1.5)
    assert afoot.arms(afoot.shown(ob), 0).max() < np.radians(15.0)


def test_a_standing_pose_is_what_it_begins_in():
    ob = stage.actor(skin=False)
    arm = ob.pose.bones["upper_arm.L"]
    arm.rotation_mode = "XYZ"
    arm.rotation_euler.x = -1.2
    bpy.context.view_layer.update()
    before = bake.pose_here(ob, stage.cast_of(ob), bpy.context)
    bpy.ops.troupe.walk(distance=3.0)
    motion = afoot.shown(ob)
    assert quat.distance(motion.rotations[0], before.rotations[0]).max() < 1e-3
    assert np.abs(motion.roots[0] - before.roots[0]).max() < 1e-4
    assert afoot.arms(motion, 30)[0] < np.radians(40.0), "and it lets the arm go"


def test_who_does_not_stand_begins_in_a_stand():
    ob = stage.actor(skin=False)
    for side in "LR":
        bone = ob.pose.bones[f"thigh.{side}"]
        bone.rotation_mode = "XYZ"
        bone.rotation_euler.x = -1.5
    bpy.context.view_layer.update()
    bpy.ops.troupe.walk(distance=2.0)
    motion = afoot.shown(ob)
    assert np.abs(lifts(motion)[0, :, 1]).max() < 0.001 and motion.roots[0, 2] > 0.85


def test_walks_chain_without_a_jump():
    ob = stage.actor(skin=False)
    bpy.ops.troupe.walk(distance=2.0)
    last = int(afoot.last_result(ob)[0].frame_range[1])
    bpy.context.scene.frame_set(last + 1)
    bpy.ops.troupe.walk(distance=2.0, lean=0.3)
    motion = bake.read(ob, stage.cast_of(ob), bpy.context, frames=(1, 2 * last))
    assert np.abs(motion.roots[last] - motion.roots[last - 1]).max() < 0.001
    assert quat.distance(motion.rotations[last], motion.rotations[last - 1]).max() < np.radians(0.5)
    assert motion.roots[-1, 1] == pytest.approx(-4.0, abs=0.03)
    assert afoot.worst_slide(afoot.shown(ob), afoot.meant(ob)) < 0.001


def cycles_of(action):
    """How each curve of an action goes on."""
    return {tuple(m.type for m in curve.modifiers) for bag in canon.bags(action) for curve in bag.fcurves}


@pytest.mark.parametrize("kind", ["mannequin", "rigify"])
def test_a_cycle_on_the_spot_loops_where_the_actor_stands(data, kind):
    ob = afoot.enter(kind, data)
    ob.location, ob.rotation_euler = (2.0, 1.0, 0.3), (0.0, 0.0, 1.0)
    bpy.context.view_layer.update()
    bpy.ops.troupe.walk(in_place=True)
    action = afoot.last_result(ob)[0]
    assert action.use_cyclic and ("CYCLES",) in cycles_of(action)
    motion = afoot.shown(ob)
    assert np.abs(motion.roots[-1] - motion.roots[0]).max() < 1e-4
    assert quat.distance(motion.rotations[-1], motion.rotations[0]).max() < 1e-3
    assert np.hypot(*(motion.roots[:, :2] - (2.0, 1.0)).T).max() < 0.12
    feet = lifts(motion).max(axis=(0, 2))
    assert feet.min() > 0.08, "both feet are lifted"


def test_a_cycle_after_a_walk_stays_where_the_walk_ended():
    ob = stage.actor(skin=False)
    ob.troupe.cast.root = "hips"
    bpy.ops.troupe.walk(distance=2.0)
    last = int(afoot.last_result(ob)[0].frame_range[1])
    bpy.context.scene.frame_set(last + 5)
    bpy.ops.troupe.walk(in_place=True)
    motion = afoot.shown(ob)
    assert np.hypot(*(motion.roots[:, :2] - (0.0, -2.0)).T).max() < 0.15


def test_a_rig_keyed_in_place_keeps_the_way_with_the_result():
    ob = stage.actor(skin=False)
    ob.troupe.cast.root = "in_place"
    bpy.ops.troupe.walk(in_place=True)
    track = np.array(afoot.last_result(ob)[1]["base"])
    assert track[0, 1] - track[-1, 1] > 1.0


def test_a_preset_changes_the_walk():
    ob = stage.actor(skin=False)
    bpy.ops.troupe.walk(distance=2.0)
    plain = afoot.shown(ob)
    bpy.ops.troupe.preset_apply(feature="walk", name="Sneak")
    assert ob.troupe.walk.sneak > 0.5
    bpy.ops.troupe.regenerate()
    sneaking = afoot.shown(ob)
    assert np.median(sneaking.roots[:, 2]) < np.median(plain.roots[:, 2]) - 0.05


def test_events_and_contacts_can_be_had():
    ob = stage.actor(skin=False)
    bpy.ops.troupe.walk(distance=2.0, markers=True, contacts=True)
    names = {m.name for m in bpy.context.scene.timeline_markers}
    assert {"heel strike L", "foot flat L", "heel off R", "toe off R"} <= names
    assert any("contact" in path for path, _ in canon.keys_of(afoot.last_result(ob)[0]))


def test_locks_that_contradict_each_other_are_told_and_nothing_is_written():
    stage.actor(skin=False)
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match="set cadence or step_length to 0"):
        bpy.ops.troupe.walk(cadence=100.0, step_length=0.4)
    assert canon.snapshot() == before


def test_a_rig_without_feet_is_told_and_nothing_is_written():
    ob = stage.actor(skin=False)
    ob.troupe.roles.foot_L = ob.troupe.roles.toe_L = ""
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match="foot_L"):
        bpy.ops.troupe.walk()
    assert canon.snapshot() == before


def test_one_click_is_one_undo_step():
    stage.actor(skin=False)
    bpy.ops.ed.undo_push(message="start")
    before = canon.snapshot()
    bpy.ops.troupe.walk("EXEC_DEFAULT", True, distance=1.5)
    after = canon.snapshot()
    bpy.ops.ed.undo()
    assert canon.snapshot() == before
    bpy.ops.ed.redo()
    assert canon.snapshot() == after


def test_a_job_walks_as_the_button_does(tmp_path):
    bpy.ops.troupe.mannequin(height=1.7)
    bpy.ops.troupe.walk(distance=2.0, bounce=1.5)
    pressed = [canon.keys_of(action) for action in bpy.data.actions]
    (tmp_path / "job.toml").write_text(
        '[[actor]]\nname = "Anna"\nmannequin = {height = 1.7}\n'
        '[[step]]\nactor = "Anna"\nfeature = "walk"\ndistance = 2.0\nbounce = 1.5\n'
    )
    assert job.main(["run", str(tmp_path / "job.toml")]) == 0
    assert [canon.keys_of(action) for action in bpy.data.actions] == pressed


def test_the_gallery_has_every_preset():
    demo = importlib.import_module(f"{job.__name__.rpartition('.')[0]}.demos.walk")
    demo.build(bpy.context)
    walkers = [ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE"]
    assert len(walkers) == 16 and all(ob.animation_data.action.use_cyclic for ob in walkers)
    ends = [base.derive(bake.pose_here(ob, stage.cast_of(ob), bpy.context))[0, :2] for ob in walkers]
    apart = np.linalg.norm(np.array(ends)[:, None] - ends, axis=-1)[~np.eye(16, dtype=bool)]
    assert apart.min() > 1.0
