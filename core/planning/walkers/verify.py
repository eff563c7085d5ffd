"""Check what was planned: every frame and half frame of every actor, against the scene and against each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...kinematics import fk
from ...maths import geometry
from ...motion import Motion, Path
from ...skeleton import Array
from ...world import World
from ..ways.bodies import role

LEVELS: Array = np.arange(0.1, 1.85, 0.125)
"""Heights over the floor at which a body is checked [m]."""
SOLID = ("obstacle", "prop", "door")
LEG = 0.9
"""Length of the legs of the person whose measures these are [m]."""
TRUNK = 0.14
"""Radius of the trunk [m]."""
FLESH = {
    "hips": 0.12,
    "spine": 0.1,
    "head": 0.08,
    "forearm": 0.04,
    "hand": 0.035,
    "shin": 0.05,
    "foot": 0.04,
}
"""How thick a body is around the joint of a role [m]."""


@dataclass(frozen=True)
class Offence:
    """Where a body was in something, or in somebody.

    Attributes:
        time: [s]
        actor: Whose body.
        other: Name of the body or actor it was in.
        depth: By how much [m].
    """

    time: float
    actor: str
    other: str
    depth: float


@dataclass(frozen=True)
class Report:
    """What came of a plan, to be shown to the user.

    Attributes:
        seconds: Time it took to compute [s]; measured by whoever shows it.
        success: Whether everybody arrived.
        length: Way gone by all [m].
        searches, cells: How many ways were sought, and places looked at for them.
        checks: How many bodies were checked.
        offences: What the check found.
        acceleration: Highest of any joint [m/s^2].
    """

    seconds: float
    success: bool
    length: float
    searches: int
    cells: int
    checks: int
    offences: tuple[Offence, ...]
    acceleration: float


def verify(
    tracks: Mapping[str, Path], world: World, radius: float | Mapping[str, float], tolerance: float = 0.02
) -> tuple[Offence, ...]:
    """Everything that is wrong with base tracks.

    Args:
        tracks: By name of the actor: x, y, heading at even times, the same times for all.
        world: What they must not enter: obstacles, props and doors.
        radius: Of the bodies, one or by name [m].
        tolerance: Depth that is forgiven [m].

    Returns:
        All offences in order of time.
    """
    sizes = {name: radius if isinstance(radius, (int, float)) else radius[name] for name in tracks}
    surface = geometry.index(world)
    out: list[Offence] = []
    places: list[Array] = []
    times: Array = np.zeros(0)
    for name, path in tracks.items():
        times, place = halved(path)
        places.append(place)
        out += _in_things(name, place, times, world, surface, sizes[name], tolerance)
    names = list(tracks)
    for a in range(len(names)):
        for b in range(a + 1, len(names)):
            count = min(len(places[a]), len(places[b]))
            gap = np.hypot(*(places[a][:count] - places[b][:count]).T)
            depth = sizes[names[a]] + sizes[names[b]] - gap
            bad = np.flatnonzero(depth > tolerance)
            out += [Offence(float(times[k]), names[a], names[b], float(depth[k])) for k in bad]
    return tuple(sorted(out, key=lambda o: (o.time, o.actor, o.other)))


def verify_bodies(
    name: str, motion: Motion, world: World, others: Mapping[str, Motion], tolerance: float = 0.02
) -> tuple[Offence, ...]:
    """Everything that an animated body runs into, whatever animated it.

    Args:
        name: Whose body.
        motion: With base; every sample is checked.
        world: What it must not enter, sampled in step with the motion.
        others: Motions with bases of other actors, in step with it, or of one sample for those who stand.
        tolerance: Depth that is forgiven [m].
    """
    times = motion.times
    out: list[Offence] = []
    solid = tuple(b for b in world.bodies if b.kind in SOLID and role(b) == "block")
    if solid:
        points, flesh = _flesh(motion)
        count = len(flesh)
        surface = geometry.index(replace(world, bodies=solid))
        _, gap, body, _ = geometry.nearest(
            surface, points.reshape(-1, 3), np.repeat(times, count), float(flesh.max()), SOLID
        )
        depth = flesh - gap.reshape(-1, count)
        worst = np.argmax(depth, axis=1)
        rows = np.arange(len(times))
        for k in np.flatnonzero(depth[rows, worst] > tolerance):
            other = solid[body.reshape(-1, count)[k, worst[k]]].name
            out.append(Offence(float(times[k]), name, other, float(depth[k, worst[k]])))
    if motion.base is not None:
        wide = 2.0 * TRUNK * motion.skeleton.leg_length() / LEG
        for other, theirs in others.items():
            if theirs.base is not None:
                there = theirs.base[np.minimum(np.arange(len(times)), len(theirs) - 1), :2]
                near = wide - np.hypot(*(motion.base[:, :2] - there).T)
                bad = np.flatnonzero(near > tolerance)
                out += [Offence(float(times[k]), name, other, float(near[k])) for k in bad]
    return tuple(sorted(out, key=lambda o: (o.time, o.other)))


def _flesh(motion: Motion) -> tuple[Array, Array]:
    """Points (T, N, 3) in the body, and how thick it is around each (N,) [m]."""
    positions, _ = fk.forward(motion.skeleton, motion.rotations, motion.roots)
    skeleton = motion.skeleton
    size = skeleton.leg_length() / LEG
    joints, thick = [], []
    for part, radius in FLESH.items():
        own = [j for name in (part, f"{part}_L", f"{part}_R") for j in skeleton.roles.get(name, ())]
        joints += own
        thick += [radius * size] * len(own)
    return positions[:, joints], np.array(thick)


def halved(path: Path) -> tuple[Array, Array]:
    """Times (2T - 1,) [s] and places (2T - 1, 2) [m] of a track in every frame and half frame."""
    points = path.points[:, :2]
    times = np.arange(len(points), dtype=np.float64) if path.times is None else path.times
    whole = np.empty((2 * len(points) - 1, 2))
    when = np.empty(2 * len(points) - 1)
    whole[::2], when[::2] = points, times
    whole[1::2] = (points[1:] + points[:-1]) / 2
    when[1::2] = (times[1:] + times[:-1]) / 2
    return when, whole


def _in_things(
    name: str, place: Array, times: Array, world: World, surface: geometry.Surface, radius: float, tolerance: float
) -> list[Offence]:
    """Where a disc was in something solid."""
    if not any(b.kind in SOLID for b in world.bodies):
        return []
    ground, _, hit = geometry.height(surface, place, times)
    level = np.where(hit, ground, 0.0)
    points = np.concatenate([np.column_stack([place, level + z]) for z in LEVELS])
    _, gap, body, _ = geometry.nearest(surface, points, np.tile(times, len(LEVELS)), radius, SOLID)
    gap, body = gap.reshape(len(LEVELS), -1), body.reshape(len(LEVELS), -1)
    worst = np.argmin(gap, axis=0)
    rows = np.arange(len(place))
    depth = radius - gap[worst, rows]
    bad = np.flatnonzero(depth > tolerance)
    return [Offence(float(times[k]), name, world.bodies[body[worst[k], k]].name, float(depth[k])) for k in bad]


def jolt(motion: Motion) -> float:
    """Highest acceleration of any joint [m/s^2]."""
    if len(motion) < 3:
        return 0.0
    positions, _ = fk.forward(motion.skeleton, motion.rotations, motion.roots)
    push = np.diff(positions, 2, axis=0) * motion.fps**2
    return float(np.sqrt((push * push).sum(axis=-1)).max())
