"""Closed forms on points, segments, triangles, planes, polygons and capsules.

Ericson, "Real-Time Collision Detection", 2005, 5.1 (nearest points); Moeller and Trumbore 1997 (ray and triangle).
Exact to 1e-12 of the size of the figures; those without length or area are allowed.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..quat import Array, cross, dot

Bools = npt.NDArray[np.bool_]

_EDGE = 1e-9
"""Barycentric slack with which a ray through a shared edge or corner meets a triangle on either side of it."""


def point_segment(p: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """Nearest points (..., 3) of segments a-b to p, in any dimension, and where they lie on them, 0..1 (...)."""
    along = b - a
    u = np.clip(dot(p - a, along) / np.maximum(dot(along, along), 1e-300), 0.0, 1.0)
    return a + u[..., None] * along, u


def segment_segment(a0: Array, a1: Array, b0: Array, b1: Array) -> tuple[Array, Array]:
    """Nearest points (..., 3) of segments a0-a1 and b0-b1 to each other; any pair of them where they run parallel."""
    da, db, gap = a1 - a0, b1 - b0, a0 - b0
    aa, bb, ab = dot(da, da), dot(db, db), dot(da, db)
    ag, bg = dot(da, gap), dot(db, gap)
    area = aa * bb - ab * ab
    # on parallel segments any place will do to start from; the clamps below make it right
    s = np.clip(np.where(area > 1e-14 * aa * bb, (ab * bg - ag * bb) / np.maximum(area, 1e-300), 0.0), 0.0, 1.0)
    t = np.clip((ab * s + bg) / np.maximum(bb, 1e-300), 0.0, 1.0)
    s = np.clip((ab * t - ag) / np.maximum(aa, 1e-300), 0.0, 1.0)
    return a0 + s[..., None] * da, b0 + t[..., None] * db


def capsule_distance(a0: Array, a1: Array, ra: npt.ArrayLike, b0: Array, b1: Array, rb: npt.ArrayLike) -> Array:
    """Gap (...) between capsules around segments with radii `ra`, `rb` [m]; negative where they overlap."""
    p, q = segment_segment(a0, a1, b0, b1)
    out: Array = np.sqrt(dot(p - q, p - q)) - np.asarray(ra) - np.asarray(rb)
    return out


def point_triangle(p: Array, a: Array, b: Array, c: Array) -> Array:
    """Nearest points (..., 3) of triangles abc to p; slivers and single points are triangles too."""
    ab, ac, ap = b - a, c - a, p - a
    bb, cc, bc = dot(ab, ab), dot(ac, ac), dot(ab, ac)
    bp, cp = dot(ab, ap), dot(ac, ap)
    area = bb * cc - bc * bc
    v, w = cc * bp - bc * cp, bb * cp - bc * bp
    inside = (v >= 0) & (w >= 0) & (v + w <= area) & (area > 1e-14 * bb * cc)
    scale = 1.0 / np.where(inside, area, 1.0)
    best = a + (v * scale)[..., None] * ab + (w * scale)[..., None] * ac
    nearest = np.where(inside, 0.0, np.inf)
    for start, end in ((a, b), (b, c), (c, a)):
        q = point_segment(p, start, end)[0]
        far = dot(p - q, p - q)
        closer = far < nearest
        best, nearest = np.where(closer[..., None], q, best), np.where(closer, far, nearest)
    return np.asarray(best)


def ray_triangle(origin: Array, direction: Array, a: Array, b: Array, c: Array) -> Array:
    """Distance (...) along rays to triangles abc in lengths of `direction`; infinite where they miss. Two-sided."""
    ab, ac = b - a, c - a
    h = cross(direction, ac)
    det = dot(ab, h)
    scale = 1.0 / np.where(det == 0, 1.0, det)
    from_a = origin - a
    u = dot(from_a, h) * scale
    q = cross(from_a, ab)
    v = dot(direction, q) * scale
    t = dot(ac, q) * scale
    hit = (det != 0) & (u >= -_EDGE) & (v >= -_EDGE) & (u + v <= 1.0 + _EDGE) & (t >= 0)
    return np.where(hit, t, np.inf)


def plane_fit(points: Array) -> tuple[Array, Array]:
    """Centre (..., 3) and unit normal (..., 3), upwards, of the plane through points (..., N, 3), N >= 3."""
    centre = points.mean(axis=-2)
    spread = points - centre[..., None, :]
    normal = np.linalg.eigh(np.einsum("...ni,...nj->...ij", spread, spread))[1][..., 0]
    return centre, normal * np.where(normal[..., 2:] < 0, -1.0, 1.0)


def polygon_area(polygon: Array) -> Array:
    """Area (...) enclosed by polygons (..., N, 2); negative where they run clockwise."""
    x, y = polygon[..., 0], polygon[..., 1]
    out: Array = 0.5 * (x * np.roll(y, -1, axis=-1) - np.roll(x, -1, axis=-1) * y).sum(axis=-1)
    return out


def inside_polygon(points: Array, polygon: Array) -> Bools:
    """Which points (M, 2) lie within a polygon (N, 2), which may be concave; the border belongs to either side."""
    a, b = polygon, np.roll(polygon, -1, axis=0)
    x, y = points[:, None, 0], points[:, None, 1]
    straddles = (a[:, 1] > y) != (b[:, 1] > y)
    rise = np.where(straddles, b[:, 1] - a[:, 1], 1.0)
    crossing = a[:, 0] + (y - a[:, 1]) / rise * (b[:, 0] - a[:, 0])
    return np.asarray((straddles & (x < crossing)).sum(axis=1) % 2 == 1)
