"""Implicit surfaces and their quad meshes."""

import numpy as np
import pytest
from troupe.core.figure.faces import directed_edges
from troupe.core.figure.implicit import cone, ellipsoid, evaluate, mirrored, smooth_rows, sweep
from troupe.core.figure.net import neighbour_mean, net, project, steps

GRID = steps(-1.5, 0.15, 1.5)
BALL = [ellipsoid((0, 0, 0), (1, 1, 1), 0.1)]


def volume(v, f):
    triangles = np.concatenate([f[:, :3], f[:, [0, 2, 3]]])
    a, b, c = (v[triangles[:, k]] for k in range(3))
    return np.einsum("ij,ij->", a, np.cross(b, c)) / 6


@pytest.fixture(scope="module")
def ball():
    return net(lambda p: evaluate(BALL, p), [GRID] * 3)


def test_vertices_of_a_ball_lie_on_it(ball):
    assert np.abs(np.linalg.norm(ball[0], axis=1) - 1).max() < 1e-6


def test_a_net_is_closed_and_turned_outwards(ball):
    edges = directed_edges(ball[1])
    assert np.all(np.unique(np.sort(edges, axis=1), axis=0, return_counts=True)[1] == 2)
    assert volume(*ball) == pytest.approx(4 / 3 * np.pi, rel=0.02)


def test_a_closed_surface_of_one_piece_has_euler_number_two(ball):
    v, f = ball
    assert len(v) - len(directed_edges(f)) // 2 + len(f) == 2


def test_uneven_grids_give_the_same_surface():
    v, _ = net(lambda p: evaluate(BALL, p), [steps(-1.5, 0.1, 0.0, 0.3, 1.5), GRID, GRID])
    assert np.abs(np.linalg.norm(v, axis=1) - 1).max() < 1e-5


def test_touching_forms_do_not_pinch_the_net():
    """Corners that meet across a cell side would make an edge of four faces."""
    rng = np.random.default_rng(3)
    blobs = [ellipsoid(c, (0.3, 0.3, 0.3), 0.0) for c in rng.uniform(-1, 1, (40, 3))]
    _, f = net(lambda p: evaluate(blobs, p), [steps(-1.6, 0.17, 1.6)] * 3, relax=0)
    assert np.all(np.unique(np.sort(directed_edges(f), axis=1), axis=0, return_counts=True)[1] == 2)


def test_a_mirrored_form_gives_a_mirrored_net():
    left = [ellipsoid((0.4, 0.1, 0), (0.5, 0.6, 0.7), 0.2), cone((0.5, 0, 0), (1.2, 0.4, 0.3), 0.3, 0.1, 0.3)]
    v, _ = net(mirrored(left), [steps(0.06, 0.12, 1.8), GRID, GRID], mirror=True)
    key = np.lexsort(np.round(v, 6).T), np.lexsort(np.round(v * (-1, 1, 1), 6).T)
    assert np.allclose(v[key[0]], (v * (-1, 1, 1))[key[1]], atol=1e-9)
    assert np.any(v[:, 0] == 0.0)


def test_steps_meet_every_knot():
    row = steps(-1.0, 0.3, 0.5, 0.1, 1.0)
    assert {-1.0, 0.5, 1.0} <= set(np.round(row, 12))
    assert np.diff(row).max() == pytest.approx(0.3)
    assert np.diff(row).min() == pytest.approx(0.1)


def test_joined_forms_swell_where_they_meet_and_nowhere_else():
    near, far = np.array([[0.0, 0.0, 0.0]]), np.array([[-2.0, 0.0, 0.0]])
    pair = [ellipsoid((-1, 0, 0), (1, 1, 1), 0.0), ellipsoid((1, 0, 0), (1, 1, 1), 0.4)]
    assert evaluate(pair, near)[0] == pytest.approx(-0.1)
    assert evaluate(pair, far)[0] == pytest.approx(0.0, abs=1e-12)


def test_carving_takes_away():
    blobs = [*BALL, ellipsoid((1, 0, 0), (0.5, 0.5, 0.5), 0.05, carve=True)]
    assert evaluate(blobs, np.array([[0.8, 0.0, 0.0]]))[0] > 0
    assert evaluate(blobs, np.array([[-0.8, 0.0, 0.0]]))[0] < 0


def test_a_turned_ellipsoid_points_where_it_is_turned():
    s = np.sqrt(0.5)
    turn = np.array([[s, -s, 0], [s, s, 0], [0, 0, 1]])
    blob = ellipsoid((0, 0, 0), (2, 1, 1), 0.0, turn)
    assert blob.field(np.array([[2 * s, 2 * s, 0]]))[0] == pytest.approx(0.0, abs=1e-12)
    assert np.all(blob.hi >= np.array([np.sqrt(2.5), np.sqrt(2.5), 1.0]) - 1e-9)


def test_a_cone_has_its_radii_at_its_ends():
    blob = cone((0, 0, 0), (0, 0, 2), 0.5, 0.2, 0.0)
    assert blob.field(np.array([[0.5, 0, 0], [0.2, 0, 2.0], [0.35, 0, 1.0]])) == pytest.approx(0, abs=1e-12)


def test_a_sweep_passes_through_its_outlines():
    rows = ((0, 1, 2, 1, 1), (1, 2, 3, 1, 1), (2, 1, 2, 1, 1))
    blob = sweep(rows, lambda p: p, np.full(3, -4.0), np.full(3, 4.0), 0.0, cap=0.0)
    assert blob.field(np.array([[2.0, 0, 1.0], [-3.0, 0, 1.0], [0, 1.0, 1.0]])) == pytest.approx(0, abs=5e-3)
    assert blob.field(np.array([[0.0, 0.0, 2.5]]))[0] > 0, "closed at its end"


def test_outlines_between_rows_do_not_overshoot():
    table = np.array([[0, 1.0], [1, 1.0], [2, 5.0], [3, 5.0]])
    out = smooth_rows(table, np.linspace(-1, 4, 200))
    assert out.min() >= 1 - 1e-12
    assert out.max() <= 5 + 1e-12
    assert np.allclose(smooth_rows(table, table[:, 0])[:, 0], table[:, 1])


def test_projection_finds_the_nearest_surface():
    p = project(lambda q: evaluate(BALL, q), np.array([[0.0, 0.9, 0.0], [1.2, 0.0, 0.0]]), rounds=4)
    assert np.linalg.norm(p, axis=1) == pytest.approx(1.0, abs=1e-9)
    assert p == pytest.approx(np.array([[0, 1, 0], [1, 0, 0]]), abs=1e-3)


def test_neighbour_mean_averages_over_edges():
    mean = neighbour_mean(np.array([[0, 1, 2, 3]]), 4)
    assert mean(np.array([[0.0], [1.0], [2.0], [5.0]]))[:, 0] == pytest.approx([3, 1, 3, 1])
