"""Expressions and conditions compiled to closures: the tree is walked once, then each evaluation is a few calls.

Nothing in a text is ever evaluated as Python or looked up as an attribute; names are keys of dictionaries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from ..language.lexer import key_of
from ..language.syntax import Arithmetic, Current, Expr, Number, PropRef, Range, Ref, Text, Truth, Vector
from .blackboard import EVERY_STEP, WatchKey
from .bodyport import distance, is_facing
from .cast import Actor, Target
from .company import Company
from .properties import Holder, PropKey, Value, number

if TYPE_CHECKING:
    from .doing import Doing

PLACES = ("location", "position")
WORLDLY = (*PLACES, "heading", "distance", "facing", "phase", "name")
"""Properties that the stage answers."""


class Scope:
    """From where a script looks: who acts, on whom, when, and what it has read so far (None: nobody asks).

    Attributes:
        me: The actor.
        it: The candidate being weighed, else the target.
        target: Whom or what the script was started with.
    """

    __slots__ = ("it", "me", "play", "reads", "target", "time")

    def __init__(self, play: Doing, me: Actor, target: Target, time: float) -> None:
        self.play, self.me, self.target, self.time = play, me, target, time
        self.it: Holder | None = target if isinstance(target, Holder) else None
        self.reads: list[WatchKey] | None = None

    def about(self, candidate: Holder) -> Scope:
        """The same view with `it` the candidate."""
        scope = Scope(self.play, self.me, self.target, self.time)
        scope.it = candidate
        return scope


Evaluate: TypeAlias = Callable[[Scope], Value]
Find: TypeAlias = Callable[[Scope], Holder | None]


def finder(ref: Ref, company: Company) -> Find:
    """Who a reference means; names are looked up now."""
    if ref.pronoun:
        if ref.name == "me":
            return lambda scope: scope.me
        if ref.name == "it":
            return lambda scope: scope.it
        if ref.name == "target":
            return lambda scope: scope.target if isinstance(scope.target, Holder) else None
        if ref.name == "player":
            return lambda scope: scope.play.company.player
    found = company.someone(ref)
    return lambda scope: found


def expression(e: Expr, company: Company) -> Evaluate:
    """Compile an expression."""
    if isinstance(e, (Number, Text, Truth)):
        constant = e.value
        return lambda scope: constant
    if isinstance(e, Vector):
        values = e.values
        return lambda scope: values
    if isinstance(e, Range):
        middle = 0.5 * (e.lo + e.hi)
        return lambda scope: middle
    if isinstance(e, Ref):
        find = finder(e, company)

        def name(scope: Scope) -> Value:
            found = find(scope)
            return found.name if found else ""

        return name
    if isinstance(e, Arithmetic):
        return _arithmetic(e, company)
    return _property(e, company)


def _arithmetic(e: Arithmetic, company: Company) -> Evaluate:
    left, right, sign = expression(e.left, company), expression(e.right, company), e.sign

    def compute(scope: Scope) -> Value:
        a, b = number(left(scope)), number(right(scope))
        if sign == "+":
            return a + b
        if sign == "-":
            return a - b
        if sign == "*":
            return a * b
        if b == 0.0:
            scope.play.warn(scope.time, scope.me, "a division by 0; 0 is used")
            return 0.0
        return a / b

    return compute


def _property(e: PropRef, company: Company) -> Evaluate:
    key = key_of(e.name)
    toward = finder(e.toward, company) if e.toward else None
    if isinstance(e.owner, Current):
        owner = current(*company.group(e.owner.group, e.owner.at))
    else:
        owner = finder(e.owner, company)
    if key == "nearest":
        company.watches_nearest = True
    if e.owner == Ref("me", True) and toward is None and key not in WORLDLY:
        return _own(key)
    if key in WORLDLY:
        return lambda scope: _worldly(scope, key, owner(scope), toward(scope) if toward else None)

    def read(scope: Scope) -> Value:
        holder = owner(scope)
        if holder is None:
            return None
        full: PropKey = key
        if toward is not None:
            other = toward(scope)
            full = (key, other.key if other else "")
        elif holder.kind in ("script", "action"):
            mine: PropKey = (key, holder.key)
            if mine in scope.me.own or mine in scope.me.values:
                holder, full = scope.me, mine
            elif scope.reads is not None:
                scope.reads.append((scope.me.serial, mine))
        return scope.play.board.read(scope.me, holder, full, scope.time, scope.reads)

    return read


def _own(key: str) -> Evaluate:
    """A property of oneself, which most conditions are about."""

    def read(scope: Scope) -> Value:
        me, reads = scope.me, scope.reads
        value = me.own[key] if key in me.own else me.values.get(key)
        if value is None:
            return scope.play.board.read(me, me, key, scope.time, reads)
        if reads is not None:
            reads.append((me.serial, key))
        return value

    return read


def current(kind: str, group: str) -> Find:
    """What runs in a group of the actor who asks: its selected action, or its script."""

    def find(scope: Scope) -> Holder | None:
        if scope.reads is not None:
            scope.reads.append((scope.me.serial, ("current", group)))
        if kind == "action":
            state = scope.me.actions.get(group)
            return state.selected if state else None
        running = scope.me.scripts.get(group)
        return running.run.script.holder if running and running.run else None

    return find


def _worldly(scope: Scope, key: str, holder: Holder | None, other: Holder | None) -> Value:
    if holder is None:
        return None
    if key == "name":
        return holder.name
    if scope.reads is not None:
        scope.reads.append(EVERY_STEP)
    play, time = scope.play, scope.time
    if key in PLACES:
        return play.stage.place(holder.name, time)
    if key == "heading":
        return play.stage.heading(holder.name, time)
    if key == "phase":
        return play.stage.phase(holder.name, time)
    if other is None:
        play.warn(time, scope.me, f'"{key}" needs to know toward whom; 0 is used')
        return None
    if key == "distance":
        return min(distance(play.stage, holder.name, other.name, time), 1e9)
    return is_facing(play.stage, holder.name, other.name, time)
