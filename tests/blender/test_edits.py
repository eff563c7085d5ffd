"""Edits of animation that is hardly one: a clear word or what the pages say, and what was there stays as it was."""

import bpy
import canon
import numpy as np
import pytest
import stage
from troupe.addon.bake import curves, nla, results
from troupe.core.filters.cleanup import TASKS
from troupe.core.maths import quat

EDITS = {
    "bands": {"gains": (1, 1, 2, 2, 2, 1, 1, 1)},
    "waveshape": {"shape": "soft"},
    "displace": {},
    "emotion": {"emotion": "sad"},
    "timewarp": {"source": "Other"},
    "blend": {"source": "Other"},
    "spectrum": {},
    **{f"cleanup {task}": {"task": task} for task, _ in TASKS},
}
STILL = ("bands", "waveshape", "emotion", "cleanup plant", "cleanup resample", "cleanup drift")
"""Edits that leave a single frame, or one that is held, as it is."""


@pytest.fixture
def idle():
    """An actor that does nothing, and another that walks."""
    stage.once(_idle)
    ob = bpy.data.objects["Idle"]
    stage.choose(ob)
    return ob


def _idle():
    stage.actor(skin=False).name = "Other"
    bpy.context.scene.frame_set(1)
    bpy.ops.troupe.retarget(clip="walk")
    stage.actor(skin=False).name = "Idle"


def nod(ob, *keys):
    """Keys of the head: frames and angles [rad]."""
    bone = ob.pose.bones["head"]
    for frame, turn in keys:
        bone.rotation_quaternion = quat.about(np.array([1.0, 0.0, 0.0]), turn)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    return ob.animation_data.action


def shown(ob, frame):
    bpy.context.scene.frame_set(frame)
    return np.array([bone.matrix for bone in ob.pose.bones])


def press(name, arguments):
    """Press a button; what went wrong, or nothing."""
    ob = bpy.context.object
    if name == "displace":
        bpy.context.scene.frame_set(1)
        ob.pose.bones["head"].rotation_quaternion = (0.8, 0.0, 0.6, 0.0)
        bpy.context.view_layer.update()
    try:
        getattr(bpy.ops.troupe, name.split()[0])(**arguments)
    except RuntimeError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", EDITS)
def test_a_single_frame_stays_or_is_told_to_be_too_short(idle, name):
    own = nod(idle, (1, 0.3))
    keys, before = canon.keys_of(own), shown(idle, 1)
    said = press(name, EDITS[name])
    assert canon.keys_of(own) == keys
    if name in ("cleanup despike", "cleanup gaps", "cleanup loop"):
        assert "at least" in said and not results.results_of(idle)
    else:
        assert not said
    if name in STILL:
        assert np.abs(shown(idle, 1) - before).max() < 1e-4


@pytest.mark.parametrize("name", EDITS)
def test_a_pose_that_is_held_stays_or_is_told_to_be_one(idle, name):
    own = nod(idle, (1, 0.3), (30, 0.3))
    keys, before = canon.keys_of(own), shown(idle, 15)
    said = press(name, EDITS[name])
    assert canon.keys_of(own) == keys
    assert ("hardly anything in it moves" in said) if name == "cleanup loop" else not said
    if name in (*STILL, "cleanup despike", "cleanup gaps"):
        assert np.abs(shown(idle, 15) - before).max() < 1e-4


@pytest.mark.parametrize("name", EDITS)
def test_a_key_that_is_no_number_is_named_and_nothing_is_written(idle, name):
    own = nod(idle, (1, 0.0), (10, 0.4), (30, 0.1))
    curves.bag(idle, own).fcurves[1].keyframe_points[1].co.y = float("nan")
    assert 'pose.bones["head"].rotation_quaternion[1]: the key at frame 10 is not a number' in press(name, EDITS[name])
    assert not results.results_of(idle) and idle.animation_data.action == own


@pytest.mark.parametrize("name", EDITS)
def test_an_action_without_keys_is_told_to_be_nothing(idle, name):
    idle.animation_data_create().action = bpy.data.actions.new("empty")
    assert "Idle does nothing yet" in press(name, EDITS[name])
    assert not nla.is_moved(idle) and nla.is_moved(bpy.data.objects["Other"])


def test_edits_whose_ranges_overlap_compose_and_come_off_one_by_one(idle):
    own = nod(idle, *((frame, 0.4 * np.sin(frame / 5)) for frame in range(1, 97)))
    keys, plain = canon.keys_of(own), [shown(idle, frame) for frame in (30, 50, 70)]
    for begin, end in ((0.5, 2.5), (1.5, 3.5)):
        bpy.ops.troupe.bands(gains=(1, 1, 0, 0, 0, 1, 1, 1), range="part", begin=begin, end=end, soft=0.1, plant=False)
    first, second = (found.action.name for found in results.results_of(idle))
    both = [shown(idle, frame) for frame in (30, 50, 70)]
    assert all(np.abs(a - b).max() > 0.01 for a, b in zip(plain, both, strict=True))
    bpy.ops.troupe.remove_result(result=second)
    assert np.abs(shown(idle, 30) - both[0]).max() < 1e-4 and np.abs(shown(idle, 70) - plain[2]).max() < 1e-4
    bpy.ops.troupe.remove_result(result=first)
    assert all(np.abs(shown(idle, f) - p).max() < 1e-5 for f, p in zip((30, 50, 70), plain, strict=True))
    assert canon.keys_of(own) == keys
