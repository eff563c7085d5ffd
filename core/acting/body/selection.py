"""When selections take effect: at once, at the right phase, or after the safe poses on the way to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...skeleton import Array
from ..repertoire.weights import Entry, History, entry_weights, pruned
from .clock import entry_time
from .stage import Stage
from .tracks import Track

NEGLIGIBLE = 0.001
"""Weight up to which an action in a group may be passed over."""
_PERIODIC = 0.05
"""Weight of periodic actions below which no phase needs to be waited for."""


@dataclass(frozen=True)
class Request:
    """An action that was asked for but has not begun, and where the clock then stood [rad]."""

    action: str
    since: float
    phase: float
    target: str = ""
    fade: float | None = None


class GroupState(NamedTuple):
    """Selections of a group and what is still asked of it."""

    history: History
    request: Request | None = None


class Outlook(NamedTuple):
    """What a group does next: the time of it, and its state then. `lapsed` when a request was given up."""

    time: float
    state: GroupState
    lapsed: str = ""


def settled(stage: Stage, group: int, state: GroupState, now: float) -> GroupState:
    """The state without selections that can no longer be seen."""
    if len(state.history) == 1:
        return state
    return state._replace(history=pruned(state.history, stage.ramps(group, state.history), now))


def next_change(
    stage: Stage,
    group: int,
    states: tuple[GroupState, ...],
    styles: Mapping[str, Track],
    now: float,
    phase: Callable[[], float],
    until: float,
) -> Outlook | None:
    """The next thing that happens in a group from `now` to `until` [s] if nobody gives an order; None for nothing.

    Args:
        stage: The body.
        group: Number of the group.
        states: Of all groups.
        styles: Style parameters.
        now: [s].
        phase: Gives that of the clock at `now` [rad].
        until: [s].
    """
    state = states[group]
    ending = _ending(stage, group, state, phase, until)
    if state.request is None:
        return ending
    coming = _coming(stage, group, states, styles, now, phase(), until)
    options = [o for o in (ending, coming) if o is not None]
    return min(options, key=lambda o: o.time) if options else None


def _ending(stage: Stage, group: int, state: GroupState, phase: Callable[[], float], until: float) -> Outlook | None:
    """The end of an action that ends by itself."""
    last = state.history[-1]
    end = last.time + stage.lengths[group][last.action]
    if end > until or state.request is not None:
        return None
    return Outlook(end, state._replace(request=Request(stage.library.groups[group].default, end, phase())))


def _coming(
    stage: Stage,
    group: int,
    states: tuple[GroupState, ...],
    styles: Mapping[str, Track],
    now: float,
    phase: float,
    until: float,
) -> Outlook | None:
    """The first step of a request: the action itself, or the one through which it is reached."""
    state = states[group]
    request = state.request
    assert request is not None
    here = stage.library.groups[group]
    routes = stage.library.routes[here.name]
    names = here.actions
    last = state.history[-1]
    path = routes.route(names[last.action], request.action)
    if len(path) == 1:
        return Outlook(now, _again(stage, group, state, request, now))
    following = path[1]
    start = max(now, request.since)
    if not _free(stage, group, state.history, following, start):
        start = max(start, last.time + stage.ramps(group, state.history)[-1].arrival)
    if start > until:
        return None
    goal, leaving = (stage.library.action(n) for n in (following, path[0]))
    windows = [w for w in (goal.entry if following == request.action else (), leaving.exit) if w]
    if windows and _rhythmic(stage, states, start):
        histories = [s.history for s in states]
        found, lapsed = entry_time(
            lambda t: stage.tempo(histories, styles, t),
            phase,
            now,
            until,
            windows,
            stage.params.patience - (phase - request.phase) / (2 * np.pi),
        )
        if lapsed:
            return Outlook(now, state._replace(request=None), request.action)
        if found is None:
            return None
        start = max(start, found)
    entry = Entry(names.index(following), start, request.target, request.fade)
    left = request if following != request.action else None
    return Outlook(start, GroupState((*state.history, entry), left))


def _again(stage: Stage, group: int, state: GroupState, request: Request, now: float) -> GroupState:
    """The state after what is already selected was selected again: it starts anew if it knows its age."""
    last = state.history[-1]
    if stage.table[group][last.action].uses_age:
        entry = Entry(last.action, max(now, request.since), request.target, request.fade)
        return GroupState((*state.history, entry))
    return GroupState((*state.history[:-1], last._replace(target=request.target or last.target)))


def _free(stage: Stage, group: int, history: History, following: str, now: float) -> bool:
    """Whether nothing that still counts stands between the body and the action that follows."""
    here = stage.library.groups[group]
    routes = stage.library.routes[here.name]
    if len(history) == 1:
        return True
    weights = entry_weights(history, stage.ramps(group, history), np.array([now]))
    return all(
        routes.allowed(here.actions[e.action], following) or float(w.max()) <= NEGLIGIBLE
        for e, w in zip(history, weights, strict=True)
    )


def _rhythmic(stage: Stage, states: tuple[GroupState, ...], now: float) -> bool:
    """Whether anything periodic can be seen, so that a phase is worth waiting for."""
    at = np.array([now])
    return any(
        stage.table[g][e.action].action.tempo is not None and float(w[0]) > _PERIODIC
        for g, s in enumerate(states)
        for e, w in zip(s.history, stage.plain_weights(g, s.history, at), strict=True)
    )


def target_points(stage: Stage, states: tuple[GroupState, ...], targets: Mapping[str, Track], times: Array) -> Array:
    """(T, 3) where places are aimed: the targets of the selected actions by their weights; NaN without any."""
    if not targets:
        return np.full((len(times), 3), np.nan)
    total, weight = np.zeros((len(times), 3)), np.zeros((len(times), 1))
    for g, state in enumerate(states):
        if not any(e.target in targets for e in state.history):
            continue
        for entry, w in zip(state.history, stage.plain_weights(g, state.history, times), strict=True):
            if entry.target in targets:
                total += w[:, None] * targets[entry.target].at(times)
                weight += w[:, None]
    return np.where(weight > 0.0, total / np.maximum(weight, 1e-12), np.nan)
