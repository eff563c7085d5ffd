"""What is due: one queue for the whole cast, ordered by time, then by cast order and script group."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from .properties import Holder

if TYPE_CHECKING:
    from .scripts import Run


class Scheduled(Protocol):
    """Something in the queue."""

    def fire(self, time: float, ticket: int) -> None: ...


class _Later:
    __slots__ = ("function",)

    def __init__(self, function: Callable[[float], None]) -> None:
        self.function = function

    def fire(self, time: float, ticket: int) -> None:
        self.function(time)


class Agenda:
    """The queue; whatever is in it happens at its exact time."""

    def __init__(self) -> None:
        self._sequence = 0
        self._queue: list[tuple[float, int, int, int, Scheduled, int]] = []
        self._yielded: list[tuple[int, int, Scheduled, int]] = []

    def push(self, time: float, serial: int, order: int, what: Scheduled, ticket: int) -> None:
        """Schedule something."""
        self._sequence += 1
        heapq.heappush(self._queue, (time, serial, order, self._sequence, what, ticket))

    def at(self, time: float, actor: Holder, function: Callable[[float], None]) -> None:
        """Call a function at a time, before the scripts of the actor go on."""
        self.push(time, actor.serial, -1, _Later(function), 0)

    def next_step(self, run: Run) -> None:
        """Let a run that never holds go on in the next step."""
        self._yielded.append((run.owner.serial, run.group.order, run, run.ticket))

    def drain(self, until: float) -> None:
        queue = self._queue
        while queue and queue[0][0] <= until:
            time, _, _, _, what, ticket = heapq.heappop(queue)
            what.fire(time, ticket)

    def resume(self, time: float) -> None:
        """Schedule what has waited for the next step."""
        for serial, order, run, ticket in self._yielded:
            self.push(time, serial, order, run, ticket)
        self._yielded.clear()
