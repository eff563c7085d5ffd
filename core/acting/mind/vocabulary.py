"""What an actor can do: groups of actions, as a mind knows them: names, tags and lengths, no tables."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from ...errors import FormatError
from ..language.lexer import At, key_of, suggestion
from ..language.parser import parse
from ..language.syntax import ActionDef, Declaration, Definition, GroupDef


class LibraryGroup(Protocol):
    """A group of a library of actions: its name, and its actions or their names, the default first."""

    @property
    def name(self) -> str: ...

    @property
    def actions(self) -> Sequence[Any]: ...


class Library(Protocol):
    """A library of actions: groups from the back to the front, and each action by name."""

    @property
    def groups(self) -> Sequence[LibraryGroup]: ...

    def action(self, name: str) -> Any: ...


class _Selection(Protocol):
    @property
    def action(self) -> str: ...

    def _replace(self: S, *, group: str, action: str) -> S: ...


S = TypeVar("S", bound="_Selection")


@dataclass(frozen=True)
class ActionInfo:
    """An action as a mind knows it.

    Attributes:
        properties: Tags and numbers that decision rules read.
        seconds: Length of a finite clip [s]; None for what goes on until another is selected.
    """

    name: str
    properties: Mapping[str, object] = field(default_factory=dict)
    seconds: float | None = None


@dataclass(frozen=True)
class Vocabulary:
    """Groups of actions from the back to the front; the first action of each is its default."""

    groups: tuple[tuple[str, tuple[ActionInfo, ...]], ...] = ()

    def merged(self, group: str, names: Iterable[str]) -> Vocabulary:
        """With the actions of a group that are new; a new group comes in front."""
        groups = {key_of(g): (g, list(actions)) for g, actions in self.groups}
        _, actions = groups.setdefault(key_of(group), (group, []))
        known = {key_of(a.name) for a in actions}
        actions += [ActionInfo(n) for n in dict.fromkeys(names) if key_of(n) not in known]
        return Vocabulary(tuple((g, tuple(a)) for g, a in groups.values()))


def vocabulary_of(library: Vocabulary | Library | Mapping[str, Sequence[str]] | None) -> Vocabulary:
    """The vocabulary of an action library, or of names of actions by group."""
    if library is None:
        return Vocabulary()
    if isinstance(library, Vocabulary):
        return library
    if isinstance(library, Mapping):
        return Vocabulary(tuple((g, tuple(ActionInfo(n) for n in names)) for g, names in library.items()))
    groups = []
    for group in library.groups:
        names = [a if isinstance(a, str) else a.name for a in group.actions]
        actions = [library.action(n) for n in names]
        groups.append((group.name, tuple(ActionInfo(a.name, dict(a.properties), a.seconds) for a in actions)))
    return Vocabulary(tuple(groups))


def playable(selections: Iterable[S], library: Library) -> tuple[list[S], tuple[str, ...]]:
    """The selections that the bodies of a library can show, each in the library's own group, and what they cannot.

    Returns:
        Selections, and the names of the actions that are missing, each once.
    """
    known = {key_of(a.name): (group, a.name) for group, actions in vocabulary_of(library).groups for a in actions}
    kept: list[S] = []
    missing: dict[str, None] = {}
    for each in selections:
        found = known.get(key_of(each.action))
        if found is None:
            missing[each.action] = None
        else:
            kept.append(each._replace(group=found[0], action=found[1]))
    return kept, tuple(missing)


def sourced(texts: Iterable[str | tuple[str, str]]) -> list[tuple[str, str]]:
    """Texts, each with the name that errors call it by; those without one are numbered."""
    return [(t, f"script {k}") if isinstance(t, str) else t for k, t in enumerate(texts, 1)]


def action_sheet(
    texts: Iterable[str | tuple[str, str]], known: Collection[str] = (), statements: Collection[str] = ()
) -> str:
    """The actions that scripts define themselves, with their groups, buffers and blocks, for `tables.read_sheet`.

    A script may hold whatever a sheet of actions may.

    The tables of a single text stand at the same lines and columns as in it.

    Args:
        texts: As `play.perform_play` takes them.
        known: Names of actions that the library has already.
        statements: Words that begin statements which were added to the language.

    Raises:
        FormatError: An action is there already, one that is spoken of is not, or a morph is made of itself.
    """
    had = set(map(key_of, known))
    definitions: list[Definition] = []
    parts: list[str] = []
    for text, name in sourced(texts):
        found = parse(text, name, tuple(statements)).definitions
        definitions += found
        own = [d for d in found if isinstance(d, ActionDef)]
        for table in own:
            if key_of(table.name) in had:
                raise table.at.error(f'there is an action "{table.name}" already; give this one another name')
        parts.append(_only(text, [table.span for table in own]))
    defined = [d for d in definitions if isinstance(d, ActionDef)]
    tables = {key_of(d.name) for d in defined}
    choices = [*known, *(d.name for d in defined)]
    _check_morphs([d for d in defined if d.form == "morph"], choices)
    lines = []
    for d in definitions:
        if isinstance(d, GroupDef) and d.kind == "action":
            members = [m for k, m in enumerate(d.members) if key_of(m) in tables or (k == 0 and key_of(m) not in had)]
            if any(key_of(m) in tables for m in members):
                had.update(map(key_of, members))
                lines.append(f'GROUP "{d.name}" ' + " ".join(f'ACTION "{m}"' for m in members))
    for d in definitions:
        if isinstance(d, Declaration):
            for name in (d.first, d.second):
                if key_of(name) not in had | tables:
                    raise _nobody(name, d.at, choices)
            lines.append(f'"{d.first}" {d.verb} "{d.second}"')
    return "\n".join([*parts, *lines]) + "\n" if tables or lines else ""


def _check_morphs(morphs: Sequence[ActionDef], choices: Sequence[str]) -> None:
    """Refuse a morph of what is not there, or of itself, where it says so."""
    known, by_key = set(map(key_of, choices)), {key_of(d.name): d for d in morphs}
    for d in morphs:
        for name, at in d.ends:
            if key_of(name) not in known:
                raise _nobody(name, at, choices)
            seen, waiting = set[str](), [key_of(name)]
            while waiting:
                key = waiting.pop()
                if key == key_of(d.name):
                    raise at.error(f'"{d.name}" cannot be a morph of itself')
                if key in by_key and key not in seen:
                    seen.add(key)
                    waiting += [key_of(end) for end, _ in by_key[key].ends]


def _nobody(name: str, at: At, choices: Sequence[str]) -> FormatError:
    hint = suggestion(name, choices)
    return at.error(f'no action is called "{name}"' + (f"; {hint}" if hint else ""))


def _only(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """A text with nothing left of it but these parts, each where it stood, so that errors name its place."""
    kept, at = "", 0
    for start, stop in spans:
        kept += re.sub(r"[^\n]", " ", text[at:start]) + text[start:stop]
        at = stop
    return kept
