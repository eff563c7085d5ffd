"""The mannequin's meshes."""

import itertools

import numpy as np
import pytest
from scipy.spatial import cKDTree
from troupe.core.figure.anthropometry import HEIGHTS, LENGTHS
from troupe.core.figure.body import body
from troupe.core.figure.faces import directed_edges
from troupe.core.figure.layout import layout
from troupe.core.figure.mannequin import THEMES, MannequinParams, mannequin, rest_pose
from troupe.core.figure.palette import colours, gloss
from troupe.core.figure.shell import MATERIALS
from troupe.core.figure.suit import suit
from troupe.core.kinematics.fk import forward
from troupe.core.maths import quat
from troupe.core.skeleton import FINGERS, SIDES

VARIANTS = (
    MannequinParams(),
    MannequinParams(shape=1.0, hair="bun"),
    MannequinParams(shape=0.0, build=1.0),
    MannequinParams(build=-1.0, hair="none"),
    MannequinParams(shape=1.0, build=1.0),
)


def make(params):
    return body(mannequin(params.height), params)


@pytest.fixture(scope="module")
def meshes():
    return make(VARIANTS[0])


@pytest.fixture(scope="module", params=VARIANTS, ids=["average", "feminine", "heavy", "slender", "stout"])
def variant(request):
    return make(request.param)


def island(meshes, name):
    mesh = next(m for m in meshes if name in m.islands)
    return mesh.vertices[slice(*mesh.islands[name])]


def areas(mesh):
    v, f = mesh.vertices, mesh.faces
    last = np.where(f[:, 3] < 0, f[:, 0], f[:, 3])
    return 0.5 * np.linalg.norm(np.cross(v[f[:, 2]] - v[f[:, 0]], v[last] - v[f[:, 1]]), axis=1)


def posed(mesh, skeleton, rotations):
    """Vertices under linear blend skinning."""
    rest = rest_pose(skeleton)
    p0, q0 = forward(skeleton, rest.rotations, rest.root)
    p1, q1 = forward(skeleton, rotations, rest.root)
    m = quat.to_matrix(quat.multiply(q1, quat.conjugate(q0)))
    moved = np.einsum("vkij,vkj->vki", m[mesh.joints], mesh.vertices[:, None] - p0[mesh.joints]) + p1[mesh.joints]
    return np.einsum("vk,vki->vi", mesh.weights, moved)


def test_meshes_have_a_working_number_of_vertices(variant):
    assert 5_000 < sum(len(m.vertices) for m in variant) < 32_000


def test_every_edge_belongs_to_two_faces_that_agree_about_the_outside(variant):
    for mesh in variant:
        edges = directed_edges(mesh.faces)
        assert len(np.unique(edges, axis=0)) == len(edges)
        assert np.all(np.unique(np.sort(edges, axis=1), axis=0, return_counts=True)[1] == 2)


def test_every_island_is_turned_outside_out(variant):
    for mesh in variant:
        for name, (first, end) in mesh.islands.items():
            f = mesh.faces[(mesh.faces[:, 0] >= first) & (mesh.faces[:, 0] < end)]
            v = mesh.vertices
            last = np.where(f[:, 3] < 0, f[:, 0], f[:, 3])
            triangles = np.concatenate([f[:, :3], np.stack([f[:, 0], f[:, 2], last], axis=1)])
            a, b, c = (v[triangles[:, k]] for k in range(3))
            assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6 > 1e-8, name


def test_islands_cover_the_mesh_and_share_no_vertex(variant):
    for mesh in variant:
        spans = list(mesh.islands.values())
        assert spans[0][0] == 0
        assert spans[-1][1] == len(mesh.vertices)
        assert all(a[1] == b[0] for a, b in itertools.pairwise(spans))
        owner = np.searchsorted([s[1] for s in spans], mesh.faces, side="right")
        assert np.all((owner == owner[:, :1]) | (mesh.faces < 0))


def test_faces_are_mostly_quads_and_none_is_degenerate(variant):
    for mesh in variant:
        assert np.mean(mesh.faces[:, 3] >= 0) > 0.95
        assert areas(mesh).min() > 1e-8
        real = np.where(mesh.faces < 0, -1 - np.arange(4), mesh.faces)
        assert np.all(np.diff(np.sort(real, axis=1), axis=1) > 0)


def test_every_vertex_is_used(variant):
    for mesh in variant:
        assert np.array_equal(np.unique(mesh.faces[mesh.faces >= 0]), np.arange(len(mesh.vertices)))


def test_the_figure_is_its_own_mirror_image(variant):
    for mesh in variant:
        distance, partner = cKDTree(mesh.vertices).query(mesh.vertices * (-1, 1, 1))
        assert distance.max() < 1e-9
        assert np.array_equal(np.sort(partner), np.arange(len(partner)))


def test_weights_sum_to_one_and_fall(variant):
    for mesh in variant:
        assert np.allclose(mesh.weights.sum(axis=1), 1.0, atol=1e-12)
        assert np.all(mesh.weights >= 0)
        assert np.all(np.diff(mesh.weights, axis=1) <= 0)


def test_every_joint_moves_something(meshes):
    skeleton = mannequin()
    moved = {int(j) for mesh in meshes for j in mesh.joints[mesh.weights > 0.5]}
    assert {skeleton.names[j] for j in range(len(skeleton)) if j not in moved} == set()


def test_no_joint_moves_the_other_side(meshes):
    skeleton = mannequin()
    for mesh in meshes:
        for side, sign in zip(SIDES, (1, -1), strict=True):
            for role in ("upper_arm", "forearm", "hand", "shin", "foot", "toe", *FINGERS):
                chain = skeleton.chain(f"{role}_{side}")
                touched = mesh.vertices[(np.isin(mesh.joints, chain) & (mesh.weights > 0)).any(axis=1)]
                assert np.all(sign * touched[:, 0] > 0), role


def test_weights_change_smoothly_over_the_skin(meshes):
    skeleton = mannequin()
    for mesh in meshes:
        dense = np.zeros((len(mesh.vertices), len(skeleton)))
        np.put_along_axis(dense, mesh.joints, mesh.weights, axis=1)
        ends = directed_edges(mesh.faces)
        jumps = 0.5 * np.abs(dense[ends[:, 0]] - dense[ends[:, 1]]).sum(axis=1)
        jaw = np.isin(ends, np.flatnonzero(dense[:, skeleton.index("jaw")] > 0)).any(axis=1)
        assert np.all((jumps < 0.75) | jaw), "lips are the only place where the skin is cut"


@pytest.mark.parametrize("height", [1.0, 1.75, 2.2])
def test_the_bald_figure_has_the_stature_asked_for(height):
    params = MannequinParams(height=height, hair="none")
    meshes = make(params)
    drop = layout(mannequin(height), height).drop[2] / 175 * height
    low = min(m.vertices[:, 2].min() for m in meshes)
    high = max(m.vertices[:, 2].max() for m in meshes)
    assert low == pytest.approx(0.0, abs=1e-3 * height)
    assert high - drop == pytest.approx(height, rel=5e-3)


def test_meshes_scale_with_height(meshes):
    for mesh, small in zip(meshes, make(MannequinParams(height=1.0)), strict=True):
        assert np.allclose(small.vertices * 1.75, mesh.vertices, atol=1e-9)
        assert np.array_equal(small.faces, mesh.faces)


def test_head_is_about_a_seventh_to_an_eighth_of_stature():
    meshes = make(MannequinParams(hair="none"))
    face = island(meshes, "head")
    front = face[(np.abs(face[:, 0]) < 0.01) & (face[:, 1] < -0.07)]
    drop = layout(mannequin(), 1.75).drop[2] / 100
    chin = front[:, 2].min() - drop
    assert chin == pytest.approx(HEIGHTS["chin"] * 1.75, abs=0.02)
    assert 7 < 1.75 / (1.75 - chin) < 8


def test_hand_and_foot_have_the_lengths_of_the_anthropometric_table(meshes):
    foot = island(meshes, "foot.L")
    sole = foot[foot[:, 2] < 0.04]
    assert np.ptp(sole[:, 1]) == pytest.approx(LENGTHS["foot"] * 1.75, abs=0.012)
    place = layout(mannequin(), 1.75)
    hand = place.skeleton.index("hand.L")
    local = (island(meshes, "hand.L") * 100 - place.rest[hand]) @ place.turns[hand]
    assert -local[:, 2].min() == pytest.approx(LENGTHS["hand"] * 175, abs=0.5)


def test_eyes_are_balls_of_their_own_at_the_eye_joints(meshes):
    place = layout(mannequin(), 1.75)
    for side in SIDES:
        ball = island(meshes, f"eye.{side}")
        centre = place.rest[place.skeleton.index(f"eye.{side}")] / 100
        assert np.allclose(np.linalg.norm(ball - centre, axis=1), 0.017, atol=1e-4)


def test_opening_the_jaw_parts_the_lips(meshes):
    skeleton, head = mannequin(), meshes[1]
    turns = np.array(rest_pose(skeleton).rotations)
    turns[skeleton.joint("jaw")] = quat.about(np.array([1.0, 0.0, 0.0]), 0.3)
    lips = np.unique(head.faces[head.materials == MATERIALS.index("Lips")])
    lips = lips[(lips >= 0) & (head.vertices[lips, 2] < 1.6) & (np.abs(head.vertices[lips, 0]) < 0.005)]
    fall = (head.vertices - posed(head, skeleton, turns))[lips, 2]
    assert fall.min() < 0.002
    assert fall.max() > 0.015


@pytest.mark.parametrize(("part", "angle"), [("forearm_L", 2.3), ("shin_L", 2.2), ("index_L", 1.3)])
def test_bent_joints_keep_their_volume(meshes, part, angle):
    """A hinge bent far keeps most of the thickness of the skin around it."""
    skeleton, mesh = mannequin(), meshes[0]
    turns = np.array(rest_pose(skeleton).rotations)
    joint = skeleton.chain(part)[-1 if part == "index_L" else 0]
    axis = {"forearm_L": (-1.0, 0.0, 0.0), "shin_L": (1.0, 0.0, 0.0), "index_L": (0.0, 1.0, 0.0)}[part]
    turns[joint] = quat.multiply(turns[joint], quat.about(np.array(axis), angle))
    after = posed(mesh, skeleton, turns)
    mixed = (mesh.joints[:, 0] == joint) & (mesh.weights[:, 0] > 0.45) & (mesh.weights[:, 0] < 0.6)
    place = forward(skeleton, rest_pose(skeleton).rotations, rest_pose(skeleton).root)[0][joint]
    before = np.linalg.norm(mesh.vertices[mixed] - place, axis=1)
    assert np.linalg.norm(after[mixed] - place, axis=1).max() > 0.5 * before.max()
    assert np.median(np.linalg.norm(after[mixed] - place, axis=1) / before) > 0.4


def test_build_and_shape_change_the_figure_the_way_they_say():
    place = layout(mannequin(), 1.75)

    def girth(z, **values):
        p = suit(place, MannequinParams(**values)).vertices / 100
        ring = p[(np.abs(p[:, 2] - z) < 0.01) & (np.abs(p[:, 0]) < 0.24)]
        return np.ptp(ring[:, 0]) + np.ptp(ring[:, 1])

    waist = {build: girth(1.08, build=build) for build in (-1.0, 0.0, 1.0)}
    assert waist[-1.0] < waist[0.0] < waist[1.0]
    assert girth(1.08, shape=1.0) < girth(1.08, shape=0.0)
    assert girth(0.92, shape=1.0) > girth(0.92, shape=0.0)


def test_hair_is_there_only_when_asked_for(meshes):
    assert "hair" in meshes[1].islands
    bald = make(MannequinParams(hair="none"))[1]
    assert "hair" not in bald.islands
    assert make(MannequinParams(hair="bun"))[1].vertices[:, 1].max() > meshes[1].vertices[:, 1].max() + 0.02


def test_every_limb_has_a_material_of_its_own(meshes):
    used = {MATERIALS[k] for mesh in meshes for k in np.unique(mesh.materials)}
    assert used == set(MATERIALS)
    for mesh in meshes:
        for side, sign in zip(SIDES, (1, -1), strict=True):
            for limb in ("Arm", "Hand", "Leg", "Foot"):
                f = mesh.faces[mesh.materials == MATERIALS.index(f"{limb}.{side}")]
                assert np.all(sign * mesh.vertices[f[:, :3], 0] > 0), f"{limb}.{side}"


def test_creases_are_edges_of_the_mesh(meshes):
    for mesh in meshes:
        edges = {tuple(e) for e in np.sort(directed_edges(mesh.faces), axis=1).tolist()}
        assert {tuple(sorted(e)) for e in mesh.sharp.tolist()} <= edges
        assert len(mesh.sharp)


def test_the_same_parameters_give_the_same_figure_bit_for_bit(meshes):
    for mesh, again in zip(meshes, make(VARIANTS[0]), strict=True):
        assert np.array_equal(mesh.vertices, again.vertices)
        assert np.array_equal(mesh.weights, again.weights)
        assert np.array_equal(mesh.faces, again.faces)


@pytest.mark.parametrize("theme", [name for name, _ in THEMES])
def test_every_theme_colours_every_material(theme):
    table = colours(theme)
    assert len(table) == len(MATERIALS)
    assert all(0 <= x <= 1 for colour in table for x in colour)
    assert all(0 < gloss(name) < 1 for name in MATERIALS)


def test_the_studio_theme_tells_left_from_right():
    table = dict(zip(MATERIALS, colours("studio"), strict=True))
    assert table["Arm.L"] != table["Arm.R"]
    assert table["Leg.L"] != table["Leg.R"]


def test_the_web_of_the_thumb_stays_with_the_palm(meshes):
    """Skin far from the thumb's bones that turned with them would be swept through what the hand holds."""
    skeleton = mannequin()
    rest = rest_pose(skeleton)
    positions, globals = forward(skeleton, rest.rotations, rest.root)
    mesh = next(m for m in meshes if "Hand.L" in {MATERIALS[k] for k in np.unique(m.materials)})
    for side in SIDES:
        joint = skeleton.chain(f"thumb_{side}")[0]
        along = quat.rotate(globals[joint], skeleton.tips[joint])
        away = mesh.vertices - positions[joint]
        at = np.clip(away @ along / (along @ along), 0.0, 1.0)
        own = (mesh.joints[:, 0] == joint) & (mesh.weights[:, 0] > 0.5)
        assert own.any()
        assert np.linalg.norm(away - at[:, None] * along, axis=1)[own].max() < 0.025
