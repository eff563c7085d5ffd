"""When a run is over, and when it is not worth beginning."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from ...errors import NoPath
from ...motion import Path
from ...world import World
from .actors import State
from .behaviours import Go
from .going import Going

REST = 0.4
"""Everybody must have stood for this long when a run ends before its time [s]."""
NOTICE = 1.0
"""Time within which everybody has noticed that what it goes by has moved [s]."""
STANDS = 0.05
"""Slower than this is standing [m/s]."""
STILL = 1e-3
"""What moves by less than this stands still [m]."""


def over(state: State, told: Mapping[str, Going], still_from: float) -> bool:
    """Whether a run may end: everybody is done and stands, and nothing they go by moves any more.

    Args:
        state: Now.
        told: What each was told, by name.
        still_from: Time from which on the things they go by stand still [s].
    """
    names, movers = state.cast.names, state.movers
    heard = still_from + NOTICE if still_from > 0.0 else 0.0
    if state.clock < heard or not all(
        told[n].done(m) or m.behaviour is not told[n] for n, m in zip(names, state.minds, strict=True)
    ):
        return False
    back = round(REST * state.tick / max(state.clock, 1e-9)) if state.tick else 0
    if state.tick < back or not back:
        return False
    moved = np.abs(state.track[-1][:, :2] - state.track[-1 - back][:, :2]).max()
    return bool(moved < STANDS * REST and np.hypot(movers.speed, movers.side).max() < STANDS)


def still_from(names: Collection[str], world: World, places: Mapping[str, Path]) -> float:
    """Time from which on some named places, actors and bodies stand still [s]."""
    last = 0.0
    for name in names:
        points, times = np.zeros((1, 2)), np.zeros(1)
        if name in places and places[name].times is not None:
            points, times = places[name].points[:, :2], np.asarray(places[name].times)
        elif name in world.actors:
            motion = world.actors[name]
            points, times = (motion.roots if motion.base is None else motion.base)[:, :2], motion.times
        away = np.flatnonzero(np.abs(points - points[-1]).max(axis=1) > STILL)
        if len(away):
            last = max(last, float(times[min(away[-1] + 1, len(times) - 1)]))
    return last


def demand_ways(state: State, still: bool) -> None:
    """Raise NoPath for somebody who has no way to where it was told to go, where nothing moves that might open one.

    Args:
        state: After the first steps.
        still: Whether neither bodies nor goals move.
    """
    if not still or state.chart.movers or len(state.cast.names) > 1:
        return
    for name, mind in zip(state.cast.names, state.minds, strict=True):
        if isinstance(mind.behaviour, Go) and mind.blocked:
            said = [line["why"] for line in state.transcript if line["actor"] == name and line["what"] == "waits"]
            raise NoPath(f"{name} cannot get there: {said[-1] if said else 'there is no way'}")
