"""A play as the scene has it: script, cast, bodies, things and ways, read alike for a bake and for playing live."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...core.acting.direction import Named, PlayParams
from ...core.gait.travel import TravelParams
from ...core.skeleton import Array
from .. import extend, scene
from ..bake import things
from ..scene import parts
from ..steps import Steps
from . import scripting
from .act import lowered, recorded
from .company import Member
from .departure import Departure, departure
from .travel import style_of

if TYPE_CHECKING:
    from ...core.acting.bodies import Player
    from ...core.acting.body.tracks import Track
    from ...core.acting.furniture import Furniture
    from ...core.acting.holding import Thing
    from ...core.acting.play import Moving
    from ...core.acting.repertoire.library import ActionLibrary
    from ...core.acting.repertoire.tables import Sheet
    from ...core.motion import Path


@dataclass(frozen=True, eq=False)
class Staging:
    """What a play needs.

    Attributes:
        text: The script.
        script: What it names.
        names: Actor to part.
        sheets, library: The actions of all, and with those of single actors.
        cast: Everybody and everything that the minds know.
        curves: Properties that are keyed.
        players: By part.
        begins: Where each actor stands, by its name.
        moving: The stage that everybody moves on.
        furniture: What is sat on and put on.
        props: Things that can be held, by name in the script.
        ways: Where things and cameras are, by name in the script.
        frames: (T,) the frames that were read.
    """

    text: str
    script: Named
    names: Mapping[str, str]
    sheets: list[Sheet]
    library: ActionLibrary
    cast: list[Any]
    curves: Mapping[tuple[str, str], Any]
    players: Mapping[str, Player]
    begins: Mapping[str, Departure]
    moving: Moving
    furniture: Furniture
    props: Mapping[str, Thing]
    ways: Mapping[str, Path]
    frames: Array


def staging_steps(
    context: bpy.types.Context, members: Mapping[str, Member], params: PlayParams, frames: Array
) -> Steps[Staging]:
    """Steps to the play of a company at frames (T,); changes nothing."""
    from ...core.acting.bodies import Player
    from ...core.acting.direction import assigned, named
    from ...core.acting.furniture import Furniture
    from ...core.acting.mind.walking import WalkingStage
    from ...core.acting.repertoire.library import ActionLibrary

    text = scripting.text_of(params.script, "script")
    script = named(text, params.script, extend.statements())
    names = assigned(params.parts, list(script.actors), [members[m].actor.name for m in members])
    rate = scene.fps(context.scene)
    sheets = sheets_of(text, params.script)
    yield 0.1
    with without_ways(context):
        others, keyed, ways = yield from parts.things_steps(context, script, frames)
    cast, players, begins = [], {}, {}
    curves: dict[tuple[str, str], Any] = dict(keyed)
    known, gait = style_names(sheets), TravelParams(walk=style_of(params.style))
    for member in members.values():
        begin = departure(member.cast, member.start)
        name = names[member.actor.name]
        cast.append(parts.member(member.actor, name, begin.place))
        curves |= parts.curves_of(member.actor, name, frames, rate)
        styles = tracks_of(parts.styles_of(member.actor, known, frames, rate))
        begins[member.actor.name] = begin
        clips = clip_sheets(context, member, script)
        players[name] = Player(member.cast.skeleton, lowered(begin), gait, styles, clips)
    yield 0.9
    spots = np.array([begin.place[:2] for begin in begins.values()])
    floors = [begin.floor for begin in begins.values()]
    plan = yield from parts.floorplan_steps(context, list(begins), script, spots, floors, frames)
    extra = [sheet for player in players.values() for sheet in player.sheets]
    props = {n: parts.thing(context, n, ways[n].points, plan.floor) for n in script.props if n in ways}
    return Staging(
        text,
        script,
        names,
        sheets,
        ActionLibrary([*sheets, *_once(extra)]),
        [*cast, *others],
        curves,
        players,
        begins,
        partial(WalkingStage, ways=plan),
        Furniture(plan.world, plan.floor),
        props,
        ways,
        frames,
    )


def sheets_of(text: str, source: str) -> list[Sheet]:
    """The repertoire, and the actions that a script defines itself."""
    from ...core.acting.act import repertoire
    from ...core.acting.scriptactions import script_sheets

    return script_sheets(text, source, repertoire(), extend.signals(), tuple(extend.statements()))


def clip_sheets(context: bpy.types.Context, member: Member, script: Named) -> tuple[Sheet, ...]:
    """The Blender actions that a script names in its groups, as actions of an actor."""
    from ...core.acting.act import GROUPS, names_of
    from ...core.acting.repertoire.library import canonical
    from ...core.acting.repertoire.tables import Sheet

    known = {canonical(name) for group in GROUPS for name in names_of(group)}
    found = []
    for group, wanted in script.groups.items():
        for clip in recorded(context, member.actor, member.cast, [n for n in wanted if canonical(n) not in known]):
            found.append(Sheet({clip.name: clip}, [(group, [clip.name])]))
    return tuple(found)


def tracks_of(styles: Mapping[str, Any]) -> dict[str, float | Track]:
    """Style parameters as a body takes them, of numbers and (times [s], values)."""
    from ...core.acting.body.tracks import Track

    return {key: Track(np.asarray(v[0]), np.asarray(v[1])) if isinstance(v, tuple) else v for key, v in styles.items()}


def style_names(sheets: list[Sheet]) -> dict[str, float]:
    """Style parameters of all actions by name, and as "action.name"."""
    out: dict[str, float] = {"amplitude": 1.0, "noise_gain": 1.0}
    for action in (a for sheet in sheets for a in sheet.actions.values()):
        for name, value in {**action.params, "amplitude": 1.0, "noise_gain": 1.0}.items():
            out.setdefault(name, value)
            out[f"{action.name}.{name}"] = value
        if action.tempo is not None:
            out[f"{action.name}.tempo"] = action.tempo
    return out


@contextmanager
def without_ways(context: bpy.types.Context) -> Iterator[None]:
    """The scene without what an earlier performance did to things and cameras."""
    strips = [s for ob in context.scene.objects if (s := things.way_of(ob, "play")) is not None and not s.mute]
    for strip in strips:
        strip.mute = True
    try:
        yield
    finally:
        for strip in strips:
            strip.mute = False


def _once(sheets: list[Sheet]) -> list[Sheet]:
    """Sheets without actions that one before them has."""
    seen: set[str] = set()
    out = []
    for sheet in sheets:
        fresh = {n: a for n, a in sheet.actions.items() if n not in seen}
        seen |= set(fresh)
        if fresh:
            out.append(replace(sheet, actions=fresh))
    return out
