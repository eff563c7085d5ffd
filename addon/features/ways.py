"""Where a traveller goes and what it treads on, from what the scene shows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ...core.errors import InvalidParam
from ...core.gait.route import ahead
from ...core.gait.travel import TravelParams, travel
from ...core.kinematics.cast import Cast
from ...core.maths import geometry
from ...core.maths.ramp import smootherstep
from ...core.maths.spline import arc_length, at_length, evenly
from ...core.motion import Path
from ...core.skeleton import Array, Pose
from ...core.world import World
from .. import bake, scene
from ..scene.placement import may_move
from ..steps import Steps
from .departure import Departure, departure

NEAR = 0.3
"""An actor this near to the beginning of its way does not go there first [m]."""
JOINING = 1.0
"""Way over which an actor beside the beginning of a line comes onto it [m]."""
FINE, COARSE = 0.05, 0.25
"""Between the points of a way, and between those where it has the height of the ground: longer than a sole [m]."""
CLIMB = 0.55
"""Ground higher or lower than this is not what the actor stands on [leg lengths]."""


def way_of(context: bpy.types.Context, params: TravelParams, begin: Departure) -> Array:
    """(N, 3) way from where the actor stands [m], by path, waypoints, target or distance, whatever is given."""
    place = np.append(begin.place[:2], begin.floor)
    if params.path:
        ob = bpy.data.objects.get(params.path)
        points = np.zeros((0, 3)) if ob is None else scene.read_route(ob, context).points
        if len(points) < 2:
            raise InvalidParam("path", params.path, "no curve of that name in this file")
        return _joined(place, points)
    if params.waypoints:
        collection = bpy.data.collections.get(params.waypoints)
        if collection is None:
            raise InvalidParam("waypoints", params.waypoints, "no collection of that name in this file")
        points = scene.read_route(collection, context).points
        there = len(points) > 1 and np.hypot(*(points[0] - place)[:2]) < NEAR
        return np.concatenate([place[None], points[1:] if there else points])
    if params.target:
        ob = bpy.data.objects.get(params.target)
        if ob is None:
            raise InvalidParam("target", params.target, "no object of that name in this file")
        goal = scene.read_route(ob, context).points[0]
        if np.hypot(*(goal - place)[:2]) < NEAR:
            raise InvalidParam("target", params.target, "is where the actor stands already: move it, or choose another")
        return np.stack([place, goal])
    if params.distance <= 0:
        raise InvalidParam("distance", params.distance, "there is nowhere to go: choose a path, a target or a distance")
    x, y, heading = begin.place
    return np.column_stack([ahead(x, y, heading - params.facing, params.distance), np.full(2, begin.floor)])


def _joined(place: Array, points: Array) -> Array:
    """A line (N, 3) that begins at `place` (3,): after a straight way to its beginning, or led there gently."""
    gap = (place - points[0])[:2]
    if np.hypot(*gap) > NEAR:
        return np.concatenate([place[None], points])
    line = evenly(points, FINE)
    along = arc_length(line)
    left = 1.0 - smootherstep(np.minimum(along / min(JOINING, along[-1]), 1.0))
    line[:, :2] += left[:, None] * gap
    return line


def ground_steps(
    context: bpy.types.Context, actor: Any, params: TravelParams, frames: Array | None = None
) -> Steps[World]:
    """Steps to what can be trodden on: no actor, nor the objects that show where to go unless they are ground."""
    signs = [bpy.data.objects.get(name) for name in (params.path, params.target) if name]
    exclude = [actor, *(ob for ob in signs if ob is not None and ob.troupe.kind != "ground")]
    return (yield from scene.read_world_steps(context, params.ground, exclude, frames))


def moves(world: World) -> bool:
    """Whether some of the ground may move."""
    found = (bpy.data.objects.get(body.name.partition("/")[0]) for body in world.bodies if body.kind == "ground")
    return any(may_move(ob) for ob in found if ob is not None)


def on_ground(cast: Cast, params: TravelParams, start: bake.Start, world: World) -> Departure | None:
    """The departure on the ground under the actor; None when there is none."""
    surface, begin = geometry.index(world), departure(cast, start)
    reach, at = CLIMB * cast.skeleton.leg_length(), begin.place[None, :2]
    (floor,), _, (hit,) = geometry.height(surface, at, below=begin.floor + reach)
    if not hit or begin.floor - floor > reach:
        return None
    begin = replace(departure(cast, start, surface), floor=float(floor))
    (top,), _, _ = geometry.height(surface, at)
    if begin.pose is None and top > floor + reach:
        # a body without a pose begins on what is uppermost, which here is a roof
        begin = replace(begin, pose=stand(cast, params, begin))
    return begin


def stand(cast: Cast, params: TravelParams, begin: Departure) -> Pose:
    """How somebody stands at ease at a departure."""
    still = Path(np.tile(begin.place, (2, 1)), ("x", "y", "heading"), np.array([0.0, 1.0]))
    return begin.raised(travel(cast.skeleton, still, params)).pose(0)


def laid(way: Array, world: World, leg: float) -> Array:
    """A way (N, 3) on the ground under it, whose slopes slow a body down; steps are evened out to slopes."""
    line = evenly(way, FINE)
    lengths = arc_length(line[:, :2])
    at = np.linspace(0.0, lengths[-1], max(2, int(np.ceil(lengths[-1] / COARSE)) + 1))
    places, surface = at_length(line, at, lengths), geometry.index(world)
    z, _, hit = geometry.height(surface, places[:, :2], below=places[:, 2] + CLIMB * leg)
    top, _, under = geometry.height(surface, places[:, :2])
    known = hit | under
    if known.any():
        line[:, 2] = np.interp(lengths, at[known], np.where(hit, z, top)[known])
    return line
