"""Scripts compiled to clauses of closures, and their runs.

A clause starts all its statements at one moment and ends when all its holds are satisfied. A hold that lasts a time
ends at that exact time, whatever the step; a hold that waits for a condition is asked again when something that it has
read changes, so what holds costs nothing while nothing happens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..language.lexer import key_of
from ..language.syntax import Duration, Hold, Repeat, ScriptDef
from .blackboard import WatchKey
from .cast import Actor, ScriptGroup, Target
from .company import Company
from .criteria import Test, condition, impersonal
from .evaluation import Scope
from .orders import Act, Seconds, compile_statement, duration
from .properties import Holder
from .statements import Statements

if TYPE_CHECKING:
    from .doing import Doing

GUARD = 1000
"""How often a script may go on within one step before it counts as endless."""


@dataclass(frozen=True, eq=False)
class CompiledClause:
    """What starts together, what is waited for, and whether the script then begins again."""

    acts: tuple[Act, ...]
    waits: tuple[Seconds, ...]
    conditions: tuple[Test, ...]
    repeat: bool
    common: bool


class Script:
    """A compiled script; all actors share it."""

    __slots__ = ("clauses", "definition", "group", "holder", "key", "name")

    def __init__(self, definition: ScriptDef, holder: Holder, group: str, clauses: Sequence[CompiledClause]) -> None:
        self.definition, self.holder, self.group = definition, holder, group
        self.name, self.key = holder.name, holder.key
        self.clauses = tuple(clauses)


def compile_script(
    d: ScriptDef, company: Company, statements: Statements, group: str, fps: float, normalise: bool
) -> Script:
    """Compile a script.

    Args:
        group: Key of the group that it belongs to.
        fps: Frames per second, for durations in frames.

    Raises:
        FormatError: A name in it means nothing; with its place and the nearest name.
    """
    clauses = []
    for row, clause in enumerate(d.clauses, 1):
        acts: list[Act] = []
        waits: list[Seconds] = []
        conditions: list[Test] = []
        repeat = False
        for column, s in enumerate(clause, 1):
            site = f"{d.name}/{row}/{column}"
            if isinstance(s, Hold):
                if isinstance(s.until, Duration):
                    waits.append(duration(s.until, site, fps))
                else:
                    conditions.append(condition(s.until, company))
            elif isinstance(s, Repeat):
                repeat = True
            else:
                acts.append(compile_statement(s, company, statements, site, fps, normalise))
        common = all(impersonal(s.until) for s in clause if isinstance(s, Hold))
        clauses.append(CompiledClause(tuple(acts), tuple(waits), tuple(conditions), repeat, common))
    return Script(d, company.scripts[key_of(d.name)], group, clauses)


class Run:
    """One run of a script by an actor.

    Attributes:
        position: Clause that it is in.
        entered: Whether that clause has started.
        held: Whether anything has held since the last repeat; a loop that never holds goes round once a step.
        ticket: Counts activations, so that what was scheduled for an earlier one is void.
        over: It ended or was stopped.
        watched: What it waits to see change.
    """

    __slots__ = (
        "entered",
        "group",
        "held",
        "over",
        "owner",
        "play",
        "position",
        "scope",
        "script",
        "ticket",
        "watched",
    )

    def __init__(self, play: Doing, script: Script, owner: Actor, group: ScriptGroup, target: Target) -> None:
        self.play, self.script, self.owner, self.group = play, script, owner, group
        self.scope = Scope(play, owner, target, play.time)
        self.position, self.ticket = 0, 0
        self.watched: set[WatchKey] = set()
        self.entered = self.held = self.over = False

    def wake(self, time: float) -> None:
        """Go on at a time."""
        self.play.push(time, self.owner.serial, self.group.order, self, self.ticket)

    def fire(self, time: float, ticket: int) -> None:
        """Go on now, if this is still what was scheduled."""
        if ticket != self.ticket or self.over:
            return
        self.ticket += 1
        group = self.group
        if group.step != self.play.steps:
            group.step, group.activity = self.play.steps, 0
        group.activity += 1
        if group.activity > GUARD:
            self._endless(time)
        else:
            self._advance(time)

    def stop(self) -> None:
        """End at once; nothing that was scheduled happens."""
        self.over = True
        self.ticket += 1

    @property
    def question(self) -> object:
        """The clause that it is in, where its conditions are the same for whoever plays it; None where not."""
        clause = self.script.clauses[self.position]
        return clause if clause.common else None

    def ready(self, time: float) -> bool:
        """Whether the conditions of the clause hold now; else what keeps them from it is watched."""
        scope, reads = self.scope, list[WatchKey]()
        scope.time, scope.reads = time, reads
        satisfied = True
        for test in self.script.clauses[self.position].conditions:
            read = len(reads)
            if test(scope) < 0.5:
                # as long as this one fails the others do not matter
                del reads[:read]
                satisfied = False
                break
        scope.reads = None
        if not satisfied and (len(reads) != len(self.watched) or not self.watched.issuperset(reads)):
            self.play.board.watch(self, reads)
        return satisfied

    def _advance(self, time: float) -> None:
        clauses, scope = self.script.clauses, self.scope
        scope.time = time
        for _ in range(GUARD):
            if self.position >= len(clauses):
                self.over = True
                self.play.script_done(self, time)
                return
            clause = clauses[self.position]
            if not self.entered:
                self.entered = True
                for act in clause.acts:
                    act(scope)
                if self.over:
                    return
                due = time + max((seconds(scope) for seconds in clause.waits), default=0.0)
                if due > time:
                    self.held = True
                    self.wake(due)
                    return
            if clause.conditions:
                self.watched = set()
                if not self.ready(time):
                    self.held = True
                    return
            self.entered = False
            if clause.repeat:
                self.position = 0
                if not self.held:
                    self.play.next_step(self)
                    return
                self.held = False
            else:
                self.position += 1
        self._endless(time)

    def _endless(self, time: float) -> None:
        self.stop()
        text = f'the script "{self.script.name}" goes on without end; add a "wait" to its loop'
        self.play.log(time, "error", actor=self.owner.name, script=self.script.name, what=text)
