"""The virtual environments under .venvs: what is pinned in each, and making, checking and reusing them."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import ROOT, Stop, clean_environ, say
from .pythons import find_python, this_python

VENVS = ROOT / ".venvs"

_PYTEST = (
    "pytest==9.2.0",
    "pytest-timeout==2.4.0",
    "iniconfig==2.3.1",
    "packaging==26.3",
    "pluggy==1.7.0",
    "pygments==2.21.0",
    'colorama==0.4.6; sys_platform == "win32"',
)
_BLENDER = (
    "certifi==2026.10.18",
    "charset-normalizer==3.5.2",
    "idna==3.20",
    "requests==2.34.2",
    "urllib3==2.8.0",
    "zstandard==0.25.0",
    "scipy==1.15.3",
    *_PYTEST,
)
_CATTRS = ("attrs==26.1.0", "cattrs==26.2.1", "typing_extensions==4.16.0")
_CORE = ("scipy==1.15.3", "pillow==13.0.0", *_PYTEST)
_CHECK = (
    "ruff==0.17.4",
    "mypy==2.4.1",
    "ast_serialize==0.13.1",
    "librt==0.16.0",
    "mypy_extensions==1.2.0",
    "pathspec==1.1.1",
    "typing_extensions==4.16.0",
    "numpy==2.4.6",
    "numpy-typing-compat==20251206.2.4",
    "optype==0.17.1",
    "scipy-stubs==1.17.1.5",
)
# The oldest and the newest numpy that a supported Blender carries.
_OLD_NUMPY, _MID_NUMPY, _NEW_NUMPY = "numpy==1.24.3", "numpy==1.26.4", "numpy==2.4.6"

# What pip prints when there is no way to the package index, or no room.
NO_NETWORK = re.compile("NewConnection|NameResolution|Temporary failure|ConnectTimeout|ReadTimeout|ProxyError")
NO_DISK = re.compile(r"No space left on device|Errno 28\b")

DEBIAN_PACKAGES = "libxi6 libxxf86vm1 libxfixes3 libxrender1 libgl1 libegl1 libsm6 libxkbcommon0"


@dataclass(frozen=True)
class Environment:
    """A virtual environment: its folder's name, its Python, and every distribution in it."""

    name: str
    python: str
    pins: tuple[str, ...]

    @property
    def folder(self) -> Path:
        return VENVS / self.name

    @property
    def executable(self) -> Path:
        return self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    @property
    def has_blender(self) -> bool:
        return self.name.startswith("blender-")

    @property
    def imports_checkout(self) -> bool:
        """Blender imports the installed zip instead, and mypy would take the mapped package for a foreign one."""
        return self.name.startswith(("core-", "bench-"))

    def stamp(self) -> str:
        return hashlib.sha256("\n".join((self.python, *self.pins)).encode()).hexdigest()


BLENDERS = {
    "4.2": Environment("blender-4.2", "3.11", ("bpy==4.2.23", _OLD_NUMPY, *_BLENDER)),
    "4.5": Environment("blender-4.5", "3.11", ("bpy==4.5.15", _MID_NUMPY, *_BLENDER)),
    "5.0": Environment("blender-5.0", "3.11", ("bpy==5.0.1", _MID_NUMPY, *_BLENDER)),
    "5.2": Environment("blender-5.2", "3.13", ("bpy==5.2.3", _NEW_NUMPY, *_BLENDER, *_CATTRS)),
}
CORES = {
    "3.11": Environment("core-3.11", "3.11", (_OLD_NUMPY, *_CORE)),
    "3.13": Environment("core-3.13", "3.13", (_NEW_NUMPY, *_CORE)),
}


def core() -> Environment:
    return CORES[this_python()]


def bench() -> Environment:
    """Return the core environment plus the packages that benchmarks compare with."""
    peers = (
        *("bvh==0.3", "dtaidistance==2.5.1", "fastdtw==0.3.4", "noise==1.2.2", "pyfastnoiselite==0.0.7"),
        *("networkx==3.6.1", "pathfinding==1.0.23", "pyastar2d==1.1.4", "scikit-image==0.26.0"),
        # what scikit-image and pyastar2d import
        *("imageio==2.38.1", "lazy-loader==0.6", "tifffile==2026.3.3"),
        *("ompl==2.0.1", "pin==4.1.0", "coal==3.0.3"),
        # what pin and coal import
        *("cmeel==0.61.0", "cmeel-assimp==6.0.5", "cmeel-boost==1.90.0", "cmeel-console-bridge==1.0.2.3"),
        *("cmeel-octomap==1.10.0", "cmeel-qhull==8.0.2.1", "cmeel-tinyxml2==11.0.0", "cmeel-urdfdom==6.0.0"),
        *("cmeel-zlib==1.3.2", "eigenpy==3.13.0", "libcoal==3.0.3", "libpinocchio==4.1.0"),
    )
    return Environment(f"bench-{this_python()}", this_python(), (*core().pins, *peers))


def check() -> Environment:
    return Environment(f"check-{this_python()}", this_python(), _CHECK)


def newest_blender() -> Environment:
    """Return the environment of the newest Blender that the running Python can import."""
    return [environment for environment in BLENDERS.values() if environment.python == this_python()][-1]


def ensure(environment: Environment) -> Path:
    """Make ``environment`` unless it stands already, and return its Python executable.

    Raises:
        Stop: The Python, the network, the disk or a system library is missing.
    """
    VENVS.mkdir(exist_ok=True)
    with _lock(VENVS / f"{environment.name}.lock"):
        if not is_complete(environment):
            _make(environment, find_python(environment.python))
        if environment.has_blender:
            _check_bpy(environment)
        elif environment.imports_checkout:
            _map_package(environment)
    return environment.executable


def is_complete(environment: Environment) -> bool:
    """Return whether the environment was finished with the present pins and its Python still starts."""
    stamp = environment.folder / "stamp"
    if not stamp.is_file() or stamp.read_text() != environment.stamp():
        return False
    try:
        return subprocess.run([environment.executable, "-c", ""], capture_output=True).returncode == 0
    except OSError:
        return False


def _make(environment: Environment, python: str) -> None:
    what = next((pin for pin in environment.pins if pin.startswith("bpy")), environment.pins[0])
    say(f"{environment.name}: making the environment (Python {environment.python}, {what}, ...)")
    needed = 2.5 if environment.has_blender else 0.8
    free = shutil.disk_usage(VENVS).free / 1e9
    if free < needed:
        raise Stop(f"The disk is full: {environment.name} needs {needed} GB in {VENVS}, where {free:.1f} GB are free.")
    # The stamp is written last, so an environment that was interrupted has none and is made again.
    shutil.rmtree(environment.folder, ignore_errors=True)
    _run(environment, [python, "-m", "venv", str(environment.folder)])
    options = ["--no-deps", "--no-input", "--disable-pip-version-check", "--retries", "2"]
    _run(environment, [str(environment.executable), "-m", "pip", "install", *options, *environment.pins])
    (environment.folder / "stamp").write_text(environment.stamp())


def _run(environment: Environment, command: list[str]) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=clean_environ())
    if done.returncode != 0:
        raise Stop(explain(environment, done.stdout))


def explain(environment: Environment, output: str) -> str:
    """Turn the output of a failed venv or pip into one sentence; unknown troubles keep pip's last lines."""
    if NO_DISK.search(output):
        return f"The disk is full: {environment.name} could not be made in {VENVS}."
    if NO_NETWORK.search(output):
        return f"No network: the packages of {environment.name} could not be downloaded; connect and run this again."
    missing = re.search(r"No matching distribution found for (\S+)", output)
    if missing:
        python = f"Python {environment.python}"
        return f"{environment.name}: the package index has no {missing[1]} for this machine and {python}."
    tail = "\n".join(output.strip().splitlines()[-12:])
    return f"{environment.name}: the environment could not be made; pip's last lines were:\n{tail}"


def _check_bpy(environment: Environment) -> None:
    command = [str(environment.executable), "-c", "import bpy"]
    done = subprocess.run(command, capture_output=True, text=True, env=clean_environ())
    library = re.search(r"(\S+\.so[.\d]*): cannot open shared object file", done.stderr)
    if library:
        raise Stop(
            f"Blender's Python module needs {library[1]}, which this machine lacks; "
            f"on Debian and Ubuntu run: apt-get install {DEBIAN_PACKAGES}"
        )
    if done.returncode != 0:
        last = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
        raise Stop(f"{environment.name}: `import bpy` fails on this machine ({last}).")


def _map_package(environment: Environment) -> None:
    """Make the checkout importable as ``troupe`` whatever its folder is called."""
    parent = package_parent()
    query = "import sysconfig; print(sysconfig.get_path('purelib'))"
    done = subprocess.run([environment.executable, "-c", query], capture_output=True, text=True, check=True)
    (Path(done.stdout.strip()) / "troupe.pth").write_text(f"{parent}\n", encoding="utf-8")


def package_parent() -> Path:
    """Return a folder whose entry ``troupe`` is a link to the checkout, made if need be."""
    link = VENVS / "package" / "troupe"
    with _lock(VENVS / "package.lock"):
        link.parent.mkdir(exist_ok=True)
        if link.exists():
            return link.parent
        if sys.platform == "win32":
            import _winapi

            # A symbolic link needs a privilege on Windows, a junction does not.
            _winapi.CreateJunction(str(ROOT), str(link))
        else:
            link.symlink_to("../..", target_is_directory=True)
    return link.parent


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Keep two builds from making the same environment at the same time."""
    with path.open("w") as file:
        if os.name != "nt":
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield
