"""Unit quaternions (..., 4) as wxyz, rotation vectors (..., 3) and matrices (..., 3, 3); everything broadcasts.

Results are exact to a few 1e-16 for unit input unless a docstring says otherwise. Slerp: Shoemake, "Animating
rotation with quaternion curves", 1985.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from . import trig

Array = npt.NDArray[np.float64]

IDENTITY: Array = np.array([1.0, 0.0, 0.0, 0.0])
IDENTITY.flags.writeable = False
_TINY = 1e-12
_FEW = 256
"""Numbers up to which few operations on whole arrays are faster than many on components; both give the same bits."""
_LEFT = np.repeat(np.arange(4), 4)
_RIGHT = np.array([0, 1, 2, 3, 1, 0, 3, 2, 2, 3, 0, 1, 3, 2, 1, 0])
_SIGNS = np.array([1, 1, 1, 1, -1, 1, -1, 1, -1, 1, 1, -1, -1, -1, 1, 1], dtype=np.float64)
"""First, second, third and fourth terms of the four components of a product: what of the left, the right, and sign."""
_BACK = np.array([1.0, -1.0, -1.0, -1.0])
_NEXT, _AFTER = np.array([1, 2, 0]), np.array([2, 0, 1])
_Q_NEXT, _Q_AFTER = 1 + _NEXT, 1 + _AFTER
"""Components for cross products: of vectors, and of the vector part of quaternions."""


def cross(a: Array, b: Array) -> Array:
    """Cross product of (..., 3) arrays; several times faster than np.cross on small arrays."""
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    out[..., 0] = ay * bz - az * by
    out[..., 1] = az * bx - ax * bz
    out[..., 2] = ax * by - ay * bx
    return out


def dot(a: Array, b: Array) -> Array:
    """Sum of products over the last axis."""
    out: Array = np.einsum("...i,...i->...", a, b)
    return out


def unit(v: Array) -> Array:
    """Vectors divided by their length; zero vectors stay zero."""
    length: Array = np.maximum(np.sqrt(dot(v, v)), _TINY)
    return v / length[..., None]


def multiply(a: Array, b: Array) -> Array:
    """Hamilton product: rotate by b first, then by a."""
    if a.size <= _FEW and b.size <= _FEW:
        terms = a.take(_LEFT, axis=-1) * _SIGNS * b.take(_RIGHT, axis=-1)
        few: Array = terms[..., :4] + terms[..., 4:8] + terms[..., 8:12] + terms[..., 12:]
        return few
    aw, ax, ay, az = a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    bw, bx, by, bz = b[..., 0], b[..., 1], b[..., 2], b[..., 3]
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    out[..., 0] = aw * bw - ax * bx - ay * by - az * bz
    out[..., 1] = aw * bx + ax * bw + ay * bz - az * by
    out[..., 2] = aw * by - ax * bz + ay * bw + az * bx
    out[..., 3] = aw * bz + ax * by - ay * bx + az * bw
    return out


def conjugate(q: Array) -> Array:
    """The inverse rotation."""
    out: Array = q * _BACK
    return out


def rotate(q: Array, v: Array) -> Array:
    """Vectors (..., 3) turned by q (..., 4)."""
    if q.size <= _FEW and v.size <= _FEW:
        second, third = q.take(_Q_NEXT, axis=-1), q.take(_Q_AFTER, axis=-1)
        t = 2.0 * (second * v.take(_AFTER, axis=-1) - third * v.take(_NEXT, axis=-1))
        few: Array = v + q[..., :1] * t + second * t.take(_AFTER, axis=-1) - third * t.take(_NEXT, axis=-1)
        return few
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    vx, vy, vz = v[..., 0], v[..., 1], v[..., 2]
    # v + w t + u x t with t = 2 u x v, by components: whole (..., 3) operations cost half as much again
    tx, ty, tz = 2.0 * (y * vz - z * vy), 2.0 * (z * vx - x * vz), 2.0 * (x * vy - y * vx)
    out = np.empty((*np.broadcast_shapes(q.shape[:-1], v.shape[:-1]), 3))
    out[..., 0] = vx + w * tx + y * tz - z * ty
    out[..., 1] = vy + w * ty + z * tx - x * tz
    out[..., 2] = vz + w * tz + x * ty - y * tx
    return out


def exp(v: Array) -> Array:
    """Rotation vectors (axis times angle) to quaternions: the exponential map."""
    angle = np.sqrt(dot(v, v))
    # sin(a/2)/a is 1/2 at zero; np.sinc keeps it exact there
    return np.concatenate([np.cos(angle / 2)[..., None], (0.5 * np.sinc(angle / (2 * np.pi)))[..., None] * v], axis=-1)


def log(q: Array) -> Array:
    """Quaternions to rotation vectors of length 0..pi: the inverse of `exp`, the short way round."""
    q = np.where(q[..., :1] < 0, -q, q)
    s = np.sqrt(dot(q[..., 1:], q[..., 1:]))
    angle = 2.0 * trig.arctan2(s, q[..., 0])
    factor = np.where(s > _TINY, angle / np.maximum(s, _TINY), 2.0)
    out: Array = factor[..., None] * q[..., 1:]
    return out


def angle(q: Array) -> Array:
    """Rotation angle, 0..pi [rad]."""
    return 2.0 * np.arctan2(np.sqrt(dot(q[..., 1:], q[..., 1:])), np.abs(q[..., 0]))


def distance(a: Array, b: Array) -> Array:
    """Angle of the rotation between two orientations [rad]."""
    return angle(multiply(conjugate(a), b))


def about(axis: Array, turn: Array | float) -> Array:
    """Rotation by `turn` (...) [rad] about unit axes (..., 3)."""
    half = np.asarray(turn, dtype=np.float64)[..., None] / 2
    sine = np.sin(half) * axis
    return np.concatenate([np.broadcast_to(np.cos(half), (*sine.shape[:-1], 1)), sine], axis=-1)


def between(a: Array, b: Array) -> Array:
    """Smallest rotation that takes directions a to b (..., 3), of any length; exact to 1e-7 even near a half turn.

    Opposite directions turn about some axis across a; a zero vector gives the identity.
    """
    a, b = unit(a), unit(b)
    w = 1.0 + dot(a, b)
    axis = cross(a, b)
    # the cross product of unit vectors closer to opposite than this has lost half its digits
    opposite = w < 1e-15
    if np.any(opposite):
        e = np.where(np.abs(a[..., :1]) < 0.9, np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
        axis = np.where(opposite[..., None], cross(a, e), axis)
        w = np.where(opposite, 0.0, w)
    return unit(np.concatenate([w[..., None], axis], axis=-1))


def twist(q: Array, axis: Array) -> Array:
    """The part of q that turns about the unit `axis`: q = swing * twist, the swing's axis lying across it.

    The swing is `multiply(q, conjugate(twist))`. A half turn across the axis has no twist: the identity.
    """
    along = dot(q[..., 1:], np.broadcast_to(axis, (*q.shape[:-1], 3)))
    t = np.concatenate([q[..., :1], along[..., None] * axis], axis=-1)
    n = np.sqrt(dot(t, t))[..., None]
    return np.where(n > _TINY, t / np.maximum(n, _TINY), IDENTITY)


def continuous(q: Array) -> Array:
    """Signs flipped along the first axis so that successive quaternions lie on one hemisphere."""
    sign = np.where(dot(q[1:], q[:-1]) < 0, -1.0, 1.0)
    out = q.copy()
    out[1:] *= np.cumprod(sign, axis=0)[..., None]
    return out


def slerp(a: Array, b: Array, t: Array | float) -> Array:
    """Spherical interpolation the short way round at constant angular speed; t (...) from 0 to 1.

    At t = 1 the result is b or -b, whichever lies on the hemisphere of a.
    """
    cosine = dot(a, b)
    near = np.minimum(np.abs(cosine), 1.0)
    # floors where both sines are linear, so that equal rotations need no branch; 1 - near is exact when it matters
    theta = np.maximum(np.arccos(near), 1e-8)
    scale = 1.0 / np.maximum(np.sqrt((1.0 - near) * (1.0 + near)), 1e-8)
    wb = np.asarray(t * theta)
    wa = np.asarray(theta - wb)
    np.sin(wa, out=wa)
    np.sin(wb, out=wb)
    wa *= scale
    wb *= np.copysign(scale, cosine)
    # in place and by components: fresh temporaries, above all of four times the size, are page-faulted in every call
    out = np.empty((*wa.shape, 4))
    from_a, from_b = np.empty(wa.shape), np.empty(wa.shape)
    for c in range(4):
        np.multiply(wa, a[..., c], out=from_a)
        np.multiply(wb, b[..., c], out=from_b)
        np.add(from_a, from_b, out=out[..., c])
    return out


def mean(q: Array, weights: Array | None = None) -> Array:
    """Average over the second-last axis, (..., N, 4) to (..., 4), for rotations within a half turn of the first.

    `weights` (..., N) need not sum to one.
    """
    sign = np.copysign(1.0, dot(q, q[..., :1, :]))
    w = sign if weights is None else sign * weights
    return unit(np.einsum("...n,...nc->...c", w, q))


def to_matrix(q: Array) -> Array:
    """(..., 4) to rotation matrices (..., 3, 3)."""
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    m = np.empty((*q.shape[:-1], 3, 3))
    m[..., 0, 0] = 1 - 2 * (y * y + z * z)
    m[..., 0, 1] = 2 * (x * y - w * z)
    m[..., 0, 2] = 2 * (x * z + w * y)
    m[..., 1, 0] = 2 * (x * y + w * z)
    m[..., 1, 1] = 1 - 2 * (x * x + z * z)
    m[..., 1, 2] = 2 * (y * z - w * x)
    m[..., 2, 0] = 2 * (x * z - w * y)
    m[..., 2, 1] = 2 * (y * z + w * x)
    m[..., 2, 2] = 1 - 2 * (x * x + y * y)
    return m


def from_matrix(m: Array) -> Array:
    """Rotation matrices (..., 3, 3) to (..., 4), scaled from a component no smaller than 1/2 (Shepperd's method)."""
    out = np.empty((*m.shape[:-2], 4))
    out[..., 0] = 1 + m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]
    out[..., 1] = m[..., 2, 1] - m[..., 1, 2]
    out[..., 2] = m[..., 0, 2] - m[..., 2, 0]
    out[..., 3] = m[..., 1, 0] - m[..., 0, 1]
    wide = out[..., 0] < 1
    if np.any(wide):
        out[wide] = _from_wide_matrix(m[wide])
    return unit(out)


def _from_wide_matrix(m: Array) -> Array:
    """Unnormalised quaternions of matrices (N, 3, 3) that turn more than 120 degrees, from the largest of x, y, z."""
    n = np.arange(len(m))
    i = np.einsum("nii->ni", m).argmax(axis=1)
    j, k = (i + 1) % 3, (i + 2) % 3
    out = np.empty((len(m), 4))
    out[n, 0] = m[n, k, j] - m[n, j, k]
    out[n, 1 + i] = 1 + m[n, i, i] - m[n, j, j] - m[n, k, k]
    out[n, 1 + j] = m[n, j, i] + m[n, i, j]
    out[n, 1 + k] = m[n, k, i] + m[n, i, k]
    return out


def heading(q: Array) -> Array:
    """Heading of an orientation (...): the turn about Z that is left when its tilt is taken away [rad].

    Known up to whole turns (`ramp.unwrap` joins it in time); meaningless for a body upside down.
    """
    return 2.0 * trig.arctan2(q[..., 3], q[..., 0])
