"""Blending of rotations as rotations, for recorded clips whose angles mean little one by one.

Tables are blended angle by angle, because their style depends on it; two recorded poses far apart are not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ...maths import quat
from ...skeleton import Array
from .puppet import JOINTS, angles_of, turns

_TURN = 2.0 * np.pi


def blended(poses: Sequence[Array], weights: Sequence[Array], near: Array) -> Array:
    """Puppet angles (T, 20, 3) [deg] of the weighted mean rotation of every joint.

    Args:
        poses: Each (T, 20, 3) [deg].
        weights: Each (T, 20), not negative; their sum is positive.
        near: (T, 20, 3) [deg]; of the triples that give the same rotation, those nearest to it are returned.
    """
    turned = [turns(np.radians(pose)) for pose in poses]
    total = np.zeros_like(turned[0])
    for q, w in zip(turned, weights, strict=True):
        sign = np.where(quat.dot(q, total) < 0, -1.0, 1.0)
        total += (sign * w)[..., None] * q
    angles = angles_of(quat.unit(total))
    wanted = np.radians(near)
    # x, y, z and x + pi, y + pi, pi - z are the same rotation
    other = np.stack([angles[..., 0] + np.pi, angles[..., 1] + np.pi, np.pi - angles[..., 2]], axis=-1)
    here, there = (a + _TURN * np.round((wanted - a) / _TURN) for a in (angles, other))
    closer = ((there - wanted) ** 2).sum(axis=-1) < ((here - wanted) ** 2).sum(axis=-1)
    return np.degrees(np.where(closer[..., None], there, here))


def spherical_layer(
    behind: Array,
    mixed: Array,
    covers: Sequence[tuple[Array | None, npt.NDArray[np.int64], Array]],
    opacity: Array,
    rows: npt.NDArray[np.int64],
) -> None:
    """Replace angle-wise blended joints of a group by their mean rotations, in place.

    Args:
        behind: (T, channels) before the group.
        mixed: (T, channels) after it, blended angle by angle; changed for the joints in `rows`.
        covers: Weight (T, 1) or (T, channels), None for 1, channels (n,) and values (T, n) of every action.
        opacity: (T, channels) of the group.
        rows: (k,) joints that are to be blended as rotations.
    """
    size = 3 * len(JOINTS)
    shape = (len(behind), len(JOINTS), 3)
    poses, weights = [behind[:, :size].reshape(shape)], [1.0 - opacity[:, :size:3]]
    for weight, dofs, values in covers:
        pose, share = np.array(poses[0]).reshape(len(behind), size), np.zeros((len(behind), size))
        own = dofs < size
        pose[:, dofs[own]] = values[:, own]
        share[:, dofs[own]] = 1.0 if weight is None else weight if weight.shape[1] == 1 else weight[:, dofs[own]]
        poses.append(pose.reshape(shape))
        weights.append(share[:, ::3])
    result = blended(poses, weights, mixed[:, :size].reshape(shape))
    target = mixed[:, :size].reshape(shape)
    target[:, rows] = result[:, rows]
    mixed[:, :size] = target.reshape(len(behind), size)
