"""Room for hanging arms beside things, and how to get there from where there is none: a step back, or one ahead."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...gait.travel import TravelParams
from ...kinematics import anatomy, fk
from ...kinematics.body_shape import ARM_PARTS, capsules
from ...maths import quat
from ...maths.ramp import smootherstep
from ...motion import Motion, Path
from ...skeleton import SIDES, Array, Pose, Skeleton
from ...world import World
from ..spaces.collision import clearance
from ..spaces.solids import Shapes, solids
from ..walkers.tasks import on_foot

_BACK, _SLOW = np.arange(0.05, 0.61, 0.05), 0.4
"""How far somebody steps away to turn [m], and how fast [m/s]."""
_SWING = 0.05
"""Between somebody who turns and anything, for arms that swing [m]."""
_HEADINGS = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)


def hanging(skeleton: Skeleton, rotations: Array) -> Array:
    """Rotations (J, 4) of a body with its arms hanging."""
    arms = {"upper_arm": (0.02, skeleton.arm_clearance + 0.06, 0.0), "forearm": (0.25, 0.0, 0.0)}
    angles = {f"{part}_{side}": a for part, a in arms.items() for side in SIDES if skeleton.has(f"{part}_{side}")}
    return anatomy.with_angles(skeleton, rotations, angles)


def backed_off(
    skeleton: Skeleton,
    pose: Pose,
    world: World,
    fps: float,
    full: Sequence[str] = (),
    shapes: Shapes | None = None,
) -> Motion | None:
    """Step away from what is too near to turn beside it with hanging arms, back or else ahead.

    None where there is room, or none either way.

    Args:
        skeleton, pose: Who stands there.
        world: What is around, as it is.
        fps: Samples a second [Hz].
        full: Sides whose hands hold something, which look after themselves.
        shapes: What is known of meshes.
    """
    positions, globals = fk.forward(skeleton, pose.rotations, pose.root)
    heading = float(quat.heading(globals[0]))
    still = solids(world, 0.0, None, [b.name for b in world.bodies if b.kind == "ground"], shapes)
    shape = capsules(skeleton)
    shape = shape.chosen([p for p in shape.parts if not (p[:-2] in ARM_PARTS and p[-1] in full)])
    rays = [p - pose.root for p in shape.placed(positions, globals)]
    turned = [
        np.concatenate([quat.rotate(quat.about(np.array([0.0, 0.0, 1.0]), float(h)), ray) for h in _HEADINGS])
        for ray in rays
    ]
    back = np.array([-np.sin(heading), np.cos(heading), 0.0])
    radii = np.tile(shape.radii, len(_HEADINGS))

    def room(step: Array) -> bool:
        a, b = (pose.root + step + ray for ray in turned)
        return bool(clearance(still, a, b, radii)[0].min() > _SWING)

    if room(np.zeros(3)):
        return None
    steps = (float(far) * way for way in (back, -back) for far in _BACK)
    step = next((step for step in steps if room(step)), None)
    if step is None:
        return None
    far = float(np.linalg.norm(step))
    count = int(np.ceil(1.875 * far / _SLOW * fps))
    share = np.concatenate([smootherstep(np.arange(count + 1) / count), np.ones(int(np.ceil(0.5 * fps)))])
    points = np.array([*pose.root[:2], heading]) + share[:, None] * np.array([*step[:2], 0.0])
    base = Path(points, ("x", "y", "heading"), np.arange(len(points)) / fps)
    ground = World(tuple(b for b in world.bodies if b.kind == "ground"), world.fps)
    return on_foot(skeleton, base, fps, TravelParams(), ground if ground.bodies else None, pose)
