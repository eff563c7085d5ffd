"""Which hand takes something: the empty one, the nearer one, the favoured one, in this order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..errors import InvalidParam, NoGrasp
from ..skeleton import SIDES

MARGIN = 0.15
"""A hand is nearer when it is so by more than this [m]; otherwise the favoured one goes."""


class HandChoice(NamedTuple):
    """Who takes it, and what has to be done first.

    Attributes:
        sides: The hands to use, the best first when one is enough: the others are there if it fails.
        first: "" when they can take it at once, "go" when it is out of reach from here, "put_down" when no hand is
            empty.
    """

    sides: tuple[str, ...]
    first: str = ""


def choose_hand(
    distances: Mapping[str, float],
    *,
    empty: Mapping[str, bool],
    reachable: Mapping[str, bool],
    favoured: str = "R",
    hands: int = 1,
    surface: bool = True,
) -> HandChoice:
    """The hand or hands that take something.

    Args:
        distances: From each working hand, "L" and "R", to where it would take hold [m].
        empty: Which of them hold nothing.
        reachable: Which of them reach it from where the actor stands.
        favoured: The hand the actor prefers.
        hands: How many hands it takes: 1 or 2.
        surface: Whether there is somewhere near to put things down.

    Raises:
        NoGrasp: Too few hands work, or none can be emptied.
    """
    if favoured not in SIDES:
        raise InvalidParam("favoured", favoured, f"must be one of {', '.join(SIDES)}")
    if hands not in (1, 2):
        raise InvalidParam("hands", hands, "must be 1 or 2")
    able = [side for side in SIDES if side in distances]
    if len(able) < hands:
        raise NoGrasp(f"it takes {hands} hands, and {len(able)} work")
    ready = [side for side in able if empty.get(side, False)]
    if len(ready) < hands:
        if not surface:
            raise NoGrasp("no free hand, and nowhere near to put down what they hold")
        return HandChoice(_order(able, distances, favoured)[:hands], "put_down")
    reach = [side for side in ready if reachable.get(side, False)]
    first = "" if len(reach) >= hands else "go"
    return HandChoice(_order(ready if first or hands == 2 else reach, distances, favoured), first)


def _order(sides: list[str], distances: Mapping[str, float], favoured: str) -> tuple[str, ...]:
    """The nearer hand first; of hands about as near, the favoured one."""
    if len(sides) == 2 and abs(distances[sides[0]] - distances[sides[1]]) > MARGIN:
        return tuple(sorted(sides, key=lambda side: distances[side]))
    return tuple(sorted(sides, key=lambda side: side != favoured))
