"""Editing in Blender: what plays is read, changed and laid above; everything below stays, and it can be made again."""

import json
from dataclasses import replace

import bpy
import canon
import numpy as np
import pytest
import rig_zoo
import stage
from troupe.addon import bake
from troupe.addon.bake import curves, nla, reading, results
from troupe.addon.features import bands as feature
from troupe.addon.steps import finish
from troupe.core.filters.bands import SLIDERS, BandParams, bands
from troupe.core.filters.bank import frequencies
from troupe.core.filters.contacts import contacts, sole_points
from troupe.core.filters.resample import resample
from troupe.core.filters.scope import mask
from troupe.core.kinematics.base import based
from troupe.core.kinematics.cast import read_joints
from troupe.core.landing import LandingParams
from troupe.core.maths import quat
from troupe.core.motion import Motion

ONES = (1.0,) * SLIDERS
UP = (1.0, 1.0, 1.7, 1.7, 1.7, 1.0, 1.0, 1.0)


@pytest.fixture
def walker():
    """An actor with a walk on its Troupe track."""
    return stage.walking()


def shown(ob):
    """What the actor plays, frame by frame as Blender evaluates it."""
    first, last = (round(f) for f in nla.frame_range(ob))
    cast = stage.cast_of(ob)
    matrices = finish(reading._sampled(ob, cast, bpy.context, np.arange(first, last + 1, dtype=float), None))
    return Motion(cast.skeleton, 24.0, *read_joints(cast, matrices))


def top(ob):
    return results.results_of(ob)[-1]


def same(a, b, place=1e-4, turn=2e-3):
    roots, turns = stage.errors(a, b)
    return roots < place and turns < turn


def choose_result(ob, action):
    stage.choose(ob)
    bpy.ops.troupe.choose_result(result=action.name)


def test_bones_that_it_alone_moved_are_as_before_when_it_is_gone(walker):
    below, name = top(walker).action, "middle_02.R"
    bag = curves.bag(walker, below, create=False)
    for fcurve in [f for f in bag.fcurves if name in f.data_path]:
        bag.fcurves.remove(fcurve)
    finger, bent = walker.pose.bones[name], (0.8, 0.6, 0.0, 0.0)
    finger.rotation_quaternion = bent
    bpy.ops.troupe.bands(gains=UP, signal="positions")
    bpy.ops.troupe.bands(gains=UP, signal="positions")

    def moved():
        bpy.context.scene.frame_set(40)
        return np.abs(np.subtract(finger.rotation_quaternion, bent)).max()

    assert moved() > 0.01
    first, second = (f.action.name for f in results.results_of(walker)[-2:])
    bpy.ops.troupe.remove_result(result=first)
    assert moved() > 0.01
    bpy.ops.troupe.remove_result(result=second)
    assert moved() < 1e-6


def test_bones_that_a_wider_scope_moved_are_as_before_when_it_is_narrow_again_or_gone(walker):
    bag = curves.bag(walker, top(walker).action, create=False)
    names, bent = ("upper_arm.R", "upper_arm.L"), (0.8, 0.6, 0.0, 0.0)
    for fcurve in [f for f in bag.fcurves if f.data_path.split('"')[1:2] and f.data_path.split('"')[1] in names]:
        bag.fcurves.remove(fcurve)
    arms = [walker.pose.bones[n] for n in names]
    for arm in arms:
        arm.rotation_quaternion = bent
    where = {"signal": "positions", "plant": False}
    bpy.ops.troupe.bands(gains=UP, scope="legs", **where)

    def moved():
        bpy.context.scene.frame_set(40)
        return [float(np.abs(np.subtract(arm.rotation_quaternion, bent)).max()) for arm in arms]

    assert max(moved()) < 1e-6
    own = walker.troupe.bands
    for scope, still in (("all", ()), ("arm_L", (0,)), ("arms", ())):
        own.scope = scope
        bpy.ops.troupe.regenerate()
        away = moved()
        assert [k for k in range(2) if away[k] < 1e-6] == list(still), scope
    bpy.ops.troupe.remove_result()
    assert max(moved()) < 1e-6


def test_gains_of_one_show_the_same_animation(walker):
    before = shown(walker)
    bpy.ops.troupe.bands()
    assert same(shown(walker), before, 1e-5, 1e-3)


@pytest.mark.parametrize("arguments", [{}, {"plant": False}, {"signal": "positions"}, {"scope": "arm_L"}])
def test_blender_shows_what_the_filter_computes(walker, arguments):
    before = shown(walker)
    bpy.ops.troupe.bands(gains=UP, **arguments)
    expected = bands(before, BandParams(gains=UP, **arguments))
    assert same(shown(walker), expected)
    assert not same(shown(walker), before, 1e-3, 0.1)


def test_the_result_lies_on_a_track_of_its_own_above_and_holds(walker):
    below = canon.keys_of(top(walker).action)
    bpy.ops.troupe.bands(gains=UP)
    tracks = walker.animation_data.nla_tracks
    assert [t.name for t in tracks] == ["Troupe", "Troupe"] and [len(t.strips) for t in tracks] == [1, 1]
    assert top(walker).strip.extrapolation == "HOLD_FORWARD" and top(walker).strip.blend_in == 0.0
    assert canon.keys_of(tracks[0].strips[0].action) == below
    bpy.context.scene.frame_set(150)
    assert same(
        bake.pose_here(walker, stage.cast_of(walker), bpy.context),
        bake.read(walker, stage.cast_of(walker), bpy.context, top(walker).action, (107, 107)),
    )


def test_a_result_after_it_goes_on_from_it(walker):
    bpy.ops.troupe.bands(gains=UP)
    bpy.context.scene.frame_set(110)
    bpy.ops.troupe.retarget(clip="walk")
    motion = shown(walker)
    assert np.linalg.norm(np.diff(motion.roots, axis=0), axis=1).max() < 0.15
    assert np.linalg.norm(motion.roots[-1, :2] - motion.roots[106, :2]) > 3.0


def test_the_users_own_action_is_filtered_and_stays():
    ob = stage.actor(skin=False)
    bone = ob.pose.bones["upper_arm.L"]
    for frame, turn in ((1, 0.0), (8, 0.4), (16, -0.2), (30, 0.3), (48, 0.0)):
        bone.rotation_quaternion = quat.about(np.array([1.0, 0, 0]), turn)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    own = ob.animation_data.action
    keys, before = canon.keys_of(own), shown(ob)
    bpy.ops.troupe.bands(gains=UP, plant=False)
    assert canon.keys_of(own) == keys
    assert [t.name for t in ob.animation_data.nla_tracks] == [own.name, "Troupe"]
    assert same(shown(ob), bands(before, BandParams(gains=UP, plant=False)))
    bpy.ops.troupe.remove_result()
    assert same(shown(ob), before, 1e-6, 1e-6)


@pytest.mark.parametrize("landing", ["track", "replace", "layer"])
def test_made_again_it_begins_with_what_lies_below(walker, landing):
    before = shown(walker)
    bpy.ops.troupe.bands(gains=UP, landing=landing, plant=False, blend=0.0)
    once = shown(walker)
    for _ in range(2):
        bpy.ops.troupe.regenerate()
        assert same(shown(walker), once, 1e-5, 1e-3)
    walker.troupe.bands.gains = ONES
    bpy.ops.troupe.regenerate()
    assert same(shown(walker), before, 1e-5, 1e-3)
    assert len(results.results_of(walker)) == 2


def test_where_it_replaced_an_action_it_is_made_again_from_that():
    ob = stage.actor(skin=False)
    bone = ob.pose.bones["head"]
    for frame, turn in ((1, 0.0), (12, 0.5), (30, -0.4), (48, 0.0)):
        bone.rotation_quaternion = quat.about(np.array([1.0, 0, 0]), turn)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    own, before = ob.animation_data.action, shown(ob)
    bpy.ops.troupe.bands(gains=UP, landing="replace", plant=False)
    assert ob.animation_data.action != own and own.use_fake_user
    once = shown(ob)
    bpy.ops.troupe.regenerate()
    assert same(shown(ob), once, 1e-5, 1e-3) and not same(once, before, 1, 0.05)


def test_an_edit_in_the_middle_of_the_stack_is_made_again_without_what_lies_above(walker):
    plain = shown(walker)
    bpy.ops.troupe.bands(gains=UP, scope="arms")
    middle = top(walker).action
    bpy.ops.troupe.bands(gains=(1, 1, 0, 0, 0, 1, 1, 1), scope="arms")
    above = top(walker).action
    tracks = [(t.name, t.mute, t.is_solo, [s.mute for s in t.strips]) for t in walker.animation_data.nla_tracks]
    choose_result(walker, middle)
    cast = stage.cast_of(walker)
    alone = bake.read(walker, cast, bpy.context, middle)
    bpy.ops.troupe.regenerate()
    assert same(bake.read(walker, cast, bpy.context, middle), alone, 1e-5, 1e-3)
    assert tracks == [(t.name, t.mute, t.is_solo, [s.mute for s in t.strips]) for t in walker.animation_data.nla_tracks]
    # the one above is made from the one in the middle: edits compose
    choose_result(walker, above)
    walker.troupe.bands.gains = ONES
    bpy.ops.troupe.regenerate()
    assert same(shown(walker), bands(plain, BandParams(gains=UP, scope="arms")))


def test_edits_that_are_alike_are_told_apart(walker):
    bpy.ops.troupe.bands(gains=UP, plant=False)
    first = top(walker)
    before = shown(walker)
    first.strip.mute = True
    bpy.ops.troupe.bands(gains=UP, plant=False)
    second = top(walker)
    starts = [json.loads(f.action["troupe"])["start"] for f in (first, second)]
    assert starts[0] != starts[1]
    first.strip.mute, second.strip.mute = False, True
    choose_result(walker, first.action)
    bpy.ops.troupe.regenerate()
    assert same(shown(walker), before, 1e-5, 1e-3)


def test_a_stack_of_results_is_read_as_it_plays(walker):
    bpy.context.scene.frame_set(30)
    bpy.ops.troupe.retarget(clip="walk", body="arms")
    before = shown(walker)
    bpy.ops.troupe.bands(gains=UP)
    assert same(shown(walker), bands(before, BandParams(gains=UP)))
    assert bpy.context.scene.frame_current == 30


def test_a_part_of_the_body_keys_only_its_bones(walker):
    bpy.ops.troupe.bands(gains=UP, scope="head")
    found = top(walker)
    assert found.track.name == "Troupe Layer" and found.strip.extrapolation == "NOTHING"
    cast = stage.cast_of(walker)
    chosen = mask(cast.skeleton, BandParams(scope="head"))[:-1]
    names = {cast.skeleton.names[j] for j in np.flatnonzero(chosen)}
    paths = {f.data_path for bag in canon.bags(found.action) for f in bag.fcurves}
    assert {p.split('"')[1] for p in paths} == names


def test_selected_bones_are_what_changes_and_the_recipe_remembers_them(walker):
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    for name in ("forearm.L", "hand.L"):
        bone = walker.pose.bones[name]
        (bone if hasattr(bone, "select") else bone.bone).select = True
    before = shown(walker)
    bpy.ops.troupe.bands(gains=UP, scope="selected")
    assert json.loads(top(walker).action["troupe"])["params"]["joints"] == "forearm.L, hand.L"
    expected = bands(before, BandParams(gains=UP, joints="forearm.L, hand.L"))
    assert same(shown(walker), expected)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.troupe.regenerate()
    assert same(shown(walker), expected)


def test_nothing_selected_is_said(walker):
    with pytest.raises(RuntimeError, match="select bones in Pose Mode"):
        bpy.ops.troupe.bands(gains=UP, scope="selected")


def test_the_preview_range_is_where_it_changes(walker):
    scene = bpy.context.scene
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 25, 73
    before = shown(walker)
    bpy.ops.troupe.bands(gains=UP, range="scene", plant=False)
    recipe = json.loads(top(walker).action["troupe"])["params"]
    assert (recipe["begin"], recipe["end"]) == (1.0, 3.0)
    after = shown(walker)
    turned = quat.distance(after.rotations, before.rotations).max(axis=1)
    assert turned[:25].max() < 2e-3 and turned[72:].max() < 2e-3 and turned[35:60].max() > 0.1
    scene.use_preview_range = False
    bpy.ops.troupe.regenerate()
    assert same(shown(walker), after, 1e-5, 1e-3)
    scene.frame_start, scene.frame_end = 300, 400
    with pytest.raises(RuntimeError, match="frames 300 to 400 lie outside the animation, frames 1 to 107"):
        bpy.ops.troupe.bands(gains=UP, range="scene")


def test_feet_stay_where_they_were(walker):
    planted = contacts(shown(walker))
    bpy.ops.troupe.bands(gains=UP)
    away = np.abs(sole_points(shown(walker)) - sole_points(planted)).max(axis=(-1, -2))
    for k, side in enumerate("LR"):
        assert away[planted.curves[f"contact/foot_{side}"] > 0.5, k].max() < 0.001


def test_a_cycle_is_filtered_around_and_stays_one(walker):
    cast = stage.cast_of(walker)
    clip = resample(bake.read(walker, cast, bpy.context), 24.0)
    bpy.ops.troupe.remove_result(every=True)
    t = 2 * np.pi * np.arange(24) / 24
    rotations = np.tile(quat.IDENTITY, (24, len(cast.skeleton), 1))
    arm = cast.skeleton.joint("upper_arm_L")
    rotations[:, arm] = quat.about(np.array([1.0, 0.0, 0.0]), 0.4 * np.sin(t) + 0.1 * np.sin(3 * t))
    loop = replace(clip, roots=np.tile(clip.roots[0], (24, 1)), rotations=rotations, loop=True)
    keys = bake.prepare(walker, cast, based(loop), bpy.context, 1)
    bake.write(walker, keys, bpy.context, "wave", landing="replace")
    assert walker.animation_data.action.use_cyclic
    bpy.ops.troupe.bands(gains=(0, 0, 1, 1, 1, 1, 1, 1), plant=False)
    assert top(walker).action.use_cyclic and tuple(top(walker).action.frame_range) == (1, 25)
    expected = bands(based(loop), BandParams(gains=(0, 0, 1, 1, 1, 1, 1, 1), plant=False))
    result = bake.read(walker, cast, bpy.context, top(walker).action, (1, 24))
    assert same(result, expected)


@pytest.mark.req("bruderlin", 37)
def test_sliders_show_the_frequency_of_their_band(walker):
    class Layout:
        """Stands in for a panel: without a window nothing is drawn."""

        active = True

        def __init__(self, rows):
            self.rows = rows

        def column(self, align):
            return self

        def row(self, align):
            return Layout(self.rows)

        def prop(self, owner, name, index, text, slider):
            self.rows.append((index, text, self.active))

    rows = []
    feature.draw_gains(Layout(rows), walker.troupe.bands, bpy.context, walker)
    assert [r[0] for r in rows] == list(range(SLIDERS))
    assert [r[1] for r in rows[:5]] == ["12 Hz", "3.4 Hz", "1.6 Hz", "0.79 Hz", "0.40 Hz"]
    assert [r[2] for r in rows] == [True] * 6 + [False] * 2, "107 frames have six bands"
    bpy.context.scene.render.fps = 30
    rows.clear()
    feature.draw_gains(Layout(rows), walker.troupe.bands, bpy.context, walker)
    assert rows[1][1] == "4.2 Hz" == feature.label(frequencies(30.0, 256)[1])


@pytest.mark.req("bruderlin", 39)
def test_the_change_of_bone_lengths_is_reported(walker, capfd):
    before = shown(walker)
    bpy.ops.troupe.bands(gains=UP, signal="positions")
    said = feature.stretched(bands(before, BandParams(gains=UP, signal="positions")))
    assert "of their length" in said and said in capfd.readouterr().out
    assert feature.stretched(before) == ""


def test_an_actor_that_does_nothing_is_told_so():
    ob = stage.actor(skin=False)
    with pytest.raises(RuntimeError, match=f"{ob.name} does nothing yet"):
        bpy.ops.troupe.bands()


def test_stopping_in_the_middle_changes_nothing(walker):
    bpy.context.scene.frame_set(30)
    bpy.ops.troupe.retarget(clip="walk", body="arms")
    bpy.ops.troupe.bands(gains=UP)
    own, before = top(walker), canon.snapshot()
    start = json.loads(own.action["troupe"])["start"]
    work = feature.Operator.plan_steps(bpy.context, walker, BandParams(gains=ONES), LandingParams(), start)
    for _ in range(5):
        next(work)
    assert own.strip.mute
    work.close()
    assert canon.snapshot() == before and bpy.context.scene.frame_current == 30


def test_a_control_rig_is_edited_through_its_controls(data):
    ob = rig_zoo.load(data / "rigs/rigify/rigify_basic_human_generated.blend")
    stage.choose(ob)
    bpy.ops.troupe.cast()
    bpy.context.scene.frame_set(1)
    bpy.ops.troupe.retarget(clip="walk")
    before, below = shown(ob), canon.keys_of(top(ob).action)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    bone = ob.pose.bones["upper_arm_fk.L"]
    (bone if hasattr(bone, "select") else bone.bone).select = True
    bpy.ops.troupe.bands(gains=UP, scope="selected")
    joint = stage.cast_of(ob).skeleton.names[stage.cast_of(ob).skeleton.joint("upper_arm_L")]
    assert json.loads(top(ob).action["troupe"])["params"]["joints"] == joint
    assert canon.keys_of(results.results_of(ob)[0].action) == below
    assert same(shown(ob), bands(before, BandParams(gains=UP, joints=joint)), 0.001, 0.02)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.troupe.remove_result()
    bpy.ops.troupe.bands(gains=UP)
    assert same(shown(ob), bands(before, BandParams(gains=UP)), 0.001, 0.05)
