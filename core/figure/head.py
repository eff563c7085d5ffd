"""Head and neck as one skin with open eyes and a mouth [cm], from the bridge of the nose: left, back, up."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..maths import quat
from ..skeleton import Array
from .faces import Index, borders, compact, pocket, split
from .implicit import Blob, Field, cone, ellipsoid, left_half, mirrored, sweep
from .layout import Layout
from .mannequin import MannequinParams
from .net import neighbour_mean, net, project, steps
from .shell import Shell, material, rise, shell

ORIGIN = np.array([0.0, -1.0, 163.8])
EYE = np.array([3.2, -6.54, 0.0])
EYEBALL, _LID = 1.70, 1.86
_EYE_HALF, _EYE_UP, _EYE_DOWN, _CANT = 1.62, 0.90, 0.70, 0.08
_MOUTH_HALF, _LIPS_HALF, _GAPE = 2.4, 2.7, 0.42
"""The mouth is cut open by this much and then pressed shut, which lays several rows of vertices along the lips."""

# Height, then half axes left, right, back and front, and the centre's place left and back
_FACE = (
    (-11.4, 2.3, 2.3, 2.0, 1.4, 0.0, -6.3),
    (-10.2, 3.2, 3.2, 4.0, 2.3, 0.0, -6.1),
    (-8.5, 4.5, 4.5, 6.5, 3.6, 0.0, -4.6),
    (-6.5, 5.5, 5.5, 8.0, 5.2, 0.0, -3.0),
    (-4.0, 6.2, 6.2, 8.5, 6.4, 0.0, -1.9),
    (-1.5, 6.7, 6.7, 9.3, 7.5, 0.0, -0.6),
    (1.0, 7.0, 7.0, 9.9, 8.2, 0.0, 0.2),
    (3.0, 7.1, 7.1, 9.6, 8.6, 0.0, 0.5),
    (5.5, 6.8, 6.8, 9.0, 8.0, 0.0, 0.8),
)


def forms(params: MannequinParams) -> list[Blob]:
    """The left half of head and neck."""
    m = params.shape
    rows = np.array(_FACE)
    jaw = 1.0 + (0.04 - 0.09 * m) * np.clip(-rows[:, 0] / 8.0, 0.0, 1.0)
    rows[:, 1:3] *= jaw[:, None]
    box = np.array([9.0, 12.0, 12.0])
    return [
        ellipsoid((0.0, 1.3, 3.2), (7.6, 9.4, 8.0), 1.0),
        sweep(rows, lambda p: p, -box, box, 1.5, power=2.2, cap=1.6),
        neck(params, 0.0, np.zeros(3), 2.5),
        ellipsoid((0.0, -7.4, -9.9), (1.8, 1.3, 1.3), 1.8),
        ellipsoid((3.6, -5.6, -3.4), (2.4, 2.1, 2.2), 2.5),
        ellipsoid((2.9, -10.0, 0.35), (2.3, 2.2, 1.5), 2.2, carve=True),
        ellipsoid((0.0, -6.9, -6.4), (2.6, 1.8, 2.2), 2.0),
        cone((0.0, -7.6, 0.4), (0.0, -9.3, -2.7), 0.6, 0.8, 1.6),
        ellipsoid(EYE, (_LID, _LID, _LID), 1.1),
        ellipsoid((0.0, -9.25, -2.95), (0.9, 0.95, 0.75), 0.8),
        ellipsoid((0.9, -8.6, -3.15), (0.7, 0.75, 0.55), 0.7),
        ellipsoid((0.7, -8.35, -6.1), (1.5, 0.65, 0.42), 0.5),
        ellipsoid((0.0, -8.3, -6.95), (1.8, 0.7, 0.5), 0.5),
    ]


def neck(params: MannequinParams, margin: float, origin: Array, blend: float) -> Blob:
    """The neck, thicker by `margin`, with `origin` for the bridge of the nose."""
    thick = (1.08 - 0.16 * params.shape) * (1.0 + 0.08 * params.build)
    radii = 4.7 * thick + margin, 5.4 * thick + margin
    return cone(origin + (0.0, 1.6, -5.0), origin + (0.0, 4.2, -19.0), *radii, blend)


def head(layout: Layout, params: MannequinParams) -> Shell:
    """The skin of head and neck; the neck's lower end is hidden in the collar."""
    field = mirrored(forms(params))
    x, y = steps(0.2, 0.4, 5.0, 0.75, 9.9), steps(-12.0, 0.4, -4.0, 0.9, 13.5)
    v, f = net(field, (x, y, steps(-27.0, 0.9, -9.0, 0.4, 2.6, 0.9, 13.5)), mirror=True)
    part = np.full(len(f), material("Skin"))
    v, f, hole, origin = split(v, f, _almond(v, EYE, _EYE_HALF, _EYE_UP, _EYE_DOWN))
    f, part = f[~hole], part[origin][~hole]
    v, f, lips, origin = split(v, f, _mouth(v, _LIPS_HALF, _GAPE + 0.5, _GAPE + 0.62))
    part = np.where(lips, material("Lips"), part[origin])
    v, f, hole, origin = split(v, f, _mouth(v, _MOUTH_HALF, _GAPE, _GAPE))
    f, part = f[~hole], part[origin][~hole]
    v, f = compact(v, f)
    v = project(field, v, rounds=1)

    loops = borders(f)
    mouth = next(loop for loop in loops if v[loop, 2].mean() < -3.0)
    eyes = [loop for loop in loops if loop is not mouth]
    outline = np.intersect1d(f[part == material("Lips")], f[part == material("Skin")])
    v = _pointed(field, v, mouth, _mouth_corners(0.93 * _MOUTH_HALF))
    v = _pointed(field, v, outline[outline >= 0].tolist(), _mouth_corners(0.95 * _LIPS_HALF))
    weights = _weights(layout, v)
    v = _eased(field, _shut(field, v), f, np.union1d(outline, mouth))
    for loop in eyes:
        side = np.array([np.sign(v[loop, 0].sum()), 1.0, 1.0])
        v = _pointed(field, v, loop, side * [EYE + (u, -1.0, _CANT * u) for u in (-_EYE_HALF, _EYE_HALF)])
        outward = quat.unit(v[loop] - EYE * side)
        rings = [EYE * side + outward * r for r in (EYEBALL + 0.01, 0.6 * EYEBALL)]
        v, f = pocket(v, f, loop, rings, EYE * side)
        lids = v[f[len(part) :, :2]].mean(axis=1)
        part = np.append(part, np.where(lids[:, 2] > EYE[2], material("Lashes"), material("Lips")))
        weights = np.concatenate([weights, *[weights[loop]] * 2, weights[loop[:1]]])
    v, f = pocket(v, f, mouth, _mouth_bag(v[mouth]), np.array([0.0, -3.0, -6.6]))
    part = np.append(part, np.full(len(f) - len(part), material("Mouth")))
    weights = np.concatenate([weights, *[weights[mouth]] * 3, weights[mouth].mean(axis=0, keepdims=True)])
    rims = np.array([pair for loop in eyes for pair in zip(loop, loop[1:] + loop[:1], strict=True)])
    return shell(v + ORIGIN + layout.drop, f, part, weights, rims)


def _almond(p: Array, centre: Array, half: float, up: float, down: float) -> Array:
    """Negative inside the opening of an eye, left and right."""
    u = np.abs(p[:, 0]) - centre[0]
    w = p[:, 2] - centre[2] - _CANT * u
    arch = 1.0 - (u / half) ** 2
    return np.where(p[:, 1] < centre[1] - 0.3, np.maximum(w - up * arch, -down * arch - w), 1.0)


def _mouth_height(p: Array) -> Array:
    return np.asarray(-6.5 + 0.075 * p[:, 0] ** 2)


def _mouth_arch(p: Array) -> Array:
    return np.maximum(0.0, 1.0 - (p[:, 0] / _MOUTH_HALF) ** 2)


def _mouth(p: Array, half: float, up: float, down: float) -> Array:
    """Negative inside the opening of the mouth, or the outline of the lips."""
    arch, w = 1.0 - (p[:, 0] / half) ** 2, p[:, 2] - _mouth_height(p)
    return np.where(p[:, 1] < -5.0, np.maximum(w - up * arch, -down * arch - w), 1.0)


def _shut(field: Field, v: Array) -> Array:
    """The mouth pressed together; the skin around it follows."""
    height, gape = v[:, 2] - _mouth_height(v), _GAPE * _mouth_arch(v)
    near = np.clip(1.0 - (np.abs(height) - gape) / 1.3, 0.0, 1.0) ** 2
    move = np.where(v[:, 1] < -5.0, 0.97 * gape * near, 0.0)
    moved = move > 1e-6
    v = v - np.sign(height)[:, None] * move[:, None] * (0.0, 0.0, 1.0)
    v[moved] = project(field, v[moved])
    return v


def _pointed(field: Field, v: Array, border: list[int], corners: npt.ArrayLike) -> Array:
    """Of the vertices on a border, the ones nearest to its corners moved there."""
    v = v.copy()
    for corner in project(field, np.asarray(corners, dtype=float), rounds=4):
        v[border[int(np.argmin(np.sum((v[border] - corner) ** 2, axis=1)))]] = corner
    return v


def _eased(field: Field, v: Array, f: Index, fixed: Index) -> Array:
    """The skin beside the corners of the mouth evened out after the vertices there were moved."""
    mean = neighbour_mean(f, len(v))
    near = np.sum((left_half(v) - _mouth_corners(_MOUTH_HALF)[1]) ** 2, axis=1) < 1.5**2
    near[fixed] = False
    for _ in range(4):
        v = np.where(near[:, None], mean(v), v)
    v[near] = project(field, v[near])
    return v


def _mouth_corners(half: float) -> Array:
    ends = np.array([[-half, -8.0, 0.0], [half, -8.0, 0.0]])
    ends[:, 2] = _mouth_height(ends)
    return ends


def _mouth_bag(p: Array) -> list[Array]:
    """Rings behind the lips (n, 3), widening into the mouth."""
    part = np.sign(p[:, 2] - _mouth_height(p)) * _mouth_arch(p)
    lift = part[:, None] * (0.0, 0.0, 1.0)
    rings = ((0.99, 0.25, 0.05), (0.9, 0.9, 0.6), (0.7, 3.0, 0.9))
    return [p * (narrow, 1.0, 1.0) + (0.0, back, 0.0) + up * lift for narrow, back, up in rings]


def _weights(layout: Layout, p: Array) -> Array:
    """Of points while the mouth is still open, which tells the lips apart."""
    index, w = layout.skeleton.index, layout.zeros(len(p))
    above, top = layout.neck(p + ORIGIN)
    # the jaw hangs below a line from the corner of the mouth to the ear, more loosely away from the lips
    forward = np.clip(p[:, 1] + 8.0, 0.0, 8.0)
    loose = _GAPE + 0.5 * (forward + np.maximum(np.abs(p[:, 0]) - _MOUTH_HALF, 0.0))
    jaw = rise(_mouth_height(p * (p[:, 1:2] < -5.0)) + 0.36 * forward - p[:, 2], 0.0, np.minimum(loose, 3.0))
    jaw *= rise(-p[:, 1], 3.5, 3.0) * rise(p[:, 2], -12.5, 2.5)
    w[:, index("spine_03")] = 1.0 - above
    w[:, index("neck")] = above * (1.0 - top)
    w[:, index("head")] = above * top * (1.0 - jaw)
    w[:, index("jaw")] = above * top * jaw
    return w
