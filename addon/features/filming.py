"""Cameras of a play: they turn to those who ask to be seen."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...core.maths import quat, ramp
from ...core.skeleton import Array
from ..scene import parts

if TYPE_CHECKING:
    from ...core.acting.mind.attention import Aim
    from ...core.motion import Path

LOOK_HEIGHT = 1.1
"""Height at which a camera looks at people [m]."""
TURN_HALF_LIFE = 0.18
"""Time in which a camera turns half of the way to what it is asked to show [s]."""


class Shot:
    """A camera that turns to who asks for it, frame after frame.

    Attributes:
        name: That of the camera object.
        turn: (4,) how it is turned.
    """

    def __init__(self, ob: Any, rate: float) -> None:
        self.name, self.rate = str(ob.name), rate
        self.turn: Array = np.array(ob.matrix_world.to_quaternion(), dtype=np.float64)
        self._goal, self._swing = self.turn, np.zeros(4)

    def follow(self, aims: Sequence[Aim], time: float, eye: Array) -> Array:
        """(4,) how it is turned a frame later, at a time [s], from where it is (3,) [m]."""
        k = bisect_right(aims, time + 1e-9, key=lambda aim: aim.time)
        if k:
            goal = _looking(np.array([*aims[k - 1].point, LOOK_HEIGHT])[None] - eye)[0]
            self._goal = goal if goal @ self._goal >= 0.0 else -goal
        self.turn, self._swing = ramp.spring(self.turn, self._swing, self._goal, TURN_HALF_LIFE, 1.0 / self.rate)
        return quat.unit(self.turn)


def shots_of(
    context: bpy.types.Context, cameras: Iterable[str], rate: float, ways: Mapping[str, Path]
) -> dict[str, tuple[Shot, Array]]:
    """Cameras of a play by name, each with where it is (T or 1, 3) [m]."""
    from ...core.acting.repertoire.library import canonical

    out = {}
    for name in cameras:
        ob = parts.camera_of(context, name)
        key = next((n for n in ways if canonical(n) == canonical(name)), None)
        if ob is not None and key is not None:
            out[name] = (Shot(ob, rate), ways[key].points)
    return out


def camera_ways(
    context: bpy.types.Context, aims: Mapping[str, Sequence[Aim]], frames: Array, rate: float, ways: Mapping[str, Path]
) -> dict[str, tuple[Array, None, Array]]:
    """How cameras turn to those who ask for it."""
    out: dict[str, tuple[Array, None, Array]] = {}
    for name, (shot, places) in shots_of(context, [n for n, found in aims.items() if found], rate, ways).items():
        eyes = np.broadcast_to(places, (len(frames), 3))
        times = (frames - frames[0]) / rate
        turns = [quat.unit(shot.turn)] + [shot.follow(aims[name], t, eyes[k]) for k, t in enumerate(times[1:], 1)]
        out[shot.name] = (frames, None, np.array(turns))
    return out


def _looking(directions: Array) -> Array:
    """Orientations (T, 4) of a camera that looks along directions (T, 3), upright."""
    back = -quat.unit(directions)
    right = quat.unit(quat.cross(np.broadcast_to((0.0, 0.0, 1.0), back.shape), back))
    up = quat.cross(back, right)
    return quat.from_matrix(np.stack([right, up, back], axis=-1))
