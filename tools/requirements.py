"""Which requirements of docs/spec have a test: numbers from the specification, marks from the tests' syntax trees."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_ROW = re.compile(r"^\| *(\S+\.md) *\| *(\w+) *\|", re.MULTILINE)
_REQUIREMENT = re.compile(r"^[-*] +(?:\*\*)?R(\d+)\b", re.MULTILINE)


@dataclass(frozen=True)
class Coverage:
    """One file of the specification: its mark, its requirements, and those that a test names."""

    mark: str
    required: frozenset[int]
    tested: frozenset[int]

    @property
    def missing(self) -> list[int]:
        return sorted(self.required - self.tested)

    @property
    def unknown(self) -> list[int]:
        """Numbers that tests name and the specification does not have."""
        return sorted(self.tested - self.required)


def specification(folder: Path) -> dict[str, frozenset[int]]:
    """Return the requirement numbers of each mark in the table of ``folder``/README.md."""
    rows = _ROW.findall((folder / "README.md").read_text(encoding="utf-8"))
    return {
        mark: frozenset(int(number) for number in _REQUIREMENT.findall((folder / file).read_text(encoding="utf-8")))
        for file, mark in rows
    }


def marks(source: str) -> Iterator[tuple[str, int]]:
    """Yield (mark, number) for each ``pytest.mark.req(mark, number, ...)`` in Python source."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.req":
            mark, *numbers = (ast.literal_eval(argument) for argument in node.args)
            for number in numbers:
                yield mark, number


def coverage(spec: Path, tests: Path) -> list[Coverage]:
    """Compare the specification with the tests; a mark that the specification does not have comes last."""
    required = specification(spec)
    tested: dict[str, set[int]] = {mark: set() for mark in required}
    for file in sorted(tests.rglob("*.py")):
        for mark, number in marks(file.read_text(encoding="utf-8")):
            tested.setdefault(mark, set()).add(number)
    return [Coverage(mark, required.get(mark, frozenset()), frozenset(numbers)) for mark, numbers in tested.items()]


def report(spec: Path, tests: Path) -> str:
    """Return the table: per specification how many requirements have a test, and which have none."""
    rows = coverage(spec, tests)
    lines = []
    for row in rows:
        covered = len(row.required & row.tested)
        lines.append(f"{row.mark:<10} {covered:>4} / {len(row.required):<4} without a test: {spans(row.missing)}")
        if row.unknown:
            lines.append(f"{'':<10} tests name requirements that do not exist: {spans(row.unknown)}")
    covered = sum(len(row.required & row.tested) for row in rows)
    lines.append(f"{'total':<10} {covered:>4} / {sum(len(row.required) for row in rows)}")
    return "\n".join(lines)


def spans(numbers: list[int]) -> str:
    """Write sorted numbers as R1-R4 R7; "none" if there are none."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return " ".join(f"R{first}" if first == last else f"R{first}-R{last}" for first, last in runs) or "none"
