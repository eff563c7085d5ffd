"""Blend in Blender: two performances at once, or one after the other, on an actor whose own stays below."""

import bpy
import canon
import numpy as np
import pytest
import stage
from test_timewarp import shown, strikes, walker
from troupe.addon import bake
from troupe.addon.bake import results
from troupe.core.filters.contacts import contacts
from troupe.core.filters.footlock import slide
from troupe.core.maths import quat


@pytest.fixture
def pair():
    """A walker of 100 steps a minute, selected, and one of 120."""
    stage.once(_pair)
    slow, fast = (bpy.data.objects[name] for name in ("Slow", "Fast"))
    stage.choose(slow)
    return slow, fast


def _pair():
    walker("Fast", 1.0)
    walker("Slow", 1.2)


def result(ob):
    """The topmost result as a motion."""
    action = results.results_of(ob)[-1].action
    first, last = action.frame_range
    return bake.read(ob, stage.cast_of(ob), bpy.context, action, (int(first), int(last)))


def test_half_of_each_walk_has_even_steps_and_planted_feet(pair):
    slow, fast = pair
    below = canon.keys_of(results.results_of(slow)[-1].action)
    bpy.ops.troupe.blend(source=fast.name)
    assert canon.keys_of(results.results_of(slow)[0].action) == below
    after = result(slow)
    lengths = [len(shown(fast)), len(shown(slow))]
    assert lengths[0] < len(after) < max(lengths)
    steps = np.diff(strikes(after))[:-1]
    assert steps.mean() == pytest.approx(0.55, abs=0.02)
    # no step is off by more than a frame
    assert np.abs(steps - 0.55).max() < 1.3 / 24
    assert np.median([s.travel for s in slide(contacts(after))]) < 5e-3


def test_the_actors_own_clip_comes_back_at_nothing_of_the_other(pair):
    slow, fast = pair
    before = shown(slow)
    bpy.ops.troupe.blend(source=fast.name, amount=0.0)
    after = result(slow)
    assert len(after) == len(before)
    assert np.abs(after.roots - before.roots).max() < 1e-3
    assert quat.distance(after.rotations, before.rotations).max() < 5e-3


def test_arms_alone_are_blended(pair):
    slow, fast = pair
    before = shown(slow)
    bpy.ops.troupe.blend(action=results.results_of(fast)[-1].action.name, amount=1.0, scope="arms")
    after = shown(slow)
    figure = before.skeleton
    leg, arm = figure.joint("shin_L"), figure.joint("upper_arm_L")
    assert quat.distance(after.rotations[:, leg], before.rotations[:, leg]).max() < 5e-3
    assert len(after) == len(before)
    assert quat.distance(after.rotations[:, arm], before.rotations[:, arm]).max() < 0.5


def test_an_amount_that_is_keyed_comes_in_over_time(pair):
    slow, fast = pair
    before = shown(slow)
    first, last = results.results_of(slow)[-1].action.frame_range
    for frame, value in ((first, 0.0), (last, 1.0)):
        slow.troupe.blend.amount = value
        slow.keyframe_insert("troupe.blend.amount", frame=frame)
    for key in (k for bag in canon.bags(slow.animation_data.action) for c in bag.fcurves for k in c.keyframe_points):
        key.interpolation = "LINEAR"
    how = {"source": fast.name, "align": False, "timing": "first", "plant": False}
    bpy.ops.troupe.blend(**how)
    made = results.results_of(slow)[-1].action
    held = results.recipe_of(made)["params"]["amount"]
    assert held[0] == pytest.approx(0.0, abs=1e-6) and held[-1] == pytest.approx(1.0, abs=1e-6)
    assert len(held) == last - first + 1
    after = result(slow)
    assert quat.distance(after.rotations[:2], before.rotations[:2]).max() < 0.02
    away = quat.distance(after.rotations, before.rotations[: len(after)]).max(axis=1)
    assert away[-10:].max() > 5 * away[:10].max()
    # made again it stays as it is, and rows of weights say the same
    keys = canon.keys_of(made)
    bpy.ops.troupe.regenerate()
    assert canon.keys_of(results.results_of(slow)[-1].action) == keys
    bpy.ops.troupe.remove_result()
    end = (last - first) / 24
    bpy.ops.troupe.blend(**how, weights=f"[[0, 1, 0, 0, 0], [{end}, 0, 1, 0, 0]]")
    assert quat.distance(result(slow).rotations, after.rotations).max() < 0.01


def test_one_walk_follows_the_other(pair):
    slow, fast = pair
    before, other = shown(slow), shown(fast)
    bpy.ops.troupe.blend(source=fast.name, how="follow", zone=0.5, fit=1.0)
    after = result(slow)
    assert len(before) + len(other) - 45 < len(after) <= len(before) + len(other) - 13
    steps = np.linalg.norm(np.diff(after.roots, axis=0), axis=1)
    assert steps.max() < 1.6 * np.linalg.norm(np.diff(other.roots, axis=0), axis=1).max()
    early = len(before) - 24
    assert quat.distance(after.rotations[:early], before.rotations[:early]).max() < 5e-3


def test_three_clips_by_weights(pair):
    slow, fast = pair
    names = [results.results_of(ob)[-1].action.name for ob in (fast, walker("Third", 1.1))]
    stage.choose(slow)
    with pytest.raises(RuntimeError, match="need a row of weights"):
        bpy.ops.troupe.blend(action=names[0], third=names[1])
    bpy.ops.troupe.blend(action=names[0], third=names[1], weights="[[0, 0.4, 0.3, 0.3, 0]]")
    assert len(results.results_of(slow)) == 2


def test_it_is_made_again_and_taken_away(pair):
    slow, fast = pair
    before = shown(slow)
    bpy.ops.troupe.blend(source=fast.name)
    first = len(result(slow))
    slow.troupe.blend.amount = 1.0
    bpy.ops.troupe.regenerate()
    assert len(result(slow)) < first
    assert len(results.results_of(slow)) == 2
    bpy.ops.troupe.remove_result()
    assert np.abs(shown(slow).roots - before.roots).max() < 1e-6


def test_what_cannot_be_is_said(pair):
    slow, fast = pair
    for arguments, words in (
        ({}, "choose the armature or the action"),
        ({"source": "nobody"}, "no armature"),
        ({"source": fast.name, "how": "follow", "zone": 50.0}, "shorter clip"),
        ({"source": fast.name, "weights": "[[0, 1]]"}, "numbers"),
    ):
        with pytest.raises(RuntimeError, match=words):
            bpy.ops.troupe.blend(**arguments)
    assert len(results.results_of(slow)) == 1
