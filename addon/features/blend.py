"""Blend: what an actor does mixed with other animations, or followed by one."""

from __future__ import annotations

from typing import Any

import bpy

from ...core.errors import InvalidParam
from ...core.filters.blend import LIMBS, BlendParams, combine
from ...core.kinematics.cast import Cast
from ...core.motion import Motion
from .. import rig, settings
from ..steps import Steps
from .edit import EditOperator
from .timewarp import clip_on_actor_steps

ICON = "MOD_SMOOTH"


class Operator(EditOperator):
    """Mix what the selected actors do with other animations, step for step, or let another one follow"""

    bl_idname = "troupe.blend"
    bl_label = "Blend"
    params = BlendParams

    @classmethod
    def edit_steps(
        cls, context: bpy.types.Context, actor: Any, cast: Cast, motion: Motion, params: BlendParams
    ) -> Steps[Motion]:
        if not params.source and not params.action:
            raise InvalidParam("source", "", "choose the armature or the action to blend with")
        clips = [motion]
        for source, action in ((params.source, params.action), ("", params.third), ("", params.fourth)):
            if source or action:
                clip, _ = yield from clip_on_actor_steps(context, actor, cast, source, action)
                clips.append(clip)
                yield 0.5
        return combine(clips, params)

    @classmethod
    def title(cls, params: BlendParams) -> str:
        other = params.action or params.source
        return f"with {other}" if params.how == "mix" else f"then {other}"


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, actor: Any) -> None:
    """A slider for each part of the body, while clips are mixed."""
    if actor is None or not rig.is_cast(actor) or actor.troupe.blend.how != "mix":
        return
    header, body = layout.panel("TROUPE_blend_parts", default_closed=True)
    header.label(text="Parts of the Body")
    if body:
        column = body.column(align=True)
        for k, limb in enumerate(LIMBS):
            column.prop(actor.troupe.blend, "parts", index=k, text=settings.title(limb), slider=True)
