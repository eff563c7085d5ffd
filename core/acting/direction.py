"""How a play is directed: its parameters, who takes which part, and recorded commands as text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..errors import FormatError, InvalidParam
from ..params import Params, param

if TYPE_CHECKING:
    from .language.syntax import HolderDef, Text

CUES = ("start", "select", "say", "contact", "attach", "release", "choose")
"""Events that are worth a marker on the timeline."""


@dataclass(frozen=True)
class PlayParams(Params):
    """What is played, for how long, and by which seeds."""

    script: str = param("", ref="text", help="Text with the script")
    seconds: float = param(20.0, lo=0.1, hi=3600.0, unit="s", help="How long it is played")
    seed: int = param(0, lo=0, hi=1_000_000, help="Seed of the minds: another one lets other choices fall")
    body_seed: int = param(0, lo=0, hi=1_000_000, help="Seed of the bodies: another take of the same events")
    lock: str = param(
        "off",
        choices=(
            ("off", "Every choice is made anew"),
            ("choices", "Scripts run as they are now, but every choice falls as in the take"),
            ("take", "Everything happens as in the take, whatever the scripts have become"),
        ),
        help="What is repeated of an earlier take",
    )
    take: str = param("", ref="text", help="Text with the take that is repeated")
    directions: str = param("", ref="text", basic=False, help="Text with recorded directions")
    parts: str = param(
        "", basic=False, help='Who plays whom: "Hero = Rig.001, Bear = Rig"; empty by names, then in order'
    )
    style: str = param(
        "", ref="preset", basic=False, help="Preset of Walk that says how everybody walks; empty for Neutral"
    )
    energy: float = param(
        1.0, lo=0.0, hi=4.0, basic=False, help="Speed of all restless movement; joints keep their ratios"
    )
    camera: bool = param(True, basic=False, help="Let the scene's camera turn to who asks for it")
    transcript: bool = param(True, basic=False, help="Write what happened, and why, into a text")


@dataclass(frozen=True)
class Named:
    """What a script names itself.

    Attributes:
        actors, props, cameras, places: In order, as written, with where they are (x, y, heading) [m, rad] if it says.
        groups: Group to the actions it names beyond those that the script defines.
        sizes: Width, depth and height of props and places that say it [m].
        under: What a prop lies on, by name of the prop.
        moods: Numbers that actors are given as properties: "courage" or "sympathy toward Otto", by name of the actor.
    """

    actors: Mapping[str, tuple[float, float, float] | None]
    props: Mapping[str, tuple[float, float, float] | None]
    cameras: Mapping[str, tuple[float, float, float] | None]
    places: Mapping[str, tuple[float, float, float] | None]
    groups: Mapping[str, tuple[str, ...]]
    sizes: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    under: Mapping[str, Text] = field(default_factory=dict)
    moods: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def named(text: str, source: str, statements: Iterable[str] = ()) -> Named:
    """What a script names; FormatError with line and column where it has a mistake.

    Args:
        text: The script.
        source: Its name in errors.
        statements: Words that begin statements which were added to the language.
    """
    from .language.lexer import key_of
    from .language.parser import parse
    from .language.syntax import ActionDef, GroupDef, HolderDef, Text

    found: dict[str, dict[str, tuple[float, float, float] | None]] = {
        kind: {} for kind in ("actor", "prop", "camera", "place")
    }
    groups: dict[str, list[str]] = {}
    sizes: dict[str, tuple[float, float, float]] = {}
    under: dict[str, Text] = {}
    moods: dict[str, dict[str, float]] = {}
    program = parse(text, source, tuple(statements))
    own = {key_of(d.name) for d in program.definitions if isinstance(d, ActionDef)}
    for d in program.definitions:
        if isinstance(d, HolderDef) and d.kind in found:
            found[d.kind][d.name] = _place(d)
            size = _value(d, "size")
            if isinstance(size, tuple) and len(size) == 3:
                sizes[d.name] = (float(size[0]), float(size[1]), float(size[2]))
            for init in d.inits:
                if key_of(init.name) == "upon" and isinstance(init.value, Text):
                    under[d.name] = init.value
            if d.kind == "actor":
                moods[d.name] = _moods(d)
        elif isinstance(d, GroupDef) and d.kind == "action":
            groups.setdefault(d.name, []).extend(m for m in d.members if key_of(m) not in own)
    return Named(
        found["actor"],
        found["prop"],
        found["camera"],
        found["place"],
        {group: tuple(members) for group, members in groups.items()},
        sizes,
        under,
        moods,
    )


def _moods(d: HolderDef) -> dict[str, float]:
    from .language.syntax import Vector

    out = {}
    for init in d.inits:
        value = None if isinstance(init.value, Vector) else init.value.value
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            out[f"{init.name} toward {init.toward.name}" if init.toward else init.name] = float(value)
    return out


def _place(d: HolderDef) -> tuple[float, float, float] | None:
    values = _value(d, "location", "position")
    if not isinstance(values, tuple) or not values:
        return None
    x, y, heading = (*values, 0.0, 0.0)[:3]
    return float(x), float(y), float(heading)


def _value(d: HolderDef, *names: str) -> object:
    """What somebody or something is given as a property when it is defined; None without it."""
    from .language.lexer import key_of
    from .language.syntax import Vector

    for init in d.inits:
        if key_of(init.name) in names and init.toward is None:
            return init.value.values if isinstance(init.value, Vector) else init.value.value
    return None


def assigned(parts: str, script: Sequence[str], players: Sequence[str]) -> dict[str, str]:
    """Player to part: as written, then who is called like a part, then in order; who is left plays itself.

    Args:
        parts: "Hero = Rig.001, Bear = Rig".
        script: Names of the parts in order.
        players: Names of who plays, in order.

    Raises:
        InvalidParam: A part or player is not there, or is there twice.
    """
    from .language.lexer import key_of

    out: dict[str, str] = {}
    for pair in filter(None, (p.strip() for p in parts.replace(";", ",").split(","))):
        part, _, player = (p.strip() for p in pair.partition("="))
        name = next((s for s in script if key_of(s) == key_of(part)), None)
        if name is None or name in out.values():
            raise InvalidParam("parts", pair, f"must name each part once; parts are {', '.join(script)}")
        if player not in players or player in out:
            raise InvalidParam("parts", pair, f"must name each selected actor once; they are {', '.join(players)}")
        out[player] = name
    for player in players:
        called = next((s for s in script if key_of(s) == key_of(player) and s not in out.values()), None)
        if player not in out and called is not None:
            out[player] = called
    free = [s for s in script if s not in out.values()]
    for player in players:
        if player not in out:
            out[player] = free.pop(0) if free else player
    return out


def read_directions(text: str, source: str) -> list[tuple[float, str]]:
    """Recorded commands: a time [s] and a command in each line; `#` begins a remark.

    Raises:
        FormatError: With line and column.
    """
    found = []
    for row, line in enumerate(text.splitlines(), 1):
        said = line.split("#", 1)[0].strip()
        if not said:
            continue
        first, _, rest = said.partition(" ")
        try:
            time = float(first)
        except ValueError:
            time = math.nan
        if not 0.0 <= time < math.inf:
            column = line.index(first) + 1
            raise FormatError(source, row, column, f'a direction begins with its time in seconds, not with "{first}"')
        if not rest.strip():
            raise FormatError(source, row, len(line) + 1, "what shall be done at this time?")
        found.append((time, rest.strip()))
    return sorted(found, key=lambda each: each[0])


def write_directions(directions: Iterable[tuple[float, str]]) -> str:
    """Commands as text, their times to the microsecond; `read_directions` gives equal ones back."""
    return "".join(f"{round(time, 6):.15g} {said}\n" for time, said in directions)
