"""What actors do, one thing at a time: start a script, select an action, begin a verb, set a property, cue another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...motion import Event
from ..language.lexer import key_of
from . import attention, deeds
from .agenda import Agenda
from .blackboard import Blackboard
from .bodyport import BodyPort, Point
from .cast import ActionGroup, Actor, ScriptGroup, Target
from .company import Company, VerbHolder
from .evaluation import Scope
from .orders import Order
from .properties import Holder, PropKey, Value
from .record import Log, Rows
from .scripts import Run, Script
from .statements import Statements


@dataclass(frozen=True)
class PlayOptions:
    """How a play is performed.

    Attributes:
        fps: Frames per second, for durations in frames.
        normalise: Divide the weights of rules by the sum of their influences.
        uniform_when_zero: Choose evenly where all weights are 0; else nothing is chosen.
    """

    fps: float = 24.0
    normalise: bool = False
    uniform_when_zero: bool = False


class Selected(NamedTuple):
    """An action was selected at a time [s]: in which group, toward whom, and how long it fades in if a script said so.

    The fields are those of `perform.Selection`.
    """

    time: float
    group: str
    action: str
    target: str = ""
    fade: float | None = None


class Doing(Agenda):
    """The deeds of a cast and the record of them; `mind.Play` steps it."""

    def __init__(
        self,
        company: Company,
        stage: BodyPort,
        statements: Statements,
        options: PlayOptions,
        locked: Mapping[tuple[str, str], Sequence[Event]],
    ) -> None:
        super().__init__()
        self.company, self.stage, self.statements, self.options = company, stage, statements, options
        self.locked = locked
        self.time, self.steps = 0.0, 0
        self.events = Log()
        self.board = Blackboard(self.log)
        self.actors: list[Actor] = []
        self.props: list[Holder] = []
        self.requests: list[deeds.Request] = []
        self.attending: dict[str, Actor] = {}
        self.aims: dict[str, list[attention.Aim]] = {}
        self.scripts: dict[str, Script] = {}
        self.selections: dict[str, Rows[Selected]] = {}
        self.widgets: dict[str, tuple[Actor, str, str]] = {}
        self._cues: list[tuple[float, int, Callable[[float], None], Actor]] = []
        self._notes: set[tuple[int, str]] = set()
        self._awaited: dict[tuple[int, str], tuple[Actor, int]] = {}

    def log(self, time: float, name: str, **data: object) -> None:
        """Write an event."""
        self.events.write(time, name, data)

    def warn(self, time: float, holder: Holder, text: str) -> None:
        """Write a warning, once for each holder and text."""
        if (holder.serial, text) not in self._notes:
            self._notes.add((holder.serial, text))
            self.log(time, "warning", actor=holder.name, what=text)

    def perform(
        self,
        me: Actor,
        holder: Holder,
        target: Target,
        time: float,
        seconds: float | None = None,
        transition: float | None = None,
        fallback: Holder | None = None,
        because: str = "",
    ) -> None:
        """Let an actor do a script, action or verb; the members of an ensemble each do it."""
        if me.locked:
            return
        if me.members:
            for member in me.members:
                self.perform(member, holder, target, time, seconds, transition, fallback, because)
        elif isinstance(holder, VerbHolder):
            deeds.do_verb(self, me, holder, target, time, seconds, fallback, because)
        elif holder.kind == "script":
            self.start_script(me, self.scripts[holder.key], target, time, seconds, because)
        elif holder.kind == "action":
            self.select(me, holder, target, time, seconds, transition, because)

    def start_script(
        self,
        me: Actor,
        script: Script,
        target: Target,
        time: float,
        seconds: float | None = None,
        because: str = "",
    ) -> None:
        """Start a script; what ran in its group stops at once."""
        if me.locked:
            return
        group = me.scripts[script.group]
        if group.run is not None:
            group.run.stop()
        group.run = run = Run(self, script, me, group, target)
        if script is not group.default:
            group.finished = None
        me.done.discard(script.key)
        data = {"actor": me.name, "group": group.name, "script": script.name}
        self.log(time, "start", **data, target=_label(target), because=because)
        self.board.changed((me.serial, ("current", group.key)), time, me)
        run.wake(time)
        if seconds is not None:
            self.at(time + seconds, me, lambda now: self._script_expired(run, now))

    def script_done(self, run: Run, time: float) -> None:
        """A script came to its end: its group goes back to the default script."""
        me, group = run.owner, run.group
        me.done.add(run.script.key)
        self.log(time, "done", actor=me.name, script=run.script.name)
        if run.script is not group.default:
            group.finished = run.script
        self._fall_back(me, group, time)
        self.board.changed((me.serial, ("done", run.script.key)), time, me)

    def _script_expired(self, run: Run, time: float) -> None:
        if run.over or run.group.run is not run:
            return
        run.stop()
        run.owner.done.add(run.script.key)
        self.log(time, "expired", actor=run.owner.name, script=run.script.name)
        self._fall_back(run.owner, run.group, time)
        self.board.changed((run.owner.serial, ("done", run.script.key)), time, run.owner)

    def _fall_back(self, me: Actor, group: ScriptGroup, time: float) -> None:
        default = group.default
        if default is not None and group.run is not None and group.run.script is not default:
            self.start_script(me, default, None, time, because="default")
        self.board.changed((me.serial, ("current", group.key)), time, me)

    def select(
        self,
        me: Actor,
        action: Holder,
        target: Target,
        time: float,
        seconds: float | None = None,
        transition: float | None = None,
        because: str = "",
    ) -> None:
        """Select an action in its group, for a time where `seconds` is given; selecting it again renews the time."""
        group = me.actions[self._group_of(action)]
        group.ticket += 1
        ticket, before = group.ticket, group.selected
        group.selected = action
        data = {"actor": me.name, "group": group.name, "action": action.name, "target": _label(target)}
        self.log(time, "select", **data, transition=transition, because=because)
        self.selections[me.name].add(time, group.name, action.name, _label(target) or "", transition)
        aim = target.name if isinstance(target, Holder) else target
        self.stage.start_action(me.name, group.name, action.name, time, transition, aim)
        me.done.discard(action.key)
        if before is not action:
            self._mark_done(me, before, time)
            self.board.changed((me.serial, ("current", group.key)), time, me)
        if seconds is not None:
            self.at(time + seconds, me, lambda now: self._action_expired(me, group, ticket, now))
        length = self.company.seconds.get(action.key)
        if length is not None and (seconds is None or length < seconds):
            self.at(time + length, me, lambda now: self._clip_ended(me, group, ticket, now))

    def _action_expired(self, me: Actor, group: ActionGroup, ticket: int, time: float) -> None:
        if group.ticket == ticket:
            self.log(time, "expired", actor=me.name, group=group.name, action=group.selected.name)
            self.select(me, group.default, None, time, because="its time is up")

    def _clip_ended(self, me: Actor, group: ActionGroup, ticket: int, time: float) -> None:
        if group.ticket == ticket:
            self._mark_done(me, group.selected, time)

    def _mark_done(self, me: Actor, what: Holder, time: float) -> None:
        me.done.add(what.key)
        self.board.changed((me.serial, ("done", what.key)), time, me)

    def _group_of(self, action: Holder) -> str:
        return self.company.group_of_action[action.key]

    def assign(self, me: Actor | None, holder: Holder, key: PropKey, value: Value, time: float) -> None:
        """Set a property: the owner sees it at once, the others after the commit."""
        label = key if isinstance(key, str) else f"{key[0]} toward {key[1]}"
        who = me.name if me else ""
        shown = list(value) if isinstance(value, tuple) else value
        self.log(time, "set", actor=who, of=holder.name, property=label, value=shown)
        self.board.write(me, holder, key, value, time)

    def cue(self, me: Actor, whom: Actor, order: Order, target: Target, time: float) -> None:
        """Let another actor carry out an order from the next step on; it makes its own choices."""
        self.log(time, "cue", actor=me.name, target=whom.name, what=order.site)

        def deliver(now: float) -> None:
            if not whom.locked:
                order.carry_out(Scope(self, whom, target, now), target, f"cue of {me.name}")

        self._cues.append((time, me.serial, deliver, whom))

    def send(self, me: Actor, whom: Holder, message: str, time: float, seconds: float | None) -> None:
        """Send a message, delivered with the commit."""

        def deliver(now: float) -> None:
            attention.receive(self, me, whom, message, now, seconds)

        self._cues.append((time, me.serial, deliver, me))

    def look(self, me: Actor, target: Target, time: float, because: str) -> None:
        """Turn an actor's gaze."""
        aim: str | Point | None = target.name if isinstance(target, Holder) else target
        self.stage.look_at(me.name, aim, time)
        self.log(time, "look", actor=me.name, target=_label(target), because=because)

    def show(self, me: Actor, shown: bool, kind: str, label: str, does: str, time: float) -> None:
        """Show or hide a button or slider of an actor."""
        self.log(time, "show" if shown else "hide", actor=me.name, kind=kind, label=label, does=does)
        if shown:
            self.widgets[key_of(label)] = (me, kind, does)
        else:
            self.widgets.pop(key_of(label), None)

    def occupy(self, me: Actor, channel: str, keys: tuple[str, ...], name: str) -> int:
        """Begin something on a channel in place of what was there; returns its ticket."""
        ticket = me.busy[channel][2] + 1 if channel in me.busy else 0
        me.busy[channel] = (keys, name, ticket)
        me.done.difference_update(keys)
        self._awaited.pop((me.serial, channel), None)
        return ticket

    def expect(self, me: Actor, channel: str, ticket: int, when: float | None) -> None:
        """Let what is under way be done at a time, or when the stage says so."""
        if when is None:
            self._awaited[me.serial, channel] = (me, ticket)
        else:
            self.at(when, me, lambda now: self._due(me, channel, ticket, now))

    def _due(self, me: Actor, channel: str, ticket: int, time: float) -> None:
        # whoever had to give way to somebody since is not there yet
        if self.stage.is_done(me.name, channel, time):
            self.finish(me, channel, ticket, time)
        elif channel in me.busy and me.busy[channel][2] == ticket:
            self.expect(me, channel, ticket, None)

    def finish(self, me: Actor, channel: str, ticket: int, time: float) -> None:
        """What was under way is done, unless another has replaced it."""
        if channel not in me.busy or me.busy[channel][2] != ticket:
            return
        keys, name, _ = me.busy[channel]
        self._awaited.pop((me.serial, channel), None)
        if not me.done.issuperset(keys):
            me.done.update(keys)
            self.log(time, "done", actor=me.name, verb=name)
            for key in keys:
                self.board.changed((me.serial, ("done", key)), time, me)

    def locked_choice(self, me: Actor, site: str) -> str | None:
        """Key of what was chosen here in the locked take."""
        event = self._recorded(me, site)
        result = event.data.get("result") if event else None
        return key_of(result) if result else None

    def locked_seconds(self, me: Actor, site: str) -> float | None:
        """How long it lasted here in the locked take."""
        event = self._recorded(me, site + "*")
        return float(event.data["seconds"]) if event else None

    def _recorded(self, me: Actor, site: str) -> Event | None:
        if not self.locked:
            return None
        count = me.counts[site] = me.counts.get(site, -1) + 1
        found = self.locked.get((me.name, site), ())
        return found[count] if count < len(found) else None


def _label(target: Target) -> str | None:
    if target is None:
        return None
    return target.name if isinstance(target, Holder) else str(list(target))
