"""Pairs of grasps with which both hands get at a prop, go up with it and put it down: one question of kinematics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...errors import NoGrasp, NoIK
from ...kinematics.fingers import hand_length
from ...maths import quat
from ...skeleton import SIDES, Array
from ...world import World
from ..spaces.collision import clearance
from ..spaces.penetration import TOLERANCE
from ..spaces.solids import solids
from ..spaces.space import Bools
from .grasp import Grasp
from .pairs import pairs_of
from .postures import APPROACH, roomy
from .standing import UP, destination_of

if TYPE_CHECKING:
    from .both_hands import BothHands

MOST = 72
"""Pairs of grasps that are looked at together."""


@dataclass(frozen=True, eq=False)
class Pair:
    """A grasp of each hand that both arms reach: scores are better when lower."""

    left: Grasp
    right: Grasp
    score: float


def reachable_pairs(hands: BothHands) -> list[Pair]:
    """The pairs of grasps that both arms reach, go up with, and put down where they should."""
    across = hands.positions[hands.works[0].arm.joints[0]] - hands.positions[hands.works[1].arm.joints[0]]
    left = quat.unit(np.array([across[0], across[1], 0.0]))
    long = hand_length(hands.job.skeleton, SIDES[0])
    every = pairs_of(hands.target, hands.matrix, left, np.cross(left, UP), long)
    if not every:
        raise NoGrasp(f"{hands.target.name} has no two sides that the palms fit on; turn to face one of them")
    known = _roomy(hands, every)[:MOST]
    stages = [hands.approach(1.0, hands.matrix, known), hands.lifted(hands.matrix, known)]
    if hands.params.task == "move":
        stages += [
            hands.lifted(destination_of(hands.job), known),
            hands.approach(1.0, destination_of(hands.job), known),
        ]
    goals, turns = (np.concatenate([s[k] for s in stages], axis=1) for k in range(2))
    hands.ledger.ik += 1
    found = hands.solved(goals, turns, hands.judge(known[0]))
    whole = np.asarray(found.good.all(axis=(1, 2)))
    ends = [(slice(APPROACH), hands.matrix)]
    if hands.params.task == "move":
        ends.append((slice(-APPROACH, None), destination_of(hands.job)))
    for part, matrix in ends:
        if whole.any():
            whole[whole] = ~_pierced(hands, found.elbows[whole, part], goals[whole, part], matrix)
    out = []
    for c, (a, b) in enumerate(known):
        if not whole[c]:
            far = found.gaps[c].max()
            why = f"{far:.2f} m out of reach" if far > 0 else "no posture fits"
            hands.ledger.log("both", a.name, "posture", why)
            continue
        out.append(Pair(a, b, 1.0 - a.quality + 0.5 * float(np.abs(found.shifts[c]).max())))
    if not out:
        raise _unreached(hands, found.gaps, found.beyond, goals)
    return sorted(out, key=lambda pair: pair.score)


def _roomy(hands: BothHands, known: list[tuple[Grasp, Grasp]]) -> list[tuple[Grasp, Grasp]]:
    """The pairs of grasps at which neither hand is in anything, there and on its straight way to it, or all of
    them where there are none."""
    fits = np.ones(len(known), dtype=bool)
    for k, work in enumerate(hands.works):
        found = work.solids((hands.target.name,))
        fits &= roomy(work, [pair[k] for pair in known], hands.matrix, found, (0.0, 0.5, 1.0))
    if not fits.all():
        lost = int((~fits).sum())
        hands.ledger.log("both", "", "posture", f"{lost} of {len(known)} pairs of grasps have no room for the hands")
    return [pair for pair, fit in zip(known, fits, strict=True) if fit] or known


def _pierced(hands: BothHands, elbows: Array, wrists: Array, matrix: Array) -> Bools:
    """(C,) whether a forearm from elbows to wrists (C, K, 2, 3) is in the prop at a matrix (4, 4)."""
    body = replace(hands.target, matrices=matrix[None])
    there = solids(World((body,)), 0.0, None, (), hands.shapes)
    gap, _ = clearance(
        there,
        elbows.reshape(-1, 3),
        wrists.reshape(-1, 3),
        np.full(wrists[..., 0].size, hands.works[0].arm.radii[1]),
    )
    return np.asarray(gap.reshape(len(wrists), -1).min(axis=1) < -0.5 * TOLERANCE)


def _unreached(hands: BothHands, gaps: Array, beyond: Array, goals: Array) -> NoIK:
    least = float(gaps.max(axis=(1, 2)).min())
    if least > 0:
        return NoIK(f"{hands.target.name} is {least:.2f} m out of reach of both hands", least)
    if beyond.max(axis=(1, 2)).min() > 1e-6:
        return NoIK(f"no hold of both hands on {hands.target.name} is within the limits of the arms")
    work = hands.works[0]
    found = work.solids((hands.target.name,))
    q = work.arm.configuration(hands.solved(goals[:, :1], None).rotations[:, 0, 0])
    return NoIK(f"in the way of both hands is {work.blocker(work.arm, found, q)}")
