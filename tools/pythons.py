"""Find a Python of a given version that runs and can make virtual environments."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from . import Stop, clean_environ

_PROBE = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2]); print(sys.executable)"


def this_python() -> str:
    """Return the version of the running Python, such as ``"3.11"``."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def find_python(version: str) -> str:
    """Return the executable of Python ``version``, such as ``"3.13"``.

    Raises:
        Stop: No candidate runs.
    """
    for command in candidates(version):
        executable = probe(command, version)
        if executable:
            return executable
    raise Stop(
        f"Python {version} was not found; install it (for example with `uv python install {version}` or "
        f"`pyenv install {version}`), or put python{version} on the PATH, and run this again."
    )


def probe(command: list[str], version: str) -> str | None:
    """Return the executable behind ``command`` if it is a complete Python ``version``, else None.

    It has to run: a pyenv shim exists for every version that is installed but not selected, and fails.
    """
    try:
        done = subprocess.run([*command, "-c", _PROBE], capture_output=True, text=True, timeout=30, env=clean_environ())
    except (OSError, subprocess.SubprocessError):
        return None
    lines = done.stdout.split("\n")
    return lines[1].strip() if done.returncode == 0 and lines[0].strip() == version else None


def candidates(version: str, home: Path | None = None) -> Iterator[list[str]]:
    """Yield commands that may start Python ``version``, the likeliest first."""
    home = home or Path.home()
    name = f"python{version}"
    if this_python() == version:
        yield [sys.executable]
    if os.name == "nt":
        yield ["py", f"-{version}"]
    on_path = shutil.which(name)
    if on_path:
        yield [on_path]
    pyenv = Path(os.environ.get("PYENV_ROOT") or home / ".pyenv")
    uv = Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or home / ".local/share/uv/python")
    uv_windows = Path(os.environ.get("APPDATA") or home) / "uv" / "python"
    for folder, pattern in (
        (pyenv, f"versions/{version}.*/bin/python"),
        (pyenv, f"pyenv-win/versions/{version}.*/python.exe"),
        (uv, f"cpython-{version}.*/bin/python{version}"),
        (uv_windows, f"cpython-{version}.*/python.exe"),
        (Path("/usr/local/bin"), name),
        (Path("/usr/bin"), name),
        (Path("/opt"), f"*/bin/{name}"),
        (Path("/Library/Frameworks/Python.framework/Versions"), f"{version}/bin/{name}"),
    ):
        for path in sorted(folder.glob(pattern), key=_numbers, reverse=True):
            yield [str(path)]


def _numbers(path: Path) -> list[int]:
    """Order 3.13.10 above 3.13.9."""
    return [int(digits) for digits in "".join(c if c.isdigit() else " " for c in str(path)).split()]
