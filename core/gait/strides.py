"""A few steady strides in the style of a preset: examples to learn from."""

from __future__ import annotations

from .. import presets
from ..filters.resample import slice as part_of
from ..motion import Motion
from ..skeleton import Skeleton
from .run import RunParams, run
from .walk import WalkParams, walk

FPS, DISTANCE = 120.0, {"walk": 12.0, "run": 20.0}
"""Samples a second, and how far they go in all [m]."""
FIRST, COUNT = 2, 4
"""Strides of the left foot that are left out at first, and those that are taken."""


def strides(skeleton: Skeleton, feature: str, preset: str) -> Motion:
    """Steady strides of a walk or a run, from one heel strike of the left foot to another.

    Args:
        skeleton: Who walks.
        feature: "walk" or "run".
        preset: Name of one that comes with Troupe.
    """
    records = {"walk": WalkParams, "run": RunParams}
    values = next(p.values for p in presets.shipped(feature, records[feature]) if p.name == preset)
    asked = {**values, "distance": DISTANCE[feature]}
    if feature == "walk":
        motion = walk(skeleton, WalkParams.from_dict(asked), fps=FPS)
    else:
        motion = run(skeleton, RunParams.from_dict(asked), fps=FPS)
    times = [e.time for e in motion.events if e.name == "heel_strike_L"]
    return part_of(motion, times[FIRST], times[FIRST + COUNT])
