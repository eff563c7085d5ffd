"""What an actor is aware of from frame to frame: it looks, remembers, and believes a world to plan in.

    explorer = Explorer()                                             # how it sees and remembers
    aware = Awareness()                                               # what it knows: nothing
    aware = explorer.sense(aware, shapes, eye, frame, time, exclude=("me",))
    if aware.revision != planned:                                     # something it plans with has changed
        world = explorer.believed_world(aware, shapes.world, time)
    aware, effects = explorer.react(aware, NO_PATH, time)             # when planning failed

Every look stays on record, so that what it saw and knew at any frame can be shown afterwards.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection
from dataclasses import dataclass, field, replace

import numpy as np

from ...errors import NotVisible
from ...skeleton import Array
from ...world import World
from .belief import recalled_world
from .memory import Change, Memory, MemoryParams, update
from .recollection import EVENT_OF_CHANGE, GOAL_SEEN, RULES, Effect, Rule, fade, heed, respond, trusts
from .scenery import Scenery
from .vision import Sight, VisionParams, see

NOTHING = Memory()


@dataclass(frozen=True, eq=False)
class Look:
    """The record of one look: ids in view, memory after it, what changed, from where.

    Attributes:
        frame: Of the world.
        time: [s].
        eye: (4, 4).
        visible: Ids of all bodies in view, recognised or not.
        memory: After the look; unchanged observations are shared between looks.
        changes: What the look changed.
    """

    frame: int
    time: float
    eye: Array
    visible: tuple[int, ...]
    memory: Memory
    changes: tuple[Change, ...]


@dataclass(frozen=True, eq=False)
class Awareness:
    """What one actor knows now, and every look that led there.

    Attributes:
        memory: What it remembers.
        sight: The last look; None before the first.
        revision: Grows whenever something that is planned with changes.
        looks: In order of time.
        effects: What rules asked for at the last look.
    """

    memory: Memory = NOTHING
    sight: Sight | None = None
    revision: int = 0
    looks: tuple[Look, ...] = ()
    effects: tuple[Effect, ...] = ()

    def at(self, frame: int) -> Look | None:
        """The look that was the last one at a frame; None before the first."""
        k = bisect_right([look.frame for look in self.looks], frame)
        return self.looks[k - 1] if k else None

    def ever_seen(self) -> frozenset[int]:
        """Ids of all bodies that were in view at some time."""
        return frozenset(number for look in self.looks for number in look.visible)

    def demand(self, name: str) -> None:
        """Raise NotVisible unless a body is recognised in the last look: nobody grasps what it does not see."""
        stats = None if self.sight is None else self.sight.visible.get(name)
        if stats is not None and stats.recognised:
            return
        known = self.memory.find(name)
        where = "it has never been seen"
        if known is not None:
            x, y, z = known.matrix[:3, 3]
            where = f"it was last seen at ({x:.2f}, {y:.2f}, {z:.2f}) at {known.time:.2f} s"
        raise NotVisible(f"{name} is not in view; {where}: let the actor look for it first")


@dataclass(frozen=True, eq=False)
class Explorer:
    """How an actor sees and remembers.

    Attributes:
        vision: Its eyes; `vision.interval` says how often it looks.
        memory: How it remembers.
        rules: What it does with what it remembers.
        phase: Frame, within the interval, at which it looks: different ones for different actors share the work.
        wanted: Names of what it is after; GOAL_SEEN happens when one comes into view.
    """

    vision: VisionParams = field(default_factory=VisionParams)
    memory: MemoryParams = field(default_factory=MemoryParams)
    rules: tuple[Rule, ...] = RULES
    phase: int = 0
    wanted: tuple[str, ...] = ()

    def looks_at(self, frame: int) -> bool:
        """Whether it looks at this frame."""
        return (frame - self.phase) % self.vision.interval == 0

    def sense(
        self,
        aware: Awareness,
        shapes: Scenery,
        eye: Array,
        frame: int,
        time: float,
        exclude: Collection[str] = (),
        always: bool = False,
    ) -> Awareness:
        """Look, if this is a frame to look at, and remember.

        Args:
            aware: Before.
            shapes: Of the world as it is: `scenery(world)`, made once a world.
            eye: (4, 4) of `eyes.eye_of` or `eyes.eye_at`.
            frame: Number of the frame.
            time: Of the frame [s].
            exclude: Names of the actor itself and of bodies it does not see.
            always: Look whatever the interval says.

        Returns:
            The same awareness between looks.
        """
        if not (always or self.looks_at(frame)):
            return aware
        sight = see(shapes, eye, self.vision, time, exclude)
        memory, changes = update(aware.memory, shapes, sight, self.memory)
        memory, heeded = heed(memory, changes, sight.eye[:3, 3], time, self.rules)
        memory, forgotten = fade(memory, time, self.memory, self.rules)
        changes += heeded + forgotten
        effects: list[Effect] = []
        for event in dict.fromkeys(EVENT_OF_CHANGE[c.what] for c in changes if c.what in EVENT_OF_CHANGE):
            keys = [c.key for c in changes if EVENT_OF_CHANGE.get(c.what) == event]
            memory, more, asked = respond(memory, event, time, self.rules, keys)
            changes, effects = changes + more, [*effects, *asked]
        before = set() if aware.sight is None else set(_recognised(aware.sight))
        arrived = [k for k in memory.observations if memory.observations[k].name in self.wanted]
        if any(name in self.wanted and name not in before for name in _recognised(sight)):
            memory, more, asked = respond(memory, GOAL_SEEN, time, self.rules, arrived)
            changes, effects = changes + more, [*effects, *asked]
        look = Look(frame, time, sight.eye, sight.seen, memory, changes)
        revision = aware.revision + max(self._matters(changes), self._doubted(memory, aware.memory.time, time))
        return Awareness(memory, sight, revision, (*aware.looks, look), tuple(effects))

    def react(
        self, aware: Awareness, event: str, time: float, keys: Collection[int] | None = None
    ) -> tuple[Awareness, tuple[Effect, ...]]:
        """Let rules answer an event such as NO_PATH or TIMER; what they ask of others is returned.

        If `revision` has grown, another plan is worth trying.
        """
        memory, changes, effects = respond(aware.memory, event, time, self.rules, keys)
        looks = aware.looks
        if changes and looks:
            looks = (*looks[:-1], replace(looks[-1], memory=memory, changes=looks[-1].changes + changes))
        return replace(aware, memory=memory, revision=aware.revision + self._matters(changes), looks=looks), effects

    def believed_world(self, aware: Awareness, world: World, time: float | None = None) -> World:
        """The world to plan in: what is remembered, where it is remembered; see `belief.recalled_world`."""
        now = aware.memory.time if time is None else time
        trust = trusts(aware.memory, now, self.memory, self.rules)
        return recalled_world(aware.memory, world, now, self.memory, trust)

    def _matters(self, changes: Collection[Change]) -> int:
        """1 if any change is of something that is planned with."""
        return int(any(c.kind != "ground" or not self.memory.ground_known for c in changes))

    def _doubted(self, memory: Memory, before: float, now: float) -> int:
        """1 if an observation has ceased to be trusted since the last look."""
        trust = [trusts(memory, time, self.memory, self.rules) for time in (before, now)]
        if trust[0] is None or trust[1] is None:
            return 0
        least = self.memory.least_trust
        return int(any(trust[0][key] > least >= trust[1][key] for key in memory.observations))


def _recognised(sight: Sight) -> list[str]:
    return [name for name, stats in sight.visible.items() if stats.recognised]


def sweep(seconds: float, width: float = np.pi / 2, period: float = 4.0) -> float:
    """Turn of the gaze [rad] while looking round for something: to the left, to the right and back in `period` [s]."""
    return float(width * np.sin(2 * np.pi * seconds / period))
