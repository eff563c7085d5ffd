"""A cursor over the words of a script, with errors that say what was expected and what may have been meant."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cache

from ...errors import FormatError
from .lexer import END, NUMBER, SIGN, STRING, WORD, At, Token, suggestion, tokens
from .syntax import PRONOUNS, Ref

MAX_DEPTH = 40
MAX_NUMBER = 1e9
CLOSING = {"{": "}", "(": ")", "[": "]"}
_RESERVED = """define do choose from based on wait continue until for between and or not set cue repeat my its his her
is equals within to toward towards at with except entire others everyone does subset factor influence scale else over"""
RESERVED = frozenset(_RESERVED.split())
"""Words that are names only between quotes."""


@cache
def _split(phrase: str) -> tuple[str, ...]:
    """The words of a phrase that the language itself has."""
    return tuple(phrase.split())


class Reader:
    """Steps through tokens; every parser of the language is built on it.

    Attributes:
        statements: Words that begin statements which were registered.
    """

    def __init__(self, text: str, source: str, statements: Collection[str] = ()) -> None:
        self.text, self.source, self.statements = text, source, frozenset(statements)
        self.tokens = tokens(text, source)
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self.index = 0
        self.open: list[Token] = []

    @property
    def now(self) -> Token:
        return self.tokens[self.index]

    def after(self, steps: int = 1) -> Token:
        return self.tokens[min(self.index + steps, len(self.tokens) - 1)]

    def here(self, token: Token | None = None) -> At:
        start = (token or self.now).start
        line = bisect_right(self._lines, start)
        return At(self.source, line, start - self._lines[line - 1] + 1)

    def step(self) -> Token:
        token = self.now
        if token.kind != END:
            self.index += 1
        return token

    def fail(self, expected: str, known: Collection[str] = ()) -> FormatError:
        """The error at this token: what was expected, what is there, and the nearest known word or the open brace."""
        token = self.now
        found = f'"{token.text}"' if token.kind != END else token.text
        hint = suggestion(token.text, known) if token.kind in (WORD, STRING) else ""
        if not hint and self.open and (token.kind == END or token.key in ("define", "{")):
            first = self.open[-1]
            where = self.here(first)
            shut = CLOSING[first.key]
            hint = f'the "{first.key}" of line {where.line}, column {where.column} is not closed: add "{shut}"'
        return self.here().error(f"expected {expected}, found {found}" + (f"; {hint}" if hint else ""))

    def word(self, *keys: str) -> bool:
        """Whether this token is one of these keywords; an underscore joins words as a space would."""
        return self.now.kind == WORD and self.now.key in keys

    def words(self, phrase: str) -> bool:
        """Whether the next tokens are the words of a phrase."""
        tokens, at = self.tokens, self.index
        for word in _split(phrase):
            # the last token is no word, so this never runs over the end
            if tokens[at].kind != WORD or tokens[at].key != word:
                return False
            at += 1
        return True

    def take(self, phrase: str) -> bool:
        """Step over a phrase of keywords if it comes next."""
        if not self.words(phrase):
            return False
        self.index += len(_split(phrase))
        return True

    def need(self, phrase: str) -> None:
        if not self.take(phrase):
            raise self.fail(f'"{phrase}"', phrase.split())

    def sign(self, *keys: str) -> bool:
        return self.now.kind == SIGN and self.now.key in keys

    def take_sign(self, *keys: str) -> bool:
        if not self.sign(*keys):
            return False
        self.index += 1
        return True

    @contextmanager
    def brackets(self, *kinds: str) -> Iterator[None]:
        """Everything between one of these brackets and its partner."""
        if not self.sign(*kinds):
            raise self.fail(" or ".join(f'"{k}"' for k in kinds))
        opening = self.step()
        self.open.append(opening)
        if len(self.open) > MAX_DEPTH:
            raise self.here(opening).error(f"nested more than {MAX_DEPTH} deep")
        yield
        if not self.take_sign(CLOSING[opening.key]):
            raise self.fail(f'"{CLOSING[opening.key]}"')
        self.open.pop()

    def is_name(self) -> bool:
        token = self.now
        return token.kind == STRING or (token.kind == WORD and token.key not in RESERVED)

    def name(self, what: str) -> str:
        """A quoted name or a single bare word."""
        if not self.is_name() or not self.now.text:
            raise self.fail(f"the name of {what}" if what else "a name")
        return self.step().text

    def names(self) -> tuple[str, ...]:
        found = []
        while self.is_name() and self.now.key != "does":
            found.append(self.name("a member"))
            self.take_sign(",")
        return tuple(found)

    def number(self, what: str = "a number") -> float:
        negative = False
        while self.sign("-", "+"):
            negative ^= self.step().key == "-"
        if self.now.kind != NUMBER:
            raise self.fail(what)
        value = float(self.now.text) if len(self.now.text) < 40 else math.inf
        if value > MAX_NUMBER:
            raise self.here().error(f"a number larger than {MAX_NUMBER:g}")
        self.step()
        return -value if negative else value

    def is_number(self) -> bool:
        return self.now.kind == NUMBER or (self.sign("-", "+") and self.after().kind == NUMBER)

    def vector(self) -> tuple[float, ...]:
        """Two or three numbers between brackets [m]."""
        at = self.here()
        with self.brackets("[", "("):
            values = []
            while not self.sign("]", ")"):
                values.append(self.number("a coordinate"))
                self.take_sign(",")
        if len(values) not in (2, 3):
            raise at.error(f"a place has 2 or 3 coordinates, not {len(values)}")
        return tuple(values)

    def ref(self) -> Ref:
        """Someone: me, it, him, player, camera, target, or a name."""
        at = self.here()
        if self.now.kind == WORD and self.now.key in PRONOUNS:
            key = self.step().key
            return Ref("it" if key in ("him", "her", "them") else key, True, at)
        return Ref(self.name("someone"), False, at)
