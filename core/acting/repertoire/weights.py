"""Weights of actions over time, in closed form: which action counts how much on which channel at any instant.

A group is a stack of cross-fades. Each selection takes over from everything before it along an S-shaped ramp, so the
weights of a group sum to one, no interruption makes a jump in value or speed, and nothing depends on the frame rate.
Single channels may start later, take longer or linger. Free-standing states and blocking after Perlin (1995).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParam
from ...maths.ramp import smoothstep
from ...skeleton import Array
from .actions import Action, DofKey

ARRIVED = 0.999
"""Weight at which an action counts as reached."""
ARRIVAL = 0.9816297461411887
"""Part of a ramp after which its weight is ARRIVED: the root of x^2 (3 - 2 x) = 0.999."""
_INSTANT = 1e-9


class Entry(NamedTuple):
    """One selection: the number of the action in its group, when [s], and what it is aimed at."""

    action: int
    time: float
    target: str = ""
    fade: float | None = None


History = tuple[Entry, ...]
"""Selections of a group, oldest first; the first of them has full weight below the others."""


class Ramp(NamedTuple):
    """A takeover: kinds of channels with their own start after the selection and duration [s].

    `kinds` (channels,) says which kind each channel is; None when there is only one.
    """

    delays: Array
    durations: Array
    kinds: npt.NDArray[np.int64] | None

    @property
    def length(self) -> float:
        """Time after which every channel has gone over [s]."""
        return float((self.delays + self.durations).max())

    @property
    def arrival(self) -> float:
        """Time after which the new action has a weight of ARRIVED everywhere [s]."""
        return float((self.delays + ARRIVAL * self.durations).max())


def takeover(outgoing: Action, incoming: Action, index: Mapping[DofKey, int], fade: float | None = None) -> Ramp:
    """How `incoming` takes over from `outgoing` on every channel.

    Args:
        outgoing: Selected before.
        incoming: Selected now.
        index: Number of every channel.
        fade: Another duration for the whole [s].
    """
    base = fade if fade is not None else incoming.fade_in if incoming.channels else outgoing.fade_out
    if not any(c.timed for a in (outgoing, incoming) for c in a.channels.values()):
        return plain_ramp(base)
    delays, scales = np.zeros(len(index)), np.ones(len(index))
    for key, channel in outgoing.channels.items():
        delays[index[key]], scales[index[key]] = channel.linger, channel.leaving
    for key, channel in incoming.channels.items():
        n = index[key]
        delays[n], scales[n] = max(delays[n], channel.delay), channel.scale
    durations = base * scales
    delays = np.where(durations < _INSTANT, delays - _INSTANT, delays)
    pairs = np.stack([delays, np.maximum(durations, _INSTANT)], axis=1)
    kinds, where = np.unique(pairs, axis=0, return_inverse=True)
    if len(kinds) == 1:
        return Ramp(kinds[:, 0], kinds[:, 1], None)
    return Ramp(kinds[:, 0], kinds[:, 1], where.reshape(-1).astype(np.int64))


def plain_ramp(duration: float) -> Ramp:
    """A takeover in which all channels go together; one of no duration is over when it begins."""
    instant = duration < _INSTANT
    return Ramp(np.full(1, -_INSTANT if instant else 0.0), np.full(1, _INSTANT if instant else duration), None)


def entry_weights(history: Sequence[Entry], ramps: Sequence[Ramp], times: Array) -> list[Array]:
    """Weight of every entry at times (T,): each (T, 1), or (T, channels) once channels differ.

    Args:
        history: N entries.
        ramps: N - 1 takeovers, of each entry from the one before it.
        times: [s].
    """
    out: list[Array] = [np.ones((len(times), 1))]
    for entry, ramp in zip(history[1:], ramps, strict=True):
        share = smoothstep((times[:, None] - (entry.time + ramp.delays)) / ramp.durations)
        if ramp.kinds is not None:
            share = share[:, ramp.kinds]
        rest = 1.0 - share
        out = [w * rest for w in out]
        out.append(share)
    return out


def pruned(history: History, ramps: Sequence[Ramp], now: float) -> History:
    """The history without what can no longer be seen at `now` or later."""
    for k in range(len(history) - 1, 0, -1):
        if now >= history[k].time + ramps[k - 1].length:
            return history[k:]
    return history


@dataclass(frozen=True)
class FreeState:
    """A state that is on or off by itself; its weight follows along an S-ramp and can turn back half-way.

    Attributes:
        time: When it was last switched [s].
        level: How far it was then, 0..1, before the S-ramp.
        on: Whether it is wanted.
        fade_in, fade_out: Time from nothing to all, and back [s].
    """

    time: float = 0.0
    level: float = 0.0
    on: bool = False
    fade_in: float = 0.5
    fade_out: float = 0.5

    def switched(self, on: bool, time: float) -> FreeState:
        """The state switched on or off at `time` [s]."""
        return replace(self, time=time, level=float(self._level(np.asarray(time))), on=on)

    def weight(self, times: npt.ArrayLike) -> Array:
        """Weight 0..1 at times (...) not before the last switch [s]."""
        return smoothstep(self._level(np.asarray(times, dtype=np.float64)))

    def _level(self, times: Array) -> Array:
        since = times - self.time
        step = since / max(self.fade_in, _INSTANT) if self.on else -since / max(self.fade_out, _INSTANT)
        return np.clip(self.level + step, 0.0, 1.0)


def check_blockers(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """(in front, behind) pairs, refused when they go round in a circle."""
    pairs = tuple(pairs)
    behind: dict[str, list[str]] = {}
    for front, back in pairs:
        behind.setdefault(front, []).append(back)

    def walk(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            circle = " blocks ".join((*path[path.index(name) :], name))
            raise InvalidParam("blocks", circle, "goes round in a circle; leave one of these out")
        for other in behind.get(name, ()):
            walk(other, (*path, name))

    for name in behind:
        walk(name, ())
    return pairs
