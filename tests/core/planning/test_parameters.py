"""The parameters and switches of the thesis, gathered: each exists with its default, range and unit."""

from __future__ import annotations

import numpy as np
import pytest
from troupe.core.figure.mannequin import mannequin, rest_pose
from troupe.core.gait.treadmill import TreadmillParams
from troupe.core.kinematics import fk
from troupe.core.params import declared
from troupe.core.planning.hands.orders import ReachParams
from troupe.core.planning.senses.exploring import ExploringParams, set_out
from troupe.core.planning.senses.memory import VANISHED, MemoryParams
from troupe.core.planning.senses.vision import FAITHFUL as PLAIN_SIGHT
from troupe.core.planning.senses.vision import VisionParams
from troupe.core.planning.spaces.arm_space import Arm, arm_space, checker
from troupe.core.planning.spaces.rrt import SearchParams
from troupe.core.planning.spaces.shortcut import SmoothParams
from troupe.core.planning.spaces.solids import solids
from troupe.core.planning.spaces.space import FINER
from troupe.core.planning.walkers import follow, going, scenes
from troupe.core.planning.walkers.casting import common
from troupe.core.planning.walkers.scenes import spot
from troupe.core.planning.ways.map import MapParams, project
from troupe.core.planning.ways.search import search
from troupe.core.planning.ways.walkable import WalkableParams
from troupe.core.world import World

DEGREE = np.pi / 180
MASTER = [
    (MapParams, "cell", 0.0, "m"),
    (MapParams, "radius", 0.3, "m"),
    (MapParams, "z_low", 0.05, "m"),
    (MapParams, "z_high", 1.9, "m"),
    (going.GotoParams, "goal_gain", 1.0, "1/s"),
    (going.GotoParams, "heading_gain", 5.0, "1/s"),
    (going.GotoParams, "speed_gain", 5.0, "1/s"),
    (going.GotoParams, "turn_gain", 20.0, "1/s"),
    (follow.FollowParams, "step", 1 / 240, "s"),
    (going.GotoParams, "turn_from", 60 * DEGREE, "rad"),
    (going.GotoParams, "creep", 0.1, "m/s"),
    (going.GotoParams, "arrive", 0.05, "m"),
    (going.GotoParams, "look_ahead", 0.3, "s"),
    (follow.FollowParams, "window", 1.5, "m"),
    (going.GotoParams, "prediction", 1.0, "s"),
    (VisionParams, "pixels", 200, "px"),
    (VisionParams, "fov", 100 * DEGREE, "rad"),
    (VisionParams, "fov_vertical", 75 * DEGREE, "rad"),
    (VisionParams, "range", 30.0, "m"),
    (VisionParams, "least_pixels", 4, "px"),
    (VisionParams, "least_part", 0.05, ""),
    (VisionParams, "interval", 1, ""),
    (MemoryParams, "lifetime", 60.0, "s"),
    (SearchParams, "stride", 0.04, ""),
    (SearchParams, "budget", 4000, ""),
    (SmoothParams, "shortest", 0.4, "s"),
    (going.FollowParams, "near", 1.7, "m"),
    (going.FollowParams, "stop", 1.5, "m"),
    (ExploringParams, "view", 100 * DEGREE, "rad"),
    (ExploringParams, "view_height", 75 * DEGREE, "rad"),
    (ExploringParams, "range", 30.0, "m"),
    (ExploringParams, "pixels", 200, "px"),
    (ExploringParams, "least_pixels", 4, "px"),
    (ExploringParams, "least_part", 0.05, ""),
]


@pytest.mark.req("kuffner", 106)
@pytest.mark.parametrize(("record", "name", "default", "unit"), MASTER)
def test_the_master_table(record, name, default, unit):
    """Of its rows the grid's size is bounded by `max_cells`, T_max is a count of rounds, so that results do not depend
    on the clock, and 32 short-cuts that fail, tried sixteen at a time beside all corners, do for the hundred: 100 they
    are in `SmoothParams.faithful`."""
    (p,) = [p for p in declared(record) if p.name == name]
    assert p.default == pytest.approx(default) and p.unit == unit and len(p.help) > 8
    assert p.lo <= default <= p.hi and p.lo < p.hi


@pytest.mark.req("kuffner", 106)
def test_rows_of_the_table_that_follow_from_others():
    assert project(World(), MapParams(radius=0.4), bounds=[[0, 0], [4, 4]]).cell == pytest.approx(0.2)
    free = np.ones((2, 2), bool)
    assert (search(free, [0], [1]).cost, search(free, [0], [3]).cost) == (1024, 1448)
    skeleton = mannequin()
    pose = rest_pose(skeleton)
    body = fk.forward(skeleton, pose.rotations, pose.root)
    arm = Arm(skeleton, "R", *body)
    space = arm_space(arm, checker(arm, solids(World()), *body))
    # between two looks at a way that was found, no point of the arm goes farther than a centimetre
    rng = np.random.default_rng(0)
    q, turn = rng.uniform(arm.low, arm.high, (500, 7)), rng.normal(size=(500, 7))
    turn *= (space.step / FINER / space.size(turn))[:, None]
    (a, v), (b, w) = arm.segments(q), arm.segments(q + turn)
    moved = np.linalg.norm(np.concatenate([b - a, b + w - a - v], axis=1), axis=0)
    assert 0.001 < moved.max() <= 0.01
    assert np.abs(turn).max() < 3 * DEGREE


SWITCHES = {
    "growth test": (WalkableParams(), WalkableParams.faithful(), {"half_cell": (True, False), "margin": (0.05, 0.0)}),
    "diagonal between two blocked cells": (WalkableParams(), WalkableParams.faithful(), {"cut_corners": (False, True)}),
    "path": (WalkableParams(), WalkableParams.faithful(), {"straighten": (True, False)}),
    "search": (WalkableParams(), WalkableParams.faithful(), {"method": ("fast", "dijkstra"), "slack": (0.05, 0.0)}),
    "heading gains": (follow.FollowParams(), follow.FAITHFUL, {"turn_gain": (20.0, 10.0)}),
    "integration": (follow.FollowParams(), follow.FAITHFUL, {"step": (1 / 240, 1 / 30)}),
    "pose at low speed": (TreadmillParams(), TreadmillParams(plant=False), {"plant": (True, False)}),
    "vanished objects": (MemoryParams(), MemoryParams(vanished="two_renders"), {"vanished": ("depth", "two_renders")}),
    "recognition": (VisionParams(), PLAIN_SIGHT, {"recognition": ("area", "pixel"), "features": (True, False)}),
    "IK and grasp approach": (ReachParams(), ReachParams(faithful=True), {"faithful": (False, True)}),
    "RRT": (SearchParams(), SearchParams(method="connect"), {"method": ("wide", "connect"), "stride": (0.04, 0.04)}),
    "smoothing": (
        SmoothParams(),
        SmoothParams.faithful(),
        {"failures": (32, 100), "window": (1.0, 0.33), "together": (16, 1), "corners": (0.5, 0.0), "ways": (4, 1)},
    ),
    "timing": (SmoothParams(), SmoothParams.faithful(), {"profile": ("jerk", "cubic")}),
}


@pytest.mark.req("kuffner", 105)
@pytest.mark.parametrize("item", SWITCHES)
def test_every_deviation_is_a_switch(item):
    """What `faithful` does to a cast is shown in `test_navigate`, to a hand in `test_reach`."""
    improved, faithful, values = SWITCHES[item]
    for name, (new, old) in values.items():
        assert (getattr(improved, name), getattr(faithful, name)) == pytest.approx((new, old))
    assert "two_renders" in dict(VANISHED)


@pytest.mark.req("kuffner", 105)
def test_one_switch_of_a_feature_turns_all_of_its_deviations_off():
    for faithful in (False, True):
        told = going.GotoParams(faithful=faithful)
        assert common([told], told).faithful == faithful
        params = ExploringParams(faithful=faithful, pixels=80, least_pixels=6)
        trip = set_out(World(), np.zeros(3), spot(3.0, 0.0), params, params.chart())
        sight, memory = trip.explorer.vision, trip.explorer.memory
        assert (sight.recognition, sight.features) == (("pixel", False) if faithful else ("area", True))
        assert (sight.pixels, sight.least_pixels, sight.fov) == (80, 6, params.view)
        assert memory.vanished == ("two_renders" if faithful else "depth")
        wall = scenes.box("Wall", 1, (1.4, -1.0, 0.0), (1.6, 1.0, 2.0))
        points = trip.planner(World((wall,)), np.array([0.04, 0.04]), np.array([[3.0, 0.04]]), 0.0).path.points
        steps = np.abs(np.diff(points, axis=0)) / 0.08
        assert (len(points) > 20 and np.allclose(steps[1:-1], np.round(steps[1:-1]))) == faithful
