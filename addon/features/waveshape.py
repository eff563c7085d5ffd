"""Waveshape: the joint angles of whatever an actor does, taken through a curve."""

from __future__ import annotations

import json
from typing import Any

import bpy

from ...core.filters.waveshape import Shape, WaveshapeParams, shape_of, waveshape
from ...core.kinematics.cast import Cast
from ...core.motion import Motion
from .. import scene, settings
from ..steps import Steps
from .edit import EditOperator

ICON = "FORCE_HARMONIC"
TREE = ".troupe curve"
"""Node group whose one node holds the curve that is being drawn; nothing uses it, so it is not saved."""


class Operator(EditOperator):
    """Take the joint angles of the selected actors through a curve: limits, waves, styles of your own"""

    bl_idname = "troupe.waveshape"
    bl_label = "Waveshape"
    params = WaveshapeParams

    @classmethod
    def edit_steps(
        cls, context: bpy.types.Context, actor: Any, cast: Cast, motion: Motion, params: WaveshapeParams
    ) -> Steps[Motion]:
        return waveshape(motion, params)
        yield

    @classmethod
    def title(cls, params: WaveshapeParams) -> str:
        return f"{params.shape} curve"


def curve_node() -> Any:
    """The node that holds the drawn curve; None while there is none."""
    tree = bpy.data.node_groups.get(TREE)
    return tree.nodes[0] if tree is not None and len(tree.nodes) else None


def show(shape: Shape) -> Any:
    """Put a curve into the node as control points, and return it."""
    if curve_node() is None:
        bpy.data.node_groups.new(TREE, "ShaderNodeTree").nodes.new("ShaderNodeFloatCurve")
    node = curve_node()
    mapping = node.mapping
    mapping.clip_min_x, mapping.clip_max_x, mapping.clip_min_y, mapping.clip_max_y = -1.0, 1.0, -1.5, 1.5
    mapping.use_clip = True
    found = mapping.curves[0].points
    while len(found) > 2:
        found.remove(found[1])
    points = shape.editable().points
    found[0].location, found[1].location = points[0], points[-1]
    for x, y in points[1:-1]:
        found.new(x, y)
    mapping.update()
    mapping.reset_view()
    return node


def drawn() -> list[list[float]]:
    """The control points of the drawn curve."""
    points = sorted((p.location[0], p.location[1]) for p in curve_node().mapping.curves[0].points)
    # single precision and points put on top of each other
    rounded = [[round(x, 6), round(y, 6)] for x, y in points]
    return [p for i, p in enumerate(rounded) if i == 0 or p[0] > rounded[i - 1][0]]


class _CurveOperator(bpy.types.Operator):
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        return super(EditOperator, Operator).why_not(context)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        problem = cls.why_not(context)
        if problem:
            cls.poll_message_set(problem)
        return problem is None


class EditCurve(_CurveOperator):
    """Show the curve of these settings below, with points to drag; click adds one, Delete takes one away"""

    bl_idname = "troupe.edit_curve"
    bl_label = "Edit Curve"

    def execute(self, context: bpy.types.Context) -> set[str]:
        group = scene.selected_armatures(context)[0].troupe.waveshape
        show(shape_of(settings.params_from(group, WaveshapeParams)))
        return {"FINISHED"}


class UseCurve(_CurveOperator):
    """Take the drawn curve into the settings of the selected actors"""

    bl_idname = "troupe.use_curve"
    bl_label = "Use Curve"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        problem = super().why_not(context)
        return problem or ("Press Edit Curve first" if curve_node() is None else None)

    def execute(self, context: bpy.types.Context) -> set[str]:
        text = json.dumps(drawn())
        for actor in scene.selected_armatures(context):
            actor.troupe.waveshape.points, actor.troupe.waveshape.shape = text, "points"
        return {"FINISHED"}


CLASSES = (EditCurve, UseCurve)


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, actor: Any) -> None:
    """The curve, once it is being edited."""
    if actor is None:
        return
    row = layout.row(align=True)
    row.operator("troupe.edit_curve", icon="CURVE_BEZCURVE")
    row.operator("troupe.use_curve", icon="CHECKMARK")
    node = curve_node()
    if node is not None:
        layout.template_curve_mapping(node, "mapping")
