"""The reference pages say what the program declares, all of it, and their examples are understood by it."""

import ast
import re
import shlex
import sys
from dataclasses import dataclass

import bpy
import pytest
import testdata
from troupe import addon
from troupe.addon import features
from troupe.addon.job import command
from troupe.core import job
from troupe.core.params import Params, declared, param

sys.path.insert(0, str(testdata.ROOT))
try:
    from tools import docs
finally:
    sys.path.remove(str(testdata.ROOT))

FOLDER = testdata.ROOT / "docs" / "reference"
OPERATORS = {op.feature(): op for op in features.operators()}


@pytest.fixture(scope="module")
def pages():
    return docs.pages(addon)


def examples(text, language):
    return re.findall(rf"```{language}\n(.*?)\n```", text, re.S)


def test_the_pages_on_disk_are_those_of_the_program(pages):
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*")}
    stale = sorted(name for name in {*pages, *there} if pages.get(name) != there.get(name))
    assert not stale, "run: python3 build.py docs"


@pytest.mark.parametrize("idname", docs.operators())
def test_an_operator_is_on_one_page_with_its_tooltip(pages, idname):
    found = [text for text in pages.values() if f"bpy.ops.{idname}(" in text]
    assert len(found) == 1
    assert getattr(bpy.ops.troupe, idname.partition(".")[2]).get_rna_type().description in found[0]


@pytest.mark.parametrize("feature", OPERATORS)
def test_a_feature_page_tells_every_parameter(pages, feature):
    own = pages[f"{feature}.md"].partition("## More operators")[0]
    rows = [line.split(" | ") for line in own.splitlines() if line.startswith("| ")]
    for p in (p for record in OPERATORS[feature].records() for p in declared(record)):
        (row,) = [row for row in rows if row[1] == f"`{p.name}`"]
        assert row[0] == f"| {p.label}" and row[5] == ("basic" if p.basic else "advanced") and p.help in row[6]
        for name, text in p.choices:
            assert f"- `{name}`: {text}" in own
        for limit in (p.lo, p.hi):
            assert limit is None or f"{limit:g}" in row[4]


@pytest.mark.parametrize("feature", OPERATORS)
def test_the_index_leads_to_every_feature(pages, feature):
    assert f"]({feature}.md) | `{feature}` |" in pages["README.md"]


def test_every_link_leads_somewhere(pages):
    for text in pages.values():
        for target in re.findall(r"\]\(([^)]+)\)", text):
            assert target in pages or (FOLDER / target).is_file(), target


def test_python_examples_name_properties_and_their_defaults(pages):
    for text in pages.values():
        for example in examples(text, "python"):
            call = ast.parse(example, mode="eval").body
            rna = getattr(bpy.ops.troupe, call.func.attr).get_rna_type()
            for word in call.keywords:
                p, value = rna.properties[word.arg], ast.literal_eval(word.value)
                default = tuple(p.default_array) if getattr(p, "is_array", False) else p.default
                assert value == (pytest.approx(default) if p.type == "FLOAT" else default)


@pytest.mark.parametrize("feature", OPERATORS)
def test_a_job_understands_the_example(pages, feature):
    (example,) = examples(pages[f"{feature}.md"], "toml")
    records = {name: op.records() for name, op in OPERATORS.items()}
    actorless = [name for name, op in OPERATORS.items() if op.owner == "scene"]
    (step,) = job.parse(example, "job.toml", records, actorless=actorless).steps
    assert step.feature == feature and step.start == 1
    for record in records[feature]:
        assert record.from_dict({p.name: step.params[p.name] for p in declared(record)}) == record()


@pytest.mark.parametrize("feature", OPERATORS)
def test_the_command_line_understands_the_example(pages, feature):
    (example,) = examples(pages[f"{feature}.md"], "sh")
    words = shlex.split(example.partition("--command troupe ")[2])
    given = vars(command.parser().parse_args(words))
    for p in (p for record in OPERATORS[feature].records() for p in declared(record)):
        value = given[f"param_{p.name}"]
        assert (tuple(value) if p.kind == "table" and p.basic else value) == (p.default if p.basic else None)


@dataclass(frozen=True)
class Sample(Params):
    bend: float = param(0.5, lo=0.0, hi=1.0, unit="rad", help="A|B", keyable=True)
    steps: int = param(4, lo=1, unit="m", help="Steps", basic=False)
    depth: float = param(0.25, hi=3.0, help="Depth")
    offset: tuple[float, ...] = param((0.0, 1.5), help="Offset")
    gains: tuple[tuple[float, ...], ...] = param(((0, 1),), columns=("band", "gain"), help="Gains")
    loop: bool = param(False, help="Loop")
    note: str = param("it's", help="Note")


def test_every_kind_of_parameter_has_its_words(monkeypatch):
    monkeypatch.setattr(Sample, "__module__", f"{addon.__name__.rpartition('.')[0]}.core.sample")
    shown = docs._declared(Sample)
    rows = [line.strip("| ").split(" | ") for line in docs._parameters(shown)[2:-1]]
    assert [row[2] for row in rows] == [
        "number, keyable",
        "whole number",
        "number",
        "2 numbers",
        "rows of band, gain",
        "yes or no",
        "text",
    ]
    assert rows[0][3] == "0.5 rad (28.65 deg on screen)" and rows[0][6] == "A\\|B."
    assert [row[4] for row in rows[:3]] == ["0 to 1 rad (0 to 57.3 deg on screen)", "at least 1 m", "at most 3"]
    flags = " ".join(docs._flag(p) for _, p in shown)
    expected = ["--offset", "0", "1.5", "--gains", "[[0.0, 1.0]]", "--no-loop", "--note", "it's"]
    assert shlex.split(flags)[-8:] == expected
    call = docs._call("troupe.sample", [p for _, p in shown])
    values = {word.arg: ast.literal_eval(word.value) for word in ast.parse(call, mode="eval").body.keywords}
    assert values["gains"] == "[[0.0, 1.0]]" and values["offset"] == (0.0, 1.5) and values["note"] == "it's"


def test_writing_changes_only_what_differs_and_removes_what_is_gone(tmp_path):
    assert docs.write(tmp_path, {"a.md": "1\n", "b.md": "2\n"}) == ["a.md", "b.md"]
    assert docs.write(tmp_path, {"a.md": "1\n", "b.md": "3\n"}) == ["b.md"]
    assert docs.write(tmp_path, {"a.md": "1\n"}) == ["b.md"]
    assert [path.name for path in tmp_path.iterdir()] == ["a.md"]
    assert docs.write(tmp_path, {"a.md": "1\n"}) == []
