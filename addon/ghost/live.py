"""An edit that is kept while one of its sliders moves, so that only what the slider changes is made again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import bpy

from ...core.kinematics.cast import Cast
from ...core.landing import LandingParams
from ...core.motion import Motion
from ...core.params import declared
from .. import scene, settings
from ..bake import nla
from ..steps import finish

if TYPE_CHECKING:  # the features build on this package
    from ..features.motions import Plan


@dataclass(frozen=True, eq=False)
class Made:
    """What an edit was given, and where: the animation it reads is the same while `conditions` say so.

    Attributes:
        cast: The actor.
        before: What it did.
        params: The settings, with all that is filled in.
        conditions: Of `conditions`.
    """

    cast: Cast
    before: Motion
    params: Any
    conditions: Any


@dataclass(eq=False)
class Live:
    """An edit as it was shown last, in full.

    Attributes:
        operator: Its feature, without keys.
        plan: What the button would write.
        made: Of what.
        asked: Its settings as the sidebar had them.
        landing: Likewise.
        draft: The feature's own; made when it is first needed.
    """

    operator: Any
    plan: Plan
    made: Made
    asked: Any
    landing: LandingParams
    draft: Any = None

    def follow(self, context: bpy.types.Context) -> Plan | None:
        """The plan with the present settings of the active actor; None where it has to be made from the beginning."""
        from ..features.edit import source_of, spoken  # it builds on this package

        actor: Any = context.active_object
        group = getattr(actor.troupe, self.operator.feature())
        params, landing = (settings.params_from(group, type(was)) for was in (self.asked, self.landing))
        changed = [p.name for p in declared(type(params)) if getattr(params, p.name) != getattr(self.asked, p.name)]
        if landing != self.landing or self.made.conditions != conditions(actor, context):
            return None
        if self.draft is None:
            self.draft = self.operator.draft(self.made.before, self.made.params)
        if self.draft is None or not set(changed) <= set(self.draft.follows):
            return None
        params = replace(self.made.params, **{name: getattr(params, name) for name in changed})
        after = self.draft.motion(params)
        after = replace(after, mask=spoken(actor, self.made.before, after, params))
        start = source_of(actor, None)
        keys = finish(self.operator.keys_steps(context, actor, self.made.cast, after, landing, start))
        return replace(self.plan, keys=keys)


def conditions(actor: Any, context: bpy.types.Context) -> Any:
    """What an animation is read under, apart from its keys; to be compared."""
    return nla.arrangement(actor), scene.fps(context.scene), scene.metre(context.scene), actor.troupe.cast.root
