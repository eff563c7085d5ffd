"""Tidying up: from stop to stop, litter is carried to where it belongs.

Kuffner, "Autonomous Agents for Real-Time Animation" (1999), 6: a cleaner takes litter that it walks near, or only what
it sees, or looks about for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import InvalidParam, NoPath
from ...performance import Performance
from ...skeleton import Array
from .chores import Place, Shift, clear
from .orders import TidyParams
from .task import Job

__all__ = ["TidyParams", "tidy"]


def tidy(
    job: Job, params: TidyParams, litter: Sequence[str], places: Sequence[Place], stops: Sequence[Array] = ()
) -> Performance:
    """Go from stop to stop and put litter where it belongs; what cannot be put away is passed over.

    Args:
        job: The actor and the world; what its hands do follows from `params`.
        params: How it works.
        litter: Names of bodies that do not belong where they are.
        places: Where they go: matrices (4, 4), one thing each, or names of bodies that things are stood on.
        stops: (2,) places to pass [m]; none to begin where it stands.

    Returns:
        The performance; its transcript has every decision, with the `thing` it is about: "clean", "put away" and
        "give up".

    Raises:
        InvalidParam: There is no litter, or nowhere to put it.
    """
    if not litter:
        raise InvalidParam("litter", params.litter, "there is nothing to put away")
    if not places:
        raise InvalidParam("away", params.away, "there is nowhere to put things")
    shift = Shift(job, params, places)
    if not stops:
        shift.look()
        _stop(shift, litter)
    for number, place in enumerate(stops):
        shift.note("go on", f"stop {number + 1} of {len(stops)}")
        try:
            shift.walk(place)
        except NoPath as error:
            shift.note("pass over", f"stop {number + 1}: {error}")
            continue
        _stop(shift, litter)
    left = [name for name in litter if name not in shift.away and name not in shift.lost]
    why = "it was not near" if params.mode == "near" else "it was not seen, or not near"
    for name in left:
        shift.note("leave", f"{name}: {why}", name)
    return shift.performance()


def _stop(shift: Shift, litter: Sequence[str]) -> None:
    if shift.params.mode == "look":
        shift.note("look about", "litter may be anywhere")
        shift.look_about()
    clear(shift, litter)
