"""Walk and run anywhere: steps under any base track, feet planted exactly, gait changed by speed.

The one way in for everything that moves a character from place to place. A base track says where the body is meant to
be; `steps` puts footfalls under it, `carriage` carries the body over them with the curves of the gait in use, `feet`
rolls each foot over its footfall and swings it to the next, and the legs follow in closed form.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..kinematics import fk
from ..maths import quat
from ..motion import Motion, Path
from ..params import param
from ..skeleton import SIDES, Pose, Skeleton
from ..world import World
from .cycle import Gait
from .embody import embody
from .footfalls import FOREVER, Footfall, Wishes
from .physique import Physique, measure
from .route import RouteParams
from .running import Run, RunStyle
from .steps import Planner
from .styles import walk_style
from .terrain import Ground, Level, Terrain
from .track import Track
from .walking import PERSON, Walk, WalkStyle
from .wobble import staggered

HYSTERESIS = 1.06
"""How much faster than its limit a walk must be to become a run, and a run slower to become a walk."""
GAITS = (
    ("auto", "Walk when slow, run when fast"),
    ("walk", "Walk at every speed"),
    ("run", "Run at every speed"),
)
_UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class TravelParams(RouteParams):
    """Where a body goes, how fast and in which style.

    `path` to `distance` say where: what is given first counts. They and the limits of the way become a base track
    (`route.follow`); `travel` is given that track and takes gait and style from here.
    """

    path: str = param("", ref="curve", help="Curve to go along")
    target: str = param("", ref="object", help="Object to go to, when there is no path")
    distance: float = param(6.0, lo=0.0, hi=10000.0, unit="m", help="How far to go ahead when nothing is named")
    speed: float = param(1.4, lo=0.0, hi=12.0, unit="m/s", keyable=True, help="Speed; may be animated")
    style: str = param("", ref="preset", help="Preset of Walk that says how it walks; empty for Neutral")
    gait: str = param("auto", choices=GAITS, help="Which gait is used")
    waypoints: str = param("", ref="collection", basic=False, help="Empties to go through, in the order of their names")
    tread: bool = param(True, basic=False, help="Put the feet on the meshes of the scene; else on a level floor")
    ground: str = param("", ref="collection", basic=False, help="Meshes to tread on; empty for all that are shown")
    run_from: float = param(2.1, lo=0.5, hi=5.0, unit="m/s", basic=False, help="Speed of a person from which they run")
    banking: float = param(0.8, lo=0.0, hi=2.0, basic=False, help="Lean into curves; 1 is what balance asks")
    first_foot: str = param(
        "auto",
        choices=(
            ("auto", "The one that is behind, or on the side of the turn"),
            ("left", "The left one"),
            ("right", "The right one"),
        ),
        basic=False,
        help="Foot that takes the first step",
    )
    footprints: tuple[tuple[float, ...], ...] = param(
        (),
        columns=("step", "x", "y", "heading"),
        basic=False,
        help="Footfalls put elsewhere by hand: their number, place [m] and heading [rad]",
    )
    walk: WalkStyle | None = None
    """How it walks, instead of `style`."""
    run: RunStyle | None = None
    """How it runs; None for the neutral run."""


def travel(
    skeleton: Skeleton,
    base: Path,
    params: TravelParams | None = None,
    world: World | None = None,
    start: Pose | None = None,
    end: Pose | None = None,
) -> Motion:
    """Take a character along a base track on its own feet.

    Args:
        skeleton: With two legs.
        base: Axes x, y, heading at even times: where the body is meant to be, at any speed, with stops, turns on the
            spot, backward and sideways. The motion has its samples.
        params: Gait and style.
        world: Ground to tread on; None for a level floor at height 0, or under the feet of `start`.
        start: Pose at the first sample, its feet on the ground.
        end: Pose at the last sample.

    Returns:
        A motion with base, contact curves and events. Its body is carried within a hand's breadth of the base, leaning
        into curves. What it does up to a strike is settled once the track is known to the middle of the next stance.
    """
    params = params or TravelParams()
    body = measure(skeleton)
    level = Level(_floor_of(skeleton, body, start))
    terrain: Ground = level if world is None else Terrain(world, body)
    style = params.walk or walk_style(params.style)
    track = Track(staggered(base, style, body.leg))
    limit = params.run_from * float(np.sqrt(body.leg / PERSON))
    gaits: dict[str, Gait] = {"walk": Walk(body, style)}
    if params.gait == "run" or (params.gait == "auto" and track.fastest() > limit):
        gaits["run"] = Run(body, params.run or RunStyle())

    def choose(speed: float, now: str) -> str:
        if params.gait != "auto":
            return params.gait
        return "run" if speed > limit * (HYSTERESIS if now == "walk" else 1.0 / HYSTERESIS) else "walk"

    wishes = Wishes(
        choose=choose,
        prints={int(row[0]): row[1:] for row in params.footprints},
        first={"auto": None, "left": 0, "right": 1}[params.first_foot],
        final=None if end is None else _feet_of(skeleton, body, end, gaits["walk"]),
    )
    planner = Planner(track, body, gaits, terrain, wishes)
    gait = choose(float(planner.swift[0]), "walk")
    standing = None
    if start is not None:
        standing = _feet_of(skeleton, body, start, gaits["walk"])
    elif not planner.moving[0]:
        standing = planner.stand()
    plan = planner.plan(standing, gait)
    return embody(skeleton, body, track, plan, terrain, params.banking, base.points, start, end)


def _feet_of(skeleton: Skeleton, body: Physique, pose: Pose, gait: Gait) -> list[Footfall]:
    """The footfalls on which a pose stands, left first."""
    positions, globals = fk.forward(skeleton, pose.rotations, pose.root)
    still = gait.cycle(0.0, "L")
    flat = replace(still, stance=np.zeros_like(still.stance))
    falls = []
    for k, side in enumerate(SIDES):
        joint = skeleton.joint(f"foot_{side}")
        place = positions[joint] - quat.rotate(globals[joint], body.ankle[k] * _UP)
        falls.append(Footfall(k, place, globals[joint], place[:2], -FOREVER, FOREVER, flat, gait.name))
    return falls


def _floor_of(skeleton: Skeleton, body: Physique, pose: Pose | None) -> float:
    """Height of the floor under the lower foot of a pose [m]."""
    if pose is None:
        return 0.0
    positions, _ = fk.forward(skeleton, pose.rotations, pose.root)
    feet = [positions[skeleton.joint(f"foot_{side}"), 2] - body.ankle[k] for k, side in enumerate(SIDES)]
    return float(min(feet))
