"""Features that direct several actors at once: one performance is computed for all, and each gets its own result.

What an actor did in company can be made again: the recipe of its result says who else was there, where they began and
what they were told, so that the whole performance is computed anew. The results of the others follow, unless their keys
were edited by hand.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import bpy

from ...core.errors import TroupeError
from ...core.kinematics.cast import Cast
from ...core.landing import LandingParams
from ...core.motion import Motion
from ...core.params import Params, declared
from .. import bake, rig, settings, steps
from ..bake import results
from ..steps import Steps
from .motions import MotionOperator, Plan, going_on, recipe_for

COMPUTED = 0.6
"""How far the work has come when the performance is there and only keys are left to make."""


@dataclass(frozen=True, eq=False)
class Member:
    """One actor of a company: who, from where, and what it was told by which feature."""

    actor: Any
    cast: Cast
    start: bake.Start
    operator: type[CompanyOperator]
    params: Any

    def to_plain(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {"feature": self.operator.feature(), "params": self.params.to_dict(), "start": self.start.to_plain()}


@dataclass(frozen=True, eq=False)
class Played:
    """What a company does: a motion for each by name, and what is kept with the result of each, as JSON holds it."""

    motions: Mapping[str, Motion]
    traces: Mapping[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Part(Plan):
    """What a performance writes for one of the company, with its trace, and for those who are written with it."""

    trace: dict[str, Any] = field(default_factory=dict)
    fellows: Mapping[str, Part] = field(default_factory=dict)


class CompanyOperator(MotionOperator):
    """Base of the features whose actors heed each other.

    A feature sets `params` and `perform_steps`, and in `shared` the names of the parameters that hold for all: when a
    result is made again with others, they are changed for everybody.
    """

    shared: ClassVar[Collection[str]] = ()

    @classmethod
    def perform_steps(cls, context: bpy.types.Context, members: Mapping[str, Member], lead: str) -> Steps[Played]:
        """Steps to what all members do, by name of the actor; must not change the scene.

        `lead` is whose parameters count where all must have the same.
        """
        raise TypeError(f"{cls.__name__} performs nothing")

    def direct(self, context: bpy.types.Context, actor: Any, params: Any) -> tuple[type[CompanyOperator], Any]:
        """The feature by which one of the chosen actors is directed, and its parameters."""
        return type(self), params

    def compute_steps(self, context: bpy.types.Context, actor: Any, params: Any) -> Steps[Plan]:
        raise TypeError(f"{type(self).__name__} computes for all actors at once")

    def steps(self, context: bpy.types.Context) -> Steps[None]:
        params = settings.params_from(self, self.params)
        landing = settings.params_from(self, LandingParams)
        members = {}
        chosen = self.actors(context)
        for actor in sorted(chosen, key=lambda ob: ob.name):
            cast = rig.read(actor, context)
            operator, own = self.direct(context, actor, params)
            members[actor.name] = Member(actor, cast, bake.start_here(actor, cast, context), operator, own)
        lead = chosen[0].name
        played = yield from steps.part(self.perform_steps(context, members, lead), 0.0, COMPUTED)
        parts = yield from _parts_steps(context, members, lead, played, landing, list(members))
        for member, part in zip(members.values(), parts.values(), strict=True):
            self.report({"INFO"}, self.apply(context, member.actor, part))
            if member.operator is type(self):
                settings.copy_settings(self, self._group(context, member.actor), *self.records())
        self.finished(context, members, played)

    def finished(self, context: bpy.types.Context, members: Mapping[str, Member], played: Played) -> None:
        """Tell what else there is to tell of a performance that was written."""

    @classmethod
    def plan_steps(
        cls, context: bpy.types.Context, actor: Any, params: Any, landing: LandingParams, start: Any
    ) -> Steps[Part]:
        members, lead = _company(context, actor, cls, params, start)
        played = yield from steps.part(cls.perform_steps(context, members, lead), 0.0, COMPUTED)
        parts = yield from _parts_steps(context, members, lead, played, landing, list(members))
        own = parts.pop(actor.name)
        return replace(own, fellows=parts)

    @classmethod
    def written(cls, context: bpy.types.Context, actor: Any, action: Any, plan: Plan) -> None:
        assert isinstance(plan, Part)
        cls.keep_trace(context, actor, action, plan.trace)
        for name, part in plan.fellows.items():
            fellow = context.scene.objects[name]
            found = _result(fellow, part)
            if found is not None and not results.is_edited(fellow, found.action):
                done = bake.rewrite(fellow, found.action, part.keys, part.recipe)
                cls.keep_trace(context, fellow, done.action, part.trace)

    @classmethod
    def keep_trace(cls, context: bpy.types.Context, actor: Any, action: Any, trace: dict[str, Any]) -> None:
        """Keep the trace of what an actor did with its result."""


def feature(name: str) -> type[CompanyOperator]:
    """The feature of this name that directs a company."""
    from . import operators

    for operator in operators():
        if operator.feature() == name and issubclass(operator, CompanyOperator):
            return operator
    raise TroupeError(f"{name!r} is no feature that directs several actors")


def _parts_steps(
    context: bpy.types.Context,
    members: Mapping[str, Member],
    lead: str,
    played: Played,
    landing: LandingParams,
    names: list[str],
) -> Steps[dict[str, Part]]:
    """Steps to what a performance writes for the members named."""
    parts = {}
    company = {name: member.to_plain() for name, member in members.items()}
    for k, name in enumerate(names):
        member, motion = members[name], played.motions[name]
        if member.start.moving and landing.landing == "track":
            motion = going_on(motion, member.start.here.pose(0), landing.blend)
        operator = member.operator
        work = operator.keys_steps(context, member.actor, member.cast, motion, landing, member.start)
        share = (1.0 - COMPUTED) / len(names)
        keys = yield from steps.part(work, COMPUTED + k * share, share)
        recipe = recipe_for(context, operator.feature(), member.params, landing, member.start)
        recipe["start"] |= {"company": company, "lead": lead}
        parts[name] = Part(keys, operator.bl_label.lower(), recipe, played.traces.get(name, {}))
    return parts


def _company(
    context: bpy.types.Context, actor: Any, cls: type[CompanyOperator], params: Any, start: Any
) -> tuple[dict[str, Member], str]:
    """By name everybody who takes part, in the order of the names, and who leads."""
    if isinstance(start, bake.Start):
        start = start.to_plain()
    plain = dict((start or {}).get("company", {}))
    before = plain.get(actor.name, {}).get("params", params.to_dict())
    changed = {name: value for name, value in params.to_dict().items() if name in cls.shared and value != before[name]}
    plain[actor.name] = {"feature": cls.feature(), "params": params.to_dict(), "start": start}
    members = {}
    for name, told in sorted(plain.items()):
        fellow = context.scene.objects.get(name)
        if fellow is None or not rig.is_cast(fellow):
            raise TroupeError(f"{name}, who took part in this result, is no longer in the scene as an actor")
        cast = rig.read(fellow, context)
        begin = told["start"] or bake.start_here(fellow, cast, context).to_plain()
        operator = feature(told["feature"])
        own = _with(operator.params, told["params"], changed)
        members[name] = Member(fellow, cast, bake.Start.from_plain(begin, cast), operator, own)
    return members, (start or {}).get("lead", actor.name)


def _with(record: type[Params], values: Mapping[str, Any], changed: Mapping[str, Any]) -> Params:
    known = {p.name for p in declared(record)}
    return record.from_dict({**values, **{name: value for name, value in changed.items() if name in known}})


def _result(actor: Any, part: Part) -> results.Found | None:
    """The result of an actor that belongs to the same performance."""
    wanted = part.recipe
    for found in reversed(results.results_of(actor)):
        recipe = results.recipe_of(found.action) or {}
        same = all(recipe.get("start", {}).get(k) == wanted["start"][k] for k in ("frame", "pose"))
        if same and recipe["feature"] == wanted["feature"]:
            return found
    return None
