"""Features in which somebody walks about and moves things: the scene read for it, and what becomes of every thing."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...core.errors import InvalidParam, TroupeError
from ...core.gait.travel import TravelParams
from ...core.kinematics.cast import Cast
from ...core.landing import LandingParams
from ...core.performance import Performance
from ...core.planning.hands.orders import ChoreParams, ReachParams
from ...core.skeleton import SIDES, Array
from ...core.world import World
from .. import rig, scene, trace
from ..bake import holding, results
from ..steps import Steps, aside, part
from . import handling, objects, ways
from .departure import Departure, departure
from .errand import DONE, READ, Onset, heading_of, onset_of
from .motions import MotionOperator, Plan, going_on, recipe_for
from .panels import wrapped

if TYPE_CHECKING:
    from ...core.planning.hands.chores import Place
    from ...core.planning.hands.task import Job

OUTCOMES = {"put away": "put away", "serve": "attended to"}
"""Decisions that say what came of the work, and how they are counted."""
FAILED = ("give up", "leave", "pass over")
"""Decisions that whoever asked for the work should hear of."""


@dataclass(frozen=True, eq=False)
class Worked(Plan):
    """A result before it is written, with what it does to props and what is kept of it."""

    record: dict[str, Any] = field(default_factory=dict)
    holds: Mapping[str, holding.Hold] = field(default_factory=dict)
    trace: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Room:
    """The scene as somebody at work finds it: everything in it as a person sees it who is `size` times smaller.

    `held` is what others have in their hands, by whom, which does not lie about.
    """

    context: bpy.types.Context
    job: Job
    size: float
    begin: Departure
    held: Mapping[str, str]


class ChoreOperator(MotionOperator):
    """Base of these features: `params` is a record of `ChoreParams`; a feature sets `task`."""

    searches = True

    def compute_steps(self, context: bpy.types.Context, actor: Any, params: Any) -> Steps[Plan]:
        several = [ob.name for ob in self.actors(context)]
        if len(several) > 1 and params.litter:
            raise TroupeError(f"only one can put away {params.litter}: select one of {', '.join(several)} alone")
        return (yield from super().compute_steps(context, actor, params))

    @classmethod
    def task(cls, params: Any, room: Room) -> Callable[[Job], Performance]:
        """What core does with the room, in a thread; names and places are read before."""
        raise TypeError(f"{cls.__name__} has nothing to do")

    @classmethod
    def plan_steps(
        cls, context: bpy.types.Context, actor: Any, params: Any, landing: LandingParams, start: Any
    ) -> Steps[Worked]:
        from ...core.planning.walkers.similar import grown

        cast = rig.read(actor, context)
        onset = onset_of(actor, cast, context, start)
        owner = handling.owner_of(actor, onset.number)
        if full := handling.held(actor, onset.frame, owner):
            names = ", ".join(r["prop"] for r in full.values())
            raise TroupeError(f"{actor.name} holds {names}: let it put that back first")
        room = yield from part(_room_steps(context, actor, cast, params, onset), 0.0, READ)
        begun = time.perf_counter()
        work = cls.task(params, room)
        done = yield from part(aside(lambda stop: work(replace(room.job, should_stop=stop))), READ, DONE - READ)
        seconds = time.perf_counter() - begun
        rate = scene.fps(context.scene)
        if room.size != 1.0:
            done = grown(done, cast.skeleton, room.size, rate)
        motion = done.motions[actor.name]
        if onset.moving and landing.landing == "track":
            motion = going_on(motion, onset.here.pose(0), landing.blend)
        keys = yield from part(cls.keys_steps(context, actor, cast, motion, landing, onset), DONE, 1.0 - DONE)
        recipe = recipe_for(context, cls.feature(), params, landing, onset)
        holds = {name: _hold(context, actor, onset, owner, room, done, name) for name in done.props}
        record = _record(onset, owner, cast, room, done, holds)
        kept = _trace(cls.feature(), params, onset, room, done, seconds, rate)
        return Worked(keys, cls.feature(), recipe, record, holds, kept)

    @classmethod
    def written(cls, context: bpy.types.Context, actor: Any, action: Any, plan: Plan) -> None:
        assert isinstance(plan, Worked)
        holding.write_holds(plan.record["owner"], plan.holds, context, results.strip_of(actor, action))
        handling.keep(actor, action, plan.record)
        trace.keep(actor, action, plan.trace)

    def apply(self, context: bpy.types.Context, actor: Any, result: Plan) -> str:
        said = super().apply(context, actor, result)
        assert isinstance(result, Worked)
        for row in result.trace["transcript"]:
            if row["what"] in FAILED:
                self.report({"WARNING"}, f"{actor.name} had to {row['what']} {row['why']}")
        return said


def named(name: str, what: str, purpose: str, context: bpy.types.Context) -> list[Any]:
    """The objects of the scene that a parameter names: a collection, one object, or all of a sort.

    Raises:
        InvalidParam: There is none, or nothing is in it.
    """
    if not name:
        raise InvalidParam(what, name, f"choose {purpose}")
    there = context.scene.objects
    collection = next((c for c in context.scene.collection.children_recursive if c.name == name), None)
    if collection is not None:
        found = [ob for ob in collection.all_objects if ob.type in ("MESH", "EMPTY")]
    elif name in there:
        found = [there[name]]
    else:
        found = [ob for ob in there if ob.troupe.sort == name]
        if not found:
            raise InvalidParam(what, name, "no collection, object or sort of that name in this scene")
    if not found:
        raise InvalidParam(what, name, "has nothing in it")
    return sorted(found, key=lambda ob: scene.natural(ob.name))


def things(name: str, what: str, purpose: str, room: Room) -> list[str]:
    """Names of the bodies that a parameter names; those without faces do not count."""
    bodies = {b.name for b in room.job.world.bodies}
    there = [ob for ob in named(name, what, purpose, room.context) if ob.name in bodies]
    if what == "litter":
        there = [ob for ob in there if ob.name not in room.held]
        for ob in there:
            objects.demand_movable(ob, what)
    found = [ob.name for ob in there]
    if not found:
        raise InvalidParam(what, name, "has nothing in it that has visible faces and is no part of an actor")
    return found


def places(name: str, room: Room) -> list[Place]:
    """Where things go, by a parameter: places of empties, and names of bodies that they are stood on."""
    bodies = {b.name for b in room.job.world.bodies}
    out: list[Place] = []
    for ob in named(name, "away", "where it goes: an empty, or what it is stood on", room.context):
        if ob.name in bodies:
            out.append(ob.name)
        elif ob.type == "EMPTY":
            out.append(objects.moved_to_scale(objects.matrix_of(ob, room.context), 1.0 / room.size))
    if not out:
        raise InvalidParam("away", name, "has neither an empty nor anything with visible faces in it")
    return out


def _room_steps(context: bpy.types.Context, actor: Any, cast: Cast, params: ChoreParams, onset: Onset) -> Steps[Room]:
    """Steps to the scene at the frame where the work begins, with others as things to walk around."""
    from ...core.planning.hands.task import Job
    from ...core.planning.senses.scenery import actor_body
    from ...core.planning.walkers.similar import shrunk, shrunk_skeleton, size_of
    from ...core.planning.ways.footing import with_footing

    handling.demand_arms(actor, cast, SIDES)
    now, frames = context.scene.frame_current, np.array([float(onset.frame)])
    if now != onset.frame:
        context.scene.frame_set(onset.frame)
    try:
        world = yield from part(scene.read_world_steps(context, params.scene or None, (), frames), 0.0, 0.3)
        guests = yield from part(scene.read_guests_steps(context, [actor], frames), 0.3, 0.3)
    finally:
        if context.scene.frame_current != now:
            context.scene.frame_set(now)
    size = size_of(cast.skeleton)
    begin = ways.on_ground(cast, TravelParams(), onset, world) or departure(cast, onset)
    feet, around = np.array([[*begin.place[:2], begin.floor]]), world
    world = yield from part(aside(lambda _stop: with_footing(around, feet, params.climb * size)), 0.6, 0.4)
    bodies = list(world.bodies)
    for guest, motion in guests.items():
        number = 1 + max((b.id for b in bodies), default=-1)
        assert motion.base is not None
        bodies.append(actor_body(guest, number, motion.base[:1], 0.25 * size, 1.7 * size, begin.floor))
    pose = begin.pose if begin.pose is not None else ways.stand(cast, TravelParams(), begin)
    rate = scene.fps(context.scene)
    job = Job(
        shrunk_skeleton(cast.skeleton, size),
        replace(pose, root=pose.root / size),
        shrunk(World(tuple(bodies), world.fps), size),
        ReachParams(),
        rate * float(np.sqrt(size)),
        actor.name,
    )
    return Room(context, job, size, begin, handling.held_by_others(context, actor, onset.frame))


def _hold(
    context: bpy.types.Context, actor: Any, onset: Onset, owner: str, room: Room, done: Performance, name: str
) -> holding.Hold:
    """How a thing is held from where it is taken to where it is left."""
    motion, ob = done.motions[actor.name], objects.still_there(name)
    held = sorted((a for a in done.attachments if a.prop == name), key=lambda a: a.start)
    taken, released = (onset.frame + round(t * motion.fps) for t in (held[0].start, max(a.end for a in held)))
    body = next(b for b in room.job.world.bodies if b.name == name)
    home = objects.moved_to_scale(body.matrices[0], room.size)
    now = context.scene.frame_current
    context.scene.frame_set(onset.frame)
    left = objects.in_scene(done.props[name][-1], home, ob, context)
    context.scene.frame_set(now)
    first = float(onset.frame)
    return holding.Hold(owner, actor.name, held[0].joint, first, float(taken), float(released), left, owner)


def _record(
    onset: Onset, owner: str, cast: Cast, room: Room, done: Performance, holds: Mapping[str, holding.Hold]
) -> dict[str, Any]:
    """What is kept of the hands: a record for each thing, in the order in which they were taken."""
    motion = next(iter(done.motions.values()))
    sides = {cast.skeleton.names[cast.skeleton.joint(f"hand_{side}")]: side for side in SIDES}
    record: dict[str, Any] = {
        "owner": owner,
        "side": SIDES[-1],
        "prop": "",
        "first": onset.frame,
        "last": onset.frame + len(motion) - 1,
        "taken": None,
        "released": None,
        "stays": False,
        "tie": owner,
        "home": None,
        "heading": heading_of(onset),
        "holding": None,
    }
    rows = []
    for name, hold in sorted(holds.items(), key=lambda row: row[1].taken or 0.0):
        body = next(b for b in room.job.world.bodies if b.name == name)
        home = objects.moved_to_scale(body.matrices[0], room.size).tolist()
        own = {"prop": name, "side": sides[hold.bone], "taken": hold.taken, "released": hold.released, "home": home}
        rows.append({**record, **own})
    lead, *others = rows or [record]
    return {**lead, "also": others}


def _trace(
    feature: str, params: ChoreParams, onset: Onset, room: Room, done: Performance, seconds: float, rate: float
) -> dict[str, Any]:
    """What is kept to be shown: where it went on which map, what it decided and why."""
    from ...core.planning.ways.map import MapParams, project

    motion = next(iter(done.motions.values()))
    assert motion.base is not None
    track: Array = motion.base
    size, slow = room.size, float(np.sqrt(room.size))
    points = track[:, :2] / size
    bounds = np.stack([points.min(axis=0) - 2.0, points.max(axis=0) + 2.0])
    chart = project(room.job.world, MapParams(radius=params.radius, floor=room.begin.floor / size), bounds=bounds)
    rows: Sequence[Mapping[str, Any]] = done.transcript
    failed = [row for row in rows if row["what"] in FAILED]
    length = float(np.hypot(*np.diff(track[:, :2], axis=0).T).sum())
    counts = {word: sum(row["what"] == word for row in rows) for word in OUTCOMES}
    said = [f"{count} {OUTCOMES[word]}" for word, count in counts.items() if count]
    said += [f"{row['what']} {row['why']}" for row in failed]
    return {
        "feature": feature,
        "frame": onset.frame,
        "fps": rate,
        "map": trace.map_plain(chart, size),
        "ways": [],
        "searched": [],
        "track": trace.rounded(track),
        "floor": room.begin.floor,
        "radius": params.radius * size,
        "report": {
            "success": not failed,
            "offences": [],
            "checks": 0,
            "said": [*said, f"Way {length:.2f} m, computed in {seconds:.1f} s"],
        },
        "transcript": [{**row, "time": round(row["time"] * slow, 6)} for row in rows],
    }


def draw_report(layout: bpy.types.UILayout, actor: Any, feature: str) -> None:
    """What came of the chosen result of an actor, where this feature made it, and the way to every decision."""
    found = trace.last_trace(actor) if actor is not None and rig.is_cast(actor) else None
    if found is None or found[1]["feature"] != feature:
        return
    for line in trace.told(found[1]["report"]):
        wrapped(layout, line, width=40, icon="NONE")
    layout.operator("troupe.show_transcript", icon="TEXT")
