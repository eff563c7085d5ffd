"""Play: the selected actors perform a script together, each with a mind and a body of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import bpy
import numpy as np

from ...core.acting.direction import PlayParams
from ...core.errors import InvalidParam
from ...core.gait.travel import TravelParams
from ...core.maths import quat
from ...core.motion import Event
from ...core.params import declared
from ...core.skeleton import Array
from .. import extend, scene
from ..bake import things
from ..scene import parts
from ..steps import Steps
from . import directing, scripting
from .act import lowered, raised, recorded
from .company import CompanyOperator, Member, Part, Played
from .departure import departure
from .filming import camera_ways
from .travel import style_of

if TYPE_CHECKING:
    from ...core.acting.body.tracks import Track
    from ...core.acting.direction import Named
    from ...core.acting.play import PlayRecord
    from ...core.acting.repertoire.tables import Sheet

ICON = "OUTLINER_OB_SPEAKER"
READ, DECIDED = 0.2, 0.4
"""How far the work has come when the scene is read, and when the minds have played."""


class Operator(CompanyOperator):
    """Let the selected actors perform a script together: they decide, walk, gesture, look and touch by themselves"""

    bl_idname = "troupe.play"
    bl_label = "Play"
    params = PlayParams
    shared: ClassVar[tuple[str, ...]] = tuple(p.name for p in declared(PlayParams))

    @classmethod
    def perform_steps(cls, context: bpy.types.Context, members: Mapping[str, Member], lead: str) -> Steps[Played]:
        return (yield from play_steps(context, members, lead))

    @classmethod
    def keep_trace(cls, context: bpy.types.Context, actor: Any, action: Any, trace: dict[str, Any]) -> None:
        for name, text in trace.get("texts", {}).items():
            scripting.write_text(name, text)
        for name, (frames, places, turns) in trace.get("things", {}).items():
            things.write_way(bpy.data.objects[name], cls.feature(), frames, places, turns)

    def apply(self, context: bpy.types.Context, actor: Any, result: Any) -> str:
        own: Any = self
        asked, own.markers = own.markers, False
        try:
            said = super().apply(context, actor, result)
        finally:
            own.markers = asked
        assert isinstance(result, Part)
        rate = scene.fps(context.scene)
        for time, text in result.trace.get("cues", ()) if asked else ():
            context.scene.timeline_markers.new(text, frame=round(result.keys.frames[0] + time * rate))
        return said

    def finished(self, context: bpy.types.Context, members: Mapping[str, Member], played: Played) -> None:
        for warning in next(iter(played.traces.values()), {}).get("warnings", ()):
            self.report({"WARNING"}, warning)


def play_steps(context: bpy.types.Context, members: Mapping[str, Member], lead: str) -> Steps[Played]:
    """Steps to what a company does by its script; changes nothing."""
    from ...core.acting.bodies import Player, bodies
    from ...core.acting.body.body import BodyParams
    from ...core.acting.direction import assigned, named
    from ...core.acting.mind.walking import WalkingStage
    from ...core.acting.play import perform_play
    from ...core.acting.repertoire.library import ActionLibrary

    params: PlayParams = members[lead].params
    text = scripting.text_of(params.script, "script")
    script = named(text, params.script, extend.statements())
    names = assigned(params.parts, list(script.actors), [members[m].actor.name for m in members])
    rate = scene.fps(context.scene)
    first = members[lead].start.frame
    frames = first + np.arange(round(params.seconds * rate) + 1, dtype=np.float64)
    sheets = sheets_of(text, params.script)
    yield 0.02
    with without_ways(context):
        others, curves, ways = yield from _share(parts.things_steps(context, script, frames), 0.02, READ)
    cast, players, floors = [], {}, {}
    all_curves: dict[tuple[str, str], Any] = dict(curves)
    known = style_names(sheets)
    for member in members.values():
        begin = departure(member.cast, member.start)
        name = names[member.actor.name]
        cast.append(parts.member(member.actor, name, begin.place))
        all_curves |= parts.curves_of(member.actor, name, frames, rate)
        styles = tracks_of(parts.styles_of(member.actor, known, frames, rate))
        clips = clip_sheets(context, member, script)
        floors[member.actor.name] = begin
        players[name] = Player(
            member.cast.skeleton,
            lowered(begin),
            TravelParams(walk=style_of(params.style)),
            styles,
            clips,
        )
    spots = np.array([begin.place[:2] for begin in floors.values()])
    heights = [begin.floor for begin in floors.values()]
    ways_there = yield from _share(parts.floorplan_steps(context, list(floors), script, spots, heights), READ, 0.25)
    extra = [sheet for player in players.values() for sheet in player.sheets]
    record = perform_play(
        [(text, params.script)],
        [*cast, *others],
        ActionLibrary([*sheets, *_once(extra)]),
        params.seconds,
        behaviour_seed=params.seed,
        body_seed=params.body_seed,
        property_curves=all_curves,
        commands=_directions(params),
        locked=_take(params),
        locking="choices" if params.lock == "choices" else "take",
        statements=extend.statements(),
        moving=partial(WalkingStage, ways=ways_there),
    )
    yield DECIDED
    props = {n: _matrices(context, n, ways[n].points) for n in script.props if n in ways}
    performance = bodies(record, players, sheets, rate, BodyParams(energy=params.energy), props)
    yield 0.95
    motions = {m: raised(floors[m], performance.motions[names[m]]) for m in members}
    moved: dict[str, tuple[Array, Array | None, Array]] = {
        parts.find(context, name).name: (
            frames,
            track[:, :3, 3] / scene.metre(context.scene),
            quat.from_matrix(track[:, :3, :3]),
        )
        for name, track in performance.props.items()
    }
    if params.camera:
        moved |= camera_ways(context, record, frames, rate, ways)
    traces: dict[str, dict[str, Any]] = {m: {"cues": _cues(record, names[m])} for m in members}
    traces[lead] |= {"things": moved, "texts": _texts(params, record), "warnings": _warnings(record, names, script)}
    return Played(motions, traces)


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


def _directions(params: PlayParams) -> list[tuple[float, str]]:
    from ...core.acting.direction import read_directions

    if not params.directions:
        return []
    return read_directions(scripting.text_of(params.directions, "directions"), params.directions)


def _take(params: PlayParams) -> tuple[Event, ...] | None:
    from ...core.acting.mind.events import from_text

    if params.lock == "off":
        return None
    if not params.take:
        raise InvalidParam("take", "", "choose the text with the take that is to be repeated")
    return from_text(scripting.text_of(params.take, "take"), params.take)


def _matrices(context: bpy.types.Context, name: str, points: Array) -> Array:
    """(T, 4, 4) where a prop is while nobody holds it [m]."""
    ob = parts.find(context, name)
    out = np.tile(np.eye(4), (len(points), 1, 1))
    turn = np.array(ob.matrix_world.to_quaternion().to_matrix(), dtype=np.float64)
    out[:, :3, :3], out[:, :3, 3] = turn, points
    return out


def _cues(record: PlayRecord, name: str) -> list[tuple[float, str]]:
    from ...core.acting.direction import CUES

    found = []
    for event in record.events:
        if event.data.get("actor") == name and event.name in CUES and event.data.get("because") != "default":
            what = next(
                (
                    str(event.data[k])
                    for k in ("script", "action", "text", "prop", "result", "what")
                    if event.data.get(k)
                ),
                "",
            )
            found.append((event.time, f"{name}: {what}"[:60]))
    return found


def _texts(params: PlayParams, record: PlayRecord) -> dict[str, str]:
    """The take, and what happened in words, by name of the text."""
    from ...core.acting.mind.events import to_text

    out = {f"{params.script} take": to_text(record.events)}
    if params.transcript:
        lines = [
            f"{e['time']:8.3f}  {e['actor']:<12} {e['what']}" + (f"   ({e['why']})" if e["why"] else "")
            for e in record.transcript
        ]
        out[f"{params.script} transcript"] = "\n".join(lines) + "\n"
    return out


def _warnings(record: PlayRecord, names: Mapping[str, str], script: Named) -> list[str]:
    idle = [part for part in script.actors if part not in names.values()]
    out = [f"nobody plays {', '.join(idle)}: select more actors"] if idle else []
    for event in record.events:
        if event.name in ("warning", "error", "refused"):
            out.append(f"{event.time:.2f} s: {event.data.get('actor') or 'direction'}: {event.data.get('what')}")
    return out[:6]


def _share(work: Steps[Any], begun: float, end: float) -> Steps[Any]:
    try:
        while True:
            yield begun + (end - begun) * next(work)
    except StopIteration as done:
        return done.value
    finally:
        work.close()


CLASSES = (*scripting.CLASSES, *directing.CLASSES)
draw = directing.draw
