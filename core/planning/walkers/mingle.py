"""What actors do with each other: play tag, mingle with passers-by, hide, search, wait in line.

Hiding and searching follow the locomotion states of Badler's LocoNet; tag, tours and mingling are the scenes of
Kuffner's "Autonomous Agents for Real-Time Animation" (1999), chapter 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...maths import trig
from ...maths.ramp import wrap
from ...params import param
from ...skeleton import Array
from ..ways.chart import sees
from .actors import STAND, Behaviour, Order, go
from .behaviours import ahead_of, stroll
from .fleeing import CALM, flee, refuge
from .sensors import Senses

UNDERFOOT = 0.8
"""What is nearer than this needs no look [m]."""


@dataclass(frozen=True)
class Tag(Behaviour):
    """Play tag with everybody who plays it."""

    first: str = param("", ref="object", help="Who is it at the beginning; empty for the first of the cast")
    touch: float = param(0.8, lo=0.1, hi=5.0, unit="m", help="Distance at which somebody is touched")
    freeze: float = param(1.0, lo=0.0, hi=30.0, unit="s", help="How long whoever was touched stands still")
    alarm: float = param(5.0, lo=0.5, hi=50.0, unit="m", help="Distance at which the others flee")
    haste: float = param(1.35, lo=0.5, hi=3.0, help="Share of its speed at which whoever is it runs")

    def begin(self) -> Any:
        """How it flees."""
        return CALM

    def think(self, memory: Any, senses: Senses) -> tuple[Any, Order]:
        """Pursue when it, flee when not."""
        players = (senses.name, *senses.others)
        it = senses.fact("it")
        if it is None:
            it = self.first if self.first in players else sorted(players)[0]
            senses.tell("it", it)
            senses.tell("it before", "")
            senses.say("begins", f"{it} is it")
        if senses.name == it:
            return CALM, self._chase(senses)
        if senses.distance(it) > self.alarm:
            return CALM, Order(face=senses.place_of(it))
        return flee(memory, senses, it)

    def _chase(self, senses: Senses) -> Order:
        # whoever touched one a moment ago is left alone, unless there is nobody else
        before = senses.fact("it before")
        others = [n for n in senses.others if n != before] or list(senses.others)
        if not others:
            return STAND
        nearest = min(others, key=lambda n: (senses.distance(n), n))
        if senses.distance(nearest) <= self.touch and senses.time - (senses.fact("touched") or -10.0) > self.freeze:
            senses.tell("it", nearest)
            senses.tell("it before", senses.name)
            senses.tell("touched", senses.time)
            senses.freeze(nearest, self.freeze)
            senses.say("touches", f"{nearest} is within {self.touch:g} m and is it now")
            return STAND
        speed = float(np.hypot(*senses.velocity_of(nearest)))
        return go(ahead_of(senses, nearest, 1.0), nearest, pace=self.haste, seek=nearest, there=speed + 0.5)


@dataclass(frozen=True)
class Mingle(Behaviour):
    """Wander about and follow any of some people who passes near, for a while."""

    whom: str = param("", help="Names of those who are followed, with commas between them; empty for anybody")
    near: float = param(2.5, lo=0.3, hi=20.0, unit="m", help="How near one must pass to be followed")
    stop: float = param(1.5, lo=0.3, hi=20.0, unit="m", help="Distance at which one stops behind somebody")
    lose: float = param(5.0, lo=0.5, hi=50.0, unit="m", help="Distance at which one gives up")
    bored: float = param(12.0, lo=0.5, hi=600.0, unit="s", help="Time after which one wanders on")

    def begin(self) -> Any:
        """Whom it follows, since when, where it strolls, until when it minds nobody."""
        return ("", 0.0, None, 0.0)

    def think(self, memory: Any, senses: Senses) -> tuple[Any, Order]:
        """Wander until somebody passes; follow until bored or left behind."""
        who, since, goal, shy = memory
        if who:
            far = senses.distance(who)
            if far > self.lose or senses.time - since > self.bored:
                senses.say("wanders", f"{who} is too far away" if far > self.lose else f"{who} is boring")
                return ("", 0.0, None, senses.time + 6.0), STAND
            place = senses.place_of(who)
            if far <= self.stop + 0.2:
                return memory, Order(face=place)
            return memory, go(place, who, stop=self.stop)
        people = [n.strip() for n in self.whom.split(",") if n.strip()] or list(senses.others)
        near = sorted((senses.distance(n), n) for n in people if n != senses.name)
        if near and near[0][0] <= self.near and senses.time >= shy:
            senses.say("follows", f"{near[0][1]} passes within {self.near:g} m")
            return (near[0][1], senses.time, None, shy), STAND
        if goal is None or senses.at_goal() or senses.no_path():
            goal = tuple(stroll(senses, 3.0, 8.0))
        return ("", 0.0, goal, shy), go(np.array(goal), "a stroll")


@dataclass(frozen=True)
class Hide(Behaviour):
    """Stay out of the sight of an actor."""

    target: str = param("", ref="object", help="From whom to hide")
    flee: float = param(4.0, lo=0.0, hi=50.0, unit="m", help="Flee when seen from nearer than this")
    reach: float = param(10.0, lo=1.0, hi=100.0, unit="m", help="How far away hiding places are sought")

    def begin(self) -> Any:
        """State, goal, and when it was chosen."""
        return ("start", None, -10.0)

    def think(self, memory: Any, senses: Senses) -> tuple[Any, Order]:
        """Go where the seeker cannot see; flee when seen from near."""
        state, goal, when = memory
        exposed = bool(senses.exposed_to(self.target))
        if state == "hidden" and not exposed and not self._exposed_soon(senses):
            return memory, Order(face=senses.place_of(self.target))
        near = senses.distance(self.target) < self.flee
        if exposed and near and state != "start" and (state == "evading" or senses.seen_by(self.target)):
            if state != "evading":
                senses.say("flees", f"{self.target} sees it from {senses.distance(self.target):.1f} m")
                goal = None
            if goal is None or senses.time - when >= 0.5:
                goal, when = tuple(self._away(senses)), senses.time
            return ("evading", goal, when), go(np.array(goal), f"away from {self.target}", pace=1.3)
        if state == "hiding" and senses.at_goal() and not exposed:
            senses.say("is hidden", f"nothing can be seen of it from where {self.target} is")
            return ("hidden", goal, when), STAND
        if goal is None or senses.time - when >= 0.5:
            stays = goal is not None and not bool(senses.exposed_to(self.target, np.array([goal]))[0])
            spot = np.array(goal) if stays else self._away(senses)
            if state != "hiding":
                senses.say("hides", f"{self.target} can see it" if exposed else f"{self.target} is about to see it")
            goal, when = tuple(spot), senses.time
        return ("hiding", goal, when), go(np.array(goal), "a hiding place")

    def _exposed_soon(self, senses: Senses) -> bool:
        later = senses.place_of(self.target) + 1.5 * senses.velocity_of(self.target)
        return bool(sees(senses.state.chart.map, later, senses.here))

    def _away(self, senses: Senses) -> Array:
        """(2,) a place out of sight; where there is none one further off, or where it is when it is cornered."""
        for spot in (self._spot(senses), refuge(senses, self.target)):
            if spot is not None:
                return spot
        return senses.here

    def _spot(self, senses: Senses) -> Array | None:
        """(2,) free place out of sight that is near and not next to the seeker; None when there is none."""
        walk = senses.walkable
        cells = free_cells(walk, senses.here, self.reach, 0.5)
        if not len(cells):
            return None
        hidden = cells[~sees(senses.state.chart.map, senses.place_of(self.target), cells)]
        if not len(hidden):
            return None
        cost = np.hypot(*(hidden - senses.here).T) - 0.7 * np.hypot(*(hidden - senses.place_of(self.target)).T)
        out: Array = hidden[int(np.argmin(cost))]
        return out


def free_cells(walk: Any, here: Array, reach: float, spacing: float) -> Array:
    """(n, 2) centres of free cells within `reach` of a place, about `spacing` apart [m]."""
    every = max(1, round(spacing / walk.cell))
    rows, columns = np.nonzero(walk.free[::every, ::every])
    centres = walk.origin + (np.stack([columns, rows], axis=-1) * every + 0.5) * walk.cell
    out: Array = centres[np.hypot(*(centres - here).T) <= reach]
    return out


@dataclass(frozen=True)
class Search(Behaviour):
    """Look everywhere until an actor or a thing is seen."""

    target: str = param("", ref="object", help="Whom to look for")
    reach: float = param(12.0, lo=1.0, hi=200.0, unit="m", help="How far around the beginning to look")
    range: float = param(8.0, lo=0.5, hi=100.0, unit="m", help="How far one sees")
    approach: float = param(1.2, lo=0.1, hi=50.0, unit="m", help="Distance at which one stops when it is found")

    def begin(self) -> Any:
        """State, cells (x, y) not yet seen, goal, when a sweep began."""
        return ("start", None, None, 0.0)

    def think(self, memory: Any, senses: Senses) -> tuple[Any, Order]:
        """Go to the nearest unseen cell, look about, go on; approach what is found."""
        state, unseen, goal, when = memory
        senses.range = self.range
        if self.target and senses.visible(self.target):
            if state != "found":
                senses.say("finds", f"{self.target} is in sight")
            place = senses.place_of(self.target)
            return ("found", unseen, None, when), go(place, self.target, stop=self.approach)
        if state == "found":
            senses.say("searches", f"{self.target} is out of sight again")
            unseen = None
        if unseen is None:
            unseen = free_cells(senses.walkable, senses.here, self.reach, 0.5)
            state, goal = "search", None
            senses.say("searches", f"{len(unseen)} places are to be seen")
        unseen = unseen[~self._seen(senses, unseen)]
        if not len(unseen):
            if state != "over":
                senses.say("gives up", "every place has been seen")
            return ("over", unseen, None, when), STAND
        if state == "sweep":
            if senses.time - when < 2.4:
                turn = 1.05 * np.sin((senses.time - when) / 2.4 * 2 * np.pi)
                angle = memory[2][2] + turn
                return ("sweep", unseen, goal, when), Order(
                    face=senses.here + 2 * np.array([np.sin(angle), -np.cos(angle)])
                )
            goal = None
        if goal is not None and senses.at_goal():
            return ("sweep", unseen, (*goal[:2], senses.heading), senses.time), STAND
        gone = goal is not None and not (np.hypot(*(unseen - np.array(goal[:2])).T) < 0.6).any()
        if goal is None or gone or senses.no_path():
            if senses.no_path() and goal is not None:
                unseen = unseen[np.hypot(*(unseen - np.array(goal[:2])).T) > 0.6]
                if not len(unseen):
                    return ("search", unseen, None, when), STAND
            nearest = unseen[int(np.argmin(self._cost(senses, unseen)))]
            goal = (float(nearest[0]), float(nearest[1]), 0.0)
        return ("search", unseen, goal, when), go(np.array(goal[:2]), "an unseen place")

    def _cost(self, senses: Senses, cells: Array) -> Array:
        off = cells - senses.here
        turn = np.abs(wrap(trig.arctan2(off[:, 0], -off[:, 1]) - senses.heading))
        out: Array = np.hypot(*off.T) + 0.5 * turn
        return out

    def _seen(self, senses: Senses, cells: Array) -> npt.NDArray[np.bool_]:
        off = cells - senses.here
        far = np.hypot(*off.T)
        turn = np.abs(wrap(trig.arctan2(off[:, 0], -off[:, 1]) - senses.heading))
        out: npt.NDArray[np.bool_] = far < UNDERFOOT
        look = np.flatnonzero((far <= self.range) & (turn <= senses.view / 2) & ~out)
        if len(look):
            out[look] = senses.reveals(cells[look])
        return out


@dataclass(frozen=True)
class Queue(Behaviour):
    """Wait in line in front of a place, go to it when it is one's turn, stay a moment and leave."""

    target: str = param("", ref="object", help="The place: a door, a counter")
    direction: float = param(0.0, lo=-10.0, hi=10.0, unit="rad", help="In which direction from it the line stands")
    spacing: float = param(0.9, lo=0.5, hi=5.0, unit="m", help="Distance between two in line")
    service: float = param(2.0, lo=0.0, hi=600.0, unit="s", help="How long one stays at the place")
    leave: tuple[float, ...] = param((0.0, 0.0, 0.0), unit="m", help="Where to go afterwards")

    def begin(self) -> Any:
        """State, and since when."""
        return ("come", 0.0)

    def think(self, memory: Any, senses: Senses) -> tuple[Any, Order]:
        """Come, stand in line, be served, leave."""
        state, since = memory
        key = f"line/{self.target}"
        line = tuple(senses.fact(key) or ())
        if state == "leave":
            return memory, go(np.array(self.leave[:2]), "away")
        if senses.name not in line:
            line = (*line, senses.name)
            senses.tell(key, line)
            senses.say("queues", f"as number {len(line)} at {self.target}")
        place = senses.place_of(self.target)
        number = line.index(senses.name)
        away = np.array([np.sin(self.direction), -np.cos(self.direction)])
        if number == 0 and state != "served" and senses.at_goal() and senses.distance(self.target) < 0.6:
            state, since = "served", senses.time
        if state == "served":
            if senses.time - since >= self.service:
                senses.tell(key, line[1:])
                senses.say("leaves", "it was served")
                return ("leave", senses.time), STAND
            return (state, since), Order(face=place - away)
        spot = place + number * self.spacing * away
        facing = float(np.arctan2(-away[0], away[1]))
        return ("wait", senses.time), go(spot, self.target if number == 0 else "its place in line", facing=facing)
