"""Gaps in a motion, found and bridged: samples that are missing, frozen, or thrown away from what is around them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..errors import InvalidMotion, InvalidParam
from ..maths import quat
from ..motion import Motion
from ..needs import needs_scipy
from ..skeleton import Array, Skeleton
from .bridge import bridge_places, bridge_turns
from .contacts import Flags, cycles, runs

LEAST = 3
"""Samples without which nothing can be told about any of them."""

_FROZEN_TURN, _FROZEN_WAY = 1e-5, 1e-6
"""Turn of every joint [rad] and way of the hips [m] from one sample to the next that are none."""
_LEAP_TURN, _LEAP_WAY = np.radians(10.0), 0.05
"""Smallest step that throws a joint [rad] or the hips [leg lengths] away."""
_LEAP_RATIO = 4.0
"""How much larger such a step is than those around it."""
_COMMON = 0.25
"""Part of the joints that are thrown at once when it is the whole body that is."""


def fill_gaps(
    motion: Motion,
    longest: float = 0.25,
    frozen: bool = True,
    glitches: bool = True,
    bad: Iterable[tuple[float, ...]] = (),
) -> Motion:
    """`motion` with its gaps bridged; everything outside them stays as it is.

    Args:
        motion: Joints that it does not speak for are left alone.
        longest: Gaps that last longer are left [s].
        frozen: Look for samples that repeat the one before while the body moves.
        glitches: Look for joints, or the whole body, that are thrown away and come back: flips, swapped markers, empty
            frames; and for poses of another kind at either end.
        bad: Rows of start and end [s]: bridged whatever is found there, however long.
    """
    if not (np.isfinite(longest) and longest >= 0):
        raise InvalidParam("longest", longest, "must be a time of 0 or more")
    given = _marked(motion, bad)
    if len(motion) < LEAST:
        raise InvalidMotion(f"a clip of {len(motion)} samples has no gaps; it needs at least {LEAST} samples")
    whole = cycles(motion) if motion.loop else motion
    middle = slice(len(motion), 2 * len(motion)) if motion.loop else slice(None)
    turns, places = find_gaps(whole, longest, frozen, glitches)
    turns |= np.tile(given, len(whole) // len(motion))[:, None]
    places |= np.tile(given, len(whole) // len(motion))
    if motion.mask is not None:
        turns &= motion.mask
        places &= motion.mask[0]
    return replace(
        motion,
        rotations=bridge_turns(whole.rotations, turns, motion.fps)[middle],
        roots=bridge_places(whole.roots, places, motion.fps)[middle],
    )


def restore(skeleton: Skeleton, fps: float, roots: npt.ArrayLike, rotations: npt.ArrayLike) -> Motion:
    """A motion of samples some of which are missing: not finite, or rotations that are all zero.

    Args:
        skeleton: Whose motion it is.
        fps: Samples a second [Hz].
        roots: (T, 3) as in `Motion` [m].
        rotations: (T, J, 4) as in `Motion`, of any length but zero.
    """
    places, turns = np.array(roots, dtype=np.float64), np.array(rotations, dtype=np.float64)
    if turns.ndim != 3 or turns.shape[1:] != (len(skeleton), 4) or places.shape != (len(turns), 3):
        raise InvalidMotion(
            f"roots {places.shape} and rotations {turns.shape} are no motion of {len(skeleton)} joints: "
            f"they must be (T, 3) and (T, {len(skeleton)}, 4)"
        )
    lost: Flags = np.asarray(~np.isfinite(places).all(axis=1))
    size = np.sqrt(quat.dot(turns, turns))
    unknown = ~(size > 1e-6)
    for joint in np.flatnonzero(unknown.all(axis=0)).tolist():
        raise InvalidMotion(f"{skeleton.names[joint]} has no rotation at any sample")
    if lost.all():
        raise InvalidMotion("the hips have no place at any sample")
    places[lost] = 0.0
    turns = np.where(unknown[..., None], quat.IDENTITY, turns / np.where(unknown, 1.0, size)[..., None])
    return Motion(skeleton, fps, bridge_places(places, lost, fps), bridge_turns(turns, unknown, fps))


def find_gaps(motion: Motion, longest: float = 0.25, frozen: bool = True, glitches: bool = True) -> tuple[Flags, Flags]:
    """Samples that are wrong, (T, J) of the joints and (T,) of the place of the hips."""
    turns, places = np.zeros(motion.rotations.shape[:2], dtype=bool), np.zeros(len(motion), dtype=bool)
    if len(motion) < LEAST:
        return turns, places
    most = max(1, round(longest * motion.fps)) if longest > 0 else 0
    if glitches:
        steps = quat.distance(motion.rotations[:-1], motion.rotations[1:])
        ways = np.linalg.norm(np.diff(motion.roots, axis=0), axis=1)
        leaps = _leaps(steps, _LEAP_TURN)
        whole = _empty(motion, np.asarray(leaps.any(axis=1)), most)
        for joint in np.flatnonzero(leaps.any(axis=0)).tolist():
            found = _thrown(motion.rotations[:, joint, None], steps[:, joint], leaps[:, joint], most)
            turns[:, joint], leaps[:, joint] = found
        moved = _leaps(ways[:, None], _LEAP_WAY * _size(motion.skeleton))[:, 0]
        places, moved = _thrown(motion.roots, ways, moved, most)
        whole |= _ends(leaps, moved, most) | (turns.mean(axis=1) >= _COMMON) | (places & turns.any(axis=1))
        turns |= whole[:, None]
        places |= whole
    if frozen:
        still = _frozen(motion, most)
        turns |= still[:, None]
        places |= still
    return turns, places


def _marked(motion: Motion, bad: Iterable[tuple[float, ...]]) -> Flags:
    """(T,) samples within the rows of start and end [s]."""
    out, times = np.zeros(len(motion), dtype=bool), motion.times
    for start, end in bad:
        if not start <= end:
            raise InvalidParam("bad", (start, end), "must be rows of a start and an end that is not before it")
        here = (times >= start - 1e-6) & (times <= end + 1e-6)
        if not here.any():
            raise InvalidParam("bad", (start, end), f"lies outside the clip, which lasts {motion.duration:g} s")
        out |= here
    if len(out) and out.all():
        raise InvalidParam("bad", tuple(bad), "leaves nothing of the clip to bridge from")
    return out


def _size(skeleton: Skeleton) -> float:
    """Leg length, or a metre where there are no legs [m]."""
    return skeleton.leg_length() if skeleton.has("shin_L", "foot_L", "shin_R", "foot_R") else 1.0


def _leaps(steps: Array, least: float) -> Flags:
    """(T-1, K) steps that are large and stand out from those around them."""
    with needs_scipy():
        from scipy.ndimage import median_filter

    usual = median_filter(steps, size=(17, 1), mode="reflect")
    flags: Flags = (steps > least) & (steps > _LEAP_RATIO * usual)
    return flags


def _thrown(values: Array, steps: Array, leaps: Flags, most: int) -> tuple[Flags, Flags]:
    """(T,) samples between a leap and one that comes back within `most` samples; and the leaps (T-1,) that are left.

    Values are rotations (T, 1, 4) or places (T, 3), steps (T-1,) their sizes.
    """
    out, left = np.zeros(len(values), dtype=bool), leaps.copy()
    marks, done = np.flatnonzero(leaps).tolist(), -1
    padded = np.pad(steps, 1)
    for k, away in enumerate(marks):
        for back in (m for m in marks[k + 1 :] if away > done and m - away <= most):
            # a quick movement takes several large steps, and comes and goes along the same way
            beside = max(padded[away], padded[back + 2], steps[away + 1 : back].max(initial=0.0))
            if max(beside, _apart(values[away], values[back + 1])) < 0.5 * min(steps[away], steps[back]):
                out[away + 1 : back + 1] = True
                left[away : back + 1] = False
                done = back
                break
    return out, left


def _apart(a: Array, b: Array) -> float:
    return float(quat.distance(a, b).max()) if a.ndim > 1 else float(np.linalg.norm(a - b))


def _ends(leaps: Flags, moved: Flags, most: int) -> Flags:
    """(T,) samples of either end that a leap of much of the body, which does not come back, parts from the rest."""
    count = len(leaps)
    out, most = np.zeros(count + 1, dtype=bool), min(most, count // 3)
    common = np.flatnonzero((leaps.mean(axis=1) >= _COMMON) | (moved & leaps.any(axis=1)))
    early, late = common[common < most], common[common >= count - most]
    if len(early):
        out[: early[-1] + 1] = True
    if len(late):
        out[late[0] + 1 :] = True
    return out


def _empty(motion: Motion, leaps: Flags, most: int) -> Flags:
    """(T,) samples at which no joint is turned at all, between leaps (T-1,), for no longer than `most` samples."""
    flags, edges = np.zeros(len(motion), dtype=bool), np.concatenate([[True], leaps, [True]])
    for a, b in runs(np.asarray((quat.angle(motion.rotations[:, 1:]) < _FROZEN_TURN).all(axis=1))):
        # a movement may begin, end or pass there too, but it does not leap
        flags[a:b] = b - a <= most and b - a < len(motion) and edges[a] and edges[b]
    return flags


def _frozen(motion: Motion, most: int) -> Flags:
    """(T,) samples that repeat the one before, for no longer than `most` samples, between others that move on."""
    steps = quat.distance(motion.rotations[:-1], motion.rotations[1:]).max(axis=1)
    ways = np.linalg.norm(np.diff(motion.roots, axis=0), axis=1)
    stopped = (steps < _FROZEN_TURN) & (ways < _FROZEN_WAY)
    pace = steps + ways / _size(motion.skeleton)
    out = np.zeros(len(motion), dtype=bool)
    reach = max(4, round(0.25 * motion.fps))
    for a, b in runs(stopped):
        if not 0 < a < b < len(stopped) or b - a > most:
            continue
        near = pace[max(0, a - reach) : b + reach]
        usual = float(np.median(near[near > _FROZEN_TURN]))
        # a pose that is held on purpose is come to and left slowly
        out[a + 1 : b + 1] = min(pace[a - 1], pace[b]) > 0.25 * usual
    return out
