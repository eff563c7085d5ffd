"""Weights over time: ramps, interruptions, delays, lingers, blocking and the weighted mean."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from troupe.core.acting.body.body import BodyState, start
from troupe.core.acting.repertoire.actions import Action, Channel
from troupe.core.acting.repertoire.stockactions import stock_library
from troupe.core.acting.repertoire.weights import (
    ARRIVAL,
    ARRIVED,
    Entry,
    FreeState,
    check_blockers,
    entry_weights,
    pruned,
    takeover,
)
from troupe.core.errors import InvalidParam
from troupe.core.maths.ramp import smoothstep

from .puppets import MANNEQUIN, library

INDEX = {("Nod", "x"): 0, ("LOOK", "value"): 1, ("Nod", "y"): 2}


def action(name: str, fade: float = 1.0, look: Channel | None = None, **more: object) -> Action:
    channels = {("Nod", "x"): Channel(1.0, 1.0)}
    if look is not None:
        channels[("LOOK", "value")] = look
    return Action(name, channels, fade_in=fade, fade_out=fade, **more)


def plain_mean(values: list[float], coverage: list[float], weights: list[float]) -> float:
    """The normalised sum of Perlin (1995), sum A C w / sum C w, which jumps where only one action covers a channel."""
    share = np.multiply(coverage, weights)
    return float(np.dot(values, share) / share.sum())


def weights(
    selections: list[tuple[int, float]], actions: list[Action], times: np.ndarray, channel: int = 0
) -> np.ndarray:
    """(T, actions) weights on one channel."""
    history = [Entry(0, 0.0), *(Entry(a, t) for a, t in selections)]
    ramps = [takeover(actions[b.action], actions[e.action], INDEX) for b, e in pairwise(history)]
    out = np.zeros((len(times), len(actions)))
    for entry, w in zip(history, entry_weights(history, ramps, times), strict=True):
        out[:, entry.action] += w[:, channel if w.shape[1] > 1 else 0]
    return out


@pytest.mark.req("improv", 27)
def test_a_selection_rises_along_an_s_in_its_time():
    w = weights([(1, 2.0)], [action("a"), action("b", 0.8)], np.array([2.0, 2.2, 2.4, 2.8, 3.0]))[:, 1]
    assert np.allclose(w, [0.0, 0.15625, 0.5, 1.0, 1.0])
    state = FreeState(fade_in=0.8).switched(True, 2.0)
    assert np.allclose(state.weight([2.0, 2.2, 2.4, 2.8]), [0.0, 0.15625, 0.5, 1.0])
    assert abs(float(smoothstep(ARRIVAL)) - ARRIVED) < 1e-12


@pytest.mark.req("improv", 28)
def test_a_state_that_is_reversed_goes_back_the_way_it_came():
    state = FreeState(fade_in=1.0, fade_out=1.0).switched(True, 0.0).switched(False, 0.5)
    assert np.allclose(state.weight([0.5, 0.75, 1.0, 2.0]), [0.5, 0.15625, 0.0, 0.0])


@pytest.mark.req("improv", 28)
def test_interrupted_selections_have_the_published_weights_and_no_jump():
    actions = [action(n) for n in "abc"]
    chosen = [(1, 0.0), (2, 0.5), (0, 0.75)]
    w = weights(chosen, actions, np.array([0.75, 1.25, 1.75]))
    assert np.abs(w - [[0.1318, 0.7119, 0.1562], [0.5, 0.0781, 0.4219], [1.0, 0.0, 0.0]]).max() < 1e-4
    fine = np.arange(0.0, 2.0, 1e-4)
    speed = np.diff(weights(chosen, actions, fine), axis=0) / 1e-4
    assert np.abs(np.diff(speed, axis=0)).max() < 2e-3


@pytest.mark.req("improv", 29)
@pytest.mark.parametrize("rate", [12, 24, 60, 240])
def test_the_weight_half_way_does_not_depend_on_the_rate(rate):
    lib = library("define ACTION a { Nod 10 0 0 fade 1 }\nGROUP g ACTION No_a ACTION a")
    state = start(lib, MANNEQUIN).select("g", "a", 0.25)
    for k in range(1, 3 * rate // 4 + 1):
        state = state.advance(k / rate)
    assert state.time == 0.75
    assert abs(state.weight("a") - 0.5) < 1e-6


@pytest.mark.req("improv", 30)
def test_a_blocker_takes_weight_only_where_it_covers_and_gives_it_back():
    lib = library(
        "define ACTION back { Nod 10 0 0 Neck 8 0 0 fade .5 }\ndefine ACTION front { LOOK 1 Nod 0 0 0 fade .5 }\n"
        "GROUP f ACTION No_f ACTION front\nGROUP b ACTION back\nfront blocks back"
    )
    state = start(lib, MANNEQUIN).select("f", "front", 1.0).release("f", 3.0)
    seen = {}
    for t in (0.5, 1.25, 2.0, 3.25, 4.0):
        state = state.advance(t)
        seen[t] = state.angles()[[3, 2], 0]
        assert state.weight("back") == 1.0
    # the back group stands in front of the other, so only the declared pair can take its weight
    assert np.allclose(seen[0.5], [10, 8]) and np.allclose(seen[1.25], [5, 8]) and np.allclose(seen[2.0], [0, 8])
    assert np.allclose(seen[3.25], [5, 8]) and np.allclose(seen[4.0], [10, 8])
    # half come itself, the one behind keeps half of that where the blocker has half its weight
    lib = library(
        "define ACTION back { Nod 10 0 0 Neck 8 0 0 fade 1 }\ndefine ACTION front { Nod 0 0 0 fade 1 }\n"
        "GROUP f ACTION No_f ACTION front\nGROUP b ACTION No_b ACTION back\nfront blocks back"
    )
    state = start(lib, MANNEQUIN).select("", "back", 1.0).select("", "front", 1.25).advance(1.5)
    w, v = 0.5, 0.15625
    assert abs(state.weight("back") - w) < 1e-9 and abs(state.weight("front") - v) < 1e-9
    assert np.allclose(state.angles()[[3, 2], 0], [10 * w * (1 - v), 8 * w], atol=1e-9)


def test_blockers_in_a_circle_are_refused():
    assert check_blockers([("a", "b"), ("b", "c")])
    with pytest.raises(InvalidParam, match="circle"):
        check_blockers([("a", "b"), ("b", "c"), ("c", "a")])


@pytest.mark.req("improv", 31)
def test_a_joint_that_only_the_new_action_covers_comes_in_gently():
    lib = stock_library()
    state: BodyState = start(lib, MANNEQUIN, styles={"running.tempo": 0.0}).select("", "Stand", 0.0, fade=0.0)
    state = state.advance(1.0).select("", "running", 1.0, fade=1.0)
    wrist = []
    for k in range(61):
        state = state.advance(1.0 + k / 60)
        wrist.append(state.angles()[11, 0])
    assert state.phase == 0.0
    assert abs(wrist[0]) < 1e-12 and abs(wrist[-1] + 10.0) < 1e-9
    assert np.abs(np.diff(wrist)).max() <= 0.26
    # the plain weighted mean jumps at once
    assert plain_mean([0.0, -10.0], [0, 1], [0.9997, 0.0003]) == pytest.approx(-10.0)


@pytest.mark.req("improv", 32)
def test_where_everything_covers_the_result_is_the_weighted_mean():
    lib = library(
        "define ACTION a { Nod 10 0 0 }\ndefine ACTION b { Nod 40 0 0 }\ndefine ACTION c { Nod -20 0 0 }\n"
        "GROUP g ACTION a ACTION b ACTION c"
    )
    state = start(lib, MANNEQUIN).select("g", "b", 0.0).select("g", "c", 0.2).advance(0.3)
    w = [state.weights("g")[n] for n in "abc"]
    assert min(w) > 0.1
    assert abs(state.angles()[3, 0] - plain_mean([10.0, 40.0, -20.0], [1, 1, 1], w)) < 1e-9


@pytest.mark.req("improv", 33)
def test_a_channel_that_nothing_covers_is_at_rest():
    lib = library(
        "define ACTION a { }\ndefine ACTION b { }\ndefine ACTION c { Nod 9 0 0 }\nGROUP g ACTION a ACTION b\n"
        "GROUP h ACTION No_c ACTION c"
    )
    state = start(lib, MANNEQUIN).select("", "b", 0.0).select("", "c", 0.0).select("", "No_c", 0.1)
    for t in (0.05, 0.1, 0.3, 2.0):
        state = state.advance(t)
        angles = state.angles()
        assert np.isfinite(angles).all() and not np.delete(angles, 3, axis=0).any()
    assert not state.angles().any()


@pytest.mark.req("improv", 34, 35)
def test_the_gaze_follows_the_hands_a_beat_later_and_stays_a_second_longer():
    look = Channel(1.0, 1.0, scale=0.8 / 0.6, delay=0.6, linger=1.2, scale_out=1.5)
    dance = Action("dance", {("Nod", "x"): Channel(0.0, 0.0)}, fade_in=0.8, fade_out=0.8)
    actions = [Action("none"), action("pose", 0.6, look), dance]
    chosen = [(1, 0.0), (2, 4.0)]
    times = np.array([0.5, 1.0, 1.4, 4.4, 4.8, 5.8, 6.4])
    body, gaze = (weights(chosen, actions, times, channel)[:, 1] for channel in (0, 1))
    assert np.allclose(body, [0.926, 1, 1, 0.5, 0, 0, 0], atol=1e-3)
    assert np.allclose(gaze, [0, 0.5, 1, 1, 1, 0.5, 0], atol=1e-9)
    # and so do the hands on the hips that come with Troupe
    lib = stock_library()
    state = start(lib, MANNEQUIN).select("", "hands_on_hips", 0.0).release("Arms", 4.0, fade=0.8)
    for t, hands, look in zip(times, body, gaze, strict=True):
        state = state.advance(float(t))
        assert abs(state.weight("hands_on_hips") - hands) < 1e-9
        assert abs(lib.layout.value(state.present().channels, "LOOK")[0] - look) < 1e-9, t


@pytest.mark.req("improv", 38)
def test_weights_of_a_group_sum_to_one_whatever_happens():
    rng = np.random.default_rng(5)
    for _ in range(30):
        actions = [Action("none")] + [
            action(
                f"a{k}",
                float(rng.uniform(0, 1.5)),
                Channel(1, 1, None, *(float(v) for v in rng.uniform(0.1, 1.5, 3)), float(rng.uniform(0.1, 2))),
            )
            for k in range(3)
        ]
        chosen = [(int(rng.integers(4)), t) for t in np.sort(rng.uniform(0, 3, 6)).tolist()]
        for channel in range(3):
            w = weights(chosen, actions, np.linspace(0, 6, 200), channel)
            assert np.abs(w.sum(axis=1) - 1).max() < 1e-12
            assert w.min() >= 0.0


def test_what_can_no_longer_be_seen_is_forgotten():
    actions = [action(n, 1.0) for n in "ab"]
    history = (Entry(0, 0.0), Entry(1, 1.0), Entry(0, 1.5))
    ramps = [takeover(actions[0], actions[1], INDEX)] * 2
    assert pruned(history, ramps, 1.9) == history
    assert pruned(history, ramps, 2.2) == history[1:]
    assert pruned(history, ramps, 2.5) == history[2:]


def test_a_fade_of_no_length_is_a_step():
    w = weights([(1, 1.0)], [action("a"), action("b", 0.0)], np.array([1.0 - 1e-6, 1.0]))[:, 1]
    assert np.allclose(w, [0.0, 1.0])
