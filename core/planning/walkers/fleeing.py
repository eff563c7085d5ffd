"""Keep away from somebody: run where it cannot cut one off, slip past it out of a corner, or stand and brace oneself.

Evading follows the locomotion states of Badler's LocoNet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...maths.ramp import wrap
from ...params import param
from ...skeleton import Array
from .actors import STAND, Behaviour, Order, go
from .sensors import Senses

AGAIN = 0.5
"""Time after which one who flees looks for a better refuge [s]."""
DASH = 2.5
"""Longest time one runs past somebody without thinking again [s]."""
REACH = 6.0
"""How far refuges are sought [m]."""
LEAD = (0.4, 1.0)
"""Lead over the threat that makes a way safe for one who runs already, and for one who is cornered [m]."""
PAST = 0.9
"""How far off one passes the threat when one slips by [m]."""
NEAR = 2.2
"""One who is cornered lets the threat come as near as this before it slips by [m]."""
FAITH = 0.8
"""How much further a refuge must be to be better than the one that one runs to [m]."""
_ANGLES = np.arange(16) * (np.pi / 8)
_RAYS = np.stack([np.sin(_ANGLES), -np.cos(_ANGLES)], axis=-1)
_STEPS = np.arange(1, 7)[:, None, None] * (REACH / 6.0)


class Flight(NamedTuple):
    """Where one flees to (x, y), since when [s], and how: runs, slips or braced; nothing while one does not flee."""

    goal: tuple[float, float] | None = None
    when: float = -10.0
    how: str = ""


CALM = Flight()


@dataclass(frozen=True)
class Evade(Behaviour):
    """Keep away from an actor."""

    target: str = param("", ref="object", help="Whom to evade")
    alarm: float = param(4.0, lo=0.5, hi=50.0, unit="m", help="Distance at which one runs away")
    safe: float = param(6.0, lo=0.5, hi=50.0, unit="m", help="Distance at which one stops")
    pace: float = param(1.0, lo=0.1, hi=3.0, help="Share of its speed while it flees")

    def begin(self) -> Any:
        """It does not flee yet."""
        return CALM

    def think(self, memory: Any, senses: Senses) -> tuple[Any, Order]:
        """Flee when alarmed until safe."""
        far = senses.distance(self.target)
        if not memory.how and far > self.alarm:
            return memory, Order(face=senses.place_of(self.target))
        if memory.how and far > max(self.safe, self.alarm):
            senses.say("stops", f"{self.target} is more than {self.safe:g} m away")
            return CALM, STAND
        if not memory.how:
            senses.say("flees", f"{self.target} is within {self.alarm:g} m")
        return flee(memory, senses, self.target, self.pace)


def flee(flight: Flight, senses: Senses, threat: str, pace: float = 1.0) -> tuple[Flight, Order]:
    """How one flees on from somebody, and what it does now."""
    age = senses.time - flight.when
    held = {"runs": AGAIN, "slips": DASH}.get(flight.how, 0.0)
    if flight.goal is None or age >= held or senses.at_goal():
        flight = _chosen(flight, senses, threat)
    if flight.goal is None:
        return flight, Order(face=senses.place_of(threat))
    return flight, go(np.array(flight.goal), f"away from {threat}", pace=pace)


def _chosen(flight: Flight, senses: Senses, threat: str) -> Flight:
    cornered = flight.how == "braced"
    spot = refuge(senses, threat, LEAD[int(cornered)], flight.goal)
    if spot is not None:
        if cornered:
            senses.say("flees", f"a way leads away from {threat} again")
        return Flight((float(spot[0]), float(spot[1])), senses.time, "runs")
    spot = way_past(senses, threat) if senses.distance(threat) < NEAR else None
    if spot is not None:
        senses.say("slips by", f"there is room to get past {threat}")
        return Flight((float(spot[0]), float(spot[1])), senses.time, "slips")
    if not cornered:
        senses.say("braces itself", f"it is cornered: {threat} cuts off every way")
    return Flight(None, senses.time, "braced")


def refuge(senses: Senses, threat: str, lead: float = 0.0, goal: tuple[float, float] | None = None) -> Array | None:
    """(2,) place to flee to: of 16 directions the one that ends furthest from a threat; None where one is cornered.

    Args:
        senses: Of the one who flees.
        threat: Whom it flees from.
        lead: By how much it must get everywhere on its way before the threat could [m].
        goal: Where it is fleeing to already; who keeps changing its mind does not get away.
    """
    spots, free, length = _ways_out(senses)
    here, speed = senses.place_of(threat), float(np.hypot(*senses.velocity_of(threat)))
    times = _STEPS[:, :, 0] / max(senses.speed, 0.1)
    gap = np.hypot(*(spots - here).transpose(2, 0, 1))
    # wherever it runs, the threat makes for the same place
    ahead = np.where(free, gap - speed * np.minimum(times, 3.0), np.inf).min(axis=0)
    last, rows = np.maximum(length - 1, 0), np.arange(16)
    later = here + 0.5 * senses.velocity_of(threat) * np.minimum(times, 3.0)
    gap = np.hypot(*(spots - later[:, None]).transpose(2, 0, 1))
    score = gap[last, rows] + np.minimum(np.where(free, gap, np.inf).min(axis=0), 4.0)
    score -= 0.4 * np.abs(wrap(_ANGLES - senses.heading))
    if goal is not None and float(np.hypot(*(np.array(goal) - senses.here))) > 0.3:
        off = np.array(goal) - senses.here
        score += FAITH * np.maximum(_RAYS @ off / np.hypot(*off), 0.0)
    safe = (length > 0) & (ahead > lead)
    if not safe.any():
        return None
    best = int(np.argmax(np.where(safe, score, -np.inf)))
    return np.array(spots[last[best], best])


def way_past(senses: Senses, threat: str) -> Array | None:
    """(2,) place behind a threat that one gets to without being touched if the threat goes on as it does; or None."""
    spots, _, length = _ways_out(senses)
    off, velocity = senses.place_of(threat) - senses.here, senses.velocity_of(threat)
    drift = velocity - senses.speed * _RAYS
    reach = length * (REACH / 6.0) / max(senses.speed, 0.1)
    soonest = np.clip(-(drift @ off) / np.maximum((drift * drift).sum(axis=-1), 1e-9), 0.0, reach)
    nearest = np.hypot(*(off + soonest[:, None] * drift).T)
    after = np.hypot(*(off + reach[:, None] * drift).T)
    good = (length >= 3) & (nearest > PAST) & (after > NEAR)
    if not good.any():
        return None
    best = int(np.argmax(np.where(good, nearest + 0.3 * after, -np.inf)))
    return np.array(spots[length[best] - 1, best])


def _ways_out(senses: Senses) -> tuple[Array, npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
    """(6, 16, 2) places in 16 directions [m], (6, 16) whether the straight way there is free, (16,) how many are."""
    spots = senses.here + _STEPS * _RAYS
    before = np.concatenate([np.broadcast_to(senses.here, (1, 16, 2)), spots[:-1]])
    free = np.logical_and.accumulate(senses.walkable.clear(before, spots))
    return spots, free, free.sum(axis=0)
