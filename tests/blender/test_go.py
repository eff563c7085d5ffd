"""Actors that find their way around things and each other, on any rig, with reports, checks and nothing half done."""

import json
import math
import time

import afoot
import bpy
import canon
import numpy as np
import pytest
import rig_zoo
import stage
from troupe.addon import bake, demos, job, rig, scene, trace
from troupe.addon.bake import results
from troupe.addon.draw import navigation
from troupe.addon.features import company, going, goto, review
from troupe.addon.steps import finish
from troupe.core.gait.treadmill import TreadmillParams
from troupe.core.kinematics import base
from troupe.core.kinematics.look import LookParams
from troupe.core.landing import LandingParams
from troupe.core.maths import quat
from troupe.core.params import declared
from troupe.core.planning.hands.orders import ReachParams
from troupe.core.planning.plan import PlanParams
from troupe.core.planning.senses.exploring import ExploringParams
from troupe.core.planning.walkers import scenes
from troupe.core.planning.walkers.going import FollowParams, GotoParams


def box(name, x, y, width, depth, height=2.5, kind="auto"):
    ob = afoot.mesh(name, *cuboid(width, depth, height))
    ob.location = (x, y, 0.0)
    ob.troupe.kind = kind
    return ob


def cuboid(width, depth, height):
    x, y = width / 2, depth / 2
    corners = [(a, b, c) for c in (0.0, height) for a, b in ((-x, -y), (x, -y), (x, y), (-x, y))]
    return corners, [(3, 2, 1, 0), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]


def empty(name, x, y):
    ob = bpy.data.objects.new(name, None)
    ob.location = (x, y, 0.0)
    bpy.context.scene.collection.objects.link(ob)
    return ob


def room():
    """A floor with a wall across it, and a goal behind the wall."""
    afoot.floor(x=(-6.0, 6.0), y=(-9.0, 3.0))
    box("Wall", 0.0, -2.0, 2.4, 0.2)
    return empty("Goal", 0.0, -4.0)


def two(**places):
    """Actors by name at places x, y."""
    made = []
    for name, (x, y) in places.items():
        ob = stage.actor()
        ob.name, ob.location = name, (x, y, 0.0)
        made.append(ob)
    stage.choose(*made)
    bpy.context.view_layer.update()
    return made


def told(ob):
    return trace.last_trace(ob)[1]


def end_of(ob):
    return np.array(told(ob)["track"][-1])


def refused(feature, match, **arguments):
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match=match):
        getattr(bpy.ops.troupe, feature)(**arguments)
    assert canon.snapshot() == before


@pytest.mark.req("kuffner", 1, 100, 103)
@pytest.mark.parametrize("kind", afoot.RIGS)
def test_a_maze_is_walked_through_on_any_rig(data, kind, meant):
    ob = afoot.enter(kind, data)
    if kind == "bvh":
        ob.scale = (0.01,) * 3
    plan = scenes.maze(2 if kind == "rigify" else 3)
    for body in plan.world.bodies:
        made = afoot.mesh(body.name, body.vertices.tolist(), body.triangles.tolist())
        made.troupe.kind = body.kind
    (start,) = plan.actors.values()
    far = plan.places["Goal"].points[0]
    empty("Goal", *far)
    bpy.context.view_layer.update()
    here = base.derive(bake.pose_here(ob, stage.cast_of(ob), bpy.context))[0]
    turn = start.base[2] - here[2]
    ob.rotation_mode = "XYZ"
    ob.rotation_euler.z += turn
    bpy.context.view_layer.update()
    here = base.derive(bake.pose_here(ob, stage.cast_of(ob), bpy.context))[0]
    ob.location.x += start.base[0] - here[0]
    ob.location.y += start.base[1] - here[1]
    bpy.context.view_layer.update()
    stage.choose(ob)
    before = bake.pose_here(ob, stage.cast_of(ob), bpy.context)
    assert bpy.ops.troupe.goto(target="Goal") == {"FINISHED"}
    shown = afoot.shown(ob)
    kept = told(ob)
    assert kept["report"]["success"] and not kept["report"]["offences"]
    assert np.hypot(*(end_of(ob)[:2] - far)) < 0.06
    assert np.hypot(*(shown.roots[0, :2] - before.roots[0, :2])) < 0.05
    motion = meant[ob.name]
    for k in (0, -1):
        place, turn = apart(shown, motion, k, k)
        # keys are single floats
        assert place < 1e-6 and turn < 1e-4
    assert np.hypot(*(shown.roots[-1, :2] - far)) < 0.15
    assert review_of(ob) == ()
    assert afoot.worst_slide(shown, motion) < 0.005
    action = afoot.last_result(ob)[0]
    for bag in canon.bags(action):
        curves = {(c.data_path, c.array_index): np.array([k.co.y for k in c.keyframe_points]) for c in bag.fcurves}
        for (path, index), values in curves.items():
            if path.endswith("rotation_euler"):
                assert np.abs(np.diff(values)).max(initial=0.0) < np.pi, path
            if path.endswith("rotation_quaternion") and index == 0:
                whole = np.stack([curves[(path, k)] for k in range(4)], axis=-1)
                assert (whole[1:] * whole[:-1]).sum(axis=-1).min(initial=1.0) > 0.0, path


def test_a_giant_goes_as_a_person_of_its_size(data):
    ob = afoot.enter("bvh", data)
    leg = stage.cast_of(ob).skeleton.leg_length()
    size = leg / 0.9
    assert leg > 50.0
    empty("Goal", 0.0, -2.5 * size)
    box("Wall", 0.0, -1.2 * size, 2.0 * size, 0.2 * size, 2.5 * size)
    bpy.context.view_layer.update()
    stage.choose(ob)
    assert bpy.ops.troupe.goto(target="Goal") == {"FINISHED"}
    kept, track = told(ob), np.array(told(ob)["track"]) / (size, size, 1.0)
    assert kept["report"]["success"] and np.hypot(*(track[-1, :2] - (0.0, -2.5))) < 0.06
    assert np.abs(track[:, 0]).max() > 1.2, "around the wall"
    seconds = len(track) / 24.0
    assert 2.0 * np.sqrt(size) < seconds < 7.0 * np.sqrt(size)


@pytest.fixture
def meant(monkeypatch):
    """The motions that results are made from, by name of the actor."""
    motions, play_steps = {}, going.play_steps

    def kept(*arguments):
        played = yield from play_steps(*arguments)
        motions.update(played.motions)
        return played

    monkeypatch.setattr(going, "play_steps", kept)
    return motions


def review_of(ob):
    first, last = (round(x) for x in afoot.last_result(ob)[0].frame_range)
    return finish(review.verify_steps(bpy.context, ob, first, last))


def apart(a, b, k, j):
    """Distance of roots [m] and of rotations [rad] in sample k of one motion and j of another."""
    return np.abs(a.roots[k] - b.roots[j]).max(), quat.distance(a.rotations[k], b.rotations[j]).max()


@pytest.mark.req("kuffner", 1)
def test_what_follows_begins_in_the_very_pose_in_which_the_last_ended(meant):
    goal, (ob,) = room(), two(Anna=(0.0, 0.0))
    bpy.ops.troupe.goto(place=(0.7, -0.8, 0.0), seconds=3.0)
    bpy.context.scene.frame_set(round(afoot.last_result(ob)[0].frame_range[1]))
    before = bake.pose_here(ob, stage.cast_of(ob), bpy.context)
    bpy.ops.troupe.goto(target=goal.name, seconds=2.0)
    place, turn = apart(afoot.shown(ob), before, 0, 0)
    assert place < 1e-5 and turn < 1e-4
    # joining them bends a knee by a hair, so that its foot stays where it stands
    place, turn = apart(afoot.shown(ob), meant["Anna"], -1, -1)
    assert place < 1e-5 and turn < 0.01


@pytest.mark.req("kuffner", 99)
def test_keys_of_the_user_stay_and_one_undo_takes_it_back():
    goal, (ob,) = room(), two(Anna=(0.0, 0.0))
    ob.location.x = 0.01
    ob.keyframe_insert("location", frame=1)
    own = ob.animation_data.action
    name, keys = own.name, canon.keys_of(own)
    bpy.ops.ed.undo_push(message="start")
    before = canon.snapshot()
    bpy.ops.troupe.goto("EXEC_DEFAULT", True, target=goal.name, seconds=2.0)
    assert canon.keys_of(bpy.data.actions[name]) == keys and "Anna transcript" in bpy.data.texts
    assert afoot.last_result(bpy.data.objects["Anna"])[0].name != name, "what was made is an action of its own"
    bpy.ops.ed.undo()
    assert canon.snapshot() == before


@pytest.mark.req("kuffner", 101)
@pytest.mark.parametrize("taken", [1, 40, 120])
def test_stopping_leaves_everything_as_it_was(taken):
    goal, (ob,) = room(), two(Anna=(0.0, 0.0))
    crate = box("Crate", 3.0, -3.0, 0.5, 0.5)
    for frame, x in ((1, 3.0), (60, 1.5)):
        crate.location.x = x
        crate.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    before = canon.snapshot()
    work = goto.Operator.plan_steps(bpy.context, ob, GotoParams(target=goal.name), LandingParams(), None)
    clock, shares = [time.process_time()], []
    for _ in range(taken):
        shares.append(next(work))
        clock.append(time.process_time())
    assert shares == sorted(shares) and shares[0] >= 0 and shares[-1] < 1
    work.close()
    clock.append(time.process_time())
    assert np.diff(clock).max() < 0.5, "Esc is heeded after every step"
    assert canon.snapshot() == before


@pytest.mark.req("kuffner", 5)
def test_the_report_and_every_decision_are_kept_with_the_result():
    goal, (ob,) = room(), two(Anna=(0.0, 0.0))
    bpy.ops.troupe.goto(target=goal.name)
    report = told(ob)["report"]
    assert set(report) >= {"seconds", "success", "length", "cells", "searches", "checks", "offences", "acceleration"}
    assert report["success"] and 4.0 < report["length"] < 7.0 and report["checks"] == 2 * len(told(ob)["track"]) - 1
    report |= {"seconds": 1.5, "length": 5.25, "searches": 7, "cells": 123, "checks": 99, "acceleration": 42.0}
    told_ = " / ".join(trace.told(report))
    assert told_ == (
        "Arrived / Way 5.25 m, computed in 1.50 s / 7 ways sought, 123 places looked at / "
        "99 places checked: no collisions / Peak acceleration 42 m/s\u00b2"
    )
    worse = trace.told(report | {"success": False, "offences": [{}, {}]})
    assert worse[0] == "Did not arrive" and worse[3].endswith("2 collisions")
    text = bpy.data.texts["Anna transcript"].as_string()
    assert "goes: a goal: Goal" in text and "arrives" in text
    assert bpy.ops.troupe.show_transcript() == {"FINISHED"}


@pytest.mark.req("kuffner", 107)
def test_verify_marks_what_was_put_in_the_way_since():
    goal, (ob,) = room(), two(Anna=(0.0, 0.0))
    bpy.ops.troupe.goto(target=goal.name)
    assert bpy.ops.troupe.verify() == {"FINISHED"}
    assert not bpy.context.scene.timeline_markers and not told(ob)["report"]["offences"]
    track = np.array(told(ob)["track"])
    box("Post", *track[len(track) // 2, :2], 0.3, 0.3)
    bpy.context.view_layer.update()
    bpy.ops.troupe.verify()
    marks = [(m.name, m.frame) for m in bpy.context.scene.timeline_markers]
    assert [name for name, _ in marks] == ["collision: Anna - Post"]
    assert abs(marks[0][1] - len(track) // 2) < 15
    assert {o["other"] for o in told(ob)["report"]["offences"]} == {"Post"}
    bpy.ops.troupe.verify()
    assert len(bpy.context.scene.timeline_markers) == 1, "markers of the check before are replaced"


@pytest.mark.req("kuffner", 106)
def test_settings_are_kept_in_the_file(tmp_path):
    """Every parameter of every feature of this spec is changed, kept, told with its unit, and put back."""
    (ob,) = two(Anna=(0.0, 0.0))
    own = {"goto": GotoParams, "follow": FollowParams, "explore": ExploringParams, "reach": ReachParams}
    own |= {"plan": PlanParams, "look": LookParams, "treadmill": TreadmillParams}
    changed = {}
    for feature, record in own.items():
        group = settings_of(ob, feature)
        for p in declared(record):
            shown = group.bl_rna.properties[p.name]
            assert shown.description.rstrip(".") == p.help.rstrip("."), (feature, p.name)
            if p.unit:
                assert p.unit in shown.name or shown.subtype == "ANGLE", (feature, p.name)
            changed[feature, p.name] = altered(group, p)
    crate = box("Crate", 2.0, 0.0, 1.0, 1.0, kind="door")
    crate.troupe.door, crate.troupe.walk_cost = "openable", 3.0
    path = str(tmp_path / "kept.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    anna, thing = bpy.data.objects["Anna"], bpy.data.objects["Crate"].troupe
    for (feature, name), value in changed.items():
        group = settings_of(anna, feature)
        assert plain(getattr(group, name)) == value, (feature, name)
        group.property_unset(name)
        default = next(p.default for p in declared(own[feature]) if p.name == name)
        assert plain(getattr(group, name)) == pytest.approx(plain(default)) or isinstance(default, (str, tuple))
        assert plain(getattr(group, name)) != value, (feature, name)
    assert (thing.kind, thing.door, thing.walk_cost) == ("door", "openable", 3.0)


def settings_of(ob, feature):
    """Those of an actor, or of the scene for what is no actor's."""
    return getattr(ob.troupe, feature, None) or getattr(bpy.context.scene.troupe, feature)


def plain(value):
    """As something that can be compared."""
    return value if isinstance(value, (str, bool, int, float)) else tuple(value)


def altered(group, p):
    """Another value than a parameter has, put into a group of settings, as it is kept there."""
    if p.kind in ("float", "int"):
        middle = p.lo + 0.5 * (p.hi - p.lo) if p.lo is not None and p.hi is not None else p.default + 1
        value = middle if middle != p.default else p.hi
        setattr(group, p.name, int(value) if p.kind == "int" else value)
    elif p.kind == "bool":
        setattr(group, p.name, not p.default)
    elif p.kind == "choice":
        setattr(group, p.name, next(name for name, _ in p.choices if name != p.default))
    elif p.kind == "vector":
        setattr(group, p.name, tuple(x + 0.25 for x in p.default))
    else:
        setattr(group, p.name, "[[1.0, 2.0]]" if p.kind == "table" else "Somewhere")
    return plain(getattr(group, p.name))


# errors


def test_a_goal_inside_a_wall_is_refused():
    room(), two(Anna=(0.0, 0.0))
    box("Block", 0.0, -6.0, 4.0, 3.0).troupe.solid = True
    empty("Inside", 0.0, -6.0)
    bpy.context.view_layer.update()
    refused("goto", r"Anna cannot get there: the goal \(0.00, -6.00\) is in Block", target="Inside")


def test_a_start_inside_a_wall_is_refused():
    room()
    box("Block", 0.0, 0.0, 4.0, 3.0, kind="obstacle").troupe.solid = True
    two(Anna=(0.0, 0.0))
    refused("goto", r"Anna cannot get there: the start \(.*\) is in Block", target="Goal")


def test_no_way_is_refused():
    room(), two(Anna=(0.0, 0.0))
    box("Far wall", 0.0, -3.0, 12.0, 0.2)
    bpy.context.view_layer.update()
    refused("goto", "Anna cannot get there", target="Goal")


def test_a_goal_ten_kilometres_away_is_refused():
    two(Anna=(0.0, 0.0))
    empty("Far", 10000.0, 10000.0)
    bpy.context.view_layer.update()
    refused("goto", "a map of .* m would have more than .* cells", target="Far")


def test_on_a_ground_of_ten_kilometres_only_what_is_near_is_charted():
    afoot.floor(x=(-5000.0, 5000.0), y=(-5000.0, 5000.0))
    (ob,) = two(Anna=(0.0, 0.0))
    empty("Goal", 1.0, -1.5)
    bpy.context.view_layer.update()
    assert bpy.ops.troupe.goto(target="Goal") == {"FINISHED"}
    chart = told(ob)["map"]
    assert told(ob)["report"]["success"] and chart["rows"] * chart["cell"] < 100.0


def test_a_goal_that_leaves_the_ground_is_waited_for():
    goal, (ob,) = room(), two(Anna=(0.0, 0.0))
    for frame, x in ((1, 0.0), (10, 0.0), (30, 40.0)):
        goal.location.x = x
        goal.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    assert bpy.ops.troupe.goto(target=goal.name, seconds=3.0) == {"FINISHED"}
    assert not told(ob)["report"]["success"] and "waits" in bpy.data.texts["Anna transcript"].as_string()


@pytest.mark.req("kuffner", 20)
def test_a_map_of_a_single_cell_leads_straight_there(capfd):
    (ob,) = two(Anna=(0.0, 0.0))
    empty("Goal", 1.0, -1.0)
    bpy.context.view_layer.update()
    assert bpy.ops.troupe.goto(target="Goal", cell=100.0) == {"FINISHED"}
    assert np.hypot(*(end_of(ob)[:2] - (1.0, -1.0))) < 0.06
    assert "Warning: cells of 100.00 m are larger than the radius 0.25 m" in capfd.readouterr().out


def test_wrong_targets_are_named():
    two(Anna=(0.0, 0.0))
    refused("follow", "choose whom or what to follow")
    refused("follow", "no object of that name", target="Nobody")
    refused("follow", "is Anna itself", target=bpy.data.objects["Anna"].children[0].name)
    refused("patrol", "choose a collection")
    refused("together", "two or more")


# the scene


@pytest.mark.req("kuffner", 42)
def test_a_goal_that_is_keyed_is_followed():
    goal, (ob,) = room(), two(Anna=(0.0, 0.0))
    for frame, (x, y) in ((1, (0.0, -4.0)), (60, (0.0, -4.0)), (61, (3.0, 0.0))):
        goal.location = (x, y, 0.0)
        goal.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    bpy.ops.troupe.goto(target=goal.name)
    assert np.hypot(*(end_of(ob)[:2] - (3.0, 0.0))) < 0.06


@pytest.mark.req("kuffner", 40)
def test_what_moves_into_the_way_is_gone_around():
    goal, (ob,) = room(), two(Anna=(0.0, 0.0))
    bpy.data.objects["Wall"].location.y = -40.0
    gate = box("Gate", 8.0, -2.0, 3.0, 0.3)
    for frame, x in ((1, 8.0), (12, 8.0), (20, 0.0)):
        gate.location.x = x
        gate.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    bpy.ops.troupe.goto(target=goal.name)
    assert told(ob)["report"]["success"] and not told(ob)["report"]["offences"]
    assert np.abs(np.array(told(ob)["track"])[:, 0]).max() > 1.5
    assert "the way is blocked" in bpy.data.texts["Anna transcript"].as_string()


def test_boxes_nobody_could_step_on_are_obstacles_and_steps_are_ground():
    (ob,) = two(Anna=(0.0, 0.0))
    afoot.floor(), box("Crate", 2.0, -2.0, 0.6, 0.6, 0.6), box("Step", -2.0, -2.0, 1.0, 1.0, 0.2)
    box("Higher step", -2.0, -2.9, 1.0, 0.8, 0.4)
    box("Roof", 0.0, 0.0, 0.2, 0.2, 0.1).location.z = 3.0
    bpy.context.view_layer.update()
    member = member_of(ob, GotoParams(place=(0.0, -4.0, 0.0)))
    around = finish(going.stage_steps(bpy.context, {"Anna": member}, "Anna")).world
    kinds = {body.name: body.kind for body in around.bodies}
    assert {n for n, kind in kinds.items() if kind == "ground"} == {"Floor", "Step", "Higher step"}


def member_of(ob, params):
    cast = rig.read(ob, bpy.context)
    return company.Member(ob, cast, bake.start_here(ob, cast, bpy.context), goto.Operator, params)


def test_what_is_set_about_an_object_is_told_to_core():
    ob = box("Thing", 0.0, 0.0, 1.0, 1.0, kind="door")
    ob.troupe.door, ob.troupe.walk_cost, ob.troupe.see_through, ob.troupe.sort = "openable", 2.5, True, "chair"
    bpy.context.view_layer.update()
    (body,) = scene.read_world(bpy.context).bodies
    assert body.kind == "door" and body.tags == {"openable", "cost=2.5", "see_through", "class:chair"}
    other = box("Other", 2.0, 0.0, 1.0, 1.0)
    bpy.context.view_layer.update()
    stage.choose(ob, other)
    bpy.ops.troupe.copy_thing()
    assert other.troupe.kind == "door" and other.troupe.sort == "chair"


@pytest.mark.req("kuffner", 29)
def test_costly_ground_is_gone_around():
    (ob,) = two(Anna=(0.0, 0.0))
    afoot.floor(x=(-6.0, 6.0), y=(-9.0, 3.0))
    mud = afoot.floor("Mud", z=0.01, x=(-1.5, 1.5), y=(-3.0, -1.5))
    mud.troupe.kind, mud.troupe.walk_cost = "ground", 8.0
    empty("Goal", 0.0, -4.5)
    bpy.context.view_layer.update()
    bpy.ops.troupe.goto(target="Goal")
    assert np.abs(np.array(told(ob)["track"])[:, 0]).max() > 1.3


# company


def test_those_who_are_sent_to_one_place_stand_around_it():
    goal, actors = room(), two(Anna=(-1.0, 1.0), Ben=(1.0, 1.0), Cleo=(0.0, 1.5))
    bpy.ops.troupe.goto(target=goal.name)
    ends = np.array([end_of(ob)[:2] for ob in actors])
    gaps = [np.hypot(*(ends[i] - ends[j])) for i in range(3) for j in range(i)]
    assert min(gaps) > 0.6 and np.hypot(*(ends - (0.0, -4.0)).T).max() < 1.0
    assert not any(told(ob)["report"]["offences"] for ob in actors)


@pytest.mark.req("kuffner", 43)
def test_followers_stop_behind_another_actor_who_walks():
    afoot.floor(x=(-6.0, 6.0), y=(-12.0, 3.0))
    leader, guest = two(Lead=(0.0, 0.0), Guest=(1.0, 2.0))
    stage.choose(leader)
    bpy.ops.troupe.travel(distance=4.0)
    stage.choose(guest)
    bpy.ops.troupe.follow(target="Lead", seconds=8.0)
    there = afoot.shown(leader).roots[-1, :2]
    assert 1.2 < np.hypot(*(end_of(guest)[:2] - there)) < 1.9


def test_a_pursuer_and_an_evader_react_to_each_other():
    afoot.floor(x=(-8.0, 8.0), y=(-8.0, 8.0))
    fox, hare = two(Fox=(-3.0, 0.0), Hare=(0.0, 0.0))
    fox.troupe.pursue.target, hare.troupe.evade.target = "Hare", "Fox"
    hare.troupe.evade.speed = 1.5
    refused("together", "has not been told what to do")
    bpy.ops.troupe.together(told="Fox pursue, Hare evade", seconds=4.0)
    assert np.hypot(*end_of(hare)[:2]) > 1.5, "the hare ran"
    assert fox.troupe.told == "pursue" and hare.troupe.told == "evade"
    recipe = results.recipe_of(afoot.last_result(fox)[0])
    assert recipe["feature"] == "pursue" and set(recipe["start"]["company"]) == {"Fox", "Hare"}


def test_what_is_made_again_is_the_same_and_changes_reach_everybody():
    goal, (anna, ben) = room(), two(Anna=(-1.0, 1.0), Ben=(1.0, 1.0))
    bpy.ops.troupe.goto(target=goal.name, seconds=3.0)
    before = [afoot.shown(ob).roots for ob in (anna, ben)]
    stage.choose(anna)
    bpy.ops.troupe.regenerate()
    for old, ob in zip(before, (anna, ben), strict=True):
        assert np.array_equal(afoot.shown(ob).roots, old)
    anna.troupe.goto.seconds = 2.0
    bpy.ops.troupe.regenerate()
    assert len(afoot.shown(anna)) == len(afoot.shown(ben)) == 49


@pytest.mark.parametrize(
    ("feature", "options"),
    [
        ("wander", {}),
        ("follow", {"target": "Goal"}),
        ("patrol", {"waypoints": "[[2, 0], [2, -4]]"}),
        ("pursue", {"target": "Goal"}),
        ("evade", {"target": "Goal", "alarm": 8.0}),
        ("hide", {"target": "Goal"}),
        ("search", {"target": "Goal"}),
        ("tag", {}),
        ("queue", {"target": "Goal", "exit": "Goal"}),
        ("explore", {"target": "Goal"}),
    ],
)
def test_every_behaviour_leaves_feet_planted_and_walls_alone(feature, options):
    room()
    actors = two(Anna=(-1.0, 1.0), Ben=(1.0, 1.0))
    assert getattr(bpy.ops.troupe, feature)(seconds=2.5, **options) == {"FINISHED"}
    moved = 0.0
    for ob in actors:
        track = np.array(told(ob)["track"])
        moved = max(moved, np.abs(track - track[0]).max())
        assert not told(ob)["report"]["offences"]
        assert np.abs(afoot.deepest(afoot.shown(ob), 0.0)) < 0.002
    assert moved > 0.5


@pytest.mark.req("kuffner", 100)
def test_rigs_of_every_kind_go_about_together(data, meant):
    """One rig for each way of being keyed, each with a behaviour of its own; things and the camera stay as they are."""
    rigify = afoot.enter("rigify", data)
    bvh = rig_zoo.add(data / afoot.RIGS["bvh"])
    bvh.scale, bvh.location = (0.01,) * 3, (-2.0, 0.5, 0.0)
    stage.choose(bvh)
    bpy.ops.troupe.cast()
    bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = 24, 1.0
    rigify.name, bvh.name = "Control", "Bones"
    room()
    two(Root=(2.0, 0.5))
    cast = [bpy.data.objects[name] for name in ("Control", "Bones", "Root")]
    for ob, feature, target in zip(cast, ("hide", "pursue", "evade"), ("Bones", "Root", "Bones"), strict=True):
        getattr(ob.troupe, feature).target = target
    bpy.context.scene.frame_set(1)
    bpy.context.view_layer.update()
    stage.choose(*cast)
    before = canon.dump()["objects"]
    bpy.ops.troupe.together(told="Control hide, Bones pursue, Root evade", seconds=2.5)
    after = canon.dump()["objects"]
    assert {name for name in after if repr(after[name]) != repr(before[name])} == {ob.name for ob in cast}
    for ob in cast:
        shown, track = afoot.shown(ob), np.array(told(ob)["track"])
        assert np.hypot(*(track[:, :2] - track[0, :2]).T).max() > 1.0 and not told(ob)["report"]["offences"]
        assert afoot.worst_slide(shown, meant[ob.name]) < 0.001 and afoot.deepest(shown, 0.0) < 0.002


# memory


@pytest.mark.req("kuffner", 53, 55)
def test_an_explorer_knows_only_what_it_has_seen():
    goal, (ob,) = room(), two(Anna=(0.0, 0.0))
    box("Behind", 0.0, 2.0, 0.5, 0.5)
    bpy.context.view_layer.update()
    bpy.ops.troupe.explore(target=goal.name)
    kept = told(ob)
    assert kept["report"]["success"] and not kept["report"]["offences"]
    first = navigation.look_at(kept["looks"], kept["frame"])
    assert "Wall" in first["known"] and "Behind" not in first["known"]
    bpy.context.scene.troupe.show_memory = True
    drawn = navigation.picture(bpy.context, ob).lines
    assert len(drawn["unknown"]) == 24 and len(drawn["seen"]) == 24


def test_a_thing_is_found_behind_a_wall():
    afoot.floor(x=(-6.0, 6.0), y=(-9.0, 3.0))
    box("Wall", 0.0, -2.0, 2.4, 0.2)
    box("Vase", 0.0, -3.0, 0.3, 0.3, 0.6, kind="prop")
    (ob,) = two(Anna=(0.0, 0.0))
    bpy.ops.troupe.explore(target="Vase", find=True)
    assert told(ob)["report"]["success"] and "Vase" in told(ob)["looks"][-1]["seen"]


@pytest.mark.req("kuffner", 51)
def test_in_the_demos_a_hidden_thing_is_remembered_and_a_missing_one_is_not():
    seen = {}
    for name, kept in (("obscured", True), ("missing", False)):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        demos.demos("explore")[f"explore.{name}"].build(bpy.context)
        first, *_, last = told(bpy.data.objects["Walker"])["looks"]
        assert "One" in first["known"] and ("One" in last["known"]) == kept
        seen[name] = set(last["seen"])
    assert seen["obscured"] == seen["missing"] == {"Floor", "Two", "Three"}


# pictures, jobs


def test_pictures_show_map_ways_search_track_and_view_without_a_window():
    goal, (ob,) = room(), two(Anna=(0.0, 0.0))
    assert navigation.picture(bpy.context, ob) is None
    bpy.ops.troupe.goto(target=goal.name)
    for name in ("map", "ways", "searched", "track", "view", "memory"):
        setattr(bpy.context.scene.troupe, f"show_{name}", True)
    drawn = navigation.picture(bpy.context, ob)
    assert {len(points) % 2 for points in drawn.lines.values()} == {0} and len(drawn.lines["way"])
    blocked = drawn.areas["blocked"].reshape(-1, 3, 3).mean(axis=1)
    wall = (np.abs(blocked[:, 0]) < 1.5) & (np.abs(blocked[:, 1] + 2.0) < 0.4)
    assert wall.any() and len(drawn.areas["free"]) % 3 == 0
    # the way bends at a corner of the wall, which was looked at
    looked = drawn.areas["searched"].reshape(-1, 6, 3).mean(axis=1)
    bend = np.array(told(ob)["ways"][0][1][1])
    assert len(looked) and np.hypot(*(looked[:, :2] - bend).T).min() < 0.1
    assert (looked[:, 2] > drawn.areas["free"][:, 2].max()).all()


def test_a_job_sends_actors_and_reports_their_decisions(tmp_path):
    text = '[[actor]]\nname = "Anna"\nmannequin = {}\n[[actor]]\nname = "Ben"\nmannequin = {}\nplace = [1.5, 0.0]\n'
    text += '[[step]]\nactor = ["Anna", "Ben"]\nfeature = "goto"\nplace = [0.5, -2.0, 0.0]\n'
    text += '[output]\nreport = "out.json"\n'
    (tmp_path / "go.toml").write_text(text)
    assert job.main(["run", str(tmp_path / "go.toml")]) == 0
    (step,) = json.loads((tmp_path / "out.json").read_text())["steps"]
    assert [r["actor"] for r in step["results"]] == ["Anna", "Ben"]
    for found in step["results"]:
        assert found["navigation"]["success"] and any("arrives" in line for line in found["transcript"])


def test_angles_and_lengths_of_a_trace_survive_json():
    goal, (ob,) = room(), two(Anna=(0.0, 0.0))
    bpy.ops.troupe.goto(target=goal.name, seconds=1.0)
    kept = json.loads(afoot.last_result(ob)[0][trace.KEY])
    chart = kept["map"]
    assert math.isclose(kept["fps"], 24.0)
    assert trace.unpacked(chart["blocked"], chart["rows"], chart["columns"]).any()
