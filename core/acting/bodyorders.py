"""From a take to a body: what one actor of a play asks of its body, ready for `enacting.enact`.

Where it goes and faces is no order: the body follows the track of the record.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .body.perform import Selection
from .body.stepping import Order
from .body.tracks import Track
from .mind.vocabulary import playable
from .play import PlayRecord
from .repertoire.library import ActionLibrary

EYES, TABLE = 1.6, 0.8
"""Height at which people and cameras are looked at, and that of things [m]."""


@dataclass(frozen=True, eq=False)
class BodyOrders:
    """What a body is asked for during a take.

    Attributes:
        wishes: Selections and looks in order of time.
        targets: Where everyone is, by name, as tracks of points (N, 3) [m].
        missing: Actions that the library does not have; they are left out.
    """

    wishes: tuple[Selection | Order, ...]
    targets: Mapping[str, Track]
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
    for event in record.events:
        if event.name == "look" and event.data.get("actor") == actor:
            aim = event.data.get("target")
            wishes.append(Order(event.time, "look", aim if aim in targets else "", True))
    return BodyOrders(tuple(sorted(wishes, key=lambda wish: wish.time)), targets, missing)
