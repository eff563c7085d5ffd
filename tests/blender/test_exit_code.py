"""A failing test fails the run, although bpy's own exit handlers would crash, hang or report success."""

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]

# Rigify is the add-on after which bpy 4.2 crashes at exit.
SUITE = """
import bpy

def test_outcome():
    bpy.ops.preferences.addon_enable(module="rigify")
    assert {outcome}
"""


@pytest.mark.parametrize(("outcome", "code"), [("True", 0), ("False", 1)])
def test_exit_code_is_that_of_the_tests(tmp_path: Path, outcome: str, code: int) -> None:
    (tmp_path / "conftest.py").write_text((TESTS / "conftest.py").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = '{TESTS.as_posix()}'\n")
    (tmp_path / "test_outcome.py").write_text(SUITE.format(outcome=outcome), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stdout + done.stderr
