"""Cameras of a play: they turn to those who ask to be seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...core.maths import quat, ramp
from ...core.skeleton import Array
from ..scene import parts

if TYPE_CHECKING:
    from ...core.acting.play import PlayRecord

LOOK_HEIGHT = 1.1
"""Height at which a camera looks at people [m]."""
TURN_HALF_LIFE = 0.18
"""Time in which a camera turns half of the way to what it is asked to show [s]."""


def camera_ways(
    context: bpy.types.Context, record: PlayRecord, frames: Array, rate: float, ways: Mapping[str, Any]
) -> dict[str, tuple[Array, None, Array]]:
    """How cameras turn to those who ask for it."""
    from ...core.acting.repertoire.library import canonical

    out = {}
    for name, aims in record.aims.items():
        ob = parts.camera_of(context, name)
        key = next((n for n in ways if canonical(n) == canonical(name)), None)
        if ob is None or key is None or not aims:
            continue
        times = (frames - frames[0]) / rate
        at = np.array([aim.time for aim in aims])
        which = np.clip(np.searchsorted(at, times, side="right") - 1, 0, len(aims) - 1)
        goals = np.array([(*aim.point, LOOK_HEIGHT) for aim in aims])[which]
        eye = np.broadcast_to(ways[key].points, (len(frames), 3))
        turns = _looking(goals - eye)
        here = np.array(ob.matrix_world.to_quaternion(), dtype=np.float64)
        turns = np.where((times < at[0])[:, None], here, turns)
        smooth = ramp.follow(quat.continuous(turns), rate, TURN_HALF_LIFE)
        out[ob.name] = (frames, None, quat.unit(smooth))
    return out


def _looking(directions: Array) -> Array:
    """Orientations (T, 4) of a camera that looks along directions (T, 3), upright."""
    back = -quat.unit(directions)
    right = quat.unit(quat.cross(np.broadcast_to((0.0, 0.0, 1.0), back.shape), back))
    up = quat.cross(back, right)
    return quat.from_matrix(np.stack([right, up, back], axis=-1))
