"""From a take to a body: what one actor of a play asks of its body, ready for `perform.perform`.

    orders = body_orders(record, "Izzy", library)
    motion = perform(library, skeleton, orders.wishes, record.seconds, fps, BodyParams(seed=record.body_seed),
                     place=orders.place, targets=orders.targets)

Journeys are left to the generators of locomotion: each says from when on the actor goes where, and how fast.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .body.perform import Selection
from .body.stepping import Order
from .body.tracks import Track
from .mind.bodyport import heading_to
from .mind.vocabulary import playable
from .play import PlayRecord
from .repertoire.library import ActionLibrary

EYES, TABLE = 1.6, 0.8
"""Height at which people and cameras are looked at, and that of things [m]."""


@dataclass(frozen=True)
class Journey:
    """A walk or run from `start` [s] straight to `place` (x, y) [m] at `speed` [m/s], over at `end` [s]."""

    start: float
    end: float
    place: tuple[float, float]
    speed: float


@dataclass(frozen=True, eq=False)
class BodyOrders:
    """What a body is asked for during a take.

    Attributes:
        wishes: Selections, looks and turns in order of time.
        targets: Where everyone is, by name, as tracks of points (N, 3) [m].
        place: x, y [m] and heading [rad] at the start.
        journeys: Where it goes.
        missing: Actions that the library does not have; they are left out.
    """

    wishes: tuple[Selection | Order, ...]
    targets: Mapping[str, Track]
    place: tuple[float, float, float]
    journeys: tuple[Journey, ...]
    missing: tuple[str, ...]


def body_orders(
    record: PlayRecord,
    actor: str,
    library: ActionLibrary,
    fps: float = 24.0,
    first: float = 0.0,
    heights: Mapping[str, float] | None = None,
) -> BodyOrders:
    """What `actor` asks of its body in a take.

    Args:
        library: The actions that the body has.
        fps: How densely the places of the others are sampled [1/s].
        first: Time from which on they are [s].
        heights: Of things whose place on the ground alone is known [m].
    """
    kept, missing = playable(record.selections[actor], library)
    times = first + np.arange(int(np.ceil((record.seconds - first) * fps)) + 1) / fps
    targets: dict[str, Track] = {}
    for name, kind in record.kinds.items():
        points = [record.stage.position(name, t) for t in times.tolist()]
        if name != actor and all(p is not None for p in points):
            height = (heights or {}).get(name, EYES if kind in ("actor", "camera") else TABLE)
            rows = np.array([(*p, height)[:3] for p in points if p is not None])
            still = bool(np.ptp(rows, axis=0).max() < 1e-9)
            targets[name] = Track(times[:1], rows[:1]) if still else Track(times, rows)
    wishes: list[Selection | Order] = []
    for each in kept:
        target = each.target if each.target in targets else ""
        wishes.append(Selection(each.time, each.group, each.action, target, each.fade))
    journeys: list[Journey] = []
    for event in record.events:
        data, time = event.data, event.time
        if data.get("actor") != actor:
            continue
        if event.name == "look":
            wishes.append(Order(time, "look", data["target"] if data.get("target") in targets else "", True))
        elif event.name == "turn":
            here = record.stage.position(actor, time) or (0.0, 0.0)
            wishes.append(Order(time, "face", "", heading_to(here, tuple(data["place"]))))
        elif event.name in ("walk", "stop"):
            if journeys and journeys[-1].end > time:
                last = journeys.pop()
                journeys.append(Journey(last.start, time, _place(record, actor, time), last.speed))
            if event.name == "walk":
                x, y = data["place"][:2]
                end = data.get("arrival")
                journeys.append(Journey(time, record.seconds if end is None else end, (x, y), data["speed"]))
    start = (*_place(record, actor, 0.0), record.stage.heading(actor, 0.0))
    ordered = tuple(sorted(wishes, key=lambda wish: wish.time))
    return BodyOrders(ordered, targets, start, tuple(journeys), missing)


def _place(record: PlayRecord, actor: str, time: float) -> tuple[float, float]:
    x, y = (record.stage.position(actor, time) or (0.0, 0.0))[:2]
    return x, y
