"""Statements that others add to the language: a word, and a function that is called when an actor comes to it.

    statements = Statements()
    statements.add("juggle", lambda call: call.do("Juggle", seconds=call.number(0)))

A script may then say `juggle 3` or `py: juggle(3)`; commas part further arguments. Only functions that were added here
can be reached from a text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import InvalidParam
from ..language.lexer import At, key_of
from ..language.reader import RESERVED
from .cast import Actor
from .properties import Value, number

if TYPE_CHECKING:
    from .doing import Doing


@dataclass(frozen=True)
class StatementCall:
    """What a registered statement knows and may do.

    Attributes:
        actor: Who came to the statement.
        time: When [s].
        arguments: Their values.
    """

    play: Doing
    actor: Actor
    time: float
    arguments: tuple[Value, ...]
    at: At

    def number(self, index: int, default: float = 0.0) -> float:
        """An argument as a number."""
        return number(self.arguments[index]) if index < len(self.arguments) else default

    def text(self, index: int, default: str = "") -> str:
        """An argument as text."""
        value = self.arguments[index] if index < len(self.arguments) else default
        return value if isinstance(value, str) else f"{value}"

    def do(self, name: str, seconds: float | None = None) -> None:
        """Let the actor do a script, action or verb, for a time where `seconds` is given."""
        self.play.perform(self.actor, self.play.company.doing(name, self.at), None, self.time, seconds)

    def set(self, name: str, value: Value) -> None:
        """Set a property of the actor."""
        self.play.assign(self.actor, self.actor, key_of(name), value, self.time)

    def get(self, name: str) -> Value:
        """Read a property of the actor."""
        return self.play.board.read(self.actor, self.actor, key_of(name), self.time, None)

    def note(self, text: str) -> None:
        """Write into the log."""
        self.play.log(self.time, "note", actor=self.actor.name, what=text)


StatementFunction = Callable[[StatementCall], None]


class Statements:
    """The statements that a play knows besides its own."""

    def __init__(self) -> None:
        self._functions: dict[str, StatementFunction] = {}

    def add(self, word: str, function: StatementFunction) -> None:
        """Let `word` begin a statement.

        Raises:
            InvalidParam: The word is not a single new word of letters.
        """
        key = word.casefold()
        if not word.isidentifier() or key in RESERVED or key in self._functions:
            raise InvalidParam("statement", word, "must be a single word that is not in use")
        self._functions[key] = function

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def get(self, word: str) -> StatementFunction | None:
        """The function of a word."""
        return self._functions.get(word.casefold())
