"""The filter bank takes a signal apart and puts it together as its formulas say."""

import sys
import time

import numpy as np
import pytest
from troupe.core.errors import InvalidParam
from troupe.core.filters.bank import (
    BOUNDARIES,
    Mixer,
    count,
    decompose,
    equalise,
    frequencies,
    recombine,
    response,
    spans,
)

STEP = np.repeat([0.0, 1.0], 64)


def noise(samples, columns=3, seed=0):
    return np.random.default_rng(seed).normal(size=(samples, columns)).cumsum(axis=0)


def plainly(values, gains, boundary):
    """The definition, sample by sample."""
    n = len(values)
    ends = {
        "constant": lambda i: min(max(i, 0), n - 1),
        "wrap": lambda i: i % n,
        "reflect": lambda i: min(abs(i) % (2 * n - 2), -abs(i) % (2 * n - 2)),
    }[boundary]
    lows, kernel = [values], dict(zip(range(-2, 3), (1 / 16, 1 / 4, 3 / 8, 1 / 4, 1 / 16), strict=True))
    for k in range(len(gains)):
        at = [[ends(i + 2**k * m) for i in range(n)] for m in kernel]
        lows.append(sum(w * lows[-1][i] for w, i in zip(kernel.values(), at, strict=True)))
    return lows[-1] + sum(g * (a - b) for g, a, b in zip(gains, lows[:-1], lows[1:], strict=True))


def gained(values, changes, boundary="reflect"):
    gains = np.ones(count(len(values)))
    for k, gain in changes.items():
        gains[k] = gain
    return equalise(values, gains, boundary)


@pytest.mark.req("bruderlin", 32)
@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_gains_of_one_give_the_signal_back_at_every_length(boundary):
    for samples in (*range(2, 70), 127, 128, 129, 255, 256, 511, 512, 600, 1023, 1024, 1999, 2000):
        values = noise(samples)
        parts, low = decompose(values, boundary)
        ones = np.ones(len(parts))
        assert np.abs(recombine(parts, low, ones) - values).max() < 1e-9
        assert np.array_equal(equalise(values, ones, boundary), values)


@pytest.mark.req("bruderlin", 33)
@pytest.mark.parametrize(
    ("samples", "bands"), [(1, 0), (2, 1), (3, 1), (127, 6), (128, 7), (255, 7), (256, 8), (600, 9)]
)
def test_the_number_of_bands_is_the_logarithm_of_the_length(samples, bands):
    assert count(samples) == bands
    parts, low = decompose(noise(samples))
    assert parts.shape == (bands, samples, 3) and low.shape == (samples, 3)
    assert len(frequencies(30.0, samples)) == len(spans(30.0, samples)) == bands


@pytest.mark.req("bruderlin", 34)
@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_an_impulse_shows_the_kernels(boundary):
    values = np.zeros(16)
    values[8] = 1.0
    parts, _ = decompose(values, boundary)
    assert len(parts) == 4
    g1 = values - parts[0]
    assert np.allclose(16 * g1[6:11], [1, 4, 6, 4, 1], atol=1e-12) and np.abs(np.delete(g1, range(6, 11))).max() < 1e-12
    g2 = g1 - parts[1]
    assert np.allclose(256 * g2[2:15], [1, 4, 10, 20, 31, 40, 44, 40, 31, 20, 10, 4, 1], atol=1e-9)
    assert np.allclose(parts[0][6:11], [-0.0625, -0.25, 0.625, -0.25, -0.0625], atol=1e-12)


@pytest.mark.req("bruderlin", 34)
def test_a_step_answers_as_known():
    for boundary in ("reflect", "constant"):
        middle = gained(STEP, {2: 2, 3: 2, 4: 2}, boundary)
        assert middle.max() == pytest.approx(1.38755, abs=1e-5) and middle.argmax() == 68
        assert middle.min() == pytest.approx(-0.38755, abs=1e-5)
        assert gained(STEP, {0: 2}, boundary).max() == pytest.approx(1.3125, abs=1e-5)
        assert gained(STEP, {5: -1}, boundary).max() == pytest.approx(0.98957, abs=1e-5)
    assert gained(STEP, {5: 2, 6: 2}, "constant").max() == pytest.approx(1.30701, abs=1e-5)
    assert gained(STEP, {5: 2, 6: 2}, "reflect").max() == pytest.approx(1.40405, abs=1e-5)


@pytest.mark.req("bruderlin", 34)
def test_a_cosine_of_one_hertz_answers_as_known():
    values = np.cos(2 * np.pi * np.arange(960) / 30.0)
    for changes, factor in (({2: 2, 3: 2, 4: 2}, 1.8955), ({5: 2, 6: 2}, 1.0), ({0: 2}, 1.0217)):
        assert np.allclose(gained(values, changes, "wrap"), factor * values, atol=6e-5)
    half = np.where(np.isin(np.arange(9), (5, 6)), 1.0, 0.5)
    assert np.allclose(equalise(values, half, "wrap"), 0.5 * values, atol=1e-4)


@pytest.mark.req("bruderlin", 35)
@pytest.mark.parametrize("cycles", [1, 3, 16, 40, 100, 256])
def test_a_sine_has_the_amplitude_of_the_formula_in_every_band(cycles):
    samples, fps = 512, 30.0
    hz = cycles * fps / samples
    values = np.cos(2 * np.pi * cycles * np.arange(samples) / samples)
    parts, low = decompose(values, "wrap")
    w = 2 * np.pi * hz / fps
    lows = [(np.sin(2**k * w / 2) / (2**k * np.sin(w / 2))) ** 4 for k in range(10)]
    for k, part in enumerate(parts):
        expected = lows[k] * (1 - np.cos(2**k * w / 2) ** 4)
        assert np.abs(part - expected * values).max() < 1e-9
        assert response(hz, fps, 9)[k] == pytest.approx(expected, abs=1e-12)
    assert np.abs(low - lows[9] * values).max() < 1e-9


def test_the_answers_add_up_to_one_and_are_never_negative():
    answers = response(np.linspace(0.0, 15.0, 500), 30.0, 8)
    assert np.allclose(answers.sum(axis=0), 1.0) and answers.min() > -1e-15
    assert np.allclose(answers[:, 0], [0.0] * 8 + [1.0])


@pytest.mark.req("bruderlin", 37)
def test_every_band_has_its_frequency_and_its_range():
    peaks = [15.0, 4.22, 2.01, 0.99, 0.49, 0.25, 0.12]
    assert np.allclose(frequencies(30.0, 128), peaks, atol=0.0065)
    assert np.allclose(frequencies(24.0, 128), [12.0, 3.37, 1.60, 0.79, 0.40, 0.20, 0.10], atol=0.0065)
    halves = [(5.46, 15), (2.01, 7.22), (0.96, 3.39), (0.47, 1.67), (0.24, 0.83), (0.12, 0.42), (0.06, 0.21)]
    assert np.allclose(spans(30.0, 128), halves, atol=0.0065)


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_kept_bands_are_mixed_to_single_precision(boundary):
    values = noise(100, 12).reshape(100, 4, 3)
    mixer = Mixer(values, boundary)
    assert (mixer.levels, mixer.shape) == (6, values.shape)
    rng = np.random.default_rng(3)
    for _ in range(3):
        gains = rng.uniform(-2.0, 3.0, mixer.levels)
        mixed = mixer.mix(gains)
        assert mixed.shape == values.shape
        assert np.abs(mixed - recombine(*decompose(values, boundary), gains)).max() < 1e-5 * np.abs(values).max()


def test_kept_bands_are_mixed_without_scipy(monkeypatch):
    values, gains = noise(50), np.linspace(0.0, 2.0, 5)
    with_it = Mixer(values).mix(gains).copy()
    monkeypatch.setitem(sys.modules, "scipy.linalg.blas", None)
    monkeypatch.setitem(sys.modules, "scipy.linalg", None)
    assert np.abs(Mixer(values).mix(gains) - with_it).max() < 1e-5


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("samples", [2, 3, 4, 5, 8, 16, 33, 60, 97, 100])
def test_the_bank_is_its_definition(samples, boundary):
    values = noise(samples)
    gains = np.random.default_rng(1).uniform(-2.0, 3.0, count(samples))
    expected = plainly(values, gains, boundary)
    assert np.abs(equalise(values, gains, boundary) - expected).max() < 1e-11
    parts, low = decompose(values, boundary)
    assert np.abs(recombine(parts, low, gains) - expected).max() < 1e-11
    assert np.abs(equalise(values[:, 0], gains, boundary) - expected[:, 0]).max() < 1e-11


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize(("samples", "levels"), [(257, 1), (257, 4), (256, 3), (59, 3), (61, 5)])
def test_where_the_slow_bands_stay_as_they_are_the_bank_is_its_definition(samples, levels, boundary):
    values, gains = noise(samples, 5), np.random.default_rng(2).uniform(-2.0, 3.0, levels)
    expected = plainly(values, gains, boundary)
    assert np.abs(equalise(values, gains, boundary) - expected).max() < 1e-11
    assert np.abs(equalise(values.copy(order="F"), gains, boundary) - expected).max() < 1e-11
    assert equalise(values[:, :0], gains, boundary).shape == (samples, 0)


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_the_result_is_the_same_without_scipy(boundary, monkeypatch):
    values, gains = noise(600), np.linspace(3.0, -1.0, 9)
    fast = equalise(values, gains, boundary)
    monkeypatch.setitem(sys.modules, "scipy.fft", None)
    monkeypatch.delattr("scipy.fft", raising=False)
    assert np.abs(equalise(values, gains, boundary) - fast).max() < 1e-11
    monkeypatch.undo()
    assert np.abs(equalise(noise(601), gains, boundary) - plainly(noise(601), gains, boundary)).max() < 1e-11


def test_columns_do_not_know_of_each_other():
    values = noise(300, 900)  # more than one block
    gains = np.linspace(0.0, 2.0, 8)
    whole = equalise(values, gains)
    assert np.array_equal(whole[:, 700], equalise(values[:, 700], gains))
    parts, _ = decompose(values)
    assert np.array_equal(parts[:, :, 700], decompose(values[:, 700])[0])


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("samples", [300, 301])
def test_the_result_may_take_the_place_of_the_signal(boundary, samples):
    values, gains = noise(samples, 40), np.linspace(0.0, 2.0, 8)
    expected = equalise(values, gains, boundary)
    wide = np.concatenate([values, values], axis=1)
    assert equalise(wide[:, 10:50], gains, boundary, wide[:, 10:50]) is not None
    assert np.array_equal(wide[:, 40:50], expected[:, :10]) and np.array_equal(wide[:, :10], values[:, :10])


@pytest.mark.req("bruderlin", 55)
def test_six_hundred_frames_of_seventy_channels_take_less_than_a_tenth_of_a_second():
    values, gains = noise(600, 70), np.linspace(0.0, 2.0, 9)

    def once():
        start = time.perf_counter()
        equalise(values, gains)
        return time.perf_counter() - start

    assert min(once() for _ in range(5)) < 0.1


def test_fewer_levels_leave_the_slow_bands_in_what_is_left():
    values = noise(100)
    parts, low = decompose(values)
    some, rest = decompose(values, levels=2)
    assert np.allclose(some, parts[:2], atol=1e-12) and np.allclose(rest, low + parts[2:].sum(axis=0), atol=1e-12)


def test_constant_signals_stay_constant():
    for boundary in BOUNDARIES:
        assert np.allclose(equalise(np.full((50, 2), 7.0), [5, -3, 0, 2, 1.5], boundary), 7.0)


def test_what_does_not_fit_is_refused():
    values = noise(20)
    with pytest.raises(InvalidParam, match=r"boundary = 'mirror'.*reflect, constant, wrap"):
        decompose(values, "mirror")
    with pytest.raises(InvalidParam, match="20 samples have 4 bands"):
        decompose(values, levels=5)
    with pytest.raises(InvalidParam, match="20 samples have 4 bands"):
        equalise(values, [1, 1, 1, 1, 2])
    with pytest.raises(InvalidParam, match="must be 4 numbers"):
        recombine(*decompose(values), [1.0, 2.0])
    with pytest.raises(InvalidParam, match="must be 4 numbers"):
        Mixer(values).mix([1.0, 2.0])
    with pytest.raises(InvalidParam, match="row of numbers"):
        equalise(values, [[1.0]])
    with pytest.raises(InvalidParam, match="at least one sample"):
        decompose(np.zeros((0, 3)))


@pytest.mark.parametrize("columns", [1, 2, 7, 40])
def test_around_a_loop_every_column_is_filtered_whatever_lies_beside_it(columns):
    values, gains = noise(300, columns), np.linspace(0.0, 2.0, 8)
    values[:, -1] *= 1e3  # kilometres beside radians
    expected = plainly(values, gains, "wrap")
    assert np.abs(equalise(values, gains, "wrap") - expected)[:, :-1].max(initial=0.0) < 1e-10
    assert np.abs(equalise(values, gains, "wrap") - expected)[:, -1].max() < 1e-8
    turned = values.copy(order="F")
    assert equalise(turned, gains, "wrap", turned) is turned
    assert np.array_equal(turned, equalise(values, gains, "wrap"))
