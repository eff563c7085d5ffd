"""Perform a whole play without bodies: texts, a cast and seeds in; who did what, when and why, out.

record = perform_play([text], ["Izzy", "Elli"], {"Gestures": ["No_waving", "Wave_left"]}, seconds=20)
record.selections["Izzy"]       # what its body shows, in order of time
record.base("Izzy", fps=24)     # where it stands and faces, (T, 3)
record.transcript               # what happened, and why
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InvalidParam
from ..motion import Event
from ..performance import Attachment
from ..skeleton import Array
from .language.lexer import key_of
from .language.parser import parse
from .mind.attention import Aim
from .mind.bodyport import RADIUS, BodyPort, KinematicStage
from .mind.cast import Member
from .mind.commands import command
from .mind.company import Company
from .mind.doing import PlayOptions, Selected
from .mind.events import to_text, transcript
from .mind.mind import Play
from .mind.properties import Curve, Holder, PropKey, curve_of
from .mind.statements import Statements
from .mind.takes import locked_choices, replay
from .mind.vocabulary import Library, Vocabulary, sourced, vocabulary_of

DT = 1.0 / 30.0
MAX_STEPS = 10_000_000
Curves = Mapping[tuple[str, str], "Curve | tuple[Sequence[float], Sequence[object]]"]
"""(name, property) to a function of time or to (times [s], values)."""
Moving = Callable[[Mapping[str, tuple[float, float, float]]], KinematicStage]
"""Makes a stage of points from where everyone is: x, y [m] and heading [rad]."""


@dataclass(frozen=True)
class PlayRecord:
    """A take.

    Attributes:
        seconds: How long it is.
        events: Everything that happened, in order; `events.to_text` keeps it, and it can be given back as `locked`.
        selections: Per actor, the actions selected, for its body.
        transcript: As sentences: `time`, `actor`, `what`, `why`.
        stage: Where everyone was.
        attachments: Who held which prop; the joint is the right hand's role.
        aims: Per camera, where it points, a row a step.
        widgets: Buttons and sliders shown at the end: label to (actor, kind, statement).
        properties: Properties of everyone at the end.
        kinds: What everyone is: actor, prop, camera, place or ensemble.
        body_seed: For the bodies; no mind has read it.
    """

    seconds: float
    events: tuple[Event, ...]
    selections: Mapping[str, tuple[Selected, ...]]
    transcript: tuple[Mapping[str, Any], ...]
    stage: BodyPort
    attachments: tuple[Attachment, ...]
    aims: Mapping[str, tuple[Aim, ...]]
    widgets: Mapping[str, tuple[str, str, str]]
    properties: Mapping[str, Mapping[str, object]]
    kinds: Mapping[str, str]
    body_seed: int = 0

    def log(self) -> str:
        """The events as lines of JSON."""
        return to_text(self.events)

    def base(self, actor: str, fps: float, first: float = 0.0) -> Array:
        """(T, 3) x, y [m] and heading [rad] of an actor, sampled from a time [s] to the end."""
        times = first + np.arange(int(np.floor((self.seconds - first) * fps + 1e-9)) + 1) / fps
        rows = [
            (*(self.stage.position(actor, t) or (0.0, 0.0))[:2], self.stage.heading(actor, t)) for t in times.tolist()
        ]
        return np.array(rows, dtype=np.float64).reshape(-1, 3)


def rehearse(
    texts: Sequence[str | tuple[str, str]],
    cast: Sequence[Member | str] = (),
    library: Vocabulary | Library | Mapping[str, Sequence[str]] | None = None,
    behaviour_seed: int = 0,
    property_curves: Curves | None = None,
    statements: Statements | None = None,
    options: PlayOptions | None = None,
    stage: BodyPort | None = None,
    moving: Moving = KinematicStage,
    **more: Any,
) -> Play:
    """A play that is ready to be stepped; the arguments are those of `perform_play`."""
    if isinstance(texts, str):
        texts = [texts]
    words = tuple(statements or ())
    programs = [parse(text, name, words) for text, name in sourced(texts)]
    members = [m if isinstance(m, Member) else Member(m) for m in cast]
    company = Company(programs, members, vocabulary_of(library), behaviour_seed)
    points = moving(_places(company))
    points.solid.update({h.name: RADIUS for h in company.world.values() if h.kind == "actor"})
    for (name, prop), given in (property_curves or {}).items():
        holder, curve = _holder(company, name), curve_of(given, f"{name} {prop}")
        holder.values.pop(key_of(prop), None)
        holder.curves[key_of(prop)] = curve
        if key_of(prop) in ("location", "position"):
            points.follow(holder.name, curve)
    return Play(company, points if stage is None else stage, statements, options, **more)


def perform_play(
    texts: Sequence[str | tuple[str, str]],
    cast: Sequence[Member | str] = (),
    library: Vocabulary | Library | Mapping[str, Sequence[str]] | None = None,
    seconds: float = 10.0,
    *,
    behaviour_seed: int = 0,
    body_seed: int = 0,
    dt: float = DT,
    property_curves: Curves | None = None,
    commands: Sequence[tuple[float, str]] = (),
    locked: Sequence[Event] | PlayRecord | None = None,
    locking: str = "take",
    locked_actors: Collection[str] | None = None,
    statements: Statements | None = None,
    options: PlayOptions | None = None,
    stage: BodyPort | None = None,
    moving: Moving = KinematicStage,
) -> PlayRecord:
    """Perform a play from its start.

    Args:
        texts: Texts of the acting language, each alone or with the name that errors call it by.
        cast: Who plays, in order; what the texts define joins them.
        library: The actions, as a library or by group; the first of each group is its default.
        seconds: How long it lasts.
        behaviour_seed: Of all choices. Each actor has a stream of its own.
        body_seed: Handed on to the bodies in the record.
        dt: Step of the minds [s]; only what they learn of each other waits for it.
        property_curves: Properties that follow a curve of time.
        commands: (time [s], text), as `commands.command` takes them.
        locked: A take to repeat.
        locking: "take" replays its events; "choices" only lets every choice fall as it did.
        locked_actors: Who repeats it; all by default.
        stage: Bodies to play on; by default a stage where everyone is a point.
        moving: How such points move; `walking.WalkingStage` moves them as bodies do.

    Raises:
        FormatError: A text has a mistake; with its place.
        InvalidParam: An argument is out of range or names nobody.
    """
    if not 0.0 < dt <= 1.0 or not 0.0 <= seconds / dt <= MAX_STEPS:
        raise InvalidParam("dt", dt, f"must be above 0 and at most 1 s, with at most {MAX_STEPS} steps")
    if locking not in ("take", "choices"):
        raise InvalidParam("locking", locking, 'must be "take" or "choices"')
    track = tuple(locked.events) if isinstance(locked, PlayRecord) else tuple(locked or ())
    chosen = locked_choices(track, locked_actors) if locking == "choices" else {}
    play = rehearse(
        texts, cast, library, behaviour_seed, property_curves, statements, options, stage, moving, locked=chosen
    )
    if locked is not None and locking == "take":
        replay(play, track, locked_actors)
    for time, text in commands:
        direct_at(play, time, text)
    for k in range(int(np.ceil(seconds / dt - 1e-9)) + 1):
        play.step(min(k * dt, seconds))
    return record_of(play, body_seed)


def direct_at(play: Play, time: float, text: str) -> None:
    """Let a command be given when a play comes to a time [s]."""
    play.push(max(time, 0.0), -1, 0, _Given(play, text), 0)


def record_of(play: Play, body_seed: int = 0) -> PlayRecord:
    """What a play has become so far."""
    world, events = play.company.world.values(), tuple(play.events)
    return PlayRecord(
        seconds=play.time,
        events=events,
        selections={name: tuple(found) for name, found in play.selections.items()},
        transcript=transcript(events),
        stage=play.stage,
        attachments=attachments_of(events, play.time),
        aims={name: tuple(found) for name, found in play.aims.items()},
        widgets={label: (actor.name, kind, does) for label, (actor, kind, does) in play.widgets.items()},
        properties={h.name: {_written(k): v for k, v in h.values.items()} for h in world},
        kinds={h.name: h.kind for h in world},
        body_seed=body_seed,
    )


def _written(key: PropKey) -> str:
    return key if isinstance(key, str) else " toward ".join(key)


class _Given:
    """A command in the queue."""

    def __init__(self, play: Play, text: str) -> None:
        self.play, self.text = play, text

    def fire(self, time: float, ticket: int) -> None:
        command(self.play, self.text, time)


def _holder(company: Company, name: str) -> Holder:
    found = company.world.get(key_of(name))
    if found is None:
        raise InvalidParam(
            "property_curves",
            name,
            f"nobody is called so; there are {', '.join(h.name for h in company.world.values())}",
        )
    return found


def _places(company: Company) -> dict[str, tuple[float, float, float]]:
    """Places of all: those without one stand in a row behind the middle, facing the camera."""
    placed = dict(company.places)
    waiting = [h for h in company.world.values() if h.name not in placed and h.kind in ("actor", "prop", "camera")]
    for k, holder in enumerate(waiting):
        placed[holder.name] = ((k - (len(waiting) - 1) / 2) * 1.2, 1.5, 0.0)
    return placed


def attachments_of(events: Sequence[Event], end: float) -> tuple[Attachment, ...]:
    """Who held what, where the take ends at a time [s]."""
    held: dict[str, tuple[str, float]] = {}
    found = []
    for event in events:
        prop = str(event.data.get("prop", ""))
        if event.name in ("attach", "release") and prop in held:
            actor, start = held.pop(prop)
            found.append(Attachment(prop, actor, "hand_R", start, event.time))
        if event.name == "attach":
            held[prop] = (str(event.data["actor"]), event.time)
    found += [Attachment(prop, actor, "hand_R", start, end) for prop, (actor, start) in held.items()]
    return tuple(sorted(found, key=lambda a: (a.start, a.prop)))
