"""Features that find their way: actors sense, decide, plan and walk in the scene as it is, all of them at once."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, overload

import bpy
import numpy as np

from ...core.errors import InvalidParam
from ...core.gait.travel import TravelParams, travel
from ...core.maths import geometry
from ...core.motion import Motion, Path
from ...core.performance import Performance
from ...core.skeleton import Array
from ...core.world import World
from .. import rig, scene, trace
from ..steps import Steps, part
from . import handling, ways
from .company import CompanyOperator, Member, Played
from .departure import Departure, departure
from .travel import style_of

if TYPE_CHECKING:
    from ...core.planning.walkers.actors import ActorSetup, NavigateParams, State
    from ...core.planning.walkers.going import Going, PatrolParams

READ = 0.15
"""How far the work has come when the scene is read."""
WALKED = 0.7
"""How far it has come when everybody has gone its way and only feet are left to be put under them."""
SHARED = (
    "seconds",
    "seed",
    "others",
    "prediction",
    "room",
    "guard",
    "replan",
    "scene",
    "cell",
    "climb",
    "slope",
    "headroom",
    "faithful",
)


class GoingOperator(CompanyOperator):
    """Base of the features that tell actors where to go; `params` is a record of `core.planning.walkers.going`."""

    shared: ClassVar[tuple[str, ...]] = SHARED

    @classmethod
    def perform_steps(cls, context: bpy.types.Context, members: Mapping[str, Member], lead: str) -> Steps[Played]:
        return (yield from play_steps(context, members, lead))

    @classmethod
    def keep_trace(cls, context: bpy.types.Context, actor: Any, action: Any, kept: dict[str, Any]) -> None:
        trace.keep(actor, action, kept)
        actor.troupe.told = cls.feature() if kept.get("feature") is None else kept["feature"]

    def finished(self, context: bpy.types.Context, members: Mapping[str, Member], played: Played) -> None:
        for note in dict.fromkeys(note for kept in played.traces.values() for note in kept.get("notes", ())):
            self.report({"WARNING"}, note)
        for name, kept in played.traces.items():
            if not kept["report"]["success"] and members[name].params.ends:
                last = kept["transcript"][-1] if kept["transcript"] else {"what": "stands", "why": "nothing to do"}
                self.report({"WARNING"}, f"{name} did not get there; last it {last['what']}: {last['why']}")


@overload
def told_by() -> list[type[GoingOperator]]: ...
@overload
def told_by(name: str) -> type[GoingOperator] | None: ...
def told_by(name: str | None = None) -> Any:
    """The features that tell an actor where to go, or the one of a name; None when there is none."""
    from ...core.planning.walkers.going import Going
    from . import operators

    found = [op for op in operators() if issubclass(op, GoingOperator) and issubclass(op.params, Going)]
    return found if name is None else next((op for op in found if op.feature() == name), None)


@dataclass(frozen=True, eq=False)
class Stage:
    """The scene as a company finds it.

    Attributes:
        ground: What is around, as it is, to tread on; None for a level floor at height 0.
        world: The same with the actors who are not directed, in which whoever leads is as large as a person.
        size: How many times as large it is.
        places: Where the things are that they go by.
        departures: Where each begins, by name.
        told: What each is told, in names that core knows.
        params: What holds for all.
    """

    ground: World | None
    world: World
    size: float
    places: Mapping[str, Path]
    departures: Mapping[str, Departure]
    told: Mapping[str, Going]
    params: NavigateParams


def stage_steps(context: bpy.types.Context, members: Mapping[str, Member], lead: str) -> Steps[Stage]:
    """Steps to the scene around a company."""
    from ...core.planning.walkers.casting import common
    from ...core.planning.walkers.similar import shrunk, shrunk_paths, size_of
    from ...core.planning.ways.footing import with_footing

    asked: Going = members[lead].params
    size = size_of(members[lead].cast.skeleton)
    told = {name: _resolved(context, member, size) for name, member in members.items()}
    rate = scene.fps(context.scene)
    frames = members[lead].start.frame + np.arange(int(np.ceil(asked.seconds * rate)) + 1, dtype=np.float64)
    actors = [member.actor for member in members.values()]
    signs = {bpy.data.objects[t] for g in told.values() for t in g.targets() if t not in members}
    things = sorted((ob for ob in signs if not rig.is_cast(ob)), key=lambda ob: ob.name)
    hidden = [ob for ob in things if ob.troupe.kind == "auto"] + carried(list(members.values()))
    world = yield from scene.read_world_steps(context, asked.scene, hidden, frames)
    guests = yield from scene.read_guests_steps(context, actors, frames)
    places = yield from scene.read_tracks_steps(context, things, frames)
    world = replace(world, actors=guests)
    on = {name: ways.on_ground(m.cast, TravelParams(), m.start, world) for name, m in members.items()}
    level = all(d is None for d in on.values())
    departures = {n: d if d is not None else departure(members[n].cast, members[n].start) for n, d in on.items()}
    spots = np.array([[*d.place[:2], d.floor] for d in departures.values()])
    world = with_footing(world, spots, asked.climb * size)
    ground = None if level else world
    world, places, spots = shrunk(world, size), shrunk_paths(places, size), spots / size
    told = _gathered(told, {name: d.place / (size, size, 1.0) for name, d in departures.items()}, places)
    floor = float(np.median(spots[:, 2]))
    everybody = common(list(told.values()), asked, floor, ceiling_over(world, spots, asked.headroom))
    everybody = replace(everybody, seconds=max(0.1, asked.seconds / float(np.sqrt(size))))
    return Stage(ground, world, size, places, departures, told, everybody)


def _gathered(told: Mapping[str, Going], bases: Mapping[str, Array], places: Mapping[str, Path]) -> dict[str, Going]:
    """What each is told, with a place of its own for each of several who are sent to one thing."""
    from ...core.planning.walkers.casting import gathered
    from ...core.planning.walkers.going import GotoParams, QueueParams

    centres = {}
    for name, own in told.items():
        if isinstance(own, GotoParams) and (not own.target or own.target in places):
            centres[name] = places[own.target].points[0, :2] if own.target else np.array(own.place[:2])
        elif isinstance(own, QueueParams):
            centres[name] = np.array(own.leave[:2])
    return gathered(told, bases, centres)


def carried(members: Sequence[Member]) -> list[Any]:
    """What they have in their hands when they set out, which is in nobody's way."""
    held = [record for m in members for record in handling.held(m.actor, m.start.frame).values()]
    return [bpy.data.objects[name] for name in sorted({record["prop"] for record in held})]


def ceiling_over(world: World, spots: Array, headroom: float) -> float:
    """Height above which ground is another storey's [m]: that of the heads of those who stand under some."""
    tops, _, hit = geometry.height(world, spots[:, :2])
    covered = hit & (tops > spots[:, 2] + headroom)
    return float((spots[covered, 2] + headroom).max()) if covered.any() else 1e5


def play_steps(context: bpy.types.Context, members: Mapping[str, Member], lead: str) -> Steps[Played]:
    """Steps to what a company does, each as it was told."""
    from ...core.planning.walkers.casting import actor_setup
    from ...core.planning.walkers.ending import demand_ways, over, still_from
    from ...core.planning.walkers.navigate import begin, reported, step

    clock = time.perf_counter()
    stage = yield from part(stage_steps(context, members, lead), 0.0, READ)
    setups = {
        name: actor_setup(
            stage.told[name],
            stage.departures[name].place / (stage.size, stage.size, 1.0),
            m.cast.skeleton,
            stage.params,
            stage.departures[name].pose,
            style_of(stage.told[name].style),
        )
        for name, m in members.items()
    }
    world, dt = stage.world, 1.0 / stage.world.fps
    names = [t for g in stage.told.values() for t in g.targets()]
    moving_until = still_from(names, world, stage.places)
    state = begin(world, setups, stage.params, stage.places)
    planned: dict[str, list[Any]] = {name: [] for name in members}
    count = round(stage.params.seconds / dt)
    while state.tick < count:
        before = state.minds
        state = step(state, world, (), dt)
        _note_ways(planned, state, before)
        if state.tick == 2:
            demand_ways(state, moving_until == 0.0)
        yield READ + (WALKED - READ) * state.tick / count
        if over(state, stage.told, moving_until):
            break
    motions = {}
    for k, name in enumerate(members):
        yield WALKED + (1.0 - WALKED) * k / len(members)
        motion = _walked(stage, state, name, m=members[name], setup=setups[name])
        motions[name] = stage.departures[name].raised(motion) if stage.ground is None else motion
    yield 0.99
    report = reported(state, Performance(motions), world, time.perf_counter() - clock)
    return Played(motions, _traces(members, lead, stage, state, planned, asdict(report)))


def _walked(stage: Stage, state: State, name: str, m: Member, setup: ActorSetup) -> Motion:
    """Put feet under what an actor has done, in its own size."""
    from ...core.planning.walkers.navigate import base_track

    rate = stage.world.fps / float(np.sqrt(stage.size))
    track = base_track(state, name, rate)
    track = replace(track, points=track.points * (stage.size, stage.size, 1.0))
    return travel(m.cast.skeleton, track, setup.style.travel, stage.ground, setup.start)


def _note_ways(planned: dict[str, list[Any]], state: State, before: tuple[Any, ...]) -> None:
    for name, mind, old in zip(state.cast.names, state.minds, before, strict=True):
        if mind.plan is not None and mind.plan is not old.plan:
            planned[name].append((round(state.clock, 3), mind.plan))


def _traces(
    members: Mapping[str, Member],
    lead: str,
    stage: Stage,
    state: State,
    planned: Mapping[str, list[Any]],
    report: dict[str, Any],
) -> dict[str, dict[str, Any]]:
    """What is kept with the result of each."""
    from ...core.planning.walkers.navigate import base_track

    size, slow = stage.size, float(np.sqrt(stage.size))
    rate, kept = stage.world.fps / slow, {}
    chart = trace.map_plain(state.chart.map, size)
    for k, name in enumerate(members):
        track = base_track(state, name, rate).points * (size, size, 1.0)
        mind, told = state.minds[k], stage.told[name]
        mine = [o for o in report["offences"] if name in (o["actor"], o["other"])]
        own = {
            "seconds": round(report["seconds"], 3),
            "success": told.done(mind) or not told.ends,
            "length": float(np.hypot(*np.diff(track[:, :2], axis=0).T).sum()),
            "offences": [{**o, "time": o["time"] * slow, "depth": o["depth"] * size} for o in mine],
        }
        kept[name] = {
            "feature": members[name].operator.feature(),
            "frame": members[lead].start.frame,
            "fps": rate,
            "map": chart,
            "ways": [[when * slow, trace.rounded(plan.points * size)] for when, plan in planned[name]],
            "searched": [trace.searched(state.chart.map, plan.searched) for _, plan in planned[name]],
            "track": trace.rounded(track),
            "floor": stage.departures[name].floor,
            "notes": state.chart.walkable(float(state.cast.radius[k])).notes,
            "radius": told.radius * size,
            "report": {**report, **own},
            "transcript": [
                {**line, "time": round(line["time"] * slow, 6)} for line in state.transcript if line["actor"] == name
            ],
        }
    return kept


def _resolved(context: bpy.types.Context, member: Member, size: float) -> Going:
    """What an actor is told, with names of actors instead of their bodies, and places instead of collections.

    Places are seen as one who is `size` times as large as a person sees them.
    """
    from ...core.planning.walkers.going import PatrolParams, QueueParams

    told: Any = member.params
    for key in ("target", "exit", "first"):
        name = getattr(told, key, "")
        if name:
            told = replace(told, **{key: named(context, member, key, name)})
    if told.needs_target and not told.target:
        raise InvalidParam("target", "", f"choose whom or what to {member.operator.bl_label.lower()}")
    if isinstance(told, QueueParams) and told.exit:
        place = scene.read_route(bpy.data.objects[told.exit], context).points[0]
        told = replace(told, leave=tuple(place.tolist()))
    if isinstance(told, PatrolParams):
        told = _patrol(context, told)
    for key in ("place", "leave", "waypoints"):
        if size != 1.0 and hasattr(told, key):
            smaller = np.array(getattr(told, key)) / size
            told = replace(told, **{key: tuple(map(tuple, smaller)) if smaller.ndim == 2 else tuple(smaller)})
    out: Going = told
    return out


def named(context: bpy.types.Context, member: Member, key: str, name: str) -> str:
    ob = context.scene.objects.get(name)
    if ob is None:
        raise InvalidParam(key, name, "no object of that name in this scene")
    above = scene.armature_of(ob)
    if above is not None and rig.is_cast(above):
        ob = above
    if ob == member.actor and key == "target":
        raise InvalidParam(key, name, f"is {member.actor.name} itself: choose another, or do not select it")
    return str(ob.name)


def _patrol(context: bpy.types.Context, told: PatrolParams) -> PatrolParams:
    if told.points:
        collection = bpy.data.collections.get(told.points)
        if collection is None:
            raise InvalidParam("points", told.points, "no collection of that name in this file")
        rows = scene.read_route(collection, context).points[:, :2]
        told = replace(told, waypoints=tuple(map(tuple, rows.tolist())))
    if not told.waypoints:
        raise InvalidParam("points", "", "choose a collection with empties to go through")
    return told
