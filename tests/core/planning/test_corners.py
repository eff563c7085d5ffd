"""Ways over the corners of obstacles: never long, always clear, the same after a local change, and lines of sight."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra
from troupe.core.errors import InvalidParam, NoPath
from troupe.core.planning.ways.corners import Corners
from troupe.core.planning.ways.search import grid_graph
from troupe.core.planning.ways.walkable import WalkableParams, on_grid


def scene(rng, size=36):
    """Free cells: scattered ones or boxes blocked."""
    rows, columns = rng.integers(2, size, 2)
    if rng.random() < 0.5:
        free = rng.random((rows, columns)) > rng.uniform(0.02, 0.42)
    else:
        free = np.ones((rows, columns), bool)
        for _ in range(int(rng.integers(1, 9))):
            y, x = rng.integers(0, rows), rng.integers(0, columns)
            free[y : y + int(rng.integers(1, 9)), x : x + int(rng.integers(1, 9))] = False
    free[0, 0] = free[-1, -1] = True
    return free


def length(points):
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


@pytest.mark.parametrize("prepared", [False, True])
def test_ways_are_clear_and_at_most_a_twentieth_over_the_shortest_of_the_grid(prepared):
    rng = np.random.default_rng(1)
    ratios = []
    for _ in range(150):
        free = scene(rng)
        ways = on_grid(free)
        if prepared:
            ways.prepare()
        graph = grid_graph(free, np.ones(free.shape), False)
        for _ in range(3):
            start, goal = rng.choice(np.flatnonzero(free), 2).tolist()
            least = dijkstra(graph, indices=start)[goal]
            a, b = ways.centre(start), ways.centre(goal)
            if not np.isfinite(least):
                with pytest.raises(NoPath, match="no way leads"):
                    ways.route(a, b)
                continue
            points = ways.route(a, b).points
            assert np.array_equal(points[[0, -1]], [a, b])
            assert ways.clear(points[:-1], points[1:]).all()
            if start != goal:
                ratios.append(length(points) / least)
    assert len(ratios) > 200
    assert max(ratios) <= (1.0 + 1e-9 if prepared else 1.05)
    assert np.median(ratios) < 0.99


def test_without_slack_no_way_is_longer_than_the_shortest_of_the_grid():
    rng = np.random.default_rng(2)
    for _ in range(60):
        free = scene(rng)
        ways = on_grid(free, params=WalkableParams(slack=0.0))
        graph = grid_graph(free, np.ones(free.shape), False)
        start, goal = rng.choice(np.flatnonzero(free), 2).tolist()
        least = dijkstra(graph, indices=start)[goal]
        if np.isfinite(least):
            assert length(ways.route(ways.centre(start), ways.centre(goal)).points) <= least + 1e-9


def test_straight_edges_join_corners_that_see_each_other_and_both_ways():
    rng = np.random.default_rng(3)
    for _ in range(40):
        corners = Corners(scene(rng))
        for node in corners.nodes:
            for other, distance, place in corners.edges(node):
                x, y = corners.centre(node)
                assert abs(place - complex(x, y)) == pytest.approx(distance)
                assert corners.sees(x, y, place.real, place.imag)
                assert node in [back for back, _, _ in corners.edges(other)]


def test_a_local_change_gives_the_corners_of_the_new_grid():
    rng = np.random.default_rng(4)
    for _ in range(80):
        free = scene(rng)
        corners = Corners(free)
        assert corners.graph[1] == corners.nodes
        other = free.copy()
        rows, columns = free.shape
        top, left = int(rng.integers(0, rows)), int(rng.integers(0, columns))
        bottom, right = min(top + int(rng.integers(0, 6)), rows - 1), min(left + int(rng.integers(0, 6)), columns - 1)
        other[top : bottom + 1, left : right + 1] = rng.random((bottom - top + 1, right - left + 1)) > 0.5
        changed, fresh = corners.changed(other, (top, left, bottom, right)), Corners(other)
        assert changed.nodes == fresh.nodes
        assert all(changed.edges(node) == fresh.edges(node) for node in fresh.nodes)
        assert corners.nodes == Corners(free).nodes


def test_sight_one_by_one_many_at_once_and_by_sampling_agree():
    rng = np.random.default_rng(5)
    share = np.linspace(0.0, 1.0, 3000)[:, None]
    seen = 0
    for _ in range(40):
        free = scene(rng, 16)
        ways = on_grid(free)
        rows, columns = free.shape
        a, b = rng.uniform(0, 1, (2, 12, 2)) * [columns, rows]
        batch = ways.clear(a, b)
        for p, q, clear in zip(a, b, batch, strict=True):
            assert ways.corners.sees(*ways.to_cells(*p), *ways.to_cells(*q)) == clear
            column, row = np.floor(p + share * (q - p)).astype(int).T
            assert clear == free[row.clip(0, rows - 1), column.clip(0, columns - 1)].all()
        seen += int(batch.sum())
    assert 50 < seen < 400


def test_sight_does_not_slip_between_cells_that_touch_at_a_corner():
    ways = on_grid([[True, False], [False, True]])
    assert not ways.clear((0.5, 0.5), (1.5, 1.5))
    half = on_grid([[True, True], [False, True]])
    assert not half.clear((0.5, 0.5), (1.5, 1.5))
    assert on_grid(np.ones((2, 2), bool)).clear((0.5, 0.5), (1.5, 1.5))
    assert not ways.clear((0.5, 0.5), (7.0, 0.5))
    assert ways.clear(np.zeros((3, 2, 2)) + 0.5, (0.6, 0.6)).shape == (3, 2)


def test_a_search_over_corners_looks_at_few_of_them():
    free = np.ones((200, 200), bool)
    free[20:180, 100] = False
    report = on_grid(free).plan((10.5, 100.5), (190.5, 100.5)).report
    assert report.method == "corners"
    assert report.expanded <= 10
    assert on_grid(free).plan((10.5, 100.5), (90.5, 100.5)).report.method == "straight"


def test_a_map_with_more_columns_than_can_be_counted_is_refused():
    with pytest.raises(InvalidParam, match="rows and columns"):
        Corners(np.ones((1, 40_000), bool))
