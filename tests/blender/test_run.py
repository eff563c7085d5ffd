"""Run from where the actor stands, on any rig, feet planted, both feet in the air between two steps."""

import importlib

import afoot
import bpy
import canon
import numpy as np
import pytest
import stage
from troupe.addon import bake, job
from troupe.core.filters.retarget import lifts
from troupe.core.maths import quat


def flights(motion):
    """Part of the samples at which both feet are in the air."""
    feet = lifts(motion).min(axis=2) / motion.skeleton.leg_length()
    return float((feet > 0.01).all(axis=1).mean())


@pytest.mark.parametrize("kind", afoot.WAYS)
def test_feet_stay_planted_on_any_rig(data, kind):
    ob = afoot.enter(kind, data)
    size = max(1.0, stage.cast_of(ob).skeleton.leg_length())
    speed = min(3.5 * np.sqrt(size), 12.0)
    assert bpy.ops.troupe.run(distance=6.0 * size, speed=speed, acceleration=4.0 * size**0.5) == {"FINISHED"}
    plan, motion = afoot.meant(ob), afoot.shown(ob)
    assert afoot.worst_slide(motion, plan) < 0.001
    ground = afoot.last_result(ob)[1]["start"]["ground"]
    assert afoot.deepest(motion, ground) < 0.0015
    assert np.abs(motion.roots - plan.roots).max() < 1e-4 * size
    assert np.hypot(*(motion.roots[-1] - motion.roots[0])[:2]) == pytest.approx(6.0 * size, rel=0.01)


def test_both_feet_are_in_the_air_between_steps():
    ob = stage.actor(skin=False)
    bpy.ops.troupe.run(distance=15.0, acceleration=4.0)
    assert flights(afoot.shown(ob)) > 0.2
    afoot.anew(ob)
    bpy.ops.troupe.walk(distance=6.0)
    assert flights(afoot.shown(ob)) < 0.02


def test_it_starts_from_a_stand_and_comes_to_one_on_its_own_floor():
    ob = stage.actor(skin=False)
    ob.location, ob.rotation_euler = (2.0, 1.0, 0.5), (0.0, 0.0, 1.0)
    bpy.context.view_layer.update()
    bpy.ops.troupe.run(distance=8.0, acceleration=3.0)
    motion = afoot.shown(ob)
    gone = motion.roots[-1] - motion.roots[0]
    assert np.linalg.norm(motion.roots[0, :2] - (2.0, 1.0)) < 0.06
    assert np.arctan2(gone[0], -gone[1]) == pytest.approx(1.0, abs=0.02)
    assert np.abs(afoot.deepest(motion, 0.5)) < 0.001
    assert np.abs(lifts(motion)[-1] - 0.5).max() < 0.005 and afoot.arms(motion, -1).max() < np.radians(20)


def test_a_cycle_on_the_spot_loops():
    ob = stage.actor(skin=False)
    ob.location.x = 2.0
    bpy.context.view_layer.update()
    bpy.ops.troupe.run(in_place=True)
    action, motion = afoot.last_result(ob)[0], afoot.shown(ob)
    assert action.use_cyclic
    assert np.abs(motion.roots[-1] - motion.roots[0]).max() < 1e-4
    assert quat.distance(motion.rotations[-1], motion.rotations[0]).max() < 1e-3
    assert np.hypot(*(motion.roots[:, :2] - (2.0, 0.0)).T).max() < 0.15 and flights(motion) > 0.2


def test_a_walk_goes_over_into_a_run_without_a_jump():
    ob = stage.actor(skin=False)
    bpy.ops.troupe.walk(distance=2.0)
    last = int(afoot.last_result(ob)[0].frame_range[1])
    bpy.context.scene.frame_set(last + 1)
    bpy.ops.troupe.run(distance=6.0)
    motion = bake.read(ob, stage.cast_of(ob), bpy.context, frames=(1, last + 40))
    assert np.abs(motion.roots[last] - motion.roots[last - 1]).max() < 0.001
    assert quat.distance(motion.rotations[last], motion.rotations[last - 1]).max() < np.radians(0.5)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"speed": 0.0}, "speed, step_length and cadence are all 0"),
        ({"speed": 3.0, "step_length": 1.0, "cadence": 120.0}, "set speed, step_length or cadence to 0"),
    ],
)
def test_what_cannot_be_run_is_told_and_nothing_is_written(arguments, words):
    stage.actor(skin=False)
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.troupe.run(**arguments)
    assert canon.snapshot() == before


def test_a_rig_without_feet_is_told_and_nothing_is_written():
    ob = stage.actor(skin=False)
    ob.troupe.roles.foot_L = ob.troupe.roles.toe_L = ""
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match="foot_L"):
        bpy.ops.troupe.run()
    assert canon.snapshot() == before


def test_one_click_is_one_undo_step():
    stage.actor(skin=False)
    bpy.ops.ed.undo_push(message="start")
    before = canon.snapshot()
    bpy.ops.troupe.run("EXEC_DEFAULT", True, distance=4.0)
    after = canon.snapshot()
    bpy.ops.ed.undo()
    assert canon.snapshot() == before
    bpy.ops.ed.redo()
    assert canon.snapshot() == after


def test_a_job_runs_as_the_button_does(tmp_path):
    bpy.ops.troupe.mannequin(height=1.7)
    bpy.ops.troupe.run(distance=4.0, level=0.5, strike="toe")
    pressed = [canon.keys_of(action) for action in bpy.data.actions]
    (tmp_path / "job.toml").write_text(
        '[[actor]]\nname = "Anna"\nmannequin = {height = 1.7}\n'
        '[[step]]\nactor = "Anna"\nfeature = "run"\ndistance = 4.0\nlevel = 0.5\nstrike = "toe"\n'
    )
    assert job.main(["run", str(tmp_path / "job.toml")]) == 0
    assert [canon.keys_of(action) for action in bpy.data.actions] == pressed


def test_the_demo_has_three_runners():
    demo = importlib.import_module(f"{job.__name__.rpartition('.')[0]}.demos.run")
    demo.build(bpy.context)
    runners = [ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE"]
    assert len(runners) == 3 and all(ob.animation_data.action.use_cyclic for ob in runners)
