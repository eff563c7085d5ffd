"""Capsules among balls, boxes and meshes: exact where that is possible, careful where it is not, checked in the end."""

from dataclasses import replace

import numpy as np
import pytest
from troupe.core.figure.mannequin import mannequin, rest_pose
from troupe.core.kinematics import anatomy, fk
from troupe.core.kinematics.body_shape import beads, capsules, self_gaps, self_pairs
from troupe.core.kinematics.fingers import hand_length
from troupe.core.maths import geometry, quat
from troupe.core.maths.geometry import inside, seen
from troupe.core.motion import Motion
from troupe.core.planning.spaces.collision import Checker, clearance, segment_box
from troupe.core.planning.spaces.distance_field import closed, distance_field
from troupe.core.planning.spaces.meshes import REACH, Mesh, deepest
from troupe.core.planning.spaces.penetration import penetrations
from troupe.core.planning.spaces.pieces import islands, pieces
from troupe.core.planning.spaces.set_pieces import ball, bottle, box, lathe, placed
from troupe.core.planning.spaces.solids import Shapes, solids
from troupe.core.planning.spaces.surfaces import moving_in, skin_in
from troupe.core.world import Body, World

RNG = np.random.default_rng(5)
TURN = quat.to_matrix(quat.exp(np.array([0.4, -0.7, 1.1])))


def random_capsules(count, spread=0.5, seed=0):
    rng = np.random.default_rng(seed)
    lengths, radii = np.array([0.3, 0.25, 0.12]), np.array([0.05, 0.04, 0.02])
    starts = rng.uniform(-spread, spread, (3, 3, count))
    vectors = rng.normal(size=(3, 3, count))
    vectors *= lengths[:, None] / np.linalg.norm(vectors, axis=0)
    return starts, vectors, lengths, radii


def rows(starts, vectors, radii):
    """Capsules one a row."""
    a, v = starts.transpose(2, 1, 0).reshape(-1, 3), vectors.transpose(2, 1, 0).reshape(-1, 3)
    return a, a + v, np.tile(radii, starts.shape[2])


def test_a_box_a_ball_and_a_rectangle_are_found_for_what_they_are():
    table = [box("a", (0.5, 0.3, 0.02), (0, 0, 0.7)), box("b", (0.02, 0.02, 0.35), (0.4, 0.2, 0.35), TURN)]
    vertices = np.concatenate([b.vertices @ b.matrices[0, :3, :3].T + b.matrices[0, :3, 3] for b in table])
    faces = np.concatenate([b.triangles + k * 8 for k, b in enumerate(table)])
    found = pieces(islands(vertices, faces))
    assert [p.kind for p in found] == ["box", "box"]
    assert np.allclose(sorted(found[0].half), [0.02, 0.3, 0.5])
    assert np.allclose(found[1].centre, [0.4, 0.2, 0.35])
    floor = np.array([[-2, -1, 0], [2, -1, 0], [2, 1, 0], [-2, 1, 0]], float)
    (flat,) = pieces(islands(floor, np.array([[0, 1, 2], [0, 2, 3]])))
    assert flat.kind == "box" and np.allclose(sorted(flat.half), [0, 1, 2])
    sphere = ball("s", 0.2)
    (round_one,) = pieces(islands(sphere.vertices, sphere.triangles))
    assert round_one.kind == "ball" and np.allclose(round_one.half, 0.2)
    jar = bottle()
    assert [p.kind for p in pieces(islands(jar.vertices, jar.triangles))] == ["field"]
    # a box with a corner cut off is none
    cut = box("c", (0.1, 0.1, 0.1))
    vertices = cut.vertices.copy()
    vertices[7] *= 0.5
    assert [p.kind for p in pieces(islands(vertices, cut.triangles))] == ["field"]


def test_segments_are_as_far_from_boxes_as_sampling_says():
    half = RNG.uniform(0.05, 0.4, (400, 3))
    begin, vector = RNG.uniform(-1, 1, (400, 3)), RNG.normal(size=(400, 3))
    found = np.sqrt(segment_box(begin, vector, half))
    points = begin[:, None] + np.linspace(0, 1, 2001)[:, None] * vector[:, None]
    away = points - np.clip(points, -half[:, None], half[:, None])
    sampled = np.linalg.norm(away, axis=2).min(axis=1)
    assert (found <= sampled + 1e-9).all() and np.abs(found - sampled).max() < 2e-3


@pytest.mark.parametrize("number", [1, 96, 300])
def test_many_postures_at_once_give_what_clearance_gives(number):
    world = World(
        (
            box("crate", (0.1, 0.2, 0.15), (0.3, 0, 0), TURN),
            box("beam", (0.05, 0.05, 0.5), (-0.3, 0.2, 0)),
            ball("ball", 0.15, (0, -0.35, 0.1)),
            ball("other", 0.1, (0.1, 0.4, -0.2)),
        )
    )
    found = solids(world)
    starts, vectors, lengths, radii = random_capsules(number)
    gap, owner = clearance(found, *rows(starts, vectors, radii))
    free = Checker(found, lengths, radii).free(starts, vectors)
    assert np.array_equal(free, (gap.reshape(number, 3) >= 0).all(axis=1))
    if number > 50:
        assert 0.2 < free.mean() < 0.9 and set(owner) == {0, 1, 2, 3}


def test_a_mesh_is_never_said_to_be_farther_than_it_is_and_hardly_nearer():
    jar = bottle(place=(0.1, 0, 0), height=0.3, radius=0.08)
    jar = replace(jar, matrices=placed((0.1, 0.05, -0.1), TURN)[None])
    world = World((jar,))
    found = solids(world)
    field = found.fields[0]
    starts, vectors, lengths, radii = random_capsules(250, 0.4)
    a, b, size = rows(starts, vectors, radii)
    said = Checker(found, lengths, radii).free(starts, vectors)
    # the truth: densely sampled axes against the triangles
    points = a[:, None] + np.linspace(0, 1, 41)[:, None] * (b - a)[:, None]
    _, far, _, _ = geometry.nearest(world, points.reshape(-1, 3), reach=0.3)
    back = np.linalg.inv(jar.matrices[0])
    within = inside(seen(jar.vertices[jar.triangles]), points.reshape(-1, 3) @ back[:3, :3].T + back[:3, 3])
    gap = np.where(within, -far, far).reshape(points.shape[:2]).min(axis=1) - size
    gap = gap.reshape(-1, 3).min(axis=1)
    assert not (said & (gap < 0)).any()
    assert not (~said & (gap > 2.5 * field.spacing)).any()
    assert 0.1 < said.mean() < 0.9


def test_distances_are_exact_on_the_grid_and_negative_inside():
    jar = bottle(height=0.2, radius=0.05)
    field = distance_field(jar.vertices, jar.triangles, 0.06, cells=20_000)
    rng = np.random.default_rng(1)
    cells = np.column_stack([rng.integers(0, n, 400) for n in field.values.shape])
    points = field.origin + field.spacing * cells
    _, far, _, _ = geometry.nearest(World((replace(jar, matrices=np.eye(4)[None]),)), points)
    values = field.values[tuple(cells.T)]
    near = far < 0.06
    assert np.abs(far - np.abs(values))[near].max() < 1e-4
    # beyond the band they are known by cells, and never taken for more than they are
    assert (np.abs(values[~near]) > 0.06 - 1e-6).all() and (np.abs(values) < far + 1e-4).all()
    assert (np.abs(values) > far - 3.0 * field.spacing).all() and far.max() > 0.09
    clear = far > 1e-3
    assert np.array_equal((values < 0)[clear], inside(seen(jar.vertices[jar.triangles]), points)[clear])
    assert (values < 0).sum() > 20


def test_an_open_mesh_has_no_inside():
    jar = bottle()
    shell = jar.triangles[4:]
    assert closed(jar.triangles) and not closed(shell)
    assert (distance_field(jar.vertices, shell, 0.05, cells=5000).values >= 0).all()


def test_a_body_that_is_carried_about_keeps_its_field():
    shapes = Shapes()
    jar = bottle()
    one = solids(World((jar,)), shapes=shapes)
    other = solids(World((jar,)), shapes=shapes, moved={"bottle": placed((1, 2, 3), TURN)})
    assert one.fields[0] is other.fields[0]
    at = np.array([[0.0, 0.0, 0.1]])
    there = at @ TURN.T + (1, 2, 3)
    size = np.array([0.02])
    near, _ = clearance(one, at + 0.05, at + (0.05, 0.05, 0.1), size)
    far, owner = clearance(other, there + 0.05 * TURN.sum(axis=1), there + TURN @ (0.05, 0.05, 0.1), size)
    assert np.allclose(near, far, atol=1e-6) and owner[0] == 0


def test_what_is_ignored_or_out_of_reach_is_not_in_the_way():
    world = World((box("near", (0.1, 0.1, 0.1)), box("far", (0.1, 0.1, 0.1), (5, 0, 0)), bottle()))
    found = solids(world, region=(np.zeros(3), 1.0), ignore=("bottle",))
    assert len(found.middles) == 1 and found.names[found.box_of[0]] == "near"
    assert len(found.without("near").middles) == 0


def test_a_large_mesh_is_cut_to_the_reach():
    vertices, faces = lathe([(0, -3), (3, -3), (3, -2.9), (0.2, -0.2), (0, -0.2)], 32)
    hill = Body("hill", 1, vertices, faces, np.eye(4)[None])
    found = solids(World((hill,)), region=(np.zeros(3), 0.8))
    assert found.fields[0].spacing < 0.035
    gap, _ = clearance(found, np.array([[0, 0, -0.1]]), np.array([[0, 0, 0.1]]), np.array([0.05]))
    assert 0.01 < gap[0] <= 0.05 + 1e-6


def test_radii_follow_the_size_of_the_body():
    small, large = capsules(mannequin(1.1)), capsules(mannequin(1.9))
    assert small.parts == large.parts and {p[:-2] for p in small.parts if p.endswith("_L")} >= {
        "palm",
        "fingers",
        "thumb",
    }
    assert np.allclose(small.radii / large.radii, 1.1 / 1.9, rtol=1e-6)
    assert 0.17 < hand_length(mannequin(1.75), "R") < 0.21
    assert 0.03 < large.chosen(["forearm_L"]).radii[0] < 0.06


def test_beads_cover_their_capsules_and_little_more():
    starts, ends, radii = np.array([[0.0, 0, 0]]), np.array([[0.4, 0, 0]]), np.array([0.1])
    centres, sizes, owner = beads(starts, ends, radii)
    assert set(owner) == {0} and sizes.max() < 0.11
    rng = np.random.default_rng(0)
    points = rng.uniform([-0.1, -0.1, -0.1], [0.5, 0.1, 0.1], (4000, 3))
    axis = np.clip(points[:, 0], 0.0, 0.4)
    within = np.linalg.norm(points - np.column_stack([axis, 0 * axis, 0 * axis]), axis=1) < 0.1
    covered = (np.linalg.norm(points[:, None] - centres, axis=2) < sizes).any(axis=1)
    assert covered[within].all()


def test_an_arm_is_looked_at_against_the_body_but_not_its_neighbours():
    skeleton = mannequin(1.75)
    shape = capsules(skeleton)
    pairs = [(shape.parts[a], shape.parts[b]) for a, b in self_pairs(shape.parts, "L")]
    assert ("forearm_L", "chest") in pairs and ("palm_L", "forearm_R") in pairs and ("forearm_L", "thigh_L") in pairs
    assert ("upper_arm_L", "chest") not in pairs and not any(a.endswith("_R") for a, _ in pairs)
    assert ("forearm_L", "upper_arm_L") not in pairs
    pose = rest_pose(skeleton)
    gaps, _ = self_gaps(shape, *fk.forward(skeleton, pose.rotations, pose.root), "L")
    assert gaps.min() > 0
    bent = anatomy.with_angles(skeleton, pose.rotations, {"upper_arm_L": (0.0, 0.0, 1.3), "forearm_L": (1.5, 0, 0)})
    gaps, names = self_gaps(shape, *fk.forward(skeleton, bent, pose.root), "L")
    assert gaps.min() < 0 and names[int(gaps.argmin())][1] in ("chest", "abdomen")


def reaching(frames=13):
    """The right arm of a mannequin swings forward."""
    skeleton = mannequin(1.75)
    pose = rest_pose(skeleton)
    swing = np.linspace(0.0, np.pi / 2, frames)
    angles = {"upper_arm_R": np.column_stack([swing, 0 * swing, 0 * swing]), "forearm_R": np.zeros((frames, 3))}
    still = np.broadcast_to(pose.rotations, (frames, *pose.rotations.shape))
    return Motion(skeleton, 24.0, np.tile(pose.root, (frames, 1)), anatomy.with_angles(skeleton, still, angles))


@pytest.mark.req("kuffner", 107)
def test_what_is_in_the_triangles_is_listed_with_frame_part_and_body():
    motion = reaching()
    positions, _ = fk.forward(motion.skeleton, motion.rotations, motion.roots)
    elbow = positions[6, motion.skeleton.joint("forearm_R")]
    world = World((box("post", (0.02, 0.02, 0.02), elbow - (0, 0.1, 0.1)), box("far", (0.1, 0.1, 0.1), (2, 0, 1))))
    found = penetrations(motion, world)
    assert found and {p.body for p in found} == {"post"} and {p.part for p in found} <= {"forearm_R", "upper_arm_R"}
    assert {p.frame % 1.0 for p in found} == {0.0, 0.5}
    assert all(p.depth > 0.001 for p in found) and "mm in post" in str(found[0])
    assert not penetrations(motion, world, touching={(p.part, "post") for p in found})
    assert not penetrations(reaching(), World((box("far", (0.1, 0.1, 0.1), (2, 0, 1)),)))


@pytest.mark.req("kuffner", 107)
def test_what_lies_deep_inside_is_found_too_and_so_is_a_prop_in_a_wall():
    motion = reaching()
    crate = box("crate", (0.5, 0.5, 0.5), motion.roots[0] + (-0.2, -0.2, 0.3))
    assert any(p.depth > 0.08 for p in penetrations(motion, World((crate,))))
    wall, block = box("wall", (0.1, 1, 1), (3, 0, 0)), box("block", (0.05, 0.05, 0.05), (2, 0, 0), kind="prop")
    way = np.stack([placed((2 + x, 0, 0)) for x in np.linspace(0, 0.9, len(motion))])
    found = penetrations(motion, World((wall, block)), {"block": way})
    assert {(p.part, p.body) for p in found} == {("block", "wall")}
    assert min(p.frame for p in found) == pytest.approx(12 * 0.85 / 0.9, abs=0.6)


def test_what_is_shown_is_measured_against_triangles():
    wall = box("wall", (0.5, 0.02, 0.5))
    skin = np.array([[[0.0, -0.05, 0.0], [0.1, -0.015, 0.0]], [[0.0, -0.01, 0.0], [0.1, -0.05, 0.0]]])
    world = World((wall,), 48.0)
    rows = skin_in(skin, ["palm_R", "thumb_R"], world)
    assert [(row.frame, row.part, row.body) for row in rows] == [(0.0, "thumb_R", "wall"), (1.0, "palm_R", "wall")]
    assert np.allclose([row.depth for row in rows], [0.005, 0.01])
    assert not skin_in(skin, ["palm_R", "thumb_R"], world, {("palm_R", "wall"), ("thumb_R", "wall")})
    # a ball that goes through; how it lies at its ends is not looked at, and a thin post in it is found as well
    ways = np.stack([placed((0.0, y, 0.0)) for y in (-0.04, -0.2, 0.0, 0.3)])
    goes = replace(ball("ball", 0.1), matrices=ways)
    assert [(row.frame, row.body) for row in moving_in(World((goes, wall), 48.0))] == [(2.0, "wall")]
    assert not moving_in(World((goes, wall), 48.0), {("wall", "ball")})
    post = box("post", (0.002, 0.002, 0.05), (0.0, 0.0, 0.0))
    assert {row.body for row in moving_in(World((goes, post), 48.0))} == {"post"}


def test_two_dense_meshes_are_as_deep_in_each_other_as_their_points_are_one_by_one():
    rng = np.random.default_rng(4)
    knob = Mesh(*lathe([(0, -0.1), (0.06, -0.09), (0.03, 0.0), (0.08, 0.05), (0.02, 0.1), (0, 0.11)], 64))
    slab = Mesh(*lathe([(0, -0.02), (0.2, -0.02), (0.2, 0.02), (0, 0.02)], 90))
    turns = quat.to_matrix(quat.unit(rng.normal(size=(40, 4))))
    ways = np.stack([placed(p, t) for p, t in zip(rng.uniform(-0.2, 0.2, (40, 3)), turns, strict=True)])
    found = deepest(knob, slab, ways)
    for matrix, depth in zip(ways, found, strict=True):
        back = np.linalg.inv(matrix)
        there = knob.surface.points @ matrix[:3, :3].T + matrix[:3, 3], slab.vertices @ back[:3, :3].T + back[:3, 3]
        rows = [m.depths(p, np.zeros(len(p))).max() for m, p in zip((slab, knob), there, strict=True)]
        assert depth == pytest.approx(max(rows), abs=1e-12)
    assert np.isinf(found).any() and (found > 0.005).any() and found.max() <= REACH
    # wholly within, and a sheet, which has no inside
    assert (
        deepest(Mesh(0.1 * slab.vertices, slab.triangles), Mesh(9.0 * slab.vertices, slab.triangles), ways[:1]) == REACH
    )
    sheet = Mesh(slab.vertices, slab.triangles[:-9])
    assert np.isinf(deepest(sheet, sheet, ways)).all()
