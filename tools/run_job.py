"""Run a job file with the installed extension; started by build.py as ``python -m tools.run_job ZIP JOB.toml ...``."""

import contextlib
import importlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

from . import demo


def main(arguments: list[str]) -> int:
    """Install the zip in a throw-away Blender, run the job and return its exit code."""
    archive, *rest = arguments
    settings = tempfile.mkdtemp(prefix="troupe-run-")
    os.environ["BLENDER_USER_RESOURCES"] = settings
    try:
        # stdout belongs to the job, which may have been asked for JSON
        with contextlib.redirect_stdout(sys.stderr):
            addon = demo.install(Path(archive))
        status: int = importlib.import_module(f"{addon.__name__}.job").main(["run", *rest])
        return status
    finally:
        shutil.rmtree(settings, ignore_errors=True)


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    # Some versions of bpy crash or hang in their exit handlers.
    os._exit(status)
