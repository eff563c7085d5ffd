"""Let a cast find its ways: everybody senses, decides, plans, dodges the others and walks, step by step.

The loop of sensing, planning and acting of Kuffner, "Autonomous Agents for Real-Time Animation" (1999), chapters 2 and
3, with several actors on one map. A step depends on nothing but the state, the world and the commands it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...errors import Cancelled, InvalidParam
from ...gait.travel import travel
from ...motion import Event, Motion, Path
from ...performance import Performance
from ...world import World
from ..ways.chart import charted, recharted, widened
from ..ways.walkable import WalkableParams
from .actors import FOLLOW, ActorSetup, Cast, Command, Mind, NavigateParams, State
from .deciding import decided, thought, told
from .follow import FAITHFUL, gains, settled, standing
from .moving import allowed, moved
from .polylines import ways
from .verify import Report, jolt, verify

AXES = ("x", "y", "heading")


def begin(
    world: World,
    actors: Mapping[str, ActorSetup],
    params: NavigateParams | None = None,
    places: Mapping[str, Path] | None = None,
) -> State:
    """The state before the first step.

    Args:
        world: Ground, obstacles and other actors.
        actors: The cast by name.
        params: What holds for all.
        places: Named places, standing or moving: paths whose first axes are x, y.
    """
    params = params or NavigateParams()
    if not actors:
        raise InvalidParam("actors", {}, "must name at least one actor")
    setups = tuple(actors.values())
    radius = np.array([s.style.radius or params.radius for s in setups])
    speed = np.array([s.style.pace * params.speed for s in setups])
    follows = [settled(FAITHFUL if params.faithful and s.style.follow == FOLLOW else s.style.follow) for s in setups]
    map_params = replace(params.map, radius=float(radius.min()))
    spots = [np.array([s.base[:2] for s in setups])] + [p.points[:, :2] for p in (places or {}).values()]
    growth = WalkableParams.faithful() if params.faithful else WalkableParams()
    chart = charted(world, map_params, np.concatenate(spots), growth=growth)
    reach = np.maximum(2 * chart.map.cell, np.array([f.look_ahead for f in follows]) * speed)
    cast = Cast(
        tuple(actors),
        setups,
        dict(places or {}),
        radius,
        speed,
        gains(follows, speed, reach),
        min(f.step for f in follows),
        params,
    )
    movers = standing([s.base for s in setups])
    minds = tuple(Mind(s.behaviour, s.behaviour.begin()) for s in setups)
    base = np.column_stack([movers.place, movers.heading])
    still = ways([p[None] for p in movers.place])
    return State(cast, 0, 0.0, movers, minds, chart, still, np.zeros((len(setups), 2)), (base,))


def step(state: State, world: World, commands: Sequence[Command] = (), dt: float = 1 / 24) -> State:
    """Everybody thinks, plans and moves for `dt` seconds."""
    chart = recharted(state.chart, world, state.clock)
    changed = chart.version != state.chart.version
    state = replace(state, chart=chart)
    state, notes = told(state, commands)
    state, more = thought(state, world, dt)
    notes += more
    goals = np.concatenate([m.order.goals for m in state.minds])
    chart = widened(state.chart, world, goals, state.clock)
    changed = changed or chart is not state.chart
    state = replace(state, chart=chart)
    state, more = decided(state, world, changed)
    notes += more
    state, go, spots, more = allowed(state, dt)
    notes += more
    state = moved(state, world, go, spots, dt)
    return replace(state, transcript=state.transcript + tuple(notes) if notes else state.transcript)


def play(
    state: State,
    world: World,
    until: float,
    dt: float | None = None,
    should_stop: Callable[[], bool] | None = None,
    progress: Callable[[float], None] | None = None,
) -> State:
    """Step until a time [s]; pausing and going on later gives the same as going through."""
    dt = 1.0 / world.fps if dt is None else dt
    count = round(until / dt)
    while state.tick < count:
        if should_stop is not None and should_stop():
            raise Cancelled("navigation was stopped")
        state = step(state, world, (), dt)
        if progress is not None:
            progress(state.tick / count)
    return state


def run(
    state: State,
    world: World,
    until: float,
    dt: float | None = None,
    should_stop: Callable[[], bool] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Performance:
    """Step until a time [s] and put feet under everybody: `play` and `performed` in one."""
    return performed(play(state, world, until, dt, should_stop, progress), world, dt)


def performed(state: State, world: World, dt: float | None = None) -> Performance:
    """Put feet under what the cast has done so far.

    Returns:
        A motion for every actor with a skeleton, the events of arriving and the transcript.
    """
    motions = {
        name: walked(state, world, name, dt)
        for name, setup in zip(state.cast.names, state.cast.setups, strict=True)
        if setup.skeleton is not None and len(state.track) > 1
    }
    events = [Event(e["time"], "cue", dict(e)) for e in state.transcript if e["what"] in ("arrives", "touches")]
    return Performance(motions, events=tuple(events), transcript=state.transcript)


def walked(state: State, world: World, name: str, dt: float | None = None) -> Motion:
    """Put feet under what one actor, who has a skeleton, has done so far."""
    setup = state.cast.setups[state.cast.index(name)]
    if setup.skeleton is None:
        raise InvalidParam("name", name, "has no skeleton to walk with")
    ground = world if any(b.kind == "ground" for b in world.bodies) else None
    track, style = base_track(state, name, world.fps if dt is None else 1.0 / dt), setup.style.travel
    start = setup.start
    if start is None:
        # everybody stands at first, however soon it is off
        still = replace(track, points=np.tile(track.points[0], (2, 1)), times=np.arange(2) / world.fps)
        start = travel(setup.skeleton, still, style, ground).pose(0)
    return travel(setup.skeleton, track, style, ground, start)


def base_track(state: State, name: str, fps: float) -> Path:
    """Where an actor has been so far: x, y, heading at even times."""
    k = state.cast.index(name)
    points = np.array([row[k] for row in state.track])
    return Path(points, AXES, np.arange(len(points)) / fps)


def reported(state: State, performance: Performance, world: World, seconds: float) -> Report:
    """What came of a run, for the user.

    Args:
        state: At its end.
        performance: Made of it.
        world: In which it took place.
        seconds: Time it took to compute, measured by the caller [s].
    """
    fps = world.fps
    tracks = {name: base_track(state, name, fps) for name in state.cast.names}
    offences = verify(tracks, world, dict(zip(state.cast.names, state.cast.radius.tolist(), strict=True)))
    length = sum(float(np.hypot(*np.diff(t.points[:, :2], axis=0).T).sum()) for t in tracks.values())
    return Report(
        seconds=seconds,
        success=all(m.arrived or not m.order.going for m in state.minds),
        length=length,
        searches=state.searches,
        cells=state.cells,
        checks=len(tracks) * (2 * len(state.track) - 1),
        offences=offences,
        acceleration=max([jolt(m) for m in performance.motions.values()], default=0.0),
    )


def direct(
    world: World,
    actors: Mapping[str, ActorSetup],
    params: NavigateParams | None = None,
    should_stop: Callable[[], bool] | None = None,
    progress: Callable[[float], None] | None = None,
    places: Mapping[str, Path] | None = None,
) -> Performance:
    """Begin, run for the seconds of the params and perform: all in one call."""
    params = params or NavigateParams()
    return run(begin(world, actors, params, places), world, params.seconds, None, should_stop, progress)
