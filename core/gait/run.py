"""Run straight ahead, or on the spot as a cycle that loops; `running` has the gait itself."""

from __future__ import annotations

from dataclasses import dataclass

from ..motion import Motion
from ..skeleton import Array, Pose, Skeleton
from ..world import World
from .going import ORIGIN, GoingParams, go
from .physique import measure
from .running import Run, RunStyle
from .travel import TravelParams


@dataclass(frozen=True)
class RunParams(GoingParams, RunStyle):
    """How somebody runs, and how far."""


def run(
    skeleton: Skeleton,
    params: RunParams | None = None,
    fps: float = 24.0,
    place: Array = ORIGIN,
    start: Pose | None = None,
    world: World | None = None,
) -> Motion:
    """Run from a stand to a stand, or one stride that loops.

    Args:
        skeleton: With two legs.
        params: Style and distance.
        fps: Samples a second [Hz].
        place: (3,) where it begins: x, y [m] and heading [rad].
        start: Pose at the first sample.
        world: Ground to tread on; None for a level floor.
    """
    params = params or RunParams()
    going = TravelParams(gait="run", run=params)
    gait = Run(measure(skeleton), params)
    return go(skeleton, going, params, gait, gait.settled.speed, fps, place, start, world)
