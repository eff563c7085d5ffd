"""What can be told about the way of a thing or a machine; apart from how it is found, so that it loads quickly."""

from __future__ import annotations

from dataclasses import dataclass

from ..params import Params, param


@dataclass(frozen=True)
class PlanParams(Params):
    """What goes where, and how."""

    mover: str = param("", ref="object", help="Thing or machine that goes; empty for the active object")
    goal: str = param("", ref="object", help="Object whose place and orientation it takes; of a machine, its last bone")
    action: str = param("", ref="action", help="Of a machine: the action whose pose it takes instead")
    moves: str = param(
        "space",
        choices=(
            ("space", "It moves and turns any way"),
            ("floor", "It moves and turns on the level"),
            ("slide", "It moves any way and does not turn"),
        ),
        help="How a thing may move",
    )
    speed: float = param(0.8, lo=0.01, hi=20.0, unit="m/s", help="Greatest speed of a thing")
    turning: float = param(1.2, lo=0.01, hi=20.0, unit="rad/s", help="Greatest rate of turning, of joints too")
    frame: int = param(1, lo=-1_000_000, hi=1_000_000, basic=False, help="Frame of the action whose pose is taken")
    tip: str = param("", basic=False, help="Last bone of a machine; empty for the end of its longest chain")
    orient: bool = param(True, basic=False, help="Of a machine: let its last bone take the orientation of the goal too")
    room: float = param(
        1.5, lo=0.0, hi=1000.0, unit="m", basic=False, help="How far from start and goal a thing may go aside"
    )
    lift: float = param(
        0.0, lo=0.0, hi=10.0, unit="m", basic=False, help="How high a thing is lifted first, and set down from at last"
    )
    margin: float = param(0.005, lo=0.0, hi=10.0, unit="m", basic=False, help="Distance kept from everything")
    ignore: str = param("", basic=False, help="Names of objects that are not in the way, with commas between them")
    faithful: bool = param(
        False, basic=False, help="As published in 1999: one sample at a time, plain short-cuts, corners and easing"
    )
    budget: int = param(4000, lo=1, hi=10_000_000, basic=False, help="Rounds of the search")
    seed: int = param(0, lo=0, hi=2**31 - 1, basic=False, help="Number from which everything random follows")
