"""Reach: a hand does something with a thing of the scene, on a planned way around everything else."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import bpy

from ...core.errors import TroupeError
from ...core.kinematics.cast import Cast
from ...core.landing import LandingParams
from ...core.motion import Motion
from ...core.planning.hands.orders import CARRYING, ReachParams
from ...core.skeleton import SIDE_NAMES
from .. import bake, rig
from ..bake import grip, holding, results
from ..steps import Steps, aside, part
from . import giving, handling, sought
from .errand import DONE, READ, Errand, Onset, onset_of
from .motions import MotionOperator, Plan, going_on, recipe_for

if TYPE_CHECKING:
    from ...core.planning.hands.task import Reached

ICON = "VIEW_PAN"


@dataclass(frozen=True, eq=False)
class Handled(Plan):
    """A result before it is written, with what it does to a prop and what is kept of it.

    `grip` are keys of the arms alone, which lie over all others and last until the arms do something else.
    """

    record: dict[str, Any] = field(default_factory=dict)
    hold: holding.Hold | None = None
    trace: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    fellow: tuple[str, Handled] | None = None
    grip: tuple[bake.Channel, ...] = ()


class Operator(MotionOperator):
    """Let a hand of the selected actor touch, point at, take, move, put down or hand over a thing of the scene"""

    bl_idname = "troupe.reach"
    bl_label = "Reach"
    params = ReachParams
    searches = True

    def compute_steps(self, context: bpy.types.Context, actor: Any, params: ReachParams) -> Steps[Plan]:
        several = [ob.name for ob in self.actors(context)]
        if len(several) > 1 and params.task in CARRYING and params.target:
            raise TroupeError(f"only one can take {params.target}: select one of {', '.join(several)} alone")
        return (yield from super().compute_steps(context, actor, params))

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
        work = yield from part(Errand.read_steps(context, actor, cast, params, onset, owner), 0.0, READ)
        begun = time.perf_counter()
        try:
            done = work.grown((yield from part(aside(work.done), READ, DONE - READ)))
        except TroupeError as error:
            sought.missed_hand(actor, error, work.size)
            raise
        seconds = time.perf_counter() - begun
        yield from part(work.check_steps(context, done), DONE, READ)
        motion = done.performance.motions[actor.name]
        if onset.moving and motion.mask is None:
            motion = going_on(motion, onset.here.pose(0), landing.blend)
        keying = cls.parted_steps(context, actor, cast, motion, done, landing, onset)
        keys, arms = yield from part(keying, DONE + READ, READ)
        recipe = recipe_for(context, cls.feature(), params, landing, onset)
        hold, record = work.kept(context, done)
        notes, trace = tuple(str(o) for o in done.offences[:1]), sought.of_hand(done, seconds, work.size)
        return Handled(keys, work.title(), recipe, record, hold, trace, notes, None, arms)

    @classmethod
    def parted_steps(
        cls,
        context: bpy.types.Context,
        actor: Any,
        cast: Cast,
        motion: Motion,
        done: Reached,
        landing: LandingParams,
        onset: Onset,
    ) -> Steps[tuple[bake.Keys, tuple[bake.Channel, ...]]]:
        """Steps to the keys of a task; those of arms that hold something in the end apart, for they last longer."""
        holds = [h.side for h in (done.holding, done.other) if h is not None]
        if not holds or landing.landing == "replace" or (motion.mask is None and done.idle is None):
            return (yield from cls.keys_steps(context, actor, cast, motion, landing, onset)), ()
        # arms hang from the trunk: hands that are placed would stay behind when it goes on
        keys = yield from cls.keys_steps(context, actor, cast, motion, landing, onset, "fk")
        short = replace(motion, roots=motion.roots[:2], rotations=motion.rotations[:2], base=None, curves={}, events=())
        alone = replace(short, mask=handling.arm_mask(cast, holds))
        sample = yield from cls.keys_steps(
            context, actor, cast, alone, replace(landing, keys="every_frame"), onset, "fk"
        )
        own = {c.path for c in sample.channels}
        arms = tuple(c for c in keys.channels if c.path in own)
        if motion.mask is not None:
            rest = tuple(c for c in keys.channels if c.path not in own)
            return (replace(keys, channels=rest), arms) if rest else (keys, ())
        assert done.idle is not None
        idle = going_on(done.idle, onset.here.pose(0), landing.blend) if onset.moving else done.idle
        idle = replace(motion, rotations=idle.rotations)
        return (yield from cls.keys_steps(context, actor, cast, idle, landing, onset)), arms

    @classmethod
    def written(cls, context: bpy.types.Context, actor: Any, action: Any, plan: Plan) -> None:
        assert isinstance(plan, Handled)
        settle(context, actor, action, plan)
        sought.found(actor, action, plan.trace)
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
    grip.write(actor, plan.record["owner"], plan.grip, plan.keys.frames, strip)
    handling.keep(actor, action, plan.record)


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, actor: Any) -> None:
    """What the hands hold at this frame, the report of the last search, and what to show of it."""
    if actor is None or not rig.is_cast(actor):
        return
    for side, record in handling.held(actor, context.scene.frame_current).items():
        layout.label(text=f"{SIDE_NAMES[side].title()} hand: {record['prop']}", icon="VIEW_PAN")
    sought.draw(layout, context, actor)
