"""What an actor knows of the world: observations of bodies, brought up to date by every look.

Kuffner, "Autonomous Agents for Real-Time Animation" (1999), section 4.4: each body seen is remembered with its place,
velocity, state and the time; what is not seen keeps its last known state. A body that should be in view where it is
remembered but is not has vanished. It is told from a merely hidden one by drawing what is remembered: either all of it
once more, or (the default) only what was not seen, against the depth of what was. Both never drop a body that is still
in place; the second also finds what vanished behind another one that vanished.

    memory, changes = update(Memory(), shapes, sight, MemoryParams())
    known = recalled_world(memory, shapes.world)        # of `belief`: plan with this and nothing else
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from ...params import Params, param
from ...skeleton import Array
from ...world import Body, World
from . import raster
from .raster import Ints
from .scenery import Scenery, in_sight, named, velocity, with_bodies
from .vision import Sight, look

SAME_PLACE = 1e-6
"""By how much the numbers of a matrix may differ before a body has moved [m]."""

MODELS = (
    ("basic", "Everything is remembered until it is seen to be otherwise"),
    ("temporal", "Observations are forgotten when they are too old, save those that a rule exempts"),
    ("rules", "Only rules say what is forgotten"),
    ("confidence", "Trust in observations fades with time; what is no longer trusted is not planned with"),
)
VANISHED = (
    ("depth", "Draw what was not seen against the depth of what was"),
    ("two_renders", "Draw all that is remembered once more, and compare what shows"),
)


@dataclass(frozen=True)
class MemoryParams(Params):
    """What an actor remembers, and for how long."""

    model: str = param("basic", choices=MODELS, help="How observations are forgotten")
    lifetime: float = param(60.0, lo=0.0, hi=1e9, unit="s", help="Age at which an observation is forgotten")
    dynamic: bool = param(True, help="Notice that bodies have gone; without it the world is taken to stand still")
    keep_vanished: bool = param(False, help="Remember where vanished bodies were, without planning around them")
    ground_known: bool = param(True, help="The ground is known beforehand; otherwise only what was seen of it")
    vanished: str = param("depth", choices=VANISHED, basic=False, help="How vanished bodies are found")
    fading: float = param(60.0, lo=1e-3, hi=1e9, unit="s", basic=False, help="Time in which trust falls to a third")
    least_trust: float = param(
        0.2, lo=0.0, hi=1.0, basic=False, help="Observations trusted less than this are not planned with"
    )
    doubt_cost: float = param(
        0.0,
        lo=0.0,
        hi=100.0,
        basic=False,
        help="Fading bodies cost this much more to tread, times trust; 0: they block",
    )


@dataclass(frozen=True, eq=False)
class Observation:
    """A body as it was when it was last seen.

    Attributes:
        id: Of the body.
        name: Of the body; of its class for one of many alike; empty for something that was not recognised.
        properties: Tags of the body then: `closed`, `openable`, ...
        matrix: (4, 4) where it was.
        velocity: (6,) linear [m/s] and angular [rad/s].
        time: When [s].
        anonymous: Something is there; what it is was not recognised.
        valid: False for a body that is no longer where it is remembered.
        shape: The body whose geometry it has; not a copy.
    """

    id: int
    name: str
    properties: frozenset[str]
    matrix: Array
    velocity: Array
    time: float
    anonymous: bool
    shape: Body
    valid: bool = True

    @property
    def kind(self) -> str:
        """Kind of the body, as far as it is known."""
        return "obstacle" if self.anonymous and self.shape.kind != "ground" else self.shape.kind


class Change(NamedTuple):
    """An entry for the log: `what` happened to the observation `key`.

    `what` is new, moved, changed (its state), recognised, vanished, forgotten, ignored or heeded (again).
    """

    what: str
    key: int
    name: str
    kind: str
    time: float


@dataclass(frozen=True, eq=False)
class Memory:
    """All observations of an actor; a record that is never changed but replaced.

    Attributes:
        observations: By key: the id of a recognised body; a negative number for something anonymous or one of many.
        ignored: Key to the time until which planning disregards it [s].
        time: Of the last look [s].
        spent: How many negative keys have been given out.
    """

    observations: Mapping[int, Observation] = field(default_factory=dict)
    ignored: Mapping[int, float] = field(default_factory=dict)
    time: float = float("-inf")
    spent: int = 0

    def __post_init__(self) -> None:
        for name in ("observations", "ignored"):
            value = getattr(self, name)
            if not isinstance(value, MappingProxyType):
                object.__setattr__(self, name, MappingProxyType(dict(value)))

    def find(self, name: str) -> Observation | None:
        """The latest observation of a body or class of that name; a valid one if there is any."""
        known = [o for o in self.observations.values() if o.name == name and not o.anonymous]
        return max(known, key=lambda o: (o.valid, o.time), default=None)


def update(
    memory: Memory, shapes: Scenery, sight: Sight, params: MemoryParams | None = None
) -> tuple[Memory, tuple[Change, ...]]:
    """Remember what a look showed, and drop what it showed to be gone.

    Args:
        memory: Before.
        shapes: Of the world that was looked at.
        sight: The look.
        params: Whether and how vanished bodies are found.

    Returns:
        Memory after it, and what changed.
    """
    params = params or MemoryParams()
    known, spent = dict(memory.observations), memory.spent
    changes: list[Change] = []
    fresh: set[int] = set()
    matrices = shapes.places(sight.time)
    for stats in sight.visible.values():
        number = shapes.number[stats.id]
        body = shapes.world.bodies[number]
        seen = _observed(body, matrices[number], shapes.world.fps, sight.time, stats.recognised)
        key, spent = _key(known, seen, fresh, spent)
        before = known.get(key)
        if before is not None and not seen.name:
            # a glimpse of what is known and has not moved does not make it unknown
            seen = replace(seen, name=before.name, anonymous=before.anonymous)
        known[key] = seen
        fresh.add(key)
        what = _difference(before, seen)
        if not seen.anonymous:
            for other in [k for k, o in known.items() if o.anonymous and o.id == seen.id]:
                del known[other]
                what = "recognised" if what == "new" else what
        if what:
            changes.append(Change(what, key, seen.name, seen.kind, sight.time))
    if params.dynamic:
        for key in vanished(known, fresh, shapes, sight, params.vanished):
            gone = known.pop(key)
            if params.keep_vanished and not gone.anonymous:
                known[key] = replace(gone, valid=False)
            changes.append(Change("vanished", key, gone.name, gone.kind, sight.time))
    return replace(memory, observations=known, time=sight.time, spent=spent), tuple(changes)


def _observed(body: Body, matrix: Array, fps: float, time: float, recognised: bool) -> Observation:
    place = body.matrices[0] if len(body.matrices) == 1 else matrix
    name = (named(body, "class") or body.name) if recognised else ""
    return Observation(body.id, name, body.tags, place, velocity(body, fps, time), time, not recognised, body)


def _key(known: Mapping[int, Observation], seen: Observation, fresh: set[int], spent: int) -> tuple[int, int]:
    """Which observation a sighting renews, or a new key; and how many negative keys are given out then."""
    alike = named(seen.shape, "class")
    if alike is not None:
        # one of many is known by its place alone
        for key, old in known.items():
            if key not in fresh and named(old.shape, "class") == alike and same_place(old.matrix, seen.matrix):
                return key, spent
    elif not seen.anonymous:
        return seen.id, spent
    else:
        old_self = known.get(seen.id)
        if old_self is not None and old_self.valid and same_place(old_self.matrix, seen.matrix):
            return seen.id, spent
        for key, old in known.items():
            if old.anonymous and old.id == seen.id:
                return key, spent
    return -1 - spent, spent + 1


def _difference(before: Observation | None, after: Observation) -> str:
    """What is new in an observation; empty for nothing but its time."""
    if before is None or not before.valid:
        return "new"
    if not same_place(before.matrix, after.matrix):
        return "moved"
    if before.anonymous != after.anonymous:
        return "recognised"
    return "changed" if before.properties != after.properties else ""


def same_place(a: Array, b: Array) -> bool:
    """Whether two matrices place a body alike."""
    return a is b or bool(np.abs(a - b).max() <= SAME_PLACE)


def vanished(
    known: Mapping[int, Observation], fresh: Iterable[int], shapes: Scenery, sight: Sight, method: str = "depth"
) -> tuple[int, ...]:
    """Keys of observations that should show in a look but do not.

    Args:
        known: Observations by key, those of the look among them.
        fresh: Keys of those that the look renewed.
        shapes: Of the world.
        sight: The look.
        method: One of VANISHED.
    """
    renewed = set(fresh)
    stale = [key for key, o in known.items() if o.valid and key not in renewed]
    if not stale:
        return ()
    if method == "depth":
        copies, numbers, places = _copies(known, stale, shapes)
        corners, copy = in_sight(copies, sight.lens, sight.eye, numbers, places)
        shown = raster.uncovered(sight.canvas(), sight.lens, corners, copy)[0]
        return tuple(stale[k] for k in np.unique(shown))
    # the order of the world, so that bodies of equal depth hide each other as they did in the look
    rank = {body.id: n for n, body in enumerate(shapes.world.bodies)}
    keys = sorted((k for k, o in known.items() if o.valid), key=lambda k: (rank.get(known[k].id, -1), k))
    copies, numbers, places = _copies(known, keys, shapes)
    canvas, (glassy, _, _) = look(copies, sight.lens, sight.eye, numbers, places)
    shown = np.unique(np.concatenate([canvas.owner[canvas.owner >= 0], glassy]))
    return tuple(keys[k] for k in shown if keys[k] not in renewed)


def _copies(known: Mapping[int, Observation], keys: list[int], shapes: Scenery) -> tuple[Scenery, Ints, Array]:
    """Shapes, numbers (n,) and matrices (n, 4, 4) to draw observations where they are remembered."""
    own = [known[key] for key in keys]
    if any(o.id not in shapes.number for o in own):
        # a body that has left the world is still remembered by its shape
        gone = {o.id: o.shape for o in own if o.id not in shapes.number}
        shapes = with_bodies(shapes, _renamed(gone.values(), shapes.world))
    numbers = np.array([shapes.number[o.id] for o in own], dtype=np.int64)
    return shapes, numbers, np.array([o.matrix for o in own]).reshape(-1, 4, 4)


def _renamed(bodies: Iterable[Body], world: World) -> list[Body]:
    taken = {body.name for body in world.bodies}
    return [replace(b, name=f"{b.name}@{b.id}") if b.name in taken else b for b in bodies]
