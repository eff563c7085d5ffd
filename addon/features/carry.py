"""Carry: what a hand holds is kept before or beside a body that walks, turns or does whatever else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...core.errors import TroupeError
from ...core.kinematics.cast import Cast, read_joints
from ...core.landing import LandingParams
from ...core.motion import Motion
from ...core.performance import Performance
from ...core.planning.hands.orders import CarryParams
from ...core.skeleton import Pose
from ...core.world import World
from .. import bake, rig, scene
from ..bake import nla
from ..steps import Steps, aside, part
from . import handling
from .errand import Onset, onset_of
from .motions import MotionOperator, Plan, recipe_for
from .reach import Handled, settle

if TYPE_CHECKING:
    from ...core.planning.hands.stages import Holding

ICON = "PACKAGE"
LEAST = 1.0
"""How long a person carries something at least [s]."""


class Operator(MotionOperator):
    """Keep what the selected actor holds in a posture, over whatever its body does from this frame on"""

    bl_idname = "troupe.carry"
    bl_label = "Carry"
    params = CarryParams

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        problem = super().why_not(context)
        if problem is not None:
            return problem
        frame = context.scene.frame_current
        actors = scene.selected_armatures(context)
        return next((_empty_handed(ob, frame) for ob in actors if not handling.held(ob, frame)), None)

    @classmethod
    def plan_steps(
        cls, context: bpy.types.Context, actor: Any, params: Any, landing: LandingParams, start: Any
    ) -> Steps[Handled]:
        cast = rig.read(actor, context)
        onset = onset_of(actor, cast, context, start)
        owner = handling.owner_of(actor, onset.number)
        hands = handling.held(actor, onset.frame, owner)
        if not hands:
            raise TroupeError(_empty_handed(actor, onset.frame))
        motion = yield from part(_below_steps(context, actor, cast, list(hands), onset, params), 0.0, 0.4)
        held = [handling.holding_of(record, cast) for record in hands.values()]
        then = np.array([float(onset.frame)])
        world = yield from part(scene.read_world_steps(context, None, (), then), 0.4, 0.1)
        shown = {b.name for b in world.bodies}
        for record in hands.values():
            if record["prop"] not in shown:
                unseen = f"{record['prop']}, which {actor.name} holds, has no visible faces"
                raise TroupeError(f"{unseen}: show it, or let it be put down before")
        here = onset.here.pose(0)
        carrying = aside(lambda _stop: _carried(motion, held, params, world, actor.name, here))
        done = yield from part(carrying, 0.5, 0.3)
        over = replace(done.motions[actor.name], base=None)
        keys = yield from part(cls.keys_steps(context, actor, cast, over, landing, onset), 0.8, 0.2)
        if handling.held(actor, onset.frame, owner).keys() != hands.keys():
            lost = ", ".join(dict.fromkeys(r["prop"] for r in hands.values()))
            raise TroupeError(f"{actor.name} no longer holds {lost}: it was removed meanwhile")
        recipe = recipe_for(context, cls.feature(), params, landing, onset)
        names = " and ".join(dict.fromkeys(r["prop"] for r in hands.values()))
        first, last = onset.frame, onset.frame + len(motion) - 1
        kept = {side: _record(r, owner, first, last) for side, r in hands.items()}
        lead, *others = kept.values()
        return Handled(keys, f"carry {names}", recipe, {**lead, "also": others})

    @classmethod
    def since(cls, actor: Any, frame: int) -> int:
        """Where the hands last did something with what they hold at a frame: all that the body did since is carried
        through."""
        return max((round(r["last"]) for r in handling.held(actor, frame).values()), default=frame)

    @classmethod
    def written(cls, context: bpy.types.Context, actor: Any, action: Any, plan: Plan) -> None:
        assert isinstance(plan, Handled)
        settle(context, actor, action, plan)


def _carried(
    motion: Motion, held: Sequence[Holding], params: CarryParams, world: World, name: str, start: Pose
) -> Performance:
    """The arms over a motion; of giants and dwarves as of people, in times that suit their size."""
    from ...core.planning.hands.carry import carry
    from ...core.planning.walkers.similar import grown, shrunk, shrunk_motion, shrunk_skeleton, size_of

    size = size_of(motion.skeleton)
    seen, person = shrunk(world, size), shrunk_skeleton(motion.skeleton, size)
    done = carry(
        motion if size == 1.0 else replace(shrunk_motion(motion, size), skeleton=person),
        held,
        params,
        bodies={b.name: b for b in seen.bodies},
        world=seen,
        actor=name,
        start=replace(start, root=start.root / size),
    )
    return done if size == 1.0 else grown(done, motion.skeleton, size, motion.fps)


def _empty_handed(actor: Any, frame: int) -> str:
    return f"{actor.name} holds nothing at frame {frame}: let it pick something up first, or go to a later frame"


def _record(before: dict[str, Any], owner: str, first: int, last: int) -> dict[str, Any]:
    """What is kept of a hand that holds on."""
    changed = {"owner": owner, "first": first, "last": last, "taken": None, "released": None, "stays": True, "also": []}
    return {**before, **changed}


def _below_steps(
    context: bpy.types.Context, actor: Any, cast: Cast, sides: list[str], onset: Onset, params: CarryParams
) -> Steps[Motion]:
    """Steps to what the body does without what keeps its arms where they hold something."""
    from ...core.planning.walkers.similar import size_of

    rate = scene.fps(context.scene)
    whole = [f for f in bake.results_of(actor) if f.strip is not None and handling.record_of(f.action) is None]
    ends = [f.strip.frame_end for f in whole]
    least = (LEAST + params.taking + params.lower) * float(np.sqrt(size_of(cast.skeleton)))
    last = max([*ends, nla.frame_range(actor)[0], onset.frame + least * rate])
    frames = np.arange(onset.frame, int(np.ceil(last)) + 1, dtype=np.float64)
    with handling.without_hold(actor, context, sides):
        matrices = yield from bake.joint_matrices_steps(actor, cast, context, frames)
    return Motion(cast.skeleton, rate, *read_joints(cast, matrices))
