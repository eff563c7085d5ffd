"""Verbs carried out: walking, turning, looking and speaking on the stage; props and hands by request and grant.

A prop consents to one holder only. Requests of one step are decided together at the commit: the earliest first, at the
same moment the first of the cast. Whoever is denied does its fallback.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from .bodyport import LIFT, TAKE, Point, distance, heading_to
from .cast import Actor, Target
from .company import VerbHolder
from .properties import WORLD_KINDS, Holder, number

if TYPE_CHECKING:
    from .doing import Doing

SPEEDS = {"walk": ("walk speed", 1.3), "run": ("run speed", 3.2)}
"""Property that gives a speed, and the speed where nobody gave it [m/s]."""
STEP_SPEED = 0.8
"""Of a step toward somebody [m/s]."""
STANDOFF = {"actor": 1.0, "prop": 0.5}
"""How far from someone or something a walk ends [m]."""
HANDSHAKE = 2.0
REACH, CLOSE, SHAKING = 1.5, 1.05, 0.9
"""Farthest that two can stand apart and be asked to shake hands, farthest at which they do without a step, and how near
whoever asks comes then [m]."""
SQUARE = math.radians(30.0)
"""Who faces the other by no less than this turns to it for a handshake [rad]."""


class Request(NamedTuple):
    """Something that needs the consent of a prop or another actor."""

    time: float
    order: str
    me: Actor
    what: Holder
    seconds: float
    verb: VerbHolder
    fallback: Holder | None


def do_verb(
    play: Doing,
    me: Actor,
    verb: VerbHolder,
    target: Target,
    time: float,
    seconds: float | None,
    fallback: Holder | None,
    because: str,
) -> None:
    """Carry out a verb, or ask for it."""
    if verb.object is not None and target is None:
        target = play.company.world.get(verb.object)
    order, channel = verb.verb.order, verb.verb.channel
    other = target if isinstance(target, Holder) and target.kind in WORLD_KINDS else None
    ticket = play.occupy(me, channel, verb.done_keys(other), verb.name)
    if order in ("walk", "run"):
        _walk(play, me, verb, target, time, ticket, because)
    elif order == "stop":
        play.stage.stop(me.name, time)
        play.log(time, "stop", actor=me.name, because=because)
        play.finish(me, channel, ticket, time)
    elif order == "turn":
        place = _place(play, me, target, time)
        if place is not None:
            play.log(time, "turn", actor=me.name, target=_name(target), place=list(place), because=because)
            play.expect(me, channel, ticket, play.stage.turn_to(me.name, place, time))
    elif order in ("look", "away"):
        play.look(me, None if order == "away" else target, time, because)
        play.finish(me, channel, ticket, time)
    elif order == "say":
        text = _name(target) or ""
        play.log(time, "say", actor=me.name, text=text, because=because)
        play.expect(me, channel, ticket, play.stage.say(me.name, text, time))
    else:
        _ask(play, me, verb, target, time, seconds, fallback)
        return
    if seconds is not None:
        play.at(time + seconds, me, lambda now: _cut(play, me, channel, ticket, now))


def _walk(play: Doing, me: Actor, verb: VerbHolder, target: Target, time: float, ticket: int, because: str) -> None:
    place = _place(play, me, target, time)
    here = play.stage.position(me.name, time)
    if place is None or here is None:
        return
    prop, otherwise = SPEEDS[verb.verb.order]
    given = me.own.get(prop, me.values.get(prop))
    speed = otherwise if given is None else number(given)
    within = STANDOFF.get(target.kind, 0.0) if isinstance(target, Holder) else 0.0
    arrival = play.stage.walk_to(me.name, place, speed, time, within)
    _tell_walk(play, me, _name(target), place, speed, time, arrival, within, because)
    play.expect(me, "travel", ticket, arrival)


def _tell_walk(
    play: Doing,
    me: Actor,
    target: str | None,
    goal: Point,
    speed: float,
    time: float,
    arrival: float | None,
    within: float,
    because: str,
) -> None:
    """Log a walk: where it ends, and whom or what it leads to from how far off."""
    data: dict[str, object] = {"actor": me.name, "target": target, "place": list(goal[:2]), "speed": speed}
    if within > 0.0:
        end = None if arrival is None else play.stage.position(me.name, arrival)
        data |= {"place": list((end or goal)[:2]), "goal": list(goal[:2]), "within": within}
    play.log(time, "walk", **data, arrival=arrival, because=because)


def _place(play: Doing, me: Actor, target: Target, time: float) -> Point | None:
    if isinstance(target, tuple):
        return target
    place = play.stage.position(target.name, time) if target is not None else None
    if place is None:
        play.warn(time, me, f"{_name(target) or 'nobody'} is nowhere on the stage")
    return place


def _name(target: Target) -> str | None:
    if target is None:
        return None
    return target.name if isinstance(target, Holder) else str(list(target))


def _cut(play: Doing, me: Actor, channel: str, ticket: int, time: float) -> None:
    """End a verb whose time is up, unless another has replaced it."""
    if me.busy[channel][2] != ticket:
        return
    if channel == "travel":
        play.stage.stop(me.name, time)
        play.log(time, "stop", actor=me.name, because="its time is up")
    elif channel == "gaze":
        play.look(me, None, time, "its time is up")
    play.finish(me, channel, ticket, time)


def _ask(
    play: Doing,
    me: Actor,
    verb: VerbHolder,
    target: Target,
    time: float,
    seconds: float | None,
    fallback: Holder | None,
) -> None:
    order = verb.verb.order
    if order == "drop" and target is None:
        target = next((h for h in play.props if h.values.get("holder") == me.name), None)
    if not isinstance(target, Holder):
        play.warn(time, me, f'"{verb.name}" needs something or someone')
        return
    play.requests.append(Request(time, order, me, target, HANDSHAKE if seconds is None else seconds, verb, fallback))


def decide(play: Doing, time: float) -> None:
    """Grant or deny the requests of a step; what was let go is free for who asks at the same moment."""
    requests, play.requests = play.requests, []
    for r in sorted(requests, key=lambda r: (r.time, r.order != "drop", r.me.serial)):
        if r.order == "drop":
            _drop(play, r, time)
        elif r.order == "take":
            holder = r.what.values.get("holder")
            if r.what.kind != "prop":
                _deny(play, r, time, f"{r.what.name} is no prop")
            elif holder and holder != r.me.name:
                _deny(play, r, time, f"{holder} holds it")
            else:
                r.what.values["holder"] = r.me.name
                play.board.changed((r.what.serial, "holder"), time)
                play.stage.attach(r.what.name, r.me.name, time)
                play.log(time, "attach", actor=r.me.name, prop=r.what.name)
                _granted(play, r, time, TAKE + LIFT)
        else:
            _shake(play, r, time)


def _drop(play: Doing, r: Request, time: float) -> None:
    if r.what.values.get("holder") != r.me.name:
        play.warn(time, r.me, f"{r.me.name} does not hold {r.what.name}")
        return
    r.what.values["holder"] = ""
    play.board.changed((r.what.serial, "holder"), time)
    play.stage.release(r.what.name, r.me.name, time)
    play.log(time, "release", actor=r.me.name, prop=r.what.name)
    _granted(play, r, time, TAKE + LIFT)


def _shake(play: Doing, r: Request, time: float) -> None:
    other = r.what
    if not isinstance(other, Actor) or other is r.me:
        return _deny(play, r, time, f"{other.name} has no hand to shake")
    if r.me.touching == other.key:
        return _granted(play, r, time)
    if r.me.touching or other.touching:
        return _deny(play, r, time, f"{(r.me if r.me.touching else other).name} is shaking another hand")
    if distance(play.stage, r.me.name, other.name, time) > REACH:
        return _deny(play, r, time, f"{other.name} is out of reach")
    r.me.touching, other.touching = other.key, r.me.key
    start = _close_in(play, r.me, other, time)
    if start > time:
        play.at(start, r.me, lambda now: _touch(play, r, other, now))
    else:
        _touch(play, r, other, time)
    return None


def _close_in(play: Doing, me: Actor, other: Actor, time: float) -> float:
    """Let two step up to each other and turn face to face; when they stand so [s]."""
    stage, start, why = play.stage, time, "to shake hands"
    places = {a.name: stage.position(a.name, time) or (0.0, 0.0) for a in (me, other)}
    if distance(stage, me.name, other.name, time) > CLOSE:
        goal = places[other.name]
        arrival = stage.walk_to(me.name, goal, STEP_SPEED, time, SHAKING)
        start = time + 1.0 if arrival is None else arrival
        _tell_walk(play, me, other.name, goal, STEP_SPEED, time, arrival, SHAKING, why)
    for one, two in ((me, other), (other, me)):
        here, there = stage.position(one.name, start) or (0.0, 0.0), places[two.name]
        turn = math.remainder(heading_to(here, there) - stage.heading(one.name, start), math.tau)
        if abs(turn) > SQUARE:
            end = stage.turn_to(one.name, there, time if one is other else start)
            play.log(time, "turn", actor=one.name, target=two.name, place=list(there), because=why)
            start = max(start, time + 1.0 if end is None else end)
    return start


def _touch(play: Doing, r: Request, other: Actor, time: float) -> None:
    end = time + r.seconds
    play.stage.contact(r.me.name, other.name, "handshake", time, end)
    play.log(time, "contact", actor=r.me.name, target=other.name, what="handshake", end=end)
    play.at(end, r.me, lambda now: _part(play, r, other, now))


def _part(play: Doing, r: Request, other: Actor, time: float) -> None:
    r.me.touching = other.touching = ""
    play.log(time, "part", actor=r.me.name, target=other.name)
    _granted(play, r, time)


def _granted(play: Doing, r: Request, time: float, takes: float = 0.0) -> None:
    """What was asked for is done, or will be when hands have had their time [s]."""
    channel = r.verb.verb.channel
    ticket = r.me.busy[channel][2]
    if takes:
        play.at(time + takes, r.me, lambda now: play.finish(r.me, channel, ticket, now))
    else:
        play.finish(r.me, channel, ticket, time)


def _deny(play: Doing, r: Request, time: float, why: str) -> None:
    play.log(time, "denied", actor=r.me.name, what=r.verb.name, target=r.what.name, because=why)
    if r.fallback is not None:
        play.perform(r.me, r.fallback, r.what, time, because=f"denied: {why}")
