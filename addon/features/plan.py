"""Plan: a thing or a machine goes from where it is to a goal, around everything else in the scene."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...core.errors import Blocked, InvalidParam, NoPath, TroupeError
from ...core.planning.plan import PlanParams
from ...core.skeleton import Array
from ...core.world import World
from .. import rig, scene
from ..bake import things
from ..scene import machines
from ..steps import Steps, aside, part
from . import objects, sought
from .base import FeatureOperator

if TYPE_CHECKING:
    from ...core.planning.spaces.machines import Machine
    from ...core.planning.spaces.ways import Planned

ICON = "DRIVER_TRANSFORM"
READ = 0.1
"""Share of the work that reading the scene is, and reading what goes."""


@dataclass(frozen=True, eq=False)
class Route:
    """A way before it is written."""

    mover: Any
    frames: Array
    planned: Planned
    seconds: float
    names: list[str]
    before: Array


class Operator(FeatureOperator):
    """Let a thing or a machine, such as a robot arm, go from where it is to a goal around everything else"""

    bl_idname = "troupe.plan"
    bl_label = "Plan"
    params = PlanParams
    owner = "scene"

    def compute_steps(self, context: bpy.types.Context, actor: Any, params: PlanParams) -> Steps[Route]:
        mover = mover_of(context, params)
        now = np.array([float(context.scene.frame_current)])
        world = yield from part(scene.read_world_steps(context, None, [mover], now), 0.0, READ)
        ignored = {n.strip() for n in params.ignore.split(",") if n.strip()}
        for name in sorted(ignored):
            objects.named(name, "ignore", "what is not in the way")
        ignored.add(params.goal)
        around = World(tuple(b for b in world.bodies if b.name not in ignored), world.fps)
        names: list[str] = []
        if mover.type == "ARMATURE":
            names = machines.chain_bones(mover, params.tip)
            reading: Steps[tuple[Machine, Array, list[Array]]] = _machine_steps(context, mover, names, params)
        else:
            reading = _thing_steps(context, mover, params)
        machine, start, goals = yield from part(reading, READ, READ)
        before = np.array(machine.frames(start[None])[0, 0])
        rate = scene.fps(context.scene)
        begun = time.perf_counter()
        try:
            seeking = aside(lambda stop: _first(machine, around, start, goals, params, rate, stop))
            planned = yield from part(seeking, 2.0 * READ, 1.0 - 2.0 * READ)
        except NoPath as error:
            if (search := getattr(error, "search", None)) is not None:
                sought.missed_way(mover, machine, start, search)
            raise
        seconds = time.perf_counter() - begun
        first = context.scene.frame_current
        frames = first + np.arange(len(planned.path.points), dtype=np.float64)
        return Route(mover, frames, planned, seconds, names, before)

    def apply(self, context: bpy.types.Context, actor: Any, result: Route) -> str:
        mover, planned = result.mover, result.planned
        maker = f"{self.feature()} {int(result.frames[0])}"  # from the same frame on, it is made again
        if mover.type == "ARMATURE":
            angles = planned.machine.angles(planned.path.points)  # type: ignore[attr-defined]
            action = things.write_joints(mover, maker, result.frames, result.names, angles)
        else:
            unit = scene.metre(context.scene)
            places, turns = _in_scene(context, mover, planned.frames[:, 0], result.before)
            action = things.write_way(mover, maker, result.frames, places / unit, turns)
        kept = sought.plain(planned, result.seconds)
        sought.found(mover, action, kept)
        own: Any = self
        own.mover = mover.name
        for offence in planned.offences[:1]:
            self.report({"WARNING"}, str(offence))
        first, last = int(result.frames[0]), int(result.frames[-1])
        return f"{mover.name}: a way in frames {first} to {last}, {'; '.join(sought.told(kept)[:2])}"


def mover_of(context: bpy.types.Context, params: PlanParams) -> Any:
    """What goes."""
    mover = context.view_layer.objects.active
    if params.mover or mover is None:
        mover = objects.named(params.mover, "mover", "what goes, or make it active")
    if rig.is_cast(mover):
        raise InvalidParam("mover", mover.name, "is an actor: let it go or reach instead")
    objects.demand_movable(mover, "mover")
    return mover


def _thing_steps(
    context: bpy.types.Context, mover: Any, params: PlanParams
) -> Steps[tuple[Machine, Array, list[Array]]]:
    from ...core.planning.spaces.ways import between, thing_of

    goal = objects.named(params.goal, "goal", "the object whose place it takes")
    now = np.array([float(context.scene.frame_current)])
    world = yield from part(scene.read_world_steps(context, None, (), now, mover), 0.0, 0.3)
    body = next((b for b in world.bodies if b.name == mover.name), None)
    if body is None:
        raise InvalidParam("mover", mover.name, objects.faceless(mover))
    if goal == mover:
        raise InvalidParam("goal", goal.name, "is what goes: choose another object, whose place it takes")
    there = objects.matrix_of(goal, context)
    thing = yield from part(aside(lambda _stop: thing_of(body, there, params)), 0.3, 0.7)
    start, end = between(thing, there)
    return thing, start, [end]


def _machine_steps(
    context: bpy.types.Context, mover: Any, names: list[str], params: PlanParams
) -> Steps[tuple[Machine, Array, list[Array]]]:
    chain = yield from part(machines.read_chain_steps(mover, params.tip, context), 0.0, 0.5)
    start = chain.now()
    if params.action:
        action = bpy.data.actions.get(params.action)
        if action is None:
            raise InvalidParam("action", params.action, "no action of that name in this file")
        angles = machines.angles_in(mover, names, action, params.frame)
        return chain, start, [np.array([angles[h.link, h.axis] for h in chain.hinges])]
    goal = objects.named(params.goal, "goal", "an object for its last bone, or an action with a pose")
    rng = np.random.default_rng(params.seed)
    try:
        there = objects.matrix_of(goal, context)
        found = yield from part(aside(lambda _stop: chain.reaching(there, params.orient, rng)), 0.5, 0.5)
    except TroupeError as error:
        raise NoPath(f"{mover.name} does not reach {goal.name}: {error}; move one of them") from None
    return chain, start, list(found)


def _first(
    machine: Machine,
    world: World,
    start: Array,
    goals: list[Array],
    params: PlanParams,
    rate: float,
    stop: Callable[[], bool],
) -> Planned:
    """The way to the first of several goals that can be got to."""
    from ...core.planning.spaces.ways import way

    failure: TroupeError | None = None
    for goal in goals[:6]:
        try:
            return way(machine, world, start, goal, params, rate, stop)
        except NoPath as error:
            failure = failure or error
            if isinstance(error, Blocked) and error.end == "start":
                break
    assert failure is not None
    raise failure


def _in_scene(context: bpy.types.Context, mover: Any, frames: Array, before: Array) -> tuple[Array, Array]:
    """Places (T, 3) [m] and orientations (T, 4) of an object whose body is at frames (T, 4, 4) and was at `before`."""
    from ...core.maths import quat

    own = objects.matrix_of(mover, context)
    track = frames @ np.linalg.inv(before) @ own
    return track[:, :3, 3], quat.from_matrix(track[:, :3, :3])


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, actor: Any) -> None:
    """The report of the last way of what goes, and what to show of it."""
    sought.draw(layout, context, shown_mover(context))


def shown_mover(context: bpy.types.Context) -> Any:
    """What the panel reports of: the thing or machine that is named, or the active one; None when there is none."""
    own: Any = context.scene
    mover = context.scene.objects.get(own.troupe.plan.mover) or context.view_layer.objects.active
    return None if mover is None or rig.is_cast(mover) else mover
