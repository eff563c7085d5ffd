"""Pictures of core results in the viewport: the mapped bones in the colours of their roles."""

from __future__ import annotations

from typing import Any

import bpy

from . import rig, scene

COLOURS = {
    "spine": (0.95, 0.75, 0.25, 1.0),
    "head": (0.95, 0.45, 0.75, 1.0),
    "left": (0.30, 0.65, 1.00, 1.0),
    "right": (1.00, 0.35, 0.30, 1.0),
    "root": (0.60, 0.60, 0.60, 1.0),
}
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


def _draw() -> None:
    context = bpy.context
    if not context.scene.troupe.show_roles or not context.space_data.overlay.show_overlays:
        return
    actors = [ob for ob in scene.selected_armatures(context) if rig.is_cast(ob)]
    if not actors:
        return
    import gpu
    from gpu_extras.batch import batch_for_shader

    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    gpu.state.blend_set("ALPHA")
    shader.bind()
    shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
    shader.uniform_float("lineWidth", 4.0)
    for ob in actors:
        for name, points in role_lines(ob).items():
            if points:
                shader.uniform_float("color", COLOURS[name])
                batch_for_shader(shader, "LINES", {"pos": [p[:] for p in points]}).draw(shader)
    gpu.state.blend_set("NONE")


def register() -> None:
    """Draw over every 3D viewport."""
    if not bpy.app.background:
        _handles.append(bpy.types.SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_VIEW"))


def unregister() -> None:
    """Stop drawing."""
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
