"""Timewarp: what an actor does, at the pace of another performance, or by a curve of your own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ...core.filters.retarget import RetargetParams, retarget
from ...core.filters.retime import along
from ...core.filters.timewarp import TimewarpParams, curve_of, retimed, timewarp
from ...core.kinematics.base import closed
from ...core.kinematics.cast import Cast
from ...core.motion import Motion
from ...core.skeleton import Array
from .. import bake, plot, rig, settings
from ..steps import Steps, finish
from .base import ActorOperator
from .edit import EditOperator, read_steps, source_of
from .motions import Titled
from .retarget import clip_steps

ICON = "TIME"
TREE = ".troupe moments"
"""Node group whose one node holds the curve that is being dragged; nothing uses it, so it is not saved."""
LONGER = 2.0
"""How many times as long a clip may be dragged."""
_WARPED, _EVEN = (0.45, 0.85, 0.45), (0.4, 0.4, 0.42)


class Operator(EditOperator):
    """Give what the selected actors do the timing of another animation, or play it by a curve"""

    bl_idname = "troupe.timewarp"
    bl_label = "Timewarp"
    params = TimewarpParams

    @classmethod
    def edit_steps(
        cls, context: bpy.types.Context, actor: Any, cast: Cast, motion: Motion, params: TimewarpParams
    ) -> Steps[Motion]:
        if not params.source and not params.action:
            return retimed(motion, params)
        other, _ = yield from clip_on_actor_steps(context, actor, cast, params.source, params.action)
        yield 0.5
        return timewarp(motion, other, params)


def clip_on_actor_steps(context: bpy.types.Context, actor: Any, cast: Cast, source: str, action: str) -> Steps[Titled]:
    """Steps to another animation as the actor would perform it, and its name.

    Args:
        context: For scene, rate and units.
        actor: The armature object.
        cast: How it is cast.
        source: Name of an armature; empty for the actor itself where the action fits it, else the one it fits best.
        action: Name of an action; empty for what the source plays.
    """
    found = bpy.data.actions.get(action)
    if action and not source and found is not None and bake.shared_bones(actor, found) > 0:
        source = actor.name
    clip, title = yield from clip_steps(context, actor, RetargetParams(source=source, action=action))
    if clip.skeleton.names == cast.skeleton.names:
        return replace(clip, skeleton=cast.skeleton), title
    yield 0.5
    return retarget(clip, cast.skeleton, RetargetParams()), title


def node() -> Any:
    """The node that holds the dragged curve; None while there is none."""
    tree = bpy.data.node_groups.get(TREE)
    return tree.nodes[0] if tree is not None and len(tree.nodes) else None


def even(motion: Motion, curve: Sequence[Sequence[float]]) -> Array:
    """The time curve (K, 2) [s] to begin with where there is no source: the one that is set, or the clip as it is."""
    if curve:
        return np.array(curve)
    return np.repeat(np.linspace(0.0, closed(motion).duration, 5)[:, None], 2, axis=1)


def show(table: Array, room: float = 1.0) -> Any:
    """Put a time curve (K, 2) [s] into the node as control points, and return it; its end may rise by `room`."""
    if node() is None:
        bpy.data.node_groups.new(TREE, "ShaderNodeTree").nodes.new("ShaderNodeFloatCurve")
    mapping = node().mapping
    mapping.use_clip = False
    found = mapping.curves[0].points
    while len(found) > 2:
        found.remove(found[1])
    found[0].location, found[1].location = table[0], table[-1]
    for own, other in table[1:-1]:
        found.new(own, other)
    mapping.clip_min_x, mapping.clip_min_y = table[0]
    mapping.clip_max_x, mapping.clip_max_y = table[-1] * (1.0, room)
    mapping.use_clip = True
    mapping.update()
    mapping.reset_view()
    return node()


def dragged() -> list[list[float]]:
    """The control points of the dragged curve, both columns rising."""
    points = sorted((p.location[0], p.location[1]) for p in node().mapping.curves[0].points)
    # single precision, and points put on top of each other or below the one before
    rows: list[list[float]] = []
    for own, other in ([round(x, 5) for x in point] for point in points):
        if not rows or (own > rows[-1][0] and other > rows[-1][1]):
            rows.append([own, other])
    return rows


def picture(actor: Any, table: Array, own: str, other: str) -> Any:
    """The image of a time curve (K, 2) [s]: beside an even stretch, and how much faster or slower than that it runs."""
    at = np.linspace(table[0, 0], table[-1, 0], 400)
    warped, even = along(table, at), np.interp(at, table[[0, -1], 0], table[[0, -1], 1])
    marks = table[1:-1, 0].tolist()
    times = [plot.Series("even", _EVEN, even), plot.Series("warped", _WARPED, warped)]
    pace = np.gradient(warped, at) / max(float(np.gradient(even, at).mean()), 1e-9)
    charts = (
        plot.Chart(f"{other}, s", f"{own}, s", at, times, marks),
        plot.Chart("pace", f"{own}, s", at, [plot.Series("1 is even", _WARPED, pace)], marks),
    )
    return plot.to_image(f"{actor.name} timewarp", plot.picture(charts))


class _MomentsOperator(ActorOperator):
    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        return Operator.why_not(context)


class FindMoments(_MomentsOperator):
    """Show the moments of the source that correspond to the actor's as a curve to drag; without one, its own time"""

    bl_idname = "troupe.find_moments"
    bl_label = "Find Moments"

    def act(self, context: bpy.types.Context, actor: Any) -> str:
        group = actor.troupe.timewarp
        params = replace(settings.params_from(group, TimewarpParams), curve=())
        cast = rig.read(actor, context)
        motion = finish(read_steps(actor, cast, context, source_of(actor, None)))
        if not params.source and not params.action:
            table = even(motion, settings.params_from(group, TimewarpParams).curve)
            group.curve = json.dumps(np.round(table, 5).tolist())
            show(table, LONGER)
            picture(actor, table, actor.name, "new time")
            return f"{actor.name}: a curve of its own time to drag; choose a source for the pace of another animation"
        other, title = finish(clip_on_actor_steps(context, actor, cast, params.source, params.action))
        table = curve_of(closed(motion), closed(other), params)
        group.curve = json.dumps(np.round(table, 5).tolist())
        show(table)
        image = picture(actor, table, actor.name, title)
        return f"{actor.name}: {len(table)} moments of {title}, drawn in the image {image.name}"


class UseMoments(_MomentsOperator):
    """Take the dragged curve into the settings of the actor"""

    bl_idname = "troupe.use_moments"
    bl_label = "Use Moments"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        return super().why_not(context) or ("Press Find Moments first" if node() is None else None)

    def act(self, context: bpy.types.Context, actor: Any) -> str:
        rows = dragged()
        actor.troupe.timewarp.curve = json.dumps(rows)
        other = actor.troupe.timewarp.action or actor.troupe.timewarp.source or "new time"
        picture(actor, np.array(rows), actor.name, other)
        return f"{actor.name}: {len(rows)} moments taken from the curve"


CLASSES = (FindMoments, UseMoments)


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, actor: Any) -> None:
    """The curve, once it was found."""
    if actor is None or not rig.is_cast(actor):
        return
    row = layout.row(align=True)
    row.operator("troupe.find_moments", icon="VIEWZOOM")
    row.operator("troupe.use_moments", icon="CHECKMARK")
    if node() is not None:
        layout.template_curve_mapping(node(), "mapping")
