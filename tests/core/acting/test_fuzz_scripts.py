"""Ten thousand damaged scripts: never a crash, a hang or executed code, and always a place in the message."""

import builtins
import os
import subprocess
import time
from contextlib import contextmanager

import numpy as np
import pytest
from playtexts import LISTINGS, ROOM
from troupe.core import FormatError
from troupe.core.acting import starter
from troupe.core.acting.language.parser import parse
from troupe.core.acting.mind.vocabulary import action_sheet
from troupe.core.acting.play import rehearse
from troupe.core.acting.repertoire.library import ActionLibrary
from troupe.core.acting.repertoire.tables import read_sheet
from troupe.core.acting.scriptactions import script_sheets

COUNT = 10_000
SNIPPETS = (
    *(
        "{",
        "}",
        "(",
        ")",
        '"',
        "'s",
        "my",
        "its",
        "repeat",
        "wait",
        "until",
        "for",
        "choose from",
        "based on",
        "cue",
        "to",
    ),
    *(
        "set",
        "is done",
        "-",
        ".",
        "9" * 30,
        "between 3 and 1 seconds",
        "# ",
        "//",
        "\x00",
        "é",
        "\n",
        "[",
        "]",
        ",",
        ";",
    ),
    *('__import__("os").system("true")', "eval(open)", "py: exec(1)", "lambda: 0", "{0.__class__}", "%s%n", "{" * 50),
    *("(" * 60, "not " * 60, "define SCRIPT", "current", "/", "*", "\u202e", "his/her", "frames", "everyone except me"),
)
TEXTS = [*LISTINGS.values(), *map(starter.text, starter.names())]
SECONDS = 2.0
"""Of computing in which any text of a few thousand characters must have been refused or played."""


def mutations(texts, count, seed):
    """Damaged copies of the texts: cut, repeated, swapped, with characters and snippets put in."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        text = texts[rng.integers(len(texts))]
        for _ in range(rng.integers(1, 4)):
            a, b = sorted(rng.integers(0, len(text) + 1, 2).tolist())
            b = min(b, a + 40)
            kind = rng.integers(6)
            if kind == 0:
                text = text[:a] + text[b:]
            elif kind == 1:
                text = text[:b] + text[a:]
            elif kind == 2:
                text = text[:a] + SNIPPETS[rng.integers(len(SNIPPETS))] + text[a:]
            elif kind == 3:
                text = text[:a] + SNIPPETS[rng.integers(len(SNIPPETS))] + text[b:]
            elif kind == 4:
                text = text[:a] + chr(int(rng.integers(32, 127))) + text[a + 1 :]
            else:
                words = text.split(" ")
                i, j = rng.integers(0, len(words), 2)
                words[i], words[j] = words[j], words[i]
                text = " ".join(words)
        yield text


@contextmanager
def no_code(monkeypatch):
    """Whatever could run code from a text raises here."""

    def forbidden(*_args, **_more):
        raise AssertionError("code was executed")

    with monkeypatch.context() as patch:
        patch.setattr(os, "system", forbidden)
        patch.setattr(subprocess, "Popen", forbidden)
        for name in ("eval", "exec", "compile", "open", "input", "breakpoint", "__import__"):
            patch.setattr(builtins, name, forbidden)
        yield


def attempt(text, perform):
    """Parse a text, and play it for a second where `perform`; its error, if it has one."""
    begun = time.process_time()
    found = _attempt(text, perform)
    assert time.process_time() - begun < SECONDS, text
    return found


def _attempt(text, perform):
    try:
        if not perform:
            parse(text, "fuzz")
        else:
            play = rehearse([(text, "fuzz")], ["Ann", "Steph", "Bob", "Sarah", "Otto"], ROOM)
            for step in range(3):
                play.step(step / 2)
            assert len(play.events) < 100_000
    except FormatError as error:
        return error
    return None


def test_ten_thousand_damaged_scripts_are_refused_with_a_place_or_played(monkeypatch):
    damaged = list(mutations(TEXTS, COUNT, 0))
    for text in TEXTS:
        attempt(text, True)
    with no_code(monkeypatch):
        errors = [attempt(text, k % 2 == 0) for k, text in enumerate(damaged)]
    for text, error in zip(damaged, errors, strict=True):
        if error is not None:
            lines = (text + "\n").split("\n")
            assert 1 <= error.line <= len(lines)
            assert 1 <= error.column <= len(lines[error.line - 1]) + 1
            assert str(error).startswith(f"fuzz:{error.line}:{error.column}: ")
    assert COUNT / 3 < sum(error is not None for error in errors) < COUNT
    assert sum(e is None for e in errors[::2]) > 100


TABLE = "define ACTION a {{ Nod 0:1 0 0 {{ {} 0 0 }} }}"
POSTFIX = "{{ n1 => A {} {{ 0 0 0 }} {{ 1 0 0 }} {{ A 0 0 }} Nod }} 'a define_action"
VALUE = 'define SCRIPT "s" {{ {{ set my x to {} }} }}'


@pytest.mark.parametrize(
    "text",
    [
        TABLE.format("(" * 5000),
        TABLE.format("- " * 5000 + "1"),
        TABLE.format("sin(" * 5000),
        TABLE.format("n1" + "+n1" * 5000),
        TABLE.format("1" + "0" * 400),
        POSTFIX.format("A n1 + => A " * 5000),
        # each doubles what it names
        POSTFIX.format("A A + => A " * 60),
        VALUE.format("1" + "+1" * 5000),
        VALUE.format("(" * 39 + "1" + ("*1" * 90 + ")") * 39),
    ],
    ids=["brackets", "signs", "calls", "sum", "number", "chain", "doubling", "script sum", "script products"],
)
def test_what_is_nested_without_end_is_refused_at_once_with_its_place(text):
    with pytest.raises(FormatError) as caught:
        read_sheet(action_sheet([text]) or rehearse([text], ["Ann"], ROOM))
    assert caught.value.line == 1 and caught.value.column > 30


WITH_ACTIONS = """define ACTOR Ann { does "s" }
define ACTION "Huddle" { fade .2
  R_UP_ARM 5:15 0 20 { noise(2 * t) 0 0 } }
{ { -20 0 0 } { } { } Nod } 'Lower define_action
settings Lower { fade .3 param k .2 }
morph jog from idle to trot amount .6 { fade .4 }
GROUP Bits { "No bits" Huddle Lower Raise }
define ACTION "Raise" { Nod 20 0 0 }
Lower buffers Raise  Huddle blocks "Wave"
define SCRIPT "s" { { "Huddle" } { wait 1 s } { jog } }
"""
SMALL = """define ACTION idle { Nod 1 2 3 }
define ACTION trot { tempo 1 Rhip -20:20 0 0 { A 0 0 } }
define ACTION Wave { Nod 1 2 3 }
GROUP Stances ACTION idle ACTION trot
GROUP Gestures ACTION No_gesture ACTION Wave"""


def test_damaged_scripts_with_actions_of_their_own_are_refused_with_their_place():
    stock = [read_sheet(SMALL)]
    texts = [WITH_ACTIONS] * 3 + [t for t in map(starter.text, starter.names()) if "define ACTION" in t]
    played = 0
    for text in mutations(texts, 800, 8):
        try:
            sheets = script_sheets(text, "fuzz", stock)
            rehearse([(text, "fuzz")], ["Ann"], ActionLibrary(sheets)).step(0.5)
            played += 1
        except FormatError as error:
            assert error.line >= 1 and error.column >= 1
            assert str(error).startswith(f"fuzz:{error.line}:{error.column}: ")
    assert 20 < played < 700


@pytest.mark.parametrize(
    ("right", "wrong", "place", "what"),
    [
        ("GROUP Bits", "GROUP Gestures { No_gesture Huddle }\nGROUP Bits", "8:7", "again in group Bits"),
        ('"No bits" Huddle', '"Nothing" Huddle', "7:7", "not defined"),
        ("Lower buffers Raise", "Wave buffers Raise", "9:1", "same group"),
        ("Lower buffers Raise", "Lower buffers Raise Raise buffers Lower", "9:21", "no way"),
        ('Huddle blocks "Wave"', "Huddle blocks Wave Wave blocks Huddle", "9:41", "circle"),
        ('"Raise" { Nod', '"Raise" { Nod 20 0 0 } define ACTION raise { Nod', "8:38", "twice"),
    ],
)
def test_actions_of_a_script_that_do_not_fit_are_refused_where_they_stand(right, wrong, place, what):
    text = WITH_ACTIONS.replace(right, wrong)
    text = text.replace("GROUP Bits", "GROUP Gestures") if what == "not defined" else text
    with pytest.raises(FormatError, match=rf"fuzz:{place}: .*{what}"):
        script_sheets(text, "fuzz", [read_sheet(SMALL)])


def test_damaged_tables_are_refused_with_their_place():
    sheets = [path.read_text(encoding="utf-8")[:2500] for path in sorted(starter.FOLDER.glob("*.actions"))]
    read = 0
    for text in mutations([LISTINGS["table"], *sheets], 1000, 5):
        try:
            read_sheet(text, "sheet")
            read += 1
        except FormatError as error:
            assert error.line >= 1 and error.column >= 1
    assert 5 < read < 900
