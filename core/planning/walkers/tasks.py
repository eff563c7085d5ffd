"""Compose tasks from smaller ones and carry them out one after another, each from where the last one ended.

After Kuffner, "Autonomous Agents for Real-Time Animation" (1999), sections 2.2 and 2.4: a composite task expands into a
chain of atomic ones; a clip from a library is one of them, chosen by what it is for and how it looks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Protocol

import numpy as np

from ...errors import InvalidMotion, InvalidParam, NoGrasp, NoIK, NoPath, NotVisible, Timeout
from ...filters.join import join
from ...gait.route import follow
from ...gait.travel import TravelParams, travel
from ...kinematics import base as bases
from ...maths import quat
from ...maths.ramp import smootherstep, wrap
from ...motion import Motion, Path
from ...skeleton import SIDES, Array, Pose, Skeleton
from ...world import World
from ..ways.map import MapParams, project
from ..ways.walkable import Walkable
from .actors import go
from .courses import trimmed
from .flowing import set_off

FAILURES = (NoPath, NoIK, NoGrasp, NotVisible, Timeout)
"""How a task may fail."""


TURNING = 2.3
"""How fast somebody turns on the spot at its fastest [rad/s]."""
STYLE = TravelParams(pause=0.0, turn_rate=TURNING)
MAP = MapParams()
SETTLING = 1.2
"""Time in which both feet come down after the body has stopped, at most [s]."""
AT_REST = 0.1
"""How fast a joint may turn when both feet are down [rad/s]."""


@dataclass(frozen=True, eq=False)
class Scope:
    """What tasks are carried out with: the body, the world, clips, and samples a second [Hz]."""

    skeleton: Skeleton
    world: World
    clips: tuple[Clip, ...] = ()
    fps: float = 24.0
    style: TravelParams = STYLE
    map: MapParams = MAP


@dataclass(frozen=True, eq=False)
class Stance:
    """State between two tasks: base (3,), pose and time [s]."""

    base: Array
    pose: Pose | None
    time: float = 0.0


class Atom(Protocol):
    """A task that is not made of others."""

    @property
    def name(self) -> str:
        """For the transcript."""
        ...

    def motion(self, stance: Stance, scope: Scope) -> Motion:
        """What it looks like from a state; raises one of FAILURES."""
        ...


@dataclass(frozen=True)
class Composite:
    """Tasks to be done in order."""

    name: str
    parts: tuple[Atom | Composite, ...]


@dataclass(frozen=True)
class MoveTo:
    """Walk to a place, through others on the way if any are given."""

    place: tuple[float, float]
    stop: float = 0.0
    speed: float = 1.4
    name: str = "move to"
    via: tuple[tuple[float, float], ...] = ()

    def motion(self, stance: Stance, scope: Scope) -> Motion:
        """The walk; raises NoPath."""
        track = self.track(stance, scope)
        return still(scope, stance, 0.5) if track is None else gone(track, stance, scope)

    def track(self, stance: Stance, scope: Scope) -> Path | None:
        """Its base track, None where one is there already; raises NoPath."""
        stops: list[Array | tuple[float, float]] = [stance.base[:2], *self.via, self.place]
        ways = charted(stops, stance, scope)
        legs = [ways.route(np.asarray(a), np.asarray(b)).points for a, b in pairwise(stops)]
        way = np.concatenate([leg[0 if k == 0 else 1 :] for k, leg in enumerate(legs)])
        way = trimmed(way, go(self.place, self.name, stop=self.stop))
        if len(way) < 2 or float(np.hypot(*np.diff(way, axis=0).T).sum()) < 0.05:
            return None
        track = follow(way, self.speed, scope.fps, scope.style, float(stance.base[2]))
        return timed(set_off(track.points), scope.fps)


@dataclass(frozen=True)
class TurnTo:
    """Turn on the spot."""

    heading: float
    name: str = "turn to"

    def motion(self, stance: Stance, scope: Scope) -> Motion:
        """The turn, the short way round."""
        return gone(self.track(stance, scope), stance, replace(scope, world=World(())))

    def track(self, stance: Stance, scope: Scope) -> Path:
        """Its base track."""
        turn = float(wrap(self.heading - stance.base[2]))
        count = max(2, int(np.ceil(1.875 * abs(turn) / TURNING * scope.fps)))
        share = smootherstep(np.arange(count) / (count - 1))
        points = np.column_stack([np.repeat(stance.base[None, :2], count, axis=0), stance.base[2] + turn * share])
        return timed(points, scope.fps)


@dataclass(frozen=True)
class Wait:
    """Stand for a while."""

    seconds: float = 1.0
    name: str = "wait"

    def motion(self, stance: Stance, scope: Scope) -> Motion:
        """The stand."""
        return still(scope, stance, self.seconds)


@dataclass(frozen=True)
class PlayClip:
    """Play the clip of the library that fits best, from where one stands."""

    tags: tuple[str, ...]
    attributes: tuple[tuple[str, float], ...] = ()
    blend: float = 0.3
    name: str = "play clip"

    def motion(self, stance: Stance, scope: Scope) -> Motion:
        """The clip, moved to the base and begun in the pose at hand."""
        clip = pick(scope.clips, self.tags, dict(self.attributes)).motion
        placed = bases.move(clip, *stance.base)
        return placed if stance.pose is None else join(placed, stance.pose, min(self.blend, placed.duration))


@dataclass(frozen=True, eq=False)
class Clip:
    """A motion in a library: what it is for, and numbers that say how it looks (speed, mood, limp)."""

    name: str
    motion: Motion
    tags: frozenset[str] = frozenset()
    attributes: Mapping[str, float] = field(default_factory=dict)


def pick(clips: Sequence[Clip], tags: Sequence[str], attributes: Mapping[str, float]) -> Clip:
    """The clip with all tags whose attributes are nearest, each measured by its spread over the library."""
    fit = [c for c in clips if set(tags) <= c.tags]
    if not fit:
        known = sorted({t for c in clips for t in c.tags})
        raise InvalidParam("tags", tuple(tags), f"no clip has all of them; tags are {', '.join(known) or 'none'}")
    scale = {}
    for key in attributes:
        values = [c.attributes[key] for c in clips if key in c.attributes]
        scale[key] = max(float(np.ptp(values)), 1e-9) if values else 1.0

    def away(clip: Clip) -> float:
        return sum(
            ((clip.attributes[key] - value) / scale[key]) ** 2 if key in clip.attributes else 1.0
            for key, value in attributes.items()
        )

    return min(fit, key=lambda c: (away(c), c.name))


def charted(stops: Sequence[Array | tuple[float, float]], stance: Stance, scope: Scope) -> Walkable:
    """Where there is room to walk around places (2,) [m]."""
    around = np.array(stops)
    bounds = np.stack([around.min(axis=0) - 6.0, around.max(axis=0) + 6.0])
    return project(scope.world, scope.map, stance.time, bounds=bounds).walkable()


def timed(points: Array, fps: float) -> Path:
    """A base track of samples (T, 3)."""
    return Path(points, ("x", "y", "heading"), np.arange(len(points)) / fps)


def gone(track: Path, stance: Stance, scope: Scope) -> Motion:
    """Go along a base track on what there is of ground; see `on_foot`."""
    grounded = scope.world if any(b.kind == "ground" for b in scope.world.bodies) else None
    return on_foot(scope.skeleton, track, scope.fps, scope.style, grounded, stance.pose)


def on_foot(
    skeleton: Skeleton, track: Path, fps: float, style: TravelParams, world: World | None, start: Pose | None = None
) -> Motion:
    """Travel along a track (see `travel`), and stand at its end until both feet are down: what follows begins there."""
    points = np.concatenate([track.points, np.repeat(track.points[-1:], round(SETTLING * fps), axis=0)])
    motion = travel(skeleton, Path(points, track.axes, np.arange(len(points)) / fps), style, world, start)
    parts = np.array([[motion.curves[f"contact/{part}_{side}"] for part in ("foot", "toe")] for side in SIDES])
    moves = np.append(quat.distance(motion.rotations[1:], motion.rotations[:-1]).max(axis=1) * fps > AT_REST, False)
    # a heel that is a hair's breadth off the ground by the curves, and at rest, is down
    lifted = (parts.max(axis=1).min(axis=0) < 1.0) | ((parts.min(axis=(0, 1)) < 1.0) & moves)
    down = int(np.flatnonzero(lifted).max(initial=-1)) + 2
    count = min(max(down, len(track.points)), len(points))
    assert motion.base is not None
    return replace(
        motion,
        fps=fps,
        roots=motion.roots[:count],
        rotations=motion.rotations[:count],
        base=motion.base[:count],
        curves={name: values[:count] for name, values in motion.curves.items()},
        events=tuple(e for e in motion.events if e.time <= (count - 1) / fps),
    )


def still(scope: Scope, stance: Stance, seconds: float) -> Motion:
    """Standing as one is."""
    count = max(2, round(seconds * scope.fps) + 1)
    if stance.pose is None:
        return travel(scope.skeleton, timed(np.repeat(stance.base[None], count, axis=0), scope.fps), scope.style)
    return Motion(
        scope.skeleton,
        scope.fps,
        np.repeat(stance.pose.root[None], count, axis=0),
        np.repeat(stance.pose.rotations[None], count, axis=0),
        base=np.repeat(stance.base[None], count, axis=0),
    )


def expand(task: Atom | Composite) -> tuple[Atom, ...]:
    """The flat chain of atomic tasks that a task is made of."""
    if isinstance(task, Composite):
        return tuple(atom for part in task.parts for atom in expand(part))
    if not hasattr(task, "motion"):
        raise InvalidParam("task", task, "must be a composite task or have a motion")
    return (task,)


@dataclass(frozen=True, eq=False)
class Failure:
    """Which task of a chain failed, and how."""

    number: int
    task: str
    error: Exception


@dataclass(frozen=True, eq=False)
class Execution:
    """What came of a chain: the motions of the tasks that were done, the state after them, and the failure or None."""

    motions: tuple[Motion, ...]
    stance: Stance
    failure: Failure | None


def execute(task: Atom | Composite, stance: Stance, scope: Scope) -> Execution:
    """Carry out a task; it ends at the first part that fails, and nothing is kept of that part."""
    motions: list[Motion] = []
    for number, atom in enumerate(expand(task)):
        try:
            motion = atom.motion(stance, scope)
        except FAILURES as error:
            return Execution(tuple(motions), stance, Failure(number, atom.name, error))
        motions.append(motion)
        where = bases.derive(motion) if motion.base is None else motion.base
        stance = Stance(where[-1], motion.pose(len(motion) - 1), stance.time + motion.duration)
    return Execution(tuple(motions), stance, None)


def chained(motions: Sequence[Motion]) -> Motion:
    """Motions that end where the next begins, as one; a curve that one of them lacks keeps its nearest value there."""
    if not motions:
        raise InvalidMotion("nothing to chain: no task was done")
    first = motions[0]
    tracks = [np.array(bases.derive(m) if m.base is None else m.base) for m in motions]
    for before, after in pairwise(tracks):
        # each may count the turns it made from another one
        after[:, 2] += 2.0 * np.pi * np.round((before[-1, 2] - after[0, 2]) / (2.0 * np.pi))
    rest = [slice(0 if k == 0 else 1, None) for k in range(len(motions))]
    begun = zip(motions, np.cumsum([0.0, *(m.duration for m in motions)]).tolist(), strict=False)
    return replace(
        first,
        roots=np.concatenate([m.roots[r] for m, r in zip(motions, rest, strict=True)]),
        rotations=quat.continuous(np.concatenate([m.rotations[r] for m, r in zip(motions, rest, strict=True)])),
        base=np.concatenate([t[r] for t, r in zip(tracks, rest, strict=True)]),
        curves={name: _throughout(name, motions) for name in sorted({name for m in motions for name in m.curves})},
        events=tuple(replace(e, time=e.time + late) for m, late in begun for e in m.events),
    )


def _throughout(name: str, motions: Sequence[Motion]) -> Array:
    """A curve through motions that end where the next begins, of which at least one has it."""
    known = [k for k, m in enumerate(motions) if name in m.curves]
    rows = []
    for k, motion in enumerate(motions):
        here = motion.curves.get(name)
        if here is None:
            before = [j for j in known if j < k]
            value = motions[before[-1]].curves[name][-1] if before else motions[known[0]].curves[name][0]
            here = np.full(len(motion), value)
        rows.append(here[0 if k == 0 else 1 :])
    return np.concatenate(rows)
