"""Travel: along a curve, through waypoints, to an object or straight ahead, walking and running over any ground."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ...core.errors import InvalidParam, TroupeError
from ...core.gait import styles
from ...core.gait.physique import measure
from ...core.gait.route import follow
from ...core.gait.travel import TravelParams, travel
from ...core.gait.walking import WalkStyle
from ...core.kinematics.cast import Cast
from ...core.landing import FootprintsParams, LandingParams, RegenerateParams
from ...core.params import declared
from ...core.skeleton import Array
from .. import bake, footprints, rig, scene, settings
from ..bake import nla, results
from ..steps import Steps, finish
from . import regenerate, ways
from .base import FeatureOperator
from .departure import departure
from .motions import MotionOperator, Plan, Titled

ICON = "CURVE_PATH"
SPEED = "troupe.travel.speed"
"""Where on an actor its speed is keyed."""


class Operator(MotionOperator):
    """Take the selected actors along a curve, through waypoints, to an object or ahead, on whatever ground there is"""

    bl_idname = "troupe.travel"
    bl_label = "Travel"
    params = TravelParams

    @classmethod
    def plan_steps(
        cls, context: bpy.types.Context, actor: Any, params: Any, landing: LandingParams, start: Any
    ) -> Steps[Plan]:
        first, held = context.scene.frame_current, None
        if start is not None:
            first, held = int(start["frame"]), _speed_before(actor, start)
        params = replace(params, speed=_speed(context, actor, params, first, held))
        return (yield from super().plan_steps(context, actor, params, landing, start))

    @classmethod
    def motion_steps(
        cls, context: bpy.types.Context, actor: Any, cast: Cast, params: TravelParams, start: bake.Start
    ) -> Steps[Titled]:
        params = replace(params, walk=style_of(params.style))
        world = (yield from ways.ground_steps(context, actor, params)) if params.tread else None
        begin = None if world is None else ways.on_ground(cast, params, start, world)
        if begin is None:
            begin, world = departure(cast, start), None
        way = ways.way_of(context, params, begin)
        if world is not None:
            way = ways.laid(way, world, cast.skeleton.leg_length())
        base = follow(way, params.speed, scene.fps(context.scene), params, float(begin.place[2]))
        if world is not None and ways.moves(world):
            world = yield from ways.ground_steps(
                context, actor, params, start.frame + np.arange(len(base.points), dtype=np.float64)
            )
        motion = travel(cast.skeleton, base, params, world, begin.pose)
        return begin.raised(motion) if world is None else motion, "travel"

    def apply(self, context: bpy.types.Context, actor: Any, result: Plan) -> str:
        speed = result.recipe["params"]["speed"]
        if isinstance(speed, list):
            self.speed = speed[0]
        return super().apply(context, actor, result)


def style_of(name: str) -> WalkStyle:
    """The walking style that a preset of Walk stands for, shipped or the user's; the neutral one without a name."""
    if not name or name.casefold() in (known.casefold() for known in styles.names()):
        return styles.walk_style(name)
    from .. import presets  # it builds on the features

    own = {p.name: p for p in presets.own("walk")}
    if name not in own:
        raise InvalidParam("style", name, f"no such preset of Walk; there are {', '.join([*styles.names(), *own])}")
    if own[name].fault is not None:
        raise TroupeError(f"the preset {name!r} of Walk cannot be used: {own[name].fault}")
    mine = {p.name for p in declared(WalkStyle)}
    return WalkStyle.from_dict({key: value for key, value in own[name].values.items() if key in mine})


def _speed_before(actor: Any, start: dict[str, Any]) -> Any:
    """The speed, one or a list, of the result that was made from a start; None when there is none."""
    recipes = (results.recipe_of(found.action) or {} for found in bake.results_of(actor))
    return next((r["params"].get("speed") for r in recipes if r.get("start") == start), None)


def _speed(context: bpy.types.Context, actor: Any, params: TravelParams, first: int, held: Any) -> float | Array:
    """The speed asked for, or (T,) from the frame `first` on where it is keyed, in the active action or below.

    A result that is made again when the keys are gone keeps the speed `held` it had, unless another one is set since.
    """
    last = max(float(context.scene.frame_end), nla.frame_range(actor)[1] if nla.animated_paths(actor) else 0.0)
    frames = np.arange(first, max(int(last), first + 1) + 1, dtype=np.float64)
    values = scene.keyed(actor, SPEED, frames, below=True)
    if values is None:
        kept = isinstance(held, list) and np.abs(np.subtract(held, params.speed)).min() < 1e-4
        return np.array(held) if kept else params.speed
    changes = np.flatnonzero(np.abs(np.diff(values)) > 1e-6)
    return values[: changes[-1] + 2] if len(changes) else float(values[0])


def _result(actor: Any, name: str) -> results.Found:
    """The result of Travel of this name; without one the chosen result, else the topmost of Travel."""
    made = [f for f in results.results_of(actor) if (results.recipe_of(f.action) or {}).get("feature") == "travel"]
    wanted = name or actor.troupe.result
    found = next((f for f in made if f.action.name == wanted), None if name else made[-1] if made else None)
    if found is None:
        raise TroupeError(f"{actor.name} has no result {name!r} of Travel" if name else _nowhere(actor))
    return found


def _nowhere(actor: Any) -> str:
    return f"{actor.name} has not travelled yet: press Travel first"


def _why_no_prints(context: bpy.types.Context) -> str | None:
    problem = Operator.why_not(context)
    if problem is None:
        actor = scene.selected_armatures(context)[0]
        made = (results.recipe_of(f.action) or {} for f in results.results_of(actor))
        problem = None if any(r.get("feature") == "travel" for r in made) else _nowhere(actor)
    return problem


def _footfall_steps(context: bpy.types.Context, actor: Any, action: Any) -> Steps[Any]:
    """Steps to what `footprints.show` needs to put the prints of a result where its feet are."""
    recipe, cast = results.recipe_of(action) or {}, rig.read(actor, context)
    params = TravelParams.from_dict(recipe["params"])
    start = bake.Start.from_plain(recipe["start"], cast)
    motion, _ = yield from Operator.motion_steps(context, actor, cast, params, start)
    return action.name, measure(cast.skeleton), motion.events


class _PrintsOperator(FeatureOperator):
    has_presets = False

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        return _why_no_prints(context)

    def actors(self, context: bpy.types.Context) -> list[Any]:
        return scene.selected_armatures(context)[:1]


class ShowFootprints(_PrintsOperator):
    """Put a footprint wherever this actor treads on its way; drag and turn some, then press Follow Footprints"""

    bl_idname = "troupe.show_footprints"
    bl_label = "Show Footprints"
    params = FootprintsParams
    sidebar = False

    def compute_steps(self, context: bpy.types.Context, actor: Any, params: FootprintsParams) -> Steps[Any]:
        if params.hide:
            return None
        return (yield from _footfall_steps(context, actor, _result(actor, params.result).action))

    def apply(self, context: bpy.types.Context, actor: Any, result: Any) -> str:
        if result is None:
            return f"{actor.name}: {footprints.hide(actor)} footprints taken away"
        return f"{actor.name}: {footprints.show(context, actor, *result)} footprints"


class FollowFootprints(_PrintsOperator):
    """Make the way again so that the feet tread on the footprints that were moved; deleting one sets its step free"""

    bl_idname = "troupe.follow_footprints"
    bl_label = "Follow Footprints"
    params = RegenerateParams

    @classmethod
    def _group(cls, context: bpy.types.Context, actor: Any) -> Any:
        return actor.troupe.regenerate

    def compute_steps(self, context: bpy.types.Context, actor: Any, params: RegenerateParams) -> Steps[Any]:
        found = _result(actor, params.result)
        name, recipe = found.action.name, results.recipe_of(found.action) or {}
        if not footprints.prints_of(actor, name):
            raise TroupeError(f"{name} has no footprints in the scene: press Show Footprints first")
        old = TravelParams.from_dict(recipe["params"]), LandingParams.from_dict(recipe["landing"])
        asked, landing = old
        if name == actor.troupe.result:
            group = actor.troupe.travel
            asked, landing = settings.params_from(group, TravelParams), settings.params_from(group, LandingParams)
        rows = footprints.table(context, actor, name, asked.footprints)
        if rows == asked.footprints:
            raise TroupeError(f"no footprint of {name} was moved: drag or turn some, then press again")
        edited = results.is_edited(actor, found.action)
        if edited and params.edits == "keep":
            raise TroupeError(f"keys of {name} were edited by hand and are kept; choose what becomes of them")
        fresh = yield from Operator.plan_steps(
            context, actor, replace(asked, footprints=rows), landing, recipe["start"]
        )
        before = None
        if edited and params.edits == "layer":
            before = yield from Operator.plan_steps(context, actor, *old, recipe["start"])
        return found, fresh, before, edited and params.edits == "take"

    def apply(self, context: bpy.types.Context, actor: Any, result: Any) -> str:
        again: Any = regenerate.Operator
        said: str = again.apply(self, context, actor, result)
        action = _result(actor, actor.troupe.result if result[-1] else result[0].action.name).action
        regenerate.load(actor, action)
        footprints.show(context, actor, *finish(_footfall_steps(context, actor, action)))
        return said


CLASSES = (ShowFootprints, FollowFootprints)


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, actor: Any) -> None:
    """The footprints' buttons, once the actor has travelled."""
    if actor is None or not rig.is_cast(actor) or _why_no_prints(context):
        return
    row = layout.row(align=True)
    row.operator(ShowFootprints.bl_idname, icon="HIDE_OFF").hide = False
    row.operator(ShowFootprints.bl_idname, text="", icon="X").hide = True
    layout.operator(FollowFootprints.bl_idname, icon="SNAP_ON")
