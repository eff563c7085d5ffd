"""The behaviour engine: the minds of a cast, stepped together (Perlin and Goldberg, Improv, 1996).

Whatever is scheduled (a hold that ends, a cue, a command, an arrival) waits in one queue ordered by time, then by cast
order and script group, so a step costs what happens in it. Each happens at its exact time, whatever the step: only what
one actor learns of another waits for the commit at the end of the step. Bodies are reached through a `BodyPort` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...motion import Event
from ..language.lexer import At
from . import attention, deeds
from .blackboard import EVERY_STEP
from .bodyport import BodyPort, distance
from .cast import ActionGroup, Actor, ScriptGroup
from .company import Company
from .doing import Doing, PlayOptions, Selected
from .events import CHANGES, line_of
from .record import Rows
from .scripts import compile_script
from .statements import Statements

NEARER = 0.9
"""How much nearer than the nearest another must be to take its place."""


class Play(Doing):
    """A play under way. `step` moves it on; `command` directs it; `events` tells what happened and why.

    Attributes:
        time: Up to which it has been played [s].
        steps: How many steps that took.
        events: The log.
        selections: Per actor, the actions selected.
        aims: Per camera, where it points, a row a step.
        widgets: Buttons and sliders that scripts show: label to (actor, kind, statement).
    """

    def __init__(
        self,
        company: Company,
        stage: BodyPort,
        statements: Statements | None = None,
        options: PlayOptions | None = None,
        locked: Mapping[tuple[str, str], Sequence[Event]] | None = None,
        listener: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__(company, stage, statements or Statements(), options or PlayOptions(), locked or {})
        self.listener, self._unsaid = listener, 0
        self.compile()
        minds = [h for h in company.world.values() if isinstance(h, Actor)]
        self.actors = [a for a in minds if a.kind == "actor"]
        self.props = [h for h in company.world.values() if h.kind == "prop"]
        for prop in self.props:
            prop.values.setdefault("holder", "")
        for actor in minds:
            self._equip(actor)
        self._nearest(0.0, commit=True)
        for actor in self.actors:
            for group in actor.scripts.values():
                if group.default is not None:
                    self.start_script(actor, group.default, None, 0.0, because="default")
        for holder, name, at in company.starts:
            if isinstance(holder, Actor):
                self._start(holder, name, at)

    def compile(self) -> None:
        """Compile every script of the company."""
        for group, (_, members) in self.company.script_groups.items():
            for key in members:
                if key:
                    self.scripts[key] = compile_script(
                        self.company.script_defs[key],
                        self.company,
                        self.statements,
                        group,
                        self.options.fps,
                        self.options.normalise,
                    )

    def _equip(self, actor: Actor) -> None:
        for order, (key, (name, members)) in enumerate(self.company.script_groups.items()):
            actor.scripts[key] = ScriptGroup(name, key, order, self.scripts.get(members[0]))
        for order, (key, (name, members)) in enumerate(self.company.action_groups.items()):
            actor.actions[key] = ActionGroup(name, key, order, self.company.actions[members[0]])
        self.selections.setdefault(actor.name, Rows(Selected._make))

    def _start(self, holder: Actor, name: str, at: At | None) -> None:
        found = self.company.doing(name, at or At("cast"))
        if holder.members and found.kind == "script":
            self.start_script(holder, self.scripts[found.key], None, 0.0, because="start")
        else:
            self.perform(holder, found, None, 0.0, because="start")

    def step(self, until: float) -> None:
        """Play on to a time [s]: everything due by then, then what changes by itself, then the commit."""
        self.steps += 1
        self.drain(until)
        if self._awaited:
            for (_, channel), (actor, ticket) in list(self._awaited.items()):
                if self.stage.is_done(actor.name, channel, until):
                    self.finish(actor, channel, ticket, until)
        self.board.changed(EVERY_STEP, until)
        self.drain(until)
        self.time = until
        self._commit(until)

    def _commit(self, time: float) -> None:
        self.resume(time)
        cues, self._cues = self._cues, []
        for _, _, deliver, actor in sorted(cues, key=lambda c: c[:2]):
            self.at(time, actor, deliver)
        if self.requests:
            deeds.decide(self, time)
        self._nearest(time)
        if self.attending:
            attention.attend(self, time)
        if self.board.pending:
            self.board.commit(time)
        if self.listener is not None:
            for event in self.events[self._unsaid :]:
                if event.name in CHANGES:
                    self.listener(line_of(event))
        self._unsaid = len(self.events)

    def _nearest(self, time: float, commit: bool = False) -> None:
        """Keep, for each prop, who is nearest; another takes over only when a tenth nearer."""
        if not self.company.watches_nearest:
            return
        people = [a for a in self.actors if not a.values.get("player")]
        for prop in self.props:
            apart = {a.name: distance(self.stage, a.name, prop.name, time) for a in people}
            best = min(apart, key=lambda name: apart[name], default="")
            held = prop.values.get("nearest")
            if isinstance(held, str) and held in apart and apart[best] >= NEARER * apart[held]:
                continue
            if commit:
                prop.values["nearest"] = best
            elif best != held:
                self.board.write(None, prop, "nearest", best, time)
                self.log(time, "set", actor="", of=prop.name, property="nearest", value=best)
