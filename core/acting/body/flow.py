"""The state of a body in time: what it was told, what it does, where it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...skeleton import Array
from .clock import Rate, phases_at
from .posing import Frames
from .propulsion import Footing
from .selection import GroupState
from .stage import Stage
from .tracks import Track


class Order(NamedTuple):
    """Something to be done at a time: `what` is select, release, style, look, face or put."""

    time: float
    what: str
    name: str = ""
    value: object = None
    over: float | None = None


class Look(NamedTuple):
    """A target of the gaze since a time [s]; "" for none. Without `always` only actions with LOOK look there."""

    time: float
    target: str
    always: bool


@dataclass(frozen=True, eq=False)
class Flow:
    """A body at one instant, with all it has been told.

    Attributes:
        stage: What was compiled for it.
        time: [s].
        groups: Selections of each group.
        tick, phase_there, footing: The last point of the integration grid, and clock and place there.
        orders: Still to come, in order of time.
        styles: Style parameters.
        targets: World points by name.
        looks: What is looked at, newest last.
        facing: Heading [rad], name of a target, or None.
        memory: Last good value of expressions that may fail.
        warnings: What went wrong, each once.
        now: The body at `time`.
    """

    stage: Stage
    time: float
    groups: tuple[GroupState, ...]
    tick: int
    phase_there: float
    footing: Footing
    orders: tuple[Order, ...] = ()
    styles: Mapping[str, Track] = field(default_factory=dict)
    targets: Mapping[str, Track] = field(default_factory=dict)
    looks: tuple[Look, ...] = (Look(-np.inf, "", False),)
    facing: float | str | None = None
    memory: Mapping[tuple[str, int], float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    now: Frames | None = None

    def rate(self, times: Array) -> Array:
        """Cycles a second of the clock (T,) at times (T,) [s]."""
        return self.stage.tempo([g.history for g in self.groups], self.styles, times)

    @property
    def clock(self) -> Rate:
        """Cycles a second of the clock at any time."""
        steady = self.stage.steady_tempo([g.history for g in self.groups], self.styles)
        return self.rate if steady is None else steady

    @property
    def phase(self) -> float:
        """Phase of the clock [rad]."""
        return float(phases_at(self.clock, np.array([self.time]), np.array([self.phase_there]), self.tick)[0])
