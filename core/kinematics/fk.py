"""Forward kinematics: joint rotations to world rotations and places, for any batch of poses at once.

G[0] = q[0], G[j] = G[parent] q[j]; p[0] = root, p[j] = p[parent] + G[parent] offsets[j].
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ..maths import quat
from ..skeleton import Array, Skeleton

Index = npt.NDArray[np.int64]

_BLOCK = 8192
"""Numbers a component in one step of the tree: few enough to stay in cache, many enough to pay for the call."""


def forward(skeleton: Skeleton, rotations: Array, roots: Array) -> tuple[Array, Array]:
    """World places and rotations of all joints.

    Args:
        skeleton: J joints.
        rotations: (..., J, 4) parent-relative; joint 0's is its world rotation.
        roots: (..., 3) place of joint 0 [m].

    Returns:
        positions (..., J, 3) [m] and globals (..., J, 4).
    """
    batch = np.broadcast_shapes(rotations.shape[:-2], roots.shape[:-1])
    joints = len(skeleton)
    turns = _components(rotations, batch, joints)
    places = np.empty((3, *turns.shape[1:]))
    places[:, 0] = _components(roots[..., None, :], batch, 1)[:, 0]
    offsets = skeleton.offsets.T[..., None]
    for these, above in _steps(skeleton.parents, turns.shape[2]):
        parents = turns[:, above]
        _place(places, these, above, parents, offsets[:, these])
        _turn(turns, these, parents)
    return _batched(places, batch), _batched(turns, batch)


def global_rotations(skeleton: Skeleton, rotations: Array) -> Array:
    """World rotations (..., J, 4) of parent-relative ones."""
    batch = rotations.shape[:-2]
    turns = _components(rotations, batch, len(skeleton))
    for these, above in _steps(skeleton.parents, turns.shape[2]):
        _turn(turns, these, turns[:, above])
    return _batched(turns, batch)


def local_rotations(skeleton: Skeleton, globals: Array) -> Array:
    """Parent-relative rotations (..., J, 4) of world ones: the inverse of `global_rotations`."""
    above = globals[..., skeleton.parents[1:], :]
    below = quat.multiply(quat.conjugate(above), globals[..., 1:, :])
    return np.concatenate([globals[..., :1, :], below], axis=-2)


def tip_positions(skeleton: Skeleton, positions: Array, globals: Array) -> Array:
    """World places (..., J, 3) of the far ends of all segments [m]."""
    return positions + quat.rotate(globals, skeleton.tips)


def _steps(parents: Index, frames: int) -> tuple[tuple[Index | slice, Index | slice], ...]:
    """Joints that can be done together (one depth of the tree, one block at most), and their parents."""
    return _grouped(tuple(parents.tolist()), max(1, _BLOCK // max(1, frames)))


@lru_cache(maxsize=64)
def _grouped(parents: tuple[int, ...], size: int) -> tuple[tuple[Index | slice, Index | slice], ...]:
    """`_steps` of at most `size` joints each, kept: a pose alone is done sooner than they are found."""
    depth = [0] * len(parents)
    for j, parent in enumerate(parents[1:], 1):
        depth[j] = depth[parent] + 1
    steps: list[tuple[Index | slice, Index | slice]] = []
    for level in range(1, max(depth) + 1):
        joints = [j for j, deep in enumerate(depth) if deep == level]
        for start in range(0, len(joints), size):
            these = joints[start : start + size]
            above = [parents[j] for j in these]
            if len(these) == 1:  # a slice is a view, an index a copy
                steps.append((slice(these[0], these[0] + 1), slice(above[0], above[0] + 1)))
            else:
                steps.append((np.array(these), np.array(above)))
    return tuple(steps)


# Inside this module components lead and frames come last, (4, J, N): arithmetic then runs over long contiguous rows.


def _components(values: Array, batch: tuple[int, ...], joints: int) -> Array:
    """(..., J, C) to a contiguous copy (C, J, N)."""
    size = values.shape[-1]
    values = np.broadcast_to(values, (*batch, joints, size)).reshape(-1, joints, size)
    return np.array(values.transpose(2, 1, 0), order="C")


def _batched(values: Array, batch: tuple[int, ...]) -> Array:
    """(C, J, N) to contiguous (..., J, C)."""
    size, joints, _ = values.shape
    return np.ascontiguousarray(values.transpose(2, 1, 0)).reshape(*batch, joints, size)


# Each component is stored as soon as it is known, so that temporaries stay in cache.


def _turn(turns: Array, these: Index | slice, parents: Array) -> None:
    """Turn (4, J, N) at `these` joints by their parents' world rotations (4, K, N), in place."""
    aw, ax, ay, az = parents
    bw, bx, by, bz = turns[:, these].copy()
    turns[0, these] = aw * bw - ax * bx - ay * by - az * bz
    turns[1, these] = aw * bx + ax * bw + ay * bz - az * by
    turns[2, these] = aw * by - ax * bz + ay * bw + az * bx
    turns[3, these] = aw * bz + ax * by - ay * bx + az * bw


def _place(places: Array, these: Index | slice, above: Index | slice, parents: Array, offsets: Array) -> None:
    """Place (3, J, N) `these` joints at their offsets (3, K, 1) from those above, turned by the parents, in place."""
    w, x, y, z = parents
    a, b, c = offsets
    tx, ty, tz = 2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)
    places[0, these] = places[0, above] + a + w * tx + (y * tz - z * ty)
    places[1, these] = places[1, above] + b + w * ty + (z * tx - x * tz)
    places[2, these] = places[2, above] + c + w * tz + (x * ty - y * tx)
