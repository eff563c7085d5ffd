"""What happened and why: a log of every start, selection, choice and change, exact in time and byte for byte the same
for the same seeds.

A choice is logged with its pool, the factors and weight of each item, the number drawn and the result, so that it can
be worked out again by hand: the weight of an item is the scale of its subset times the sum of factor times influence,
times what is given to it (its own number in the pool, less where repeats are avoided); the result is the first item
whose running sum of weights exceeds draw * sum of weights.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ...errors import FormatError
from ...motion import Event

CHANGES = ("start", "select", "done", "expired", "set", "walk", "turn", "look", "say", "attach", "release", "contact")
"""Events that others are told of as lines of JSON."""


def line_of(event: Event) -> str:
    """One event as a line of JSON."""
    return json.dumps({"time": event.time, "event": event.name, **event.data}, ensure_ascii=False)


def to_text(events: Iterable[Event]) -> str:
    """A log as lines of JSON; `from_text` gives equal events back."""
    return "".join(line_of(e) + "\n" for e in events)


def from_text(text: str, source: str = "take") -> tuple[Event, ...]:
    """Read a log; an error names its line."""
    found = []
    # only the end of a line ends it: what somebody says may hold other separators
    for row, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
            event = Event(float(data.pop("time")), str(data.pop("event")), data)
        except json.JSONDecodeError as error:
            raise FormatError(source, row, error.colno, f"not JSON: {error.msg}") from None
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
            raise FormatError(source, row, 1, 'an event needs a "time" in seconds and an "event"') from None
        found.append(event)
    return tuple(found)


def transcript(events: Iterable[Event]) -> tuple[Mapping[str, Any], ...]:
    """The log as sentences: `time` [s], `actor`, `what` and `why` of everything that someone did."""
    found = []
    for event in events:
        sentence = _sentence(event.name, event.data)
        if sentence:
            found.append(
                {"time": event.time, "actor": event.data.get("actor", ""), "what": sentence, "why": _why(event)}
            )
    return tuple(found)


def _sentence(kind: str, data: Mapping[str, Any]) -> str:
    aim = f" toward {data['target']}" if data.get("target") else ""
    if kind in ("start", "select"):
        return f"{'does' if kind == 'start' else 'shows'} {data.get('script') or data.get('action')}{aim}"
    if kind == "choose":
        return f"chooses {data['result']}" if data.get("result") else "chooses nothing"
    if kind == "set":
        return f"sets {data.get('of', '')} {data.get('property')} to {data.get('value')}"
    if kind in ("walk", "turn", "look"):
        return f"{ {'walk': 'goes to', 'turn': 'turns to', 'look': 'looks at'}[kind] } {data.get('target')}"
    if kind == "say":
        return f'says "{data.get("text")}"'
    if kind in ("attach", "release", "denied", "contact", "cue", "warning", "error", "refused", "conflict"):
        thing = next((str(data[k]) for k in ("what", "prop", "script", "text") if data.get(k)), "")
        return f"{kind} {thing}{aim}".strip()
    return ""


def _why(event: Event) -> str:
    data = event.data
    if event.name == "choose":
        total = sum(data["weights"]) or 1.0
        odds = ", ".join(f"{n} {w / total:.0%}" for n, w in zip(data["pool"], data["weights"], strict=True))
        rule = f" by {data['rule']}" if data.get("rule") else ""
        return f"{odds}{rule}; drew {data['draw']:.3f}"
    return str(data.get("because", ""))
