"""Where objects are over time: which of them may move at all, and their matrices, from F-curves if those tell all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np

from ...core.errors import TroupeError
from ...core.skeleton import Array
from ..bake import nla, pose, reading
from ..rig import FARTHEST

_TRANSFORMS = {"location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale"}
_TRANSFORMS |= {f"delta_{name}" for name in _TRANSFORMS}
_RECORDED = {"TRANSFORM_CACHE", "FOLLOW_TRACK", "CAMERA_SOLVER", "OBJECT_SOLVER"}
"""Constraints that move an object by a recording."""


def demand_place(name: str, matrices: Array) -> None:
    """Raise a TroupeError where matrices or places (...) of an object hold what is no number, or beyond all scenes."""
    if not (np.abs(matrices) < FARTHEST).all():
        raise TroupeError(
            f"{name} has no place, as its location, rotation or scale is no number or too large: clear those, hide it,"
            " or set it to be ignored"
        )


def mirror_of(ob: bpy.types.Object, matrix: Array) -> Array:
    """(3, 3) of -1 and 1 on the diagonal, by which a matrix (3, 3) of an object has no mirroring in it any more.

    It is taken from the object's own scale where that tells, so that what is left is the object's own rotation.
    """
    own = np.diag(np.where(np.array(ob.scale) < 0.0, -1.0, 1.0))
    if np.linalg.det(matrix @ own) > 0.0:
        return own
    return np.diag([-1.0 if np.linalg.det(matrix) < 0.0 else 1.0, 1.0, 1.0])


def may_move(ob: bpy.types.Object, seen: set[bpy.types.Object] | None = None) -> bool:
    """Whether animation, a simulation, a parent or a constraint may move an object; a few that rest count as well.

    Instances that geometry nodes move by the time of the scene alone are not seen.
    """
    seen = set() if seen is None else seen
    if ob in seen:
        return False
    seen.add(ob)
    if any(_is_animated(owner) for owner in _owners(ob)):
        return True
    if ob.rigid_body is not None and ob.rigid_body.type == "ACTIVE":
        return True
    constraints = list(ob.constraints)
    if ob.type == "ARMATURE":
        constraints += [c for bone in ob.pose.bones for c in bone.constraints]
    constraints = [c for c in constraints if not c.mute]
    if any(c.type in _RECORDED for c in constraints):
        return True
    above = [ob.parent, *(target for c in constraints for target in _targets(c))]
    return any(may_move(other, seen) for other in above if other is not None)


def _owners(ob: bpy.types.Object) -> Iterator[bpy.types.ID]:
    """The data-blocks whose animation may move an object, its children or its instances."""
    yield ob
    if ob.data is not None:
        yield ob.data
        if getattr(ob.data, "shape_keys", None) is not None:
            yield ob.data.shape_keys
    yield from (m.node_group for m in ob.modifiers if m.type == "NODES" and m.node_group is not None)


def _is_animated(owner: bpy.types.ID) -> bool:
    data = owner.animation_data
    return data is not None and (data.action is not None or len(data.drivers) > 0 or len(data.nla_tracks) > 0)


def _targets(constraint: Any) -> Iterator[Any]:
    yield getattr(constraint, "target", None)
    yield getattr(constraint, "pole_target", None)
    yield from (t.target for t in getattr(constraint, "targets", ()))


def by_curves(ob: bpy.types.Object, frames: Array) -> Array | None:
    """World matrices (T, 4, 4) of an object at `frames` (T,) [world units], without playing the scene.

    None where more has a say than the transform channels of its active action and those of its parents.
    """
    basis = _basis(ob, frames)
    if basis is None or ob.parent is None:
        return basis
    above = by_curves(ob.parent, frames) if ob.parent_type == "OBJECT" else None
    return None if above is None else above @ np.array(ob.matrix_parent_inverse, dtype=np.float64) @ basis


def _basis(ob: bpy.types.Object, frames: Array) -> Array | None:
    if len(ob.constraints) or ob.rigid_body is not None or any(_is_animated(o) for o in list(_owners(ob))[1:]):
        return None
    if not _is_animated(ob):
        return np.tile(np.array(ob.matrix_basis, dtype=np.float64), (len(frames), 1, 1))
    action = nla.plain_source(ob)
    if action is None or len(ob.animation_data.drivers) or not nla.animated_paths(ob) <= _TRANSFORMS:
        return None
    values, mode = reading.Values(ob, action, frames), ob.rotation_mode
    turn = pose.ROTATION_CHANNEL.get(mode, "rotation_euler")
    delta = {"QUATERNION": "delta_rotation_quaternion", "AXIS_ANGLE": ""}.get(mode, "delta_rotation_euler")
    names = ("location", turn, "scale", "delta_location", delta, "delta_scale")
    still = np.tile([0.0, 0.0, 1.0, 0.0], (len(frames), 1))
    location, turns, scale, *deltas = (values.of(ob, "", name) if name else still for name in names)
    return pose.object_basis(location, turns, mode, scale, *deltas)
