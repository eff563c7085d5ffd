"""Role maps survive a file and name every mistake with its place."""

import numpy as np
import pytest
from troupe.core.errors import FormatError
from troupe.core.formats import rolemap
from troupe.core.formats.rolemap import RoleMap

SAMPLE = RoleMap({"hips": ("ヒップ",), "spine": ("s1", "s 2")}, {"s1": np.array([1.0, 0, 0, 0])})


def test_text_round_trip():
    again = rolemap.from_text(rolemap.to_text(SAMPLE))
    assert again.roles == SAMPLE.roles
    assert np.array_equal(again.neutral["s1"], SAMPLE.neutral["s1"])


def test_file_round_trip(tmp_path):
    path = tmp_path / "map.json"
    path.write_text(rolemap.to_text(SAMPLE), encoding="utf-8")
    assert rolemap.read(path).roles == SAMPLE.roles


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("{", 1, "not JSON"),
        ("[" * 100000, 1, "nested too deeply"),
        ("{}", 1, "not a role map"),
        ('{"troupe_role_map": 1,\n "extra": 2}', 2, "unknown key 'extra'"),
        ('{"troupe_role_map": 1,\n "roles": 3}', 2, "must be a table"),
        ('{"troupe_role_map": 1,\n "roles": {\n"wing": "a"}}', 3, "unknown role 'wing'"),
        ('{"troupe_role_map": 1, "roles": {\n"hips": ["a", "b"]}}', 2, "single bone"),
        ('{"troupe_role_map": 1, "roles": {\n"hips": 5}}', 2, "must be a bone name"),
        ('{"troupe_role_map": 1, "neutral": {\n"a": [1, 2]}}', 2, "four numbers"),
        ('{"troupe_role_map": 1, "neutral": {\n"a": [0, 0, 0, 0]}}', 2, "unit quaternion"),
        (" " * 2_000_000, 1, "at most"),
    ],
)
def test_mistakes_are_named_with_their_place(text, line, words):
    with pytest.raises(FormatError, match=words) as caught:
        rolemap.from_text(text, "map.json")
    assert caught.value.line == line
    assert str(caught.value).startswith(f"map.json:{line}:")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FormatError, match="no such file"):
        rolemap.read(tmp_path / "none.json")
