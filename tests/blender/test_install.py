"""The zip of this platform in this Blender: it installs, is enabled quickly, and brings the SciPy that is used."""

import json
import os
import platform
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import bpy
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
try:
    from tools import Stop, clean_environ, package, wheels
finally:
    sys.path.remove(str(ROOT))

# A process of its own: the running one has the extension already, and the SciPy of its environment.
CHILD = """
import gc, importlib, importlib.abc, importlib.machinery, json, os, sys, sysconfig, time
import bpy
import addon_utils  # on the path once bpy is imported

NAME = "bl_ext.user_default.troupe"
said = {}


class Hide(importlib.abc.MetaPathFinder):
    "The environment of the tests has a SciPy of its own, which no Blender has."

    def find_spec(self, name, path=None, target=None):
        if name != "scipy":
            return None
        own = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
        spec = importlib.machinery.PathFinder.find_spec(name, [folder for folder in sys.path if folder not in own])
        if spec is None:
            raise ModuleNotFoundError("No module named 'scipy'", name=name)
        return spec


def loaded():
    return [name for name in sys.modules if name.partition(".")[0] == "scipy"]


def enable():
    before = time.process_time()
    bpy.ops.preferences.addon_enable(module=NAME)
    return time.process_time() - before


def core(name):
    return importlib.import_module(f"{NAME}.core.{name}")


def finish():
    print("SAID", json.dumps(said), flush=True)
    # Some versions of bpy crash or hang in their exit handlers.
    os._exit(0)


sys.meta_path.insert(0, Hide())
bpy.ops.extensions.package_install_files(filepath=sys.argv[1], repo="user_default", enable_on_install=False)
"""

SCIPY_FOUND = """
enable()
said["enabled"] = addon_utils.check(NAME)
said["loaded"] = loaded()
import numpy
np, contacts = numpy, core("filters.contacts")
said["planted"] = bool(contacts.detect(np.zeros((48, 2, 2, 3)), 24.0, 0.9).all())
import scipy
said["scipy"], said["version"], said["numpy"] = scipy.__file__, scipy.__version__, numpy.__file__
finish()
"""

SCIPY_ABSENT = """
enable()
said["enabled"] = addon_utils.check(NAME)
bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
bpy.ops.troupe.mannequin()
clip = bpy.context.object
clip.keyframe_insert("location", frame=1)
clip.keyframe_insert("location", frame=20)
bpy.ops.troupe.mannequin()
actor = bpy.context.object
try:
    bpy.ops.troupe.retarget(source=clip.name)
except RuntimeError as error:
    said["report"] = str(error)
said["written"] = [action.name for action in bpy.data.actions if action.name != clip.animation_data.action.name]
finish()
"""

QUICK = """
# As in Blender, which compiles the files once, whatever the environment of the tests says.
sys.dont_write_bytecode = False
TEXT = "class A:\\n" + "".join(f" def f{i}(self, a, b={i}): return a + b\\n" for i in range(50))

def yardstick():
    "Seconds of the processor for work of the same kind."
    begun = time.process_time()
    for _ in range(40):
        exec(compile(TEXT, "text", "exec"), {})
    return time.process_time() - begun

said["tries"] = []
for _ in range(6):
    for name in [name for name in sys.modules if name.startswith(NAME)]:
        del sys.modules[name]
    # the modules of the try before are no burden of this one
    gc.collect()
    said["tries"].append((enable(), yardstick()))
    said["enabled"] = addon_utils.check(NAME)
    bpy.ops.preferences.addon_disable(module=NAME)
said["loaded"] = loaded()
finish()
"""
YARDSTICK = 0.02
"""What the yardstick takes on an idle desktop [s]."""


@pytest.fixture(scope="module")
def builder() -> package.Builder:
    scripts = Path(bpy.utils.system_resource("SCRIPTS"))
    return package.Builder(Path(sys.executable), scripts / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py")


def scratch() -> tempfile.TemporaryDirectory[str]:
    """A folder that goes away at once: pytest keeps its own for three runs, and SciPy is large."""
    return tempfile.TemporaryDirectory(prefix="troupe-install-", ignore_cleanup_errors=True)


@pytest.fixture
def settings() -> Iterator[Path]:
    with scratch() as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def full(builder: package.Builder) -> Iterator[Path]:
    """The zip of this platform, with SciPy."""
    system = {"Linux": "linux", "Windows": "windows", "Darwin": "macos"}.get(platform.system())
    machine = "arm64" if platform.machine().lower() in ("arm64", "aarch64") else "x64"
    if f"{system}-{machine}" not in wheels.PLATFORMS:
        pytest.skip(f"there is no zip for {system}-{machine}")
    with scratch() as folder:
        try:
            archive = package.make_zip(builder, Path(folder), f"{system}-{machine}")
        except Stop as stop:
            if not str(stop).startswith("No network"):
                raise
            pytest.skip(str(stop))
        yield archive


@pytest.fixture(scope="module")
def light(builder: package.Builder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zip without SciPy."""
    return package.make_zip(builder, tmp_path_factory.mktemp("light"))


def ask(script: str, archive: Path, settings: Path) -> dict:
    """Run a script in a fresh Blender and return what it said."""
    command = [sys.executable, "-c", CHILD + script, str(archive)]
    environ = clean_environ(BLENDER_USER_RESOURCES=str(settings))
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=180, env=environ)
    lines = [line for line in done.stdout.splitlines() if line.startswith("SAID ")]
    assert lines, done.stdout + done.stderr
    return json.loads(lines[-1].removeprefix("SAID "))


def test_the_zip_holds_scipy_for_both_pythons_and_never_numpy(full: Path) -> None:
    assert {python for _, python in package.covered(full)} == {"3.11", "3.13"}
    with zipfile.ZipFile(full) as archive:
        names = archive.namelist()
        listed = tomllib.loads(archive.read(package.MANIFEST).decode())["wheels"]
    assert sorted(listed) == sorted(f"./{name}" for name in names if name.endswith(".whl"))
    assert len(listed) == 3
    assert not [name for name in names if "numpy" in name]


def test_the_zip_is_the_extension_and_nothing_of_the_workshop(light: Path) -> None:
    with zipfile.ZipFile(light) as archive:
        roots = {name.partition("/")[0] for name in archive.namelist()}
    assert roots == {"blender_manifest.toml", "__init__.py", "core", "addon", "LICENSE", "README.md"}


def test_the_same_checkout_gives_the_same_bytes(builder: package.Builder, light: Path, tmp_path: Path) -> None:
    assert package.make_zip(builder, tmp_path).read_bytes() == light.read_bytes()
    with zipfile.ZipFile(light) as archive:
        assert archive.namelist() == sorted(archive.namelist())
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_installing_brings_the_scipy_that_is_used(full: Path, settings: Path) -> None:
    said = ask(SCIPY_FOUND, full, settings)
    assert said["enabled"] == [True, True]
    assert said["loaded"] == []
    assert said["planted"]
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    wanted = settings / "extensions" / ".local" / "lib" / python / "site-packages" / "scipy" / "__init__.py"
    assert os.path.samefile(said["scipy"], wanted)
    assert said["version"] == wheels.SCIPY
    assert str(settings) not in said["numpy"]


def test_without_scipy_it_is_enabled_and_what_needs_scipy_says_so(light: Path, settings: Path) -> None:
    said = ask(SCIPY_ABSENT, light, settings)
    assert said["enabled"] == [True, True]
    assert "This needs SciPy, which cannot be loaded in Python 3." in said["report"]
    assert "Install the Troupe zip of your platform" in said["report"]
    assert said["written"] == []


def test_enabling_takes_under_three_tenths_of_a_second_and_imports_no_scipy(light: Path, settings: Path) -> None:
    # Processor time, the best of several, on a machine of ordinary speed: neither a slow nor a busy one counts, nor the
    # compilation after installing. Whoever else uses the machine can only add to it, so another process may do better.
    tried: list[float] = []
    while len(tried) < 3 and min(tried, default=1.0) >= 0.3:
        said = ask(QUICK, light, settings)
        assert said["enabled"] == [True, True]
        assert said["loaded"] == []
        tried.append(min(seconds / max(1.0, work / YARDSTICK) for seconds, work in said["tries"]))
    assert min(tried) < 0.3, tried
