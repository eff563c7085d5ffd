"""Everything has properties: actors, props, cameras, places, actions, scripts, and what one feels toward another."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from ...errors import InvalidParam
from ..language.lexer import key_of

Value: TypeAlias = float | str | bool | tuple[float, ...] | None
PropKey: TypeAlias = str | tuple[str, str]
"""A property, or a property of the relation to someone: (property, key of the other)."""
Curve: TypeAlias = Callable[[float], Value]

WORLD_KINDS = ("actor", "prop", "camera", "place", "ensemble")
STARTER = {
    "personality": ("assertiveness", "temperament", "dexterity", "confidence", "self control", "courage", "charisma")
    + ("intelligence", "gender", "preferred gender", "gullibility"),
    "mood": ("happiness", "alertness", "appetite"),
    "relation": ("sympathy", "attitude", "interest"),
    "tag": (
        "aggressiveness",
        "formality",
        "courage level",
        "mood",
        "reactive",
        "conversational",
        "generic",
        "completed",
    ),
}
"""Names of properties that the shipped scripts use, by what they describe."""


class Holder:
    """Something that has properties.

    Attributes:
        name, key: As written, and as compared.
        kind: actor, prop, camera, place, ensemble, action, script or verb.
        serial: Its number; the order of the cast for actors.
        values: What everyone sees.
        own: What the holder has set since the last commit, which only it sees.
        curves: Properties that follow a curve of time.
    """

    __slots__ = ("curves", "key", "kind", "name", "own", "serial", "values")

    def __init__(self, name: str, kind: str, serial: int) -> None:
        self.name, self.key, self.kind, self.serial = name, key_of(name), kind, serial
        self.values: dict[PropKey, Value] = {}
        self.own: dict[PropKey, Value] = {}
        self.curves: dict[PropKey, Curve] = {}

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name}>"


def number(value: Value) -> float:
    """A value as a number: missing, false and text are 0, true is 1."""
    if isinstance(value, (int, float)):
        return float(value)
    return 0.0


def truth(value: Value) -> float:
    """A value as a degree of truth: text is true when there is any, a number is itself."""
    if isinstance(value, (bool, float, int)):
        return float(value)
    return 1.0 if value else 0.0


def plain(value: object, name: str = "value") -> Value:
    """A value given from outside in one of the types of properties.

    Raises:
        InvalidParam: It is none: properties are numbers, texts, true or false, or places of 2 or 3 numbers.
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, float, np.integer, np.floating)) and np.isfinite(value):
        return float(value)
    if isinstance(value, (tuple, list, np.ndarray)) and len(value) in (2, 3):
        numbers = [plain(v, name) for v in value]
        if all(isinstance(v, float) for v in numbers):
            return tuple(number(v) for v in numbers)
    raise InvalidParam(name, value, "must be a number, a text, true or false, or a place of 2 or 3 numbers")


def curve_of(given: Curve | tuple[Sequence[float], Sequence[object]], name: str = "curve") -> Curve:
    """A function of time from (times, values): linear between numbers and places, stepped for texts and truths."""
    if callable(given):
        return given
    times = [float(t) for t in given[0]]
    values = [plain(v, name) for v in given[1]]
    if not times or len(times) != len(values) or any(b < a for a, b in pairwise(times)):
        raise InvalidParam(name, len(times), "a curve needs as many values as times, in order of time, at least one")

    def sample(time: float) -> Value:
        right = bisect_right(times, time)
        if right == 0 or right == len(times):
            return values[max(right - 1, 0)]
        a, b = values[right - 1], values[right]
        u = (time - times[right - 1]) / (times[right] - times[right - 1])
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            return tuple(p + u * (q - p) for p, q in zip(a, b, strict=True))
        if isinstance(a, float) and isinstance(b, float):
            return a + u * (b - a)
        return a

    return sample


def keyed(properties: Mapping[str, object]) -> dict[PropKey, Value]:
    """Properties by key, their values checked."""
    return {key_of(name): plain(value, name) for name, value in properties.items()}
