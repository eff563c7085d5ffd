"""Shifting body parts: volumes that slide along a bone as a joint bends, so that cheap shapes keep their silhouette.

Perlin (1995): two of the three ellipsoids of a thigh slide down it as the hip bends backward.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...errors import InvalidParam
from ...skeleton import Array


@dataclass(frozen=True)
class SlidingVolume:
    """A volume that slides along its bone.

    Attributes:
        role: Whose flexion moves it, for instance "thigh_L".
        slide: How far it goes for each radian of bend [m/rad].
        backward: Whether the bend backward moves it (negative flexion), or that forward.
    """

    role: str
    slide: float
    backward: bool = True

    def offset(self, flexion: Array) -> Array:
        """Place along the bone (...) [m] at a flexion (...) [rad]: linear in the bend, none the other way."""
        bend = -np.asarray(flexion, dtype=np.float64) if self.backward else np.asarray(flexion, dtype=np.float64)
        out: Array = self.slide * np.maximum(bend, 0.0)
        return out


def volume_offsets(volumes: Mapping[str, SlidingVolume], flexions: Mapping[str, Array]) -> dict[str, Array]:
    """Offsets (T,) [m] of named volumes from the flexions (T,) [rad] of their joints by role."""
    missing = [v.role for v in volumes.values() if v.role not in flexions]
    if missing:
        raise InvalidParam("flexions", sorted(flexions), f"has no {', '.join(missing)}")
    return {name: volume.offset(flexions[volume.role]) for name, volume in volumes.items()}
