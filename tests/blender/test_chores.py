"""Chores in Blender: what somebody sees lying about is carried to where it belongs, and follows the hand there."""

import bpy
import canon
import numpy as np
import pytest
import stage
from troupe.addon.demos import demos


def shown(ob, frames):
    out = []
    for frame in frames:
        bpy.context.scene.frame_set(int(np.floor(frame)), subframe=float(frame % 1.0))
        out.append(np.array(ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world))
    return np.array(out)


@pytest.mark.req("kuffner", 96)
@pytest.mark.parametrize("name", ["reach.tidy", "reach.waiter"])
def test_a_can_is_put_away_without_a_jump(name):
    demos("reach")[name].build(bpy.context)
    stage.still(bpy.data.objects)
    can, actor = bpy.data.objects["can"], bpy.data.objects["Mannequin"]
    (tie,) = can.constraints
    (strip,) = [s for t in can.animation_data.nla_tracks for s in t.strips]
    keys = next(keys for (path, _), keys in canon.keys_of(strip.action).items() if path.endswith("influence"))
    _, taken, released = keys[::2]
    frames = np.array([1.0, taken - 1, taken, taken + 0.5, released - 0.5, released, released + 1, released + 40])
    places = shown(can, frames)
    there = np.array(bpy.data.objects["Away 1"].matrix_world)
    steps = np.linalg.norm(np.diff(places[:, :3, 3], axis=0), axis=1)
    # it waits, follows the hand from one frame to the next, and is left where it belongs
    assert steps[0] < 1e-5 and steps[[1, 2]].max() < 5e-3 and steps[[4, 5]].max() < 2e-3 and steps[6] < 1e-5
    assert np.linalg.norm(places[-1, :3, 3] - there[:3, 3]) < 2e-3 and places[-1, 2, 2] > 0.9999
    middle = 0.5 * (taken + released)
    bpy.context.scene.frame_set(round(middle))
    hand = actor.matrix_world @ actor.pose.bones[tie.subtarget].matrix
    assert (hand.translation - can.matrix_world.translation).length < 0.3
