"""How memory fades, and how events change it: lifetimes, trust, and rules.

Kuffner, "Autonomous Agents for Real-Time Animation" (1999), section 4.5: walls are remembered for ever and what moves
is not; when no way is left, doors that were closed may be open by now.

    memory, changes = fade(memory, time, params, rules)              # at every look
    memory, changes, effects = respond(memory, NO_PATH, time, rules) # when something has happened
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...errors import InvalidParam
from ...skeleton import Array
from .memory import Change, Memory, MemoryParams, Observation

NO_PATH = "no_path"
OBJECT_VANISHED = "object_vanished"
OBJECT_MOVED = "object_moved"
OBJECT_NEW = "object_new"
GOAL_SEEN = "goal_seen"
TIMER = "timer"
EVENTS = (NO_PATH, OBJECT_VANISHED, OBJECT_MOVED, OBJECT_NEW, GOAL_SEEN, TIMER)
EVENT_OF_CHANGE = {"vanished": OBJECT_VANISHED, "moved": OBJECT_MOVED, "new": OBJECT_NEW}

ACTIONS = ("forget", "ignore", "set_goal", "start_script")


@dataclass(frozen=True)
class Action:
    """What a rule does when an event has happened.

    Attributes:
        what: forget the observations; ignore them when planning; set_goal or start_script, which are handed on.
        seconds: How long they are ignored [s].
        within: Seeing one of them unchanged from within this distance ends that, and it is not ignored again [m].
        argument: Name of the goal or script.
    """

    what: str
    seconds: float = np.inf
    within: float = 1.5
    argument: str = ""

    def __post_init__(self) -> None:
        if self.what not in ACTIONS:
            raise InvalidParam("what", self.what, f"must be one of {', '.join(ACTIONS)}")


@dataclass(frozen=True)
class Rule:
    """What holds for some observations; of several rules the first that matches counts.

    Attributes:
        kinds: Kinds of bodies it holds for; none for all.
        tags: Properties they must all have.
        without: Properties they must not have.
        names: Their names or classes; none for all.
        when: A condition beyond that.
        lifetime: Age at which they are forgotten [s]; None for that of the model.
        fading: Time in which trust in them falls to a third [s]; None for that of the model.
        on: Event to what is done then.
    """

    kinds: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    when: Callable[[Observation], bool] | None = None
    lifetime: float | None = None
    fading: float | None = None
    on: Mapping[str, Action] = field(default_factory=dict)

    def __post_init__(self) -> None:
        unknown = [event for event in self.on if event not in EVENTS]
        if unknown:
            raise InvalidParam("on", unknown[0], f"events are {', '.join(EVENTS)}")

    def matches(self, o: Observation) -> bool:
        """Whether it holds for an observation."""
        return (
            (not self.kinds or o.kind in self.kinds)
            and self.tags <= o.properties
            and not self.without & o.properties
            and (not self.names or o.name in self.names)
            and (self.when is None or self.when(o))
        )


LASTING = Rule(kinds=frozenset({"ground", "obstacle"}), lifetime=np.inf, fading=np.inf)
"""Floors and walls are not forgotten."""
CLOSED_DOORS = Rule(
    kinds=frozenset({"door"}), without=frozenset({"open", "openable"}), on={NO_PATH: Action("ignore", seconds=120.0)}
)
"""With no way left, try doors that were closed."""
RULES = (LASTING, CLOSED_DOORS)


@dataclass(frozen=True)
class Effect:
    """Something a rule asks for that is not the memory's business: `action` for the observations `keys`."""

    action: Action
    keys: tuple[int, ...]
    event: str


def respond(
    memory: Memory, event: str, time: float, rules: Sequence[Rule] = RULES, keys: Collection[int] | None = None
) -> tuple[Memory, tuple[Change, ...], tuple[Effect, ...]]:
    """What rules make of an event.

    Args:
        memory: Before.
        event: One of EVENTS.
        time: When [s].
        rules: In order; for each observation the first one counts that matches and knows the event.
        keys: Observations it is about; None for all.

    Returns:
        Memory after it, what changed, and what is left for others to do.
    """
    if event not in EVENTS:
        raise InvalidParam("event", event, f"must be one of {', '.join(EVENTS)}")
    known, ignored = dict(memory.observations), dict(memory.ignored)
    changes: list[Change] = []
    effects: dict[int, tuple[Action, list[int]]] = {}
    for key in sorted(known if keys is None else keys):
        o = known.get(key)
        which = None if o is None else next((n for n, r in enumerate(rules) if event in r.on and r.matches(o)), None)
        if o is None or which is None:
            continue
        action = rules[which].on[event]
        if action.what == "forget":
            del known[key]
            ignored.pop(key, None)
            changes.append(Change("forgotten", key, o.name, o.kind, time))
        elif action.what == "ignore":
            # a door that was tried and found closed has an entry in the past: it is not tried again
            if key not in ignored:
                ignored[key] = time + action.seconds
                changes.append(Change("ignored", key, o.name, o.kind, time))
        else:
            effects.setdefault(which, (action, []))[1].append(key)
    done = tuple(Effect(action, tuple(own), event) for action, own in effects.values())
    return replace(memory, observations=known, ignored=ignored), tuple(changes), done


def fade(
    memory: Memory, time: float, params: MemoryParams | None = None, rules: Sequence[Rule] = RULES
) -> tuple[Memory, tuple[Change, ...]]:
    """Forget what is too old by the model and the rules."""
    params = params or MemoryParams()
    if params.model not in ("temporal", "rules"):
        return memory, ()
    usual = params.lifetime if params.model == "temporal" else np.inf
    old = [key for key, o in memory.observations.items() if time - o.time > _of(rules, o, "lifetime", usual)]
    if not old:
        return memory, ()
    known = {key: o for key, o in memory.observations.items() if key not in set(old)}
    ignored = {key: until for key, until in memory.ignored.items() if key in known}
    changes = [Change("forgotten", k, o.name, o.kind, time) for k in old for o in [memory.observations[k]]]
    return replace(memory, observations=known, ignored=ignored), tuple(changes)


def trusts(
    memory: Memory, time: float, params: MemoryParams | None = None, rules: Sequence[Rule] = RULES
) -> dict[int, float] | None:
    """Trust in each observation by key, exp(-age / fading); None unless the model is confidence."""
    params = params or MemoryParams()
    if params.model != "confidence":
        return None
    return {
        key: float(np.exp(-max(time - o.time, 0.0) / _of(rules, o, "fading", params.fading)))
        for key, o in memory.observations.items()
    }


def heed(
    memory: Memory, changes: Collection[Change], here: Array, time: float, rules: Sequence[Rule] = RULES
) -> tuple[Memory, tuple[Change, ...]]:
    """End ignoring what has just been seen at first hand, or seen to be otherwise.

    Args:
        memory: After the look.
        changes: What the look changed.
        here: (3,) where the actor looked from [m].
        time: Of the look [s].
        rules: Say from how near a look settles it.
    """
    if not memory.ignored:
        return memory, ()
    ignored, out = dict(memory.ignored), []
    other = {change.key for change in changes if change.what in ("new", "moved", "changed", "vanished")}
    for key, until in memory.ignored.items():
        o = memory.observations.get(key)
        if o is None or key in other:
            # it is not what it was: when no way is left it may be tried once more
            del ignored[key]
            continue
        if -np.inf < until <= time:
            del ignored[key]
            out.append(Change("heeded", key, o.name, o.kind, time))
            continue
        within = max(
            (a.within for r in rules if r.matches(o) for a in r.on.values() if a.what == "ignore"), default=0.0
        )
        if until > time and o.time == time and _gap(o, here) <= within:
            ignored[key] = -np.inf
            out.append(Change("heeded", key, o.name, o.kind, time))
    if ignored == dict(memory.ignored):
        return memory, ()
    return replace(memory, ignored=ignored), tuple(out)


def _gap(o: Observation, here: Array) -> float:
    """From a place to the box of a remembered body, along the ground [m]."""
    v = (o.shape.vertices @ o.matrix[:3, :3].T + o.matrix[:3, 3])[:, :2]
    outside = np.maximum(np.maximum(v.min(axis=0) - here[:2], here[:2] - v.max(axis=0)), 0.0)
    return float(np.linalg.norm(outside))


def _of(rules: Sequence[Rule], o: Observation, name: str, usual: float) -> float:
    """What the first rule that matches and has a say gives."""
    for rule in rules:
        value = getattr(rule, name)
        if value is not None and rule.matches(o):
            return float(value)
    return usual
