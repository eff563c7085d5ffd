"""An explorer between two frames: where it is, how it moves along its way, and how it steps aside."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...maths.ramp import wrap
from ...skeleton import Array
from .passers import STANDS

if TYPE_CHECKING:
    from .explore import ExploreParams

PASSED = 0.2
"""Who dodges others has passed a corner of its way within this [m]."""


@dataclass
class Walker:
    """Place (2,) [m], heading and turn of the gaze [rad], what is left of its way (N, 2) [m], velocity (2,) [m/s]."""

    place: Array
    heading: float
    gaze: float = 0.0
    way: Array = field(default_factory=lambda: np.zeros((0, 2)))
    velocity: Array = field(default_factory=lambda: np.zeros(2))

    def step(self, dt: float, params: ExploreParams) -> None:
        """Walk on along the way, turning on the spot where it leads aside."""
        before = self.place
        self._walk(dt, params)
        self.velocity = (self.place - before) / dt

    def _walk(self, dt: float, params: ExploreParams) -> None:
        left = params.speed * dt
        while len(self.way) and np.hypot(*(self.way[0] - self.place)) < 1e-6:
            self.way = self.way[1:]
        if not len(self.way):
            return
        to = self.way[0] - self.place
        self._turn(float(np.arctan2(to[0], -to[1])), params.turn_rate * dt)
        if abs(float(wrap(np.arctan2(to[0], -to[1]) - self.heading))) > params.turn_first:
            return
        while len(self.way) and left > 0:
            to = self.way[0] - self.place
            far = float(np.hypot(*to))
            if abs(float(wrap(np.arctan2(to[0], -to[1]) - self.heading))) > params.turn_first and far > 1e-6:
                return
            if far > left:
                self.place = self.place + to * (left / far)
                return
            self.place, self.way, left = self.way[0], self.way[1:], left - far

    def aim(self, speed: float) -> Array:
        """(2,) velocity that the way asks for [m/s]."""
        while len(self.way) > 1 and np.hypot(*(self.way[0] - self.place)) < PASSED:
            self.way = self.way[1:]
        if not len(self.way):
            return np.zeros(2)
        to = self.way[0] - self.place
        far = float(np.hypot(*to))
        out: Array = to * (min(speed, 2.0 * far) / max(far, 1e-9))
        return out

    def push(self, velocity: Array, dt: float, params: ExploreParams) -> None:
        """Go with a velocity (2,) [m/s], facing where that or the way leads."""
        wanted = self.aim(params.speed)
        self.place, self.velocity = self.place + velocity * dt, velocity
        ahead = velocity if float(np.hypot(*velocity)) > STANDS and float(velocity @ wanted) > 0 else wanted
        if ahead.any():
            self._turn(float(np.arctan2(ahead[0], -ahead[1])), params.turn_rate * dt)

    def _turn(self, towards: float, most: float) -> None:
        self.heading += float(np.clip(wrap(towards - self.heading), -most, most))
