"""Action buffering: ways from one action of a group to another that pass through safe poses in between.

Perlin, Goldberg, "Improv" (1996): hands at the sides buffer hands behind the back, so that no hand goes through the
body on its way to a clap.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from ...errors import InvalidParam


class Routes:
    """The shortest way between any two actions of a group.

    Attributes:
        actions: Names in order of declaration, which breaks ties.
        buffers: Action to those through which it is entered and left.
    """

    def __init__(self, actions: Sequence[str], buffers: Mapping[str, Sequence[str]]) -> None:
        self.actions = tuple(actions)
        self.buffers = {name: tuple(buffers.get(name, ())) for name in self.actions}
        for name, through in self.buffers.items():
            for other in through:
                if other not in self.buffers or other == name:
                    raise InvalidParam(
                        "buffers", f"{other} buffers {name}", "both must be different actions of a group"
                    )
        self._next = {name: self._search(name) for name in self.actions} if any(self.buffers.values()) else {}

    def allowed(self, first: str, second: str) -> bool:
        """Whether one may go straight from one action to the other."""
        before, after = self.buffers[first], self.buffers[second]
        return first == second or first in after or second in before or not (before or after)

    def route(self, first: str, second: str) -> tuple[str, ...]:
        """Actions from the first to the second, both included."""
        if not self._next:
            return (first, second) if first != second else (first,)
        path = [second]
        while path[-1] != first:
            path.append(self._next[first][path[-1]])
        return tuple(reversed(path))

    def _search(self, start: str) -> dict[str, str]:
        """For every action the one before it on the shortest way from `start`."""
        before: dict[str, str] = {start: start}
        queue = deque([start])
        while queue:
            here = queue.popleft()
            for other in self.actions:
                if other not in before and self.allowed(here, other):
                    before[other] = here
                    queue.append(other)
        for name in self.actions:
            if name not in before:
                raise InvalidParam(
                    "buffers", f"{start} to {name}", "there is no way between these actions; let one buffer less"
                )
        return before
