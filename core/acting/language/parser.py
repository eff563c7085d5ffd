"""Parse texts of the acting language: actors, props, groups, scripts, decision rules and subsets.

    define SCRIPT "greeting" {
      { "enter" } { wait 4 seconds } { "turn to camera" } { wait 1 second }
      { "wave" for 2 seconds  "talk" for 6 seconds } { wait 3 seconds } { "leave" } }

Text is parsed, never evaluated. An error names the source, line and column, and the word that may have been meant.
"""

from __future__ import annotations

from collections.abc import Collection

from .clauses import ClauseReader
from .lexer import END, NUMBER, STRING, WORD, At, Token, key_of
from .syntax import (
    ActionDef,
    Declaration,
    Definition,
    Factor,
    GroupDef,
    HolderDef,
    Init,
    Number,
    Program,
    RuleDef,
    ScriptDef,
    Statement,
    SubsetDef,
    SubsetUse,
    Text,
    Truth,
    Truthy,
    Vector,
)

HOLDERS = ("actor", "prop", "camera", "place", "ensemble", "properties")
_DEFINITIONS = ("define", "script", "group", "action", "decision", "subset", "settings", "morph", *HOLDERS)


def parse(text: str, source: str = "script", statements: Collection[str] = ()) -> Program:
    """The definitions in a text.

    Args:
        source: What errors call the text.
        statements: Words that begin statements registered by others.

    Raises:
        FormatError: With line, column and what was expected.
    """
    reader = _DefinitionReader(text, source, statements)
    found: list[Definition] = []
    while reader.now.kind != END:
        found.append(reader.definition())
        while reader.take_sign(",", ";"):
            pass
    return Program(tuple(found))


def parse_statement(text: str, source: str = "command", statements: Collection[str] = ()) -> Statement:
    """One statement, as a user gives it to an actor."""
    reader = ClauseReader(text, source, statements)
    found = reader.statement()
    if reader.now.kind != END:
        raise reader.fail("the end of the command")
    return found


class _DefinitionReader(ClauseReader):
    def definition(self) -> Definition:
        at, first = self.here(), self.now
        defined = self.take("define")
        if self.take("decision rule"):
            return RuleDef(self.name("a decision rule"), self._rule_body(), at)
        if self.take("script group"):
            return self._group("script")
        if self.take("script"):
            return ScriptDef(self.name("a script"), self.clauses(), at)
        if self.take("group"):
            return self._group("action")
        if self.take("subset"):
            name = self.name("a subset")
            with self.brackets("{"):
                return SubsetDef(name, self.condition(), at)
        if self.take("action"):
            return self._action(at, first)
        if not defined and self.word("settings") and self.after(2).key == "{":
            self.step()
            return self._action(at, first, "settings")
        if not defined and self.word("morph") and self.after().kind in (STRING, WORD):
            return self._morph(at, first)
        if not defined and self.sign("{"):
            return self._table()
        if self.word(*HOLDERS) and (defined or self.after().kind in (STRING, WORD)):
            return self._holder()
        if not defined and self.is_name() and self.after().key in ("buffers", "blocks"):
            self.index += 2
            return Declaration(self.tokens[self.index - 1].key, first.text, self.name("an action"), at)
        if not defined and self.now.kind == WORD and self.now.text.isupper() and len(self.now.text) > 1:
            return self._group("script")
        kinds = "SCRIPT, GROUP, DECISION RULE, SUBSET, ACTOR, PROP, ..."
        raise self.fail(f"what to define: {kinds}" if defined else f'a definition, as "define" {kinds}', _DEFINITIONS)

    def _group(self, kind: str) -> GroupDef:
        at = self.here()
        name = self.name("a group")
        members: list[str] = []
        if kind == "action" and not self.sign("{", "(") and not self.word("action"):
            kind = "script"
        if self.sign("{", "("):
            with self.brackets("{", "("):
                while not self.sign("}", ")"):
                    self._prefix(kind)
                    members.append(self.name(f"a {kind}"))
                    self.take_sign(",")
        elif kind == "action":
            while self.take("action"):
                members.append(self.name("an action"))
        else:
            while self.is_name() and not self._starts_definition():
                members.append(self.name("a script"))
        if not members:
            raise self.fail(f'the {kind}s of the group "{name}"')
        return GroupDef(kind, name, tuple(members), at)

    def _prefix(self, kind: str) -> None:
        if self.word(kind) and self.after().kind in (STRING, WORD):
            self.step()

    def _starts_definition(self) -> bool:
        token = self.now
        if token.kind == STRING:
            return self.after().key in ("buffers", "blocks")
        return token.key in _DEFINITIONS or self.after().key in ("buffers", "blocks") or token.text.isupper()

    def _action(self, at: At, first: Token, form: str = "improv") -> ActionDef:
        name = self.name("an action")
        body = self._raw()
        return ActionDef(name, body, form, at, (first.start, self.tokens[self.index - 1].stop))

    def _table(self) -> ActionDef:
        """A postfix table of the 1995 puppet: `{ ... } 'name define_action`."""
        at, start = self.here(), self.now.start
        body = self._raw()
        if not self.sign("'"):
            raise at.error(
                "this is in no script: write clauses between the braces of a define SCRIPT, "
                "and 'name define_action after a table"
            )
        name = self.step().text
        self.need("define_action")
        return ActionDef(name, body, "postfix", at, (start, self.tokens[self.index - 1].stop))

    def _morph(self, at: At, first: Token) -> ActionDef:
        """What lies between two actions: `morph walking from attention to running amount .4 { fade .8 }`."""
        self.step()
        name, start = self.name("the new action"), self.now.start
        ends: list[tuple[str, At]] = []
        for word in ("from", "to"):
            self.need(word)
            spot = self.here()
            ends.append((self.name("an action"), spot))
        if self.take("amount"):
            self.number("a part of the second action, 0 to 1")
        if self.sign("{"):
            self._raw()
        stop = self.tokens[self.index - 1].stop
        return ActionDef(name, self.text[start:stop], "morph", at, (first.start, stop), tuple(ends))

    def _raw(self) -> str:
        """What stands between the next braces, as it stands."""
        start = self.now.stop
        with self.brackets("{"):
            depth = 0
            while depth or not self.sign("}"):
                if self.now.kind == END:
                    raise self.fail('"}"')
                depth += self.sign("{") - self.sign("}")
                self.step()
            stop = self.now.start
        return self.text[start:stop].strip()

    def _rule_body(self) -> tuple[SubsetUse, ...]:
        if self.sign("{"):
            with self.brackets("{"):
                return self._subsets()
        return self._subsets()

    def _subsets(self) -> tuple[SubsetUse, ...]:
        found: list[SubsetUse] = []
        if self.word("factor"):
            found.append(SubsetUse(None, 1.0, self._factors(), self.here()))
        while self.word("subset") and (len(self.open) or self._used_here()):
            at = self.here()
            self.step()
            name = self.name("a subset")
            scale = self.number() if self.take("scale") else 1.0
            found.append(SubsetUse(name, scale, self._factors(), at))
        if not found:
            raise self.fail('"factor { ... }" or "subset"', ("factor", "subset"))
        return tuple(found)

    def _used_here(self) -> bool:
        """Whether a `subset` after a rule without braces belongs to the rule: its definition has a brace."""
        return self.after(2).key != "{"

    def _factors(self) -> tuple[Factor, ...]:
        found = []
        while self.take("factor"):
            with self.brackets("{", "("):
                condition = self.condition()
            value = condition.value if isinstance(condition, Truthy) else condition
            found.append(Factor(value, self.number() if self.take("influence") else 1.0))
            self.take_sign(",")
        if not found:
            raise self.fail('"factor { ... }"', ("factor",))
        return tuple(found)

    def _holder(self) -> HolderDef:
        at = self.here()
        kind = self.step().key
        if kind == "properties":
            self.take("of")
        name = self.name(f"the {kind}" if kind != "properties" else "an action or a script")
        inits: list[Init] = []
        does: list[str] = []
        members: tuple[str, ...] = ()
        with self.brackets("{", "("):
            while not self.sign("}", ")"):
                if self.take("does"):
                    does.append(self.name("a script"))
                elif self.word("members") and kind == "ensemble":
                    self.step()
                    members += self.names()
                else:
                    inits.append(self._init())
                while self.take_sign(",", ";"):
                    pass
        return HolderDef(kind, name, tuple(inits), tuple(does), members, at)

    def _init(self) -> Init:
        name = self.name("a property")
        toward = self.ref() if self.take("toward") or self.take("towards") else None
        value: Number | Text | Truth | Vector
        if self.now.kind == NUMBER or self.sign("-", "+"):
            value = Number(self.number())
        elif self.now.kind == STRING or (key_of(name) == "upon" and self.is_name()):
            at = self.here()
            value = Text(self.step().text, at)
        elif self.sign("[", "("):
            at = self.here()
            value = Vector(self.vector())
            if key_of(name) == "size" and (len(value.values) != 3 or min(value.values) <= 0.0):
                raise at.error("a size has a width, a depth and a height above 0, as [.5 .4 .8]")
        elif self.word("true", "false", "yes", "no"):
            value = Truth(self.step().key in ("true", "yes"))
        else:
            value = Truth(True)
        return Init(name, value, toward)
