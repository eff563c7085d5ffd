"""Ways of a prop that two hands hold: its place and its turn about the vertical, free where both arms can follow."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ...errors import NoPath
from ...kinematics.arm_ik import Free
from ...kinematics.body_shape import ARM_PARTS, beads
from ...maths import quat
from ...skeleton import Array
from ..spaces.collision import Checker
from ..spaces.rrt import SearchParams, plan
from ..spaces.shortcut import SmoothParams, shorten
from ..spaces.solids import parted
from ..spaces.space import Bools, Space
from ..spaces.tree import SearchTimeout
from .grasp import Grasp
from .held_shape import shell
from .standing import UP

if TYPE_CHECKING:
    from .both_hands import BothHands

FINE = 0.008
"""Between two postures while both hands hold something [m]."""
_THICK = 0.03
"""Of what stands for the skin of the prop [m]."""
_SPARE = 0.002


def prop_way(
    hands: BothHands, grasps: tuple[Grasp, Grasp], start: Array, goal: Array, judge: Free, held: bool
) -> list[Array]:
    """Matrices (4, 4) of the prop after the first: up, over, and down to the goal."""
    lift = np.zeros((4, 4))
    lift[2, 3] = hands.params.lift
    lifted, above = (start if held else start + lift), goal + lift
    turn, scale = parted(lifted)
    heading = quat.from_matrix(parted(above)[0] @ turn.T)
    yaw = 2.0 * float(np.arctan2(heading[3], heading[0]))
    yaw -= 2.0 * np.pi * round(yaw / (2.0 * np.pi))
    if np.hypot(heading[1], heading[2]) > 1e-3:
        raise NoPath("both hands keep it level: the place it is taken to tilts it")
    own = _prop_check(hands, lifted, above)

    def matrices(q: Array) -> Array:
        out = np.tile(np.eye(4), (len(q), 1, 1))
        out[:, :3, :3] = (quat.to_matrix(quat.about(UP, q[:, 3])) @ turn) * scale
        out[:, :3, 3] = q[:, :3]
        return out

    def free(q: Array) -> Bools:
        there = matrices(q)
        out = own(there)
        if out.any():
            rows = [hands.frames(grasps, m, np.zeros(1)) for m in there[out]]
            goals, turns = (np.concatenate([r[k] for r in rows])[:, None] for k in range(2))
            out[out] = hands.solved(goals, turns, judge).good.all(axis=(1, 2))
        return out

    a, b = np.array([*lifted[:3, 3], 0.0]), np.array([*above[:3, 3], yaw])
    reach = hands.works[0].arm.reach
    middle = 0.5 * (hands.works[0].arm.shoulder + hands.works[1].arm.shoulder)
    low = np.minimum(np.array([*(middle - reach), -np.pi]), np.minimum(a, b))
    high = np.maximum(np.array([*(middle + reach), np.pi]), np.maximum(a, b))
    space = Space(("x", "y", "z", "turn"), low, high, free, 0.03, np.array([1.0, 1.0, 1.0, 0.3]))
    hands.ledger.plans += 1
    for end, what in ((a, "lifted"), (b, "above where it is taken")):
        if not space.free(end[None])[0]:
            raise NoPath(f"{hands.target.name} {what} touches something, or the arms do not hold it there")
    try:
        answer = plan(
            space,
            a,
            b,
            SearchParams(budget=hands.params.budget, seed=hands.params.seed),
            should_stop=hands.job.should_stop,
        )
    except SearchTimeout as error:
        raise error.around(f"what is about {hands.target.name} in both hands") from None
    hands.ledger.looks += answer.search.looks
    path = shorten(space, answer.path, SmoothParams(), np.random.default_rng(hands.params.seed))
    return [*([] if held else [lifted]), *matrices(path.points)[1:], goal]


def _prop_check(hands: BothHands, *ends: Array) -> Callable[[Array], Bools]:
    """Which matrices (N, 4, 4) of the prop keep it out of everything and of the body."""
    work = hands.works[0]
    _, scale = parted(hands.matrix)
    starts, stops, radii = shell(hands.target.vertices * scale, _THICK)
    whole = work.arm.body
    others = whole.chosen([part for part in whole.parts if part[:-2] not in ARM_PARTS])
    placed = others.placed(hands.positions, hands.globals)
    centres, sizes, _ = beads(*placed, others.radii)

    def segments(there: Array) -> tuple[Array, Array]:
        turn = there[:, :3, :3] / scale
        a = np.einsum("nij,kj->ikn", turn, starts) + there[:, :3, 3].T[:, None]
        return a, np.ascontiguousarray(np.einsum("nij,kj->ikn", turn, stops - starts))

    # where it rests against the body, the body is as thin as it leaves it room
    a, v = (x.transpose(2, 1, 0)[:, None] for x in segments(np.stack(ends)))
    away = centres[:, None] - a
    along = np.clip((away * v).sum(axis=-1) / np.maximum((v * v).sum(axis=-1), 1e-12), 0.0, 1.0)
    gap = np.linalg.norm(away - along[..., None] * v, axis=-1) - radii
    sizes = np.minimum(sizes, gap.min(axis=(0, 2)) - _SPARE)
    keep = sizes > 0
    region = work.solids((hands.target.name,))
    check = Checker(region, np.linalg.norm(stops - starts, axis=1), radii, (centres[keep], sizes[keep]))
    return lambda there: check.free(*segments(there))


def dense_way(matrices: list[Array]) -> list[Array]:
    """Matrices at most FINE apart along the way of some."""
    out = [matrices[0]]
    for a, b in pairwise(matrices):
        (ta, scale), (tb, _) = parted(a), parted(b)
        qa, qb = quat.from_matrix(ta), quat.from_matrix(tb)
        far = float(np.linalg.norm(b[:3, 3] - a[:3, 3])) + 0.3 * float(quat.distance(qa, qb))
        count = max(1, int(np.ceil(far / FINE)))
        for share in np.arange(1, count + 1) / count:
            m = np.eye(4)
            m[:3, :3] = quat.to_matrix(quat.slerp(qa, qb, share)) * scale
            m[:3, 3] = a[:3, 3] + share * (b[:3, 3] - a[:3, 3])
            out.append(m)
    return out
