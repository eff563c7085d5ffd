"""Interpolants of actions as small trees: read from infix or postfix text, checked, and evaluated on arrays of time.

Nothing of the text is ever run as a program; what a tree may call is what a `Signals` lists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from ...errors import InvalidParam, TroupeError
from ...maths.noise import Noise
from .signals import OF_MOMENTS, Moments, Signals
from .tabletokens import Cursor, Token, suggestion


@dataclass(frozen=True)
class Number:
    """A constant."""

    value: float


@dataclass(frozen=True)
class Name:
    """A signal or a style parameter; `at` is where it stands, for errors."""

    name: str
    at: Token | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Call:
    """A function or operator of other expressions; `size` counts all that it is made of."""

    function: str
    arguments: tuple[Expression, ...]
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        size = 1 + sum(a.size if isinstance(a, Call) else 1 for a in self.arguments)
        object.__setattr__(self, "size", size)


Expression = Number | Name | Call
Params = Mapping[str, Any]
"""Style parameters by name: numbers or (T,) arrays."""
Evaluator = Callable[[Moments, Params], Any]
"""Gives a number or a (T,) array."""
Shared = Mapping["Call", str]
"""Parts of trees that are kept under a name once they are evaluated."""

ZERO = Number(0.0)
MAX_SIZE = 300
"""Of an expression; a named value counts wherever it is used."""
MAX_DEPTH = 40
"""Of brackets and signs within each other."""


def names(expression: Expression) -> Iterator[Name]:
    """Every name in a tree."""
    if isinstance(expression, Name):
        yield expression
    elif isinstance(expression, Call):
        for argument in expression.arguments:
            yield from names(argument)


def simplified(expression: Expression, signals: Signals) -> Expression:
    """The tree with every part that holds no name replaced by its value."""
    if not isinstance(expression, Call):
        return expression
    arguments = tuple(simplified(a, signals) for a in expression.arguments)
    if expression.function not in OF_MOMENTS and all(isinstance(a, Number) for a in arguments):
        with np.errstate(all="ignore"):
            value = float(signals.functions[expression.function][1](*(a.value for a in arguments)))  # type: ignore[union-attr]
        if np.isfinite(value):
            return Number(value)
    return Call(expression.function, arguments)


def evaluator(
    expression: Expression, signals: Signals, params: Params, shared: Shared = MappingProxyType({})
) -> Evaluator:
    """A function that evaluates a tree; names of `params` are style parameters, all others signals.

    Parts that are `shared` are evaluated once for the same moments.
    """
    if isinstance(expression, Number):
        value = expression.value
        return lambda moments, style: value
    if isinstance(expression, Name):
        name = expression.name
        if name in params:
            return lambda moments, style: style[name]
        read = signals.reader(name)
        return lambda moments, style: read(moments)
    evaluate = _called(expression, signals, params, shared)
    if expression not in shared:
        return evaluate
    key = shared[expression]

    def once(moments: Moments, style: Params) -> Any:
        known = moments.cache.get(key)
        if known is None:
            known = moments.cache[key] = evaluate(moments, style)
        return known

    return once


def _called(expression: Call, signals: Signals, params: Params, shared: Shared) -> Evaluator:
    function = signals.functions[expression.function][1]
    parts = [evaluator(a, signals, params, shared) for a in expression.arguments]
    if len(parts) == 1:
        first = parts[0]
        if expression.function in OF_MOMENTS:
            return lambda moments, style: function(moments, first(moments, style))
        return lambda moments, style: function(first(moments, style))
    if len(parts) == 2:
        left, right = parts
        return lambda moments, style: function(left(moments, style), right(moments, style))
    return lambda moments, style: function(*(p(moments, style) for p in parts))


def shared_parts(expressions: Iterable[Expression], owner: str) -> Shared:
    """Parts that occur more than once in the trees of an action, each with a name under which it is kept."""
    counts = Counter(part for e in expressions for part in _calls(e))
    return {part: f"{owner}: {show(part)}" for part, count in counts.items() if count > 1}


def _calls(expression: Expression) -> Iterator[Call]:
    if isinstance(expression, Call):
        yield expression
        for argument in expression.arguments:
            yield from _calls(argument)


def show(expression: Expression) -> str:
    """A tree as infix text that reads back to an equal tree."""
    if isinstance(expression, Number):
        return f"{expression.value:.15g}"
    if isinstance(expression, Name):
        return expression.name
    parts = [show(a) for a in expression.arguments]
    if expression.function in "+-*/":
        return f"({parts[0]} {expression.function} {parts[1]})"
    return f"{expression.function}({', '.join(parts)})"


def call(cursor: Cursor, signals: Signals, function: Token, arguments: tuple[Expression, ...], where: str) -> Call:
    """A call whose constant arguments have been tried, so that a wrong one is refused where it stands."""
    if function.text in ("bias", "gain") and isinstance(arguments[1], Number):
        try:
            signals.functions[function.text][1](0.5, arguments[1].value)
        except TroupeError as error:
            cursor.fail(f"{error}{where}", function)
    return _made(cursor, function, function.text, arguments)


def _made(cursor: Cursor, at: Token, function: str, arguments: tuple[Expression, ...]) -> Call:
    made = Call(function, arguments)
    if made.size > MAX_SIZE:
        cursor.fail(f"an expression of more than {MAX_SIZE} parts", at)
    return made


class Infix:
    """Reads infix expressions; several may follow each other, parted by spaces or commas.

    A sign with a space before it and none behind it begins a new expression: `N0 -1` are two, `N0 - 1` is one.
    """

    def __init__(self, cursor: Cursor, signals: Signals) -> None:
        self.cursor, self.signals, self.depth = cursor, signals, 0

    def read(self) -> Expression:
        """One expression."""
        left = self._product()
        while self._operator("+", "-"):
            sign = self.cursor.take()
            left = _made(self.cursor, sign, sign.text, (left, self._product()))
        return simplified(left, self.signals)

    def _operator(self, *marks: str) -> bool:
        word = self.cursor.next
        if word.kind != "mark" or word.text not in marks:
            return False
        starts_anew = word.text in "+-" and not word.glued and self.cursor.peek().glued
        return not starts_anew

    def _product(self) -> Expression:
        left = self._factor()
        while self._operator("*", "/"):
            mark = self.cursor.take()
            left = _made(self.cursor, mark, mark.text, (left, self._factor()))
        return left

    def _factor(self) -> Expression:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.cursor.fail(f"nested more than {MAX_DEPTH} deep")
        found = self._single()
        self.depth -= 1
        return found

    def _single(self) -> Expression:
        cursor = self.cursor
        word = cursor.take()
        if word.kind == "mark" and word.text in "+-":
            inner = self._factor()
            if word.text == "+":
                return inner
            return Number(-inner.value) if isinstance(inner, Number) else _made(cursor, word, "neg", (inner,))
        if word.kind == "number":
            return Number(float(word.text))
        if word.kind == "mark" and word.text == "(":
            inner = self.read()
            cursor.expect(")", "to close the bracket")
            return inner
        if word.kind != "word":
            cursor.fail(f"expected a number, a signal or a bracket, found {word.text!r}", word)
        if not (cursor.is_mark("(") and cursor.next.glued):
            return Name(word.text, word)
        if word.text not in self.signals.functions:
            known = [n for n in self.signals.functions if n[0].isalpha()]
            cursor.fail(f"no function {word.text!r}; {suggestion(word.text, known)}", word)
        cursor.take()
        arguments = [self.read()]
        while not cursor.is_mark(")"):
            if cursor.is_mark(","):
                cursor.take()
            arguments.append(self.read())
        cursor.take()
        wanted = self.signals.functions[word.text][0]
        if len(arguments) != wanted:
            cursor.fail(f"{word.text} takes {wanted} arguments, not {len(arguments)}", word)
        return call(cursor, self.signals, word, tuple(arguments), "")


def read_postfix(
    cursor: Cursor, signals: Signals, stop: tuple[str, ...], known: Mapping[str, Expression], where: str
) -> list[Expression]:
    """What a row of postfix words leaves on the stack.

    Args:
        cursor: Stands on the first word; is left on the stopping mark.
        signals: Whose functions are operators.
        stop: Marks that end the row.
        known: Names that stand for expressions read before.
        where: Added to complaints, for instance " in the line of Rhip".
    """
    stack: list[Expression] = []
    while not (cursor.next.kind == "mark" and cursor.next.text in stop):
        if cursor.signed_number_next() and (cursor.next.kind == "number" or not cursor.next.glued):
            stack.append(Number(cursor.number("a number")))
            continue
        word = cursor.take()
        if word.kind == "end" or (word.kind == "mark" and word.text not in signals.functions):
            cursor.fail(f"expected a number, a name or an operator{where}, found {word.text!r}", word)
        if word.text in signals.functions:
            count = signals.functions[word.text][0]
            if len(stack) < count:
                cursor.fail(f"{word.text!r} needs {count} values before it{where}, there are {len(stack)}", word)
            arguments = tuple(stack[-count:])
            del stack[-count:]
            stack.append(simplified(call(cursor, signals, word, arguments, where), signals))
        else:
            stack.append(known.get(word.text, Name(word.text, word)))
    return stack


def constant(expression: Expression, signals: Signals, params: Params, noise_moments: Moments) -> tuple[float, bool]:
    """The value of an expression at one instant, and whether it would be another at other times."""
    varying = any(n.name not in params for n in names(expression))
    value = evaluator(expression, signals, params)(noise_moments, params)
    number = float(np.ravel(value)[0])
    if not np.isfinite(number):
        raise InvalidParam("extreme", number, "must be a finite number")
    return number, varying


def still(noise: Noise) -> Moments:
    """The instant at which expressions that must be constant are read: time and phase zero."""
    zero = np.zeros(1)
    return Moments(zero, zero, zero, noise)
