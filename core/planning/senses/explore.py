"""Sense, plan, act: find the way to a place in a world known only as far as it has been seen.

Kuffner, "Autonomous Agents for Real-Time Animation" (1999), section 4.6: at every look the actor brings its memory up
to date, and plans anew when memory has changed, with what it remembers and nothing else. Unknown space is taken to be
free; so it walks into dead ends, notices, and turns back. Any other engine may do the same with `awareness.Explorer`.

    found = explore(world, start=(1, 1, 0), goal=(8, 8))
    travel(skeleton, found.path, ...)                       # the walk itself
    found.aware.at(frame).visible                           # what it saw at a frame
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParam, NoPath
from ...maths import geometry
from ...motion import Event, Path
from ...params import Params, param
from ...skeleton import Array
from ...world import Body, World
from ..ways.map import MapParams, project
from ..ways.walkable import Walkable, WalkableParams
from .awareness import Awareness, Explorer, sweep
from .eyes import eye_at
from .passers import STANDS, Passers, evaded
from .recollection import NO_PATH
from .scenery import Scenery, scenery, with_bodies
from .walker import Walker


class Planned(NamedTuple):
    """A way and what it was found with.

    Attributes:
        path: x, y.
        searched: (n, 2) places looked at to find it [m].
        ways: What is believed to be free; None where that is not known.
    """

    path: Path
    searched: Array
    ways: Walkable | None


Planner = Callable[[World, Array, Array, float], Planned]
"""From the believed world, a start (2,), goals (n, 2) and how near is near enough [m] to a way; or NoPath."""


Frames = Generator[None, None, bool]
"""Something that takes frames, one at each yield, and returns whether it came to what it was for."""


def finish(frames: Frames) -> bool:
    """All frames at once."""
    while True:
        try:
            next(frames)
        except StopIteration as end:
            return bool(end.value)


@dataclass(frozen=True)
class ExploreParams(Params):
    """How an actor goes about an unknown place."""

    speed: float = param(1.2, lo=0.05, hi=10.0, unit="m/s", help="Walking speed")
    turn_rate: float = param(2.5, lo=0.1, hi=20.0, unit="rad/s", help="How fast it turns")
    eye_height: float = param(1.6, lo=0.05, hi=10.0, unit="m", help="Height of its eyes over the ground")
    radius: float = param(0.3, lo=0.01, hi=10.0, unit="m", help="Radius of its body")
    arrive: float = param(0.1, lo=0.01, hi=10.0, unit="m", help="Distance from the goal at which it has arrived")
    patience: float = param(10.0, lo=0.0, hi=3600.0, unit="s", help="How long it looks round where no way leads on")
    pitch: float = param(0.0, lo=-1.5, hi=1.5, unit="rad", basic=False, help="How far its gaze is raised")
    turn_first: float = param(
        0.5, lo=0.05, hi=3.2, unit="rad", basic=False, help="It turns on the spot when its way leads further aside"
    )
    limit: float = param(300.0, lo=0.1, hi=1e5, unit="s", basic=False, help="Longest time it goes on")


@dataclass(frozen=True, eq=False)
class Exploration:
    """What came of it.

    Attributes:
        path: x, y, heading, one point a frame, from time 0.
        aware: What it knows at the end, with every look on record.
        plans: Frame and way of each plan that was made.
        events: plan, no_path, arrived, gave_up, seen, with their times.
        arrived: Whether it reached its goal, or sees what it looked for.
    """

    path: Path
    aware: Awareness
    plans: tuple[tuple[int, Path], ...] = ()
    events: tuple[Event, ...] = ()
    arrived: bool = False


def map_planner(
    params: MapParams | None = None, walkable: WalkableParams | None = None, bounds: npt.ArrayLike | None = None
) -> Planner:
    """A planner on the map of the believed world.

    Args:
        params: How the map is made; its radius is that of the body.
        walkable: Growth and search.
        bounds: (2, 2) least and greatest x, y of the map [m]; None where the ground is known beforehand.
    """
    params = params or MapParams()

    def plan(world: World, start: Array, goals: Array, near: float) -> Planned:
        ways = project(world, params, bounds=bounds).walkable(params.radius, walkable)
        route = ways.plan(start, goals, near)
        return Planned(route.path, ways.centre(route.searched), ways)

    return plan


class Outing:
    """An actor on its way: where it is, what it knows, and the record of both. Arguments are those of `explore`."""

    def __init__(
        self,
        world: World | Scenery,
        start: npt.ArrayLike,
        explorer: Explorer | None,
        params: ExploreParams | None,
        aware: Awareness | None,
        planner: Planner | None,
        exclude: Sequence[str],
        time: float,
        should_stop: Callable[[], bool] | None,
    ) -> None:
        base = np.asarray(start, dtype=np.float64)
        if base.shape != (3,) or not np.isfinite(base).all():
            raise InvalidParam("start", start, "must be finite x, y, heading")
        self.shapes = world if isinstance(world, Scenery) else scenery(world)
        self.ground = geometry.index(replace(self.shapes.world, bodies=_grounds(self.shapes.world)))
        self.explorer, self.params, self.aware = explorer or Explorer(), params or ExploreParams(), aware or Awareness()
        self.planner = planner or map_planner(MapParams(radius=self.params.radius))
        self.exclude, self.start, self.stop = exclude, time, should_stop
        self.dt = 1.0 / self.shapes.world.fps
        self.walker = Walker(base[:2].copy(), float(base[2]))
        self.track: list[list[float]] = []
        self.plans: list[tuple[int, Path]] = []
        self.searched: list[Array] = []
        self.passers = Passers(self.shapes.world, exclude)
        self.ways: Walkable | None = None
        self.events: list[Event] = []
        self.level = 0.0
        """Height of the ground under it [m]."""
        self.ended = False
        """Whether it will stand where it is from now on."""

    @property
    def now(self) -> float:
        """Time of the last frame on record [s]."""
        return self.start + (len(self.track) - 1) * self.dt

    @property
    def over(self) -> bool:
        """Whether it must end: time is up, or somebody said so."""
        return self.now - self.start >= self.params.limit or (self.stop is not None and self.stop())

    def note(self, name: str, data: Mapping[str, Any] | None = None) -> None:
        """Enter an event at this frame."""
        self.events.append(Event(self.now - self.start, name, data or {}))

    def believed(self) -> World:
        """The world as the actor believes it to be now, without those who walk: they will have gone on."""
        known = self.aware.memory.observations.values()
        walks = {o.name for o in known if float(np.hypot(*o.velocity[:2])) > STANDS}
        walks &= set(self.passers.names.values())
        walks |= {name for name, fellow in self.passers.fellows.items() if not fellow.ended}
        world = self.explorer.believed_world(self.aware, self.shapes.world, self.now)
        return replace(world, bodies=tuple(b for b in world.bodies if b.name not in walks)) if walks else world

    def look(self) -> None:
        """Put the frame on record, and see."""
        self.track.append([*self.walker.place.tolist(), self.walker.heading])
        frame = len(self.track) - 1
        if frame and not self.explorer.looks_at(frame):
            return
        self.level = float(geometry.height(self.ground, self.walker.place[None], self.now)[0][0])
        place = np.array([*self.walker.place, self.level + self.params.eye_height])
        eye = eye_at(place, self.walker.heading + self.walker.gaze, self.params.pitch)
        shapes = with_bodies(self.shapes, self.passers.shown()) if self.passers.fellows else self.shapes
        self.aware = self.explorer.sense(self.aware, shapes, eye, frame, self.now, self.exclude, always=True)

    def foreseen(self) -> Array:
        """(T, 3) where it has been so far and will be in a frame: x, y [m], heading [rad]."""
        ahead = self.walker.place + self.walker.velocity * self.dt
        return np.array([*self.track, [*ahead.tolist(), self.walker.heading]])

    def look_round(self, seconds: float, until: Callable[[], bool]) -> bool:
        """Stand and let the gaze sweep; true as soon as `until` is."""
        return finish(self.looking_round(seconds, until))

    def looking_round(self, seconds: float, until: Callable[[], bool]) -> Frames:
        """`look_round`, frame by frame."""
        for k in range(1, round(seconds / self.dt) + 1):
            if until() or self.over:
                break
            self.walker.gaze = sweep(k * self.dt, period=seconds)
            self.look()
            yield
        self.walker.gaze = 0.0
        return until()

    def go(self, goals: Array, until: Callable[[], bool] | None = None, near: float | None = None) -> bool:
        """Walk to the nearest of goals (n, 2), planning anew whenever what is believed changes."""
        return finish(self.going(goals, until, near))

    def going(self, goals: Array, until: Callable[[], bool] | None = None, near: float | None = None) -> Frames:
        """`go`, frame by frame."""
        stop = self.params.arrive if near is None else near
        planned, stuck = -1, -1.0
        believed: World | None = None
        self.walker.way = np.zeros((0, 2))
        while not self.over:
            if until is not None and until():
                return True
            if np.hypot(*(goals - self.walker.place).T).min() <= stop:
                self.note("arrived")
                return True
            changed = self.aware.revision != planned and not _same_bodies(believed, self.believed())
            planned = self.aware.revision
            if changed or self._strayed():
                way = self._plan(goals, near or 0.0)
                planned, believed = self.aware.revision, self.believed()
                stuck = -1.0 if way is not None else self.now if stuck < 0 else stuck
                self.walker.way = np.zeros((0, 2)) if way is None else way.points[:, :2]
            if stuck >= 0 and self.now - stuck >= self.params.patience:
                self.note("gave_up", {"why": "no way leads on"})
                return False
            if stuck < 0 and not len(self.walker.way):
                # the way ends beside a goal that stands in or too near to something
                self.note("arrived", {"beside": True})
                return True
            self.walker.gaze = 0.0 if stuck < 0 else sweep(self.now - stuck)
            self._step()
            self.look()
            yield
        return False

    def _step(self) -> None:
        """Walk on, around those who come along."""
        walker, sight = self.walker, self.aware.sight
        seen = sight.visible.keys() if sight is not None else ()
        others = self.passers.around(walker.place, self.now, seen)
        if not len(others[0]):
            walker.step(self.dt, self.params)
            return
        wanted = walker.aim(self.params.speed)
        free = evaded(walker.place, walker.velocity, wanted, self.params.radius, others, self.ways, self.dt)
        walker.push(free, self.dt, self.params)

    def _strayed(self) -> bool:
        """Whether it was pushed to where it cannot go on along its way."""
        ways, walker = self.ways, self.walker
        if ways is None or not len(walker.way) or not self.passers.names:
            return False
        return not bool(ways.clear(walker.place, walker.way[0])) and bool(ways.clear(walker.place, walker.place))

    def _plan(self, goals: Array, near: float) -> Path | None:
        """A way through the believed world; rules may change what is believed where there is none."""
        while True:
            try:
                way, searched, ways = self.planner(self.believed(), self.walker.place, goals, near)
            except NoPath as error:
                before = self.aware.revision
                self.aware, _ = self.explorer.react(self.aware, NO_PATH, self.now)
                self.note("no_path", {"why": str(error)})
                if self.aware.revision == before:
                    return None
            else:
                self.plans.append((len(self.track) - 1, way))
                self.searched.append(searched)
                self.ways = ways
                self.note("plan", {"length": _length(way)})
                return way

    def result(self, arrived: bool) -> Exploration:
        """Everything on record."""
        track = np.array(self.track)
        path = Path(track, ("x", "y", "heading"), np.arange(len(track), dtype=np.float64) * self.dt)
        return Exploration(path, self.aware, tuple(self.plans), tuple(self.events), arrived)


def _grounds(world: World) -> tuple[Body, ...]:
    return tuple(body for body in world.bodies if body.kind == "ground")


def _same_bodies(a: World | None, b: World) -> bool:
    """Whether the same bodies are in the same places in two worlds, so that a way through one is one through both."""
    if a is None or len(a.bodies) != len(b.bodies):
        return False
    return all(x is y or _alike(x, y) for x, y in zip(a.bodies, b.bodies, strict=True))


def _alike(x: Body, y: Body) -> bool:
    same = (x.name, x.kind, x.tags) == (y.name, y.kind, y.tags)
    return same and np.array_equal(x.matrices, y.matrices)


def _length(way: Path) -> float:
    return float(np.linalg.norm(np.diff(way.points[:, :2], axis=0), axis=1).sum())


def explore(
    world: World | Scenery,
    start: npt.ArrayLike,
    goal: npt.ArrayLike,
    explorer: Explorer | None = None,
    params: ExploreParams | None = None,
    aware: Awareness | None = None,
    planner: Planner | None = None,
    exclude: Sequence[str] = (),
    time: float = 0.0,
    should_stop: Callable[[], bool] | None = None,
) -> Exploration:
    """Walk to a place with what is seen on the way.

    Args:
        world: As it is; the actor plans only with what it remembers of it.
        start: (3,) x, y [m], heading [rad].
        goal: (2,) or (n, 2), of which the nearest to walk to is taken [m].
        explorer: How it sees and remembers.
        params: How it walks.
        aware: What it knows before; None for nothing.
        planner: From the believed world to a way; None for `map_planner` on the ground of the world.
        exclude: Bodies it does not see: its own.
        time: When it starts [s]; frames count from there.
        should_stop: Asked at every frame.
    """
    goals = np.atleast_2d(np.asarray(goal, dtype=np.float64))
    if goals.shape[1:] != (2,) or not np.isfinite(goals).all():
        raise InvalidParam("goal", goal, "must be finite x, y")
    run = Outing(world, start, explorer, params, aware, planner, exclude, time, should_stop)
    run.look()
    return run.result(run.go(goals))
