"""Presets: named sets of parameter values of one feature, kept as JSON, a file a feature.

    {"troupe_presets": 1, "feature": "walk", "presets": {"Brisk": {"speed": 1.9, "bounce": 0.3}, ...}}

Values are those of the feature's Params, in its units. A preset sets the parameters that it names and leaves the others
alone. References (objects, actions, files) are never in it: they belong to one scene, a preset to all.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .errors import FormatError, InvalidParam
from .params import Params, declared

KEY, VERSION = "troupe_presets", 1
MAX_BYTES = 1_000_000
MAX_NAME = 60
SHIPPED = Path(__file__).with_name("shipped")


@dataclass(frozen=True)
class Preset:
    """A name and the values it stands for.

    Attributes:
        name: What the user sees; unique among the presets of a feature.
        values: Parameter name to value, plain and checked; as they were found where there is a fault.
        fault: What is wrong with the values; such a preset is kept and shown, so that it can be mended or removed.
    """

    name: str
    values: Mapping[str, Any]
    fault: FormatError | None = None


def preset(name: str, params: Params) -> Preset:
    """The preset of these parameters: all of them but the references."""
    check_name(name)
    values = params.to_dict()
    return Preset(name, {p.name: values[p.name] for p in declared(type(params)) if p.kind != "ref"})


def check_name(name: str) -> str:
    """`name` if a preset may be called so, else InvalidParam."""
    if not name or name != name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise InvalidParam("name", name[:MAX_NAME], f"must be 1 to {MAX_NAME} printable characters, no space around")
    return name


def to_text(feature: str, presets: Iterable[Preset]) -> str:
    """The JSON text of a feature's presets."""
    data = {KEY: VERSION, "feature": feature, "presets": {p.name: dict(p.values) for p in presets}}
    text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    # A faulty preset may hold half a surrogate pair, which UTF-8 cannot; its replacement is JSON's own escape.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def from_text(text: str, feature: str, params: type[Params], source: str = "presets") -> tuple[Preset, ...]:
    """Parse the presets of a feature.

    Args:
        params: The feature's parameters, by which values are checked.
        source: What errors call the text.

    Raises:
        FormatError: The text as a whole is not the presets of `feature`. A mistake within one preset is its `fault`.
    """
    if len(text) > MAX_BYTES:
        raise FormatError(source, 1, 1, f"presets of {len(text)} characters; at most {MAX_BYTES} are read")
    try:
        data = json.loads(text, parse_int=_integer)
    except json.JSONDecodeError as error:
        raise FormatError(source, error.lineno, error.colno, f"not JSON: {error.msg}") from None
    except RecursionError:
        raise FormatError(source, 1, 1, "nested too deeply to be presets") from None
    places: dict[tuple[str, ...], int] = {}
    repeated: list[tuple[str, ...]] = []
    for path, at in _keys(text):
        if path in places:
            repeated.append(path)
        places[path] = at

    def fail(message: str, *path: str) -> FormatError:
        at = next((places[path[:n]] for n in range(len(path), 0, -1) if path[:n] in places), 0)
        return FormatError(source, text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at), message)

    if not isinstance(data, dict) or data.get(KEY) != VERSION:
        raise fail(f'not presets: the key "{KEY}" must be {VERSION}', KEY)
    for key in data:
        if key not in (KEY, "feature", "presets"):
            raise fail(f"unknown key {_short(key)}; keys are {KEY}, feature, presets", key)
    if data.get("feature") != feature:
        raise fail(f"these presets are not for {feature}", "feature")
    table = data.get("presets", {})
    if not isinstance(table, dict):
        raise fail("presets must be a table of names", "presets")
    if repeated:
        raise fail(f"{_short(repeated[0][-1])} is there twice", *repeated[0])
    return tuple(_preset(name, values, params, fail) for name, values in table.items())


def _preset(name: str, values: Any, params: type[Params], fail: Any) -> Preset:
    path = ("presets", name)
    try:
        check_name(name)
    except InvalidParam as error:
        raise fail(f"preset {_short(name)}: the name {error.expected}", *path) from None
    if not isinstance(values, dict):
        raise fail(f"preset {_short(name)} must be a table of parameters", *path)
    try:
        return Preset(name, _checked(values, params))
    except InvalidParam as error:
        return Preset(name, values, fail(f"{_short(name)}: {_short(error.name)}: {error.expected}", *path, error.name))


def _checked(values: Mapping[str, Any], params: type[Params]) -> dict[str, Any]:
    kinds = {p.name: p.kind for p in declared(params)}
    for name, value in values.items():
        if kinds.get(name) == "ref":
            raise InvalidParam(name, value, "belongs to one scene; leave it out of presets")
        if isinstance(value, str) and any(unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t" for c in value):
            raise InvalidParam(name, value, "has control characters")
    record = params.from_dict(values)
    for name in values:
        if isinstance(getattr(record, name), np.ndarray):
            raise InvalidParam(name, values[name], "is animated; a preset holds one number")
    plain = record.to_dict()
    return {name: plain[name] for name in values}


def read(path: Path, feature: str, params: type[Params]) -> tuple[Preset, ...]:
    """The presets in a file; none where there is no file."""
    if not path.exists():
        return ()
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            raise FormatError(str(path), 1, 1, f"must be a file of at most {MAX_BYTES} bytes")
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError(str(path), 1, 1, "is not UTF-8 text") from None
    except OSError as error:
        raise FormatError(str(path), 1, 1, f"cannot be read: {error.strerror}") from None
    return from_text(text, feature, params, str(path))


def shipped(feature: str, params: type[Params]) -> tuple[Preset, ...]:
    """The presets of a feature that come with Troupe."""
    return read(SHIPPED / f"{feature}.json", feature, params)


_MARK = re.compile(r'("(?:[^"\\]|\\.)*")(\s*:)?|[{}\[\]]')


def _keys(text: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """The keys of the outer three levels of valid JSON, each with the keys it lies in, and where they stand."""
    path: list[str] = []
    for mark in _MARK.finditer(text):
        if mark[0] in "{[":
            path.append("")
        elif mark[0] in "}]":
            path.pop()
        elif mark[2] and len(path) <= 3:
            path[-1] = json.loads(mark[1])
            yield tuple(path), mark.start()


def _integer(digits: str) -> int | float:
    """A whole number; one beyond every range becomes a float, for long ones take long and overflow later."""
    return int(digits) if len(digits) <= 18 else float(digits)


def _short(text: str) -> str:
    return repr(text if len(text) <= MAX_NAME else f"{text[:MAX_NAME]}…")
