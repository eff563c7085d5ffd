"""Move a cast for one step: wait in front of doors, dodge others and walls, walk, and notice what came of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...skeleton import Array
from ...world import World
from ..ways.chart import DIRECTIONS, clearance, rooms
from . import avoid, doorway
from .actors import Mind, Plan, State
from .courses import blocked_at
from .deciding import Note, note
from .follow import Movers, advance, wish
from .guests import guests

SETTLED = 0.3
"""Who has arrived and is pushed by less than this stays where it is [m]."""
CROWDED = 0.5
"""Who is held up by others this near to its goal has arrived [m]."""
LEAN = 1.1
"""How much more than its turning needs one who runs may accelerate."""
BEFORE = 0.6
"""Who is as near as this to what opens may go through at once [m]."""
PATIENCE = 6.0
"""What stays open for this long is taken to be open for good [s]."""
ASIDE = 2.5
"""Who wants to move and cannot for this long steps aside [s]."""


def allowed(state: State, dt: float) -> tuple[State, Array, Array, list[Note]]:
    """How each may go where others pass.

    Returns:
        The state; (A,) share of its speed at which each may go, less in front of doors, 0 to stand; (A, 2) where those
        wait who would stand in the way of others, NaN for those who do not; and notes.
    """
    cast, movers = state.cast, state.movers
    notes: list[Note] = []
    minds = list(state.minds)
    go = np.array([m.order.pace if m.plan is not None else 0.0 for m in minds])
    passages: list[doorway.Passage | None] = [None] * len(minds)
    for k, m in enumerate(minds):
        if m.plan is not None and len(m.plan.narrow) and not m.arrived:
            passages[k] = doorway.next_passage(m.plan.points, m.plan.narrow, float(movers.along[k]))
    room = np.full(len(go), np.inf)
    passing = [False] * len(go)
    spots = np.full((len(go), 2), np.nan)
    if any(p is not None for p in passages):
        priority = np.array([s.style.priority for s in cast.setups])
        waited = np.array([m.waited for m in minds])
        room, against, passing = doorway.holds(passages, priority, waited, [m.passing for m in minds])
        for k in np.flatnonzero(against).tolist():
            passage = passages[k]
            if passage is not None and passage.ahead < doorway.ASIDE_FROM:
                walk = state.chart.walkable(float(cast.radius[k]))
                spots[k] = doorway.waiting_place(passage, movers.place[k], walk, float(cast.radius[k]))
    for k, mind in enumerate(minds):
        held = bool(np.isfinite(room[k]))
        if held and mind.waited == 0.0:
            notes.append(note(state, k, "lets others pass", "only one can go through at a time"))
        if held or mind.waited > 0.0 or passing[k] != mind.passing:
            minds[k] = replace(mind, waited=mind.waited + dt if held else 0.0, passing=passing[k])
        if mind.committed and mind.plan is not None:
            minds[k], ahead = _before_barrier(state, k, minds[k], mind.plan, dt)
            room[k] = min(room[k], ahead - 0.25)
    go = np.minimum(go, np.maximum(room, 0.0) * cast.gains.goal_gain / cast.speed)
    go[[state.clock < m.frozen_until for m in minds]] = 0.0
    go[np.isfinite(spots[:, 0])] = 0.0
    return replace(state, minds=tuple(minds)), go, spots, notes


def _before_barrier(state: State, me: int, mind: Mind, plan: Plan, dt: float) -> tuple[Mind, float]:
    """How far one may go who keeps to a way that something opens and shuts [m]; it goes through when that opens.

    Whoever comes while it is open cannot know for how long it will be: it waits for the next time.
    """
    along, radius = float(state.movers.along[me]), float(state.cast.radius[me])
    ahead = blocked_at(plan, along, state.chart.walkable(radius), radius, 12.0)
    if np.isfinite(ahead):
        return replace(mind, barrier=along + ahead, ready=ahead < BEFORE, patience=0.0), ahead
    if mind.ready or along > mind.barrier or mind.patience > PATIENCE:
        return mind, np.inf
    waits = replace(mind, patience=mind.patience + dt if mind.barrier - along < BEFORE else mind.patience)
    return waits, mind.barrier - along


def moved(state: State, world: World, go: Array, spots: Array, dt: float) -> State:
    """Everybody a step on, at `go` (A,) of its speed, or aside to `spots` (A, 2)."""
    cast, movers = state.cast, state.movers
    there = np.array([m.order.there for m in state.minds])
    want = wish(movers, state.ways, cast.gains, go, there)
    course = np.stack([np.sin(want.bearing), -np.cos(want.bearing)], axis=-1)
    asked = np.where(go > 0, want.free_speed, 0.0)[:, None] * course
    wanted = asked + _returning(state)
    off = spots - movers.place
    far = np.hypot(off[:, 0], off[:, 1])
    with np.errstate(invalid="ignore"):
        pull = np.where(far > 0.1, np.minimum(1.2 * far, 0.8) / np.maximum(far, 1e-9), 0.0)[:, None] * off
    wanted = np.where(np.isfinite(spots), pull, wanted)
    aside = np.array([m.aside_until > state.clock for m in state.minds])
    wanted[aside] = _turned(wanted[aside], -1.1)
    dodge = (wanted if cast.params.faithful else _steered(state, world, wanted, dt)) - asked
    final = np.array([_facing(m, p) for m, p in zip(state.minds, movers.place, strict=True)])
    after = advance(movers, state.ways, cast.gains, dt, cast.step, go, dodge, final, there)
    after = after if cast.params.faithful else _braced(state, after, dt)
    tick = state.tick + 1
    base = np.column_stack([after.place, after.heading])
    state = replace(state, movers=after, dodge=dodge, tick=tick, clock=tick * dt, track=(*state.track, base))
    return _noticed(state, want.free_speed, go, dt)


def _returning(state: State) -> Array:
    """(A, 2) velocity back to where one has arrived and was pushed away from [m/s]."""
    off = state.ways.goal - state.movers.place
    far = np.hypot(off[:, 0], off[:, 1])
    settled = np.array([m.arrived for m in state.minds]) & (far > SETTLED)
    out: Array = np.where(settled[:, None], 0.8 * off, 0.0)
    return out


def _turned(vectors: Array, angle: float) -> Array:
    s, c = np.sin(angle), np.cos(angle)
    return np.stack([c * vectors[:, 0] - s * vectors[:, 1], s * vectors[:, 0] + c * vectors[:, 1]], axis=-1)


def _facing(mind: Mind, place: Array) -> float:
    """Heading to take when standing [rad]; NaN for any."""
    if mind.order.face is not None:
        off = mind.order.face - place
        return float(np.arctan2(off[0], -off[1])) if float(np.hypot(*off)) > 0.05 else float("nan")
    return mind.order.facing


def _steered(state: State, world: World, wanted: Array, dt: float) -> Array:
    """(A, 2) wanted velocities made safe [m/s]."""
    cast, movers, params = state.cast, state.movers, state.cast.params
    place, velocity = movers.place, movers.velocity
    radius = cast.radius + params.room / 2
    pace = np.hypot(wanted[:, 0], wanted[:, 1])
    priority = np.array([s.style.priority for s in cast.setups])
    frozen = np.array([state.clock < m.frozen_until for m in state.minds])
    waits = np.array([m.waited > 0 for m in state.minds])
    yielding = np.where(pace > 0.05, 1.0, 0.5) / (1.0 + priority)
    passes = np.array([m.passing for m in state.minds])
    yielding = np.where(waits, 2.0 * yielding, np.where(passes, 0.3 * yielding, yielding))
    # who has arrived makes room for those it holds up
    stalled = np.array([m.stalled > (0.2 if m.passing else 0.6) for m in state.minds])
    intent = np.where(stalled[:, None] | passes[:, None], 0.6 * wanted + 0.4 * velocity, velocity)
    if stalled.any():
        off = place[:, None] - place[None, stalled]
        beside = ((off * off).sum(axis=-1) < (2.0 * cast.radius[:, None] + 0.6) ** 2).any(axis=1)
        yielding = np.where(beside & ~stalled & ((pace <= 0.05) | waits), 4.0, yielding)
    yielding[frozen] = 0.05
    there, drift = guests(cast, world, state.clock)
    if len(there):
        place = np.concatenate([place, there])
        velocity = np.concatenate([velocity, drift])
        intent = np.concatenate([intent, drift])
        radius = np.concatenate([radius, np.full(len(there), params.radius + params.room / 2)])
        yielding = np.concatenate([yielding, np.zeros(len(there))])
    room = np.empty((len(wanted), len(DIRECTIONS)))
    for size in np.unique(cast.radius):
        rows = np.flatnonzero(cast.radius == size)
        room[rows] = rooms(state.chart.walkable(float(size)), movers.place[rows], cast.radius[rows])
    fastest = np.maximum(1.15 * pace, 0.7)
    if len(place) == 1 and not np.isfinite(room).any():
        return wanted
    sought = np.array([cast.index(m.order.seek) if m.order.seek else -1 for m in state.minds])
    crowd = avoid.Crowd(place, velocity, intent, radius, yielding, sought)
    return avoid.steer(crowd, wanted, fastest, (DIRECTIONS, room), params.horizon)


def _braced(state: State, after: Movers, dt: float) -> Movers:
    """Movers who do not bump into each other: braced before they would, apart again if they did."""
    cast = state.cast
    movable = np.array([0.0 if state.clock < m.frozen_until else 1.0 for m in state.minds])
    before, velocity = state.movers.velocity, after.velocity
    kept = avoid.unhit(after.place, velocity, cast.radius, movable)
    # who runs leans into its turns
    most = np.maximum(avoid.HARDEST, LEAN * np.abs(after.speed) * cast.gains.turn_rate)
    kept = _eased(before, kept, most * dt)
    change = kept - velocity
    braced = (change != 0.0).any(axis=1)
    if not braced.any():
        return after
    sin, cos = np.sin(after.heading), np.cos(after.heading)
    speed = after.speed + change[:, 0] * sin - change[:, 1] * cos
    side = after.side + change[:, 0] * cos + change[:, 1] * sin
    # the step itself is taken with what was braced to, so that nobody moves by more than its legs gave it
    place = state.movers.place + dt / 2 * (before + kept)
    walk = state.chart.walkable(float(cast.radius.max()))
    worse = clearance(walk, place) < np.minimum(clearance(walk, after.place), cast.radius + walk.cell / 2)
    place = np.where((braced & ~worse)[:, None], place, after.place)
    return replace(after, place=place, speed=speed, side=side)


def _eased(before: Array, after: Array, most: Array) -> Array:
    """Velocities (A, 2) that differ from those before by no more than `most` (A,) [m/s]."""
    change = after - before
    size = np.sqrt((change * change).sum(axis=-1))
    out: Array = before + change * np.minimum(most / np.maximum(size, 1e-9), 1.0)[:, None]
    return out


def _noticed(state: State, wanted: Array, go: Array, dt: float) -> State:
    """Take note of who has arrived and who wants to move and cannot."""
    cast, movers = state.cast, state.movers
    left = np.hypot(*(state.ways.goal - movers.place).T)
    pace = np.hypot(movers.speed, movers.side)
    stuck = (wanted > 0.15) & (go > 0.05) & (pace < 0.12)
    minds, notes = list(state.minds), []
    for k, mind in enumerate(minds):
        if mind.plan is None:
            if mind.stalled:
                minds[k] = replace(mind, stalled=0.0)
            continue
        stalled = mind.stalled + dt if stuck[k] and not mind.arrived else max(0.0, mind.stalled - 2 * dt)
        reached = left[k] <= cast.gains.arrive[k] * 1.5
        crowded = stalled > ASIDE and left[k] < CROWDED + cast.radius[k]
        if not mind.arrived and ((reached and pace[k] < 0.05) or crowded):
            why = "others stand on its goal" if crowded else "it is at its goal"
            notes.append(note(state, k, "arrives", f"{why}: {mind.order.name}" if mind.order.name else why))
            minds[k] = replace(mind, arrived=True, stalled=0.0, committed=False, courses=())
        elif stalled > ASIDE and mind.aside_until < state.clock:
            wait = 0.5 + float(np.random.default_rng([cast.params.seed, k, mind.draws]).random())
            notes.append(note(state, k, "steps aside", "it cannot get on"))
            minds[k] = replace(mind, stalled=0.0, aside_until=state.clock + wait, draws=mind.draws + 1)
        elif stalled != mind.stalled:
            minds[k] = replace(mind, stalled=stalled)
    return replace(state, minds=tuple(minds), transcript=state.transcript + tuple(notes))
