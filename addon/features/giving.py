"""One actor hands something to another: a result for each, and the thing goes from one hand into the other."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...core.errors import InvalidParam, TroupeError
from ...core.kinematics.cast import Cast
from ...core.landing import LandingParams
from ...core.planning.hands.orders import ReachParams
from .. import bake, rig, scene
from ..bake import holding, results
from ..steps import Steps, aside, part
from . import handling, objects, sought
from .errand import DONE, READ, Errand, Onset, heading_of, onset_of
from .motions import recipe_for

if TYPE_CHECKING:
    from ...core.planning.hands.interlaced import HandedOver
    from .reach import Handled


@dataclass(frozen=True, eq=False)
class Taker:
    """Who takes it: actor, keys, recipe, record and what is done to the prop."""

    actor: Any
    cast: Cast
    onset: Onset
    owner: str


def taker_of(actor: Any, params: ReachParams) -> Any:
    """The actor to whom something is handed; None when it is taken to a place."""
    if params.task != "hand_over":
        return None
    if not params.destination:
        return None
    ob = objects.named(params.destination, "destination", "who takes it, or where")
    armature = scene.armature_of(ob)
    if armature is None or not rig.is_cast(armature):
        return None
    if armature == actor:
        raise InvalidParam("destination", params.destination, "is the actor itself: choose somebody else")
    return armature


def plan_steps(
    maker: Any,
    context: bpy.types.Context,
    actor: Any,
    other: Any,
    params: ReachParams,
    landing: LandingParams,
    onset: Onset,
) -> Steps[Handled]:
    """Steps to what both do; the plan of the giver has that of the taker with it."""
    cast, there = rig.read(actor, context), rig.read(other, context)
    owner = handling.owner_of(actor, onset.number)
    work = yield from part(Errand.read_steps(context, actor, cast, params, onset, owner), 0.0, READ)
    if work.size != 1.0:
        raise TroupeError(f"{actor.name} is too large or small to hand things over; scale it to a person first")
    taker = _taker(context, other, there, onset)
    full = handling.held(other, onset.frame, taker.owner)
    if len(full) == 2:
        raise TroupeError(f"both hands of {other.name} are full: let it put something back first")
    begun = time.perf_counter()
    done = yield from part(aside(lambda stop: _handed(work, taker, full, stop)), READ, DONE - READ)
    seconds = time.perf_counter() - begun
    rate = scene.fps(context.scene)
    giver = replace(done.giver, performance=done.performance, holding=None, offences=done.offences)
    yield from part(work.check_steps(context, giver), DONE, READ)
    hold, record = work.kept(context, giver)
    assert hold is not None
    closed = float(onset.frame + round(done.closed * rate))
    hold, record = _until(context, work, done, hold, record, closed)
    motions = done.performance.motions
    keying = maker.keys_steps(context, actor, cast, motions[actor.name], landing, onset)
    keys = yield from part(keying, DONE + READ, 0.5 * READ)
    takes = replace(done.receiver, idle=None)
    keying = maker.parted_steps(context, other, there, motions[other.name], takes, landing, taker.onset)
    own, grip = yield from part(keying, DONE + 1.5 * READ, 0.5 * READ)
    made = type_of_plan()
    first, last = onset.frame, onset.frame + len(motions[other.name]) - 1
    taken = {
        **record,
        "owner": taker.owner,
        "side": done.receiver.side,
        "first": first,
        "last": last,
        "taken": closed,
        "released": None,
        "stays": True,
        "tie": taker.owner,
        "heading": heading_of(taker.onset),
        "holding": handling.holding_plain(done.receiver.holding),
        "also": [],
    }
    holds = done.performance.attachments[-1]
    tie = holding.Hold(taker.owner, other.name, holds.joint, closed, closed, None, None, taker.owner)
    recipe = recipe_for(context, maker.feature(), params, landing, taker.onset)
    recipe["start"] |= {"with": actor.name}
    fellow = made(own, f"take {work.target.name}", recipe, taken, tie, {}, (), None, grip)
    mine = recipe_for(context, maker.feature(), params, landing, onset)
    mine["start"] |= {"taker": taker.onset.to_plain()}
    trace = sought.of_hand(giver, seconds, 1.0)
    notes = tuple(str(o) for o in done.offences[:1])
    return made(keys, work.title(), mine, record, hold, trace, notes, (other.name, fellow))


def type_of_plan() -> type[Handled]:
    """The record of a result before it is written."""
    from .reach import Handled

    return Handled


def _taker(context: bpy.types.Context, other: Any, cast: Cast, onset: Onset) -> Taker:
    """Who takes it, as it is at the frame where the giver begins."""
    now = context.scene.frame_current
    try:
        if now != onset.frame:
            context.scene.frame_set(onset.frame)
        here = onset_of(other, cast, context, None)
    finally:
        if context.scene.frame_current != now:
            context.scene.frame_set(now)
    mine = [f for f in results.results_of(other) if _made_with(f.action, onset)]
    number = (results.recipe_of(mine[0].action) or {})["start"]["number"] if mine else here.number
    here = Onset(onset.frame, here.here, here.ground, here.moving, number)
    if mine:  # made again: as it was, and not as it is on the way
        start = (results.recipe_of(mine[0].action) or {})["start"]
        known = bake.Start.from_plain(start, cast)
        here = Onset(known.frame, known.here, known.ground, known.moving, number)
    return Taker(other, cast, here, handling.owner_of(other, number))


def _made_with(action: Any, onset: Onset) -> bool:
    start = (results.recipe_of(action) or {}).get("start", {})
    return "with" in start and start.get("frame") == onset.frame


def _handed(work: Errand, taker: Taker, full: dict[str, Any], stop: Callable[[], bool]) -> HandedOver:
    from ...core.planning.hands.hand_over import hand_over
    from ...core.planning.hands.searching import in_sight

    hand = "auto" if not full else "R" if "L" in full else "L"
    own = replace(work.job.params, hand=hand)
    job = replace(work.job, should_stop=stop, destination=None)
    other = replace(
        job,
        skeleton=taker.cast.skeleton,
        pose=taker.onset.here.pose(0),
        params=own,
        actor=taker.actor.name,
        holding=None,
        other=None,
    )
    return hand_over(in_sight(job) if own.sighted or own.search else job, other)


def _until(
    context: bpy.types.Context,
    work: Errand,
    done: HandedOver,
    hold: holding.Hold,
    record: dict[str, Any],
    closed: float,
) -> tuple[holding.Hold, dict[str, Any]]:
    """The hold of the giver, which ends when the other one's fingers have closed."""
    body = objects.body_of(work.job.world, work.target)
    now = context.scene.frame_current
    context.scene.frame_set(work.onset.frame)
    left = objects.in_scene(np.asarray(done.meeting), body.matrices[0], work.target, context)
    context.scene.frame_set(now)
    both = [{**r, "released": closed, "holding": None, "stays": False} for r in (record, *record.get("also", ()))]
    lead, *others = both
    return replace(hold, released=closed, left=left), {**lead, "also": others}


def written(context: bpy.types.Context, maker: Any, name: str, plan: Handled) -> None:
    """Write what the other one does, for the first time or again."""
    other = context.scene.objects[name]
    owner = plan.record["owner"]
    known = [f for f in results.results_of(other) if (handling.record_of(f.action) or {}).get("owner") == owner]
    found = next(iter(known), None)
    if found is None:
        action = bake.write(other, plan.keys, context, f"{name} {plan.title}", recipe=plan.recipe).action
        other.troupe.result = action.name
    else:
        action = bake.rewrite(other, found.action, plan.keys, plan.recipe).action
    maker.written(context, other, action, plan)
