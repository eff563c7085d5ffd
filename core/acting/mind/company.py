"""Everything that the texts and the cast of a play name, found by name, with a hint where a name is not known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from ...errors import FormatError, InvalidParam
from ..language.clauses import KEYWORDS
from ..language.lexer import At, key_of, suggestion
from ..language.syntax import ActionDef, GroupDef, HolderDef, Program, Ref, RuleDef, ScriptDef, SubsetDef, Vector
from .cast import Actor, Member
from .properties import WORLD_KINDS, Holder, keyed
from .verbs import NAMES, Verb, verb_of
from .vocabulary import Vocabulary

MARKS = {"center": (0.0, 0.0), "offstage": (8.0, 0.0), "camera": (0.0, -6.0)}
"""Places that are there unless the play defines them: the middle, behind the scenes, and where one is seen from [m]."""


class VerbHolder(Holder):
    """A verb with the object that its name contains."""

    __slots__ = ("object", "verb")

    def __init__(self, name: str, serial: int, verb: Verb, place: str | None) -> None:
        super().__init__(name, "verb", serial)
        self.verb, self.object = verb, place

    def done_keys(self, target: Holder | None = None) -> tuple[str, ...]:
        """What is over when it is: the verb, and the verb with its object, however they were said."""
        order = f"({self.verb.order})"
        place = target.key if target is not None else self.object
        return (order,) if place is None else (order, f"{order} {place}")


class Company:
    """The world and the words of a play.

    Attributes:
        world: Actors, props, cameras, places and ensembles by key, in order of the cast.
        actions, scripts: Holders of the properties of actions and scripts by key.
        action_groups, script_groups: Key of a group to (name, keys of members).
        pools: Key of a group of actions to all that may be chosen from it.
        definitions: Scripts, rules and subsets by key.
        tables: Definitions of actions in the texts, for the reader of tables.
        starts: Scripts to start with: (actor, script, where it was said).
        before: The company of the same play under older texts; who is in both stays who they are.
    """

    def __init__(
        self,
        programs: Sequence[Program],
        cast: Sequence[Member],
        library: Vocabulary,
        seed: int,
        before: Company | None = None,
    ) -> None:
        self.seed, self._before = seed, before
        self.world: dict[str, Holder] = {}
        self.actions: dict[str, Holder] = {}
        self.scripts: dict[str, Holder] = {}
        self.verbs: dict[str, VerbHolder] = {}
        self.script_defs: dict[str, ScriptDef] = {}
        self.rules: dict[str, RuleDef] = {}
        self.subsets: dict[str, SubsetDef] = {}
        self.tables: list[ActionDef] = []
        self.starts: list[tuple[Holder, str, At | None]] = []
        self.places: dict[str, tuple[float, float, float]] = {}
        self.seconds: dict[str, float] = {}
        self.group_of_action: dict[str, str] = {}
        self.watches_nearest = False
        self._serial: int = before._serial if before else 0
        definitions = [d for p in programs for d in p.definitions]
        self._people(cast, [d for d in definitions if isinstance(d, HolderDef) and d.kind != "properties"])
        for d in definitions:
            if isinstance(d, ActionDef) and d.form != "settings":
                self.tables.append(d)
        library = self._pooled(library, [d for d in definitions if isinstance(d, GroupDef) and d.kind == "action"])
        grouped = {key_of(a.name) for _, actions in library.groups for a in actions}
        loose = [t.name for t in self.tables if key_of(t.name) not in grouped]
        for name in loose:
            library = library.merged(name, ("No " + name, name))
        self._vocabulary(library, definitions)
        for d in definitions:
            if isinstance(d, HolderDef) and d.kind == "properties":
                self._fill(self.doing(d.name, d.at), d)

    def _new(self) -> int:
        self._serial += 1
        return self._serial

    def _people(self, cast: Sequence[Member], defined: Sequence[HolderDef]) -> None:
        for member in cast:
            self._holder(member.name, member.kind, None)
        for d in defined:
            self._holder(d.name, d.kind, d.at, {key_of(m.name) for m in cast})
        for name, (x, y) in MARKS.items():
            if name not in self.world:
                self._holder(
                    name.title() if name == "camera" else name, "camera" if name == "camera" else "place", None
                )
                self.places[self.world[name].name] = (x, y, 0.0)
        for d in defined:
            self._fill(self.world[key_of(d.name)], d)
        for member in cast:
            self._join(member)

    def _holder(self, name: str, kind: str, at: At | None, cast: Iterable[str] = ()) -> None:
        key = key_of(name)
        if not key:
            raise InvalidParam("name", name, "a member of the cast needs a name")
        if key in self.world:
            if key in cast:
                return
            text = f'"{name}" is there twice; give the second another name'
            raise at.error(text) if at else InvalidParam("cast", name, text)
        mind = kind in ("actor", "camera", "ensemble")
        serial = self._new()
        known = self._before.world.get(key) if self._before else None
        if known is not None and known.kind == kind:
            self.world[key] = known
        else:
            self.world[key] = Actor(name, kind, serial, self.seed) if mind else Holder(name, kind, serial)

    def _fill(self, holder: Holder, d: HolderDef) -> None:
        for init in d.inits:
            value = init.value.values if isinstance(init.value, Vector) else init.value.value
            key = key_of(init.name)
            if self._before and key in holder.values and holder.kind in WORLD_KINDS:
                continue
            if init.toward is not None:
                holder.values[key, self.someone(init.toward).key] = value
            elif key in ("location", "position") and isinstance(init.value, Vector):
                x, y, heading = (*init.value.values, 0.0)[:3] if len(init.value.values) < 3 else init.value.values
                self.places[holder.name] = (x, y, heading)
            else:
                holder.values[key] = value
        self.starts += [(holder, name, d.at) for name in d.does]
        if d.members and isinstance(holder, Actor):
            holder.members = tuple(self._actor(m, d.at) for m in d.members)

    def _join(self, member: Member) -> None:
        holder = self.world[key_of(member.name)]
        if self._before and self._before.world.get(holder.key) is holder:
            return
        holder.values.update(keyed(member.properties))
        for (prop, other), value in member.relations.items():
            holder.values[key_of(prop), key_of(other)] = next(iter(keyed({prop: value}).values()))
        if member.place is not None:
            self.places[holder.name] = member.place
        self.starts += [(holder, name, None) for name in member.does]
        if member.members and isinstance(holder, Actor):
            holder.members = tuple(self._actor(m, None) for m in member.members)

    def _actor(self, name: str, at: At | None) -> Actor:
        found = self.world.get(key_of(name))
        if not isinstance(found, Actor):
            hint = suggestion(name, [h.name for h in self.world.values() if isinstance(h, Actor)])
            text = f'no actor is called "{name}"; {hint or "define it"}'
            raise at.error(text) if at else InvalidParam("members", name, text)
        return found

    def _vocabulary(self, library: Vocabulary, definitions: Sequence[object]) -> None:
        self.action_groups: dict[str, tuple[str, tuple[str, ...]]] = {}
        self.script_groups: dict[str, tuple[str, tuple[str, ...]]] = {}
        for group, actions in library.groups:
            for action in actions:
                holder = self._word(action.name, "action", self.actions, None)
                holder.values.update(keyed(action.properties))
                self.group_of_action[holder.key] = key_of(group)
                if action.seconds is not None:
                    self.seconds[holder.key] = action.seconds
            members = tuple(key_of(a.name) for a in actions)
            self.action_groups[key_of(group)] = (group, members)
            self.pools[key_of(group)] = tuple(dict.fromkeys((*members, *self.pools.get(key_of(group), ()))))
        for d in definitions:
            if isinstance(d, ScriptDef):
                self._word(d.name, "script", self.scripts, d.at)
                self.script_defs[key_of(d.name)] = d
            elif isinstance(d, RuleDef):
                _once(self.rules, d.name, d, d.at, "decision rule")
            elif isinstance(d, SubsetDef):
                _once(self.subsets, d.name, d, d.at, "subset")
        placed: set[str] = set()
        for d in definitions:
            if isinstance(d, GroupDef) and d.kind == "script":
                for n, name in enumerate(d.members):
                    if key_of(name) in placed:
                        raise d.at.error(f'the script "{name}" is in two groups')
                    if key_of(name) not in self.scripts:
                        if n and not key_of(name).startswith("no "):
                            hint = self._hint(name, [s.name for s in self.script_defs.values()])
                            raise d.at.error(f'no script is called "{name}", which this group names{hint}')
                        self._word(name, "script", self.scripts, d.at)
                        self.script_defs[key_of(name)] = ScriptDef(name, (), d.at)
                    placed.add(key_of(name))
                _once(self.script_groups, d.name, (d.name, tuple(map(key_of, d.members))), d.at, "group")
        for key in self.script_defs:
            if key not in placed:
                self.script_groups.setdefault(f"({key})", (self.script_defs[key].name, ("", key)))

    def _pooled(self, library: Vocabulary, groups: Sequence[GroupDef]) -> Vocabulary:
        """Add the groups of the texts; an action that has a group stays in it, but may be chosen from both."""
        home = {key_of(a.name): key_of(g) for g, actions in library.groups for a in actions}
        self.pools: dict[str, tuple[str, ...]] = {}
        for d in groups:
            group = key_of(d.name)
            mine = [m for m in d.members if home.setdefault(key_of(m), group) == group]
            library = library.merged(d.name, mine) if mine else library
            self.pools[group] = tuple(dict.fromkeys((*self.pools.get(group, ()), *map(key_of, d.members))))
        return library

    def _word(self, name: str, kind: str, into: dict[str, Holder], at: At | None) -> Holder:
        key = key_of(name)
        if key in self.actions or key in self.scripts:
            text = f'"{name}" is there twice; scripts and actions share their names, so give one another name'
            raise at.error(text) if at else InvalidParam("library", name, text)
        known = self._before and (self._before.scripts if kind == "script" else self._before.actions).get(key)
        into[key] = known or Holder(name, kind, self._new())
        return into[key]

    def doing(self, name: str, at: At) -> Holder:
        """The script, action or verb of a name.

        Raises:
            FormatError: There is none; with the nearest name.
        """
        key = key_of(name)
        found = self.scripts.get(key) or self.actions.get(key) or self.verbs.get(key)
        if found is not None:
            return found
        verb = verb_of(name)
        if verb is not None:
            if verb[1] is not None and verb[1] not in self.world:
                raise at.error(f'nobody and nothing is called "{verb[1]}"{self._hint(verb[1], self._people_names())}')
            self.verbs[key] = VerbHolder(name, self._new(), *verb)
            return self.verbs[key]
        raise at.error(f'no action or script is called "{name}"{self._hint(name, self.words())}')

    def choosable(self, name: str, at: At) -> Holder:
        """What may stand in a pool: something to do, or someone."""
        if key_of(name) in self.world:
            return self.world[key_of(name)]
        try:
            return self.doing(name, at)
        except FormatError:
            known = (*self.words(), *self._people_names())
            text = f'no action, script or actor is called "{name}"{self._hint(name, known)}'
            raise at.error(text) from None

    def someone(self, ref: Ref) -> Holder:
        """A named holder: someone in the world, else a script or action.

        Raises:
            FormatError: There is none; with the nearest name.
        """
        key = key_of(ref.name)
        found = self.world.get(key) or self.scripts.get(key) or self.actions.get(key)
        if found is None and key == "player":
            found = self.player
        if found is None:
            raise ref.at.error(f'nobody and nothing is called "{ref.name}"{self._hint(ref.name, self._people_names())}')
        return found

    @property
    def player(self) -> Holder | None:
        """The actor that the user plays."""
        return next((h for h in self.world.values() if h.values.get("player")), None)

    def group(self, name: str, at: At) -> tuple[str, str]:
        """Kind (action, script, ensemble) and key of a group.

        Raises:
            FormatError: There is none; with the nearest name.
        """
        key = key_of(name)
        if key in self.action_groups or key in self.pools:
            return "action", key
        if key in self.script_groups:
            return "script", key
        if f"({key})" in self.script_groups:
            return "script", f"({key})"
        found = self.world.get(key)
        if isinstance(found, Actor) and found.members:
            return "ensemble", key
        known = [n for n, _ in (*self.action_groups.values(), *self.script_groups.values())]
        raise at.error(f'no group is called "{name}"{self._hint(name, known)}')

    def words(self) -> tuple[str, ...]:
        """Every name that can be done, and the words that begin statements."""
        named = [h.name for h in (*self.scripts.values(), *self.actions.values())]
        return (*named, *KEYWORDS, *NAMES)

    def _people_names(self) -> tuple[str, ...]:
        return tuple(h.name for h in self.world.values())

    @staticmethod
    def _hint(name: str, known: Iterable[str]) -> str:
        hint = suggestion(name, known)
        return f"; {hint}" if hint else ""


T = TypeVar("T")


def _once(table: dict[str, T], name: str, value: T, at: At, what: str) -> None:
    key = key_of(name)
    if key in table:
        raise at.error(f'the {what} "{name}" is there twice; give one another name')
    table[key] = value
