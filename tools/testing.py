"""Run pytest in environments side by side and add up what happened."""

import subprocess
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from . import ROOT, clean_environ, say
from .envs import Environment, ensure

# How tests/conftest.py begins the reason of a test that was skipped because there is no test data.
NO_DATA = "test data absent"

_SIDE_BY_SIDE = 2
_FILES_A_PROCESS = 4
_TEST_SECONDS = 600
_RUN_SECONDS = 40 * 60


@dataclass(frozen=True)
class Suite:
    """Tests to run in one environment: paths from the root of the checkout."""

    environment: Environment
    paths: tuple[str, ...]


@dataclass(frozen=True)
class Result:
    """What one pytest run did; ``trouble`` says why it counts as failed although no test failed."""

    name: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    without_data: int = 0
    trouble: str = ""
    output: str = ""
    seconds: float = 0.0

    @property
    def ran(self) -> int:
        return self.passed + self.failed

    def line(self) -> str:
        text = f"{self.name:<12} {self.passed:>5} passed {self.failed:>4} failed {self.skipped:>4} skipped"
        if self.without_data:
            text += f" ({self.without_data} for want of test data)"
        return text + (f"  {self.trouble}" if self.trouble else "")


def run_all(suites: Sequence[Suite], arguments: Sequence[str], environ: Mapping[str, str]) -> list[Result]:
    """Run the suites, two at a time, printing each one's output as a block when it is done."""

    def run(suite: Suite) -> Result:
        python = ensure(suite.environment)
        say(f"{suite.environment.name}: testing {' '.join(suite.paths)}")
        runs = [
            run_pytest(suite.environment.name, python, [*paths, *arguments], environ) for paths in processes_of(suite)
        ]
        result = merged(suite.environment.name, runs, whole="-s" in arguments)
        if not result.ran and not result.trouble and not arguments:
            result = replace(result, trouble="no test ran")
        say(f"---- {result.name} ({result.seconds:.0f} s)\n{result.output.strip()}\n")
        return result

    with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
        return list(pool.map(run, suites))


def processes_of(suite: Suite) -> list[tuple[str, ...]]:
    """Return the paths that run in one process each: inside Blender a few files have a fresh one.

    Blender's importers corrupt memory now and then over hundreds of files opened in a row, so no test shall pay for
    many others; a process for every file would spend minutes on starting Blender.
    """
    if not suite.environment.has_blender:
        return [suite.paths]
    found: list[tuple[str, ...]] = []
    for path in suite.paths:
        folder = ROOT / path
        files = sorted(folder.glob("test_*.py")) if folder.is_dir() else []
        names = [str(file.relative_to(ROOT)) for file in files] or [path]
        found += [tuple(names[i : i + _FILES_A_PROCESS]) for i in range(0, len(names), _FILES_A_PROCESS)]
    return found


def merged(name: str, runs: Sequence[Result], whole: bool = False) -> Result:
    """Return several runs as one, with the whole output of those that did not pass and the last line of the others."""
    output = "\n".join(
        run.output.strip() if whole or run.failed or run.trouble else run.output.strip().rpartition("\n")[2]
        for run in runs
    )
    return Result(
        name,
        passed=sum(run.passed for run in runs),
        failed=sum(run.failed for run in runs),
        skipped=sum(run.skipped for run in runs),
        without_data=sum(run.without_data for run in runs),
        trouble="; ".join(run.trouble for run in runs if run.trouble),
        output=output,
        seconds=sum(run.seconds for run in runs),
    )


def run_pytest(
    name: str, python: Path, arguments: Sequence[str], environ: Mapping[str, str], cwd: Path = ROOT
) -> Result:
    """Run pytest once and count from its report, so that nothing an interpreter does at exit can hide a failure."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        options = ["-q", "-ra", "--no-header", "-p", "no:cacheprovider", f"--timeout={_TEST_SECONDS}"]
        command = [str(python), "-m", "pytest", *options, f"--junitxml={report}", *arguments]
        try:
            done = subprocess.run(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                cwd=cwd,
                env=clean_environ(**environ),
                timeout=_RUN_SECONDS,
            )
            code, output = done.returncode, done.stdout
        except subprocess.TimeoutExpired as slow:
            code, output = -1, (slow.stdout or b"").decode(errors="replace") + "\nstopped: the run took too long\n"
        return count(name, report, code, output, time.monotonic() - start)


def count(name: str, report: Path, code: int, output: str, seconds: float = 0.0) -> Result:
    """Read a JUnit report and pytest's exit code into a ``Result``."""
    try:
        cases = list(ElementTree.parse(report).iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return Result(name, trouble=f"ended without a report, exit code {code}", output=output, seconds=seconds)
    reasons = [node.get("message", "") for case in cases for node in case.findall("skipped")]
    failed = sum(case.find("failure") is not None or case.find("error") is not None for case in cases)
    skipped = sum(case.find("skipped") is not None for case in cases)
    trouble = ""
    if code not in (0, 5) and not failed:
        trouble = f"pytest ended with exit code {code}"
    return Result(
        name,
        passed=len(cases) - failed - skipped,
        failed=failed,
        skipped=skipped,
        without_data=sum(reason.startswith(NO_DATA) for reason in reasons),
        trouble=trouble,
        output=output,
        seconds=seconds,
    )


def summary(results: Sequence[Result]) -> str:
    """Return a line for each environment and, alone on the last line, the totals."""
    lines = [result.line() for result in results]
    lines.append(
        f"{sum(result.passed for result in results)} passed, "
        f"{sum(result.failed + bool(result.trouble) for result in results)} failed, "
        f"{sum(result.skipped for result in results)} skipped"
    )
    return "\n".join(lines)


def succeeded(results: Sequence[Result]) -> bool:
    """Return whether at least one test ran and nothing failed."""
    return any(result.ran for result in results) and not any(result.failed or result.trouble for result in results)
