"""Long work in steps, so that the interface stays alive and Esc stops it.

A function that may take long is a generator: it yields how far it has come (0..1) and returns its result. Its name ends
in `_steps`; `at_once` makes the plain function of it. An operator in a window takes a step at a time. Closing a
generator stops the work, and its `finally` blocks put everything back.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
Steps = Generator[float, None, T]


def finish(steps: Steps[T]) -> T:
    """All steps at once."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def at_once(function: Callable[P, Steps[T]]) -> Callable[P, T]:
    """The function without its steps."""

    @functools.wraps(function)
    def plain(*args: P.args, **kwargs: P.kwargs) -> T:
        return finish(function(*args, **kwargs))

    return plain
