"""Look in Blender: on every kind of rig gaze is on its target, over a walk, and nothing else is touched."""

import afoot
import bpy
import canon
import numpy as np
import pytest
import stage
from troupe.addon import bake
from troupe.addon.bake import nla, results
from troupe.addon.features import look as feature
from troupe.core.kinematics import fk
from troupe.core.kinematics.face import between_eyes
from troupe.core.maths import quat

FORWARD = np.array([0.0, -1.0, 0.0])


def thing(name, place, collection=None):
    ob = bpy.data.objects.new(name, None)
    ob.location = place
    (collection or bpy.context.scene.collection).objects.link(ob)
    bpy.context.view_layer.update()
    return ob


def shown(ob, first=1, last=None):
    last = last or round(nla.frame_range(ob)[1])
    return bake.read(ob, stage.cast_of(ob), bpy.context, frames=(first, last))


def error(ob, frame, target):
    """Angle at a frame between where the actor looks, with the eyes if it can turn them, and a place [degrees]."""
    bpy.context.scene.frame_set(frame)
    bpy.context.view_layer.update()
    cast = stage.cast_of(ob)
    motion = bake.pose_here(ob, cast, bpy.context)
    positions, globals_ = fk.forward(motion.skeleton, motion.rotations, motion.roots)
    roles = [r for r in ("eye_L", "eye_R") if motion.skeleton.has(r)] if feature.turns_eyes(ob, cast) else []
    joints = [motion.skeleton.joint(r) for r in roles] or [motion.skeleton.joint("head")]
    origin = positions[0, joints] if roles else between_eyes(motion)
    axis = quat.rotate(globals_[0, joints], FORWARD)
    return float(np.degrees(np.arccos(np.clip(quat.dot(axis, quat.unit(np.asarray(target) - origin)), -1, 1)).max()))


def keyed_bones(action):
    return {f.data_path.split('"')[1] for bag in canon.bags(action) for f in bag.fcurves if '"' in f.data_path}


@pytest.mark.parametrize("kind", afoot.WAYS)
def test_a_look_over_a_walk_is_on_its_target_and_leaves_the_rest(data, kind):
    ob = afoot.enter(kind, data)
    bpy.ops.troupe.walk(distance=4.0)
    before, walk = shown(ob), canon.keys_of(results.results_of(ob)[0].action)
    unit = before.skeleton.leg_length() / 0.86
    target = before.roots[40] + unit * np.array([1.6, -2.2, 0.4])
    thing("Lamp", target)
    bpy.context.scene.frame_set(10)
    bpy.ops.troupe.look(target="Lamp", hold=1.5, restless=0.0)
    found = results.results_of(ob)[-1]
    first, last = (round(x) for x in found.action.frame_range)
    assert first == 10 and canon.keys_of(results.results_of(ob)[0].action) == walk
    assert error(ob, 10, target) > 20 and error(ob, 40, target) < 0.5
    after = shown(ob)
    apart = quat.distance(before.rotations, after.rotations)
    spoken = [j for r in ("neck", "head", "eye_L", "eye_R") for j in after.skeleton.roles.get(r, ())]
    others = np.setdiff1d(np.arange(len(after.skeleton)), spoken)
    assert apart[:, others].max() < 2e-3 and np.abs(before.roots - after.roots).max() < 1e-3
    for seam in (first, last):
        here = slice(seam - 2, seam + 1)  # frames around it, from frame 1
        assert apart[here].max() < np.radians(0.5)
        step = quat.distance(after.rotations[here][1:], after.rotations[here][:-1])
        steady = quat.distance(before.rotations[here][1:], before.rotations[here][:-1])
        assert np.abs(step - steady).max() < np.radians(0.5)


def test_arms_that_hang_from_the_neck_stay_while_the_head_turns():
    ob = stage.actor()
    bpy.ops.object.mode_set(mode="EDIT")
    bones, neck = ob.data.edit_bones, ob.troupe.roles.neck_0
    for side in "LR":
        clavicle = bones[getattr(ob.troupe.roles, f"clavicle_{side}")]
        clavicle.use_connect, clavicle.parent = False, bones[neck]
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.troupe.walk(distance=2.0)
    before = shown(ob)
    thing("Lamp", (3.0, -1.0, 1.2))
    bpy.context.scene.frame_set(10)
    bpy.ops.troupe.look(target="Lamp", restless=0.0)
    after = shown(ob)
    skeleton = after.skeleton
    assert quat.distance(before.rotations, after.rotations)[:, skeleton.joint("head")].max() > 0.3
    hands = [skeleton.joint(f"hand_{side}") for side in "LR"]
    places = [fk.forward(skeleton, m.rotations, m.roots)[0][:, hands] for m in (before, after)]
    assert np.abs(places[0] - places[1]).max() < 1e-4


def test_only_neck_head_and_eyes_have_keys():
    ob = stage.actor()
    thing("Lamp", (1.5, -1.5, 1.2))
    bpy.ops.troupe.look(target="Lamp")
    found = results.results_of(ob)[-1]
    assert keyed_bones(found.action) == {"neck", "head", "eye.L", "eye.R"}
    assert found.track.name.startswith(nla.LAYER) and found.strip.extrapolation == "NOTHING"
    assert (found.strip.blend_in, found.strip.blend_out) == (0.0, 0.0)


def test_an_actor_that_does_nothing_looks_and_stands_as_before():
    ob = stage.actor()
    rest = shown_at(ob, 1)
    thing("Lamp", (1.5, -1.5, 1.2))
    bpy.ops.troupe.look(target="Lamp", hold=1.0, restless=0.0)
    assert error(ob, 20, (1.5, -1.5, 1.2)) < 0.1
    last = round(results.results_of(ob)[-1].action.frame_range[1])
    for frame in (1, last, last + 10):
        assert quat.distance(shown_at(ob, frame), rest).max() < 1e-3


def shown_at(ob, frame):
    bpy.context.scene.frame_set(frame)
    bpy.context.view_layer.update()
    return bake.pose_here(ob, stage.cast_of(ob), bpy.context).rotations[0]


def test_two_looks_follow_each_other_and_are_made_again_each_for_itself():
    ob = stage.actor()
    bpy.ops.troupe.walk(distance=6.0)
    before = shown(ob)
    lamp, door = thing("Lamp", (2.0, -3.0, 1.2)), thing("Door", (-2.0, -5.0, 1.6))
    for frame, name in ((8, "Lamp"), (70, "Door")):
        bpy.context.scene.frame_set(frame)
        bpy.ops.troupe.look(target=name, hold=0.8, restless=0.0)
    assert error(ob, 24, lamp.location) < 0.2 and error(ob, 86, door.location) < 0.2
    lamp.location = (-2.0, -3.0, 1.0)
    bpy.context.view_layer.update()
    first = results.results_of(ob)[1].action.name
    bpy.ops.troupe.choose_result(result=first)
    bpy.ops.troupe.regenerate()
    assert error(ob, 24, lamp.location) < 0.2 and error(ob, 86, door.location) < 0.2
    for _ in range(2):
        bpy.ops.troupe.remove_result(result=results.results_of(ob)[-1].action.name)
    assert max(stage.errors(shown(ob), before)) < 1e-6


def test_a_look_made_again_looks_from_the_walk_and_not_from_itself():
    ob = stage.actor()
    bpy.ops.troupe.walk(distance=4.0)
    thing("Lamp", (2.0, -3.0, 1.2))
    bpy.context.scene.frame_set(8)
    bpy.ops.troupe.look(target="Lamp", hold=1.0)
    once = shown(ob)
    bpy.context.scene.frame_set(30)
    bpy.ops.troupe.regenerate()
    assert max(stage.errors(shown(ob), once)) < 1e-4
    assert bpy.context.scene.frame_current == 30


def test_another_actor_is_looked_in_the_eyes():
    other = stage.actor()
    bpy.ops.troupe.walk(distance=3.0)
    ob = stage.actor()
    ob.location = (1.2, 1.5, 0.0)
    bpy.context.view_layer.update()
    body = next(m for m in bpy.data.objects if m.type == "MESH" and m.find_armature() == other)
    bpy.ops.troupe.look(mode="track", target=body.name, hold=3.0, restless=0.0, head=1.0)
    for frame in (30, 45, 60):
        bpy.context.scene.frame_set(frame)
        bpy.context.view_layer.update()
        eyes = between_eyes(bake.pose_here(other, stage.cast_of(other), bpy.context))[0]
        assert error(ob, frame, eyes) < 0.5


def test_what_moves_by_whatever_means_is_followed():
    ob = stage.actor()
    holder, ball = thing("Holder", (0.0, -2.0, 1.5)), thing("Ball", (0.6, 0.0, 0.0))
    ball.parent = holder
    holder.rotation_euler.z = 0.0
    holder.keyframe_insert("rotation_euler", frame=1)
    holder.rotation_euler.z = 6.0
    holder.keyframe_insert("rotation_euler", frame=100)
    follower = thing("Follower", (0.0, 0.0, 0.0))
    follower.constraints.new("COPY_LOCATION").target = ball
    bpy.ops.troupe.look(mode="track", target="Follower", hold=3.0, restless=0.0)
    for frame in (20, 40, 60):
        bpy.context.scene.frame_set(frame)
        bpy.context.view_layer.update()
        place = np.array(follower.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation)
        assert error(ob, frame, place) < 0.2


def test_a_scan_takes_the_objects_in_the_order_of_their_names():
    ob = stage.actor()
    shelf = bpy.data.collections.new("Shelf")
    bpy.context.scene.collection.children.link(shelf)
    places = {"Cup 10": (-1.0, -1.0, 1.2), "Cup 2": (1.0, -1.0, 1.5), "Cup 1": (0.0, -1.0, 1.0)}
    for name, place in places.items():
        thing(name, place, shelf)
    shelf.objects.link(ob)
    bpy.ops.troupe.look(mode="scan", targets="Shelf", hold=1.0, restless=0.0)
    for k, name in enumerate(("Cup 1", "Cup 2", "Cup 10")):
        assert error(ob, 24 + round(k * 24 * 1.12), places[name]) < 0.2


def test_lids_close_with_a_shape_key_that_is_called_so():
    ob = stage.actor()
    mesh = next(m for m in bpy.data.objects if m.type == "MESH" and m.find_armature() == ob)
    mesh.shape_key_add(name="Basis")
    for name in ("eyeBlink_L", "eyeBlink_R", "smile"):
        mesh.shape_key_add(name=name).value = 0.0
    assert feature.lids_of(ob) == ["eyeBlink_L", "eyeBlink_R"]
    thing("Lamp", (1.5, -1.5, 1.2))
    bpy.ops.troupe.look(target="Lamp", blink=1.0, delay=0.2)
    values = []
    for frame in range(1, 20):
        bpy.context.scene.frame_set(frame)
        values.append(mesh.data.shape_keys.key_blocks["eyeBlink_L"].value)
    assert max(values) > 0.7 and values[0] == values[-1] == 0.0
    assert mesh.data.shape_keys.key_blocks["smile"].value == 0.0


def test_on_a_generated_rigify_rig_the_eyes_look_by_their_controls(data):
    ob = afoot.enter("rigify", data)
    assert feature.turns_eyes(ob, stage.cast_of(ob)) and stage.cast_of(ob).skeleton.has("eye_L")
    thing("Lamp", (1.0, -2.0, 1.4))
    bpy.ops.troupe.look(target="Lamp", hold=1.5, head=0.2, restless=0.0)
    assert error(ob, 30, (1.0, -2.0, 1.4)) < 0.1
    keyed = keyed_bones(results.results_of(ob)[-1].action)
    assert {"eye.L", "eye.R"} <= keyed
    assert keyed <= {"eye.L", "eye.R", "neck", "head", "tweak_spine.004", "tweak_spine.005"}


def test_on_a_control_rig_without_eyes_the_head_looks(data):
    ob = afoot.enter("rigify", data)
    ob.troupe.roles.eye_L = ob.troupe.roles.eye_R = ""
    thing("Lamp", (1.0, -2.0, 1.4))
    bpy.ops.troupe.look(target="Lamp", hold=1.5, head=0.2)
    assert error(ob, 30, (1.0, -2.0, 1.4)) < 0.5
    assert keyed_bones(results.results_of(ob)[-1].action) <= {"neck", "head", "tweak_spine.004", "tweak_spine.005"}


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({}, "choose what to look at"),
        ({"target": "Nobody"}, "no object of that name"),
        ({"mode": "scan"}, "choose the collection"),
        ({"mode": "scan", "targets": "Nothing"}, "no collection of that name"),
        ({"mode": "scan", "targets": "Empty"}, "no objects of this scene to look at"),
    ],
)
def test_what_cannot_be_looked_at_is_said_and_nothing_changes(asked, reason):
    stage.actor()
    bpy.context.scene.collection.children.link(bpy.data.collections.new("Empty"))
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match=reason):
        bpy.ops.troupe.look(**asked)
    assert canon.snapshot() == before


def test_what_has_no_place_or_is_not_in_this_scene_is_not_looked_at():
    stage.actor(skin=False)
    lamp, shelf = thing("Lamp", (1.0, -2.0, 1.4)), bpy.data.collections.new("Shelf")
    bpy.context.scene.collection.children.link(shelf)
    shelf.objects.link(lamp)
    other = bpy.data.scenes.new("Other").collection
    for place, match in (((float("nan"), 0, 0), "Lamp has no place"), ((0, float("inf"), 0), "Lamp has no place")):
        lamp.location = place
        bpy.context.view_layer.update()
        refused(match, target="Lamp")
        refused(match, mode="scan", targets="Shelf")
    lamp.location = (1.0, -2.0, 1.4)
    for collection in lamp.users_collection:
        collection.objects.unlink(lamp)
    other.objects.link(lamp)
    other.children.link(away := bpy.data.collections.new("Away"))
    away.objects.link(lamp)
    bpy.context.view_layer.update()
    refused("target.*Lamp.*is not in this scene: link it", target="Lamp")
    refused("targets.*Away.*no objects of this scene to look at", mode="scan", targets="Away")


def refused(match, **words):
    """Looking is refused in these words, and nothing has changed."""
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match=match):
        bpy.ops.troupe.look(**words)
    assert canon.snapshot() == before, words


def test_an_actor_does_not_look_at_itself():
    ob = stage.actor()
    mesh = next(m for m in bpy.data.objects if m.type == "MESH" and m.find_armature() == ob)
    for target in (ob, mesh):
        with pytest.raises(RuntimeError, match="is the actor itself"):
            bpy.ops.troupe.look(target=target.name)


def posed_by_hand():
    """An actor in a pose without keys, at frame 20; what it shows at frames before, at and after a result."""
    ob = stage.actor(skin=False)
    names = [stage.cast_of(ob).skeleton.names[stage.cast_of(ob).skeleton.joint(r)] for r in ("head", "upper_arm_R")]
    for name in names:
        bone = ob.pose.bones[name]
        bone.rotation_mode = "QUATERNION"
        bone.rotation_quaternion = (np.cos(0.25), np.sin(0.25), 0.0, 0.0)
    bpy.context.scene.frame_set(20)

    def seen(*frames):
        out = []
        for frame in frames:
            bpy.context.scene.frame_set(frame)
            out.append([tuple(ob.pose.bones[name].matrix_basis.to_quaternion()) for name in names])
        bpy.context.scene.frame_set(20)
        return np.array(out)

    return ob, seen


def test_a_pose_without_keys_is_as_it_was_before_and_after_what_is_laid_over_it():
    ob, seen = posed_by_hand()
    ball = bpy.data.objects.new("Ball", None)
    ball.location = (-1.0, -1.0, 1.2)
    bpy.context.scene.collection.objects.link(ball)
    bpy.context.view_layer.update()
    was = seen(20)
    bpy.ops.troupe.look(target="Ball")
    last = round(ob.animation_data.nla_tracks[-1].strips[0].frame_end)
    assert np.abs(seen(1, 19, 20, last, last + 1, 500) - was).max() < 1e-4
    assert np.abs(seen(45)[0, 0] - was[0, 0]).max() > 0.05
    bpy.ops.troupe.reach(task="point", target="Ball", hand="R")
    ends = [round(s.frame_end) for t in ob.animation_data.nla_tracks for s in t.strips]
    assert np.abs(seen(1, 19, 20, max(ends) + 1, 500) - was).max() < 1e-4
    # one after the other they go, and nothing is left of what held the pose
    bpy.ops.troupe.remove_result()
    assert np.abs(seen(1, 20, 500) - was).max() < 1e-4
    bpy.ops.troupe.remove_result(every=True)
    assert np.abs(seen(1, 20, 500) - was).max() < 1e-6 and not ob.animation_data.nla_tracks
    assert not bpy.data.actions


def test_what_is_in_its_rest_pose_needs_nothing_to_hold_it():
    ob = stage.actor(skin=False)
    bpy.context.scene.frame_set(20)
    bpy.ops.troupe.walk(distance=1.0)
    assert [t.name for t in ob.animation_data.nla_tracks] == ["Troupe"]
