"""Where something is carried: near a posture of the arm, upright, the arms at ease and off the body."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from ...kinematics.arm_ik import solve_arms
from ...maths import quat
from ...skeleton import Array
from ...world import Body, World
from ..spaces.arm_space import Arm, Held, checker
from ..spaces.solids import parted, solids
from .held_shape import held_capsules
from .stages import Holding

if TYPE_CHECKING:
    from .ride import Ride

UP = np.array([0.0, 0.0, 1.0])
POSTURES: Mapping[str, tuple[float, float, float]] = MappingProxyType(
    {
        "front": (0.05, 0.52, -0.62),
        "chest": (-0.10, 0.48, -0.38),
        "side": (0.22, 0.10, -0.93),
        "high": (0.25, 0.38, 0.02),
    }
)
"""Where the wrist is from its shoulder: outward, forward, up [lengths of the arm]."""
ASLANT = float(np.radians(2.0))
"""How far something that is carried upright may tilt [rad]."""
_YAWS = 24
_SPREAD = (-0.14, 0.0, 0.14)
"""How far from the posture a better place is looked for [lengths of the arm]."""
_FORWARD, _UPWARD = (0.0, 0.14, 0.28, 0.42, 0.56), (-0.14, 0.0, 0.14, 0.28, 0.42, 0.56)
"""The same where nothing near the posture is upright: ahead, and up."""
_COST, _SPILT = (1.0, 0.6, 1.2), 20.0
"""What it counts then to be beside the posture, before it and over it, and to pass a limit by a radian."""
_TURNED, _ROUND = 0.1, 0.03
"""What a radian counts by which it is turned about the vertical; and then."""
_LOOKS = 5
"""Samples of the motion at which a posture is checked against the body."""


def chosen(ride: Ride, group: tuple[Holding, ...], first: Array, body: Body | None, wide: bool = False) -> Array:
    """(4, 4) of a prop in the axes it rides on.

    Args:
        ride: What it rides on.
        group: The hands that hold it.
        first: (4, 4) where it is at the beginning.
        body: The prop; None for one that nobody minds in the body.
        wide: Look farther ahead of the posture and over it, where it is not upright near it.
    """
    params, length = ride.params, ride.length
    outward, forward, up = np.array(POSTURES[params.posture]) * length
    ahead, over = (_FORWARD, _UPWARD) if wide else (_SPREAD, _SPREAD)
    spread = np.meshgrid(_SPREAD, -np.array(ahead), over, indexing="ij")
    grid = length * np.stack(spread, axis=-1).reshape(-1, 3)
    ideal = np.array([0.0, -forward - params.ahead, up + params.raised])
    if len(group) == 1:
        sign = 1.0 if group[0].side == "L" else -1.0
        ideal[0] = sign * (ride.half + outward)
    yaws = 2.0 * np.pi * np.arange(_YAWS) / _YAWS
    level = quat.from_matrix(upright(first, params.upright))
    turn = quat.multiply(quat.about(UP, yaws), level)
    _, scale = parted(first)
    # the middle of the wrists is what goes to the posture
    goals, _ = wrists(group, np.zeros((len(turn), 3)), turn)
    places = (ideal + grid)[:, None] - goals.mean(axis=1)[None]
    candidates = places.reshape(-1, 3), np.tile(turn, (len(grid), 1))
    cost = np.repeat(np.linalg.norm(grid * (_COST if wide else 1.0), axis=1) / length, len(turn))
    turned = np.abs(np.arctan2(np.sin(yaws), np.cos(yaws)))
    cost = cost + (_ROUND if wide else _TURNED) * np.tile(turned, len(grid))
    burden, breach = _burden(ride, group, *candidates, body)
    cost = cost + burden + (_SPILT * breach if wide else 0.0)
    best = int(np.argmin(cost))
    out = np.eye(4)
    out[:3, :3] = quat.to_matrix(candidates[1][best]) * scale
    out[:3, 3] = candidates[0][best]
    return out


def _burden(
    ride: Ride, group: tuple[Holding, ...], places: Array, turns: Array, body: Body | None
) -> tuple[Array, Array]:
    """How awkward it is to have a prop at places (C, 3) and turns (C, 4) of the frame over the motion (C,), and by
    how much limits are passed at most (C,) [rad]."""
    sides, cost, breach = tuple(h.side for h in group), np.zeros(len(places)), np.zeros(len(places))
    for k in np.unique(np.linspace(0, len(ride.motion) - 1, _LOOKS).astype(int)):
        at = ride.place[k] + quat.rotate(ride.turn[k], places)
        goals, hands = wrists(group, at, quat.multiply(ride.turn[k], turns))
        shape = (len(places), *ride.positions[k].shape)
        found = solve_arms(
            ride.skeleton,
            np.broadcast_to(ride.positions[k], shape),
            np.broadcast_to(ride.globals[k], (len(places), *ride.globals[k].shape)),
            goals,
            hands,
            sides=sides,
        )
        raised = found.elbows[..., 2] - ride.positions[k][found.joints[:, 0], 2]
        bad = 10.0 * found.gaps + 3.0 * found.beyond + 0.3 * np.abs(found.shifts)
        bad = bad + 1.5 * np.maximum(raised / ride.length + 0.35, 0.0)
        cost += bad.sum(axis=1)
        breach = np.maximum(breach, found.beyond.max(axis=1))
        for n, holding in enumerate(group):
            held = None if body is None or n else _held(holding, body)
            hit = _touches(ride, k, holding, held, found.rotations[:, n])
            cost += 5.0 * hit
    return cost / _LOOKS, breach


def _held(holding: Holding, body: Body) -> Held:
    return held_capsules(body.vertices, np.eye(4), holding.offset)


def _touches(ride: Ride, k: int, holding: Holding, held: Held | None, rotations: Array) -> Array:
    """(C,) whether arms with rotations (C, 3, 4) touch the body at sample k."""
    arm = Arm(ride.skeleton, holding.side, ride.positions[k], ride.globals[k], [holding.fingers], held)
    check = checker(arm, solids(World(())), ride.positions[k], ride.globals[k])
    return np.asarray(~check.free(*arm.segments(arm.configuration(rotations))))


def wrists(group: tuple[Holding, ...], places: Array, turns: Array) -> tuple[Array, Array]:
    """Places (N, S, 3) of wrists [m] and rotations (N, S, 4) of hands that hold a prop at (N, 3), turned (N, 4)."""
    goals, hands = [], []
    for holding in group:
        turn, _ = parted(holding.offset)
        own = quat.from_matrix(turn)
        hand = quat.multiply(turns, quat.conjugate(own))
        hands.append(hand)
        goals.append(places - quat.rotate(hand, holding.offset[:3, 3]))
    return np.stack(goals, axis=1), np.stack(hands, axis=1)


def upright(matrix: Array, which: str) -> Array:
    """(3, 3) the rotation of a matrix (4, 4) turned the shortest way so that what of the prop points up does so."""
    turn, _ = parted(matrix)
    axis = turn[:, 2]
    if which == "now":
        k = int(np.abs(turn[2]).argmax())
        axis = turn[:, k] * np.sign(turn[2, k])
    return np.asarray(quat.to_matrix(quat.between(axis, UP)) @ turn)
