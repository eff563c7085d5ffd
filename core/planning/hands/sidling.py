"""Small steps to a place near by, ahead, aside or back, with the body facing about where it faced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...gait.travel import TravelParams
from ...maths import quat
from ...maths.ramp import smootherstep, wrap
from ...motion import Motion
from ...skeleton import Array, Pose, Skeleton
from ...world import World
from ..spaces.solids import Shapes
from ..walkers.tasks import TURNING, on_foot, timed
from .upright import GAP, Upright

NEAR, TURN = 0.8, np.radians(70.0)
"""How far [m] and how far round [rad] somebody goes in small steps, at most; beyond that it walks there."""
SPOT = 0.35
"""What is nearer than this is on the spot: somebody turns on the way there however far round it is [m]."""
AHEAD, ASIDE, BACK = 0.8, 0.35, 0.5
"""How fast small steps go at their fastest, ahead, aside and back [m/s]."""
_SHORTEST = 0.7
"""How long it takes at least to shift both feet [s]."""
_HERE = 0.03, np.radians(3.0)
"""How near to where it is to be somebody stays [m; rad]."""
_LAG = 0.75, 0.3, 1.2
"""When somebody who turns away from where it goes is there and when it begins to turn, of how long it takes, and how
much longer that is."""
_OUT = 0.0, 0.06, 0.12, 0.18
"""How far to the back of a straight line it steps for arms that swing, the first that gives them room [m]."""
_SWAYS = 0.3
"""How far to all sides arms go for each metre a second, with the body that sways from step to step [s]."""
_LEAVES = 0.4
"""How long it takes to get there, of all the time."""
_SAMPLES = 13
"""Places on the way where room is looked for."""


def sidled(
    skeleton: Skeleton,
    pose: Pose,
    world: World,
    goal: Array,
    fps: float,
    full: Sequence[str] = (),
    moved: Mapping[str, Array] | None = None,
    shapes: Shapes | None = None,
) -> Motion | None:
    """Go to a base (3,), x, y [m] and heading [rad], in small steps without turning away.

    None where that is too far, too much of a turn, or something is in the way; further arguments are those of
    `Upright`.
    """
    body = Upright(skeleton, pose, world, full, moved, shapes)
    turn = float(wrap(goal[2] - body.base[2]))
    far = float(np.hypot(*(goal[:2] - body.base[:2])))
    if far > NEAR or (abs(turn) > TURN and far > SPOT):
        return None
    tried: list[tuple[int, float]] = []
    for out in _OUT:
        points = small_steps(body.base, goal, fps, out)
        at = np.linspace(0, len(points) - 1, _SAMPLES).astype(np.int64)
        speed = np.hypot(*np.gradient(points[:, :2], axis=0).T)[at] * fps
        if body.missing(points[at], GAP) == 0:
            tried.append((body.missing(points[at], GAP, _SWAYS * speed), out))
            if tried[-1][0] == 0:
                break
    return shifted(skeleton, pose, world, goal, fps, min(tried)[1]) if tried else None


def shifted(skeleton: Skeleton, pose: Pose, world: World, goal: Array, fps: float, out: float = 0.0) -> Motion:
    """Small steps to a base (3,), x, y [m] and heading [rad], turning all the way, the short way round.

    They go straight, or as far `out` to the back as it says [m].
    """
    base = np.array([*pose.root[:2], float(quat.heading(pose.rotations[0]))])
    if _is_here(base, goal):
        roots, rotations = np.tile(pose.root, (2, 1)), np.tile(pose.rotations, (2, 1, 1))
        return Motion(skeleton, fps, roots, rotations, np.tile(base, (2, 1)))
    points = small_steps(base, goal, fps, out)
    ground = World(tuple(b for b in world.bodies if b.kind == "ground"), world.fps)
    return on_foot(skeleton, timed(points, fps), fps, TravelParams(), ground if ground.bodies else None, pose)


def small_steps(base: Array, goal: Array, fps: float, out: float = 0.0) -> Array:
    """(T, 3) base track from one base (3,) to another in small steps, the short way round; see `shifted`."""
    way = np.array([*(goal[:2] - base[:2]), wrap(goal[2] - base[2])])
    far, middle = float(np.hypot(way[0], way[1])), base[2] + 0.5 * way[2]
    forward = 0.0 if far < 1e-9 else float(way[:2] @ [np.sin(middle), -np.cos(middle)]) / far
    pace = np.hypot(forward * (AHEAD if forward > 0.0 else BACK), ASIDE * np.sqrt(max(1.0 - forward**2, 0.0)))
    lasts = max(1.875 * float(np.hypot(far / pace, way[2] / TURNING)), _SHORTEST)
    left = float(way[:2] @ [np.cos(middle), np.sin(middle)])
    # who turns away from where it goes would put one foot before the other: it goes first
    first, then, longer = _LAG if left * way[2] < 0.0 else (1.0, 0.0, 1.0)
    count = int(np.ceil(lasts * longer * fps))
    share = np.arange(count + 1) / count
    places, headings = smootherstep(share / first), smootherstep((share - then) / (1.0 - then))
    back = out * smootherstep(share / _LEAVES) * smootherstep((1.0 - share) / _LEAVES)
    track = base + np.column_stack([places, places, headings]) * way
    track[:, :2] += back[:, None] * np.array([-np.sin(middle), np.cos(middle)])
    return np.asarray(track)


def _is_here(base: Array, goal: Array) -> bool:
    off = goal - base
    return bool(np.hypot(off[0], off[1]) < _HERE[0] and abs(wrap(off[2])) < _HERE[1])
