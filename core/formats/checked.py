"""Checked values out of parsed tables: each of its kind and in its range, or an error at its line and column."""

from __future__ import annotations

import difflib
import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from ..errors import FormatError, InvalidParam
from ..params import Param, Params, declared
from .toml import Key, Places

MAX_NAME, MAX_PATH = 63, 1_000
"""Bytes that Blender keeps of a name; characters of a path."""


def nearest(word: str, known: Iterable[str]) -> str:
    """What somebody who wrote `word` may have meant, as the end of a sentence."""
    names = list(known)
    near = difflib.get_close_matches(word[:100], names, 1)
    return f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names[:20]) or 'none'}"


class Checked:
    """Values of the right kind from parsed tables, or an error at their place; remembers every file named."""

    def __init__(self, source: str, places: Places, allowed: Iterable[str | Path]) -> None:
        self.source, self.places = source, places
        self._folder = Path(source).resolve().parent
        self._allowed = [self._folder, *(Path(folder).resolve() for folder in allowed)]
        self._made: set[str] = set()
        self._used = {os.path.normcase(Path(source).resolve()): "the job file itself"}

    def fail(self, key: Key, message: str) -> NoReturn:
        """Raise the error of a key."""
        raise FormatError(self.source, *self.places.of(key), message)

    def keys(self, key: Key, row: Mapping[str, Any], known: Collection[str]) -> None:
        """A table has no other keys than the known ones."""
        for name in row:
            if name not in known:
                self.fail((*key, name), f"unknown key {name[:80]!r}; {nearest(name, known)}")

    def table(self, key: Key, row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        """A table in a table; empty where it is left out."""
        value = row.get(name, {})
        if not isinstance(value, dict):
            self.fail((*key, name), f"{name} must be a table")
        return value

    def rows(self, key: Key, row: Mapping[str, Any], name: str, most: int) -> list[tuple[Key, Mapping[str, Any]]]:
        """The tables of an array of tables, with their keys; none where it is left out."""
        value = row.get(name, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.fail((*key, name), f"each {name} is a table of its own: write [[{name}]]")
        if len(value) > most:
            self.fail((*key, name, most), f"a job has at most {most} of [[{name}]]")
        return [((*key, name, n), item) for n, item in enumerate(value)]

    def text(self, key: Key, row: Mapping[Any, Any], name: str | int, what: str) -> str:
        """Printable text."""
        value = row[name]
        if not isinstance(value, str) or not value:
            self.fail((*key, name), f"{what} must be text in quotes")
        if not value.isprintable():
            self.fail((*key, name), f"{what} has control characters: {value[:80]!a}")
        return value

    def name(self, key: Key, row: Mapping[Any, Any], name: str | int, required: bool = False) -> str:
        """A name that Blender keeps whole; empty where it is left out and not required."""
        if name not in row:
            if required:
                self.fail(key, f"{name} is missing")
            return ""
        what = name if isinstance(name, str) else str(key[-1])
        value = self.text(key, row, name, what)
        if len(value.encode()) > MAX_NAME:
            self.fail((*key, name), f"{what} is longer than the {MAX_NAME} bytes that Blender keeps of a name")
        return value

    def number(self, key: Key, row: Mapping[Any, Any], name: str | int, lo: float, hi: float) -> float | None:
        """A number in a range; None where it is left out."""
        if name not in row:
            return None
        value = row[name]
        if type(value) not in (int, float) or not lo <= value <= hi:
            what = name if isinstance(name, str) else key[-1]
            self.fail((*key, name), f"{what} must be a number from {lo:g} to {hi:g}")
        return float(value)

    def params(
        self, key: Key, row: Mapping[str, Any], records: tuple[type[Params], ...], own: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        """Every parameter of the records, checked by the records themselves."""
        known = {p.name: p for record in records for p in declared(record)}
        self.keys(key, row, [*known, *own])
        values = {name: self._param(key, row, known[name]) for name in row}
        out: dict[str, Any] = {}
        for record in records:
            mine = {p.name: values[p.name] for p in declared(record) if p.name in values}
            try:
                out |= {p.name: getattr(record.from_dict(mine), p.name) for p in declared(record)}
            except InvalidParam as error:
                self.fail((*key, error.name), str(error)[:300])
        return out

    def _param(self, key: Key, row: Mapping[str, Any], p: Param) -> Any:
        value = row[p.name]
        if p.kind == "ref" and value:
            if p.ref == "output":
                path = self.output(key, row, p.name)
                self._made.add(os.path.normcase(str(path)))
                return str(path)
            return str(self.input(key, row, p.name)) if p.ref == "file" else self.name(key, row, p.name)
        if p.keyable and isinstance(value, list):
            self.fail((*key, p.name), f"{p.name} is one number here: key it in a scene to animate it")
        if p.kind == "text" and isinstance(value, str) and not value.replace("\n", "").replace("\t", "").isprintable():
            self.fail((*key, p.name), f"{p.name} has control characters: {value[:80]!a}")
        try:
            return p.check(value)
        except InvalidParam as error:
            self.fail((*key, p.name), str(error)[:300])
        # Python refuses to print a whole number of thousands of digits
        except ValueError:
            self.fail((*key, p.name), f"{p.name}: not a usable value")

    def input(self, key: Key, row: Mapping[str, Any], name: str, suffixes: tuple[str, ...] = ()) -> Path | None:
        """A file that is there, or that an earlier step writes."""
        if name not in row:
            return None
        path = self._path(key, row, name, suffixes)
        if not os.path.isfile(path) and os.path.normcase(path) not in self._made:
            self.fail((*key, name), f"no such file: {row[name]}")
        self._used.setdefault(os.path.normcase(path), f"also an input ({name})")
        return path

    def output(self, key: Key, row: Mapping[str, Any], name: str, suffixes: tuple[str, ...] = ()) -> Path | None:
        """A file to write, in a folder that is there, and no other file of the job."""
        if name not in row:
            return None
        path = self._path(key, row, name, suffixes)
        if not os.path.isdir(path.parent):
            self.fail((*key, name), f"no such folder: {Path(row[name]).parent}")
        if os.path.isdir(path):
            self.fail((*key, name), f"{row[name]} is a folder")
        self.derived((*key, name), path, name)
        return path

    def derived(self, key: Key, path: Path, name: str) -> None:
        """Note a file to write for the key `name`, and that no other file of the job is the same."""
        spot = os.path.normcase(path)
        if spot in self._used:
            self.fail(key, f"{path.name} is {self._used[spot]}; choose another name for {name}")
        self._used[spot] = f"also written as {name}"

    def _path(self, key: Key, row: Mapping[str, Any], name: str, suffixes: tuple[str, ...]) -> Path:
        value = self.text(key, row, name, name)
        if len(value) > MAX_PATH:
            self.fail((*key, name), f"a path has at most {MAX_PATH} characters")
        if suffixes and Path(value).suffix.lower() not in suffixes:
            self.fail((*key, name), f"{name} must be a file that ends in {' or '.join(suffixes)}")
        try:
            path = (self._folder / value).resolve()
        except (OSError, RuntimeError, ValueError):
            self.fail((*key, name), f"{value!r} is no path on this machine")
        if not any(path.is_relative_to(folder) for folder in self._allowed):
            self.fail((*key, name), f"{value} lies outside the job's folder; allow its folder with --allow-path DIR")
        return path
