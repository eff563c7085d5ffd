"""Reduced keys tell the same curve within the tolerance."""

import numpy as np
import pytest
from troupe.core.maths.reduce import kept_keys

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
