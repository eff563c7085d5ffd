"""build.py and its parts: environments, Pythons, counting of tests, requirement coverage, GIFs."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
try:
    import build
    from tools import Stop, envs, gif, pythons, requirements, testing
finally:
    sys.path.remove(str(ROOT))


def pictures(count: int, height: int, width: int, levels: int) -> np.ndarray:
    values = np.random.default_rng(7).integers(0, levels, (count, height, width, 3))
    return (values * (255 // (levels - 1))).astype(np.uint8)


# ---- GIF


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 17, 23), (2, 200, 150)])
def test_gif_with_few_colours_comes_back_exactly(tmp_path: Path, shape: tuple[int, int, int]) -> None:
    image_module = pytest.importorskip("PIL.Image")
    frames = pictures(*shape, levels=6)
    gif.write_gif(tmp_path / "a.gif", frames, [7] * len(frames))
    with image_module.open(tmp_path / "a.gif") as image:
        assert image.n_frames == len(frames)
        for k, frame in enumerate(frames):
            image.seek(k)
            assert image.info["duration"] == 70
            np.testing.assert_array_equal(np.asarray(image.convert("RGB")), frame)


def test_gif_keeps_pixels_outside_the_changed_rectangle(tmp_path: Path) -> None:
    image_module = pytest.importorskip("PIL.Image")
    frames = np.repeat(pictures(1, 20, 20, levels=4), 3, axis=0)
    frames[1, 5:8, 9:14] = 255
    gif.write_gif(tmp_path / "a.gif", frames, [5, 5, 5])
    with image_module.open(tmp_path / "a.gif") as image:
        for k, frame in enumerate(frames):
            image.seek(k)
            np.testing.assert_array_equal(np.asarray(image.convert("RGB")), frame)


def test_palette_of_many_colours_is_close_on_average() -> None:
    y, x = np.mgrid[:128, :128]
    frame = np.stack([2 * x, 2 * y, x + y], axis=-1).astype(np.uint8)[None]
    palette, indices = gif.quantise(frame)
    assert np.abs(palette[indices].astype(int) - frame).mean() < 6.0


def test_gif_refuses_frames_without_delays(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="delays"):
        gif.write_gif(tmp_path / "a.gif", pictures(2, 4, 4, levels=2), [5])


# ---- requirements


def test_every_requirement_of_the_specification_is_read() -> None:
    table = (ROOT / "docs" / "spec" / "README.md").read_text(encoding="utf-8")
    for mark, numbers in requirements.specification(ROOT / "docs" / "spec").items():
        assert numbers == set(range(1, max(numbers) + 1))
        assert any(f"| {mark} |" in row and row.endswith(f"| {len(numbers)} |") for row in table.splitlines())


def test_tests_name_only_requirements_that_exist() -> None:
    unknown = {row.mark: row.unknown for row in requirements.coverage(ROOT / "docs" / "spec", ROOT / "tests")}
    assert not {mark: numbers for mark, numbers in unknown.items() if numbers}


def test_marks_are_found_on_functions_modules_and_parameters() -> None:
    source = """
pytestmark = [pytest.mark.req("a", 1)]
@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.req("b", 5))])
@pytest.mark.req("a", 2, 3)
def test_x(x): other.req("a", 9)
"""
    assert sorted(requirements.marks(source)) == [("a", 1), ("a", 2), ("a", 3), ("b", 5)]


def test_report_names_untested_and_unknown_requirements(tmp_path: Path) -> None:
    spec, tests = tmp_path / "spec", tmp_path / "tests"
    spec.mkdir()
    tests.mkdir()
    (spec / "README.md").write_text("| a.md | alpha | a source | 4 |\n")
    (spec / "a.md").write_text("- R1 Given\n- **R2** (S) Given\n* R3 Given\n- R4 Given R9 and R8\n| R7 | no |\n")
    (tests / "test_a.py").write_text('@pytest.mark.req("alpha", 1, 3, 12)\ndef test_a(): pass\n')
    report = requirements.report(spec, tests)
    assert "2 / 4" in report
    assert "without a test: R2 R4" in report
    assert "do not exist: R12" in report


def test_spans_join_neighbours() -> None:
    assert requirements.spans([1, 2, 3, 7, 9, 10]) == "R1-R3 R7 R9-R10"
    assert requirements.spans([]) == "none"


# ---- Pythons


def fake_python(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


posix = pytest.mark.skipif(os.name == "nt", reason="the stand-ins are shell scripts")


def test_the_running_python_is_found() -> None:
    version = pythons.this_python()
    assert Path(pythons.find_python(version)).exists()


@posix
def test_a_shim_that_fails_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_python(tmp_path / "bin" / "python3.77", "echo 'pyenv: command not found' >&2; exit 127")
    fake_python(tmp_path / "pyenv/versions/3.77.9/bin/python", "exit 1")
    newest = fake_python(tmp_path / "pyenv/versions/3.77.10/bin/python", "echo 3.77; echo /right/python")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    assert [str(newest)] in list(pythons.candidates("3.77", home=tmp_path))
    assert pythons.find_python("3.77") == "/right/python"


@posix
def test_a_python_of_another_version_is_passed_over(tmp_path: Path) -> None:
    other = fake_python(tmp_path / "python3.77", "echo 3.78; echo /other/python")
    assert pythons.probe([str(other)], "3.77") is None


def test_a_missing_python_is_named() -> None:
    with pytest.raises(Stop, match=r"^Python 3\.99 was not found; install it"):
        pythons.find_python("3.99")


def test_another_python_is_refused_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    source = (ROOT / "build.py").read_text(encoding="utf-8")
    monkeypatch.setattr(sys, "version_info", (3, 12, 1))
    monkeypatch.setattr(sys, "version", "3.12.1 (main)")
    with pytest.raises(SystemExit) as exit_info:
        exec(compile(source, "build.py", "exec"), {"__name__": "__main__"})
    assert exit_info.value.code == "build.py: Troupe is built with Python 3.11 or 3.13; this is Python 3.12.1."


# ---- environments


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> envs.Environment:
    """An environment that needs no download."""
    monkeypatch.setattr(envs, "VENVS", tmp_path / "venvs")
    return envs.Environment("empty", pythons.this_python(), ("pip",))


def test_a_finished_environment_is_reused(environment: envs.Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    python = envs.ensure(environment)
    stamped = (environment.folder / "stamp").stat().st_mtime_ns
    monkeypatch.setattr(envs, "_make", lambda *_: pytest.fail("made again"))
    assert envs.ensure(environment) == python
    assert (environment.folder / "stamp").stat().st_mtime_ns == stamped


@posix
def test_other_pins_or_a_half_made_or_broken_environment_are_not_complete(environment: envs.Environment) -> None:
    fake_python(environment.executable, "exit 0")
    assert not envs.is_complete(environment), "half made: there is no stamp"
    (environment.folder / "stamp").write_text(environment.stamp())
    assert envs.is_complete(environment)
    assert not envs.is_complete(dataclasses.replace(environment, pins=("pip", "numpy==1.0")))
    fake_python(environment.executable, "exit 1")
    assert not envs.is_complete(environment), "its Python does not run"
    environment.executable.unlink()
    assert not envs.is_complete(environment), "its Python is gone"


def test_everything_is_pinned() -> None:
    for each in (*envs.BLENDERS.values(), *envs.CORES.values(), envs.bench(), envs.check()):
        assert all("==" in pin for pin in each.pins), each.name


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ("Retrying ... NewConnectionError('...')\nERROR: No matching distribution found for bpy", "No network: "),
        ("OSError: [Errno 28] No space left on device", "The disk is full: "),
        ("ERROR: No matching distribution found for bpy==5.2.3", "the package index has no bpy==5.2.3 "),
        ("a\nsomething odd", "something odd"),
    ],
)
def test_a_failing_pip_becomes_a_sentence(output: str, sentence: str) -> None:
    assert sentence in envs.explain(envs.newest_blender(), output)


def test_no_disk_is_told_before_anything_is_downloaded(
    environment: envs.Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = envs.shutil.disk_usage(ROOT)
    monkeypatch.setattr(envs.shutil, "disk_usage", lambda _: usage._replace(free=10_000_000))
    with pytest.raises(Stop, match=r"^The disk is full: empty needs 0\.8 GB"):
        envs.ensure(environment)


@posix
def test_a_missing_system_library_is_named_with_its_packages(
    environment: envs.Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    blender = dataclasses.replace(environment, name="blender-0.0")
    message = "ImportError: libXi.so.6: cannot open shared object file: No such file or directory"
    fake_python(blender.executable, f"[ \"$2\" = 'import bpy' ] || exit 0; echo '{message}' >&2; exit 1")
    (blender.folder / "stamp").write_text(blender.stamp())
    with pytest.raises(Stop, match=r"needs libXi\.so\.6, .* apt-get install libxi6 "):
        envs.ensure(blender)


# ---- running tests


def run(tmp_path: Path, source: str, *arguments: str, **environ: str) -> testing.Result:
    """Run a test file under this project's conftest, as `build.py test` does."""
    conftest = (ROOT / "tests" / "conftest.py").read_text(encoding="utf-8")
    (tmp_path / "conftest.py").write_text(conftest, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = '{(ROOT / 'tests').as_posix()}'\n")
    (tmp_path / "test_it.py").write_text(source, encoding="utf-8")
    return testing.run_pytest("env", Path(sys.executable), [str(tmp_path), *arguments], environ, cwd=tmp_path)


def test_outcomes_are_counted(tmp_path: Path) -> None:
    pytest.importorskip("pytest_timeout")
    source = "import pytest\ndef test_a(): pass\ndef test_b(): assert 0\n@pytest.mark.skip\ndef test_c(): pass\n"
    result = run(tmp_path, source)
    assert (result.passed, result.failed, result.skipped, result.trouble) == (1, 1, 1, "")
    assert not testing.succeeded([result])
    assert testing.summary([result]).splitlines()[-1] == "1 passed, 1 failed, 1 skipped"


def test_a_module_that_swallows_the_exit_code_does_not_hide_a_failure(tmp_path: Path) -> None:
    pytest.importorskip("pytest_timeout")
    (tmp_path / "bpy.py").write_text("import atexit, os\natexit.register(os._exit, 0)\n")
    source = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nimport bpy\ndef test_b(): assert 0\n"
    result = run(tmp_path, source)
    assert result.failed == 1
    assert result.trouble == ""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 1


def test_a_crash_counts_as_failed(tmp_path: Path) -> None:
    pytest.importorskip("pytest_timeout")
    result = run(tmp_path, "import os\ndef test_a(): pass\ndef test_b(): os._exit(0)\n")
    assert "without a report" in result.trouble
    assert not testing.succeeded([result])
    assert testing.summary([result]).splitlines()[-1] == "0 passed, 1 failed, 0 skipped"


def test_missing_data_is_counted_and_fails_when_required(tmp_path: Path) -> None:
    pytest.importorskip("pytest_timeout")
    source = "def test_a(data): pass\ndef test_b(): pass\n"
    absent = str(tmp_path / "absent")
    result = run(tmp_path, source, TROUPE_TEST_DATA=absent, TROUPE_REQUIRE_DATA="")
    assert (result.passed, result.failed, result.skipped, result.without_data) == (1, 0, 1, 1)
    assert "1 for want of test data" in result.line()
    required = run(tmp_path, source, TROUPE_TEST_DATA=absent, TROUPE_REQUIRE_DATA="1")
    assert (required.passed, required.failed, required.skipped) == (1, 1, 0)
    present = run(tmp_path, source, TROUPE_TEST_DATA=str(tmp_path), TROUPE_REQUIRE_DATA="1")
    assert (present.passed, present.failed, present.skipped) == (2, 0, 0)


def test_a_run_without_tests_does_not_succeed(tmp_path: Path) -> None:
    pytest.importorskip("pytest_timeout")
    result = run(tmp_path, "def test_a(): pass\n", "-k", "nothing")
    assert result.ran == 0
    assert not testing.succeeded([result])


def test_inside_blender_a_few_files_share_a_process() -> None:
    core, blender = envs.core(), envs.newest_blender()
    assert testing.processes_of(testing.Suite(core, ("tests/core",))) == [("tests/core",)]
    apart = testing.processes_of(testing.Suite(blender, ("tests/blender",)))
    assert len(apart) > 5 and all(1 <= len(files) <= 4 for files in apart)
    assert sum(files.count("tests/blender/test_exit_code.py") for files in apart) == 1
    one = "tests/blender/test_exit_code.py::test_x"
    assert testing.processes_of(testing.Suite(blender, (one,))) == [(one,)]


def test_runs_add_up_and_trouble_is_kept() -> None:
    runs = [
        testing.Result("b", passed=3, output="x\n3 passed"),
        testing.Result("b", failed=1, trouble="died", output="why"),
    ]
    both = testing.merged("b", runs)
    assert (both.passed, both.failed, both.trouble, both.output) == (3, 1, "died", "3 passed\nwhy")
    assert testing.merged("b", runs, whole=True).output == "x\n3 passed\nwhy"


def test_named_paths_go_to_the_environment_they_belong_to() -> None:
    core, blender = envs.core(), envs.newest_blender()
    named = ["tests/blender/test_exit_code.py", "-x"]
    assert build.suites_of(core, named) == []
    assert build.suites_of(blender, named) == [testing.Suite(blender, ("tests/blender/test_exit_code.py",))]
    assert build.suites_of(core, ["-k", "walk"])[0].paths == (
        "tests/core",
        "tests/test_build.py",
        "tests/test_package.py",
    )
