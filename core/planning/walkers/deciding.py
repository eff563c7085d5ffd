"""Between two moments: take commands, let everybody decide, and find everybody a way to where it wants to go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import InvalidParam, NoPath
from ...skeleton import Array
from ...world import World
from .actors import Command, Mind, Order, Plan, State
from .courses import BETTER, FLIPS, MEMORY, blocked_at, planned, with_course
from .follow import wish
from .guests import guests, stands_in
from .polylines import at, ways
from .sensors import Senses

Note = Mapping[str, Any]
RETRY = 0.5
"""Time between two searches of one who has no way or whose goal moves [s]."""
TOWED = 0.4
"""A goal that moves on by less than this takes the end of the way along, between two searches [m]."""
STALL = 1.5
"""Who wants to move and cannot for this long looks for another way [s]."""


def note(state: State, me: int, what: str, why: str) -> Note:
    """A line of the transcript."""
    return {"time": round(state.clock, 6), "actor": state.cast.names[me], "what": what, "why": why}


def told(state: State, commands: Sequence[Command]) -> tuple[State, list[Note]]:
    """Take commands from outside."""
    notes, minds = [], list(state.minds)
    for command in commands:
        me = state.cast.index(command.actor)
        if me < 0:
            raise InvalidParam("actor", command.actor, f"must be one of {', '.join(state.cast.names)}")
        if command.behaviour is not None:
            minds[me] = replace(minds[me], behaviour=command.behaviour, memory=command.behaviour.begin())
            notes.append(note(state, me, type(command.behaviour).__name__, "told so"))
        if command.freeze > 0:
            minds[me] = replace(minds[me], frozen_until=state.clock + command.freeze)
    return replace(state, minds=tuple(minds)), notes


def thought(state: State, world: World, dt: float) -> tuple[State, list[Note]]:
    """Let those whose turn it is decide; turns are spread over the ticks."""
    every = max(1, round(state.cast.params.think / dt))
    notes: list[Note] = []
    minds, board = list(state.minds), state.blackboard
    for me, mind in enumerate(minds):
        if (state.tick + me) % every and state.tick:
            continue
        senses = Senses(replace(state, blackboard=board), world, me, state.cast.params.seed)
        memory, order = mind.behaviour.think(mind.memory, senses)
        minds[me] = replace(minds[me], memory=memory, order=order, draws=mind.draws + senses.drawn)
        notes += senses.notes
        if senses.facts:
            board = {**board, **senses.facts}
        for name, seconds in senses.freezes.items():
            other = state.cast.index(name)
            minds[other] = replace(minds[other], frozen_until=state.clock + seconds)
    return replace(state, minds=tuple(minds), blackboard=board), notes


def decided(state: State, world: World, changed: bool) -> tuple[State, list[Note]]:
    """Make, keep or drop the plan of everybody."""
    notes: list[Note] = []
    company = guests(state.cast, world, state.clock)
    minds, along = list(state.minds), state.movers.along.copy()
    renewed = False
    searches, cells = state.searches, state.cells
    for me, mind in enumerate(minds):
        if not mind.order.going:
            if mind.plan is not None or mind.blocked:
                minds[me] = replace(mind, plan=None, blocked=False, arrived=False, committed=False)
                renewed = True
            continue
        why = _why_plan(state, me, mind, changed)
        if not why:
            plan = _towed(state, me, mind)
            if plan is not mind.plan:
                minds[me] = replace(mind, plan=plan)
                renewed = True
            continue
        was = mind.plan
        searches += 1
        try:
            mind, plan = _new_plan(state, me, mind, why, company)
        except NoPath as error:
            if not mind.blocked:
                notes.append(note(state, me, "waits", str(error)))
            minds[me] = replace(mind, plan=None, blocked=True, arrived=False, asked=_asked(state, mind.order))
            renewed = True
            continue
        if plan is not mind.plan:
            cells += plan.cells
            said = f"{why}: {mind.order.name}" if mind.order.name else why
            notes.append(note(state, me, "goes" if was is None else "replans", said))
            along[me] = 0.0
            renewed = True
        if mind.committed and not state.minds[me].committed:
            notes.append(note(state, me, "keeps to its way", f"it turned round {FLIPS} times within {MEMORY:g} s"))
        if was is not plan:
            mind = replace(mind, arrived=False, barrier=np.inf, ready=False)
        minds[me] = replace(mind, plan=plan, blocked=False)
    state = replace(state, searches=searches, cells=cells)
    if not renewed:
        return replace(state, minds=tuple(minds)), notes
    lines = [m.plan.points if m.plan is not None else p[None] for m, p in zip(minds, state.movers.place, strict=True)]
    movers = replace(state.movers, along=along)
    return replace(state, minds=tuple(minds), ways=ways(lines), movers=movers), notes


def _asked(state: State, order: Order) -> tuple[float, float, float]:
    return (float(order.goals[0, 0]), float(order.goals[0, 1]), state.clock)


def _why_plan(state: State, me: int, mind: Mind, changed: bool) -> str:
    """Why a way must be sought now; empty when there is no need."""
    x, y, when = mind.asked
    age = state.clock - when
    moved = float(np.hypot(mind.order.goals[0, 0] - x, mind.order.goals[0, 1] - y))
    left = max(float(np.hypot(*(mind.order.goals[0] - state.movers.place[me]))) - mind.order.stop, 0.0)
    if mind.plan is None:
        return "a goal" if moved > 1e-3 or age >= RETRY else ""
    slack = min(0.25, 0.1 * left + 0.05)
    if moved > slack and (not mind.committed or moved > 1.0) and (age >= RETRY or moved > 1.0):
        return "the goal moved"
    if changed and not mind.committed:
        walk = state.chart.walkable(float(state.cast.radius[me]))
        if np.isfinite(blocked_at(mind.plan, float(state.movers.along[me]), walk, float(state.cast.radius[me]))):
            return "the way is blocked"
    if mind.committed or mind.arrived:
        return ""
    if mind.stalled > STALL and age >= STALL:
        return "it is held up"
    return "time to look again" if age >= state.cast.params.replan + 0.05 * (me % 8) else ""


def _towed(state: State, me: int, mind: Mind) -> Plan | None:
    """The way with its end where the goal is now, if that is near and in sight of the last bend; else as it was.

    Without it one who has caught up with a goal that moves would turn back to where it was at the last search.
    """
    plan, order = mind.plan, mind.order
    if plan is None or len(plan.points) < 2 or len(order.goals) != 1:
        return plan
    shift = order.goals[0] - plan.target
    if not 1e-3 < np.hypot(*shift) < TOWED:
        return plan
    points = np.concatenate([plan.points[:-1], plan.points[-1:] + shift])
    walk = state.chart.walkable(float(state.cast.radius[me]))
    return replace(plan, points=points, target=order.goals[0]) if bool(walk.clear(*points[-2:])) else plan


def _new_plan(state: State, me: int, mind: Mind, why: str, company: tuple[Array, Array]) -> tuple[Mind, Plan]:
    """The way to take from now on: a new one, or the old one where that is hardly longer."""
    crowd = state.cast.params.others
    if why == "it is held up":
        crowd = "current" if crowd != "none" else "none"
    goal_moved = why in ("a goal", "the goal moved")
    plan = planned(state, state.chart, me, mind.order, crowd, company)
    mind = replace(mind, asked=_asked(state, mind.order))
    if why == "the goal moved":
        # who runs after somebody turns as often as that one does
        mind = replace(mind, courses=(), committed=False)
    old = mind.plan
    if old is not None and not goal_moved and why == "time to look again":
        along = float(state.movers.along[me])
        left = _length(old.points) - along
        room = float(state.cast.radius[me]) + state.cast.params.radius
        held = _strays(state, me) or (crowd != "none" and stands_in(old, along, company, room))
        if not held and _length(plan.points) > BETTER * left:
            return mind, old
    mind, dithers = with_course(mind, plan, state.clock, state.cast.params.guard)
    if dithers and not mind.committed:
        mind = replace(mind, committed=True, courses=())
    return mind, plan


def _strays(state: State, me: int) -> bool:
    """Whether an actor was pushed so far off its way that it should not go back to it."""
    want = wish(state.movers, state.ways, state.cast.gains)
    return float(np.hypot(*(at(state.ways, want.along)[me] - state.movers.place[me]))) > 0.6


def _length(points: Array) -> float:
    return float(np.hypot(*np.diff(points, axis=0).T).sum())
