"""Ramps, envelopes, angles, springs and smoothing."""

from __future__ import annotations

import numpy as np
import pytest
from troupe.core.errors import InvalidParam
from troupe.core.maths import ramp

T = np.linspace(-0.5, 1.5, 401)
SMOOTH = ("linear", "smoothstep", "smootherstep", "raised_cosine")


def test_lerp_is_exact_at_both_ends_and_unlerp_is_its_inverse():
    a, b = 0.1, 1e9 + 0.3
    assert ramp.lerp(a, b, 0.0) == a
    assert ramp.lerp(a, b, 1.0) == b
    assert np.allclose(ramp.unlerp(ramp.lerp(2.0, -3.0, T), 2.0, -3.0), T, atol=1e-15)


def test_unlerp_over_no_width_is_a_step():
    assert ramp.unlerp([0.9, 1.0, 1.1], 1.0, 1.0).tolist() == [0, 1, 1]


def test_remap_holds_outside_and_may_turn_round():
    assert ramp.remap([-1.0, 0.0, 5.0, 10.0, 11.0], 0.0, 10.0, 4.0, 2.0).tolist() == [4, 4, 3, 2, 2]


@pytest.mark.parametrize("name", SMOOTH)
def test_eases_rise_from_0_to_1_symmetrically_and_hold_outside(name):
    y = ramp.EASES[name](T)
    assert np.all(y[T <= 0] == 0)
    assert np.all(y[T >= 1] == 1)
    assert np.all(np.diff(y) >= 0)
    assert np.allclose(y + ramp.EASES[name](1 - T), 1, atol=1e-15)


@pytest.mark.parametrize(("name", "quarter"), [("smoothstep", 0.15625), ("smootherstep", 0.103515625)])
def test_eases_have_their_textbook_values(name, quarter):
    assert ramp.EASES[name](0.25) == quarter


def test_smootherstep_starts_without_acceleration():
    h = 1e-4
    y = ramp.smootherstep(np.array([0, h, 2 * h]))
    assert abs(y[2] - 2 * y[1] + y[0]) / h**2 < 0.01
    y = ramp.smoothstep(np.array([0, h, 2 * h]))
    assert abs(y[2] - 2 * y[1] + y[0]) / h**2 > 5


def test_hold_jumps_at_the_end():
    assert ramp.hold([0.0, 0.999, 1.0, 2.0]).tolist() == [0, 0, 1, 1]


def test_envelope_reaches_one_sags_to_its_level_and_ends_at_zero():
    y = ramp.envelope([-0.1, 0, 1, 2, 5, 8, 9, 10, 11], 10.0, 1.0, 2.0, decay=1.0, level=0.6)
    assert np.allclose(y, [0, 0, 1, 0.6, 0.6, 0.6, 0.3, 0, 0], atol=1e-15)


@pytest.mark.req("miranim", 10)
def test_fades_and_envelopes_have_the_values_of_the_spec():
    t = [0.1, 0.25, 2.25, 2.5]
    assert np.allclose(ramp.window(t, 0.0, 3.0, 0.5, 1.0, ramp.linear), [0.2, 0.5, 0.75, 0.5], atol=1e-12)
    assert np.allclose(ramp.window(t, 0.0, 3.0, 0.5, 1.0), [0.104, 0.5, 0.84375, 0.5], atol=1e-12)
    stages = {"length": 2.0, "attack": 0.2, "decay": 0.3, "level": 0.6, "release": 0.5}
    linear = ramp.envelope([0.1, 0.2, 0.35, 0.5, 1.75], **stages, ease=ramp.linear)
    assert np.allclose(linear, [0.5, 1, 0.8, 0.6, 0.3], atol=1e-12)
    assert np.allclose(ramp.envelope([0.275, 1.625], **stages), [0.9375, 0.50625], atol=1e-12)


def test_envelope_stages_that_do_not_fit_shrink_in_proportion():
    y = ramp.envelope([0.0, 0.5, 1.0, 1.5, 2.0], 2.0, 3.0, 3.0, ease=ramp.linear)
    assert np.allclose(y, [0, 0.5, 1, 0.5, 0], atol=1e-15)


def test_envelope_without_attack_is_a_step():
    assert ramp.envelope([-1e-9, 0.0, 0.5, 1.0], 1.0, 0.0, 0.0).tolist() == [0, 1, 1, 0]


def test_envelope_is_continuous():
    t = np.linspace(-0.5, 2.5, 30001)
    y = ramp.envelope(t, 2.0, 0.3, 0.4, decay=0.2, level=0.8)
    assert np.abs(np.diff(y)).max() < 1e-3


@pytest.mark.parametrize("bad", [(1.0, -0.1, 0.0), (1.0, 0.0, -0.1), (-1.0, 0.0, 0.0)])
def test_envelope_refuses_negative_times(bad):
    with pytest.raises(InvalidParam, match="negative"):
        ramp.envelope(0.0, *bad)


def test_window_counts_both_of_its_ends():
    t = np.array([0.9, 1.0, 2.0, 3.0, 3.1])
    assert ramp.window(t, 1.0, 3.0, 0.0, 0.0).tolist() == [0, 1, 1, 1, 0]
    assert np.allclose(ramp.window(t, 1.0, 3.0, 0.5, 0.5), [0, 0, 1, 0, 0])
    assert np.allclose(ramp.window([2.0, 1.5], 1.0, 3.0, 8.0, 8.0, ease=ramp.linear), [1, 0.5])


def test_window_refuses_a_start_after_its_end():
    with pytest.raises(InvalidParam, match="start"):
        ramp.window(0.0, 2.0, 1.0, 0.1, 0.1)


def test_stages_name_development_rhythm_and_decay():
    index, progress = ramp.stages([-1.0, 0.0, 0.5, 1.0, 3.0, 5.0, 5.5, 6.0, 9.0], (1.0, 4.0, 1.0))
    assert index.tolist() == [0, 0, 0, 1, 1, 2, 2, 2, 2]
    assert np.allclose(progress, [0, 0, 0.5, 0, 0.5, 0, 0.5, 1, 1])


def test_stages_of_no_length_are_skipped():
    index, progress = ramp.stages([0.0, 1.0, 3.0], (0.0, 2.0, 0.0))
    assert index.tolist() == [1, 1, 2]
    assert progress.tolist() == [0, 0.5, 1]


@pytest.mark.parametrize("bad", [(), (1.0, -1.0)])
def test_stages_refuse_missing_or_negative_durations(bad):
    with pytest.raises(InvalidParam, match="durations"):
        ramp.stages(0.0, bad)


def test_wrap_stays_within_half_a_turn_and_differs_by_whole_turns():
    angle = np.linspace(-50, 50, 1001)
    wrapped = ramp.wrap(angle)
    assert np.abs(wrapped).max() <= np.pi + 1e-12
    turns = (angle - wrapped) / (2 * np.pi)
    assert np.abs(turns - np.round(turns)).max() < 1e-12


def test_unwrap_undoes_wrap_on_any_number_of_channels():
    angle = np.stack([np.linspace(0, 40, 200), np.linspace(1, -30, 200)], axis=1)
    assert np.allclose(ramp.unwrap(ramp.wrap(angle)), angle, atol=1e-13)
    assert np.array_equal(ramp.unwrap(angle), angle)


def test_spring_is_half_way_after_its_half_life_and_never_overshoots():
    rest, goal = np.array(0.0), np.array(1.0)
    assert abs(ramp.spring(rest, rest, goal, 0.15, 0.15)[0] - 0.5) < 1e-14
    many = np.array([ramp.spring(rest, rest, goal, 0.15, dt)[0] for dt in np.arange(0, 3, 0.01)])
    assert np.all(np.diff(many) > 0)
    assert many.max() <= 1


def test_spring_in_many_steps_equals_one_step():
    state = (np.array([0.2, -1.0]), np.array([3.0, 0.5]))
    goal = np.array([1.0, 2.0])
    once = ramp.spring(*state, goal, 0.2, 0.7)
    for _ in range(70):
        state = ramp.spring(*state, goal, 0.2, 0.01)
    assert np.allclose(once, state, atol=1e-13)


def test_spring_solves_its_differential_equation():
    w = 1.6783469900166605 / 0.3
    x, v, h = 0.4, -2.0, 1e-4
    at = [ramp.spring(np.array(x), np.array(v), np.array(1.0), 0.3, 0.1 + k * h) for k in (-1, 0, 1)]
    acceleration = (at[2][1] - at[0][1]) / (2 * h)
    assert abs(acceleration - (w * w * (1.0 - at[1][0]) - 2 * w * at[1][1])) < 1e-4
    assert abs((at[2][0] - at[0][0]) / (2 * h) - at[1][1]) < 1e-5


def test_spring_without_half_life_is_at_its_goal():
    x, v = ramp.spring(np.zeros(2), np.ones(2), np.array([3.0, 4.0]), 0.0, 0.01)
    assert x.tolist() == [3, 4]
    assert v.tolist() == [0, 0]


def test_follow_starts_at_rest_on_the_first_goal_and_arrives():
    goals = np.concatenate([np.zeros(10), np.ones(90)])
    track = ramp.follow(goals, 30.0, 0.1)
    assert np.all(track[:10] == 0)
    assert abs(track[10 + 3 - 1] - 0.5) < 1e-12  # three steps of 1/30 s: one half-life
    assert abs(track[-1] - 1) < 1e-9


@pytest.mark.parametrize("cutoff", [0.05, 0.5, 2.0, 10.0, 14.9])
def test_smoothing_keeps_lines_and_end_points(cutoff):
    t = np.arange(120) / 30
    values = np.stack([3 * t - 1, np.full_like(t, 5.0), np.sin(7 * t)], axis=1)
    got = ramp.smooth(values, 30.0, cutoff)
    assert np.abs(got[:, :2] - values[:, :2]).max() < 1e-13
    assert np.abs(got[[0, -1]] - values[[0, -1]]).max() < 1e-13


def test_smoothing_has_3_db_at_the_cutoff_and_no_delay():
    t = np.arange(400) / 100
    wave = np.sin(2 * np.pi * 3 * t)
    assert np.allclose(ramp.smooth(wave, 100.0, 3.0, closed=True), wave / np.sqrt(2), atol=1e-13)


def test_smoothing_removes_what_lies_far_above_the_cutoff_and_keeps_what_lies_below():
    t = np.arange(401) / 100
    slow, fast = np.sin(2 * np.pi * 0.25 * t), 0.3 * np.sin(2 * np.pi * 20 * t)
    assert np.abs(ramp.smooth(slow + fast, 100.0, 4.0) - slow).max() < 3e-3


def test_a_smoothed_step_neither_rings_nor_overshoots():
    step = np.where(np.arange(200) < 100, 0.0, 1.0)
    for cutoff in (0.3, 3.0, 12.0):
        got = ramp.smooth(step, 30.0, cutoff)
        assert got.min() > -1e-12
        assert got.max() < 1 + 1e-12
        assert np.diff(got).min() > -1e-12


def test_smoothing_short_tracks_and_high_cutoffs_changes_nothing():
    assert ramp.smooth(np.array([[2.0, 3.0]]), 30.0, 1.0).tolist() == [[2, 3]]
    assert np.allclose(ramp.smooth(np.array([1.0, 4.0]), 30.0, 0.1), [1, 4], atol=1e-15)
    noise = np.random.default_rng(0).normal(size=50)
    assert np.array_equal(ramp.smooth(noise, 30.0, 15.0), noise)


@pytest.mark.parametrize("cutoff", [0.0, -1.0, float("nan")])
def test_smoothing_refuses_a_cutoff_that_is_not_positive(cutoff):
    with pytest.raises(InvalidParam, match="cutoff_hz"):
        ramp.smooth(np.zeros(3), 30.0, cutoff)
