"""Regenerate: the results of an actor, made again with other settings, muted, removed or merged."""

from __future__ import annotations

from typing import Any

import bpy

from ...core.errors import TroupeError
from ...core.landing import LandingParams, RegenerateParams, RemoveParams
from ...core.params import Params
from .. import bake, rig, scene, settings
from ..bake import nla, results
from ..steps import Steps
from . import handling
from .base import ActorOperator, FeatureOperator
from .motions import MotionOperator

ICON = "FILE_REFRESH"


class Operator(FeatureOperator):
    """Make the chosen result again with the settings in the sidebar; its strip stays where and as it is"""

    bl_idname = "troupe.regenerate"
    bl_label = "Regenerate"
    params = RegenerateParams
    has_presets = False

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        problem = super().why_not(context)
        return problem or _no_results(context)

    def actors(self, context: bpy.types.Context) -> list[Any]:
        return scene.selected_armatures(context)[:1]

    def compute_steps(self, context: bpy.types.Context, actor: Any, params: RegenerateParams) -> Steps[Any]:
        found = results.find(actor, params.result or chosen(actor))
        recipe = results.recipe_of(found.action) or {}
        cls = feature_of(recipe)
        old = cls.params.from_dict(recipe["params"]), LandingParams.from_dict(recipe["landing"])
        asked, landing = old
        if found.action.name == actor.troupe.result:
            group = getattr(actor.troupe, cls.feature())
            asked, landing = settings.params_from(group, cls.params), settings.params_from(group, LandingParams)
        edited = results.is_edited(actor, found.action)
        if edited and params.edits == "keep":
            raise TroupeError(
                f"keys of {found.action.name} were edited by hand and are kept; "
                "choose to discard them, to keep them as a layer, or to make a new take"
            )
        fresh = yield from cls.plan_steps(context, actor, asked, landing, recipe["start"])
        before = None
        if edited and params.edits == "layer":
            before = yield from cls.plan_steps(context, actor, *old, recipe["start"])
        return found, fresh, before, edited and params.edits == "take"

    def apply(self, context: bpy.types.Context, actor: Any, result: Any) -> str:
        found, fresh, before, take = result
        if take:
            if found.strip is not None:
                found.strip.mute = True
            done = bake.write(actor, fresh.keys, context, found.action.name, recipe=fresh.recipe)
            actor.troupe.result = done.action.name
            feature_of(fresh.recipe).written(context, actor, done.action, fresh)
            return f"{actor.name}: new take {done.action.name}; the edited {found.action.name} is muted"
        if before is not None:
            results.keep_edits_as_layer(actor, found, before.keys)
        done = bake.rewrite(actor, found.action, fresh.keys, fresh.recipe)
        feature_of(fresh.recipe).written(context, actor, done.action, fresh)
        kept = "; your edits lie on a layer above" if before is not None else ""
        return f"{actor.name}: {found.action.name} made again, frames {done.first} to {done.last}{kept}"


def feature_of(recipe: dict[str, Any]) -> type[MotionOperator]:
    """The operator that made a result."""
    from . import operators

    for cls in operators():
        if issubclass(cls, MotionOperator) and cls.feature() == recipe.get("feature"):
            return cls
    maker = recipe.get("feature")
    raise TroupeError(f"the result was made by {maker!r}, which cannot make it again; remove it instead")


def chosen(actor: Any) -> str:
    """Name of the result in the list that is chosen, else of the topmost."""
    names = [f.action.name for f in results.results_of(actor)]
    return actor.troupe.result if actor.troupe.result in names else names[-1] if names else ""


def load(actor: Any, action: Any) -> None:
    """Put the recipe of a result into the sidebar."""
    recipe = results.recipe_of(action) or {}
    cls = feature_of(recipe)
    group = getattr(actor.troupe, cls.feature())
    settings.store(group, cls.params.from_dict(recipe["params"]))
    settings.store(group, LandingParams.from_dict(recipe["landing"]))
    actor.troupe.result = action.name


def _no_results(context: bpy.types.Context) -> str | None:
    actor = next(iter(scene.selected_armatures(context)), None)
    if actor is None or not results.results_of(actor):
        return "This actor has no results yet: make it do something first"
    return None


class _ResultOperator(ActorOperator):
    """Base of the small operators on the results of the active actor."""

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        return Operator.why_not(context)


def _name() -> Any:
    return bpy.props.StringProperty(name="Result", description="Action of the result; empty for the chosen one")


class Choose(_ResultOperator):
    """Choose a result of this actor and load the settings it was made with into the sidebar"""

    bl_idname = "troupe.choose_result"
    bl_label = "Choose Result"
    result: _name()  # type: ignore[valid-type]

    def act(self, context: bpy.types.Context, actor: Any) -> str:
        found = results.find(actor, self.result or chosen(actor))
        load(actor, found.action)
        return f"{actor.name}: settings of {found.action.name} loaded"


class _ResultStep(FeatureOperator):
    """The same for deeds that a job can order too."""

    sidebar = False
    has_presets = False

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        return Operator.why_not(context)

    def actors(self, context: bpy.types.Context) -> list[Any]:
        return scene.selected_armatures(context)[:1]


class Remove(_ResultStep):
    """Take a result of this actor away, or all of them; what you keyed yourself stays"""

    bl_idname = "troupe.remove_result"
    bl_label = "Remove"
    params = RemoveParams

    def compute(self, context: bpy.types.Context, actor: Any, params: RemoveParams) -> list[results.Found]:
        if params.every:
            return results.results_of(actor)
        return [results.find(actor, params.result or chosen(actor))]

    def apply(self, context: bpy.types.Context, actor: Any, result: list[results.Found]) -> str:
        names = [f.action.name for f in result]
        hands = [handling.record_of(f.action) for f in result]
        kept = sum([results.remove(actor, f) for f in result])
        for record in hands:
            handling.forget(actor, record)
        actor.troupe.result = ""
        tail = f"; {kept} edited by hand kept as actions in the file" if kept else ""
        return f"{actor.name}: removed {', '.join(names)}{tail}"


class Mute(_ResultOperator):
    """Silence a result of this actor, or let it play again"""

    bl_idname = "troupe.mute_result"
    bl_label = "Mute"
    result: _name()  # type: ignore[valid-type]

    def act(self, context: bpy.types.Context, actor: Any) -> str:
        found = results.find(actor, self.result or chosen(actor))
        if found.strip is None:
            raise TroupeError(f"{found.action.name} is the active action: only strips can be muted")
        found.strip.mute = not found.strip.mute
        handling.mute_with(actor, found)
        nla.refresh(actor, context)
        return f"{found.action.name} {'is silent' if found.strip.mute else 'plays'}"


class Solo(_ResultOperator):
    """Let the track of a result play alone, or with the others again"""

    bl_idname = "troupe.solo_result"
    bl_label = "Solo"
    result: _name()  # type: ignore[valid-type]

    def act(self, context: bpy.types.Context, actor: Any) -> str:
        found = results.find(actor, self.result or chosen(actor))
        if found.track is None:
            raise TroupeError(f"{found.action.name} is the active action: only tracks can play alone")
        found.track.is_solo = not found.track.is_solo
        nla.refresh(actor, context)
        return f"{found.track.name} plays {'alone' if found.track.is_solo else 'with the others'}"


class BakeDown(_ResultStep):
    """Merge everything that plays on this actor into one plain action; the tracks stay below it, muted"""

    bl_idname = "troupe.bake_down"
    bl_label = "Bake Down"
    params = Params

    def compute(self, context: bpy.types.Context, actor: Any, params: Params) -> None:
        return None

    def apply(self, context: bpy.types.Context, actor: Any, result: None) -> str:
        action = results.bake_down(actor, context.scene, f"{actor.name} baked")
        first, last = action.frame_range
        return f"{actor.name}: {action.name}, frames {first:.0f} to {last:.0f}"


CLASSES = (Choose, Remove, Mute, Solo, BakeDown)


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, actor: Any) -> None:
    """The list of results, the topmost first."""
    if actor is None or not rig.is_cast(actor):
        return
    current = chosen(actor)
    column = layout.column(align=True)
    for found in reversed(results.results_of(actor)):
        name, row = found.action.name, column.row(align=True)
        icon = "RADIOBUT_ON" if name == current else "RADIOBUT_OFF"
        row.operator("troupe.choose_result", text=name, icon=icon).result = name
        if found.strip is not None:
            mute = "CHECKBOX_DEHLT" if found.strip.mute else "CHECKBOX_HLT"
            row.operator("troupe.mute_result", text="", icon=mute).result = name
            solo = "SOLO_ON" if found.track.is_solo else "SOLO_OFF"
            row.operator("troupe.solo_result", text="", icon=solo).result = name
        row.operator("troupe.remove_result", text="", icon="X").result = name
    row = layout.row(align=True)
    row.operator("troupe.bake_down", icon="NLA_PUSHDOWN")
    row.operator("troupe.remove_result", text="Remove All", icon="TRASH").every = True
