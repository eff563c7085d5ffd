"""Locked takes: what was recorded happens again, whatever the scripts or properties have become.

A take can be locked whole, so that its events are replayed as an event track and no script of its actors runs; or only
its choices, so that scripts run as they are now but every `choose` and every drawn time falls as it did.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ...motion import Event
from ..language.lexer import key_of
from .cast import Actor, Target
from .mind import Play

DRAWN = {"choose": "", "lasts": "*"}


def locked_choices(
    events: Iterable[Event], actors: Collection[str] | None = None
) -> dict[tuple[str, str], list[Event]]:
    """What each actor chose, and how long it waited, at each place of its scripts, in order."""
    found: dict[tuple[str, str], list[Event]] = {}
    for event in events:
        actor = event.data.get("actor")
        if event.name in DRAWN and (actors is None or actor in actors):
            found.setdefault((str(actor), f"{event.data.get('site')}{DRAWN[event.name]}"), []).append(event)
    return found


def replay(play: Play, events: Sequence[Event], actors: Collection[str] | None = None) -> None:
    """Schedule the events of a take; their actors follow it instead of their scripts.

    Args:
        actors: Who is locked; all by default.
    """
    locked = None if actors is None else {key_of(a) for a in actors}
    for holder in play.company.world.values():
        if isinstance(holder, Actor) and (locked is None or holder.key in locked):
            holder.locked = True
            for group in holder.scripts.values():
                if group.run is not None:
                    group.run.stop()
    play.events.keep(lambda e: not _is_locked(play, e))
    for event in events:
        actor = _locked(play, event.data, "actor")
        sender = _locked(play, event.data, "sender") if event.name == "message" else None
        if sender is not None and _attends(play, event):
            _send_again(play, sender, event)
        elif actor is not None and not (actor.kind == "camera" and event.name == "aim"):
            _schedule(play, actor, event)


def _is_locked(play: Play, event: Event) -> bool:
    return _locked(play, event.data, "actor") is not None


def _locked(play: Play, data: Mapping[str, Any], role: str) -> Actor | None:
    """The locked actor that an event names in a role."""
    found = play.company.world.get(key_of(str(data.get(role, ""))))
    return found if isinstance(found, Actor) and found.locked else None


def _attends(play: Play, event: Event) -> bool:
    """Whether who got a message makes of it what it makes of any: a camera, which has no script, or who is free."""
    whom = play.company.world.get(key_of(str(event.data.get("actor", ""))))
    return whom is not None and (whom.kind == "camera" or not (isinstance(whom, Actor) and whom.locked))


def _send_again(play: Play, sender: Actor, event: Event) -> None:
    data = event.data
    whom = play.company.world[key_of(str(data["actor"]))]

    def again(now: float) -> None:
        play.send(sender, whom, str(data.get("what", "")), now, data.get("seconds"))

    play.at(event.time, sender, again)


def _schedule(play: Play, actor: Actor, event: Event) -> None:
    def again(now: float) -> None:
        _apply(play, actor, event.name, event.data, now)

    play.at(event.time, actor, again)


def _apply(play: Play, me: Actor, name: str, data: Mapping[str, Any], time: float) -> None:
    """Do what an event says; what it only tells is told again."""
    target = _target(play, data.get("target"))
    stage, place = play.stage, data.get("place")
    if name == "select":
        action = play.company.actions.get(key_of(str(data.get("action"))))
        if action is None:
            play.warn(time, me, f'the take needs the action "{data.get("action")}", which is not there any more')
        else:
            play.select(me, action, target, time, None, data.get("transition"), str(data.get("because", "")))
        return
    play.log(time, name, **data)
    if name == "walk" and place:
        goal = tuple(map(float, data.get("goal", place)))
        stage.walk_to(me.name, goal, float(data.get("speed", 1.3)), time, float(data.get("within", 0.0)))
    elif name == "turn" and place:
        stage.turn_to(me.name, tuple(map(float, place)), time)
    elif name == "stop":
        stage.stop(me.name, time)
    elif name == "look":
        stage.look_at(me.name, data.get("target"), time)
    elif name == "say":
        stage.say(me.name, str(data.get("text", "")), time)
    elif name in ("attach", "release"):
        _hand(play, me, name, str(data.get("prop", "")), time)
    elif name == "contact":
        stage.contact(me.name, str(data.get("target")), str(data.get("what")), time, float(data.get("end", time)))
    elif name == "set" and isinstance(data.get("property"), str):
        _set(play, me, data, time)


def _set(play: Play, me: Actor, data: Mapping[str, Any], time: float) -> None:
    holder = play.company.world.get(key_of(str(data.get("of", ""))))
    if holder is not None:
        prop, _, other = str(data["property"]).partition(" toward ")
        value = data.get("value")
        play.board.write(
            me, holder, (prop, other) if other else prop, tuple(value) if isinstance(value, list) else value, time
        )


def _hand(play: Play, me: Actor, name: str, prop: str, time: float) -> None:
    holder = play.company.world.get(key_of(prop))
    if holder is not None:
        holder.values["holder"] = me.name if name == "attach" else ""
        (play.stage.attach if name == "attach" else play.stage.release)(holder.name, me.name, time)


def _target(play: Play, name: object) -> Target:
    return play.company.world.get(key_of(name)) if isinstance(name, str) else None
