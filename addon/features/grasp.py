"""Grasp: how hands take a prop, authored once and saved with it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import bpy

from ...core.errors import InvalidParam, TroupeError
from ...core.planning.hands.orders import GraspParams, RemoveGraspParams
from ...core.skeleton import SIDE_NAMES
from .. import bake, rig, scene
from . import objects
from .base import FeatureOperator

if TYPE_CHECKING:
    from ...core.planning.hands.grasp import Grasp

ICON = "SNAP_ON"
FAR = 0.6
"""How far from a hand a prop may be for which a grasp is taken from it, in lengths of the arm."""
LISTED = 12
"""Kinds of grasps that the panel lists."""


class Operator(FeatureOperator):
    """Save with a prop how it is taken: as the hand of the actor is on it now, or all ways that its form allows"""

    bl_idname = "troupe.grasp"
    bl_label = "Add Grasp"
    params = GraspParams

    def actors(self, context: bpy.types.Context) -> list[Any]:
        return scene.selected_armatures(context)[:1]

    def compute(self, context: bpy.types.Context, actor: Any, params: GraspParams) -> tuple[Any, list[Grasp]]:
        from ...core.kinematics.fingers import hand_length
        from ...core.planning.hands.grasp import ANY, grasp_of_hand
        from ...core.planning.hands.grasp_forms import grasps_of

        prop = prop_of(context, actor, params.prop)
        objects.own_of_file(prop, "prop")
        cast = rig.read(actor, context)
        world = scene.read_world(context, only=prop)
        body = objects.body_of(world, prop, "prop")
        sides = ("L", "R") if params.hand == ANY else (params.hand,)
        if params.source == "form":
            found = grasps_of(body, hand_length(cast.skeleton, sides[-1]))
            if not found:
                raise TroupeError(f"{prop.name} is too large for a hand: take a grasp from the hand itself")
            changed: dict[str, Any] = {
                "purposes": (params.purpose,),
                "side": params.hand,
                "distance": params.distance,
            }
            return prop, [replace(g, **changed, quality=g.quality * params.quality) for g in found]
        pose = bake.pose_here(actor, cast, context).pose(0)
        matrix = body.matrices[0]
        made = grasp_of_hand(cast.skeleton, pose, sides[0], params.shape, matrix, params.purpose, params.distance)
        reach = cast.skeleton.leg_length()
        low, high = body.vertices.min(axis=0), body.vertices.max(axis=0)
        place = made.frame[:3, 3]
        away = float(((low - place).clip(min=0) + (place - high).clip(min=0)).max())
        if away > FAR * reach:
            raise InvalidParam("prop", prop.name, f"is {away:.2f} m from the hand: bring the hand to it first")
        return prop, [replace(made, side=params.hand, quality=params.quality)]

    def apply(self, context: bpy.types.Context, actor: Any, result: tuple[Any, list[Grasp]]) -> str:
        prop, found = result
        before = objects.grasps_of(prop)
        known = {json.dumps(grasp.as_dict()) for grasp in before}
        fresh = [grasp for grasp in found if json.dumps(grasp.as_dict()) not in known]
        store(prop, [*before, *fresh])
        own: Any = self
        own.prop = prop.name
        if not fresh:
            return f"{prop.name}: nothing is added, it has these grasps already"
        added = "1 grasp" if len(fresh) == 1 else f"{len(fresh)} grasps"
        return f"{prop.name}: {added} added, {len(before) + len(fresh)} in all"


def prop_of(context: bpy.types.Context, actor: Any, name: str) -> Any:
    """The prop of a name, or the one selected beside the actor."""
    if name:
        return objects.named(name, "prop", "the prop")
    picked = [ob for ob in context.selected_objects if ob.type == "MESH" and scene.armature_of(ob) is None]
    if len(picked) != 1:
        raise InvalidParam("prop", "", "name the prop, or select it beside the actor")
    return picked[0]


def store(prop: Any, grasps: Sequence[Grasp]) -> None:
    """Save grasps with a prop."""
    if grasps:
        prop[objects.GRASPS] = json.dumps([g.as_dict() for g in grasps])
    elif objects.GRASPS in prop:
        del prop[objects.GRASPS]


def shown_prop(context: bpy.types.Context, actor: Any) -> Any:
    """The prop whose grasps the panel shows; None when there is none."""
    ob = bpy.data.objects.get(actor.troupe.grasp.prop) if actor is not None else None
    if ob is not None:
        return ob
    return next((o for o in context.selected_objects if objects.GRASPS in o), None)


def told(grasp: Grasp) -> str:
    """A grasp in a few words: how it is called, its shape, hand and purposes."""
    hand = SIDE_NAMES.get(grasp.side, "either hand")
    return ", ".join([*([grasp.name] if grasp.name else []), grasp.shape, hand, *grasp.purposes])


class Remove(FeatureOperator):
    """Remove a grasp of this prop, or all of them"""

    bl_idname = "troupe.remove_grasp"
    bl_label = "Remove Grasp"
    params = RemoveGraspParams
    sidebar = False
    has_presets = False

    def actors(self, context: bpy.types.Context) -> list[Any]:
        return scene.selected_armatures(context)[:1]

    def compute(self, context: bpy.types.Context, actor: Any, params: RemoveGraspParams) -> tuple[Any, list[Grasp]]:
        prop = objects.named(params.prop, "prop", "the prop")
        objects.own_of_file(prop, "prop")
        if params.index < 0:
            return prop, []
        found = objects.grasps_of(prop)
        if params.index >= len(found):
            raise InvalidParam("index", params.index, f"{prop.name} has {len(found)} grasps")
        chosen = told(found[params.index])
        rest = [g for k, g in enumerate(found) if k != params.index and not (params.alike and told(g) == chosen)]
        return prop, rest

    def apply(self, context: bpy.types.Context, actor: Any, result: tuple[Any, list[Grasp]]) -> str:
        prop, rest = result
        store(prop, rest)
        if not rest:
            return f"{prop.name}: its grasps are gone; they follow from its form again"
        return f"{prop.name}: {len(rest)} grasps left"


CLASSES = (Remove,)


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, actor: Any) -> None:
    """The grasps of the prop."""
    if actor is None or not rig.is_cast(actor):
        return
    prop = shown_prop(context, actor)
    if prop is None:
        return
    try:
        found = objects.grasps_of(prop)
    except TroupeError:
        layout.label(text=f"{prop.name}: grasps cannot be read", icon="ERROR")
        found = ()
    layout.row().prop(context.scene.troupe, "show_grasps", toggle=True)
    column = layout.column(align=True)
    kinds = Counter(told(grasp) for grasp in found)
    for text, count in list(kinds.items())[:LISTED]:
        row = column.row(align=True)
        row.label(text=text if count == 1 else f"{count} {text}")
        button = row.operator(Remove.bl_idname, text="", icon="X")
        button.prop, button.alike = prop.name, True
        button.index = next(k for k, grasp in enumerate(found) if told(grasp) == text)
    if len(kinds) > LISTED:
        column.label(text=f"and {len(kinds) - LISTED} more kinds")
    if found or objects.GRASPS in prop:
        layout.operator(Remove.bl_idname, text="Remove All", icon="TRASH").prop = prop.name
