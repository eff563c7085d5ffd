"""How much of a gait is shown at each speed below its own: a pose factor between standing and the clip, by table.

Rotations are interpolated from the standing pose; for each speed the factor is the one under which the planted parts of
the feet slip least over the ground. J. Kuffner, "Autonomous Agents for Real-Time Animation" (1999), section 3.2. For a
stiff leg with half-swing A it comes near arcsin(v/V sin A) / A.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..filters.contacts import Flags
from ..kinematics import fk
from ..kinematics.anatomy import with_angles
from ..maths import quat
from ..maths.ramp import lerp
from ..maths.spline import hermite, monotone_slopes
from ..skeleton import SIDES, Array, Pose
from .gaitcycle import GaitCycle, Legs, legs_of

SAMPLES = 17
"""Speeds in the table."""

_PHASES = 64
"""Moments of a stride at which slip is measured."""
_SLOWEST = 0.1
"""Part of a clip's speed that is added before cadence is taken as a power of it: a start from rest stays smooth."""
_ASIDE = np.radians(30.0)
"""A clip that faces further off its way than this walks sideways or backwards, and stands so too."""
_UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class Treadmill:
    """A clip ready to be steered.

    Attributes:
        cycle: One closed cycle as seen from its base: period, speed, step, hips, rotations and contacts.
        standing: Pose at rest, as seen from a base at the origin.
        cadence: Power of speed with which cadence falls below the clip's own.
        speeds: (17,) from rest to the clip's own speed [m/s].
        weights: (17,) pose factor at each: 0 standing, 1 the clip.
    """

    cycle: GaitCycle
    standing: Pose
    cadence: float
    speeds: Array
    weights: Array

    def weight(self, speed: Array) -> Array:
        """Pose factor (...) at speeds (...) [m/s]; it never falls with speed."""
        return hermite(speed, self.speeds, self.weights, monotone_slopes(self.speeds, self.weights))

    def rate(self, speed: Array) -> Array:
        """Strides a second (...) at speeds (...) [m/s] up to the clip's own."""
        share = (speed / self.cycle.speed + _SLOWEST) / (1.0 + _SLOWEST)
        rate: Array = self.cycle.strides / self.cycle.period * share**self.cadence
        return rate


def tabulate(cycle: GaitCycle, standing: Pose, cadence: float) -> Treadmill:
    """The table of a cycle: the best factor for each of 17 speeds, rising from 0 at rest to 1 at the clip's own."""
    # closer together near both ends, where the best factor bends most
    speeds = cycle.speed * (1.0 - np.cos(np.linspace(0.0, np.pi, SAMPLES))) / 2
    draft = Treadmill(cycle, standing, cadence, speeds, speeds / cycle.speed)
    tread, inner = _tread(cycle), speeds[1:-1]
    best = _golden(lambda weights: _slip(draft, tread, inner, weights), len(inner))
    # the mean of the nearest rising tables above and below, which is the table itself where it rises
    rising = (np.maximum.accumulate(best) + np.minimum.accumulate(best[::-1])[::-1]) / 2
    return Treadmill(cycle, standing, cadence, speeds, np.concatenate([[0.0], rising, [1.0]]))


def slip(treadmill: Treadmill, speeds: Array, weights: Array) -> Array:
    """(B,) root mean square speed of planted points over the ground, at speeds (B,) with pose factors (B,) [m/s]."""
    return _slip(treadmill, _tread(treadmill.cycle), speeds, weights)


def neutral_stance(cycle: GaitCycle) -> Pose:
    """Upright, arms hanging clear of the body, facing as the clip does on its way."""
    skeleton = cycle.skeleton
    arms = {f"upper_arm_{s}": (0.0, skeleton.arm_clearance, 0.0) for s in SIDES if skeleton.has(f"upper_arm_{s}")}
    rotations = with_angles(skeleton, np.tile(quat.IDENTITY, (len(skeleton), 1)), arms)
    rotations[0] = _facing(cycle)
    return Pose(rotations, quat.rotate(rotations[0], skeleton.offsets[0]))


def mean_stance(cycle: GaitCycle) -> Pose:
    """On straight legs, everything above them as it is on average in the clip."""
    skeleton, turn = cycle.skeleton, _facing(cycle)
    turns = quat.mean(np.moveaxis(fk.global_rotations(skeleton, cycle.rotations), 0, -2))
    turns[legs_of(skeleton).joints] = turn
    return Pose(fk.local_rotations(skeleton, turns), quat.rotate(turn, skeleton.offsets[0]))


def _facing(cycle: GaitCycle) -> Array:
    """(4,) which way the body faces as seen from the base: ahead, unless it walks sideways or backwards."""
    facing = float(np.angle(np.exp(1j * quat.heading(cycle.rotations[:, 0])).mean()))
    return quat.about(_UP, facing if abs(facing) > _ASIDE else 0.0)


class _Tread(NamedTuple):
    """A cycle at even phases: hips (P, 3), rotations (P, L, 4) of the legs, planted points (P, 2, 2)."""

    legs: Legs
    places: Array
    rotations: Array
    planted: Flags


def _tread(cycle: GaitCycle) -> _Tread:
    legs = legs_of(cycle.skeleton)
    phases = np.arange(_PHASES * cycle.strides) / (_PHASES * cycle.strides)
    places, rotations = cycle.at(phases)
    return _Tread(legs, places, rotations[:, legs.joints], cycle.planted_at(phases))


def _slip(treadmill: Treadmill, tread: _Tread, speeds: Array, weights: Array) -> Array:
    """(B,) root mean square of d(point)/d(phase) * phase rate + speed * forward over the planted points [m/s]."""
    standing, legs = treadmill.standing, tread.legs
    share = weights[:, None, None]
    turns = quat.slerp(standing.rotations[legs.joints], tread.rotations, share)
    points = legs.points(lerp(standing.root, tread.places, share), turns)[..., :2]
    per_step = treadmill.rate(speeds) * (_PHASES / 2)
    velocity = (np.roll(points, -1, axis=1) - np.roll(points, 1, axis=1)) * per_step[:, None, None, None, None]
    velocity[..., 1] -= speeds[:, None, None, None]  # forward is -Y
    slips: Array = np.sqrt((velocity**2).sum(axis=-1)[:, tread.planted].mean(axis=-1))
    return slips


def _golden(cost: Callable[[Array], Array], count: int) -> Array:
    """(count,) places in 0..1 where each of `count` costs is least, by golden sections, all at once."""
    ratio = (np.sqrt(5.0) - 1.0) / 2.0
    low, high = np.zeros(count), np.ones(count)
    left, right = high - ratio, low + ratio
    at_left, at_right = cost(left), cost(right)
    for _ in range(24):
        below = at_left < at_right
        low, high = np.where(below, low, left), np.where(below, right, high)
        fresh = np.where(below, high - ratio * (high - low), low + ratio * (high - low))
        value = cost(fresh)
        left, right = np.where(below, fresh, right), np.where(below, left, fresh)
        at_left, at_right = np.where(below, value, at_right), np.where(below, at_left, value)
    middle: Array = (low + high) / 2
    return middle
