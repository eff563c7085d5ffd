"""The parts of build.py, standard library only; demo.py, gif.py and picture.py run inside a Blender environment."""

import os
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"

_printing = threading.Lock()


class Stop(Exception):
    """The command cannot go on; the message is one sentence that names the cause and the remedy."""


def say(text: str) -> None:
    """Print at once and whole, also when environments run side by side."""
    with _printing:
        print(text, flush=True)


def clean_environ(**extra: str) -> dict[str, str]:
    """Return this process's environment without what would leak another Python or Blender into a child."""
    leaks = ("PYTHONPATH", "PYTHONHOME", "PYTEST_ADDOPTS", "BLENDER_USER_RESOURCES", "__PYVENV_LAUNCHER__")
    kept = {key: value for key, value in os.environ.items() if key not in leaks}
    return {**kept, **extra}
