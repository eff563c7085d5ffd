"""Lines of action tables in both notations: postfix vectors of the 1995 puppet, and pitch, roll, yaw of Improv.

{ -40 0 0 } { 40 0 0 } { A hip_kick B * - 0 0 } Rhip        extremes, interpolants, joint
R_UP_ARM 25:55 0 -35:65 { N0 0 N0 }                          intervals of pitch, roll, yaw, interpolants
Rwrist AT Nod .12:.14 .1 .05 { N2 0 0 }                      a place, from a joint, the ground or a target
SMILE 0:.6 { n1 }                                            a shape key or property
R_FIST 1  R_INDEX -2                                         a hand (`body.fingers`)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .actions import Channel, DofKey
from .expressions import Expression, Infix, Number, constant, names, read_postfix, still
from .puppet import AXES, JOINTS, LIMB_TIPS, PARTS, Slots, joint_named
from .signals import Signals, actor_noise
from .tabletokens import Cursor, Token, suggestion

_IDENTITY: Slots = ((0, 1.0), (1, 1.0), (2, 1.0))
GROUND, TARGET = "", "target"


@dataclass
class Lines:
    """What the lines of one action say, as far as they have been read."""

    channels: dict[DofKey, Channel] = field(default_factory=dict)
    anchors: dict[str, str] = field(default_factory=dict)
    assigned: dict[str, Expression] = field(default_factory=dict)
    places: dict[DofKey, Token] = field(default_factory=dict)
    pending: list[tuple[Sequence[tuple[Expression, Expression, Expression | None]], str, Token]] = field(
        default_factory=list
    )
    """Postfix lines whose extremes wait for the parameters of the action."""


def read_table_line(cursor: Cursor, signals: Signals, lines: Lines) -> None:
    """A line of a postfix table: `vector vector vector joint` or `words => name`."""
    if not cursor.is_mark("{"):
        start = cursor.next
        left = read_postfix(cursor, signals, ("=>", "{", "}"), lines.assigned, "")
        mark = cursor.expect("=>", "after what is to be named")
        if len(left) != 1:
            cursor.fail(f"this must leave one value to be named, it leaves {len(left)}", start)
        name = cursor.name("a name for the value")
        if name.text in signals.functions:
            cursor.fail(f"{name.text!r} is an operator and cannot name a value", mark)
        lines.assigned[name.text] = left[0]
        return
    joint = _joint_ahead(cursor)
    where = f" in the line of {joint.text}"
    rows: list[list[Expression]] = []
    while cursor.is_mark("{"):
        opening = cursor.take()
        row = read_postfix(cursor, signals, ("{", "}"), lines.assigned, where)
        cursor.expect("}", f"to close the vector{where}")
        if len(row) != 3 and (row or not rows):
            cursor.fail(f"a vector{where} must leave 3 values, it leaves {len(row)}", opening)
        rows.append(row)
    if len(rows) not in (1, 3):
        cursor.fail(f"{joint.text} has {len(rows)} vectors; it needs 3, the last two of which may be empty", joint)
    found = cursor.name("the name of a joint")
    known = joint_named(found.text)
    if known is None:
        cursor.fail(f"no joint {found.text!r}; {suggestion(found.text, JOINTS)}", found)
    low, high, between = (rows + [[], []])[:3]
    if bool(high) != bool(between):
        cursor.fail(f"the second and third vector of {found.text} must both be given or both be empty", found)
    triples = [(low[k], high[k] if high else low[k], between[k] if between else None) for k in range(3)]
    lines.pending.append((triples, known, found))


def settle(lines: Lines, cursor: Cursor, signals: Signals, params: Mapping[str, float]) -> list[str]:
    """Evaluate the extremes of postfix lines, check every name, and give warnings."""
    warnings = []
    moment = still(actor_noise(0))
    for triples, joint, at in lines.pending:
        for axis, (low, high, between) in zip(AXES, triples, strict=True):
            for expression in (low, high, between):
                _check_names(expression, cursor, signals, params, joint)
            (a, moving), (b, also) = (constant(e, signals, params, moment) for e in (low, high))
            if moving or also:
                warnings.append(
                    f"{cursor.source}:{at.line}: an extreme of {joint} changes in time; its value at time 0 is used"
                )
            _add(lines, cursor, (joint, axis), Channel(a, b, between), at)
    for key, channel in lines.channels.items():
        _check_names(channel.expression, cursor, signals, params, key[0])
    lines.pending.clear()
    return warnings


def read_part_line(cursor: Cursor, signals: Signals, lines: Lines) -> None:
    """A line of an Improv table: part, intervals and interpolants."""
    part = cursor.name("a body part, a joint, a shape key or a setting")
    tip = anchor = None
    if cursor.is_word("at"):
        cursor.take()
        tip, anchor = _tip(cursor, part), _anchor(cursor)
    bounds, paired = _intervals(cursor, part)
    expressions: list[Expression] = []
    if cursor.is_mark("{"):
        opening = cursor.take()
        infix = Infix(cursor, signals)
        while not cursor.is_mark("}"):
            expressions.append(infix.read())
            if cursor.is_mark(","):
                cursor.take()
        cursor.take()
        if len(expressions) not in (1, 3):
            cursor.fail(f"{part.text} has {len(expressions)} interpolants; a part needs 3, a value 1", opening)
    else:
        expressions = [Number(0.0)] * (len(bounds) if len(bounds) in (1, 3) else 3)
    intervals = bounds if paired else _paired([b[0] for b in bounds], expressions, cursor, part)
    if len(intervals) != len(expressions):
        cursor.fail(f"{part.text} has {len(intervals)} intervals for {len(expressions)} interpolants", part)
    channels = [Channel(a, b, e) for (a, b), e in zip(intervals, expressions, strict=True)]
    if tip is not None and anchor is not None:
        if len(channels) != 3:
            cursor.fail(f"a place of {part.text} needs 3 intervals", part)
        lines.anchors[tip] = anchor
        for letter, channel in zip(AXES, channels, strict=True):
            _add(lines, cursor, (tip, f"t{letter}"), channel, part)
    elif len(channels) == 1:
        if _part(part.text):
            cursor.fail(f"{part.text} is a body part and needs 3 intervals", part)
        _add(lines, cursor, (part.text, "value"), channels[0], part)
    else:
        known = _part(part.text)
        if known is None:
            cursor.fail(f"no part {part.text!r}; {suggestion(part.text, [*PARTS, *JOINTS])}", part)
        joint, slots = known
        for (axis, sign), channel in zip(slots, channels, strict=True):
            turned = Channel(sign * channel.a, sign * channel.b, channel.expression)
            _add(lines, cursor, (joint, AXES[axis]), turned, part)


def dof_keys(name: str, channels: Mapping[DofKey, Channel]) -> list[DofKey]:
    """The channels of an action that a part, a joint, a limb's end or a value names."""
    known = _part(name)
    wanted = {known[0]} if known else {name}
    if known and known[0] in LIMB_TIPS:
        wanted.add(LIMB_TIPS[known[0]])
    return [key for key in channels if key[0] in wanted]


def _part(name: str) -> tuple[str, Slots] | None:
    if name.upper() in PARTS and (joint_named(name) is None or name.isupper()):
        return PARTS[name.upper()]
    joint = joint_named(name)
    return None if joint is None else (joint, _IDENTITY)


def _add(lines: Lines, cursor: Cursor, key: DofKey, channel: Channel, at: Token) -> None:
    if key in lines.channels:
        first = lines.places[key].line
        cursor.fail(f"{at.text} is given twice in this action, first in line {first}", at)
    if isinstance(channel.expression, Number) and channel.expression.value == 0.0:
        channel = Channel(channel.a, channel.b)
    lines.channels[key], lines.places[key] = channel, at


def _check_names(
    expression: Expression | None, cursor: Cursor, signals: Signals, params: Mapping[str, float], joint: str
) -> None:
    for name in () if expression is None else names(expression):
        if name.name not in params and signals.find(name.name) is None:
            hint = suggestion(name.name, [*params, *signals.names])
            cursor.fail(f"no signal or parameter {name.name!r} in the line of {joint}; {hint}", name.at)


def _joint_ahead(cursor: Cursor) -> Token:
    """The word after the vectors that begin here."""
    depth, ahead = 0, 0
    while True:
        word = cursor.peek(ahead)
        if word.kind == "mark" and word.text in "{}":
            depth += 1 if word.text == "{" else -1
        elif word.kind == "end" or depth == 0:
            return word
        if depth < 0:
            return word
        ahead += 1


def _tip(cursor: Cursor, part: Token) -> str:
    known = _part(part.text)
    if known is None or known[0] not in LIMB_TIPS:
        cursor.fail(f"only hands and feet can be sent to a place: {', '.join(LIMB_TIPS)}", part)
    return LIMB_TIPS[known[0]]


def _anchor(cursor: Cursor) -> str:
    if cursor.next.kind not in ("word", "text"):
        return GROUND
    word = cursor.take()
    if word.text.lower() == TARGET:
        return TARGET
    joint = joint_named(word.text) or (PARTS[word.text.upper()][0] if word.text.upper() in PARTS else None)
    if joint is None:
        cursor.fail(f"a place is measured from a joint or from target; {suggestion(word.text, JOINTS)}", word)
    return joint


def _intervals(cursor: Cursor, part: Token) -> tuple[list[tuple[float, float]], bool]:
    """Numbers up to the interpolants as intervals, and whether colons said which belong together."""
    out: list[tuple[float, float]] = []
    colons = False
    while cursor.signed_number_next():
        low = cursor.number("a number")
        high = low
        if cursor.is_mark(":"):
            cursor.take()
            colons, high = True, cursor.number("the other end of the interval")
        out.append((low, high))
    if not out:
        cursor.fail(f"expected an interval for {part.text}, found {cursor.next.text!r}")
    return out, colons or len(out) in (1, 3)


def _paired(
    numbers: list[float], expressions: list[Expression], cursor: Cursor, part: Token
) -> list[tuple[float, float]]:
    """Intervals of a line without colons: a second number goes to each interval that moves, from the left."""
    spare = len(numbers) - len(expressions)
    out, at = [], 0
    for e in expressions:
        moves = not (isinstance(e, Number) and e.value == 0.0)
        two = moves and spare > 0
        spare -= two
        pair = numbers[at : at + 1 + two]
        if len(pair) < 1 + two:
            break
        out.append((pair[0], pair[-1]))
        at += 1 + two
    if spare != 0 or len(out) != len(expressions):
        cursor.fail(
            f"{len(numbers)} numbers of {part.text} do not pair with its interpolants; write intervals as 25:55", part
        )
    return out
