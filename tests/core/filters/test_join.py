"""A motion begins in the pose it is given and becomes itself again."""

from dataclasses import replace

import numpy as np
import pytest
from rigs import A_POSE, Rig
from troupe.core.errors import InvalidMotion
from troupe.core.figure.stroll import walk
from troupe.core.filters.join import join
from troupe.core.maths import quat
from troupe.core.skeleton import Pose

SKELETON = Rig(A_POSE).cast().skeleton


@pytest.fixture
def motion():
    return walk(SKELETON, cycles=2, fps=30.0)


def odd_pose():
    rng = np.random.default_rng(2)
    return Pose(quat.exp(rng.normal(scale=0.5, size=(len(SKELETON), 3))), np.array([1.0, 2.0, 0.9]))


def test_the_first_sample_is_the_pose_and_the_rest_is_the_motion(motion):
    pose = odd_pose()
    joined = join(motion, pose, 0.4)
    assert quat.distance(joined.rotations[0], pose.rotations).max() < 1e-7
    assert np.allclose(joined.roots[0], pose.root)
    after = motion.times >= 0.4
    assert quat.distance(joined.rotations, motion.rotations)[after].max() < 1e-7
    assert np.allclose(joined.roots[after], motion.roots[after])


def test_from_its_own_first_pose_nothing_changes(motion):
    joined = join(motion, motion.pose(0), 0.5)
    assert quat.distance(joined.rotations, motion.rotations).max() < 1e-7
    assert np.array_equal(joined.roots, motion.roots)


def test_nothing_jumps(motion):
    joined = join(motion, odd_pose(), 0.5)
    before, after = (quat.distance(m.rotations[1:], m.rotations[:-1]).max() for m in (motion, joined))
    assert after < before + 0.35


def test_joints_outside_the_mask_stay(motion):
    mask = np.zeros(len(SKELETON), bool)
    mask[SKELETON.joint("head")] = True
    joined = join(replace(motion, mask=mask), odd_pose(), 0.5)
    assert quat.distance(joined.rotations, motion.rotations)[:, ~mask].max() < 1e-7
    assert np.array_equal(joined.roots, motion.roots)


def test_no_time_is_no_change(motion):
    assert join(motion, odd_pose(), 0.0) is motion


def test_a_pose_of_another_skeleton_is_refused(motion):
    with pytest.raises(InvalidMotion, match="a pose of 3 joints"):
        join(motion, Pose(np.tile(quat.IDENTITY, (3, 1)), np.zeros(3)), 0.5)
