"""The exact search over cells: pruning, heuristic, goal sets, weights; against plain Dijkstra and published optima."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra
from troupe.core.errors import InvalidParam
from troupe.core.planning.ways.search import DIRECTIONS, grid_graph, prices, search
from troupe.core.planning.ways.walkable import on_grid


def grid(rng, size=24):
    """Cells of which a tenth to four tenths are blocked, and a start and a goal among the free ones."""
    free = rng.random((size, size)) > rng.uniform(0.1, 0.4)
    start, goal = rng.choice(np.flatnonzero(free), 2, replace=False).tolist()
    return free, start, goal


def whole_number_graph(free, cut_corners=False, weights=None, step_weights=None):
    """Steps with the whole-number costs of the search as a sparse matrix, built cell by cell."""
    cost = prices(weights, step_weights, free.shape)
    rows, columns = free.shape
    a, b, c = [], [], []
    for k, (dy, dx) in enumerate(DIRECTIONS):
        for y, x in np.argwhere(free).tolist():
            v, u = y + dy, x + dx
            if not (0 <= v < rows and 0 <= u < columns and free[v, u]):
                continue
            if dy and dx and not cut_corners and not (free[v, x] and free[y, u]):
                continue
            a.append(y * columns + x)
            b.append(v * columns + u)
            c.append(cost[k, y, x])
    return csr_matrix((np.array(c, float), (a, b)), (free.size, free.size))


@pytest.mark.req("kuffner", 23)
@pytest.mark.parametrize("cut_corners", [True, False])
def test_five_directions_of_eight_find_the_same_cost_with_less_work(cut_corners):
    rng = np.random.default_rng(int(cut_corners))
    solved = work = full_work = 0
    while solved < 500:
        free, start, goal = grid(rng, 20)
        pruned = search(free, [start], [goal], astar=False, cut_corners=cut_corners)
        full = search(free, [start], [goal], astar=False, cut_corners=cut_corners, prune=False)
        assert pruned.cost == full.cost
        if pruned.cost >= 0:
            solved += 1
            work += pruned.relaxations
            full_work += full.relaxations
    assert work <= 0.65 * full_work, work / full_work


@pytest.mark.req("kuffner", 24, 28)
@pytest.mark.parametrize("cut_corners", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_costs_are_those_of_dijkstra_and_astar_looks_at_no_more_cells(cut_corners, weighted):
    rng = np.random.default_rng(5)
    for _ in range(25):
        free, start, goal = grid(rng, 18)
        weights = rng.integers(1, 6, free.shape).astype(float) if weighted else None
        least = dijkstra(whole_number_graph(free, cut_corners, weights), indices=start)[goal]
        plain = search(free, [start], [goal], astar=False, cut_corners=cut_corners, weights=weights)
        ahead = search(free, [start], [goal], astar=True, cut_corners=cut_corners, weights=weights)
        assert plain.pruned
        assert plain.cost == ahead.cost == (least if np.isfinite(least) else -1)
        assert ahead.expanded <= plain.expanded


@pytest.mark.req("kuffner", 25)
def test_of_several_goals_the_cheapest_is_reached():
    rng = np.random.default_rng(6)
    for _ in range(40):
        free, start, _ = grid(rng)
        goals = rng.choice(np.flatnonzero(free), 5).tolist()
        single = [search(free, [start], [goal]).cost for goal in goals]
        reached = [cost for cost in single if cost >= 0]
        for astar in (True, False):
            found = search(free, [start], goals, astar=astar)
            assert found.cost == min(reached, default=-1)
            if reached:
                assert found.cells[-1] in goals


def test_several_starts_are_one_source():
    free = np.ones((5, 30), bool)
    found = search(free, [0, 29], [2 * 30 + 25])
    assert found.cells[0] == 29


@pytest.mark.req("kuffner", 26)
def test_no_way_is_known_after_one_sweep_at_most():
    free = np.ones((20, 20), bool)
    free[:, 10] = False
    for astar in (True, False):
        found = search(free, [0], [19], astar=astar)
        assert found.cost == -1
        assert len(found.cells) == 0
        assert found.expanded <= 200
    assert search(free, [0], [10]).expanded == 0


@pytest.mark.req("kuffner", 27)
def test_ways_repeat_no_cell_and_turn_by_no_more_than_a_right_angle():
    rng = np.random.default_rng(8)
    for k in range(100):
        free, start, goal = grid(rng)
        found = search(free, [start], [goal], astar=bool(k % 2), cut_corners=bool(k % 3))
        if found.cost < 0:
            continue
        assert len(set(found.cells.tolist())) == len(found.cells)
        steps = np.diff(np.stack(np.divmod(found.cells, free.shape[1]), axis=-1), axis=0)
        assert np.abs(steps).max(initial=0) <= 1
        assert (np.einsum("nc,nc->n", steps[1:], steps[:-1]) >= 0).all()
        assert found.cells[0] == start
        assert found.cells[-1] == goal


@pytest.mark.req("kuffner", 29)
def test_a_dear_region_is_walked_around_where_that_is_cheaper():
    free = np.ones((15, 15), bool)
    mud = np.ones(free.shape)
    mud[3:12, 7] = 20.0
    way = search(free, [7 * 15], [7 * 15 + 14], weights=mud)
    row, column = np.divmod(way.cells, 15)
    assert (mud[row, column] == 1.0).all()
    mud[:, 7] = 20.0
    assert (mud[np.divmod(search(free, [7 * 15], [7 * 15 + 14], weights=mud).cells, 15)] == 20.0).sum() == 1


@pytest.mark.req("kuffner", 29)
def test_costs_that_depend_on_the_direction_turn_pruning_off_and_stay_exact():
    rng = np.random.default_rng(9)
    for _ in range(15):
        free, start, goal = grid(rng, 14)
        uphill = rng.uniform(1.0, 5.0, (8, *free.shape))
        found = search(free, [start], [goal], step_weights=uphill)
        assert not found.pruned
        least = dijkstra(whole_number_graph(free, step_weights=uphill), indices=start)[goal]
        assert found.cost == (least if np.isfinite(least) else -1)


@pytest.mark.req("kuffner", 105)
def test_corners_are_cut_only_when_allowed():
    free = np.ones((2, 2), bool)
    free[0, 1] = free[1, 0] = False
    assert search(free, [0], [3], cut_corners=True).cost == 1448
    assert search(free, [0], [3], cut_corners=False).cost == -1


def test_start_equal_to_goal_is_a_way_of_one_cell():
    found = search(np.ones((3, 3), bool), [4], [4])
    assert found.cells.tolist() == [4]
    assert found.cost == 0


@pytest.mark.parametrize(
    "wrong", [{"weights": np.zeros((3, 3))}, {"weights": np.ones((2, 3))}, {"step_weights": np.zeros((8, 3, 3))}]
)
def test_weights_below_one_or_of_another_shape_are_refused(wrong):
    with pytest.raises(InvalidParam, match="at least 1"):
        search(np.ones((3, 3), bool), [0], [8], **wrong)


def published(file):
    """A published map and its scenarios: free cells, starts and goals (n,) and shortest lengths (n,) [cells]."""
    lines = file.read_text().splitlines()
    free = np.array([[c in ".GS" for c in line] for line in lines[4:]])
    rows = [line.split() for line in file.with_name(file.name + ".scen").read_text().splitlines()[1:] if line.strip()]
    start_x, start_y, goal_x, goal_y = np.array([[int(v) for v in row[4:8]] for row in rows]).T
    width = free.shape[1]
    return free, start_y * width + start_x, goal_y * width + goal_x, np.array([float(row[8]) for row in rows])


@pytest.mark.req("kuffner", 24)
@pytest.mark.parametrize(
    ("name", "count"),
    [("dao/arena", 160), ("dao/den201d", 110), ("mapf/room-32-32-4", 130), ("dao/ost003d", 80), ("dao/brc202d", 24)]
    + [("mazes/maze512-8-0", 12)],
)
def test_lengths_are_the_published_optima(data, name, count):
    free, starts, goals, lengths = published(data / "maps2d" / f"{name}.map")
    chosen = np.unique(np.linspace(0, len(lengths) - 1, count).astype(int))
    ways = on_grid(free)
    if free.size < 4000:
        for k in chosen:
            assert search(free, [starts[k]], [goals[k]]).cost / 1024 == pytest.approx(lengths[k], rel=2e-4, abs=1e-4)
    graph = grid_graph(free, np.ones(free.shape), False)
    least = np.array([dijkstra(graph, indices=starts[k])[goals[k]] for k in chosen])
    assert least == pytest.approx(lengths[chosen], rel=1e-5, abs=1e-4)
    for k in chosen:
        length = ways.plan(ways.centre(starts[k]), ways.centre(goals[k])).report.length
        assert length <= 1.05 * lengths[k] + 1e-4
