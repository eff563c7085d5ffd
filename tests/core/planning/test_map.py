"""Maps of scenes: what blocks, what is walkable ground, what costs, and that an update equals a map from nothing."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from troupe.core.errors import InvalidParam, NoPath
from troupe.core.planning.ways import footprint, growth, terrain
from troupe.core.planning.ways.map import MapParams, project, update, with_discs
from troupe.core.planning.ways.walkable import WalkableParams
from troupe.core.world import Body, World

BOX = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4]]
    + [[1, 5, 7], [1, 7, 3]]
)
BARE = WalkableParams(margin=0.0, half_cell=False)


def body(name, vertices, triangles, kind="obstacle", tags=(), matrix=None):
    placed = np.eye(4) if matrix is None else matrix
    return Body(name, 0, vertices, triangles, np.atleast_3d(placed).reshape(-1, 4, 4), kind, frozenset(tags))


def box(name, low, high, kind="obstacle", tags=(), matrix=None):
    corners = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    return body(name, corners.astype(float), BOX, kind, tags, matrix)


def floor(width=8.0, depth=8.0, tags=()):
    corners = [[0, 0, 0], [width, 0, 0], [width, depth, 0], [0, depth, 0]]
    return body("floor", np.array(corners, float), [[0, 1, 2], [0, 2, 3]], "ground", tags)


def at(x, y, turn=0.0):
    matrix = np.eye(4)
    matrix[:2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    matrix[:2, 3] = x, y
    return matrix


def profile(xs, zs, width=4.0):
    """Ground whose height changes along x only; a repeated x is a riser."""
    low = [[x, 0.0, z] for x, z in zip(xs, zs, strict=True)]
    high = [[x, width, z] for x, z in zip(xs, zs, strict=True)]
    n = len(xs)
    triangles = [[k, k + 1, n + k + 1] for k in range(n - 1)] + [[k, n + k + 1, n + k] for k in range(n - 1)]
    return body("ground", np.array(low + high), triangles, "ground")


def reachable(world, start, goal, params=None):
    try:
        project(world, params).walkable(0.3).route(start, goal)
    except NoPath:
        return False
    return True


def cells_of(scene, points):
    column, row = np.floor((points[..., :2] - scene.origin) / scene.cell).astype(int).T
    rows, columns = scene.shape
    inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
    return row, column, inside


def sampled(vertices, triangles, rng, count=4000):
    """Places on triangles, many on each."""
    u = np.sort(rng.random((len(triangles), count, 2)), axis=-1)
    share = np.stack([u[..., 0], u[..., 1] - u[..., 0], 1 - u[..., 1]], axis=-1)
    return np.einsum("fnk,fkc->fnc", share, vertices[triangles]).reshape(-1, 3)


@pytest.mark.req("kuffner", 15)
def test_every_cell_that_soup_touches_within_the_slab_is_blocked_and_no_other():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        vertices = rng.uniform([-1, -1, -1], [5, 5, 3], (14, 3))
        triangles = rng.integers(0, 14, (10, 3))
        triangles = np.concatenate([triangles, triangles[:2], [[0, 0, 1], [2, 2, 2]]])
        soup = body("soup", vertices, triangles)
        params = MapParams(radius=0.2, cell=0.25, z_low=0.3, z_high=1.5)
        scene = project(World((soup,)), params, bounds=[[0, 0], [4, 4]])
        points = sampled(vertices, triangles, rng)
        points = points[(points[:, 2] > 0.3) & (points[:, 2] < 1.5)]
        row, column, inside = cells_of(scene, points)
        assert scene.blocked[0, row[inside], column[inside]].all()
        # and what is blocked lies beside such a place
        near = np.zeros(scene.shape, bool)
        for shift in (-0.03, 0.0, 0.03):
            for other in (-0.03, 0.0, 0.03):
                row, column, inside = cells_of(scene, points[:, :2] + [shift, other])
                near[row[inside], column[inside]] = True
        assert not (scene.blocked[0] & ~near).any()


def test_the_heights_over_a_cell_are_those_of_the_geometry_in_it():
    rng = np.random.default_rng(3)
    vertices = rng.uniform([0, 0, -1], [4, 4, 3], (9, 3))
    triangles = np.arange(9).reshape(3, 3)
    params = MapParams(cell=0.5, z_low=0.1, z_high=2.0, radius=0.5)
    sheets = [body(f"sheet{k}", vertices, triangles[k : k + 1]) for k in range(3)]
    scene = project(World(sheets), params, bounds=[[0, 0], [4, 4]])
    points = sampled(vertices, triangles, rng, 60000)
    points = points[(points[:, 2] >= 0.1) & (points[:, 2] <= 2.0)]
    row, column, inside = cells_of(scene, points)
    low, high = np.full(scene.shape, np.inf), np.full(scene.shape, -np.inf)
    np.minimum.at(low, (row[inside], column[inside]), points[inside, 2])
    np.maximum.at(high, (row[inside], column[inside]), points[inside, 2])
    full = np.zeros(scene.shape, int)
    np.add.at(full, (row[inside], column[inside]), 1)
    well = full > 300
    assert well.sum() > 10
    assert (scene.low[0][well] <= low[well] + 1e-9).all()
    assert (scene.high[0][well] >= high[well] - 1e-9).all()
    assert np.abs(scene.low[0][well] - low[well]).max() < 0.15
    assert np.abs(scene.high[0][well] - high[well]).max() < 0.15


@pytest.mark.req("kuffner", 16)
def test_what_is_wholly_above_or_below_the_slab_changes_nothing():
    plain = project(World((floor(),)))
    rug = box("rug", (1, 1, 0.0), (3, 3, 0.04))
    lamp = box("lamp", (4, 4, 2.0), (6, 6, 2.2))
    assert not plain.blocked.any()
    assert np.array_equal(project(World((floor(), rug, lamp))).blocked, plain.blocked)


@pytest.mark.req("kuffner", 17)
@pytest.mark.parametrize("ends", [((1, 1), (6, 6.5)), ((2, 1), (2, 7)), ((1.03, 3), (7, 3))])
def test_a_wall_without_thickness_blocks_all_along_its_trace(ends):
    a, b = np.array(ends, float)
    vertices = np.array([[*a, 0], [*b, 0], [*b, 2], [*a, 2]])
    scene = project(World((floor(), body("wall", vertices, [[0, 1, 2], [0, 2, 3]]))))
    points = a + np.linspace(0.001, 0.999, 5000)[:, None] * (b - a)
    row, column, _ = cells_of(scene, points + 1e-7)
    assert scene.blocked[0, row, column].all()
    assert 1 <= scene.blocked.sum() / len(set(zip(row.tolist(), column.tolist(), strict=True))) < 1.05


def test_walls_that_belong_to_the_ground_mesh_block():
    room = floor()
    vertices = np.concatenate([room.vertices, [[4, 1, 0], [4, 7, 0], [4, 7, 2], [4, 1, 2]]])
    triangles = np.concatenate([room.triangles, [[4, 5, 6], [4, 6, 7]]])
    scene = project(World((body("room", vertices, triangles, "ground"),)))
    row, column, _ = cells_of(scene, np.array([[4.0001, 4.0]]))
    assert scene.blocked[0, row, column].all()


def test_a_slope_is_walkable_up_to_the_angle_and_a_cliff_is_not():
    def ramp(angle):
        run = 1.5 / np.tan(angle)
        return World((profile([0, 3, 3 + run, 8 + run], [0, 0, 1.5, 1.5]),)), (7 + run, 2)

    for angle, walkable in ((0.3, True), (0.6, True), (0.8, False), (1.2, False)):
        world, goal = ramp(angle)
        assert reachable(world, (1, 2), goal, MapParams(slope=0.7)) is walkable


@pytest.mark.parametrize(("rise", "walkable"), [(0.17, True), (0.34, True), (0.5, False)])
def test_stairs_are_walkable_up_to_the_height_of_a_step(rise, walkable):
    xs, zs = [0.0, 3.0], [0.0, 0.0]
    for k in range(1, 6):
        xs += [3.0 + 0.45 * (k - 1), 3.0 + 0.45 * k]
        zs += [k * rise, k * rise]
    world = World((profile([*xs, 9.0], [*zs, 5 * rise]),))
    assert reachable(world, (1, 2), (8, 2), MapParams(step=0.35)) is walkable


def test_the_map_knows_how_high_the_ground_is_and_obstacles_stand_on_it():
    hill = profile([0, 4, 8, 12], [0, 0, 1.6, 1.6])
    crate = box("crate", (9, 1, 1.6), (10, 2, 2.2))
    beam = box("beam", (1, 1, 2.2), (2, 2, 2.4))
    scene = project(World((hill, crate, beam)))
    row, column, _ = cells_of(scene, np.array([[6.0, 2.0], [9.5, 1.5], [1.5, 1.5]]))
    assert scene.ground[0, row, column] == pytest.approx([0.8, 1.6, 0.0], abs=0.04)
    assert scene.blocked[0, row, column].tolist() == [False, True, False]
    assert scene.low[0, row[1], column[1]] == pytest.approx(1.65)
    assert scene.high[0, row[1], column[1]] == pytest.approx(2.2)


def test_there_is_no_walking_where_the_ground_has_a_hole_or_ends():
    left, right = floor(3, 8), floor(3, 8)
    right = replace(right, name="right", matrices=at(5, 0)[None])
    assert not reachable(World((left, right)), (1, 4), (7, 4))
    bridge = box("bridge", (2, 3, -0.2), (6, 5, 0.0), "ground")
    assert reachable(World((left, right, bridge)), (1, 4), (7, 4))


def test_the_ground_of_another_storey_is_left_out_by_the_ceiling():
    lifted = at(0, 0)
    lifted[2, 3] = 3.0
    roof = replace(floor(), name="roof", matrices=lifted[None])
    world = World((floor(), roof, box("crate", (3, 3, 0), (4, 4, 1))))
    assert project(world).ground.max() == 3.0
    below = project(world, MapParams(ceiling=2.5))
    assert below.ground.max() == 0.0
    assert below.blocked.any()


def test_a_closed_door_blocks_an_open_one_does_not_and_an_openable_one_costs():
    walls = [box("west", (0, 4, 0), (3, 4.2, 2.5)), box("east", (4.4, 4, 0), (8, 4.2, 2.5))]

    def house(*tags):
        return World((floor(), *walls, box("door", (3, 4, 0), (4.4, 4.1, 2.0), "door", tags)))

    assert not reachable(house(), (1, 1), (1, 7))
    assert not reachable(house("closed"), (1, 1), (1, 7))
    assert reachable(house("open"), (1, 1), (1, 7))
    scene = project(house("openable", "cost=7"))
    assert reachable(house("openable"), (1, 1), (1, 7))
    assert scene.cost.max() == 7.0
    assert project(house("openable")).cost.max() > 1.0


def test_regions_cost_what_their_tags_say():
    mud = box("mud", (2, 2, 0), (4, 4, 1), tags={"cost=3"})
    lawn = box("lawn", (6, 6, -0.1), (8, 8, 0.02), "ground", {"cost=1.5"})
    scene = project(World((floor(), mud, lawn)))
    row, column, _ = cells_of(scene, np.array([[3.0, 3.0], [7.0, 7.0], [5.0, 1.0]]))
    assert scene.cost[0, row, column].tolist() == [3.0, 1.5, 1.0]
    assert not scene.blocked.any()
    for wrong in ("cost=0.5", "cost=lots", "cost="):
        with pytest.raises(InvalidParam, match="cost="):
            project(World((floor(), box("mud", (2, 2, 0), (4, 4, 1), tags={wrong}))))


def test_the_inside_of_a_shell_is_filled_when_asked():
    shaft = box("shaft", (2, 2, -1), (6, 6, 4))
    world = World((floor(), shaft))
    inside = np.array([[4.0, 4.0]])
    row, column, _ = cells_of(project(world), inside)
    assert not project(world).blocked[0, row, column].any()
    assert project(world, MapParams(fill_enclosed=True)).blocked[0, row, column].all()
    assert project(World((floor(), replace(shaft, tags=frozenset({"solid"}))))).blocked[0, row, column].all()


def test_a_blocked_border_keeps_discs_from_the_edge():
    ringed = project(World((floor(),)), MapParams(border_blocked=True))
    assert ringed.blocked[0, 0].all()
    assert ringed.blocked[0, :, -1].all()
    assert ringed.blocked.sum() == 2 * sum(ringed.shape) - 4
    assert project(World((floor(),))).walkable(0.3).free.all()
    assert not ringed.walkable(0.3).free[:3].any()


@pytest.mark.req("kuffner", 22)
def test_what_is_carried_and_the_own_mesh_leave_no_trace():
    own, tray = box("me", (1, 1, 0), (1.4, 1.4, 1.8)), box("tray", (1.3, 1, 1), (1.8, 1.4, 1.1), "prop")
    world = World((floor(), own, tray))
    assert project(world).blocked.any()
    assert not project(world, exclude=("me", "tray")).blocked.any()


@pytest.mark.req("kuffner", 19)
def test_walkers_share_one_projection_and_one_growth_for_each_radius(monkeypatch):
    calls = {"project": 0, "grow": 0}
    sample, grow = terrain.sample, growth.grown

    def counted(name, function):
        def call(*args):
            calls[name] += 1
            return function(*args)

        return call

    monkeypatch.setattr(terrain, "sample", counted("project", sample))
    monkeypatch.setattr(growth, "grown", counted("grow", grow))
    scene = project(World((floor(), box("crate", (3, 3, 0), (5, 5, 1)))))
    for radius in (0.3, 0.4, 0.3, 0.3, 0.4):
        scene.walkable(radius).route((1, 1), (7, 7))
    assert calls == {"project": 1, "grow": 2}


@pytest.mark.req("kuffner", 21)
def test_other_starts_and_goals_project_nothing_again(monkeypatch):
    scene = project(World((floor(), box("crate", (3, 3, 0), (5, 5, 1)))))
    ways = scene.walkable(0.3)

    def fail(*args):
        raise AssertionError("projected again")

    monkeypatch.setattr(footprint, "footprints", fail)
    monkeypatch.setattr(growth, "grown", fail)
    for goal in ((7, 7), (7, 1), (1, 7)):
        assert scene.walkable(0.3) is ways
        assert scene.walkable(0.3).route((1, 1), goal).points[-1] == pytest.approx(goal)


@pytest.mark.req("kuffner", 20)
def test_cells_larger_than_the_body_are_noted():
    assert project(World((floor(),))).notes == ()
    coarse = project(World((floor(),)), MapParams(radius=0.3, cell=0.5))
    assert "larger than the radius" in coarse.notes[0]
    assert "larger than the radius" in coarse.walkable(0.3).notes[0]
    assert coarse.walkable(0.6).notes == ()


@pytest.mark.req("kuffner", 40)
def test_an_obstacle_dropped_on_the_path_is_walked_around_after_an_update():
    world = World((floor(),))
    scene = project(world)
    before = scene.walkable(0.3).route((1, 4), (7, 4)).points
    assert len(before) == 2
    crate = box("crate", (3.5, 3.2, 0), (4.5, 5, 1))
    after = update(scene, World((floor(), crate))).walkable(0.3).route((1, 4), (7, 4)).points
    along = np.linspace(0, 1, 400)[:, None]
    points = np.concatenate([a + along * (b - a) for a, b in pairwise(after)])
    gap = np.maximum(np.abs(points - [4.0, 4.1]) - [0.5, 0.9], 0)
    assert np.linalg.norm(gap, axis=1).min() > 0.3


def test_an_update_equals_a_map_from_nothing():
    rng = np.random.default_rng(7)

    def crate(k, tags=()):
        return box(
            f"crate{k}", (-0.5, -0.4, 0), (0.5, 0.4, rng.uniform(0.2, 2)), "obstacle", tags, at(*rng.uniform(0, 8, 3))
        )

    bodies = {f"crate{k}": crate(k, {"cost=2"} if k == 0 else ()) for k in range(9)}
    scene = project(World((floor(), *bodies.values())))
    scene.walkable(0.3).route((0.4, 0.4), scene.walkable(0.3).centre(np.flatnonzero(scene.walkable(0.3).free)[-1]), 99)
    scene.walkable(0.2, BARE)
    for turn in range(25):
        k = int(rng.integers(0, 9))
        if turn % 5 == 4:
            bodies.pop(f"crate{k}", None)
        else:
            bodies[f"crate{k}"] = crate(k, {"cost=4"} if k == 1 else ())
        world = World((floor(), *bodies.values()))
        scene, whole = update(scene, world), project(world)
        for layer in ("blocked", "ground", "low", "high", "cost"):
            assert np.array_equal(getattr(scene, layer), getattr(whole, layer)), layer
        for key in ((0.3, None), (0.2, BARE)):
            mine, fresh = scene.walkable(*key), whole.walkable(*key)
            assert np.array_equal(mine.free, fresh.free)
            for node in fresh.corners.nodes:
                assert mine.corners.edges(node) == fresh.corners.edges(node)
        assert update(scene, world) is scene


def test_an_update_follows_moving_bodies_doors_and_the_ground():
    crate = box("crate", (-0.5, -0.5, 0), (0.5, 0.5, 1))
    moving = replace(crate, matrices=np.stack([at(2, 2), at(6, 2)]))
    world = World((floor(), moving), fps=1.0)
    scene = project(world)
    later = update(scene, world, time=0.5)
    assert np.array_equal(later.blocked, project(world, time=0.5).blocked)
    assert np.array_equal(scene.blocked, project(world).blocked)
    row, column, _ = cells_of(later, np.array([[3.6, 2.0]]))
    assert later.blocked[0, row, column].all()
    assert not update(scene, world, exclude=("crate",)).blocked.any()
    hill = box("hill", (5, 5, -1), (7, 7, 0.2), "ground")
    assert update(scene, World((floor(), moving, hill), fps=1.0)).ground.max() == pytest.approx(0.2)


def test_discs_of_others_are_drawn_where_they_go():
    scene = project(World((floor(),)))
    scene.walkable(0.3)
    crowd = with_discs(scene, [[2, 2], [5, 5]], [[2, 2], [5, 7]], 0.3)
    row, column, _ = cells_of(scene, np.array([[2.0, 2.0], [5.0, 6.0], [5.0, 6.95], [4.0, 4.0]]))
    assert crowd.blocked[0, row, column].tolist() == [True, True, True, False]
    assert not scene.blocked.any()
    anew = with_discs(project(World((floor(),))), [[2, 2], [5, 5]], [[2, 2], [5, 7]], 0.3)
    assert np.array_equal(crowd.walkable(0.3).free, anew.walkable(0.3).free)
    assert np.array_equal(with_discs(scene, np.zeros((0, 2)), np.zeros((0, 2)), 0.3).blocked, scene.blocked)


def test_a_vast_scene_is_made_coarser_or_names_the_cells_it_would_take():
    wide = project(World((floor(50, 40),)), MapParams(max_cells=40_000))
    assert wide.cell > 0.15
    assert wide.cell <= 0.3
    assert "instead of" in wide.notes[0]
    vast = World((floor(10_000, 10_000), box("crate", (5000, 5000, 0), (5001, 5001, 1))))
    with pytest.raises(InvalidParam, match="cells of at least"):
        project(vast)
    with pytest.raises(InvalidParam, match="cells of at least"):
        project(vast, MapParams(cell=0.1))
    near = project(vast, bounds=[[4990, 4990], [5010, 5010]])
    assert near.shape == (134, 134) or near.shape == (135, 135)
    assert near.blocked.any()


def test_one_cell_and_empty_worlds():
    single = project(World((floor(),)), MapParams(radius=0.5, cell=1.0), bounds=[[2, 2], [2.5, 2.5]])
    assert single.shape == (1, 1)
    path = single.walkable(0.5).route((2.1, 2.2), (2.4, 2.3)).points
    assert path == pytest.approx(np.array([[2.1, 2.2], [2.4, 2.3]]))
    with pytest.raises(InvalidParam, match="bounds"):
        project(World())
    assert not project(World(), bounds=[[0, 0], [3, 3]]).blocked.any()
    with pytest.raises(InvalidParam, match="bounds"):
        project(World(), bounds=[[3, 3], [0, 0]])


def test_without_ground_there_is_room_around_the_bodies():
    scene = project(World((box("crate", (0, 0, 0), (1, 1, 1)),)))
    assert len(scene.walkable(0.3).route((-1, 0.5), (2, 0.5)).points) > 2


def test_maps_are_the_same_every_time():
    rng = np.random.default_rng(0)
    world = World((floor(), body("soup", rng.uniform(0, 8, (60, 3)), rng.integers(0, 60, (40, 3)))))
    a, b = project(world), project(world)
    for layer in ("blocked", "ground", "low", "high", "cost"):
        assert np.array_equal(getattr(a, layer), getattr(b, layer))


def test_what_a_start_or_goal_is_in_is_named():
    crate, tower = box("Crate", (3, 3, 0), (5, 5, 1)), box("Tower", (5.5, 5, 0), (7.8, 7.8, 9))
    ways = project(World((floor(), crate, tower))).walkable(0.3)
    with pytest.raises(NoPath, match=r"the goal \(4.00, 4.00\) is in Crate, with no free place within 0.60 m"):
        ways.route((1, 1), (4, 4))
    with pytest.raises(NoPath, match=r"the start \(4.00, 4.00\) is in Crate"):
        ways.route((4, 4), (1, 1))
    # of a body that is higher than heads the map has the outline alone: its inside is free, and shut
    with pytest.raises(NoPath, match="the goal is inside Tower"):
        ways.route((1, 1), (6.6, 6.4))
    with pytest.raises(NoPath, match="the start is inside Tower"):
        ways.route((6.6, 6.4), (1, 1))
    with pytest.raises(NoPath, match="beside Crate"):
        ways.nearest((2.9, 4.0), 0.05)
    there = np.eye(4)
    there[0, 3] = -1.5
    moved = update(project(World((floor(), crate))), World((floor(), replace(crate, matrices=there[None]))))
    with pytest.raises(NoPath, match=r"\(2.50, 4.00\) is in Crate"):
        moved.walkable(0.3).route((7, 1), (2.5, 4.0))


def test_a_map_holds_several_storeys_and_each_has_ways_of_its_own():
    below = project(World((floor(), box("Wall", (3.9, 0, 0), (4.1, 8, 2)))), MapParams(radius=0.3))
    above = project(World((floor(),)), MapParams(radius=0.3))
    names = ("blocked", "ground", "low", "high", "cost")
    both = replace(
        below,
        **{name: np.concatenate([getattr(below, name), getattr(above, name)]) for name in names},
        _kept=None,
        _walkables={},
    )
    assert both.blocked.shape == (2, *below.shape)
    with pytest.raises(NoPath):
        both.walkable(floor=0).route((1, 4), (7, 4))
    assert len(both.walkable(floor=1).route((1, 4), (7, 4)).points) == 2
    with pytest.raises(InvalidParam, match="floor"):
        both.walkable(floor=2)
