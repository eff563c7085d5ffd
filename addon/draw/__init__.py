"""Pictures of core results in the viewport: lines in the colours of the body's parts, and the mapped bones so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import bpy
import numpy as np

from ...core.gait.physique import Physique
from ...core.skeleton import Array
from .. import rig, scene

COLOURS = {
    "spine": (0.95, 0.75, 0.25, 1.0),
    "head": (0.95, 0.45, 0.75, 1.0),
    "left": (0.30, 0.65, 1.00, 1.0),
    "right": (1.00, 0.35, 0.30, 1.0),
    "root": (0.60, 0.60, 0.60, 1.0),
}
WAY_COLOURS = {
    "blocked": (0.90, 0.35, 0.25, 1.0),
    "free": (0.35, 0.75, 0.45, 1.0),
    "searched": (0.75, 0.35, 0.95, 1.0),
    "way": (0.20, 0.55, 1.00, 1.0),
    "old way": (0.45, 0.55, 0.70, 1.0),
    "track": (1.00, 0.70, 0.15, 1.0),
    "view": (0.95, 0.90, 0.35, 1.0),
    "seen": (1.00, 0.90, 0.20, 1.0),
    "known": (0.30, 0.85, 0.40, 1.0),
    "unknown": (0.55, 0.55, 0.60, 1.0),
}
"""Of what is drawn of the ways that actors find."""
_handles: list[Any] = []


def colour_of(role: str) -> str:
    """The name of a role's colour: sides are told apart first."""
    if role.endswith("_L"):
        return "left"
    if role.endswith("_R"):
        return "right"
    return {"root": "root", "hips": "spine", "spine": "spine"}.get(role, "head")


def role_lines(ob: bpy.types.Object) -> dict[str, list[Any]]:
    """Colour name to the world-space end points of the bones drawn in it."""
    lines: dict[str, list[Any]] = {name: [] for name in COLOURS}
    bones = ob.pose.bones
    for role, chain in rig.roles_of(ob).items():
        for name in chain:
            bone = bones.get(name)
            if bone is not None:
                lines[colour_of(role)] += [ob.matrix_world @ bone.head, ob.matrix_world @ bone.tail]
    return lines


def sole_outline(body: Physique, side: int) -> Array:
    """(18, 2) around the sole of a foot that points ahead, seen from its ankle [m]; `side` 0 is left."""
    heel, tip = body.heel[side, :2], body.ball[side, :2] + body.toe[side, :2]
    length = float(np.linalg.norm(tip - heel))
    # half widths along the sole, of its length
    along = np.array([0.0, 0.03, 0.1, 0.2, 0.45, 0.7, 0.85, 0.95, 1.0])
    wide = length * np.array([0.05, 0.11, 0.14, 0.14, 0.11, 0.18, 0.17, 0.12, 0.05])
    line = heel + along[:, None] * (tip - heel)
    return np.concatenate([line + wide[:, None] * [1.0, 0.0], (line - wide[:, None] * [1.0, 0.0])[::-1]])


def lines(parts: Mapping[str, Any], width: float, alpha: float = 1.0, depth: str = "NONE") -> None:
    """Draw lines into the viewport that is being drawn.

    Args:
        parts: Colour name to end points (2 n, 3), a pair a line [world units].
        width: Of the lines [pixels].
        alpha: Of their colours.
        depth: "NONE" draws over everything, "LESS_EQUAL" what the scene leaves visible, "GREATER" what it hides.
    """
    _paint(parts, "LINES", alpha, depth, width)


def areas(parts: Mapping[str, Any], alpha: float = 1.0, depth: str = "LESS_EQUAL") -> None:
    """Draw filled triangles into the viewport that is being drawn: colour name to corners (3 n, 3) [world units]."""
    _paint(parts, "TRIS", alpha, depth, 0.0)


def _paint(parts: Mapping[str, Any], kind: str, alpha: float, depth: str, width: float) -> None:
    import gpu
    from gpu_extras.batch import batch_for_shader

    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR" if kind == "LINES" else "UNIFORM_COLOR")
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set(depth)
    # lines hide nothing: what is drawn hidden in one pass must not come through in the next
    writes = gpu.state.depth_mask_get()
    gpu.state.depth_mask_set(False)
    shader.bind()
    if kind == "LINES":
        shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
        shader.uniform_float("lineWidth", width)
    for name, points in parts.items():
        if len(points):
            shader.uniform_float("color", (*(COLOURS | WAY_COLOURS)[name][:3], alpha))
            # an array is copied byte by byte, so it has to be of what the shader takes
            batch_for_shader(shader, kind, {"pos": np.ascontiguousarray(points, dtype=np.float32)}).draw(shader)
    gpu.state.depth_mask_set(writes)
    gpu.state.depth_test_set("NONE")
    gpu.state.blend_set("NONE")


def _draw() -> None:
    from . import hands, navigation  # they build on this module

    context = bpy.context
    if not context.space_data.overlay.show_overlays:
        return
    actors = [ob for ob in scene.selected_armatures(context) if rig.is_cast(ob)]
    if hands.shown(context):
        lines(hands.grasps(context), 2.5)
    lines(hands.search(context), 2.0, 0.8)
    for ob in actors:
        if context.scene.troupe.show_roles:
            lines({name: [p[:] for p in points] for name, points in role_lines(ob).items()}, 4.0)
        picture = navigation.picture(context, ob)
        if picture is not None:
            areas({name: points for name, points in picture.areas.items() if name != "searched"}, 0.25)
            areas({name: points for name, points in picture.areas.items() if name == "searched"}, 0.6)
            lines(picture.lines, 2.5, 0.9)


def register() -> None:
    """Draw over every 3D viewport."""
    if not bpy.app.background:
        _handles.append(bpy.types.SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_VIEW"))


def unregister() -> None:
    """Stop drawing."""
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
