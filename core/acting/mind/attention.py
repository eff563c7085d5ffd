"""Who looks where: a camera keeps everyone in view who asks for it; a person looks at whom they find most interesting.

Interest is the relation "interest" (1 where nobody gave it) halved every two seconds since the other asked. A person
looks elsewhere only when the other is a quarter more interesting.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from .cast import Actor
from .properties import Holder, number

if TYPE_CHECKING:
    from .doing import Doing

HALF_LIFE = 2.0
SWITCH = 1.25
FORGOTTEN = 0.01
LOOK_HERE, LOOK_AWAY = "look here", "look away"


class Aim(NamedTuple):
    """Where a camera points: the mean of those who asked, and the radius that holds them all [m]."""

    time: float
    point: tuple[float, float]
    radius: float
    who: tuple[str, ...]


def receive(play: Doing, sender: Actor, whom: Holder, message: str, time: float, seconds: float | None) -> None:
    """Deliver a message; what it means is the receiver's business: a script of its name, or attention."""
    play.log(time, "message", actor=whom.name, sender=sender.name, what=message, seconds=seconds)
    if not isinstance(whom, Actor):
        return
    if message == LOOK_HERE:
        whom.requests[sender.key] = (sender, time, math.inf if seconds is None else time + seconds)
        play.attending[whom.key] = whom
    elif message == LOOK_AWAY:
        whom.requests.pop(sender.key, None)
    elif message in play.company.scripts:
        play.perform(whom, play.company.scripts[message], sender, time, seconds, because=f"message of {sender.name}")


def attend(play: Doing, time: float) -> None:
    """Aim every camera and gaze that someone has asked for."""
    for whom in list(play.attending.values()):
        for key in [k for k, (_, _, end) in whom.requests.items() if end <= time]:
            del whom.requests[key]
        if whom.kind == "camera":
            _aim(play, whom, time)
        else:
            _look(play, whom, time)
        if not whom.requests:
            del play.attending[whom.key]


def _aim(play: Doing, camera: Actor, time: float) -> None:
    places = {s.name: play.stage.position(s.name, time) for s, _, _ in camera.requests.values()}
    known = {name: p for name, p in places.items() if p is not None}
    if not known:
        return
    x = sum(p[0] for p in known.values()) / len(known)
    y = sum(p[1] for p in known.values()) / len(known)
    radius = max(math.hypot(p[0] - x, p[1] - y) for p in known.values())
    aims = play.aims.setdefault(camera.name, [])
    aim = Aim(time, (x, y), radius, tuple(known))
    if not aims or aims[-1].who != aim.who:
        play.log(time, "aim", actor=camera.name, target=", ".join(aim.who), point=[x, y], radius=radius)
    aims.append(aim)


def interest(play: Doing, me: Actor, other: Holder, asked: float, time: float) -> float:
    """How interesting someone is who asked to be looked at."""
    relation = me.values.get(("interest", other.key))
    return (1.0 if relation is None else number(relation)) * math.exp2(-max(time - asked, 0.0) / HALF_LIFE)


def _look(play: Doing, me: Actor, time: float) -> None:
    found = {key: interest(play, me, sender, asked, time) for key, (sender, asked, _) in me.requests.items()}
    for key in [k for k, value in found.items() if value < FORGOTTEN]:
        del me.requests[key], found[key]
    best = max(found, key=lambda k: found[k], default=None)
    held = me.gaze.key if me.gaze else None
    if held in found and best is not None and found[best] <= SWITCH * found[held]:
        return
    wanted = me.requests[best][0] if best is not None else None
    if wanted is not me.gaze:
        me.gaze = wanted
        because = f"interest {found[best]:.3f}" if best is not None else "nobody asks any more"
        play.look(me, wanted, time, because)
