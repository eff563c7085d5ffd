"""The master clock: mixed tempo, phases that wait for their window, morphs on one slider."""

from __future__ import annotations

import numpy as np
import pytest
from troupe.core.acting.body.body import BodyParams, start
from troupe.core.acting.body.clock import GRID_HZ, grid_phases, inside, tick_of
from troupe.core.acting.body.perform import Selection, advance_all, perform
from troupe.core.acting.body.tracks import sampled
from troupe.core.acting.repertoire.puppet import INDEX
from troupe.core.acting.repertoire.stockactions import stock_library

from .puppets import MANNEQUIN, library, reference_body

TEMPOS = """
define ACTION slow { tempo 1 fade 1  Nod 0:10 0 0 { c1 0 0 } }
define ACTION fast { tempo 2 fade 1  Nod 0:10 0 0 { c1 0 0 } }
define ACTION turn { fade .4 entry 130:155  Neck 5 0 0 }
define ACTION bound { fade .4 exit 200:220  tempo 1  Neck 5 0 0 }
define ACTION stop { tempo 0 fade .5 }
GROUP g ACTION slow ACTION fast ACTION turn ACTION bound ACTION stop
"""
STOCK = stock_library()
TURN = 2 * np.pi


@pytest.mark.req("improv", 45)
def test_between_two_tempos_the_clock_has_their_weighted_mean():
    lib = library(TEMPOS)
    state = start(lib, MANNEQUIN).select("", "fast", 1.0)
    phases, tempos, times = [], [], np.arange(0, 361) / 120
    for t in times:
        state = state.advance(float(t))
        w = state.weights("g")
        assert abs(state.tempo - (w.get("slow", 0.0) * 1 + w.get("fast", 0.0) * 2)) < 1e-12
        phases.append(state.phase)
        tempos.append(state.tempo)
    speed = np.diff(phases) * 120 / TURN
    assert np.abs(speed - (np.array(tempos)[1:] + np.array(tempos)[:-1]) / 2).max() < 2e-4
    assert np.abs(np.diff(speed)).max() < 0.02
    # a second at one, a second at one and a half on the mean, a second at two
    assert abs(phases[-1] / TURN - 4.5) < 1e-9


def test_the_grid_is_independent_of_how_it_is_walked():
    def rate(t: np.ndarray) -> np.ndarray:
        return 1.0 + np.sin(t) ** 2

    whole = grid_phases(rate, 0.0, 0, 480)
    half = grid_phases(rate, 0.0, 0, 123)
    rest = grid_phases(rate, float(half[-1]), 123, 480)
    assert np.array_equal(whole, np.concatenate([half, rest[1:]]))
    assert abs(whole[-1] / TURN - (3.0 - np.sin(4.0) / 4)) < 1e-9
    assert tick_of(1 / 24) == GRID_HZ // 24 and tick_of(0.0) == 0


@pytest.mark.req("improv", 46)
def test_walks_in_phase_keep_their_footfalls_when_blended():
    sheet = "".join(
        f"define ACTION {name} {{ tempo 1 fade 0 Lhip {-a}:{a} 0 0 {{ C 0 0 }} Rhip {-a}:{a} 0 0 {{ A 0 0 }}"
        f" Lknee 0:{k} 0 0 {{ bias(D, .25) 0 0 }} Rknee 0:{k} 0 0 {{ bias(B, .25) 0 0 }} }}\n"
        for name, a, k in (("short", 20, 46), ("long", 32, 76))
    )
    lib = library(sheet + "morph both from short to long amount .5\nGROUP g ACTION short ACTION long ACTION both")
    fading = [Selection(0.0, "", "short", fade=0.0), Selection(0.5, "", "long", fade=5.0)]
    takes = {name: [Selection(0.0, "", name, fade=0.0)] for name in ("short", "long", "both")} | {"fading": fading}
    falls = {}
    for name, wishes in takes.items():
        motion = perform(lib, reference_body(), wishes, 6.0, 240, BodyParams(clear_arms=False))
        for side in "LR":
            on = motion.curves[f"contact/foot_{side}"][240:] > 0.5
            falls[name, side] = (np.flatnonzero(on[1:] & ~on[:-1]) + 241) / 240 * 360 % 360
            assert len(falls[name, side]) >= 4
    for side in "LR":
        low, high = sorted(float(np.median(falls[name, side])) for name in ("short", "long"))
        assert high - low < 5.0, "they have their footfalls in common"
        for name in ("both", "fading"):
            assert np.all((falls[name, side] > high - 5.0) & (falls[name, side] < low + 5.0)), (name, side)


@pytest.mark.req("improv", 47)
def test_actors_have_clocks_of_their_own():
    lib = library(TEMPOS)
    cast = [start(lib, MANNEQUIN, BodyParams(actor=k)) for k in range(3)]
    cast[1], cast[2] = cast[1].select("", "fast", 0.0), cast[2].select("", "stop", 0.5)
    alone = [state.advance(1.3) for state in cast]
    for k in range(1, 14):
        cast = advance_all(cast, k / 10)
    # one goes over to two cycles a second within a second, one comes to a stop; of an S-ramp x^3 - x^4 / 2 is gone at x
    stopping = 0.5 + 0.8 - (0.8**3 - 0.8**4 / 2)
    for state, cycles in zip(cast, (1.3, 1.5 + 0.6, stopping), strict=True):
        assert abs(state.phase / TURN - cycles) < 1e-9
    assert [state.phase for state in cast] == pytest.approx([state.phase for state in alone], abs=1e-12)


@pytest.mark.req("improv", 48)
def test_an_action_waits_for_its_phase_and_never_begins_before():
    lib = library(TEMPOS)
    asked = start(lib, MANNEQUIN).select("", "turn", 1.0)
    for rate in (24, 97):
        state = asked
        begun = None
        for k in range(1, 3 * rate):
            state = state.advance(k / rate)
            if begun is None and state.selected("g") == "turn":
                begun = state.groups[0].history[-1].time
            elif begun is None and state.time > 1.0:
                assert state.pending("g") == "turn"
        assert begun is not None and abs(begun - (1 + 130 / 360)) < 1e-4
    within = start(lib, MANNEQUIN).select("", "turn", 1 + 140 / 360).advance(2.0)
    assert within.groups[0].history[-1].time == 1 + 140 / 360


@pytest.mark.req("improv", 48)
def test_leaving_waits_for_the_phase_of_what_is_left():
    lib = library(TEMPOS)
    state = start(lib, MANNEQUIN).select("", "bound", 0.0).select("", "slow", 2.0).advance(4.0)
    assert abs(state.groups[0].history[-1].time - (2 + 200 / 360)) < 1e-3


@pytest.mark.req("improv", 48)
def test_a_request_starts_at_once_without_a_rhythm_is_replaceable_and_lapses():
    lib = library(TEMPOS)
    state = start(lib, MANNEQUIN).select("", "stop", 0.0).advance(2.0).select("", "turn", 2.0).advance(2.01)
    assert state.selected("g") == "turn"
    state = start(lib, MANNEQUIN).select("", "turn", 1.0).advance(1.1)
    assert state.pending("g") == "turn"
    state = state.select("", "fast", 1.15).advance(3.0)
    assert state.selected("g") == "fast" and state.pending("g") == ""
    # half a cycle of patience from phase 180 on does not reach a window at 100
    never = library(TEMPOS.replace("entry 130:155", "entry 100:110"))
    state = start(never, MANNEQUIN, BodyParams(patience=0.5)).select("", "turn", 1.5).advance(4.0)
    assert state.selected("g") == "slow" and state.pending("g") == ""
    assert any("turn" in w for w in state.warnings)


def test_windows_may_run_across_the_full_turn():
    phases = np.radians([350.0, 5.0, 20.0, 180.0, 710.0])
    assert inside(phases, [(340.0, 10.0)]).tolist() == [True, True, False, False, True]
    assert inside(phases, []).all()


@pytest.mark.req("improv", 49)
def test_a_morph_scales_pose_and_tempo_together():
    for amount in (0.0, 0.3, 1.0):
        state = start(STOCK, MANNEQUIN, styles={"walking.amount": amount}).select("", "walking", 0.0, fade=0.0)
        state = state.advance(1.0)
        assert abs(state.tempo - 1.4 * amount) < 1e-12
        run = start(STOCK, MANNEQUIN).select("", "running", 0.0, fade=0.0).advance(state.phase / TURN / 1.4)
        assert abs(run.phase - state.phase) < 1e-9
        clocked = [k for joint, k in INDEX.items() if joint not in ("Neck", "Nod")]
        assert np.allclose(state.angles()[clocked], amount * run.angles()[clocked], atol=1e-6)
    state = start(STOCK, MANNEQUIN).select("", "walking", 0.0).advance(2.0)
    state = state.set_style("walking.amount", 0.0, over=0.5).advance(3.0)
    there = state.phase
    state = state.advance(5.0)
    assert state.phase == there and state.tempo == 0.0
    state = state.set_style("walking.amount", 0.4, over=0.5).advance(5.05)
    assert 0.0 < state.phase - there < 0.1


@pytest.mark.req("improv", 9, 110)
def test_a_style_from_a_curve_gives_the_same_take_at_any_rate():
    style = {"walking.amount": sampled(0.3 + 0.2 * np.sin(np.linspace(0, 6, 97)), 24)}
    takes = {
        fps: perform(STOCK, MANNEQUIN, [Selection(0.0, "", "walking")], 4.0, fps, styles=style) for fps in (12, 24, 60)
    }
    assert np.abs(takes[60].roots[::5] - takes[12].roots).max() < 1e-9
    assert np.abs(takes[24].roots[::2] - takes[12].roots).max() < 1e-9
    slow = perform(STOCK, MANNEQUIN, [Selection(0.0, "", "walking")], 4.0, 12, styles={"walking.amount": 0.3})
    assert np.abs(takes[12].roots[-1] - slow.roots[-1]).max() > 0.05
