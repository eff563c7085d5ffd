"""Explore: to a place, or to find a thing, in a scene that the actor knows only as far as it has seen it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...core.errors import InvalidParam
from ...core.gait.travel import TravelParams, travel
from ...core.motion import Motion, Path
from ...core.planning.senses.exploring import ExploringParams
from ...core.world import World
from .. import scene, trace
from ..steps import Steps, part
from . import ways
from .company import CompanyOperator, Member, Played
from .departure import Departure, departure
from .going import carried, ceiling_over, named
from .travel import style_of

if TYPE_CHECKING:
    from ...core.planning.senses.explore import Outing
    from ...core.planning.ways.map import MapParams

ICON = "LIGHT_SPOT"
READ, SEEN = 0.1, 0.8
"""How far the work has come when the scene is read, and when the way is found."""


class Operator(CompanyOperator):
    """Let the selected actors find a place or a thing with nothing but what they see on the way and remember"""

    bl_idname = "troupe.explore"
    bl_label = "Explore"
    params = ExploringParams

    @classmethod
    def perform_steps(cls, context: bpy.types.Context, members: Mapping[str, Member], lead: str) -> Steps[Played]:
        return (yield from explore_steps(context, members))

    @classmethod
    def keep_trace(cls, context: bpy.types.Context, actor: Any, action: Any, kept: dict[str, Any]) -> None:
        trace.keep(actor, action, kept)

    def finished(self, context: bpy.types.Context, members: Mapping[str, Member], played: Played) -> None:
        for name, kept in played.traces.items():
            if not kept["report"]["success"]:
                self.report({"WARNING"}, f"{name} did not get there: read its transcript")


@dataclass(frozen=True, eq=False)
class Setting:
    """What one of those who explore begins with: its parameters in names that core knows, and the scene around it.

    Attributes:
        level: Whether it walks on a level floor; else on the ground of the world.
        goal: Where it is to go, over time.
    """

    params: ExploringParams
    world: World
    begin: Departure
    level: bool
    goal: Path
    chart: MapParams


def explore_steps(context: bpy.types.Context, members: Mapping[str, Member]) -> Steps[Played]:
    """Steps to what all do at the same time, each seeing the others as they move."""
    from ...core.planning.senses.exploring import at_once, exploring, set_out

    clock, count = time.perf_counter(), len(members)
    settings, outings = {}, {}
    for k, (name, member) in enumerate(members.items()):
        setting = yield from part(_setting_steps(context, member, members), READ * k / count, READ / count)
        settings[name] = setting
        outings[name] = set_out(setting.world, setting.begin.place, setting.goal, setting.params, setting.chart)
    company = {}
    for name, s in settings.items():
        whom = outings.get(s.params.target)
        company[name] = outings[name], exploring(outings[name], s.goal, s.params, s.chart, whom)
    frames, longest = at_once(company), max(s.params.seconds for s in settings.values())
    try:
        while True:
            next(frames)
            now = max(outing.now for outing in outings.values())
            yield READ + (SEEN - READ) * min(1.0, now / longest)
    except StopIteration as end:
        arrived = end.value
    motions, traces = {}, {}
    for k, (name, member) in enumerate(members.items()):
        yield SEEN + (1.0 - SEEN) * k / count
        motions[name], traces[name] = _walked(member, settings[name], outings[name])
        traces[name]["report"] |= {"success": arrived[name], "seconds": round(time.perf_counter() - clock, 3)}
    return Played(motions, traces)


def _setting_steps(context: bpy.types.Context, member: Member, members: Mapping[str, Member]) -> Steps[Setting]:
    """Steps to the scene as one of the members finds it; the others are not in it."""
    from ...core.planning.senses.scenery import actor_body
    from ...core.planning.ways.footing import with_footing

    params: ExploringParams = member.params
    if params.target:
        params = replace(params, target=named(context, member, "target", params.target))
    elif params.find:
        raise InvalidParam("target", "", "choose what to find")
    rate = scene.fps(context.scene)
    frames = member.start.frame + np.arange(int(np.ceil(params.seconds * rate)) + 1, dtype=np.float64)
    sign = bpy.data.objects.get(params.target) if params.target else None
    hidden = [sign] if sign is not None and not params.find and sign.troupe.kind == "auto" else []
    hidden += carried(list(members.values()))
    world = yield from part(scene.read_world_steps(context, params.scene, hidden, frames), 0.0, 0.5)
    actors = [fellow.actor for fellow in members.values()]
    guests = yield from part(scene.read_guests_steps(context, actors, frames), 0.5, 0.5)
    begin = ways.on_ground(member.cast, TravelParams(), member.start, world)
    level = begin is None
    if begin is None:
        begin = departure(member.cast, member.start)
    spot = np.array([[*begin.place[:2], begin.floor]])
    world = with_footing(world, spot, params.climb)
    bodies = list(world.bodies)
    for guest, motion in guests.items():
        assert motion.base is not None
        number = 1 + max((b.id for b in bodies), default=-1)
        bodies.append(actor_body(guest, number, motion.base, 0.25, 1.7, begin.floor))
    world = World(tuple(bodies), world.fps)
    goal = Path(np.array([params.place[:2]]), ("x", "y"), np.zeros(1))
    if params.target in guests:
        base = guests[params.target].base
        assert base is not None
        goal = Path(base[:, :2], ("x", "y"), np.arange(len(base)) / rate)
    elif params.target in members:
        goal = Path(members[params.target].start.here.roots[:1, :2], ("x", "y"), np.zeros(1))
    elif sign is not None:
        goal = (yield from scene.read_tracks_steps(context, [sign], frames))[sign.name]
    chart = params.chart(begin.floor, ceiling_over(world, spot, params.headroom))
    return Setting(params, world, begin, level, goal, chart)


def _walked(member: Member, setting: Setting, outing: Outing) -> tuple[Motion, dict[str, Any]]:
    """Put feet under where one has gone, and keep what it saw, planned and decided."""
    from ...core.planning.senses.exploring import decisions, walked
    from ...core.planning.walkers.verify import jolt, verify
    from ...core.planning.ways.map import project

    params, world, begin, name = setting.params, setting.world, setting.begin, member.actor.name
    track = walked(outing)
    gait = TravelParams(gait=params.gait, style=params.style, walk=style_of(params.style))
    motion = travel(member.cast.skeleton, track, gait, None if setting.level else world, begin.pose)
    offences = verify({name: track}, world, params.radius)
    around = _around(track, setting.goal)
    kept = _trace(member, params, outing, track, project(world, setting.chart, bounds=around), begin.floor)
    kept["transcript"] = decisions(outing, name)
    kept["report"] = {
        "length": float(np.hypot(*np.diff(track.points[:, :2], axis=0).T).sum()),
        "searches": len(outing.plans),
        "cells": sum(len(places) for places in outing.searched),
        "checks": 2 * len(track.points) - 1,
        "offences": [vars(o) for o in offences],
        "acceleration": jolt(motion),
    }
    return (begin.raised(motion) if setting.level else motion), kept


def _around(track: Path, goal: Path) -> Any:
    points = np.concatenate([track.points[:, :2], goal.points[:, :2]])
    return np.stack([points.min(axis=0) - 2.0, points.max(axis=0) + 2.0])


def _trace(member: Member, params: ExploringParams, outing: Outing, track: Path, chart: Any, floor: float) -> Any:
    from ...core.planning.senses.exploring import seen_and_known

    first = member.start.frame
    looks = [{**look, "frame": look["frame"] + first} for look in seen_and_known(outing)]
    return {
        "feature": "explore",
        "frame": first,
        "fps": 1.0 / outing.dt,
        "map": trace.map_plain(chart),
        "ways": [[round(k * outing.dt, 3), trace.rounded(way.points[:, :2])] for k, way in outing.plans],
        "searched": [trace.searched(chart, places) for places in outing.searched],
        "track": trace.rounded(track.points),
        "floor": floor,
        "radius": params.radius,
        "view": [params.view, params.range],
        "looks": looks,
        "things": [body.name for body in outing.shapes.world.bodies if body.kind != "ground"]
        + list(outing.passers.fellows),
    }
