"""Words of the acting language: names, numbers and signs, each with its place in the text.

Keywords are case-insensitive words; a name in double quotes may hold spaces and any sign but the quote; `#` and `//`
begin a comment. An underscore and a space are the same inside names, so `Walk_To_Door` is `walk to door`, and between
the words of a keyword, so `DECISION_RULE` is `DECISION RULE`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ...errors import FormatError

MAX_TEXT = 1_000_000
MAX_NAME = 120

_JOINED = """decision rule, script group, choose from, entire set of, based on, avoiding repeats, wait for, wait until,
continue for, continue until, is done, it is, does not equal, is greater than, is not greater than, is less than,
is not less than, greater than, not greater than, less than, not less than, to within"""
JOINED = frozenset(phrase.strip().replace(" ", "_") for phrase in _JOINED.split(","))
"""Keywords of several words as they are written with underscores; as names they need quotes."""

WORD, STRING, NUMBER, SIGN, END = "word", "string", "number", "sign", "end"


@dataclass(frozen=True)
class At:
    """A place in a text: line and column count from 1."""

    source: str = "script"
    line: int = 1
    column: int = 1

    def error(self, message: str) -> FormatError:
        """The error that names this place."""
        return FormatError(self.source, self.line, self.column, message)


class Token(NamedTuple):
    """One word, string, number or sign; `key` is how keywords and signs are compared."""

    kind: str
    text: str
    key: str
    start: int
    stop: int


_TOKEN = re.compile(
    r"""(?P<skip>\s+|\#[^\n]*|//[^\n]*)
      | (?P<string>"[^"\n]*")
      | (?P<curly>[“”][^"“”\n]*["“”])
      | (?P<number>(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?(?![\w.]))
      | (?P<unit>(?:\d+\.?\d*|\.\d+)(?=(?:s|seconds?|minutes?|min|frames?)\b))
      | (?P<both>his/her\b|her/his\b)
      | (?P<poss>['’]s\b)
      | (?P<tick>['’][^\W\d]\w*)
      | (?P<word>[^\W\d]\w*)
      | (?P<sign>=>|[{}()\[\],;:+*/=-])""",
    re.VERBOSE | re.IGNORECASE,
)


def key_of(name: str) -> str:
    """What names are compared by: case, underscores and repeated spaces do not count."""
    return " ".join(name.replace("_", " ").split()).casefold()


def place(text: str, offset: int, source: str) -> At:
    """The line and column of a character."""
    return At(source, text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


def tokens(text: str, source: str = "script") -> list[Token]:
    """All tokens of a text and one END.

    Raises:
        FormatError: A sign that the language does not have, a string without its closing quote, or a text too long.
    """
    if len(text) > MAX_TEXT:
        raise FormatError(source, 1, 1, f"a script of {len(text)} characters; at most {MAX_TEXT} are read")
    found: list[Token] = []
    at, end = 0, len(text)
    for match in _TOKEN.finditer(text):
        start, stop = match.span()
        if start != at:
            break
        at, kind = stop, match.lastgroup
        if kind == "skip":
            continue
        word = match.group()
        if kind == "sign":
            found.append(Token(SIGN, word, word, start, stop))
        elif kind == "word":
            if stop - start > MAX_NAME:
                raise place(text, start, source).error(
                    f"a word of {stop - start} characters; at most {MAX_NAME} are read"
                )
            if "_" in word and word.casefold() in JOINED:
                found += _parted(word, start)
            else:
                found.append(Token(WORD, word, word.casefold(), start, stop))
        elif kind == "tick":
            found.append(Token(SIGN, word[1:], "'", start, stop))
        elif kind in ("string", "curly"):
            name = word[1:-1].strip()
            if len(name) > MAX_NAME and "say" not in (t.key for t in found[-1:]):
                raise place(text, start, source).error(f"a name of {len(name)} characters; at most {MAX_NAME} are read")
            found.append(Token(STRING, name, '"', start, stop))
        elif kind in ("number", "unit"):
            found.append(Token(NUMBER, word, word, start, stop))
        elif kind == "both":
            found.append(Token(WORD, word, "his/her", start, stop))
        else:
            found.append(Token(SIGN, word, "'s", start, stop))
    if at < end:
        raise _stray(text, at, source)
    found.append(Token(END, "the end of the text", "", end, end))
    return found


def _parted(word: str, start: int) -> list[Token]:
    return [Token(WORD, m[0], m[0].casefold(), start + m.start(), start + m.end()) for m in re.finditer("[^_]+", word)]


def _stray(text: str, at: int, source: str) -> FormatError:
    where = place(text, at, source)
    if text[at] in '"“”':
        return where.error('a name has no closing quote; add " before the end of the line')
    if text[at].isdigit() or text[at] == ".":
        return where.error("not a number; write it like 3, 0.5 or .5")
    return where.error(f"the sign {text[at]!r} has no meaning here; put names that contain it between double quotes")


def suggestion(name: str, known: Iterable[str]) -> str:
    """`did you mean "..."?`, or an empty text when nothing is near."""
    by_key, key = {key_of(k): k for k in known}, key_of(name)[:60]
    longer = [k for k in by_key if len(key) > 2 and k.startswith(f"{key} ")]
    near = longer or difflib.get_close_matches(key, list(by_key), 1, 0.6)
    return f'did you mean "{by_key[near[0]].replace("_", " ")}"?' if near else ""
