"""The way of a runner's pelvis over one step: a parabola in flight, a spline in support, turns between four keys.

Bruderlin, Calvert, "Knowledge-driven, interactive animation of human running" (1996), section 3.2 and figure 7.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..maths.spline import hermite, monotone_slopes
from ..skeleton import Array
from .physique import GRAVITY
from .runner import flight_height
from .runner_pose import State
from .runner_style import Laws

PATHS = ("smooth", "published")
"""`smooth` has no jump of speed; `published` is one cubic through four points, with straight lines between turns."""
AT_STRIKE = 0.8, 0.2, 0.8
"""Parts of the largest sway, rotation and list at a strike; at mid-support 1, 0, 1 and at toe-off 0.8, 1, 0."""
SHORT_FLIGHT = 0.09
"""Flights shorter than this part of the step leave no time to go over to the other side: what is left at the strike
shrinks with them."""
BRIEFEST = 1e-3
"""Least time between two keys [s]."""


class PelvisPath:
    """The pelvis over the step that begins with the left foot's strike, and over the mirrored one after it.

    Attributes:
        state: The frame of the step.
        low: Height at mid-support [m].
        settled: By how much `settle` has lowered the pelvis at toe-off [m].
    """

    def __init__(self, state: State, laws: Laws, size: float, path: str = "smooth") -> None:
        self.state, self.path = state, path
        stride, a = state.stride, state.attributes
        self.stance, self.step, self.speed = stride.stance_time, stride.step_time, stride.speed
        self.flight = max(stride.flight_time, BRIEFEST)
        self.dip = (laws.dip + 0.04 * a.bounciness) * size + 0.5 * state.rise
        self.low = min(state.landing, state.take_off) - self.dip
        self.settled = 0.0
        self.middle = -state.reach + laws.lag * (state.leaving + state.reach) / 2.0
        part = min(1.0, stride.flight_time / (SHORT_FLIGHT * self.step))
        sway, rotation, list_ = (share * part for share in AT_STRIKE)
        # from the toe-off before to the mid-support after; what is odd in the mirror changes sign with the foot
        keys = np.array([-self.flight, 0.0, self.stance / 2, self.stance, self.stance + self.flight, 0.0])
        keys[-1] = keys[-2] + self.stance / 2
        turns = np.array(
            [
                a.sway * np.array([-sway, sway, 1.0, sway, -sway, -1.0]),
                -a.pelvis_list * np.array([0.0, list_, 1.0, 0.0, -list_, -1.0]),
                a.pelvis_rotation * np.array([-1.0, -rotation, 0.0, 1.0, rotation, 0.0]),
            ]
        ).T
        self.knots = keys[1:5]
        self.turns = turns[1:5]
        if path == "published":
            chords = np.diff(turns, axis=0) / np.diff(keys)[:, None]
            self.turning = chords[1:5], chords[:4]
        else:
            slopes = monotone_slopes(keys, turns)[1:5]
            self.turning = slopes, slopes
        self._draw()

    def settle(self, drop: float) -> None:
        """Lower the pelvis at toe-off [m]; the flight is as long as before, so it begins with more speed upward."""
        self.settled += drop
        take_off = self.state.take_off - drop
        rise, rising = flight_height(self.flight, take_off, self.state.landing)
        self.state = replace(self.state, take_off=take_off, rise=rise, rising=rising)
        self.low = min(self.low, take_off - self.dip)
        self._draw()

    def sink(self, drop: float) -> None:
        """Lower the pelvis at mid-support [m]."""
        self.low -= drop
        self._draw()

    def at(self, times: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Forward of the flat heel, height, sway [m], list and yaw [rad] (n,) at times (n,) from 0 to a stride."""
        second = times > self.step
        t = times - self.step * second
        x, height, sway, list_, yaw = hermite(t, self.knots, self.values, self.outgoing, self.incoming).T
        mirror = 1.0 - 2.0 * second
        return x + self.state.stride.step_length * second, height, mirror * sway, mirror * list_, mirror * yaw

    def _draw(self) -> None:
        """Values and slopes of forward, height, sway, list and yaw at strike, mid-support, toe-off and next strike."""
        state, half = self.state, self.stance / 2
        next_strike = state.leaving + self.speed * self.flight
        places = np.array(
            [
                [-state.reach, state.landing],
                [self.middle, self.low],
                [state.leaving, state.take_off],
                [next_strike, state.landing],
            ]
        )
        leaving = np.array([self.speed, state.rising])
        landing = np.array([self.speed, state.rising - GRAVITY * self.flight])
        if self.path == "published":
            mid = self.flight / 2
            top = places[2] + mid * (leaving - np.array([0.0, 0.5 * GRAVITY * mid]))
            slopes = _cubic_slopes(np.array([0.0, half, self.stance, self.stance + mid]), np.vstack([places[:3], top]))
            outgoing = np.array([slopes[0], slopes[1], leaving, landing])
            incoming = np.array([landing, slopes[1], slopes[2], landing])
        else:
            # the slope at mid-support that makes the two cubics of the support one curve to the second derivative
            middle = (3.0 * (places[2] - places[0]) / half - landing - leaving) / 4.0
            outgoing = incoming = np.array([landing, middle, leaving, landing])
        self.values = np.hstack([places, self.turns])
        self.outgoing = np.hstack([outgoing, self.turning[0]])
        self.incoming = np.hstack([incoming, self.turning[1]])


def _cubic_slopes(knots: Array, values: Array) -> Array:
    """(3, C) slopes at the first three knots of the one cubic through four values (4, C)."""
    coefficients = np.linalg.solve(np.vander(knots, 4, increasing=True), values)
    return np.asarray(np.stack([np.zeros(3), np.ones(3), 2 * knots[:3], 3 * knots[:3] ** 2], axis=1) @ coefficients)
