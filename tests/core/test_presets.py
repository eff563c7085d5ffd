"""Presets survive a file, are checked by the feature's parameters, and name every mistake with its place."""

import random
from dataclasses import dataclass, replace

import pytest
from troupe.core import presets
from troupe.core.errors import FormatError, InvalidParam
from troupe.core.figure.mannequin import MannequinParams
from troupe.core.params import Params, declared, param
from troupe.core.presets import Preset


@dataclass(frozen=True)
class Sample(Params):
    speed: float = param(1.4, lo=0.1, hi=3.0, unit="m/s", help="Speed", keyable=True)
    steps: int = param(4, lo=1, hi=99, help="Steps")
    loop: bool = param(False, help="Loop")
    style: str = param("calm", choices=(("calm", "Calm"), ("brisk", "Brisk")), help="Style")
    note: str = param("", help="Note")
    offset: tuple[float, ...] = param((0.0, 1.0, 2.0), help="Offset")
    gains: tuple[tuple[float, ...], ...] = param(((0, 1),), columns=("band", "gain"), help="Gains")
    target: str = param("", ref="object", help="Target")


BRISK = Sample(speed=2.0, steps=9, loop=True, style="brisk", note="früh", gains=((1, 2), (3, 4)), target="Box")


def parse(body, feature="sample"):
    head = f'{{"troupe_presets": 1, "feature": "{feature}", "presets":\n'
    return presets.from_text(head + body + "}", "sample", Sample, "p.json")


def test_text_round_trip():
    made = (presets.preset("Très vite", BRISK), presets.preset("Plain", Sample()))
    assert presets.from_text(presets.to_text("sample", made), "sample", Sample) == made


def test_a_preset_holds_every_parameter_but_references():
    values = presets.preset("a", BRISK).values
    assert set(values) == {p.name for p in declared(Sample)} - {"target"}
    assert Sample.from_dict({**values, "target": "Box"}) == BRISK


def test_values_become_those_of_the_parameters():
    (made,) = parse('{"a": {"speed": 2, "steps": 3.0}}')
    assert made == Preset("a", {"speed": 2.0, "steps": 3})
    assert type(made.values["speed"]) is float and type(made.values["steps"]) is int


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("{", (1, 2), "not JSON"),
        ("", (1, 1), "not JSON"),
        ("[" * 100000, (1, 1), "nested too deeply"),
        (" " * 2_000_000, (1, 1), "at most"),
        ("[1]", (1, 1), "not presets"),
        ('{"feature": "sample",\n "troupe_presets": 9}', (2, 2), "must be 1"),
        ('{"troupe_presets": 1, "feature": "sample",\n  "extra": 2}', (2, 3), "unknown key 'extra'"),
        ('{"troupe_presets": 1,\n "feature": "walk"}', (2, 2), "not for sample"),
        ('{"troupe_presets": 1}', (1, 1), "not for sample"),
        ('{"troupe_presets": 1, "feature": "sample",\n\n "presets": []}', (3, 2), "table of names"),
    ],
)
def test_a_text_that_is_no_presets_is_refused_with_its_place(text, place, words):
    with pytest.raises(FormatError, match=words) as caught:
        presets.from_text(text, "sample", Sample, "p.json")
    assert (caught.value.line, caught.value.column) == place
    assert str(caught.value).startswith("p.json:")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("body", "place", "words"),
    [
        ('{"a": 5}', (2, 2), "table of parameters"),
        ('{"a": {}, "b": {},\n "a": {}}', (3, 2), "'a' is there twice"),
        ('{"a": {"steps": 1,\n   "steps": 2}}', (3, 4), "'steps' is there twice"),
        ('{"": {}}', (2, 2), "the name must be 1 to 60"),
        ('{" a": {}}', (2, 2), "no space around"),
        ('{"a\\u0007b": {}}', (2, 2), "printable"),
        ('{"\\ud800": {}}', (2, 2), "printable"),
        ('{"' + "n" * 61 + '": {}}', (2, 2), "1 to 60"),
    ],
)
def test_a_bad_name_or_table_is_refused_with_its_place(body, place, words):
    with pytest.raises(FormatError, match=words) as caught:
        parse(body)
    assert (caught.value.line, caught.value.column) == place


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ('"sped": 1', "did you mean 'speed'"),
        ('"' + "k" * 100_000 + '": 1', "no such parameter"),
        ('"speed": 9', "from 0.1 to 3 m/s"),
        ('"speed": NaN', "from 0.1 to 3"),
        ('"speed": 1e999', "from 0.1 to 3"),
        ('"speed": ' + "9" * 400, "from 0.1 to 3"),
        ('"speed": -' + "9" * 9000, "from 0.1 to 3"),
        ('"speed": [1, 2]', "animated"),
        ('"speed": "1"', "must be a number"),
        ('"speed": null', "must be a number"),
        ('"steps": 1.5', "whole number"),
        ('"loop": 1', "true or false"),
        ('"style": "wild"', "must be one of calm, brisk"),
        ('"style": ["calm"]', "must be one of"),
        ('"note": {"a": {"b": [{}]}}', "must be text"),
        ('"note": "a\\u0000b"', "control characters"),
        ('"note": "\\udc00"', "control characters"),
        ('"offset": [1, 2]', "3 numbers"),
        ('"gains": [[1, 2, 3]]', "2 numbers"),
        ('"target": "Cube"', "belongs to one scene"),
    ],
)
def test_a_faulty_preset_is_named_and_the_others_are_usable(values, words):
    good, bad = parse('{"good": {"note": "b"},\n"bad": {\n  ' + values + "}}")
    assert good == Preset("good", {"note": "b"})
    assert words in str(bad.fault)
    assert (bad.fault.line, bad.fault.column) == (4, 3)
    assert len(str(bad.fault)) < 400


def test_a_faulty_preset_is_written_back_as_it_was():
    found = parse('{"bad": {"speed": 99, "gone": [1, {"x": null}], "note": "\\udc00"}}')
    text = presets.to_text("sample", found)
    text.encode("utf-8")
    assert presets.from_text(text, "sample", Sample, "p.json")[0].values == found[0].values


def test_braces_and_quotes_in_strings_do_not_shift_the_places():
    (made,) = parse('{"a}\\"{": {"note": "{[\\"}: ",\n "steps": 0}}')
    assert made.name == 'a}"{' and (made.fault.line, made.fault.column) == (3, 2)


@pytest.mark.parametrize("name", ["", " a", "a\n", "x" * 61, "\x00"])
def test_a_preset_cannot_be_made_under_a_bad_name(name):
    with pytest.raises(InvalidParam, match="name"):
        presets.preset(name, Sample())


def test_damaged_texts_give_presets_or_a_format_error():
    rng = random.Random(3)
    text = presets.to_text("sample", [presets.preset("Fast", BRISK), presets.preset("Plain", Sample())])
    alphabet = '{}[]":,\\ \n-0.9eEtfn\x00\ud800é'
    refused = 0
    for _ in range(2000):
        damaged = list(text)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(damaged))
            damaged[at : at + rng.randint(0, 3)] = rng.choice(alphabet) * rng.randint(0, 2)
        try:
            found = presets.from_text("".join(damaged), "sample", Sample)
        except FormatError:
            refused += 1
            continue
        for made in found:
            if made.fault is None:
                Sample.from_dict(made.values)
    assert 1000 < refused < 2000


def test_a_file_is_read_with_or_without_a_byte_order_mark(tmp_path):
    made = (presets.preset("Fast", BRISK),)
    for encoding in ("utf-8", "utf-8-sig"):
        (tmp_path / "p.json").write_text(presets.to_text("sample", made), encoding=encoding)
        assert presets.read(tmp_path / "p.json", "sample", Sample) == made


def test_no_file_is_no_presets(tmp_path):
    assert presets.read(tmp_path / "none.json", "sample", Sample) == ()


def test_what_is_no_readable_file_is_refused(tmp_path):
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "latin.json").write_bytes(b'{"a": "\xff"}')
    (tmp_path / "large.json").write_bytes(b" " * (presets.MAX_BYTES + 1))
    for name, words in (("folder", "must be a file"), ("latin", "UTF-8"), ("large", "at most")):
        with pytest.raises(FormatError, match=words):
            presets.read(tmp_path / f"{name}.json", "sample", Sample)


def test_the_mannequins_shipped_presets_are_sound():
    found = presets.shipped("mannequin", MannequinParams)
    assert {"Tall man", "Woman", "Child", "Heavy", "Clay maquette"} <= {p.name for p in found}
    for made in found:
        assert made.fault is None
        assert replace(MannequinParams(), **made.values).to_dict() == made.values


def test_a_feature_without_shipped_presets_has_none():
    assert presets.shipped("nothing_of_the_sort", Sample) == ()
