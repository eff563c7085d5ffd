"""Verbs that every actor knows without a script: go, turn, look, speak, take, shake hands.

A verb of the same name as a script or an action of the play gives way to it. Verbs of one channel replace each other.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..language.lexer import key_of


@dataclass(frozen=True)
class Verb:
    """What a name stands for.

    Attributes:
        channel: travel, facing, gaze, voice, hands or touch: what it keeps busy.
        order: What is done on the channel.
        place: Where to, when the name says so itself.
    """

    channel: str
    order: str
    place: str | None = None


_VERBS = {
    "walk to": Verb("travel", "walk"),
    "walk": Verb("travel", "walk"),
    "walk toward": Verb("travel", "walk"),
    "go to": Verb("travel", "walk"),
    "go": Verb("travel", "walk"),
    "run to": Verb("travel", "run"),
    "run": Verb("travel", "run"),
    "run toward": Verb("travel", "run"),
    "walk offstage": Verb("travel", "walk", "offstage"),
    "run offstage": Verb("travel", "run", "offstage"),
    "enter": Verb("travel", "walk", "center"),
    "leave": Verb("travel", "walk", "offstage"),
    "stop": Verb("travel", "stop"),
    "turn to": Verb("facing", "turn"),
    "turn": Verb("facing", "turn"),
    "turn toward": Verb("facing", "turn"),
    "turn to face": Verb("facing", "turn"),
    "face": Verb("facing", "turn"),
    "look at": Verb("gaze", "look"),
    "look": Verb("gaze", "look"),
    "look away": Verb("gaze", "away"),
    "say": Verb("voice", "say"),
    "pick up": Verb("hands", "take"),
    "take": Verb("hands", "take"),
    "put down": Verb("hands", "drop"),
    "drop": Verb("hands", "drop"),
    "shake hands": Verb("touch", "shake"),
    "shake hands with": Verb("touch", "shake"),
}
PREFIXES = (
    "walk to",
    "go to",
    "run to",
    "turn to face",
    "turn to",
    "look at",
    "pick up",
    "put down",
    "shake hands with",
)
WITHOUT_TARGET = ("stop", "look away", "put down", "drop", "say")
NAMES = tuple(_VERBS)


def verb_of(name: str) -> tuple[Verb, str | None] | None:
    """The verb that a name means and the object named within it: "walk to center" is ("walk to", "center")."""
    key = key_of(name)
    if key in _VERBS:
        verb = _VERBS[key]
        return verb, verb.place
    for prefix in PREFIXES:
        if key.startswith(prefix + " "):
            return _VERBS[prefix], key[len(prefix) + 1 :]
    return None
