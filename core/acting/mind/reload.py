"""New texts for a play under way: scripts that did not change go on where they are; the others begin again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..language.parser import parse
from .cast import ActionGroup, Actor, Member, ScriptGroup
from .company import Company
from .doing import Selected
from .mind import Play
from .properties import Holder
from .record import Rows
from .vocabulary import Library, Vocabulary, sourced, vocabulary_of


def reload(
    play: Play,
    texts: Sequence[str | tuple[str, str]],
    cast: Sequence[Member | str] = (),
    library: Vocabulary | Library | Mapping[str, Sequence[str]] | None = None,
) -> tuple[str, ...]:
    """Give a play new texts; `cast` and `library` are those that it was rehearsed with.

    Everyone keeps their properties, choices to come and whatever runs in scripts that are the same as before. A script
    that changed and is running begins again; one that is gone stops.

    Returns:
        Names of the scripts that began again or stopped, each with its actor: "Izzy: Tell Joke".

    Raises:
        FormatError: A text has a mistake; the play then goes on as it was.
    """
    programs = [parse(text, name, tuple(play.statements)) for text, name in sourced(texts)]
    members = [m if isinstance(m, Member) else Member(m) for m in cast]
    old, before = play.company, play.scripts
    new = Company(programs, members, vocabulary_of(library), old.seed, old)
    play.company, play.scripts = new, {}
    try:
        play.compile()
    except Exception:
        play.company, play.scripts = old, before
        raise
    minds = [h for h in new.world.values() if isinstance(h, Actor)]
    play.actors = [a for a in minds if a.kind == "actor"]
    play.props = [h for h in new.world.values() if h.kind == "prop"]
    affected: list[str] = []
    for actor in minds:
        affected += _regroup(play, actor)
    return tuple(affected)


def _regroup(play: Play, actor: Actor) -> list[str]:
    affected: list[str] = []
    scripts, actions = actor.scripts, actor.actions
    actor.scripts, actor.actions = {}, {}
    for order, (key, (name, members)) in enumerate(play.company.script_groups.items()):
        group = ScriptGroup(name, key, order, play.scripts.get(members[0]))
        actor.scripts[key] = group
        was = scripts.pop(key, None)
        if was is not None:
            group.finished, run = was.finished, was.run
            script = play.scripts.get(run.script.key) if run else None
            if run is None:
                continue
            group.run = run
            if script is None or script.group != key:
                run.stop()
                group.run = None
                affected.append(f"{actor.name}: {run.script.name}")
            elif script.definition == run.script.definition:
                run.script, run.group = script, group
            elif not run.over:
                affected.append(f"{actor.name}: {script.name}")
                play.start_script(actor, script, run.scope.target, play.time, because="its text changed")
        if group.run is None and group.default is not None and actor.kind == "actor":
            play.start_script(actor, group.default, None, play.time, because="default")
    for gone in scripts.values():
        if gone.run is not None:
            gone.run.stop()
            affected.append(f"{actor.name}: {gone.run.script.name}")
    for order, (key, (name, members)) in enumerate(play.company.action_groups.items()):
        default: Holder = play.company.actions[members[0]]
        state = actions.get(key) or ActionGroup(name, key, order, default)
        state.name, state.order, state.default = name, order, default
        state.selected = play.company.actions.get(state.selected.key, default)
        actor.actions[key] = state
    play.selections.setdefault(actor.name, Rows(Selected._make))
    return affected
