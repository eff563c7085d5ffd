"""Statements compiled to closures: what an actor does when it comes to a clause."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ..language.lexer import key_of, suggestion
from ..language.printer import print_statement
from ..language.syntax import (
    Assign,
    Call,
    Choice,
    Cue,
    Current,
    Duration,
    Everyone,
    PropRef,
    Ref,
    Send,
    Statement,
    Trigger,
    Widget,
)
from ..language.syntax import Vector as VectorNode
from .cast import Actor, Target
from .choice import Pick, Select, compile_choice, compile_set, someone_of
from .company import Company
from .evaluation import Find, Scope, current, expression, finder
from .properties import WORLD_KINDS, Holder
from .statements import StatementCall, Statements

Act: TypeAlias = Callable[[Scope], None]
Seconds: TypeAlias = Callable[[Scope], float]
Aim: TypeAlias = Callable[[Scope], Target]


class Order:
    """A compiled trigger: what to do, with whom, how long; carried out by whoever is told to."""

    __slots__ = ("fallback", "seconds", "site", "target", "transition", "what")

    def __init__(self, trigger: Trigger, company: Company, site: str, fps: float, normalise: bool) -> None:
        self.site = site
        self.what = _what(trigger, company, site, normalise)
        self.target = _aim(trigger, company, site, normalise)
        self.seconds = duration(trigger.duration, site, fps) if trigger.duration else None
        self.transition = duration(trigger.transition, site, fps) if trigger.transition else None
        self.fallback = company.doing(trigger.fallback, trigger.at) if trigger.fallback else None

    def carry_out(self, scope: Scope, target: Target, because: str) -> None:
        """Do it in the place of the one who is told."""
        holder = self.what(scope)
        if holder is None:
            return
        if holder.kind in WORLD_KINDS:
            scope.target = scope.it = holder
            return
        seconds = self.seconds(scope) if self.seconds else None
        transition = self.transition(scope) if self.transition else None
        scope.play.perform(scope.me, holder, target, scope.time, seconds, transition, self.fallback, because)


def compile_statement(
    s: Statement, company: Company, statements: Statements, site: str, fps: float, normalise: bool
) -> Act:
    """Compile a statement that does not hold."""
    if isinstance(s, Trigger):
        return _trigger(Order(s, company, site, fps, normalise))
    if isinstance(s, Cue):
        return _cue(s, company, site, fps, normalise)
    if isinstance(s, Assign):
        return _assign(s, company)
    if isinstance(s, Send):
        return _send(s, company, site, fps)
    if isinstance(s, Widget):
        return _widget(s)
    if isinstance(s, Call):
        return _call(s, company, statements)
    raise s.at.error("this statement belongs into a script")


def duration(d: Duration, site: str, fps: float) -> Seconds:
    """Seconds that a duration lasts; drawn evenly and logged where it is a span."""
    unit = {"s": 1.0, "min": 60.0, "frame": 1.0 / fps}[d.unit]
    lo, hi = d.lo * unit, d.hi * unit
    if lo == hi:
        return lambda scope: lo

    def draw(scope: Scope) -> float:
        me = scope.me
        u = float(me.rng.random())
        locked = scope.play.locked_seconds(me, site)
        seconds = lo + (hi - lo) * u if locked is None else locked
        scope.play.log(scope.time, "lasts", actor=me.name, site=site, lo=lo, hi=hi, draw=u, seconds=seconds)
        return seconds

    return draw


def _what(trigger: Trigger, company: Company, site: str, normalise: bool) -> Pick:
    what = trigger.what
    if isinstance(what, Choice):
        return compile_choice(what, company, site, normalise)
    if isinstance(what, PropRef):
        read = expression(what, company)

        def named(scope: Scope) -> Holder | None:
            value = read(scope)
            key = key_of(value) if isinstance(value, str) else ""
            found = company.scripts.get(key) or company.actions.get(key) or company.verbs.get(key)
            if found is None:
                scope.play.warn(scope.time, scope.me, f'"{value}" is nothing that can be done')
            return found

        return named
    full = f"{what} {trigger.preposition}" if trigger.preposition else what
    known = key_of(full) in company.scripts or key_of(full) in company.actions
    moves = key_of(what) in company.actions and key_of(full) in _MOVES
    found = company.doing(full if known or moves else what, trigger.at)
    return lambda scope: found


_MOVES = ("walk to", "walk toward", "run to", "run toward", "turn to", "turn toward", "look at", "go to")


def _aim(trigger: Trigger, company: Company, site: str, normalise: bool) -> Aim:
    target = trigger.target
    if target is None:
        return lambda scope: None
    if isinstance(target, VectorNode):
        values = target.values
        return lambda scope: values
    if isinstance(target, Choice):
        return compile_choice(target, company, site + "/target", normalise)
    if isinstance(trigger.what, str) and key_of(trigger.what) == "say":
        text = target.name
        return lambda scope: Holder(text, "speech", 0)
    return finder(target, company)


def _trigger(order: Order) -> Act:
    def act(scope: Scope) -> None:
        target = order.target(scope)
        if scope.me.members:
            for member in scope.me.members:
                scope.play.cue(scope.me, member, order, target, scope.time)
            return
        order.carry_out(scope, target, order.site)

    return act


def _cue(s: Cue, company: Company, site: str, fps: float, normalise: bool) -> Act:
    order = Order(s.trigger, company, site, fps, normalise)
    select: Select
    if isinstance(s.whom, Everyone):
        select = compile_set(s.whom, company)
    elif isinstance(s.whom, Choice):
        pick = compile_choice(s.whom, company, site + "/whom", normalise)
        select = lambda scope: [h for h in (pick(scope),) if h is not None]  # noqa: E731
    else:
        select = someone_of(s.whom, company)

    def act(scope: Scope) -> None:
        target = order.target(scope)
        for whom in select(scope):
            if isinstance(whom, Actor):
                for actor in whom.members or (whom,):
                    scope.play.cue(scope.me, actor, order, target, scope.time)

    return act


def _assign(s: Assign, company: Company) -> Act:
    value, key = expression(s.value, company), key_of(s.prop.name)
    toward = finder(s.prop.toward, company) if s.prop.toward else None
    owner: Find
    if isinstance(s.prop.owner, Current):
        find = current(*company.group(s.prop.owner.group, s.prop.owner.at))

        def mine(scope: Scope) -> None:
            holder = find(scope)
            if holder is not None:
                scope.play.assign(scope.me, scope.me, (key, holder.key), value(scope), scope.time)

        return mine
    owner = finder(s.prop.owner, company)

    def act(scope: Scope) -> None:
        holder = owner(scope)
        if holder is None:
            scope.play.warn(scope.time, scope.me, f'nobody to set "{key}" of')
            return
        if toward is not None:
            other = toward(scope)
            scope.play.assign(scope.me, holder, (key, other.key if other else ""), value(scope), scope.time)
        else:
            scope.play.assign(scope.me, holder, key, value(scope), scope.time)

    return act


def _send(s: Send, company: Company, site: str, fps: float) -> Act:
    select = someone_of((s.to,), company) if isinstance(s.to, Ref) else compile_set(s.to, company)
    lasting = duration(s.duration, site, fps) if s.duration else None
    message = key_of(s.message)

    def act(scope: Scope) -> None:
        seconds = lasting(scope) if lasting else None
        for whom in select(scope):
            scope.play.send(scope.me, whom, message, scope.time, seconds)

    return act


def _widget(s: Widget) -> Act:
    does = print_statement(s.does) if s.does else ""

    def act(scope: Scope) -> None:
        scope.play.show(scope.me, s.shown, s.kind, s.label, does, scope.time)

    return act


def _call(s: Call, company: Company, statements: Statements) -> Act:
    function = statements.get(s.name)
    if function is None:
        hint = suggestion(s.name, list(statements))
        raise s.at.error(f'no statement is registered as "{s.name}"' + (f"; {hint}" if hint else ""))
    arguments = [expression(a, company) for a in s.arguments]
    run = function

    def act(scope: Scope) -> None:
        run(StatementCall(scope.play, scope.me, scope.time, tuple(a(scope) for a in arguments), s.at))

    return act
