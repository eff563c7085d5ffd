"""Postures in which an arm takes hold, goes there and lifts, for all grasps of a prop at once; or why there are none.

Straight approaches are solved as one batch of inverse kinematics over all grasps, so a task that goes well asks twice:
once for taking hold and once for putting down.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import NoIK
from ...kinematics import fk
from ...kinematics.arm_ik import Free, Trial, solve_arms, swivels
from ...maths import quat
from ...skeleton import SIDE_NAMES, Array
from ..spaces.arm_space import Arm, checker
from ..spaces.collision import clearance
from ..spaces.rrt import stopped
from ..spaces.solids import Solids
from ..spaces.space import Bools
from .arm_work import OWN_BODY, ArmWork, fine_arm
from .grasp import Grasp, worlds

APPROACH, LIFT = 6, 4
"""Postures along a straight approach, and along a lift."""
MOST = 160
"""Grasps that are looked at together."""
ROOM = 0.002
"""How deep a hand may seem to be in something and still be looked at closely [m]."""
JUMP = 0.7
"""Largest change of an angle between two of them [rad]."""
EASY, BENT, RAISED = 0.35, 0.6, 2.0
"""How far a wrist bends at ease [rad], what a radian more counts, and what a metre counts by which an elbow is higher
than two thirds of the upper arm below its shoulder."""


@dataclass(frozen=True, eq=False)
class Option:
    """A grasp that an arm reaches: configurations (K, 7) from the stand-off over the grasp on; lower scores are
    better."""

    grasp: Grasp
    ways: Array
    score: float


def reachable(
    work: ArmWork,
    grasps: Sequence[Grasp],
    matrix: Array,
    prop: str,
    shifts: Callable[[Array], Array],
    near: Array,
    natural: bool = False,
    beside: Sequence[str] = (),
) -> list[Option]:
    """The grasps that the arm reaches along their whole approach, best first; one question of kinematics.

    Args:
        work: The arm.
        grasps: Of the prop.
        matrix: (4, 4) where the prop is.
        prop: Its name; the hand may touch it.
        shifts: From the approach (3,) to where the hand is relative to the grasp (K, 3) [m].
        near: (7,) configuration before, or (G, 7) one for each grasp.
        natural: Take no posture but the natural one.
        beside: What else the hand may touch.
    """
    own = [k for k, g in enumerate(grasps) if g.side in ("any", work.side)]
    before = np.broadcast_to(near, (len(grasps), 7))[own]
    fits = [grasps[k] for k in own]
    if not fits:
        return []
    goals, turns = work.wrists(fits, matrix, np.stack([shifts(a) for a in worlds(fits, matrix)[2]]))
    long = float(work.arm.lengths[:2].sum())
    far = np.linalg.norm(goals - work.arm.shoulder, axis=2).max(axis=1)
    near_enough = np.flatnonzero(far < long)
    if len(near_enough) < len(fits):
        lost = len(fits) - len(near_enough)
        work.ledger.log(work.side, "", "posture", f"{lost} of {len(fits)} grasps are out of reach")
    if not len(near_enough):
        return []
    stopped(work.should_stop)
    around = work.solids((prop, *beside))
    fitting = roomy(work, [fits[k] for k in near_enough], matrix, around)
    if not fitting.all():
        lost = int((~fitting).sum())
        work.ledger.log(work.side, "", "posture", f"{lost} of {len(fits)} grasps have no room for the hand")
    near_enough = near_enough[fitting]
    if not len(near_enough):
        return []
    near_enough = np.array(sorted(near_enough, key=lambda k: float(far[k]) / long - fits[k].quality)[:MOST])
    fits, before = [fits[k] for k in near_enough], before[near_enough]
    begun, goals, turns = before, goals[near_enough], turns[near_enough]
    stopped(work.should_stop)
    judge = _judge(work, [g.shape for g in fits], goals.shape[1], around, begun[:1])
    work.ledger.ik += 1
    found = solve_arms(
        work.skeleton,
        np.broadcast_to(work.positions, (*goals.shape[:2], *work.positions.shape)),
        np.broadcast_to(work.globals, (*goals.shape[:2], *work.globals.shape)),
        goals[:, :, None],
        turns[:, :, None],
        sides=(work.side,),
        free=judge,
    )
    good = found.good[..., 0] & ((found.shifts[..., 0] == 0.0) | (not natural))
    configurations = np.empty((*goals.shape[:2], 7))
    for k in range(goals.shape[1]):
        before = configurations[:, k] = work.arm.configuration(found.rotations[:, k, 0], before)
    smooth = np.abs(np.diff(configurations, axis=1)).max(axis=(1, 2)) < JUMP
    whole = good.all(axis=1) & smooth
    hand = work.positions[work.arm.joints[2]]
    forearm = quat.unit(hand - work.positions[work.arm.joints[1]])
    out = []
    for c, grasp in enumerate(fits):
        if not whole[c]:
            why = "out of reach" if (found.gaps[c] > 0).any() else "no posture fits" if smooth[c] else "elbow jumps"
            work.ledger.log(work.side, grasp.name, "posture", why)
            continue
        place, _, along = grasp.world(matrix)
        away = float(np.linalg.norm(place - hand))
        angle = float(np.arccos(np.clip(along @ forearm, -1.0, 1.0)))
        turned = float(np.abs(configurations[c, 0] - begun[c]).max())
        score = away + 0.2 * angle + 0.5 * float(np.abs(found.shifts[c]).max()) + 0.8 * (1.0 - grasp.quality)
        ways = np.clip(configurations[c], work.arm.low, work.arm.high)
        out.append(Option(grasp, ways, score + 0.2 * turned + 0.25 * strain(work.arm, ways)))
    return sorted(out, key=lambda option: option.score)


def roomy(
    work: ArmWork, grasps: Sequence[Grasp], matrix: Array, found: Solids, back: Sequence[float] = (0.0,)
) -> Bools:
    """(G,) whether an open hand that takes a prop at a matrix (4, 4) by each grasp is clear of everything, however the
    arm is: no posture needs to be sought for the others.

    `back` are the parts of its straight approach by which it is looked at on the way, 0 where it takes hold.
    """
    out = np.zeros(len(grasps), dtype=bool)
    for shape in {grasp.shape for grasp in grasps}:
        own = [k for k, grasp in enumerate(grasps) if grasp.shape == shape]
        arm = fine_arm(work, work.shaped(shape))
        alongs = worlds([grasps[k] for k in own], matrix)[2]
        far = np.array([grasps[k].distance for k in own])
        shifts = -(far[:, None] * np.asarray(back))[..., None] * alongs[:, None]
        places, turns = work.wrists([grasps[k] for k in own], matrix, shifts)
        starts, ends = arm.hand_at(places.reshape(-1, 3), turns.reshape(-1, 4))
        radii = np.tile(arm.radii[2:], len(starts))
        gap, _ = clearance(found, starts.reshape(-1, 3), ends.reshape(-1, 3), radii)
        out[own] = gap.reshape(len(own), -1).min(axis=1) > -ROOM
    return out


def strain(arm: Arm, ways: Array) -> float:
    """What the worst of configurations (K, 7) counts: for a wrist that is bent, and for an elbow that is raised."""
    bent = np.maximum(np.linalg.norm(ways[:, 5:7], axis=1) - EASY, 0.0)
    elbows = arm.frames(ways)[0][2] - arm.shoulder[2]
    raised = np.maximum(elbows + 2.0 / 3.0 * arm.lengths[0], 0.0)
    return float((BENT * bent + RAISED * raised).max())


def _judge(work: ArmWork, shapes: Sequence[str], count: int, found: Solids, allowed: Array) -> Free:
    """Whether postures touch nothing, with the hand in the shape of the grasp each is for; `count` a grasp."""
    judges = {}
    for shape in sorted(set(shapes)):
        arm = fine_arm(work, work.shaped(shape))
        judges[shape] = arm.judge(checker(arm, found, work.positions, work.globals, allowed))
    own = np.array(shapes)

    def free(trial: Trial) -> Bools:
        out = np.zeros(len(trial.samples), dtype=bool)
        held = own[trial.samples // count]
        for shape, judge in judges.items():
            at = np.flatnonzero(held == shape)
            if len(at):
                out[at] = judge(Trial(trial.samples[at], trial.arms[at], trial.places[at], trial.turns[at]))
        return out

    return free


def drawn_back(work: ArmWork, grasp: Grasp, matrix: Array, start: Array, near: Sequence[str]) -> Array:
    """(K, 7) configurations from `start` (7,) straight back from a prop at a matrix (4, 4), as far as the arm goes: the
    elbow gives way to the body behind it. What is `near`, the prop and who holds it, is not in the way."""
    back = -grasp.distance * np.linspace(0.0, 1.0, APPROACH)[1:, None] * grasp.world(matrix)[2]
    joints = work.arm.joints
    body = np.array(work.rotations)
    body[joints] = work.arm.rotations(start)
    positions, globals = fk.forward(work.skeleton, body, work.root)
    hand = int(joints[2])
    goals = positions[hand] + back
    arm = fine_arm(work, work.shaped(grasp.shape))
    judge = arm.judge(checker(arm, work.solids(near), work.positions, work.globals, start[None]))
    work.ledger.ik += 1
    # each for itself: no more than it must does the elbow leave the swivel that it has
    found = solve_arms(
        work.skeleton,
        np.broadcast_to(positions, (len(goals), 1, *positions.shape)),
        np.broadcast_to(globals, (len(goals), 1, *globals.shape)),
        goals[:, None, None],
        np.broadcast_to(globals[hand], (len(goals), 1, 1, 4)),
        sides=(work.side,),
        swivel=swivels(work.skeleton, positions, globals, (work.side,)),
        free=judge,
    )
    out = [start]
    for k in range(len(goals)):
        q = work.arm.configuration(found.rotations[k, 0, 0], out[-1])
        if not found.good[k, 0, 0] or np.abs(q - out[-1]).max() > JUMP:
            break
        out.append(np.clip(q, work.arm.low, work.arm.high))
    return np.stack(out)


def unreached(work: ArmWork, grasps: Sequence[Grasp], matrix: Array, prop: str, goes: bool = False) -> NoIK:
    """Why none of the grasps of a prop at a matrix (4, 4) can be reached, there and where the approach begins.

    `goes` says that this is where the prop is to go.
    """
    where, hand = f"where {prop} is to go", f"{SIDE_NAMES[work.side]} hand"
    what, of = (where, where) if goes else (prop, f"of {prop}")
    back = np.array([g.distance for g in grasps])[:, None, None] * np.array([0.0, 1.0])[:, None]
    places, turns = work.wrists(grasps, matrix, -back * worlds(grasps, matrix)[2][:, None])
    away = np.linalg.norm(places - work.arm.shoulder, axis=2)
    far, long = float(away.min()), float(work.arm.lengths[:2].sum())
    if far > long:
        gap = f"{far - long:.2f} m out of reach"
        return NoIK(f"{hand}: {what} is {gap}; bring that and the actor nearer to each other", far - long, goes)
    found = work.solids((prop,))
    work.ledger.ik += 1
    nearest = np.argsort(away.min(axis=1), kind="stable")[:MOST]
    places, turns = places[nearest].reshape(-1, 3), turns[nearest].reshape(-1, 4)
    shape = (len(places), *work.positions.shape)
    posed = solve_arms(
        work.skeleton,
        np.broadcast_to(work.positions, shape),
        np.broadcast_to(work.globals, (len(places), *work.globals.shape)),
        places[:, None],
        turns[:, None],
        sides=(work.side,),
    )
    within = np.flatnonzero(posed.good[:, 0])
    if not len(within):
        limits = f"no grasp {of} is within the limits of the arm"
        return NoIK(f"{hand}: {limits}; turn it or the actor, or make another grasp", 0.0, goes)
    q = np.stack([work.arm.configuration(posed.rotations[k, 0]) for k in within])
    blocks = work.blocker(work.arm, found, q)
    out = "turn or move the actor" if blocks == OWN_BODY else "move one of them"
    return NoIK(f"{hand}: in the way of every grasp {of} is {blocks}; {out}", 0.0, goes)
