"""Cubic curves: interpolation, continuity, polynomials reproduced, the numbers of the literature."""

from __future__ import annotations

import numpy as np
import pytest
from troupe.core.errors import InvalidParam
from troupe.core.maths import spline

RNG = np.random.default_rng(11)
KNOTS = np.array([0.0, 0.4, 1.0, 1.1, 2.5, 3.0, 4.2])
VALUES = RNG.normal(size=(7, 3))
X = np.linspace(0.0, 4.2, 211)


def kochanek(knots, values, *tcb):
    return spline.kochanek_bartels(knots, values, *tcb)


SLOPES = {
    "catmull_rom": lambda k, v: (spline.catmull_rom_slopes(k, v),) * 2,
    "natural": lambda k, v: (spline.natural_slopes(k, v),) * 2,
    "monotone": lambda k, v: (spline.monotone_slopes(k, v),) * 2,
    "kochanek_bartels": lambda k, v: spline.kochanek_bartels(k, v, 0.3, -0.5, 0.2),
}


@pytest.mark.parametrize("name", SLOPES)
def test_curves_pass_through_their_values_and_hold_outside(name):
    slopes = SLOPES[name](KNOTS, VALUES)
    assert np.allclose(spline.hermite(KNOTS, KNOTS, VALUES, *slopes), VALUES, atol=1e-15)
    assert np.allclose(spline.hermite([-3.0, 9.0], KNOTS, VALUES, *slopes), VALUES[[0, -1]], atol=1e-15)


@pytest.mark.parametrize("name", SLOPES)
def test_straight_data_with_even_knots_stays_straight_inside(name):
    knots = np.arange(8.0)
    line = 2 * knots - 1
    outgoing, incoming = SLOPES[name](knots, line)
    if name == "kochanek_bartels":
        outgoing, incoming = kochanek(knots, line)
        assert outgoing[0] == incoming[-1] == 0  # eases in and out
    x = np.linspace(1, 6, 51)
    assert np.allclose(spline.hermite(x, knots, line, outgoing, incoming), 2 * x - 1, atol=1e-14)


def test_hermite_reproduces_a_cubic_and_its_derivative():
    y, dy = KNOTS**3 - 2 * KNOTS, 3 * KNOTS**2 - 2
    assert np.allclose(spline.hermite(X, KNOTS, y, dy), X**3 - 2 * X, atol=1e-13)
    assert np.allclose(spline.hermite(X, KNOTS, y, dy, derivative=1), 3 * X**2 - 2, atol=1e-12)


def test_hermite_of_one_key_is_constant():
    assert np.array_equal(spline.hermite(X, KNOTS[:1], VALUES[:1], VALUES[:1]), np.tile(VALUES[0], (211, 1)))


def test_catmull_rom_slopes_reproduce_a_parabola_inside():
    y = KNOTS**2 - KNOTS
    slopes = spline.catmull_rom_slopes(KNOTS, y)
    assert np.allclose(slopes[1:-1], 2 * KNOTS[1:-1] - 1, atol=1e-14)


def test_natural_spline_equals_scipy():
    interpolate = pytest.importorskip("scipy.interpolate")
    for start, end in ((None, None), (VALUES[1], None), (VALUES[1], VALUES[2])):
        ends = tuple((2, np.zeros(3)) if s is None else (1, s) for s in (start, end))
        peer = interpolate.CubicSpline(KNOTS, VALUES, bc_type=ends)
        slopes = spline.natural_slopes(KNOTS, VALUES, start, end)
        assert np.allclose(spline.hermite(X, KNOTS, VALUES, slopes), peer(X), atol=1e-13)


def test_natural_spline_through_two_values_is_a_line():
    slopes = spline.natural_slopes(KNOTS[:2], VALUES[:2])
    assert np.allclose(slopes, (VALUES[1] - VALUES[0]) / 0.4, atol=1e-14)


def test_monotone_curve_stays_within_its_data():
    for _ in range(50):
        values = np.sort(RNG.normal(size=7)) if _ % 2 else RNG.normal(size=7)
        y = spline.hermite(X, KNOTS, values, spline.monotone_slopes(KNOTS, values))
        between = np.searchsorted(KNOTS, X, side="right").clip(1, 6)
        low, high = np.minimum(values[between - 1], values[between]), np.maximum(values[between - 1], values[between])
        assert np.all((y >= low - 1e-12) & (y <= high + 1e-12))


def test_tension_continuity_and_bias_follow_kochanek_and_bartels():
    knots, values = np.array([0.0, 2.0, 3.0]), np.array([1.0, 4.0, 2.0])
    t, c, b = 0.2, -0.3, 0.4
    outgoing, incoming = kochanek(knots, values, t, c, b)
    ds = (1 - t) * (1 - c) * (1 + b) / 2 * 3 + (1 - t) * (1 + c) * (1 - b) / 2 * -2
    dd = (1 - t) * (1 + c) * (1 + b) / 2 * 3 + (1 - t) * (1 - c) * (1 - b) / 2 * -2
    # tangents of a span are per span: divide by its width for the slope in time
    assert np.isclose(incoming[1], ds * 2 * 2 / 3 / 2, atol=1e-15)
    assert np.isclose(outgoing[1], dd * 2 * 1 / 3 / 1, atol=1e-15)


def test_neutral_tension_continuity_and_bias_keep_velocity_across_uneven_keys():
    outgoing, incoming = kochanek(KNOTS, VALUES)
    assert np.array_equal(outgoing, incoming)


def test_tension_of_one_stops_at_each_key_and_may_differ_by_key():
    outgoing, _ = kochanek(KNOTS, VALUES, np.array([0, 1, 0, 1, 0, 0, 0.0]))
    assert np.all(outgoing[[1, 3]] == 0)
    assert np.all(outgoing[[2, 4, 5]] != 0)


@pytest.mark.parametrize("knots", [[0.0], [0.0, 0.0, 1.0], [0.0, 2.0, 1.0], [0.0, 1.0]])
def test_slopes_refuse_knots_that_do_not_increase_or_match(knots):
    with pytest.raises(InvalidParam, match="knots"):
        spline.catmull_rom_slopes(np.array(knots), np.zeros(1 if len(knots) == 1 else 3))


def test_derivatives_above_the_first_are_refused():
    with pytest.raises(InvalidParam, match="derivative"):
        spline.hermite(0.5, KNOTS, VALUES, VALUES, derivative=2)
    with pytest.raises(InvalidParam, match="derivative"):
        spline.bspline(0.5, VALUES, derivative=2)


def test_centripetal_curve_passes_through_its_points_without_a_corner():
    points = np.array([[0.0, 0], [1, 0.2], [1.1, 0.25], [1.2, 2], [3, 2.5], [3, 0]])
    root = np.sqrt(np.linalg.norm(np.diff(points, axis=0), axis=1))
    u = np.concatenate([[0], np.cumsum(root)]) / root.sum()
    assert np.allclose(spline.catmull_rom(points, u), points, atol=1e-14)
    h = 1e-7
    before, after = (spline.catmull_rom(points, u[1:-1] + s * h) for s in (-1, 1))
    assert np.allclose(after - points[1:-1], points[1:-1] - before, atol=1e-11)


def test_centripetal_curve_does_not_run_back_where_the_uniform_one_does():
    points = np.array([[0.0, 0], [4, 0], [4.1, 0.1], [8, 0]])
    u = np.linspace(0, 1, 1001)
    assert np.diff(spline.catmull_rom(points, u)[:, 0]).min() > 0
    assert np.diff(spline.catmull_rom(points, u, alpha=0.0)[:, 0]).min() < 0


def test_closed_curve_ends_where_it_begins_in_the_same_direction():
    points = RNG.normal(size=(5, 3))
    h = 1e-6
    at = spline.catmull_rom(points, [0.0, h, 1 - h, 1.0], closed=True)
    assert np.allclose(at[0], at[3], atol=1e-15)
    assert np.allclose((at[1] - at[0]) / h, (at[3] - at[2]) / h, atol=1e-3)


def test_repeated_points_do_not_break_a_curve():
    points = np.array([[0.0, 0], [0, 0], [1, 0], [1, 0], [2, 1]])
    assert np.array_equal(spline.catmull_rom(points, X / 4.2), spline.catmull_rom(points[[0, 2, 4]], X / 4.2))
    assert np.array_equal(spline.catmull_rom(points[:2], [0.0, 0.5]), np.zeros((2, 2)))


def test_arc_length_of_a_square_and_places_along_it():
    square = np.array([[0.0, 0], [1, 0], [1, 1], [1, 1], [0, 1]])
    assert spline.arc_length(square).tolist() == [0, 1, 2, 2, 3]
    assert spline.at_length(square, [-1.0, 0.5, 1.5, 2.0, 2.5, 9.0]).tolist() == [
        [0, 0], [0.5, 0], [1, 0.5], [1, 1], [0.5, 1], [0, 1],
    ]  # fmt: skip
    assert spline.at_length(square[:1], 3.0).tolist() == [0, 0]


def test_even_resampling_keeps_ends_and_spacing_on_a_circle():
    angle = np.linspace(0, np.pi, 2001) ** 2 / np.pi  # uneven
    arc = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    got = spline.evenly(arc, 0.1)
    step = np.linalg.norm(np.diff(got, axis=0), axis=1)
    assert step.max() <= 0.1
    assert np.ptp(step) < 1e-5
    assert np.array_equal(got[[0, -1]], arc[[0, -1]])
    assert len(spline.evenly(np.array([[0.0, 0], [1, 0]]), 0.25)) == 5


def test_even_resampling_refuses_no_spacing():
    with pytest.raises(InvalidParam, match="spacing"):
        spline.evenly(VALUES, 0.0)


@pytest.mark.req("verbs", 7)
def test_bspline_has_the_values_of_the_spec():
    control = np.array([0.0, 1, 4, 2, -1, 0, 3])
    t = np.array([0, 0.1, 0.25, 0.3, 0.5, 0.9, 1.0])
    expected = [4 / 3, 3.328 / 1.5, 19 / 6, 3.172, 11 / 6, -0.428 / 1.5, 1 / 3]
    assert np.allclose(spline.bspline(t, control), expected, atol=1e-9)
    assert np.allclose(spline.bspline_matrix(np.array([0.25 * 0.25]), 7)[0, :4],
                       [0.0703125, 0.6119791667, 0.3151041667, 0.0026041667], atol=1e-10)  # fmt: skip


@pytest.mark.parametrize(("count", "error"), [(8, 6.10e-4), (12, 1.11e-4), (16, 3.43e-5)])
def test_closed_bspline_fits_a_sine_as_well_as_the_spec_says(count, error):
    t = np.arange(240) / 240
    wave = np.sin(2 * np.pi * t)
    control = np.linalg.lstsq(spline.bspline_matrix(t, count, closed=True), wave, rcond=None)[0]
    got = np.abs(spline.bspline(t, control, closed=True) - wave).max()
    assert np.isclose(got, error, rtol=0.01)


@pytest.mark.parametrize("closed", [False, True])
def test_bspline_matrix_partitions_unity_and_its_derivative_is_the_slope(closed):
    t = np.linspace(0, 0.999, 97)
    assert np.allclose(spline.bspline_matrix(t, 9, closed).sum(axis=1), 1, atol=1e-15)
    control = RNG.normal(size=(9, 2))
    h = 1e-6
    rise = (spline.bspline(t + h, control, closed) - spline.bspline(t - h, control, closed)) / (2 * h)
    inside = slice(1, -1)
    slope = spline.bspline(t, control, closed, derivative=1)
    assert np.allclose(slope[inside], rise[inside], atol=1e-4)


def test_a_closed_bspline_of_few_coefficients_counts_each_as_often_as_it_acts():
    assert np.allclose(spline.bspline(np.linspace(0, 1, 5), np.array([2.0]), closed=True), 2, atol=1e-15)
    assert np.allclose(spline.bspline_matrix(np.array([0.3]), 1, closed=True), 1, atol=1e-15)


def test_an_open_bspline_needs_four_coefficients():
    with pytest.raises(InvalidParam, match="4 coefficients"):
        spline.bspline(0.5, VALUES[:3])


def test_bezier_equals_its_polynomial_and_broadcasts():
    control = RNG.normal(size=(5, 4, 2))
    u = RNG.uniform(size=5)
    weights = np.stack([(1 - u) ** 3, 3 * u * (1 - u) ** 2, 3 * u * u * (1 - u), u**3], axis=-1)
    assert np.allclose(spline.bezier(control, u), np.einsum("nq,nqd->nd", weights, control), atol=1e-15)
    assert spline.bezier(control[0], np.linspace(0, 1, 9)).shape == (9, 2)


def segment(u, p):
    """Point of the segment x0, y0, hx0, hy0, hx1, hy1, x1, y1 at parameter u."""
    return spline.bezier(np.array(p).reshape(4, 2), u)


@pytest.mark.parametrize("right", [0.0, 0.1, 1 / 3, 0.8, 1.0])
@pytest.mark.parametrize("left", [0.0, 0.2, 1 / 3, 0.9, 1.0])
def test_f_curve_value_lies_on_the_bezier_segment(right, left):
    p = (2.0, 1.0, 2.0 + 5 * right, 4.0, 7.0 - 5 * left, -3.0, 7.0, 2.0)
    u = np.linspace(0, 1, 101)
    if right == left == 1.0:
        u = u[np.abs(u - 0.5) > 0.01]  # stands vertical there: no value
    x, y = segment(u, p).T
    assert np.abs(spline.bezier_value(x, *p) - y).max() < 1e-6


def test_f_curve_handles_longer_than_the_segment_are_cut_each_on_its_own():
    long = (0.0, 0.0, 15.0, 3.0, 8.0, 1.0, 10.0, 1.0)
    cut = (0.0, 0.0, 10.0, 2.0, 8.0, 1.0, 10.0, 1.0)
    x = np.linspace(0, 10, 51)
    assert np.array_equal(spline.bezier_value(x, *long), spline.bezier_value(x, *cut))


def test_f_curve_with_automatic_handles_is_a_cubic_in_time():
    u = np.linspace(0, 1, 31)
    got = spline.bezier_value(3 * u, 0.0, 0.0, 1.0, 0.0, 2.0, 1.0, 3.0, 1.0)
    assert np.allclose(got, u * u * (3 - 2 * u), atol=1e-15)


def test_f_curve_is_held_outside_and_flat_segments_stay_flat():
    p = (0.0, 1.0, 1.0, 1.0, 2.0, 5.0, 3.0, 5.0)
    assert spline.bezier_value([-1.0, 4.0], *p).tolist() == [1, 5]
    assert np.all(spline.bezier_value(X, 0.0, 2.0, 4.0, 2.0, 0.5, 2.0, 4.2, 2.0) == 2)


def test_f_curve_segments_broadcast():
    keys = RNG.normal(size=(8, 6, 1))
    keys[0], keys[2], keys[4], keys[6] = 0, 1, 2, 3
    assert spline.bezier_value(np.linspace(0, 3, 10), *keys).shape == (6, 10)


def test_a_segment_has_the_values_and_slopes_of_its_ends():
    ends = np.array([0.0, 1.0])
    np.testing.assert_allclose(spline.segment(ends, 2.0, 3.0, -1.0, 4.0), [2.0, -1.0])
    near = np.array([0.0, 1e-6, 1.0 - 1e-6, 1.0])
    values = spline.segment(near, 2.0, 3.0, -1.0, 4.0)
    np.testing.assert_allclose(np.diff(values)[::2] / 1e-6, [3.0, 4.0], atol=1e-4)
