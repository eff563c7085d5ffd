"""Along curves, through waypoints, to objects, over whatever ground there is; keyed speeds; footprints to drag."""

import importlib
import json

import afoot
import bpy
import canon
import numpy as np
import pytest
import stage
from troupe.addon import bake, footprints, job, presets
from troupe.core.filters.contacts import sole_points
from troupe.core.filters.retarget import lifts
from troupe.core.gait.walk import WalkParams
from troupe.core.kinematics import base
from troupe.core.maths import quat
from troupe.core.presets import preset


def empty(name, x, y, z=0.0, collection=None):
    ob = bpy.data.objects.new(name, None)
    ob.location = (x, y, z)
    (collection or bpy.context.scene.collection).objects.link(ob)
    return ob


def waypoints(*places):
    """A collection of numbered empties."""
    collection = bpy.data.collections.new("Points")
    bpy.context.scene.collection.children.link(collection)
    for k, (x, y) in enumerate(places):
        empty(f"Point {k}", x, y, collection=collection)
    return collection


def key_speed(ob, *keys):
    for frame, speed in keys:
        ob.troupe.travel.speed = speed
        ob.keyframe_insert("troupe.travel.speed", frame=frame)


def go(**arguments):
    """Let the selected actor travel and return what it shows."""
    assert bpy.ops.troupe.travel(**arguments) == {"FINISHED"}
    return afoot.shown(bpy.context.object)


def refused(match, **arguments):
    """A journey that is told to be impossible and changes nothing."""
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match=match):
        bpy.ops.troupe.travel(**arguments)
    assert canon.snapshot() == before


def ends_at(motion, x, y, within=0.05):
    return np.hypot(*(motion.roots[-1, :2] - (x, y))) < within


@pytest.mark.parametrize("kind", afoot.WAYS)
def test_it_follows_a_curve_with_planted_feet_on_any_rig(data, kind):
    ob = afoot.enter(kind, data)
    size = max(1.0, stage.cast_of(ob).skeleton.leg_length())
    x, y = base.derive(bake.pose_here(ob, stage.cast_of(ob), bpy.context))[0, :2]
    points = [(x + size * a, y + size * b, 0) for a, b in ((0, 0), (0.8, -1.3), (-0.5, -2.6), (0, -4))]
    way = afoot.line(*points, kind="BEZIER")
    stage.choose(ob)
    motion = go(path=way.name, speed=min(1.2 * np.sqrt(size), 12.0), tread=False)
    assert afoot.worst_slide(motion, afoot.meant(ob)) < 0.005
    assert ends_at(motion, x, y - 4 * size, 0.06 * size)
    track = (base.derive(motion)[:, 0] - x) / size
    assert track.max() > 0.35 and track.min() < -0.2, "it goes round the bends"


def test_path_comes_before_waypoints_before_target_before_distance():
    ob = stage.actor(skin=False)
    way = afoot.line((0, 0, 0), (0, -2, 0))
    points, goal = waypoints((1, -2), (2, -2)), empty("Goal", -2, -2)
    stage.choose(ob)
    everything = {"path": way.name, "waypoints": points.name, "target": goal.name, "distance": 3.0}
    for name, place in (("path", (0, -2)), ("waypoints", (2, -2)), ("target", (-2, -2)), ("distance", (0, -3))):
        assert ends_at(go(**everything), *place), name
        everything.pop(name)
        afoot.anew(ob)


def test_waypoints_are_passed_in_the_order_of_their_names():
    stage.actor(skin=False)
    motion = go(waypoints=waypoints((0, -1.5), (1.5, -2.5), (1.5, -4.5)).name)
    near = [np.hypot(*(motion.roots[:, :2] - place).T) for place in ((0, -1.5), (1.5, -2.5), (1.5, -4.5))]
    assert max(d.min() for d in near) < 0.35
    assert np.all(np.diff([d.argmin() for d in near]) > 0)


def test_an_actor_far_from_the_curve_goes_there_first_and_one_beside_it_joins():
    ob = stage.actor(skin=False)
    way = afoot.line((0, 0, 0), (0, -4, 0), location=(2.0, -1.0, 0.0))
    stage.choose(ob)
    motion = go(path=way.name)
    assert np.hypot(*motion.roots[0, :2]) < 0.05 and ends_at(motion, 2.0, -5.0)
    assert np.hypot(*(base.derive(motion)[:, :2] - (2.0, -1.0)).T).min() < 0.45
    afoot.anew(ob)
    way.location = (0.2, 0.0, 0.0)
    bpy.context.view_layer.update()
    motion = go(path=way.name)
    track = base.derive(motion)
    assert np.hypot(*motion.roots[0, :2]) < 0.05 and ends_at(motion, 0.2, -4.0)
    assert np.abs(np.diff(track[:, :2], axis=0)).max() < 0.09 and np.abs(track[:, 2]).max() < np.radians(35)


def test_a_closed_curve_is_gone_round_once():
    ob = stage.actor(skin=False)
    ring = [(1.5 * np.sin(a), 1.5 * np.cos(a) - 1.5, 0) for a in np.linspace(0, 2 * np.pi, 16, endpoint=False)]
    way = afoot.line(*ring, closed=True)
    stage.choose(ob)
    motion = go(path=way.name)
    assert ends_at(motion, 0.0, 0.0, 0.2)
    # a quarter turn to the left onto it, and a whole one to the right
    assert base.derive(motion)[-1, 2] == pytest.approx(-1.5 * np.pi, abs=0.4)
    assert motion.roots[:, 1].min() < -2.6


def test_facing_backward_goes_back_without_turning_round():
    stage.actor(skin=False)
    motion = go(distance=2.0, facing=np.pi, speed=0.8)
    assert ends_at(motion, 0.0, 2.0)
    assert np.abs(base.derive(motion)[:, 2]).max() < np.radians(12)


def test_it_turns_on_the_spot_towards_what_lies_behind():
    ob = stage.actor(skin=False)
    goal = empty("Goal", 0.0, 3.0)
    stage.choose(ob)
    motion = go(target=goal.name)
    assert ends_at(motion, 0.0, 3.0)
    assert np.abs(base.derive(motion)[-1, 2]) == pytest.approx(np.pi, abs=0.1)


def test_it_walks_when_slow_and_runs_when_fast():
    ob = stage.actor(skin=False)
    go(distance=20.0, speed=4.0)
    gaits = [e.data["gait"] for e in afoot.meant(ob).events if e.name.startswith("heel_strike")]
    assert gaits[0] == "walk" and "run" in gaits
    afoot.anew(ob)
    go(distance=6.0, speed=4.0, gait="walk")
    assert {e.data["gait"] for e in afoot.meant(ob).events if e.name.startswith("heel_strike")} == {"walk"}


# ground


def test_feet_stand_on_a_slope():
    ob = stage.actor(skin=False)
    afoot.floor(rise=0.15)
    stage.choose(ob)
    motion = go(distance=4.0)
    assert afoot.worst_slide(motion, afoot.meant(ob)) < 0.005
    assert motion.roots[-1, 2] - motion.roots[0, 2] == pytest.approx(0.6, abs=0.06)
    under = lifts(motion) + 0.15 * sole_points(motion)[..., 1]
    assert under.min() > -0.005 and np.abs(under[-1]).max() < 0.005


def test_stairs_are_climbed():
    ob = stage.actor(skin=False)
    afoot.floor()
    for k in range(4):
        afoot.floor(
            f"Step {k}", z=0.16 * (k + 1), x=(-1, 1), y=(-2.0 - 0.34 * (k + 1) - (4 if k == 3 else 0), -2.0 - 0.34 * k)
        )
    stage.choose(ob)
    motion = go(distance=5.0)
    assert motion.roots[-1, 2] - motion.roots[0, 2] == pytest.approx(0.64, abs=0.05)
    assert afoot.worst_slide(motion, afoot.meant(ob)) < 0.005


def test_without_ground_under_it_the_floor_is_level():
    ob = stage.actor(skin=False)
    afoot.floor("Elsewhere", z=0.1, x=(3.0, 8.0))
    afoot.floor("Far below", z=-4.0)
    stage.choose(ob)
    motion = go(distance=2.0)
    assert np.abs(afoot.deepest(motion, 0.0)) < 0.001


def test_only_the_meshes_of_the_chosen_collection_count():
    ob = stage.actor(skin=False)
    wanted = bpy.data.collections.new("Wanted")
    bpy.context.scene.collection.children.link(wanted)
    low, high = afoot.floor("Low"), afoot.floor("High", z=0.2)
    bpy.context.scene.collection.objects.unlink(low)
    wanted.objects.link(low)
    stage.choose(ob)
    assert np.abs(afoot.deepest(go(distance=2.0, ground="Wanted"), 0.0)) < 0.001
    afoot.anew(ob)
    assert np.abs(afoot.deepest(go(distance=2.0), 0.2)) < 0.001
    assert high.name in bpy.data.objects


def test_a_roof_is_not_climbed():
    ob = stage.actor(skin=False)
    afoot.floor(), afoot.floor("Roof", z=2.6)
    stage.choose(ob)
    motion = go(distance=2.0)
    assert np.abs(afoot.deepest(motion, 0.0)) < 0.001 and motion.roots[:, 2].max() < 1.1


def test_what_shows_the_way_is_not_trodden_on():
    ob = stage.actor(skin=False)
    afoot.floor()
    way = afoot.line((0, 0, 0), (0, -3, 0))
    way.data.bevel_depth = 0.05
    goal = afoot.mesh("Box", [(-1, -1, 0.4), (1, -1, 0.4), (1, 1, 0.4), (-1, 1, 0.4)], [(0, 1, 2, 3)])
    goal.location.y = -3.0
    goal.hide_set(False)
    stage.choose(ob)
    bpy.context.view_layer.update()
    assert np.abs(afoot.deepest(go(target=goal.name), 0.0)) < 0.001
    bpy.data.objects.remove(goal)
    afoot.anew(ob)
    motion = go(path=way.name)
    assert motion.roots[:, 2].max() < 0.95


def test_ground_that_moves_is_trodden_on_where_it_is():
    ob = stage.actor(skin=False)
    lift = afoot.floor("Lift")
    for frame, z in ((1, 0.0), (100, 0.5)):
        lift.location.z = z
        lift.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    stage.choose(ob)
    motion = go(distance=4.0, pause=2.0)
    assert motion.roots[-1, 2] - motion.roots[0, 2] > 0.35


def test_where_the_ground_ends_the_way_is_refused():
    ob = stage.actor(skin=False)
    afoot.floor(y=(-2.0, 2.0))
    stage.choose(ob)
    refused("no ground at", distance=6.0)


def test_a_cliff_is_refused():
    ob = stage.actor(skin=False)
    afoot.floor(y=(-2.0, 2.0)), afoot.floor("Plateau", z=1.5, y=(-8.0, -2.0))
    stage.choose(ob)
    refused("the way goes up by 1.50 m", distance=6.0)


# speed


def test_a_keyed_speed_is_followed():
    ob = stage.actor(skin=False)
    key_speed(ob, (1, 0.0), (24, 0.0), (36, 1.2), (96, 1.2), (110, 0.0))
    bpy.context.scene.frame_set(1)
    motion = go(distance=50.0)
    speed = np.hypot(*np.diff(base.derive(motion)[:, :2], axis=0).T) * motion.fps
    assert speed[:12].max() < 0.05 and speed[45:85].mean() == pytest.approx(1.2, abs=0.06) and speed[-10:].max() < 0.05
    recipe = afoot.last_result(ob)[1]
    assert isinstance(recipe["params"]["speed"], list)
    assert ob.animation_data.nla_tracks[0].strips[0].action.name.startswith("Mannequin"), "its action is kept below"


def test_keys_changed_below_are_followed_when_made_again():
    ob = stage.actor(skin=False)
    key_speed(ob, (1, 0.5), (20, 0.5), (40, 1.0))
    bpy.context.scene.frame_set(1)
    slow = go(distance=4.0)
    own = ob.animation_data.nla_tracks[0].strips[0].action
    for point in canon.bags(own)[0].fcurves[0].keyframe_points:
        point.co.y *= 1.6
    bpy.ops.troupe.regenerate()
    assert len(afoot.shown(ob)) < 0.85 * len(slow)


def test_a_result_keeps_its_keyed_speed_when_the_keys_are_gone():
    ob = stage.actor(skin=False)
    key_speed(ob, (1, 0.5), (30, 1.0))
    bpy.context.scene.frame_set(1)
    before = go(distance=9.0)
    ob.animation_data.nla_tracks.remove(ob.animation_data.nla_tracks[0])
    bpy.ops.troupe.regenerate()
    assert np.abs(afoot.shown(ob).roots - before.roots).max() < 1e-4
    ob.troupe.travel.speed = 1.8
    bpy.ops.troupe.regenerate()
    assert len(afoot.shown(ob)) < 0.85 * len(before), "but a speed that is set since counts"
    bpy.ops.troupe.choose_result()
    assert ob.troupe.travel.speed == pytest.approx(1.8)


# style


def test_a_style_is_a_preset_of_walk_shipped_or_the_users(tmp_path, monkeypatch):
    monkeypatch.setattr(presets, "folder", lambda: tmp_path)
    ob = stage.actor(skin=False)
    lean = WalkParams(lean=0.5, distance=77.0)
    presets.save("walk", preset("Bent", lean))
    heights = {}
    for name in ("", "sneak", "Bent"):
        motion = go(distance=2.5, style=name)
        cast = stage.cast_of(ob)
        chest = quat.rotate(motion.rotations[:, 0], np.array([0.0, 0, 1]))
        heights[name] = (np.median(motion.roots[:, 2]), np.median(chest[:, 1]))
        assert cast is not None and len(motion) < 150
        afoot.anew(ob)
    assert heights["sneak"][0] < heights[""][0] - 0.05
    assert heights["Bent"][1] < heights[""][1] - 0.1
    refused(r"no such preset of Walk; there are Neutral, .*Bent", style="Nobody")


# errors


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"speed": 0.0}, "speed"),
        ({"distance": 0.0}, "there is nowhere to go"),
        ({"path": "Nothing"}, "no curve of that name"),
        ({"path": "Point"}, "no curve of that name"),
        ({"path": "Dot"}, "fewer than two points"),
        ({"waypoints": "Nothing"}, "no collection of that name"),
        ({"waypoints": "Bare"}, "has no empties"),
        ({"target": "Nothing"}, "no object of that name"),
        ({"target": "Point"}, "where the actor stands already"),
        ({"ground": "Nothing"}, "has no collection 'Nothing'"),
    ],
)
def test_what_is_missing_is_named_and_nothing_is_written(arguments, words):
    ob = stage.actor(skin=False)
    empty("Point", 0.0, 0.0)
    afoot.line((0, 0, 0), name="Dot")
    bpy.context.scene.collection.children.link(bpy.data.collections.new("Bare"))
    stage.choose(ob)
    refused(words, **arguments)


def test_a_rig_without_feet_is_told():
    ob = stage.actor(skin=False)
    ob.troupe.roles.foot_L = ob.troupe.roles.toe_L = ""
    refused("foot_L")


# footprints


def prints(ob):
    return footprints.prints_of(ob, afoot.last_result(ob)[0].name)


def strikes(ob):
    """Number of a step to x, y, heading of its footfall."""
    found = (e.data for e in afoot.meant(ob).events if e.name.startswith("heel_strike"))
    return {d["step"]: (d["x"], d["y"], d["heading"]) for d in found}


@pytest.fixture
def walked():
    ob = stage.actor(skin=False)
    go(distance=4.0)
    bpy.ops.troupe.show_footprints()
    return ob


def test_every_footfall_has_a_print(walked):
    found = prints(walked)
    assert found.keys() == strikes(walked).keys() and len(found) > 4
    for step, (x, y, heading) in strikes(walked).items():
        assert np.hypot(found[step].location.x - x, found[step].location.y - y) < 1e-5
        assert found[step].rotation_euler.z == pytest.approx(heading, abs=1e-5)
    length = max(v.co.y for v in found[0].data.vertices) - min(v.co.y for v in found[0].data.vertices)
    assert 0.2 < length < 0.35, "as long as a foot"


@pytest.mark.parametrize("landing", ["track", "replace"])
def test_a_dragged_print_is_followed(landing):
    ob = stage.actor(skin=False)
    before = go(distance=4.0, landing=landing)
    bpy.ops.troupe.show_footprints()
    old, chosen = strikes(ob), prints(ob)[3]
    chosen.location.x += 0.12
    chosen.rotation_euler.z += 0.3
    assert bpy.ops.troupe.follow_footprints() == {"FINISHED"}
    new = strikes(ob)
    assert new[3] == pytest.approx((old[3][0] + 0.12, old[3][1], old[3][2] + 0.3), abs=1e-4)
    assert all(new[k] == pytest.approx(old[k], abs=1e-4) for k in (0, 1, 2, 4))
    motion = afoot.shown(ob)
    assert len(motion) == len(before) and afoot.worst_slide(motion, afoot.meant(ob)) < 0.001
    ((step, *place),) = json.loads(ob.troupe.travel.footprints)
    assert step == 3 and place == pytest.approx(new[3], abs=1e-5)


def test_a_second_drag_keeps_the_first_and_deleting_sets_a_step_free(walked):
    old = strikes(walked)
    prints(walked)[2].location.x -= 0.1
    bpy.ops.troupe.follow_footprints()
    prints(walked)[4].location.y -= 0.05
    bpy.ops.troupe.follow_footprints()
    assert [row[0] for row in json.loads(walked.troupe.travel.footprints)] == [2, 4]
    bpy.data.objects.remove(prints(walked)[2])
    bpy.ops.troupe.follow_footprints()
    assert [row[0] for row in json.loads(walked.troupe.travel.footprints)] == [4]
    assert strikes(walked)[2] == pytest.approx(old[2], abs=1e-4) and 2 in prints(walked)


def test_prints_are_in_metres_whatever_the_unit():
    bpy.context.scene.unit_settings.scale_length = 0.01
    ob = stage.actor(skin=False)
    ob.scale = (100.0,) * 3
    bpy.context.view_layer.update()
    go(distance=4.0)
    bpy.ops.troupe.show_footprints()
    old = strikes(ob)
    assert prints(ob)[2].location.y == pytest.approx(100 * old[2][1], rel=1e-4)
    prints(ob)[2].location.x -= 10.0
    bpy.ops.troupe.follow_footprints()
    assert strikes(ob)[2][0] == pytest.approx(old[2][0] - 0.1, abs=1e-4)


def test_showing_and_following_are_one_undo_step_each():
    ob = stage.actor(skin=False)
    go(distance=3.0)
    bpy.ops.ed.undo_push(message="start")
    states = [canon.snapshot()]
    bpy.ops.troupe.show_footprints("EXEC_DEFAULT", True)
    states.append(canon.snapshot())
    name = ob.name
    prints(bpy.data.objects[name])[2].location.x -= 0.1
    bpy.ops.ed.undo_push(message="drag")
    states.append(canon.snapshot())
    bpy.ops.troupe.follow_footprints("EXEC_DEFAULT", True)
    states.append(canon.snapshot())
    for wanted in states[-2::-1]:
        bpy.ops.ed.undo()
        assert canon.snapshot() == wanted
    for wanted in states[1:]:
        bpy.ops.ed.redo()
        assert canon.snapshot() == wanted


def test_prints_are_taken_away(walked):
    count = len(bpy.data.objects)
    bpy.ops.troupe.show_footprints(hide=True)
    assert len(bpy.data.objects) == count - len(strikes(walked)) and not prints(walked)


def test_following_tells_what_is_missing(walked):
    with pytest.raises(RuntimeError, match="no footprint of Mannequin travel was moved"):
        bpy.ops.troupe.follow_footprints()
    bpy.ops.troupe.show_footprints(hide=True)
    with pytest.raises(RuntimeError, match="press Show Footprints first"):
        bpy.ops.troupe.follow_footprints()
    bpy.ops.troupe.remove_result(every=True)
    with pytest.raises(RuntimeError, match="has not travelled yet"):
        bpy.ops.troupe.show_footprints()


def test_keys_edited_by_hand_are_kept(walked):
    action = afoot.last_result(walked)[0]
    curve = canon.bags(action)[0].fcurves[5]
    curve.keyframe_points[3].co.y += 0.2
    prints(walked)[2].location.x -= 0.1
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match="edited by hand and are kept"):
        bpy.ops.troupe.follow_footprints()
    assert canon.snapshot() == before
    assert bpy.ops.troupe.follow_footprints(edits="discard") == {"FINISHED"}


# as everything else


def test_a_changed_curve_is_followed_when_made_again():
    ob = stage.actor(skin=False)
    way = afoot.line((0, 0, 0), (0, -3, 0))
    stage.choose(ob)
    go(path=way.name)
    way.data.splines[0].points[1].co = (2.0, -3.0, 0.0, 1.0)
    bpy.ops.troupe.regenerate()
    assert ends_at(afoot.shown(ob), 2.0, -3.0)


def test_one_click_is_one_undo_step():
    stage.actor(skin=False)
    bpy.ops.ed.undo_push(message="start")
    before = canon.snapshot()
    bpy.ops.troupe.travel("EXEC_DEFAULT", True, distance=2.0)
    after = canon.snapshot()
    bpy.ops.ed.undo()
    assert canon.snapshot() == before
    bpy.ops.ed.redo()
    assert canon.snapshot() == after


def test_a_job_travels_over_given_footprints(tmp_path):
    (tmp_path / "job.toml").write_text(
        '[[actor]]\nname = "Anna"\nmannequin = {height = 1.7}\n'
        '[[step]]\nactor = "Anna"\nfeature = "travel"\ndistance = 4.0\nstyle = "Stroll"\n'
        "footprints = [[2, -0.2, -1.6, 0.1]]\n"
    )
    assert job.main(["run", str(tmp_path / "job.toml")]) == 0
    ob = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    assert strikes(ob)[2] == pytest.approx((-0.2, -1.6, 0.1), abs=1e-4)
    assert ends_at(afoot.shown(ob), 0.0, -4.0)


def test_a_job_shows_footprints_and_the_command_line_follows_what_was_dragged(tmp_path):
    (tmp_path / "job.toml").write_text(
        '[[actor]]\nname = "Anna"\nmannequin = {height = 1.7}\n'
        '[[step]]\nactor = "Anna"\nfeature = "travel"\ndistance = 4.0\n'
        '[[step]]\nactor = "Anna"\nfeature = "show_footprints"\n'
        '[output]\nblend = "shot.blend"\n'
    )
    assert job.main(["run", str(tmp_path / "job.toml")]) == 0
    shot = str(tmp_path / "shot.blend")
    bpy.ops.wm.open_mainfile(filepath=shot)
    ob = bpy.data.objects["Anna"]
    old, chosen = strikes(ob), prints(ob)[3]
    chosen.location.x += 0.12
    bpy.ops.wm.save_mainfile()
    assert job.main(["follow_footprints", "--actor", "Anna", "--save"]) == 0
    bpy.ops.wm.open_mainfile(filepath=shot)
    new = strikes(bpy.data.objects["Anna"])
    assert new[3] == pytest.approx((old[3][0] + 0.12, *old[3][1:]), abs=1e-4)
    assert job.main(["follow_footprints", "--actor", "Anna"]) == 1, "none was moved since"
    assert job.main(["show_footprints", "--actor", "Anna", "--hide"]) == 0
    assert not prints(bpy.data.objects["Anna"])


def test_the_demos_go_over_stairs_and_from_a_stand_to_a_run():
    demo = importlib.import_module(f"{job.__name__.rpartition('.')[0]}.demos.travel")
    demo.build(bpy.context)
    motion = afoot.shown(bpy.context.object)
    assert np.ptp(motion.roots[:, 2]) > 0.6 and ends_at(motion, *demo.POINTS[-1])
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    demo.start_walk_run_stop(bpy.context)
    gaits = [e.data["gait"] for e in afoot.meant(bpy.context.object).events if e.name.startswith("heel_strike")]
    assert gaits[0] == "walk" and "run" in gaits and gaits[-1] == "walk"
