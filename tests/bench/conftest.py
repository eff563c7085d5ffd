"""Benchmarks compare in one run and print ratios; those that need Blender begin with ``pytest.importorskip("bpy")``."""

import importlib.util
import statistics
import time
from collections.abc import Callable

import extension
import pytest

if importlib.util.find_spec("bpy"):
    extension.install()

_rows = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_rows] = []


@pytest.fixture
def ratio(request: pytest.FixtureRequest) -> Callable[..., float]:
    """``ratio(name, ours, peer, at_least=1.0, repeat=5)``: how many times faster ``ours()`` is than ``peer()``.

    Both are called in turns and the median of each counts, so that a busy machine disturbs both alike. Time in which
    the processor works for others does not count.
    """

    def measure(
        name: str, ours: Callable[[], object], peer: Callable[[], object], at_least: float = 1.0, repeat: int = 5
    ) -> float:
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(repeat):
            for call, spent in zip((ours, peer), times, strict=True):
                start, used = time.perf_counter(), time.process_time()
                call()
                # several threads use more than passes
                spent.append(min(time.perf_counter() - start, time.process_time() - used))
        middle = [statistics.median(spent) for spent in times]
        factor = middle[1] / middle[0]
        verdict = "ok" if factor >= at_least else "TOO SLOW"
        request.config.stash[_rows].append(
            f"{name:<52} {1e3 * middle[0]:>10.2f} {1e3 * middle[1]:>10.2f} {factor:>8.1f}x {at_least:>8.1f}x  {verdict}"
        )
        assert factor >= at_least, f"{name}: {factor:.1f}x, at least {at_least}x wanted"
        return factor

    return measure


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    rows = config.stash[_rows]
    if rows:
        terminalreporter.section("ratios")
        terminalreporter.line(f"{'':<52} {'ours [ms]':>10} {'peer [ms]':>10} {'ratio':>9} {'wanted':>9}")
        for row in rows:
            terminalreporter.line(row)


def pytest_unconfigure() -> None:
    extension.remove()
