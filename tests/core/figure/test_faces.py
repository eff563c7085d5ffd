"""Cutting meshes and closing them again."""

import numpy as np
import pytest
from troupe.core.figure.faces import borders, compact, directed_edges, edges_of, flipped, pocket, split, tube


def sheet(n=8):
    """A square of n x n quads in the plane, facing +z."""
    x, y = np.meshgrid(np.arange(n + 1.0), np.arange(n + 1.0), indexing="ij")
    k = np.arange((n + 1) ** 2).reshape(n + 1, n + 1)
    quads = np.stack([k[:-1, :-1], k[1:, :-1], k[1:, 1:], k[:-1, 1:]], axis=-1).reshape(-1, 4)
    return np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1), quads


def circle(v, centre=(4.1, 3.9), radius=2.3):
    return np.hypot(v[:, 0] - centre[0], v[:, 1] - centre[1]) - radius


def area(v, f):
    last = np.where(f[:, 3] < 0, f[:, 0], f[:, 3])
    return 0.5 * np.cross(v[f[:, 2]] - v[f[:, 0]], v[last] - v[f[:, 1]])[:, 2]


def closed(f):
    return np.all(np.unique(np.sort(directed_edges(f), axis=1), axis=0, return_counts=True)[1] == 2)


def test_a_cut_changes_no_area_and_follows_the_curve():
    v, f = sheet(24)
    w, g, inside, _ = split(v / 3, f, circle(v / 3))
    assert area(w, g).sum() == pytest.approx(64)
    assert np.all(area(w, g) > 0)
    assert area(w, g)[inside].sum() == pytest.approx(np.pi * 2.3**2, rel=0.02)
    seam = np.intersect1d(g[inside], g[~inside])
    assert np.abs(circle(w[seam[seam >= 0]])).max() < 0.02


def test_every_cut_face_lies_on_one_side():
    v, f = sheet()
    w, g, inside, _ = split(v, f, circle(v))
    at = np.where(g >= 0, circle(w)[g], 0)
    assert at[inside].max() < 0.1
    assert at[~inside].min() > -0.1


def test_parts_of_a_face_know_which_face_they_come_from():
    v, f = sheet()
    w, g, _, origin = split(v, f, v[:, 0] - 3.5)
    per_face = np.bincount(origin, weights=area(w, g), minlength=len(f))
    assert per_face == pytest.approx(np.ones(len(f)))


def test_cuts_leave_no_slivers():
    v, f = sheet()
    for offset in np.linspace(0.05, 0.95, 10):
        w, g, _, _ = split(v, f, v[:, 0] + 0.3 * v[:, 1] - 3 - offset)
        assert area(w, g).min() > 0.02


def test_a_curve_that_misses_the_mesh_changes_nothing():
    v, f = sheet()
    w, g, inside, origin = split(v, f, v[:, 0] + 5)
    assert np.array_equal(w, v)
    assert np.array_equal(g, f)
    assert not inside.any()
    assert np.array_equal(origin, np.arange(len(f)))


def test_a_mirrored_curve_gives_a_mirrored_cut():
    v, f = sheet()
    w, g, inside, _ = split(v - (4, 4, 0), f, circle(v, (4.0, 3.7), 2.1))
    for part in (w[np.unique(g[g >= 0])], w[np.setdiff1d(g[inside], -1)]):
        ordered = [p[np.lexsort(np.round(p, 6).T)] for p in (part, part * (-1, 1, 1))]
        assert np.allclose(*ordered, atol=1e-12)


def test_an_opening_is_found_and_closed_by_a_pocket():
    v, f = sheet()
    outside, g, inside, _ = split(v, f, circle(v))
    g = g[~inside]
    loops = sorted(borders(g), key=len)
    assert len(loops) == 2
    hole = next(loop for loop in loops if np.abs(circle(outside[loop])).max() < 0.3)
    rings = [outside[hole] - (0, 0, 1), outside[hole] - (0, 0, 2)]
    _, h = pocket(outside, g, hole, rings, np.array([4.0, 4.0, -2.0]))
    assert len(borders(h)) == 1, "only the sheet's own border is left"
    edges = directed_edges(h)
    assert len(np.unique(edges, axis=0)) == len(edges), "the pocket is turned like the sheet"


def test_a_tube_is_closed_and_turned_outwards():
    a = np.arange(6) * np.pi / 3
    ring = np.stack([np.cos(a), np.sin(a), np.zeros(6)], axis=1)
    v, f = tube(np.stack([ring, ring - (0, 0, 1), ring - (0, 0, 2)]), np.array([0, 0, 0.5]), np.array([0, 0, -2.5]))
    assert closed(f)
    last = np.where(f[:, 3] < 0, f[:, 0], f[:, 3])
    normal = np.cross(v[f[:, 2]] - v[f[:, 0]], v[last] - v[f[:, 1]])
    assert np.all(np.einsum("ij,ij->i", normal, v[f[:, :3]].mean(axis=1) - (0, 0, -1)) > 0)


def test_flipping_twice_is_no_change_and_once_turns_every_edge():
    f = np.array([[0, 1, 2, 3], [2, 1, 4, -1]])
    assert np.array_equal(flipped(flipped(f)), f)
    assert {(j, i) for i, j in directed_edges(f).tolist()} == {(i, j) for i, j in directed_edges(flipped(f)).tolist()}


def test_edges_are_listed_once_in_order():
    f = np.array([[0, 1, 2, 3], [2, 1, 4, -1]])
    assert edges_of(f).tolist() == [[0, 1], [0, 3], [1, 2], [1, 4], [2, 3], [2, 4]]


def test_compacting_drops_unused_vertices_and_keeps_triangles():
    v = np.arange(18.0).reshape(6, 3)
    w, f = compact(v, np.array([[1, 2, 5, -1], [1, 5, 4, 2]]))
    assert np.array_equal(w, v[[1, 2, 4, 5]])
    assert f.tolist() == [[0, 1, 3, -1], [0, 3, 2, 1]]
