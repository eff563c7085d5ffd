"""Walk straight ahead, or on the spot as a cycle that loops; `walking` has the gait itself."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..motion import Motion
from ..skeleton import Array, Pose, Skeleton
from ..world import World
from .going import ORIGIN, GoingParams, go
from .physique import measure
from .travel import TravelParams
from .walking import PERSON, Walk, WalkStyle


@dataclass(frozen=True)
class WalkParams(GoingParams, WalkStyle):
    """How somebody walks, and how far."""


def walk(
    skeleton: Skeleton,
    params: WalkParams | None = None,
    fps: float = 24.0,
    place: Array = ORIGIN,
    start: Pose | None = None,
    world: World | None = None,
) -> Motion:
    """Walk from a stand to a stand, or one stride that loops.

    Args:
        skeleton: With two legs.
        params: Style and distance.
        fps: Samples a second [Hz].
        place: (3,) where it begins: x, y [m] and heading [rad].
        start: Pose at the first sample.
        world: Ground to tread on; None for a level floor.
    """
    params = params or WalkParams()
    if params.in_place:
        params = replace(params, wobble=0.0)  # who staggers is never twice in the same place
    going = TravelParams(gait="walk", walk=params)
    body = measure(skeleton)
    speed = params.speed * float(np.sqrt(body.leg / PERSON))
    return go(skeleton, going, params, Walk(body, params), speed, fps, place, start, world)
