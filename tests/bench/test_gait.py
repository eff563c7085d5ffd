"""Walking as it is generated for a slider: absolute limits of the time of one process, and how it grows."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from troupe.core import Skeleton
from troupe.core.figure.mannequin import mannequin
from troupe.core.gait.run import RunParams
from troupe.core.gait.travel import TravelParams, travel
from troupe.core.gait.walk import WalkParams, walk
from troupe.core.motion import Path

FPS, JOINTS = 24.0, 60


def sixty_joints() -> Skeleton:
    """The mannequin with enough twist bones to make sixty joints."""
    plain = mannequin()
    more = JOINTS - len(plain)
    limbs = [plain.joint(f"{part}_{side}") for part in ("thigh", "shin", "upper_arm", "forearm") for side in "LR"]
    return replace(
        plain,
        names=(*plain.names, *(f"twist.{k}" for k in range(more))),
        parents=np.concatenate([plain.parents, (3 * limbs)[:more]]),
        offsets=np.concatenate([plain.offsets, np.full((more, 3), 0.05)]),
        tips=np.concatenate([plain.tips, np.full((more, 3), 0.05)]),
        limits=np.concatenate([plain.limits, np.tile([-np.pi, np.pi], (more, 3, 1))]),
    )


FIGURE = sixty_joints()


def straight(seconds: float, speed: float = 1.4) -> Path:
    """A steady way ahead."""
    t = np.arange(round(seconds * FPS) + 1) / FPS
    return Path(np.column_stack([0 * t, -speed * t, 0 * t]), ("x", "y", "heading"), t)


def winding(seconds: float) -> Path:
    """A way of changing speed and direction, on which no two steps are alike."""
    t = np.arange(round(seconds * FPS) + 1) / FPS
    heading = 0.8 * np.sin(0.5 * t)
    pace = (1.3 + 0.4 * np.sin(0.9 * t)) / FPS
    return Path(
        np.column_stack([np.cumsum(pace * np.sin(heading)), -np.cumsum(pace * np.cos(heading)), heading]),
        ("x", "y", "heading"),
        t,
    )


def best(call: Callable[[], object], repeat: int = 20) -> float:
    """Shortest time of several calls [s]: of this process alone, for the limits are absolute."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def told(name: str, took: float, limit: float) -> None:
    print(f"{name}: {1e3 * took:.1f} ms (limit {1e3 * limit:.0f} ms)")
    assert took < limit, f"{name} takes {1e3 * took:.1f} ms, at most {1e3 * limit:.0f} ms wanted"


@pytest.mark.parametrize("way", [straight, winding])
def test_10_s_of_walking_at_24_fps_on_60_joints_take_less_than_30_ms(way: Callable[[float], Path]) -> None:
    base = way(10.0)
    told(f"10 s of walking, {way.__name__}", best(lambda: travel(FIGURE, base, TravelParams(gait="walk"))), 0.03)


def test_a_walk_from_stand_to_stand_takes_less_than_30_ms() -> None:
    params = WalkParams(distance=12.0)
    told("12 m from stand to stand", best(lambda: walk(FIGURE, params, fps=FPS)), 0.03)


def test_a_loop_takes_less_than_30_ms() -> None:
    params = WalkParams(in_place=True)
    told("one stride that loops", best(lambda: walk(FIGURE, params, fps=FPS)), 0.03)


@pytest.mark.req("bruderlin", 29)
def test_10_s_of_running_at_30_fps_take_less_than_half_a_second() -> None:
    t = np.arange(301) / 30.0
    base = Path(np.column_stack([0 * t, -3.3 * t, 0 * t]), ("x", "y", "heading"), t)
    params = TravelParams(gait="run", run=RunParams())
    told("10 s of running", best(lambda: travel(FIGURE, base, params), 4), 0.5)


def test_cost_grows_linearly_with_time() -> None:
    short, long = (best(partial(travel, FIGURE, winding(s)), 3) for s in (60.0, 240.0))
    print(f"60 s: {1e3 * short:.0f} ms, 240 s: {1e3 * long:.0f} ms, x{long / short:.1f}")
    assert long < 5 * short


def test_an_hour_of_walking_works() -> None:
    took = best(lambda: travel(FIGURE, straight(3600.0)), 1)
    told("an hour of walking", took, 60.0)
