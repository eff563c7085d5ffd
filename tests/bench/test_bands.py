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


def by_fft(boundary: str, folded: bool = False) -> Callable[[], np.ndarray]:
    """All bands as one transfer function over a signal that is extended once, as far as the cascade reaches.

    Its samples lie channel by channel, as its transform likes them. `folded`, it is mirrored only as far as it does not
    repeat itself, with kernels folded back from beyond: what `bank` does, by plain calls.
    """
    fft = pytest.importorskip("scipy.fft")
    rows = np.ascontiguousarray(TAKE.T)
    reach = 0 if boundary == "wrap" else 2 * (2**LEVELS - 1)
    pad = min(reach, FRAMES - 1) if folded else reach
    length = fft.next_fast_len(FRAMES + 2 * pad, real=True) if pad else FRAMES
    answers = responses(length)
    if folded:
        period = 2 * (FRAMES - 1)
        kernel = fft.irfft(responses(period), period, axis=1)[:, : pad + 1]
        kernel[:, -1] /= 2.0
        nothing = np.zeros((LEVELS + 1, length - 2 * pad - 1))
        answers = fft.rfft(np.concatenate([kernel, nothing, kernel[:, :0:-1]], axis=1)).real

    def run() -> np.ndarray:
        answer = np.append(GAINS, 1.0) @ answers
        long = np.pad(rows, ((0, 0), (pad, length - FRAMES - pad)), mode=EDGES[boundary]) if pad else rows
        return fft.irfft(fft.rfft(long, axis=1) * answer, length, axis=1)[:, pad : pad + FRAMES]

    return run


def responses(length: int) -> np.ndarray:
    """(LEVELS + 1, length // 2 + 1) what each band, and what is left, lets through."""
    half = np.pi * np.arange(length // 2 + 1) / length
    lows = np.cumprod([np.ones_like(half), *(np.cos(2.0**k * half) ** 4 for k in range(LEVELS))], axis=0)
    return np.concatenate([lows[:-1] - lows[1:], lows[-1:]])


# in place, as `bands` calls it; the peer has its samples laid out for it before the clock starts. Around a loop both
# are transforms of the same numbers: so prepared the peer draws level, on samples as a motion holds them it does not
# (below). Folded, it is our own way, and level
@pytest.mark.parametrize(
    ("boundary", "folded", "at_least"),
    [("reflect", False, 1.2), ("constant", False, 1.5), ("wrap", False, 0.9), ("reflect", True, 0.9)],
)
def test_the_bank_is_ahead_of_the_same_bank_by_scipy(
    ratio: Callable[..., float], boundary: str, folded: bool, at_least: float
) -> None:
    peer, room = by_fft(boundary, folded), TAKE.copy()
    if boundary != "constant":  # extended once, not level by level, it differs near the ends
        assert np.abs(peer().T - equalise(TAKE, GAINS, boundary)).max() < 1e-10
    name = f"bands of 60 bones x 600 frames, {boundary}{', folded' if folded else ''}"
    ratio(name, lambda: equalise(room, GAINS, boundary, room), peer, at_least, 100)


def test_around_a_loop_the_bank_is_ahead_of_scipy_on_the_same_samples(ratio: Callable[..., float]) -> None:
    fft = pytest.importorskip("scipy.fft")
    answers, room = responses(FRAMES), TAKE.copy()

    def peer() -> np.ndarray:
        answer = np.append(GAINS, 1.0) @ answers
        return fft.irfft(fft.rfft(TAKE, axis=0) * answer[:, None], FRAMES, axis=0)

    assert np.abs(peer() - equalise(TAKE, GAINS, "wrap")).max() < 1e-10
    ratio("the same, wrap, time leading", lambda: equalise(room, GAINS, "wrap", room), peer, 1.05, 100)


def test_all_gains_at_once_are_live_on_a_decomposed_take() -> None:
    parts, low = decompose(TAKE)
    mixer = Mixer(TAKE)
    assert np.abs(mixer.mix(GAINS) - recombine(parts, low, GAINS)).max() < 1e-5 * np.abs(TAKE).max()
    times = []
    for _ in range(100):
        start = time.process_time()
        mixer.mix(GAINS)
        times.append(time.process_time() - start)
    assert np.median(times) < 0.0002


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
