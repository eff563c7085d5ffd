"""A prop that a hand holds is put down elsewhere, or let go of where it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...errors import NoIK, NoPath, TroupeError
from ...kinematics import fk
from ...kinematics.arm_ik import solve_arms, swivels
from ...maths import quat
from ...skeleton import Array
from .arm_work import ArmWork
from .grasp_forms import spun
from .held_shape import held_capsules
from .holding import hand_matrix
from .postures import drawn_back, reachable, unreached
from .stages import Holding, Stage, home_of
from .stand_in import TAKER
from .standing import UP, destination_of

if TYPE_CHECKING:
    from .one_hand import OneHand


def put_down(task: OneHand, side: str, holding: Holding) -> Iterator[tuple[list[Stage], Holding | None]]:
    """Transfer, release and return of what is held.

    A body that leans for it keeps the hand where it is meanwhile, or as high; failing that the arm goes along with
    the trunk.
    """
    work, job = task.work(side), task.job
    task.used = holding.grasp
    hand = hand_matrix(job.skeleton, job.pose.rotations, job.pose.root, side)
    task.matrix = hand @ holding.offset
    held = held_capsules(task.target.vertices, hand, task.matrix)
    rest = work.rest
    if task.params.come_back:
        work.rest = home_of(work.arm, holding, work.rest)
    goal, grasp = destination_of(task.job), holding.grasp
    for ways in ([grasp], spun(grasp, task.target, goal)):
        found = reachable(
            work,
            ways,
            goal,
            task.target.name,
            lambda a: task.placing(a, grasp.distance),
            rest,
            task.params.faithful,
        )
        if found:
            break
    else:
        raise unreached(work, [grasp], goal, task.target.name, True)
    failure: TroupeError | None = None
    works = False
    for along in (0.0, 1.0, None) if task.leaned else (None,):
        try:
            start = rest if along is None else _steadied(task, work, hand, along)
            lift = np.repeat(start[None], 2, axis=0)
            done = task.carried(work, holding, held, lift, found[0].ways, [], along is not None)
        except (NoIK, NoPath) as error:
            task.ledger.log(side, grasp.name, "way", str(error))
            failure = error
            continue
        works = True
        yield done
    if failure is not None and not works:
        raise failure


def _steadied(task: OneHand, work: ArmWork, hand: Array, along: float) -> Array:
    """(7,) configuration with which the hand of a body that leans is as it was before, at a matrix (4, 4), gone so
    far along with its shoulder on the level: 0 to 1."""
    pose, skeleton, sides = task.job.pose, task.job.skeleton, (work.side,)
    positions, globals = fk.forward(skeleton, pose.rotations, pose.root)
    gone = work.arm.shoulder - positions[work.arm.joints[0]]
    found = solve_arms(
        skeleton,
        work.positions[None],
        work.globals[None],
        (hand[:3, 3] + along * (gone - gone[2] * UP))[None, None],
        quat.from_matrix(hand[:3, :3])[None, None],
        sides=sides,
        swivel=swivels(skeleton, positions, globals, sides)[None],
    ).demand()
    return np.clip(work.arm.configuration(found.rotations[0, 0], work.rest), work.arm.low, work.arm.high)


def let_go(task: OneHand, side: str, holding: Holding) -> tuple[list[Stage], Holding | None]:
    """Open the hand where it is, draw it back from the prop and return."""
    work, name = task.work(side), task.target.name
    task.used = grasp = holding.grasp
    task.matrix = task.hand_at(work, None) @ holding.offset
    start, opened = work.rest, task.opened(work, grasp, holding.offset)
    if task.params.come_back:
        work.rest = home_of(work.arm, holding, work.rest)
    stages = [Stage("release", start[None], opened, task.matrix[:3, 3], seconds=0.3)]
    if task.params.come_back:
        near = (name, *(b.name for b in task.job.world.bodies if TAKER in b.tags))
        away = drawn_back(work, grasp, task.matrix, start, near)
        free = task.work(side, {name: task.matrix})
        free.loose = free.loose if holding.relaxed is None else holding.relaxed
        back = free.way(
            away[-1],
            work.rest,
            opened,
            (),
            before=away,
            far_from=near,
        )
        stages.append(Stage("return", back, holding.relaxed, None, window=(0.5, 0.95)))
    task.ledger.log(side, grasp.name, "let_go", "done")
    return stages, None
