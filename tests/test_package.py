"""The zips before Blender sees them, and the SciPy in them: wheels, manifest, equal bytes, imported only where used."""

import ast
import base64
import csv
import hashlib
import subprocess
import sys
import tomllib
import zipfile
from itertools import pairwise, product
from pathlib import Path

import pytest
from feet import body, steps
from packaging.utils import parse_wheel_filename
from troupe.core import MissingDependency
from troupe.core.filters.contacts import contacts
from troupe.core.needs import needs_scipy

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
try:
    from tools import Stop, envs, package, wheels
finally:
    sys.path.remove(str(ROOT))

GRID = set(product(("linux-x64", "windows-x64", "macos-arm64", "macos-x64"), ("3.11", "3.13")))


# ---- which wheels


def test_every_platform_and_python_has_a_pinned_wheel() -> None:
    assert set(wheels._SHA256) == GRID
    assert len(set(wheels._SHA256.values())) == len(GRID)
    assert all(len(bytes.fromhex(pin)) == 32 for pin in wheels._SHA256.values())


@pytest.mark.parametrize(
    ("platform", "ends"),
    [("linux-x64", "_x86_64"), ("windows-x64", "win_amd64"), ("macos-arm64", "_arm64"), ("macos-x64", "_x86_64")],
)
def test_the_name_of_a_wheel_says_its_platform_and_python(platform: str, ends: str) -> None:
    for version in wheels.PYTHONS:
        name, release, _, tags = parse_wheel_filename(wheels.scipy_name(platform, version))
        assert (name, str(release)) == ("scipy", "1.15.3")
        assert {(tag.interpreter, tag.abi) for tag in tags} == {("cp" + version.replace(".", ""),) * 2}
        assert all(tag.platform.endswith(ends) for tag in tags)
        assert all(tag.platform.startswith("macosx") == platform.startswith("macos") for tag in tags)


# ---- the stand-in


def test_the_stand_in_is_equal_each_time(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    assert wheels.stand_in(one).read_bytes() == wheels.stand_in(two).read_bytes()
    assert [path.name for path in one.iterdir()] == [wheels.stand_in(one).name]


def test_the_stand_in_names_every_other_python(tmp_path: Path) -> None:
    _, _, _, tags = parse_wheel_filename(wheels.stand_in(tmp_path).name)
    named = {tag.interpreter for tag in tags}
    assert {str(tag) for tag in tags} == {f"{python}-none-any" for python in named}
    assert named >= {"cp312", "cp314", "cp315"}
    assert not named & {"cp311", "cp313"}


def test_the_stand_in_is_a_whole_wheel_without_a_module(tmp_path: Path) -> None:
    wheel = wheels.stand_in(tmp_path)
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    assert {name.split("/")[0] for name in files} == {"troupe_other_pythons-1.0.dist-info"}
    record = next(name for name in files if name.endswith("/RECORD"))
    rows = list(csv.reader(files[record].decode().splitlines()))
    assert {row[0] for row in rows} == set(files)
    for name, digest, size in rows:
        if name != record:
            right = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).decode().rstrip("=")
            assert (digest, size) == (f"sha256={right}", str(len(files[name])))
    text = files[record.replace("RECORD", "WHEEL")].decode()
    tags = {str(tag) for tag in parse_wheel_filename(wheel.name)[3]}
    assert {line.removeprefix("Tag: ") for line in text.splitlines() if line.startswith("Tag: ")} == tags


# ---- downloads


class Index:
    """Stands in for pip and the package index: counts the downloads and serves ``data``, or fails with ``output``."""

    def __init__(self) -> None:
        self.count, self.data, self.output = 0, b"the right wheel", ""

    def run(self, command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        self.count += 1
        if self.output:
            return subprocess.CompletedProcess(command, 1, self.output)
        option = dict(pairwise(command))
        tag = "cp" + option["--python-version"].replace(".", "")
        platform = next(tags for tags in wheels.PLATFORMS.values() if tags.startswith(option["--platform"]))
        (Path(option["--dest"]) / f"scipy-1.15.3-{tag}-{tag}-{platform}.whl").write_bytes(self.data)
        return subprocess.CompletedProcess(command, 0, "")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    index = Index()
    pin = hashlib.sha256(index.data).hexdigest()
    monkeypatch.setattr(wheels, "_SHA256", dict.fromkeys(GRID, pin))
    monkeypatch.setattr(wheels.subprocess, "run", index.run)
    monkeypatch.setattr(envs, "VENVS", tmp_path / "venvs")
    return index


def test_a_zip_gets_scipy_for_each_python_and_the_stand_in(index: Index) -> None:
    for platform in wheels.PLATFORMS:
        names = [wheel.name for wheel in wheels.collect(platform, Path("python"))]
        assert names[:2] == [wheels.scipy_name(platform, version) for version in ("3.11", "3.13")]
        assert names[2].startswith("troupe_other_pythons-")
        assert len(names) == 3


def test_wheels_are_downloaded_once(index: Index) -> None:
    first = wheels.collect("linux-x64", Path("python"))
    assert index.count == 2
    index.output = "no download expected"
    assert wheels.collect("linux-x64", Path("python")) == first


def test_a_damaged_wheel_is_downloaded_again(index: Index) -> None:
    damaged = wheels.collect("linux-x64", Path("python"))[1]
    damaged.write_bytes(b"half a wh")
    wheels.collect("linux-x64", Path("python"))
    assert index.count == 3
    assert damaged.read_bytes() == index.data


def test_a_wheel_other_than_the_pinned_one_is_refused_and_not_kept(index: Index) -> None:
    index.data = b"another wheel"
    with pytest.raises(Stop, match=r"^scipy-1\.15\.3-cp311-.* is not the pinned file"):
        wheels.collect("windows-x64", Path("python"))
    assert not list((envs.VENVS / "wheels").iterdir())


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ("Retrying: NewConnectionError('...')\nERROR: No matching distribution found for scipy", "No network: scipy-"),
        ("OSError: [Errno 28] No space left on device", "The disk is full: scipy-"),
        ("ERROR: No matching distribution found for scipy==1.15.3", "The package index has no scipy-1.15.3-cp311-"),
        ("a\nsomething odd", "something odd"),
    ],
)
def test_a_failing_download_becomes_a_sentence(index: Index, output: str, sentence: str) -> None:
    index.output = output
    with pytest.raises(Stop) as info:
        wheels.collect("macos-arm64", Path("python"))
    assert sentence in str(info.value)
    assert not list((envs.VENVS / "wheels").iterdir())


# ---- the zip


def plain_zip(path: Path, names: list[str], year: int) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            text = (ROOT / name).read_text(encoding="utf-8") if name == package.MANIFEST else f"# {name}\n"
            archive.writestr(zipfile.ZipInfo(name, (year, 5, 6, 7, 8, 10)), text)
    return path


@pytest.fixture
def added(tmp_path: Path) -> list[Path]:
    folder = tmp_path / "wheels"
    folder.mkdir()
    names = [wheels.scipy_name("linux-x64", version) for version in wheels.PYTHONS]
    for name in names:
        (folder / name).write_bytes(name.encode() * 100)
    return [*(folder / name for name in names), wheels.stand_in(folder)]


def test_order_and_times_of_files_leave_no_trace(tmp_path: Path, added: list[Path]) -> None:
    names = [package.MANIFEST, "__init__.py", "core/__init__.py", "addon/x.py"]
    one = plain_zip(tmp_path / "one.zip", names, 2001)
    two = plain_zip(tmp_path / "two.zip", names[::-1], 2024)
    for each in (one, two):
        package.repack(each, each.with_suffix(".packed"), "linux-x64", added)
    packed = one.with_suffix(".packed")
    assert packed.read_bytes() == two.with_suffix(".packed").read_bytes()
    with zipfile.ZipFile(packed) as archive:
        assert archive.testzip() is None
        assert sorted(archive.namelist()) == sorted([*names, *(f"wheels/{wheel.name}" for wheel in added)])
        assert archive.read("core/__init__.py") == b"# core/__init__.py\n"
        assert archive.read(f"wheels/{added[0].name}") == added[0].read_bytes()


def test_the_manifest_of_a_zip_is_that_of_the_checkout_plus_platform_and_wheels(
    tmp_path: Path, added: list[Path]
) -> None:
    plain, packed = plain_zip(tmp_path / "a.zip", [package.MANIFEST], 2001), tmp_path / "b.zip"
    package.repack(plain, packed, "linux-x64", added)
    with zipfile.ZipFile(packed) as archive:
        manifest = tomllib.loads(archive.read(package.MANIFEST).decode())
    assert manifest.pop("platforms") == ["linux-x64"]
    assert manifest.pop("wheels") == [f"./wheels/{wheel.name}" for wheel in added]
    assert manifest == tomllib.loads((ROOT / package.MANIFEST).read_text(encoding="utf-8"))


def test_the_checkout_names_no_wheels_and_demands_the_first_blender_that_minds_python_tags() -> None:
    manifest = tomllib.loads((ROOT / package.MANIFEST).read_text(encoding="utf-8"))
    assert "wheels" not in manifest
    assert "platforms" not in manifest
    assert manifest["blender_version_min"] == "4.2.13"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["version"] == manifest["version"]


def fake_zips(folder: Path, leave_out: str = "") -> list[Path]:
    archives = []
    for platform in wheels.PLATFORMS:
        names = [wheels.scipy_name(platform, version) for version in wheels.PYTHONS]
        archives.append(folder / f"{platform}.zip")
        with zipfile.ZipFile(archives[-1], "w") as archive:
            archive.writestr(package.MANIFEST, package.manifest_head(platform, names))
            for name in names:
                if name != leave_out:
                    archive.writestr(f"wheels/{name}", b"")
    return archives


def test_a_complete_grid_passes(tmp_path: Path) -> None:
    archives = fake_zips(tmp_path)
    package.check_grid(archives)
    assert set().union(*map(package.covered, archives)) == GRID


def test_a_hole_in_the_grid_is_named(tmp_path: Path) -> None:
    archives = fake_zips(tmp_path, leave_out=wheels.scipy_name("macos-x64", "3.13"))
    with pytest.raises(Stop, match=r"^No zip brings SciPy to macos-x64 with Python 3\.13\.$"):
        package.check_grid(archives)
    with pytest.raises(Stop, match=r"linux-x64 with Python 3\.11, linux-x64 with Python 3\.13, macos-x64"):
        package.check_grid(archives[1:])


def test_a_zip_without_wheels_covers_nothing(tmp_path: Path) -> None:
    plain, packed = plain_zip(tmp_path / "a.zip", [package.MANIFEST], 2001), tmp_path / "b.zip"
    package.repack(plain, packed, None, [])
    assert package.covered(packed) == set()


# ---- SciPy where it is used


def block(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in sys.modules if n.partition(".")[0] == "scipy"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "scipy", None)


def test_what_is_imported_can_be_used() -> None:
    with needs_scipy():
        from scipy.ndimage import uniform_filter1d
    assert uniform_filter1d([0.0, 3.0, 0.0], 3)[1] == 1.0


def test_a_missing_scipy_is_named_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    motion = steps(body())[0]
    block(monkeypatch)
    way_out = r"needs SciPy, .*\(.*scipy.*\)\. Install the Troupe zip .*restart"
    with pytest.raises(MissingDependency, match=way_out) as info:
        contacts(motion)
    assert isinstance(info.value.__cause__, ImportError)
    assert f"{sys.version_info.major}.{sys.version_info.minor}." in str(info.value)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("numpy.dtype size changed\n\nand a page more"), "(numpy.dtype size changed)"),
        (AttributeError("_ARRAY_API not found"), "(_ARRAY_API not found)"),
        (ImportError(), "(ImportError)"),
    ],
)
def test_a_scipy_that_does_not_fit_is_told_in_one_line(error: Exception, reason: str) -> None:
    with pytest.raises(MissingDependency) as info, needs_scipy():
        raise error
    assert reason in str(info.value)
    assert "\n" not in str(info.value)


def test_an_interruption_passes_through() -> None:
    with pytest.raises(KeyboardInterrupt), needs_scipy():
        raise KeyboardInterrupt


def test_importing_all_of_core_imports_no_scipy() -> None:
    script = """
import importlib, pkgutil, sys, troupe.core
for module in pkgutil.walk_packages(troupe.core.__path__, "troupe.core."):
    importlib.import_module(module.name)
assert "troupe.core.filters.contacts" in sys.modules
assert "scipy" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def unguarded(source: str) -> list[int]:
    """Return the lines that import SciPy outside a function's ``with needs_scipy():``."""
    bare = []

    def visit(node: ast.AST, inside: bool, guarded: bool) -> None:
        if isinstance(node, ast.With):
            guarded |= any("needs_scipy" in ast.unparse(item.context_expr) for item in node.items)
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        if any(name.partition(".")[0] == "scipy" for name in names) and not (inside and guarded):
            bare.append(node.lineno)
        inside |= isinstance(node, ast.FunctionDef)
        for child in ast.iter_child_nodes(node):
            visit(child, inside, guarded)

    visit(ast.parse(source), False, False)
    return bare


def test_a_bare_import_is_seen() -> None:
    guard = "with needs_scipy():\n  import scipy.ndimage"
    assert unguarded("def f():\n " + guard.replace("\n", "\n ")) == []
    assert unguarded(guard) == [2]
    assert unguarded("def f():\n from scipy.ndimage import zoom\n from .scipy import y") == [2]


def test_every_import_of_scipy_is_guarded() -> None:
    files = [*(ROOT / "core").rglob("*.py"), *(ROOT / "addon").rglob("*.py")]
    assert len(files) > 50
    bare = {str(file.relative_to(ROOT)): unguarded(file.read_text(encoding="utf-8")) for file in files}
    assert not {file: lines for file, lines in bare.items() if lines}
