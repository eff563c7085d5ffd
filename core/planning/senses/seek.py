"""Look for a thing: look round, go where it was last seen, then wherever there is ground not yet looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy.typing as npt

from ...skeleton import Array
from ...world import World
from ..ways.map import MapParams, project
from .awareness import Awareness, Explorer
from .explore import Exploration, ExploreParams, Frames, Outing, finish, map_planner
from .scenery import Scenery
from .survey import Survey, frontier, surveyed, unseen

SWEEP = 4.0
"""How long a look round takes [s]."""
NEAR = 1.0
"""How near it goes to where a thing was last seen [m]."""


def seek(
    world: World | Scenery,
    start: npt.ArrayLike,
    name: str,
    explorer: Explorer | None = None,
    params: ExploreParams | None = None,
    aware: Awareness | None = None,
    map_params: MapParams | None = None,
    exclude: Sequence[str] = (),
    time: float = 0.0,
    should_stop: Callable[[], bool] | None = None,
) -> Exploration:
    """Look for a body until it is recognised.

    Args:
        world: As it is.
        start: (3,) x, y [m], heading [rad].
        name: Of a body, or of a class of bodies.
        explorer: How the actor sees and remembers.
        params: How it walks.
        aware: What it knows before; None for nothing.
        map_params: How the believed world becomes the map to walk and search on.
        exclude: Bodies it does not see: its own.
        time: When it starts [s].
        should_stop: Asked at every frame.

    Returns:
        Where it went; `arrived` says whether the thing is in view at the end.
    """
    params = params or ExploreParams()
    chart = map_params or MapParams(radius=params.radius)
    outing = Outing(world, start, explorer, params, aware, map_planner(chart), exclude, time, should_stop)
    return outing.result(finish(seeking(outing, name, chart)))


def seeking(outing: Outing, name: str, chart: MapParams) -> Frames:
    """`seek`, frame by frame, for an actor on its way.

    Args:
        outing: Before its first look.
        name: Of a body, or of a class of bodies.
        chart: How the believed world becomes the map to walk and search on.
    """
    outing.look()
    search = _Search(outing, name, unseen(project(outing.believed(), chart)))
    if (yield from outing.looking_round(SWEEP, search.found)):
        return True
    known = outing.aware.memory.find(name)
    if known is not None and (yield from outing.going(known.matrix[None, :2, 3], search.found, NEAR)):
        yield from outing.looking_round(SWEEP, search.found)
    while not search.found() and not outing.over:
        ways = project(outing.believed(), chart).walkable(chart.radius)
        search.aim = frontier(search.survey, ways, outing.walker.place)
        if search.aim is None:
            outing.note("gave_up", {"why": "everything that can be reached has been looked at"})
            break
        yield from outing.going(search.aim[None], search.found_or_cleared)
        if not search.found_or_cleared():
            yield from outing.looking_round(SWEEP, search.found)
            search.survey = search.survey.closed_at(search.aim)
    return search.found()


class _Search:
    """What has been looked at so far, and what for."""

    def __init__(self, outing: Outing, name: str, survey: Survey) -> None:
        self.outing, self.name, self.survey = outing, name, survey
        self.looks = 0
        self.aim: Array | None = None

    def found(self) -> bool:
        """Whether the thing is recognised in the last look, which is entered in the survey."""
        aware = self.outing.aware
        if aware.sight is not None and len(aware.looks) != self.looks:
            self.looks = len(aware.looks)
            self.survey = surveyed(self.survey, aware.sight)
        known = aware.memory.find(self.name)
        return known is not None and aware.sight is not None and known.valid and known.time == aware.sight.time

    def found_or_cleared(self) -> bool:
        """Whether it is found, or nothing is left to be seen where it is going."""
        return self.found() or (self.aim is not None and not self.survey.open_at(self.aim))
