"""Quaternions: group laws, exponential map, decompositions, interpolation."""

from __future__ import annotations

import numpy as np
import pytest
from troupe.core.maths import quat

RNG = np.random.default_rng(7)
Q = quat.unit(RNG.normal(size=(500, 4)))
P = quat.unit(RNG.normal(size=(500, 4)))
V = RNG.normal(size=(500, 3))
UP = np.array([0.0, 0.0, 1.0])


def same_rotation(a, b, tolerance=1e-12):
    return np.abs(np.abs(quat.dot(a, b)) - 1).max() < tolerance


def test_cross_equals_numpy_and_broadcasts():
    assert np.allclose(quat.cross(V, UP), np.cross(V, UP), atol=1e-15)
    assert quat.cross(V[:, None], V[None, :7]).shape == (500, 7, 3)


def test_unit_leaves_zero_vectors_zero():
    assert np.array_equal(quat.unit(np.zeros((2, 3))), np.zeros((2, 3)))


def test_few_rotations_come_out_bit_for_bit_as_among_many():
    turned, product = quat.rotate(Q, V), quat.multiply(Q, P)
    for k in range(0, 500, 7):
        part = slice(k, k + 1 + k % 60)
        assert quat.rotate(Q[part], V[part]).tobytes() == turned[part].tobytes()
        assert quat.multiply(Q[part], P[part]).tobytes() == product[part].tobytes()


def test_multiplying_by_the_inverse_gives_identity():
    assert np.allclose(quat.multiply(Q, quat.conjugate(Q)), quat.IDENTITY, atol=1e-15)


def test_product_rotates_by_the_right_factor_first():
    assert np.allclose(quat.rotate(quat.multiply(P, Q), V), quat.rotate(P, quat.rotate(Q, V)), atol=1e-13)


def test_rotation_keeps_lengths_and_agrees_with_the_matrix():
    turned = quat.rotate(Q, V)
    assert np.allclose(np.linalg.norm(turned, axis=1), np.linalg.norm(V, axis=1), rtol=1e-13)
    assert np.allclose(turned, np.einsum("nij,nj->ni", quat.to_matrix(Q), V), atol=1e-13)


def test_quarter_turn_about_z_takes_x_to_y():
    assert np.allclose(quat.rotate(quat.about(UP, np.pi / 2), np.array([1.0, 0, 0])), [0, 1, 0], atol=1e-15)


@pytest.mark.parametrize("length", [0.0, 1e-200, 1e-12, 1e-8, 1e-4, 1.0, np.pi - 1e-3, np.pi - 1e-9, np.pi])
def test_exp_and_log_are_inverse_up_to_a_half_turn(length):
    v = quat.unit(V) * length
    q = quat.exp(v)
    assert np.abs(quat.dot(q, q) - 1).max() < 1e-15
    back = quat.log(q)
    if length == np.pi:  # a half turn has two logarithms
        back = back * np.copysign(1.0, quat.dot(back, v))[:, None]
    assert np.abs(back - v).max() <= 1e-14 * max(length, 1e-14)


def test_log_takes_the_short_way_round():
    assert np.linalg.norm(quat.log(Q), axis=1).max() <= np.pi + 1e-15
    assert np.allclose(quat.log(-Q), quat.log(Q), atol=1e-12)


def test_log_of_nearly_identity_keeps_its_digits():
    v = np.array([3e-13, -2e-13, 1e-13])
    assert np.allclose(quat.log(quat.exp(v)), v, rtol=1e-12, atol=0)


def test_angle_and_distance_do_not_depend_on_sign():
    turn = np.linspace(0, np.pi, 50)
    q = quat.about(UP, turn)
    assert np.allclose(quat.angle(q), turn, atol=1e-15)
    assert np.allclose(quat.angle(-q), turn, atol=1e-15)
    assert np.allclose(quat.distance(P, quat.multiply(P, q[:1])), turn[0], atol=1e-7)
    assert np.allclose(quat.distance(P[:50], -quat.multiply(P[:50], q)), turn, atol=1e-13)


def test_between_takes_one_direction_to_the_other_the_short_way():
    a, b = RNG.normal(size=(300, 3)), RNG.normal(size=(300, 3))
    q = quat.between(a, b)
    assert np.allclose(quat.rotate(q, quat.unit(a)), quat.unit(b), atol=1e-14)
    assert np.allclose(quat.angle(q), np.arccos(quat.dot(quat.unit(a), quat.unit(b))), atol=1e-7)
    assert np.abs(quat.dot(q[:, 1:], a)).max() < 1e-13  # the axis lies across both


@pytest.mark.parametrize("gap", [0.0, 1e-12, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-3])
def test_between_nearly_opposite_directions_is_exact_to_1e_7(gap):
    a = quat.unit(V)
    b = -quat.rotate(quat.about(quat.unit(quat.cross(a, UP)), gap), a)
    q = quat.between(a, b)
    assert np.abs(quat.dot(q, q) - 1).max() < 1e-14
    assert np.abs(quat.rotate(q, a) - b).max() < 1e-7


def test_between_with_a_zero_vector_is_identity():
    zero = np.zeros(3)
    for a, b in ((zero, UP), (UP, zero), (zero, zero), (UP, UP)):
        assert np.array_equal(quat.between(a, b), quat.IDENTITY)


def test_swing_times_twist_is_the_rotation_and_the_swing_axis_lies_across():
    axis = quat.unit(RNG.normal(size=3))
    twist = quat.twist(Q, axis)
    swing = quat.multiply(Q, quat.conjugate(twist))
    assert np.allclose(quat.multiply(swing, twist), Q, atol=1e-14)
    assert np.abs(quat.cross(twist[:, 1:], axis)).max() < 1e-15
    assert np.abs(quat.dot(swing[:, 1:], axis)).max() < 1e-14


def test_twist_of_a_half_turn_across_the_axis_is_identity():
    assert np.array_equal(quat.twist(np.array([0.0, 1.0, 0.0, 0.0]), UP), quat.IDENTITY)


def test_twist_of_a_turn_about_the_axis_is_all_of_it():
    q = quat.about(UP, np.linspace(-3, 3, 31))
    assert same_rotation(quat.twist(q, UP), q)


def test_continuous_only_flips_signs_and_never_leaves_the_hemisphere():
    track = quat.exp(np.linspace(0, 40, 400)[:, None, None] * quat.unit(V[:5]))
    broken = track * RNG.choice([-1.0, 1.0], size=(400, 5, 1))
    joined = quat.continuous(broken)
    assert np.array_equal(np.abs(joined), np.abs(broken))
    assert np.array_equal(joined[0], broken[0])
    assert quat.dot(joined[1:], joined[:-1]).min() > 0
    assert np.array_equal(quat.continuous(joined), joined)


def test_slerp_ends_are_its_arguments():
    assert np.allclose(quat.slerp(Q, P, 0.0), Q, atol=1e-15)
    end = quat.slerp(Q, P, 1.0)
    assert np.allclose(end, P * np.copysign(1.0, quat.dot(Q, P))[:, None], atol=1e-15)


def test_slerp_turns_at_constant_speed_the_short_way():
    t = np.linspace(0, 1, 11)[:, None]
    track = quat.slerp(Q, P, t)
    assert track.shape == (11, 500, 4)
    assert np.abs(quat.dot(track, track) - 1).max() < 1e-14
    assert np.allclose(quat.distance(track[1:], track[:-1]), quat.distance(Q, P) / 10, atol=1e-13)


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-9, 1e-7, 1e-6, 2e-6, 1e-5, 1e-3, np.pi - 1e-6])
def test_slerp_of_close_or_opposite_rotations_is_exact(angle):
    step = quat.about(quat.unit(V), angle)
    got = quat.slerp(Q, quat.multiply(Q, step), 0.3)
    assert np.abs(quat.dot(got, got) - 1).max() < 1e-13
    assert np.allclose(got, quat.multiply(Q, quat.about(quat.unit(V), 0.3 * angle)), atol=1e-14)


def test_slerp_of_single_quaternions_and_any_broadcast():
    assert quat.slerp(Q[0], P[0], 0.5).shape == (4,)
    assert quat.slerp(Q[:6].reshape(2, 3, 4), P[0], np.array([[0.1], [0.2]])).shape == (2, 3, 4)
    assert quat.slerp(Q[0], P[0], np.linspace(0, 1, 5)).shape == (5, 4)


def test_mean_of_one_rotation_is_it_and_of_two_their_middle():
    assert np.allclose(quat.mean(Q[:, None]), Q, atol=1e-15)
    pair = np.stack([Q, P], axis=1)
    assert same_rotation(quat.mean(pair), quat.slerp(Q, P, 0.5))
    assert same_rotation(quat.mean(pair, np.array([1.0, 0.0])), Q)


def test_mean_ignores_signs_after_the_first_and_the_scale_of_weights():
    cloud = quat.multiply(Q[:, None], quat.exp(0.3 * RNG.normal(size=(500, 9, 3))))
    weights = RNG.uniform(0.1, 1, size=9)
    signs = RNG.choice([-1.0, 1.0], size=(500, 9, 1))
    signs[:, 0] = 1
    assert np.allclose(quat.mean(cloud * signs, 5 * weights), quat.mean(cloud, weights), atol=1e-14)


def test_matrix_round_trip_including_half_turns():
    exact = np.concatenate([Q, quat.about(quat.unit(V), np.pi), np.eye(4), -np.eye(4)])
    back = quat.from_matrix(quat.to_matrix(exact))
    assert same_rotation(back, exact, 1e-15)
    assert np.abs(np.minimum(np.abs(back - exact).max(1), np.abs(back + exact).max(1))).max() < 4e-15
    assert quat.from_matrix(np.eye(3)).tolist() == [1, 0, 0, 0]
    assert quat.from_matrix(np.diag([-1.0, -1.0, 1.0])).tolist() == [0, 0, 0, 1]
    assert quat.from_matrix(quat.to_matrix(Q[:6].reshape(2, 3, 4))).shape == (2, 3, 4)


def test_matrices_are_rotations():
    m = quat.to_matrix(Q)
    assert np.allclose(m @ m.transpose(0, 2, 1), np.eye(3), atol=1e-14)
    assert np.allclose(np.linalg.det(m), 1, atol=1e-14)


def test_heading_is_the_turn_about_z_whatever_the_tilt():
    h = np.linspace(-3, 3, 61)
    tilt = quat.exp(np.stack([0.3 * np.sin(h), 0.4 * np.cos(h), 0 * h], axis=-1))
    assert np.allclose(quat.heading(quat.multiply(tilt, quat.about(UP, h))), h, atol=1e-14)
