"""Words of action tables, with the place of each, and a cursor over them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn

from ...errors import FormatError

MAX_NUMBER = 1e9
_TOKEN = re.compile(
    r"""(?P<gap>[ \t\r]+|\#[^\n]*|//[^\n]*)|(?P<line>\n)
    |(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<word>[^\W\d]\w*)
    |(?P<text>"[^"\n]*"|[“”][^"“”\n]*["“”])
    |(?P<tick>['’][^\W\d]\w*)
    |(?P<mark>=>|[-+*/(){}:,])""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Token:
    """One word: `kind` is number, word, text, tick, mark or end; `glued` when nothing parts it from the one before."""

    kind: str
    text: str
    line: int
    column: int
    glued: bool


def tokens(text: str, source: str, line: int = 1) -> list[Token]:
    """All words of a text, an end token last.

    Args:
        text: What is read.
        source: Name of the file or text for errors.
        line: Number of its first line.
    """
    out: list[Token] = []
    at = start = 0
    glued = False
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise FormatError(source, line, at - start + 1, f"{text[at]!r} has no meaning here")
        kind, word = str(match.lastgroup), match.group()
        if kind == "line":
            line, start, glued = line + 1, match.end(), False
        elif kind == "gap":
            glued = False
        else:
            if kind == "number" and (len(word) > 40 or float(word) > MAX_NUMBER):
                raise FormatError(source, line, at - start + 1, f"a number larger than {MAX_NUMBER:g} or too long")
            shown = word[1:-1].strip() if kind == "text" else word[1:] if kind == "tick" else word
            out.append(Token(kind, shown, line, at - start + 1, glued))
            glued = True
        at = match.end()
    out.append(Token("end", "the end", line, at - start + 1, False))
    return out


class Cursor:
    """Reads words one after the other."""

    def __init__(self, words: list[Token], source: str) -> None:
        self.words, self.source, self.at = words, source, 0

    @property
    def next(self) -> Token:
        """The word to be read, which stays."""
        return self.words[self.at]

    def peek(self, ahead: int = 1) -> Token:
        """A word further on."""
        return self.words[min(self.at + ahead, len(self.words) - 1)]

    def take(self) -> Token:
        """The word to be read, which is passed."""
        word = self.words[self.at]
        self.at = min(self.at + 1, len(self.words) - 1)
        return word

    def fail(self, message: str, at: Token | None = None) -> NoReturn:
        """Refuse the text at a word."""
        word = at or self.next
        raise FormatError(self.source, word.line, word.column, message)

    def is_mark(self, mark: str) -> bool:
        """Whether this mark comes next."""
        return self.next.kind == "mark" and self.next.text == mark

    def is_word(self, *names: str) -> bool:
        """Whether one of these plain words comes next, in any case."""
        return self.next.kind == "word" and self.next.text.lower() in names

    def expect(self, mark: str, where: str) -> Token:
        """Pass a mark that must be there."""
        if not self.is_mark(mark):
            self.fail(f"expected {mark!r} {where}, found {self.next.text!r}")
        return self.take()

    def name(self, what: str) -> Token:
        """Pass a name: a word, or anything in double quotes."""
        if self.next.kind not in ("word", "text"):
            self.fail(f"expected {what}, found {self.next.text!r}")
        return self.take()

    def signed_number_next(self) -> bool:
        """Whether a number comes next, perhaps with a sign glued to it."""
        if self.next.kind == "number":
            return True
        sign = self.next.kind == "mark" and self.next.text in "+-"
        return sign and self.peek().kind == "number" and self.peek().glued

    def number(self, what: str) -> float:
        """Pass a number, perhaps with a sign."""
        if not self.signed_number_next():
            self.fail(f"expected {what}, found {self.next.text!r}")
        sign = -1.0 if self.is_mark("-") else 1.0
        if self.next.kind != "number":
            self.take()
        return sign * float(self.take().text)


def suggestion(name: str, known: Iterable[str]) -> str:
    """What to add to a complaint about an unknown name."""
    choices = list(known)
    lowered = {c.lower(): c for c in reversed(choices)}
    near = difflib.get_close_matches(name.lower(), list(lowered), 1)
    return f"did you mean {lowered[near[0]]!r}?" if near else f"there are {', '.join(choices[:30])}"
