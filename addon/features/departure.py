"""Where an actor that is about to go stands: its place, the pose to begin in, and the height of the floor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ...core.filters.contacts import sole_points
from ...core.filters.retarget import lifts
from ...core.gait.physique import measure
from ...core.kinematics import base
from ...core.kinematics.cast import Cast, read_joints
from ...core.maths import quat
from ...core.maths.geometry import Surface, height
from ...core.motion import Motion
from ...core.skeleton import Array, Pose
from .. import bake, scene
from ..bake.keys import in_place
from ..steps import Steps
from .motions import MotionOperator, Titled

LEVEL = 0.04
"""Heels and balls within this of the ground stand on it [leg lengths]."""
UPRIGHT = (0.75, 1.05)
"""Height of the hips of a body that stands, as a part of that with straight legs."""
AT_REST = np.radians(1.0)
"""A joint turned by less than this is at rest [rad]."""


@dataclass(frozen=True, eq=False)
class Departure:
    """Where a way on foot begins.

    Attributes:
        place: (3,) x, y [m] and heading [rad].
        pose: What the actor stands in; None where it does not stand, or waits in its rest pose: then it begins in the
            stand of its gait.
        floor: Height of the floor [m].
    """

    place: Array
    pose: Pose | None
    floor: float

    def raised(self, motion: Motion) -> Motion:
        """A motion made from here on a floor of height 0 unless its `pose` told the height, brought to the floor."""
        if self.pose is not None or self.floor == 0.0:
            return motion
        events = (
            replace(e, data={**e.data, "z": e.data["z"] + self.floor}) if "z" in e.data else e for e in motion.events
        )
        return replace(motion, roots=motion.roots + (0.0, 0.0, self.floor), events=tuple(events))


def departure(cast: Cast, start: bake.Start, ground: Surface | None = None) -> Departure:
    """Where the actor is at a start; InvalidRig when it has no legs to stand on.

    Args:
        cast: How it is cast.
        start: When, and its pose there.
        ground: What it may stand on; None for a level floor.
    """
    body, here, place = measure(cast.skeleton), start.here, base.derive(start.here)[0]
    soles = lifts(here)[0]
    floor = float(soles.min())
    level = np.full(4, floor)
    if ground is not None:
        level, _, _ = height(
            ground, sole_points(here)[0, ..., :2].reshape(-1, 2), below=soles.ravel() + LEVEL * body.leg
        )
    tall = (here.roots[0, 2] - floor) / body.standing
    stands = np.abs(soles.ravel() - level).max() < LEVEL * body.leg and UPRIGHT[0] < tall < UPRIGHT[1]
    if not stands or (not start.moving and _rests(cast, here)):
        return Departure(place, None, start.ground)
    return Departure(place, here.pose(0), floor)


def _rests(cast: Cast, here: Motion) -> bool:
    """Whether a pose is that of the rig at rest, wherever the actor is."""
    _, rest = read_joints(cast, (cast.stand @ cast.rest[cast.joints])[None])
    return bool(quat.distance(rest[0, 1:], here.rotations[0, 1:]).max() < AT_REST)


class StraightOperator(MotionOperator):
    """Base of the gaits that go straight ahead, or on the spot: a feature sets `params` and `generate`.

    `generate(skeleton, params, fps, place, start)` is the generator of core.
    """

    generate: Callable[..., Motion]

    @classmethod
    def motion_steps(
        cls, context: bpy.types.Context, actor: Any, cast: Cast, params: Any, start: bake.Start
    ) -> Steps[Titled]:
        begin = departure(cast, start)
        motion = cls.generate(cast.skeleton, params, scene.fps(context.scene), begin.place, begin.pose)
        title = f"{cls.feature()} cycle" if params.in_place else cls.feature()
        return replace(begin, pose=None if params.in_place else begin.pose).raised(motion), title
        yield

    @classmethod
    def staged(cls, actor: Any, params: Any, motion: Motion) -> Motion:
        # a rig that leaves the place out of its keys keeps it with the result
        if not params.in_place or actor.troupe.cast.root == "in_place":
            return motion
        motion = base.based(motion)
        assert motion.base is not None
        here = motion.base[0]
        return replace(in_place(motion, here), base=np.tile(here, (len(motion), 1)))
