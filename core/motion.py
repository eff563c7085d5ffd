"""Motion of one character over time, its events, and the paths that planners hand to generators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import InvalidMotion, InvalidRig
from .skeleton import Array, Pose, Skeleton, frozen


@dataclass(frozen=True)
class Event:
    """Something that happens at `time` [s from the first sample]: a heel strike, a cue. `data` is JSON-able."""

    time: float
    name: str
    data: Mapping[str, Any] = field(default_factory=dict)


def _checked(values: npt.ArrayLike, shape: tuple[int | None, ...], what: str) -> Array:
    try:
        return frozen(values, shape, what)
    except InvalidRig as error:
        raise InvalidMotion(str(error)) from None


@dataclass(frozen=True, eq=False)
class Motion:
    """A character's motion in world space; sample k is at time k / fps.

    Attributes:
        skeleton: Whose motion it is.
        fps: Samples a second [Hz].
        roots: (T, 3) place of joint 0, midway between the hip joints [m].
        rotations: (T, J, 4) parent-relative from the neutral stance; joint 0's is the pelvis's world orientation.
        base: (T, 3) place on the ground: x, y [m], heading [rad]; None until `kinematics.base` derives it.
        mask: (J,) joints this motion speaks for; None for all.
        curves: Named channels (T,): `shape/<key>`, `prop/<property>`, `bone/<joint>/<property>`,
            `contact/foot_L` (0..1), `info/<anything>` (never baked).
        events: In order of time.
        loop: The last sample is followed by the first; it is not repeated at the end.
    """

    skeleton: Skeleton
    fps: float
    roots: Array
    rotations: Array
    base: Array | None = None
    mask: npt.NDArray[np.bool_] | None = None
    curves: Mapping[str, Array] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    loop: bool = False

    def __post_init__(self) -> None:
        if not (np.isfinite(self.fps) and self.fps > 0):
            raise InvalidMotion(f"fps = {self.fps!r}: must be a positive number")
        n = np.shape(self.rotations)[0] if np.ndim(self.rotations) else 0
        if n == 0:
            raise InvalidMotion("a motion needs at least one sample")
        joints = len(self.skeleton)
        put = object.__setattr__
        put(self, "roots", _checked(self.roots, (n, 3), "roots"))
        put(self, "rotations", _checked(self.rotations, (n, joints, 4), "rotations"))
        norms = np.linalg.norm(self.rotations, axis=-1)
        if np.abs(norms - 1).max() > 1e-4:
            t, j = np.unravel_index(np.abs(norms - 1).argmax(), norms.shape)
            joint = self.skeleton.names[j]
            raise InvalidMotion(f"rotation of {joint} at sample {t} has length {norms[t, j]:.4g}, not 1")
        if self.base is not None:
            put(self, "base", _checked(self.base, (n, 3), "base"))
        if self.mask is not None:
            mask = np.array(self.mask, dtype=bool)
            if mask.shape != (joints,):
                raise InvalidMotion(f"mask has shape {mask.shape}, expected ({joints},)")
            mask.flags.writeable = False
            put(self, "mask", mask)
        put(
            self,
            "curves",
            MappingProxyType({str(k): _checked(v, (n,), f"curve {k}") for k, v in self.curves.items()}),
        )
        put(self, "events", tuple(sorted(self.events, key=lambda e: e.time)))

    def __len__(self) -> int:
        return len(self.rotations)

    @property
    def duration(self) -> float:
        """From the first sample to the last, or around the whole loop [s]."""
        return (len(self) - (0 if self.loop else 1)) / self.fps

    @property
    def times(self) -> Array:
        """(T,) time of every sample [s]."""
        return np.arange(len(self)) / self.fps

    def pose(self, sample: int) -> Pose:
        """The pose at one sample."""
        return Pose(self.rotations[sample], self.roots[sample])


@dataclass(frozen=True, eq=False)
class Path:
    """A planner's result: `points` (N, D) with named columns `axes`, at `times` (N,) [s] or untimed."""

    points: Array
    axes: tuple[str, ...]
    times: Array | None = None

    def __post_init__(self) -> None:
        axes = tuple(self.axes)
        put = object.__setattr__
        put(self, "axes", axes)
        put(self, "points", _checked(self.points, (None, len(axes)), "points"))
        if self.times is not None:
            put(self, "times", _checked(self.times, (len(self.points),), "times"))
            if np.any(np.diff(self.times) < 0):
                raise InvalidMotion("the times of a path must not decrease")
