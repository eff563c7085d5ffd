"""Reduced keys tell the same curve within the tolerance."""

import numpy as np
import pytest
from troupe.core.maths.reduce import eased, fitted_slopes, kept_keys, split
from troupe.core.maths.spline import catmull_rom_slopes

WAVES = np.column_stack([np.sin(np.arange(300) / 13), np.cos(np.arange(300) / 29), np.arange(300) / 100])


@pytest.mark.parametrize("tolerance", [0.3, 0.01, 1e-4])
def test_the_error_stays_within_the_tolerance(tolerance):
    at = kept_keys(WAVES, tolerance)
    again = np.column_stack([np.interp(np.arange(300), at, WAVES[at, c]) for c in range(3)])
    assert np.linalg.norm(again - WAVES, axis=1).max() <= tolerance * (1 + 1e-9)
    assert at[0] == 0 and at[-1] == 299


def test_fewer_keys_for_more_tolerance():
    counts = [len(kept_keys(WAVES, t)) for t in (0.3, 0.01, 1e-4)]
    assert counts[0] < counts[1] < counts[2] <= 300
    assert counts[1] < 100


def test_a_straight_line_keeps_its_ends():
    assert kept_keys(np.arange(50.0)[:, None], 1e-9).tolist() == [0, 49]


def test_no_tolerance_keeps_what_bends():
    assert len(kept_keys(np.random.default_rng(0).normal(size=(40, 2)), 0.0)) == 40


def test_a_single_sample_is_kept():
    assert kept_keys(np.zeros((1, 4)), 0.1).tolist() == [0]


KEYS = np.array([0, 20, 33, 61, 80, 110, 150, 171, 200, 240, 270, 299])


def test_a_cubic_through_the_keys_is_found_again():
    slopes = np.random.default_rng(3).normal(size=(len(KEYS), 3)) / 20
    cubic = eased(WAVES, KEYS, slopes)
    np.testing.assert_allclose(fitted_slopes(cubic, KEYS), slopes, atol=1e-5)


def test_the_fit_passes_through_its_keys_and_beats_the_usual_slopes():
    fit = eased(WAVES, KEYS, fitted_slopes(WAVES, KEYS))
    np.testing.assert_allclose(fit[KEYS], WAVES[KEYS], atol=1e-12)
    usual = eased(WAVES, KEYS, catmull_rom_slopes(KEYS.astype(float), WAVES[KEYS]))
    assert np.linalg.norm(fit - WAVES) < 0.5 * np.linalg.norm(usual - WAVES)


def test_no_slope_nearby_fits_better():
    keys, slopes = KEYS, fitted_slopes(WAVES, KEYS)
    best = ((eased(WAVES, keys, slopes) - WAVES) ** 2).sum()
    rng = np.random.default_rng(5)
    for _ in range(20):
        other = slopes + rng.normal(size=slopes.shape) * 1e-2
        assert ((eased(WAVES, keys, other) - WAVES) ** 2).sum() > best


def test_neighbouring_keys_have_the_usual_slopes():
    keys = np.arange(0, 300, 1)
    slopes = fitted_slopes(WAVES, keys)
    np.testing.assert_allclose(slopes, catmull_rom_slopes(keys.astype(float), WAVES), atol=1e-9)


@pytest.mark.parametrize("offset", [0.0, 2.5])
def test_a_closed_curve_goes_on_without_a_bend(offset):
    t = np.arange(61) / 60
    once = np.column_stack([np.sin(2 * np.pi * t + 0.4), offset * t + 0.2 * np.cos(4 * np.pi * t)])
    keys = np.array([0, 9, 22, 30, 41, 52, 60])
    slopes = fitted_slopes(once, keys, closed=True)
    assert np.array_equal(slopes[0], slopes[-1])
    # as in the middle of many rounds
    many = np.concatenate([once[:-1] + k * np.array([0, offset]) for k in range(5)] + [once[:1] + [0, 5 * offset]])
    along = np.unique(np.concatenate([keys + 60 * k for k in range(5)]))
    around = fitted_slopes(many, along)
    np.testing.assert_allclose(around[np.isin(along, keys + 120)], slopes, atol=1e-5)


def test_two_keys_and_one_key_are_fitted():
    assert fitted_slopes(np.zeros((1, 2)), np.array([0])).tolist() == [[0, 0]]
    line = np.arange(10.0)[:, None]
    np.testing.assert_allclose(fitted_slopes(line, np.array([0, 9])), 1.0, atol=1e-9)
    np.testing.assert_allclose(fitted_slopes(line, np.array([0, 9]), closed=True), 1.0, atol=1e-9)


def test_splitting_adds_the_worst_of_each_span_that_is_beyond():
    excess = np.full(20, -1.0)
    excess[[3, 4, 12, 15]] = (1.0, 2.0, 5.0, 4.0)
    assert split(np.array([0, 10, 19]), excess).tolist() == [0, 4, 10, 12, 19]
    assert split(np.array([0, 4, 12, 15, 19]), np.minimum(excess, 0.0)).tolist() == [0, 4, 12, 15, 19]


def test_splitting_ends_within_the_limit():
    keys = np.array([0, 299])
    while True:
        away = np.linalg.norm(eased(WAVES, keys, fitted_slopes(WAVES, keys)) - WAVES, axis=1)
        more = split(keys, away - 0.01)
        if len(more) == len(keys):
            break
        keys = more
    assert away.max() <= 0.01
    assert len(keys) < len(kept_keys(WAVES, 0.01)) / 2, "cubics need fewer keys than straight lines"
