"""Explore: to a place, or to find a thing, in a scene that the actor knows only as far as it has seen it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...core.errors import InvalidParam
from ...core.gait.travel import TravelParams, travel
from ...core.motion import Path
from ...core.planning.senses.exploring import ExploringParams
from ...core.world import World
from .. import scene, trace
from ..steps import Steps
from . import ways
from .company import CompanyOperator, Member, Played
from .departure import departure
from .going import carried, ceiling_over, named, part
from .travel import style_of

if TYPE_CHECKING:
    from ...core.planning.senses.explore import Outing

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
        motions, traces = {}, {}
        tracks: dict[str, Path] = {}
        for k, (name, member) in enumerate(members.items()):
            # one after the other: each sees and dodges those who have set out before it
            work = explore_steps(context, member, tracks)
            motions[name], traces[name], tracks[name] = yield from part(work, k / len(members), 1.0 / len(members))
        return Played(motions, traces)

    @classmethod
    def keep_trace(cls, context: bpy.types.Context, actor: Any, action: Any, kept: dict[str, Any]) -> None:
        trace.keep(actor, action, kept)

    def finished(self, context: bpy.types.Context, members: Mapping[str, Member], played: Played) -> None:
        for name, kept in played.traces.items():
            if not kept["report"]["success"]:
                self.report({"WARNING"}, f"{name} did not get there: read its transcript")


def explore_steps(context: bpy.types.Context, member: Member, tracks: Mapping[str, Path]) -> Steps[Any]:
    """Steps to the motion of one actor, its trace and its track, among others whose tracks are known."""
    from ...core.planning.senses.exploring import decisions, exploring, set_out, walked
    from ...core.planning.senses.scenery import actor_body
    from ...core.planning.walkers.verify import jolt, verify
    from ...core.planning.ways.footing import with_footing
    from ...core.planning.ways.map import project

    clock, name = time.perf_counter(), member.actor.name
    params: ExploringParams = member.params
    if params.target:
        params = replace(params, target=named(context, member, "target", params.target))
    elif params.find:
        raise InvalidParam("target", "", "choose what to find")
    rate = scene.fps(context.scene)
    frames = member.start.frame + np.arange(int(np.ceil(params.seconds * rate)) + 1, dtype=np.float64)
    sign = bpy.data.objects.get(params.target) if params.target else None
    hidden = [sign] if sign is not None and not params.find and sign.troupe.kind == "auto" else []
    hidden += carried([member])
    world = yield from part(scene.read_world_steps(context, params.scene, hidden, frames), 0.0, READ / 2)
    guests = yield from part(scene.read_guests_steps(context, [member.actor], frames), READ / 2, READ / 2)
    begin = ways.on_ground(member.cast, TravelParams(), member.start, world)
    level = begin is None
    if begin is None:
        begin = departure(member.cast, member.start)
    spot = np.array([[*begin.place[:2], begin.floor]])
    world = with_footing(world, spot, params.climb)
    bodies = list(world.bodies)
    for guest, motion in guests.items():
        number = 1 + max((b.id for b in bodies), default=-1)
        base = tracks[guest].points if guest in tracks else motion.base
        bodies.append(actor_body(guest, number, base, 0.25, 1.7, begin.floor))
    world = World(tuple(bodies), world.fps)
    goal = Path(np.array([params.place[:2]]), ("x", "y"), np.zeros(1))
    if params.target in guests:
        base = tracks[params.target].points if params.target in tracks else guests[params.target].base
        assert base is not None
        goal = Path(base[:, :2], ("x", "y"), np.arange(len(base)) / rate)
    elif sign is not None:
        goal = (yield from scene.read_tracks_steps(context, [sign], frames))[sign.name]
    chart = params.chart(begin.floor, ceiling_over(world, spot, params.headroom))
    outing = set_out(world, begin.place, goal, params, chart)
    frames_of = exploring(outing, goal, params, chart)
    try:
        while True:
            next(frames_of)
            yield READ + (SEEN - READ) * min(1.0, outing.now / params.seconds)
    except StopIteration as end:
        arrived = bool(end.value)
    track = walked(outing)
    gait = TravelParams(gait=params.gait, style=params.style)
    ground = None if level else world
    motion = travel(member.cast.skeleton, track, replace(gait, walk=style_of(params.style)), ground, begin.pose)
    yield 0.95
    offences = verify({name: track}, world, params.radius)
    kept = _trace(member, params, outing, track, project(world, chart, bounds=_around(track, goal)), begin.floor)
    kept["transcript"] = decisions(outing, name)
    kept["report"] = {
        "seconds": round(time.perf_counter() - clock, 3),
        "success": arrived,
        "length": float(np.hypot(*np.diff(track.points[:, :2], axis=0).T).sum()),
        "searches": len(outing.plans),
        "cells": sum(len(places) for places in outing.searched),
        "checks": 2 * len(track.points) - 1,
        "offences": [vars(o) for o in offences],
        "acceleration": jolt(motion),
    }
    return (begin.raised(motion) if level else motion), kept, track


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
        "things": [body.name for body in outing.shapes.world.bodies if body.kind != "ground"],
    }
