"""What an actor can do: groups of actions, as a mind knows them: names, tags and lengths, no tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from ..language.lexer import key_of
from ..language.parser import parse
from ..language.syntax import ActionDef, GroupDef


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


def action_sheet(
    texts: Iterable[str | tuple[str, str]], known: Collection[str] = (), statements: Collection[str] = ()
) -> str:
    """The actions that scripts define themselves, with their groups, as a sheet for `tables.read_sheet`.

    Args:
        texts: As `play.perform_play` takes them.
        known: Names of actions that the library has already; they are left out.
        statements: Words that begin statements which were added to the language.
    """
    sources = [(t, f"script {k}") if isinstance(t, str) else t for k, t in enumerate(texts, 1)]
    definitions = [d for text, name in sources for d in parse(text, name, tuple(statements)).definitions]
    had = set(map(key_of, known))
    tables = {key_of(d.name): d for d in definitions if isinstance(d, ActionDef) and key_of(d.name) not in had}
    lines = [f'define ACTION "{d.name}" {{\n{d.body}\n}}' for d in tables.values()]
    for d in definitions:
        if isinstance(d, GroupDef) and d.kind == "action":
            own = [m for k, m in enumerate(d.members) if key_of(m) in tables or (k == 0 and key_of(m) not in had)]
            if any(key_of(m) in tables for m in own):
                had.update(map(key_of, own))
                lines.append(f'GROUP "{d.name}" ' + " ".join(f'ACTION "{m}"' for m in own))
    return "\n".join(lines) + "\n" if lines else ""
