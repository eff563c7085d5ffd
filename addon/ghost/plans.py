"""What a button would write with the present settings, up to its keys."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...core.errors import TroupeError
from ...core.filters.resample import resample
from ...core.kinematics import base
from ...core.kinematics.cast import Cast, read_joints
from ...core.landing import LandingParams
from ...core.motion import Motion
from .. import bake, scene, settings
from ..bake.keys import in_place, root_mode
from ..steps import Steps, finish
from .live import Live, Made, conditions

if TYPE_CHECKING:  # the features build on this package
    from ..features.motions import Plan

STILL = 1e-3
"""A loop that moves on by less than this in a round stays where it is [m; rad]."""


@contextmanager
def about(actor: Any) -> Iterator[bpy.types.Context]:
    """A context with a window, which timers lack, in which this actor alone is selected."""
    windows = bpy.context.window_manager.windows
    window = next((w for w in windows if actor.name in w.view_layer.objects), bpy.context.window)
    where = {"window": window} if window is not None else {}
    with bpy.context.temp_override(**where, active_object=actor, object=actor, selected_objects=[actor]):
        yield bpy.context


def keyless(context: bpy.types.Context, feature: str, before: Plan | None) -> tuple[Plan, Live | None]:
    """The plan of a feature for the active actor: its `keys` have motion and frames, but no channels.

    With it comes what follows its sliders, where it is an edit.

    Args:
        context: As `about` gives it.
        feature: Name of a feature that gives an actor a motion.
        before: The plan it takes the place of. While another frame is on screen than the one it starts at, so does the
            new one: whoever plays a ghost does not move it.
    """
    from .. import presets  # it builds on the features

    operator: Any = presets.operator_of(feature)
    problem = operator.why_not(context)
    if problem is not None:
        raise TroupeError(problem)
    actor: Any = context.active_object
    group = getattr(actor.troupe, feature)
    params, landing = settings.params_from(group, operator.params), settings.params_from(group, LandingParams)
    start = held(before, context.scene.frame_current)
    variant = _without_keys(operator)
    plan: Plan = finish(variant.plan_steps(context, actor, params, landing, start))
    made, variant.made = variant.made, None
    return plan, Live(variant, plan, made, params, landing) if made is not None else None


def held(plan: Plan | None, frame: int) -> Any:
    """The start of a plan, in its plain form, where another frame is on screen; None otherwise, and of edits."""
    start = plan.recipe["start"] if plan is not None else {}
    return start if "pose" in start and start["frame"] != frame else None


@functools.cache
def _without_keys(operator: Any) -> Any:
    """An operator that makes the same plans, without keys; its `made` tells what the last one was made of."""
    own: dict[str, Any] = {"keys_steps": classmethod(_keys_steps), "made": None}
    if hasattr(operator, "edit_steps"):

        def edit_steps(
            cls: Any, context: bpy.types.Context, actor: Any, cast: Cast, motion: Motion, params: Any
        ) -> Steps[Motion]:
            cls.made = Made(cast, motion, params, conditions(actor, context))
            return (yield from operator.edit_steps(context, actor, cast, motion, params))

        own["edit_steps"] = classmethod(edit_steps)
    return type(operator)(f"{operator.__name__}WithoutKeys", (operator,), own)


def _keys_steps(
    _cls: Any, context: bpy.types.Context, actor: Any, cast: Cast, motion: Motion, _landing: Any, start: bake.Start
) -> Steps[bake.Keys]:
    """As `bake.prepare_steps`, as far as it is about what is shown."""
    mode = root_mode(actor, cast, actor.troupe.cast.root)
    motion = base.based(resample(motion, scene.fps(context.scene)))
    loop = motion.loop and (mode == "in_place" or bool(np.abs(base.loop_step(motion)).max() < STILL))
    motion = base.closed(motion)
    if mode == "in_place":
        world = np.array(actor.matrix_world, dtype=np.float64)
        motion = in_place(motion, bake.base_of(cast, world, scene.metre(context.scene)))
    frames = start.frame + np.arange(len(motion), dtype=np.float64)
    whole = motion.mask is None or bool(motion.mask[0])
    # an edit has read all that plays below it
    if motion.mask is not None and start.here is not None:
        roots, turns = read_joints(cast, (yield from bake.joint_matrices_steps(actor, cast, context, frames)))
        rotations = np.where(motion.mask[:, None], motion.rotations, turns)
        motion = replace(motion, roots=motion.roots if whole else roots, rotations=rotations)
    return bake.Keys((), frames, {}, motion, mode, whole, loop)
