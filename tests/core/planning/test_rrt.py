"""Two trees find their ways, count what they do and say when they do not."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from troupe.core import Cancelled, InvalidParam, NoPath, Timeout
from troupe.core.maths import quat
from troupe.core.motion import Path
from troupe.core.planning.spaces.rrt import SearchParams, plan
from troupe.core.planning.spaces.shortcut import SmoothParams, along, lengths, rounded, shorten, timed
from troupe.core.planning.spaces.smoothing import smoothed
from troupe.core.planning.spaces.space import RIGID_AXES, RigidSpace, Space, checked, hits
from troupe.core.planning.spaces.tree import Grown, Tree

SIDE = 0.04
MAPS = {
    "open": (),
    "two blocks": ((0.30, 0, 0.40, 0.60), (0.60, 0.40, 0.70, 1)),
    "clutter": ((0.20, 0.20, 0.35, 0.40), (0.50, 0.10, 0.60, 0.45), (0.30, 0.55, 0.55, 0.70), (0.70, 0.50, 0.85, 0.80)),
    "two gates": ((0.33, 0, 0.37, 0.70), (0.33, 0.75, 0.37, 1), (0.63, 0, 0.67, 0.25), (0.63, 0.30, 0.67, 1)),
    "twisty": ((0.15, 0, 0.20, 0.85), (0.35, 0.15, 0.40, 1), (0.55, 0, 0.60, 0.85), (0.75, 0.15, 0.80, 1)),
}
START, GOAL = np.array([0.06, 0.06]), np.array([0.94, 0.94])
STRIDE = 0.04 / np.sqrt(2.0)
"""As a part of the diagonal of the unit square: steps of 0.04."""


def square(name="open", step=0.004):
    """A square robot among boxes in the unit square."""
    boxes = np.array(MAPS[name], dtype=float).reshape(-1, 4)

    def free(q):
        lo, hi = q - SIDE / 2, q + SIDE / 2
        inside = (lo >= 0).all(axis=1) & (hi <= 1).all(axis=1)
        hit = (hi[:, None] > boxes[:, :2]).all(axis=2) & (lo[:, None] < boxes[:, 2:]).all(axis=2)
        return inside & ~hit.any(axis=1)

    return Space(("x", "y"), np.zeros(2), np.ones(2), free, step)


def search(method, seed=0, **more):
    return SearchParams(method=method, stride=STRIDE, seed=seed, **{"budget": 200_000, **more})


@pytest.mark.req("kuffner", 68)
def test_a_tree_connects_fails_and_advances():
    space = square("two blocks")
    tree = Tree(space, np.array([0.25, 0.3]))
    assert tree.grow(np.array([0.25, 0.33]), 0.04)[0] is Grown.CONNECTION
    assert tree.grow(np.array([0.285, 0.3]), 0.04) == (Grown.FAILED, -1)
    assert tree.grow(np.array([0.1, 0.1]), 0.04)[0] is Grown.SUCCESS
    assert tree.grow(np.array([0.9, 0.3]), 0.04)[0] is Grown.FAILED or len(tree) > 3
    edges = space.distance(tree.nodes[1:], tree.nodes[tree.parents[1:]])
    assert edges.max() <= 0.04 + 1e-12


@pytest.mark.req("kuffner", 68)
def test_a_target_at_exactly_a_step_is_connected():
    tree = Tree(square(), np.array([0.5, 0.5]))
    assert tree.grow(np.array([0.5, 0.54]), 0.04 + 1e-15)[0] is Grown.CONNECTION


@pytest.mark.req("kuffner", 69)
def test_where_nothing_is_in_the_way_nothing_is_drawn():
    found = plan(square(), START, GOAL, search("connect"))
    assert found.search.samples == 0
    assert found.search.nodes == int(np.ceil(np.linalg.norm(GOAL - START) / 0.04)) + 2 == 34
    wide = plan(square(), START, GOAL, search("wide"))
    assert wide.search.samples == 0 and len(wide.path.points) == 2


@pytest.mark.req("kuffner", 70)
def test_the_states_follow_each_other_as_published():
    """A tree that heads on keeps heading; one that fails draws a sample; then it is the other tree's turn."""
    trace = plan(square("clutter"), START, GOAL, search("connect", 3)).search.trace
    assert trace[0] == "i"
    after = {}
    for now, later in itertools.pairwise(trace):
        after.setdefault(now, set()).add(later)
    assert after["i"] == {"i", "I"} and after["g"] == {"g", "G"}
    assert after["I"] == {"g", "G"} and after["G"] == {"i", "I"}


@pytest.mark.req("kuffner", 71)
@pytest.mark.parametrize("method", ["wide", "connect", "basic"])
@pytest.mark.parametrize("name", ["two blocks", "clutter", "twisty"])
def test_ways_are_free_at_a_tenth_of_the_step(method, name):
    space = square(name)
    found = plan(space, START, GOAL, search(method, 1))
    assert hits(space, found.path.points) == []
    assert (found.path.points >= space.low).all() and (found.path.points <= space.high).all()


@pytest.mark.req("kuffner", 72)
@pytest.mark.parametrize("method", ["wide", "connect", "basic"])
def test_ways_lead_from_start_to_goal_and_meet_once(method):
    for seed in range(6):
        points = plan(square("clutter"), START, GOAL, search(method, seed)).path.points
        assert np.array_equal(points[0], START) and np.array_equal(points[-1], GOAL)
        assert np.linalg.norm(np.diff(points, axis=0), axis=1).min() > 0


@pytest.mark.req("kuffner", 73)
def test_a_search_that_ends_keeps_its_trees_and_claims_nothing():
    walled = square("two blocks")
    shut = replace(walled, free=lambda q: walled.free(q) & (np.abs(q[:, 0] - 0.5) > 0.02))
    for method in ("wide", "connect", "basic"):
        with pytest.raises(Timeout, match="may be one") as error:
            plan(shut, START, GOAL, search(method, budget=60))
        assert error.value.search.nodes > 2
        assert all(len(nodes) == len(parents) for nodes, parents in error.value.search.trees)


@pytest.mark.req("kuffner", 74)
def test_heading_for_the_other_tree_pays_where_it_is_open():
    def work(name, method, seeds):
        found = [plan(square(name), START, GOAL, search(method, s)).search for s in range(seeds)]
        return np.mean([f.nodes for f in found]), np.mean([f.looks for f in found])

    for name, seeds, nodes_at_most, looks_at_most in (("open", 20, 0.35, 0.35), ("twisty", 2, 1.3, 1.3)):
        basic, connect = work(name, "basic", seeds), work(name, "connect", seeds)
        assert connect[0] / basic[0] <= nodes_at_most
        assert connect[1] / basic[1] <= looks_at_most


@pytest.mark.req("kuffner", 75)
def test_angles_take_the_short_way_round():
    turning = Space(
        ("x", "turn"), np.array([0.0, -np.pi]), np.array([1.0, np.pi]), lambda q: np.ones(len(q), bool), 0.05,
        wraps=np.array([False, True]),
    )  # fmt: skip
    a, b = np.array([0.5, 3.0]), np.array([0.5, -3.0])
    assert turning.distance(a, b) == pytest.approx(2 * np.pi - 6.0)
    half = turning.moved(a, 0.5 * turning.difference(a, b))
    assert abs(half[1]) == pytest.approx(np.pi, abs=1e-9)
    assert lengths(turning, plan(turning, a, b).path.points)[-1] == pytest.approx(2 * np.pi - 6.0)


def rigid(free, reach=0.3):
    low, high = np.array([-2.0] * 3 + [-1.0] * 4), np.array([2.0] * 3 + [1.0] * 4)
    return RigidSpace(RIGID_AXES, low, high, free, 0.05, reach=reach)


@pytest.mark.req("kuffner", 78)
def test_a_plank_is_turned_to_pass_a_slit():
    tips = np.array([[-0.5, 0, 0], [-0.25, 0, 0], [0.0, 0, 0], [0.25, 0, 0], [0.5, 0, 0]])

    def free(q):
        """A plank along x in a room cut by a wall at y = 0 with a slit that is narrow in x and high in z."""
        points = q[:, None, :3] + quat.rotate(q[:, None, 3:], tips[None])
        wall = (np.abs(points[..., 1]) < 0.06) & ((np.abs(points[..., 0]) > 0.18) | (np.abs(points[..., 2]) > 0.9))
        return ~wall.any(axis=1)

    space = rigid(free)
    start = np.array([0, -1.0, 0, 1, 0, 0, 0])
    goal = np.array([0, 1.0, 0, 1, 0, 0, 0])
    found = plan(space, start, goal, SearchParams(seed=2))
    assert np.allclose(np.linalg.norm(found.path.points[:, 3:], axis=1), 1.0)
    assert hits(space, found.path.points) == []
    turned = quat.distance(found.path.points[:, 3:], start[3:])
    assert turned.max() > np.radians(30)


@pytest.mark.req("kuffner", 76)
def test_short_cuts_shorten_and_keep_the_ends():
    space = square("clutter")
    path = plan(space, START, GOAL, search("connect", 5)).path
    before = lengths(space, path.points)[-1]
    for params in (SmoothParams(), SmoothParams(together=1, window=0.33, failures=100)):
        short = shorten(space, path, params, np.random.default_rng(1))
        after = lengths(space, short.points)[-1]
        assert after < 0.9 * before
        assert np.array_equal(short.points[[0, -1]], path.points[[0, -1]])
        assert hits(space, short.points) == []


@pytest.mark.req("kuffner", 76)
def test_short_cuts_end_after_so_many_failures():
    space = square()
    calls = []
    counting = replace(space, free=lambda q: calls.append(len(q)) or space.free(q))
    bent = Path(np.array([[0.1, 0.1], [0.5, 0.5], [0.9, 0.9]]), ("x", "y"))
    assert len(shorten(counting, bent, SmoothParams(failures=32)).points) == 3
    assert not calls


def test_corners_become_round_where_there_is_room():
    space = square()
    bent = Path(np.array([[0.1, 0.1], [0.9, 0.1], [0.9, 0.9]]), ("x", "y"))
    turns = np.diff(rounded(space, bent).points, axis=0)
    turns = np.degrees(np.abs(np.diff(np.unwrap(np.arctan2(turns[:, 1], turns[:, 0])))))
    assert turns.max() < 25.0
    corner = np.array([0.4 + SIDE / 2, 0.6 + SIDE / 2])
    tight = Path(
        np.array([[0.2, corner[1]], corner, [corner[0], 0.3]]) + [[0, 0.001], [0.001, 0.001], [0.001, 0]], ("x", "y")
    )
    assert hits(square("two blocks"), rounded(square("two blocks"), tight).points) == []


def test_a_smooth_way_swings_wide_around_a_corner_and_keeps_its_straight_ends():
    blocked = square("two blocks")
    tight = np.array([[0.2, 0.1], [0.2, 0.66], [0.5, 0.66], [0.5, 0.2]])
    found = smoothed(blocked, tight, (0.2, 0.1))
    assert hits(blocked, found) == []
    first, last = lengths(blocked, found) <= 0.2, lengths(blocked, found[::-1]) <= 0.1
    assert np.abs(found[first, 0] - 0.2).max() < 1e-9 and np.abs(found[::-1][last, 0] - 0.5).max() < 1e-9
    steps = np.diff(found, axis=0)
    turns = np.degrees(np.abs(np.diff(np.unwrap(np.arctan2(steps[:, 1], steps[:, 0])))))
    assert turns.max() < 20.0 and lengths(blocked, found)[-1] < lengths(blocked, tight)[-1]
    # what touches something from the first stays as it is; the rest is smooth all the same
    inside = np.concatenate([[[0.35, 0.3]], tight])
    kept = smoothed(blocked, inside)
    assert np.array_equal(kept[0], inside[0]) and kept is not None
    assert smoothed(blocked, np.array([[0.1, 0.1], [0.1, 0.1]])) is None


@pytest.mark.req("kuffner", 86)
@pytest.mark.parametrize("profile", ["jerk", "cubic"])
def test_ways_ease_in_and_out_below_the_fastest(profile):
    space = square("clutter")
    path = rounded(space, shorten(space, plan(space, START, GOAL, search("wide", 4)).path))
    fps, fastest = 240.0, np.array([0.5, 0.5])
    way = timed(space, path, fastest, fps, SmoothParams(profile=profile))
    rate = np.abs(np.diff(way.points, axis=0)) * fps
    assert (rate.max(axis=0) <= fastest * 1.001).all()
    speed = np.linalg.norm(np.diff(way.points, axis=0), axis=1) * fps
    assert speed[0] < 0.05 * speed.max() and speed[-1] < 0.05 * speed.max()
    # what a chord across a rounded corner loses is not a second maximum
    share = lengths(space, way.points)
    share = np.interp(np.linspace(0, 1, 25), np.linspace(0, 1, len(share)), share / share[-1])
    slope = np.diff(share)
    peak = int(slope.argmax())
    assert (np.diff(slope[: peak + 1]) > -1e-3).all() and (np.diff(slope[peak:]) < 1e-3).all()
    assert np.array_equal(way.points[0], path.points[0]) and np.allclose(way.points[-1], path.points[-1])


def test_the_same_seed_finds_the_same_way():
    a, b = (plan(square("twisty"), START, GOAL, search("wide", 9)).path.points for _ in range(2))
    assert np.allclose(a, b, rtol=0, atol=1e-9)
    assert not np.array_equal(a[:3], plan(square("twisty"), START, GOAL, search("wide", 8)).path.points[:3])


def test_what_is_not_free_is_named():
    with pytest.raises(NoPath, match="goal"):
        plan(square("two blocks"), START, np.array([0.35, 0.3]))
    with pytest.raises(NoPath, match=r"start \(x = 1.5, allowed 0 to 1\)"):
        plan(square(), np.array([1.5, 0.5]), GOAL)
    with pytest.raises(InvalidParam, match="numbers"):
        plan(square(), START, np.array([np.nan, 0.5]))
    with pytest.raises(InvalidParam, match="lower limit"):
        Space(("x",), np.ones(1), np.zeros(1), lambda q: q[:, 0] > 0, 0.1)


def test_it_stops_when_told():
    with pytest.raises(Cancelled):
        plan(square("twisty"), START, GOAL, search("wide"), should_stop=lambda: True)


def test_steps_of_a_way_are_counted_before_the_first_hit():
    space = square("two blocks")
    done, steps = checked(space, np.array([[0.1, 0.3], [0.1, 0.3]]), np.array([[0.2, 0.3], [0.5, 0.3]]))
    assert steps.tolist() == [25, 100] and done[0] == 25
    assert 0 < done[1] <= int((0.30 - SIDE / 2 - 0.1) / 0.004)


def test_points_along_a_way():
    space = square()
    points = np.array([[0.1, 0.1], [0.4, 0.1], [0.4, 0.5]])
    assert np.allclose(
        along(space, points, [0.0, 0.15, 0.3, 0.5, 0.7]), [[0.1, 0.1], [0.25, 0.1], [0.4, 0.1], [0.4, 0.3], [0.4, 0.5]]
    )
