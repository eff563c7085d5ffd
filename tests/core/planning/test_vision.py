"""The picture from an actor's eyes shows what rays through its pixels meet, and what of it is recognised."""

from dataclasses import replace

import numpy as np
import pytest
from troupe.core import InvalidParam, TroupeError
from troupe.core.figure.mannequin import mannequin
from troupe.core.maths import geometry, quat
from troupe.core.motion import Motion
from troupe.core.planning.senses.eyes import eye_at, eye_of, eyes
from troupe.core.planning.senses.patches import split, whole
from troupe.core.planning.senses.scenery import actor_body, placement, scenery, velocity, with_bodies
from troupe.core.planning.senses.vision import VisionParams, false_colour, see
from troupe.core.skeleton import Pose
from troupe.core.world import Body, World

from .sights import at, ball, box, crowded, floor

NORTH = np.pi
"""Heading along +Y."""
EYE = eye_at(np.array([0.0, 0.0, 1.6]), NORTH)


def cast(world, eye, params, time=0.0):
    """Ids (h, w) and depth (h, w) by rays through the centres of pixels."""
    lens = params.lens()
    across, up = np.meshgrid(lens.columns, lens.rows)
    left, back, above = eye[:3, :3].T
    rays = (-left * across[..., None] - back + above * up[..., None]).reshape(-1, 3)
    far, _, body, hit = geometry.ray(world, eye[:3, 3] + params.near * rays, rays, time)
    stretch = np.linalg.norm(rays, axis=1)
    depth = np.where(hit, far / stretch + params.near, np.inf)
    ids = np.array([b.id for b in world.bodies])[body]
    seen = hit & (depth * stretch <= params.range)
    shape = lens.height, lens.width
    return np.where(seen, ids, -1).reshape(shape), np.where(seen, depth, np.inf).reshape(shape)


@pytest.mark.req("kuffner", 48)
def test_random_scenes_look_as_rays_find_them():
    rng = np.random.default_rng(0)
    params = VisionParams(pixels=48, recognition="pixel", range=9.0)
    for _ in range(25):
        world = crowded(rng, int(rng.integers(5, 60)))
        eye = np.eye(4)
        eye[:3, :3] = quat.to_matrix(quat.unit(rng.normal(size=4)))
        eye[:3, 3] = rng.uniform(-4, 4, 3) + [0, 0, 2]
        sight, (ids, depth) = see(world, eye, params), cast(world, eye, params)
        assert (sight.ids == ids).mean() > 0.9995
        same = (sight.ids == ids) & (ids >= 0)
        assert np.allclose(sight.depth[same], depth[same], rtol=1e-9)
        pixels = {k: int((ids == k).sum()) for k in np.unique(ids) if k >= 0}
        assert {k for k, n in pixels.items() if n > 2} <= set(sight.seen)
        assert all(stats.id in pixels or stats.pixels <= 2 for stats in sight.visible.values())


@pytest.mark.req("kuffner", 48)
def test_pixel_statistics_are_those_of_the_picture():
    sight = see(crowded(np.random.default_rng(3), 30), eye_at(np.array([0, -9, 1.6]), NORTH), VisionParams(pixels=64))
    assert len(sight.visible) > 10
    for stats in sight.visible.values():
        rows, columns = np.nonzero(sight.ids == stats.id)
        assert stats.pixels == len(rows)
        assert stats.box == (rows.min(), columns.min(), rows.max(), columns.max())
        assert stats.depth == pytest.approx(sight.depth[rows, columns].min(), rel=1e-12)


@pytest.mark.req("kuffner", 49)
def test_what_is_hidden_aside_behind_or_too_far_is_not_seen():
    world = World(
        (
            box("seen", 1, (0, 3, 1.6), 1.0),
            box("hidden", 2, (0, 5, 1.6), 1.0),
            box("behind", 3, (0, -3, 1.6), 1.0),
            box("left", 4, (-6, 2, 1.6), 1.0),
            box("above", 5, (0, 2, 6), 1.0),
            box("far", 6, (9, 30.5, 1.6), 1.0),
        )
    )
    assert list(see(world, EYE).visible) == ["seen"]
    assert "far" in see(world, EYE, VisionParams(range=34.0)).visible
    without = see(world, EYE, exclude=["seen"])
    assert list(without.visible) == ["hidden"]


@pytest.mark.req("kuffner", 49)
def test_an_actor_does_not_see_itself():
    me = actor_body("me", 1, [0, 0, NORTH], 0.3, 1.8)
    hat = box("hat", 2, (0, 0.2, 1.6), 0.1, tags=["actor:me"])
    you = actor_body("you", 3, [0, 3, 0], 0.3, 1.8)
    world = World((me, hat, you))
    assert set(see(world, EYE).visible) == {"me", "hat"}
    assert list(see(world, EYE, exclude=["me"]).visible) == ["you"]


def test_ground_that_reaches_behind_the_eye_is_seen_to_the_very_edge():
    params = VisionParams(pixels=101, range=1000.0)
    ids = see(World((floor(7, -900, -900, 900, 900),)), EYE, params).ids
    assert (ids[52:] == 7).all()
    assert (ids[:50] == -1).all()


def test_meshes_have_no_cracks():
    rng = np.random.default_rng(1)
    n = 60
    x, z = np.meshgrid(np.linspace(-9, 9, n), np.linspace(-8, 12, n))
    points = np.stack([x, 3 + 0.2 * rng.normal(size=x.shape), z], axis=-1).reshape(-1, 3)
    k = np.arange(n * n).reshape(n, n)[:-1, :-1].ravel()
    triangles = np.concatenate([np.stack([k, k + 1, k + n + 1], 1), np.stack([k, k + n + 1, k + n], 1)])
    sheet = Body("sheet", 4, points, triangles, np.eye(4)[None])
    for heading in (NORTH, NORTH + 0.2, NORTH - 0.1):
        assert (see(World((sheet,)), eye_at(np.array([0, 0, 1.6]), heading)).ids == 4).all()


def test_depth_is_that_of_a_slanting_plane():
    corners = np.array([[-50, 1, -50], [50, 41, -50], [50, 41, 50], [-50, 1, 50]], dtype=float)
    wall = Body("wall", 0, corners, [[0, 1, 2], [0, 2, 3]], np.eye(4)[None])
    params = VisionParams(pixels=33, range=1000.0)
    sight = see(World((wall,)), EYE, params)
    # y = 21 + 0.4 x, and x = slope * y for the ray of a column (to the right is +X)
    expected = 21 / (1 - 0.4 * params.lens().columns)
    assert np.allclose(sight.depth, expected)


def test_a_thing_that_covers_no_centre_of_a_pixel_is_not_seen():
    tiny = box("tiny", 0, (0.003, 20, 1.6), 0.001)
    assert not see(World((tiny,)), EYE, VisionParams(pixels=100)).visible


def test_moving_bodies_are_seen_where_they_are():
    slide = np.stack([at(x, 4, 1.6) for x in np.linspace(-3, 3, 25)])
    world = World((box("cart", 1, (0, 0, 0), 0.5, matrices=slide),), 24.0)
    columns = [np.mean(see(world, EYE, time=t).visible["cart"].box[1::2]) for t in (0.0, 0.26, 0.5, 1.0, 5.0)]
    assert columns[0] < columns[1] < columns[2] < columns[3] == columns[4]
    assert columns[2] == pytest.approx(99.5, abs=0.6)
    assert np.allclose(velocity(world.bodies[0], 24.0, 0.5), [6, 0, 0, 0, 0, 0])


def test_a_turning_body_is_turned_between_frames():
    turning = np.stack([at(0, 4, 1.6, (0, 0, a)) for a in (0.0, 1.0)])
    body = box("vane", 1, (0, 0, 0), 1.0, matrices=turning)
    assert np.allclose(placement(body, 24.0, 0.5 / 24), at(0, 4, 1.6, (0, 0, 0.5)))
    assert np.allclose(velocity(body, 24.0, 0.0), [0, 0, 0, 0, 0, 24.0])
    mirror = np.diag([-2.0, 2.0, 2.0, 1.0])
    mirrored = replace(body, matrices=turning @ mirror)
    assert np.allclose(placement(mirrored, 24.0, 0.5 / 24), at(0, 4, 1.6, (0, 0, 0.5)) @ mirror)
    assert np.allclose(velocity(mirrored, 24.0, 0.0), [0, 0, 0, 0, 0, 24.0])


def test_see_through_bodies_hide_nothing_and_are_seen():
    world = World(
        (
            box("pane", 1, (0, 2, 1.6), (2, 0.02, 2), tags=["see_through"]),
            box("second pane", 2, (0, 3, 1.6), (2, 0.02, 2), tags=["see_through"]),
            box("vase", 3, (0, 4, 1.6), 0.5),
            box("hidden pane", 4, (0, 6, 1.6), (0.3, 0.02, 0.3), tags=["see_through"]),
        )
    )
    sight = see(world, EYE)
    assert list(sight.visible) == ["pane", "second pane", "vase"]
    assert set(np.unique(sight.ids)) == {-1, 3}
    assert set(np.unique(sight.glass)) == {-1, 1}
    assert sight.visible["second pane"].pixels == (see(world, EYE, exclude=["pane", "vase"]).glass == 2).sum()


@pytest.mark.req("kuffner", 58)
def test_a_body_is_recognised_when_enough_of_it_shows():
    def shown(hidden, **more):
        screen = box("screen", 2, (0, 2, hidden - 1.0), (4, 0.1, 2))
        ball_ = ball("ball", 1, (0, 4, 1.6), 0.5, kind="prop")
        return see(World((ball_, screen)), EYE, VisionParams(**more)).visible["ball"]

    assert shown(1.0).recognised
    glimpse = shown(1.81)
    assert 4 < glimpse.pixels < 40
    assert not glimpse.recognised
    assert shown(1.81, recognition="pixel").recognised
    assert shown(1.81, least_part=0.001).recognised
    assert not shown(1.0, least_pixels=10000).recognised


@pytest.mark.req("kuffner", 58)
def test_enough_is_four_pixels_and_a_twentieth_of_the_outline():
    params = VisionParams()
    assert (params.least_pixels, params.least_part) == (4, 0.05)
    verdicts = set()
    for radius, far in ((0.5, 4.0), (0.06, 6.0)):
        fx, fy = params.lens().focal
        outline = np.pi * radius**2 * fx * fy / far**2
        for top in np.linspace(1.6 - 0.5 * radius, 1.6 + 0.5 * radius, 24):
            screen = box("screen", 2, (0, far / 2, top - 1.0), (4, 0.01, 2))
            shown = see(World((ball("ball", 1, (0, far, 1.6), radius), screen)), EYE, params).visible.get("ball")
            if shown is None or abs(shown.pixels - 0.05 * outline) < 0.1 * 0.05 * outline:
                continue
            assert shown.recognised == (shown.pixels >= max(4, 0.05 * outline)), (radius, shown.pixels, outline)
            verdicts.add((radius, shown.recognised))
    assert len(verdicts) == 4


@pytest.mark.req("kuffner", 58)
def test_a_pole_is_recognised_though_its_sphere_is_large():
    assert see(World((box("pole", 1, (0, 6, 2), (0.1, 0.1, 4)),)), EYE).visible["pole"].recognised


@pytest.mark.req("kuffner", 58)
def test_who_has_a_face_is_recognised_by_it():
    def person(facing):
        body = replace(actor_body("ann", 1, [0, 4, facing], 0.3, 1.8), tags=frozenset())
        x, y = 0.31 * np.sin(facing), 4 - 0.31 * np.cos(facing)
        return World((body, box("ann's face", 2, (x, y, 1.6), 0.2, "prop", ["feature:ann"])))

    assert see(person(0.0), EYE).visible["ann"].recognised
    assert not see(person(NORTH), EYE).visible["ann"].recognised
    assert see(person(NORTH), EYE, VisionParams(features=False)).visible["ann"].recognised
    face_only = World((*person(0.0).bodies, box("bar", 3, (0, 2, 0.7), (4, 0.1, 1.5))))
    assert see(face_only, EYE).visible["ann"].recognised


def test_eyes_look_where_the_eye_bones_do():
    figure = mannequin(1.75)
    rotations = np.tile([1.0, 0, 0, 0], (len(figure), 1))
    eye = eye_of(figure, Pose(rotations, figure.offsets[0]))
    assert np.allclose(eye[:3, :3], np.eye(3))
    assert eye[2, 3] == pytest.approx(0.936 * 1.75, abs=0.01)
    assert abs(eye[0, 3]) < 1e-9

    aside = rotations.copy()
    aside[[figure.joint("eye_L"), figure.joint("eye_R")]] = quat.about(np.array([0.0, 0, 1]), 0.4)
    aside[figure.joint("head")] = quat.about(np.array([0.0, 0, 1]), 0.3)
    looking = eye_of(figure, Pose(aside, figure.offsets[0]))
    assert np.allclose(looking[:3, :3], eye_at(np.zeros(3), 0.7)[:3, :3])


def test_without_eye_bones_the_head_looks_from_about_the_same_place():
    figure = mannequin(1.75)
    blind = replace(figure, roles={k: v for k, v in figure.roles.items() if not k.startswith("eye")})
    rotations = np.tile([1.0, 0, 0, 0], (3, len(figure), 1))
    rotations[1, figure.joint("head")] = quat.about(np.array([0.0, 0, 1]), 1.0)
    motion = Motion(figure, 24.0, np.tile(figure.offsets[0], (3, 1)), rotations)
    with_bones, without = (eyes(s, motion.rotations, motion.roots) for s in (figure, blind))
    assert np.abs(with_bones - without).max() < 0.01


def test_an_eye_at_a_place_looks_along_its_heading_and_up_by_its_pitch():
    assert np.allclose(eye_at(np.zeros(3), 0.0)[:3, :3] @ [0, -1, 0], [0, -1, 0])
    assert np.allclose(eye_at(np.zeros(3), np.pi / 2)[:3, :3] @ [0, -1, 0], [1, 0, 0])
    assert np.allclose(eye_at(np.zeros(3), NORTH, 0.3)[:3, :3] @ [0, -1, 0], [0, np.cos(0.3), np.sin(0.3)])


def test_the_left_is_at_the_left_and_the_top_at_the_top():
    world = World((box("left", 1, (-2, 4, 1.6), 0.5), box("high", 2, (0, 4, 3.5), 0.5)))
    sight = see(world, EYE)
    assert sight.visible["left"].box[3] < 99
    assert sight.visible["high"].box[2] < 99


def test_patches_cover_a_body_and_show_as_it_does():
    world = World(
        (floor(0, -6, -1, 6, 9), box("wall", 1, (0, 5, 1.25), (9, 0.1, 2.5)), box("cup", 2, (1, 2, 0.1), 0.2))
    )
    cut = split(world, 1.5)
    assert "cup" in {b.name for b in cut.bodies}
    assert len({b.id for b in cut.bodies}) == len(cut.bodies) > 60
    assert {whole(b) for b in cut.bodies} == {"floor", "wall", "cup"}
    for body in cut.bodies:
        assert np.ptp(body.vertices, axis=0).max() <= 1.5 + 1e-9
    number = {b.id: {"floor": 0, "wall": 1, "cup": 2}[whole(b)] for b in cut.bodies} | {-1: -1}
    before, after = see(world, EYE), see(cut, EYE)
    assert (before.ids == np.vectorize(number.get)(after.ids)).mean() > 0.9999
    area = dict.fromkeys(("floor", "wall"), 0.0)
    for body in cut.bodies[1:]:
        a, b, c = np.moveaxis(body.vertices[body.triangles], 1, 0)
        area[whole(body)] = area.get(whole(body), 0) + 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
    assert area["wall"] == pytest.approx(2 * (9 * 0.1 + 9 * 2.5 + 0.1 * 2.5))


def test_patches_of_a_scaled_and_turned_body_are_as_small_as_those_of_a_plain_one():
    matrix = at(0, 5, 1, (0, 0, 0.5)) @ np.diag([10.0, 1, 1, 1])
    cut = split(World((box("beam", 0, (0, 0, 0), 1.0, matrices=matrix[None]),)), 2.0)
    assert len(cut.bodies) == 5
    with pytest.raises(InvalidParam):
        split(cut, 0.0)


def test_false_colours_name_the_ids():
    ids = np.array([[-1, 0, 254, 255, 70000]])
    rgb = false_colour(ids).astype(int)
    assert (rgb @ [1, 256, 65536] - 1 == ids).all()


def test_points_are_revealed_unless_something_is_before_them():
    sight = see(World((box("wall", 1, (0, 3, 1.6), (2, 0.1, 3)),)), EYE)
    points = np.array([[0, 2, 1.6], [0, 5, 1.6], [4, 5, 1.6], [0, -2, 1.6], [0.5, 2.95, 1.6], [0, 40, 1.6]])
    assert sight.reveals(points).tolist() == [True, False, True, False, True, False]


def test_looking_twice_shows_the_same():
    shapes = scenery(crowded(np.random.default_rng(9), 40))
    a, b = (see(shapes, EYE, VisionParams(pixels=64)) for _ in range(2))
    assert (a.ids == b.ids).all()
    assert (a.depth == b.depth).all()
    assert a.visible == b.visible


def test_bodies_may_be_added_to_a_prepared_world():
    world = World((floor(), box("a", 1, (-1, 4, 1), 1.0), box("b", 2, (2, 5, 1), 2.0)))
    guest = actor_body("guest", 99, [0.0, 2.5, 0.0], 0.3, 1.8)
    together = see(World((*world.bodies, guest)), EYE)
    added = see(with_bodies(scenery(world), [guest]), EYE)
    assert "guest" in added.visible
    assert (added.ids == together.ids).all()
    assert added.visible == together.visible


def test_an_empty_world_shows_nothing():
    sight = see(World(), EYE)
    assert not sight.visible
    assert (sight.ids == -1).all()
    assert np.isinf(sight.depth).all()


def test_bodies_need_ids_of_their_own_and_eyes_a_matrix():
    twins = World((box("a", 1, (0, 3, 1), 1.0), box("b", 1, (0, 4, 1), 1.0)))
    with pytest.raises(TroupeError, match="b"):
        see(twins, EYE)
    with pytest.raises(TroupeError):
        see(World((box("a", -1, (0, 3, 1), 1.0),)), EYE)
    with pytest.raises(InvalidParam):
        see(World(), np.eye(3))
    for wrong in ({"pixels": 0}, {"fov": 4.0}, {"range": -1.0}, {"interval": 0}, {"recognition": "never"}):
        with pytest.raises(InvalidParam):
            VisionParams(**wrong)
