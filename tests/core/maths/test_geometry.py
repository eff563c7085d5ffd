"""Questions to a world against brute force and analytic shapes; closed forms against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from troupe.core import Body, InvalidParam, TroupeError, World
from troupe.core.maths import geometry, quat
from troupe.core.planning.spaces.set_pieces import lathe

RNG = np.random.default_rng(5)
STILL = np.eye(4)[None]


def placed(position=(0.0, 0.0, 0.0), turn=quat.IDENTITY, scale=1.0) -> np.ndarray:
    m = np.eye(4)
    m[:3, :3] = quat.to_matrix(np.asarray(turn)) * scale
    m[:3, 3] = position
    return m


def sheet(n: int, size: float, f) -> tuple[np.ndarray, np.ndarray]:
    """A height field of (n - 1)^2 squares, two triangles each."""
    x, y = np.meshgrid(np.linspace(-size / 2, size / 2, n), np.linspace(-size / 2, size / 2, n), indexing="ij")
    i = np.arange(n * n).reshape(n, n)
    a, b, c, d = i[:-1, :-1].ravel(), i[1:, :-1].ravel(), i[1:, 1:].ravel(), i[:-1, 1:].ravel()
    faces = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    return np.stack([x, y, f(x, y)], axis=-1).reshape(-1, 3), faces


def ball(n: int, radius: float) -> tuple[np.ndarray, np.ndarray]:
    vertices, faces = sheet(n, 1.0, lambda x, y: 0 * x)
    u, v = (vertices[:, 0] + 0.5) * 2 * np.pi, (vertices[:, 1] + 0.5) * np.pi
    return radius * np.stack([np.sin(v) * np.cos(u), np.sin(v) * np.sin(u), np.cos(v)], axis=1), faces


def flat(x, y):
    return 0 * x


def hilly(x, y):
    return np.sin(x) * np.cos(1.3 * y) + 0.1 * x


def body(name: str, mesh, matrices=STILL, kind: str = "ground") -> Body:
    return Body(name, 0, *mesh, np.asarray(matrices), kind)


def brute_ray(corners, origins, directions):
    a, b, c = np.moveaxis(corners, 1, 0)
    return geometry.ray_triangle(origins[:, None], directions[:, None], a, b, c).min(axis=1)


def brute_nearest(corners, points):
    a, b, c = np.moveaxis(corners, 1, 0)
    return np.linalg.norm(geometry.point_triangle(points[:, None], a, b, c) - points[:, None], axis=-1).min(axis=1)


HILLS = body("hills", sheet(31, 10.0, hilly))
SURFACE = geometry.index(World((HILLS,)))
CORNERS = HILLS.vertices[HILLS.triangles]


# closed forms


def test_nearest_point_of_a_segment_lies_across_it_or_at_an_end():
    p, a, b = RNG.normal(size=(3, 500, 3))
    q, u = geometry.point_segment(p, a, b)
    assert np.allclose(q, a + u[:, None] * (b - a), atol=1e-14)
    inside = (u > 0) & (u < 1)
    assert inside.any()
    assert np.abs(quat.dot(p - q, b - a))[inside].max() < 1e-13
    assert np.all(quat.dot(p - a, b - a)[u == 0] <= 0)
    assert np.all(quat.dot(p - b, b - a)[u == 1] >= 0)


def test_a_segment_without_length_is_a_point_and_planes_count_too():
    a = np.array([1.0, 2.0])
    q, u = geometry.point_segment(np.array([4.0, 6.0]), a, a)
    assert np.array_equal(q, a)
    assert u == 0


def test_nearest_points_of_segments_are_nearest():
    a0, a1, b0, b1 = RNG.normal(size=(4, 200, 3))
    p, q = geometry.segment_segment(a0, a1, b0, b1)
    got = np.linalg.norm(p - q, axis=1)
    # each must be the point of its segment nearest to the other
    assert np.allclose(geometry.point_segment(q, a0, a1)[0], p, atol=1e-12)
    assert np.allclose(geometry.point_segment(p, b0, b1)[0], q, atol=1e-12)
    s = np.linspace(0, 1, 41)
    along = a0[:, None] + s[:, None] * (a1 - a0)[:, None]
    grid = np.linalg.norm(geometry.point_segment(along, b0[:, None], b1[:, None])[0] - along, axis=-1).min(axis=1)
    assert np.all(got <= grid + 1e-12)


@pytest.mark.parametrize(
    ("a0", "a1", "b0", "b1", "gap"),
    [
        ((0, 0, 0), (1, 0, 0), (0.5, 1, 0), (3, 1, 0), 1.0),  # parallel, overlapping
        ((0, 0, 0), (1, 0, 0), (3, 0, 0), (2, 0, 0), 1.0),  # on one line, turned round
        ((0, 0, 0), (1, 0, 0), (4, 3, 0), (6, 3, 0), np.sqrt(18)),  # parallel, apart
        ((0, 0, 0), (0, 0, 0), (0, 3, 4), (0, 3, 4), 5.0),  # points
        ((0, 0, 0), (0, 0, 0), (-1, 2, 0), (1, 2, 0), 2.0),  # point and segment
        ((-1, 2, 0), (1, 2, 0), (0, 0, 0), (0, 0, 0), 2.0),
        ((-1, 0, 0), (1, 0, 0), (0, -1, 1), (0, 1, 1), 1.0),  # crossing
        ((-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), 0.0),  # meeting
    ],
)
def test_segments_in_special_positions(a0, a1, b0, b1, gap):
    p, q = geometry.segment_segment(*(np.array(v, dtype=float) for v in (a0, a1, b0, b1)))
    assert np.isclose(np.linalg.norm(p - q), gap, atol=1e-14)


def test_capsules_that_overlap_have_a_negative_gap():
    a0, a1, b0, b1 = (np.array(v, dtype=float) for v in ((0, 0, 0), (0, 0, 1), (1, 0, 0), (1, 0, 1)))
    assert np.isclose(geometry.capsule_distance(a0, a1, 0.3, b0, b1, 0.2), 0.5)
    assert np.isclose(geometry.capsule_distance(a0, a1, 0.8, b0, b1, 0.4), -0.2)


def test_nearest_point_of_a_triangle_beats_every_sample_of_it():
    p, a, b, c = RNG.normal(size=(4, 200, 3))
    q = geometry.point_triangle(p, a, b, c)
    u, v = (g.ravel() for g in np.meshgrid(np.linspace(0, 1, 41), np.linspace(0, 1, 41)))
    u, v = u[u + v <= 1], v[u + v <= 1]
    samples = a[:, None] + u[:, None] * (b - a)[:, None] + v[:, None] * (c - a)[:, None]
    grid = np.linalg.norm(samples - p[:, None], axis=-1).min(axis=1)
    got = np.linalg.norm(p - q, axis=1)
    assert np.all(got <= grid + 1e-12)
    assert np.all(grid - got < 0.2)
    # and it is a point of the triangle: the barycentric coordinates are those of one
    for k in range(len(p)):
        m = np.vstack([np.stack([a[k], b[k], c[k]], axis=1), np.ones(3)])
        weights, *_ = np.linalg.lstsq(m, np.append(q[k], 1.0), rcond=None)
        assert weights.min() > -1e-9
        assert np.allclose(m @ weights, np.append(q[k], 1.0), atol=1e-9)


def test_a_point_of_the_triangle_is_its_own_nearest():
    a, b, c = RNG.normal(size=(3, 300, 3))
    w = RNG.dirichlet(np.ones(3), 300)
    p = w[:, :1] * a + w[:, 1:2] * b + w[:, 2:] * c
    assert np.allclose(geometry.point_triangle(p, a, b, c), p, atol=1e-10)


def test_triangles_without_area_are_segments_or_points():
    a, b = np.array([0.0, 0, 0]), np.array([2.0, 0, 0])
    p = np.array([1.0, 1.0, 0.0])
    assert np.allclose(geometry.point_triangle(p, a, b, (a + b) / 2), [1, 0, 0])
    assert np.allclose(geometry.point_triangle(p, a, b, b), [1, 0, 0])
    assert np.allclose(geometry.point_triangle(p, b, b, b), b)


def test_ray_meets_a_triangle_where_the_plane_says_and_only_inside():
    a, b, c = RNG.normal(size=(3, 400, 3))
    w = RNG.dirichlet(np.ones(3), 400)
    target = w[:, :1] * a + w[:, 1:2] * b + w[:, 2:] * c
    origin = RNG.normal(size=(400, 3)) * 3
    assert np.allclose(geometry.ray_triangle(origin, target - origin, a, b, c), 1, atol=1e-8)
    assert np.all(np.isinf(geometry.ray_triangle(origin, origin - target, a, b, c)))  # behind
    outside = a + 1.5 * (b - a) + 0.2 * (c - a)
    assert np.all(np.isinf(geometry.ray_triangle(origin, outside - origin, a, b, c)))
    assert np.all(np.isinf(geometry.ray_triangle(origin, b - a, a, b, c)))  # along the plane


def test_plane_fit_finds_the_plane_whatever_its_tilt():
    normal = quat.unit(RNG.normal(size=(50, 3)))
    normal *= np.sign(normal[:, 2:])
    flat_points = RNG.normal(size=(50, 12, 3))
    flat_points -= quat.dot(flat_points, normal[:, None])[..., None] * normal[:, None]
    centre, got = geometry.plane_fit(flat_points + 3.0)
    assert np.allclose(got, normal, atol=1e-12)
    assert np.allclose(quat.dot(centre - 3.0, normal), 0, atol=1e-12)


def test_polygon_area_has_the_sign_of_its_sense():
    square = np.array([[0.0, 0], [2, 0], [2, 2], [0, 2]])
    assert geometry.polygon_area(square) == 4
    assert geometry.polygon_area(square[::-1]) == -4
    assert geometry.polygon_area(np.stack([square, 2 * square])).tolist() == [4, 16]


def test_inside_of_a_concave_polygon():
    u_shape = np.array([[0.0, 0], [3, 0], [3, 3], [2, 3], [2, 1], [1, 1], [1, 3], [0, 3]])
    points = np.array([[0.5, 2], [1.5, 2], [2.5, 2], [1.5, 0.5], [-1, 1], [4, 1], [1.5, 5]])
    assert geometry.inside_polygon(points, u_shape).tolist() == [True, False, True, True, False, False, False]
    assert np.array_equal(geometry.inside_polygon(points, u_shape[::-1]), geometry.inside_polygon(points, u_shape))


# height


def test_height_on_a_slope_is_the_plane_and_its_normal():
    slope = body("slope", sheet(9, 8.0, lambda x, y: 0.5 * x - 0.25 * y + 2))
    xy = RNG.uniform(-4, 4, size=(300, 2))
    z, normal, hit = geometry.height(World((slope,)), xy)
    assert hit.all()
    assert np.allclose(z, 0.5 * xy[:, 0] - 0.25 * xy[:, 1] + 2, atol=1e-12)
    assert np.allclose(normal, quat.unit(np.array([-0.5, 0.25, 1.0])), atol=1e-12)


def test_height_equals_brute_force():
    xy = RNG.uniform(-5, 5, size=(400, 2))
    z, normal, hit = geometry.height(SURFACE, xy)
    origins = np.column_stack([xy, np.full(400, 10.0)])
    expected = 10 - brute_ray(CORNERS, origins, np.tile([0.0, 0, -1], (400, 1)))
    assert hit.all()
    assert np.allclose(z, expected, atol=1e-12)
    assert normal[:, 2].min() > 0


def test_every_vertex_and_every_middle_of_an_edge_is_ground():
    corners = HILLS.vertices[HILLS.triangles]
    edges = ((corners + np.roll(corners, 1, axis=1)) / 2).reshape(-1, 3)
    for points in (HILLS.vertices, edges):
        z, _, hit = geometry.height(SURFACE, points[:, :2])
        assert hit.all()
        assert np.abs(z - points[:, 2]).max() < 1e-6


def test_off_the_ground_height_is_zero_upright_and_no_hit():
    z, normal, hit = geometry.height(SURFACE, np.array([[5.1, 0.0], [0.0, -70.0]]))
    assert not hit.any()
    assert z.tolist() == [0, 0]
    assert normal.tolist() == [[0, 0, 1]] * 2


def test_height_below_a_limit_finds_the_storey_underneath():
    floors = World(tuple(body(f"floor {k}", sheet(3, 4.0, flat), [placed((0, 0, 3.0 * k))]) for k in range(4)))
    xy = np.zeros((5, 2))
    assert geometry.height(floors, xy)[0].tolist() == [9] * 5
    z, _, hit = geometry.height(floors, xy, below=np.array([-0.5, 0.0, 2.9, 3.0, 100.0]))
    assert np.allclose(z, [0, 0, 0, 3, 9], atol=1e-9)
    assert hit.tolist() == [False, True, True, True, True]


def test_only_the_kinds_asked_for_count():
    world = World(
        (body("g", sheet(3, 4.0, flat)), body("table", sheet(3, 1.0, lambda x, y: 0 * x + 1), kind="obstacle"))
    )
    assert geometry.height(world, np.zeros((1, 2)))[0] == 0
    assert geometry.height(world, np.zeros((1, 2)), kinds=("ground", "obstacle"))[0] == 1
    assert geometry.ray(world, np.array([[0.0, 0, 5]]), np.array([[0.0, 0, -1]]))[2] == 1
    assert geometry.ray(world, np.array([[0.0, 0, 5]]), np.array([[0.0, 0, -1]]), kinds=("ground",))[2] == 0


def test_a_lift_carries_its_floor_between_frames_and_rests_beyond_them():
    lift = body("lift", sheet(3, 2.0, flat), [placed((0, 0, z)) for z in (0.0, 1.0, 3.0)])
    surface = geometry.index(World((lift,), fps=10.0))
    t = np.array([-1.0, 0.0, 0.05, 0.1, 0.15, 0.2, 9.0])
    z, _, hit = geometry.height(surface, np.zeros((7, 2)), t)
    assert hit.all()
    assert np.allclose(z, [0, 0, 0.5, 1, 2, 3, 3], atol=1e-9)
    assert np.isclose(geometry.height(surface, np.zeros((1, 2)), 0.15)[0], 2.0, atol=1e-9)


def test_a_tilting_deck_has_the_height_and_normal_of_its_tilt():
    tilt = np.linspace(0, 0.6, 7)
    deck = body("deck", sheet(5, 10.0, flat), [placed((0, 0, 1), quat.about(np.array([0.0, 1, 0]), a)) for a in tilt])
    surface = geometry.index(World((deck,), fps=1.0))
    x = np.array([-2.0, 0.0, 1.0, 2.0])
    for t in (0.0, 2.5, 6.0):
        z, normal, hit = geometry.height(surface, np.column_stack([x, 0 * x]), t)
        assert hit.all()
        assert np.allclose(z, 1 - x * np.tan(0.1 * t), atol=1e-9)
        assert np.allclose(normal, [np.sin(0.1 * t), 0, np.cos(0.1 * t)], atol=1e-12)


def test_scaled_and_mirrored_bodies_keep_their_shape_when_they_move():
    turn = quat.about(np.array([0.0, 0, 1]), 0.7)
    m = np.array([placed((k, 0, 0), turn) for k in (0.0, 1.0)])
    m[:, :3, :3] = m[:, :3, :3] @ np.diag([-2.0, 3.0, 0.5])
    mesh = sheet(9, 2.0, hilly)
    moving = geometry.index(World((body("m", mesh, m),), fps=1.0))
    points = np.column_stack([RNG.uniform(-1, 1, size=(60, 2)), RNG.uniform(-1, 1, 60)])
    for frame in (0, 1):
        still = geometry.index(World((body("s", mesh, m[frame : frame + 1]),)))
        got, expected = (geometry.height(w, points[:, :2], frame) for w in (moving, still))
        assert all(np.allclose(a, b, atol=1e-12) for a, b in zip(got, expected, strict=True))
        got, expected = (geometry.nearest(w, points, frame)[:3] for w in (moving, still))
        assert all(np.allclose(a, b, atol=1e-12) for a, b in zip(got, expected, strict=True))


# rays


def test_rays_equal_brute_force():
    origins = RNG.uniform(-6, 6, size=(500, 3)) * [1, 1, 0.5]
    directions = RNG.normal(size=(500, 3)) * [1, 1, 0.3]
    distance, normal, owner, hit = geometry.ray(SURFACE, origins, directions)
    expected = brute_ray(CORNERS, origins, quat.unit(directions))
    assert 50 < hit.sum() < 450
    assert np.array_equal(hit, np.isfinite(expected))
    assert np.allclose(distance[hit], expected[hit], atol=1e-11)
    assert np.all(np.isinf(distance[~hit]))
    assert np.array_equal(owner, np.where(hit, 0, -1))
    assert np.all(quat.dot(normal, directions)[hit] <= 0)
    assert np.allclose(np.linalg.norm(normal[hit], axis=1), 1, atol=1e-12)
    assert np.all(normal[~hit] == 0)


def test_rays_along_an_axis_equal_brute_force():
    for axis in range(3):
        directions = np.zeros((120, 3))
        directions[:, axis] = RNG.choice([-1.0, 1.0], 120)
        origins = RNG.uniform(-5, 5, size=(120, 3)) * [1, 1, 0.3]
        distance = geometry.ray(SURFACE, origins, directions)[0]
        assert np.allclose(distance, brute_ray(CORNERS, origins, directions), atol=1e-11)


def test_rays_from_the_middle_of_a_ball_measure_its_radius():
    surface = geometry.index(World((body("ball", ball(121, 2.0), [placed((1, 2, 3))], "prop"),)))
    directions = RNG.normal(size=(200, 3)) * 7
    distance, normal, _, hit = geometry.ray(surface, np.tile([1.0, 2, 3], (200, 1)), directions)
    assert hit.all()
    assert np.abs(distance - 2).max() < 2e-3
    assert quat.dot(normal, quat.unit(directions)).max() < -0.99


def test_no_ray_slips_out_of_a_ball_through_its_corners_and_edges():
    mesh = ball(41, 2.0)
    surface = geometry.index(World((body("ball", mesh),)))
    corners = mesh[0][mesh[1]]
    for targets in (mesh[0], ((corners + np.roll(corners, 1, axis=1)) / 2).reshape(-1, 3)):
        for origin in ([0.0, 0, 0], [0.3, -0.7, 1.1]):
            start = np.tile(origin, (len(targets), 1))
            assert geometry.ray(surface, start, targets - start)[3].all()


def test_reach_ends_a_ray():
    world = World((body("g", sheet(3, 4.0, flat)),))
    for reach, expected in ((1.9, False), (2.1, True)):
        distance, _, owner, hit = geometry.ray(world, np.array([[0.1, 0, 2]]), np.array([[0.0, 0, -1]]), reach=reach)
        assert hit.tolist() == [expected]
        assert owner.tolist() == [0 if expected else -1]
        assert np.isclose(distance[0], 2.0) if expected else np.isinf(distance[0])


def test_the_nearer_of_several_bodies_stops_a_ray_whatever_their_order():
    walls = [body(f"wall {k}", sheet(3, 4.0, flat), [placed((0, 0, -k))], "obstacle") for k in (3.0, 1.0, 2.0)]
    moving = body("door", sheet(3, 4.0, flat), [placed((0, 0, -0.5)), placed((0, 0, -9))], "door")
    world = World((*walls, moving), fps=1.0)
    down, start = np.array([[0.0, 0, -1]]), np.array([[0.2, 0.1, 0]])
    assert geometry.ray(world, start, down, 0.0)[2].tolist() == [3]
    assert geometry.ray(world, start, down, 1.0)[2].tolist() == [1]


# nearest


def test_nearest_equals_brute_force():
    points = RNG.uniform(-7, 7, size=(300, 3)) * [1, 1, 0.5]
    point, distance, owner, normal = geometry.nearest(SURFACE, points)
    assert np.allclose(distance, brute_nearest(CORNERS, points), atol=1e-12)
    assert np.allclose(np.linalg.norm(points - point, axis=1), distance, atol=1e-12)
    assert np.all(owner == 0)
    assert np.all(quat.dot(points - point, normal) >= -1e-12)
    assert brute_nearest(CORNERS, point).max() < 1e-12


def test_nearest_within_reach_only():
    points = np.array([[0.0, 0, 2.0], [0.0, 0, 0.5]])
    world = World((body("g", sheet(3, 4.0, flat)),))
    point, distance, owner, normal = geometry.nearest(world, points, reach=1.0)
    assert point.tolist() == [[0, 0, 2], [0, 0, 0]]
    assert distance.tolist() == [np.inf, 0.5]
    assert owner.tolist() == [-1, 0]
    assert normal.tolist() == [[0, 0, 0], [0, 0, 1]]


def test_nearest_of_several_moving_bodies():
    track = [placed((x, 0, 0), quat.about(np.array([0.0, 0, 1]), x)) for x in np.linspace(-4, 4, 9)]
    surface = geometry.index(World((HILLS, body("ball", ball(21, 0.5), track, "prop")), fps=1.0))
    ball_corners = np.concatenate([ball(21, 0.5)[0][ball(21, 0.5)[1]]])
    points = RNG.uniform(-3, 3, size=(80, 3))
    for frame in (0, 5, 8):
        m = track[frame]
        both = np.concatenate([CORNERS, ball_corners @ m[:3, :3].T + m[:3, 3]])
        assert np.allclose(geometry.nearest(surface, points, frame)[1], brute_nearest(both, points), atol=1e-12)


# the index


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 63, 64, 65, 200, 513])
def test_any_number_of_triangles_can_be_asked(count):
    corners = RNG.normal(size=(count, 3, 3))
    world = World((Body("soup", 0, corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3), STILL),))
    points, directions = RNG.normal(size=(2, 50, 3))
    assert np.allclose(geometry.nearest(world, points)[1], brute_nearest(corners, points), atol=1e-12)
    expected = brute_ray(corners, points, quat.unit(directions))
    assert np.allclose(geometry.ray(world, points, directions)[0], expected, atol=1e-10)


def test_equal_triangles_do_not_trouble_the_index():
    corners = np.tile(np.array([[[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]]), (100, 1, 1))
    world = World((Body("pile", 0, corners.reshape(-1, 3), np.arange(300).reshape(-1, 3), STILL, "ground"),))
    assert geometry.height(world, np.array([[0.2, 0.2]]))[2].all()


def test_a_batch_of_any_length_answers_as_one_by_one():
    xy = RNG.uniform(-5.5, 5.5, size=(2500, 2))
    whole = geometry.height(SURFACE, xy)
    for k in (0, 1023, 1024, 2499):
        for a, b in zip(whole, geometry.height(SURFACE, xy[k : k + 1]), strict=True):
            assert np.array_equal(a[k], b[0])
    assert all(len(a) == 0 for a in geometry.height(SURFACE, xy[:0]))
    assert all(len(a) == 0 for a in geometry.nearest(SURFACE, np.zeros((0, 3))))


def test_a_world_and_its_index_answer_alike():
    xy = RNG.uniform(-5, 5, size=(20, 2))
    for a, b in zip(geometry.height(World((HILLS,)), xy), geometry.height(SURFACE, xy), strict=True):
        assert np.array_equal(a, b)


def test_an_empty_world_has_no_surface():
    for world in (World(), World((Body("empty", 0, np.zeros((0, 3)), np.zeros((0, 3), int), STILL, "ground"),))):
        assert not geometry.height(world, np.zeros((2, 2)))[2].any()
        assert np.isinf(geometry.ray(world, np.zeros((2, 3)), np.ones((2, 3)))[0]).all()
        assert np.isinf(geometry.nearest(world, np.zeros((2, 3)))[1]).all()


def test_a_body_that_changes_size_as_it_moves_is_refused_by_name():
    world = World((body("balloon", ball(9, 1.0), [placed(scale=1.0), placed(scale=2.0)]),))
    with pytest.raises(TroupeError, match="balloon changes its size"):
        geometry.index(world)


@pytest.mark.parametrize("xy", [np.zeros(2), np.zeros((3, 3)), np.array([[np.nan, 0.0]])])
def test_malformed_places_are_refused(xy):
    with pytest.raises(InvalidParam, match="xy"):
        geometry.height(SURFACE, xy)


def test_malformed_points_and_unknown_kinds_are_refused():
    with pytest.raises(InvalidParam, match="points"):
        geometry.nearest(SURFACE, np.zeros((2, 2)))
    with pytest.raises(InvalidParam, match="directions"):
        geometry.ray(SURFACE, np.zeros((2, 3)), np.zeros((2, 2)))
    with pytest.raises(InvalidParam, match="ground, obstacle"):
        geometry.height(SURFACE, np.zeros((1, 2)), kinds=("floor",))


def test_inside_of_a_dense_mesh_is_told_alike_in_groups_and_triangle_by_triangle():
    rng = np.random.default_rng(5)
    turn = np.linspace(0.0, np.pi, 60)
    vertices, faces = lathe(np.column_stack([np.sin(turn) * (1.0 + 0.3 * np.sin(9.0 * turn)), -np.cos(turn)]), 70)
    mesh = geometry.seen(vertices[faces])
    near = vertices[rng.integers(0, len(vertices), 300)] * (1.0 + rng.choice([-1e-4, 1e-4], (300, 1)))
    points = np.concatenate([rng.uniform(-1.1, 1.1, (700, 3)), near])
    whole = geometry.Seen(mesh.corners, ())
    told = geometry.inside(mesh, points)
    assert mesh.levels and np.array_equal(told, geometry.inside(whole, points)) and 200 < told.sum() < 800
    assert np.array_equal(geometry.inside(mesh, points[:, [0, 2, 1]] + [5.0, 0, 0]), np.zeros(1000, dtype=bool))
