"""How many actors can be stepped in real time, and what a baked take costs against stepping it."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from troupe.core.acting.body.body import BodyParams, BodyState, start
from troupe.core.acting.body.perform import advance_all, perform, performed, poses
from troupe.core.acting.repertoire.library import ActionLibrary
from troupe.core.acting.repertoire.stockactions import stock_library
from troupe.core.figure.mannequin import mannequin

STOCK = stock_library()
FIGURE = mannequin(1.75)
STANCES = ("walking", "rhumba", "idle", "Stand", "stroll", "twist")
GESTURES = ("Talk_Gesture1", "Wave_left", "talk_both_hands", "point", "beckon")


def best(call: Callable[[], object], repeat: int) -> float:
    """Shortest time of several calls [s], of this process alone."""
    times = []
    for _ in range(repeat):
        begin = time.process_time()
        call()
        times.append(time.process_time() - begin)
    return min(times)


def actor(k: int, library: ActionLibrary = STOCK) -> BodyState:
    state = start(library, FIGURE, BodyParams(actor=k), place=(k % 10, k // 10, 0.1 * k))
    return state.select("", STANCES[k % 6], 0.0).select("", GESTURES[k % 5], 0.1 * k).advance(1.0)


@pytest.mark.req("improv", 108)
def test_one_actor_takes_more_than_a_thousand_steps_a_second() -> None:
    state = actor(0)

    def steps() -> None:
        nonlocal state
        for _ in range(50):
            state = state.advance(state.time + 1 / 240)

    took = best(steps, 10) / 50
    print(f"one step of one actor: {1e6 * took:.0f} us, {1 / took:.0f} a second")
    assert took < 1e-3


def test_fifty_actors_run_in_real_time_at_24_frames_a_second() -> None:
    """Each has the whole stock to choose from, which is more than thirty actions."""
    assert sum(bool(STOCK.action(n).channels) for n in STOCK.names) >= 30
    cast = [actor(k) for k in range(50)]

    def frame() -> None:
        cast[:] = advance_all(cast, cast[0].time + 1 / 24)
        poses(cast)

    took = best(frame, 12)
    print(f"a frame of 50 actors: {1e3 * took:.1f} ms of {1e3 / 24:.1f}")
    assert took < 1 / 24


def test_baking_is_ahead_of_stepping(ratio: Callable[..., float]) -> None:
    state = actor(0)

    def stepped() -> list[object]:
        now, out = state, []
        for k in range(1, 241):
            now = now.advance(1.0 + k / 24)
            out.append(now.pose())
        return out

    ratio("10 s of one actor baked, stepped", lambda: performed(state, 10.0, 24), stepped, at_least=4.0, repeat=3)


def test_thirty_seconds_of_three_actors_bake_in_less_than_five() -> None:
    took = best(lambda: [perform(STOCK, FIGURE, [], 30.0, 24, BodyParams(actor=k)) for k in range(3)], 2)
    print(f"3 actors x 30 s at 24 fps: {took:.2f} s")
    assert took < 5.0
