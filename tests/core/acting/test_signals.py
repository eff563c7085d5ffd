"""Signals: raised sines, coherent noise, bias and gain, and how they are added to."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from troupe.core.acting.body.body import BodyParams, start
from troupe.core.acting.repertoire.signals import ACTOR_STEP, Moments, Signals, actor_noise, bias, gain
from troupe.core.errors import InvalidParam
from troupe.core.maths.noise import SIZE, HashNoise, TableNoise, seeded

from .puppets import MANNEQUIN, library

RNG = np.random.default_rng(1)
NODDING = library("define ACTION a { Nod 0:10 0 0 { n1 0 0 } }\nGROUP g ACTION a")


def moments(time: np.ndarray, seed: int = 0, actor: int = 0, phase: np.ndarray | None = None) -> Moments:
    return Moments(time, time if phase is None else phase, time, actor_noise(seed), ACTOR_STEP * actor)


def read(name: str, m: Moments) -> np.ndarray:
    return Signals().reader(name)(m)


@pytest.mark.req("improv", 1)
def test_sines_have_their_quarters_and_the_second_pair_half_the_period():
    phase = np.radians([0.0, 90.0, 180.0, 270.0])
    m = moments(np.zeros(4), phase=phase)
    assert np.allclose(read("s1", m), [0.5, 1.0, 0.5, 0.0])
    assert np.allclose(read("c1", m), [1.0, 0.5, 0.0, 0.5])
    for fast, slow in (("s2", "s1"), ("c2", "c1")):
        assert np.allclose(read(fast, m), read(slow, moments(np.zeros(4), phase=2 * phase)))
    for name, value in (("A", "c1"), ("B", "s1")):
        assert np.allclose(read(name, m), read(value, m))
    assert np.allclose(read("C", m) + read("A", m), 1.0)
    assert np.allclose(read("D", m) + read("B", m), 1.0)
    assert np.allclose(read("B2", m) + read("A2", m), 1.0)


@pytest.mark.req("improv", 2)
def test_noise_vanishes_at_whole_numbers_with_the_slope_of_its_gradient():
    noise = seeded(3)
    whole = np.arange(-300.0, 300.0)
    assert np.abs(noise(whole)).max() < 1e-12
    step = 1e-6
    slope = (noise(whole + step) - noise(whole - step)) / (2 * step)
    assert np.abs(slope - 4 * noise.gradients[whole.astype(int) % SIZE]).max() < 1e-4


@pytest.mark.req("improv", 3)
@pytest.mark.parametrize("noise", [seeded(0), HashNoise(5)], ids=["table", "hash"])
def test_noise_stays_within_one_and_is_smooth(noise):
    x = RNG.uniform(-1000, 1000, 1_000_000)
    y = noise(x)
    assert np.abs(y).max() <= 1.0
    assert 0.29 < y.std() < 0.35
    for name in ("n1", "n3", "N0", "N2"):
        read_at = read(name, Moments(x, x, x, noise))
        assert read_at.min() >= 0.0 and read_at.max() <= 1.0
    whole, step = np.arange(-8.0, 8.0), 1e-8
    left, right = (noise(whole) - noise(whole - step)) / step, (noise(whole + step) - noise(whole)) / step
    assert np.abs(left - right).max() < 1e-6


def test_the_steepest_cell_reaches_exactly_one():
    gradients = np.zeros(4)
    gradients[:2] = 1.0, -1.0
    assert TableNoise(gradients)(0.5) == 1.0


@pytest.mark.req("improv", 4)
def test_a_table_repeats_after_its_size_and_a_hash_does_not_within_an_hour():
    x = RNG.uniform(0, 256, 2000)
    noise = seeded(2)
    assert np.abs(noise(x) - noise(x + SIZE)).max() < 1e-9
    # the fastest of the three octaves goes 16/3 units a second: no two of all those slopes are the same
    hour = HashNoise(2).gradients(np.arange(-100, 3600 * 16 // 3 + 500))
    assert len(np.unique(hour)) == len(hour)
    endless = start(NODDING, MANNEQUIN, BodyParams(endless=True)).stage.noise
    assert isinstance(endless, HashNoise)
    assert np.abs(endless(x) - endless(x + SIZE)).max() > 0.5


@pytest.mark.req("improv", 5)
def test_noise_has_the_published_values():
    gradients = np.zeros(SIZE)
    gradients[:3] = 0.5, -0.25, 1.0
    got = TableNoise(gradients)([0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75])
    assert np.abs(got - [0.328125, 0.375, 0.234375, 0.0, -0.328125, -0.625, -0.609375]).max() < 1e-9


def test_few_and_many_samples_are_computed_alike():
    noise = seeded(9)
    x = RNG.uniform(-50, 50, 3000)
    assert np.array_equal(noise(x), np.concatenate([noise(part) for part in np.split(x, 30)]))
    assert noise(x.reshape(30, 100)).shape == (30, 100)


def worst_correlation(seed: int, time: np.ndarray) -> tuple[float, float]:
    m = moments(time, seed)
    streams = np.stack([read(f"n{k}", m) for k in (1, 2, 3)])
    c = np.corrcoef(streams)
    return float(np.abs(c[np.triu_indices(3, 1)]).max()), float(np.abs(streams.mean(axis=1) - 0.5).max())


@pytest.mark.req("improv", 6)
def test_noise_streams_are_independent_of_each_other():
    time = np.arange(0, 600, 0.05)
    correlation, bias_ = worst_correlation(0, time)
    assert correlation < 0.1 and bias_ < 0.05
    many = [worst_correlation(seed, time)[0] for seed in range(300)]
    assert np.mean(np.array(many) < 0.17) >= 0.95


@pytest.mark.req("improv", 7)
@pytest.mark.parametrize("octave", [0, 1, 2])
def test_octaves_swing_once_twice_and_four_times_a_second(octave):
    time = np.arange(0, 600, 0.004)
    for seed in range(4):
        turns = np.diff(np.sign(np.diff(read(f"N{octave}", moments(time, seed))))) != 0
        assert abs(turns.sum() / 2 / 600 - 2**octave) < 0.1 * 2**octave, seed


def test_energy_speeds_up_all_noise_alike():
    time = np.linspace(0, 5, 50)
    fast = Moments(time, time, time, actor_noise(0), energy=2.0)
    for name in ("n1", "N2"):
        assert np.allclose(read(name, fast), read(name, moments(2 * time)))


def test_eyes_blink_every_few_seconds_and_never_twice_at_once():
    time = np.arange(0, 600, 0.01)
    for seed in range(3):
        lids = read("blink", moments(time, seed))
        assert lids.min() >= 0.0 and lids.max() <= 1.0 + 1e-9
        starts = time[1:][(lids[1:] > 0.5) & (lids[:-1] <= 0.5)]
        assert 3.0 < np.diff(starts).mean() < 5.0 and np.diff(starts).min() > 0.6


def test_a_glance_rests_and_jumps():
    time = np.arange(0, 60, 0.01)
    look = read("glance", moments(time))
    assert look.min() >= 0.0 and look.max() <= 1.0 and look.std() > 0.1
    assert np.mean(np.abs(np.diff(look)) < 1e-9) > 0.9
    assert abs(np.corrcoef(look, read("glance_2", moments(time)))[0, 1]) < 0.6


@pytest.mark.req("improv", 8)
def test_bias_and_gain_have_the_published_values():
    assert np.abs(bias([0.25, 0.5, 0.75], 0.2) - [0.04, 0.2, 0.51274]).max() < 1e-5
    assert np.abs(bias([0.25, 0.5, 0.75], 0.7) - [0.49, 0.7, 0.8624]).max() < 1e-5
    for b, exponent in ((0.2, 2.321928), (0.7, 0.514573)):
        assert abs(np.log(float(bias(0.3, b))) / np.log(0.3) - exponent) < 1e-6
    assert np.abs(gain([0.25, 0.75], 0.8) - [0.1, 0.9]).max() < 1e-9
    t = np.linspace(0, 1, 20)
    assert np.allclose(bias(t, 0.5), t)
    assert np.allclose(bias([-0.3, 1.4], 0.2), [0.0, 1.0])
    for bad in (0.0, 1.0, -0.2, 3.0):
        with pytest.raises(InvalidParam):
            bias(0.5, bad)
        with pytest.raises(InvalidParam):
            gain(0.5, bad)


@pytest.mark.req("improv", 9)
def test_values_at_common_times_do_not_depend_on_the_rate():
    for name in ("n2", "N1", "s1"):
        at = {fps: read(name, moments(np.arange(0, 10 * fps + 1) / fps)) for fps in (24, 30, 60)}
        assert np.array_equal(at[60][::10], at[30][::5])
        assert np.array_equal(at[60][::10], at[24][::4])


@pytest.mark.req("improv", 10)
def test_no_two_actors_share_their_noise():
    time = np.arange(0, 600, 0.05)
    names = ("n1", "n2", "n3", "N0", "N1", "N2")
    rows = zip(("Neck", "Nod"), (names[:3], names[3:]), strict=True)
    lines = "".join(f"{joint} 0:1 0:1 0:1 {{ {' '.join(three)} }} " for joint, three in rows)
    lib = library(f"define ACTION a {{ {lines} }}\nGROUP g ACTION a")
    streams = []
    for actor in range(4):
        state = start(lib, MANNEQUIN, BodyParams(actor=actor))
        channels, _ = state.stage.channels([g.history for g in state.groups], {}, time, time, {})
        streams.append(channels[:, 6:12].T)
    c = np.corrcoef(np.concatenate(streams)).reshape(4, len(names), 4, len(names))
    for a, b in combinations(range(4), 2):
        assert np.abs(c[a, :, b]).max() < 0.2, (a, b)


@pytest.mark.req("improv", 114)
def test_a_signal_and_a_function_of_others_work_in_tables():
    signals = (
        Signals().with_signal("sawtooth", lambda m: np.mod(m.time, 1.0)).with_function("twice", 1, lambda a: 2 * a)
    )
    lib = library("define ACTION a { Nod 0:10 0 0 { twice(sawtooth) 0 0 } }", signals)
    compiled = lib.compiled("a")
    values = compiled.values(moments(np.array([0.25, 0.5])), {}, {})
    assert np.allclose(values[:, 0], [5.0, 10.0])
    with pytest.raises(InvalidParam):
        signals.with_signal("s1", lambda m: m.time)
    assert Signals().find("sawtooth") is None


@pytest.mark.parametrize("gradients", [np.zeros(3), np.zeros((2, 2)), np.array([2.0, 0.0])])
def test_bad_tables_are_refused(gradients):
    with pytest.raises(InvalidParam):
        TableNoise(gradients)


def test_noise_can_be_read_at_any_argument_and_is_stilled_with_the_rest():
    from troupe.core.acting.repertoire.expressions import evaluator
    from troupe.core.acting.repertoire.tables import read_sheet

    time = np.linspace(0.0, 9.0, 40)
    for table in ("define ACTION x { Nod 0:1 0 0 { noise(3 * t + 100) 0 0 } }", "{ { 0 0 0 } { 1 0 0 } "
                  "{ t 3 * 100 + noise 0 0 } Nod } 'x define_action"):  # fmt: skip
        channel = read_sheet(table).actions["x"].channels["Nod", "x"]
        read = evaluator(channel.expression, Signals(), {})
        m = moments(time, seed=4, actor=2)
        expected = actor_noise(4)(3 * time + 100 + 2 * ACTOR_STEP)
        assert np.array_equal(read(m, {}), expected)
        assert not read(Moments(time, time, time, actor_noise(4), 0.0, 1.0, 0.0), {}).any()
