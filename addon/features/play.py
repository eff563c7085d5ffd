"""Play: the selected actors perform a script together, each with a mind and a body of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import bpy
import numpy as np

from ...core.acting.direction import PlayParams
from ...core.errors import InvalidParam
from ...core.motion import Event
from ...core.params import declared
from ...core.skeleton import Array
from .. import extend, scene
from ..bake import things
from ..scene import parts
from ..steps import Steps
from . import bringing, directing, moods, scripting
from .act import raised
from .company import CompanyOperator, Member, Part, Played
from .filming import camera_ways
from .staging import Staging, staging_steps

if TYPE_CHECKING:
    from ...core.acting.play import PlayRecord

ICON = "OUTLINER_OB_SPEAKER"
READ, DECIDED = 0.25, 0.4
"""How far the work has come when the scene is read, and when the minds have played."""


class Operator(CompanyOperator):
    """Let the selected actors perform a script together: they decide, walk, gesture, look and touch by themselves"""

    bl_idname = "troupe.play"
    bl_label = "Play"
    params = PlayParams
    shared: ClassVar[tuple[str, ...]] = tuple(p.name for p in declared(PlayParams))

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        if context.mode == "OBJECT" and not scene.selected_armatures(context):
            return "Bring on the cast of a script, or select the actors first"
        return super().why_not(context)

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
        member = next(iter(members.values()))
        last = member.start.frame + round(member.params.seconds * scene.fps(context.scene))
        if last > context.scene.frame_end:
            self.report(
                {"INFO"}, f"The timeline ends at {context.scene.frame_end}; set its end to {last} to see it all"
            )


def play_steps(context: bpy.types.Context, members: Mapping[str, Member], lead: str) -> Steps[Played]:
    """Steps to what a company does by its script; changes nothing."""
    from ...core.acting.bodies import bodies
    from ...core.acting.body.body import BodyParams
    from ...core.acting.play import perform_play

    params: PlayParams = members[lead].params
    rate, first = scene.fps(context.scene), members[lead].start.frame
    frames = first + np.arange(round(params.seconds * rate) + 1, dtype=np.float64)
    staged: Staging = yield from _share(staging_steps(context, members, params, frames), 0.02, READ)
    record = perform_play(
        [(staged.text, params.script)],
        staged.cast,
        staged.library,
        # whole frames, for properties of Blender keep too few digits
        (len(frames) - 1) / rate,
        behaviour_seed=params.seed,
        body_seed=params.body_seed,
        property_curves=staged.curves,
        commands=_directions(params),
        locked=_take(params),
        locking="choices" if params.lock == "choices" else "take",
        statements=extend.statements(),
        moving=staged.moving,
    )
    yield DECIDED
    manner = BodyParams(energy=params.energy)
    performance = bodies(record, staged.players, staged.sheets, rate, manner, staged.props, staged.furniture)
    yield 0.95
    names, floor = staged.names, staged.furniture.floor
    motions = {m: raised(staged.begins[m], performance.motions[names[m]]) for m in members}
    moved: dict[str, tuple[Array, Array | None, Array]] = {
        parts.find(context, name).name: (frames, *parts.world_track(context, track, floor))
        for name, track in performance.props.items()
    }
    if params.camera:
        moved |= camera_ways(context, record.aims, frames, rate, staged.ways)
    traces: dict[str, dict[str, Any]] = {m: {"cues": _cues(record, names[m])} for m in members}
    warnings = _warnings(record, staged)
    traces[lead] |= {"things": moved, "texts": _texts(params, record), "warnings": warnings}
    return Played(motions, traces)


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
            found.append((event.time, f"{name}: {what.replace('_', ' ')}"[:60]))
    # who chooses a script begins it: that is one thing to see
    return list(dict.fromkeys(found))


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


def _warnings(record: PlayRecord, staged: Staging) -> list[str]:
    idle = [part for part in staged.script.actors if part not in staged.names.values()]
    lacking = [prop for prop in staged.script.props if prop not in staged.props]
    out = [f"nobody plays {', '.join(idle)}: select more actors"] if idle else []
    out += [f"the scene has no {', '.join(lacking)}: press Bring On the Cast"] if lacking else []
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


CLASSES = (*scripting.CLASSES, *bringing.CLASSES, *directing.CLASSES, *moods.CLASSES)
draw, draw_first, draw_instead = directing.draw, directing.draw_first, directing.draw_instead
