"""The two ends of a cycle brought together, so that it can go round: poses, speeds, and the way over the ground.

What differs between the ends is shared out over the whole round; what differs in speed, over a moment on either side of
the seam. The base becomes an even way, straight or on an arc, from which a loop tells how far one round leads.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParam
from ..kinematics import base as bases
from ..maths import quat
from ..motion import Motion
from ..skeleton import Array
from .resample import slice as part_of

Ints = npt.NDArray[np.int64]

WAYS = ("keep", "straight", "in_place")
"""What becomes of the way over the ground: as it is; straight ahead; none."""

_SEAM = 0.12
"""Time on either side of the seam in which speeds are matched [s]."""
_SLOPE = 0.04
"""Time before and after an end over which the speed there is measured [s]."""
_ARC = 1.5
"""A cycle that turns further ends too near to where it began to tell how far it went [rad]."""
_UP = np.array([0.0, 0.0, 1.0])


def ring(motion: Motion, first: int, last: int, way: str = "straight", speeds: bool = True) -> Motion:
    """The samples from `first` to `last` bent so that the last is the first again, carried along the way; no loop yet.

    Its base moves and turns evenly, so that a loop of all its samples but the last goes on exactly as it went before.

    Args:
        motion: Samples beyond the two help to tell how fast it is there.
        first, last: The ends.
        way: One of WAYS.
        speeds: Bring the speeds at both ends together too.
    """
    if way not in WAYS:
        raise InvalidParam("way", way, f"must be one of {', '.join(WAYS)}")
    motion = bases.based(motion)
    assert motion.base is not None
    count, reach = last - first, max(2, round(_SLOPE * motion.fps))
    before, after = min(reach, first), min(reach, len(motion) - 1 - last)
    # speeds at both ends are measured on the same side, so that they differ only where the motions do
    around = np.arange(first - before, last + after + 1)
    pace, seen = steps_of(motion.base[first : last + 1]).sum(axis=0), motion.base[around]
    if abs(pace[2]) < _ARC:
        # seen from an even way the cycle stays where it was recorded, however unevenly it went
        pace = _pace(motion.base[first], motion.base[last])
        seen = _along(motion.base[first], pace, (around - first) / count)
    places, hips = bases.relative(
        replace(motion, roots=motion.roots[around], rotations=motion.rotations[around], base=seen, curves={})
    )
    turns = motion.rotations[around].copy()
    turns[:, 0] = hips
    window = np.arange(-before, after + 1)
    places, turns = (_closed(v, before, count, window, motion.fps, speeds) for v in (places, turns))

    cut = part_of(motion, first / motion.fps, last / motion.fps)
    pace = pace * {"keep": (1.0, 1.0, 1.0), "straight": (1.0, 1.0, 0.0), "in_place": (0.0, 0.0, 0.0)}[way]
    share = np.arange(count + 1) / count
    taken = bases.loop_step(as_loop(replace(cut, base=_along(motion.base[first], pace, share))))
    # what a loop counts as no way, or as whole turns, is none
    pace = np.append(pace[:2] * bool(taken[:2].any()), taken[2])
    along = _along(motion.base[first], pace, share)
    roots, turns[:, 0] = bases.compose(along, places, turns[:, 0])
    end = (count - 0.5) / motion.fps
    return replace(
        cut,
        roots=roots,
        rotations=quat.continuous(turns),
        base=along,
        curves={name: _closed_curve(name, curve) for name, curve in cut.curves.items()},
        events=tuple(e for e in cut.events if e.time < end),
    )


def as_loop(whole: Motion) -> Motion:
    """The loop of all samples of a ring but the last, which is the first again."""
    return replace(
        whole,
        roots=whole.roots[:-1],
        rotations=whole.rotations[:-1],
        base=None if whole.base is None else whole.base[:-1],
        curves={name: curve[:-1] for name, curve in whole.curves.items()},
        loop=True,
    )


def steps_of(base: Array) -> Array:
    """(T - 1, 3) the steps of a base (T, 3) as the character sees them: aside, ahead (negative) and turn."""
    steps = np.diff(base, axis=0)
    # half of the turn within a step has been made on the way
    turned = (base[:-1, 2] + base[1:, 2]) / 2
    c, s = np.cos(turned), np.sin(turned)
    return np.column_stack([c * steps[:, 0] + s * steps[:, 1], c * steps[:, 1] - s * steps[:, 0], steps[:, 2]])


def _pace(here: Array, there: Array) -> Array:
    """(3,) way as the character sees it, and turn, by which an even pace leads from one base (3,) to another."""
    half = (there[2] - here[2]) / 2
    x, y = quat.rotate(quat.about(_UP, -here[2]), np.append(there[:2] - here[:2], 0.0))[:2]
    # an arc is longer than its chord, which points half of the turn aside
    longer = half / np.sin(half) if abs(half) > 1e-9 else 1.0
    c, s = longer * np.cos(half), longer * np.sin(half)
    return np.array([c * x + s * y, c * y - s * x, 2 * half])


def _along(here: Array, pace: Array, share: Array) -> Array:
    """Base (M, 3) that goes from `here` (3,) by shares (M,) of an even pace (3,)."""
    half = share * pace[2] / 2
    chord = share * np.sinc(half / np.pi)
    aside = here[2] + half
    c, s = chord * np.cos(aside), chord * np.sin(aside)
    return np.column_stack([c * pace[0] - s * pace[1], s * pace[0] + c * pace[1], 2 * half]) + here


def _closed(values: Array, before: int, count: int, window: Ints, fps: float, speeds: bool) -> Array:
    """Samples `before` to `before + count` of places (T, 3) or rotations (T, J, 4), the last made equal to the first.

    `window` holds the samples around either end that are known, by which the speed there is measured.
    """
    first, last = before, before + count
    turning = values.ndim > 2
    gap, change = _difference(values[first], values[last], turning), np.zeros_like(values[0, ..., :3])
    if speeds and len(window) > 1:
        slopes = [_slope(_difference(values[k], values[k + window], turning), window, 1) for k in (first, last)]
        change = slopes[1] - slopes[0]
    elif speeds and count > 2 * (reach := max(3, round(_SLOPE * fps))):
        # nothing lies beyond the ends: the speed at either is that of a parabola inside
        inside = np.arange(reach + 1)
        slopes = [
            _slope(_difference(values[k], values[k + s * inside], turning), s * inside, 2)
            for k, s in ((first, 1), (last, -1))
        ]
        change = slopes[1] - slopes[0]
    k = np.arange(count + 1)
    width = min(max(2, round(_SEAM * fps)), count // 2)
    near = np.sum([x * np.clip(1.0 - x / width, 0.0, 1.0) ** 2 for x in (k, count - k)], axis=0)
    column = (-1,) + (1,) * gap.ndim
    shared, bent = (0.5 - k / count).reshape(column) * gap, (near / 2).reshape(column) * change
    values = values[first : last + 1]
    if turning:
        return quat.multiply(quat.multiply(values, quat.exp(shared)), quat.exp(bent))
    out: Array = values + shared + bent
    return out


def _difference(a: Array, b: Array, turning: bool) -> Array:
    """From a to b as vectors."""
    return quat.log(quat.multiply(quat.conjugate(a), b)) if turning else b - a


def _slope(values: Array, at: Ints, degree: int) -> Array:
    """Slope at 0 of the polynomial that fits values (M, ...) at `at` (M,) best."""
    fit = np.linalg.pinv(np.vander(at.astype(np.float64), degree + 1, increasing=True))[1]
    return np.asarray(np.tensordot(fit, values, axes=1))


def _closed_curve(name: str, curve: Array) -> Array:
    """A curve (N + 1,) that ends as it began and leaves its range nowhere; contacts are what they are."""
    if name.startswith("contact/"):
        return curve
    shared = np.linspace(0.5, -0.5, len(curve)) * (curve[-1] - curve[0])
    out: Array = np.clip(curve + shared, curve.min(), curve.max())
    return out
