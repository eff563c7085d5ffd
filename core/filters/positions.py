"""A motion by the places of its joints, and the rotations that point bones to other places.

What moves places instead of rotations changes the length of bones, as in a cartoon. Bones here keep theirs and turn
towards where the places are; how long they would have to be is told.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..kinematics import base as bases
from ..kinematics import fk
from ..maths import quat
from ..motion import Motion
from ..skeleton import Array

STRETCH = "info/stretch/"
"""Curves of a result that tell the length of a bone, 1 for its own, by the joint at its end."""

_SHORT = 1e-4
"""Bones shorter than this have no direction [leg lengths or m]."""
_UNMOVED = 1e-6
"""Weight of staying as it was for a joint whose bones do not fix its rotation."""


def to_positions(motion: Motion) -> Array:
    """(T, 6 J) places of the joints and then of the segments' ends as seen from the base [m]."""
    base = bases.derive(motion) if motion.base is None else motion.base
    joints, globals = fk.forward(motion.skeleton, motion.rotations, motion.roots)
    ends = fk.tip_positions(motion.skeleton, joints, globals)
    back = quat.about(np.array([0.0, 0.0, 1.0]), -base[:, 2])
    ground = base * np.array([1.0, 1.0, 0.0])
    seen = quat.rotate(back[:, None], np.concatenate([joints, ends], axis=1) - ground[:, None])
    return seen.reshape(len(motion), -1)


def from_positions(motion: Motion, before: Array, after: Array) -> Motion:
    """`motion` with its bones turned from places `before` to places `after`, both as `to_positions` gives them.

    Every joint turns by the least rotation that takes its bones, one or several, to their new directions; a joint
    without bones keeps its rotation to the one above. The result has a curve `info/stretch/<joint>` for each bone.
    """
    skeleton, joints = motion.skeleton, len(motion.skeleton)
    base = bases.derive(motion) if motion.base is None else motion.base
    old, new = (x.reshape(len(motion), 2, joints, 3) for x in (before, after))
    turn = quat.about(np.array([0.0, 0.0, 1.0]), base[:, 2])
    globals = quat.multiply(quat.conjugate(turn)[:, None], fk.global_rotations(skeleton, motion.rotations))
    children: dict[int, list[int]] = {}
    for j, parent in enumerate(skeleton.parents.tolist()):
        children.setdefault(parent, []).append(j)
    curves = dict(motion.curves)
    changes = np.empty((len(motion), joints, 4))
    for j, parent in enumerate(skeleton.parents.tolist()):
        heads = [(0, c) for c in children.get(j, ()) if np.linalg.norm(skeleton.offsets[c]) > _SHORT]
        points = heads or ([(1, j)] if np.linalg.norm(skeleton.tips[j]) > _SHORT else [])
        if not points:
            changes[:, j] = changes[:, parent] if parent >= 0 else quat.IDENTITY
            continue
        which = tuple(np.array(points).T)
        was, now = (x[:, which[0], which[1]] - x[:, 0, j, None] for x in (old, new))
        changes[:, j] = quat.between(was[:, 0], now[:, 0]) if len(points) == 1 else _turned(was, now)
        lengths = np.sqrt(quat.dot(now, now) / quat.dot(was, was))
        for k, (_, c) in enumerate(points):
            curves[STRETCH + skeleton.names[c]] = lengths[:, k]
    turned = fk.local_rotations(skeleton, quat.multiply(changes, globals))
    roots, turned[:, 0] = bases.compose(base, new[:, 0, 0], turned[:, 0])
    turned *= np.copysign(1.0, quat.dot(turned[0], motion.rotations[0]))[:, None]
    return replace(motion, roots=roots, rotations=quat.continuous(turned), base=base, curves=curves)


def _turned(was: Array, now: Array) -> Array:
    """(T, 4) the rotation that best takes vectors `was` (T, N, 3) to `now` (T, N, 3) (Kabsch, 1976)."""
    spread = np.einsum("tni,tnj->tij", quat.unit(now), quat.unit(was)) + _UNMOVED * np.eye(3)
    u, _, v = np.linalg.svd(spread)
    u[..., 2] *= np.copysign(1.0, np.linalg.det(u @ v))[:, None]
    return quat.from_matrix(u @ v)
