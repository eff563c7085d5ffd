"""Directing by plain words: "Gregor Sit", "Otto walk to door", "Elli set my mood to .3", "press Wave".

A command begins with the name of an actor or ensemble; the rest is the name of something to do, or a statement of the
language. A command that cannot be understood changes nothing and is answered by a sentence.
"""

from __future__ import annotations

from ...errors import FormatError
from ..language.clauses import KEYWORDS
from ..language.lexer import At, key_of, suggestion
from ..language.parser import parse_statement
from ..language.syntax import Hold, Repeat
from .cast import Actor
from .evaluation import Scope
from .mind import Play
from .orders import compile_statement

MAX_COMMAND = 500


def command(play: Play, text: str, time: float | None = None) -> str:
    """Carry out a command.

    Args:
        time: When it is given [s]; now by default.

    Returns:
        An empty text, or what is wrong with the command.
    """
    now = play.time if time is None else time
    problem = _carry_out(play, text, now)
    if problem:
        play.log(now, "refused", actor="", what=problem, text=text[:MAX_COMMAND])
    return problem


def _carry_out(play: Play, text: str, time: float) -> str:
    if len(text) > MAX_COMMAND:
        return f"a command of {len(text)} characters; at most {MAX_COMMAND} are read"
    words = text.split()
    if words and words[0].casefold() == "press":
        return _press(play, " ".join(words[1:]), time)
    actor, rest = _addressee(play, text)
    if actor is None:
        minds = [h.name for h in play.company.world.values() if isinstance(h, Actor)]
        hint = suggestion(words[0] if words else "", minds)
        return f'no actor is called "{words[0] if words else ""}"' + (f"; {hint}" if hint else "")
    if actor.locked:
        return f"{actor.name} is locked to a take; unlock it first"
    if not rest:
        return f"what shall {actor.name} do?"
    return _do(play, actor, rest, time)


def _do(play: Play, actor: Actor, text: str, time: float) -> str:
    at = At("command", 1, 1)
    company = play.company
    try:
        found = company.scripts.get(key_of(text)) or company.actions.get(key_of(text))
        if found is not None:
            play.perform(actor, found, None, time, because="command")
            return ""
        if "{" not in text and '"' not in text and not _is_statement(text):
            play.perform(actor, company.doing(text, at), None, time, because="command")
            return ""
        statement = parse_statement(text, "command", tuple(play.statements))
        if isinstance(statement, (Hold, Repeat)):
            return "a command cannot wait or repeat; write a script"
        options = play.options
        act = compile_statement(statement, company, play.statements, "command", options.fps, options.normalise)
    except FormatError as error:
        return str(error)
    act(Scope(play, actor, None, time))
    return ""


def _is_statement(text: str) -> bool:
    words = text.casefold().split()
    return words[0] in (*KEYWORDS, "say") or bool({"to", "toward", "at", "with", "for", "over"} & set(words[1:]))


def _addressee(play: Play, text: str) -> tuple[Actor | None, str]:
    """The actor whose name the text begins with, the longest name first, and the rest."""
    key = key_of(text)
    minds = [h for h in play.company.world.values() if isinstance(h, Actor)]
    for actor in sorted(minds, key=lambda a: -len(a.key)):
        if key == actor.key or key.startswith(actor.key + " "):
            skipped = len(actor.key.split())
            return actor, " ".join(text.replace("_", " ").split()[skipped:])
    return None, ""


def _press(play: Play, label: str, time: float) -> str:
    found = play.widgets.get(key_of(label))
    if found is None:
        hint = suggestion(label, list(play.widgets))
        return f'no button is called "{label}"' + (f"; {hint}" if hint else "")
    actor, _, does = found
    return _do(play, actor, does, time) if does else ""
