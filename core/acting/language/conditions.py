"""Conditions and expressions of the acting language: comparisons, tags, `is done`, and, or, not, arithmetic.

`and` binds tighter than `or`. A bracket may hold a condition or an expression; which one shows when it closes, so
nothing is read twice and deep nesting costs no more than its length.
"""

from __future__ import annotations

from collections.abc import Callable

from .lexer import NUMBER, STRING, WORD
from .reader import RESERVED, Reader
from .syntax import (
    EQUALS,
    GREATER,
    LESS,
    NOT_EQUAL,
    NOT_GREATER,
    NOT_LESS,
    PRONOUNS,
    AllOf,
    AnyOf,
    Arithmetic,
    Compare,
    Condition,
    Current,
    CurrentIs,
    Expr,
    IsDone,
    Not,
    Number,
    PropIs,
    PropRef,
    Range,
    Ref,
    Tag,
    Text,
    Truth,
    Truthy,
    Vector,
)

_OPERATORS = (
    ("does not equal", NOT_EQUAL),
    ("is not greater than", NOT_GREATER),
    ("is greater than", GREATER),
    ("is not less than", NOT_LESS),
    ("is less than", LESS),
    ("not greater than", NOT_GREATER),
    ("greater than", GREATER),
    ("not less than", NOT_LESS),
    ("less than", LESS),
    ("equals", EQUALS),
)
OWNERS = ("my", "its", "his", "her", "his/her", "their")
MAX_TERMS = 100
"""Of sums and products in each other; every term is nested in the next."""
_WANTED = "a property, a number, a name or a condition"


class ConditionReader(Reader):
    """Reads conditions and expressions."""

    def condition(self) -> Condition:
        """A whole condition."""
        return _truth(self._any())

    def _any(self) -> Condition | Expr:
        first = self._all()
        if not self.word("or"):
            return first
        terms = [_truth(first)]
        while self.take("or"):
            terms.append(_truth(self._all()))
        return AnyOf(tuple(terms))

    def _all(self) -> Condition | Expr:
        first = self._not()
        if not self.word("and"):
            return first
        terms = [_truth(first)]
        while self.take("and"):
            terms.append(_truth(self._not()))
        return AllOf(tuple(terms))

    def _not(self) -> Condition | Expr:
        negations = 0
        while self.word("not") and not (self.words("not greater than") or self.words("not less than")):
            self.step()
            negations += 1
        term = self._comparison()
        if negations % 2:
            return Not(_truth(term))
        return _truth(term) if negations else term

    def _comparison(self) -> Condition | Expr:
        if self.take("it is"):
            negated = self.take("not")
            tag = Tag(self.name("a tag"))
            return Not(tag) if negated else tag
        if self.word("current") and self.after().kind in (WORD, STRING):
            return self._current()
        if self.is_name() and self.after().key == "is" and self.after(2).key == "done" and self.after(2).kind == WORD:
            at = self.here()
            name = self.step().text
            self.index += 2
            return IsDone(name, at)
        left = self._sum()
        if not isinstance(left, _EXPRESSIONS):
            return left
        return self._rest(left)

    def _rest(self, left: Expr) -> Condition | Expr:
        for phrase, operator in _OPERATORS:
            if self.take(phrase):
                return self._compare(left, operator)
        if not self.word("is"):
            return left
        self.step()
        negated = self.take("not")
        found: Condition
        if isinstance(left, PropRef):
            right = self._sum()
            if not isinstance(right, _EXPRESSIONS):
                raise self.fail("a value")
            found = PropIs(left, right)
        elif isinstance(left, (Ref, Text)):
            owner = left if isinstance(left, Ref) else Ref(left.value, False, left.at)
            found = Truthy(PropRef(owner, self.name("a tag"), None, owner.at))
        else:
            raise self.fail('a comparison such as "equals" or "is greater than"')
        return Not(found) if negated else found

    def _compare(self, left: Expr, operator: str) -> Condition:
        right = self._sum()
        if not isinstance(right, _EXPRESSIONS):
            raise self.fail("something to compare with")
        within = above = below = None
        if self.take("to within") or self.take("within"):
            if self.is_number():
                within = self._spread()
            while self.word("above", "below"):
                if self.step().key == "above":
                    above = self._spread()
                else:
                    below = self._spread()
        return Compare(left, operator, right, within, above, below)

    def _spread(self) -> float:
        at = self.here()
        value = self.number("how far (a number)")
        if value < 0:
            raise at.error(f"a spread of {value:g}; it must be 0 or more")
        return value

    def _current(self) -> Condition | Expr:
        at = self.here()
        self.step()
        group = self.name("a group")
        if self.word("is"):
            self.step()
            negated = self.take("not")
            found = CurrentIs(group, self.name("a tag"), at)
            return Not(found) if negated else found
        if self.word("equals") or self.words("does not equal"):
            return self._rest(PropRef(Current(group, at), "name", None, at))
        return self._rest(PropRef(Current(group, at), self.name("a property"), None, at))

    def expression(self) -> Expr:
        """A value: a property, number, text or arithmetic on them."""
        found = self._sum()
        if not isinstance(found, _EXPRESSIONS):
            raise self.fail("a value, not a condition")
        return found

    def _sum(self) -> Condition | Expr:
        left = self._product()
        while self.sign("+", "-") and isinstance(left, _EXPRESSIONS):
            left = self._joined(left, self._product)
        return left

    def _product(self) -> Condition | Expr:
        left = self._primary()
        while self.sign("*", "/") and isinstance(left, _EXPRESSIONS):
            left = self._joined(left, self._primary)
        return left

    def _joined(self, left: Expr, read: Callable[[], Condition | Expr]) -> Arithmetic:
        at, sign = self.here(), self.step().key
        found = Arithmetic(sign, left, self._operand(read()))
        if found.depth > MAX_TERMS:
            raise at.error(f"a sum or product of more than {MAX_TERMS} terms")
        return found

    def _operand(self, found: Condition | Expr) -> Expr:
        if not isinstance(found, _EXPRESSIONS):
            raise self.fail("a number or property")
        return found

    def _primary(self) -> Condition | Expr:
        token = self.now
        if token.kind == NUMBER or self.sign("-", "+"):
            return Number(self.number())
        if self.sign("["):
            return Vector(self.vector())
        if self.sign("("):
            with self.brackets("("):
                return self._any()
        if self.take("between"):
            lo = self.number()
            self.need("and")
            hi = self.number()
            return Range(min(lo, hi), max(lo, hi))
        if self.word(*OWNERS) or self.word("current"):
            return self.property()
        if self.word("true", "false", "yes", "no"):
            return Truth(self.step().key in ("true", "yes"))
        if token.kind == STRING or (token.kind == WORD and token.key not in RESERVED):
            if self.after().key == "'s":
                return self.property()
            at = self.here()
            if token.kind == WORD and token.key in PRONOUNS:
                return self.ref()
            return Text(self.step().text, at)
        raise self.fail(_WANTED, ("my", "its", "between", "not", "current"))

    def property(self) -> PropRef:
        """`my "mood"`, `its "mood"`, `Otto's "mood" toward player`, `current "Joke" "completed"`."""
        at = self.here()
        owner: Ref | Current
        if self.word("current"):
            self.step()
            owner = Current(self.name("a group"), at)
        elif self.word(*OWNERS):
            owner = Ref("me" if self.step().key == "my" else "it", True, at)
        else:
            owner = self.ref()
            if not self.take_sign("'s"):
                raise self.fail("'s and the name of a property")
        name = self.name("a property")
        toward = self.ref() if self.take("toward") or self.take("towards") else None
        return PropRef(owner, name, toward, at)


_EXPRESSIONS = (PropRef, Number, Text, Truth, Vector, Range, Arithmetic, Ref)


def _truth(found: Condition | Expr) -> Condition:
    if isinstance(found, Text):
        return Tag(found.value)
    return Truthy(found) if isinstance(found, _EXPRESSIONS) else found
