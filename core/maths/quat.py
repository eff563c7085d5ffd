"""Unit quaternions (..., 4) as wxyz, rotation vectors (..., 3) and matrices (..., 3, 3); everything broadcasts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

IDENTITY: Array = np.array([1.0, 0.0, 0.0, 0.0])
IDENTITY.flags.writeable = False
_TINY = 1e-12


def cross(a: Array, b: Array) -> Array:
    """Cross product of (..., 3) arrays; several times faster than np.cross on small arrays."""
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def dot(a: Array, b: Array) -> Array:
    """Sum of products over the last axis."""
    return np.einsum("...i,...i->...", a, b)


def unit(v: Array) -> Array:
    """Vectors divided by their length; zero vectors stay zero."""
    return v / np.maximum(np.sqrt(dot(v, v)), _TINY)[..., None]


def multiply(a: Array, b: Array) -> Array:
    """Hamilton product: rotate by b first, then by a."""
    aw, ax, ay, az = a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    bw, bx, by, bz = b[..., 0], b[..., 1], b[..., 2], b[..., 3]
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def conjugate(q: Array) -> Array:
    """The inverse rotation."""
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def rotate(q: Array, v: Array) -> Array:
    """Vectors (..., 3) turned by q (..., 4)."""
    u = q[..., 1:]
    t = 2.0 * cross(u, v)
    return v + q[..., :1] * t + cross(u, t)


def exp(v: Array) -> Array:
    """Rotation vectors (axis times angle) to quaternions: the exponential map."""
    angle = np.sqrt(dot(v, v))
    # sin(a/2)/a is 1/2 at zero; np.sinc keeps it exact there
    return np.concatenate([np.cos(angle / 2)[..., None], (0.5 * np.sinc(angle / (2 * np.pi)))[..., None] * v], axis=-1)


def log(q: Array) -> Array:
    """Quaternions to rotation vectors of length 0..pi: the inverse of `exp`, the short way round."""
    q = np.where(q[..., :1] < 0, -q, q)
    s = np.sqrt(dot(q[..., 1:], q[..., 1:]))
    angle = 2.0 * np.arctan2(s, q[..., 0])
    factor = np.where(s > _TINY, angle / np.maximum(s, _TINY), 2.0)
    return factor[..., None] * q[..., 1:]


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
    return np.concatenate([np.broadcast_to(np.cos(half), sine.shape[:-1] + (1,)), sine], axis=-1)


def between(a: Array, b: Array) -> Array:
    """Smallest rotation that takes directions a to b; opposite directions turn about some axis across a."""
    a, b = unit(a), unit(b)
    w = 1.0 + dot(a, b)
    axis = cross(a, b)
    opposite = w < 1e-9
    if np.any(opposite):
        e = np.where(np.abs(a[..., :1]) < 0.9, np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
        axis = np.where(opposite[..., None], cross(a, e), axis)
        w = np.where(opposite, 0.0, w)
    return unit(np.concatenate([w[..., None], axis], axis=-1))


def twist(q: Array, axis: Array) -> Array:
    """The part of q that turns about the unit `axis`: q = swing * twist, the swing's axis lying across it."""
    along = dot(q[..., 1:], np.broadcast_to(axis, q.shape[:-1] + (3,)))
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
    """Spherical interpolation the short way round; t (...) from 0 to 1."""
    t = np.asarray(t, dtype=np.float64)[..., None]
    d = dot(a, b)[..., None]
    sign = np.copysign(1.0, d)
    d = np.minimum(d * sign, 1.0)
    theta = np.arccos(d)
    sine = np.sqrt(np.maximum(1.0 - d * d, 1e-30))
    near = sine < 1e-6
    wa = np.where(near, 1.0 - t, np.sin((1.0 - t) * theta) / sine)
    wb = np.where(near, t, np.sin(t * theta) / sine)
    return unit(wa * a + (wb * sign) * b)


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
    m = np.empty(q.shape[:-1] + (3, 3))
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
    """Rotation matrices (..., 3, 3) to (..., 4), from the largest of the four squared components."""
    t = np.stack(
        [
            1 + m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2],
            1 + m[..., 0, 0] - m[..., 1, 1] - m[..., 2, 2],
            1 - m[..., 0, 0] + m[..., 1, 1] - m[..., 2, 2],
            1 - m[..., 0, 0] - m[..., 1, 1] + m[..., 2, 2],
        ],
        axis=-1,
    )
    k = t.argmax(axis=-1)[..., None]
    a, b, c = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    d, e, f = m[..., 0, 1] + m[..., 1, 0], m[..., 0, 2] + m[..., 2, 0], m[..., 1, 2] + m[..., 2, 1]
    rows = (
        np.stack([t[..., 0], a, b, c], axis=-1),
        np.stack([a, t[..., 1], d, e], axis=-1),
        np.stack([b, d, t[..., 2], f], axis=-1),
        np.stack([c, e, f, t[..., 3]], axis=-1),
    )
    return unit(np.select([k == 0, k == 1, k == 2], rows[:3], rows[3]))


def heading(q: Array) -> Array:
    """Heading of an orientation (...): the turn about Z that is left when its tilt is taken away [rad]."""
    return 2.0 * np.arctan2(q[..., 3], q[..., 0])
