"""What features share that give an actor a motion: it is joined to what the actor did before and becomes a result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import bpy
import numpy as np

from ...core import VERSION
from ...core.filters.footlock import footlock
from ...core.filters.join import join
from ...core.kinematics.base import closed
from ...core.kinematics.cast import Cast
from ...core.landing import LandingParams
from ...core.maths import quat
from ...core.motion import Motion
from ...core.params import Params
from ...core.planning.walkers.similar import size_of
from ...core.skeleton import Pose
from .. import bake, checkup, ghost, rig, scene, settings
from ..steps import Steps
from .base import FeatureOperator

Titled = tuple[Motion, str]


@dataclass(frozen=True, eq=False)
class Plan:
    """A result before it is written: keys, title and recipe."""

    keys: bake.Keys
    title: str
    recipe: dict[str, Any]


class MotionOperator(FeatureOperator):
    """Base of the features that give an actor a motion: it is baked at the current frame, the way the user lands it.

    `searches` says that its work may take long, so that nothing is made of its settings before its button is pressed.
    """

    searches: ClassVar[bool] = False

    @classmethod
    def records(cls) -> tuple[type[Params], ...]:
        return (cls.params, LandingParams)

    @classmethod
    def motion_steps(
        cls, context: bpy.types.Context, actor: Any, cast: Cast, params: Any, start: bake.Start
    ) -> Steps[Titled]:
        """Steps to the motion on the cast's skeleton, and a short title for its action."""
        raise TypeError(f"{cls.__name__} makes no motion")

    @classmethod
    def staged(cls, actor: Any, params: Any, motion: Motion) -> Motion:
        """The motion as it is keyed, when it has been joined to what the actor did before."""
        return motion

    @classmethod
    def plan_steps(
        cls, context: bpy.types.Context, actor: Any, params: Any, landing: LandingParams, start: Any
    ) -> Steps[Plan]:
        """Steps to everything a result will write; `start` is a `bake.Start`, its plain form, or None for here."""
        cast = rig.read(actor, context)
        if start is None:
            start = bake.start_here(actor, cast, context)
        elif not isinstance(start, bake.Start):
            start = bake.Start.from_plain(start, cast)
        motion, title = yield from cls.motion_steps(context, actor, cast, params, start)
        once = motion.loop and start.moving and landing.landing == "track"
        if start.moving and landing.landing == "track":
            motion = going_on(motion, start.here.pose(0), landing.blend)
        motion = cls.staged(actor, params, motion)
        keys = yield from cls.keys_steps(context, actor, cast, motion, landing, start)
        if once:
            keys = replace(keys, note="one round, which goes on from the pose before and does not repeat")
        return Plan(keys, title, recipe_for(context, cls.feature(), params, landing, start))

    @classmethod
    def keys_steps(
        cls,
        context: bpy.types.Context,
        actor: Any,
        cast: Cast,
        motion: Motion,
        landing: LandingParams,
        start: bake.Start,
        arms: str = "",
    ) -> Steps[bake.Keys]:
        """Steps to the keys of the motion; `arms` says how those of a control rig are keyed, if not as it is cast."""
        own = actor.troupe.cast
        return (
            yield from bake.prepare_steps(
                actor,
                cast,
                motion,
                context,
                start.frame,
                root=own.root,
                legs=own.legs,
                arms=arms or own.arms,
                keys=landing.keys,
                tolerance=landing.tolerance,
                contacts=landing.contacts,
            )
        )

    @classmethod
    def written(cls, context: bpy.types.Context, actor: Any, action: Any, plan: Plan) -> None:
        """Keep what else belongs to a result whose keys were just written, for the first time or again."""

    def compute_steps(self, context: bpy.types.Context, actor: Any, params: Any) -> Steps[Plan]:
        return self.plan_steps(context, actor, params, settings.params_from(self, LandingParams), None)

    def apply(self, context: bpy.types.Context, actor: Any, result: Plan) -> str:
        before = [f.action.name for f in bake.results_of(actor)]
        own: Any = actor.animation_data.action if actor.animation_data else None
        done = bake.write(
            actor,
            result.keys,
            context,
            f"{actor.name} {result.title}",
            landing=self.landing,
            blend=self.blend,
            markers=self.markers,
            recipe=result.recipe,
        )
        actor.troupe.result = done.action.name
        self.written(context, actor, done.action, result)
        ghost.clear(actor)
        for sentence in checkup.unseen(actor, done.action):
            self.report({"WARNING"}, sentence)
        moved = own is not None and own.name not in before and actor.animation_data.action is None
        pushed = f"; your action {own.name} is on a track below" if moved else ""
        note = f", {result.keys.note}" if result.keys.note else ""
        return f"{actor.name}: {result.title}, frames {done.first} to {done.last}{note}, {done.keys} keys{pushed}"


def recipe_for(
    context: bpy.types.Context, feature: str, params: Params, landing: LandingParams, start: bake.Start
) -> dict[str, Any]:
    """Everything that is needed to make a result again, as JSON holds it."""
    return {
        "feature": feature,
        "params": params.to_dict(),
        "landing": landing.to_dict(),
        "start": start.to_plain(),
        "fps": scene.fps(context.scene),
        "version": VERSION,
    }


def has_preview(operator: type[FeatureOperator]) -> bool:
    """Whether a feature gives a motion that follows at once from its settings alone, which a ghost can show."""
    if not issubclass(operator, MotionOperator) or operator.searches:
        return False
    return operator.compute_steps is MotionOperator.compute_steps


def going_on(motion: Motion, pose: Pose, blend: float) -> Motion:
    """A whole-body motion that begins in a pose; its contacts are held again, for the joint moves the feet.

    A loop becomes one round, which does not end as it begins. Whoever is larger takes more time for it.
    """
    motion = closed(motion)
    blend *= float(np.sqrt(size_of(motion.skeleton)))
    if _begins_in(motion, pose):
        return motion
    joined = join(motion, pose, blend)
    if any(name.startswith("contact/") for name in motion.curves):
        joined = join(footlock(joined), pose, blend)
    return joined


def _begins_in(motion: Motion, pose: Pose) -> bool:
    apart = np.abs(motion.roots[0] - pose.root).max()
    return bool(apart < 1e-5 and quat.distance(motion.rotations[0], pose.rotations).max() < 1e-4)
