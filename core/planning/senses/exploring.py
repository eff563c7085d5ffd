"""Explore as a feature has it: one actor finds a place or a thing in a scene it knows only as far as it has seen it.

outing = set_out(world, base, goal, params, chart)
for _ in exploring(outing, goal, params, chart): ...       # a frame each
path, looks = walked(outing), seen_and_known(outing)
arrived = yield from at_once({"Anna": (outing, frames), ...})      # several at the same time
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...maths.ramp import smootherstep
from ...motion import Path
from ...needs import needs_scipy
from ...params import Params, param
from ...skeleton import Array
from ...world import World
from ..on_foot import OnFoot, seconds_of, speed_of

if TYPE_CHECKING:
    from ..ways.map import MapParams
    from .awareness import Awareness
    from .explore import Frames, Outing
    from .memory import Observation

MOVED = 0.25
"""A goal that is further than this from where it was has moved [m]."""
EASE = 0.22
"""How gently it starts, stops and turns: the time over which its speed is evened out [s]."""
BEGIN = 0.8
"""Over how long the beginning is put right [s]."""
REST = 0.7
"""How long it stands at the end [s]."""


@dataclass(frozen=True)
class Finding(Params):
    """What is to be found, and how an actor sees and remembers on its way there."""

    target: str = param("", ref="object", help="Where to go, or what to find; empty for the place")
    find: bool = param(False, help="Not told where the target is: look for it until it is seen")
    known: str = param(
        "nothing",
        choices=(
            ("nothing", "It has never been here before"),
            ("everything", "It has seen everything, as it is at the first frame"),
        ),
        help="What it knows of the scene at the beginning",
    )
    place: tuple[float, ...] = param((0.0, 0.0, 0.0), unit="m", basic=False, help="Where to go when no target is named")
    patience: float = param(
        6.0, lo=0.0, hi=3600.0, unit="s", basic=False, help="How long it looks round where no way leads on"
    )
    view: float = param(1.7453293, lo=0.1, hi=3.0, unit="rad", basic=False, help="Width of the field of view")
    view_height: float = param(1.3089969, lo=0.1, hi=3.0, unit="rad", basic=False, help="Height of the field of view")
    range: float = param(30.0, lo=0.1, hi=10000.0, unit="m", basic=False, help="How far it sees")
    pixels: int = param(
        200, lo=4, hi=2000, unit="px", basic=False, help="Width and height of the picture: how small a thing it sees"
    )
    least_pixels: int = param(4, lo=1, hi=10000, unit="px", basic=False, help="Pixels needed to recognise a thing")
    least_part: float = param(
        0.05, lo=0.0, hi=1.0, basic=False, help="Part of a thing's outline that must show to recognise it"
    )
    interval: int = param(4, lo=1, hi=1000, basic=False, help="Looks once in this many frames")
    eye_height: float = param(1.6, lo=0.05, hi=10.0, unit="m", basic=False, help="Height of its eyes over the ground")
    memory: str = param(
        "basic",
        choices=(
            ("basic", "Everything is remembered until it is seen to be otherwise"),
            ("temporal", "What was seen too long ago is forgotten, save floors and walls"),
            ("rules", "What moves is soon forgotten; doors, floors and walls are not"),
            ("confidence", "Trust in what was seen fades; what is no longer trusted is walked through"),
        ),
        basic=False,
        help="How it forgets",
    )
    forget: float = param(
        0.0, lo=0.0, hi=1e6, unit="s", basic=False, help="Age at which it forgets what it saw; 0 is a minute"
    )
    dynamic: bool = param(True, basic=False, help="Notice that things have gone; without it the world stands still")
    turn_rate: float = param(2.5, lo=0.1, hi=20.0, unit="rad/s", basic=False, help="How fast it turns")


@dataclass(frozen=True)
class ExploringParams(OnFoot, Finding):
    """Find a place or a thing with what is seen on the way."""

    speed: float = speed_of(1.2)
    seconds: float = seconds_of(60.0)


def set_out(
    world: World, start: Array, goal: Path, params: ExploringParams, chart: MapParams, exclude: Collection[str] = ()
) -> Outing:
    """An actor at the beginning of its way.

    Args:
        world: As it is.
        start: (3,) x, y [m], heading [rad].
        goal: Where the goal is over time: x, y; the map reaches at least there.
        params: How it goes about it.
        chart: How what it believes becomes a map.
        exclude: Bodies it does not see.
    """
    from ..ways.chart import charted
    from ..ways.walkable import WalkableParams
    from .awareness import Awareness, Explorer
    from .explore import ExploreParams, Outing, map_planner
    from .memory import MemoryParams
    from .recollection import RULES, Rule
    from .vision import FAITHFUL, VisionParams

    bounds = charted(world, chart, np.concatenate([start[None, :2], goal.points[:, :2]])).bounds
    age = params.forget or 60.0
    explorer = Explorer(
        replace(
            FAITHFUL if params.faithful else VisionParams(),
            fov=params.view,
            fov_vertical=params.view_height,
            range=params.range,
            pixels=params.pixels,
            interval=params.interval,
            least_pixels=params.least_pixels,
            least_part=params.least_part,
        ),
        MemoryParams(
            model=params.memory,
            lifetime=age,
            fading=age,
            dynamic=params.dynamic,
            vanished="two_renders" if params.faithful else "depth",
        ),
        RULES if params.memory != "rules" else (*RULES, Rule(when=_moves, lifetime=age)),
    )
    walker = ExploreParams(
        speed=params.speed,
        turn_rate=params.turn_rate,
        eye_height=params.eye_height,
        radius=params.radius,
        patience=params.patience,
        limit=params.seconds,
    )
    aware = knowing(world) if params.known == "everything" else Awareness()
    growth = WalkableParams.faithful() if params.faithful else None
    planner = map_planner(chart, growth, bounds)
    return Outing(world, start, explorer, walker, aware, planner, tuple(exclude), 0.0, None)


def _moves(o: Observation) -> bool:
    """Whether a body was seen moving, or belongs to somebody."""
    return bool(np.abs(o.velocity).max() > 1e-3) or any(tag.startswith("actor:") for tag in o.properties)


def knowing(world: World) -> Awareness:
    """The awareness of one who has seen every body where it is at the first frame."""
    from .awareness import Awareness
    from .memory import Memory, Observation
    from .scenery import placement

    seen = {
        b.id: Observation(b.id, b.name, b.tags, placement(b, world.fps, 0.0), np.zeros(6), 0.0, False, b)
        for b in world.bodies
    }
    return Awareness(Memory(seen), revision=1)


def at_once(company: Mapping[str, tuple[Outing, Frames]]) -> Generator[None, None, dict[str, bool]]:
    """Let several explore at the same time, a frame of each in turn, so that all see each other as they move.

    Args:
        company: Everybody's outing and its frames, by name.

    Returns:
        Whether each came to what it was for, by name.
    """
    for name, (outing, _) in company.items():
        outing.passers.fellows = {other: company[other][0] for other in company if other != name}
    arrived: dict[str, bool] = {}
    while len(arrived) < len(company):
        for name, (outing, frames) in company.items():
            if name in arrived:
                continue
            try:
                next(frames)
            except StopIteration as end:
                arrived[name] = bool(end.value)
                outing.walker.velocity, outing.ended = np.zeros(2), True
        yield
    return arrived


def exploring(
    outing: Outing, goal: Path, params: ExploringParams, chart: MapParams, whom: Outing | None = None
) -> Frames:
    """Go to a goal that may move, or look for a thing, frame by frame.

    Args:
        outing: Of `set_out`.
        goal: Where the goal is over time: x, y.
        params: How it goes about it.
        chart: How what it believes becomes a map.
        whom: The goal, where that is one who explores at the same time.
    """
    from ..walkers.sensors import place_at
    from .seek import seeking

    if params.find:
        return (yield from seeking(outing, params.target, chart))
    outing.look()
    last = 0.0 if goal.times is None else float(goal.times[-1])

    def spot(time: float) -> Array:
        return whom.walker.place if whom is not None else place_at(goal.points, goal.times, time)[0]

    while True:
        here = spot(outing.now)

        def moved(at: Array = here) -> bool:
            return bool(np.hypot(*(spot(outing.now) - at)) > MOVED)

        there = yield from outing.going(here[None], moved)
        if moved() and not outing.over:
            outing.note("goal_moved")
            continue
        later = [spot(t) for t in np.linspace(outing.now, max(last, outing.now), 50)]
        restless = whom is not None and bool(whom.walker.velocity.any())
        if outing.over or not (restless or any(np.hypot(*(p - here)) > MOVED for p in later)):
            return there and not moved()
        # it stands and waits for a goal that will yet move
        while not moved() and not outing.over:
            outing.look()
            yield


def walked(outing: Outing) -> Path:
    """x, y, heading a frame of where an actor went, evened out so that it starts, stops and turns like a person."""
    with needs_scipy():
        from scipy.ndimage import gaussian_filter1d
    track = np.array(outing.track)
    still = round(REST / outing.dt)
    track = np.concatenate([track, np.tile(track[-1], (still, 1))])
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(track[:, :2], axis=0).T))])
    spread = EASE / outing.dt
    eased = gaussian_filter1d(along, spread, mode="nearest")
    # from standing to standing: what the filter moved at the ends is put back
    eased = (eased - eased[0]) * (along[-1] / max(eased[-1] - eased[0], 1e-9))
    kept = np.concatenate([[True], np.diff(along) > 1e-9])
    place = np.stack([np.interp(eased, along[kept], track[kept, k]) for k in (0, 1)], axis=-1)
    place = gaussian_filter1d(place, 0.4 * spread, axis=0, mode="nearest")
    heading = gaussian_filter1d(np.unwrap(track[:, 2]), spread, mode="nearest")
    points = np.column_stack([place, heading])
    # the filters move the beginning, where it stands in a pose: that is put back gently
    late = 1.0 - smootherstep(np.minimum(np.arange(len(points)) * outing.dt / BEGIN, 1.0))
    points += late[:, None] * (track[0] - points[0])
    return Path(points, ("x", "y", "heading"), np.arange(len(points), dtype=np.float64) * outing.dt)


def seen_and_known(outing: Outing) -> list[dict[str, Any]]:
    """Frames at which what the actor sees or knows changed, with the names of both."""
    names = {body.id: body.name for body in outing.shapes.world.bodies} | outing.passers.names
    out: list[dict[str, Any]] = []
    for look in outing.aware.looks:
        entry = {
            "frame": look.frame,
            "seen": sorted(names[i] for i in look.visible if i in names),
            "known": sorted({names.get(o.id, o.name) for o in look.memory.observations.values() if o.valid}),
        }
        if not out or any(out[-1][key] != entry[key] for key in ("seen", "known")):
            out.append(entry)
    return out


def decisions(outing: Outing, name: str) -> list[dict[str, Any]]:
    """The transcript of an actor: every plan, dead end and discovery."""
    said = {
        "plan": ("plans", lambda d: f"with what it knows, a way of {d['length']:.1f} m"),
        "no_path": ("finds no way", lambda d: str(d.get("why", ""))),
        "arrived": ("arrives", lambda d: "beside its goal" if d.get("beside") else "it is at its goal"),
        "gave_up": ("gives up", lambda d: str(d.get("why", ""))),
        "goal_moved": ("turns", lambda d: "the goal moved"),
    }
    out: list[dict[str, Any]] = []
    for event in outing.events:
        what, why = said.get(event.name, (event.name, _plainly))
        out.append({"time": round(event.time, 6), "actor": name, "what": what, "why": why(event.data)})
    known: set[str] = set()
    for entry in seen_and_known(outing):
        fresh = sorted(set(entry["known"]) - known)
        known |= set(fresh)
        if fresh:
            when = round(entry["frame"] * outing.dt, 6)
            shown = ", ".join(fresh[:6]) + (f" and {len(fresh) - 6} more" if len(fresh) > 6 else "")
            out.append({"time": when, "actor": name, "what": "learns of", "why": shown})
    return sorted(out, key=lambda line: line["time"])


def _plainly(data: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in data.items())
