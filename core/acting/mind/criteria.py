"""Conditions compiled to closures that give a degree of truth: comparisons, tags, `is done`, and, or, not."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import TypeAlias

from ..language.lexer import key_of
from ..language.syntax import (
    EQUALS,
    AllOf,
    AnyOf,
    Compare,
    Condition,
    Current,
    CurrentIs,
    IsDone,
    Not,
    Number,
    PropIs,
    Range,
    Ref,
    Tag,
)
from .blackboard import EVERY_STEP
from .bodyport import NEAR
from .company import Company, VerbHolder
from .evaluation import Scope, current, expression
from .fuzzy import NEGATED, agreement
from .properties import Holder, Value, number, truth

Test: TypeAlias = Callable[[Scope], float]
KNOWN = 64
"""How many values a comparison with a constant remembers the degrees of: moods mostly go to and fro between few."""


def condition(c: Condition, company: Company) -> Test:
    """Compile a condition to its degree of truth: `and` is the least, `or` the most, `not` the rest to 1."""
    if isinstance(c, Compare):
        return _compare(c, company)
    if isinstance(c, PropIs):
        return _compare(Compare(c.prop, EQUALS, c.value), company)
    if isinstance(c, Not):
        inner = condition(c.term, company)
        return lambda scope: 1.0 - inner(scope)
    if isinstance(c, (AllOf, AnyOf)):
        return _several([condition(t, company) for t in c.terms], isinstance(c, AllOf))
    if isinstance(c, IsDone):
        return _is_done(c, company)
    if isinstance(c, CurrentIs):
        return _current_is(c, company)
    if isinstance(c, Tag):
        return _tag(key_of(c.name))
    value = expression(c.value, company)
    return lambda scope: min(max(truth(value(scope)), 0.0), 1.0)


def impersonal(c: object) -> bool:
    """Whether a condition, or a part of it, is the same for whoever asks: it names everybody it is about."""
    if isinstance(c, (Tag, IsDone, CurrentIs, Current)) or (isinstance(c, Ref) and c.pronoun):
        return False
    if isinstance(c, tuple):
        return all(map(impersonal, c))
    return not is_dataclass(c) or all(impersonal(getattr(c, f.name)) for f in fields(c))


def _several(tests: list[Test], every: bool) -> Test:
    settles = 0.0 if every else 1.0

    def combine(scope: Scope) -> float:
        reads, best = scope.reads, 1.0 - settles
        begun = 0 if reads is None else len(reads)
        for test in tests:
            read = 0 if reads is None else len(reads)
            degree = test(scope)
            if (degree < best) if every else (degree > best):
                best = degree
                if best == settles:
                    # while this one stays as it is, so does the whole, whatever the others become
                    if reads is not None:
                        del reads[begun:read]
                    break
        return best

    return combine


def _compare(c: Compare, company: Company) -> Test:
    left, right, operator = expression(c.left, company), expression(c.right, company), c.operator
    within = c.within or 0.0
    below = within if c.below is None else c.below
    above = within if c.above is None else c.above
    span = (c.right.lo, c.right.hi) if isinstance(c.right, Range) else None

    if isinstance(c.right, Number):
        span = (c.right.value, c.right.value)
    lo, hi = span or (0.0, 0.0)
    known: dict[Value, float] = {}

    def compare(scope: Scope) -> float:
        a = left(scope)
        if span is not None and not isinstance(a, (str, tuple)):
            degree = known.get(a)
            if degree is None:
                degree = agreement(number(a), lo, hi, operator, below, above)
                if len(known) < KNOWN:
                    known[a] = degree
            return degree
        b = right(scope)
        if isinstance(a, tuple) or isinstance(b, tuple):
            return _near(scope, a, b, operator, above)
        if isinstance(a, str) or isinstance(b, str):
            equal = _text(a) == _text(b)
            return float(equal != (operator in NEGATED))
        y = number(b)
        return agreement(number(a), y, y, operator, below, above)

    return compare


def _text(value: Value) -> str:
    return value.casefold() if isinstance(value, str) else ""


def _near(scope: Scope, a: Value, b: Value, operator: str, spread: float) -> float:
    first, second = (_place(scope, v) for v in (a, b))
    if first is None or second is None:
        return float(operator in NEGATED)
    apart = math.hypot(first[0] - second[0], first[1] - second[1])
    y = agreement(apart, 0.0, 0.0, EQUALS, 0.0, spread) if spread > 0.0 else float(apart <= NEAR)
    return 1.0 - y if operator in NEGATED else y


def _place(scope: Scope, value: Value) -> tuple[float, ...] | None:
    if isinstance(value, tuple):
        return value
    found = scope.play.company.world.get(key_of(value)) if isinstance(value, str) else None
    return scope.play.stage.position(found.name, scope.time) if found else None


def _is_done(c: IsDone, company: Company) -> Test:
    found = company.doing(c.name, c.at)
    key = found.done_keys()[-1] if isinstance(found, VerbHolder) else found.key

    def done(scope: Scope) -> float:
        if scope.reads is not None:
            scope.reads.append((scope.me.serial, ("done", key)))
        return float(key in scope.me.done)

    return done


def _current_is(c: CurrentIs, company: Company) -> Test:
    kind, group = company.group(c.group, c.at)
    find, tag = current(kind, group), key_of(c.tag)

    def test(scope: Scope) -> float:
        holder = find(scope)
        state = scope.me.scripts.get(group)
        if tag == "completed" and state is not None:
            own = (state.finished is not None) or (state.run is not None and state.run.over)
            if own:
                return 1.0
        if holder is None:
            return 0.0
        return 1.0 if holder.key == tag else _tagged(scope, holder, tag)

    return test


def _tag(key: str) -> Test:
    return lambda scope: _tagged(scope, scope.it or scope.me, key)


def _tagged(scope: Scope, holder: Holder, key: str) -> float:
    """Whether a holder has a tag; not to have it is no mistake."""
    if scope.reads is not None:
        scope.reads += [(holder.serial, key), (scope.me.serial, (key, holder.key))]
    mine = scope.me.own.get((key, holder.key), scope.me.values.get((key, holder.key)))
    if mine is not None:
        return min(max(truth(mine), 0.0), 1.0)
    own = holder.own.get(key) if holder is scope.me else None
    value = holder.values.get(key) if own is None else own
    if value is None and key in holder.curves:
        if scope.reads is not None:
            scope.reads.append(EVERY_STEP)
        value = holder.curves[key](scope.time)
    return min(max(truth(value), 0.0), 1.0)
