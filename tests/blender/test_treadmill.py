"""A clip from anywhere in the file walks along a curve, from where the actor stands, feet planted."""

import bpy
import canon
import numpy as np
import pytest
import stage
from troupe.addon import bake
from troupe.addon.bake import results
from troupe.addon.features.treadmill import Operator
from troupe.addon.steps import finish
from troupe.core.filters.footlock import slide
from troupe.core.gait.treadmill import TreadmillParams
from troupe.core.kinematics import base


def curve(*points, kind="POLY", location=(0.0, 0.0, 0.0)):
    """A curve object through points (x, y, z)."""
    line = bpy.data.curves.new("Way", "CURVE")
    line.dimensions = "3D"
    spline = line.splines.new(kind)
    held = spline.bezier_points if kind == "BEZIER" else spline.points
    held.add(len(points) - 1)
    for point, place in zip(held, points, strict=True):
        point.co = place if kind == "BEZIER" else (*place, 1.0)
        if kind == "BEZIER":
            point.handle_left_type = point.handle_right_type = "AUTO"
    ob = bpy.data.objects.new("Way", line)
    ob.location = location
    bpy.context.scene.collection.objects.link(ob)
    return ob


def shown(ob):
    """What the actor shows over its result."""
    first, last = (int(x) for x in bake.results_of(ob)[0].action.frame_range)
    return bake.read(ob, stage.cast_of(ob), bpy.context, frames=(first, last))


def worst_slide(ob):
    """How far a foot of the actor slides at most while its result has it planted [m]."""
    recipe, cast = results.recipe_of(bake.results_of(ob)[0].action), stage.cast_of(ob)
    start = bake.Start.from_plain(recipe["start"], cast)
    params = TreadmillParams.from_dict(recipe["params"])
    made, _ = finish(Operator.motion_steps(bpy.context, ob, cast, params, start))
    return max(s.travel for s in slide(shown(ob), made))


def test_the_built_in_walk_follows_a_winding_curve():
    ob = stage.actor(skin=False)
    way = curve((0, 0, 0), (1, -2, 0), (-1, -4, 0), (0, -6, 0), kind="BEZIER")
    stage.choose(ob)
    assert bpy.ops.troupe.treadmill(path=way.name) == {"FINISHED"}
    motion = shown(ob)
    track = base.derive(motion)
    assert np.hypot(*(motion.roots[-1, :2] - (0, -6))) < 0.15
    assert track[:, 0].max() > 0.6 and track[:, 0].min() < -0.6, "it goes round the bends"
    assert worst_slide(ob) < 0.005
    assert np.abs(np.diff(motion.roots, axis=0)).max() < 0.1


def test_without_a_path_it_goes_straight_ahead():
    ob = stage.actor(skin=False)
    ob.location, ob.rotation_euler = (2.0, 1.0, 0.5), (0.0, 0.0, 1.0)
    bpy.context.view_layer.update()
    bpy.ops.troupe.treadmill(distance=4.0)
    motion = shown(ob)
    gone = motion.roots[-1] - motion.roots[0]
    assert np.hypot(*gone[:2]) == pytest.approx(4.0, abs=0.1)
    assert np.arctan2(gone[0], -gone[1]) == pytest.approx(1.0, abs=0.05)
    assert motion.roots[:, 2].min() > 0.5 + 0.7, "on its own floor"


@pytest.mark.parametrize("speed", [0.5, 2.0])
def test_speed_is_the_speed_asked_for(speed):
    ob = stage.actor(skin=False)
    bpy.ops.troupe.treadmill(distance=6.0, speed=speed)
    motion = shown(ob)
    middle = np.diff(motion.roots[:, :2], axis=0)[len(motion) // 2 - 8 : len(motion) // 2 + 8]
    assert np.hypot(*middle.mean(axis=0)) * motion.fps == pytest.approx(speed, rel=0.05)


def test_an_actor_far_from_the_path_walks_to_it_first():
    ob = stage.actor(skin=False)
    way = curve((0, 0, 0), (0, -3, 0), location=(2.0, -1.0, 0.0))
    stage.choose(ob)
    bpy.ops.troupe.treadmill(path=way.name)
    motion = shown(ob)
    assert np.hypot(*motion.roots[0, :2]) < 0.1
    assert np.hypot(*(motion.roots[-1, :2] - (2.0, -4.0))) < 0.15
    track = base.derive(motion)[:, :2]
    assert np.hypot(*(track - (2.0, -1.0)).T).min() < 0.45
    assert np.hypot(*np.diff(track, axis=0).T).max() < 0.12, "it does not jump there"


def test_an_actor_beside_the_beginning_does_not_jump_there():
    ob = stage.actor(skin=False)
    ob.location.x = 0.2
    bpy.context.view_layer.update()
    way = curve((0, 0, 0), (0, -2, 0), (1, -4, 0), kind="BEZIER")
    stage.choose(ob)
    bpy.ops.troupe.treadmill(path=way.name)
    motion = shown(ob)
    assert motion.roots[0, :2] == pytest.approx((0.2, 0.0), abs=0.03)
    assert np.abs(base.derive(motion)[40:60, 0]).max() < 0.15


def test_results_chain_from_where_they_end():
    ob = stage.actor(skin=False)
    bpy.ops.troupe.treadmill(distance=2.0)
    first = shown(ob)
    bpy.context.scene.frame_set(len(first) + 10)
    bpy.ops.troupe.treadmill(distance=2.0)
    both = bake.read(ob, stage.cast_of(ob), bpy.context, frames=(1, 2 * len(first)))
    assert np.hypot(*(both.roots[-1] - both.roots[0])[:2]) == pytest.approx(4.0, abs=0.2)
    assert np.abs(np.diff(both.roots, axis=0)).max() < 0.09


@pytest.mark.parametrize("carrier", ["bones", "object", "on the spot"])
def test_clips_that_move_on_the_object_on_the_bones_or_not_at_all_give_the_same(carrier, tmp_path):
    source = stage.actor(skin=False)
    if carrier == "object":
        source.troupe.cast.root = "object"
    if carrier == "on the spot":
        source.troupe.cast.root = "in_place"
    bpy.ops.troupe.retarget(file=str(stage.walk_file(tmp_path, height=1.75, cycles=4)), landing="replace")
    moved = any("location" in path and "pose" not in path for path, _ in canon.keys_of(source.animation_data.action))
    assert moved == (carrier == "object")
    actor = stage.actor(skin=False)
    actor.location.x = 3.0
    stage.choose(actor)
    bpy.ops.troupe.treadmill(source=source.name, distance=4.0, speed=1.1)
    motion = shown(actor)
    assert np.hypot(*(motion.roots[-1] - motion.roots[0])[:2]) == pytest.approx(4.0, abs=0.1)
    assert worst_slide(actor) < 0.005


def test_an_action_and_a_faster_one_are_mixed(tmp_path):
    source = stage.actor(skin=False)
    bpy.ops.troupe.retarget(file=str(stage.walk_file(tmp_path, cycles=4)), landing="replace")
    slow = source.animation_data.action
    bpy.ops.troupe.retarget(file=str(stage.walk_file(tmp_path, height=1.71, cycles=5, period=0.7)), landing="replace")
    fast = source.animation_data.action
    assert slow != fast
    actor = stage.actor(skin=False)
    stage.choose(actor)
    bpy.ops.troupe.treadmill(action=slow.name, faster=fast.name, speed=1.5, distance=5.0)
    assert worst_slide(actor) < 0.005


@pytest.mark.parametrize("name", ["cmu/07_01", "misc/olafhaag_walk01", "makehuman/walk1"])
def test_a_file_of_another_character_is_taken(data, name):
    ob = stage.actor(skin=False)
    way = curve((0, 0, 0), (0.5, -2, 0), (-0.5, -4, 0), kind="BEZIER")
    stage.choose(ob)
    bpy.ops.troupe.treadmill(file=str(data / f"mocap/{name}.bvh"), path=way.name)
    motion = shown(ob)
    assert np.hypot(*(motion.roots[-1, :2] - (-0.5, -4))) < 0.15
    assert worst_slide(ob) < 0.005


def test_a_result_is_made_again_when_the_curve_has_changed():
    ob = stage.actor(skin=False)
    way = curve((0, 0, 0), (0, -3, 0))
    stage.choose(ob)
    bpy.ops.troupe.treadmill(path=way.name)
    way.data.splines[0].points[1].co = (3.0, 0.0, 0.0, 1.0)
    bpy.context.view_layer.update()
    bpy.ops.troupe.regenerate()
    assert np.hypot(*(shown(ob).roots[-1, :2] - (3.0, 0.0))) < 0.15


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"path": "nowhere"}, "no curve of that name"),
        ({"source": "nobody"}, "no armature of that name"),
        ({"action": "nothing"}, "no action of that name"),
        ({"faster": "nothing"}, "no action of that name"),
        ({"file": "/nowhere/x.bvh"}, "No such file"),
    ],
)
def test_what_is_not_there_is_named(arguments, words):
    stage.actor(skin=False)
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.troupe.treadmill(**arguments)
    assert canon.snapshot() == before


def test_a_clip_without_a_walk_is_told():
    source = stage.actor(skin=False)
    for frame in (1, 40):
        source.pose.bones["head"].keyframe_insert("rotation_quaternion", frame=frame)
    actor = stage.actor(skin=False)
    stage.choose(actor)
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match="neither travels nor steps"):
        bpy.ops.troupe.treadmill(source=source.name)
    assert canon.snapshot() == before
