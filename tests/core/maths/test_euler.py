"""Euler angles: Blender's convention, both solutions, continuity through wraps and gimbal lock; axis-angles."""

from __future__ import annotations

import numpy as np
import pytest
from troupe.core.errors import InvalidParam
from troupe.core.maths import euler, quat

RNG = np.random.default_rng(3)
ANGLES = RNG.uniform(-3.1, 3.1, size=(200, 3))
AXES = np.eye(3)


def turn(axis: str, angle: float) -> np.ndarray:
    return quat.to_matrix(quat.about(AXES["XYZ".index(axis)], angle))


def wandering(samples: int, joints: int, step: float) -> np.ndarray:
    """(T, J, 3, 3) random walk over all orientations."""
    q = quat.unit(RNG.normal(size=(joints, 4)))
    track = [q]
    for v in RNG.normal(size=(samples - 1, joints, 3)) * step:
        track.append(quat.unit(quat.multiply(quat.exp(v), track[-1])))
    return quat.to_matrix(np.stack(track))


def nearest_by_loop(m: np.ndarray, order: str) -> np.ndarray:
    both = euler.from_matrix(m, order)
    out = both[0].copy()
    for f in range(1, len(out)):
        moved = [e[f] + 2 * np.pi * np.round((out[f - 1] - e[f]) / (2 * np.pi)) for e in both]
        cost = [np.abs(e - out[f - 1]).sum(axis=-1, keepdims=True) for e in moved]
        out[f] = np.where(cost[0] <= cost[1], *moved)
    return out


@pytest.mark.parametrize("order", euler.ORDERS)
def test_the_first_letter_turns_first(order):
    x, y, z = 0.3, -0.7, 1.1
    by = dict(zip("XYZ", (x, y, z), strict=True))
    expected = turn(order[2], by[order[2]]) @ turn(order[1], by[order[1]]) @ turn(order[0], by[order[0]])
    assert np.allclose(euler.to_matrix(np.array([x, y, z]), order), expected, atol=1e-15)
    assert np.allclose(quat.to_matrix(euler.to_quat(np.array([x, y, z]), order)), expected, atol=1e-15)


@pytest.mark.parametrize("order", euler.ORDERS)
def test_both_solutions_give_the_rotation_back(order):
    m = euler.to_matrix(ANGLES, order)
    first, second = euler.from_matrix(m, order)
    middle = "XYZ".index(order[1])
    assert np.abs(first[:, middle]).max() <= np.pi / 2
    assert np.abs(first - second).max(axis=1).min() > 1e-3
    for solution in (first, second):
        assert np.abs(euler.to_matrix(solution, order) - m).max() < 3e-15


@pytest.mark.parametrize("order", euler.ORDERS)
@pytest.mark.parametrize("middle", [np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-7, -np.pi / 2 + 1e-9])
def test_gimbal_lock_has_third_angle_zero_and_keeps_the_rotation(order, middle):
    angles = ANGLES.copy()
    angles[:, "XYZ".index(order[1])] = middle
    m = euler.to_matrix(angles, order)
    for solution in euler.from_matrix(m, order):
        assert np.abs(euler.to_matrix(solution, order) - m).max() < 4e-6
    assert np.all(euler.from_matrix(m, order)[0][:, "XYZ".index(order[2])] == 0)


@pytest.mark.parametrize("order", euler.ORDERS)
def test_just_outside_gimbal_lock_nothing_is_lost(order):
    angles = ANGLES.copy()
    angles[:, "XYZ".index(order[1])] = np.pi / 2 - 2e-6
    m = euler.to_matrix(angles, order)
    assert np.abs(euler.to_matrix(euler.from_matrix(m, order)[0], order) - m).max() < 3e-15


@pytest.mark.parametrize("order", euler.ORDERS)
def test_continuous_equals_the_sample_by_sample_choice(order):
    m = wandering(400, 12, 0.15)
    got = euler.continuous(m, order)
    assert np.abs(got - nearest_by_loop(m, order)).max() < 1e-10
    assert np.abs(euler.to_matrix(got, order) - m).max() < 1e-13


@pytest.mark.parametrize("order", euler.ORDERS)
def test_angles_grow_past_many_turns_without_a_jump(order):
    for axis in range(3):
        angles = np.zeros((500, 3))
        angles[:, axis] = np.linspace(0, 30, 500)
        if axis == "XYZ".index(order[1]):
            angles[:, axis] += 0.001  # keeps the samples off exact lock
        assert np.abs(euler.continuous(euler.to_matrix(angles, order), order) - angles).max() < 1e-6


@pytest.mark.parametrize("order", euler.ORDERS)
def test_passing_exactly_through_gimbal_lock_does_not_flip(order):
    i, j, k = ("XYZ".index(letter) for letter in order)
    angles = np.zeros((181, 3))
    angles[:, i], angles[:, k] = 0.4, -1.2
    angles[:, j] = np.radians(np.arange(181))
    got = euler.continuous(euler.to_matrix(angles, order), order)
    assert np.abs(got - angles).max() < 1e-9


def test_resting_in_gimbal_lock_keeps_the_third_angle_and_turns_the_first():
    angles = np.zeros((60, 3))
    angles[:20, 1] = np.linspace(1.0, np.pi / 2, 20)
    angles[20:, 1] = np.pi / 2
    angles[:, 2] = 0.5
    angles[20:, 0] = np.linspace(0, 2, 40)
    noisy = euler.to_matrix(angles) + RNG.normal(size=(60, 3, 3)) * 1e-9
    got = euler.continuous(noisy)
    assert np.abs(got - angles).max() < 1e-5
    assert np.ptp(got[20:, 2]) == 0


def test_a_clip_that_begins_in_gimbal_lock_takes_the_third_angle_that_follows():
    angles = np.zeros((30, 3))
    angles[:, 0], angles[:, 2] = 0.2, 0.9
    angles[:, 1] = np.pi / 2 - np.maximum(0, np.arange(30) - 9) * 0.01
    assert np.abs(euler.continuous(euler.to_matrix(angles)) - angles).max() < 1e-9


def test_a_clip_wholly_in_gimbal_lock_is_kept():
    angles = np.zeros((5, 3))
    angles[:, 1], angles[:, 0] = np.pi / 2, np.linspace(0, 1, 5)
    got = euler.continuous(euler.to_matrix(angles))
    assert np.abs(euler.to_matrix(got) - euler.to_matrix(angles)).max() < 4e-6
    assert np.all(got[:, 2] == 0)


@pytest.mark.parametrize("order", euler.ORDERS)
def test_start_chooses_the_solution_and_the_number_of_turns(order):
    m = wandering(50, 4, 0.1)
    plain = euler.continuous(m, order)
    j = "XYZ".index(order[1])
    other = plain[0] + np.pi
    other[:, j] = np.pi - plain[0][:, j]
    got = euler.continuous(m, order, start=other + 4 * np.pi)
    assert np.abs(got[0] - other - 4 * np.pi).max() < 1e-12
    assert np.abs(euler.to_matrix(got, order) - m).max() < 1e-13
    assert np.abs(euler.continuous(m, order, start=plain[0]) - plain).max() < 1e-12


def test_start_in_gimbal_lock_keeps_its_third_angle():
    start = np.array([0.1, np.pi / 2, 0.7])
    got = euler.continuous(np.repeat(euler.to_matrix(start)[None], 3, axis=0), start=start)
    assert np.abs(got - start).max() < 1e-9


def test_an_unknown_order_is_refused_by_name():
    with pytest.raises(InvalidParam, match=r"XYX.*XYZ, XZY"):
        euler.to_matrix(np.zeros(3), "XYX")


def test_axis_angle_round_trip_is_continuous_through_zero_and_past_a_turn():
    axis = quat.unit(np.array([1.0, 2.0, -1.0]))
    angle = np.linspace(-2, 15, 300)
    q = quat.about(axis, angle)
    got = euler.to_axis_angle(q)
    assert np.abs(np.diff(got, axis=0)).max() < 0.06
    assert np.abs(np.abs(quat.dot(euler.from_axis_angle(got), q)) - 1).max() < 1e-14


def test_axis_rests_where_there_is_no_rotation():
    q = quat.about(AXES[2], np.array([0.0, 0.0, 0.5, 0.0, 0.0]))
    assert np.allclose(euler.to_axis_angle(q), [[a, 0, 0, 1] for a in (0, 0, 0.5, 0, 0)], atol=1e-15)
    still = euler.to_axis_angle(np.tile(quat.IDENTITY, (3, 2, 1)))
    assert np.array_equal(still, np.tile([0.0, 0.0, 1.0, 0.0], (3, 2, 1)))


def test_a_zero_axis_is_no_rotation_and_an_axis_of_any_length_counts_as_unit():
    assert np.array_equal(euler.from_axis_angle(np.array([2.0, 0, 0, 0])), quat.IDENTITY)
    assert np.allclose(euler.from_axis_angle(np.array([2.0, 0, 0, 5])), quat.about(AXES[2], 2.0), atol=1e-15)
