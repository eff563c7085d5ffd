"""Clauses of scripts: triggers, holds, cues, choices, assignments, messages, widgets and registered statements."""

from __future__ import annotations

from ...errors import FormatError
from .conditions import OWNERS, ConditionReader
from .lexer import STRING, WORD, suggestion
from .reader import RESERVED
from .syntax import (
    PREPOSITIONS,
    UNITS,
    Assign,
    Call,
    Choice,
    Clause,
    Cue,
    Duration,
    Everyone,
    Expr,
    Hold,
    Item,
    PropRef,
    Ref,
    Repeat,
    Send,
    Statement,
    Text,
    Trigger,
    Vector,
    Widget,
)

KEYWORDS = ("do", "choose", "wait", "continue", "set", "cue", "repeat", "show", "hide", "send", "py")
"""Words that begin statements."""
PHRASES = ("turn to face", "pick up", "put down", "shake hands", "walk offstage", "look away")
"""Names of several words that need no quotes at the start of a statement."""
LINKS = ("for", "to", "toward", "with", "until", "else", "over", "between")
"""Words with which a statement goes on."""
TAKES_OBJECT = ("pick up", "put down", "say")
MAX_CLAUSES = 10_000


class ClauseReader(ConditionReader):
    """Reads the body of scripts."""

    def clauses(self) -> tuple[Clause, ...]:
        """All clauses of a script, with or without braces around the whole."""
        if self.sign("{") and self.after().key == "{":
            with self.brackets("{"):
                found = self._clauses()
                if not self.sign("}"):
                    raise self.fail('the "{" of the next clause or the "}" of the script')
                return found
        return self._clauses()

    def _clauses(self) -> tuple[Clause, ...]:
        found = []
        while self.sign("{"):
            with self.brackets("{"):
                found.append(self._statements())
            self.take_sign(",", ";")
            if len(found) > MAX_CLAUSES:
                raise self.here().error(f"a script of more than {MAX_CLAUSES} clauses")
        return tuple(found)

    def _statements(self) -> Clause:
        found = []
        while not self.sign("}"):
            found.append(self.statement())
            while self.take_sign(",", ";"):
                pass
        return tuple(found)

    def statement(self) -> Statement:
        """One statement."""
        at = self.here()
        if self.word("wait", "continue"):
            return self._hold()
        if self.take("set"):
            prop = self.property()
            self.need("to")
            return Assign(prop, self.expression(), at)
        if self.take("cue"):
            return self._cue()
        if self.take("repeat"):
            return Repeat(at)
        if self.word("show", "hide") and self.after().key in ("button", "slider"):
            return self._widget()
        if self.take("send"):
            message = self.name("a message")
            self.need("to")
            return Send(message, self._receivers(), self._for(), at)
        if self.sign("{") and self._ends_with("send_message"):
            return self._message()
        if self.word("py") and self.after().key == ":":
            self.index += 2
            return self._call()
        if self.now.kind == WORD and self.now.key in self.statements:
            return self._registered()
        if self.take("do") or self.word("choose") or self.is_name():
            return self._trigger()
        raise self._no_statement()

    def _no_statement(self) -> FormatError:
        """The error where no statement begins, at the word before if that was meant to go on with the last one."""
        before = self.tokens[max(self.index - 1, 0)]
        hint = suggestion(before.text, LINKS) if before.kind == WORD and before.key not in RESERVED else ""
        if hint:
            return self.here(before).error(f'"{before.text}" has no meaning here; {hint}')
        return self.fail('a statement or "}"', (*KEYWORDS, *self.statements))

    def _receivers(self) -> Ref | Everyone:
        if self.sign("{", "("):
            with self.brackets("{", "("):
                return self._set() if self._is_set() else self.ref()
        return self._set() if self._is_set() else self.ref()

    def _ends_with(self, word: str) -> bool:
        """Whether a bracket without others in it, a name and this word come next."""
        shut = next((k for k in range(1, 9) if self.after(k).key in ("}", "{")), 0)
        return bool(shut) and self.after(shut + 2).key == word

    def _message(self) -> Send:
        """`{ my_location "look_here" } "Camera" send_message`: what is sent is always where the sender is."""
        at = self.here()
        with self.brackets("{"):
            if not (self.take("my_location") or self.take("my location")):
                raise self.fail('"my_location", which is what a message tells', ("my_location",))
            message = self.name("a message")
        to = self.ref()
        self.need("send_message")
        return Send(message, to, None, at)

    def _trigger(self) -> Trigger:
        at = self.here()
        what: str | Choice | PropRef
        spoken = False
        if self.word("choose"):
            what = self._choice()
        elif self.word(*OWNERS) or self.word("current") or (self.is_name() and self.after().key == "'s"):
            what = self.property()
        else:
            what = self._phrase()
            spoken = bool(what)
            if not what:
                spoken = self.now.kind == WORD
                what = self.name("an action or a script")
        preposition, target = None, None
        if self.word(*PREPOSITIONS):
            preposition = self.step().key.removesuffix("s") if self.now.key == "towards" else self.step().key
            target = self._target()
        elif spoken and what in TAKES_OBJECT and (self.is_name() or self.word("choose")):
            preposition, target = "with", self._target()
        elif what == "turn to face" and spoken:
            preposition, target = "to", self._target()
        duration = self._for()
        transition = self.duration() if self.take("over") else None
        fallback = self.name("what to do instead") if self.take("or else") or self.take("else") else None
        return Trigger(what, preposition, target, duration, transition, fallback, at)

    def _phrase(self) -> str:
        """A name of several words that needs no quotes, its words apart or joined; "" if none comes next."""
        if self.now.kind != WORD:
            return ""
        joined = self.now.key.replace("_", " ")
        if joined in PHRASES:
            self.step()
            return joined
        return next((p for p in PHRASES if self.take(p)), "")

    def _target(self) -> Ref | Choice | Vector:
        if self.word("choose"):
            return self._choice()
        if self.sign("[") or self.sign("("):
            return Vector(self.vector())
        return self.ref()

    def _for(self) -> Duration | None:
        return self.duration() if self.take("for") else None

    def duration(self) -> Duration:
        """`3 seconds`, `between 3 and 12 seconds`, `2 minutes`, `10 frames`."""
        at = self.here()
        if self.take("between"):
            lo = self.number("how long (a number)")
            self.need("and")
            hi = self.number("how long (a number)")
        else:
            lo = hi = self.number('how long, as in "3 seconds" or "between 3 and 12 seconds"')
        if self.now.kind != WORD or self.now.key not in UNITS:
            raise self.fail('a unit: "seconds", "minutes" or "frames"', ("seconds", "minutes", "frames", "second"))
        if min(lo, hi) < 0:
            raise at.error(f"a time of {min(lo, hi):g}; it must be 0 or more")
        return Duration(min(lo, hi), max(lo, hi), UNITS[self.step().key])

    def _hold(self) -> Hold:
        at = self.here()
        verb = self.step().key
        if self.take("until"):
            if self.sign("{"):
                with self.brackets("{"):
                    return Hold(self.condition(), at)
            return Hold(self.condition(), at)
        self.take("for")
        if not (self.is_number() or self.word("between")):
            raise self.fail(f'"{verb} 3 seconds" or "{verb} until {{ ... }}"', ("until", "for", "between"))
        return Hold(self.duration(), at)

    def _choice(self) -> Choice:
        at = self.here()
        self.need("choose")
        self.need("from")
        pool: tuple[Item, ...] | Everyone
        if len(self.open) > 30:
            raise at.error("choices within choices, too deep")
        with self.brackets("{", "("):
            pool = self._set() if self._is_set() else self._items()
        rule, rule_at, avoid, cooldown = None, at, None, None
        while True:
            if self.take("based on"):
                rule_at = self.here()
                rule = self.name("a decision rule")
            elif self.take("avoiding repeats"):
                avoid = max(self.number(), 0.0) if self.is_number() else 0.0
            elif self.take("cooldown"):
                cooldown = self.number("how many seconds")
                if self.now.kind == WORD and self.now.key in ("s", "second", "seconds"):
                    self.step()
            else:
                return Choice(pool, rule, avoid, cooldown, at, rule_at)

    def _items(self) -> tuple[Item, ...]:
        found: list[Item] = []
        while not self.sign("}", ")"):
            at = self.here()
            name = self.name("an action, a script or an actor to choose from")
            weight: Expr | None = None
            if self.is_number():
                weight = self.expression() if self.now.kind != STRING else None
            elif self.sign("("):
                with self.brackets("("):
                    weight = self.expression()
            elif self.word(*OWNERS):
                weight = self.property()
            found.append(Item(name, weight, at))
            self.take_sign(",")
        if not found:
            raise self.fail("at least one thing to choose from")
        return tuple(found)

    def _is_set(self) -> bool:
        return self.word("others", "everyone") or self.words("entire set of")

    def _set(self) -> Everyone:
        at = self.here()
        groups: list[str] = []
        if self.take("entire set of"):
            kind = "set"
            groups.append(self.name("a group"))
            while self.take("and") or self.take_sign(","):
                self.take("entire set of")
                groups.append(self.name("a group"))
        else:
            kind = self.step().key
        exceptions: list[Ref] = []
        while self.take("except") or (exceptions and (self.take("and") or self.take_sign(","))):
            exceptions.append(self.ref())
        return Everyone(kind, tuple(groups), tuple(exceptions), at)

    def _cue(self) -> Cue:
        at = self.here()
        whom: tuple[Ref, ...] | Everyone | Choice
        if self.word("choose"):
            whom = self._choice()
        elif self._is_set():
            whom = self._set()
        elif self.sign("{", "("):
            with self.brackets("{", "("):
                if self.word("choose"):
                    whom = self._choice()
                elif self._is_set():
                    whom = self._set()
                else:
                    refs = [self.ref()]
                    while not self.sign("}", ")"):
                        if not self.take_sign(","):
                            self.take("and")
                        refs.append(self.ref())
                    whom = tuple(refs)
        else:
            whom = (self.ref(),)
        self.need("to")
        self.take("do")
        return Cue(whom, self._trigger(), at)

    def _widget(self) -> Widget:
        at = self.here()
        shown = self.step().key == "show"
        kind = self.step().key
        label = self.name("a button" if kind == "button" else "a slider")
        does = None
        if self.take("does"):
            if self.word("show", "hide"):
                raise self.fail("a statement that does not show or hide a widget")
            does = self.statement()
        return Widget(shown, kind, label, does, at)

    def _call(self) -> Call:
        at = self.here()
        name = self.name("a registered statement")
        arguments: list[Expr] = []
        with self.brackets("("):
            while not self.sign(")"):
                arguments.append(self.expression())
                self.take_sign(",")
        return Call(name, tuple(arguments), at)

    def _registered(self) -> Call:
        at = self.here()
        name = self.step().key
        arguments: list[Expr] = []
        while not arguments or self.take_sign(","):
            if self.is_number() or self.now.kind == STRING or self.word(*OWNERS):
                arguments.append(self.expression())
            elif self.now.kind == WORD and self.is_name() and self.now.key not in (*KEYWORDS, *self.statements):
                arguments.append(Text(self.step().text, at))
            else:
                break
        return Call(name, tuple(arguments), at)
