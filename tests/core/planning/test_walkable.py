"""What a body may tread and its ways: growth, snapping, reasons for no way, costs, goal sets, fields, switches."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from troupe.core.errors import InvalidParam, NoPath
from troupe.core.planning.ways import cornerways, routes
from troupe.core.planning.ways.map import Map, MapParams
from troupe.core.planning.ways.walkable import WalkableParams, on_grid, walkable

FAITHFUL = WalkableParams.faithful()


def charted(blocked, cell=0.2, cost=None):
    """A map of given blocked cells."""
    layer = np.array(blocked, bool)[None]
    flat = np.zeros(layer.shape)
    price = np.ones(layer.shape) if cost is None else np.array(cost, float)[None]
    return Map(np.zeros(2), cell, layer, flat, flat + np.inf, flat - np.inf, price, MapParams(cell=cell))


def walled(rows=40, columns=40, gap=None):
    """Cells with a wall across the middle, and a gap in it."""
    blocked = np.zeros((rows, columns), bool)
    blocked[:, columns // 2] = True
    if gap is not None:
        blocked[gap, columns // 2] = False
    return blocked


def length(points):
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


@pytest.mark.req("kuffner", 18)
def test_growth_equals_marking_discs_one_by_one():
    rng = np.random.default_rng(0)
    for _ in range(10):
        blocked = rng.random((23, 31)) < 0.03
        radius = rng.uniform(0.1, 1.5)
        expected = np.zeros(blocked.shape, bool)
        y, x = np.mgrid[: blocked.shape[0], : blocked.shape[1]]
        for r, c in np.argwhere(blocked):
            expected |= np.hypot(y - r, x - c) * 0.2 <= radius
        assert np.array_equal(~charted(blocked).walkable(radius, FAITHFUL).free, expected)


@pytest.mark.req("kuffner", 105)
def test_every_improvement_is_a_switch_and_the_faithful_preset_has_them_all_off():
    blocked = np.zeros((30, 30), bool)
    blocked[10, 10] = True
    plain = charted(blocked).walkable(0.4, FAITHFUL)
    assert plain.free[10, 13]
    assert not plain.free[10, 12]
    for name in ("half_cell", "cut_corners", "straighten", "method", "margin", "slack"):
        assert getattr(WalkableParams(), name) != getattr(FAITHFUL, name)
    margin = charted(blocked).walkable(0.4, WalkableParams(margin=0.2, half_cell=False))
    assert not margin.free[10, 13]
    half = charted(blocked).walkable(0.5, WalkableParams(margin=0.0, half_cell=True))
    assert not half.free[10, 13]
    assert charted(blocked).walkable(0.5, WalkableParams(margin=0.0, half_cell=False)).free[10, 13]


@pytest.mark.req("kuffner", 105)
def test_a_faithful_way_goes_from_centre_to_centre_of_neighbouring_cells():
    ways = charted(walled(gap=slice(3, 12))).walkable(0.3, FAITHFUL)
    route = ways.plan((1.03, 6.0), (7.0, 6.0))
    assert route.report.method == "dijkstra"
    steps = np.abs(np.diff(route.path.points, axis=0)) / 0.2
    assert np.allclose(steps, np.round(steps))
    assert steps.max() == pytest.approx(1.0)
    improved = charted(walled(gap=slice(3, 12))).walkable(0.3).route((1.03, 6.0), (7.0, 6.0))
    assert len(improved.points) < len(route.path.points) / 3
    assert improved.points[0] == pytest.approx([1.03, 6.0])


@pytest.mark.parametrize("method", ["fast", "astar", "dijkstra"])
def test_all_methods_find_ways_of_like_length(method):
    blocked = walled(gap=slice(30, 36))
    least = charted(blocked).walkable(0.2, WalkableParams(slack=0.0)).plan((1, 1), (7, 1)).report.length
    route = charted(blocked).walkable(0.2, WalkableParams(method=method)).plan((1, 1), (7, 1))
    assert least <= route.report.length + 1e-9 <= 1.05 * least
    assert route.report.length == pytest.approx(length(route.path.points))
    assert route.report.expanded > 0
    assert route.report.relaxations >= route.report.expanded - 1
    assert route.path.axes == ("x", "y")


@pytest.mark.req("kuffner", 30)
def test_a_start_beside_a_wall_goes_to_the_nearest_free_place_first_and_says_so():
    ways = charted(walled()).walkable(0.3)
    route = ways.plan((3.7, 4.0), (1.0, 1.0))
    assert route.report.start_adjusted > 0
    assert "start was moved" in route.report.notes[0]
    assert route.path.points[0] == pytest.approx([3.7, 4.0])
    column, row = (route.path.points[1] / 0.2).astype(int)
    assert ways.free[row, column]
    clear = ways.plan((1.0, 4.0), (1.0, 1.0)).report
    assert (clear.start_adjusted, clear.goal_adjusted, clear.notes) == (0.0, 0.0, ())


@pytest.mark.req("kuffner", 30)
def test_a_goal_in_a_wall_is_replaced_by_the_nearest_free_place_or_refused():
    ways = charted(walled()).walkable(0.3)
    route = ways.plan((1.0, 1.0), (3.7, 4.0))
    assert 0 < route.report.goal_adjusted <= 0.6
    assert "goal was moved" in route.report.notes[0]
    assert np.linalg.norm(route.path.points[-1] - [3.7, 4.0]) == pytest.approx(route.report.goal_adjusted)
    solid = np.zeros((40, 40), bool)
    solid[10:30, 10:30] = True
    with pytest.raises(NoPath, match=r"goal \(4.00, 4.00\) is in or beside an obstacle"):
        charted(solid).walkable(0.3).route((1, 1), (4, 4))
    with pytest.raises(NoPath, match=r"start .* is in or beside an obstacle"):
        charted(solid).walkable(0.3).route((4, 4), (1, 1))


@pytest.mark.req("kuffner", 30)
def test_what_is_not_free_goes_to_the_very_nearest_free_place_within_twice_the_radius():
    blocked = np.zeros((40, 40), bool)
    blocked[12:40, 14:] = True
    ways = charted(blocked).walkable(0.3)
    rows, columns = np.nonzero(ways.free)
    centres = 0.2 * np.column_stack([columns, rows]) + 0.1
    moved = refused = 0
    for place in np.random.default_rng(2).uniform([2.2, 1.6], [4.0, 4.0], (160, 2)):
        column, row = (place / 0.2).astype(int)
        if ways.free[row, column]:
            continue
        gap = np.hypot(*(centres - place).T)
        nearest = centres[gap.argmin()]
        if gap.min() > 0.6:
            refused += 1
            for ends in ((place, (1.0, 1.0)), ((1.0, 1.0), place)):
                with pytest.raises(NoPath, match=r"no free place within 0\.60 m"):
                    ways.plan(*ends)
            continue
        moved += 1
        away, back = ways.plan(place, (1.0, 1.0)), ways.plan((1.0, 1.0), place)
        assert away.report.start_adjusted == pytest.approx(gap.min()) == back.report.goal_adjusted
        assert "start was moved" in away.report.notes[0] and "goal was moved" in back.report.notes[0]
        assert away.path.points[0] == pytest.approx(place) and away.path.points[1] == pytest.approx(nearest)
        assert back.path.points[-1] == pytest.approx(nearest)
    assert moved > 20 and refused > 10


def test_the_nearest_free_place_is_the_place_itself_or_a_free_centre():
    ways = charted(walled()).walkable(0.3)
    assert ways.nearest((1.03, 1.07)) == pytest.approx([1.03, 1.07])
    near = ways.nearest((3.9, 4.0))
    column, row = (near / 0.2).astype(int)
    assert ways.free[row, column]
    assert np.linalg.norm(near - [3.9, 4.0]) <= 0.6
    with pytest.raises(NoPath, match="place"):
        ways.nearest((4.1, 4.0), reach=0.05)


def test_places_outside_the_map_are_refused_unless_its_edge_is_near():
    ways = charted(np.zeros((20, 20), bool)).walkable(0.3)
    with pytest.raises(NoPath, match=r"goal .* is outside the map"):
        ways.route((1, 1), (50, 1))
    with pytest.raises(NoPath, match=r"start .* is outside the map"):
        ways.route((-9, 1), (1, 1))
    with pytest.raises(NoPath, match=r"goal .* is outside the map"):
        ways.route((1, 1), (-50, 1), goal_radius=1.0)
    assert ways.plan((1, 1), (4.3, 1)).report.goal_adjusted > 0
    for params in (None, FAITHFUL, WalkableParams(method="astar")):
        outside = charted(np.zeros((20, 20), bool)).walkable(0.3, params)
        for start in ((-0.4, 1.0), (4.4, 3.0), (1.0, -0.3), (4.3, 4.3)):
            points = outside.route(start, (2.1, 2.1)).points
            assert points[0] == pytest.approx(start)
            assert points[-1] == pytest.approx([2.1, 2.1])
            assert outside.field((2.1, 2.1)).descend(start)[0].points[0] == pytest.approx(start)


@pytest.mark.req("kuffner", 26)
def test_no_way_is_answered_from_the_connected_parts_without_a_search(monkeypatch):
    ways = charted(walled(200, 200)).walkable(0.3)

    def fail(*args, **kwargs):
        raise AssertionError("searched")

    monkeypatch.setattr(cornerways, "search", fail)
    monkeypatch.setattr(routes, "search", fail)
    for params in (None, FAITHFUL):
        with pytest.raises(NoPath, match="shuts it off"):
            charted(walled(200, 200)).walkable(0.3, params).route((1, 1), (39, 1))
    with pytest.raises(NoPath, match="shuts it off"):
        ways.route((1, 1), (39, 1))


def test_start_equal_to_goal_stays():
    ways = charted(np.zeros((20, 20), bool)).walkable(0.3)
    assert ways.route((1, 1), (1, 1)).points.tolist() == [[1, 1]]
    assert ways.route((1, 1), (1.01, 1)).points.tolist() == [[1, 1], [1.01, 1]]
    assert len(charted(np.zeros((20, 20), bool)).walkable(0.3, FAITHFUL).route((1, 1), (1, 1)).points) == 1


@pytest.mark.req("kuffner", 25)
def test_of_several_goals_the_nearest_on_foot_is_reached():
    blocked = walled(gap=slice(34, 40))
    for params in (None, FAITHFUL, WalkableParams(method="astar")):
        ways = charted(blocked).walkable(0.2, params)
        route = ways.plan((3.2, 1.0), [(4.8, 1.0), (3.2, 6.0), (50, 50)])
        assert route.report.goal == 1
        assert route.path.points[-1] == pytest.approx([3.2, 6.0], abs=0.15)


def test_a_goal_radius_ends_the_way_within_it_and_a_solid_goal_can_be_walked_up_to():
    blocked = np.zeros((60, 60), bool)
    blocked[25:35, 25:35] = True
    ways = charted(blocked).walkable(0.3)
    free = ways.plan((1, 1), (10, 2), goal_radius=1.0)
    assert 0.6 < np.linalg.norm(free.path.points[-1] - [10, 2]) <= 1.0
    solid = ways.plan((1, 1), (6, 6), goal_radius=2.2)
    assert np.linalg.norm(solid.path.points[-1] - [6, 6]) <= 2.2
    assert solid.report.length < 6.0
    inside = ways.plan((10, 2.5), (10, 2), goal_radius=1.0)
    assert inside.report.length < 0.2


def test_many_goals_take_one_search_over_all_cells():
    ways = on_grid(~walled(60, 60, gap=slice(50, 55)))
    rows, columns = np.nonzero(ways.free[:, 35:])
    goals = np.stack([columns + 35.5, rows + 0.5], axis=-1)
    route = ways.plan((5.5, 5.5), goals)
    assert route.report.method == "field"
    single = min(ways.plan((5.5, 5.5), goal).report.length for goal in goals[::37])
    assert route.report.length <= 1.05 * single


@pytest.mark.req("kuffner", 29)
def test_dear_ground_is_walked_around_when_that_is_cheaper_and_crossed_when_not():
    blocked = np.zeros((40, 40), bool)
    cost = np.ones(blocked.shape)
    cost[10:30, 15:25] = 6.0
    plain, dear = charted(blocked).walkable(0.2), charted(blocked, cost=cost).walkable(0.2)
    assert len(plain.route((1, 4), (7, 4)).points) == 2
    around = dear.plan((1, 4), (7, 4))
    assert around.report.method == "field"
    share = np.linspace(0, 1, 300)[:, None]
    points = np.concatenate([a + share * (b - a) for a, b in pairwise(around.path.points)])
    column, row = (points / 0.2).astype(int).T
    assert cost[row, column].max() == 1.0
    assert dear.plan((1, 1), (7, 1)).report.method == "straight"
    mild = charted(blocked, cost=np.where(cost > 1, 1.05, 1.0)).walkable(0.2).route((1, 4), (7, 4)).points
    assert length(mild) == pytest.approx(6.0, abs=0.05)
    exact = charted(blocked, cost=cost).walkable(0.2, WalkableParams(method="astar")).plan((1, 4), (7, 4))
    assert exact.report.length == pytest.approx(around.report.length, rel=0.05)


def test_a_field_gives_every_walker_a_way_as_good_as_its_own():
    rng = np.random.default_rng(4)
    blocked = rng.random((50, 50)) < 0.03
    ways = charted(blocked).walkable(0.2)
    goal = ways.centre(np.flatnonzero(ways.free)[-1])
    field = ways.field(goal)
    cells = [c for c in np.flatnonzero(ways.free) if np.isfinite(field.distances.flat[c])]
    starts = ways.centre(rng.choice(cells, 60)) + rng.uniform(-0.09, 0.09, (60, 2))
    paths = field.descend(starts)
    assert len(paths) == 60
    for start, path in zip(starts, paths, strict=True):
        assert path.points[0] == pytest.approx(start)
        assert path.points[-1] == pytest.approx(goal)
        own = ways.route(start, goal).points
        assert length(path.points) <= length(own) + 0.3
        assert length(path.points) <= field.distances.flat[ways.free_cell(*start, "start")[0]] + 0.3
    assert field.descend(starts[0])[0].points == pytest.approx(paths[0].points)
    assert field.descend(np.zeros((0, 2))) == ()


def test_a_field_refuses_walkers_that_are_shut_off():
    ways = charted(walled()).walkable(0.3)
    with pytest.raises(NoPath, match="shuts it off"):
        ways.field((1, 1)).descend([(1, 2), (7, 1)])
    assert np.isinf(ways.field((1, 1)).distances[5, 35])


@pytest.mark.parametrize("params", [FAITHFUL, WalkableParams()])
def test_a_field_respects_costs_and_the_faithful_switches(params):
    cost = np.ones((40, 40))
    cost[10:30, 15:25] = 6.0
    ways = charted(np.zeros((40, 40), bool), cost=cost).walkable(0.2, params)
    (path,) = ways.field((7, 4)).descend((1.1, 4.1))
    column, row = (path.points / 0.2).astype(int).T
    assert cost[row, column].max() == 1.0
    assert len(path.points) > (20 if params is FAITHFUL else 2)


def test_prepared_ways_are_no_longer_than_others():
    rng = np.random.default_rng(11)
    free = rng.random((60, 60)) > 0.2
    lazy, ready = on_grid(free), on_grid(free).prepare()
    cells = np.flatnonzero(np.array(lazy.labels) == np.bincount(lazy.labels)[1:].argmax() + 1)
    for start, goal in rng.choice(cells, (40, 2)):
        a, b = lazy.centre(start), lazy.centre(goal)
        assert length(ready.route(a, b).points) <= 1.05 * length(lazy.route(a, b).points) + 1e-9
        assert np.array_equal(lazy.route(a, b).points, on_grid(free).route(a, b).points)


@pytest.mark.parametrize("start", [(1,), "here", (np.nan, 1), None, (1, 2, 3)])
def test_a_start_must_be_a_place(start):
    with pytest.raises(InvalidParam, match="start"):
        on_grid(np.ones((4, 4), bool)).route(start, (1, 1))


@pytest.mark.parametrize("goals", [(1,), np.zeros((0, 2)), (np.inf, 1), [[1, 2, 3]], (np.nan, 1.0)])
def test_goals_must_be_places(goals):
    with pytest.raises(InvalidParam, match="goal"):
        on_grid(np.ones((4, 4), bool)).route((1, 1), goals)


def test_wrong_sizes_are_refused():
    with pytest.raises(InvalidParam, match="radius"):
        walkable(charted(np.zeros((3, 3), bool)), -1.0)
    with pytest.raises(InvalidParam, match="goal_radius"):
        on_grid(np.ones((4, 4), bool)).route((1, 1), (2, 2), goal_radius=-1)
    with pytest.raises(InvalidParam, match="free"):
        on_grid(np.ones((0, 4), bool))
    with pytest.raises(InvalidParam, match="cost"):
        on_grid(np.ones((4, 4), bool), cost=np.zeros((4, 4)))


def test_nothing_blocked_and_everything_blocked():
    empty = charted(np.zeros((10, 10), bool)).walkable(0.3)
    assert np.isinf(empty.clearance).all()
    full = charted(np.ones((10, 10), bool)).walkable(0.3)
    assert not full.free.any()
    with pytest.raises(NoPath):
        full.route((1, 1), (1.5, 1.5))


def test_clearance_is_the_distance_to_what_blocks():
    ways = charted(walled()).walkable(0.3)
    assert ways.clearance[7, 20] == 0.0
    assert ways.clearance[7, 25] == pytest.approx(1.0)
