"""The gait cycle of a clip: cut out of a recording or a loop, on the spot or travelling, and closed.

In a recording the cycle lies between the two moments that are most alike (`looping.find_cycle`). What is left of the
difference between its two ends is shared out over its whole length.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..errors import InvalidMotion, InvalidRig
from ..filters import looping
from ..filters.contacts import CURVES, Flags, contacts, cycles, sole_points
from ..kinematics import base
from ..maths import quat
from ..maths.ramp import wrap
from ..motion import Motion
from ..skeleton import LEG, SIDES, Array
from .gaitcycle import GaitCycle, Legs, legs_of

STRIDE_RANGE = (0.35, 2.5)
"""Shortest and longest time of a stride, two steps [s]."""
LEAST_SAMPLES = 8
ON_THE_SPOT = 0.1
"""Slower than this a clip stays where it is [leg lengths a second]."""
TURN_MAX = np.radians(45.0)
"""A cycle that turns further is no straight walk."""
CLOSED_MAX = 1.0
"""Difference of the two ends of a clip, as a part of what happens between them, beyond which it is not a loop."""

_UP = np.array([0.0, 0.0, 1.0])
_TURNED = 1.0
"""How much it counts that joints are turned alike [leg lengths a radian]: a cycle is closed by turning them."""


def find_cycle(motion: Motion, speed: float = 0.0) -> GaitCycle:
    """The cycle of a clip: the whole of a loop, else the strides between two like moments that match best.

    Args:
        motion: A walk or run, roughly straight; on the spot or travelling, on any level or steady slope.
        speed: Speed to give a clip that stays on the spot [m/s]; 0 measures how fast its standing foot goes back.
    """
    skeleton = motion.skeleton
    if not skeleton.has(*(f"{part}_{side}" for part in LEG[:3] for side in SIDES)):
        raise InvalidRig("a gait cycle needs both legs (thigh, shin, foot) of the character")
    if len(motion) < LEAST_SAMPLES:
        raise InvalidMotion(f"a clip of {len(motion)} samples has no gait cycle; it needs at least {LEAST_SAMPLES}")
    legs = legs_of(skeleton)
    motion = _travelling(motion, legs, speed)
    first, last, goes_on = (0, len(motion) - 1, True) if motion.loop else _best_cut(motion)
    if goes_on:
        roots, rotations, keep = _closed_loop(motion)
    else:
        roots, rotations = motion.roots[first : last + 1], motion.rotations[first : last + 1]
        keep = np.arange(first, last)
    return _seen_from_base(motion, legs, roots, quat.continuous(rotations), keep)


def _seen_from_base(
    motion: Motion, legs: Legs, roots: Array, rotations: Array, keep: npt.NDArray[np.int64]
) -> GaitCycle:
    """The cycle of N samples whose roots (N + 1, 3) and rotations (N + 1, J, 4) end with the moment that closes it."""
    skeleton, count = motion.skeleton, len(keep)
    step = roots[-1] - roots[0]
    if np.hypot(*step[:2]) < ON_THE_SPOT * skeleton.leg_length() * count / motion.fps:
        raise InvalidMotion("the clip's best cycle goes nowhere; choose one that walks, or give its speed")
    turned = float(wrap(quat.heading(rotations[-1, 0]) - quat.heading(rotations[0, 0])))
    if abs(turned) > TURN_MAX:
        raise InvalidMotion(f"the clip turns by {np.degrees(turned):.0f} degrees in a cycle; choose a straighter walk")
    heading = float(np.arctan2(step[0], -step[1]))
    phases = np.arange(count) / count
    back = quat.about(_UP, -heading)
    places = quat.rotate(back, roots[:-1] - roots[0] - phases[:, None] * step)
    middle = places.mean(axis=0) * (1.0, 1.0, 0.0)
    places = places - middle
    gap = quat.log(quat.multiply(quat.conjugate(rotations[0]), rotations[-1]))
    closed = quat.multiply(rotations[:-1], quat.exp((0.5 - phases)[:, None, None] * gap))
    closed[:, 0] = quat.multiply(back, closed[:, 0])
    forward = phases[:, None] * np.array([0.0, -np.hypot(*step[:2]), 0.0])
    level = Motion(skeleton, motion.fps, places + forward, closed, loop=True)
    planted = _planted(motion, level, keep)
    points = legs.points(places, closed[:, legs.joints])
    heights = points[..., 2] - legs.level
    if not planted.any():
        planted = _lowest(heights) & (heights < heights.min() + 0.05 * skeleton.leg_length())
    floor = float(np.median(heights[planted]))
    apart = np.fft.rfft(points[:, 1, :, 1].mean(axis=1) - points[:, 0, :, 1].mean(axis=1))
    strides = int(np.abs(apart[1 : max(2, count // 4)]).argmax()) + 1
    if np.abs(apart[strides]) * 2 / count < 0.03 * skeleton.leg_length():
        raise InvalidMotion("the feet of the clip do not pass each other; choose a clip of a walk or a run")
    return GaitCycle(
        skeleton=skeleton,
        period=count / motion.fps,
        strides=strides,
        lead=float(-np.angle(apart[strides]) / (2 * np.pi)),
        origin=roots[0] + quat.rotate(quat.conjugate(back), middle) + (0.0, 0.0, floor),
        heading=heading,
        step=step,
        places=places - (0.0, 0.0, floor),
        rotations=quat.continuous(closed),
        planted=planted,
        mask=motion.mask,
    )


def _planted(motion: Motion, level: Motion, keep: npt.NDArray[np.int64]) -> Flags:
    """(N, 2, 2) contacts of the cycle: the clip's own, else detected."""
    known = motion if all(name in motion.curves for names in CURVES for name in names) else contacts(level)
    at = keep if known is motion else np.arange(len(keep))
    flags: Flags = np.stack([np.stack([known.curves[c][at] for c in names], axis=-1) for names in CURVES], axis=1) > 0.5
    return flags


def _lowest(heights: Array) -> Flags:
    """(T, 2, 2) which of the four points of the soles is the lowest."""
    return np.asarray(heights == heights.min(axis=(1, 2), keepdims=True))


def _travelling(motion: Motion, legs: Legs, speed: float) -> Motion:
    """The clip, given back its travel where it walks on the spot: opposite to how its lowest sole point moves."""
    leg, fps = motion.skeleton.leg_length(), motion.fps
    if motion.loop:
        pace = np.hypot(*_step_over(motion.roots)[:2]) / motion.duration
    else:
        track = base.based(motion).base
        assert track is not None
        pace = np.hypot(*np.diff(track[:, :2], axis=0).T).sum() / motion.duration
    if pace >= ON_THE_SPOT * leg:
        return motion
    whole = cycles(motion) if motion.loop else motion
    points = sole_points(whole)
    velocity = np.gradient(points, 1.0 / fps, axis=0)[..., :2]
    heights = points[..., 2] - legs.level
    low = _lowest(heights) & (heights < np.percentile(heights.min(axis=(1, 2)), 20) + 0.02 * leg)
    back = np.median(velocity[low], axis=0)
    measured = float(np.hypot(*back))
    if measured < ON_THE_SPOT * leg:
        raise InvalidMotion("the clip neither travels nor steps on the spot; choose a clip of a walk or a run")
    way = -back / measured * (speed or measured)
    roots = motion.roots + np.column_stack([np.outer(motion.times, way), np.zeros(len(motion))])
    curves = {name: values for name, values in motion.curves.items() if not name.startswith("contact/")}
    return replace(motion, roots=roots, base=None, curves=curves)


def _step_over(values: Array) -> Array:
    """What a loop (N, ...) gains in one round: the step over its seam that leaves the least third differences."""
    near = np.concatenate([values[-3:], values[:3]])
    third = np.diff(near, 3, axis=0)
    gain: Array = -(third[0] - 2 * third[1] + third[2]) / 6
    return gain


def _closed_loop(motion: Motion) -> tuple[Array, Array, npt.NDArray[np.int64]]:
    """Roots (N + 1, 3) and rotations (N + 1, J, 4) of a loop and of the moment after it; and the samples kept."""
    roots, rotations = motion.roots, quat.continuous(motion.rotations)
    steps = quat.distance(rotations, np.roll(rotations, 1, axis=0)).mean(axis=1)
    if steps[0] < 0.1 * np.median(steps):  # the last sample repeats the first
        return roots, rotations, np.arange(len(motion) - 1)
    # at every sample the gain that `_step_over` would find there; where the seam's stands out the loop does not close
    count = len(motion)
    around = quat.continuous(np.concatenate([rotations, rotations[:6]]))
    gains = -np.diff(around, 5, axis=0) / 6
    usual = np.abs(np.delete(gains, np.s_[count - 6 : count + 1], axis=0)).max(axis=(0, 2))
    apart = np.abs(gains[count - 3]).max(axis=-1) > 2 * usual + 1e-3
    last = quat.unit(around[count] + np.where(apart[:, None], gains[count - 3], 0.0))
    return (
        np.concatenate([roots, roots[:1] + _step_over(roots)]),
        np.concatenate([rotations, last[None]]),
        np.arange(count),
    )


def _best_cut(motion: Motion) -> tuple[int, int, bool]:
    """First sample of the best cycle of a clip, the sample that closes it, and whether that is the one after its last.

    It begins with a heel strike. The whole clip counts too where it is a loop made by hand.
    """
    last, (shortest, longest) = len(motion) - 1, STRIDE_RANGE
    strikes = [round(e.time * motion.fps) for e in contacts(motion).events if e.name.startswith("heel_strike")]
    repeats, follows = looping.ends(motion, turned=_TURNED)
    whole = shortest <= last / motion.fps <= 2 * longest and min(repeats, follows) < CLOSED_MAX
    if not whole and (not strikes or last / motion.fps < shortest):
        raise InvalidMotion(
            f"no gait cycle in a clip of {motion.duration:.1f} s: it needs two heel strikes of the same foot, "
            "or to end as it began"
        )
    try:
        found = looping.find_cycle(motion, lengths=STRIDE_RANGE, starts=strikes, turned=_TURNED)
    except InvalidMotion:
        if not whole:
            raise InvalidMotion(
                "no gait cycle in the clip: no two of its strides are alike; choose a steadier walk"
            ) from None
    else:
        if not whole or found.unlike < min(repeats, follows):
            return found.first, found.last, False
    return 0, last, follows < repeats
