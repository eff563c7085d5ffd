"""Gaits and dances on a body's own feet, as they are baked: hips that go evenly, turns on a ball, soles that land flat.

Foot propulsion carries the hips wherever the pose pushes them. A leg that is still on its way forward when it takes the
weight pushes them back, so they lurch with every step; in a take that is whole the hips can go evenly from one change
of feet to the next, the feet staying where propulsion has put them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...filters.contacts import heel_and_ball, runs
from ...maths import quat
from ...maths.ramp import smoothstep
from ...maths.spline import hermite, monotone_slopes
from ...skeleton import SIDES, Array, Skeleton
from ..repertoire.puppet import ANKLES
from .fitting import Fit
from .posing import Frames

PIVOT = math.radians(60.0)
"""Most that a foot which stands would turn under a dancing body for it to be held; more than that is meant [rad]."""
ROUNDED = 0.05
"""Time over which corners in the way of the hips are rounded [s]."""
LANDS, LEAVES = 0.2, 0.1
"""Time in which a sole comes down flat before its foot takes the weight, and stays so after it has given it up [s]."""
_UP = np.array([0.0, 0.0, 1.0])
Index = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Strides:
    """Where a body's own steps take it.

    Attributes:
        hips: (T, 3) [m].
        ankles: (T, 2, 3) [m].
        aside: (T, 3) how far it goes aside for turning on the balls of its feet instead of on its ankles [m].
        stances: Of each foot, first and one past the last sample of every time in which it stands.
        turns: (T, 2) whether a foot turns while it stands; its heel is not on the ground then.
    """

    hips: Array
    ankles: Array
    aside: Array
    stances: tuple[list[tuple[int, int]], list[tuple[int, int]]]
    turns: Flags


def strides(
    skeleton: Skeleton, fit: Fit, frames: Frames, way: Array, heading: Array, steps: Array, fps: float
) -> Strides:
    """The strides of a body whose feet propel it.

    Args:
        skeleton: Whose feet they are.
        fit: Its puppet.
        frames: What the puppet does.
        way: (T, 2) where its feet propel it [m].
        heading: (T,) where it faces [rad].
        steps: (T,) how far the legs step by themselves.
        fps: Samples a second.
    """
    support, rows = frames.support, np.arange(len(way))
    left, right = (runs((support == k) & (steps >= 1.0)) for k in (0, 1))
    pointing = quat.heading(quat.multiply(frames.shins, frames.turned[:, ANKLES]))
    yaws = np.unwrap(heading[:, None] + pointing, axis=0)
    aside, turns = np.zeros((len(way), 3)), np.zeros((len(way), 2), dtype=bool)
    for k, (side, stood) in enumerate(zip(SIDES, (left, right), strict=True)):
        ball = heel_and_ball(skeleton, side)[1] * (1.0, 1.0, 0.0)
        for a, b in stood:
            if np.ptp(yaws[a:b, k]) >= PIVOT:
                turns[a:b, k] = True
                toes = quat.rotate(quat.about(_UP, yaws[a:b, k]), ball)
                aside[a:b] += toes[0] - toes
                aside[b:] += toes[0] - toes[-1]
    pushed = aside + np.column_stack([way, fit.ankle_height - frames.feet[rows, support, 2]])
    hips = evenly(pushed, heading, support, steps, fps)
    feet = quat.rotate(quat.about(_UP, heading)[:, None], frames.feet)
    apart = [planted(pushed - hips, (support == k) | (steps <= 0.0), fps) for k in (0, 1)]
    return Strides(hips, hips[:, None] + np.stack(apart, axis=1) + feet, aside, (left, right), turns)


def evenly(way: Array, heading: Array, support: Index, steps: Array, fps: float) -> Array:
    """Ways (T, 3) of hips that do not lurch [m]: between changes of feet they go evenly ahead, and no corner is sharp.

    Args:
        way: (T, 3) as the feet propel them [m].
        heading: (T,) where the body faces [rad].
        support: (T,) the foot that stands.
        steps: (T,) how far the legs step by themselves.
        fps: Samples a second.
    """
    if len(way) < 3:
        return way
    ahead = np.column_stack([np.sin(heading), -np.cos(heading)])
    gone = np.diff(way[:, :2], axis=0)
    far = np.concatenate([[0.0], np.cumsum(0.5 * (gone * (ahead[1:] + ahead[:-1])).sum(axis=1))])
    even = far.copy()
    for a, b in runs(steps > 0.0):
        first, last = max(a - 1, 0), min(b, len(way) - 1)
        knots = np.flatnonzero(np.diff(support[first : last + 1])).astype(np.float64) + (first + 0.5)
        knots = knots[(knots > first + 1) & (knots < last - 1)]
        if len(knots) > 1:
            knots = np.concatenate([[float(first)], knots, [float(last)]])
            values = np.interp(knots, np.arange(len(far)), far)
            even[first : last + 1] = hermite(np.arange(first, last + 1), knots, values, monotone_slopes(knots, values))
    out = way.copy()
    out[:, :2] += (even - far)[:, None] * ahead
    return _rounded(out, fps)


def planted(apart: Array, held: Flags, fps: float) -> Array:
    """(T, 3) how far from hips that go evenly a foot is to be, besides where the pose has it [m].

    A foot that stands makes up for all that the hips leave out. One on its way goes along with the hips; it leaves the
    ground and comes to it no faster than it stands there.

    Args:
        apart: (T, 3) from the hips that go evenly to those that the feet propel [m].
        held: (T,) whether the foot stands.
        fps: Samples a second.
    """
    stood = runs(held)
    if not stood:
        return np.zeros_like(apart)
    times = np.arange(len(apart))
    ends = np.array([t for a, b in stood for t in (a, b - 1)])
    out: Array = np.stack([np.interp(times, ends, column[ends]) for column in apart.T], axis=1)
    for a, b in stood:
        for edge, inner, step in ((a, min(a + 1, b - 1), -1), (b - 1, max(b - 2, a), 1)):
            near = _free(held, edge, step, round(LANDS * fps))
            if len(near):
                # what is left of the speed that it has on the ground dies away
                slow = (apart[edge] - apart[inner]) * step - (out[near[0]] - out[edge]) * step
                part = np.abs(near - edge) / (len(near) + 1.0)
                out[near] += step * (np.abs(near - edge) * (1.0 - part) ** 2)[:, None] * slow
        out[a:b] = apart[a:b]
    return out


def _free(stands: Flags, edge: int, step: int, count: int) -> Index:
    """At most `count` samples from an edge on, forward or back, up to where the foot stands again."""
    near: Index = edge + step * np.arange(1, count + 1)
    near = near[(near >= 0) & (near < len(stands))]
    return near[~np.logical_or.accumulate(stands[near])]


def _rounded(track: Array, fps: float) -> Array:
    """A track (T, 3) without corners, its ends where they were."""
    reach = min(max(math.ceil(3.0 * ROUNDED * fps), 1), len(track) - 1)
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / (ROUNDED * fps)) ** 2)
    weights /= weights.sum()
    before, after = 2.0 * track[0] - track[reach:0:-1], 2.0 * track[-1] - track[-2 : -2 - reach : -1]
    longer = np.concatenate([before, track, after])
    return np.stack([np.convolve(column, weights, "valid") for column in longer.T], axis=1)


def landed(soles: Array, stood: list[tuple[int, int]], rests: Flags, fps: float) -> Array:
    """Orientations (T, 4) of a foot that comes down flat, does not turn while it stands, and rises only after that.

    Args:
        soles: (T, 4) as the pose has them, flat while the foot stands.
        stood: First and one past the last sample of the times in which it stands.
        rests: (T,) whether the body does not step at all.
        fps: Samples a second.
    """
    yaw = np.unwrap(quat.heading(soles))
    turn, known = np.zeros(len(yaw)), rests.copy()
    for a, b in stood:
        known[a:b] = True
        if np.ptp(yaw[a:b]) < PIVOT:
            turn[a:b] = yaw[a:b].mean() - yaw[a:b]
    at = np.flatnonzero(known)
    if len(at):
        turn = np.interp(np.arange(len(yaw)), at, turn[at])
    held = quat.multiply(quat.about(_UP, turn), soles)
    out = held.copy()
    stands = np.zeros(len(out), dtype=bool)
    for a, b in stood:
        stands[a:b] = True
    for a, b in stood:
        for edge, count, step in ((a, round(LANDS * fps), -1), (b - 1, round(LEAVES * fps), 1)):
            near = _free(stands, edge, step, count)
            share = smoothstep(1.0 - np.abs(near - edge) / (count + 1.0))
            out[near] = quat.slerp(out[near], np.broadcast_to(held[edge], out[near].shape), share)
    return out
