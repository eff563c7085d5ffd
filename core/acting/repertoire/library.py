"""A library of actions: parsed, grouped, checked and compiled once for any number of actors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from types import MappingProxyType

from ...errors import InvalidParam
from .actions import Action, Clip, CompiledAction, Morph, compile_table
from .buffering import Routes
from .clips import compile_clip
from .compositor import Layout, layout, numbered
from .morphs import compile_morph, morphed
from .signals import Signals
from .tables import Sheet
from .tabletokens import suggestion
from .weights import check_blockers

LOOSE = "Other"
"""Group of actions that are in no group; it stands in front."""


@dataclass(frozen=True)
class Group:
    """Actions of which one is selected at a time; the first is what it falls back to."""

    name: str
    actions: tuple[str, ...]

    @property
    def default(self) -> str:
        """The action that it falls back to."""
        return self.actions[0]


def canonical(name: str) -> str:
    """A name as it is compared: without regard to case, `_` being a space."""
    return name.replace("_", " ").casefold()


class ActionLibrary:
    """Actions by name, in groups from back to front.

    Attributes:
        groups: Back to front.
        names: Of all actions.
        blocks: (in front, behind) pairs beyond the order of groups.
        layout: The channels of all actions together.
        signals: What their expressions use.
        warnings: From reading the sheets.
    """

    def __init__(self, sheets: Iterable[Sheet], more: Iterable[Action] = (), signals: Signals | None = None) -> None:
        """Join sheets and single actions; a group that several sheets name is one group.

        Raises:
            InvalidParam: For names that are unknown, used twice or in two groups, and for circles.
        """
        sheets = list(sheets)
        self.signals = signals or next((s.signals for s in sheets if s.signals is not None), None) or Signals()
        self.warnings = tuple(w for sheet in sheets for w in sheet.warnings)
        actions: dict[str, Action] = {}
        for action in [*(a for sheet in sheets for a in sheet.actions.values()), *more]:
            if canonical(action.name) in actions:
                raise InvalidParam("action", action.name, "is defined twice; give one of them another name")
            actions[canonical(action.name)] = action
        members: dict[str, list[str]] = {}
        for name, listed in (group for sheet in sheets for group in sheet.groups):
            members.setdefault(name, []).extend(listed)
        self._actions = actions
        self.groups = self._grouped(members)
        self._apply_buffers([pair for sheet in sheets for pair in sheet.buffers])
        self.blocks = check_blockers(
            (self.action(front).name, self.action(back).name) for sheet in sheets for front, back in sheet.blocks
        )
        for key, action in list(actions.items()):
            actions[key] = self._with_morph(action, ())
        self.routes: Mapping[str, Routes] = MappingProxyType(
            {g.name: Routes(g.actions, {n: self.action(n).buffers for n in g.actions}) for g in self.groups}
        )
        plain = list(actions.values())
        self.layout: Layout = layout(plain)
        self._compiled: dict[str, CompiledAction] = {}
        for action in plain:
            self._compile(action)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all actions."""
        return tuple(a.name for a in self._actions.values())

    def __contains__(self, name: str) -> bool:
        return canonical(name) in self._actions

    def action(self, name: str) -> Action:
        """An action by name; case does not matter, and `_` is a space."""
        try:
            return self._actions[canonical(name)]
        except KeyError:
            raise InvalidParam("action", name, f"no such action; {suggestion(name, self.names)}") from None

    def group(self, name: str) -> Group:
        """A group by name."""
        for group in self.groups:
            if canonical(group.name) == canonical(name):
                return group
        raise InvalidParam("group", name, f"no such group; {suggestion(name, [g.name for g in self.groups])}")

    def group_of(self, action: str) -> Group:
        """The group that an action is in."""
        return self.group(self.action(action).group)

    def compiled(self, name: str) -> CompiledAction:
        """An action as arrays."""
        return self._compiled[canonical(name)]

    def joined(self, group: str, clips: Sequence[Action]) -> ActionLibrary:
        """The library with recorded actions added to a group; nothing that it has is compiled again.

        Args:
            clips: With no other channels than the library has.
        """
        out, known = copy(self), self.group(group)
        added = {canonical(a.name): replace(a, group=known.name) for a in clips}
        larger = Group(known.name, (*known.actions, *(a.name for a in clips)))
        out._actions, out._compiled = {**self._actions, **added}, dict(self._compiled)
        out.groups = tuple(larger if g is known else g for g in self.groups)
        routes = Routes(larger.actions, {n: out.action(n).buffers for n in larger.actions})
        out.routes = MappingProxyType({**self.routes, known.name: routes})
        for action in added.values():
            out._compile(action)
        return out

    def _grouped(self, members: dict[str, list[str]]) -> tuple[Group, ...]:
        owner: dict[str, str] = {}
        groups = []
        for group, listed in members.items():
            kept = []
            for n, name in enumerate(listed):
                key = canonical(name)
                if owner.get(key) == group:
                    continue  # a sheet that adds to a group may name what is in it already
                if key not in self._actions:
                    if n and not key.startswith("no "):
                        hint = suggestion(name, self.names)
                        raise InvalidParam("action", name, f"group {group} names it, but it is not defined; {hint}")
                    self._actions[key] = Action(name)
                if key in owner:
                    raise InvalidParam("action", name, f"is in group {owner[key]} and again in group {group}")
                owner[key] = group
                kept.append(self._actions[key].name)
            groups.append(Group(group, tuple(kept)))
        loose = [a.name for key, a in self._actions.items() if key not in owner]
        if loose:
            none = "No other"
            self._actions.setdefault(canonical(none), Action(none))
            owner.update({canonical(n): LOOSE for n in (none, *loose)})
            groups.append(Group(LOOSE, (none, *loose)))
        for key, group in owner.items():
            self._actions[key] = replace(self._actions[key], group=group)
        return tuple(groups)

    def _apply_buffers(self, pairs: Sequence[tuple[str, str]]) -> None:
        for buffer, buffered in pairs:
            first, second = self.action(buffer), self.action(buffered)
            if first.group != second.group:
                raise InvalidParam("buffers", f"{buffer} buffers {buffered}", "both must be in the same group")
            through = (*second.buffers, first.name)
            self._actions[canonical(buffered)] = replace(second, buffers=through)

    def _with_morph(self, action: Action, above: tuple[str, ...]) -> Action:
        if not isinstance(action.source, Morph):
            return action
        if action.name in above:
            raise InvalidParam("morph", " of ".join((*above, action.name)), "goes round in a circle")
        ends = (action.source.first, action.source.second)
        first, second = (self._with_morph(self.action(end), (*above, action.name)) for end in ends)
        return morphed(action, first, second)

    def _compile(self, action: Action) -> CompiledAction:
        key = canonical(action.name)
        if key not in self._compiled:
            index, flat = self.layout.index, numbered(action)
            if isinstance(action.source, Morph):
                ends = [self._compile(self.action(n)) for n in (action.source.first, action.source.second)]
                self._compiled[key] = compile_morph(flat, index, *ends)
            elif isinstance(action.source, Clip):
                self._compiled[key] = compile_clip(flat, index, action.source)
            else:
                self._compiled[key] = compile_table(flat, index, self.signals)
        return self._compiled[key]
