"""TOML with places: the data of a text, and where each of its keys stands.

`tomllib` tells no places, so `Places` goes over the text itself. It also refuses deep nesting beforehand: on a key of
many dots `tomllib` takes time that grows with the square of their number.
"""

from __future__ import annotations

import bisect
import re
import tomllib
from contextlib import suppress
from typing import Any, NamedTuple

from ..errors import FormatError

MAX_CHARACTERS, MAX_DEPTH = 1_000_000, 8

Key = tuple[str | int, ...]


class Place(NamedTuple):
    """Where in a text: line and column from 1."""

    line: int
    column: int


def loads(text: str, source: str) -> tuple[dict[str, Any], Places]:
    """The data of a TOML text and the places of its keys; FormatError when it is none, too large or too deep."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if len(text) > MAX_CHARACTERS:
        raise FormatError(source, 1, 1, f"{len(text)} characters; at most {MAX_CHARACTERS} are read")
    places = Places(text, source)
    try:
        return tomllib.loads(text), places
    # a whole number of thousands of digits is a plain ValueError without a place
    except (ValueError, RecursionError) as error:
        found = re.search(r" \(at line (\d+), column (\d+)\)$", str(error))
        at = Place(int(found[1]), int(found[2])) if found else places.end
        message = str(error)[: found.start() if found else 200].removesuffix(" (at end of document)")
        raise FormatError(source, *at, f"not TOML: {message}") from None


class _Lost(Exception):
    """The text is no TOML from here on; `tomllib` will say why."""


class Places:
    """Where the keys and array items of a TOML text stand, by path; array tables are numbered from 0."""

    _SPACE = re.compile(r"(?:[ \t]|#[^\n]*)*+")
    _LINES = re.compile(r"(?:[ \t\n]|#[^\n]*)*+")
    _KEY = re.compile(r"""[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'""")
    _DOT = re.compile(r"[ \t]*+\.[ \t]*+")
    _TEXT = re.compile(r"""\"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'|[^\s,\]}#"'\[{][^,\]}#\n]*+""")
    _LONG = (
        re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*+"{3,5}', re.S),
        re.compile(r"'''(?:[^']|'(?!''))*+'{3,5}"),
    )

    def __init__(self, text: str, source: str) -> None:
        self._text, self._source, self._i = text, source, 0
        self._lines = [0, *(m.end() for m in re.finditer("\n", text))]
        self._found: dict[Key, int] = {(): 0}
        self._counts: dict[Key, int] = {}
        self.end = self._place(len(text))
        with suppress(_Lost):
            self._document()

    def of(self, key: Key) -> Place:
        """The place of a key, or of the nearest table around it."""
        while key not in self._found:
            key = key[:-1]
        return self._place(self._found[key])

    def _place(self, at: int) -> Place:
        line = bisect.bisect(self._lines, at)
        return Place(line, at - self._lines[line - 1] + 1)

    def _take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._i)
        if match is None:
            raise _Lost
        self._i = match.end()
        return match.group()

    def _accept(self, word: str) -> bool:
        if not self._text.startswith(word, self._i):
            return False
        self._i += len(word)
        return True

    def _expect(self, word: str) -> None:
        if not self._accept(word):
            raise _Lost

    def _check_depth(self, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise FormatError(self._source, *self._place(self._i), f"nested more than {MAX_DEPTH} deep")

    def _document(self) -> None:
        table: Key = ()
        while self._take(self._LINES) is not None and self._i < len(self._text):
            start = self._i
            if self._accept("["):
                several = self._accept("[")
                self._take(self._SPACE)
                table = ()
                parts = self._dotted()
                for n, part in enumerate(parts, 1):
                    table = (*table, part)
                    self._found.setdefault(table, start)
                    if several and n == len(parts):
                        self._counts[table] = self._counts.get(table, 0) + 1
                    if table in self._counts:
                        table = (*table, self._counts[table] - 1)
                        self._found.setdefault(table, start)
                self._take(self._SPACE)
                self._expect("]]" if several else "]")
            else:
                self._pair(table)
            self._take(self._SPACE)
            if self._i < len(self._text):
                self._expect("\n")

    def _dotted(self) -> list[str]:
        parts: list[str] = []
        while True:
            word = self._take(self._KEY)
            parts.append(_unquoted(word))
            self._check_depth(len(parts))
            if not self._DOT.match(self._text, self._i):
                return parts
            self._take(self._DOT)

    def _pair(self, table: Key) -> None:
        start = self._i
        for part in self._dotted():
            table = (*table, part)
            self._found.setdefault(table, start)
        self._check_depth(len(table))
        self._take(self._SPACE)
        self._expect("=")
        self._take(self._SPACE)
        self._value(table)

    def _value(self, path: Key) -> None:
        self._check_depth(len(path))
        if self._text.startswith(('"""', "'''"), self._i):
            self._take(self._LONG[self._text[self._i] == "'"])
        elif self._accept("["):
            for n in range(len(self._text)):
                self._take(self._LINES)
                if self._accept("]"):
                    return
                self._found[(*path, n)] = self._i
                self._value((*path, n))
                self._take(self._LINES)
                if not self._accept(","):
                    self._expect("]")
                    return
        elif self._accept("{"):
            self._take(self._LINES)
            while not self._accept("}"):
                self._pair(path)
                self._take(self._LINES)
                if not self._accept(","):
                    self._expect("}")
                    return
                self._take(self._LINES)
        else:
            self._take(self._TEXT)


def _unquoted(word: str) -> str:
    """A key as `tomllib` reads it."""
    if word[0] not in "\"'":
        return word
    try:
        return next(iter(tomllib.loads(f"{word}=0")))
    except ValueError:
        raise _Lost from None
