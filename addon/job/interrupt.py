"""Ctrl-C and termination while a job runs: stop soon, leave nothing half done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...core.errors import Cancelled

_asked = _waits = False


@contextmanager
def heeded() -> Iterator[None]:
    """Let signals interrupt the block; Blender itself would only note them."""
    global _asked
    _asked = False
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_number: int, _frame: Any) -> None:
        global _asked
        _asked = True
        if not _waits:
            raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            # None is a handler that Python did not set: Blender's own, which cannot be put back
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)


@contextmanager
def deferred() -> Iterator[None]:
    """Let the block be done whole: a signal waits until it is."""
    global _waits
    _waits = True
    try:
        yield
    finally:
        _waits = False


def check() -> None:
    """Raise Cancelled when a signal came, also one that an operator has swallowed as an error of its own."""
    if _asked:
        raise Cancelled("cancelled; nothing was written")
