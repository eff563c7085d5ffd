"""Edges become polylines, and curves are cut just finely enough."""

from itertools import pairwise

import numpy as np
import pytest
from troupe.core.errors import InvalidParam
from troupe.core.maths.curve import bezier_pieces, chains, nurbs_pieces, without_repeats
from troupe.core.maths.geometry import point_segment
from troupe.core.maths.spline import bezier, bspline


def runs(edges):
    return [run.tolist() for run in chains(edges)]


def test_shuffled_edges_are_put_end_to_end_from_the_lowest_end():
    edges = np.column_stack([np.arange(9), np.arange(1, 10)])
    rng = np.random.default_rng(0)
    assert runs(rng.permutation(np.where(rng.random((9, 1)) < 0.5, edges, edges[:, ::-1]))) == [list(range(10))]


def test_a_closed_run_ends_where_it_began():
    assert runs([(2, 3), (3, 0), (0, 1), (1, 2)]) == [[0, 1, 2, 3, 0]]


def test_runs_part_where_three_edges_meet():
    assert runs([(0, 1), (1, 2), (1, 3)]) == [[0, 1], [1, 2], [1, 3]]


def test_a_loop_that_hangs_on_a_run_is_a_run_of_its_own():
    assert runs([(5, 1), (1, 2), (2, 3), (3, 1)]) == [[1, 2, 3, 1], [1, 5]]


def test_separate_runs_stay_separate_and_loose_vertices_are_none():
    assert runs([(7, 8), (0, 1), (4, 4)]) == [[0, 1], [7, 8]]
    assert runs(np.empty((0, 2))) == []


def test_every_edge_is_walked_once():
    rng = np.random.default_rng(3)
    edges = {tuple(sorted(e)) for e in rng.integers(0, 30, (60, 2)).tolist() if e[0] != e[1]}
    walked = [tuple(sorted(step)) for run in runs(sorted(edges)) for step in pairwise(run)]
    assert sorted(walked) == sorted(edges)


def test_repeated_points_count_once_but_a_way_may_return():
    points = np.array([[0.0, 0], [0, 1e-9], [1, 0], [1, 0], [1, 0], [0, 0]])
    np.testing.assert_array_equal(without_repeats(points), [[0, 0], [1, 0], [0, 0]])


def deviation(curve, pieces):
    """Largest distance of a curve (callable of u in 0..1) from the polyline with that many pieces."""
    corners = curve(np.linspace(0, 1, pieces + 1))
    fine = curve(np.linspace(0, 1, 40 * pieces, endpoint=False))
    k = np.arange(len(fine)) // 40
    near = point_segment(fine, corners[k], corners[k + 1])[0]
    return np.linalg.norm(fine - near, axis=1).max()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("tolerance", [0.1, 1e-3])
def test_bezier_pieces_keep_the_tolerance_and_are_not_wasteful(seed, tolerance):
    control = np.random.default_rng(seed).normal(size=(1, 4, 3))
    pieces = bezier_pieces(control, tolerance)
    far = deviation(lambda u: bezier(control[0], u), pieces)
    assert 0.02 * tolerance < far <= tolerance


@pytest.mark.parametrize("closed", [False, True])
def test_nurbs_pieces_keep_the_tolerance(closed):
    control = np.random.default_rng(1).normal(size=(8, 3))
    pieces = nurbs_pieces(control, np.ones(8), 4, closed, 1e-3)
    spans = 8 if closed else 5
    assert deviation(lambda u: bspline(u, control, closed), spans * pieces) <= 1e-3


def test_straight_curves_are_one_piece():
    line = np.linspace([0.0, 0, 0], [9, 3, 0], 4)
    assert bezier_pieces(line[None], 1e-3) == 1
    assert nurbs_pieces(line, np.ones(4), 2, False, 1e-3) == 1


def test_uneven_weights_ask_for_more_pieces():
    control = np.random.default_rng(1).normal(size=(8, 3))
    weights = np.ones(8)
    weights[3] = 5.0
    assert nurbs_pieces(control, weights, 4, False, 1e-3) > nurbs_pieces(control, np.ones(8), 4, False, 1e-3)


@pytest.mark.parametrize("tolerance", [0.0, -1.0, np.nan])
def test_a_tolerance_must_be_positive(tolerance):
    with pytest.raises(InvalidParam, match="tolerance"):
        bezier_pieces(np.zeros((1, 4, 3)), tolerance)
