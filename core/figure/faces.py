"""Meshes of quads and triangles: their edges, cuts along a curve drawn on them, openings and the pockets behind those.

Faces are rows of four vertex numbers, counter-clockwise seen from outside; a triangle ends in -1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..skeleton import Array

Index = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

SNAP = 0.3
"""A vertex nearer to a cut than this part of an edge moves onto it, so that cuts leave no slivers."""


def directed_edges(faces: Index) -> Index:
    """(E, 2) the edges of every face, in its direction."""
    following = np.roll(faces, -1, axis=1)
    triangle = faces[:, 3] < 0
    following[triangle, 2] = faces[triangle, 0]
    ends: Index = np.stack([faces, following], axis=-1)[faces >= 0]
    return ends


def edges_of(faces: Index) -> Index:
    """(E, 2) each edge once, the lower vertex first, in rising order."""
    ends = np.sort(directed_edges(faces), axis=1)
    base = int(faces.max()) + 1
    key = np.unique(ends[:, 0] * base + ends[:, 1])
    return np.stack([key // base, key % base], axis=1)


def flipped(faces: Index) -> Index:
    """The same faces seen from the other side."""
    return np.where(faces[:, 3:] < 0, faces[:, [2, 1, 0, 3]], faces[:, ::-1])


def compact(vertices: Array, faces: Index) -> tuple[Array, Index]:
    """The mesh without the vertices that no face uses."""
    keep = np.unique(faces[faces >= 0])
    number = np.full(len(vertices) + 1, -1)  # its last entry answers for the -1 of triangles
    number[keep] = np.arange(len(keep))
    return vertices[keep], number[faces]


def split(vertices: Array, faces: Index, value: Array) -> tuple[Array, Index, Mask, Index]:
    """Cut faces along the curve value = 0.

    Args:
        vertices: (V, 3).
        faces: (F, 4).
        value: (V,) negative on one side, positive on the other.

    Returns:
        vertices (V', 3) of which the first V are the old ones, some moved onto the curve; faces (F', 4); whether each
        lies on the negative side (F',); and the old face that each is a part of (F',).
    """
    edges = edges_of(faces)
    vertices, value = _snap(vertices, value, edges)
    a, b = edges[value[edges[:, 0]] * value[edges[:, 1]] < 0].T
    t = value[a] / (value[a] - value[b])
    middle = {(i, j): len(vertices) + k for k, (i, j) in enumerate(zip(a.tolist(), b.tolist(), strict=True))}
    vertices = np.concatenate([vertices, vertices[a] + t[:, None] * (vertices[b] - vertices[a])])
    value = np.concatenate([value, np.zeros(len(a))])

    at = np.where(faces >= 0, value[faces], 0.0)
    crossed = (at.min(axis=1) < 0) & (at.max(axis=1) > 0)
    pieces: list[list[int]] = []
    origin: list[int] = []
    for f in np.flatnonzero(crossed).tolist():
        for half in _halves([i for i in faces[f].tolist() if i >= 0], value, middle):
            pieces += _quads(half)
            origin += [f] * (len(pieces) - len(origin))
    kept = np.flatnonzero(~crossed)
    cut = np.array([[*p, -1][:4] for p in pieces], dtype=np.int64).reshape(-1, 4)
    faces = np.concatenate([faces[kept], cut])
    at = np.where(faces >= 0, value[faces], 0.0)
    return vertices, faces, -at.min(axis=1) > at.max(axis=1), np.concatenate([kept, np.array(origin, dtype=np.int64)])


def _snap(vertices: Array, value: Array, edges: Index) -> tuple[Array, Array]:
    vertices, value = vertices.copy(), value.copy()
    crossing = edges[value[edges[:, 0]] * value[edges[:, 1]] < 0]
    a, b = np.concatenate([crossing, crossing[:, ::-1]]).T
    t = value[a] / (value[a] - value[b])
    nearest = np.full(len(vertices), np.inf)
    np.minimum.at(nearest, a, t)
    # of equally near crossings the mean, so that a vertex between two mirror images stays between them
    taken = (t < nearest[a] + 1e-9) & (nearest[a] < SNAP)
    a, step = a[taken], (t[:, None] * (vertices[b] - vertices[a]))[taken]
    count = np.bincount(a, minlength=len(vertices))
    np.add.at(vertices, a, step / count[a, None])
    value[a] = 0.0
    return vertices, value


def _halves(loop: list[int], value: Array, middle: dict[tuple[int, int], int]) -> list[list[int]]:
    """The parts of a face on either side of the curve."""
    full: list[int] = []
    for i, j in zip(loop, loop[1:] + loop[:1], strict=True):
        full.append(i)
        if (between := middle.get((min(i, j), max(i, j)))) is not None:
            full.append(between)
    negative = [value[i] < 0 for i in full]
    starts = [k for k in range(len(full)) if negative[k] and not negative[k - 1]]
    if len(starts) != 1:  # the curve passes twice: leave the face whole
        return [full]
    full = full[starts[0] - 1 :] + full[: starts[0] - 1]  # from the point on the curve before the negative side
    after = next(k for k in range(1, len(full)) if value[full[k]] >= 0)
    return [full[: after + 1], [*full[after:], full[0]]]


def _quads(loop: list[int]) -> list[list[int]]:
    """A loop that begins and ends on the curve as quads and at most one triangle, the same seen from either end."""
    return [loop] if len(loop) <= 4 else [[*loop[:2], *loop[-2:]], *_quads(loop[1:-1])]


def borders(faces: Index) -> list[list[int]]:
    """Closed loops of the edges that only one face has, in the direction of those faces."""
    ends = directed_edges(faces)
    base = int(faces.max()) + 1
    single = ~np.isin(ends[:, 0] * base + ends[:, 1], ends[:, 1] * base + ends[:, 0])
    after = dict(ends[single].tolist())
    loops = []
    while after:
        loop = [min(after)]
        while (following := after.pop(loop[-1])) != loop[0]:
            loop.append(following)
        loops.append(loop)
    return loops


def pocket(
    vertices: Array, faces: Index, loop: Sequence[int], rings: Sequence[Array], end: Array
) -> tuple[Array, Index]:
    """Close an opening by a pocket.

    Args:
        vertices, faces: The mesh.
        loop: Border of the opening as `borders` gives it; n vertices.
        rings: (n, 3) arrays, the rings of the pocket from its mouth to its bottom.
        end: (3,) bottom of the pocket.
    """
    n, above = len(loop), np.array(loop)
    added = []
    for k in range(len(rings)):
        below = len(vertices) + k * n + np.arange(n)
        added.append(np.stack([np.roll(above, -1), above, below, np.roll(below, -1)], axis=1))
        above = below
    last = np.full(n, len(vertices) + len(rings) * n)
    added.append(np.stack([np.roll(above, -1), above, last, np.full(n, -1)], axis=1))
    return np.concatenate([vertices, *rings, end[None]]), np.concatenate([faces, *added])


def tube(rings: Array, start: Array, end: Array) -> tuple[Array, Index]:
    """A closed skin over rings (n, m, 3), counter-clockwise seen from the start, with a point at either end."""
    n, m = rings.shape[:2]
    k = np.arange(m)
    after, none = np.roll(k, -1), np.full(m, -1)
    sides = [np.stack([r * m + k, (r + 1) * m + k, (r + 1) * m + after, r * m + after], axis=1) for r in range(n - 1)]
    first = np.stack([k, after, np.full(m, n * m), none], axis=1)
    last = np.stack([(n - 1) * m + after, (n - 1) * m + k, np.full(m, n * m + 1), none], axis=1)
    return np.concatenate([rings.reshape(-1, 3), start[None], end[None]]), np.concatenate([*sides, first, last])
