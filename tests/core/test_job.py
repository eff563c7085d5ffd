"""Job files: what they say, and that every mistake is told with its place while nothing runs or hangs."""

import math
import os
import random
from dataclasses import dataclass
from pathlib import Path

import pytest
from troupe.core.errors import FormatError
from troupe.core.figure.mannequin import MannequinParams
from troupe.core.filters.retarget import RetargetParams
from troupe.core.formats import toml
from troupe.core.job import MAX_STEPS, RESERVED, parse, read
from troupe.core.landing import LandingParams
from troupe.core.params import Params, declared, param


@dataclass(frozen=True)
class SampleParams(Params):
    """One parameter of each kind."""

    level: float = param(1.0, lo=0.0, hi=2.0, help="A number")
    count: int = param(3, lo=1, hi=9, help="A whole number")
    wave: bool = param(False, help="A switch")
    aim: tuple[float, float, float] = param((0.0, 0.0, 1.0), help="A vector")
    gains: tuple = param(((0.0, 1.0),), columns=("x", "y"), help="A table")
    words: str = param("", help="A text")
    pace: float = param(1.0, help="A number that may be animated", keyable=True)
    clip: str = param("", ref="file", help="A file")


FEATURES = {
    "mannequin": (MannequinParams,),
    "retarget": (RetargetParams, LandingParams),
    "sample": (SampleParams,),
}

JOB = """\
# a walk for two
fps = 23.976
frames = [1, 60]

[[actor]]
name = "Anna"
mannequin = {height = 1.7, build = -0.2}
place = [1.0, -2]
heading_deg = 90

[[actor]]
name = "Bob 'the rig'"
rig = "rigs/bob.fbx"
map = "bob.json"

[[step]]
actor = ["Anna", "Bob 'the rig'"]
feature = "retarget"
start = 5
file = "walk.bvh"
travel = 0.8

[[step]]
actor = "Anna"
feature = "sample"
gains = [
    [0, 1],   # the first
    [1.0, 0.5],
]
words = \"\"\"two
lines # no comment\"\"\"

[[step]]
feature = "mannequin"

[output]
blend = "out/shot.blend"
bvh = {Anna = "out/anna.bvh"}
render = "out/shot_####.png"
report = "out/shot.json"
"""


@pytest.fixture
def folder(tmp_path):
    """A job's folder with the files that it names."""
    inside = tmp_path / "job"
    for name in ("rigs/bob.fbx", "bob.json", "walk.bvh", "scene.blend", "out/.keep"):
        (inside / name).parent.mkdir(parents=True, exist_ok=True)
        (inside / name).write_text("x")
    return inside


def parsed(folder, text, **options):
    return parse(text, str(folder / "job.toml"), FEATURES, actorless=("mannequin",), **options)


def refused(folder, text, **options):
    with pytest.raises(FormatError) as caught:
        parsed(folder, text, **options)
    return caught.value


def place_of(text, word):
    """Line and column of a word's first occurrence."""
    at = text.index(word)
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def test_a_job_says_who_does_what(folder):
    job = parsed(folder, JOB)
    assert (job.fps, job.frames, job.scene) == (23.976, (1, 60), None)
    anna, bob = job.actors
    assert anna.mannequin["height"] == 1.7 and anna.mannequin["shape"] == MannequinParams().shape
    assert anna.place == (1.0, -2.0) and anna.heading == pytest.approx(math.pi / 2)
    assert (bob.rig, bob.map, bob.place) == (folder / "rigs/bob.fbx", folder / "bob.json", None)
    first, second, third = job.steps
    assert (first.number, first.actors, first.start) == (1, ("Anna", "Bob 'the rig'"), 5)
    assert first.params == {
        **RetargetParams(file=str(folder / "walk.bvh"), travel=0.8).__dict__,
        **LandingParams().__dict__,
    }
    assert second.params["gains"] == ((0.0, 1.0), (1.0, 0.5)) and second.start is None
    assert third.actors == ()
    out = folder / "out"
    assert job.output.bvh == {"Anna": out / "anna.bvh"} and job.output.blend == out / "shot.blend"
    assert job.output.files() == [out / n for n in ("shot.blend", "anna.bvh", "shot_####.png", "shot.json")]


def test_a_step_knows_the_place_of_its_keys(folder):
    second = parsed(folder, JOB).steps[1]
    assert second.at("gains") == place_of(JOB, "gains")
    assert second.at("start") == second.at("") == (23, 1)


def test_parsing_twice_gives_equal_jobs(folder):
    assert parsed(folder, JOB) == parsed(folder, JOB)


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(folder):
    assert parsed(folder, "\ufeff" + JOB.replace("\n", "\r\n")) == parsed(folder, JOB)


def test_no_parameter_of_a_feature_is_a_reserved_word():
    for records in FEATURES.values():
        assert not {p.name for record in records for p in declared(record)} & set(RESERVED)


STEP = '[[step]]\nactor = "Anna"\nfeature = "sample"\n'


def test_a_report_has_plots_beside_it(tmp_path):
    text = STEP + '[output]\nreport = "shot.json"\nplots = ["shin_L", "most", "shin_L"]\n'
    output = parse(text, str(tmp_path / "job.toml"), FEATURES, actorless=("mannequin",)).output
    assert output.plots == ("shin_L", "most")
    assert output.plot(1, "Anna B./x", "most") == tmp_path / "shot_1_Anna_B._x_most.png"
    assert output.plots_at.line == 6


MISTAKES = [
    ("speed = 1\n" + STEP, "speed", "unknown key 'speed'"),
    ("framse = [1, 2]\n" + STEP, "framse", "did you mean 'frames'"),
    (STEP + "levle = 1.0\n", "levle", "did you mean 'level'"),
    (STEP + "level = 2.5\n", "level", "from 0 to 2"),
    (STEP + 'level = "high"\n', "level", "must be a number"),
    (STEP + "level = nan\n", "level", "from 0 to 2"),
    (STEP + "level = 0x" + "f" * 400 + "\n", "level", "from 0 to 2"),
    (STEP + "wave = 0x" + "f" * 5000 + "\n", "wave", "not a usable value"),
    (STEP + "count = 2.5\n", "count", "whole number"),
    (STEP + "wave = 1\n", "wave", "true or false"),
    (STEP + "aim = [1, 2]\n", "aim", "3 numbers"),
    (STEP + "gains = [[1, 2], [3]]\n", "gains", "2 numbers"),
    (STEP + "gains = 1979-05-27 07:32:00\n", "gains", "rows of x, y"),
    (STEP + "clip = 7\n", "clip", "text in quotes"),
    (STEP + 'clip = "none.bvh"\n', "clip", "no such file"),
    (STEP + 'words = "\\u001b[2J"\n', "words", "control characters"),
    (STEP + "start = 1.5\n", "start", "whole number"),
    (STEP + "start = true\n", "start", "whole number"),
    (STEP + "start = 99999999\n", "start", "whole number"),
    ('[[step]]\nactor = "Anna"\nfeature = "smaple"\n', "feature", "did you mean 'sample'"),
    ('[[step]]\nactor = "Anna"\n', "[[step]]", "feature is missing"),
    ('[[step]]\nfeature = "sample"\n', "[[step]]", "actor is missing"),
    ('[[step]]\nfeature = "sample"\nactor = []\n', "actor", "one to"),
    ('[[step]]\nfeature = "sample"\nactor = ["a", 3]\n', "3", "text in quotes"),
    ('[[step]]\nfeature = "mannequin"\nactor = "Anna"\n', "actor", "acts on no actor"),
    ('[step]\nfeature = "sample"\n', "[step]", "write [[step]]"),
    ("step = 3\n", "step", "write [[step]]"),
    ('[[actor]]\nname = "a\\u0007b"\n', "name", "control characters: 'a\\x07b'"),
    ('[[actor]]\nname = "' + "x" * 64 + '"\n', "name", "63 bytes"),
    ('[[actor]]\nname = ""\n', "name", "text in quotes"),
    ('[[actor]]\nname = "A"\nrig = "bob.json"\n', "rig", ".blend or .fbx"),
    ('[[actor]]\nname = "A"\nmannequin = 1.7\n', "mannequin", "must be a table"),
    ('[[actor]]\nname = "A"\nmannequin = {height = 9}\n', "height", "from 0.5 to 2.5"),
    ('[[actor]]\nname = "A"\nmannequin = {}\nrig = "rigs/bob.fbx"\n', "rig", "leave one"),
    ('[[actor]]\nname = "A"\narmature = "B"\n', "armature", "name the rig too"),
    ('[[actor]]\nname = "A"\nplace = [1]\n', "place", "[x, y]"),
    ('[[actor]]\nname = "A"\nplace = [1, inf]\n', "inf", "must be a number"),
    ('[[actor]]\nname = "A"\n[[actor]]\nname = "A"\n', '[[actor]]\nname = "A"\n[[', "two actors"),
    ("fps = 0\n" + STEP, "fps", "from 1 to 1000"),
    ("frames = [9, 2]\n" + STEP, "frames", "[first, last]"),
    ('scene = "job.toml"\n' + STEP, "scene", "ends in .blend"),
    (STEP + '[output]\nblend = "nowhere/x.blend"\n', "blend", "no such folder"),
    (STEP + '[output]\nreport = "x.txt"\n', "report", "ends in .json"),
    (STEP + '[output]\nplots = ["shin_L"]\n', "plots", "belong to a report"),
    (STEP + '[output]\nreport = "x.json"\nplots = "shin_L"\n', "plots", "joints or roles"),
    (STEP + '[output]\nreport = "x.json"\nplots = []\n', "plots", "joints or roles"),
    (STEP + '[output]\nreport = "x.json"\nplots = [3]\n', "3", "text in quotes"),
    (STEP + '[output]\nreport = "x.json"\nplots = ["a b", "a_b"]\n', "plots", "x_1_Anna_a_b.png is also written"),
    (STEP + '[output]\nreport = "x.json"\nplots = ["a"]\nrender = "x_1_Anna_a.png"\n', "plots", "as render"),
    (STEP + "pace = [1.0, 2.0]\n", "pace", "one number here: key it in a scene"),
    (STEP + '[output]\nbvh = {Bert = "x.bvh"}\n', "Bert", "no actor 'Bert'"),
    (STEP + '[output]\nbvh = {Anna = "walk.bvh"}\n' + STEP + 'clip = "walk.bvh"\n', "Anna = ", "also an input"),
    ('scene = "scene.blend"\n' + STEP + '[output]\nblend = "scene.blend"\n', "blend", "also an input"),
    (STEP + '[output]\nblend = "a.blend"\nblend = "b.blend"\n', 'blend = "b', "not TOML"),
    ("", "", "at least one"),
]


@pytest.mark.parametrize(("text", "at", "words"), MISTAKES, ids=[f"{m[1][:20]}: {m[2]}" for m in MISTAKES])
def test_a_mistake_is_told_with_its_place(folder, text, at, words):
    error = refused(folder, text)
    assert words in str(error)
    assert str(error).startswith(f"{folder / 'job.toml'}:{error.line}:{error.column}: ")
    if words == "two actors":
        assert error.line == 4
    elif words == "not TOML":
        assert error.line == place_of(text, at)[0]
    else:
        keys = [n for n, line in enumerate(text.splitlines(), 1) if at.splitlines() and at.splitlines()[0] in line]
        assert not at or error.line in keys, (error.line, keys)
        assert not at or error.column == text.splitlines()[error.line - 1].index(at.splitlines()[0]) + 1


@pytest.mark.parametrize(
    "path",
    [
        "../x.bvh",
        "/etc/x.bvh",
        "a/../../x.bvh",
        "//x.bvh",
        "link/x.bvh",
        "link.bvh",
        "~/x.bvh",
        "",
        "a\u0000.bvh",
        "\\\\s\\x.bvh",
    ],
)
def test_no_path_leaves_the_folder_of_the_job(folder, path):
    (folder.parent / "x.bvh").write_text("x")
    (folder / "link").symlink_to(folder.parent)
    (folder / "link.bvh").symlink_to(folder.parent / "x.bvh")
    quoted = path.replace("\\", "\\\\").replace("\u0000", "\\u0000")
    for text in (f'{STEP}clip = "{quoted}"\n', f'{STEP}[output]\nbvh = "{quoted}"\n'):
        if (path in ("~/x.bvh", "\\\\s\\x.bvh") and "bvh =" in text) or (path == "" and "clip" in text):
            continue
        error = refused(folder, text)
        assert error.line == text.count("\n")


def test_another_folder_can_be_allowed(folder):
    (folder.parent / "x.bvh").write_text("x")
    text = f'{STEP}clip = "../x.bvh"\n'
    assert "--allow-path" in str(refused(folder, text))
    assert parsed(folder, text, allowed=[folder.parent]).steps[0].params["clip"] == str(folder.parent / "x.bvh")


HOSTILE = {
    "arrays": "x = " + "[" * 900_000,
    "tables": "x = " + "{a=" * 300_000,
    "dots": "x" + ".x" * 450_000 + " = 1",
    "header": "[x" + ".x" * 450_000 + "]",
    "quotes": 'x = """' + '"' * 900_000,
    "escapes": 'x = """' + "\\n" * 400_000,
    "key": "x" * 900_000,
    "digits": "x = " + "9" * 900_000,
    "hexadecimal": "fps = 0x" + "f" * 900_000,
    "comments": "#\n" * 450_000,
    "blanks": " " * 900_000,
    "items": "x = [" + "1," * 400_000 + "]",
    "steps": "[[step]]\n" * (MAX_STEPS + 1),
    "headers": "".join(f"[a{i}]\n" for i in range(80_000)),
    "actors": "[[actor]]\n" * 90_000,
    "large": "#" * 1_000_001,
    "unclosed": "x = '''" + "'" * 2 + "a" * 900_000,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_monster_is_refused(folder, kind):
    assert refused(folder, HOSTILE[kind]).line >= 1


def test_ten_megabytes_are_not_even_read(folder):
    (folder / "job.toml").write_bytes(b"[" * 10_000_000)
    with pytest.raises(FormatError, match="at most 1000000 bytes"):
        read(folder / "job.toml", FEATURES)


def test_what_cannot_be_read_is_told(folder):
    with pytest.raises(FormatError, match=r"none\.toml:1:1: no such file"):
        read(folder / "none.toml", FEATURES)
    with pytest.raises(FormatError, match="cannot be read"):
        read(folder, FEATURES)
    (folder / "job.toml").write_bytes(b'fps = 24\nscene = "\xff"\n')
    with pytest.raises(FormatError, match=r"job\.toml:2:10: the text is not UTF-8"):
        read(folder / "job.toml", FEATURES)


WORDS = (
    "[",
    "]",
    "{",
    "}",
    '"',
    "'''",
    "=",
    ".",
    "\\",
    "\x00",
    "\x1b",
    "../",
    "[[step]]",
    "nan",
    "1e999",
    "\r",
    "é",
    "🙂",
)
VALUES = (
    "1",
    "-7",
    "0.5",
    "nan",
    "true",
    "1979-05-27",
    "[]",
    "{}",
    "[1,2]",
    "[[1,2]]",
    '["Anna"]',
    '""',
    '"x"',
    '"Anna"',
)
VALUES += ('"../walk.bvh"', '"walk.bvh"', '"\\u0000"')


def mutated(rng, text):
    """A text with a few values, characters, lines or pieces changed, moved, doubled or lost."""
    for _ in range(rng.randint(1, 3)):
        a, b = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        b = min(b, a + 40)
        lines = text.split("\n")
        line = rng.randrange(len(lines))
        kind = rng.randrange(8)
        if kind == 0:
            text = text[:a] + text[b:]
        elif kind == 1:
            text = text[:a] + rng.choice(WORDS) * rng.choice((1, 1, 1, 30)) + text[a:]
        elif kind == 2:
            text = text[:b] + text[a:b] + text[b:]
        elif kind == 3:
            text = text[:a] + chr(rng.choice((rng.randrange(128), rng.randrange(0x2FFF)))) + text[a + 1 :]
        elif kind == 4:
            rng.shuffle(lines)
            text = "\n".join(lines)
        elif kind == 5:
            text = "\n".join(lines[:line] + lines[line + 1 :])
        elif "=" in lines[line]:
            lines[line] = f"{lines[line].partition('=')[0]}= {rng.choice(VALUES)}"
            text = "\n".join(lines)
    return text


def test_two_thousand_mutants_are_parsed_or_refused(folder, monkeypatch):
    def forbidden(*_arguments, **_options):
        raise AssertionError("a job was executed")

    for name in ("system", "popen", "remove", "rename", "replace", "mkdir"):
        monkeypatch.setattr(os, name, forbidden)
    monkeypatch.setattr("builtins.eval", forbidden)
    before = sorted(Path(folder).rglob("*"))
    rng = random.Random(7)
    fine = 0
    for _ in range(2_000):
        text = mutated(rng, JOB)
        try:
            job = parsed(folder, text)
        except FormatError as error:
            lines = text.replace("\r\n", "\n").split("\n")
            assert 1 <= error.line <= len(lines)
            assert 1 <= error.column <= len(lines[error.line - 1]) + 1
            assert str(error).isprintable()
        else:
            fine += 1
            for path in (*job.output.files(), *(a.rig for a in job.actors if a.rig)):
                assert path.is_relative_to(folder)
    assert sorted(Path(folder).rglob("*")) == before
    assert 50 < fine < 1_500


@pytest.mark.parametrize(
    "text", [JOB, 'a."b.c".d = 1\n[x.y]\nz = [1, {q = 2}, """\n""\\"x"""]\n[[x.t]]\nu = \'\'\'\n\'\'\'\n']
)
def test_every_key_of_a_text_has_a_place(text):
    data, places = toml.loads(text, "x")

    def walk(value, path):
        if path and isinstance(path[-1], str):
            line, column = places.of(path)
            start = text.split("\n")[line - 1][column - 1 :].lstrip("[\"' ")
            assert start.startswith(tuple(str(part) for part in path)), (path, start)
            assert path in places._found
        pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, item in pairs:
            walk(item, (*path, key))

    walk(data, ())
