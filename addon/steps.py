"""Long work in steps, so that the interface stays alive and Esc stops it.

A function that may take long is a generator: it yields how far it has come (0..1) and returns its result. Its name ends
in `_steps`; `at_once` makes the plain function of it. An operator in a window takes a step at a time. Closing a
generator stops the work, and its `finally` blocks put everything back.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Generator
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
Steps = Generator[float, None, T]
WAIT = 0.03
"""How long the interface waits at most for work in a thread [s]."""


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


def part(work: Steps[T], begun: float, share: float) -> Steps[T]:
    """Work that is a share of something larger, of which so much (0..1) is done when it begins."""
    try:
        while True:
            yield begun + share * next(work)
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        work.close()


def aside(work: Callable[[Callable[[], bool]], T]) -> Steps[T]:
    """Steps of work that has none of its own and touches nothing of Blender: it is done in a thread.

    Args:
        work: Is given a function that says when to stop, and asks it now and then.
    """
    stop = threading.Event()
    done: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work(stop.is_set))
        except BaseException as error:  # whatever it is, it belongs to who asked for the work
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    share = 0.0
    try:
        while thread.is_alive():
            thread.join(WAIT)
            share += 0.02 * (1.0 - share)
            yield share
    finally:
        stop.set()
    if failed:
        raise failed[0]
    return done[0]
