"""Forward kinematics: places and world rotations follow from joint rotations alone."""

from __future__ import annotations

import numpy as np
import pytest
from troupe.core import Skeleton
from troupe.core.figure.mannequin import mannequin
from troupe.core.kinematics import fk
from troupe.core.maths import quat

X, Y, Z = np.eye(3)
FIGURE = mannequin(1.75)


def random_pose(*batch: int, skeleton: Skeleton = FIGURE) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return quat.unit(rng.normal(size=(*batch, len(skeleton), 4))), rng.normal(size=(*batch, 3))


def joint_by_joint(skeleton: Skeleton, rotations: np.ndarray, root: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The definition, for one pose, with matrices."""
    matrices = quat.to_matrix(rotations)
    turns, places = [matrices[0]], [root]
    for j, parent in list(enumerate(skeleton.parents))[1:]:
        turns.append(turns[parent] @ matrices[j])
        places.append(places[parent] + turns[parent] @ skeleton.offsets[j])
    return np.array(places), np.array(turns)


def test_identity_is_the_neutral_stance() -> None:
    rotations = np.tile(quat.IDENTITY, (len(FIGURE), 1))
    positions, globals_ = fk.forward(FIGURE, rotations, FIGURE.offsets[0])
    assert np.allclose(globals_, rotations)
    for j, parent in enumerate(FIGURE.parents):
        expected = FIGURE.offsets[j] + (positions[parent] if parent >= 0 else 0)
        assert np.allclose(positions[j], expected)


@pytest.mark.parametrize("frames", [1, 7, 5000])
def test_every_batch_size_agrees_with_the_definition(frames: int) -> None:
    rotations, roots = random_pose(frames)
    positions, globals_ = fk.forward(FIGURE, rotations, roots)
    for t in {0, frames // 2, frames - 1}:
        places, turns = joint_by_joint(FIGURE, rotations[t], roots[t])
        assert np.abs(positions[t] - places).max() < 1e-13
        assert np.abs(quat.to_matrix(globals_[t]) - turns).max() < 1e-13


def test_a_bent_elbow_carries_the_hand_and_nothing_else() -> None:
    rotations = np.tile(quat.IDENTITY, (len(FIGURE), 1))
    before, _ = fk.forward(FIGURE, rotations, FIGURE.offsets[0])
    elbow, hand = FIGURE.joint("forearm_L"), FIGURE.joint("hand_L")
    rotations[elbow] = quat.about(X, -np.pi / 2)
    after, _ = fk.forward(FIGURE, rotations, FIGURE.offsets[0])
    moved = {j for j in range(len(FIGURE)) if np.linalg.norm(after[j] - before[j]) > 1e-9}
    below = {j for j in range(len(FIGURE)) if FIGURE.parents[j] in moved} | {hand}
    assert moved == below
    forearm = np.linalg.norm(FIGURE.offsets[hand])
    assert np.allclose(after[hand], before[elbow] + forearm * -Y)


def test_segments_keep_their_lengths() -> None:
    positions, _ = fk.forward(FIGURE, *random_pose(50))
    lengths = np.linalg.norm(positions[:, 1:] - positions[:, FIGURE.parents[1:]], axis=-1)
    assert np.allclose(lengths, np.linalg.norm(FIGURE.offsets[1:], axis=-1))


def test_moving_the_root_moves_everything_alike() -> None:
    rotations, roots = random_pose(5)
    here, turns = fk.forward(FIGURE, rotations, roots)
    there, same = fk.forward(FIGURE, rotations, roots + X)
    assert np.allclose(there, here + X)
    assert np.array_equal(turns, same)


def test_local_rotations_undo_global_rotations() -> None:
    rotations, roots = random_pose(20)
    globals_ = fk.global_rotations(FIGURE, rotations)
    assert np.abs(fk.local_rotations(FIGURE, globals_) - rotations).max() < 1e-13
    assert np.array_equal(globals_, fk.forward(FIGURE, rotations, roots)[1])


def test_batch_axes_lead_and_broadcast() -> None:
    rotations, roots = random_pose(6)
    positions, globals_ = fk.forward(FIGURE, rotations, roots)
    grid, _ = fk.forward(FIGURE, rotations.reshape(2, 3, -1, 4), roots.reshape(2, 3, 3))
    assert np.array_equal(grid, positions.reshape(2, 3, -1, 3))
    one, turns = fk.forward(FIGURE, rotations[4], roots[4])
    assert np.allclose(one, positions[4]) and np.allclose(turns, globals_[4])
    many, _ = fk.forward(FIGURE, rotations[4], roots)
    assert np.allclose(many, one - roots[4] + roots[:, None])


def test_no_frames_give_no_places() -> None:
    positions, globals_ = fk.forward(FIGURE, np.empty((0, len(FIGURE), 4)), np.empty((0, 3)))
    assert positions.shape == (0, len(FIGURE), 3) and globals_.shape == (0, len(FIGURE), 4)


def test_one_joint_is_enough() -> None:
    stone = Skeleton(("hips",), np.array([-1]), np.array([Z]), np.array([Z]), {}, np.zeros((1, 3, 2)))
    rotations, roots = random_pose(4, skeleton=stone)
    positions, globals_ = fk.forward(stone, rotations, roots)
    assert np.array_equal(positions[:, 0], roots) and np.array_equal(globals_, rotations)


def test_inputs_are_left_as_they_were() -> None:
    rotations, roots = random_pose(3)
    copies = rotations.copy(), roots.copy()
    positions, globals_ = fk.forward(FIGURE, rotations, roots)
    fk.local_rotations(FIGURE, globals_)
    assert np.array_equal(rotations, copies[0]) and np.array_equal(roots, copies[1])
    assert not np.shares_memory(globals_, rotations) and not np.shares_memory(positions, roots)


def test_the_wrong_number_of_joints_is_refused() -> None:
    rotations, roots = random_pose(3)
    with pytest.raises(ValueError, match=r"shape|broadcast"):
        fk.forward(FIGURE, rotations[:, :-1], roots)


def test_tips_are_the_far_ends_of_segments() -> None:
    rotations, roots = random_pose(8)
    positions, globals_ = fk.forward(FIGURE, rotations, roots)
    tips = fk.tip_positions(FIGURE, positions, globals_)
    thigh, shin = FIGURE.joint("thigh_L"), FIGURE.joint("shin_L")
    assert np.allclose(tips[:, thigh], positions[:, shin])
    assert np.allclose(np.linalg.norm(tips - positions, axis=-1), np.linalg.norm(FIGURE.tips, axis=-1))
