"""What every test has: the test data, and an honest exit code whatever Blender does at exit."""

import os
import sys
from pathlib import Path

import pytest
import testdata

_exit_code = pytest.StashKey[int]()


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of test data; without it the test is skipped, or fails where the data is required."""
    folder = testdata.folder()
    if folder.is_dir():
        return folder
    reason = f"test data absent: {folder} is not a folder; set TROUPE_TEST_DATA"
    if os.environ.get("TROUPE_REQUIRE_DATA"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    session.config.stash[_exit_code] = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave without the exit handlers of bpy, which crash or hang after some add-ons and so lose the exit code."""
    if "bpy" in sys.modules:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(config.stash.get(_exit_code, int(pytest.ExitCode.INTERNAL_ERROR)))
