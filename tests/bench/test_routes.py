"""Ways over maps against packages for grids, on floor plans: rooms with doors and scattered boxes.

What a map needs once is outside the time of the ways (`prepare`); a moved obstacle is timed with everything it needs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from scipy.ndimage import label
from scipy.sparse.csgraph import dijkstra
from troupe.core.planning.ways.map import MapParams, project, update
from troupe.core.planning.ways.search import grid_graph
from troupe.core.planning.ways.walkable import Walkable, on_grid
from troupe.core.world import Body, World

ROOT_OF_TWO = np.sqrt(2.0)
Cell = tuple[int, int]


def floor_plan(size: int, seed: int) -> np.ndarray:
    """Free cells (size, size): walls about every 20 cells with doors in them, and boxes; two corners are connected."""
    rng = np.random.default_rng(seed)
    while True:
        blocked = np.zeros((size, size), bool)
        for cells in (blocked, blocked.T):
            for k in range(16, size - 8, 20):
                wall = np.ones(size, bool)
                row = k + int(rng.integers(-4, 5))
                for begin in range(0, size, 20):
                    if rng.random() < 0.8:
                        door = begin + int(rng.integers(0, 14))
                        wall[door : door + 4] = False
                cells[row] |= wall
        for _ in range(size * size // 200):
            row, column, high, wide = *rng.integers(0, size, 2), *rng.integers(1, 4, 2)
            blocked[row : row + high, column : column + wide] = True
        blocked[:3, :3] = blocked[-3:, -3:] = False
        parts = label(~blocked)[0]
        if parts[1, 1] == parts[-2, -2]:
            return ~blocked


def pairs(size: int, maps: int, count: int) -> Iterator[tuple[Walkable, np.ndarray, Cell, Cell]]:
    """Prepared maps, and random cells (row, column) on them that are connected."""
    for seed in range(1, maps + 1):
        free = floor_plan(size, seed)
        ways = on_grid(free).prepare()
        rng = np.random.default_rng(seed)
        connected = np.argwhere(np.array(ways.labels).reshape(free.shape) == ways.labels[size + 1])
        for _ in range(count):
            a, b = connected[rng.choice(len(connected), 2, replace=False)].tolist()
            yield ways, free, tuple(a), tuple(b)


def place(cell: Cell) -> tuple[float, float]:
    return cell[1] + 0.5, cell[0] + 0.5


def seconds(call: Callable[..., object], *arguments: object) -> float:
    start = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - start


@pytest.mark.parametrize(("size", "maps", "count"), [(128, 10, 12), (512, 5, 20), (1024, 2, 50)])
def test_a_way_is_found_as_fast_as_by_compiled_code_and_is_no_longer(
    ratio: Callable[..., float], size: int, maps: int, count: int
) -> None:
    pyastar2d = pytest.importorskip("pyastar2d")
    some = [
        (ways, np.where(free, 1.0, np.inf).astype(np.float32), a, b) for ways, free, a, b in pairs(size, maps, count)
    ]
    ours, peers = np.full(len(some), np.inf), np.full(len(some), np.inf)
    for _ in range(5):
        for k, (ways, weights, a, b) in enumerate(some):
            ours[k] = min(ours[k], seconds(ways.route, place(a), place(b)))
            peers[k] = min(peers[k], seconds(pyastar2d.astar_path, weights, a, b, True))
    factors = peers / ours
    middle = int(np.argsort(factors)[len(factors) // 2])
    ways, weights, a, b = some[middle]
    ratio(
        f"way over {size} x {size}, pair of median ratio: pyastar2d",
        lambda: ways.route(place(a), place(b)),
        lambda: pyastar2d.astar_path(weights, a, b, True),
        repeat=30,
    )
    assert np.median(factors) >= 1.0


@pytest.mark.parametrize(("size", "maps", "count"), [(64, 5, 20), (128, 5, 20), (512, 2, 10)])
def test_no_way_is_longer_than_a_twentieth_over_the_shortest_of_the_grid(size: int, maps: int, count: int) -> None:
    for ways, free, a, b in pairs(size, maps, count):
        least = dijkstra(grid_graph(free, np.ones(free.shape), False), indices=a[0] * size + a[1])[b[0] * size + b[1]]
        for searched in (ways, on_grid(free)):
            assert searched.plan(place(a), place(b)).report.length <= 1.05 * least


def test_a_way_is_found_far_faster_than_by_packages_in_python_and_scikit_image(ratio: Callable[..., float]) -> None:
    networkx = pytest.importorskip("networkx")
    graph_of = pytest.importorskip("skimage.graph")
    pytest.importorskip("pathfinding")
    from pathfinding.core.diagonal_movement import DiagonalMovement
    from pathfinding.core.grid import Grid
    from pathfinding.finder.a_star import AStarFinder

    size = 128
    some = list(pairs(size, 4, 2))
    edges = {}
    for ways, free, _, _ in some:
        steps = grid_graph(free, np.ones(free.shape), False).tocoo()
        edges[id(ways)] = networkx.Graph()
        edges[id(ways)].add_weighted_edges_from(
            zip(steps.row.tolist(), steps.col.tolist(), steps.data.tolist(), strict=True)
        )

    def octile(u: int, v: int) -> float:
        y, x = abs(u // size - v // size), abs(u % size - v % size)
        return x + y - (2 - ROOT_OF_TWO) * min(x, y)

    def ours() -> None:
        for ways, _, a, b in some:
            ways.route(place(a), place(b))

    def by_networkx() -> None:
        for ways, _, a, b in some:
            networkx.astar_path(edges[id(ways)], a[0] * size + a[1], b[0] * size + b[1], octile)

    def by_pathfinding() -> None:
        for _, free, a, b in some:
            cells = Grid(matrix=free.astype(int).tolist())
            finder = AStarFinder(diagonal_movement=DiagonalMovement.only_when_no_obstacle)
            finder.find_path(cells.node(a[1], a[0]), cells.node(b[1], b[0]), cells)

    def by_skimage() -> None:
        for _, free, a, b in some:
            costs = graph_of.MCP_Geometric(np.where(free, 1.0, -1.0))
            costs.find_costs([a], [b])
            costs.traceback(b)

    ratio("8 ways over 128 x 128 cells: NetworkX A*", ours, by_networkx, at_least=5.0)
    ratio("8 ways over 128 x 128 cells: pathfinding A*", ours, by_pathfinding, at_least=5.0)
    ratio("8 ways over 128 x 128 cells: scikit-image MCP", ours, by_skimage, at_least=5.0)


@pytest.mark.parametrize("size", [128, 512])
def test_a_hundred_walkers_to_one_exit_take_one_search(ratio: Callable[..., float], size: int) -> None:
    pyastar2d = pytest.importorskip("pyastar2d")
    free = floor_plan(size, 2)
    ways = on_grid(free).prepare()
    weights = np.where(free, 1.0, np.inf).astype(np.float32)
    connected = np.argwhere(np.array(ways.labels).reshape(free.shape) == ways.labels[size + 1])
    starts = connected[np.random.default_rng(0).choice(len(connected), 100)]
    cells = [tuple(start) for start in starts.tolist()]
    places, out = starts[:, ::-1] + 0.5, (size - 2, size - 2)

    def peer() -> None:
        for cell in cells:
            pyastar2d.astar_path(weights, cell, out, allow_diagonal=True)

    name = f"100 walkers to one exit, {size} x {size}: pyastar2d each"
    ratio(name, lambda: ways.field(place(out)).descend(places), peer, at_least=4.0)


def crate(name: str, x: float, y: float, turn: float) -> Body:
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.4, 0.4) for z in (0.0, 1.5)])
    faces = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]]
    faces += [[2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
    matrix = np.eye(4)
    matrix[:2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    matrix[:2, 3] = x, y
    return Body(name, 0, corners, np.array(faces), matrix[None])


def test_a_moved_obstacle_is_put_right_within_a_millisecond(ratio: Callable[..., float]) -> None:
    side = 128 * 0.15
    rng = np.random.default_rng(0)
    corners = np.array([[0, 0, 0], [side, 0, 0], [side, side, 0], [0, side, 0]], float)
    floor = Body("floor", 0, corners, np.array([[0, 1, 2], [0, 2, 3]]), np.eye(4)[None], "ground")
    crates = [crate(f"crate{k}", *rng.uniform(1, side - 1, 2), rng.uniform(0, 3)) for k in range(40)]
    scene = project(World((floor, *crates)), MapParams(radius=0.3))
    assert scene.shape == (128, 128)
    scene.walkable(0.3).prepare()
    matrix = crates[0].matrices[0].copy()
    matrix[:2, 3] += 0.4
    moved = World((floor, replace(crates[0], matrices=matrix[None]), *crates[1:]))

    def local() -> None:
        update(scene, moved).walkable(0.3)

    def anew() -> None:
        _ = project(moved, MapParams(radius=0.3)).walkable(0.3).corners

    ratio("one of 40 obstacles moved, 128 x 128: all anew", local, anew, at_least=5.0, repeat=40)
    assert min(seconds(local) for _ in range(100)) < 1e-3
