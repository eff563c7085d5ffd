"""Reach: a hand does something with a thing of the scene, on a planned way around everything else."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import Any

import bpy

from ...core.errors import TroupeError
from ...core.landing import LandingParams
from ...core.planning.hands.orders import ReachParams
from .. import rig
from ..bake import holding, results
from ..steps import Steps, aside
from . import giving, handling, sought
from .base import MotionOperator, Plan, going_on, recipe_for
from .errand import Errand, onset_of

ICON = "VIEW_PAN"


@dataclass(frozen=True, eq=False)
class Handled(Plan):
    """A result before it is written, with what it does to a prop and what is kept of it."""

    record: dict[str, Any] = field(default_factory=dict)
    hold: holding.Hold | None = None
    trace: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    fellow: tuple[str, Handled] | None = None


class Operator(MotionOperator):
    """Let a hand of the selected actor touch, point at, take, move, put down or hand over a thing of the scene"""

    bl_idname = "troupe.reach"
    bl_label = "Reach"
    params = ReachParams

    @classmethod
    def plan_steps(
        cls, context: bpy.types.Context, actor: Any, params: Any, landing: LandingParams, start: Any
    ) -> Steps[Handled]:
        cast = rig.read(actor, context)
        if isinstance(start, dict) and "with" in start:
            raise TroupeError(f"{actor.name} took it from {start['with']}: regenerate what {start['with']} did")
        onset = onset_of(actor, cast, context, start)
        if (other := giving.taker_of(actor, params)) is not None:
            return (yield from giving.plan_steps(cls, context, actor, other, params, landing, onset))
        owner = handling.owner_of(actor, onset.number)
        work = yield from Errand.read_steps(context, actor, cast, params, onset, owner)
        begun = time.perf_counter()
        done = work.grown((yield from aside(work.done)))
        seconds = time.perf_counter() - begun
        yield from work.check_steps(context, done)
        motion = done.performance.motions[actor.name]
        if onset.moving and motion.mask is None:
            motion = going_on(motion, onset.here.pose(0), landing.blend)
        keys = yield from cls.keys_steps(context, actor, cast, motion, landing, onset)
        recipe = recipe_for(context, cls.feature(), params, landing, onset)
        hold, record = work.kept(context, done)
        notes = tuple(str(o) for o in done.offences[:1])
        return Handled(keys, work.title(), recipe, record, hold, sought.of_hand(done, seconds, work.size), notes)

    @classmethod
    def written(cls, context: bpy.types.Context, actor: Any, action: Any, plan: Plan) -> None:
        assert isinstance(plan, Handled)
        settle(context, actor, action, plan)
        action[sought.KEY] = json.dumps(plan.trace)
        if plan.hold is not None:
            lead = results.strip_of(actor, action)
            holding.write_hold(bpy.data.objects[plan.record["prop"]], plan.hold, context, lead)
        else:
            holding.drop(plan.record["owner"])
        if plan.fellow is not None:
            giving.written(context, cls, *plan.fellow)

    def apply(self, context: bpy.types.Context, actor: Any, result: Plan) -> str:
        said = super().apply(context, actor, result)
        assert isinstance(result, Handled)
        for note in result.notes:
            self.report({"WARNING"}, f"{actor.name}: {note}")
        return said


def settle(context: bpy.types.Context, actor: Any, action: Any, plan: Handled) -> None:
    """Keep the record of a result that was written, and let its strip fit to what the arm does before and after."""
    strip = results.strip_of(actor, action)
    if strip is not None and not plan.keys.whole:
        strip.use_auto_blend, strip.blend_in, strip.blend_out = False, 0.0, 0.0  # it ends as what lies below
    handling.keep(actor, action, plan.record)


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, actor: Any) -> None:
    """What the hands hold at this frame, the report of the last search, and what to show of it."""
    if actor is None or not rig.is_cast(actor):
        return
    for side, record in handling.held(actor, context.scene.frame_current).items():
        layout.label(text=f"{'Left' if side == 'L' else 'Right'} hand: {record['prop']}", icon="VIEW_PAN")
    sought.draw(layout, context, actor)
