"""Long records that the garbage collector passes over.

A play writes some hundred thousand events and selections, all alive to its end, and every full collection would walk
through each object of them: as many milliseconds as a step of the whole cast takes many times over. A plain tuple that
holds nothing but numbers, texts and other such tuples is let go by the collector soon after it was made, so that is
how they are kept; who reads them is given the objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

from ...motion import Event

T = TypeVar("T")


class Rows(Sequence[T], Generic[T]):
    """A list of objects, each kept as the tuple of its fields and made when it is read."""

    def __init__(self, make: Callable[[tuple[Any, ...]], T]) -> None:
        self._make = make
        self._rows: list[tuple[Any, ...]] = []

    def add(self, *fields: Any) -> None:
        """Append the object of these fields."""
        self._rows.append(fields)

    def keep(self, wanted: Callable[[T], bool]) -> None:
        """Drop all others."""
        self._rows = [row for row in self._rows if wanted(self._make(row))]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[T]:
        return map(self._make, self._rows)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> list[T]: ...

    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return [self._make(row) for row in self._rows[index]]
        return self._make(self._rows[index])


class Log(Rows[Event]):
    """The events of a play."""

    def __init__(self) -> None:
        super().__init__(_event)
        self._keys: dict[tuple[str, ...], tuple[str, ...]] = {}

    def write(self, time: float, name: str, data: dict[str, object]) -> None:
        """Append an event."""
        keys = tuple(data)
        # one flat row: a tuple within it would have to be let go first
        self.add(time, name, self._keys.setdefault(keys, keys), *map(_frozen, data.values()))


def _frozen(value: object) -> object:
    return tuple(map(_frozen, value)) if isinstance(value, (list, tuple)) else value


def _thawed(value: object) -> object:
    return list(map(_thawed, value)) if isinstance(value, tuple) else value


def _event(row: tuple[Any, ...]) -> Event:
    time, name, keys, *values = row
    return Event(time, name, dict(zip(keys, map(_thawed, values), strict=True)))
