"""Run a job file with the installed extension; started by build.py as ``python -m tools.run_job ZIP JOB.toml ...``."""

import contextlib
import importlib
import sys
from pathlib import Path

from . import demo, private_blender


def main(arguments: list[str]) -> int:
    """Install the zip in a throw-away Blender, run the job and return its exit code."""
    archive, *rest = arguments
    # stdout belongs to the job, which may have been asked for JSON
    with contextlib.redirect_stdout(sys.stderr):
        addon = demo.install(Path(archive))
    status: int = importlib.import_module(f"{addon.__name__}.job").main(["run", *rest])
    return status


if __name__ == "__main__":
    private_blender.run(main)
