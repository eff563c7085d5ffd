"""Parameters are declared once, checked when built, and survive JSON."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from troupe.core.errors import InvalidParam
from troupe.core.params import Params, declared, param


@dataclass(frozen=True)
class Sample(Params):
    speed: float = param(1.4, lo=0.1, hi=3.0, unit="m/s", help="Speed", keyable=True)
    steps: int = param(4, lo=1, help="Steps")
    loop: bool = param(False, help="Loop")
    style: str = param("calm", choices=(("calm", "Calm"), ("brisk", "Brisk")), help="Style")
    note: str = param("", help="Note")
    offset: tuple[float, ...] = param((0.0, 1.0, 2.0), help="Offset")
    gains: tuple[tuple[float, ...], ...] = param(((0, 1),), columns=("band", "gain"), help="Gains")
    target: str = param("", ref="object", help="Target", basic=False)


def test_kinds_follow_from_the_defaults():
    kinds = {p.name: p.kind for p in declared(Sample)}
    assert kinds == {
        "speed": "float",
        "steps": "int",
        "loop": "bool",
        "style": "choice",
        "note": "text",
        "offset": "vector",
        "gains": "table",
        "target": "ref",
    }


def test_a_parameter_may_count_only_with_some_choices():
    @dataclass(frozen=True)
    class Brisk(Sample):
        haste: float = param(0.5, help="Haste", only=("style", "brisk"))

    assert [p.name for p in declared(Brisk) if not p.counts(Brisk(style="calm"))] == ["haste"]
    assert all(p.counts(Brisk(style="brisk")) for p in declared(Brisk))


def test_json_round_trip_gives_an_equal_record():
    sample = Sample(speed=2, steps=3, loop=True, style="brisk", offset=[1, 2, 3], gains=[[1, 2], [3, 4]], target="Box")
    assert Sample.from_dict(json.loads(json.dumps(sample.to_dict()))) == sample


def test_a_keyable_float_may_be_a_curve():
    speeds = Sample(speed=[1.0, 1.5, 2.0]).speed
    assert isinstance(speeds, np.ndarray) and not speeds.flags.writeable
    assert speeds.tolist() == [1.0, 1.5, 2.0]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"speed": 0.0}, "from 0.1 to 3 m/s"),
        ({"speed": float("nan")}, "from 0.1 to 3"),
        ({"speed": "fast"}, "must be a number"),
        ({"speed": True}, "must be a number"),
        ({"speed": [1.0, 9.0]}, "from 0.1 to 3"),
        ({"speed": []}, "at least one sample"),
        ({"steps": 0}, "at least 1"),
        ({"steps": 1.5}, "whole number"),
        ({"loop": 1}, "true or false"),
        ({"style": "wild"}, "calm, brisk"),
        ({"note": 3}, "must be text"),
        ({"offset": [1.0, 2.0]}, "3 numbers"),
        ({"offset": "abc"}, "3 numbers"),
        ({"gains": [[1.0]]}, "2 numbers"),
        ({"gains": 5}, "band, gain"),
        ({"target": 7}, "name of a object"),
    ],
)
def test_wrong_values_are_refused_with_the_valid_ones(values, words):
    with pytest.raises(InvalidParam, match=words) as caught:
        Sample(**values)
    assert next(iter(values)) in str(caught.value)


def test_an_unknown_name_is_refused_with_the_nearest_known_one():
    with pytest.raises(InvalidParam, match="did you mean 'speed'"):
        Sample.from_dict({"sped": 1.0})
    with pytest.raises(InvalidParam, match="parameters are speed, steps"):
        Sample.from_dict({"xyzzy": 1.0})


def test_records_cannot_be_changed():
    with pytest.raises(AttributeError):
        Sample().speed = 2.0
