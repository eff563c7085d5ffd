"""How a computed motion lands in the timeline."""

from __future__ import annotations

from dataclasses import dataclass

from .params import Params, param


@dataclass(frozen=True)
class LandingParams(Params):
    """Where the keys of a result go; every feature that writes keys has these beside its own parameters."""

    landing: str = param(
        "track",
        choices=(
            ("track", "A strip on the actor's Troupe track; whatever was there before stays below"),
            ("replace", "The actor's active action; the action before it is kept with a fake user"),
            ("layer", "A strip on a track of its own above everything, only while it lasts"),
        ),
        help="Where the keys of the result go",
        basic=False,
    )
    markers: bool = param(False, help="Put the motion's events on the timeline as markers", basic=False)
