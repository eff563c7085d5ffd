"""How many keys a result has and where, its contacts as properties, its events as markers, and cycles that repeat."""

from dataclasses import replace

import bpy
import canon
import numpy as np
import pytest
import stage
from troupe.addon import bake
from troupe.addon.bake import results, thinning
from troupe.addon.features import retarget
from troupe.addon.steps import finish
from troupe.core.errors import InvalidMotion
from troupe.core.figure.stroll import walk
from troupe.core.filters.contacts import CURVES, contacts, sole_points
from troupe.core.filters.footlock import footlock, slide
from troupe.core.filters.keyposes import key_poses
from troupe.core.filters.resample import resample
from troupe.core.kinematics import base
from troupe.core.maths import quat
from troupe.core.motion import Motion

THREE_DEGREES = np.radians(3.0)


@pytest.fixture
def rigify(data):
    def cast():
        bpy.ops.wm.open_mainfile(filepath=str(data / "rigs" / "rigify" / "rigify_human_generated.blend"))
        stage.still(bpy.data.objects)
        stage.choose(next(o for o in bpy.data.objects if o.type == "ARMATURE"))
        bpy.ops.troupe.cast()

    stage.once(cast)
    yield bpy.context.object
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


_walks = {}


def planted_walk(skeleton, cycles=2):
    """A walk whose feet are planted, at the scene's rate; computed once."""
    known = (skeleton.names, cycles)
    if known not in _walks:
        _walks[known] = base.based(resample(footlock(contacts(walk(skeleton, cycles=cycles, fps=120.0))), 24.0))
    return _walks[known]


def cycle(skeleton, samples=26, fps=24.0, turn=0.0):
    """One round of a walk that travels evenly, closed but for its turn [rad]."""
    known = (skeleton.names, samples, fps)
    if known not in _walks:
        _walks[known] = footlock(contacts(walk(skeleton, cycles=5, period=samples / fps, fps=fps)))
    long = _walks[known]
    keep = slice(2 * samples, 3 * samples)
    step = np.append((long.roots[3 * samples] - long.roots[2 * samples])[:2], 0.0)
    track = np.append(long.roots[2 * samples, :2], 0.0) + np.arange(samples)[:, None] / samples * step
    motion = Motion(skeleton, fps, long.roots[keep], long.rotations[keep], base=track, loop=True)
    if turn:
        bent = track + np.arange(samples)[:, None] / samples * np.array([0.0, 0.0, turn])
        roots, hips = base.compose(bent, *base.relative(motion))
        rotations = np.concatenate([hips[:, None], motion.rotations[:, 1:]], axis=1)
        motion = replace(motion, roots=roots, rotations=quat.continuous(rotations), base=bent)
    return contacts(motion)


def shown(ob, cast, count, first=1):
    """What Blender shows on some frames."""
    poses = []
    for frame in range(first, first + count):
        bpy.context.scene.frame_set(frame)
        poses.append(bake.pose_here(ob, cast, bpy.context))
    roots, rotations = (np.concatenate([getattr(p, name) for p in poses]) for name in ("roots", "rotations"))
    return Motion(cast.skeleton, 24.0, roots, rotations)


def put(ob, cast, motion, landing="replace", **options):
    keys = bake.prepare(ob, cast, motion, bpy.context, 1, **options)
    return keys, bake.write(ob, keys, bpy.context, "test", landing=landing)


def styled(ob, motion, style, **options):
    """(keys, what every frame shows, what this style shows, keys on every frame, keys of this style)."""
    cast = stage.cast_of(ob)
    _, dense = put(ob, cast, motion, **options)
    before = shown(ob, cast, len(motion))
    keys, result = put(ob, cast, motion, keys=style, **options)
    return keys, before, shown(ob, cast, len(motion)), dense.keys, result.keys


def away(motion, before, after):
    """Largest turn of a joint [rad], and largest distance of a planted heel or ball [m], from one to the other."""
    points = np.linalg.norm(sole_points(after) - sole_points(before), axis=-1)
    planted = np.stack([[motion.curves[name] > 0.5 for name in names] for names in CURVES]).transpose(2, 0, 1)
    return quat.distance(before.rotations, after.rotations).max(), points[planted].max()


def more_slide(motion, before, after):
    """By how much the worst contact slides further [m]."""
    return max(b.travel - a.travel for a, b in zip(slide(before, motion), slide(after, motion), strict=True))


def curves_of(action):
    return [fcurve for bag in canon.bags(action) for fcurve in bag.fcurves]


@pytest.mark.req("improv", 106)
@pytest.mark.parametrize("root", ["root_bone", "hips", "object"])
def test_reduced_keys_stay_within_the_tolerance_and_feet_stay_planted(root):
    ob = stage.actor()
    motion = planted_walk(stage.cast_of(ob).skeleton)
    for tolerance in (0.03, 0.01):
        _, before, after, dense, fewer = styled(ob, motion, "reduced", root=root, tolerance=tolerance)
        turned, moved = away(motion, before, after)
        assert turned <= tolerance and moved <= 0.0005
        assert more_slide(motion, before, after) <= 0.001
        assert fewer < 0.2 * dense


@pytest.mark.parametrize("mode", ["XYZ", "AXIS_ANGLE"])
def test_rotation_modes_are_reduced_alike(mode):
    ob = stage.actor()
    for bone in ob.pose.bones:
        bone.rotation_mode = mode
    motion = planted_walk(stage.cast_of(ob).skeleton, cycles=1)
    _, before, after, dense, fewer = styled(ob, motion, "reduced", tolerance=0.02)
    turned, _ = away(motion, before, after)
    assert turned <= 0.02 and more_slide(motion, before, after) <= 0.001 and fewer < 0.4 * dense


@pytest.mark.req("improv", 106)
def test_reduced_keys_of_a_control_rig_keep_its_feet_planted(rigify):
    motion = planted_walk(stage.cast_of(rigify).skeleton, cycles=1)
    _, before, after, dense, fewer = styled(rigify, motion, "reduced", tolerance=0.02)
    turned, moved = away(motion, before, after)
    assert turned <= 0.02 and moved <= 0.0005
    assert more_slide(motion, before, after) <= 0.001
    assert fewer < 0.3 * dense


def test_a_smaller_tolerance_keeps_more_keys():
    ob = stage.actor()
    cast = stage.cast_of(ob)
    motion = planted_walk(cast.skeleton, cycles=1)
    counts = [put(ob, cast, motion, keys="reduced", tolerance=t)[1].keys for t in (0.05, 0.01, 0.002)]
    assert counts == sorted(set(counts))


@pytest.mark.req("bruderlin", 28)
def test_blocking_keys_the_poses_of_each_step():
    ob = stage.actor()
    cast = stage.cast_of(ob)
    motion = planted_walk(cast.skeleton)
    keys, before, after, dense, fewer = styled(ob, motion, "blocking")
    turned, moved = away(motion, before, after)
    assert turned <= THREE_DEGREES and moved <= 0.005
    # two cycles of 26.4 frames: 17 poses and the ends on 54 frames
    assert len(keys.frames) == 54 and dense == 54 * 230
    assert fewer < 0.36 * dense
    types = {p.sample + 1: thinning.TYPES[p.kind] for p in key_poses(motion)}
    added = 0
    for fcurve in curves_of(bpy.data.actions["test.001"]):
        found = {round(p.co.x): p.type for p in fcurve.keyframe_points}
        assert set(types) | {1, 54} <= set(found)
        for frame, kind in found.items():
            assert kind == types.get(frame, "KEYFRAME" if frame in (1, 54) else "BREAKDOWN"), fcurve.data_path
        added += len(set(found) - set(types) - {1, 54})
        assert {p.interpolation for p in fcurve.keyframe_points} == {"BEZIER"}
    assert 0 < added < 0.1 * fewer
    assert {"EXTREME", "BREAKDOWN", "KEYFRAME"} == set(types.values())


@pytest.mark.req("bruderlin", 28)
@pytest.mark.parametrize("legs", ["ik", "fk"])
def test_blocking_keeps_the_feet_of_a_control_rig_within_five_millimetres(rigify, legs):
    motion = planted_walk(stage.cast_of(rigify).skeleton)
    _, before, after, dense, fewer = styled(rigify, motion, "blocking", legs=legs)
    turned, moved = away(motion, before, after)
    assert turned <= THREE_DEGREES and moved <= 0.005
    assert fewer < 0.4 * dense


def test_blocking_a_motion_without_steps_adds_keys_where_they_are_needed():
    ob = stage.actor()
    cast = stage.cast_of(ob)
    motion = stage.wriggle(cast.skeleton, frames=60)
    put(ob, cast, motion)
    before = shown(ob, cast, 60)
    _, result = put(ob, cast, motion, keys="blocking")
    assert quat.distance(before.rotations, shown(ob, cast, 60).rotations).max() <= THREE_DEGREES
    assert result.keys < 0.3 * 60 * 230


@pytest.mark.parametrize("style", ["reduced", "blocking"])
def test_a_part_laid_over_something_else_has_fewer_keys_too(style):
    ob = stage.actor()
    bpy.ops.troupe.retarget(clip="walk")
    bpy.context.scene.frame_set(20)
    bpy.ops.troupe.retarget(clip="walk", body="arms", keys=style)
    found = results.results_of(ob)[-1]
    counts = {len(f.keyframe_points) for f in curves_of(found.action)}
    assert max(counts) < 0.5 * (found.strip.frame_end - found.strip.frame_start)
    assert not any("thigh" in f.data_path for f in curves_of(found.action))


def test_handles_make_no_corner_and_stay_when_blender_updates_them(tmp_path):
    ob = stage.actor()
    bpy.ops.troupe.retarget(clip="walk", keys="blocking")
    action = results.results_of(ob)[0].action
    moved = 0.0
    for fcurve in curves_of(action):
        points = fcurve.keyframe_points
        sizes = [np.empty(len(points) * 2, np.float32) for _ in range(4)]
        points.foreach_get("handle_left", sizes[0])
        points.foreach_get("handle_right", sizes[1])
        (lx, ly), (rx, ry) = (s.reshape(-1, 2).T for s in sizes[:2])
        co = np.array([p.co for p in points]).T
        left, right = (co[1] - ly) / (co[0] - lx), (ry - co[1]) / (rx - co[0])
        assert np.abs(left - right).max() < 1e-4, fcurve.data_path
        fcurve.update()
        points.foreach_get("handle_left", sizes[2])
        points.foreach_get("handle_right", sizes[3])
        moved = max(moved, *(np.abs(a - b).max() for a, b in zip(sizes[:2], sizes[2:], strict=True)))
    assert moved < 1e-4
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    ob = bpy.data.objects["Mannequin"]
    assert not results.is_edited(ob, results.results_of(ob)[0].action)


def test_a_handle_moved_by_hand_is_an_edit():
    ob = stage.actor()
    bpy.ops.troupe.retarget(clip="walk", keys="reduced")
    action = results.results_of(ob)[0].action
    fcurve = max(curves_of(action), key=lambda f: len(f.keyframe_points))
    fcurve.keyframe_points[2].handle_right.y += 0.005
    assert results.is_edited(ob, action)


def test_edits_of_reduced_keys_can_be_kept_as_a_layer():
    ob = stage.actor()
    cast = stage.cast_of(ob)
    bpy.ops.troupe.retarget(clip="walk", keys="reduced")
    found = results.results_of(ob)[0]
    for fcurve in curves_of(found.action):
        if fcurve.data_path == 'pose.bones["head"].rotation_quaternion' and fcurve.array_index == 1:
            for point in fcurve.keyframe_points:
                point.co_ui.y += 0.1
    before = shown(ob, cast, 30)
    bpy.ops.troupe.regenerate(edits="layer")
    after = shown(ob, cast, 30)
    assert quat.distance(before.rotations, after.rotations).max() < 2e-3
    assert np.abs(before.roots - after.roots).max() < 1e-5


@pytest.mark.parametrize("style", ["reduced", "blocking"])
def test_regenerating_gives_the_same_keys_and_another_style_others(style):
    ob = stage.actor()
    bpy.ops.troupe.retarget(clip="walk", keys=style, contacts=True)
    action = results.results_of(ob)[0].action
    made = canon.keys_of(action)
    bpy.ops.troupe.regenerate()
    assert canon.keys_of(action) == made
    ob.troupe.retarget.keys = "every_frame"
    bpy.ops.troupe.regenerate()
    assert results.recipe_of(action)["landing"]["keys"] == "every_frame"
    heads = [f for f in curves_of(action) if '"head"' in f.data_path]
    assert {len(f.keyframe_points) for f in heads} == {int(action.frame_range[1] - action.frame_range[0]) + 1}
    assert {p.type for f in heads for p in f.keyframe_points} == {"KEYFRAME"}


@pytest.mark.parametrize("rig", ["mannequin", "rigify"])
def test_stopping_half_way_leaves_nothing(rig, request):
    ob = stage.actor() if rig == "mannequin" else request.getfixturevalue("rigify")
    cast = stage.cast_of(ob)
    motion = planted_walk(cast.skeleton, cycles=1)
    before = canon.snapshot()
    total = sum(1 for _ in bake.prepare_steps(ob, cast, motion, bpy.context, 1, keys="reduced", contacts=True))
    for share in (0.3, 0.7, 0.95):
        steps = bake.prepare_steps(ob, cast, motion, bpy.context, 1, keys="reduced", contacts=True)
        for _ in range(int(share * total)):
            next(steps)
        steps.close()
        assert canon.snapshot() == before


# contacts as properties, events as markers


def test_contacts_become_properties_that_step_between_0_and_1():
    ob = stage.actor()
    cast = stage.cast_of(ob)
    motion = planted_walk(cast.skeleton)
    _, result = put(ob, cast, motion, contacts=True)
    names = ["contact foot L", "contact toe L", "contact foot R", "contact toe R"]
    assert [n for n in ob.keys() if n.startswith("contact")] == names  # noqa: SIM118
    about = ob.id_properties_ui("contact foot L").as_dict()
    assert (about["min"], about["max"]) == (0.0, 1.0) and "planted" in about["description"]
    seen = []
    for frame in range(1, len(motion) + 1):
        bpy.context.scene.frame_set(frame)
        seen.append([ob[n] for n in names])
    wanted = np.stack([motion.curves[name] for pair in CURVES for name in pair], axis=-1)
    assert np.abs(np.array(seen) - wanted).max() < 1e-6
    ours = [f for f in curves_of(result.action) if f.data_path == '["contact foot L"]']
    assert {p.interpolation for p in ours[0].keyframe_points} == {"CONSTANT"}
    assert 2 < len(ours[0].keyframe_points) < 0.5 * len(motion)


def test_no_contact_property_unless_asked_for():
    ob = stage.actor()
    bpy.ops.troupe.retarget(clip="walk")
    assert not [n for n in ob.keys() if n.startswith("contact")]  # noqa: SIM118


def test_contact_properties_go_with_the_last_result_that_moves_them():
    ob = stage.actor()
    bpy.ops.troupe.retarget(clip="walk", contacts=True)
    bpy.context.scene.frame_set(60)
    bpy.ops.troupe.retarget(clip="walk", contacts=True)
    first, second = (f.action.name for f in results.results_of(ob))
    bpy.ops.troupe.mute_result(result=second)
    bpy.ops.troupe.remove_result(result=first)
    assert "contact foot L" in ob
    bpy.ops.troupe.choose_result(result=second)
    ob.troupe.retarget.contacts = False
    bpy.ops.troupe.regenerate()
    assert "contact foot L" not in ob
    ob.troupe.retarget.contacts = True
    bpy.ops.troupe.regenerate()
    assert "contact foot L" in ob
    bpy.ops.troupe.remove_result(every=True)
    assert not [n for n in ob.keys() if n.startswith("contact")]  # noqa: SIM118


def test_a_contact_property_of_the_users_own_stays():
    ob = stage.actor()
    ob["contact foot L"] = 0.25
    bpy.ops.troupe.retarget(clip="walk", contacts=True)
    bpy.ops.troupe.remove_result(every=True)
    assert "contact foot L" in ob and "contact foot R" not in ob


def test_keys_that_cannot_be_written_leave_nothing_behind():
    ob = stage.actor()
    cast = stage.cast_of(ob)
    keys = bake.prepare(ob, cast, planted_walk(cast.skeleton, 1), bpy.context, 1, contacts=True)
    keys.channels[3].values[2] = np.nan
    before = canon.snapshot()
    with pytest.raises(InvalidMotion, match="NaN"):
        bake.write(ob, keys, bpy.context, "test", markers=True)
    assert canon.snapshot() == before


@pytest.mark.req("bruderlin", 30)
@pytest.mark.parametrize("root", ["root_bone", "in_place"])
def test_heel_strikes_become_markers_one_can_read(root):
    ob = stage.actor()
    cast = stage.cast_of(ob)
    motion = planted_walk(cast.skeleton)
    keys = bake.prepare(ob, cast, motion, bpy.context, 11, root=root)
    bake.write(ob, keys, bpy.context, "test", markers=True)
    found = [(m.frame, m.name) for m in bpy.context.scene.timeline_markers]
    wanted = [(11 + round(e.time * 24), e.name.replace("_", " ")) for e in motion.events]
    assert sorted(found) == sorted(wanted)
    assert {"heel strike L", "toe off R"} <= {name for _, name in found}
    assert all(11 <= frame <= keys.frames[-1] for frame, _ in found)


# cycles


@pytest.mark.parametrize("style", ["every_frame", "reduced", "blocking"])
@pytest.mark.parametrize("root", ["in_place", "root_bone", "object", "hips"])
def test_a_cycle_closes_and_repeats(root, style):
    ob = stage.actor()
    cast = stage.cast_of(ob)
    motion = cycle(cast.skeleton)
    keys, result = put(ob, cast, motion, root=root, keys=style, contacts=True)
    assert (result.first, result.last, keys.loop) == (1, 27, True)
    assert "cycle of 26 frames" in keys.note and "rounded" not in keys.note
    moving = set()
    for fcurve in curves_of(result.action):
        first, last = fcurve.keyframe_points[0], fcurve.keyframe_points[-1]
        assert (first.co.x, last.co.x) == (1, 27)
        (repeat,) = fcurve.modifiers
        assert repeat.type == "CYCLES" and repeat.mode_before == repeat.mode_after
        if repeat.mode_after == "REPEAT_OFFSET":
            moving.add(fcurve.data_path)
        else:
            assert abs(last.co.y - first.co.y) < 1e-4
    carrier = {"root_bone": 'pose.bones["root"].location', "hips": 'pose.bones["hips"].location', "object": "location"}
    assert moving == ({carrier[root]} if root in carrier else set())
    rounds = shown(ob, cast, 3 * 26, first=-25)
    step = base.loop_step(motion) * (root != "in_place") * (1, 1, 0)
    assert np.linalg.norm(base.loop_step(motion)) > 1.0
    for a, b in ((0, 26), (26, 52)):
        assert np.abs(rounds.roots[b : b + 26] - rounds.roots[a : a + 26] - step).max() < 1e-4
        assert quat.distance(rounds.rotations[b : b + 26], rounds.rotations[a : a + 26]).max() < 1e-4


def test_a_cycle_of_a_control_rig_repeats_with_its_feet(rigify):
    cast = stage.cast_of(rigify)
    motion = cycle(cast.skeleton)
    _, result = put(rigify, cast, motion, keys="blocking")
    rounds = shown(rigify, cast, 2 * 26)
    step = base.loop_step(motion) * (1, 1, 0)
    assert np.abs(rounds.roots[26:] - rounds.roots[:26] - step).max() < 1e-4
    assert quat.distance(rounds.rotations[26:], rounds.rotations[:26]).max() < 1e-3
    modes = {f.data_path: m.mode_after for f in curves_of(result.action) for m in f.modifiers}
    assert modes['pose.bones["foot_ik.L"].location'] == "REPEAT_OFFSET"
    assert modes['pose.bones["foot_ik.L"].rotation_quaternion'] == "REPEAT"


def test_the_strip_of_a_cycle_is_one_round_and_can_be_repeated():
    ob = stage.actor()
    cast = stage.cast_of(ob)
    _, result = put(ob, cast, cycle(cast.skeleton), landing="track", root="in_place")
    strip, action = result.strip, result.action
    assert (strip.frame_start, strip.frame_end, strip.repeat) == (1, 27, 1)
    assert (strip.action_frame_start, strip.action_frame_end) == (1, 27)
    assert strip.extrapolation == "HOLD_FORWARD"
    assert action.use_cyclic and action.use_frame_range and tuple(action.frame_range) == (1, 27)
    strip.repeat = 3
    rounds = shown(ob, cast, 3 * 26)
    for k in (1, 2):
        again = slice(26 * k, 26 * k + 26)
        assert np.abs(rounds.roots[again] - rounds.roots[:26]).max() < 1e-5
        assert quat.distance(rounds.rotations[again], rounds.rotations[:26]).max() < 1e-4


def test_a_cycle_between_whole_frames_is_rounded_and_says_so():
    ob = stage.actor()
    cast = stage.cast_of(ob)
    motion = cycle(cast.skeleton, samples=106, fps=100.0)  # 25.44 frames
    keys, result = put(ob, cast, motion, root="in_place")
    assert (result.first, result.last) == (1, 26)
    assert "cycle of 25 frames (rounded from 25.44)" in keys.note
    for fcurve in curves_of(result.action):
        assert abs(fcurve.keyframe_points[0].co.y - fcurve.keyframe_points[-1].co.y) < 1e-4


def test_a_cycle_that_turns_is_one_round():
    ob = stage.actor()
    cast = stage.cast_of(ob)
    motion = cycle(cast.skeleton, turn=0.6)
    keys, result = put(ob, cast, motion, root="root_bone")
    assert not keys.loop and "turns" in keys.note and result.last == 27
    assert not any(len(f.modifiers) for f in curves_of(result.action))
    keys, _ = put(ob, cast, motion, root="in_place")
    assert keys.loop, "what stays in place closes all the same"


def test_a_cycle_made_by_a_button_repeats_unless_it_goes_on_from_something(monkeypatch):
    def motion_steps(_context, _actor, cast, _params, start):
        motion = cycle(cast.skeleton)
        return base.move(motion, *base.derive(start.here)[0]), "cycle"
        yield

    monkeypatch.setattr(retarget.Operator, "motion_steps", staticmethod(motion_steps))
    ob = stage.actor()
    bpy.context.scene.frame_set(1)
    bpy.ops.troupe.retarget(clip="walk")
    (first,) = results.results_of(ob)
    assert first.action.use_cyclic and len(curves_of(first.action)[0].modifiers) == 1
    before = canon.keys_of(first.action)
    bpy.ops.troupe.regenerate()
    assert canon.keys_of(first.action) == before
    assert all(len(f.modifiers) == 1 for f in curves_of(first.action))
    bpy.context.scene.frame_set(27)
    bpy.ops.troupe.retarget(clip="walk")
    second = results.results_of(ob)[-1]
    assert not second.action.use_cyclic and not curves_of(second.action)[0].modifiers
    assert second.strip.frame_end - second.strip.frame_start == 26


def test_the_same_motion_is_blocked_alike_in_steps_and_at_once():
    ob = stage.actor()
    cast = stage.cast_of(ob)
    motion = planted_walk(cast.skeleton, 1)
    first = bake.prepare(ob, cast, motion, bpy.context, 1, keys="blocking")
    second = finish(bake.prepare_steps(ob, cast, motion, bpy.context, 1, keys="blocking"))
    for a, b in zip(first.channels, second.channels, strict=True):
        assert np.array_equal(a.values, b.values) and np.array_equal(a.slopes, b.slopes)
