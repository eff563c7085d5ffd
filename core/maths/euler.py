"""Euler angles and axis-angles in Blender's conventions, continuous in time.

Order 'XYZ' means R = Rz Ry Rx: the first letter turns first. The components of a triple are always x, y, z whatever
the order. Away from gimbal lock results are exact to 1e-15; within 1e-6 rad of it the first and third angle share one
degree of freedom, the third is carried over from the neighbouring sample, and the rotation is kept to 4e-6 rad.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParam
from . import quat, trig
from .quat import Array
from .ramp import unwrap, wrap

ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
_LOCK = 1e-6


def to_matrix(euler: Array, order: str = "XYZ") -> Array:
    """Euler angles (..., 3) [rad] to rotation matrices (..., 3, 3)."""
    i, j, k, sign = _axes(order)
    cosine, sine = np.cos(euler), sign * np.sin(euler)
    ci, cj, ck = cosine[..., i], cosine[..., j], cosine[..., k]
    si, sj, sk = sine[..., i], sine[..., j], sine[..., k]
    m = np.empty((*euler.shape[:-1], 3, 3))
    m[..., i, i] = ck * cj
    m[..., i, j] = ck * sj * si - sk * ci
    m[..., i, k] = ck * sj * ci + sk * si
    m[..., j, i] = sk * cj
    m[..., j, j] = sk * sj * si + ck * ci
    m[..., j, k] = sk * sj * ci - ck * si
    m[..., k, i] = -sj
    m[..., k, j] = cj * si
    m[..., k, k] = cj * ci
    return m


def from_matrix(m: Array, order: str = "XYZ") -> tuple[Array, Array]:
    """Both Euler triples (..., 3) [rad] of rotation matrices (..., 3, 3).

    The first has its middle angle within a quarter turn of zero; in gimbal lock its third angle is zero.
    """
    third, free = _third(m, order)
    first = _given_third(m, np.where(free, third, 0.0), order)
    return first, _other(first, order)


def continuous(m: Array, order: str = "XYZ", start: Array | None = None) -> Array:
    """Euler angles (T, ..., 3) of matrices (T, ..., 3, 3), each sample nearest to the one before.

    Angles grow past a half turn rather than jump, and a passage through gimbal lock does not flip them. `start`
    (..., 3) is a triple to go on from; without it the first sample has its middle angle within a quarter turn of zero.
    """
    third, free = _third(m, order)
    if start is not None:
        start = np.broadcast_to(start, (*third.shape[1:], 3))[None]
        third = np.concatenate([start[..., _axes(order)[2]], third])
        free = np.concatenate([np.ones_like(free[:1]), free])
        angles = np.concatenate([start, _given_third(m, _fill(third, free)[1:], order)])
    else:
        angles = _given_third(m, _fill(np.where(free, third, 0.0), free), order)
    # The other solution of both samples lies as far apart as the first solution of both, so whether to change over
    # does not depend on which one is in use: a running parity replaces a loop over time.
    stay = np.abs(wrap(np.diff(angles, axis=0))).sum(axis=-1)
    other = _other(angles, order)
    change = np.abs(wrap(other[1:] - angles[:-1])).sum(axis=-1) < stay - 1e-9
    flipped = np.zeros(angles.shape[:-1], dtype=bool)
    np.logical_xor.accumulate(change, axis=0, out=flipped[1:])
    angles = np.where(flipped[..., None], other, angles)
    angles = unwrap(angles)
    return angles if start is None else angles[1:]


def to_quat(euler: Array, order: str = "XYZ") -> Array:
    """Euler angles (..., 3) [rad] to quaternions (..., 4)."""
    i, j, k, _ = _axes(order)
    axes = np.eye(3)
    qi, qj, qk = (quat.about(axes[a], euler[..., a]) for a in (i, j, k))
    return quat.multiply(quat.multiply(qk, qj), qi)


def from_axis_angle(values: Array) -> Array:
    """Blender's axis-angle (..., 4) as angle [rad], x, y, z to quaternions; a zero axis is no rotation."""
    axis = quat.unit(values[..., 1:])
    turn = np.where(quat.dot(axis, axis) > 0.5, values[..., 0], 0.0)
    return quat.about(axis, turn)


def to_axis_angle(q: Array) -> Array:
    """Quaternions (T, ..., 4) to angle [rad], x, y, z, continuous over the first axis.

    The axis never turns to its opposite between samples (the angle goes through zero instead) and rests where there
    is no rotation.
    """
    v = q[..., 1:]
    length = np.sqrt(quat.dot(v, v))
    free = length > _LOCK
    axis = _fill(np.where(free[..., None], quat.unit(v), np.array([0.0, 1.0, 0.0])), free)
    axis = quat.continuous(axis)
    turn = unwrap(2.0 * trig.arctan2(quat.dot(v, axis), q[..., 0]))
    return np.concatenate([turn[..., None], axis], axis=-1)


def _axes(order: str) -> tuple[int, int, int, float]:
    """Indices of the first, second and third axis to turn about, and +1 where they are in cyclic order, else -1."""
    if order not in ORDERS:
        raise InvalidParam("order", order, f"must be one of {', '.join(ORDERS)}")
    i, j, k = ("XYZ".index(letter) for letter in order)
    return i, j, k, 1.0 if (j - i) % 3 == 1 else -1.0


def _third(m: Array, order: str) -> tuple[Array, npt.NDArray[np.bool_]]:
    """The third angle (...) and whether the matrix determines it."""
    i, j, _, sign = _axes(order)
    across, along = sign * m[..., j, i], m[..., i, i]
    return trig.arctan2(across, along), np.asarray(across * across + along * along > _LOCK * _LOCK)


def _given_third(m: Array, third: Array, order: str) -> Array:
    """The triple with this third angle: it undone, R is Rj Ri and both angles can be read off."""
    i, j, k, sign = _axes(order)
    c, s = np.cos(third), sign * np.sin(third)
    out = np.empty(m.shape[:-1])
    out[..., i] = np.arctan2(sign * (s * m[..., i, k] - c * m[..., j, k]), c * m[..., j, j] - s * m[..., i, j])
    out[..., j] = np.arctan2(-sign * m[..., k, i], c * m[..., i, i] + s * m[..., j, i])
    out[..., k] = third
    return out


def _other(euler: Array, order: str) -> Array:
    """The second triple of the same rotations."""
    out = euler + np.pi
    j = _axes(order)[1]
    out[..., j] = np.pi - euler[..., j]
    return out


def _fill(values: Array, known: npt.NDArray[np.bool_]) -> Array:
    """Unknown samples replaced by the last known one before them, or else the first known one after them."""
    if known.all():
        return values
    samples = np.arange(len(known)).reshape((-1,) + (1,) * (known.ndim - 1))
    last = np.maximum.accumulate(np.where(known, samples, -1), axis=0)
    last = np.where(last < 0, known.argmax(axis=0), last)
    if values.ndim > known.ndim:
        last = last[..., None]
    return np.take_along_axis(values, last, axis=0)
