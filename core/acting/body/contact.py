"""Bodies that touch: who touches whom, and how far their hands have met."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ...maths.ramp import smoothstep
from ...motion import Event
from ...skeleton import Array

REACH_TIME = 0.4
"""How long hands take to meet and to part [s]."""


@dataclass(frozen=True)
class Contact:
    """Two actors touch from `start` to `end` [s]; hands are together between the times of meeting and parting."""

    first: str
    second: str
    kind: str
    start: float
    end: float

    def weights(self, times: Array) -> Array:
        """(T,) how far the hands have met at times (T,): 0 apart, 1 together."""
        reach = min(REACH_TIME, 0.5 * (self.end - self.start)) or 1e-9
        rise, fall = (times - self.start) / reach, (self.end - times) / reach
        return np.asarray(smoothstep(np.clip(np.minimum(rise, fall), 0.0, 1.0)), dtype=np.float64)


def contacts_of(events: Iterable[Event]) -> tuple[Contact, ...]:
    """The contacts of a take."""
    return tuple(
        Contact(str(e.data["actor"]), str(e.data["target"]), str(e.data["what"]), e.time, float(e.data["end"]))
        for e in events
        if e.name == "contact"
    )
