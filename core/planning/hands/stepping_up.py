"""Where to stand so that something is in easy reach, and how to get there on foot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import islice, product

import numpy as np

from ...errors import NoPath
from ...gait.travel import TravelParams
from ...kinematics import fk
from ...maths import quat
from ...motion import Motion
from ...skeleton import SIDES, Array, Pose, Skeleton
from ...world import World
from ..spaces.penetration import penetrations
from ..spaces.solids import Shapes
from ..walkers.tasks import Scope, Stance, charted, on_foot, timed
from ..ways.map import MapParams
from .arriving import Places, arriving, to_one
from .crouching import can_crouch, crouched
from .sidling import SPOT, shifted, sidled
from .upright import GAP, Upright, floor_under

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
_AT_ONCE = 8
"""How many places are looked at together."""
TRIES = 6
"""How many ways to a place to work at are tried for arms that swing."""
_LOOKS = 0.05
"""From one place on the way to the next where room is looked for [m]."""
_SPEED = 1.0
"""How fast somebody steps closer [m/s]."""


def stances(
    skeleton: Skeleton,
    pose: Pose,
    world: World,
    place: Array,
    hand: str = "auto",
    moved: Mapping[str, Array] | None = None,
    shapes: Shapes | None = None,
    far: bool = False,
    facing: float | None = None,
) -> Iterator[Array]:
    """Bases (3,), x, y [m] and heading [rad], with a place (3,) in easy reach and with room to stand.

    The easiest come first, those with room for the trunk alone later than they would.

    `far` is for who stretches the arm, `facing` a heading [rad] to have there, as nearly as there is room; None for
    that towards the place from here.

    Raises:
        NoPath: It is too far away.
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
    body = Upright(skeleton, pose, world, (), moved, shapes)

    def trouble(away: float, turn: float) -> float:
        return float(_FARTHER * abs(away - farther[0]) / arm + _ROUND * abs(turn))

    def spots(tried: Sequence[tuple[float, float]]) -> Array:
        away, headings = np.array([t[0] for t in tried]), direct + np.array([t[1] for t in tried])
        sin, cos = np.sin(headings), np.cos(headings)
        forward, left = np.column_stack([sin, -cos]), np.column_stack([cos, sin])
        return np.column_stack([place[:2] - (away + ahead)[:, None] * forward - sideways * left, headings])

    waiting: list[tuple[float, int, Array]] = []
    tried = sorted(product(farther, _AROUND.tolist()), key=lambda c: trouble(*c))
    for first in range(0, len(tried), _AT_ONCE):
        some = tried[first : first + _AT_ONCE]
        bases = spots(some)
        for k, (candidate, base, free) in enumerate(zip(some, bases, body.room(bases, GAP), strict=True)):
            while waiting and waiting[0][0] < trouble(*candidate):
                yield heappop(waiting)[2]
            if free.all():
                yield np.array(base)
            elif free[body.trunk].all():
                heappush(waiting, (trouble(*candidate) + _FOR_ARMS, first + k, np.array(base)))
    yield from (heappop(waiting)[2] for _ in range(len(waiting)))


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
    full: Sequence[str] = (),
) -> Motion:
    """Walk to where a place (3,) is in easy reach, or with the arm stretched when `far`, and face it.

    What is near is gone to in small steps, anything else straight where nothing is in the way. Arguments are those of
    `stances`, and `full` the sides whose hands hold something.

    Raises:
        NoPath: There is no room to stand there, or no way there.
    """
    places = Places(stances(skeleton, pose, world, place, hand, moved, shapes, far, facing))
    goal = places.first
    aside = sidled(skeleton, pose, world, goal, fps, full, moved, shapes)
    if aside is not None:
        return aside
    heading, start = float(quat.heading(pose.rotations[0])), pose.root[:2]
    if np.linalg.norm(goal[:2] - start) < SPOT:
        return shifted(skeleton, pose, world, goal, fps)
    ground = World(tuple(b for b in world.bodies if b.kind == "ground"), world.fps)
    body = Upright(skeleton, pose, world, full, moved, shapes)

    def tracks() -> Iterator[Array]:
        straight = arriving(np.stack([start, goal[:2]]), goal, _SPEED, fps, heading).points
        count = 2 + int(np.linalg.norm(goal[:2] - start) / _LOOKS)
        if body.missing(straight[np.linspace(0, len(straight) - 1, count).astype(np.int64)], GAP) == 0:
            yield straight
        scope = Scope(skeleton, world, fps=fps, map=MapParams(floor=floor_under(skeleton, pose)))
        ways = charted([start, goal[:2]], Stance(body.base, pose), scope)
        yield from to_one(places, body, ways, body.base, _SPEED, fps)

    def walked(track: Array) -> Motion:
        return on_foot(skeleton, timed(track, fps), fps, TravelParams(), ground if ground.bodies else None, pose)

    return clearest(tracks(), walked, lambda motion: deepest(motion, world, full, shapes))


def clearest(tracks: Iterator[Array], going: Callable[[Array], Motion], depth: Callable[[Motion], float]) -> Motion:
    """Go along the first of a few base tracks (T, 3) on which an arm goes into nothing, or else the least deep [m].

    Raises:
        NoPath: There is none that can be gone.
    """
    best: tuple[float, Motion] | None = None
    failure: NoPath | None = None
    some = islice(tracks, TRIES)
    while True:
        try:
            if (track := next(some, None)) is None:
                break
            motion = going(track)
        except NoPath as error:
            failure = failure or error
            continue
        deep = depth(motion)
        if best is None or deep < best[0]:
            best = deep, motion
        if deep == 0.0:
            break
    if best is None:
        raise failure or NoPath("no way leads there")
    return best[1]


def deepest(motion: Motion, world: World, full: Sequence[str], shapes: Shapes | None) -> float:
    """How deep an arm goes into anything in a motion, but for those of `full` sides, whose hands hold something [m]."""
    hits = penetrations(motion, world, sides=[side for side in SIDES if side not in full], shapes=shapes)
    return max((hit.depth for hit in hits), default=0.0)
