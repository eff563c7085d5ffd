"""Where to stand so that something is in easy reach, and how to get there on foot."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np

from ...errors import NoPath
from ...gait.route import RouteParams, follow
from ...gait.travel import TravelParams
from ...kinematics import fk
from ...kinematics.body_shape import ARM_PARTS, capsules
from ...maths import quat
from ...maths.ramp import smootherstep, wrap
from ...motion import Motion, Path
from ...skeleton import SIDES, Array, Pose, Skeleton
from ...world import World
from ..spaces.collision import clearance
from ..spaces.solids import Shapes, solids
from ..walkers.tasks import on_foot
from .crouching import can_crouch, crouched
from .stepping_back import hanging

EASY, STRETCHED = 0.65, 1.0
"""Distance of shoulder and thing at which it is handled easily, and with the arm stretched, of the arm's length."""
NEAREST, FARTHEST, STEP = 0.45, 1.3, 0.07
"""Nearest and farthest level distance of the shoulder, and between two that are tried, of the length of the arm."""
LOW, CROUCHING = 1.25, 0.85
"""How far below the shoulder something is that is crouched for, and its distance from the shoulder then; lengths of the
arm."""
DEEPEST = 1.2
"""How far somebody crouches at most; see `crouching`."""
_FARTHER, _ROUND = 2.0, 0.6
"""What a length of the arm more from the thing counts, and a radian more around it."""
_FOR_ARMS = 0.5
"""How much more of that is worth it for room for hanging arms."""
_AROUND = np.radians([0.0, 25.0, -25.0, 50.0, -50.0, 80.0, -80.0, 120.0, -120.0, 180.0])
_TOO_FAR = 100.0
"""Distance from which nobody goes without having been told to walk [m]."""
_GAP = 0.02
"""Between the body where it stands and anything [m]."""
_SPEED, _TURNING = 1.0, 1.7


def stance(
    skeleton: Skeleton,
    pose: Pose,
    world: World,
    place: Array,
    hand: str = "auto",
    moved: Mapping[str, Array] | None = None,
    shapes: Shapes | None = None,
    far: bool = False,
    facing: float | None = None,
) -> Array:
    """(3,) x, y [m] and heading [rad] from which a place (3,) is in easy reach and where there is room to stand.

    `far` is for who stretches the arm, `facing` a heading [rad] to have there, as nearly as there is room; None for
    that towards the place from here.

    Raises:
        NoPath: There is no such place.
    """
    positions, globals = fk.forward(skeleton, pose.rotations, pose.root)
    shoulders = positions[[skeleton.joint(f"upper_arm_{side}") for side in SIDES]]
    arm = sum(float(np.linalg.norm(skeleton.offsets[skeleton.joint(f"{r}_L")])) for r in ("forearm", "hand"))
    rise = float(place[2] - shoulders[:, 2].mean())
    share, ahead_of = STRETCHED if far else EASY, 0.0
    if -rise > LOW * arm and can_crouch(skeleton, pose):
        bent, _ = fk.forward(skeleton, *_lowest(skeleton, pose))
        low = bent[[skeleton.joint(f"upper_arm_{side}") for side in SIDES]].mean(axis=0)
        bent_to = float(quat.heading(globals[0]))
        ahead_of = float((low - shoulders.mean(axis=0))[:2] @ np.array([np.sin(bent_to), -np.cos(bent_to)]))
        rise, share = float(place[2] - low[2]), CROUCHING
    best = np.sqrt(max((share * arm) ** 2 - rise**2, (NEAREST * arm) ** 2)) + ahead_of
    steps = np.arange(NEAREST, FARTHEST + 0.5 * STEP, STEP) * arm
    farther = sorted([best, *steps], key=lambda d: abs(d - best))
    here, now = pose.root[:2], float(quat.heading(globals[0]))
    away = float(np.linalg.norm(place[:2] - here))
    if away > _TOO_FAR:
        raise NoPath(f"it is {away:.0f} m away: let somebody who is to take it walk there first")
    back = quat.rotate(quat.about(np.array([0.0, 0.0, 1.0]), -now), shoulders - pose.root)
    sideways = float(back[0 if hand == "L" else 1, 0]) if hand != "auto" else 0.0
    ahead = -float(back[:, 1].mean())
    toward = place[:2] - here
    direct = float(np.arctan2(toward[0], -toward[1])) if facing is None else facing
    still = solids(world, 0.0, None, [b.name for b in world.bodies if b.kind == "ground"], shapes, dict(moved or {}))
    shape = capsules(skeleton)
    starts, ends = shape.placed(*fk.forward(skeleton, hanging(skeleton, pose.rotations), pose.root))
    trunk = np.array([part[:-2] not in ARM_PARTS for part in shape.parts])

    def trouble(away: float, turn: float) -> float:
        return float(_FARTHER * abs(away - farther[0]) / arm + _ROUND * abs(turn))

    close: tuple[Array, float] | None = None
    for away, turn in sorted(product(farther, _AROUND), key=lambda c: trouble(*c)):
        if close is not None and trouble(away, turn) > close[1] + _FOR_ARMS:
            break
        heading = direct + float(turn)
        forward, left = np.array([np.sin(heading), -np.cos(heading)]), np.array([np.cos(heading), np.sin(heading)])
        spot = place[:2] - (away + ahead) * forward - sideways * left
        moved_by = quat.about(np.array([0.0, 0.0, 1.0]), heading - now)
        shift = np.array([*spot, pose.root[2]])
        a, b = (shift + quat.rotate(moved_by, p - pose.root) for p in (starts, ends))
        gap, _ = clearance(still, a, b, shape.radii)
        if gap.min() > _GAP:
            return np.array([*spot, heading])
        if close is None and gap[trunk].min() > _GAP:
            close = np.array([*spot, heading]), trouble(away, turn)
    if close is not None:
        return close[0]
    raise NoPath("there is no room to stand within reach of it")


def _lowest(skeleton: Skeleton, pose: Pose) -> tuple[Array, Array]:
    """Rotations (J, 4) and root (3,) [m] of somebody who crouches as low as it goes."""
    roots, rotations = crouched(skeleton, pose, np.array([0.0, DEEPEST]))
    return rotations[-1], roots[-1]


def stepped(
    skeleton: Skeleton,
    pose: Pose,
    world: World,
    place: Array,
    fps: float,
    hand: str = "auto",
    moved: Mapping[str, Array] | None = None,
    shapes: Shapes | None = None,
    far: bool = False,
    facing: float | None = None,
) -> Motion:
    """Walk to where a place (3,) is in easy reach, or with the arm stretched when `far`, straight, and face it.

    Arguments are those of `stance`.

    Raises:
        NoPath: There is no room to stand there.
    """
    goal = stance(skeleton, pose, world, place, hand, moved, shapes, far, facing)
    _, globals = fk.forward(skeleton, pose.rotations, pose.root)
    heading = float(quat.heading(globals[0]))
    start = pose.root[:2]
    track = np.array([[*start, heading]])
    if np.linalg.norm(goal[:2] - start) > 0.02:
        route = follow(np.stack([start, goal[:2]]), _SPEED, fps, RouteParams(pause=0.0), heading)
        track = route.points
    left = float(wrap(goal[2] - track[-1, 2]))
    count = max(2, int(np.ceil(1.875 * abs(left) / _TURNING * fps)))
    turn = track[-1:] + smootherstep(np.arange(1, count + 1) / count)[:, None] * np.array([0.0, 0.0, left])
    stand = np.repeat(turn[-1:], int(np.ceil(1.2 * fps)), axis=0)
    points = np.concatenate([track, turn, stand])
    base = Path(points, ("x", "y", "heading"), np.arange(len(points)) / fps)
    ground = World(tuple(b for b in world.bodies if b.kind == "ground"), world.fps)
    return on_foot(skeleton, base, fps, TravelParams(), ground if ground.bodies else None, pose)
