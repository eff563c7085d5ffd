"""A body moved through a stretch of time in which nothing happens to it: all instants of it are evaluated together.

Phase, heading and place are integrated on a grid of their own. The grid points and the wanted instants are evaluated at
once, whether that is one frame or a whole take, so that baking and stepping agree; and the legs of many bodies at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from ...skeleton import Array
from ..repertoire.actions import LOOK, TURN, Memory
from ..repertoire.puppet import turns
from ..repertoire.weights import Entry, entry_weights, plain_ramp
from .clock import GRID_HZ, grid_phases, phases_at, since_ticks, tick_of
from .flow import Flow
from .posing import Frames, puppet_angles
from .propulsion import Steps, Way, between, propelled
from .selection import settled, target_points
from .stage import Layers, composited

GAZE_FADE = 0.8
"""Time in which the gaze goes over from one target to another [s]."""
F = TypeVar("F", bound=Flow)


@dataclass(frozen=True, eq=False)
class _Stretch:
    """The grid points and the wanted instants of one stretch of time, and what is done at them."""

    time: float
    frames: Array
    last: int
    phase: float
    layers: Layers
    memory: Memory


def moved(flow: F, time: float, frames: Array) -> tuple[F, list[Frames]]:
    """The body at `time`, nothing happening until then, and at instants on the way."""
    if time == flow.time and not len(frames):
        return flow, []
    stretch = _stretch(flow, time, frames)
    channels, alphas = composited([stretch.layers])[0]
    turned = turns(puppet_angles(flow.stage, channels))
    return _stepped(flow, stretch, channels, alphas, turned, *flow.stage.fit.legs(turned))


def moved_together(flows: Sequence[F], time: float) -> list[F]:
    """Bodies of one skeleton, library and manner at `time`, nothing happening to any of them until then."""
    stretches = [_stretch(flow, time, np.array([time])) for flow in flows]
    done = composited([s.layers for s in stretches])
    turned = turns(puppet_angles(flows[0].stage, np.concatenate([channels for channels, _ in done])))
    feet, shins = flows[0].stage.fit.legs(turned)
    out, at = [], 0
    for flow, stretch, (channels, alphas) in zip(flows, stretches, done, strict=True):
        rows = slice(at, at + len(channels))
        out.append(_stepped(flow, stretch, channels, alphas, turned[rows], feet[rows], shins[rows])[0])
        at = rows.stop
    return out


def _stretch(flow: Flow, time: float, frames: Array) -> _Stretch:
    last = max(tick_of(time), flow.tick)
    memory = dict(flow.memory)
    clock = flow.clock
    phases = grid_phases(clock, flow.phase_there, flow.tick, last)
    times = np.concatenate([np.arange(flow.tick + 1, last + 1) / GRID_HZ, frames])
    there = np.concatenate([phases[1:], phases_at(clock, frames, phases, flow.tick)])
    histories = [g.history for g in flow.groups]
    layers = flow.stage.layers(histories, flow.styles, times, there, memory)
    return _Stretch(time, frames, last, float(phases[-1]), layers, memory)


def _stepped(
    flow: F, stretch: _Stretch, channels: Array, alphas: Array, turned: Array, feet: Array, shins: Array
) -> tuple[F, list[Frames]]:
    """The body at the end of a stretch, and at its instants."""
    stage, time, count = flow.stage, stretch.time, stretch.last - flow.tick
    spin = stage.library.layout.value(channels[:count], TURN)
    turning = np.zeros(count) if spin is None else np.radians(spin)
    steps = propelled(flow.footing, feet[:count], turning, _way(flow, time))
    if not stage.params.travel:
        steps = steps._replace(x=np.full(count + 1, flow.footing.x), y=np.full(count + 1, flow.footing.y))
    some: list[Frames] = []
    if len(stretch.frames):
        rows = (a[count:] for a in (channels, alphas, turned, feet, shins))
        some = [_frames(flow, stretch.frames, steps, *rows)]
    flow = replace(
        flow,
        time=time,
        groups=tuple(settled(stage, g, state, time) for g, state in enumerate(flow.groups)),
        tick=stretch.last,
        phase_there=stretch.phase,
        footing=steps.footing(count),
        memory=stretch.memory,
        warnings=_failures(flow, stretch.memory),
        now=_last_frame(some[-1]) if some and some[-1].times[-1] == time else None,
    )
    return flow, some


def _way(flow: Flow, time: float) -> Way:
    """What bends the way of a body up to `time`."""
    facing: float | tuple[float, float] | None = None
    if isinstance(flow.facing, str):
        if flow.facing in flow.targets:
            point = flow.targets[flow.facing].at(np.array([time]))[0]
            facing = (float(point[0]), float(point[1]))
    else:
        facing = flow.facing
    return Way(flow.stage.around, flow.stage.floor, facing, flow.stage.params.turn_rate, flow.stage.chance)


def _frames(
    flow: Flow, times: Array, steps: Steps, channels: Array, alphas: Array, turned: Array, feet: Array, shins: Array
) -> Frames:
    ticks, after = since_ticks(times)
    which = ticks - flow.tick
    x, y, heading, floor, support = between(steps, which, feet, after)
    if not flow.stage.params.travel:
        x, y = steps.x[which], steps.y[which]
    gaze = _gaze(flow, times, flow.stage.library.layout.value(channels, LOOK))
    aims = target_points(flow.stage, flow.groups, flow.targets, times)
    return Frames(times, channels, alphas, turned, feet, shins, x, y, heading, floor, support, gaze, aims)


def _gaze(flow: Flow, times: Array, asked: Array | None) -> Array:
    """(T, n, 4) points looked at, and how much; those that are not looked at any more are left out."""
    looks, found = flow.looks, []
    if not any(look.target in flow.targets for look in looks):
        return np.empty((len(times), 0, 4))
    fade = plain_ramp(GAZE_FADE)
    weights = entry_weights([Entry(0, look.time) for look in looks], [fade] * (len(looks) - 1), times)
    for look, weight in zip(looks, weights, strict=True):
        if look.target in flow.targets and weight.any():
            share = weight[:, 0] * (1.0 if look.always else 0.0 if asked is None else np.clip(asked, 0.0, 1.0))
            found.append(np.column_stack([flow.targets[look.target].at(times), share]))
    return np.stack(found, axis=1) if found else np.empty((len(times), 0, 4))


def _failures(flow: Flow, memory: Memory) -> tuple[str, ...]:
    """The warnings with those of expressions that gave no number for the first time."""
    notes = [
        f"{name[1:]}: an interpolant gave no number and was held at its last value"
        for name, k in memory
        if name.startswith("!") and (name, k) not in flow.memory
    ]
    fresh = [n for n in dict.fromkeys(notes) if n not in flow.warnings]
    return (*flow.warnings, *fresh)


def _last_frame(frames: Frames) -> Frames:
    if len(frames.times) == 1:
        return frames
    return Frames(*(getattr(frames, name)[-1:] for name in Frames.__dataclass_fields__))
