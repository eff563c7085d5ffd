"""The equaliser against the same filter bank by scipy.fft, its live sliders, and how it grows with the frames."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest
from troupe.core.figure.mannequin import mannequin
from troupe.core.figure.stroll import walk
from troupe.core.filters.bands import BandParams, bands
from troupe.core.filters.bank import Mixer, count, decompose, equalise, recombine
from troupe.core.motion import Motion

BONES, FRAMES = 60, 600
LEVELS = count(FRAMES)
RNG = np.random.default_rng(0)
TAKE = RNG.normal(size=(FRAMES, 3 * BONES)).cumsum(axis=0)
GAINS = RNG.uniform(0.5, 1.5, LEVELS)
EDGES = {"reflect": "reflect", "constant": "edge"}


def fastest(call: Callable[[], object], repeat: int = 30) -> float:
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def by_fft(boundary: str) -> Callable[[], np.ndarray]:
    """All bands as one transfer function over a signal that is extended once, as far as the cascade reaches."""
    fft = pytest.importorskip("scipy.fft")
    rows = np.ascontiguousarray(TAKE.T)
    pad = 0 if boundary == "wrap" else 2 * (2**LEVELS - 1)
    length = FRAMES if boundary == "wrap" else fft.next_fast_len(FRAMES + 2 * pad, real=True)
    half = np.pi * fft.rfftfreq(length)
    lows = np.cumprod([np.ones_like(half), *(np.cos(2.0**k * half) ** 4 for k in range(LEVELS))], axis=0)

    def run() -> np.ndarray:
        answer = lows[LEVELS] + GAINS @ (lows[:-1] - lows[1:])
        long = np.pad(rows, ((0, 0), (pad, length - FRAMES - pad)), mode=EDGES[boundary]) if pad else rows
        return fft.irfft(fft.rfft(long, axis=1) * answer, length, axis=1)[:, pad : pad + FRAMES]

    return run


@pytest.mark.parametrize(("boundary", "at_least"), [("reflect", 1.2), ("constant", 1.1), ("wrap", 0.85)])
def test_the_bank_is_ahead_of_the_same_bank_by_scipy(
    ratio: Callable[..., float], boundary: str, at_least: float
) -> None:
    peer = by_fft(boundary)
    if boundary != "constant":  # extended once, not level by level, it differs near the ends
        assert np.abs(peer().T - equalise(TAKE, GAINS, boundary)).max() < 1e-10
    # its samples lie channel by channel, as its transform likes them; around a loop both are the same transform
    name = f"bands 60 x 600, {boundary}, laid out for the peer"
    ratio(name, lambda: equalise(TAKE, GAINS, boundary), peer, at_least, 40)


def test_around_a_loop_the_bank_is_ahead_of_scipy_on_the_same_samples(ratio: Callable[..., float]) -> None:
    fft = pytest.importorskip("scipy.fft")
    half = np.pi * fft.rfftfreq(FRAMES)
    lows = np.cumprod([np.ones_like(half), *(np.cos(2.0**k * half) ** 4 for k in range(LEVELS))], axis=0)

    def peer() -> np.ndarray:
        answer = lows[LEVELS] + GAINS @ (lows[:-1] - lows[1:])
        return fft.irfft(fft.rfft(TAKE, axis=0) * answer[:, None], FRAMES, axis=0)

    assert np.abs(peer() - equalise(TAKE, GAINS, "wrap")).max() < 1e-10
    ratio("bands of 60 bones x 600 frames, wrap", lambda: equalise(TAKE, GAINS, "wrap"), peer, 1.0, 40)


def test_all_gains_at_once_are_live_on_a_decomposed_take() -> None:
    parts, low = decompose(TAKE)
    mixer = Mixer(TAKE)
    assert np.abs(mixer.mix(GAINS) - recombine(parts, low, GAINS)).max() < 1e-5 * np.abs(TAKE).max()
    assert fastest(lambda: mixer.mix(GAINS), 100) < 0.0002


def motion(frames: int) -> Motion:
    """A walk of so many frames at 30 fps."""
    clip = walk(mannequin(), cycles=frames // 33 + 2, fps=30.0)
    return Motion(clip.skeleton, 30.0, clip.roots[:frames], clip.rotations[:frames], base=np.zeros((frames, 3)))


@pytest.mark.req("bruderlin", 55)
def test_a_take_is_filtered_at_once_and_the_cost_is_linear_in_its_frames() -> None:
    params = BandParams(gains=(0.5, 1.2, 1.7, 1.7, 1.7, 1.0, -1.0, 2.0), plant=False)
    short, long = motion(FRAMES), motion(10 * FRAMES)

    def timed(take: Motion) -> float:
        # the processor's time: on a busy machine a long run is interrupted, a short one is not
        start = time.process_time()
        bands(take, params)
        return time.process_time() - start

    once, tenfold = (min(times) for times in zip(*((timed(short), timed(long)) for _ in range(12)), strict=True))
    assert once < 0.1
    assert tenfold < 12 * once
