import numpy as np
import pytest
from troupe.core.maths import dtw


def grid(rng, n, m):
    """Random costs of nodes and diagonal moves (n, m), and of moves on one side."""
    return rng.random((n, m)), rng.random((n, m)), (rng.random(n), rng.random(m))


def every_path(node, diagonal, alone, longest=0, bends=None, within=None):
    """The cheapest of all paths, by trying them all."""
    n, m = node.shape
    best = [np.inf, []]

    def walk(i, j, cost, before, run, path):
        if cost >= best[0]:
            return
        if (i, j) == (n - 1, m - 1):
            best[:] = cost, path
            return
        for di, dj in ((1, 1), (1, 0), (0, 1)):
            k, c = i + di, j + dj
            if k >= n or c >= m or (within is not None and not within[k, 0] <= c < within[k, 1]):
                continue
            both = bool(di and dj)
            now = 0 if both else run + 1
            if longest and now > longest:
                continue
            more = node[k, c] + (diagonal[k, c] if both else alone[0][k] if di else alone[1][c])
            if bends is not None and before is not None:
                if before:
                    more += bends.through[i, j] if both else bends.aside[i, j]
                elif both:
                    more += bends.aside[k, c]
            walk(k, c, cost + more, both, now, [*path, (k, c)])

    walk(0, 0, node[0, 0], None, 0, [(0, 0)])
    return best[1], best[0]


def squares(rng, n, m):
    """Costs made of squares, and the same as tables."""
    p, q, s, t, u, v = (rng.normal(size=(k, c)) for c in (3, 2, 1) for k in (n, m))
    s, t = np.abs(s), np.abs(t)
    u, v = 0.1 * np.abs(u), 0.1 * np.abs(v)
    node = np.square(p[:, None] - q).sum(axis=-1) + u @ v.T
    diagonal = np.square(s[:, None] - t).sum(axis=-1)
    alone = np.square(s).sum(axis=1), np.square(t).sum(axis=1)
    return dtw.Squares((p, q), (s, t), (u, v)), (node, diagonal, alone)


def test_the_path_is_the_cheapest_of_all():
    rng = np.random.default_rng(1)
    for _ in range(60):
        n, m = rng.integers(1, 6, 2)
        costs, tables = squares(rng, n, m)
        within = dtw.band(n, m, 1.0) if rng.random() < 0.4 else None
        path, cost = every_path(*tables, within=within)
        found = dtw.cheapest(costs, within)
        assert found.path.tolist() == [list(x) for x in path]
        assert found.cost == pytest.approx(cost)


def test_the_path_is_the_cheapest_where_moves_are_free():
    rng = np.random.default_rng(6)
    for _ in range(40):
        n, m = rng.integers(1, 6, 2)
        p, q = rng.normal(size=(n, 2)), rng.normal(size=(m, 2))
        node = np.square(p[:, None] - q).sum(axis=-1)
        path, cost = every_path(node, 0 * node, (np.zeros(n), np.zeros(m)))
        found = dtw.cheapest(dtw.Squares((p, q)))
        assert found.path.tolist() == [list(x) for x in path]
        assert found.cost == pytest.approx(cost)


def test_blocks_of_rows_make_no_difference(monkeypatch):
    rng = np.random.default_rng(2)
    costs, _ = squares(rng, 40, 53)
    whole, banded = dtw.cheapest(costs), dtw.cheapest(costs, dtw.band(40, 53, 5.0))
    for rows in (1, 7, 39):
        monkeypatch.setattr(dtw, "_BLOCK", rows)
        assert np.array_equal(dtw.cheapest(costs).path, whole.path)
        assert np.array_equal(dtw.cheapest(costs, dtw.band(40, 53, 5.0)).path, banded.path)


@pytest.mark.parametrize("rows", [1, 7, 39, 40])
def test_a_grid_too_large_to_be_kept_has_the_same_path(monkeypatch, rows):
    rng = np.random.default_rng(5)
    costs, _ = squares(rng, 40, 53)
    free = dtw.Squares((rng.random((40, 3)), rng.random((53, 3))))
    within = dtw.band(40, 53, 5.0)
    kept = [dtw.cheapest(c, w) for c in (costs, free) for w in (None, within)]
    monkeypatch.setattr(dtw, "_KEPT", 53 * rows)
    for one, other in zip(kept, [dtw.cheapest(c, w) for c in (costs, free) for w in (None, within)], strict=True):
        assert np.array_equal(one.path, other.path)
        assert one.cost == other.cost


def test_limits_and_bends_are_exact():
    rng = np.random.default_rng(3)
    for _ in range(150):
        n, m = rng.integers(1, 6, 2)
        tables = grid(rng, n, m)
        longest = int(rng.integers(0, 4))
        bends = dtw.Bends(rng.random((n, m)), rng.random((n, m))) if rng.random() < 0.5 else None
        within = dtw.band(n, m, 1.0) if rng.random() < 0.4 else None
        path, cost = every_path(*tables, longest, bends, within)
        found = dtw.cheapest_limited(*tables, longest, bends, within)
        assert found.path.tolist() == [list(x) for x in path]
        assert found.cost == pytest.approx(cost)


def test_both_ways_agree_on_long_clips():
    rng = np.random.default_rng(4)
    costs, tables = squares(rng, 130, 90)
    found, other = dtw.cheapest(costs), dtw.cheapest_limited(*tables)
    assert np.array_equal(found.path, other.path)
    assert found.cost == pytest.approx(other.cost)


def test_the_diagonal_is_taken_among_equals():
    same = np.tile([1.0, 2.0], (9, 1))
    found = dtw.cheapest(dtw.Squares((same, same)))
    assert np.array_equal(found.path, np.stack([np.arange(9)] * 2, axis=1))
    assert found.cost == pytest.approx(0.0, abs=1e-9)


def test_a_path_that_may_not_wait_long_enough_does_not_exist():
    rng = np.random.default_rng(5)
    found = dtw.cheapest_limited(*grid(rng, 2, 12), 3)
    assert found.cost == np.inf
    assert len(found.path) == 0


def test_a_band_hangs_together_whatever_the_lengths():
    for n, m in ((1, 1), (1, 9), (9, 1), (4, 40), (40, 4), (7, 7)):
        band = dtw.band(n, m, 0.0)
        assert band[0, 0] == 0
        assert band[-1, 1] == m
        assert np.all(np.diff(band, axis=0) >= 0)
        assert np.all(band[1:, 0] <= band[:-1, 1])
