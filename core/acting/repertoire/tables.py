"""Sheets of actions as text: tables in both notations, how they come and go, and the groups in which they compete.

    { c1 => A  s1 => B
      { -40 0 0 } { 40 0 0 } { A hip_kick B * - 0 0 } Rhip } 'running define_action
    settings running { tempo 1.4  fade .8  param hip_kick .3  entry 130:155 310:335 }

    define ACTION "Talk gesture" { fade .5  property formality .4
      R_UP_ARM 25:55 0 -35:65 { N0 0 N0 } }

    morph walking from attention to running amount .4
    GROUP Stances ACTION Stand ACTION walking        # back to front; the first action is the default
    hands_at_sides buffers hands_behind_back         # the second is entered and left through the first
    cough blocks talk                                # wherever the first has weight, the second loses it

Settings: fade, fade_in, fade_out, tempo, seconds, entry, exit, param, property, tag, and
`timing LOOK delay .6 scale 1.3 linger 1.2 scale_out 1.5` for single channels. The first action of a group may be left
undefined: it then covers nothing and makes the group transparent. `#` and `//` begin a remark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .actions import Action, DofKey, Morph, Value
from .signals import Signals
from .tablelines import Lines, dof_keys, read_part_line, read_table_line, settle
from .tabletokens import Cursor, Token, suggestion, tokens

_NUMBERS = ("fade", "fade_in", "fade_out", "tempo", "seconds", "amount")
_WINDOWS = ("entry", "exit")
SETTINGS = (*_NUMBERS, *_WINDOWS, "param", "property", "tag", "timing")
_TIMES = ("delay", "scale", "linger", "scale_out")


@dataclass
class Sheet:
    """What a text of actions says.

    Attributes:
        actions: By name, in order.
        groups: Name and members of each group, back to front.
        buffers: (buffer, buffered) pairs.
        blocks: (in front, behind) pairs.
        warnings: What was read otherwise than it was written.
        signals: What its interpolants may use; None for the standard ones.
    """

    actions: dict[str, Action] = field(default_factory=dict)
    groups: list[tuple[str, list[str]]] = field(default_factory=list)
    buffers: list[tuple[str, str]] = field(default_factory=list)
    blocks: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    signals: Signals | None = None


@dataclass
class _Draft:
    name: str
    at: Token
    lines: Lines = field(default_factory=Lines)
    given: dict[str, Any] = field(default_factory=dict)
    params: dict[str, float] = field(default_factory=dict)
    properties: dict[str, Value] = field(default_factory=dict)
    timing: list[tuple[Token, dict[str, float]]] = field(default_factory=list)
    morph: Morph | None = None


def read_sheet(text: str, source: str = "actions", signals: Signals | None = None, line: int = 1) -> Sheet:
    """Read a text of actions.

    Args:
        text: See the head of this module.
        source: Its name in errors.
        signals: What interpolants may use; the standard ones when None.
        line: Number of its first line.

    Raises:
        FormatError: With line and column; it names the joint where there is one.
    """
    found = _Reader(text, source, signals or Signals(), line).sheet()
    found.signals = signals
    return found


def read_action(name: str, body: str, source: str = "actions", signals: Signals | None = None, line: int = 1) -> Action:
    """One Improv action from what stands between its braces."""
    reader = _Reader(body, source, signals or Signals(), line)
    draft = _Draft(name, reader.cursor.next)
    while reader.cursor.next.kind != "end":
        reader.line(draft)
    return reader.finish(draft)


class _Reader:
    def __init__(self, text: str, source: str, signals: Signals, line: int) -> None:
        self.cursor = Cursor(tokens(text, source, line), source)
        self.signals = signals
        self.result = Sheet()
        self.drafts: dict[str, _Draft] = {}

    def sheet(self) -> Sheet:
        cursor = self.cursor
        while cursor.next.kind != "end":
            if cursor.is_mark("{"):
                self._table()
            elif cursor.is_word("define", "action"):
                self._improv()
            elif cursor.is_word("settings"):
                cursor.take()
                name = cursor.name("the name of an action")
                self._block(self._known(name))
            elif cursor.is_word("morph"):
                self._morph()
            elif cursor.is_word("group"):
                self._group()
            elif cursor.next.kind in ("word", "text"):
                self._pair()
            else:
                cursor.fail(f"expected an action, a group or a setting, found {cursor.next.text!r}")
        for draft in self.drafts.values():
            self.result.actions[draft.name] = self.finish(draft)
        return self.result

    def line(self, draft: _Draft, settings_only: bool = False) -> None:
        if self.cursor.is_word(*SETTINGS):
            self._setting(draft)
        elif settings_only:
            word = self.cursor.next.text
            self.cursor.fail(f"no setting {word!r}; {suggestion(word, SETTINGS)}")
        else:
            read_part_line(self.cursor, self.signals, draft.lines)

    def finish(self, draft: _Draft) -> Action:
        """The action of a draft whose settings are all known."""
        self.result.warnings += settle(draft.lines, self.cursor, self.signals, draft.params)
        channels = dict(draft.lines.channels)
        for at, times in draft.timing:
            keys = dof_keys(at.text, channels)
            if not keys:
                parts = list(dict.fromkeys(part for part, _ in channels))
                self.cursor.fail(f"{draft.name} does not move {at.text!r}; {suggestion(at.text, parts)}", at)
            for key in keys:
                channels[key] = replace(channels[key], **times)  # type: ignore[arg-type]
        given = dict(draft.given)
        fade = given.pop("fade", None)
        if fade is not None:
            given = {"fade_in": fade, "fade_out": fade, **given}
        params = dict(draft.params)
        amount = given.pop("amount", None)
        if amount is not None:
            params["amount"] = amount
        return Action(
            draft.name,
            channels,
            params=params,
            anchors=dict(draft.lines.anchors),
            properties=dict(draft.properties),
            source=draft.morph,
            **given,
        )

    def _table(self) -> None:
        cursor = self.cursor
        opening = cursor.take()
        draft = _Draft("", opening)
        while not cursor.is_mark("}"):
            if cursor.next.kind == "end":
                cursor.fail("this table is never closed", opening)
            read_table_line(cursor, self.signals, draft.lines)
        cursor.take()
        if cursor.next.kind != "tick":
            cursor.fail(f"expected 'name define_action after the table, found {cursor.next.text!r}")
        name = cursor.take()
        if not cursor.is_word("define_action"):
            cursor.fail(f"expected define_action after '{name.text}")
        cursor.take()
        self._keep(name, draft)

    def _improv(self) -> None:
        cursor = self.cursor
        if cursor.is_word("define"):
            cursor.take()
        if not cursor.is_word("action"):
            cursor.fail(f"only ACTION can be defined here, found {cursor.next.text!r}")
        cursor.take()
        name = cursor.name("the name of the action")
        draft = _Draft("", name)
        self._block(draft)
        self._keep(name, draft)

    def _block(self, draft: _Draft, settings_only: bool = False) -> None:
        cursor = self.cursor
        opening = cursor.expect("{", "to begin")
        while not cursor.is_mark("}"):
            if cursor.next.kind == "end":
                cursor.fail("this brace is never closed", opening)
            self.line(draft, settings_only)
        cursor.take()

    def _morph(self) -> None:
        cursor = self.cursor
        cursor.take()
        name = cursor.name("the name of the new action")
        ends = []
        for word in ("from", "to"):
            if not cursor.is_word(word):
                cursor.fail(f"expected {word!r}, found {cursor.next.text!r}")
            cursor.take()
            ends.append(cursor.name("an action").text)
        draft = _Draft("", name, morph=Morph(*ends), params={"amount": 0.5})
        if cursor.is_word("amount"):
            cursor.take()
            draft.params["amount"] = cursor.number("a part of the second action, 0 to 1")
        if cursor.is_mark("{"):
            self._block(draft, settings_only=True)
        self._keep(name, draft)

    def _group(self) -> None:
        cursor = self.cursor
        cursor.take()
        name = cursor.name("the name of the group").text
        members: list[str] = []
        while cursor.is_word("action") and cursor.peek().kind in ("word", "text"):
            cursor.take()
            members.append(cursor.name("an action").text)
        for known, actions in self.result.groups:
            if known == name:
                actions += members
                return
        if not members:
            cursor.fail(f"group {name!r} has no ACTION")
        self.result.groups.append((name, members))

    def _pair(self) -> None:
        cursor = self.cursor
        first = cursor.take()
        if not cursor.is_word("buffers", "blocks"):
            known = ("define", "settings", "morph", "group", "buffers", "blocks")
            cursor.fail(f"{first.text!r} begins nothing; {suggestion(first.text, known)}", first)
        pairs = self.result.buffers if cursor.take().text.lower() == "buffers" else self.result.blocks
        pairs.append((first.text, cursor.name("an action").text))

    def _setting(self, draft: _Draft) -> None:
        cursor = self.cursor
        word = cursor.take()
        key = word.text.lower()
        if key in _NUMBERS:
            value = cursor.number(f"a number for {key}")
            if value < 0 and key != "amount":
                cursor.fail(f"{key} must not be negative", word)
            draft.given[key] = value
        elif key in _WINDOWS:
            draft.given[key] = self._windows(key)
        elif key == "param":
            name = cursor.name("the name of a parameter").text
            draft.params[name] = cursor.number(f"the usual value of {name}")
        elif key == "tag":
            draft.properties[cursor.name("a tag").text] = True
        elif key == "property":
            name = cursor.name("the name of a property").text
            draft.properties[name] = self._value()
        else:
            at = cursor.name("a part of this action")
            times: dict[str, float] = {}
            while cursor.is_word(*_TIMES):
                kind = cursor.take().text.lower()
                times[kind] = cursor.number(f"a number for {kind}")
            if not times or min(times.values()) < 0 or times.get("scale", 1.0) == 0:
                cursor.fail(f"timing needs {', '.join(_TIMES)} with numbers that are not negative", at)
            draft.timing.append((at, times))

    def _windows(self, key: str) -> tuple[tuple[float, float], ...]:
        out = []
        while self.cursor.signed_number_next():
            low = self.cursor.number("a phase")
            self.cursor.expect(":", f"between the ends of a window of {key}")
            out.append((low, self.cursor.number("the end of the window")))
            if self.cursor.is_mark(","):
                self.cursor.take()
        if not out:
            self.cursor.fail(f"{key} needs windows of phase in degrees, such as 130:155")
        return tuple(out)

    def _value(self) -> Value:
        cursor = self.cursor
        if cursor.signed_number_next():
            return cursor.number("a value")
        word = cursor.name("a value")
        truth: Mapping[str, bool] = {"true": True, "false": False}
        return truth.get(word.text.lower(), word.text) if word.kind == "word" else word.text

    def _keep(self, name: Token, draft: _Draft) -> None:
        if name.text in self.drafts:
            first = self.drafts[name.text].at.line
            self.cursor.fail(f"action {name.text!r} is defined twice, first in line {first}", name)
        draft.name, draft.at = name.text, name
        self.drafts[name.text] = draft

    def _known(self, name: Token) -> _Draft:
        if name.text not in self.drafts:
            self.cursor.fail(f"no action {name.text!r} above; {suggestion(name.text, self.drafts)}", name)
        return self.drafts[name.text]


def curve_name(key: DofKey) -> str:
    """The curve of a motion that carries a value: a shape key unless its name says another kind."""
    return key[0] if "/" in key[0] else f"shape/{key[0]}"
