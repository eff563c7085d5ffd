"""What everyone knows of everyone, committed once per step.

An actor sees its own changes at once; the others see them after the commit. When two actors set the same property at
the same moment the first of the cast has its way; otherwise the later moment counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

from .properties import Holder, PropKey, Value

WatchKey = tuple[int, object]
"""Serial of a holder and what of it is watched."""
EVERY_STEP: WatchKey = (-1, "every step")
"""What changes without being told of: places, curves. Who watches it is asked again at every step."""

CROWDED = 32
"""Whenever so many of one actor wait for the same, those that have moved on are forgotten."""


class Waiter(Protocol):
    """Something that waits until what it has read changes."""

    ticket: int
    watched: set[WatchKey]

    @property
    def owner(self) -> Holder: ...

    @property
    def question(self) -> object:
        """What it waits for, where that is the same for all who ask it; None where it depends on who asks."""

    def ready(self, time: float) -> bool: ...

    def wake(self, time: float) -> None: ...


class Write(NamedTuple):
    time: float
    writer: Holder | None
    holder: Holder
    key: PropKey
    value: Value


class Blackboard:
    """Reads, writes, the commit, and who waits for what."""

    def __init__(self, log: Callable[..., None]) -> None:
        self.pending: list[Write] = []
        self.watchers: dict[WatchKey, dict[int, dict[Waiter, int]]] = {}
        self.warned: set[tuple[int, str]] = set()
        self.log = log

    def read(
        self, reader: Holder | None, holder: Holder, key: PropKey, time: float, reads: list[WatchKey] | None
    ) -> Value:
        """A property as `reader` sees it; None, with one warning, where nobody has given it."""
        if reads is not None:
            reads.append((holder.serial, key))
        if holder is reader and key in holder.own:
            return holder.own[key]
        value = holder.values.get(key)
        if value is not None:
            return value
        curve = holder.curves.get(key)
        if curve is not None:
            if reads is not None:
                reads.append(EVERY_STEP)
            return curve(time)
        label = key if isinstance(key, str) else f"{key[0]} toward {key[1]}"
        if (holder.serial, label) not in self.warned:
            self.warned.add((holder.serial, label))
            text = f'{holder.name} has no property "{label}"; 0 is used'
            self.log(time, "warning", actor=holder.name, what=text)
        return None

    def write(self, writer: Holder | None, holder: Holder, key: PropKey, value: Value, time: float) -> None:
        """Set a property; `writer` None is the director, who goes before the cast."""
        holder.curves.pop(key, None)
        self.pending.append(Write(time, writer, holder, key, value))
        if writer is holder and holder.own.get(key, holder.values.get(key)) != value:
            holder.own[key] = value
            self.changed((holder.serial, key), time, holder)

    def changed(self, key: WatchKey, time: float, owner: Holder | None = None, without: Holder | None = None) -> None:
        """Ask who waits for this and wake who need not wait any more; of one owner only, or of all but one."""
        by_owner = self.watchers.get(key)
        if by_owner is None:
            return
        if owner is not None:
            serials = [owner.serial] if owner.serial in by_owner else []
        else:
            serials = [serial for serial in by_owner if without is None or serial != without.serial]
        denied: dict[object, set[WatchKey]] = {}
        for serial in serials:
            waiting = by_owner[serial]
            for waiter, ticket in tuple(waiting.items()):
                if waiter.ticket != ticket or key not in waiter.watched:
                    del waiting[waiter]
                    continue
                # nobody sees more than the others here once everything is committed
                question = waiter.question if without is not None else None
                if question in denied:
                    self.watch(waiter, denied[question])
                elif waiter.ready(time):
                    waiter.wake(time)
                elif question is not None:
                    denied[question] = waiter.watched

    def watch(self, waiter: Waiter, keys: Iterable[WatchKey]) -> None:
        """Let `waiter` be woken when any of these changes, and for nothing else, unless it has moved on by then."""
        if waiter.watched == keys:
            return
        before, waiter.watched = waiter.watched, set(keys)
        for key in waiter.watched - before:
            waiting = self.watchers.setdefault(key, {}).setdefault(waiter.owner.serial, {})
            waiting[waiter] = waiter.ticket
            if len(waiting) % CROWDED == 0:
                for gone in [w for w, ticket in waiting.items() if w.ticket != ticket]:
                    del waiting[gone]

    def commit(self, time: float) -> list[Write]:
        """Make pending changes visible to all; returns those that changed something, in order of holder and time."""
        best: dict[tuple[int, PropKey], Write] = {}
        for write in self.pending:
            place = (write.holder.serial, write.key)
            held = best.get(place)
            best[place] = write if held is None else self._prefer(held, write)
        changed = []
        for write in self.pending:
            write.holder.own.clear()
        self.pending = []
        for write in best.values():
            if write.holder.values.get(write.key) != write.value:
                write.holder.values[write.key] = write.value
                changed.append(write)
        for write in changed:
            # Who sets its own property has seen it already.
            seen = write.holder if write.writer is write.holder else None
            self.changed((write.holder.serial, write.key), time, without=seen)
        return changed

    def _prefer(self, held: Write, new: Write) -> Write:
        if held.time != new.time or held.writer is new.writer:
            return new if new.time >= held.time else held
        first, second = sorted((held, new), key=lambda w: -1 if w.writer is None else w.writer.serial)
        if first.value != second.value:
            label = new.key if isinstance(new.key, str) else f"{new.key[0]} toward {new.key[1]}"
            self.log(
                new.time,
                "conflict",
                actor=second.writer.name if second.writer else "",
                what=f"{first.writer.name if first.writer else 'the director'} sets it first in the cast",
                of=new.holder.name,
                property=label,
                kept=first.value,
                dropped=second.value,
            )
        return first
