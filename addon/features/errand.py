"""One task of one actor's hands in the scene as it is: read, done by core, and what is kept of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...core.errors import InvalidParam, TroupeError
from ...core.kinematics.cast import Cast
from ...core.maths import quat
from ...core.planning.hands.orders import CARRYING, ReachParams
from ...core.skeleton import SIDE_NAMES, SIDES, Array
from ...core.world import Body, World
from .. import bake, rig, scene
from ..bake import holding, results
from ..steps import Steps, aside, part
from . import handling, objects

if TYPE_CHECKING:
    from ...core.planning.hands.task import Job, Reached

READ, DONE = 0.1, 0.8
"""Shares of the work that are done when the scene is read, and when hands have found their ways."""
CLIMB = 0.4
"""What is higher than this over the feet is not stood on [leg lengths]."""
STILL = 0.02
"""How far hips or target may move while a hand is on its way to it [m]."""


@dataclass(frozen=True)
class Onset(bake.Start):
    """Where a hand begins.

    Attributes:
        number: Tells the results of an actor that move hands apart.
    """

    number: int = 0

    def to_plain(self) -> dict[str, Any]:
        return {**super().to_plain(), "number": self.number}


def onset_of(actor: Any, cast: Cast, context: bpy.types.Context, start: Any) -> Onset:
    """The onset at the current frame, or the one that a result was made with."""
    if isinstance(start, Onset):
        return start
    if start is not None:
        here = bake.Start.from_plain(start, cast)
        return Onset(here.frame, here.here, here.ground, here.moving, int(start["number"]))
    here = bake.start_here(actor, cast, context)
    made = [(results.recipe_of(f.action) or {}).get("start", {}).get("number", 0) for f in bake.results_of(actor)]
    return Onset(here.frame, here.here, here.ground, here.moving, 1 + max(made, default=0))


class Errand:
    """One task of one actor in the scene as it is.

    Attributes:
        job: What core is asked, about a person in a world that suits it.
        size: How many times as large as a person the actor is.
        target: The object.
        had: The records by which hands held it before; empty when they did not.
    """

    def __init__(
        self, actor: Any, cast: Cast, onset: Onset, owner: str, job: Job, target: Any, had: list[dict[str, Any]]
    ) -> None:
        from ...core.planning.walkers.similar import size_of

        self.actor, self.cast, self.onset, self.owner = actor, cast, onset, owner
        self.job, self.target, self.had = job, target, had
        self.size = size_of(cast.skeleton)

    @classmethod
    def read_steps(
        cls, context: bpy.types.Context, actor: Any, cast: Cast, params: ReachParams, onset: Onset, owner: str
    ) -> Steps[Errand]:
        """Steps to the task; the scene is read at the frame where it begins."""
        from ...core.planning.hands.task import Job
        from ...core.planning.ways.footing import with_footing

        handling.demand_arms(actor, cast, (params.hand,) if params.hand in SIDES else SIDES)
        hands = handling.held(actor, onset.frame, owner)
        params, had = _chosen(actor, params, hands)
        target = objects.named(params.target, "target", "what the hand is to deal with")
        if scene.armature_of(target) == actor:
            raise InvalidParam("target", params.target, "is the actor itself; choose something else")
        if params.task in CARRYING:
            objects.demand_movable(target, "target")
            if holder := handling.held_by_others(context, actor, onset.frame).get(target.name):
                way = f"let {holder} hand it over to {actor.name}, or put it down first"
                raise InvalidParam("target", target.name, f"is in a hand of {holder} at frame {onset.frame}: {way}")
        now = context.scene.frame_current
        if now != onset.frame:
            context.scene.frame_set(onset.frame)
        try:
            then = np.array([float(onset.frame)])
            world = yield from part(scene.read_world_steps(context, None, (), then), 0.0, 0.5)
            # tables are not ground: who steps closer stops before them
            feet = np.append(onset.here.roots[0, :2], onset.ground)
            climb, around = CLIMB * cast.skeleton.leg_length(), world
            world = yield from part(aside(lambda _stop: with_footing(around, feet, climb)), 0.5, 0.5)
            if params.task == "point":
                world = _with_place_of(world, target, context)
            body = objects.body_of(world, target)
            there = _destination(context, world, body, params, had, heading_of(onset))
        finally:
            if context.scene.frame_current != now:
                context.scene.frame_set(now)
        known: list[Any] = [None, None]
        if had:
            below = handling.pose_below(actor, cast, context, [r["side"] for r in had], onset.frame, owner)
            for k, record in enumerate(had):
                known[k] = handling.holding_of(record, cast, None if below is None else below.rotations)
        grasps = {params.target: own} if (own := objects.grasps_of(target)) else None
        rate, pose = scene.fps(context.scene), onset.here.pose(0)
        job = Job(cast.skeleton, pose, world, params, rate, actor.name, 0.0, there, grasps, *known)
        return cls(actor, cast, onset, owner, job, target, had)

    def title(self) -> str:
        return f"{self.job.params.task.replace('_', ' ')} {self.target.name}"

    def done(self, should_stop: Callable[[], bool]) -> Reached:
        """The task done; in a thread."""
        from ...core.planning.hands.reach import reach
        from ...core.planning.hands.searching import reach_seen

        job = replace(self.shrunk(), should_stop=should_stop)
        return reach_seen(job) if job.params.sighted or job.params.search else reach(job)

    def shrunk(self) -> Job:
        """The task of a person that is to this one as the world around it is to the scene."""
        from ...core.planning.walkers.similar import shrunk, shrunk_skeleton

        job, size = self.job, self.size
        if size == 1.0:
            return job
        grasps = {name: [objects.resized(g, 1.0 / size) for g in known] for name, known in (job.grasps or {}).items()}
        return replace(
            job,
            skeleton=shrunk_skeleton(job.skeleton, size),
            pose=replace(job.pose, root=job.pose.root / size),
            world=shrunk(job.world, size),
            fps=job.fps * float(np.sqrt(size)),
            destination=None if job.destination is None else objects.moved_to_scale(job.destination, 1.0 / size),
            grasps=grasps or None,
        )

    def grown(self, done: Reached) -> Reached:
        """What came of it, as large as the actor."""
        from ...core.planning.walkers.similar import grown

        if self.size == 1.0:
            return done
        idle = done.idle
        if idle is not None:
            alone = replace(done.performance, motions={self.actor.name: idle}, props={}, attachments=())
            idle = grown(alone, self.cast.skeleton, self.size, self.job.fps).motions[self.actor.name]
        return replace(
            done, performance=grown(done.performance, self.cast.skeleton, self.size, self.job.fps), idle=idle
        )

    def check_steps(self, context: bpy.types.Context, done: Reached) -> Steps[None]:
        """Steps to be sure that neither the target nor the actor is gone when the hand arrives."""
        motion = done.performance.motions[self.actor.name]
        arrived = next((e.time for e in motion.events if e.name == "contact_on"), motion.duration)
        frames = np.unique(self.onset.frame + np.ceil(np.array([0.0, 0.5, 1.0]) * arrived * self.job.fps))
        if not self.had:
            tracks = yield from scene.read_tracks_steps(context, [self.target], frames)
            _stays(tracks[self.target.name].points, self.target.name)
        if motion.mask is not None and self.actor.animation_data is not None:
            cast = rig.read(self.actor, context)
            places = (yield from bake.joint_matrices_steps(self.actor, cast, context, frames))[:, 0, :3, 3]
            _stays(places, self.actor.name)

    def kept(self, context: bpy.types.Context, done: Reached) -> tuple[holding.Hold | None, dict[str, Any]]:
        """What is done to the prop, and the record."""
        performance, onset, params = done.performance, self.onset, self.job.params
        motion = performance.motions[self.actor.name]
        first, last = onset.frame, onset.frame + round(motion.duration * motion.fps)
        stages = [e.data["stage"] for e in motion.events if e.name == "stage"]
        comes = bool(stages) and stages[-1] == "return"
        body = objects.body_of(self.job.world, self.target)
        held = next((a for a in performance.attachments if a.prop == self.target.name), None)
        record: dict[str, Any] = {
            "owner": self.owner,
            "prop": self.target.name,
            "first": first,
            "last": last,
            "taken": None,
            "released": None,
            "stays": not comes,
            "tie": self.owner if not self.had else self.had[0]["tie"],
            "home": body.matrices[0].tolist() if not self.had else self.had[0]["home"],
            "heading": heading_of(onset) if not self.had else self.had[0]["heading"],
            "holding": None,
        }
        moved = held is not None and (bool(self.had) or params.task in CARRYING)
        left = None
        if moved and held is not None:
            record["taken"] = None if self.had else float(first + round(held.start * motion.fps))
            if done.holding is None:
                record["released"] = float(first + round(held.end * motion.fps))
                now = context.scene.frame_current
                context.scene.frame_set(first)
                end = performance.props[self.target.name][-1]
                left = objects.in_scene(end, body.matrices[0], self.target, context)
                context.scene.frame_set(now)
        holdings = {h.side: handling.holding_plain(h) for h in (done.holding, done.other) if h is not None}
        sides = SIDES if done.side == "both" else (done.side,)
        lead, *others = [{**record, "side": side, "holding": holdings.get(side)} for side in sides]
        lead["also"] = others
        if not moved or held is None:
            return None, lead
        taken, released = record["taken"], record["released"]
        hold = holding.Hold(self.owner, self.actor.name, held.joint, float(first), taken, released, left, record["tie"])
        return hold, lead


def _chosen(
    actor: Any, params: ReachParams, hands: dict[str, dict[str, Any]]
) -> tuple[ReachParams, list[dict[str, Any]]]:
    """The parameters with everything filled in that follows from what the hands hold, and by which records they do."""
    gives = params.task in ("put_back", "let_go")
    if gives and not hands:
        raise TroupeError(f"{actor.name} holds nothing at this frame: let it pick something up first")
    if gives or params.task in ("move", "hand_over"):
        fits = [r for s, r in hands.items() if params.target in ("", r["prop"]) and params.hand in ("auto", "both", s)]
        if fits:
            return replace(params, target=fits[0]["prop"]), [r for r in fits if r["prop"] == fits[0]["prop"]]
    if gives:
        names = ", ".join(r["prop"] for r in hands.values())
        raise InvalidParam("target", params.target, f"is not in the hand; {actor.name} holds {names}")
    for side, record in hands.items():
        if record["prop"] == params.target and params.task in CARRYING:
            raise InvalidParam("target", params.target, f"is already in a hand of {actor.name}")
        if params.hand in (side, "both"):
            full = f"the {SIDE_NAMES[side]} hand of {actor.name} holds {record['prop']}"
            raise TroupeError(f"{full}: put it back first, or use the other one")
    if len(hands) == len(SIDES):
        raise TroupeError(f"both hands of {actor.name} are full: put something back first")
    if hands and params.hand == "auto":
        params = replace(params, hand="R" if "L" in hands else "L")
    return params, []


def _destination(
    context: bpy.types.Context,
    world: World,
    body: Any,
    params: ReachParams,
    had: list[dict[str, Any]],
    heading: float,
) -> Array | None:
    """(4, 4) where the prop is to be [m]; what the actor has in hand has turned with it since it took it."""
    if params.task not in ("move", "hand_over", "put_back"):
        return None
    if params.task == "put_back" and not params.destination:
        return np.array(had[0]["home"], dtype=np.float64)
    ob = objects.named(params.destination, "destination", "where it is to go: an empty, or what it stands on")
    if ob.name == body.name:
        raise InvalidParam("destination", ob.name, "is what is taken there: choose another place for it")
    armature = scene.armature_of(ob)
    if params.task != "hand_over" and armature is not None and rig.is_cast(armature):
        raise InvalidParam("destination", ob.name, "is an actor: choose a thing or an empty, or hand it over")
    now = np.array(body.matrices[0])
    if had:
        turned = quat.to_matrix(quat.about(np.array([0.0, 0.0, 1.0]), heading - had[0]["heading"]))
        now[:3, :3] = turned @ np.array(had[0]["home"])[:3, :3]
    return objects.destination_of(world, body, now, ob, context)


def heading_of(onset: bake.Start) -> float:
    """Where an actor faces [rad]."""
    return float(np.ravel(quat.heading(onset.here.rotations[0, :1]))[0])


def _with_place_of(world: World, ob: Any, context: bpy.types.Context) -> World:
    """The world with a place to point at where an object has no faces: its own, or the chest of an actor."""
    actor = scene.armature_of(ob)
    if (ob.type == "MESH" and actor is None) or any(b.name == ob.name for b in world.bodies):
        return world
    place = objects.matrix_of(ob, context)
    if actor is not None and rig.is_cast(actor):
        from ...core.planning.hands.standing import chest_of

        cast = rig.read(actor, context)
        place[:3, 3] = chest_of(cast.skeleton, bake.pose_here(actor, cast, context).pose(0))
    number = 1 + max((b.id for b in world.bodies), default=0)
    spot = Body(ob.name, number, np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64), place[None], "prop")
    return replace(world, bodies=(*world.bodies, spot))


def _stays(places: Array, name: str) -> None:
    """Raise where places (T, 3) are not the same."""
    if len(places) > 1 and float(np.linalg.norm(places - places[0], axis=1).max()) > STILL:
        raise TroupeError(f"{name} is moving while the hand is on its way: choose a frame from which on it stays")
