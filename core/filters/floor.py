"""Feet and toes kept out of the floor on which they are planted before and after."""

from __future__ import annotations

import numpy as np

from ..maths import quat, trig
from ..maths.ramp import smoothstep
from ..maths.window import covering
from ..skeleton import Array
from .contacts import Flags

LEFT, UP = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
TOES_UP_MAX = np.radians(55.0)
"""How far toes are bent up to keep them out of the floor."""


def floor_under(ankles: Array, turns: Array, planted: Flags, sole: Array) -> Array:
    """(T, 2) heights on which heel and ball are planted before and after each sample; -inf for one that never is."""
    samples = np.arange(len(ankles))
    heights = (ankles[:, None] + quat.rotate(turns[:, None], sole))[..., 2]
    out = np.full(heights.shape, -np.inf)
    for part in range(2):
        on = planted[:, part]
        if on.any():
            out[:, part] = np.interp(samples, samples[on], heights[on, part])
    return out


def out_of_floor(
    floor: Array, ankles: Array, turns: Array, planted: Flags, sole: Array, ramp: int
) -> tuple[Array, Array]:
    """Ankles and turns of feet that do not sink below the floor (T, 2): they tip on a planted point, or are lifted."""
    for fixed, free in ((0, 1), (1, 0)):
        pivot = ankles + quat.rotate(turns, sole[fixed])
        tip = _raised(quat.rotate(turns, sole[free] - sole[fixed]), floor[:, free] - pivot[:, 2])
        alone = (planted[:, fixed] & ~planted[:, free])[:, None]
        turns = np.where(alone, quat.multiply(tip, turns), turns)
        ankles = np.where(alone, pivot - quat.rotate(turns, sole[fixed]), ankles)
    heights = (ankles[:, None] + quat.rotate(turns[:, None], sole))[..., 2]
    stance = np.asarray(planted.any(axis=1))
    need = np.where(stance, 0.0, np.maximum(floor - heights, 0.0).max(axis=1))
    return ankles + _swept(need, stance, ramp)[:, None] * UP, turns


def _swept(need: Array, stance: Flags, ramp: int) -> Array:
    """(T,) by how much a foot is lifted that must be by `need` (T,) while it swings [m].

    The whole swing goes higher, as far as the stances about it leave time: a foot that only just comes out of the floor
    kicks the knee.
    """
    if not need.any():
        return need
    time = smoothstep(np.minimum(samples_from(stance) / ramp, 1.0))
    return np.maximum(need, covering(need, max(1, ramp // 4)) * time)


def samples_from(flags: Flags) -> Array:
    """(T,) how many samples each is from the nearest that is true; infinity where none is."""
    true = np.flatnonzero(flags)
    if not len(true):
        return np.full(len(flags), np.inf)
    samples = np.arange(len(flags))
    after = np.minimum(np.searchsorted(true, samples), len(true) - 1)
    before = np.maximum(after - 1, 0)
    out: Array = np.minimum(np.abs(true[after] - samples), np.abs(samples - true[before])).astype(np.float64)
    return out


def toes_up(v: Array, height: Array, hinge: Array) -> Array:
    """Rotations (T, 4) about the toes' hinge (T, 3) that bring their end (T, 3) up to a height where it is below.

    They bend no further than toes do: those of a foot that points straight down may stay below.
    """
    side = quat.cross(hinge, v)
    reach = np.maximum(np.hypot(v[:, 2], side[:, 2]), 1e-9)
    # height = reach cos(turn - top); a foot past the vertical still bends its toes the same way
    top = trig.arctan2(side[:, 2], v[:, 2])
    top = np.where(top < -np.pi / 2, top + 2 * np.pi, top)
    turn = np.clip(top - np.arccos(np.clip(height / reach, -1.0, 1.0)), 0.0, TOES_UP_MAX)
    return quat.about(hinge, np.where(v[:, 2] >= height, 0.0, turn))


def _raised(v: Array, height: Array) -> Array:
    """Smallest rotations (T, 4) that bring vectors (T, 3) up to a height where they end below it."""
    length = np.maximum(np.sqrt(quat.dot(v, v)), 1e-9)
    lack = np.arcsin(np.clip(height / length, -1.0, 1.0)) - np.arcsin(np.clip(v[:, 2] / length, -1.0, 1.0))
    return quat.about(quat.unit(quat.cross(v, UP)), np.maximum(lack, 0.0))
