"""Mannequin: an actor for everybody who has no rig at hand."""

from __future__ import annotations

from typing import Any

import bpy

from ...core.figure.mannequin import MannequinParams
from ...core.formats.rolemap import RoleMap
from .. import rig
from .base import FeatureOperator

ICON = "OUTLINER_OB_ARMATURE"


class Operator(FeatureOperator):
    """Add a mannequin, rigged, skinned and cast, at the 3D cursor"""

    bl_idname = "troupe.mannequin"
    bl_label = "Add Actor"
    params = MannequinParams
    owner = "scene"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        return None if context.mode == "OBJECT" else "Go to Object Mode first"

    def compute(self, context: bpy.types.Context, actor: Any, params: MannequinParams) -> Any:
        return params

    def apply(self, context: bpy.types.Context, actor: Any, result: Any) -> str:
        from .. import figure  # the sculptor's many modules wait until somebody wants a body

        ob = figure.add(context, result)
        detected = rig.detect(rig.bones_of(ob))
        rig.store(ob, RoleMap(detected.roles), detected)
        return f"{ob.name}: {result.height:.2f} m tall, {len(ob.data.bones)} bones"
