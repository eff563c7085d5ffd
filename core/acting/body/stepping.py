"""How a body goes through time: orders and changes at their exact moments, and between them everything at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from ...errors import InvalidParam
from ...skeleton import Array
from .flow import Flow, Look, Order
from .moving import moved, moved_together
from .posing import Frames
from .selection import Outlook, Request, next_change
from .stage import Stage
from .tracks import constant

__all__ = ["Order", "advanced", "advanced_together", "ordered"]
F = TypeVar("F", bound=Flow)


def ordered(flow: F, order: Order) -> F:
    """The body with one order more; those of the same time are carried out as they came."""
    at = len(flow.orders)
    while at and flow.orders[at - 1].time > order.time:
        at -= 1
    return replace(flow, orders=(*flow.orders[:at], order, *flow.orders[at:]))


def advanced(flow: F, time: float, frames: Array) -> tuple[F, list[Frames]]:
    """The body at a later time, and at instants on the way.

    Args:
        flow: Now.
        time: Where to stop [s].
        frames: (T,) instants from now to `time`, rising [s].
    """
    if not time >= flow.time:
        raise InvalidParam("time", time, f"must not lie before {flow.time:g} s, where the body is")
    out: list[Frames] = []
    done = 0
    while True:
        order = flow.orders[0] if flow.orders and flow.orders[0].time <= time else None
        until = time if order is None else order.time
        change = _next_change(flow, until)
        stop = until if change is None else change[1].time
        upto = len(frames) if change is None and order is None else int(np.searchsorted(frames, stop))
        flow, some = moved(flow, stop, frames[done:upto])
        out += some
        done = max(done, upto)
        if change is not None:
            flow = _changed(flow, *change)
        elif order is not None:
            flow = _carried_out(flow, order)
        else:
            return flow, out


def advanced_together(flows: Sequence[F], time: float) -> list[F]:
    """Bodies at a later time [s]; those to which nothing happens meanwhile are moved together."""
    out: list[F | None] = [None] * len(flows)
    alike: dict[tuple[int, int, bool], list[int]] = {}
    for n, flow in enumerate(flows):
        busy = time <= flow.time or (flow.orders and flow.orders[0].time <= time) or _next_change(flow, time)
        if busy:
            out[n] = advanced(flow, time, np.array([time]))[0]
        else:
            stage = flow.stage
            key = (id(stage.library), id(stage.fit.skeleton), stage.params.clear_arms)
            alike.setdefault(key, []).append(n)
    for members in alike.values():
        for n, flow in zip(members, moved_together([flows[n] for n in members], time), strict=True):
            out[n] = flow
    return [flow for flow in out if flow is not None]


def _next_change(flow: Flow, until: float) -> tuple[int, Outlook] | None:
    """The first thing that a group does by itself before or at `until`."""
    found: tuple[int, Outlook] | None = None
    for g, state in enumerate(flow.groups):
        last = state.history[-1]
        if state.request is None and last.time + flow.stage.lengths[g][last.action] > until:
            continue
        outlook = next_change(flow.stage, g, flow.groups, flow.styles, flow.time, lambda: flow.phase, until)
        if outlook is not None and (found is None or outlook.time < found[1].time):
            found = (g, outlook)
    return found


def _changed(flow: F, group: int, outlook: Outlook) -> F:
    groups = list(flow.groups)
    groups[group] = outlook.state
    if outlook.lapsed:
        note = f"{outlook.lapsed} was given up at {outlook.time:.2f} s: its phase did not come"
        return replace(flow, groups=tuple(groups), warnings=(*flow.warnings, note))
    return replace(flow, groups=tuple(groups))


def _carried_out(flow: F, order: Order) -> F:
    """The body after the first of its orders."""
    flow = replace(flow, orders=flow.orders[1:])
    now = order.time
    if order.what in ("select", "release"):
        library = flow.stage.library
        if order.what == "select":
            group, name, target = library.group_of(order.name), order.name, str(order.value)
        else:
            group, target = library.group(order.name), ""
            name = group.default
            current = flow.groups[flow.stage.group_number(group)]
            wanted = current.request.action if current.request else group.actions[current.history[-1].action]
            if order.value and wanted != order.value:
                return flow
        groups = list(flow.groups)
        g = flow.stage.group_number(group)
        groups[g] = groups[g]._replace(request=Request(name, now, flow.phase, target, order.over))
        return replace(flow, groups=tuple(groups))
    if order.what == "style":
        value = float(order.value)  # type: ignore[arg-type]
        track = flow.styles.get(order.name)
        if track is None:
            track = constant(_usual(flow.stage, order.name, value))
        return replace(flow, styles={**flow.styles, order.name: track.going_to(value, now, order.over or 0.0)})
    if order.what == "look":
        return replace(flow, looks=(*flow.looks, Look(now, order.name, bool(order.value))))
    if order.what == "face":
        facing = order.value if isinstance(order.value, str) or order.value is None else float(order.value)  # type: ignore[arg-type]
        return replace(flow, facing=facing)
    point = np.asarray(order.value)
    known = flow.targets.get(order.name)
    track = constant(point) if known is None or not order.over else known.going_to(point, now, order.over)
    return replace(flow, targets={**flow.targets, order.name: track})


def _usual(stage: Stage, name: str, otherwise: float) -> float:
    """The value that a style parameter has before anyone sets it."""
    action, _, param = name.rpartition(".")
    for known in stage.library.names if not action else [action] if action in stage.library else []:
        found = stage.library.action(known)
        if param in found.params:
            return found.params[param]
        if param == "tempo" and action and found.tempo is not None:
            return found.tempo
    return 1.0 if param in ("amplitude", "noise_gain") else otherwise
