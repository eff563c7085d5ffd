"""Timewarp in Blender: the pace of another actor or action, a curve to drag, and nothing below changed."""

import json

import bpy
import canon
import numpy as np
import pytest
import stage
from troupe.addon import bake
from troupe.addon.bake import nla, reading, results
from troupe.addon.features import timewarp as feature
from troupe.addon.steps import finish
from troupe.core.figure.mannequin import mannequin
from troupe.core.figure.stroll import walk
from troupe.core.filters.contacts import contacts
from troupe.core.filters.footlock import slide
from troupe.core.formats import bvh
from troupe.core.kinematics.cast import read_joints
from troupe.core.motion import Motion


def walker(name, period, height=1.75, cycles=4):
    """An actor that walks with so long a round [s]."""
    ob = stage.actor(skin=False)
    ob.name = name
    path = stage.folder() / f"walk{period}{height}.bvh"
    bvh.write(path, bvh.from_motion(walk(mannequin(height), cycles, period)))
    bpy.context.scene.frame_set(1)
    bpy.ops.troupe.retarget(clip="none", file=str(path))
    return ob


def shown(ob):
    """What the actor plays, frame by frame as Blender evaluates it."""
    first, last = (round(f) for f in nla.frame_range(ob))
    cast = stage.cast_of(ob)
    matrices = finish(reading._sampled(ob, cast, bpy.context, np.arange(first, last + 1, dtype=float), None))
    return Motion(cast.skeleton, 24.0, *read_joints(cast, matrices))


def strikes(motion):
    return np.array([e.time for e in contacts(motion).events if e.name.startswith("heel_strike")])


@pytest.fixture
def pair():
    """A slow walker, selected, and a brisk one."""
    stage.once(_pair)
    slow, brisk = (bpy.data.objects[name] for name in ("Slow", "Brisk"))
    stage.choose(slow)
    return slow, brisk


def _pair():
    walker("Brisk", 0.9)
    walker("Slow", 1.3)


def test_an_actor_takes_the_pace_of_another(pair):
    slow, brisk = pair
    before, below = shown(slow), canon.keys_of(results.results_of(slow)[-1].action)
    bpy.ops.troupe.timewarp(source=brisk.name)
    found = results.results_of(slow)
    assert len(found) == 2
    assert canon.keys_of(found[0].action) == below
    first, last = found[1].action.frame_range
    pace = shown(brisk)
    assert last - first == pytest.approx(len(pace) - 1, abs=1)
    after = bake.read(slow, stage.cast_of(slow), bpy.context, found[1].action, (int(first), int(last)))
    mine, theirs = strikes(after), strikes(pace)
    count = min(len(mine), len(theirs)) - 1
    assert np.abs(mine[:count] - theirs[:count]).max() < 0.09
    # its own way over the ground, in less time
    assert np.linalg.norm(after.roots[-1] - before.roots[-1]) < 0.02
    # at 24 frames a second a contact is detected a frame too long now and then
    assert np.median([s.travel for s in slide(contacts(after))]) < 5e-3


def test_an_action_gives_the_pace_too(pair):
    slow, brisk = pair
    action = results.results_of(brisk)[-1].action
    bpy.ops.troupe.timewarp(action=action.name)
    first, last = results.results_of(slow)[-1].action.frame_range
    assert last - first == pytest.approx(action.frame_range[1] - action.frame_range[0], abs=1)


def test_a_source_of_another_size_is_retargeted():
    bpy.ops.troupe.mannequin(height=1.4, shape=0.8)
    small = bpy.context.object
    small.data.bones[-1].name = "another name"
    bpy.ops.troupe.cast()
    bpy.context.scene.frame_set(1)
    bpy.ops.troupe.retarget(clip="walk")
    slow = walker("Slow", 1.3)
    bpy.ops.troupe.timewarp(source=small.name, pace=0.5, poses=0.5)
    assert len(results.results_of(slow)) == 2


def test_poses_and_pace_are_apart(pair):
    slow, brisk = pair
    before = len(shown(slow))
    bpy.ops.troupe.timewarp(source=brisk.name, pace=0.0, poses=1.0)
    first, last = results.results_of(slow)[-1].action.frame_range
    assert last - first + 1 == before


def test_a_typed_curve_retimes_without_a_source(pair):
    slow, _ = pair
    bpy.ops.troupe.timewarp(curve="[[0, 0], [2, 1], [5, 6]]")
    first, last = results.results_of(slow)[-1].action.frame_range
    assert last - first == 6 * 24


def test_moments_are_found_shown_dragged_and_used(pair):
    slow, brisk = pair
    slow.troupe.timewarp.source = brisk.name
    bpy.ops.troupe.find_moments()
    found = np.array(json.loads(slow.troupe.timewarp.curve))
    assert np.all(np.diff(found, axis=0) > 0)
    assert bpy.data.images[f"{slow.name} timewarp"].size[0] == 1024
    points = feature.node().mapping.curves[0].points
    assert len(points) == len(found)
    middle = points[len(points) // 2]
    middle.location = (middle.location[0], middle.location[1] + 0.05)
    bpy.ops.troupe.use_moments()
    moved = np.array(json.loads(slow.troupe.timewarp.curve))
    assert np.abs(moved - found).max() == pytest.approx(0.05, abs=1e-3)
    bpy.ops.troupe.timewarp(source=brisk.name, curve=slow.troupe.timewarp.curve)
    recipe = results.recipe_of(results.results_of(slow)[-1].action)
    assert np.allclose(recipe["params"]["curve"], moved)


def test_without_a_source_the_own_time_is_dragged(pair):
    slow, _ = pair
    own = results.results_of(slow)[-1].action.frame_range
    bpy.ops.troupe.find_moments()
    found = np.array(json.loads(slow.troupe.timewarp.curve))
    assert len(found) == 5 and np.allclose(found[:, 0], found[:, 1])
    assert found[-1, 0] == pytest.approx((own[1] - own[0]) / 24, abs=1e-4)
    points = feature.node().mapping.curves[0].points
    for point in points[1:]:
        point.location = (point.location[0], 1.5 * point.location[1])
    bpy.ops.troupe.use_moments()
    bpy.ops.troupe.timewarp(curve=slow.troupe.timewarp.curve)
    first, last = results.results_of(slow)[-1].action.frame_range
    assert last - first == pytest.approx(1.5 * (own[1] - own[0]), abs=1)
    dragged = slow.troupe.timewarp.curve
    bpy.ops.troupe.find_moments()
    assert np.allclose(json.loads(slow.troupe.timewarp.curve), json.loads(dragged)), "it is there to be dragged on"


def test_it_is_made_again_from_what_lies_below(pair):
    slow, brisk = pair
    bpy.ops.troupe.timewarp(source=brisk.name)
    slow.troupe.timewarp.pace = 0.5
    bpy.ops.troupe.regenerate()
    found = results.results_of(slow)
    assert len(found) == 2
    lengths = [shown(ob) for ob in (brisk,)]
    first, last = found[-1].action.frame_range
    own = found[0].action.frame_range
    assert last - first == pytest.approx((own[1] - own[0] + len(lengths[0]) - 1) / 2, abs=1.5)


def test_what_cannot_be_is_said(pair):
    slow, _ = pair
    for arguments, words in (
        ({}, "give a source"),
        ({"source": "nobody"}, "no armature"),
        ({"action": "nothing"}, "no action"),
        ({"source": slow.name}, "actor itself"),
        ({"curve": "[[0, 0], [1, 1], [0.5, 2]]"}, "backwards"),
        ({"curve": "what?"}, "rows"),
    ):
        with pytest.raises(RuntimeError, match=words):
            bpy.ops.troupe.timewarp(**arguments)
    assert len(results.results_of(slow)) == 1
