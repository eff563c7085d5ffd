"""Behaviours written as data: loops, conditions on sensors, actions and calls of other scripts with parameters.

    {"do": "go", "target": "Bob", "stop": 1.5}             go on when one has arrived
    {"do": "stop"}                                         stand, and go on at once
    {"do": "wait", "seconds": 2}
    {"do": "face", "target": "Bob"}
    {"do": "say", "what": "greets", "why": "Bob is here"}  a line of the transcript
    {"if": {"near": "Bob", "distance": 1.7}, "then": [...], "else": [...]}
    {"while": {...}, "do_all": [...]}                      begun anew at every thought: a loop of reactions
    {"repeat": 3, "do_all": [...]}
    {"call": "greet", "with": {"whom": "Bob"}}             "$whom" inside stands for Bob

Conditions: near (with distance), visible, at_goal, no_path, after (seconds), heard (with distance), each with "not" for
its contrary.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InvalidParam
from ...params import param
from .actors import STAND, Behaviour, Order, go
from .sensors import Senses

Step = Mapping[str, Any]
Frame = tuple[tuple[Step, ...], int, int, str]
"""Steps of a block, the next of them, rounds left (-1 for a while), condition as JSON."""
DEPTH = 32
"""How deep scripts may call each other."""
BUSY = 200
"""How many steps one may go through in one thought."""


@dataclass(frozen=True)
class Script(Behaviour):
    """Do as a script says."""

    text: str = param("[]", help="The script: a JSON list of steps, or an object of lists by name of which main is run")

    def begin(self) -> Any:
        """Blocks that are being done, and when the current action began."""
        return ((parsed(self.text)["main"], 0, 1, ""),), None, STAND

    def think(self, memory: Any, senses: Senses) -> tuple[Any, Order]:
        """Go through the steps until one takes time."""
        library = parsed(self.text)
        frames, since, order = memory
        for _ in range(BUSY):
            if not frames:
                return ((), None, STAND), STAND
            steps, at, rounds, condition = frames[-1]
            if condition and at == 0 and not _holds(json.loads(condition), senses):
                frames = frames[:-1]
                continue
            if at >= len(steps):
                if rounds < 0:
                    # one round of a while lasts one thought, so that it reacts and does not spin
                    frames = (*frames[:-1], (steps, 0, rounds, condition))
                    return (frames, None, order), order
                again = rounds - 1
                frames = (*frames[:-1], (steps, 0, again, condition)) if again > 0 else frames[:-1]
                continue
            step = steps[at]
            on = (*frames[:-1], (steps, at + 1, rounds, condition))
            if "do" in step:
                inside = any(f[2] < 0 for f in frames)
                done, begun, order = _act(step, since, senses, order, inside)
                if not done:
                    return (frames, begun, order), order
                frames, since = on, None
            else:
                frames, since = on + _block(step, library, senses, len(frames)), None
        raise InvalidParam(
            "text", "script", f"does more than {BUSY} steps at once; put a wait or an action into its loop"
        )


def parsed(text: str) -> dict[str, tuple[Step, ...]]:
    """The blocks of a script by name; `main` is what is run."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidParam("text", text[:40], f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    blocks = data if isinstance(data, dict) else {"main": data}
    if "main" not in blocks or not all(isinstance(b, list) for b in blocks.values()):
        raise InvalidParam(
            "text", text[:40], "must be a list of steps, or an object of such lists with one called main"
        )
    for name, block in blocks.items():
        _check(block, name, blocks)
    return {name: tuple(block) for name, block in blocks.items()}


_KEYS = ("do", "if", "while", "repeat", "call")
_ACTIONS = ("go", "stop", "wait", "face", "say")
_TESTS = ("near", "visible", "at_goal", "no_path", "after", "heard")


def _check(block: Sequence[Any], where: str, blocks: Mapping[str, Any]) -> None:
    for k, step in enumerate(block):
        at = f"step {k + 1} of {where}"
        if not isinstance(step, dict) or sum(key in step for key in _KEYS) != 1:
            raise InvalidParam(at, step, f"must be an object with one of {', '.join(_KEYS)}")
        if "do" in step and step["do"] not in _ACTIONS:
            raise InvalidParam(at, step["do"], f"no such action; there are {', '.join(_ACTIONS)}")
        if "call" in step and step["call"] not in blocks:
            raise InvalidParam(at, step["call"], f"no such script; there are {', '.join(sorted(blocks))}")
        for key in ("if", "while"):
            test = step.get(key)
            if key in step and (not isinstance(test, dict) or sum(t in test for t in _TESTS) != 1):
                raise InvalidParam(at, test, f"must be an object with one of {', '.join(_TESTS)}")
        for part in ("then", "else", "do_all"):
            if part in step:
                if not isinstance(step[part], list):
                    raise InvalidParam(at, step[part], "must be a list of steps")
                _check(step[part], f"{part} in {at}", blocks)


def _holds(test: Mapping[str, Any], senses: Senses) -> bool:
    if "near" in test:
        out = senses.near_character(test["near"], float(test.get("distance", 1.7)))
    elif "visible" in test:
        out = senses.visible(test["visible"])
    elif "at_goal" in test:
        out = senses.at_goal()
    elif "no_path" in test:
        out = senses.no_path()
    elif "heard" in test:
        out = senses.heard(test["heard"], float(test.get("distance", 10.0)))
    else:
        out = senses.time >= float(test["after"])
    return not out if test.get("not") else out


def _block(step: Step, library: Mapping[str, tuple[Step, ...]], senses: Senses, depth: int) -> tuple[Frame, ...]:
    """The frame that a step opens, or none."""
    if depth > DEPTH:
        raise InvalidParam("text", "script", f"scripts call each other more than {DEPTH} deep")
    if "if" in step:
        chosen = tuple(step.get("then", ()) if _holds(step["if"], senses) else step.get("else", ()))
        return ((chosen, 0, 1, ""),) if chosen else ()
    if "while" in step:
        return ((tuple(step.get("do_all", ())), 0, -1, json.dumps(step["while"])),)
    if "repeat" in step:
        count = int(step["repeat"])
        return ((tuple(step.get("do_all", ())), 0, count, ""),) if count > 0 else ()
    return ((_filled(library[step["call"]], step.get("with", {})), 0, 1, ""),)


def _filled(block: Any, values: Mapping[str, Any]) -> Any:
    """A block in which every "$name" is replaced by its value."""
    if isinstance(block, str) and block.startswith("$"):
        if block[1:] not in values:
            raise InvalidParam("with", dict(values), f"must give {block[1:]!r}")
        return values[block[1:]]
    if isinstance(block, Mapping):
        return {key: _filled(value, values) for key, value in block.items()}
    if isinstance(block, (list, tuple)):
        return tuple(_filled(part, values) for part in block)
    return block


def _act(
    step: Step, since: float | None, senses: Senses, order: Order, inside: bool
) -> tuple[bool, float | None, Order]:
    """Whether an action is done, when it was begun, and the order that it gives; in a while it never waits."""
    kind = step["do"]
    if kind == "say":
        senses.say(str(step.get("what", "says")), str(step.get("why", "the script says so")))
        return True, None, order
    if kind == "stop":
        return True, None, STAND
    if kind == "wait":
        begun = senses.time if since is None else since
        return senses.time - begun >= float(step.get("seconds", 1.0)), begun, STAND
    target = str(step.get("target", ""))
    place = senses.place_of(target) if target else np.array(step.get("place", (0.0, 0.0)), dtype=np.float64)[:2]
    if kind == "face":
        return True, None, Order(face=place)
    order = go(place, target or "a place", stop=float(step.get("stop", 0.0)), pace=float(step.get("pace", 1.0)))
    # at_goal still speaks of the order before when this one is new
    arrived = since is not None and senses.time > since and senses.at_goal()
    return inside or arrived, senses.time if since is None else since, order
