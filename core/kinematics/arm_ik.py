"""Arms that reach: hand frames to natural arm postures, exact, for whole takes and both arms at once.

Of the postures that bring the hand to its frame, one for every swivel of the elbow about the line from shoulder to
wrist, the natural one is taken (see `natural_arm`), or the one nearest to a swivel or pole that is asked for. Where it
breaks a limit or touches something, the nearest one that does not, within a quarter turn either way; over time, where
that would jump or there is none, what costs least over the whole track (see `swivel_track`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..errors import InvalidParam, NoIK
from ..maths import quat
from ..skeleton import SIDES, Array, Skeleton
from .arm_chain import arm_chain
from .arm_goals import WITHIN, ArmGoals, Bools, Free, Ints, Posed, Trial
from .swivel_track import BREACH, LEVER, STEP, WIDEST, followed, limits_of, rough

__all__ = ["ArmPoses", "Free", "Trial", "rank_arms", "solve_arms", "swivels", "wrist_frames"]

_HALVINGS = 6


@dataclass(frozen=True, eq=False)
class ArmPoses:
    """Postures of S arms for a batch of goals.

    Attributes:
        sides: "L", "R": the arms.
        joints: (S, 3) upper arm, forearm, hand.
        rotations: (..., S, 3, 4) theirs, parent-relative.
        shifts: (..., S) how far their swivel is from the wanted one [rad].
        gaps: (..., S) how far the wrist stays away from its goal, which is beyond reach [m]; 0 within it.
        beyond: (..., S) sum of what the angles are beyond their limits [rad].
        free: (..., S) whether the posture touches nothing.
    """

    sides: tuple[str, ...]
    joints: Ints
    rotations: Array
    shifts: Array
    gaps: Array
    beyond: Array
    free: Bools
    _arms: ArmGoals = field(repr=False)
    _posed: Posed = field(repr=False)
    _toward: Array = field(repr=False)

    @cached_property
    def elbows(self) -> Array:
        """(..., S, 3) where the elbows are in the world [m]."""
        return self._arms.batched(self._arms.elbows(self._posed, slice(None)))

    @cached_property
    def swivels(self) -> Array:
        """(..., S) how far the elbows are from straight down about the line to the wrist, outward positive [rad]."""
        return self._arms.swivel_of(self._toward)

    @property
    def good(self) -> Bools:
        """(..., S) whether the hand is where it should be, within all limits and touching nothing."""
        return np.asarray((self.gaps == 0.0) & (self.beyond <= WITHIN) & self.free)

    def onto(self, rotations: Array) -> Array:
        """Rotations (..., J, 4) with those of the arms put in."""
        out = np.array(rotations)
        out[..., self.joints, :] = self.rotations
        return out

    def demand(self) -> ArmPoses:
        """The same; NoIK with the reason where some hand cannot be where it should."""
        bad = np.argwhere(~self.good)
        if not len(bad):
            return self
        at = tuple(bad[0])
        where = f" at sample {at[0]}" if len(at) > 1 else ""
        hand = f"hand_{self.sides[at[-1]]}{where}"
        if self.gaps[at] > 0:
            raise NoIK(f"{hand}: the goal is {self.gaps[at]:.3g} m out of reach; move the actor or the goal")
        widest = np.degrees(WIDEST)
        if not self.free[at]:
            raise NoIK(f"{hand}: something is in the way of the arm at every swivel within {widest:.0f} degrees")
        over = np.degrees(self.beyond[at])
        raise NoIK(
            f"{hand}: at every swivel within {widest:.0f} degrees some joint is beyond its limits, at best by "
            f"{over:.0f} degrees; turn the goal or widen the limits"
        )


def solve_arms(
    skeleton: Skeleton,
    positions: Array,
    globals: Array,
    goals: Array,
    turns: Array | None = None,
    *,
    sides: Sequence[str] = SIDES,
    swivel: Array | float | None = None,
    pole: Array | None = None,
    model: str = "dark",
    limits: bool = True,
    stretch: float = 1.0,
    free: Free | None = None,
) -> ArmPoses:
    """Postures that bring the hands to frames in the world; the body stays as it is.

    Out of reach the arm points to its goal. Where no swivel fits, the posture with the least breach is given. Over time
    (goals with one batch axis) the elbow keeps to one side for as long as it has to give way.

    Args:
        skeleton: J joints.
        positions: (..., J, 3) world places [m] and
        globals: (..., J, 4) world rotations of the body as it is.
        goals: (..., S, 3) where the wrists should be [m].
        turns: (..., S, 4) world rotations of the hands; None leaves the forearms' turn and the wrists as they are.
        sides: The S arms.
        swivel: (..., S) wanted swivels instead of the natural ones [rad].
        pole: (..., S, 3) points towards which the elbows point instead [m].
        model: Whose natural posture: "dark" or "seen", see `natural_arm`.
        limits: Whether to keep within the limits of the skeleton.
        stretch: Longest part of the arm's length that is used: below 1 no arm goes quite straight.
        free: Judges whether postures touch something; called with many at once.
    """
    if not 0.0 < stretch <= 1.0:
        raise InvalidParam("stretch", stretch, "must be above 0 and at most 1")
    arms = ArmGoals(skeleton, positions, globals, goals, turns, sides, stretch)
    if pole is not None:
        wanted = arms.toward(pole)
    elif swivel is not None:
        wanted = arms.at_swivel(np.asarray(swivel, dtype=np.float64))
    else:
        wanted = arms.natural(model)
    everything, shifts = slice(None), np.zeros(arms.shape)
    found = arms.posed(wanted, everything)
    beyond = arms.beyond(found, everything) if limits else shifts
    clear = arms.judged(free, found, np.ones(arms.shape, dtype=bool))
    ok = (beyond <= WITHIN) & clear
    if not ok.all():
        shifts = _search(arms, wanted, ok, limits, free)
        wanted = arms.moved(wanted, shifts, everything)
        found = arms.posed(wanted, everything)
        beyond = arms.beyond(found, everything) if limits else beyond
        clear = np.where(shifts != 0.0, arms.judged(free, found, shifts != 0.0), clear)
    return _poses(arms, tuple(sides), found, wanted, shifts, beyond, clear)


def rank_arms(
    skeleton: Skeleton,
    positions: Array,
    globals: Array,
    goal: Array,
    turn: Array | None,
    side: str,
    *,
    swivel: float | None = None,
    model: str = "dark",
    free: Free | None = None,
    caution: float = 0.2,
) -> list[ArmPoses]:
    """All good postures of one arm among the swivels tried, the best first; empty where there is none.

    A posture costs its distance from the wanted swivel [rad], and `caution` times how near its nearest limit is.

    Args:
        skeleton: J joints.
        positions: (J, 3) world places [m] and
        globals: (J, 4) world rotations of the body as it is.
        goal: (3,) where the wrist should be [m].
        turn: (4,) world rotation of the hand; None leaves forearm and wrist as they are.
        side: "L" or "R".
        swivel: The wanted swivel instead of the natural one [rad].
        model: As in `solve_arms`.
        free: As in `solve_arms`.
        caution: What a joint at its limit costs [rad].
    """
    arms = ArmGoals(skeleton, positions, globals, goal[None], None if turn is None else turn[None], (side,), 1.0)
    if arms.gaps.any():
        return []
    wanted = arms.natural(model) if swivel is None else arms.at_swivel(np.array([swivel]))
    shifts = _shifts()
    at = np.zeros(len(shifts), dtype=np.int64)
    tried = arms.moved(wanted[..., at], shifts[None], at)
    found = arms.posed(tried, at)
    beyond = arms.beyond(found, at)
    good = beyond <= WITHIN
    good &= arms.judged(free, found, good, at)
    cost = np.abs(shifts) + caution * arms.strain(found, at)[0] ** 2
    out = []
    for k in np.argsort(cost, kind="stable"):
        if good[0, k]:
            one = Posed(*(part[..., k : k + 1] for part in found))
            at_k = slice(k, k + 1)
            parts = tried[..., at_k], shifts[None, at_k], beyond[:, at_k], good[:, at_k]
            out.append(_poses(arms, (side,), one, *parts))
    return out


def swivels(skeleton: Skeleton, positions: Array, globals: Array, sides: Sequence[str] = SIDES) -> Array:
    """Swivels (..., S) [rad] that the arms of a body have: what `solve_arms` must be asked for to keep them."""
    joints = arm_chain(skeleton, sides).joints
    arms = ArmGoals(skeleton, positions, globals, positions[..., joints[:, 2], :], None, sides, 1.0)
    return arms.swivel_of(arms.present())


def wrist_frames(places: Array, turns: Array, grip: Array, grip_turn: Array) -> tuple[Array, Array]:
    """Wrist places (..., 3) [m] and hand rotations (..., 4) that bring a frame fixed in the hand to the given ones.

    Args:
        places: (..., 3) where that frame should be in the world [m].
        turns: (..., 4) and how turned.
        grip: (..., 3) its place in the hand, from the wrist [m].
        grip_turn: (..., 4) its rotation in the hand.
    """
    hand = quat.multiply(turns, quat.conjugate(grip_turn))
    return places - quat.rotate(hand, grip), hand


def _shifts() -> Array:
    """(K,) swivels to be tried, from the wanted one: nearest first, outward before inward [rad]."""
    steps = STEP * np.arange(1, round(WIDEST / STEP) + 1)
    return np.concatenate([[0.0], np.column_stack([steps, -steps]).ravel()])


def _search(arms: ArmGoals, wanted: Array, ok: Bools, limits: bool, free: Free | None) -> Array:
    """(S, N) how far elbows turn from their wanted directions (3, S, N) so that arms that are not `ok` become so."""
    at = np.flatnonzero(~ok.all(axis=0))
    tried = _shifts()
    shape = (len(ok), len(tried), len(at))

    def tested(turns: Array, samples: Ints, asked: Bools) -> tuple[Bools, Array, Array]:
        posed = arms.posed(arms.moved(wanted[..., samples], turns, samples), samples)
        beyond = arms.beyond(posed, samples) if limits else np.zeros(asked.shape)
        fits = beyond <= WITHIN
        return fits & arms.judged(free, posed, asked & fits, samples), beyond, posed.turn

    samples, asked = np.tile(at, len(tried)), np.tile(~ok[:, at], len(tried))
    fits, beyond = (x.reshape(shape) for x in tested(np.repeat(tried, len(at))[None], samples, asked)[:2])
    out, good = np.zeros(ok.shape), ok.copy()
    for arm in range(len(ok)):
        bad = ~ok[arm, at]
        out[arm, at[bad]] = _chosen(tried, fits[arm][:, bad], beyond[arm][:, bad], at[bad], arms.timed)
        good[arm, at[bad]] = fits[arm][:, bad].any(axis=0)
    # between the last swivel that does not fit and the first that does
    near, far = out[:, at].copy(), out[:, at] - np.sign(out[:, at]) * STEP
    for _ in range(_HALVINGS):
        middle = 0.5 * (near + far)
        fine = tested(middle, at, middle != 0.0)[0]
        near, far = np.where(fine, middle, near), np.where(fine, far, middle)
    out[:, at] = near
    if arms.timed:
        for arm in range(len(ok)):
            _follow(arms, arm, out[arm], good[arm], tested)
    return out


def _follow(
    arms: ArmGoals,
    arm: int,
    turns: Array,
    good: Bools,
    tested: Callable[[Array, Ints, Bools], tuple[Bools, Array, Array]],
) -> None:
    """Let the elbow of one arm follow the track where its turns (N,) jump or none is good."""
    allowed = np.concatenate([[np.inf], limits_of(arms.travel(LEVER)[arm]), [np.inf]])
    for first, last in rough(turns, good, allowed[1:-1]):

        def cost(tried: Array, first: int = first, last: int = last) -> tuple[Array, Array]:
            samples = np.tile(np.arange(first, last), len(tried))
            every = np.zeros((arms.shape[0], samples.size))
            every[arm] = tried.ravel()
            asked = np.zeros(every.shape, dtype=bool)
            asked[arm] = True
            fits, beyond, twists = (x[arm].reshape(tried.shape) for x in tested(every, samples, asked))
            return np.where(fits, np.abs(tried), BREACH * (1.0 + beyond)), twists

        before = None if first == 0 else float(turns[first - 1])
        after = None if last == len(turns) else float(turns[last])
        turns[first:last] = followed(cost, allowed[first : last + 1], before, after)


def _chosen(tried: Array, fits: Bools, beyond: Array, at: Ints, over_time: bool) -> Array:
    """(M,) the turn of each of M samples of one arm; over time one side for each run of samples.

    Args:
        tried: (K,) turns [rad].
        fits: (K, M) which of them will do.
        beyond: (K, M) by how much they break limits [rad].
        at: (M,) numbers of the samples, increasing.
        over_time: Whether samples that follow each other are a moment apart.
    """
    cost = np.where(fits, np.abs(tried)[:, None], np.inf)
    nearest = np.where(fits.any(axis=0), cost.argmin(axis=0), beyond.argmin(axis=0))
    if not over_time or not len(at):
        return np.asarray(tried[nearest])
    sides = [np.where((sign * tried > 0)[:, None], cost, np.inf) for sign in (1.0, -1.0)]
    run = np.cumsum(np.diff(at, prepend=at[0] - 2) > 1) - 1
    totals = np.stack([np.bincount(run, side.min(axis=0)) for side in sides])
    kept = np.where(totals[0] <= totals[1], 0, 1)[run]
    whole = np.isfinite(totals.min(axis=0))[run] & ~fits[0]
    both = np.stack([tried[side.argmin(axis=0)] for side in sides])
    return np.asarray(np.where(whole, both[kept, np.arange(len(at))], tried[nearest]))


def _poses(
    arms: ArmGoals, sides: tuple[str, ...], posed: Posed, elbow: Array, shifts: Array, beyond: Array, free: Bools
) -> ArmPoses:
    rotations = np.empty((arms.shape[1], len(sides), 3, 4))
    for k, part in enumerate((posed.local, posed.forearm, posed.hand)):
        w, x, y, z = part
        signs = np.ones(w.shape)
        if arms.timed:  # one hemisphere
            near = w[:, 1:] * w[:, :-1] + x[:, 1:] * x[:, :-1] + y[:, 1:] * y[:, :-1] + z[:, 1:] * z[:, :-1]
            np.cumprod(np.copysign(1.0, near), axis=1, out=signs[:, 1:])
        rotations[:, :, k] = (signs * part).transpose(2, 1, 0)
    rotations = rotations.reshape(*arms.batch, len(sides), 3, 4)
    shift, gap, over = (arms.batched(x[None])[..., 0] for x in (shifts, arms.gaps, beyond))
    clear = free.T.reshape(shift.shape)
    return ArmPoses(sides, arms.chain.joints, rotations, shift, gap, over, clear, arms, posed, elbow)
