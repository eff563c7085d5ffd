"""Decision rules: a weight for each candidate from factors, influences, subsets and scales (Improv, decision rules).

weight = scale of the candidate's subset * (factor 1 * influence 1 + factor 2 * influence 2 + ...)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..language.lexer import At, key_of, suggestion
from ..language.syntax import Expr, PropRef, RuleDef
from .company import Company
from .criteria import Test, condition
from .evaluation import Evaluate, Scope, expression
from .properties import Holder, number


@dataclass(frozen=True)
class Weighing:
    """How one candidate got its weight.

    Attributes:
        subset: Where it belongs; empty when the rule has no subsets, None when it is in none.
        scale: Of its subset, divided by the sum of influences where weights are normalised.
        factors: (value, influence) pairs.
    """

    weight: float
    subset: str | None = ""
    scale: float = 1.0
    factors: tuple[tuple[float, float], ...] = ()


Rule: TypeAlias = Callable[[Scope, Sequence[Holder]], list[Weighing]]


def rule_named(name: str, at: At, company: Company, normalise: bool = False) -> Rule:
    """Compile the rule of a name.

    Raises:
        FormatError: There is no such rule, or it uses a subset that is not defined.
    """
    found = company.rules.get(key_of(name))
    if found is None:
        hint = suggestion(name, [r.name for r in company.rules.values()])
        raise at.error(f'no decision rule is called "{name}"' + (f"; {hint}" if hint else ""))
    return compile_rule(found, company, normalise)


def compile_rule(rule: RuleDef, company: Company, normalise: bool = False) -> Rule:
    """Compile a rule.

    Args:
        normalise: Divide by the sum of influences, so that weights of factors in 0..1 stay there.
    """
    subsets: list[tuple[str, Test | None, float, list[tuple[Factor, float]]]] = []
    for use in rule.subsets:
        test = None
        if use.name is not None:
            found = company.subsets.get(key_of(use.name))
            if found is None:
                hint = suggestion(use.name, [s.name for s in company.subsets.values()])
                raise use.at.error(f'no subset is called "{use.name}"' + (f"; {hint}" if hint else ""))
            test = condition(found.condition, company)
        factors = [(_factor(f.value, company), f.influence) for f in use.factors]
        total = sum(abs(i) for _, i in factors) if normalise else 1.0
        subsets.append((use.name or "", test, use.scale / (total or 1.0), factors))

    def weigh_one(scope: Scope) -> Weighing:
        for name, test, scale, factors in subsets:
            if test is None or test(scope) >= 0.5:
                pairs = tuple((factor(scope), influence) for factor, influence in factors)
                weight = scale * sum(v * i for v, i in pairs)
                return Weighing(max(weight, 0.0), name, scale, pairs)
        return Weighing(0.0, None, 0.0)

    return lambda scope, candidates: [weigh_one(scope.about(c)) for c in candidates]


Factor: TypeAlias = Callable[[Scope], float]


def _factor(value: object, company: Company) -> Factor:
    if not isinstance(value, Expr):
        return condition(value, company)  # type: ignore[arg-type]
    evaluate: Evaluate = expression(value, company)
    raw = isinstance(value, PropRef)

    def factor(scope: Scope) -> float:
        x = number(evaluate(scope))
        if raw and not 0.0 <= x <= 1.0:
            name = value.name if isinstance(value, PropRef) else ""
            scope.play.warn(scope.time, scope.it or scope.me, f'"{name}" is {x:g}, outside 0 to 1, and weighs as it is')
        return x

    return factor
