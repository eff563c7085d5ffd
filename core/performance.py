"""What an engine hands over: the motions of several actors, the props they move, and a record of why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from .errors import InvalidMotion
from .motion import Event, Motion
from .skeleton import Array, frozen


@dataclass(frozen=True)
class Attachment:
    """Prop `prop` is held by `joint` of `actor` from `start` to `end` [s]."""

    prop: str
    actor: str
    joint: str
    start: float
    end: float


@dataclass(frozen=True, eq=False)
class Performance:
    """Everything that happened between two moments, sampled at one rate.

    Attributes:
        motions: By name of the actor.
        props: (T, 4, 4) world matrices by name of the prop.
        attachments: Who holds what, when.
        events: Of the whole cast, in order of time.
        transcript: Every decision in order of time, each with `time` [s], `actor`, `what` and `why`, and JSON-able.
    """

    motions: Mapping[str, Motion]
    props: Mapping[str, Array] = field(default_factory=dict)
    attachments: tuple[Attachment, ...] = ()
    events: tuple[Event, ...] = ()
    transcript: tuple[Mapping[str, Any], ...] = ()

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "motions", MappingProxyType(dict(self.motions)))
        rates = {m.fps for m in self.motions.values()}
        if len(rates) > 1:
            raise InvalidMotion(f"the motions of a performance have different rates: {sorted(rates)}")
        props = {name: frozen(np.asarray(m), (None, 4, 4), f"matrices of {name}") for name, m in self.props.items()}
        put(self, "props", MappingProxyType(props))
        put(self, "attachments", tuple(self.attachments))
        put(self, "events", tuple(sorted(self.events, key=lambda e: e.time)))
        put(self, "transcript", tuple(self.transcript))
