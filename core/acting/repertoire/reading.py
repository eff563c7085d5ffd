"""Values of actions at given instants: the same action of several bodies is read in one call.

A call on few numbers costs as much as one on many, and in a crowd most bodies do the same few things.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from ...maths.noise import TableNoise
from ...skeleton import Array
from .actions import CompiledAction, Memory, Settings
from .signals import Moments, joined

_NOTHING = np.empty((0, 0))


class Reading(NamedTuple):
    """An action to be read for one body at moments, with its settings and the body's memory of expressions."""

    action: CompiledAction
    settings: Settings
    moments: Moments
    memory: Memory


def values(readings: Sequence[Reading]) -> list[Array]:
    """Values (T, n) of each reading."""
    alike: dict[Hashable, list[int]] = {}
    for n, reading in enumerate(readings):
        alike.setdefault(_kind(reading, n) if len(readings) > 1 else n, []).append(n)
    out: list[Array] = [_NOTHING] * len(readings)
    for members in alike.values():
        own = [readings[n] for n in members]
        action, settings, moments, _ = own[0]
        ends = list(accumulate(len(r.moments.time) for r in own))
        whole = moments if len(own) == 1 else joined([r.moments for r in own])
        found = action.read(whole, settings, [(end, r.memory) for end, r in zip(ends, own, strict=True)])
        for n, begin, end in zip(members, [0, *ends], ends, strict=False):
            out[n] = found[begin:end]
    return out


def _kind(reading: Reading, number: int) -> Hashable:
    """What readings must share to be read together; those with something of their own stand alone."""
    action, settings, moments, _ = reading
    if not action.common or not isinstance(moments.noise, TableNoise):
        return number
    try:
        hash(settings)
    except TypeError:  # a style that changes in time
        return number
    return id(action), settings
