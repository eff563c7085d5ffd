"""The cast of a navigation: who takes part, what each wants and plans, and the state of all between two steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...gait.travel import TravelParams
from ...motion import Path
from ...params import Params, param
from ...skeleton import Array, Pose, Skeleton
from ..ways.map import MapParams
from .follow import FollowParams, Gains, Movers
from .polylines import Ways

if TYPE_CHECKING:
    from ..ways.chart import Chart
    from .sensors import Senses

NOWHERE: Array = np.zeros((0, 2))
MAP = MapParams()
FOLLOW = FollowParams()
TRAVEL = TravelParams()


@dataclass(frozen=True)
class AmongOthers(Params):
    """How a way is found among others."""

    room: float = param(0.1, lo=0.0, hi=1.0, unit="m", basic=False, help="Distance kept from others beside the radius")
    others: str = param(
        "predict",
        choices=(
            ("predict", "Plan around where others will be"),
            ("current", "Plan around where others are"),
            ("none", "Plan as if alone and dodge when near"),
        ),
        basic=False,
        help="How the ways of others are minded when a way is planned",
    )
    prediction: float = param(
        1.0, lo=0.0, hi=5.0, unit="s", basic=False, help="How far ahead the ways of others are guessed"
    )
    guard: bool = param(True, basic=False, help="Keep to a way instead of going to and fro between two")
    replan: float = param(2.0, lo=0.1, hi=60.0, unit="s", basic=False, help="Time after which a way is looked at again")
    seed: int = param(0, lo=0, hi=2**31 - 1, basic=False, help="Number from which everything random follows")


@dataclass(frozen=True)
class NavigateParams(AmongOthers):
    """What holds for the whole cast."""

    speed: float = param(1.4, lo=0.1, hi=8.0, unit="m/s", help="Speed of everybody, scaled by the style of each")
    radius: float = param(0.3, lo=0.05, hi=3.0, unit="m", help="Radius of a body, for walls and for others")
    seconds: float = param(20.0, lo=0.1, hi=3600.0, unit="s", help="How long it goes on")
    horizon: float = param(2.0, lo=0.3, hi=10.0, unit="s", basic=False, help="How far ahead others are dodged")
    think: float = param(0.125, lo=0.01, hi=5.0, unit="s", basic=False, help="Time between two decisions of an actor")
    faithful: bool = param(
        False, basic=False, help="As published in 1999: its gains, growth and search, no dodging beside the planning"
    )
    map: MapParams = MAP
    """How the scene becomes a map."""


@dataclass(frozen=True)
class Style(Params):
    """How one actor goes about, whatever it does."""

    pace: float = param(1.0, lo=0.1, hi=5.0, help="Share of the common speed")
    priority: int = param(0, lo=0, hi=9, help="Those with less give way to those with more")
    radius: float = param(0.0, lo=0.0, hi=5.0, unit="m", basic=False, help="Radius of its body; 0 for the common one")
    follow: FollowParams = FOLLOW
    """How closely and gently it follows its way."""
    travel: TravelParams = TRAVEL
    """Its gait, and how it walks."""


@dataclass(frozen=True, eq=False)
class Order:
    """What an actor is to do until it is told otherwise.

    Attributes:
        goals: (n, 2) places, of which the nearest to walk to is taken [m]; none to stand.
        name: What the goal is called in the transcript.
        stop: Distance from the goal at which it stops [m].
        pace: Share of the actor's speed.
        facing: Heading when it has arrived [rad]; NaN for any.
        face: (2,) place to turn to while it stands; None for none.
        seek: Whom it wants to get close to, and so does not dodge.
        there: Speed it may have at the goal, for a goal that moves away [m/s].
    """

    goals: Array = field(default_factory=lambda: NOWHERE)
    name: str = ""
    stop: float = 0.0
    pace: float = 1.0
    facing: float = float("nan")
    face: Array | None = None
    seek: str = ""
    there: float = 0.0

    @property
    def going(self) -> bool:
        """Whether there is somewhere to go."""
        return len(self.goals) > 0


def go(goals: npt.ArrayLike, name: str, **more: Any) -> Order:
    """Order to go to a place (2,) or to the best of several (n, 2)."""
    return Order(np.array(goals, dtype=np.float64).reshape(-1, 2), name, **more)


STAND = Order()


@dataclass(frozen=True)
class Behaviour(Params):
    """A small machine that senses and gives orders; its parameters are its fields, its memory is kept by the engine."""

    def begin(self) -> Any:
        """Memory at the start: any frozen record."""
        return None

    def think(self, memory: Any, senses: Senses) -> tuple[Any, Order]:
        """Next memory and what to do now, from what is sensed alone."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class ActorSetup:
    """One member of the cast.

    Attributes:
        base: (3,) where it stands at the start: x, y [m], heading [rad].
        behaviour: What it does.
        skeleton: For the motion at the end; None for a body that is only moved.
        style: How it goes about.
        start: Pose at the start, its feet on the ground.
    """

    base: Array
    behaviour: Behaviour
    skeleton: Skeleton | None = None
    style: Style = Style()
    start: Pose | None = None


@dataclass(frozen=True, eq=False)
class Plan:
    """A way of one actor.

    Attributes:
        points: (N, 2) [m].
        target: (2,) the goal it was made for [m].
        time: When it was made [s].
        narrow: (k, 2) from where to where along it only one can pass at a time [m].
        cells: Places looked at to find it.
        searched: (n, 2) middles of the cells looked at [m].
    """

    points: Array
    target: Array
    time: float
    narrow: Array
    cells: int = 0
    searched: Array = field(default_factory=lambda: np.zeros((0, 2)))


@dataclass(frozen=True, eq=False)
class Mind:
    """What one actor knows, wants and plans.

    Attributes:
        behaviour, memory: The machine and its memory.
        order: Last order.
        plan: Way being followed; None while there is none.
        asked: Goal for which a way was last sought, and when.
        blocked: Whether the last search found no way.
        arrived: Whether it stands where it was told to go.
        courses: (time, bearing, x, y) of the plans of the last seconds, for the guard against going to and fro.
        committed: Whether it keeps to its way and waits where that is blocked.
        barrier: How far along its way something was seen that opens and shuts [m]; inf for nothing.
        ready: Whether it stood before that when it opened last, and so may go through.
        patience: How long it has waited for that to shut and open again [s].
        stalled: How long it has wanted to move and could not [s].
        passing: Whether it has the right of way through the next narrow place.
        waited: How long it has been waiting for others in front of a narrow place [s].
        aside_until: Time until which it steps aside to let others pass [s].
        frozen_until: Time before which it does not move [s].
        draws: How many random numbers it has drawn.
    """

    behaviour: Behaviour
    memory: Any
    order: Order = STAND
    plan: Plan | None = None
    asked: tuple[float, float, float] = (np.inf, np.inf, -np.inf)
    blocked: bool = False
    arrived: bool = False
    courses: tuple[tuple[float, float, float, float], ...] = ()
    committed: bool = False
    barrier: float = np.inf
    ready: bool = False
    patience: float = 0.0
    stalled: float = 0.0
    passing: bool = False
    waited: float = 0.0
    aside_until: float = -np.inf
    frozen_until: float = -np.inf
    draws: int = 0


@dataclass(frozen=True, eq=False)
class Cast:
    """What stays the same during a run: names, setups, places with names; radius [m], speed [m/s] and gains (A,).

    `shapes` keeps the things of the world as eyes see them, from the first look on.
    """

    names: tuple[str, ...]
    setups: tuple[ActorSetup, ...]
    places: Mapping[str, Path]
    radius: Array
    speed: Array
    gains: Gains
    step: float
    params: NavigateParams
    shapes: dict[str, Any] = field(default_factory=dict, repr=False)

    def index(self, name: str) -> int:
        """Number of an actor, or -1."""
        return self.names.index(name) if name in self.names else -1


@dataclass(frozen=True, eq=False)
class State:
    """Everything between two steps; the same state, world and commands give the same next state, bit for bit.

    Attributes:
        cast: Who takes part.
        tick: Steps so far.
        clock: Time [s].
        movers: Places and speeds of the cast.
        minds: One an actor.
        chart: Map of the world as it was last seen.
        ways: The ways of all, from their plans.
        dodge: (A, 2) velocity by which each evades others [m/s].
        track: (A, 3) bases of every step so far.
        transcript: Every decision so far.
        blackboard: Facts that the cast shares, such as who is it.
        searches, cells: How many ways were sought so far, and places looked at for them.
    """

    cast: Cast
    tick: int
    clock: float
    movers: Movers
    minds: tuple[Mind, ...]
    chart: Chart
    ways: Ways
    dodge: Array
    track: tuple[Array, ...]
    transcript: tuple[Mapping[str, Any], ...] = ()
    blackboard: Mapping[str, Any] = field(default_factory=dict)
    searches: int = 0
    cells: int = 0


@dataclass(frozen=True, eq=False)
class Command:
    """Something told to an actor from outside between two steps.

    Attributes:
        actor: Whom.
        behaviour: What it does from now on; None to leave that.
        freeze: Time for which it stands still [s].
    """

    actor: str
    behaviour: Behaviour | None = None
    freeze: float = 0.0
