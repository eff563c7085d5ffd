"""Who plays: the members of a cast as they are given, and actors with everything that a mind keeps of them."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ...errors import InvalidParam
from .properties import WORLD_KINDS, Holder

if TYPE_CHECKING:
    from .bodyport import Point
    from .scripts import Run, Script

Target: TypeAlias = "Holder | Point | None"


@dataclass(frozen=True)
class Member:
    """Someone or something on stage.

    Attributes:
        kind: actor, prop, camera, place or ensemble.
        properties: First values, recommended from 0 to 1: {"courage": 0.4, "player": True, "gender": "female"}.
        relations: First values of what it feels: {("sympathy", "Otto"): 0.3}.
        place: x, y [m] and heading [rad] at the start.
        does: Scripts that it starts with.
        members: Of an ensemble.
    """

    name: str
    kind: str = "actor"
    properties: Mapping[str, object] = field(default_factory=dict)
    relations: Mapping[tuple[str, str], object] = field(default_factory=dict)
    place: tuple[float, float, float] | None = None
    does: tuple[str, ...] = ()
    members: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in WORLD_KINDS:
            raise InvalidParam(f"kind of {self.name}", self.kind, f"must be one of {', '.join(WORLD_KINDS)}")


class ScriptGroup:
    """The script that runs in one group of one actor: always exactly one.

    Attributes:
        default: Runs when nothing else does; None stands for doing nothing.
        run: The current run; it may be over.
        finished: The script that came to its end last, until another starts.
        activity: How often something ran in this step; a guard against endless loops.
    """

    __slots__ = ("activity", "default", "finished", "key", "name", "order", "run", "step")

    def __init__(self, name: str, key: str, order: int, default: Script | None) -> None:
        self.name, self.key, self.order, self.default = name, key, order, default
        self.run: Run | None = None
        self.finished: Script | None = None
        self.activity, self.step = 0, -1

    @property
    def current(self) -> str:
        """Name of the current script; empty when it is doing nothing."""
        return self.run.script.name if self.run else ""


class ActionGroup:
    """The action that is selected in one group of one actor; `ticket` counts selections."""

    __slots__ = ("default", "key", "name", "order", "selected", "ticket")

    def __init__(self, name: str, key: str, order: int, default: Holder) -> None:
        self.name, self.key, self.order, self.default = name, key, order, default
        self.selected = default
        self.ticket = 0


class Actor(Holder):
    """An actor or ensemble: a holder with a mind.

    Attributes:
        scripts, actions: Its groups by key.
        done: Keys of scripts, actions and verbs that have come to an end.
        busy: Per channel of verbs, what is over when it is done, its name and its ticket.
        rng: Its own stream of choices, which no other actor and no body reads.
        memory: Per place in a script, what was chosen there last and when.
        counts: How often each place in a script has drawn, for replaying choices.
        members: Of an ensemble.
        requests: Who wants to be looked at: sender to (time of asking, end).
    """

    __slots__ = (
        "actions",
        "busy",
        "counts",
        "done",
        "gaze",
        "locked",
        "members",
        "memory",
        "requests",
        "rng",
        "scripts",
        "touching",
    )

    def __init__(self, name: str, kind: str, serial: int, seed: int) -> None:
        super().__init__(name, kind, serial)
        self.scripts: dict[str, ScriptGroup] = {}
        self.actions: dict[str, ActionGroup] = {}
        self.done: set[str] = set()
        self.busy: dict[str, tuple[tuple[str, ...], str, int]] = {}
        self.rng = np.random.default_rng([seed, zlib.crc32(self.key.encode())])
        self.memory: dict[str, dict[str, float]] = {}
        self.counts: dict[str, int] = {}
        self.members: tuple[Actor, ...] = ()
        self.requests: dict[str, tuple[Holder, float, float]] = {}
        self.gaze: Holder | None = None
        self.touching: str = ""
        self.locked = False
