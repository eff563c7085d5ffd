"""Ways that swing through their corners: as little bending as there is room for, proved free like the way itself.

A way is divided into short legs, and its points are moved aside so that the sum of squared bends and of weighted
squared shifts is least, a system with five diagonals (Eilers, "A perfect smoother", 2003, has the same penalty). Where
the smooth way touches something the shifts there are made dearer, so that it swings wide to either side of what it has
to go around, until all of it is free; wide swings come first, then the corners that had no room for them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...skeleton import Array
from .space import FINER, Bools, Space, checked

LEGS = 96
"""Short legs of a way, about."""
WAVES = (3.0, 1.0, 0.4)
"""Wave lengths of bends that are smoothed away where there is room, one after the other, of the length of the way."""
DEARER, ROUNDS = 6.0, 12
"""How much dearer shifts get at a leg that touches something, and how often, before the try is given up."""
DEAR = 1e-4
"""What they cost there at least, the first time."""
COARSE = 3.0
"""How much finer than it was sought a way is looked at while it is still being smoothed."""
FIXED = 1e6
"""Weight of points that stay."""


def smoothed(space: Space, points: Array, straight: tuple[float, float] = (0.0, 0.0)) -> Array | None:
    """(M, n) a way with the same ends that bends as little as there is room for; None where there is none.

    Args:
        space: Where the way (N, n) is free.
        points: The way. What of it touches something, as an end that leads to a thing, stays as it is.
        straight: So much of the way at its beginning and its end stays as it is too.
    """
    fine = divided(space, points)
    steps = space.distance(fine[:-1], fine[1:])
    known = np.concatenate([[0.0], np.cumsum(steps)])
    if len(fine) < 5 or known[-1] < 1e-6:
        return None
    touched = _touching(space, fine, FINER)
    stays = np.zeros(len(fine), dtype=bool)
    stays[[0, -1]] = True
    stays[:-1] |= touched
    stays[1:] |= touched
    stays |= (known <= straight[0] + 1e-9) & (straight[0] > 0) | (known >= known[-1] - straight[1] - 1e-9)
    if stays.all():
        return None
    moved = False
    for wave in WAVES:
        found = _swung(space, fine, stays, touched, wave)
        if found is not None:
            fine, moved = found, True
    return fine if moved else None


def _swung(space: Space, points: Array, stays: Bools, touched: Bools, wave: float) -> Array | None:
    """(M, n) a way with bends of a wave length smoothed away as far as there is room; None where there is none.

    Args:
        space: Where the way is free.
        points: (M, n) the way.
        stays: (M,) points that are not moved.
        touched: (M - 1,) legs that touched something to begin with.
        wave: As in WAVES.
    """
    bends, matrix = _bending(space, points, space.distance(points[:-1], points[1:]))
    weight = np.where(stays, FIXED, (2.0 * np.pi / (wave * len(points))) ** 4)
    for _ in range(ROUNDS):
        shift = np.linalg.solve(matrix.T @ matrix + np.diag(weight), -matrix.T @ bends)
        shift[stays] = 0.0
        found = space.moved(points, shift)
        bad = _touching(space, found, COARSE) & ~touched
        if not bad.any():
            bad = _touching(space, found, FINER) & ~touched
            if not bad.any():
                return found
        ends = np.concatenate([bad, [False]]) | np.concatenate([[False], bad])
        weight = np.where(ends, np.minimum(DEARER * np.maximum(weight, DEAR), FIXED), weight)
    return None


def divided(space: Space, points: Array, legs: int = LEGS) -> Array:
    """(M, n) a way (N, n) with its legs divided into short ones, all its corners kept."""
    long = space.distance(points[:-1], points[1:])
    points, long = np.concatenate([points[:1], points[1:][long > 1e-9]]), long[long > 1e-9]
    if not len(long):
        return points[:1]
    parts = np.maximum(1, np.rint(legs * long / long.sum())).astype(np.int64)
    leg = np.repeat(np.arange(len(parts)), parts)
    share = (np.arange(len(leg)) - np.repeat(np.cumsum(parts) - parts, parts)) / parts[leg]
    rows = space.moved(points[leg], share[:, None] * space.difference(points[leg], points[leg + 1]))
    return np.concatenate([rows, points[-1:]])


def _bending(space: Space, points: Array, steps: Array) -> tuple[Array, Array]:
    """Bends (M - 2, m) of a way (M, n) with legs of these lengths, and the matrix (M - 2, M) by which shifts of its
    points change them."""
    mean = float(steps.mean())
    # a leg much shorter than the others would make its bend count for more than all of them
    rate = mean / np.maximum(steps, 0.2 * mean)
    ahead = space.difference(points[1:-1], points[2:]) * rate[1:, None]
    behind = space.difference(points[1:-1], points[:-2]) * rate[:-1, None]
    at = np.arange(len(points) - 2)
    matrix = np.zeros((len(at), len(points)))
    matrix[at, at], matrix[at, at + 2] = rate[:-1], rate[1:]
    matrix[at, at + 1] = -rate[:-1] - rate[1:]
    return ahead + behind, matrix


def _touching(space: Space, points: Array, finer: float) -> Bools:
    """(M - 1,) which legs of a way (M, n) touch something, looked at so much finer; unlike `hits`, all of them even
    where it begins in something."""
    last, steps = checked(replace(space, step=space.step / finer), points[:-1], points[1:])
    out = last < steps
    out[0] |= not space.allowed(points[:1])[0]
    return out
