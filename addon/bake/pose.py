"""Bone and object matrices in numpy: rest and inheritance of an armature, armature space to channels and back.

All matrices are (..., 4, 4), row by row, with the translation in the last column. Inheritance follows Blender's
`BKE_bone_parent_transform_calc_from_matrices`; bendy bones whose children follow the curve are treated as straight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ...core.errors import InvalidRig
from ...core.maths import euler, quat

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
Flags = tuple[str, bool, bool]
"""Of a bone: inherit_scale, use_inherit_rotation, use_local_location."""
PLAIN: Flags = ("FULL", True, True)

ROTATION_CHANNEL = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
"""Property that holds the rotation in each mode; `rotation_euler` in all others."""


@dataclass(frozen=True, eq=False)
class Rest:
    """The bones of an armature as they rest, in the order of `pose.bones`.

    Attributes:
        names: Bone names, parents before children.
        parents: (N,) index of the parent, -1 for none.
        matrices: (N, 4, 4) rest matrices in armature space.
        flags: What each bone inherits from its parent.
    """

    names: tuple[str, ...]
    parents: Indices
    matrices: Array
    flags: tuple[Flags, ...]

    def index(self, bone: str) -> int:
        """Number of a bone."""
        try:
            return self.names.index(bone)
        except ValueError:
            raise InvalidRig(f"no bone {bone!r} in this armature; was it renamed or deleted after casting?") from None

    def part(self, bones: Sequence[int]) -> Rest:
        """Some of the bones, in this order; those whose parent is left out become roots."""
        number = {int(b): i for i, b in enumerate(bones)}
        parents = np.array([number.get(int(self.parents[b]), -1) for b in bones], dtype=np.int64)
        names, flags = tuple(self.names[b] for b in bones), tuple(self.flags[b] for b in bones)
        return Rest(names, parents, self.matrices[list(bones)], flags)


def matrices(collection: Any, name: str = "matrix") -> Array:
    """(N, 4, 4) of a matrix property: `matrix_local` of bones, `matrix` or `matrix_basis` of pose bones."""
    flat = np.empty(len(collection) * 16, np.float32)
    collection.foreach_get(name, flat)
    return flat.reshape(-1, 4, 4).transpose(0, 2, 1).astype(np.float64)  # Blender flattens by columns


def rest(armature: bpy.types.Armature) -> Rest:
    """Rest pose and inheritance of all bones."""
    bones = armature.bones
    names = tuple(b.name for b in bones)
    index = {name: i for i, name in enumerate(names)}
    parents = np.array([index[b.parent.name] if b.parent else -1 for b in bones], dtype=np.int64)
    flags = tuple((b.inherit_scale, b.use_inherit_rotation, b.use_local_location) for b in bones)
    return Rest(names, parents, matrices(bones, "matrix_local"), flags)


def basis_from_pose(rest: Rest, pose: Array, bones: Sequence[int] | None = None) -> Array:
    """What to key so that bones stand where they should.

    Args:
        rest: The armature.
        pose: (T, N, 4, 4) wanted armature-space matrices of all bones.
        bones: The n bones asked for; None for all.

    Returns:
        (T, n, 4, 4) values of `matrix_basis`.
    """
    chosen = np.arange(len(rest.names)) if bones is None else np.asarray(bones, dtype=np.int64)
    out = np.zeros((len(pose), len(chosen), 4, 4))
    out[..., 3, 3] = 1.0
    kinds: dict[tuple[Flags, bool], list[int]] = {}
    for column, bone in enumerate(chosen):
        kinds.setdefault((rest.flags[bone], rest.parents[bone] >= 0), []).append(column)
    for (flags, hangs), columns in kinds.items():
        at = chosen[columns]
        above = pose[:, rest.parents[at]] if hangs else None
        turn, shift, origin, stretch = _frame(flags, above, rest.matrices[rest.parents[at]], rest.matrices[at])
        unturn = _inverse(turn)
        unshift = unturn if shift is turn else _inverse(shift)
        wanted = pose[:, at]
        turned = wanted[..., :3, :3] if stretch is None else wanted[..., :3, :3] / stretch
        out[..., :3, :3][:, columns] = unturn @ turned
        out[..., :3, 3][:, columns] = _apply(unshift, wanted[..., :3, 3] - origin)
    return out


def pose_from_basis(rest: Rest, basis: Array) -> Array:
    """Armature-space matrices (T, N, 4, 4) of all bones from their `matrix_basis` (T, N, 4, 4)."""
    offsets = np.linalg.inv(rest.matrices[rest.parents]) @ rest.matrices
    # bone by bone in memory: each is one product over all frames, without gathering
    local = np.ascontiguousarray(np.moveaxis(basis, 1, 0))
    out = np.empty(local.shape)
    for i, (p, flags) in enumerate(zip(rest.parents, rest.flags, strict=True)):
        if p >= 0 and flags == PLAIN:
            np.matmul(out[p], offsets[i] @ local[i], out=out[i])
            continue
        above = out[p] if p >= 0 else None
        turn, shift, origin, stretch = _frame(flags, above, rest.matrices[p], rest.matrices[i])
        turned = turn @ local[i, :, :3, :3]
        out[i, :, :3, :3] = turned if stretch is None else turned * stretch
        out[i, :, :3, 3] = _apply(shift, local[i, :, :3, 3]) + origin
        out[i, :, 3] = (0.0, 0.0, 0.0, 1.0)
    return np.ascontiguousarray(np.moveaxis(out, 0, 1))


def _frame(
    flags: Flags, above: Array | None, above_rest: Array, own: Array
) -> tuple[Array, Array, Array, Array | None]:
    """Where a bone's basis is measured: its frame (..., 3, 3) of rotation and scale; that of location; the origin
    (..., 3); and what multiplies the columns (..., 1, 3) of the result, if anything does.

    `above` (..., 4, 4) is the pose of the parent or None, `above_rest` its rest, `own` the bone's rest.
    """
    scale, rotate, local = flags
    if above is None:
        turn = own[..., :3, :3]
        return turn, turn if local else np.eye(3), own[..., :3, 3], None
    offset = np.linalg.inv(above_rest) @ own
    parent = above[..., :3, :3]
    full = parent @ offset[..., :3, :3]
    origin = _apply(parent, offset[..., :3, 3]) + above[..., :3, 3]
    turn, stretch = full, None
    if scale != "FULL" or not rotate:
        turn, stretch = _inherited(parent, above_rest[..., :3, :3], scale, rotate)
        turn = turn @ offset[..., :3, :3]
        if scale == "FIX_SHEAR":
            turn = _orthogonal(turn)
    return turn, full if local else parent, origin, stretch


def _inherited(above: Array, above_rest: Array, scale: str, rotate: bool) -> tuple[Array, Array | None]:
    """The parent's matrix (..., 3, 3) as a child with these flags sees it, and its stretch (..., 1, 3) if any."""
    stretch = None
    if rotate:
        seen = above
        if scale in ("NONE", "AVERAGE", "ALIGNED"):
            seen = _orthogonal(above)
        if scale == "ALIGNED":
            stretch = _lengths(seen)
        if scale != "FIX_SHEAR":
            seen = seen / _lengths(seen)
    else:
        seen = np.broadcast_to(above_rest, above.shape)
        size = _lengths(above)
        # the size of the sides that gives the volume, whatever the shear
        true_size = size * np.cbrt(np.abs(_determinant(above)) / size.prod(axis=(-2, -1)))[..., None, None]
        if scale == "FULL":
            seen = seen * size
        elif scale == "FIX_SHEAR":
            seen = seen * true_size
        elif scale == "ALIGNED":
            stretch = true_size
    if scale == "AVERAGE":
        seen = seen * np.cbrt(np.abs(_determinant(above)))[..., None, None]
    return seen, stretch


def _apply(m: Array, v: Array) -> Array:
    """Matrices (..., 3, 3) times vectors (..., 3)."""
    return np.einsum("...ij,...j->...i", m, v)


def _lengths(m: Array) -> Array:
    """Lengths of the columns, (..., 1, 3)."""
    return np.sqrt(np.einsum("...ij,...ij->...j", m, m))[..., None, :]


def _orthogonal(m: Array) -> Array:
    """Columns of (..., 3, 3) without shear, volume kept: Y stays, X and Z share the correction equally."""
    x, y, z = m[..., 0], m[..., 1], m[..., 2]
    square = np.maximum(quat.dot(y, y), 1e-30)[..., None]
    x = x - y * quat.dot(x, y)[..., None] / square
    z = z - y * quat.dot(z, y)[..., None] / square
    long_x, long_z = np.sqrt(quat.dot(x, x))[..., None], np.sqrt(quat.dot(z, z))[..., None]
    x, z = quat.unit(x), quat.unit(z)
    cosine = quat.dot(x, z)[..., None]
    angle = np.arccos(np.clip(cosine, -1.0, 1.0))
    target = (angle + np.pi / 2) / 2
    turned_x = quat.unit(x - z * cosine) * np.sin(target) + z * np.cos(target)
    turned_z = quat.unit(z - turned_x * quat.dot(turned_x, z)[..., None])
    sheared = np.abs(cosine) > 1e-4  # Blender leaves less alone
    keep = np.where(sheared, np.sqrt(np.sin(angle)), 1.0)
    x, z = np.where(sheared, turned_x, x), np.where(sheared, turned_z, z)
    return np.stack([x * long_x * keep, y, z * long_z * keep], axis=-1)


def _determinant(m: Array) -> Array:
    return quat.dot(m[..., 0, :], quat.cross(m[..., 1, :], m[..., 2, :]))


def _inverse(m: Array) -> Array:
    """Inverses of (..., 3, 3) by cofactors; np.linalg.inv takes five to twenty times as long on many small ones."""
    (a, b, c), (d, e, f), (g, h, i) = np.moveaxis(m, (-2, -1), (0, 1)).copy()
    out = np.empty(m.shape)
    out[..., 0, 0], out[..., 0, 1], out[..., 0, 2] = e * i - f * h, c * h - b * i, b * f - c * e
    out[..., 1, 0], out[..., 1, 1], out[..., 1, 2] = f * g - d * i, a * i - c * g, c * d - a * f
    out[..., 2, 0], out[..., 2, 1], out[..., 2, 2] = d * h - e * g, b * g - a * h, a * e - b * d
    out /= (a * out[..., 0, 0] + b * out[..., 1, 0] + c * out[..., 2, 0])[..., None, None]
    return out


def decompose(matrix: Array) -> tuple[Array, Array, Array]:
    """Location (..., 3), rotation matrix (..., 3, 3) and scale (..., 3); a mirrored matrix has negative scale."""
    turn = matrix[..., :3, :3]
    size = _lengths(turn)
    size = np.where(_determinant(turn) < 0, -1.0, 1.0)[..., None, None] * size
    return matrix[..., :3, 3], turn / size, size[..., 0, :]


def channels(matrix: Array, mode: str) -> tuple[Array, Array, Array]:
    """Keys of matrices over time, (T, ..., 4, 4), without jumps between neighbouring frames.

    Returns:
        Location (T, ..., 3), rotation (T, ..., 4 or 3) as the property of that mode holds it, scale (T, ..., 3).
    """
    location, turn, scale = decompose(matrix)
    return location, rotation_values(turn, mode), scale


def rotation_values(turn: Array, mode: str) -> Array:
    """Rotation matrices over time (T, ..., 3, 3) as values of `rotation_quaternion`, `_axis_angle` or `_euler`."""
    if mode not in ROTATION_CHANNEL:
        return euler.continuous(turn, mode)
    q = quat.from_matrix(turn)
    q[0] *= np.where(q[0, ..., :1] < 0, -1.0, 1.0)
    q = quat.continuous(q)
    return q if mode == "QUATERNION" else euler.to_axis_angle(q)


def rotation_quaternion(values: Array, mode: str) -> Array:
    """(..., 4) from the values of a rotation property: the inverse of `rotation_values`."""
    if mode == "QUATERNION":
        return quat.unit(values)
    return euler.from_axis_angle(values) if mode == "AXIS_ANGLE" else euler.to_quat(values, mode)


def rotation_matrix(values: Array, mode: str) -> Array:
    """(..., 3, 3) from the values of a rotation property."""
    return quat.to_matrix(rotation_quaternion(values, mode))


def basis_from_channels(location: Array, rotation: Array, mode: str, scale: Array) -> Array:
    """`matrix_basis` (..., 4, 4) of a pose bone from its channels."""
    out = np.zeros((*np.shape(location)[:-1], 4, 4))
    out[..., :3, :3] = rotation_matrix(rotation, mode) * scale[..., None, :]
    out[..., :3, 3] = location
    out[..., 3, 3] = 1.0
    return out


def object_basis(
    location: Array,
    rotation: Array,
    mode: str,
    scale: Array,
    delta_location: Array,
    delta_rotation: Array,
    delta_scale: Array,
) -> Array:
    """`matrix_basis` (..., 4, 4) of an object, deltas included; its world matrix is parent * parent inverse * basis."""
    out = basis_from_channels(location + delta_location, rotation, mode, scale * delta_scale)
    out[..., :3, :3] = rotation_matrix(delta_rotation, mode) @ out[..., :3, :3]
    return out
