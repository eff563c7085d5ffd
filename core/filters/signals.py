"""A motion as uniformly sampled signals, one column a degree of freedom, and back.

Bruderlin and Williams, "Motion signal processing", 1995, treat every motion parameter as a signal. Here a column is an
angle or a length that is continuous in time:

- the base, x, y and heading: the slow way over the ground, apart from everything else, so that a walk that turns keeps
  its way when its posture is filtered;
- the place of the hips as seen from the base;
- for each joint a rotation vector log(r^-1 q) from the mean r of its rotation q over the clip, the hips' rotation being
  seen from the base. Turns of more than a half are followed around, so that no column jumps where its joint does not;
  only close to a whole turn from the mean, about an axis that changes, does it still swing fast.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..errors import InvalidMotion
from ..kinematics import base as bases
from ..maths import quat, trig
from ..motion import Motion
from ..skeleton import Array, Skeleton, frozen

Bools = npt.NDArray[np.bool_]

BASE, ROOT = -2, -1
"""Stand for a joint in the columns of the base and of the hips' place."""
FIRST = 6
"""Columns before those of joint 0: three of the base, three of the hips' place."""

_BASE_PARTS = (("x", "length"), ("y", "length"), ("heading", "angle"))
_WHOLE = 4.0 * np.pi
"""Rotation vectors that differ by this along their direction are the same quaternion, sign included [rad]."""
_TINY = 1e-12
_FAR = -0.5
"""Cosine of half the angle from which on a rotation may be about to pass a whole turn."""
_PART = 200
"""Samples done at once."""


@dataclass(frozen=True, slots=True)
class Column:
    """What one column of signals means.

    Attributes:
        name: For people: "shin_L x", "base heading", "root z".
        joint: Index of the joint, or `ROOT` or `BASE`.
        component: 0, 1, 2 for x, y, z; of the base, heading is 2.
        kind: "angle" [rad] or "length" [m].
    """

    name: str
    joint: int
    component: int
    kind: str


@dataclass(frozen=True, eq=False)
class Signals:
    """Values (T, C) with the meaning of their columns, C = 6 + 3 J.

    Attributes:
        values: (T, C) angles [rad] and lengths [m], continuous in time.
        columns: (C,) their meaning: base, place of the hips, then three of each joint.
        references: (J, 4) rotations from which those of the joints are measured.
        fps: Samples a second [Hz].
        loop: The last sample is followed by the first.
    """

    values: Array
    columns: tuple[Column, ...]
    references: Array
    fps: float
    loop: bool = False

    def __post_init__(self) -> None:
        values = np.asarray(self.values, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != len(self.columns) or not len(values):
            raise InvalidMotion(f"signals of shape {values.shape} do not fit {len(self.columns)} columns")
        if not np.isfinite(values).all():
            bad = int(np.flatnonzero(~np.isfinite(values).all(axis=0))[0])
            raise InvalidMotion(f"the signal {self.columns[bad].name} contains NaN or infinity")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "references", frozen(self.references, (None, 4), "references"))

    def __len__(self) -> int:
        return len(self.values)

    def where(self, mask: Bools, travel: bool = False) -> Bools:
        """(C,) columns of what `scope.mask` (J + 1,) chose; the base's only with `travel`, where the root is chosen."""
        joints, root = np.asarray(mask[:-1], dtype=bool), bool(mask[-1])
        return np.concatenate([np.full(3, root and travel), np.full(3, root), np.repeat(joints, 3)])

    def with_values(self, values: Array) -> Signals:
        """The same columns with other values; the number of samples may differ."""
        return replace(self, values=values)


def to_signals(motion: Motion) -> Signals:
    """The signals of a motion; its base is derived where it has none."""
    motion = bases.based(motion)
    assert motion.base is not None
    places, hips = bases.relative(motion)
    turns = motion.rotations.copy()
    turns[:, 0] = hips
    references = _mean(turns)
    for part in _parts(len(motion)):
        turns[part] = quat.multiply(quat.conjugate(references), turns[part])
    values = np.empty((len(motion), FIRST + 3 * len(motion.skeleton)))
    values[:, :3], values[:, 3:FIRST] = motion.base, places
    values[:, FIRST:] = rotation_vectors(turns).reshape(len(motion), -1)
    return Signals(values, columns(motion.skeleton), references, motion.fps, motion.loop)


def from_signals(motion: Motion, signals: Signals) -> Motion:
    """The motion whose signals these are: skeleton, mask, curves and events are those of `motion`.

    What `to_signals` gave comes back to within 1e-9. Curves are dropped and events kept when the number of samples is
    another one.
    """
    values, joints = signals.values, len(motion.skeleton)
    if len(signals.columns) != FIRST + 3 * joints:
        raise InvalidMotion(f"signals of {(len(signals.columns) - FIRST) // 3} joints for a skeleton with {joints}")
    base, rotations = values[:, :3], np.empty((len(values), joints, 4))
    for part in _parts(len(values)):
        rotations[part] = quat.multiply(signals.references, quat.exp(values[part, FIRST:].reshape(-1, joints, 3)))
    roots, rotations[:, 0] = bases.compose(base, values[:, 3:FIRST], rotations[:, 0])
    # the sign of the source, so that the numbers and not the rotations alone come back
    turned = quat.dot(rotations[0], motion.rotations[0]) < 0
    rotations[:, turned] *= -1.0
    curves = motion.curves if len(values) == len(motion) else {}
    return replace(motion, fps=signals.fps, roots=roots, rotations=rotations, base=base, curves=curves)


def columns(skeleton: Skeleton) -> tuple[Column, ...]:
    """The columns of a skeleton's signals."""
    out = [Column(f"base {name}", BASE, k, kind) for k, (name, kind) in enumerate(_BASE_PARTS)]
    out += [Column(f"root {axis}", ROOT, k, "length") for k, axis in enumerate("xyz")]
    for j, name in enumerate(skeleton.names):
        out += [Column(f"{name} {axis}", j, k, "angle") for k, axis in enumerate("xyz")]
    return tuple(out)


def rotation_vectors(turns: Array) -> Array:
    """Continuous rotation vectors (T, J, 3) of rotations (T, J, 4), of any length, smallest where most samples lie."""
    vectors = np.empty((*turns.shape[:-1], 3))
    signs = np.copysign(1.0, turns[0, :, 0])
    lowest, total = np.ones_like(signs), np.zeros_like(signs)
    for part in _parts(len(turns)):
        here, axes = turns[part], turns[part, :, 1:]
        flips = np.empty(here.shape[:-1])
        flips[0] = signs * np.copysign(1.0, quat.dot(here[0], turns[max(part.start - 1, 0)]))
        np.copysign(1.0, quat.dot(here[1:], here[:-1]), out=flips[1:])
        np.cumprod(flips, axis=0, out=flips)
        signs = flips[-1].copy()
        cosines, sines = here[..., 0] * flips, np.sqrt(quat.dot(axes, axes))
        # the sign of a quaternion tells turns beyond a half from those the other way round
        flips *= np.where(sines > _TINY, 2.0 * np.arctan2(sines, cosines) / np.maximum(sines, _TINY), 2.0)
        np.multiply(flips[..., None], axes, out=vectors[part])
        np.minimum(lowest, cosines.min(axis=0), out=lowest)
        total += cosines.sum(axis=0)
    for j in np.flatnonzero((lowest < _FAR) | (total < 0.0)).tolist():
        vectors[:, j] = _followed(turns[:, j])
    return vectors


def _followed(turns: Array) -> Array:
    """Vectors (T, 3) of rotations (T, 4), by whole turns nearest to the one before."""
    turns = quat.continuous(turns)
    turns *= np.copysign(1.0, turns[:, 0].sum())
    sizes = np.sqrt(quat.dot(turns[:, 1:], turns[:, 1:]))
    angles = 2.0 * trig.arctan2(sizes, turns[:, 0])
    out = np.empty((len(turns), 3))
    before = turns[np.argmax(sizes > _TINY), 1:]
    for t, (angle, axis, size) in enumerate(zip(angles, turns[:, 1:], sizes, strict=True)):
        # a whole turn has no axis of its own: it goes on along the one before
        along = axis / size if size > _TINY else quat.unit(before)
        whole = np.round((before @ along - angle) / _WHOLE) if t else 0.0
        out[t] = before = along * (angle + whole * _WHOLE)
    return out


def _mean(turns: Array) -> Array:
    """(J, 4) mean over time of rotations (T, J, 4) on the hemisphere of the first; `quat.mean`, time leading."""
    total = np.zeros(turns.shape[1:])
    for part in _parts(len(turns)):
        signs = np.copysign(1.0, np.einsum("tjc,jc->tj", turns[part], turns[0]))
        total += np.einsum("tj,tjc->jc", signs, turns[part])
    return quat.unit(total)


def _parts(samples: int) -> Iterator[slice]:
    """Pieces of a long take whose arrays stay in cache, so that it costs no more a sample than a short one."""
    return (slice(first, first + _PART) for first in range(0, samples, _PART))
