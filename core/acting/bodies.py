"""The bodies of a whole play: a motion for each of the cast, hands that meet, and props that go with who holds them.

    performance = bodies(record, {"Izzy": skeleton, ...}, sheets, fps=24)

The minds have played already; nothing here is decided, so another seed of the bodies gives another take of the same
events.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..errors import InvalidParam
from ..gait.travel import TravelParams
from ..maths import quat
from ..maths.ramp import smoothstep
from ..motion import Motion
from ..performance import Attachment, Performance
from ..skeleton import Array, Pose, Skeleton
from .body.body import BodyParams
from .body.enacting import Part, enact
from .body.tracks import Track
from .bodyorders import body_orders
from .hands import palms, reaching, shake
from .play import PlayRecord
from .repertoire.library import ActionLibrary
from .repertoire.tables import Sheet

TAKE, LET_GO = 0.5, 0.6
"""Time in which a hand reaches for a prop, and comes back from it [s]."""
HELD = 0.03
"""How far above the palm the middle of a held thing is [m]."""


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
    props: Mapping[str, Array] | None = None,
) -> Performance:
    """What the bodies of a take do.

    Args:
        record: What the minds did.
        players: Who has a body, by name of the actor.
        sheets: The actions of all.
        fps: Samples a second.
        params: How bodies carry out their actions; the seed is that of the record.
        props: (T, 4, 4) or (1, 4, 4) where things are as long as nobody holds them [m].

    Returns:
        Motions of the players on a level floor at height 0, with the props that somebody held.
    """
    strangers = [name for name in players if name not in record.selections]
    if strangers:
        raise InvalidParam("players", strangers, f"have no part in the play; parts are {', '.join(record.selections)}")
    params = replace(params or BodyParams(), seed=record.body_seed)
    order = list(record.selections)
    heights = {name: float(track[0, 2, 3]) for name, track in (props or {}).items()}
    motions = {}
    for name, player in players.items():
        own_sheets = [*sheets, *player.sheets]
        library = ActionLibrary(own_sheets)
        asked = body_orders(record, name, library, fps, heights=heights)
        part = Part(asked.wishes, smoothed(record.base(name, fps)), asked.targets, player.styles, player.start)
        own = replace(params, actor=order.index(name))
        motions[name] = enact(player.skeleton, own_sheets, part, fps, own, player.gait)
    shake(record.events, motions)
    things = _carry(record.attachments, motions, props or {})
    return Performance(motions, things, record.attachments, record.events, record.transcript)


def smoothed(track: Array) -> Array:
    """A base track (T, 3) without the corners that its samples have."""
    out = np.array(track)
    out[:, 2] = np.unwrap(out[:, 2])
    for _ in range(2):
        padded = np.concatenate([out[:1], out, out[-1:]])
        out = 0.25 * padded[:-2] + 0.5 * padded[1:-1] + 0.25 * padded[2:]
    return out


def _carry(
    attachments: Iterable[Attachment], motions: dict[str, Motion], props: Mapping[str, Array]
) -> dict[str, Array]:
    """Let hands reach for what they take, in place, and (T, 4, 4) the ways of the props that someone holds."""
    if not motions:
        return {}
    count = max(map(len, motions.values()))
    fps = next(iter(motions.values())).fps
    times = np.arange(count) / fps
    found: dict[str, Array] = {}
    for each in attachments:
        if each.actor not in motions or each.prop not in props:
            continue
        track = found.get(each.prop)
        if track is None:
            track = np.array(np.broadcast_to(props[each.prop], (count, 4, 4)))
        k = min(int(np.searchsorted(times, each.start)), count - 1)
        end = min(int(np.searchsorted(times, each.end)), count)
        lain = track[k, :3, 3].copy()
        motion = motions[each.actor]
        rise = smoothstep(np.clip((times - each.start + TAKE) / TAKE, 0.0, 1.0))
        fall = smoothstep(np.clip((each.start + LET_GO - times) / LET_GO, 0.0, 1.0))
        motion = reaching(motion, np.broadcast_to(lain, (count, 3)), np.minimum(rise, fall))
        if each.end < times[-1]:
            down = _put_down(motion, end - 1, lain[2])
            rise = smoothstep(np.clip((times - each.end + TAKE) / TAKE, 0.0, 1.0))
            fall = smoothstep(np.clip((each.end + LET_GO - times) / LET_GO, 0.0, 1.0))
            motion = reaching(motion, np.broadcast_to(down, (count, 3)), np.minimum(rise, fall))
        motions[each.actor] = motion
        palm, _ = palms(motion)
        # what lay beside the palm comes to lie in it
        held = palm[k:end] + (0.0, 0.0, HELD)
        share = smoothstep(np.clip((times[k:end] - each.start) / LET_GO, 0.0, 1.0))[:, None]
        track[k:end, :3, 3] = held + (1.0 - share) * (lain - held[0])
        turn = _upright(motion, k, end)
        track[k:end, :3, :3] = turn @ track[k, :3, :3]
        if end < count:
            rest = np.array([track[end - 1, 0, 3], track[end - 1, 1, 3], lain[2]])
            share = smoothstep(np.clip((times[end:] - each.end) / 0.3, 0.0, 1.0))[:, None]
            track[end:, :3, 3] = track[end - 1, :3, 3] + share * (rest - track[end - 1, :3, 3])
            track[end:, :3, :3] = track[end - 1, :3, :3]
        found[each.prop] = track
    return found


def _put_down(motion: Motion, k: int, height: float) -> Array:
    """Where a palm puts something down that lay at a height [m] before."""
    palm, _ = palms(motion)
    return np.array([palm[k, 0], palm[k, 1], height])


def _upright(motion: Motion, first: int, end: int) -> Array:
    """(n, 3, 3) turn of an actor since a sample, about the vertical."""
    base = motion.base
    assert base is not None
    turned = base[first:end, 2] - base[first, 2]
    return quat.to_matrix(quat.about(np.array([0.0, 0.0, 1.0]), turned))
