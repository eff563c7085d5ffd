"""Results chain without a jump and can be made again; what was keyed by hand stays."""

import bpy
import canon
import numpy as np
import pytest
import stage
from troupe.addon import bake
from troupe.addon.bake import results
from troupe.core.maths import quat


def places(ob, cast, frames):
    """Bone places (T, J, 3) and orientations (T, J, 4) as the rig shows them."""
    scene = bpy.context.scene
    now, shown = scene.frame_current, []
    for frame in frames:
        scene.frame_set(frame)
        here = bake.pose_here(ob, cast, bpy.context)
        evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        heads = [evaluated.matrix_world @ evaluated.pose.bones[n].head for n in cast.skeleton.names]
        shown.append((np.array(heads), here.rotations[0]))
    scene.frame_set(now)
    return np.array([p for p, _ in shown]), np.array([q for _, q in shown])


def jump(ob, cast, a, b):
    """Largest step [m] and turn [rad] from one frame to another."""
    place, turn = places(ob, cast, (a, b))
    return np.linalg.norm(place[1] - place[0], axis=-1).max(), quat.distance(turn[1], turn[0]).max()


@pytest.fixture
def walked(tmp_path):
    """An actor with two walks in a row; the second starts after the first has ended."""
    ob = stage.actor()
    path = str(stage.walk_file(tmp_path, cycles=2))
    bpy.context.scene.frame_set(1)
    bpy.ops.troupe.retarget(file=path)
    first = results.results_of(ob)[0].action
    last = int(first.frame_range[1])
    bpy.context.scene.frame_set(last + 1)
    bpy.ops.troupe.retarget(file=str(stage.walk_file(tmp_path, height=1.3, cycles=1)))
    return ob, path, last


def test_a_walk_goes_on_where_the_one_before_ended(walked):
    ob, _, last = walked
    cast = stage.cast_of(ob)
    step, turn = jump(ob, cast, last, last + 1)
    assert step < 0.001 and np.degrees(turn) < 0.5
    motion = bake.read(ob, cast, bpy.context)
    assert np.linalg.norm(np.diff(motion.roots, axis=0), axis=1).max() < 0.12
    assert [t.name for t in ob.animation_data.nla_tracks] == ["Troupe"]
    assert all(s.extrapolation == "HOLD_FORWARD" for s in ob.animation_data.nla_tracks[0].strips)


def test_an_actor_whose_results_are_removed_is_where_it_was_before_them():
    ob = stage.actor()
    bpy.ops.mesh.primitive_cylinder_add(radius=0.035, depth=0.24, location=(-0.2, -0.45, 1.02))
    bottle = bpy.context.object.name
    stage.choose(ob)
    cast, (before, turns) = stage.cast_of(ob), places(ob, stage.cast_of(ob), (1,))
    bpy.ops.troupe.reach(task="pick_up", target=bottle)
    bpy.context.scene.frame_set(round(max(f.strip.frame_end for f in results.results_of(ob))))
    bpy.ops.troupe.walk(distance=1.0)
    bpy.context.scene.frame_current += 40
    bpy.ops.troupe.remove_result(every=True)
    after, turned = places(ob, cast, (1,))
    assert np.abs(after - before).max() < 1e-5 and quat.distance(turned, turns).max() < 1e-4
    assert not ob.animation_data.nla_tracks


def test_a_layer_fades_in_and_out_over_what_is_below(walked):
    ob, path, last = walked
    cast = stage.cast_of(ob)
    start = last - 10
    frames = range(start - 2, start + 60)
    before = places(ob, cast, frames)
    bpy.context.scene.frame_set(start)
    bpy.ops.troupe.retarget(file=path, body="arms")
    found = results.results_of(ob)[-1]
    assert found.strip.extrapolation == "NOTHING" and found.strip.blend_in == pytest.approx(7.2)
    first, end = int(found.strip.frame_start), int(found.strip.frame_end)
    assert (first, end) == (start, start + 53)
    after = places(ob, cast, frames)
    away, turned = (
        np.linalg.norm(after[0] - before[0], axis=-1).max(axis=1),
        quat.distance(*(p[1] for p in (before, after))),
    )
    for frame in (first - 1, first, end, end + 1):
        at = frame - frames[0]
        assert away[at] < 0.001 and np.degrees(turned[at].max()) < 0.5, frame
    assert turned[12].max() > 0.02, "the arms do something else"
    legs = [cast.skeleton.joint(f"foot_{s}") for s in "LR"]
    assert np.abs(before[0] - after[0])[:, legs].max() < 1e-6


def test_regenerate_changes_one_result_and_nothing_else(walked, tmp_path):
    ob = walked[0]
    first, second = (f.action.name for f in results.results_of(ob))
    bpy.ops.troupe.choose_result(result=first)
    strip = results.find(ob, first).strip
    strip.influence = 0.9 if strip.use_animated_influence else strip.influence
    strip.scale = 1.25
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    ob = bpy.data.objects["Mannequin"]
    stage.choose(ob)
    other = canon.keys_of(bpy.data.actions[second])
    mine = canon.keys_of(bpy.data.actions[first])
    ob.troupe.retarget.travel = 1.5
    assert bpy.ops.troupe.regenerate() == {"FINISHED"}
    assert canon.keys_of(bpy.data.actions[second]) == other
    assert canon.keys_of(bpy.data.actions[first]) != mine
    found = results.find(ob, first)
    assert found.strip.scale == pytest.approx(1.25) and found.strip.frame_start == 1.0
    assert results.recipe_of(found.action)["params"]["travel"] == 1.5
    assert len(bpy.data.actions) == 2


def test_regenerating_without_a_change_gives_the_same_keys(walked):
    ob, _, _ = walked
    for found in results.results_of(ob):
        before = canon.keys_of(found.action)
        bpy.ops.troupe.regenerate(result=found.action.name)
        assert canon.keys_of(found.action) == before


def edit(ob, found):
    """Turn the head by hand on every key of a result."""
    bag = canon.bags(found.action)[0]
    curve = next(
        f for f in bag.fcurves if f.data_path == 'pose.bones["head"].rotation_quaternion' and f.array_index == 1
    )
    for point in curve.keyframe_points:
        point.co.y += 0.1
    curve.update()
    return canon.keys_of(found.action)


def test_edited_keys_are_kept_unless_the_user_says_otherwise(walked):
    ob, _, _ = walked
    found = results.results_of(ob)[0]
    edited = edit(ob, found)
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match="edited by hand and are kept"):
        bpy.ops.troupe.regenerate(result=found.action.name)
    assert canon.keys_of(found.action) == edited and canon.snapshot() == before
    bpy.ops.troupe.regenerate(result=found.action.name, edits="discard")
    assert canon.keys_of(found.action) != edited
    assert not results.is_edited(ob, found.action)


def test_edits_can_be_kept_as_a_layer(walked):
    ob, _, _ = walked
    cast = stage.cast_of(ob)
    found = results.results_of(ob)[0]
    edit(ob, found)
    shown = places(ob, cast, (5, 20, 40))
    bpy.ops.troupe.regenerate(result=found.action.name, edits="layer")
    again = places(ob, cast, (5, 20, 40))
    assert quat.distance(shown[1], again[1]).max() < 1e-3
    assert not results.is_edited(ob, found.action)


def test_a_new_take_leaves_the_edited_one(walked):
    ob, _, _ = walked
    found = results.results_of(ob)[0]
    edited = edit(ob, found)
    name = found.action.name
    bpy.ops.troupe.regenerate(result=name, edits="take")
    assert canon.keys_of(bpy.data.actions[name]) == edited
    assert results.find(ob, name).strip.mute and len(results.results_of(ob)) == 3


def test_a_missing_input_is_named_and_nothing_changes(walked, tmp_path):
    (tmp_path / "walk1.30.bvh").unlink()
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match=r"walk1\.30\.bvh"):
        bpy.ops.troupe.regenerate()
    assert canon.snapshot() == before


def test_remove_takes_results_and_leaves_the_users_own(walked):
    ob, _, _ = walked
    ob.keyframe_insert("scale", frame=1)
    mine = ob.animation_data.action
    keys = canon.keys_of(mine)
    edit(ob, results.results_of(ob)[0])
    kept = results.results_of(ob)[0].action.name
    bpy.ops.troupe.remove_result(every=True)
    assert not results.results_of(ob)
    assert canon.keys_of(mine) == keys and ob.animation_data.action == mine
    assert bpy.data.actions[kept].use_fake_user, "edited keys stay in the file"
    assert len(bpy.data.actions) == 2


def test_mute_and_solo(walked):
    ob, _, _ = walked
    found = results.results_of(ob)[0]
    bpy.ops.troupe.mute_result(result=found.action.name)
    assert found.strip.mute
    bpy.ops.troupe.mute_result(result=found.action.name)
    bpy.ops.troupe.solo_result(result=found.action.name)
    assert not found.strip.mute and found.track.is_solo


def test_bake_down_shows_the_same(walked):
    ob, path, last = walked
    bpy.context.scene.frame_set(last - 10)
    bpy.ops.troupe.retarget(file=path, body="arms")
    cast = stage.cast_of(ob)
    frames = range(1, last + 20, 5)
    before = places(ob, cast, frames)
    bpy.ops.troupe.bake_down()
    after = places(ob, cast, frames)
    assert np.abs(before[0] - after[0]).max() < 1e-4 and quat.distance(before[1], after[1]).max() < 1e-4
    assert ob.animation_data.action.name == "Mannequin baked"
    assert all(t.mute for t in ob.animation_data.nla_tracks)


def test_fewer_keys_within_the_stated_error(tmp_path):
    ob = stage.actor()
    path = str(stage.walk_file(tmp_path, cycles=2))
    bpy.ops.troupe.retarget(file=path)
    cast = stage.cast_of(ob)
    dense, count = (
        bake.read(ob, cast, bpy.context),
        sum(len(k) for k in canon.keys_of(results.results_of(ob)[0].action).values()),
    )
    bpy.ops.troupe.remove_result(every=True)
    bpy.ops.troupe.retarget(file=path, keys="reduced", tolerance=0.01)
    sparse, fewer = (
        bake.read(ob, cast, bpy.context),
        sum(len(k) for k in canon.keys_of(results.results_of(ob)[0].action).values()),
    )
    assert fewer < 0.7 * count
    error = quat.distance(dense.rotations, sparse.rotations).max(axis=0)
    assert error[1:].max() < 0.0105 and error[0] < 0.021, "root bone and hips add up"


def test_the_first_result_is_exact_from_its_first_frame(tmp_path):
    ob = stage.actor()
    bpy.context.scene.frame_set(1)
    bpy.ops.troupe.retarget(file=str(stage.walk_file(tmp_path, cycles=1)))
    assert results.recipe_of(results.results_of(ob)[0].action)["start"]["moving"] is False
