"""Print a program in one canonical way; parsing the print gives the same program."""

from __future__ import annotations

from .syntax import (
    ActionDef,
    AllOf,
    AnyOf,
    Assign,
    Call,
    Choice,
    Compare,
    Condition,
    Cue,
    Current,
    CurrentIs,
    Declaration,
    Definition,
    Duration,
    Everyone,
    Expr,
    Factor,
    GroupDef,
    Hold,
    HolderDef,
    IsDone,
    Item,
    Not,
    Number,
    Program,
    PropIs,
    PropRef,
    Range,
    Ref,
    Repeat,
    RuleDef,
    ScriptDef,
    Send,
    Statement,
    SubsetDef,
    SubsetUse,
    Tag,
    Text,
    Trigger,
    Truth,
    Truthy,
    Vector,
    Widget,
)

_UNITS = {"s": "seconds", "min": "minutes", "frame": "frames"}


def print_program(program: Program) -> str:
    """The text of a program."""
    return "\n\n".join(_definition(d) for d in program.definitions) + "\n" if program.definitions else ""


def print_statement(statement: Statement) -> str:
    """The text of one statement."""
    return _statement(statement)


def _name(name: str) -> str:
    return f'"{name}"'


def _number(value: float) -> str:
    text = f"{value:.15f}".rstrip("0").rstrip(".")
    return text if float(text) == value else repr(value)


def _definition(d: Definition) -> str:
    if isinstance(d, ScriptDef):
        body = "\n".join("  { " + "  ".join(_statement(s) for s in c) + " }" for c in d.clauses)
        return f"define SCRIPT {_name(d.name)} {{\n{body}\n}}" if body else f"define SCRIPT {_name(d.name)}"
    if isinstance(d, RuleDef):
        return f"define DECISION RULE {_name(d.name)} {{\n" + "\n".join(_subset(s) for s in d.subsets) + "\n}"
    if isinstance(d, SubsetDef):
        return f"define SUBSET {_name(d.name)} {{ {_condition(d.condition)} }}"
    if isinstance(d, GroupDef):
        kind = "SCRIPT GROUP" if d.kind == "script" else "GROUP"
        return f"{kind} {_name(d.name)} {{ " + " ".join(map(_name, d.members)) + " }"
    if isinstance(d, ActionDef):
        if d.form == "postfix":
            return f"{{\n{d.body}\n}} '{d.name} define_action"
        if d.form == "morph":
            return f"morph {_name(d.name)} {d.body}"
        head = "settings" if d.form == "settings" else "define ACTION"
        return f"{head} {_name(d.name)} {{\n{d.body}\n}}"
    if isinstance(d, Declaration):
        return f"{_name(d.first)} {d.verb} {_name(d.second)}"
    return _holder(d)


def _holder(d: HolderDef) -> str:
    lines = [f"{_name(i.name)}{_toward(i.toward)} {_expr(i.value)}," for i in d.inits]
    lines += [f"does {_name(s)}," for s in d.does]
    if d.members:
        lines.append("members " + " ".join(map(_name, d.members)) + ",")
    return f"define {d.kind.upper()} {_name(d.name)} {{ " + "".join(f"{line} " for line in lines) + "}"


def _subset(s: SubsetUse) -> str:
    lines = [] if s.name is None else [f"  subset {_name(s.name)} scale {_number(s.scale)}"]
    return "\n".join([*lines, *(_factor(f) for f in s.factors)])


def _factor(f: Factor) -> str:
    text = _expr(f.value) if isinstance(f.value, Expr) else _condition(f.value)
    return f"    factor {{ {text} }} influence {_number(f.influence)}"


def _statement(s: Statement) -> str:
    if isinstance(s, Trigger):
        return f"do {_trigger(s)}"
    if isinstance(s, Hold):
        if isinstance(s.until, Duration):
            return f"wait {_duration(s.until)}"
        return f"wait until {{ {_condition(s.until)} }}"
    if isinstance(s, Cue):
        return f"cue {_whom(s.whom)} to {_trigger(s.trigger)}"
    if isinstance(s, Assign):
        return f"set {_expr(s.prop)} to {_expr(s.value)}"
    if isinstance(s, Repeat):
        return "repeat"
    if isinstance(s, Send):
        to = _ref(s.to) if isinstance(s.to, Ref) else _everyone(s.to)
        return f"send {_name(s.message)} to {to}{_for(s.duration)}"
    if isinstance(s, Widget):
        does = f" does {_statement(s.does)}" if s.does else ""
        return f"{'show' if s.shown else 'hide'} {s.kind} {_name(s.label)}{does}"
    return _call(s)


def _call(s: Call) -> str:
    return f"py: {s.name}(" + ", ".join(_expr(a) for a in s.arguments) + ")"


def _whom(whom: tuple[Ref, ...] | Everyone | Choice) -> str:
    if isinstance(whom, Everyone):
        return f"{{ {_everyone(whom)} }}"
    if isinstance(whom, Choice):
        return _choice(whom)
    return "{ " + " ".join(map(_ref, whom)) + " }"


def _trigger(s: Trigger) -> str:
    if isinstance(s.what, Choice):
        text = _choice(s.what)
    elif isinstance(s.what, PropRef):
        text = _expr(s.what)
    else:
        text = _name(s.what)
    if s.target is not None:
        target = _choice(s.target) if isinstance(s.target, Choice) else _expr(s.target)
        text += f" {s.preposition} {target}"
    text += _for(s.duration) + (f" over {_duration(s.transition)}" if s.transition else "")
    return text + (f" else {_name(s.fallback)}" if s.fallback else "")


def _for(d: Duration | None) -> str:
    return f" for {_duration(d)}" if d else ""


def _duration(d: Duration) -> str:
    unit = _UNITS[d.unit]
    return f"{_number(d.lo)} {unit}" if d.lo == d.hi else f"between {_number(d.lo)} and {_number(d.hi)} {unit}"


def _choice(c: Choice) -> str:
    pool = _everyone(c.pool) if isinstance(c.pool, Everyone) else " ".join(map(_item, c.pool))
    text = f"choose from {{ {pool} }}"
    text += f" based on {_name(c.rule)}" if c.rule else ""
    text += f" avoiding repeats {_number(c.avoid)}" if c.avoid is not None else ""
    return text + (f" cooldown {_number(c.cooldown)} seconds" if c.cooldown is not None else "")


def _item(i: Item) -> str:
    return _name(i.name) + ("" if i.weight is None else f" ({_expr(i.weight)})")


def _everyone(e: Everyone) -> str:
    text = "entire set of " + " and ".join(map(_name, e.groups)) if e.kind == "set" else e.kind
    return text + "".join(f" except {_ref(r)}" for r in e.exceptions)


def _ref(r: Ref) -> str:
    return r.name if r.pronoun else _name(r.name)


def _toward(r: Ref | None) -> str:
    return f" toward {_ref(r)}" if r else ""


def _expr(e: Expr) -> str:
    if isinstance(e, PropRef):
        if isinstance(e.owner, Current):
            owner = f"current {_name(e.owner.group)}"
        elif e.owner.pronoun and e.owner.name in ("me", "it"):
            owner = "my" if e.owner.name == "me" else "its"
        else:
            owner = f"{_ref(e.owner)}'s"
        return f"{owner} {_name(e.name)}{_toward(e.toward)}"
    if isinstance(e, Number):
        return _number(e.value)
    if isinstance(e, Text):
        return _name(e.value)
    if isinstance(e, Truth):
        return "true" if e.value else "false"
    if isinstance(e, Vector):
        return "[" + " ".join(map(_number, e.values)) + "]"
    if isinstance(e, Range):
        return f"between {_number(e.lo)} and {_number(e.hi)}"
    if isinstance(e, Ref):
        return _ref(e)
    return f"({_expr(e.left)} {e.sign} {_expr(e.right)})"


def _condition(c: Condition) -> str:
    if isinstance(c, AnyOf):
        return "(" + " or ".join(map(_condition, c.terms)) + ")"
    if isinstance(c, AllOf):
        return "(" + " and ".join(map(_condition, c.terms)) + ")"
    if isinstance(c, Not):
        return f"not ({_condition(c.term)})"
    if isinstance(c, Tag):
        return f"it is {_name(c.name)}"
    if isinstance(c, IsDone):
        return f"{_name(c.name)} is done"
    if isinstance(c, CurrentIs):
        return f"current {_name(c.group)} is {_name(c.tag)}"
    if isinstance(c, PropIs):
        return f"{_expr(c.prop)} is {_expr(c.value)}"
    if isinstance(c, Truthy):
        return _expr(c.value)
    return _compare(c)


def _compare(c: Compare) -> str:
    text = f"{_expr(c.left)} {c.operator} {_expr(c.right)}"
    if c.within is not None or c.above is not None or c.below is not None:
        text += " to within"
    text += "" if c.within is None else f" {_number(c.within)}"
    text += "" if c.above is None else f" above {_number(c.above)}"
    return text + ("" if c.below is None else f" below {_number(c.below)}")
