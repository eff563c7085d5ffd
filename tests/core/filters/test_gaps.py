"""What is missing, frozen or thrown away is bridged; what is there stays."""

from dataclasses import replace

import numpy as np
import pytest
from feet import body, standing, steps
from troupe.core import InvalidMotion, InvalidParam, Motion
from troupe.core.filters.bridge import bridge_places, bridge_turns
from troupe.core.filters.contacts import runs
from troupe.core.filters.gaps import fill_gaps, find_gaps, restore
from troupe.core.maths import quat

from .clips import CLIPS, CMU, alike, cleaned, recorded


def swinging(fps=60.0, seconds=4.0):
    """A walk whose spine and head move too, so that no joint stands still."""
    motion = steps(body(), fps=fps, seconds=seconds)[0]
    rotations = motion.rotations.copy()
    for joint, pace in ((0, 3.0), (1, 4.0), (2, 5.0), (6, 6.0), (10, 4.5)):
        turn = 0.2 * np.sin(pace * motion.times + joint)
        rotations[:, joint] = quat.multiply(rotations[:, joint], quat.about(np.array([1.0, 0.0, 0.0]), turn))
    return replace(motion, rotations=quat.continuous(rotations))


def frozen(motion, a, b):
    """Samples a to b - 1 repeat the one before."""
    roots, rotations = motion.roots.copy(), motion.rotations.copy()
    roots[a:b], rotations[a:b] = roots[a - 1], rotations[a - 1]
    return replace(motion, roots=roots, rotations=rotations)


def emptied(motion, a, b, root=True):
    """Samples a to b - 1 are all zero, as of a tracker that has lost its actor."""
    roots, rotations = motion.roots.copy(), motion.rotations.copy()
    rotations[a:b] = quat.IDENTITY
    if root:
        roots[a:b] = 0.0
    return replace(motion, roots=roots, rotations=quat.continuous(rotations))


@pytest.mark.parametrize("length", [1, 2, 6, 12])
def test_frozen_samples_are_moved_on(length):
    motion = swinging()
    stuck = frozen(motion, 100, 100 + length)
    turns, places = find_gaps(stuck)
    assert runs(places) == [(100, 100 + length)]
    assert np.array_equal(turns, np.repeat(places[:, None], turns.shape[1], axis=1))
    assert alike(fill_gaps(stuck), motion) < np.radians(2.0 if length <= 6 else 8.0)


@pytest.mark.parametrize("length", [1, 2, 6, 12])
def test_empty_samples_are_bridged(length):
    motion = swinging()
    mended = fill_gaps(emptied(motion, 100, 100 + length))
    assert np.degrees(quat.distance(mended.rotations, motion.rotations)).max() < (2.0 if length <= 6 else 8.0)
    assert np.abs(mended.roots - motion.roots).max() < 0.01


def test_a_joint_that_flips_for_a_while_comes_back_alone():
    motion = swinging()
    rotations = motion.rotations.copy()
    rotations[80:90, 4] = quat.multiply(rotations[80:90, 4], quat.about(np.array([0.0, 0.0, 1.0]), 2.5))
    mended = fill_gaps(replace(motion, rotations=rotations))
    assert np.degrees(quat.distance(mended.rotations, motion.rotations)).max() < 5.0
    others = np.arange(len(motion.skeleton)) != 4
    assert np.array_equal(mended.rotations[:, others], motion.rotations[:, others])


def test_another_pose_at_either_end_is_led_up_to():
    motion = swinging()
    broken = emptied(emptied(motion, 0, 2, root=False), 238, 240, root=False)
    mended = fill_gaps(broken)
    assert np.degrees(quat.distance(mended.rotations, motion.rotations)).max() < 5.0
    assert np.degrees(quat.distance(broken.rotations, motion.rotations)).max() > 20.0


def test_clean_motion_stays_itself():
    for motion in (swinging(), steps(body())[0], standing(body())):
        assert alike(fill_gaps(motion), motion) < 1e-12


def test_a_pose_held_on_purpose_is_kept():
    motion = swinging()
    # eased into a hold of a fifth of a second and out of it
    pace = np.ones(len(motion) - 1)
    pace[100:112] = 0.0
    for k in range(12):
        pace[100 - 12 + k] = 1.0 - (k + 1) / 13
        pace[112 + k] = (k + 1) / 13
    at = np.concatenate([[0.0], np.cumsum(pace)])
    before = np.floor(at).astype(int)
    part = (at - before)[:, None]
    after = np.minimum(before + 1, len(motion) - 1)
    roots = motion.roots[before] + part * (motion.roots[after] - motion.roots[before])
    held = replace(motion, roots=roots, rotations=quat.slerp(motion.rotations[before], motion.rotations[after], part))
    assert (np.diff(held.roots, axis=0)[100:112] == 0).all()
    assert alike(fill_gaps(held), held) < 1e-12


def test_a_movement_that_begins_with_no_joint_turned_keeps_its_beginning():
    motion = swinging()
    rise = np.minimum(motion.times / 0.5, 1.0)[:, None]
    rotations = quat.slerp(np.broadcast_to(quat.IDENTITY, motion.rotations.shape), motion.rotations, rise)
    begun = replace(motion, rotations=quat.continuous(rotations))
    assert alike(fill_gaps(begun), begun) < 1e-12


def test_a_jump_that_stays_is_not_undone():
    motion = swinging()
    roots = motion.roots.copy()
    roots[120:] += (1.0, 0.0, 0.0)
    cut = replace(motion, roots=roots)
    assert alike(fill_gaps(cut), cut) < 1e-12


def test_longer_gaps_and_kinds_not_asked_for_are_left():
    stuck, empty = frozen(swinging(), 100, 112), emptied(swinging(), 100, 112)
    for motion, settings in (
        (stuck, {"longest": 0.1}),
        (stuck, {"frozen": False}),
        (empty, {"longest": 0.1}),
        (empty, {"glitches": False, "frozen": False}),
        (empty, {"longest": 0.0}),
    ):
        assert alike(fill_gaps(motion, **settings), motion) < 1e-12


def test_times_given_are_bridged_whatever_they_hold():
    motion = swinging()
    rotations = motion.rotations.copy()
    rotations[60:75, 3] = quat.slerp(rotations[60:75, 3], rotations[60, 3], 0.5)
    strange = replace(motion, rotations=quat.continuous(rotations))
    assert alike(fill_gaps(strange), strange) < 1e-12
    mended = fill_gaps(strange, bad=((1.0, 74 / 60),))
    assert not np.allclose(mended.rotations[60:75], strange.rotations[60:75])
    assert np.array_equal(mended.rotations[75:], strange.rotations[75:])
    for bad in (((3.0, 1.0),), ((9.0, 10.0),), ((0.0, 4.0),)):
        with pytest.raises(InvalidParam, match="bad"):
            fill_gaps(strange, bad=bad)


def test_a_gap_over_the_seam_of_a_loop_is_bridged():
    motion = swinging(seconds=2.2)
    n = 66
    t = 2 * np.pi * np.arange(n) / n
    rotations = motion.rotations[:n].copy()
    rotations[:, 1:3] = quat.about(np.array([1.0, 0.0, 0.0]), 0.4 * np.sin(t))[:, None]
    rotations[:, 3:] = quat.about(np.array([1.0, 0.0, 0.0]), 0.4 * np.cos(t))[:, None]
    loop = Motion(motion.skeleton, 60.0, np.tile([0.0, 0.0, 0.9], (n, 1)), rotations, loop=True)
    broken = rotations.copy()
    broken[[0, 1, 64, 65], 1:] = quat.about(np.array([0.0, 1.0, 0.0]), 2.0)
    mended = fill_gaps(replace(loop, rotations=broken))
    assert mended.loop and alike(mended, loop) < np.radians(5.0)


def test_missing_numbers_are_restored():
    motion = swinging()
    roots, rotations = motion.roots.copy(), motion.rotations * 3.0
    roots[50:53], rotations[50:53] = np.nan, np.nan
    rotations[90:96, 4] = 0.0
    roots[200, 1] = np.inf
    rotations[-2:] = np.nan
    got = restore(motion.skeleton, motion.fps, roots, rotations)
    assert np.degrees(quat.distance(got.rotations, motion.rotations)).max() < 5.0
    assert np.abs(got.roots - motion.roots).max() < 0.005


def test_what_cannot_be_restored_is_named():
    motion = swinging()
    rotations = motion.rotations.copy()
    rotations[:, 4] = 0.0
    with pytest.raises(InvalidMotion, match="shin_L has no rotation at any sample"):
        restore(motion.skeleton, 60.0, motion.roots, rotations)
    with pytest.raises(InvalidMotion, match="no place"):
        restore(motion.skeleton, 60.0, np.full_like(motion.roots, np.nan), motion.rotations)
    with pytest.raises(InvalidMotion, match="must be"):
        restore(motion.skeleton, 60.0, motion.roots[:-1], motion.rotations)


def test_one_sample_and_wrong_times_are_refused():
    with pytest.raises(InvalidMotion, match="1 samples"):
        fill_gaps(standing(body(), seconds=1 / 60))
    for longest in (-1.0, np.nan):
        with pytest.raises(InvalidParam, match="longest"):
            fill_gaps(swinging(), longest=longest)


def test_gaps_without_anything_around_hold_what_there_is():
    turns = quat.about(np.array([0.0, 0.0, 1.0]), np.array([0.5, 9.0, 9.0]))[:, None]
    bad = np.array([[False], [True], [True]])
    assert quat.distance(bridge_turns(turns, bad, 30.0), turns[:1]).max() < 1e-12
    assert np.array_equal(bridge_turns(turns, np.ones_like(bad), 30.0), turns)
    places = np.array([[1.0], [9.0], [3.0]])
    assert bridge_places(places, bad[:, 0], 30.0)[:, 0].tolist() == [1.0, 1.0, 1.0]
    assert bridge_places(places, np.array([False, True, False]), 30.0)[:, 0].tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("name", CMU)
def test_the_pose_before_a_recording_is_found(data, name):
    motion = recorded(data, name)
    if name != "07_12":  # it begins at once
        assert find_gaps(motion)[0][0].all()
    mended = fill_gaps(motion)
    steps = quat.distance(mended.rotations[:-1], mended.rotations[1:])[:, motion.skeleton.joint("spine")]
    assert steps[0] < np.radians(4.0)


@pytest.mark.parametrize("name", CLIPS)
def test_removed_samples_of_a_recording_come_back_within_a_few_degrees(data, name):
    motion = cleaned(data, name)
    rng, length = np.random.default_rng(2), max(1, round(0.08 * motion.fps))
    feet = [motion.skeleton.joint(f"{p}_{s}") for p in ("foot", "toe") for s in "LR" if motion.skeleton.has(f"{p}_{s}")]
    joints = np.setdiff1d(np.arange(len(motion.skeleton)), feet)
    left = []
    for at in rng.integers(4, len(motion) - length - 4, 8):
        lost = np.isin(np.arange(len(motion)), np.arange(at, at + length))
        rotations, roots = motion.rotations.copy(), motion.roots.copy()
        rotations[lost], roots[lost] = np.nan, np.nan
        got = restore(motion.skeleton, motion.fps, roots, rotations)
        left.append(np.degrees(quat.distance(got.rotations[lost], motion.rotations[lost]))[:, joints].max(axis=0))
        assert np.abs(got.roots - motion.roots).max() < 0.03
    assert np.mean(left) < 2.0
    assert np.percentile(left, 95) < (6.0 if motion.fps > 100 else 8.0)
