"""What every feature that finds its way asks of an actor's feet: how it goes, and what it takes for ground."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..gait.travel import GAITS
from ..params import Params, param

if TYPE_CHECKING:
    from .ways.map import MapParams


def speed_of(default: float) -> float:
    """The parameter `speed` of one whose usual speed is `default` [m/s]."""
    out: float = param(default, lo=0.1, hi=8.0, unit="m/s", help="Speed when nothing hinders")
    return out


def seconds_of(default: float) -> float:
    """The parameter `seconds` of what usually takes no longer than `default` [s]."""
    out: float = param(default, lo=0.1, hi=3600.0, unit="s", help="How long it goes on at most")
    return out


@dataclass(frozen=True)
class OnFoot(Params):
    """How an actor goes, whatever for, and how it sees the scene."""

    speed: float = speed_of(1.4)
    style: str = param("", ref="preset", help="Preset of Walk that says how it walks; empty for Neutral")
    seconds: float = seconds_of(10.0)
    gait: str = param("auto", choices=GAITS, basic=False, help="Which gait is used")
    radius: float = param(0.25, lo=0.05, hi=3.0, unit="m", basic=False, help="Radius of the body, for walls and others")
    scene: str = param(
        "", ref="collection", basic=False, help="What is walked on and around; empty for all that is shown"
    )
    cell: float = param(
        0.08, lo=0.0, hi=100.0, unit="m", basic=False, help="Side of a cell of the map; 0 is half the radius"
    )
    climb: float = param(0.35, lo=0.0, hi=10.0, unit="m", basic=False, help="Highest step that is taken")
    slope: float = param(0.7, lo=0.01, hi=1.5, unit="rad", basic=False, help="Steepest ground that is walked on")
    headroom: float = param(
        1.9, lo=0.1, hi=100.0, unit="m", basic=False, help="What hangs higher than this is passed under"
    )

    def chart(self, floor: float = 0.0, ceiling: float = 1e5) -> MapParams:
        """How the scene becomes a map.

        Args:
            floor: Height of the floor where nothing is ground [m].
            ceiling: Ground above this is another storey's [m].
        """
        from .ways.map import MapParams

        return MapParams(
            radius=self.radius,
            cell=self.cell,
            step=self.climb,
            slope=self.slope,
            z_high=self.headroom,
            floor=floor,
            ceiling=ceiling,
        )
