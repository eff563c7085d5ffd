"""Exact timewarping with its path against packages in C, on ten seconds of a whole body."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from troupe.core.filters.alignment import path_cost, warp_path
from troupe.core.filters.warp_costs import PathParams

FRAMES, CHANNELS = 600, 70
VALUES = PathParams(form="values")


def clips() -> tuple[np.ndarray, np.ndarray]:
    """A motion, and the same at a wandering pace and with noise."""
    rng = np.random.default_rng(0)
    times = np.linspace(0.0, 12.0, FRAMES)[:, None]
    late = 0.6 * np.sin(0.7 * times) + 0.2 * np.sin(1.9 * times)
    rate, phase = rng.uniform(0.5, 3.0, CHANNELS), rng.uniform(0.0, 6.0, CHANNELS)
    noise = 0.05 * rng.normal(size=(FRAMES, CHANNELS))
    return np.sin(rate * times + phase), np.sin(rate * (times + late) + phase) + noise


A, B = clips()


def test_the_path_of_dtaidistance_is_found_sooner(ratio: Callable[..., float]) -> None:
    dtw_ndim = pytest.importorskip("dtaidistance.dtw_ndim")
    path = warp_path(A, B, VALUES, scale=1.0)
    assert np.array_equal(path, dtw_ndim.warping_path(A, B, use_c=True))
    assert path_cost(A, B, path, VALUES, scale=1.0) == pytest.approx(dtw_ndim.distance_fast(A, B) ** 2)
    ratio(
        "timewarp 600 x 600 x 70, as dtaidistance",
        lambda: warp_path(A, B, VALUES, scale=1.0),
        lambda: dtw_ndim.warping_path(A, B, use_c=True),
        at_least=2.0,
        repeat=40,
    )


def test_stretch_and_bend_cost_no_more_than_values_do_elsewhere(ratio: Callable[..., float]) -> None:
    # twice the products of a path by values, which is all that the peer knows
    dtw_ndim = pytest.importorskip("dtaidistance.dtw_ndim")
    ratio(
        "the same by stretch and bend, dtaidistance",
        lambda: warp_path(A, B, spacing=0.1),
        lambda: dtw_ndim.warping_path(A, B, use_c=True),
        at_least=1.2,
        repeat=40,
    )


def test_the_exact_path_is_ten_times_ahead_of_an_approximate_one(ratio: Callable[..., float]) -> None:
    fastdtw = pytest.importorskip("fastdtw").fastdtw
    ratio(
        "timewarp 600 x 600 x 70, fastdtw (approximate)",
        lambda: warp_path(A, B, VALUES, scale=1.0),
        lambda: fastdtw(A, B, radius=1, dist=2),
        at_least=10.0,
        repeat=15,
    )
