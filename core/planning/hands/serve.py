"""Waiting at tables: each is attended to in turn, and litter that is seen on the way is put away first.

Kuffner, "Autonomous Agents for Real-Time Animation" (1999), 6: a waiter goes from table to table, breaks off to clean
where it sees litter, and goes on where it was.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import InvalidParam
from ...performance import Performance
from .chores import ABOVE, FAILURES, Place, Shift, clear
from .orders import ServeParams
from .task import Job

__all__ = ["ServeParams", "serve"]


def serve(
    job: Job, params: ServeParams, tables: Sequence[str], litter: Sequence[str] = (), places: Sequence[Place] = ()
) -> Performance:
    """Go from one thing to the next and attend to each with a hand, and break off to clean where litter is known of.

    Args:
        job: The actor and the world; what its hands do follows from `params`.
        params: How it works.
        tables: Names of bodies to attend to, in order.
        litter: Names of bodies that do not belong where they are.
        places: Where those go; see `tidy`.

    Returns:
        The performance; its transcript has every decision, with the `thing` it is about: "go on", "serve", "clean",
        "put away", "resume" and "give up".

    Raises:
        InvalidParam: There is nothing to attend to, or nowhere to put the litter.
    """
    if not tables:
        raise InvalidParam("tables", params.tables, "there is nothing to attend to")
    if litter and not places:
        raise InvalidParam("away", params.away, "there is nowhere to put things")
    shift = Shift(job, params, places)
    for name in tables:
        shift.note("go on", f"{name} is next", name)
        try:
            shift.step_up(shift.place(name) + ABOVE)
            if params.mode == "look":
                shift.look_about()
            if clear(shift, [n for n in litter if n != name]):
                shift.note("resume", f"{name} was to be served", name)
                shift.step_up(shift.place(name) + ABOVE)
            shift.reach(task="touch", target=name, hold=params.attend)
        except FAILURES as error:
            shift.lost.append(name)
            shift.note("give up", f"{name}: {error}", name)
        else:
            shift.note("serve", f"{name} is attended to", name)
    return shift.performance()
