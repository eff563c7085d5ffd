"""Shifting body parts: meshes on a bone that slide down it as its joint bends backward, by drivers."""

from __future__ import annotations

import bpy
import mathutils

from ...core.errors import InvalidParam
from ...core.kinematics.cast import Cast

BEND = "2 * atan2({}, w)"
"""Angle of a turn about an axis; an expression that Blender computes without running Python."""


def slide(actor: bpy.types.Object, cast: Cast, mesh: bpy.types.Object, amount: float) -> None:
    """Let a mesh slide along the bone that it hangs on.

    Args:
        actor: The armature object.
        cast: What it is cast as.
        mesh: A child of one of its bones.
        amount: How far it goes for each radian of bend backward [m/rad]; bends forward leave it where it is.
    """
    if mesh.parent != actor or mesh.parent_type != "BONE" or mesh.parent_bone not in actor.data.bones:
        raise InvalidParam("volume", mesh.name, f"must be parented to a bone of {actor.name}")
    rest = actor.data.bones[mesh.parent_bone].matrix_local.to_3x3().normalized()
    axis = rest.transposed() @ mathutils.Vector(cast.frame[:, 0])
    along = mesh.matrix_parent_inverse.to_3x3().inverted() @ mathutils.Vector((0.0, amount / cast.unit, 0.0))
    bend = BEND.format(" + ".join(f"{a:.9f} * {name}" for a, name in zip(axis, "xyz", strict=True)))
    for index, share in enumerate(along):
        mesh.driver_remove("delta_location", index)
        if abs(share) < 1e-9:
            mesh.delta_location[index] = 0.0
            continue
        driver = mesh.driver_add("delta_location", index).driver
        driver.type, driver.expression = "SCRIPTED", f"{share:.9f} * max(0, {bend})"
        for name in "wxyz":
            variable = driver.variables.new()
            variable.name, variable.type = name, "TRANSFORMS"
            target = variable.targets[0]
            target.id, target.bone_target = actor, mesh.parent_bone
            target.transform_space, target.rotation_mode = "LOCAL_SPACE", "QUATERNION"
            target.transform_type = f"ROT_{name.upper()}"
