"""The bodies of a whole play: a motion for each of the cast, hands that meet, and props that go with who holds them.

    performance = bodies(record, {"Izzy": skeleton, ...}, sheets, fps=24)

The minds have played already; nothing here is decided, so another seed of the bodies gives another take of the same
events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..errors import InvalidParam
from ..gait.travel import TravelParams
from ..motion import Motion
from ..performance import Performance
from ..skeleton import Array, Pose, Skeleton
from .body.body import BodyParams
from .body.enacting import Part, enact, enactable
from .body.tracks import Track
from .bodyorders import body_orders
from .furniture import Furniture
from .hands import shake
from .holding import Handling, Thing, span_of
from .play import PlayRecord
from .repertoire.tables import Sheet


@dataclass(frozen=True, eq=False)
class Player:
    """Who plays a part.

    Attributes:
        skeleton: Its body.
        start: Pose at the first sample; None for a stand at its place.
        gait: How it walks.
        styles: Style parameters of its actions, by name.
        sheets: Actions of its own, for instance recorded ones.
    """

    skeleton: Skeleton
    start: Pose | None = None
    gait: TravelParams | None = None
    styles: Mapping[str, float | Track] = field(default_factory=dict)
    sheets: tuple[Sheet, ...] = ()


def bodies(
    record: PlayRecord,
    players: Mapping[str, Player],
    sheets: Sequence[Sheet],
    fps: float,
    params: BodyParams | None = None,
    props: Mapping[str, Thing | Array] | None = None,
    furniture: Furniture | None = None,
) -> Performance:
    """What the bodies of a take do.

    Args:
        record: What the minds did.
        players: Who has a body, by name of the actor.
        sheets: The actions of all.
        fps: Samples a second.
        params: How bodies carry out their actions; the seed is that of the record.
        props: The things of the play, or only (T, 4, 4) or (1, 4, 4) where they are while nobody has them [m].
        furniture: What is sat on and put on.

    Returns:
        Motions of the players on a level floor at height 0, with the props that somebody held.
    """
    strangers = [name for name in players if name not in record.selections]
    if strangers:
        raise InvalidParam("players", strangers, f"have no part in the play; parts are {', '.join(record.selections)}")
    params = replace(params or BodyParams(), seed=record.body_seed)
    order = list(record.selections)
    things = {n: t if isinstance(t, Thing) else Thing(t, fps) for n, t in (props or {}).items()}
    heights = {name: float(thing.track[0, 2, 3]) for name, thing in things.items()}
    motions: dict[str, Motion] = {}
    shared = enactable(sheets)
    for name, player in players.items():
        library = enactable([*sheets, *player.sheets]) if player.sheets else shared
        asked = body_orders(record, name, library, fps, heights=heights)
        track = smoothed(record.base(name, fps))
        part = Part(asked.wishes, track, asked.targets, player.styles, player.start, furniture=furniture)
        own = replace(params, actor=order.index(name))
        motions[name] = enact(player.skeleton, library, part, fps, own, player.gait)
    shake(record.events, motions)
    times = np.arange(max(map(len, motions.values()), default=0)) / fps
    handling = Handling(things, furniture)

    def pose_at(actor: str, time: float) -> Motion | None:
        k = min(int(np.searchsorted(times, time - 1e-9)), len(times) - 1)
        return span_of(motions[actor], k, k + 1) if actor in motions else None

    handling.plan(record.attachments, pose_at, record.seconds)
    ways = handling.apply(motions, times)
    return Performance(motions, ways, record.attachments, record.events, record.transcript)


def smoothed(track: Array) -> Array:
    """A base track (T, 3) without the corners that its samples have."""
    out = np.array(track)
    out[:, 2] = np.unwrap(out[:, 2])
    for _ in range(2):
        padded = np.concatenate([out[:1], out, out[-1:]])
        out = 0.25 * padded[:-2] + 0.5 * padded[1:-1] + 0.25 * padded[2:]
    return out
