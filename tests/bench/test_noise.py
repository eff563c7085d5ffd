"""Noise of a thousand channels against packages written in C."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from troupe.core.maths.noise import seeded

FRAMES, CHANNELS = 600, 1000
RNG = np.random.default_rng(0)
PLACES = np.arange(FRAMES)[:, None] / 24 * RNG.uniform(0.5, 2.0, CHANNELS) + RNG.uniform(0.0, 1000.0, CHANNELS)
NOISE = seeded(0)


def test_noise_of_a_whole_take_is_ahead_of_pyfastnoiselite(ratio: Callable[..., float]) -> None:
    lite = pytest.importorskip("pyfastnoiselite.pyfastnoiselite")
    peer = lite.FastNoiseLite(1)
    peer.noise_type = lite.NoiseType.NoiseType_Perlin
    # it has no noise of one dimension
    flat = np.ascontiguousarray(np.stack([PLACES.ravel(), np.zeros(PLACES.size)]).astype(np.float32))
    ratio(
        f"noise of {FRAMES} frames x {CHANNELS} channels, pyfastnoiselite",
        lambda: NOISE(PLACES),
        lambda: peer.gen_from_coords(flat),
        at_least=1.5,
        repeat=15,
    )


def test_noise_of_one_frame_is_ahead_of_noise(ratio: Callable[..., float]) -> None:
    one = pytest.importorskip("noise").pnoise1
    row, listed = PLACES[5], PLACES[5].tolist()
    ratio(
        f"noise of one frame x {CHANNELS} channels, noise",
        lambda: NOISE(row),
        lambda: [one(x) for x in listed],
        at_least=5.0,
        repeat=60,
    )
