"""Choosing one of several: evenly, by weights, or by a decision rule; every choice is logged to be redone by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ..language.syntax import Choice, Everyone, Ref
from .cast import Actor
from .company import Company
from .evaluation import Evaluate, Scope, expression, finder
from .properties import Holder, number
from .rules import Weighing, rule_named

Pick: TypeAlias = Callable[[Scope], Holder | None]
Select: TypeAlias = Callable[[Scope], list[Holder]]


def drawn(weights: Sequence[float], draw: float) -> int | None:
    """Which one a number from 0 to 1 means: the first whose running sum of weights exceeds draw * sum.

    Negative weights count as 0; None when all are 0.
    """
    total = sum(w for w in weights if w > 0.0)
    if not total > 0.0:
        return None
    limit, running, last = draw * total, 0.0, 0
    for k, weight in enumerate(weights):
        if weight > 0.0:
            running += weight
            last = k
            if running > limit:
                return k
    return last


def compile_set(everyone: Everyone, company: Company) -> Select:
    """Who or what a set means to the one who says it."""
    exceptions = [finder(r, company) for r in everyone.exceptions]
    parts = [company.group(name, everyone.at) for name in everyone.groups]
    fixed: list[Holder] = []
    for kind, key in parts:
        if kind == "action":
            fixed += [company.actions[k] for k in company.pools[key]]
        elif kind == "script":
            fixed += [company.scripts[k] for k in company.script_groups[key][1] if k]
        else:
            ensemble = company.world[key]
            fixed += ensemble.members if isinstance(ensemble, Actor) else ()

    def select(scope: Scope) -> list[Holder]:
        if everyone.kind == "set":
            found = list(fixed)
        else:
            people: Sequence[Holder] = scope.me.members or scope.play.actors
            found = [a for a in people if everyone.kind == "everyone" or a is not scope.me]
        out = [find(scope) for find in exceptions]
        return [h for h in found if h not in out]

    return select


def compile_choice(choice: Choice, company: Company, site: str, normalise: bool = False) -> Pick:
    """Compile a choice.

    Args:
        site: Where in which script it stands; remembers what was chosen there, and finds locked choices.
    """
    rule = rule_named(choice.rule, choice.rule_at, company, normalise) if choice.rule else None
    weights: list[Evaluate | None] = []
    if isinstance(choice.pool, Everyone):
        select = compile_set(choice.pool, company)
    else:
        items = [company.choosable(i.name, i.at) for i in choice.pool]
        weights = [expression(i.weight, company) if i.weight is not None else None for i in choice.pool]
        select = lambda scope: items  # noqa: E731

    def pick(scope: Scope) -> Holder | None:
        pool = select(scope)
        weighed = rule(scope, pool) if rule else [Weighing(1.0)] * len(pool)
        given = [1.0 if w is None else max(number(w(scope)), 0.0) for w in weights] or [1.0] * len(pool)
        memory = scope.me.memory.get(site)
        if memory is not None:
            _discourage(given, pool, memory, choice, scope.time)
        chosen = _choose(scope, pool, weighed, given, choice, site)
        if chosen is not None and (choice.avoid is not None or choice.cooldown is not None):
            memory = scope.me.memory.setdefault(site, {})
            memory.pop(chosen.key, None)
            memory[chosen.key] = scope.time
        return chosen

    return pick


def _discourage(
    given: list[float], pool: Sequence[Holder], memory: dict[str, float], choice: Choice, time: float
) -> None:
    """Lessen what is given to items that were chosen lately, in place."""
    last = next(reversed(memory), None)
    for k, item in enumerate(pool):
        if choice.avoid is not None and item.key == last:
            given[k] *= choice.avoid
        if choice.cooldown is not None and time - memory.get(item.key, -1e9) < choice.cooldown:
            given[k] = 0.0


def _choose(
    scope: Scope,
    pool: Sequence[Holder],
    weighed: Sequence[Weighing],
    given: Sequence[float],
    choice: Choice,
    site: str,
) -> Holder | None:
    """Draw one of the pool by what the rule makes of each item times what is given to it, and log how."""
    me, play = scope.me, scope.play
    values = [w.weight * g for w, g in zip(weighed, given, strict=True)]
    draw = float(me.rng.random())
    locked = play.locked_choice(me, site)
    index = drawn(values, draw)
    if locked is not None:
        index = next((k for k, item in enumerate(pool) if item.key == locked), index)
    elif index is None and pool and play.options.uniform_when_zero:
        index = min(int(draw * len(pool)), len(pool) - 1)
    data: dict[str, object] = {
        "site": site,
        "pool": [h.name for h in pool],
        "weights": values,
        "draw": draw,
        "result": pool[index].name if index is not None else None,
    }
    if choice.rule:
        data["rule"] = choice.rule
        data["factors"] = [[list(pair) for pair in w.factors] for w in weighed]
        data["scales"] = [w.scale for w in weighed]
        data["subsets"] = [w.subset for w in weighed]
        data["given"] = list(given)
    if locked is not None:
        data["locked"] = True
    play.log(scope.time, "choose", actor=me.name, **data)
    if index is None:
        reason = "all weights are 0" if pool else "there is nobody to choose from"
        play.log(scope.time, "warning", actor=me.name, what=f"nothing was chosen at {site}: {reason}")
        return None
    return pool[index]


def someone_of(pool: Sequence[Ref], company: Company) -> Select:
    """The named few, in order."""
    finders = [finder(r, company) for r in pool]
    return lambda scope: [h for h in (find(scope) for find in finders) if h is not None]
